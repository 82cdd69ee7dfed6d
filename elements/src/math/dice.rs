//! Reproducible random numbers (splitmix64): the same everywhere.

use super::Vec3;

pub struct Dice(pub u64);

impl Dice {
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// An integer in `0..n`.
    pub fn below(&mut self, n: u64) -> u64 {
        self.bits() % n
    }

    /// A number in [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (0.5 * f64::EPSILON)
    }

    /// A number in [lo, hi).
    pub fn between(&mut self, lo: f64, hi: f64) -> f64 {
        lo + (hi - lo) * self.unit()
    }

    /// A point of the cube [−r, r]³.
    pub fn point(&mut self, r: f64) -> Vec3 {
        Vec3::new(self.between(-r, r), self.between(-r, r), self.between(-r, r))
    }

    /// A point of the grid {−n … n}³.
    pub fn grid(&mut self, n: i64) -> Vec3 {
        Vec3::from_fn(|_, _| self.below((2 * n + 1) as u64) as f64 - n as f64)
    }
}
