//! What is said of a case before it runs.

use super::load_text;
use crate::deck::mesh::Origin;
use crate::deck::spec::AnyBody;
use crate::math::Vec3;
use crate::mesh::shape::{Base, Shape};
use crate::mesh::surface::Surface;
use crate::survey::approach::{Approach, Facetted, Meeting, Nearest, approach};
use crate::survey::size::Size;

fn of(text: &str, end: f64) -> Approach {
    let case = load_text(text).unwrap_or_else(|e| panic!("{e}")).case;
    approach(&case.model, &case.state, end)
}

fn two(more: &str) -> String {
    let cube = |name: &str, z: f64, motion: &str| {
        format!(
            "[body.{name}]\nmesh = {{ shape = \"box\", size = [1, 1, 1], cells = [2, 2, 2], at = [0, 0, {z}] }}\n\
             material = {{ law = \"linear\", young = 1, poisson = 0, density = 1 }}\n{motion}\n"
        )
    };
    format!("method = \"dcr\"\nend = 9\n{}{}", cube("low", 0.0, ""), cube("high", 1.5, more))
}

/// 0.5 m apart: at 2 m/s after 0.25 s, from rest under g = 4 after √(2·0.5/4) = 0.5 s.
#[test]
fn bodies_meet_when_their_flight_says() {
    let thrown = of(&two("velocity = [0, 0, -2]"), 9.0);
    let Nearest { bodies, gap } = thrown.nearest.unwrap();
    assert_eq!(bodies.iter().filter(|b| ["low", "high"].contains(&b.as_str())).count(), 2);
    assert!((gap - 0.5).abs() < 1e-12);
    let time = |meeting: Option<Meeting>| match meeting {
        Some(Meeting::At(t)) => t,
        other => panic!("{other:?}"),
    };
    assert!((time(thrown.meeting) - 0.25).abs() < 1e-3);
    let falling = of(&two("gravity = [0, 0, -4]"), 9.0);
    assert!((time(falling.meeting) - 0.5).abs() < 2e-3);
    assert_eq!(of(&two("velocity = [0, 0, -2]"), 0.2).meeting, Some(Meeting::Never));
    assert_eq!(of(&two("velocity = [0, 0, 2]"), 9.0).meeting, Some(Meeting::Never));
    assert_eq!(thrown.boxes[1].1, [Vec3::new(0.0, 0.0, 1.5), Vec3::new(1.0, 1.0, 2.5)]);
    assert!(thrown.facetted.is_empty());
}

/// A disc of 32 facets: L = 2R sin(π/32), the sagitta R(1 − cos(π/32)) to second order.
#[test]
fn facets_of_a_disc_are_inside_of_it_by_their_sagitta() {
    let text = "method = \"dcr\"\nend = 1\n[body.disc]\n\
                mesh = { shape = \"disc\", radius = 2, core_cells = 8, layers = 2 }\n\
                material = { law = \"linear\", young = 1, poisson = 0, density = 1 }\n\
                [body.floor]\nplane = { point = [0, -3, 0], normal = [0, 1, 0] }\n";
    let found = of(text, 1.0);
    let turn = std::f64::consts::PI / 32.0;
    let Facetted { edge, sagitta, .. } = &found.facetted[0];
    assert!((edge / (4.0 * turn.sin()) - 1.0).abs() < 1e-9);
    assert!((sagitta / (2.0 * (1.0 - turn.cos())) - 1.0).abs() < 0.01);
    assert!((found.nearest.unwrap().gap - 1.0).abs() < 1e-9);
}

/// Every shape, with every kind of cell it knows.
const MESHES: &[&str] = &[
    "{ shape = \"bar\", length = 1, cells = 7 }",
    "{ shape = \"rectangle\", size = [1, 2], cells = [3, 5] }",
    "{ shape = \"rectangle\", size = [1, 2], cells = [3, 5], cell = \"tri3\" }",
    "{ shape = \"box\", size = [1, 1, 1], cells = [2, 3, 4] }",
    "{ shape = \"box\", size = [1, 1, 1], cells = [2, 3, 4], cell = \"tet4\" }",
    "{ shape = \"ring\", inner = 0.5, outer = 1, around = 12, radial = 3 }",
    "{ shape = \"disc\", radius = 1, core_cells = 3, layers = 2, cell = \"tri3\" }",
    "{ shape = \"cylinder\", radius = 1, core_cells = 3, layers = 2, height = 1, axial_cells = 4 }",
    "{ shape = \"cylinder\", radius = 1, core_cells = 3, layers = 2, height = 1, axial_cells = 4, cell = \"tet4\" }",
    "{ shape = \"sphere\", radius = 1, core_cells = 3, layers = 2 }",
    "{ shape = \"sphere\", radius = 1, core_cells = 2, layers = 1, cell = \"tet4\" }",
];

#[test]
fn counts_are_known_before_the_mesh_is_built() {
    for mesh in MESHES {
        let text = format!(
            "method = \"verlet\"\nend = 1e-9\n[body.a]\nmesh = {mesh}\n\
             material = {{ law = \"linear\", young = 1e6, poisson = 0.3, density = 1000 }}\n"
        );
        let loaded = load_text(&text).unwrap_or_else(|e| panic!("{e}"));
        let Some(AnyBody::Deformable(body)) = loaded.spec.body.iter().next().map(|b| b.1) else { panic!() };
        let Origin::Shape(shape) = &body.mesh.origin else { panic!() };
        let (size, model) = (Size::of_shape(shape), &loaded.case.model);
        let facets = Surface::of(&model.bodies[0].mesh).facets.len();
        let counted = (size.nodes, size.cells, size.facets);
        assert_eq!(counted, (model.reference.len() as f64, model.elements() as f64, facets as f64), "{mesh}");
    }
}

#[test]
fn sheets_are_counted_too() {
    use crate::mesh::shape::{HollowBox, HollowSphere, RoundSheet, Tube};
    let sphere = |base, refinements| HollowSphere { radius: 1.0, base, refinements };
    let boxed = HollowBox { size: [1.0; 3], cells: [2, 3, 4] };
    for (mesh, shape) in [
        (sphere(Base::Octahedron, 2).build(), Shape::HollowSphere(sphere(Base::Octahedron, 2))),
        (sphere(Base::Bipyramid, 1).build(), Shape::HollowSphere(sphere(Base::Bipyramid, 1))),
        (boxed.build(), Shape::HollowBox(boxed)),
        (
            RoundSheet { radius: 1.0, rings: 5 }.build(),
            Shape::RoundSheet(RoundSheet { radius: 1.0, rings: 5 }),
        ),
        (
            Tube { radius: 1.0, length: 2.0, around: 9, along: 4 }.build(),
            Shape::Tube(Tube { radius: 1.0, length: 2.0, around: 9, along: 4 }),
        ),
    ] {
        let (mesh, size) = (mesh.unwrap(), Size::of_shape(&shape));
        let cells: usize = mesh.cells.iter().map(|c| c.len()).sum();
        assert_eq!((size.nodes, size.cells), (mesh.nodes.len() as f64, cells as f64), "{shape:?}");
    }
}
