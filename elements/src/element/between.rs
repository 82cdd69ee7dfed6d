//! Forces between two configurations, for methods that conserve energy and momenta (Simo & Tarnow 1992, Gonzalez 2000).
//!
//! ```text
//! F̄ = ½(F₀ + F₁)     Ē = ½(E₀ + E₁)     ΔE = E₁ − E₀ = sym(F̄ᵀ ΔF)     P̄ = F̄ S̄
//! S̄ = S(Ē) + z ΔE     z = [W₁ − W₀ − S(Ē):ΔE] / ΔE:ΔE                ⇒   P̄:ΔF = W₁ − W₀
//! ∂S̄/∂E₁ = ½D(Ē) + z 1 + ΔE ⊗ [S₁ − S(Ē) − ½D(Ē):ΔE − 2z ΔE] / ΔE:ΔE
//! ∂P̄_iJ/∂F₁_kL = ½ δ_ik S̄_JL + F̄_iM (∂S̄/∂E₁)_MJNL F₁_kN
//! ```
//!
//! Forces are in balance and without moment about the middle of both configurations, and their work is what the strain energy
//! gains. A law whose stress is linear in its strain has z = 0: S̄ = ½(S₀ + S₁) exactly. Small strains have F̄ = 1.
//!
//! **Near each other.** Numerator and denominator of z vanish together, like ΔE³ and ΔE². A difference of energies would
//! leave their round-off divided by ΔE; below [`NEAR`] it is the work of the stress on the way instead, by three points of
//! Gauss, whose error (a seventh power) is below the round-off of the energy there, and whose round-off is that of a stress.

use super::tangent::{SIZE, add_hourglass, add_point};
use super::{BetweenPass, Element};
use crate::material::Material;
use crate::math::tensor::{
    AT, COUNT, Matrix, Sym, cofactor, contract, det, dot, full, green_strain, mul, mul_transposed,
    plus_identity, scale, small_strain, sym_cofactor,
};

/// Change of C, as a share of it, below which the work of the stress stands for the difference of energies: the seventh
/// power of it over two million, by as many derivatives of a logarithm (7!), is 10⁻¹⁶ of its square.
const NEAR: f64 = 2e-3;
/// Change below which the tangent leaves out what is proportional to it: round-off over change would be more.
const SAME: f64 = 1e-8;

/// The algorithmic stress between two strains.
pub(super) struct Middle {
    pub stress: Sym<f64>,
    /// Energy density at the end [J/m³].
    pub energy: f64,
    /// Ē, ΔE and z.
    mean: Sym<f64>,
    change: Sym<f64>,
    slope: f64,
    /// ΔE:ΔE, and the change as a share of C.
    square: f64,
    share: f64,
}

/// Energy density and stress of a law at one strain. Out of line, like [`own_tangent`]: with everything in one function rustc 1.95
/// made a wrong tangent of Blatz–Ko's law, in whole builds only (`tests/between.rs` saw it, 2 % off).
#[inline(never)]
fn respond<M: Material>(law: &M, strain: &Sym<f64>) -> (f64, Sym<f64>) {
    law.respond(strain, &mut [])
}

#[inline(never)]
fn own_tangent<M: Material>(law: &M, strain: &Sym<f64>) -> [Sym<f64>; 6] {
    law.tangent(strain, &[])
}

/// `S̄` between the strains of the start and of the end.
#[inline(never)]
pub(super) fn stress<M: Material>(law: &M, start: &Sym<f64>, end: &Sym<f64>) -> Middle {
    let respond = |e: &Sym<f64>| respond(law, e);
    let mut mean = *start;
    let mut change = *start;
    for k in 0..6 {
        mean[k] = 0.5 * (start[k] + end[k]);
        change[k] = end[k] - start[k];
    }
    let (last, mut stress) = (respond(end).0, respond(&mean).1);
    let square = contract(&change, &change);
    let mut middle = Middle { stress, energy: last, mean, change, slope: 0.0, square, share: 0.0 };
    if M::LINEAR || square == 0.0 {
        return middle;
    }
    middle.share = share_of_metric(&mean, &change);
    let work = contract(&stress, &change);
    let excess = if middle.share < NEAR {
        let root = 0.5 * f64::sqrt(0.6);
        let mut sum = [0.0; 6];
        for side in [-root, root] {
            let mut e = mean;
            e.iter_mut().zip(&change).for_each(|(e, d)| *e += side * d);
            let s = respond(&e).1;
            for k in 0..6 {
                sum[k] += s[k] - stress[k];
            }
        }
        5.0 / 18.0 * contract(&sum, &change)
    } else {
        last - respond(start).0 - work
    };
    middle.slope = excess / square;
    stress.iter_mut().zip(&change).for_each(|(s, d)| *s += middle.slope * d);
    middle.stress = stress;
    middle
}

