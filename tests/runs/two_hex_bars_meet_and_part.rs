//! Two bars 10×1×1 of hexes whose meshes do not match (5n×n×n and 5(n+1)×(n+1)×(n+1)) meet at ±0.1, E = ρ = 1, ν = 0.
//!
//! As in one dimension they part at t = 20 with the impulse 2. Nodes of either side lie inside faces of the other, so
//! every contact is shared by several.

use crate::common::{Run, body};
use carom::material::Law;
use carom::math::Vec3;
use carom::mesh::place::Placement;
use carom::mesh::shape::{self, End, Grading};
use carom::method::Method;
use carom::method::dcr::{Dcr, Options};
use carom::method::verlet::StepRule;
use carom::model::Builder;

#[derive(Debug)]
struct Seen {
    /// Least and largest, of the initial one.
    energy: (f64, f64),
    last_impulse: f64,
    impulse: f64,
    momentum: f64,
    ledger: f64,
}

fn two_bars(n: u32, graded: bool) -> Seen {
    let law = Law::Linear { young: 1.0, poisson: 0.0, density: 1.0 };
    let mut builder = Builder::default();
    for (name, at, n, fine) in [("left", -10.0, n, End::Max), ("right", 0.0, n + 1, End::Min)] {
        let mut shape = shape::Box::new([10.0, 1.0, 1.0], [5 * n, n, n]);
        if graded {
            shape.grading[0] = Grading::Quadratic { slope: 1.0 / f64::from(n), fine };
        }
        let mut mesh = shape.build().unwrap();
        mesh.place(&Placement { at: Vec3::new(at, 0.0, 0.0), rotation: None }).unwrap();
        builder.body(body(name, mesh, &law, 1.0));
    }
    let model = builder.build().unwrap();
    let method = Dcr::new(&model, StepRule::Automatic { safety: 0.5 }, Options::default());
    let speed = |b: usize, _: &Vec3| if b == 0 { 0.1 * Vec3::x() } else { -0.1 * Vec3::x() };
    let mut run = Run::with(model, method, speed);
    let mut seen =
        Seen { energy: (f64::INFINITY, 0.0), last_impulse: 0.0, impulse: 0.0, momentum: 0.0, ledger: 0.0 };
    while run.state.time < 50.0 {
        run.until(run.state.time + 1e-9).unwrap();
        if run.ledger.contacts > 0 {
            seen.last_impulse = run.state.time;
        }
        let energy = run.ledger.total() / 0.1;
        seen.energy = (seen.energy.0.min(energy), seen.energy.1.max(energy));
        let p: Vec3 = run.state.v.iter().zip(&run.model.mass).map(|(v, m)| *m * v).sum();
        seen.momentum = seen.momentum.max(p.norm() / 2.0);
    }
    seen.impulse = -run.method.impulse_between(0, 1).x;
    seen.ledger = run.ledger.error_max / 0.1;
    seen
}

/// Half the critical step. Where codes with penalties gain up to 228 %, this loses a few per cent, less on finer meshes.
#[test]
fn bars_that_do_not_match_lose_little_and_never_gain() {
    let seen: Vec<Seen> = (2..=4).map(|n| two_bars(n, false)).collect();
    for (s, most) in seen.iter().zip([0.06, 0.05, 0.04]) {
        assert!(1.0 - s.energy.0 <= most && s.energy.1 <= 1.0, "{s:?}");
        assert!((19.5..=21.0).contains(&s.last_impulse), "{s:?}");
        assert!(s.momentum <= 1e-12 && s.ledger <= 0.005, "{s:?}");
    }
    for pair in seen.windows(2) {
        assert!(pair[1].energy.0 > pair[0].energy.0, "the loss falls with the mesh");
        assert!((2.0 - pair[1].impulse) < (2.0 - pair[0].impulse), "and so does the missing impulse");
    }
}

/// Graded towards the contact the layers that meet are light: of what equal layers lose less than half is lost, less on the
/// finer mesh, and nothing is gained but what the integrator's energy swings by (the ledger's error). Which node of a face is
/// answered first changes the loss by a few parts in a hundred of it.
#[test]
fn graded_bars_lose_less_than_half_of_what_equal_layers_lose() {
    let mut before = f64::INFINITY;
    for n in 3..=4 {
        let (s, equal) = (two_bars(n, true), two_bars(n, false));
        let loss = 1.0 - s.energy.0;
        assert!(
            loss <= 0.5 * (1.0 - equal.energy.0) && loss < before && s.energy.1 <= 1.0 + s.ledger,
            "{s:?} {equal:?}"
        );
        assert!((19.5..=21.0).contains(&s.last_impulse) && s.momentum <= 1e-12, "{s:?}");
        assert!(s.ledger <= 0.005, "{s:?}");
        before = loss;
    }
}
