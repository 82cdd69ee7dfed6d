//! A law that remembers: what it keeps is carried from step to step, saved and taken back bit for bit.

use crate::common::Run;
use carom::contact::scene::BodyKind;
use carom::element::Block;
use carom::element::hex8::Hex8;
use carom::element::solid::{Solid, SolidOptions};
use carom::material::{Lame, Material, StVenantKirchhoff};
use carom::math::Vec3;
use carom::math::lane::Lane;
use carom::math::tensor::Sym;
use carom::mesh::shape;
use carom::method::Method;
use carom::method::verlet::{StepRule, Verlet};
use carom::model::record::Record;
use carom::model::{BodySpec, Builder, Ledger, Model, State, Table};

/// Hooke's law that hardens with the largest energy density it has seen: `W = (1 + h max W₀) W₀(E)`.
#[derive(Clone)]
struct Hardening(StVenantKirchhoff);

const HARDER: f64 = 40.0;

impl Material for Hardening {
    const STATE: usize = 1;

    fn density(&self) -> f64 {
        self.0.density()
    }
    fn lame(&self) -> Lame {
        self.0.lame()
    }
    fn respond<L: Lane>(&self, strain: &Sym<L>, state: &mut [L]) -> (L, Sym<L>) {
        let (energy, mut stress) = self.0.respond(strain, &mut []);
        state[0] = state[0].max(energy);
        let factor = state[0] * HARDER + 1.0;
        stress.iter_mut().for_each(|s| *s = *s * factor);
        (energy * factor, stress)
    }
    fn tangent<L: Lane>(&self, strain: &Sym<L>, state: &[L]) -> [Sym<L>; 6] {
        let mut tangent = self.0.tangent(strain, &[]);
        let factor = state[0] * HARDER + 1.0;
        tangent.iter_mut().flatten().for_each(|d| *d = *d * factor);
        tangent
    }
}

fn law() -> StVenantKirchhoff {
    StVenantKirchhoff { lame: Lame::from_young(1.0, 0.3), density: 1.0 }
}

/// Eleven hexes: the last batch is not full.
fn model() -> Model {
    let mut builder = Builder::default();
    let mesh = shape::Box::new([11.0, 1.0, 1.0], [11, 1, 1]).build().unwrap();
    let make = |connectivity: Vec<u32>, reference: &[Vec3]| {
        let options = SolidOptions::default();
        Box::new(Solid::<Hex8, _>::new(Hardening(law()), connectivity, reference, &options)) as Box<dyn Block>
    };
    builder.body(BodySpec {
        name: "bar".into(),
        kind: BodyKind::of_cells(mesh.dimension()),
        mesh,
        blocks: vec![Box::new(make)],
        section: 1.0,
        gravity: Vec3::zeros(),
        gravity_table: Table::default(),
        damping: 0.0,
    });
    builder.build().unwrap()
}

fn velocity(x: &Vec3) -> Vec3 {
    Vec3::new(0.2 * (0.4 * x.x).sin(), 0.05 * x.z, -0.1 * x.y * x.x / 11.0)
}

/// `W₀` at the points of every element, in the order of the elements: by a twin of the body that remembers nothing.
fn energies(model: &Model, x: &[Vec3]) -> Vec<f64> {
    // points of a hex8 in the order of the element: signs of the bits, ξ lowest
    let g = 1.0 / 3f64.sqrt();
    let corners =
        [[-1, -1, -1], [1, -1, -1], [1, 1, -1], [-1, 1, -1], [-1, -1, 1], [1, -1, 1], [1, 1, 1], [-1, 1, 1]];
    let mut out = Vec::new();
    for cell in model.bodies[0].mesh.cells[0].nodes.chunks(8) {
        for q in 0..8 {
            let xi = [0, 1, 2].map(|j| if (q >> j) & 1 == 1 { g } else { -g });
            let mut h = carom::math::Mat3::zeros();
            for (&n, c) in cell.iter().zip(corners) {
                let f = |j: usize| 1.0 + c[j] as f64 * xi[j];
                // unit cells: ∂ξ/∂X = 2
                let slope = Vec3::new(
                    c[0] as f64 * f(1) * f(2),
                    c[1] as f64 * f(0) * f(2),
                    c[2] as f64 * f(0) * f(1),
                ) * 0.25;
                h += (x[n as usize] - model.reference[n as usize]) * slope.transpose();
            }
            let e = 0.5 * (h + h.transpose() + h.transpose() * h);
            let e = [e[(0, 0)], e[(1, 1)], e[(2, 2)], e[(0, 1)], e[(1, 2)], e[(0, 2)]];
            out.push(law().respond(&e, &mut []).0);
        }
    }
    out
}

/// What the law keeps now, in the order of the elements.
fn kept(model: &Model, state: &State) -> Vec<f64> {
    let patches = model.blocks[0].patches();
    let mut out = vec![0.0; patches.elements().len() * 8];
    for (place, &e) in patches.elements().iter().enumerate() {
        out[e as usize * 8..][..8].copy_from_slice(&state.material.old[0][place * 8..][..8]);
    }
    out
}

#[test]
fn a_law_keeps_the_largest_energy_it_has_seen_at_every_point() {
    let mut run = Run::start(model(), StepRule::Fixed(0.1), velocity);
    assert_eq!(kept(&run.model, &run.state), vec![0.0; 88]);
    let mut largest = vec![0.0f64; 88];
    for k in 1..=200 {
        run.until(k as f64 * 0.1).unwrap();
        largest.iter_mut().zip(energies(&run.model, &run.state.x)).for_each(|(a, b)| *a = a.max(b));
        for (kept, seen) in kept(&run.model, &run.state).iter().zip(&largest) {
            assert!((kept - seen).abs() < 1e-15 + 1e-13 * seen, "step {k}: {kept:e} {seen:e}");
        }
    }
    // something was remembered that is no longer there
    let now = energies(&run.model, &run.state.x);
    assert!(largest.iter().zip(now).filter(|(seen, now)| **seen > 2.0 * now).count() > 40);
}

#[test]
fn memory_is_saved_and_taken_back_bit_for_bit() {
    let rule = StepRule::Automatic { safety: 0.4 };
    let mut run = Run::start(model(), rule, velocity);
    run.until(7.0).unwrap();
    let mut record = Record::default();
    run.state.save(&mut record);
    run.ledger.save(&mut record);
    run.method.save(&mut record);
    run.until(20.0).unwrap();

    let model = model();
    let (state, ledger) = (State::restore(&model, &record).unwrap(), Ledger::restore(&record).unwrap());
    let mut method = Verlet::new(&model, rule);
    method.restore(&model, &record).unwrap();
    assert!(state.material.old[0].iter().any(|&w| w > 1e-4));
    let mut second = Run { model, state, ledger, method };
    second.until(20.0).unwrap();
    assert_eq!(
        (&second.state.x, &second.state.v, second.state.time),
        (&run.state.x, &run.state.v, run.state.time)
    );
    assert_eq!(second.state.material.old, run.state.material.old);
    assert_eq!(second.ledger, run.ledger);
}
