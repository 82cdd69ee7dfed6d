//! How cell edges grow along an axis.
//!
//! A grading maps the cell number to a place, `x_i = L s(i/N)` for `i = 0 … N`, with s(0) = 0, s(1) = 1:
//!
//! ```text
//! uniform      s = i/N
//! geometric    edges grow by a constant factor q: s = (qⁱ − 1)/(qᴺ − 1),  q = ratio^(1/(N−1))
//! quadratic    s = a (i/N) + (1 − a)(i/N)²: edges grow by a constant amount; a = slope at the fine end
//! ```
//!
//! The mesh of the asynchronous two-bar case, `x_i = (L/n)(i/5n) + (L − L/n)(i/5n)²`, is the quadratic one
//! with N = 5n cells and a = 1/n.

use super::limits::refuse;
use crate::mesh::MeshError;
use carom_declare::{Item, Json, Kind, NotNegative, Schemas, Value, Written, json, section, words};
use std::cmp::Ordering;

words! {
    /// Where cells are small.
    pub enum End {
        /// At the lower end of the axis.
        Min = "min",
        /// At the upper end.
        Max = "max",
    }
}

section! {
    /// Edges grow by a constant amount.
    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Quadratic: "grading" {
        /// Slope of the grading at its fine end, 0 to 1; 1 is uniform.
        slope: f64 as NotNegative => "0.2";
        /// Where cells are small.
        fine: End;
    }
}

/// A number, or a table for the quadratic one.
impl Kind for Grading {
    type Of = Grading;
    fn read(item: Item) -> Option<Grading> {
        if let Value::Table(_) = item.node.value {
            let Quadratic { slope, fine } = carom_declare::read_section(item)?;
            return Some(Grading::Quadratic { slope, fine });
        }
        let ratio = item.positive()?;
        Some(if ratio == 1.0 { Grading::Uniform } else { Grading::Geometric(ratio) })
    }
    fn write(value: &Grading) -> Option<Written> {
        match *value {
            Grading::Uniform => f64::write(&1.0),
            Grading::Geometric(ratio) => f64::write(&ratio),
            Grading::Quadratic { slope, fine } => Quadratic::write(&Quadratic { slope, fine }),
        }
    }
    fn schema(schemas: &mut Schemas) -> Json {
        let quadratic = Quadratic::schema(schemas);
        json!({ "if": { "type": "object" }, "then": quadratic, "else": { "type": "number", "exclusiveMinimum": 0 } })
    }
}

/// How cell edges grow from the lower to the upper end of an axis.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Grading {
    /// All edges equal.
    #[default]
    Uniform,
    /// Constant factor between neighbours; the value is last edge / first edge (below 1: fine at the upper end).
    Geometric(f64),
    /// Constant difference between neighbours.
    Quadratic {
        /// ds/d(i/N) at the fine end, 0 ≤ slope ≤ 1; 1 is uniform, 1/n the two-bar case.
        slope: f64,
        /// Where the cells are small.
        fine: End,
    },
}

impl Grading {
    /// The quadratic grading whose first edge at the fine end is `edge` times the whole length.
    ///
    /// From `edge = a/N + (1 − a)/N²`; possible for 1/N² ≤ edge ≤ 1/N.
    pub fn quadratic_from_edge(edge: f64, cells: u32, fine: End) -> Grading {
        let n = f64::from(cells);
        let slope = if cells > 1 { (edge * n * n - 1.0) / (n - 1.0) } else { 1.0 };
        Grading::Quadratic { slope, fine }
    }

    /// The `cells + 1` places from 0 to `length`, strictly increasing.
    pub(crate) fn points(&self, shape: &'static str, length: f64, cells: u32) -> Result<Vec<f64>, MeshError> {
        match *self {
            Grading::Geometric(ratio) if !(ratio.is_finite() && ratio > 0.0) => {
                return refuse(shape, "grading", ratio, "a positive ratio of last to first edge");
            }
            Grading::Quadratic { slope, .. } if !(0.0..=1.0).contains(&slope) => {
                return refuse(shape, "grading", slope, "a quadratic slope between 0 and 1");
            }
            _ => {}
        }
        let mut points = super::limits::room(shape, "nodes", cells as usize + 1)?;
        points.extend((0..=cells).map(|i| self.place(length, f64::from(i), f64::from(cells))));
        points[cells as usize] = length;
        match points.windows(2).position(|p| !matches!(p[0].partial_cmp(&p[1]), Some(Ordering::Less))) {
            None => Ok(points),
            Some(i) => refuse(
                shape,
                "grading",
                format!("{self:?}"),
                format!("gentler or have fewer cells: edge {i} of {cells} has no length in double precision"),
            ),
        }
    }

    /// Place number `i` of `n` on [0, length], measured from the fine end first so that small edges keep
    /// their digits.
    fn place(&self, length: f64, i: f64, n: f64) -> f64 {
        let (fine, from_fine): (End, &dyn Fn(f64) -> f64) = match *self {
            Grading::Geometric(ratio) if ratio != 1.0 && n > 1.0 => {
                let log_q = ratio.ln().abs() / (n - 1.0);
                let fine = if ratio > 1.0 { End::Min } else { End::Max };
                (fine, &move |i| length * ((log_q * i).exp_m1() / (log_q * n).exp_m1()))
            }
            Grading::Quadratic { slope, fine } => {
                (fine, &move |i| length * slope * (i / n) + (length - length * slope) * (i / n) * (i / n))
            }
            Grading::Uniform | Grading::Geometric(_) => (End::Min, &move |i| length * i / n),
        };
        match fine {
            End::Min => from_fine(i),
            End::Max => length - from_fine(n - i),
        }
    }
}
