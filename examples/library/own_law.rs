//! A law of your own that a deck can name: a soft solid whose bulk stiffness is chosen by itself.
//!
//!     cargo run --release --example own_law

use carom::declare::{Positive, section};
use carom::material::{Lame, Material};
use carom::math::lane::Lane;
use carom::math::tensor::Sym;
use carom::{OwnLaw, Simulation, SimulationError};

section! {
    /// Energy ½κ(tr E)² + G E:E of the Green strain.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Jelly: "jelly" {
        /// Shear modulus G [Pa].
        shear: f64 as Positive => "1e3";
        /// First constant κ [Pa].
        kappa: f64 as Positive = 2e3;
        /// Mass per volume [kg/m³].
        density: f64 as Positive => "1000";
    }
}

/// The weights of components in a contraction: those off the diagonal count twice.
const COUNT: [f64; 6] = [1.0, 1.0, 1.0, 2.0, 2.0, 2.0];

impl Material for Jelly {
    /// One kernel instead of one for every instruction set: it compiles quicker.
    const WIDE: bool = false;

    fn density(&self) -> f64 {
        self.density
    }

    fn lame(&self) -> Lame {
        Lame { lambda: self.kappa, mu: self.shear }
    }

    /// Energy and stress S = κ tr E 1 + 2G E; components xx yy zz xy yz xz.
    #[inline(always)]
    fn respond<L: Lane>(&self, e: &Sym<L>, _: &mut [L]) -> (L, Sym<L>) {
        let trace = e[0] + e[1] + e[2];
        let mut energy = trace * trace * (0.5 * self.kappa);
        let mut stress = *e;
        for k in 0..6 {
            energy += e[k] * e[k] * (self.shear * COUNT[k]);
            stress[k] = e[k] * (2.0 * self.shear);
            if k < 3 {
                stress[k] += trace * self.kappa;
            }
        }
        (energy, stress)
    }

    /// dSₐ = Σ_b COUNT[b] D[a][b] dE_b.
    #[inline(always)]
    fn tangent<L: Lane>(&self, e: &Sym<L>, _: &[L]) -> [Sym<L>; 6] {
        let number = |a: usize, b: usize| {
            let both = if a < 3 && b < 3 { self.kappa } else { 0.0 };
            let same = if a == b { 2.0 * self.shear / COUNT[a] } else { 0.0 };
            e[0].of(both + same)
        };
        std::array::from_fn(|a| std::array::from_fn(|b| number(a, b)))
    }
}

impl OwnLaw for Jelly {}

const DECK: &str = r#"
method = "dcr"
end    = 0.1

[body.cube]
mesh     = { shape = "box", size = [0.1, 0.1, 0.1], cells = [3, 3, 3], at = [0, 0, 0.01] }
material = { law = "jelly", shear = 1e4, density = 1000 }
velocity = [0, 0, -0.5]

[body.table]
plane = { point = [0, 0, 0], normal = [0, 0, 1] }
"#;

fn main() -> Result<(), SimulationError> {
    // without the law, the deck is told what there is
    if let Err(error) = Simulation::from_text(DECK) {
        println!("{error}\n");
    }
    let mut simulation = Simulation::setup().law::<Jelly>().text(DECK)?;
    simulation.run()?;
    let push = simulation.impulse_between("cube", "table").map_or(0.0, |j| j.z);
    println!("the table has given the cube {push:.4} N s");
    assert!(push > 0.5);
    Ok(())
}
