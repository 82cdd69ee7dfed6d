//! Shells held, loaded and followed as a deck says: planes of symmetry, forces and probes at points of the smooth surface.

use carom::Simulation;
use carom::deck::{Input, load};
use carom::math::Vec3;
use std::path::Path;

/// A square plate of side 1, simply supported, under a uniform load q bends by 0.00406235 q a⁴/D in the middle (Timoshenko &
/// Woinowsky-Krieger, Theory of Plates and Shells, table 8). A quarter of it with two planes of symmetry; slopes must stay there, or the
/// plate would be hinged and bend much more. Ghosts beyond the supported edges hang on nodes that stand askew to them, which twists a
/// layer as wide as a triangle: the error goes down with the first power of its size.
#[test]
fn a_quarter_of_a_plate_bends_like_the_whole() {
    let (young, poisson, h) = (1e9, 0.3, 0.01_f64);
    let stiffness = young * h.powi(3) / (12.0 * (1.0 - poisson * poisson));
    let exact = -0.00406235 / stiffness;
    let middle = |cells: u32| {
        let mut simulation = Simulation::from_text(&format!(
            r#"
            method = "static"
            end = 1
            [body.plate]
            mesh = {{ shape = "rectangle", size = [0.5, 0.5], cells = [{cells}, {cells}] }}
            element = "shell"
            thickness = {h}
            material = {{ law = "linear", young = {young}, poisson = {poisson}, density = 1 }}
            symmetry = [{{ point = [0, 0, 0], normal = [1, 0, 0] }}, {{ point = [0, 0, 0], normal = [0, 1, 0] }}]
            support = [{{ set = "xmax", directions = ["z"] }}, {{ set = "ymax", directions = ["z"] }}]
            [[load]]
            body = "plate"
            set = "surface"
            traction = [0, 0, -1]
            table = [[0, 0], [1, 1]]
            [probe.middle]
            body = "plate"
            node = 0
            "#
        ))
        .unwrap();
        simulation.run().unwrap();
        *simulation.history().column("middle.uz").unwrap().last().unwrap()
    };
    let off = [8, 16, 32].map(|n| (middle(n) / exact - 1.0).abs());
    assert!(off[2] < 5e-3 && off[2] < 0.7 * off[1] && off[1] < off[0], "{off:?}");
}

/// A force on a point of the surface is shared by the nodes around as virtual work says: same force, same moment about any point.
#[test]
fn forces_on_shells_act_at_the_smooth_surface() {
    let text = r#"
        method = "verlet"
        end = 1e-5
        [body.tube]
        mesh = { shape = "tube", radius = 1, length = 2, around = 12, along = 6 }
        element = "shell"
        thickness = 0.02
        material = { law = "linear", young = 1e6, poisson = 0.3, density = 1000 }
        [[load]]
        body = "tube"
        set = "zmax"
        force = [3, -1, 2]
    "#;
    let input = Input { name: "deck", text, folder: Path::new("."), options: &[] };
    let case = load(&input).unwrap().case;
    let (model, set) = (&case.model, case.model.bodies[0].node_set("zmax").unwrap());
    let (surface, first) = model.blocks[0].surface().unwrap();
    let limit = surface.limit();
    let force = Vec3::new(3.0, -1.0, 2.0) / set.len() as f64;
    let (mut sum, mut moment) = (Vec3::zeros(), Vec3::zeros());
    model.loads[0].forces(0.0, &model.reference, |n, f| {
        sum += f;
        moment += model.reference[n as usize].cross(&f);
    });
    let point = |n: u32| surface.point(&limit[n as usize - first], &model.reference[first..]);
    let wanted: Vec3 = set.iter().map(|&n| point(n).cross(&force)).sum();
    assert!((sum - force * set.len() as f64).norm() < 1e-13, "{sum}");
    assert!((moment - wanted).norm() < 1e-13, "{moment} {wanted}");
    // nodes stand outside of the surface: at them the force would turn the tube otherwise
    let at_nodes: Vec3 = set.iter().map(|&n| model.reference[n as usize].cross(&force)).sum();
    let far = |n: u32| (point(n) - model.reference[n as usize]).norm();
    assert!(far(set[0]) > 0.01 && (at_nodes - wanted).norm() < 1e-12, "the rim is symmetric: {at_nodes}");
}
