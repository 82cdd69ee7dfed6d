//! What every law must do: all of [`Law::samples`].

use super::*;
use crate::math::lane::{MAX_WIDTH, Simd};
use crate::math::tensor::{INDEX, full};
use crate::math::{Mat3, Vec3};
use nalgebra::{DMatrix, Rotation3};

const DENSITY: f64 = 1000.0;

fn linear() -> Linear {
    Linear { lame: Lame::from_young(2.1, 0.3), density: DENSITY }
}
fn neo_hookean() -> NeoHookean {
    NeoHookean { lame: Lame::from_young(2.1, 0.3), density: DENSITY }
}
fn stiff_neo_hookean() -> NeoHookean {
    NeoHookean { lame: Lame::from_young(2.1, 0.49), density: DENSITY }
}
fn mooney_rivlin() -> MooneyRivlin {
    MooneyRivlin { c1: 0.7, c2: 0.2, bulk: 4.0, density: DENSITY }
}
fn ogden(terms: &[(f64, f64)], bulk: f64) -> Ogden {
    let terms = terms.iter().map(|&(mu, alpha)| OgdenTerm { mu, alpha }).collect();
    Ogden { terms, bulk, density: DENSITY }
}
/// The ratios of vulcanised rubber, at a bulk modulus that lets volume matter.
fn rubber() -> Ogden {
    ogden(&[(0.63, 1.3), (0.0012, 5.0), (-0.01, -2.0)], 5.0)
}
fn blatz_ko() -> BlatzKo {
    BlatzKo { shear: 1.7, density: DENSITY }
}

/// Calls a check with the name of every law of space, and with numbers that ask more of some.
macro_rules! each_law {
    ($check:ident) => {{
        struct Call(String);
        impl WithLaw for Call {
            type Output = ();
            fn with<M: Material + Clone>(self, law: M, _: M) {
                $check(&self.0, &law);
            }
        }
        Law::samples(DENSITY).iter().for_each(|law| law.apply(Call(law.name().into())));
        $check("neo-hookean, nearly incompressible", &stiff_neo_hookean());
        $check("ogden, one term", &ogden(&[(1.3, 3.1)], 6.0));
        $check("ogden, four terms", &ogden(&[(0.4, 2.0), (-0.3, -2.0), (0.2, 1.1), (0.1, 4.0)], 3.0));
    }};
}

/// Calls a check with every law of a thin body.
macro_rules! each_reduced {
    ($check:ident) => {{
        struct Call(String);
        impl WithLaw for Call {
            type Output = ();
            fn with<M: Material + Clone>(self, law: M, _: M) {
                $check(&format!("plate, {}", self.0), &PlaneStress(law.clone()));
                $check(&format!("bar, {}", self.0), &Uniaxial(law));
            }
        }
        Law::samples(DENSITY).iter().for_each(|law| law.apply(Call(law.name().into())));
        $check("plate, neo-hookean, nearly incompressible", &PlaneStress(stiff_neo_hookean()));
        $check("bar, neo-hookean, nearly incompressible", &Uniaxial(stiff_neo_hookean()));
    }};
}

/// A law that a deck can name is put through the checks here and in `tests/every_element.rs`.
#[test]
fn every_law_has_a_sample() {
    let names: Vec<_> = Law::samples(DENSITY).iter().map(Law::name).collect();
    assert_eq!(names, Law::ALL);
}

pub(super) struct Random(pub u64);

impl Random {
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        low + (high - low) * ((self.0 >> 11) as f64 / (1u64 << 53) as f64)
    }
    pub fn rotation(&mut self) -> Mat3 {
        let axis = Vec3::from_fn(|_, _| self.between(-1.0, 1.0));
        *Rotation3::new(axis * self.between(0.0, 6.0)).matrix()
    }
    /// Evenly in the logarithm.
    fn stretch(&mut self, largest: f64) -> f64 {
        largest.powf(self.between(-1.0, 1.0))
    }
    /// Green strain of three stretches in random directions.
    fn strain(&mut self, largest: f64) -> Sym<f64> {
        let [x, y, z] = std::array::from_fn(|_| green(self.stretch(largest)));
        let q = self.rotation();
        rotate(&q, &[x, y, z, 0.0, 0.0, 0.0])
    }
    /// The same in the x-y plane.
    fn plane_strain(&mut self, largest: f64) -> Sym<f64> {
        let (x, y) = (green(self.stretch(largest)), green(self.stretch(largest)));
        let q = Rotation3::new(Vec3::z() * self.between(0.0, 6.0));
        rotate(q.matrix(), &[x, y, 0.0, 0.0, 0.0, 0.0])
    }
}

