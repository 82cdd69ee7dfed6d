//! Members of the family of `nonsmooth` with implicit elements (decks refuse them while their contact can put energy in), and its
//! penalty form.

use crate::common::{Run, body};
use crate::nonsmooth_corners::{approach, squares};
use carom::material::Law;
use carom::math::Vec3;
use carom::mesh::shape;
use carom::method::Method;
use carom::method::nonsmooth::general::General;
use carom::method::nonsmooth::{Nonsmooth, Options};
use carom::method::step_control::StepRule;
use carom::model::Builder;
use carom::model::record::Record;

/// A linear bar that swings freely: the trapezoidal rule keeps ½vᵀMv + W exactly, and its period is that of a step within the order (ωΔt)²/12.
#[test]
fn without_contact_the_trapezoidal_rule_keeps_the_energy_of_a_linear_bar() {
    let law = Law::Linear { young: 1.0, poisson: 0.0, density: 1.0 };
    let mut builder = Builder::default();
    builder.body(body("bar", shape::Bar::new(1.0, 20).build().unwrap(), &law, 1.0));
    builder.restrain((0..21).collect(), vec![Vec3::y(), Vec3::z()], None);
    builder.restrain(vec![0], vec![Vec3::x()], None);
    let model = builder.build().unwrap();
    let method = General::new(&model, StepRule::Fixed(0.05), Options { beta: 0.25, ..Options::default() });
    let mut run =
        Run::with(model, method, |_, x| 0.01 * (0.5 * std::f64::consts::PI * x.x).sin() * Vec3::x());
    let before = run.ledger.total();
    run.until(20.0).unwrap();
    assert!((run.ledger.total() / before - 1.0).abs() < 1e-11, "{}", run.ledger.total() / before);
    assert!(run.ledger.error_max_rel() < 1e-11);
}

/// Ten times stiffer springs overlap between √10 times less, in an impact (v√(m/k)), and ten times less, under a given force (F/k); the books close. (Energies are not compared: what an impact loses follows
/// from the phase of the step, |1 − 2θ|.)
#[test]
fn springs_in_the_place_of_constraints_overlap_less_the_stiffer_they_are() {
    let overlap = [1e5, 1e6, 1e7].map(|k| {
        let model = squares(0.0);
        let options = Options { penalty: Some(k), ..Options::default() };
        let mut run =
            Run::with(model, Nonsmooth::new(&squares(0.0), StepRule::Fixed(1e-3), options), approach);
        run.until(0.8).unwrap();
        assert!(run.ledger.error_max_rel() < 5e-3, "{}", run.ledger.error_max_rel());
        run.ledger.penetration_max
    });
    for pair in overlap.windows(2) {
        let ratio = pair[0] / pair[1];
        assert!((3.0..11.0).contains(&ratio), "{ratio}");
    }
}

/// Save in mid-contact and resume, with one thread and with two: the same bits.
#[test]
fn stopping_and_threads_change_nothing_of_implicit_members() {
    let record = |threads: usize, stop: bool| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let make = || {
                let model = squares(0.3);
                let options = Options { beta: 0.25, ..Options::default() };
                let method = General::new(&model, StepRule::Fixed(0.01), options);
                Run::with(model, method, approach)
            };
            let mut run = make();
            run.until(0.3).unwrap();
            if stop {
                let mut record = Record::default();
                run.method.save(&mut record);
                let mut fresh = make();
                (fresh.state, fresh.ledger) = (run.state.clone(), run.ledger.clone());
                fresh.method.restore(&fresh.model, &record).unwrap();
                run = fresh;
            }
            run.until(0.8).unwrap();
            assert!(run.ledger.contacts_peak > 0);
            let mut record = Record::default();
            run.state.save(&mut record);
            run.ledger.save(&mut record);
            run.method.save(&mut record);
            record
        })
    };
    let plain = record(1, false);
    assert_eq!(plain, record(2, false));
    assert_eq!(plain, record(2, true));
}
