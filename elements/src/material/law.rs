//! Any of the laws, chosen while the program runs: what a deck says. `element/choice.rs` makes blocks out of them.

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
