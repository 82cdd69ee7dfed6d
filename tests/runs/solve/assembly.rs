//! The matrix of a model against differences of its forces.

use carom::contact::scene::BodyKind;
use carom::element::Between;
use carom::element::choice::{Integration, Kind, maker};
use carom::material::Law;
use carom::math::{Mat3, Vec3};
use carom::mesh::{CellKind, shape};
use carom::model::between::ForcesBetween;
use carom::model::{BodySpec, Builder, Model, Table};
use carom::solve::assembly::{System, Unknowns};
use carom::solve::sparse::Shape;

fn law() -> Law {
    Law::NeoHookean { young: 3.0, poisson: 0.3, density: 2.0 }
}

/// Two boxes, one of them fixed on one side and rolling on an inclined plane on another.
fn model(kind: CellKind, integration: Integration) -> Model {
    let mut builder = Builder::default();
    for at in [0.0, 2.0] {
        let mut shape = shape::Box::new([1.0; 3], [2; 3]);
        shape.cell = kind;
        let mut mesh = shape.build().unwrap();
        mesh.nodes.iter_mut().for_each(|x| x.x += at);
        builder.body(BodySpec {
            name: format!("box {at}"),
            kind: BodyKind::Solid,
            mesh,
            blocks: vec![maker(Kind { integration, ..Kind::new(kind) }, &law())],
            section: 1.0,
            gravity: Vec3::zeros(),
            gravity_table: Table::default(),
            damping: 0.0,
        });
    }
    let set = |builder: &Builder, name: &str| builder.bodies()[0].node_set(name).unwrap();
    let fixed = set(&builder, "xmin");
    builder.restrain(fixed, vec![Vec3::x(), Vec3::y(), Vec3::z()], None);
    let rolling = set(&builder, "xmax");
    builder.restrain(rolling, vec![Vec3::new(1.0, 2.0, 0.3)], None);
    let rolling = set(&builder, "zmax");
    builder.restrain(rolling, vec![Vec3::z()], None);
    builder.build().unwrap()
}

fn shaken(model: &Model, by: f64) -> Vec<Vec3> {
    let noise = |k: usize| (12.9898 * k as f64).sin();
    let move_one =
        |(k, x): (usize, &Vec3)| x + by * Vec3::new(noise(3 * k), noise(3 * k + 1), noise(3 * k + 2));
    model.reference.iter().enumerate().map(move_one).collect()
}

/// Adds lumped masses times 7 + b and consistent ones times 3 − b of body b, times a motion.
fn add_masses(model: &Model, motion: &[Vec3], force: &mut [Vec3]) {
    for (b, body) in model.bodies.iter().enumerate() {
        for k in body.nodes.clone() {
            force[k] += (7.0 + b as f64) * model.mass[k] * motion[k];
        }
        for block in &model.blocks[body.blocks.clone()] {
            for e in 0..block.len() {
                let nodes = block.stencil(block.potentials() - block.len() + e);
                let mut m = vec![0.0; nodes.len().pow(2)];
                block.consistent_mass(e, &model.reference, &mut m);
                for (i, &p) in nodes.iter().enumerate() {
                    for (j, &q) in nodes.iter().enumerate() {
                        let m = (3.0 - b as f64) * m[i * nodes.len() + j];
                        force[p as usize] += m * motion[q as usize];
                    }
                }
            }
        }
    }
}

