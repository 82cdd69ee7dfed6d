//! Statics against closed forms: the elastica, Lamé's ring, patches of constant strain, a column past its buckling load.

use crate::common::{Run, body};
use carom::element::choice::{Integration, Kind, Plane, maker};
use carom::material::Law;
use carom::math::{Mat3, Vec3};
use carom::mesh::{CellKind, shape};
use carom::method::statics::{NoStatics, Options, Statics};
use carom::method::{Method, StepError};
use carom::model::restraint::Motion;
use carom::model::{BodySpec, Builder, Model, Table};

const DENSITY: f64 = 1.0;

fn solved(model: Model, options: Options) -> Run<Statics> {
    let method = Statics::new(&model, 1.0, options).unwrap();
    let mut run = Run::with(model, method, |_, _| Vec3::zeros());
    run.until(1.0).unwrap();
    run
}

/// A strip along x from the origin, free to get thinner across; all nodes stay in the plane.
fn strip(size: [f64; 2], cells: [u32; 2], law: &Law) -> Builder {
    let mut builder = Builder::default();
    let mesh = shape::Rectangle::new(size, cells).build().unwrap();
    let kind = Kind { plane: Plane::Stress, ..Kind::new(CellKind::Quad4) };
    let spec = BodySpec { blocks: vec![maker(kind, law)], ..body("strip", mesh, law, 1.0) };
    builder.body(spec);
    let all = builder.bodies()[0].nodes.clone().map(|k| k as u32).collect();
    builder.restrain(all, vec![Vec3::z()], None);
    builder
}

fn set(builder: &Builder, name: &str) -> Vec<u32> {
    builder.bodies()[0].node_set(name).unwrap()
}

fn mean(run: &Run<Statics>, nodes: &[u32]) -> Vec3 {
    let moved = |&k: &u32| run.state.x[k as usize] - run.model.reference[k as usize];
    nodes.iter().map(moved).sum::<Vec3>() / nodes.len() as f64
}

/// A cantilever under a dead force across its end with P L²/(E I) = 2: the elastica (Bisshopp & Drucker 1945) bends down by
/// 0.4935 L and comes in by 0.1606 L. At L/H = 20 shear adds about 0.1 %. Full integration is too stiff in bending, with the
/// square of the cell over the thickness.
#[test]
fn a_cantilever_bends_like_the_elastica() {
    let (length, height, young) = (20.0, 1.0, 1e4);
    let law = Law::StVenantKirchhoff { young, poisson: 0.0, density: DENSITY };
    let force = 2.0 * young * height / 12.0 / (length * length);
    let tip = |cells: [u32; 2]| {
        let mut builder = strip([length, height], cells, &law);
        let (base, end) = (set(&builder, "xmin"), set(&builder, "xmax"));
        builder.restrain(base, vec![Vec3::x(), Vec3::y()], None);
        builder.force(end.clone(), Vec3::new(0.0, -force, 0.0), Table::default());
        let run = solved(builder.build().unwrap(), Options { steps: 4, ..Options::default() });
        // the work of the load is second order in the load step
        assert!(run.ledger.error_max_rel() < 0.02, "{}", run.ledger.error_max_rel());
        mean(&run, &end) / length
    };
    let [coarse, middle, fine] = [[40, 1], [80, 2], [160, 4]].map(tip);
    let (exact_down, exact_in) = (0.4935, 0.1606);
    let off = |u: Vec3| (-u.y - exact_down).abs() / exact_down;
    assert!(off(coarse) > off(middle) && off(middle) > off(fine), "{coarse:?} {middle:?} {fine:?}");
    let limit = fine + (fine - middle) / 3.0;
    assert!((-limit.y - exact_down).abs() < 0.005 * exact_down, "{limit:?}");
    assert!((-limit.x - exact_in).abs() < 0.01 * exact_in, "{limit:?}");
}

/// Near the answer an increment is of the order of the square of the one before. In bending the factor is large: nodes that
/// turn by δ/L stretch their fibres by δ²/2L, and fibres are 12 (L/H)² times stiffer than the strip bends.
#[test]
fn increments_of_a_bent_cantilever_fall_quadratically() {
    let (length, height) = (10.0_f64, 1.0);
    let law = Law::NeoHookean { young: 1e4, poisson: 0.3, density: DENSITY };
    let mut builder = strip([length, height], [40, 2], &law);
    let (base, end) = (set(&builder, "xmin"), set(&builder, "xmax"));
    builder.restrain(base, vec![Vec3::x(), Vec3::y()], None);
    builder.force(end, Vec3::new(0.0, -10.0, 0.0), Table::default());
    let run = solved(builder.build().unwrap(), Options { steps: 4, ..Options::default() });
    let newton = run.method.newton().unwrap();
    assert!(newton.last.force < 1e-9 * newton.last.scale, "{newton}");
    assert!(newton.history.iter().all(|i| i.renewed), "{newton}");
    let most = 12.0 * (length / height).powi(2) / (2.0 * length);
    let near = |i: &carom::solve::newton::Iteration| i.share == 1.0 && i.increment.size < 1e-3 * length;
    let pairs: Vec<[f64; 2]> = newton
        .history
        .windows(2)
        .filter(|w| w.iter().all(near))
        .map(|w| [w[0].increment.size, w[1].increment.size])
        .collect();
    assert!(!pairs.is_empty(), "{newton}");
    for [before, after] in pairs {
        assert!(after < most * before * before + 1e-13 * length, "{newton}");
    }
}

