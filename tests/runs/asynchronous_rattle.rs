//! RATTLE, the textbook's way with constraints g(q) = 0 of any kind, as a reference for supports that are kept by
//! projection (`asynchronous`, equal steps).
//!
//! ```text
//! p½ = p − ½h∇V(q)      q′ = q + h M⁻¹(p½ − ½h ∇g(q) λ) with g(q′) = 0      p′ = P(q′)(p½ − ½h ∇g(q) λ − ½h ∇V(q′))
//! P(q) = 1 − ∇g (∇gᵀM⁻¹∇g)⁻¹ ∇gᵀM⁻¹
//! ```

use crate::common::{Run, body};
use carom::material::Law;
use carom::math::Vec3;
use carom::mesh::shape;
use carom::method::Method;
use carom::method::asynchronous::{Asynchronous, Options};
use carom::model::forces::Forces;
use carom::model::{Builder, Model};
use nalgebra::{DMatrix, DVector};

/// Slope of the potential at a place.
type Slope<'a> = dyn FnMut(&DVector<f64>) -> DVector<f64> + 'a;
/// g and its gradient, a column per constraint.
type Constraint<'a> = dyn Fn(&DVector<f64>) -> (DVector<f64>, DMatrix<f64>) + 'a;

/// A mechanical system with constraints.
struct Rattle<'a> {
    mass: DVector<f64>,
    slope: Box<Slope<'a>>,
    constraint: Box<Constraint<'a>>,
}

impl Rattle<'_> {
    fn weighted(&self, g: &DMatrix<f64>) -> DMatrix<f64> {
        DMatrix::from_fn(g.nrows(), g.ncols(), |i, j| g[(i, j)] / self.mass[i])
    }

    fn project(&self, q: &DVector<f64>, p: &DVector<f64>) -> DVector<f64> {
        let (_, g) = (self.constraint)(q);
        let w = self.weighted(&g);
        let a = g.transpose() * &w;
        p - &g * a.lu().solve(&(w.transpose() * p)).unwrap()
    }

    fn step(&mut self, h: f64, q: &mut DVector<f64>, p: &mut DVector<f64>) {
        let half = &*p - 0.5 * h * (self.slope)(q);
        let (_, from) = (self.constraint)(q);
        let pull = self.weighted(&from);
        let free = &*q + h * half.component_div(&self.mass);
        let mut lambda = DVector::zeros(from.ncols());
        for _ in 0..20 {
            *q = &free - 0.5 * h * h * (&pull * &lambda);
            let (g, to) = (self.constraint)(q);
            if g.amax() <= 1e-14 {
                break;
            }
            lambda += (0.5 * h * h * (to.transpose() * &pull)).lu().solve(&g).unwrap();
        }
        let end = half - 0.5 * h * (&from * &lambda) - 0.5 * h * (self.slope)(q);
        *p = self.project(q, &end);
    }
}

/// A pendulum of length and mass 1 under gravity 1, from the horizontal, h = 0.05: E = 0 ripples with h² and does not
/// drift, |q| = 1 and q·p = 0 to round-off.
#[test]
fn a_pendulum_by_rattle_swings_for_ever() {
    let mut rattle = Rattle {
        mass: DVector::from_element(2, 1.0),
        slope: Box::new(|_| DVector::from_vec(vec![0.0, 1.0])),
        constraint: Box::new(|q| {
            (
                DVector::from_element(1, 0.5 * (q.norm_squared() - 1.0)),
                DMatrix::from_column_slice(2, 1, q.as_slice()),
            )
        }),
    };
    let (mut q, mut p) = (DVector::from_vec(vec![1.0, 0.0]), DVector::zeros(2));
    let (mut ripple, mut off) = (0.0, 0.0);
    let mut means = Vec::new();
    for _ in 0..20 {
        let mut sum = 0.0;
        for _ in 0..1000 {
            rattle.step(0.05, &mut q, &mut p);
            let energy = 0.5 * p.norm_squared() + q[1];
            ripple = f64::max(ripple, energy.abs());
            off = f64::max(off, (q.norm() - 1.0).abs().max(q.dot(&p).abs()));
            sum += energy / 1000.0;
        }
        means.push(sum);
    }
    assert!(ripple <= 1e-3 && off <= 1e-13, "{ripple} {off}");
    // a thousand steps are no whole number of swings: means of ten thousand
    let (first, last) = means.split_at(10);
    let drift = (last.iter().sum::<f64>() - first.iter().sum::<f64>()) / 10.0;
    assert!(drift.abs() <= 2e-6, "{drift} {means:?}");
}

