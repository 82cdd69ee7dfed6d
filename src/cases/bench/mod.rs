//! Benchmarks: what `carom bench` measures. Every figure stands beside the machine's own limits of the same run.

pub mod contacts;
pub mod dense;
pub mod factors;
pub mod force;
pub mod kicks;
pub mod machine;
pub mod search;
pub mod single;
pub mod steps;

use serde::Serialize;

/// One measurement.
#[derive(Clone, Debug, Serialize)]
pub struct Measurement {
    pub bench: &'static str,
    pub case: String,
    pub threads: usize,
    pub value: f64,
    pub unit: &'static str,
    /// Share of the fused multiply-add peak of the threads in use, measured in the same run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peak_fraction: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flops_per_element: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes_per_element: Option<f64>,
    /// Share of the time in element forces; the rest moves the nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub force_share: Option<f64>,
}

impl Measurement {
    /// A figure that needs no other beside it.
    pub fn plain(
        bench: &'static str,
        case: String,
        threads: usize,
        value: f64,
        unit: &'static str,
    ) -> Measurement {
        Measurement {
            bench,
            case,
            threads,
            value,
            unit,
            peak_fraction: None,
            flops_per_element: None,
            bytes_per_element: None,
            force_share: None,
        }
    }
}
