//! Any of the laws, chosen while the program runs: what a deck says. The one place that names them all: their keys, the struct
//! each is, and numbers for its tests. `element/choice.rs` makes blocks out of them.

use super::{BlatzKo, Lame, Linear, Material, MooneyRivlin, NeoHookean, Ogden, OgdenTerm, StVenantKirchhoff};
use carom_declare::{Item, Positive, kind, tagged};

kind!(
    /// Poisson's ratio of a stable material that is not incompressible.
    pub Poisson: f64,
    |item: Item| {
        let wanted = "above -1 and below 0.5; nearly incompressible is 0.49";
        item.number_that(|x| x > -1.0 && x < 0.5, wanted)
    },
    { "type": "number", "exclusiveMinimum": -1, "exclusiveMaximum": 0.5 }
);

tagged! {
    /// A law with its numbers.
    #[derive(Clone, Debug, PartialEq)]
    pub enum Law by "law" => "\"neo-hookean\"" {
        /// Hooke's law at small strains. Not for large rotations.
        Linear = "linear" {
            /// Young's modulus [Pa].
            young: f64 as Positive => "210e9";
            /// Poisson's ratio, above -1 and below 0.5.
            poisson: f64 as Poisson => "0.3";
            /// Mass per volume [kg/m³].
            density: f64 as Positive => "7800.0";
        }
        /// St. Venant–Kirchhoff, Hooke's law in the Green strain: ½λ(tr E)² + μ E:E.
        StVenantKirchhoff = "st-venant-kirchhoff" {
            /// Young's modulus [Pa].
            young: f64 as Positive => "210e9";
            /// Poisson's ratio, above -1 and below 0.5.
            poisson: f64 as Poisson => "0.3";
            /// Mass per volume [kg/m³].
            density: f64 as Positive => "7800.0";
        }
        /// Compressible neo-Hookean: ½μ(I₁−3) − μ ln J + ½λ ln²J.
        NeoHookean = "neo-hookean" {
            /// Young's modulus at small strains [Pa].
            young: f64 as Positive => "210e9";
            /// Poisson's ratio at small strains, above -1 and below 0.5.
            poisson: f64 as Poisson => "0.3";
            /// Mass per volume [kg/m³].
            density: f64 as Positive => "7800.0";
        }
        /// Mooney–Rivlin: C₁(I₁J^-2/3 − 3) + C₂(I₂J^-4/3 − 3) + ½κ(J−1)².
        MooneyRivlin = "mooney-rivlin" {
            /// C₁ [Pa].
            c1: f64 => "0.3e6";
            /// C₂ [Pa].
            c2: f64 => "0.1e6";
            /// Bulk modulus κ at small strains [Pa].
            bulk: f64 as Positive => "1e8";
            /// Mass per volume [kg/m³].
            density: f64 as Positive => "7800.0";
        } check |r| {
            match (c1, c2, r.item("c2")) {
                (Some(c1), Some(c2), Some(second)) if c1 + c2 <= 0.0 => {
                    let help = "the sum must be positive: it is half the shear modulus";
                    second.refuse(format!("makes c1 + c2 = {}", c1 + c2), help).unwrap_or(false)
                }
                _ => true,
            }
        }
        /// Ogden's law, one entry of `mu` and `alpha` per term: Σ μₚ/αₚ (Σ λ̄ᵢ^αₚ − 3) + ½κ(J−1)².
        Ogden = "ogden" {
            /// μ of each term [Pa].
            mu: Vec<f64> => "[0.6e6]";
            /// α of each term.
            alpha: Vec<f64> => "[2.0]";
            /// Bulk modulus κ at small strains [Pa].
            bulk: f64 as Positive => "1e8";
            /// Mass per volume [kg/m³].
            density: f64 as Positive => "7800.0";
        } check |r| {
            match (&mu, &alpha, r.item("alpha")) {
                (Some(mu), Some(alpha), Some(second)) => terms_fit(mu, alpha, &second),
                _ => true,
            }
        }
        /// Blatz–Ko foam rubber: ½G(I₂/I₃ + 2√I₃ − 5).
        BlatzKo = "blatz-ko" {
            /// Shear modulus G at small strains [Pa].
            shear: f64 as Positive => "1e6";
            /// Mass per volume [kg/m³].
            density: f64 as Positive => "7800.0";
        }
    }
    called "material"
}

