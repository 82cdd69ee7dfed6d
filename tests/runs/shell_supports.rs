//! Shells held, loaded and followed as a deck says: planes of symmetry, forces and probes at points of the smooth surface.

use carom::Simulation;
use carom::deck::{Input, load};
use carom::math::Vec3;
use carom::mesh::shape::{Base, HollowSphere};
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

/// A sphere under a pressure p from inside widens by p R² (1 − ν)/(2 E h), and the work that is booked is half of p times the volume
/// that it gains. An eighth of it, with three planes of symmetry.
#[test]
fn a_sphere_under_pressure_widens() {
    let sphere = HollowSphere { radius: 1.0, base: Base::Octahedron, refinements: 4 }.build().unwrap();
    let round = |x: f64| if x.abs() < 1e-12 { 0.0 } else { x };
    let all: Vec<Vec3> = sphere.nodes.iter().map(|x| x.map(round)).collect();
    let inside = |t: &&[u32]| t.iter().all(|&k| all[k as usize].min() >= 0.0);
    let cells: Vec<&[u32]> = sphere.cells[0].nodes.chunks_exact(3).filter(inside).collect();
    let mut used: Vec<u32> = cells.iter().copied().flatten().copied().collect();
    used.sort_unstable();
    used.dedup();
    let id = |k: &u32| used.binary_search(k).unwrap();
    let nodes: Vec<[f64; 3]> = used.iter().map(|&k| all[k as usize].into()).collect();
    let cells: Vec<Vec<usize>> = cells.iter().map(|t| t.iter().map(id).collect()).collect();
    let at = nodes.iter().position(|x| x[0] == 1.0).unwrap();
    let (young, poisson, h, p) = (1e6, 0.3, 0.01, 10.0);
    let mut simulation = Simulation::from_text(&format!(
        r#"
        method = "static"
        end = 1
        [static]
        steps = 1
        [body.ball]
        mesh = {{ nodes = {nodes:?}, cells = {cells:?} }}
        element = "shell"
        fit = true
        thickness = {h}
        material = {{ law = "linear", young = {young}, poisson = {poisson}, density = 1 }}
        symmetry = [{{ normal = [1, 0, 0] }}, {{ normal = [0, 1, 0] }}, {{ normal = [0, 0, 1] }}]
        [[load]]
        body = "ball"
        set = "surface"
        pressure = -{p}
        [probe.at]
        body = "ball"
        node = {at}
        "#
    ))
    .unwrap();
    simulation.run().unwrap();
    let last = |column: &str| *simulation.history().column(column).unwrap().last().unwrap();
    let wide = p * (1.0 - poisson) / (2.0 * young * h);
    assert!((last("at.ux") / wide - 1.0).abs() < 0.01, "{} {wide}", last("at.ux"));
    let work = 0.5 * p * 0.5 * std::f64::consts::PI * wide;
    assert!((last("external") / work - 1.0).abs() < 0.01, "{} {work}", last("external"));
    // the force follows the sphere: second order in its widening
    assert!(last("error").abs() < 2e-3 * work, "{}", last("error"));
}

/// A hemisphere with a hole of 18° (R = 10, t = 0.04, four forces of 2 at the free equator) opens by 0.0935 to 0.0940 (MacNeal & Harder 1985;
/// Simo, Fox & Rifai 1989). Both of its edges are free and curved: ghosts that hang on the nodes inside are too stiff.
#[test]
fn free_curved_edges_bend_with_independent_ghosts() {
    let n = 16usize;
    let place = |k: usize| {
        let (around, up) = (k % (n + 1), k / (n + 1));
        let [around, up] = [90.0 * around as f64, 72.0 * up as f64].map(|a| (a / n as f64).to_radians());
        let round = |x: f64| if x.abs() < 1e-9 { 0.0 } else { x };
        [around.cos() * up.cos(), around.sin() * up.cos(), up.sin()].map(|x| round(10.0 * x))
    };
    let nodes: Vec<[f64; 3]> = (0..(n + 1) * (n + 1)).map(place).collect();
    let mut cells = Vec::new();
    for (i, j) in (0..n).flat_map(|j| (0..n).map(move |i| (i, j))) {
        let a = j * (n + 1) + i;
        let [b, c, d] = [a + 1, a + n + 2, a + n + 1];
        cells.extend([[a, b, d], [b, c, d]]);
    }
    let opens = |ghosts: &str| {
        let mut simulation = Simulation::from_text(&format!(
            r#"
            method = "static"
            end = 1
            [static]
            steps = 1
            [body.bowl]
            mesh = {{ nodes = {nodes:?}, cells = {cells:?}, sets = {{ a = [0], b = [{n}], level = [{}] }} }}
            element = "shell"
            fit = true
            ghosts = "{ghosts}"
            thickness = 0.04
            material = {{ law = "linear", young = 6.825e7, poisson = 0.3, density = 1 }}
            symmetry = [{{ normal = [1, 0, 0] }}, {{ normal = [0, 1, 0] }}]
            support = [{{ set = "level", directions = ["z"] }}]
            [[load]]
            body = "bowl"
            set = "a"
            force = [1, 0, 0]
            [[load]]
            body = "bowl"
            set = "b"
            force = [0, -1, 0]
            [probe.at]
            body = "bowl"
            node = 0
            "#,
            (n + 1) * (n / 2)
        ))
        .unwrap();
        simulation.run().unwrap();
        *simulation.history().column("at.ux").unwrap().last().unwrap()
    };
    let off = ["independent", "dependent"].map(|ghosts| opens(ghosts) / 0.09375 - 1.0);
    assert!(off[0].abs() < 0.03 && off[1] < -0.05, "{off:?}");
}

/// A ball falls on a plate that is free all round, with nodes beyond its rim: they touch nothing, move along, and momentum stays.
#[test]
fn a_plate_with_independent_ghosts_is_hit() {
    let run = |ghosts: &str, method: &str| {
        let mut simulation = Simulation::from_text(&format!(
            r#"
            method = "{method}"
            end = 4e-3
            [material.soft]
            law = "st-venant-kirchhoff"
            young = 2.1e5
            poisson = 0.3
            density = 0.0785
            [body.plate]
            mesh = {{ shape = "round-sheet", radius = 1, rings = 6 }}
            element = "shell"
            ghosts = "{ghosts}"
            thickness = 0.02
            material = "soft"
            [body.ball]
            mesh = {{ shape = "hollow-sphere", radius = 0.4, refinements = 2, at = [0, 0, 0.5] }}
            element = "shell"
            fit = true
            thickness = 0.02
            material = "soft"
            velocity = [0, 0, -60]
            [contact]
            [probe.plate]
            body = "plate"
            "#
        ))
        .unwrap();
        simulation.run().unwrap();
        let column = |name: &str| simulation.history().column(name).unwrap().to_vec();
        let (pz, error) = (column("pz"), column("error"));
        let drift = pz.iter().map(|p| (p / pz[0] - 1.0).abs()).fold(0.0, f64::max);
        let total = column("total")[0];
        let off = error.iter().map(|e| (e / total).abs()).fold(0.0, f64::max);
        assert!(drift < 1e-11 && off < 0.01, "{method} {ghosts}: {drift} {off}");
        *column("plate.vz").last().unwrap()
    };
    for method in ["dcr", "semi-explicit"] {
        let [free, hanging] = ["independent", "dependent"].map(|ghosts| run(ghosts, method));
        // a flat plate has no curvature that ghosts could miss
        assert!((free / hanging - 1.0).abs() < 0.1, "{method}: {free} {hanging}");
    }
}
