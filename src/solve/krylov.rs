//! GMRES with restarts, preconditioned from the right (Saad & Schultz 1986): the residual it minimises is the true one.
//!
//! For matrices whose symmetric part is known by its factors: with A = S + N and S definite, `A S⁻¹ = 1 + N S⁻¹` has its
//! spectrum around one, and a few directions are enough where N is small beside S.

use super::sparse::{FactorError, Matrix};

/// Directions kept before a restart, and restarts at most.
const DIRECTIONS: usize = 60;
const RESTARTS: usize = 3;
/// What is left of the right-hand side when a solution counts as found, unless told.
pub(crate) const TOLERANCE: f64 = 1e-12;

/// What was found.
pub(crate) struct Found {
    pub x: Vec<f64>,
    pub iterations: u32,
    pub converged: bool,
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn norm(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}

/// Solves `A x = b` until `left_of` b is left; `precondition` solves with the nearby matrix in place.
pub(crate) fn gmres(
    matrix: &Matrix,
    precondition: impl Fn(&mut [f64]) -> Result<(), FactorError>,
    b: &[f64],
    left_of: f64,
) -> Result<Found, FactorError> {
    let n = matrix.size;
    let mut found = Found { x: vec![0.0; n], iterations: 0, converged: false };
    let goal = left_of * norm(b);
    let (mut left, mut image) = (b.to_vec(), vec![0.0; n]);
    for _ in 0..RESTARTS {
        let size = norm(&left);
        if size <= goal {
            found.converged = true;
            return Ok(found);
        }
        if !size.is_finite() {
            return Ok(found);
        }
        left.iter_mut().for_each(|x| *x /= size);
        // orthonormal residual directions v, and their preconditioned images z
        let (mut v, mut z): (Vec<Vec<f64>>, Vec<Vec<f64>>) = (vec![left.clone()], Vec::new());
        let mut turned: Vec<Vec<f64>> = Vec::new();
        let mut rotations: Vec<(f64, f64)> = Vec::new();
        let mut g = vec![size];
        for k in 0..DIRECTIONS {
            let mut direction = v[k].clone();
            precondition(&mut direction)?;
            matrix.multiply(&direction, &mut image);
            z.push(direction);
            let mut h: Vec<f64> = Vec::with_capacity(k + 2);
            for v in &v {
                let along = dot(&image, v);
                image.iter_mut().zip(v).for_each(|(x, v)| *x -= along * v);
                h.push(along);
            }
            let rest = norm(&image);
            for (i, (c, s)) in rotations.iter().enumerate() {
                (h[i], h[i + 1]) = (c * h[i] + s * h[i + 1], -s * h[i] + c * h[i + 1]);
            }
            let r = h[k].hypot(rest);
            let (c, s) = if r > 0.0 { (h[k] / r, rest / r) } else { (1.0, 0.0) };
            h[k] = r;
            rotations.push((c, s));
            turned.push(h);
            g.push(-s * g[k]);
            g[k] *= c;
            found.iterations += 1;
            if g[k + 1].abs() <= 0.5 * goal || rest <= f64::EPSILON * r {
                break;
            }
            v.push(image.iter().map(|x| x / rest).collect());
        }
        // back substitution
        let m = turned.len();
        let mut y = vec![0.0; m];
        for i in (0..m).rev() {
            let sum: f64 = (i + 1..m).map(|j| turned[j][i] * y[j]).sum();
            y[i] = (g[i] - sum) / turned[i][i];
        }
        for (y, z) in y.iter().zip(&z) {
            found.x.iter_mut().zip(z).for_each(|(x, z)| *x += y * z);
        }
        matrix.multiply(&found.x, &mut image);
        left.iter_mut().zip(b).zip(&image).for_each(|((l, b), a)| *l = b - a);
    }
    found.converged = norm(&left) <= goal;
    Ok(found)
}