fn green(stretch: f64) -> f64 {
    0.5 * (stretch * stretch - 1.0)
}

fn matrix(s: &Sym<f64>) -> Mat3 {
    let full = full(s);
    Mat3::from_fn(|i, j| full[i][j])
}

/// `Q A Qᵀ`.
pub(super) fn rotate(q: &Mat3, a: &Sym<f64>) -> Sym<f64> {
    let r = q * matrix(a) * q.transpose();
    INDEX.map(|(i, j)| r[(i, j)])
}

// Compiled once per law, however many checks call them.
#[inline(never)]
fn respond<M: Material>(law: &M, e: &Sym<f64>) -> (f64, Sym<f64>) {
    law.respond(e, &mut [])
}
#[inline(never)]
fn tangent<M: Material>(law: &M, e: &Sym<f64>) -> [Sym<f64>; 6] {
    law.tangent(e, &[])
}

/// Cauchy stress of a deformation.
fn cauchy<M: Material>(law: &M, f: &Mat3) -> Sym<f64> {
    let e = 0.5 * (f.transpose() * f - Mat3::identity());
    cauchy_stress(f, &respond(law, &INDEX.map(|(i, j)| e[(i, j)])).1)
}

fn largest(values: impl IntoIterator<Item = f64>) -> f64 {
    values.into_iter().fold(0.0, |m, x| if x.abs() > m || x.is_nan() { x.abs() } else { m })
}

/// Derivative by central differences of sixth order.
fn derivative<const N: usize>(f: impl Fn(f64) -> [f64; N], h: f64) -> [f64; N] {
    let mut out = [0.0; N];
    for (k, weight) in [(1.0, 45.0), (2.0, -9.0), (3.0, 1.0)] {
        let (plus, minus) = (f(k * h), f(-k * h));
        for i in 0..N {
            out[i] += weight * (plus[i] - minus[i]) / (60.0 * h);
        }
    }
    out
}

fn check_derivatives<M: Material>(name: &str, law: &M, e: &Sym<f64>) {
    let at = |b: usize, h: f64| {
        let mut x = *e;
        x[b] += h;
        x
    };
    let (_, s) = respond(law, e);
    let d = tangent(law, e);
    let scale = largest(d.iter().flatten().copied());
    for b in 0..6 {
        let [slope] = derivative(|h| [respond(law, &at(b, h)).0], 1e-3);
        let wrong = (slope - COUNT[b] * s[b]).abs() / scale;
        assert!(wrong < 2e-9, "{name}: S[{b}] at {e:?} is off by {wrong:e}");
        let slope = derivative(|h| respond(law, &at(b, h)).1, 1e-3);
        for a in 0..6 {
            let wrong = (slope[a] - COUNT[b] * d[a][b]).abs() / scale;
            assert!(wrong < 2e-9, "{name}: D[{a}][{b}] at {e:?} is off by {wrong:e}");
            let unequal = (d[a][b] - d[b][a]).abs() / scale;
            assert!(unequal < 1e-14, "{name}: D[{a}][{b}] and its mirror differ by {unequal:e}");
        }
    }
}

#[test]
fn stress_is_the_slope_of_energy_and_tangent_that_of_stress() {
    fn check<M: Material>(name: &str, law: &M) {
        let mut random = Random(1);
        for i in 0..300 {
            check_derivatives(name, law, &random.strain(if i % 2 == 0 { 2.0 } else { 1.1 }));
        }
        // equal stretches: all, two, nearly two
        check_derivatives(name, law, &[0.0; 6]);
        let (x, y) = (green(1.4), green(0.7));
        check_derivatives(name, law, &[x, x, x, 0.0, 0.0, 0.0]);
        check_derivatives(name, law, &[y, y, y, 0.0, 0.0, 0.0]);
        for gap in [0.0, 1e-12, 1e-8, 1e-6, 0.9e-5, 1.1e-5, 1e-4, 1e-3] {
            let q = random.rotation();
            check_derivatives(name, law, &rotate(&q, &[x, x + gap, y, 0.0, 0.0, 0.0]));
            check_derivatives(name, law, &rotate(&q, &[y, x, y + gap, 0.0, 0.0, 0.0]));
        }
    }
    each_law!(check);
}

