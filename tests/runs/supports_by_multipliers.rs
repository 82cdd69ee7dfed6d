//! RATTLE with the matrices of the whole system, as the textbook has it, for supports that are kept by projection (`verlet`, and `asynchronous` with equal
//! steps) and by multipliers node by node (`verlet`, `supports = "rattle"`).
//!
//! ```text
//! p½ = p − ½h∇V(q)      q′ = q + h M⁻¹(p½ − ½h ∇g λ) with g(q′, t′) = 0      p′ = p½ − ½h ∇g λ − ½h ∇V(q′) − ∇g μ with ∇gᵀM⁻¹p′ + ∂g/∂t = 0
//! ```

use crate::common::{Run, body};
use carom::material::Law;
use carom::math::Vec3;
use carom::mesh::shape;
use carom::method::Method;
use carom::method::asynchronous::{self, Asynchronous};
use carom::method::verlet::{Options, StepRule, Supports, Verlet};
use carom::model::forces::Forces;
use carom::model::restraint::Motion;
use carom::model::{Builder, Model, Table};
use nalgebra::{DMatrix, DVector};

/// Held nodes with a direction and its motion.
type Holds = Vec<(usize, Vec3, Option<Motion>)>;

/// A block whose ends slide along oblique lines; the second one may be led by a motion.
fn held_block(motion: Option<Motion>) -> (Model, Holds) {
    let law = Law::StVenantKirchhoff { young: 10.0, poisson: 0.3, density: 1.0 };
    let mut builder = Builder::default();
    let mesh = shape::Box::new([1.0, 0.8, 0.6], [2, 1, 1]).build().unwrap();
    let index = builder.body(body("block", mesh, &law, 1.0));
    let set = |builder: &Builder, name: &str| builder.bodies()[index].node_set(name).unwrap();
    let mut held = Vec::new();
    let (a, b) = (Vec3::new(1.0, 1.0, 0.0), Vec3::new(0.0, 0.3, 1.0));
    for (name, directions, motion) in [("xmin", vec![a], None), ("xmax", vec![a, b], motion)] {
        let nodes = set(&builder, name);
        for &node in &nodes {
            held.extend(directions.iter().map(|d| (node as usize, *d, motion.clone())));
        }
        builder.restrain(nodes, directions, motion);
    }
    (builder.build().unwrap(), held)
}

fn speed(x: &Vec3) -> Vec3 {
    0.3 * Vec3::new(x.y, -x.x * x.z, x.x + 0.3 * x.y)
}

/// The block by RATTLE with the matrices of all nodes.
struct Whole {
    model: Model,
    held: Holds,
    forces: Forces,
    mass: DVector<f64>,
    gradient: DMatrix<f64>,
    q: DVector<f64>,
    p: DVector<f64>,
    time: f64,
}

impl Whole {
    fn new(motion: Option<Motion>) -> Whole {
        let (model, held) = held_block(motion);
        let n = 3 * model.reference.len();
        let mut gradient = DMatrix::zeros(n, held.len());
        for (c, (node, direction, _)) in held.iter().enumerate() {
            gradient.fixed_view_mut::<3, 1>(3 * node, c).copy_from(direction);
        }
        let mass = DVector::from_fn(n, |i, _| model.mass[i / 3]);
        let q = DVector::from_fn(n, |i, _| model.reference[i / 3][i % 3]);
        let p = DVector::from_fn(n, |i, _| mass[i] * speed(&model.reference[i / 3])[i % 3]);
        let forces = Forces::new(&model);
        let mut whole = Whole { model, held, forces, mass, gradient, q, p, time: 0.0 };
        whole.project();
        whole
    }

    /// Along each direction: what a motion says, by `told`.
    fn motions(&self, told: impl Fn(&Motion) -> Vec3) -> DVector<f64> {
        let along = |(_, direction, motion): &(usize, Vec3, Option<Motion>)| {
            motion.as_ref().map_or(0.0, |m| direction.dot(&told(m)))
        };
        DVector::from_iterator(self.held.len(), self.held.iter().map(along))
    }

    fn weighted(&self) -> DMatrix<f64> {
        DMatrix::from_fn(self.q.len(), self.held.len(), |i, j| self.gradient[(i, j)] / self.mass[i])
    }

    fn slope(&mut self) -> DVector<f64> {
        let x: Vec<Vec3> = self.q.as_slice().chunks(3).map(Vec3::from_column_slice).collect();
        self.forces.evaluate(&self.model, &x, &mut self.model.rest().material, false);
        DVector::from_fn(self.q.len(), |i, _| self.forces.at(i / 3)[i % 3])
    }

    fn project(&mut self) {
        let weighted = self.weighted();
        let excess = weighted.transpose() * &self.p - self.motions(|m| m.velocity(self.time));
        let multipliers = (self.gradient.transpose() * weighted).lu().solve(&excess).unwrap();
        self.p -= &self.gradient * multipliers;
    }