/// The system times a vector is the force of that motion, along free directions: elements of both shapes and nodal
/// integration, contact entries between the bodies, consistent and lumped mass.
#[test]
fn the_matrix_is_that_of_all_potentials_contacts_and_masses() {
    for (kind, integration) in [
        (CellKind::Hex8, Integration::Full),
        (CellKind::Tet4, Integration::Full),
        (CellKind::Tet4, Integration::Nodal),
        (CellKind::Hex8, Integration::Nodal),
    ] {
        let model = model(kind, integration);
        let unknowns = Unknowns::new(&model);
        let (start, end) = (shaken(&model, 0.03), shaken(&model, 0.05));
        let along: Vec<f64> = (0..unknowns.count).map(|k| (0.3 * k as f64).cos()).collect();
        let spread: Vec<Vec3> = (0..model.reference.len()).map(|k| unknowns.expand(k, &along)).collect();
        let touch = [5u32, 30, 33];
        let push = Mat3::new(1.0, 0.2, 0.0, -0.3, 2.0, 0.1, 0.4, 0.5, 3.0);
        for shape in [Shape::Symmetric, Shape::Unsymmetric] {
            let mut system = System::new(&model, &unknowns, 0..2, shape);
            system.couple(&model, &unknowns, [&touch[..]].into_iter(), false);
            system.clear();
            let mut force = vec![Vec3::zeros(); model.reference.len()];
            let h = 1e-5;
            let ends =
                [h, -h].map(|h| -> Vec<Vec3> { end.iter().zip(&spread).map(|(x, d)| x + h * d).collect() });
            let mut slope = |at: &mut dyn FnMut(&[Vec3]) -> Vec<Vec3>, times: f64| {
                for ((f, a), b) in force.iter_mut().zip(at(&ends[0])).zip(at(&ends[1])) {
                    *f += times * (a - b) / (2.0 * h);
                }
            };
            let block = if shape == Shape::Symmetric {
                let mut forces = carom::model::forces::Forces::new(&model);
                let mut material = model.rest().material;
                let mut at = |x: &[Vec3]| {
                    forces.evaluate(&model, x, &mut material, false);
                    (0..x.len()).map(|k| forces.at(k)).collect()
                };
                slope(&mut at, 2.0);
                system.add_tangent(&model, &unknowns, &end, 2.0);
                push + push.transpose()
            } else {
                let mut forces = ForcesBetween::new(&model).unwrap();
                let mut at = |x: &[Vec3]| {
                    forces.evaluate(&model, &start, x);
                    (0..x.len()).map(|k| forces.at(k)).collect()
                };
                slope(&mut at, 2.0);
                let reference = &model.reference;
                let step = Between { reference, start: &start, end: &end };
                system.add_tangent_between(&model, &unknowns, step, 2.0);
                push
            };
            for &a in &touch {
                for &b in &touch {
                    let of = if shape == Shape::Symmetric || a >= b { block } else { -block };
                    system.add_block(&unknowns, a, b, &of);
                    force[a as usize] += of * spread[b as usize];
                }
            }
            system.add_mass(&model, &unknowns, |b| 7.0 + b as f64);
            system.add_consistent_mass(&model, &unknowns, |b| 3.0 - b as f64);
            add_masses(&model, &spread, &mut force);
            let mut expected = vec![0.0; unknowns.count];
            force.iter().enumerate().for_each(|(k, f)| unknowns.add_to_unknowns(k, f, &mut expected));
            let mut found = vec![0.0; unknowns.count];
            system.matrix.multiply(&along, &mut found);
            let size = expected.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
            for (a, b) in expected.iter().zip(&found) {
                assert!((a - b).abs() < 1e-8 * size, "{kind:?} {integration:?} {shape:?}: {a} {b}");
            }
            // and its factors undo it
            system.factor(&model, &unknowns).unwrap();
            system.solve(&mut found).unwrap();
            for (a, b) in along.iter().zip(&found) {
                assert!((a - b).abs() < 1e-9, "{kind:?} {integration:?} {shape:?}: {a} {b}");
            }
        }
    }
}

/// What is coupled is remembered until it is forgotten on purpose.
#[test]
fn couplings_come_and_go() {
    let model = model(CellKind::Hex8, Integration::Full);
    let unknowns = Unknowns::new(&model);
    let mut system = System::new(&model, &unknowns, 0..2, Shape::Unsymmetric);
    let bare = system.matrix.rows.len();
    let first = [5u32, 30];
    let second = [6u32, 31];
    system.couple(&model, &unknowns, [&first[..]].into_iter(), false);
    system.couple(&model, &unknowns, [&second[..]].into_iter(), false);
    assert_eq!(system.coupled(), [(5, 30), (6, 31)]);
    system.couple(&model, &unknowns, [&second[..]].into_iter(), true);
    assert_eq!(system.coupled(), [(6, 31)]);
    system.couple(&model, &unknowns, std::iter::empty(), true);
    assert_eq!(system.matrix.rows.len(), bare);
    // nodes of one element are coupled anyway
    let element: Vec<u32> = model.blocks[0].stencil(0).to_vec();
    system.couple(&model, &unknowns, [&element[..]].into_iter(), true);
    assert!(system.coupled().is_empty());
}