#[test]
fn thin_laws_have_the_slopes_of_their_energy_too() {
    fn check<M: Material>(name: &str, law: &M) {
        let mut random = Random(2);
        for i in 0..200 {
            check_derivatives(name, law, &random.plane_strain(if i % 2 == 0 { 2.0 } else { 1.1 }));
        }
        check_derivatives(name, law, &[0.0; 6]);
    }
    each_reduced!(check);
}

#[test]
fn nothing_is_stored_at_rest() {
    fn check<M: Material>(name: &str, law: &M) {
        let (energy, s) = respond(law, &[0.0; 6]);
        assert_eq!((energy, s), (0.0, [0.0; 6]), "{name}");
        assert!((law.stiffening(&[0.0; 6], &[]) - 1.0).abs() < 1e-12, "{name}");
        assert_eq!(law.density(), DENSITY);
    }
    each_law!(check);
    each_reduced!(check);
}

/// The even part of the energy is the quadratic form up to the fourth power of the strain, the odd part of the
/// stress is linear up to the third: nothing but round-off is left at strains of 1e-6 and below.
#[test]
fn small_strains_are_hookean_with_all_their_digits() {
    fn check<M: Material>(name: &str, law: &M) {
        let mut random = Random(3);
        let rest = tangent(law, &[0.0; 6]);
        for size in [1e-5, 1e-6, 1e-8, 1e-12] {
            for _ in 0..100 {
                let mut e: Sym<f64> = std::array::from_fn(|_| size * random.between(-1.0, 1.0));
                (e[4], e[5]) = if name.starts_with("plate") { (0.0, 0.0) } else { (e[4], e[5]) };
                let back = e.map(|x| -x);
                let ((w, s), (w_back, s_back)) = (respond(law, &e), respond(law, &back));
                let hooke: Sym<f64> =
                    std::array::from_fn(|a| (0..6).map(|b| COUNT[b] * rest[a][b] * e[b]).sum());
                let energy = 0.5 * (0..6).map(|a| COUNT[a] * hooke[a] * e[a]).sum::<f64>();
                // one stiff and one soft direction share the digits of the strain
                let spread = largest(rest.iter().flatten().copied()) / law.lame().mu;
                let tolerance = spread * (200.0 * size * size + 1e-14);
                let even = 0.5 * (w + w_back) / energy - 1.0;
                assert!(even.abs() < tolerance, "{name}: energy at {size:e} is off by {even:e}");
                let scale = largest(hooke);
                for a in 0..6 {
                    let odd = (0.5 * (s[a] - s_back[a]) - hooke[a]).abs() / scale;
                    assert!(odd < tolerance, "{name}: stress at {size:e} is off by {odd:e}");
                }
                // the energy alone, where its third power is below the sixth digit
                if size <= 1e-8 {
                    assert!((w / energy - 1.0).abs() < 1e-6, "{name}");
                }
            }
        }
    }
    each_law!(check);
    each_reduced!(check);
}

#[test]
fn tangent_at_rest_is_that_of_lame() {
    fn check<M: Material>(name: &str, law: &M) {
        let d = tangent(law, &[0.0; 6]);
        let hooke = linear::hooke_tangent(law.lame(), 0.0);
        let scale = largest(hooke.iter().flatten().copied());
        for a in 0..6 {
            for b in 0..6 {
                assert!((d[a][b] - hooke[a][b]).abs() < 1e-14 * scale, "{name} {a} {b}");
            }
        }
    }
    each_law!(check);
}