fn held_block() -> (Model, Vec<(usize, Vec3)>) {
    let law = Law::StVenantKirchhoff { young: 10.0, poisson: 0.3, density: 1.0 };
    let mut builder = Builder::default();
    let mesh = shape::Box::new([1.0, 0.8, 0.6], [2, 1, 1]).build().unwrap();
    let index = builder.body(body("block", mesh, &law, 1.0));
    let set = |builder: &Builder, name: &str| builder.bodies()[index].node_set(name).unwrap();
    let mut held = Vec::new();
    let (a, b) = (Vec3::new(1.0, 1.0, 0.0), Vec3::new(0.0, 0.3, 1.0));
    for (name, directions) in [("xmin", vec![a]), ("xmax", vec![a, b])] {
        let nodes = set(&builder, name);
        nodes.iter().for_each(|&n| held.extend(directions.iter().map(|d| (n as usize, *d))));
        builder.restrain(nodes, directions, None);
    }
    (builder.build().unwrap(), held)
}

/// For supports along fixed directions RATTLE and the projection W = P/m are one and the same.
#[test]
fn supports_by_projection_are_what_rattle_makes_of_them() {
    let (model, held) = held_block();
    let method = Asynchronous::new(&model, Options::synchronous(0.5));
    let h = method.steps()[0].0;
    let speed = |_: usize, x: &Vec3| 0.3 * Vec3::new(x.y, -x.x * x.z, x.x + 0.3 * x.y);
    let mut run = Run::with(model, method, speed);

    let (model, _) = held_block();
    let n = model.reference.len();
    let mut state = model.rest();
    let mut forces = Forces::new(&model);
    let reference = &model.reference;
    let constraint = |q: &DVector<f64>| {
        let mut g = DMatrix::zeros(3 * n, held.len());
        for (c, (node, d)) in held.iter().enumerate() {
            g.fixed_view_mut::<3, 1>(3 * node, c).copy_from(d);
        }
        let u = DVector::from_fn(3 * n, |i, _| q[i] - reference[i / 3][i % 3]);
        (g.transpose() * u, g)
    };
    let slope = |q: &DVector<f64>| {
        let x: Vec<Vec3> = (0..n).map(|i| Vec3::new(q[3 * i], q[3 * i + 1], q[3 * i + 2])).collect();
        forces.evaluate(&model, &x, &mut state.material, false);
        DVector::from_fn(3 * n, |i, _| forces.at(i / 3)[i % 3])
    };
    let mut rattle = Rattle {
        mass: DVector::from_fn(3 * n, |i, _| model.mass[i / 3]),
        slope: Box::new(slope),
        constraint: Box::new(constraint),
    };
    let mut q = DVector::from_fn(3 * n, |i, _| reference[i / 3][i % 3]);
    let v = DVector::from_fn(3 * n, |i, _| speed(0, &reference[i / 3])[i % 3]);
    let mut p = rattle.project(&q, &v.component_mul(&rattle.mass));
    // kicks in the middle of steps: half a drift, then whole steps from kick to kick. Leapfrog from half to half is
    // Verlet from whole to whole with the start moved by half a step
    q += 0.5 * h * p.component_div(&rattle.mass);
    p -= 0.5 * h * (rattle.slope)(&q);
    p = rattle.project(&q, &p);
    let steps = 500;
    for _ in 0..steps {
        rattle.step(h, &mut q, &mut p);
    }
    // at the kick after `steps` whole steps, which is about to come
    run.until((f64::from(steps) + 0.5) * h).unwrap();
    let mut copy = run.state.clone();
    run.method.synchronise(&run.model, &run.state, &mut copy);
    for (i, x) in copy.x.iter().enumerate() {
        for k in 0..3 {
            assert!((x[k] - q[3 * i + k]).abs() <= 1e-11, "{} {}", x[k], q[3 * i + k]);
        }
    }
}
