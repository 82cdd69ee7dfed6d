//! Factors of the matrix of an implicit step: a cube of hexahedra between two configurations, so that the matrix is not symmetric.
//!
//! | figure                 | measured                                                              |
//! |------------------------|-----------------------------------------------------------------------|
//! | `assemble`             | tangents of all elements and their sum [s]                            |
//! | `ldlt/order`, `factor`, `solve`, `residual` | nested dissection, LLᵀ or LDLᵀ of the symmetric part, GMRES on it [s]; what it leaves |
//! | `ldlt/fill`, `iterations` | numbers in these factors, directions of GMRES                      |
//! | `lu/…`                 | the same for LU with columns by COLAMD                                |
//! | `…/memory`             | resident memory that came with the factors [bytes]                    |
//!
//! `CASE-lu` is LU alone, of `100k` only by that name: it takes minutes.

use super::Measurement;
use crate::deck::{self, Input};
use crate::element::Between;
use crate::math::Vec3;
use crate::run::{Case, memory, pool};
use crate::solve::assembly::{System, Unknowns};
use crate::solve::sparse::{Factors, Matrix, Shape};
use std::io::{self, Write};
use std::path::Path;
use std::time::Instant;

/// Names and cells along an edge: 1029, 10 125 and 98 304 unknowns; and whether LU is what is asked for.
const CASES: [(&str, u32, bool); 6] = [
    ("1k", 6, false),
    ("1k-lu", 6, true),
    ("10k", 14, false),
    ("10k-lu", 14, true),
    ("100k", 31, false),
    ("100k-lu", 31, true),
];

/// Cases that are quick enough to be measured with all others, and those that must be named.
pub fn cases() -> impl Iterator<Item = &'static str> {
    CASES.iter().map(|c| c.0).filter(|c| !by_name_only(c))
}

pub fn long_cases() -> impl Iterator<Item = &'static str> {
    CASES.iter().map(|c| c.0).filter(|c| by_name_only(c))
}

fn by_name_only(case: &str) -> bool {
    case.starts_with("100k")
}

/// The matrix of a case on one thread: a cube that is twisted by a tenth in a step of twice the stable one, and how long it took to assemble [s].
fn system(case: &str) -> Option<(Case, Unknowns, System, f64)> {
    let (_, cells, _) = CASES.iter().find(|c| c.0 == case)?;
    let text = format!(
        "method = \"velocity-update\"\nend = 1\n[body.block]\n\
         mesh = {{ shape = \"box\", size = [1, 1, 1], cells = [{cells}, {cells}, {cells}] }}\n\
         material = {{ law = \"st-venant-kirchhoff\", young = 1000, poisson = 0.3, density = 1 }}\n"
    );
    let input = Input { name: case, text: &text, folder: Path::new("."), options: &[] };
    let case = deck::load(&input).ok()?.case;
    let model = &case.model;
    let unknowns = Unknowns::new(model);
    let mut system = System::new(model, &unknowns, 0..1, Shape::Unsymmetric);
    let twisted: Vec<Vec3> = model
        .reference
        .iter()
        .map(|x| {
            let (sin, cos) = (0.1 * x.z).sin_cos();
            Vec3::new(cos * x.x - sin * x.y, sin * x.x + cos * x.y, x.z)
        })
        .collect();
    let step = 2.0 * model.stable_step();
    let begin = Instant::now();
    let between = Between { reference: &model.reference, start: &model.reference, end: &twisted };
    system.add_tangent_between(model, &unknowns, between, 1.0);
    system.add_mass(model, &unknowns, |_| 2.0 / (step * step));
    let seconds = begin.elapsed().as_secs_f64();
    Some((case, unknowns, system, seconds))
}

/// Measures one case; nothing if there is no such case.
pub fn measure(case: &str, threads: usize) -> Vec<Measurement> {
    let Ok(pool) = pool(threads) else { return Vec::new() };
    pool.install(|| {
        let mut figures = Vec::new();
        let Some((loaded, unknowns, system, assembled)) = system(case) else { return figures };
        let mut tell = |figure: &str, value: f64, unit: &'static str| {
            figures.push(Measurement::plain("factors", format!("{case}/{figure}"), threads, value, unit));
        };
        tell("assemble", assembled, "s");
        let order = system.order(&loaded.model, &unknowns);
        let matrix = &system.matrix;
        let lu = CASES.iter().any(|c| c.0 == case && c.2);
        if lu {
            timed("lu", matrix, || Factors::lu(matrix).ok(), &mut tell);
        } else {
            timed("ldlt", matrix, || Factors::krylov(matrix, Some(&order)).ok(), &mut tell);
        }
        figures
    })
}

/// Order, factor and solve, each by the clock.
fn timed(
    name: &str,
    matrix: &Matrix,
    make: impl Fn() -> Option<Factors>,
    tell: &mut impl FnMut(&str, f64, &'static str),
) {
    let before = memory::resident().unwrap_or(0);
    let begin = Instant::now();
    let Some(mut factors) = make() else { return };
    tell(&format!("{name}/order"), begin.elapsed().as_secs_f64(), "s");
    let begin = Instant::now();
    if factors.factor(matrix).is_err() {
        return;
    }
    tell(&format!("{name}/factor"), begin.elapsed().as_secs_f64(), "s");
    let now = memory::resident().unwrap_or(0);
    tell(&format!("{name}/memory"), now.saturating_sub(before) as f64, "bytes");
    let mut x = vec![1.0; matrix.size];
    let begin = Instant::now();
    if factors.solve(matrix, &mut x).is_err() {
        return;
    }
    tell(&format!("{name}/solve"), begin.elapsed().as_secs_f64(), "s");
    if let Some(fill) = factors.fill() {
        tell(&format!("{name}/fill"), fill as f64, "numbers");
    }
    if let Factors::Krylov(krylov) = &factors {
        tell(&format!("{name}/iterations"), f64::from(krylov.iterations), "directions");
    }
    let mut product = vec![0.0; matrix.size];
    matrix.multiply(&x, &mut product);
    let left = product.iter().map(|p| (p - 1.0).powi(2)).sum::<f64>().sqrt() / (matrix.size as f64).sqrt();
    tell(&format!("{name}/residual"), left, "of the right side");
}

/// Writes the matrix of a case as a Matrix Market file, for other programs.
pub fn dump(case: &str, file: &Path) -> io::Result<bool> {
    let Some((_, _, system, _)) = system(case) else { return Ok(false) };
    let matrix = &system.matrix;
    let mut out = io::BufWriter::new(std::fs::File::create(file)?);
    writeln!(out, "%%MatrixMarket matrix coordinate real general")?;
    writeln!(out, "{} {} {}", matrix.size, matrix.size, matrix.rows.len())?;
    for j in 0..matrix.size {
        for at in matrix.starts[j]..matrix.starts[j + 1] {
            writeln!(out, "{} {} {:e}", matrix.rows[at] + 1, j + 1, matrix.values[at])?;
        }
    }
    out.flush()?;
    Ok(true)
}
