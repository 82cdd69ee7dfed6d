//! Impulses of contact since the start: on every node, and between any two bodies.
//!
//! Kept by every method with contact, read by probes.

use crate::math::Vec3;
use crate::model::record::{Record, RecordError};

#[derive(Clone, Debug, Default)]
pub struct Impulses {
    /// On each node [N s].
    pub received: Vec<Vec3>,
    /// Two bodies, the lower first, and the impulse on the first of them [N s]; sorted. Obstacles are counted after bodies.
    between: Vec<([u32; 2], Vec3)>,
    /// Whom the last impulse was between: neighbours mostly touch the same body.
    last: usize,
}

impl Impulses {
    pub fn new(nodes: usize) -> Impulses {
        Impulses { received: vec![Vec3::zeros(); nodes], ..Impulses::default() }
    }

    /// Counts an impulse on the first of two bodies, given by the second.
    pub fn add(&mut self, [a, b]: [u32; 2], on_first: Vec3) {
        let (key, on_first) = if a <= b { ([a, b], on_first) } else { ([b, a], -on_first) };
        if self.between.get(self.last).is_none_or(|p| p.0 != key) {
            self.last = self.between.binary_search_by_key(&key, |p| p.0).unwrap_or_else(|at| {
                self.between.insert(at, (key, Vec3::zeros()));
                at
            });
        }
        self.between[self.last].1 += on_first;
    }

    /// What body `b` has given to body `a` [N s].
    pub fn between(&self, a: u32, b: u32) -> Vec3 {
        let found = self.between.binary_search_by_key(&[a.min(b), a.max(b)], |p| p.0);
        let on_first = found.map_or(Vec3::zeros(), |i| self.between[i].1);
        if a <= b { on_first } else { -on_first }
    }

    /// All bodies that have touched, the lower first, and the impulse on the first of them [N s].
    pub fn pairs(&self) -> impl Iterator<Item = ([u32; 2], Vec3)> {
        self.between.iter().copied()
    }

    pub fn save(&self, method: &str, record: &mut Record) {
        let bodies: Vec<f64> = self.between.iter().flat_map(|p| p.0.map(f64::from)).collect();
        let impulses: Vec<Vec3> = self.between.iter().map(|p| p.1).collect();
        record.vectors(&format!("{method}.received"), &self.received);
        record.numbers(&format!("{method}.bodies"), &bodies);
        record.vectors(&format!("{method}.impulses"), &impulses);
    }

    pub fn restore(&mut self, method: &str, record: &Record) -> Result<(), RecordError> {
        record.read_vectors(&format!("{method}.received"), &mut self.received)?;
        let bodies = record.get(&format!("{method}.bodies"))?;
        let mut impulses = vec![Vec3::zeros(); bodies.len() / 2];
        record.read_vectors(&format!("{method}.impulses"), &mut impulses)?;
        let pairs = bodies.chunks_exact(2).map(|b| [b[0] as u32, b[1] as u32]);
        self.between = pairs.zip(impulses).collect();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Action and reaction, whoever is named first; what is saved comes back.
    #[test]
    fn what_one_body_gives_the_other_receives() {
        let mut impulses = Impulses::new(2);
        let (p, q) = (Vec3::new(1.0, 2.0, 3.0), Vec3::new(-0.5, 0.0, 4.0));
        impulses.add([3, 1], p);
        impulses.add([1, 3], q);
        impulses.add([0, 2], p);
        impulses.add([1, 3], q);
        impulses.received[1] = q;
        assert_eq!((impulses.between(3, 1), impulses.between(1, 3)), (p - q - q, q + q - p));
        assert_eq!((impulses.between(2, 0), impulses.between(0, 1)), (-p, Vec3::zeros()));
        let mut record = Record::default();
        impulses.save("any", &mut record);
        let mut again = Impulses::new(2);
        again.restore("any", &record).unwrap();
        assert_eq!((&again.received, &again.between), (&impulses.received, &impulses.between));
        assert!(Impulses::new(3).restore("any", &record).is_err());
    }
}