/// Terms of Ogden's law that are complete and stiff at small strains; problems are told at `second`, the exponents.
fn terms_fit(mu: &[f64], alpha: &[f64], second: &Item) -> bool {
    let shear: f64 = 0.5 * mu.iter().zip(alpha).map(|(m, a)| m * a).sum::<f64>();
    if mu.len() != alpha.len() || mu.is_empty() {
        let what = format!("has {} entries and `mu` has {}", alpha.len(), mu.len());
        second.refuse::<()>(what, "each term needs one of both");
    } else if alpha.contains(&0.0) {
        second.refuse::<()>("holds a zero", "a term with alpha = 0 says nothing; leave it out");
    } else if shear <= 0.0 {
        let what = format!("makes the shear modulus, half the sum of mu alpha, {shear}");
        second.refuse::<()>(what, "it must be positive");
    } else {
        return true;
    }
    false
}

/// Lamé's constants of a law that holds the cells of nodal integration together: no stiffer against changes of volume than a
/// Poisson ratio of 0.4 makes it.
pub fn softened(lame: Lame) -> Lame {
    Lame { lambda: lame.lambda.min(4.0 * lame.mu), mu: lame.mu }
}

/// Something to be done with a law, whichever it is.
pub trait WithLaw {
    type Output;
    /// `soft` is the same law made softer ([`softened`]).
    fn with<M: Material + Clone>(self, law: M, soft: M) -> Self::Output;
}

impl Law {
    /// Does `what` with the law that this is.
    pub fn apply<W: WithLaw>(&self, what: W) -> W::Output {
        match *self {
            Law::Linear { young, poisson, density } => {
                let of = |lame| Linear { lame, density };
                let lame = Lame::from_young(young, poisson);
                what.with(of(lame), of(softened(lame)))
            }
            Law::StVenantKirchhoff { young, poisson, density } => {
                let of = |lame| StVenantKirchhoff { lame, density };
                let lame = Lame::from_young(young, poisson);
                what.with(of(lame), of(softened(lame)))
            }
            Law::NeoHookean { young, poisson, density } => {
                let of = |lame| NeoHookean { lame, density };
                let lame = Lame::from_young(young, poisson);
                what.with(of(lame), of(softened(lame)))
            }
            Law::MooneyRivlin { c1, c2, bulk, density } => {
                let of = |bulk| MooneyRivlin { c1, c2, bulk, density };
                what.with(of(bulk), of(soft_bulk(&of(bulk))))
            }
            Law::Ogden { ref mu, ref alpha, bulk, density } => {
                let terms: Vec<OgdenTerm> =
                    mu.iter().zip(alpha).map(|(&mu, &alpha)| OgdenTerm { mu, alpha }).collect();
                let of = |bulk| Ogden { terms: terms.clone(), bulk, density };
                what.with(of(bulk), of(soft_bulk(&of(bulk))))
            }
            // its Poisson ratio is 1/4
            Law::BlatzKo { shear, density } => {
                what.with(BlatzKo { shear, density }, BlatzKo { shear, density })
            }
        }
    }

    /// Every law once, with numbers near one: what the checks of laws and of elements walk through.
    #[doc(hidden)]
    pub fn samples(density: f64) -> Vec<Law> {
        let (young, poisson) = (2.1, 0.3);
        vec![
            Law::Linear { young, poisson, density },
            Law::StVenantKirchhoff { young, poisson, density },
            Law::NeoHookean { young, poisson, density },
            Law::MooneyRivlin { c1: 0.7, c2: 0.2, bulk: 4.0, density },
            // the ratios of vulcanised rubber, at a bulk modulus that lets volume matter
            Law::Ogden { mu: vec![0.63, 0.0012, -0.01], alpha: vec![1.3, 5.0, -2.0], bulk: 5.0, density },
            Law::BlatzKo { shear: 1.7, density },
        ]
    }
}

/// Bulk modulus of a law made softer [Pa].
fn soft_bulk(law: &impl Material) -> f64 {
    let Lame { lambda, mu } = softened(law.lame());
    lambda + 2.0 / 3.0 * mu
}