/// Lamé: a thick ring in plane strain under pressure p inside, u(a) = p a (1+ν)/E · (a²(1−2ν) + b²)/(b² − a²).
#[test]
fn a_thick_ring_under_pressure_opens_as_lame_has_it() {
    let (a, b, p, young, poisson) = (1.0, 2.0, 1e-3, 1.0, 0.3);
    let exact = p * a * (1.0 + poisson) / young * (a * a * (1.0 - 2.0 * poisson) + b * b) / (b * b - a * a);
    let law = Law::Linear { young, poisson, density: DENSITY };
    let opened = |around: u32, radial: u32| {
        let mesh = shape::Ring::new(a, b, around, radial).build().unwrap();
        let sides = mesh.side_sets["inner"].clone();
        let mut builder = Builder::default();
        builder.body(body("ring", mesh, &law, 1.0));
        let nodes = builder.bodies()[0].mesh.nodes.clone();
        let which = |test: &dyn Fn(&Vec3) -> bool| -> Vec<u32> {
            (0..nodes.len() as u32).filter(|&k| test(&nodes[k as usize])).collect()
        };
        builder.restrain(which(&|_| true), vec![Vec3::z()], None);
        builder.restrain(which(&|x| x.y.abs() < 1e-9), vec![Vec3::y()], None);
        builder.restrain(which(&|x| x.x.abs() < 1e-9), vec![Vec3::x()], None);
        builder.pressure(0, &sides, p, Table::default());
        let run = solved(builder.build().unwrap(), Options { steps: 1, ..Options::default() });
        let inside: Vec<usize> = (0..nodes.len()).filter(|&k| (nodes[k].norm() - a).abs() < 1e-9).collect();
        let out = |&k: &usize| (run.state.x[k] - nodes[k]).dot(&nodes[k]) / a;
        inside.iter().map(out).sum::<f64>() / inside.len() as f64
    };
    let off = |around, radial| (opened(around, radial) - exact).abs() / exact;
    let (coarse, fine) = (off(32, 8), off(64, 16));
    // pressure follows the sides, by p/E ≈ 1e-3 of what they do
    assert!(fine < 5e-3 && fine < 0.4 * coarse, "{coarse:e} {fine:e}");
}

/// The boundary of a distorted block follows x = F X: every inner node does too.
#[test]
fn patches_of_constant_strain_are_exact() {
    let f = Mat3::new(0.2, 0.1, -0.05, 0.03, -0.15, 0.1, 0.0, 0.2, 0.1);
    let law = Law::NeoHookean { young: 3.0, poisson: 0.3, density: DENSITY };
    for (cell, integration) in [
        (CellKind::Hex8, Integration::Full),
        (CellKind::Hex8, Integration::OnePoint),
        (CellKind::Tet4, Integration::Full),
        (CellKind::Tet4, Integration::Nodal),
        (CellKind::Hex8, Integration::Nodal),
    ] {
        let mut block = shape::Box::new([1.0; 3], [3; 3]);
        block.cell = cell;
        let mut mesh = block.build().unwrap();
        let inside = |x: &Vec3| x.iter().all(|c| *c > 1e-9 && *c < 1.0 - 1e-9);
        for (k, x) in mesh.nodes.iter_mut().enumerate().filter(|(_, x)| inside(x)) {
            let noise = |i: f64| 0.05 * (12.9 * k as f64 + i).sin();
            *x += Vec3::new(noise(0.0), noise(1.0), noise(2.0));
        }
        let nodes = mesh.nodes.clone();
        let mut builder = Builder::default();
        let kind = Kind { integration, ..Kind::new(cell) };
        builder.body(BodySpec { blocks: vec![maker(kind, &law)], ..body("block", mesh, &law, 1.0) });
        for (k, x) in nodes.iter().enumerate().filter(|(_, x)| !inside(x)) {
            let table = Table::new(vec![(0.0, 0.0), (1.0, 1.0)]).unwrap();
            let motion = Motion::Displacement { displacement: f * x, table };
            builder.restrain(vec![k as u32], vec![Vec3::x(), Vec3::y(), Vec3::z()], Some(motion));
        }
        let run = solved(builder.build().unwrap(), Options { steps: 2, ..Options::default() });
        for (x, reference) in run.state.x.iter().zip(&nodes) {
            let off = (x - reference - f * reference).norm();
            assert!(off < 1e-10, "{cell:?} {integration:?}: {off:e}");
        }
    }
}

