//! Whole time steps without contact: forces, sums, update.
//!
//! A free cube of n³ hexahedra, or of tetrahedra in about the same number, or a tube of shells, turns and breathes; the figure is that of
//! its fastest step, so that whatever else the machine does is left out. The step is fixed: what it costs an automatic
//! one to follow the deformation is not in the figure.

use super::Measurement;
use crate::contact::scene::BodyKind;
use crate::element::MakeBlock;
use crate::element::choice::{Kind, Points, maker, shell_maker};
use crate::element::shell::ShellOptions;
use crate::material::{Lame, Law};
use crate::math::Vec3;
use crate::mesh::subdivision::{self, Edges};
use crate::mesh::{CellKind, Mesh, shape};
use crate::method::Method;
use crate::method::verlet::{StepRule, Verlet};
use crate::model::{BodySpec, Builder, Ledger, Model, Table};
use crate::run::pool;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

const LAWS: [&str; 6] =
    ["linear", "st-venant-kirchhoff", "neo-hookean", "mooney-rivlin", "blatz-ko", "ogden"];
/// Name and cells along an edge, of hexahedra and of cells cut into six tetrahedra; around and along a tube of shells.
const SIZES: [(&str, u32, u32, [u32; 2]); 4] = [
    ("1k", 10, 6, [32, 16]),
    ("8k", 20, 11, [64, 64]),
    ("64k", 40, 22, [256, 128]),
    ("512k", 80, 44, [512, 512]),
];
/// How long each figure is measured [s].
const MEASURE: f64 = 0.5;

/// Names of all cases: `hex8/64k/st-venant-kirchhoff`.
pub fn cases() -> Vec<String> {
    let mut all = Vec::new();
    for element in ["hex8", "tet4", "tet10", "shell3"] {
        for (size, ..) in SIZES {
            all.extend(LAWS.iter().map(|law| format!("{element}/{size}/{law}")));
        }
    }
    all
}

/// Measures one case; None if there is no such case. `peak` is the machine's for one core.
pub fn measure(case: &str, threads: usize, peak: f64) -> Option<Measurement> {
    let [element, size, law] = case.split('/').collect::<Vec<_>>().try_into().ok()?;
    let (_, hexes, tets, [around, along]) = *SIZES.iter().find(|s| s.0 == size)?;
    let pool = pool(threads).ok()?;
    if element == "shell3" {
        let tube = shape::Tube { radius: 0.5, length: 1.0, around, along }.build().ok()?;
        let (mesh, surface) =
            subdivision::shell(&tube, 0, true, &Default::default(), Edges::Dependent).ok()?;
        let options = ShellOptions { thickness: 0.1 / along as f64, points: Points::One };
        let law = law_named(law)?;
        return pool.install(|| {
            let make = shell_maker(&law, options, Arc::new(surface));
            Some(measure_model(case, &model(mesh, make)?, threads, peak))
        });
    }
    let kind = match element {
        "hex8" => CellKind::Hex8,
        "tet4" => CellKind::Tet4,
        "tet10" => CellKind::Tet10,
        _ => return None,
    };
    let cells = if kind == CellKind::Hex8 { hexes } else { tets };
    let mesh = shape::Box { cell: kind, ..shape::Box::new([1.0; 3], [cells; 3]) }.build().ok()?;
    let law = law_named(law)?;
    pool.install(|| Some(measure_model(case, &model(mesh, maker(Kind::new(kind), &law))?, threads, peak)))
}

fn model(mesh: Mesh, make: Box<MakeBlock<'static>>) -> Option<Model> {
    let mut builder = Builder::default();
    builder.body(BodySpec {
        name: "cube".into(),
        kind: BodyKind::of_cells(mesh.dimension()),
        mesh,
        blocks: vec![make],
        section: 1.0,
        gravity: Vec3::zeros(),
        gravity_table: Table::default(),
        damping: 0.0,
    });
    builder.build().ok()
}

fn law_named(law: &str) -> Option<Law> {
    let (young, poisson, density) = (1.0, 0.3, 1.0);
    let Lame { lambda, mu } = Lame::from_young(young, poisson);
    let bulk = lambda + 2.0 / 3.0 * mu;
    Some(match law {
        "linear" => Law::Linear { young, poisson, density },
        "st-venant-kirchhoff" => Law::StVenantKirchhoff { young, poisson, density },
        "neo-hookean" => Law::NeoHookean { young, poisson, density },
        "mooney-rivlin" => Law::MooneyRivlin { c1: 0.3 * mu, c2: 0.2 * mu, bulk, density },
        "blatz-ko" => Law::BlatzKo { shear: mu, density },
        "ogden" => Law::Ogden { mu: vec![1.2 * mu, -0.1 * mu], alpha: vec![1.5, -2.0], bulk, density },
        _ => return None,
    })
}

fn measure_model(case: &str, model: &Model, threads: usize, peak: f64) -> Measurement {
    let mut state = model.rest();
    for (v, x) in state.v.iter_mut().zip(&model.reference) {
        *v = 1e-3 * Vec3::new(-x.y, x.x, x.z);
    }
    let mut ledger = Ledger::default();
    let mut method = Verlet::new(model, StepRule::Fixed(0.9 * model.stable_step()));
    let stop = AtomicBool::new(false);
    let (mut best, mut force) = (f64::INFINITY, 0.0);
    if method.start(model, &mut state, &mut ledger).is_ok() {
        let begin = Instant::now();
        let mut steps = 0;
        while steps < 20 || begin.elapsed().as_secs_f64() < MEASURE {
            ledger.phases = Default::default();
            let until = state.time + 0.5 * method.next_step();
            let step = Instant::now();
            if method.advance(model, &mut state, until, &mut ledger, &stop).is_err() {
                break;
            }
            let seconds = step.elapsed().as_secs_f64();
            if seconds < best {
                (best, force) = (seconds, ledger.phases.force);
            }
            steps += 1;
        }
    }
    let elements = model.elements() as f64;
    let flops = model.blocks[0].flops();
    let rate = elements / best;
    let bytes = model.bytes() + method.bytes() + state.x.len() * 48;
    Measurement {
        bench: "force",
        case: case.into(),
        threads,
        value: rate,
        unit: "elements/s",
        peak_fraction: Some(flops as f64 * rate / (peak * threads as f64)),
        flops_per_element: Some(flops),
        bytes_per_element: Some(bytes as f64 / elements),
        force_share: Some(force / best),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hexahedron_takes_less_than_600_bytes_and_as_many_operations_as_its_kernel_counts() {
        let m = measure("hex8/8k/st-venant-kirchhoff", 1, 1e11).unwrap();
        assert!(m.bytes_per_element.unwrap() < 600.0);
        let flops = m.flops_per_element.unwrap();
        assert!((2000..4000).contains(&flops), "{flops}");
        assert!(measure("hex8/8k/clay", 1, 1e11).is_none());
    }
}
