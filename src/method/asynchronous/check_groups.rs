//! Who is checked for contact when: nodes, or edges, with the same step together.
//!
//! All begin at tick zero, so equal steps fall on equal ticks for ever and a check group needs one place in the queue however many
//! members it has. Steps that follow speeds drift apart: then everybody is a check group of his own.
//!
//! **Order.** At one tick check groups go by their step, the members of a check group by their number.

use std::ops::Range;

#[derive(Clone, Debug)]
pub(crate) struct CheckGroup {
    /// Time between two contact checks, or the longest if it follows the speed [ticks].
    pub step: u64,
    pub next: u64,
    /// Its members in the list they are members of.
    pub members: Range<u32>,
    /// Those of them that can meet somebody before somebody looks again.
    pub active: Range<u32>,
    /// Those of them that can touch obstacles until then.
    pub beside_obstacles: Range<u32>,
}

/// Check groups of a list that is sorted by step; `alone` if everybody is checked at times of his own.
pub(crate) fn check_groups(steps: &[u64], alone: bool) -> Vec<CheckGroup> {
    let mut check_groups: Vec<CheckGroup> = Vec::new();
    for (i, &step) in (0..).zip(steps) {
        match check_groups.last_mut() {
            Some(check_group) if !alone && check_group.step == step => check_group.members.end = i + 1,
            _ => check_groups.push(CheckGroup {
                step,
                next: 0,
                members: i..i + 1,
                active: 0..0,
                beside_obstacles: 0..0,
            }),
        }
    }
    check_groups
}

/// Whom each member of a list may meet, until somebody looks again.
#[derive(Debug, Default)]
pub(crate) struct Near {
    /// Those of member i are `ids[start[i]..start[i + 1]]`, ascending.
    start: Vec<u32>,
    ids: Vec<u32>,
    /// Members that may meet somebody, and those that may touch obstacles, group after group.
    active: Vec<u32>,
    beside_obstacles: Vec<u32>,
}

/// A list that is nearly full gets room for twice as many: the next ones are about as long, and shall need no memory.
pub(crate) fn leave_room<T>(list: &mut Vec<T>) {
    if 4 * list.len() > 3 * list.capacity() {
        list.reserve(list.len());
    }
}

impl Near {
    pub(crate) fn memory_bytes(&self) -> usize {
        let lists = [&self.ids, &self.start, &self.active, &self.beside_obstacles];
        lists.map(|list| size_of::<u32>() * list.capacity()).iter().sum()
    }

    /// Makes the lists of so many members anew, out of `pairs` of a member and whom it may meet; `also` tells who is active though
    /// there is nobody, and who may touch obstacles.
    pub(crate) fn renew(
        &mut self,
        check_groups: &mut [CheckGroup],
        members: usize,
        pairs: impl Iterator<Item = [u32; 2]> + Clone,
        mut also: impl FnMut(usize) -> [bool; 2],
    ) {
        let Near { start, ids, active, beside_obstacles } = self;
        // each begins where the one before ends; while they fill, `start[i + 1]` is the next free place of i
        start.clear();
        start.resize(members + 2, 0);
        pairs.clone().for_each(|[i, _]| start[i as usize + 2] += 1);
        for i in 2..start.len() {
            start[i] += start[i - 1];
        }
        ids.clear();
        ids.resize(start[members + 1] as usize, 0);
        leave_room(ids);
        for [i, id] in pairs {
            let free = &mut start[i as usize + 1];
            ids[*free as usize] = id;
            *free += 1;
        }
        active.clear();
        beside_obstacles.clear();
        active.reserve(members);
        beside_obstacles.reserve(members);
        for check_group in check_groups {
            let first = [active.len() as u32, beside_obstacles.len() as u32];
            for i in check_group.members.clone() {
                let mine = start[i as usize] as usize..start[i as usize + 1] as usize;
                let [is_active, is_beside] = also(i as usize);
                if is_active || is_beside || !mine.is_empty() {
                    active.push(i);
                }
                if is_beside {
                    beside_obstacles.push(i);
                }
                if mine.len() > 1 {
                    ids[mine].sort_unstable();
                }
            }
            check_group.active = first[0]..active.len() as u32;
            check_group.beside_obstacles = first[1]..beside_obstacles.len() as u32;
        }
    }

    #[inline]
    pub(crate) fn of(&self, member: usize) -> &[u32] {
        &self.ids[self.start[member] as usize..self.start[member + 1] as usize]
    }

    pub(crate) fn active(&self, check_group: &CheckGroup) -> &[u32] {
        &self.active[check_group.active.start as usize..check_group.active.end as usize]
    }

    pub(crate) fn beside_obstacles(&self, check_group: &CheckGroup) -> &[u32] {
        let mine = &check_group.beside_obstacles;
        &self.beside_obstacles[mine.start as usize..mine.end as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_steps_share_a_ring_unless_they_follow_speeds() {
        let steps = [3, 3, 3, 5, 8, 8];
        let together = check_groups(&steps, false);
        assert_eq!(together.iter().map(|r| r.members.clone()).collect::<Vec<_>>(), [0..3, 3..4, 4..6]);
        assert_eq!(check_groups(&steps, true).len(), 6);
    }

    #[test]
    fn only_those_who_may_meet_somebody_are_active() {
        let mut all = check_groups(&[1, 1, 1, 2, 2], false);
        let mut near = Near::default();
        for _ in 0..2 {
            let met = [[3, 2], [1, 0], [3, 0], [3, 1]];
            near.renew(&mut all, 5, met.into_iter(), |i| [i == 4, i == 0]);
            assert_eq!((near.active(&all[0]), near.beside_obstacles(&all[0])), (&[0, 1][..], &[0][..]));
            assert_eq!(near.active(&all[1]), [3, 4]);
            assert_eq!((near.of(1), near.of(2), near.of(3)), (&[0][..], &[][..], &[0, 1, 2][..]));
        }
    }
}