/// A column between two guides, pressed together far beyond its load: Euler's π² E I/L² for ends that cannot turn. Beyond it
/// the force hardly grows (by about half the slope squared), so a bent column at four times the critical shortening carries a
/// few per cent more; the coarse thickness adds its share of locking.
#[test]
fn a_column_is_pressed_past_its_buckling_load() {
    let (length, height, young) = (20.0, 0.5, 1e6);
    let law = Law::StVenantKirchhoff { young, poisson: 0.0, density: DENSITY };
    let mut builder = strip([length, height], [160, 4], &law);
    let (base, end) = (set(&builder, "xmin"), set(&builder, "xmax"));
    let inertia = height.powi(3) / 12.0;
    let euler = 4.0 * std::f64::consts::PI.powi(2) * young * inertia / (length * length);
    let critical = euler / (young * height) * length;
    builder.restrain(base.clone(), vec![Vec3::x(), Vec3::y()], None);
    let table = Table::new(vec![(0.0, 0.0), (1.0, 1.0)]).unwrap();
    let displacement = Vec3::new(-4.0 * critical, 0.0, 0.0);
    let motion = Motion::Displacement { displacement, table };
    builder.restrain(end.clone(), vec![Vec3::x(), Vec3::y()], Some(motion));
    // a small push to one side tells it where to go
    let middle: Vec<u32> = (0..builder.bodies()[0].mesh.nodes.len() as u32)
        .filter(|&k| (builder.bodies()[0].mesh.nodes[k as usize].x - 0.5 * length).abs() < 1e-9)
        .collect();
    builder.force(
        middle.clone(),
        Vec3::new(0.0, 1e-3 * euler, 0.0),
        Table::new(vec![(0.0, 1.0), (0.1, 1.0)]).unwrap(),
    );
    let model = builder.build().unwrap();
    let method = Statics::new(&model, 1.0, Options { steps: 20, ..Options::default() }).unwrap();
    let mut run = Run::with(model, method, |_, _| Vec3::zeros());
    let pushed = |run: &Run<Statics>| -> f64 {
        let held = run.model.restraints.held.iter().enumerate().filter(|(_, h)| end.contains(&h.node));
        held.map(|(i, _)| run.method.support_impulse(i).x).sum()
    };
    run.until(0.95).unwrap();
    let before = pushed(&run);
    run.until(1.0).unwrap();
    let reaction = (pushed(&run) - before) / 0.05;
    assert!(-reaction > 0.97 * euler && -reaction < 1.1 * euler, "{reaction} {euler}");
    // three times the critical shortening goes into a cosine of height A: A² = 4 L δ/π², A = 1.0 here
    let (bow, cosine) =
        (mean(&run, &middle).y.abs(), (12.0 * length * critical).sqrt() / std::f64::consts::PI);
    assert!((bow - cosine).abs() < 0.05 * cosine, "{bow} {cosine}");
    assert!(run.ledger.error_max_rel() < 0.02, "{}", run.ledger.error_max_rel());
}

/// Nothing says where a body on one roller is.
#[test]
fn a_body_that_can_move_as_a_whole_is_refused() {
    let law = Law::Linear { young: 1.0, poisson: 0.3, density: DENSITY };
    let mut builder = strip([2.0, 1.0], [4, 2], &law);
    let base = set(&builder, "xmin");
    builder.restrain(base, vec![Vec3::x()], None);
    let loose = Statics::new(&builder.build().unwrap(), 1.0, Options::default()).map(|_| ());
    assert_eq!(loose, Err(NoStatics::Loose("strip".into())));
}

/// Ten times the load in one step without halves: the message says what is out of balance, and the state is the last good one.
#[test]
fn a_load_step_that_fails_leaves_the_last_good_state() {
    let law = Law::NeoHookean { young: 1.0, poisson: 0.3, density: DENSITY };
    let mut builder = strip([10.0, 1.0], [20, 2], &law);
    let (base, end) = (set(&builder, "xmin"), set(&builder, "xmax"));
    builder.restrain(base, vec![Vec3::x(), Vec3::y()], None);
    builder.force(end, Vec3::new(0.0, -10.0, 0.0), Table::default());
    let model = builder.build().unwrap();
    let options = Options { steps: 2, iterations: 3, halvings: 0, ..Options::default() };
    let method = Statics::new(&model, 1.0, options).unwrap();
    let mut run = Run::with(model, method, |_, _| Vec3::zeros());
    let error = run.until(1.0).unwrap_err();
    assert!(matches!(error, StepError::NoConvergence { .. } | StepError::Inverted { .. }), "{error}");
    assert!(run.state.time == 0.0 && run.state.x == run.model.reference);
}
