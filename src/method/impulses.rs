//! Impulses of contact since the start: on every node, and between any two bodies; and those of the last step, one by one.
//!
//! Kept by every method with contact, read by probes and by whoever asks a simulation for its contacts.

use crate::contact::pair::{Key, Pair};
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
    /// What carried an impulse in the last step, in the order of the method; a contact that was answered several times stands
    /// there as often. Not part of a record.
    pub carried: Vec<Carried>,
}

/// A contact that carried an impulse.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Carried {
    /// What touched what, as the method counts: the same contact has the same numbers.
    pub id: [u32; 4],
    /// Obstacles are counted after bodies.
    pub bodies: [u32; 2],
    /// When [s]; only methods without a common step say so.
    pub time: f64,
    /// Where it was [m].
    pub point: Vec3,
    /// Unit normal, towards the first body.
    pub normal: Vec3,
    /// As the method found it [m]: negative for an overlap.
    pub gap: f64,
    /// On the first body [N s].
    pub impulse: Vec3,
}

impl Carried {
    /// A pair whose points stand at `x`, with the impulse `j` on the side with positive weights.
    pub(crate) fn by_pair(pair: &Pair, bodies: [u32; 2], x: impl Fn(usize) -> Vec3, j: Vec3) -> Carried {
        let on_positive = pair.stencil().filter(|(_, w)| *w > 0.0);
        let (point, normal) = centre(on_positive.map(|(k, w)| (w * pair.normal, x(k))));
        let Key { kind, first, second } = pair.key;
        Carried {
            id: [kind as u32, first, second, 0],
            bodies,
            time: 0.0,
            point,
            normal,
            gap: pair.gap,
            impulse: j,
        }
    }

    /// A contact that is known by the normal forces on nodes of its first body and where these are.
    pub(crate) fn by_nodes(
        id: [u32; 4],
        bodies: [u32; 2],
        nodes: impl Iterator<Item = (Vec3, Vec3)>,
        gap: f64,
        impulse: Vec3,
    ) -> Carried {
        let (point, normal) = centre(nodes);
        Carried { id, bodies, time: 0.0, point, normal, gap, impulse }
    }

    /// The same seen from the other body.
    pub fn turned(self) -> Carried {
        Carried { normal: -self.normal, impulse: -self.impulse, ..self }
    }
}

/// Where the resultant of forces acts that all point the same way, and which way.
fn centre(forces: impl Iterator<Item = (Vec3, Vec3)>) -> (Vec3, Vec3) {
    let (mut sum, mut force, mut moment) = (0.0, Vec3::zeros(), Vec3::zeros());
    for (f, x) in forces {
        sum += f.norm();
        force += f;
        moment += f.norm() * x;
    }
    (moment / sum, force.try_normalize(0.0).unwrap_or_default())
}

impl Impulses {
    pub fn new(nodes: usize) -> Impulses {
        Impulses { received: vec![Vec3::zeros(); nodes], ..Impulses::default() }
    }

    /// Forgets the contacts of the last step. Room stays for four times as many: where contacts come and go the time loop asks
    /// for no memory.
    pub(crate) fn forget(&mut self) {
        self.carried.reserve(3 * self.carried.len());
        self.carried.clear();
    }

    /// Counts a contact that carried an impulse.
    pub fn count(&mut self, carried: Carried) {
        self.add(carried.bodies, carried.impulse);
        self.carried.push(carried);
    }

    /// Counts an impulse on the first of two bodies, given by the second.
    fn add(&mut self, [a, b]: [u32; 2], on_first: Vec3) {
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
        record.vectors(&format!("{method}.received"), &self.received);
        record
            .numbers_from(&format!("{method}.bodies"), self.between.iter().flat_map(|p| p.0.map(f64::from)));
        record.vectors_from(&format!("{method}.impulses"), self.between.iter().map(|p| p.1));
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