#[test]
fn laws_know_no_direction() {
    fn check<M: Material>(name: &str, law: &M) {
        let mut random = Random(4);
        for _ in 0..200 {
            let (e, q) = (random.strain(2.0), random.rotation());
            let (w, s) = respond(law, &e);
            let (w_turned, s_turned) = respond(law, &rotate(&q, &e));
            let s = rotate(&q, &s);
            assert!((w - w_turned).abs() < 1e-12 * w, "{name}");
            let scale = largest(s).max(law.lame().mu);
            for a in 0..6 {
                assert!((s[a] - s_turned[a]).abs() < 1e-12 * scale, "{name} at {e:?}");
            }
        }
    }
    each_law!(check);
}

/// `√(COUNT) D √(COUNT)` on the components that the law serves.
fn mandel(d: &[Sym<f64>; 6], active: &[usize]) -> DMatrix<f64> {
    DMatrix::from_fn(active.len(), active.len(), |i, j| {
        let (a, b) = (active[i], active[j]);
        d[a][b] * (COUNT[a] * COUNT[b]).sqrt()
    })
}

#[test]
fn stiffening_bounds_the_largest_eigenvalue_against_rest() {
    fn check<M: Material>(name: &str, law: &M) {
        let active: &[usize] = match name.split(',').next() {
            Some("plate") => &[0, 1, 3],
            Some("bar") => &[0],
            _ => &[0, 1, 2, 3, 4, 5],
        };
        let rest = mandel(&tangent(law, &[0.0; 6]), active);
        let inverse = rest.cholesky().unwrap().l().try_inverse().unwrap();
        let mut random = Random(5);
        for i in 0..400 {
            let size = if i % 2 == 0 { 2.0 } else { 1.05 };
            let e = if active.len() == 6 { random.strain(size) } else { random.plane_strain(size) };
            let d = mandel(&tangent(law, &e), active);
            let values = (&inverse * d * inverse.transpose()).symmetric_eigenvalues();
            let (exact, bound) = (values.max(), law.stiffening(&e, &[]));
            assert!(bound >= exact * (1.0 - 1e-12), "{name}: {bound} < {exact} at {e:?}");
            // a norm does not see signs: an unstable direction counts with its size
            let waste = bound / values.amax();
            assert!(waste < 1.25, "{name}: {bound} is {waste} times {exact} at {e:?}");
        }
    }
    each_law!(check);
    each_reduced!(check);
}

#[test]
fn the_stress_across_a_thin_body_vanishes() {
    fn plate<M: Material + Clone>(name: &str, law: &M) {
        let (plate, mut random) = (PlaneStress(law.clone()), Random(6));
        for _ in 0..500 {
            let e = plate.full_strain(&random.plane_strain(3.0), &[]);
            // the strain cannot be met more closely than its round-off, felt through the stiffness
            let d = tangent(law, &e);
            let felt = 200.0 * f64::EPSILON * (1.0 + largest(e)) * largest(d.iter().flatten().copied());
            let s = respond(law, &e).1;
            assert!(s[2].abs() <= felt, "{name}: S_zz = {:e} at {e:?}", s[2]);
            assert!(M::LINEAR || e[2] > -0.5, "{name}: turned inside out at {e:?}");
        }
    }
    fn bar<M: Material + Clone>(name: &str, law: &M) {
        let (bar, mut random) = (Uniaxial(law.clone()), Random(6));
        for _ in 0..500 {
            let x = green(random.stretch(3.0));
            let e = bar.full_strain(&[x, 0.0, 0.0, 0.1, 0.2, 0.3], &[]);
            let d = tangent(law, &e);
            let felt = 200.0 * f64::EPSILON * (1.0 + largest(e)) * largest(d.iter().flatten().copied());
            let s = respond(law, &e).1;
            assert!(s[1].abs() <= felt && s[2].abs() <= felt, "{name}: {:e} at {e:?}", s[1]);
            assert_eq!(e[3..], [0.0; 3]);
            assert_eq!(e, bar.full_strain(&[x, 9.0, 8.0, 7.0, 6.0, 5.0], &[]), "{name}");
        }
    }
    each_law!(plate);
    each_law!(bar);
}

