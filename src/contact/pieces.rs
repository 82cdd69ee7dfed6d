//! Work cut into pieces, and what they have found put together in their order: threads change nothing. All memory is kept.

/// The places of some parts of `list`, which grows if there are too few.
pub(super) fn first<T: Default>(list: &mut Vec<T>, count: usize) -> &mut [T] {
    if list.len() < count {
        list.resize_with(count, T::default);
    }
    &mut list[..count]
}

/// The only part writes where the results stay, into memory that was in use a step ago.
pub(super) fn lend<T: Copy, P>(parts: &mut [P], of: impl Fn(&mut P) -> &mut Vec<T>, to: &mut Vec<T>) {
    if let [one] = parts {
        std::mem::swap(of(one), to);
    }
}

/// Puts the results of parts together, in order; takes back what was lent.
pub(super) fn join<T, P>(parts: &mut [P], of: impl Fn(&mut P) -> &mut Vec<T> + Sync, to: &mut Vec<T>)
where
    T: Copy + Send + Sync,
    P: Send,
{
    if let [one] = parts {
        to.clear();
        return std::mem::swap(of(one), to);
    }
    behind(parts, of, 0, to);
}

/// Puts the results of parts behind what stands in `to`, in order.
pub(super) fn append<T, P>(parts: &mut [P], of: impl Fn(&mut P) -> &mut Vec<T> + Sync, to: &mut Vec<T>)
where
    T: Copy + Send + Sync,
    P: Send,
{
    behind(parts, of, to.len(), to);
}

/// The same behind the first `from` of `to`; what else stands there is overwritten.
fn behind<T, P>(parts: &mut [P], of: impl Fn(&mut P) -> &mut Vec<T> + Sync, from: usize, to: &mut Vec<T>)
where
    T: Copy + Send + Sync,
    P: Send,
{
    let count: usize = parts.iter_mut().map(|p| of(p).len()).sum();
    let Some(&any) = parts.iter_mut().find_map(|p| of(p).first()) else { return to.truncate(from) };
    to.resize(from + count, any);
    copy_all(parts, &of, &mut to[from..]);
}

/// Copies what parts hold to `to`, one after the other, by as many threads as there are.
fn copy_all<T, P>(parts: &mut [P], of: &(impl Fn(&mut P) -> &mut Vec<T> + Sync), to: &mut [T])
where
    T: Copy + Send + Sync,
    P: Send,
{
    match parts {
        [] => {}
        [one] => to.copy_from_slice(of(one)),
        _ => {
            let (first, second) = parts.split_at_mut(parts.len() / 2);
            let (to_first, to_second) = to.split_at_mut(first.iter_mut().map(|p| of(p).len()).sum());
            rayon::join(|| copy_all(first, of, to_first), || copy_all(second, of, to_second));
        }
    }
}