/// `‖ΔC C̄⁻¹‖` (Frobenius).
fn share_of_metric(mean: &Sym<f64>, change: &Sym<f64>) -> f64 {
    let mut c = *mean;
    for (k, x) in c.iter_mut().enumerate() {
        *x = 2.0 * *x + if k < 3 { 1.0 } else { 0.0 };
    }
    let inverse = sym_cofactor(&c);
    let det = c[0] * inverse[0] + c[3] * inverse[3] + c[5] * inverse[5];
    let product = mul(&full(change), &full(&inverse));
    2.0 / det * product.iter().flatten().map(|x| x * x).sum::<f64>().sqrt()
}

/// `∂S̄/∂E₁` as tensor components, see [`Material::tangent`].
#[inline(never)]
pub(super) fn tangent<M: Material>(law: &M, end: &Sym<f64>, middle: &Middle) -> [Sym<f64>; 6] {
    let mut d = own_tangent(law, &middle.mean);
    d.iter_mut().flatten().for_each(|x| *x *= 0.5);
    if M::LINEAR || middle.share < SAME {
        return d;
    }
    let (change, slope) = (&middle.change, middle.slope);
    let (at_mean, at_end) = (respond(law, &middle.mean).1, respond(law, end).1);
    let mut row = [0.0; 6];
    for k in 0..6 {
        let half: f64 = (0..6).map(|l| COUNT[l] * d[k][l] * change[l]).sum();
        row[k] = (at_end[k] - at_mean[k] - half - 2.0 * slope * change[k]) / middle.square;
    }
    for k in 0..6 {
        // the identity between symmetric tensors has ½ where components stand twice
        d[k][k] += slope / COUNT[k];
        for l in 0..6 {
            d[k][l] += change[k] * row[l];
        }
    }
    d
}

/// Kinematics of one point in both configurations.
struct Point {
    /// H₀, H₁ and their mean.
    h: [Matrix<f64>; 2],
    mean: Matrix<f64>,
    strain: [Sym<f64>; 2],
    /// Cofactor of the Jacobian and its determinant.
    cofactor: Matrix<f64>,
    det_j: f64,
}

fn point<E: Element, M: Material>(
    shape: &E::Shape<f64>,
    gradients: &[E::Gradient<f64>; 2],
    q: usize,
) -> Point {
    let j = E::jacobian(shape, q);
    let cofactor = cofactor(&j);
    let det_j = dot(j[0], cofactor[0]);
    let h = [0, 1].map(|k| scale(&mul_transposed(&E::at(&gradients[k], q), &cofactor), 1.0 / det_j));
    let mut mean = h[0];
    mean.iter_mut().flatten().zip(h[1].iter().flatten()).for_each(|(a, b)| *a = 0.5 * (*a + b));
    let strain = h.map(|h| if M::SMALL_STRAIN { small_strain(&h) } else { green_strain(&h) });
    Point { h, mean, strain, cofactor, det_j }
}