/// A bar of Hooke's law: `σ = E ε`, `ε_across = −ν ε`; a plate: `E/(1−ν²)(ε_xx + ν ε_yy)`.
#[test]
fn thin_linear_bodies_have_youngs_modulus() {
    let (young, poisson, strain) = (2.1, 0.3, 0.0123);
    let (bar, plate) = (Uniaxial(linear()), PlaneStress(linear()));
    const { assert!(Uniaxial::<Linear>::SMALL_STRAIN && !PlaneStress::<BlatzKo>::SMALL_STRAIN) }
    let e = [strain, 9.0, 9.0, 9.0, 9.0, 9.0];
    let (w, s) = respond(&bar, &e);
    assert!((s[0] - young * strain).abs() < 2.0 * f64::EPSILON * s[0]);
    assert!((w - 0.5 * young * strain * strain).abs() < 4.0 * f64::EPSILON * w);
    assert_eq!(s[1..], [0.0; 5]);
    let full = bar.full_strain(&e, &[]);
    assert!((full[1] + poisson * strain).abs() < 2.0 * f64::EPSILON * strain);
    let (x, y) = (0.01, -0.004);
    let (_, s) = respond(&plate, &[x, y, 9.0, 0.0, 0.0, 0.0]);
    let modulus = young / (1.0 - poisson * poisson);
    assert!((s[0] - modulus * (x + poisson * y)).abs() < 1e-15 * modulus);
    assert!((s[1] - modulus * (y + poisson * x)).abs() < 1e-15 * modulus);
}

#[test]
fn blatz_ko_meets_its_closed_forms() {
    let law = blatz_ko();
    let g = law.shear;
    let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-12 * (g + b.abs()), "{a} {b}");
    for l in [0.4, 0.5, 0.8, 0.99, 1.0, 1.3, 2.0, 3.0_f64] {
        // strain along x alone
        let s = cauchy(&law, &Mat3::from_diagonal(&Vec3::new(l, 1.0, 1.0)));
        near(s[0], g * (1.0 - l.powi(-3)));
        near(s[1], g * (1.0 - 1.0 / l));
        near(s[2], s[1]);
        // a small wave on top of it has ρ c² = D_xxxx λ² + S_xx = 3G λ⁻⁴
        let e = [green(l), 0.0, 0.0, 0.0, 0.0, 0.0];
        near(tangent(&law, &e)[0][0] * l * l + respond(&law, &e).1[0], 3.0 * g * l.powi(-4));
        // equal stretches
        let s = cauchy(&law, &(Mat3::identity() * l));
        near(s[0], g * (1.0 - l.powi(-5)));
        // stress along x alone
        let bar = Uniaxial(law);
        let full = bar.full_strain(&e, &[]);
        near((2.0 * full[1] + 1.0).sqrt(), l.powf(-0.25));
        near(respond(&bar, &e).1[0] * l, g * (l.powf(-0.5) - l.powi(-3)));
        let across = l.powf(-0.25);
        let s = cauchy(&law, &Mat3::from_diagonal(&Vec3::new(l, across, across)));
        near(s[0], g * (1.0 - l.powf(-2.5)));
        near(von_mises(&s), s[0].abs());
        // shear
        let mut f = Mat3::identity();
        f[(0, 1)] = l;
        let s = cauchy(&law, &f);
        near(s[3], g * l);
        near(s[1], -g * l * l);
        near(s[0], 0.0);
        near(s[2], 0.0);
    }
}

/// With stress along x alone the stretch across obeys `μ(λ_t² − 1) + λ ln(λ λ_t²) = 0`, which gives λ for any λ_t,
/// and `σ = μ(λ² − λ_t²)/J`. In shear `σ = μ(F Fᵀ − 1)`.
#[test]
fn neo_hookean_meets_its_closed_forms() {
    let law = neo_hookean();
    let Lame { lambda, mu } = law.lame;
    for across in [0.6, 0.8, 0.95, 1.0, 1.05, 1.2, 1.4_f64] {
        let along = (-mu * (across * across - 1.0) / lambda - 2.0 * across.ln()).exp();
        let e = Uniaxial(law).full_strain(&[green(along), 0.0, 0.0, 0.0, 0.0, 0.0], &[]);
        assert!((e[1] - green(across)).abs() < 1e-14, "{across}");
        let s = cauchy(&law, &Mat3::from_diagonal(&Vec3::new(along, across, across)));
        let exact = mu * (along * along - across * across) / (along * across * across);
        assert!((s[0] - exact).abs() < 1e-13 && s[1].abs() < 1e-13);
        assert!((von_mises(&s) - exact.abs()).abs() < 1e-13);

        let mut f = Mat3::identity();
        f[(0, 1)] = across;
        let s = cauchy(&law, &f);
        assert!((s[3] - mu * across).abs() < 1e-14 && (s[0] - mu * across * across).abs() < 1e-14);
        assert!(s[1].abs() < 1e-14 && s[2].abs() < 1e-14);
    }
}