    fn step(&mut self, h: f64) {
        let slope = self.slope();
        let half = &self.p - 0.5 * h * slope;
        self.time += h;
        let pull = self.weighted();
        let free = &self.q + h * half.component_div(&self.mass);
        let goal = self.motions(|m| m.displacement(self.time));
        let reference = DVector::from_fn(self.q.len(), |i, _| self.model.reference[i / 3][i % 3]);
        let matrix = (0.5 * h * h * (self.gradient.transpose() * &pull)).lu();
        let mut lambda = DVector::zeros(self.held.len());
        for _ in 0..20 {
            self.q = &free - 0.5 * h * h * (&pull * &lambda);
            let g = self.gradient.transpose() * (&self.q - &reference) - &goal;
            if g.amax() <= 1e-14 {
                break;
            }
            lambda += matrix.solve(&g).unwrap();
        }
        self.p = half - 0.5 * h * (&self.gradient * &lambda) - 0.5 * h * self.slope();
        self.project();
    }

    fn off(&self, x: &[Vec3]) -> f64 {
        let off = |(i, x): (usize, &Vec3)| (x - self.q.fixed_rows::<3>(3 * i)).amax();
        x.iter().enumerate().map(off).fold(0.0, f64::max)
    }
}

/// For supports along fixed directions RATTLE and the projection W = P/m are one and the same.
#[test]
fn supports_by_projection_are_what_rattle_makes_of_them() {
    let (model, _) = held_block(None);
    let method = Asynchronous::new(&model, asynchronous::Options::synchronous(0.5));
    let h = method.steps()[0].0;
    let mut run = Run::with(model, method, |_, x| speed(x));
    let mut whole = Whole::new(None);
    // kicks in the middle of steps: half a drift, then whole steps from kick to kick. Leapfrog from half to half is
    // Verlet from whole to whole with the start moved by half a step
    whole.q += 0.5 * h * whole.p.component_div(&whole.mass);
    let slope = whole.slope();
    whole.p -= 0.5 * h * slope;
    whole.project();
    let steps = 500;
    for _ in 0..steps {
        whole.step(h);
    }
    // at the kick after `steps` whole steps, which is about to come
    run.until((f64::from(steps) + 0.5) * h).unwrap();
    let mut copy = run.state.clone();
    run.method.synchronise(&run.model, &run.state, &mut copy);
    assert!(whole.off(&copy.x) <= 1e-11, "{}", whole.off(&copy.x));
}

/// `verlet` by multipliers, by projectors and with the matrices of all nodes: the same motion and the same books to round-off, at rest, led at a
/// constant speed, and by a table with corners.
#[test]
fn multipliers_node_by_node_are_those_of_the_whole_system() {
    let h = 2e-3;
    let steps = 500;
    let table = Table::new(vec![(0.0, 0.0), (0.3, 1.0), (0.7, -0.5), (2.0, 0.2)]).unwrap();
    let displacement = Vec3::new(0.02, -0.01, 0.03);
    for motion in [
        None,
        Some(Motion::Velocity { velocity: Vec3::new(0.1, 0.0, -0.05) }),
        Some(Motion::Displacement { displacement, table }),
    ] {
        let runs = [Supports::Projection, Supports::Rattle].map(|supports| {
            let (model, _) = held_block(motion.clone());
            let method = Verlet::with(&model, StepRule::Fixed(h), Options { supports });
            let mut run = Run::with(model, method, |_, x| speed(x));
            run.until((f64::from(steps) - 0.5) * h).unwrap();
            run
        });
        let mut whole = Whole::new(motion.clone());
        (0..steps).for_each(|_| whole.step(h));
        let [projection, rattle] = &runs;
        assert_eq!((projection.state.step, rattle.state.step), (500, 500));
        for run in &runs {
            assert!(whole.off(&run.state.x) <= 1e-11, "{motion:?}: {}", whole.off(&run.state.x));
            let held: Vec<Vec3> =
                (0..run.model.restraints.held.len()).map(|k| run.method.support_impulse(k)).collect();
            let other = |k: usize| projection.method.support_impulse(k);
            let off = held.iter().enumerate().map(|(k, s)| (s - other(k)).amax()).fold(0.0, f64::max);
            let ledger = [&run.ledger, &projection.ledger].map(|l| [l.kinetic, l.strain, l.external]);
            let books = (0..3).map(|k| (ledger[0][k] - ledger[1][k]).abs()).fold(off, f64::max);
            assert!(books <= 1e-11, "{motion:?}: {books} {ledger:?}");
        }
        // something moved, and the ways of keeping supports are two
        assert!((rattle.state.x[0] - rattle.model.reference[0]).norm() > 1e-3);
        assert_ne!(projection.state.x, rattle.state.x);
    }
}