/// Forces of one element between displacements `u[0]` and `u[1]`, section aside.
pub(super) fn force_of_element<E: Element, M: Material>(
    law: &M,
    hourglass: f64,
    reference: &E::Nodal<f64>,
    u: &[E::Nodal<f64>; 2],
) -> (BetweenPass, E::Nodal<f64>) {
    let shape = E::shape(reference);
    let gradients = [E::gradient(&shape, &u[0]), E::gradient(&shape, &u[1])];
    let mut r = E::zero(0.0);
    let mut pass = BetweenPass { energy: 0.0, det_f: f64::INFINITY };
    for q in 0..E::POINTS {
        let at = point::<E, M>(&shape, &gradients, q);
        let middle = stress(law, &at.strain[0], &at.strain[1]);
        pass.energy += middle.energy * at.det_j * E::weight(q);
        let mut p = full(&middle.stress);
        if !M::SMALL_STRAIN {
            p = mul(&plus_identity(&at.mean), &p);
            pass.det_f = pass.det_f.min(det(&plus_identity(&at.h[1])));
        }
        E::add(&mut r, q, &mul(&p, &scale(&at.cofactor, E::weight(q))));
    }
    let mut force = E::spread(&shape, &r);
    if E::HOURGLASS {
        // linear in u: its value at the mean of both conserves its energy
        let mut mean = u[0];
        for (a, b) in mean.as_mut().iter_mut().zip(u[1].as_ref()) {
            a.iter_mut().zip(b).for_each(|(a, b)| *a = 0.5 * (*a + b));
        }
        let f = E::hourglass(reference, &shape, &mean, hourglass).1;
        for (a, b) in force.as_mut().iter_mut().zip(f.as_ref()) {
            a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
        }
        pass.energy += E::hourglass(reference, &shape, &u[1], hourglass).0;
    }
    (pass, force)
}

/// Their derivative to the end, section aside.
pub(super) fn tangent_of_element<E: Element, M: Material>(
    law: &M,
    hourglass: f64,
    reference: &E::Nodal<f64>,
    u: &[E::Nodal<f64>; 2],
) -> [[f64; SIZE]; SIZE] {
    let shape = E::shape(reference);
    let gradients = [E::gradient(&shape, &u[0]), E::gradient(&shape, &u[1])];
    let mut k = [[0.0; SIZE]; SIZE];
    for q in 0..E::POINTS {
        let at = point::<E, M>(&shape, &gradients, q);
        add_point::<E, f64>(&shape, q, &moduli(law, &at.strain, &at.mean, &at.h[1]), &mut k);
    }
    if E::HOURGLASS {
        add_hourglass::<E, f64>(reference, &shape, 0.5 * hourglass, &mut k);
    }
    k
}

/// `∂P̄/∂F₁` from the strains and the displacement gradients of the middle and of the end.
pub(super) fn moduli<M: Material>(
    law: &M,
    strain: &[Sym<f64>; 2],
    mean: &Matrix<f64>,
    end: &Matrix<f64>,
) -> [[f64; 9]; 9] {
    let middle = stress(law, &strain[0], &strain[1]);
    let d = tangent(law, &strain[1], &middle);
    if M::SMALL_STRAIN {
        return small_moduli(&d);
    }
    pushed(&d, &plus_identity(mean), &plus_identity(end), &middle.stress, 0.5)
}

/// Moduli of a law of small strains, `A[iJ][kL] = D_iJkL`.
pub(super) fn small_moduli(d: &[Sym<f64>; 6]) -> [[f64; 9]; 9] {
    std::array::from_fn(|ij| std::array::from_fn(|kl| d[AT[ij / 3][ij % 3]][AT[kl / 3][kl % 3]]))
}

/// `A[iJ][kL] = L_iM D_MJNL R_kN + share δ_ik S_JL`.
pub(super) fn pushed(
    d: &[Sym<f64>; 6],
    left: &Matrix<f64>,
    right: &Matrix<f64>,
    s: &Sym<f64>,
    share: f64,
) -> [[f64; 9]; 9] {
    let s = full(s);
    let mut half = [[0.0; 9]; 9];
    for (ij, row) in half.iter_mut().enumerate() {
        for (nl, x) in row.iter_mut().enumerate() {
            let (i, j, nl) = (ij / 3, ij % 3, AT[nl / 3][nl % 3]);
            *x = dot(left[i], [d[AT[0][j]][nl], d[AT[1][j]][nl], d[AT[2][j]][nl]]);
        }
    }
    let mut out = [[0.0; 9]; 9];
    for (ij, row) in out.iter_mut().enumerate() {
        for (kl, x) in row.iter_mut().enumerate() {
            let (k, l) = (kl / 3, kl % 3);
            *x = dot(right[k], [half[ij][l], half[ij][3 + l], half[ij][6 + l]]);
            if ij / 3 == k {
                *x += share * s[ij % 3][l];
            }
        }
    }
    out
}