/// With stress along x alone, `σ = 3κ(J − 1)` (the mean) and
/// `J σ = 2(C₁ J^(−2/3) + C₂ J^(−4/3) λ_t²)(λ² − λ_t²)` (the difference); for Ogden `J σ = Σ μ_p(λ̄^α_p − λ̄_t^α_p)`.
#[test]
fn mooney_rivlin_and_ogden_meet_their_closed_forms_in_a_bar() {
    let (law, rubber) = (mooney_rivlin(), rubber());
    for l in [0.4, 0.7, 0.98, 1.01, 1.5, 2.5_f64] {
        let given = [green(l), 0.0, 0.0, 0.0, 0.0, 0.0];
        let volume = |e: &Sym<f64>| l * (2.0 * e[1] + 1.0);

        let bar = Uniaxial(law);
        let e = bar.full_strain(&given, &[]);
        let (j, t2) = (volume(&e), 2.0 * e[1] + 1.0);
        let sigma = respond(&bar, &given).1[0] * l * l / j;
        let shape = law.c1 * j.powf(-2.0 / 3.0) + law.c2 * j.powf(-4.0 / 3.0) * t2;
        assert!((sigma - 3.0 * law.bulk * (j - 1.0)).abs() < 1e-13 * law.bulk);
        assert!((j * sigma - 2.0 * shape * (l * l - t2)).abs() < 1e-13 * law.bulk);

        let bar = Uniaxial(rubber.clone());
        let e = bar.full_strain(&given, &[]);
        let (j, t) = (volume(&e), (2.0 * e[1] + 1.0).sqrt());
        let sigma = respond(&bar, &given).1[0] * l * l / j;
        let third = j.powf(-1.0 / 3.0);
        let terms = rubber.terms.iter();
        let shape: f64 = terms.map(|p| p.mu * ((l * third).powf(p.alpha) - (t * third).powf(p.alpha))).sum();
        assert!((sigma - 3.0 * rubber.bulk * (j - 1.0)).abs() < 1e-13 * rubber.bulk);
        assert!((j * sigma - shape).abs() < 1e-13 * rubber.bulk);
    }
}

#[test]
fn ogden_with_exponents_two_and_minus_two_is_mooney_rivlin() {
    let (c1, c2, bulk) = (0.7, 0.2, 4.0);
    let pairs = [
        (ogden(&[(2.0 * c1, 2.0)], bulk), MooneyRivlin { c1, c2: 0.0, bulk, density: DENSITY }),
        (ogden(&[(2.0 * c1, 2.0), (-2.0 * c2, -2.0)], bulk), MooneyRivlin { c1, c2, bulk, density: DENSITY }),
    ];
    let mut random = Random(8);
    for (ogden, mooney) in pairs {
        for i in 0..300 {
            let e = random.strain(if i % 2 == 0 { 2.0 } else { 1.001 });
            let ((w, s), (w2, s2)) = (respond(&ogden, &e), respond(&mooney, &e));
            let scale = largest(s) + largest(e) * bulk;
            assert!((w - w2).abs() < 1e-13 * w2);
            assert!(largest((0..6).map(|a| s[a] - s2[a])) < 1e-13 * scale, "{e:?}");
            let (d, d2) = (tangent(&ogden, &e), tangent(&mooney, &e));
            let scale = largest(d2.iter().flatten().copied());
            for a in 0..6 {
                assert!(largest((0..6).map(|b| d[a][b] - d2[a][b])) < 1e-9 * scale, "{e:?}");
            }
        }
    }
}

