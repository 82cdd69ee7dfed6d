//! Members of the family of `nonsmooth` with implicit elements, and its penalty form.

use crate::common::{Run, body};
use crate::kept::stops_and_threads_change_nothing;
use crate::nonsmooth_corners::{approach, deepest_node, forces, momenta, plane_model, squares};
use carom::material::Law;
use carom::math::Vec3;
use carom::mesh::{CellKind, shape};
use carom::method::nonsmooth::general::General;
use carom::method::nonsmooth::{Nonsmooth, Options};
use carom::method::step_control::StepRule;
use carom::model::Builder;

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

/// The trapezoidal member (β = ¼) on its way: what it must keep, step by step, and the energy at the end.
fn followed(mut run: Run<General>, dt: f64, end: f64) -> f64 {
    let (start, energy) = (momenta(&run.model, &run.state.x, &run.state.v), run.ledger.total());
    let mut f0 = forces(&run.model, &run.state.x);
    while run.state.time < end - 0.5 * dt {
        let (x0, v0, k0) = (run.state.x.clone(), run.state.v.clone(), run.ledger.kinetic);
        run.until(run.state.time + 1e-6 * dt).unwrap();
        let (model, x, v) = (&run.model, &run.state.x, &run.state.v);
        let (f1, contact, h) = (forces(model, x), run.method.contact_forces(), run.ledger.dt);
        // J₁ − J₀ = ¼Δt Σ (φ₁×f₀ + φ₀×f₁) + Δt Σ φ½×F and K₁ − K₀ = Σ (f̄ + F)·Δφ
        let (p, j) = momenta(model, x, v);
        let (mut spin, mut work) = (j - momenta(model, &x0, &v0).1, run.ledger.kinetic - k0);
        for k in 0..x.len() {
            spin -= 0.25 * h * (x[k].cross(&f0[k]) + x0[k].cross(&f1[k]));
            spin -= h * (0.5 * (x0[k] + x[k])).cross(&contact[k]);
            work -= (0.5 * (f0[k] + f1[k]) + contact[k]).dot(&(x[k] - x0[k]));
        }
        // increments are found to 1e-11 of an edge (`tolerance`): of positions, and over Δt² of accelerations
        assert!(spin.norm() < 1e-9 && work.abs() < 1e-9, "{} {work:e} {spin}", run.state.time);
        assert!((p - start.0).norm() < 1e-12, "{:e}", (p - start.0).norm());
        assert!(deepest_node(model, x) <= 1e-10 && run.ledger.penetration <= 1e-10);
        assert!(run.ledger.total() <= energy * (1.0 + 1e-9), "{} of {energy}", run.ledger.total());
        f0 = f1;
    }
    assert!(run.ledger.contacts_peak > 0);
    run.ledger.total()
}

/// E: 0.5650 → 0.47628 at Δt = 0.01 (the sheet's table, its own program).
#[test]
fn two_squares_meet_by_the_trapezoidal_rule_as_the_sheet_says() {
    let model = squares(0.0);
    let method = General::new(&model, StepRule::Fixed(0.01), Options { beta: 0.25, ..Options::default() });
    let end = followed(Run::with(model, method, approach), 0.01, 0.8);
    println!("{end}");
    assert!((end - 0.47628).abs() < 2e-5, "{end}");
}

/// Two soft squares on their corners fly at each other, exactly and a little beside each other. Whichever side of a corner a node is let out on, no energy comes in, and
/// at a step of a fourteenth of the explicit limit implicit elements say what explicit ones do: what their impacts lose differs by the phase of the step alone, a
/// tenth of the loss.
#[test]
fn corners_that_meet_by_implicit_members_put_no_energy_in() {
    let law = Law::NeoHookean { young: 10.0, poisson: 0.3, density: 1.0 };
    let scene = |beside: f64| {
        let meshes = [Vec3::zeros(), Vec3::new(1.6, beside, 0.0)].map(|at| {
            let mut square = shape::Rectangle::new([1.0, 1.0], [2, 2]);
            square.cell = CellKind::Tri3;
            let mut mesh = square.build().unwrap();
            let turn = nalgebra::Rotation3::new(0.25 * std::f64::consts::PI * Vec3::z());
            mesh.nodes.iter_mut().for_each(|x| *x = at + turn * *x);
            mesh
        });
        plane_model(meshes.into(), 0.0, &[], &law)
    };
    let towards = |b: usize, _: &Vec3| if b == 0 { 0.5 * Vec3::x() } else { -0.5 * Vec3::x() };
    for beside in [0.0, 1e-6, 0.01, 0.05, -0.03] {
        let (model, rule) = (scene(beside), StepRule::Fixed(0.01));
        let method = General::new(&model, rule, Options { beta: 0.25, ..Options::default() });
        let implicit = followed(Run::with(model, method, towards), 0.01, 1.0);
        let model = scene(beside);
        let method = Nonsmooth::new(&model, rule, Options::default());
        let mut run = Run::with(model, method, towards);
        let before = run.ledger.total();
        run.until(1.0 - 0.005).unwrap();
        let explicit = run.ledger.total();
        println!("{beside}: {implicit} {explicit}");
        assert!((implicit - explicit).abs() < 0.1 * (before - explicit), "{beside}: {implicit} {explicit}");
    }
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
    let make = || {
        let model = squares(0.3);
        let options = Options { beta: 0.25, ..Options::default() };
        let method = General::new(&model, StepRule::Fixed(0.01), options);
        Run::with(model, method, approach)
    };
    stops_and_threads_change_nothing(make, [0.3, 0.8]);
}
