//! Lists of varying length in one array.

use std::ops::Range;

/// `items[start[i]..start[i + 1]]` belongs to `i`.
#[derive(Clone, Debug, PartialEq)]
pub struct Lists<T = u32> {
    start: Vec<u32>,
    pub items: Vec<T>,
}

impl<T> Default for Lists<T> {
    fn default() -> Self {
        Lists { start: vec![0], items: Vec::new() }
    }
}

impl<T: Copy> Lists<T> {
    /// From pairs (owner below `owners`, item): the items of an owner stay in the order in which they come.
    pub fn new(owners: usize, pairs: impl Iterator<Item = (u32, T)> + Clone) -> Lists<T> {
        let mut start = vec![0u32; owners + 1];
        for (owner, _) in pairs.clone() {
            start[owner as usize + 1] += 1;
        }
        for i in 0..owners {
            start[i + 1] += start[i];
        }
        let Some((_, any)) = pairs.clone().next() else { return Lists { start, items: Vec::new() } };
        let mut next = start.clone();
        let mut items = vec![any; start[owners] as usize];
        for (owner, item) in pairs {
            let at = &mut next[owner as usize];
            items[*at as usize] = item;
            *at += 1;
        }
        Lists { start, items }
    }

    /// Takes all owners out.
    pub fn clear(&mut self) {
        self.start.truncate(1);
        self.items.clear();
    }

    /// One more owner: of everything that was added to `items` since the last one.
    pub fn close(&mut self) {
        self.start.push(self.items.len() as u32);
    }

    /// Where the items of `i` stand; nowhere if there is no such owner.
    #[inline(always)]
    pub fn range(&self, i: u32) -> Range<usize> {
        match self.start.get(i as usize + 1) {
            Some(&end) => self.start[i as usize] as usize..end as usize,
            None => 0..0,
        }
    }

    #[inline(always)]
    pub fn of(&self, i: u32) -> &[T] {
        &self.items[self.range(i)]
    }

    /// How many owners there are.
    pub fn len(&self) -> usize {
        self.start.len() - 1
    }

    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    pub fn bytes(&self) -> usize {
        4 * self.start.len() + size_of::<T>() * self.items.len()
    }
}

impl<T: Copy + Ord> Lists<T> {
    /// The same with the items of an owner ascending and each once.
    pub fn sorted(owners: usize, mut pairs: Vec<(u32, T)>) -> Lists<T> {
        pairs.sort_unstable();
        pairs.dedup();
        Lists::new(owners, pairs.into_iter())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everybody_gets_his_items_in_their_order() {
        let pairs = [(2, 'c'), (0, 'z'), (2, 'a'), (2, 'c'), (0, 'b')];
        let lists = Lists::new(4, pairs.iter().copied());
        assert_eq!([0, 1, 2, 3, 4].map(|i| lists.of(i)), [&['z', 'b'][..], &[], &['c', 'a', 'c'], &[], &[]]);
        assert_eq!((lists.range(2), lists.len()), (2..5, 4));
        let sorted = Lists::sorted(4, pairs.to_vec());
        assert_eq!([0, 1, 2, 3].map(|i| sorted.of(i)), [&['b', 'z'][..], &[], &['a', 'c'], &[]]);
        assert!(Lists::<u32>::new(3, std::iter::empty()).is_empty());
    }
}