#[test]
fn von_mises_of_pure_shear_is_root_three_times_it() {
    assert!((von_mises(&[0.0, 0.0, 0.0, 2.0, 0.0, 0.0]) - 2.0 * 3f64.sqrt()).abs() < 1e-15);
    assert_eq!(von_mises(&[5.0, 5.0, 5.0, 0.0, 0.0, 0.0]), 0.0);
    // σ = F S Fᵀ / J turns with the body
    let (mut random, s) = (Random(9), [1.0, -2.0, 0.5, 0.3, 0.1, -0.7]);
    let q = random.rotation();
    let turned = cauchy_stress(&q, &s);
    assert!(largest((0..6).map(|a| turned[a] - rotate(&q, &s)[a])) < 1e-14);
    let stretched = cauchy_stress(&Mat3::from_diagonal(&Vec3::new(2.0, 1.0, 1.0)), &s);
    assert_eq!(stretched, [2.0, -1.0, 0.25, 0.3, 0.05, -0.7]);
}

/// Energy, stress and tangent in a row.
type Answer = [f64; 43];

#[inline(always)]
fn answer<M: Material, L: Lane>(
    law: &M,
    token: L::Token,
    strains: &[Sym<f64>; MAX_WIDTH],
) -> [Answer; MAX_WIDTH] {
    let mut e = [L::splat(token, 0.0); 6];
    for (a, x) in e.iter_mut().enumerate() {
        *x = L::load(token, &std::array::from_fn(|i| strains[i][a]));
    }
    let (w, s) = law.respond(&e, &mut []);
    let d = law.tangent(&e, &[]);
    let mut out = [[0.0; 43]; MAX_WIDTH];
    let mut put = |k: usize, x: L| {
        let mut row = [0.0; MAX_WIDTH];
        x.store(&mut row);
        for i in 0..MAX_WIDTH {
            out[i][k] = row[i];
        }
    };
    put(0, w);
    for (k, &x) in s.iter().chain(d.iter().flatten()).enumerate() {
        put(1 + k, x);
    }
    out
}

struct OnRegisters<'a, M>(&'a M, &'a [Sym<f64>; MAX_WIDTH]);
impl<M: Material> pulp::WithSimd for OnRegisters<'_, M> {
    type Output = (usize, [Answer; MAX_WIDTH]);
    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, simd: S) -> Self::Output {
        (Simd::<S>::WIDTH, answer::<M, Simd<S>>(self.0, simd, self.1))
    }
}

/// Registers may fuse products and sums where scalars do not; neighbours in a register change no bit.
#[test]
fn registers_answer_like_scalars_and_lanes_are_strangers() {
    fn check<M: Material>(name: &str, law: &M) {
        let (arch, mut random) = (pulp::Arch::new(), Random(10));
        let thin = name.starts_with("plate") || name.starts_with("bar");
        for round in 0..40 {
            let size = if round % 2 == 0 { 2.0 } else { 1.0001 };
            let mut strains =
                std::array::from_fn(|_| if thin { random.plane_strain(size) } else { random.strain(size) });
            strains[1] = [0.0; 6];
            let (width, wide) = arch.dispatch(OnRegisters(law, &strains));
            for i in 0..width {
                let scalar = answer::<M, f64>(law, (), &[strains[i]; MAX_WIDTH])[0];
                for range in [0..1, 1..7, 7..43] {
                    let scale = largest(scalar[range.clone()].iter().copied());
                    let wrong = largest(range.map(|k| wide[i][k] - scalar[k]));
                    assert!(wrong <= 1e-10 * scale, "{name}: {wrong:e} of {scale:e} at {:?}", strains[i]);
                }
                let (_, alone) = arch.dispatch(OnRegisters(law, &[strains[i]; MAX_WIDTH]));
                assert_eq!(wide[i].map(f64::to_bits), alone[0].map(f64::to_bits), "{name}");
            }
        }
    }
    each_law!(check);
    check("plate, neo-hookean", &PlaneStress(neo_hookean()));
    check("bar, mooney-rivlin", &Uniaxial(mooney_rivlin()));
}
