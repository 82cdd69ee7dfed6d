//! Sets that are joined and never parted.

/// Who belongs together with whom; the lowest member stands for its set.
#[derive(Clone, Debug, Default)]
pub struct Sets {
    /// Leads towards the lowest member.
    towards: Vec<u32>,
}

impl Sets {
    /// Everybody alone.
    pub fn reset(&mut self, count: usize) {
        self.towards.clear();
        self.towards.extend(0..count as u32);
    }

    /// One more, alone; returns its number.
    pub fn push(&mut self) -> u32 {
        self.towards.push(self.towards.len() as u32);
        self.towards.len() as u32 - 1
    }

    /// Takes some out again, each alone. Nobody of their sets may be left in.
    pub fn separate(&mut self, members: &[u32]) {
        members.iter().for_each(|&k| self.towards[k as usize] = k);
    }

    pub fn len(&self) -> usize {
        self.towards.len()
    }

    pub fn is_empty(&self) -> bool {
        self.towards.is_empty()
    }

    /// Who stands for the set of `at`.
    #[inline]
    pub fn lowest(&self, mut at: u32) -> u32 {
        while self.towards[at as usize] != at {
            at = self.towards[at as usize];
        }
        at
    }

    /// The same, and the way there is half as long the next time.
    #[inline]
    pub fn find(&mut self, mut at: u32) -> u32 {
        while self.towards[at as usize] != at {
            let up = self.towards[self.towards[at as usize] as usize];
            self.towards[at as usize] = up;
            at = up;
        }
        at
    }

    /// Makes one set of those of `a` and `b`; returns who stands for it.
    #[inline]
    pub fn join(&mut self, a: u32, b: u32) -> u32 {
        let (a, b) = (self.find(a), self.find(b));
        self.towards[a.max(b) as usize] = a.min(b);
        a.min(b)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_stands_for_all_in_whatever_order_they_are_joined() {
        let mut sets = Sets::default();
        sets.reset(6);
        sets.join(5, 3);
        sets.join(4, 5);
        assert_eq!([0, 1, 2, 3, 4, 5].map(|k| sets.lowest(k)), [0, 1, 2, 3, 3, 3]);
        assert_eq!(sets.join(4, 1), 1);
        assert_eq!([3, 4, 5].map(|k| sets.find(k)), [1; 3]);
        sets.separate(&[1, 3, 4, 5]);
        assert_eq!([0, 1, 2, 3, 4, 5].map(|k| sets.lowest(k)), [0, 1, 2, 3, 4, 5]);
        assert_eq!((sets.push(), sets.len()), (6, 7));
    }
}
