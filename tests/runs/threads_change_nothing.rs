//! One thread or two: the same bits in state and ledger.

use crate::common::{Run, body};
use carom::material::Law;
use carom::math::Vec3;
use carom::mesh::{CellKind, shape};
use carom::method::Method;
use carom::method::verlet::StepRule;
use carom::model::record::Record;
use carom::model::restraint::Motion;
use carom::model::{BodySpec, Builder, Table};

/// Three bodies of hexes and tets over several patches and chunks, with every kind of load and support.
fn record(threads: usize) -> Record {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| {
        let (young, poisson) = (1.0, 0.3);
        let hooke = Law::StVenantKirchhoff { young, poisson, density: 1.0 };
        let rubber = Law::NeoHookean { young, poisson, density: 1.5 };
        let mut builder = Builder::default();
        let hexes = shape::Box::new([1.0, 0.9, 0.8], [9, 8, 7]).build().unwrap();
        let mut tets = shape::Box::new([1.0, 1.0, 1.2], [7, 6, 8]);
        tets.cell = CellKind::Tet4;
        let tets = tets.build().unwrap();
        let gravity = Vec3::new(0.0, 0.01, -0.03);
        let a = builder.body(BodySpec { gravity, ..body("hexes", hexes.clone(), &hooke, 1.0) });
        let b = builder.body(BodySpec { damping: 0.2, ..body("tets", tets.clone(), &rubber, 1.0) });
        builder.body(body("free", hexes.clone(), &hooke, 1.0));
        let ramp = || Table::new(vec![(0.0, 0.0), (0.3, 1.0)]).unwrap();
        builder.pressure(a, &hexes.side_sets["xmax"], 0.1, ramp());
        builder.traction(b, &tets.side_sets["zmax"], Vec3::new(0.05, 0.02, 0.1), ramp());
        builder.body_force(b, Vec3::new(0.0, 0.02, 0.0), Table::default());
        let set = |body: usize, name: &str| builder.bodies()[body].node_set(name).unwrap();
        let (left, bottom, back) = (set(0, "xmin"), set(1, "zmin"), set(1, "ymax"));
        builder.restrain(left, vec![Vec3::new(1.0, 0.2, 0.0)], None);
        let motion = Motion::Displacement { displacement: Vec3::new(0.1, 0.0, 0.05), table: ramp() };
        builder.restrain(bottom, vec![Vec3::x(), Vec3::y(), Vec3::z()], Some(motion));
        builder.restrain(back, vec![Vec3::y()], None);
        let model = builder.build().unwrap();
        let v = |x: &Vec3| 0.3 * Vec3::new(0.3 * x.y * x.z, -0.2 * x.x, 0.1 * (5.0 * x.x).sin());
        let mut run = Run::start(model, StepRule::Automatic { safety: 0.8 }, v);
        run.until(1.2).unwrap();
        assert!(run.state.step > 20);
        let mut record = Record::default();
        run.state.save(&mut record);
        run.ledger.save(&mut record);
        run.method.save(&mut record);
        record
    })
}

#[test]
fn one_thread_or_two_give_the_same_bits() {
    let (one, two) = (record(1), record(2));
    assert!(one.arrays.len() > 8);
    assert_eq!(one, two);
}
