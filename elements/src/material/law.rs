//! Any of the laws, chosen while the program runs: what a deck says.

use schemars::JsonSchema;
use serde::Serialize;

/// A law with its numbers.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "law", rename_all = "kebab-case")]
#[schemars(deny_unknown_fields)]
pub enum Law {
    /// Hooke's law at small strains. Not for large rotations.
    Linear {
        /// Young's modulus [Pa].
        young: f64,
        /// Poisson's ratio, above -1 and below 0.5.
        poisson: f64,
        /// Mass per volume [kg/m³].
        density: f64,
    },
    /// St. Venant–Kirchhoff: Hooke's law in the Green strain.
    StVenantKirchhoff {
        /// Young's modulus [Pa].
        young: f64,
        /// Poisson's ratio, above -1 and below 0.5.
        poisson: f64,
        /// Mass per volume [kg/m³].
        density: f64,
    },
    /// Compressible neo-Hookean.
    NeoHookean {
        /// Young's modulus at small strains [Pa].
        young: f64,
        /// Poisson's ratio at small strains, above -1 and below 0.5.
        poisson: f64,
        /// Mass per volume [kg/m³].
        density: f64,
    },
    /// Mooney–Rivlin.
    MooneyRivlin {
        /// C₁ [Pa].
        c1: f64,
        /// C₂ [Pa].
        c2: f64,
        /// Bulk modulus at small strains [Pa].
        bulk: f64,
        /// Mass per volume [kg/m³].
        density: f64,
    },
    /// Ogden's law, one entry of `mu` and `alpha` per term.
    Ogden {
        /// μ of each term [Pa].
        mu: Vec<f64>,
        /// α of each term.
        alpha: Vec<f64>,
        /// Bulk modulus at small strains [Pa].
        bulk: f64,
        /// Mass per volume [kg/m³].
        density: f64,
    },
    /// Blatz–Ko foam rubber.
    BlatzKo {
        /// Shear modulus at small strains [Pa].
        shear: f64,
        /// Mass per volume [kg/m³].
        density: f64,
    },
}

impl Law {
    pub const ALL: [&'static str; 6] =
        ["linear", "st-venant-kirchhoff", "neo-hookean", "mooney-rivlin", "ogden", "blatz-ko"];

    pub fn name(&self) -> &'static str {
        let index = match self {
            Law::Linear { .. } => 0,
            Law::StVenantKirchhoff { .. } => 1,
            Law::NeoHookean { .. } => 2,
            Law::MooneyRivlin { .. } => 3,
            Law::Ogden { .. } => 4,
            Law::BlatzKo { .. } => 5,
        };
        Law::ALL[index]
    }
}
