//! Do two triangles share a point? Decided exactly: the certifier behind `guard`.
//!
//! Only signs of determinants enter (Shewchuk's adaptive predicates, crate `robust`), so the answer is that of
//! exact arithmetic on the given positions. Features are closed: touching counts, at a corner as well.
//! Triangles may be coplanar, needles, or without area.
//!
//! The guarantee ends where products of three coordinates underflow or overflow (below 1e-100 or above 1e100,
//! say). Boxes are compared first, without rounding. What is not a number overlaps everything.

use crate::math::Vec3;
use robust::{Coord, Coord3D, orient2d, orient3d};

/// Do the triangles share a point?
pub fn triangle_triangle(a: &[Vec3; 3], b: &[Vec3; 3]) -> bool {
    if !finite(a) || !finite(b) {
        return true;
    }
    if !boxes_meet(a, b) {
        return false;
    }
    let above = |t: &[Vec3; 3], x: &Vec3| side(&t[0], &t[1], &t[2], x);
    let (of_b, of_a) = (b.map(|x| above(a, &x)), a.map(|x| above(b, &x)));
    if apart(&of_b) || apart(&of_a) {
        return false;
    }
    // Where two triangles meet, an edge of one meets the other.
    (0..3).any(|k| crosses([&a[k], &a[(k + 1) % 3]], [of_a[k], of_a[(k + 1) % 3]], b))
        || (0..3).any(|k| crosses([&b[k], &b[(k + 1) % 3]], [of_b[k], of_b[(k + 1) % 3]], a))
}

/// Do the segments p–q and r–s share a point?
pub(crate) fn segment_segment(p: &Vec3, q: &Vec3, r: &Vec3, s: &Vec3) -> bool {
    if !finite(&[*p, *q, *r, *s]) {
        return true;
    }
    let pair = [[p, q], [r, s]];
    if !boxes_meet(&[*p, *q], &[*r, *s]) || side(p, q, r, s) != 0 {
        return false;
    }
    // In a plane: look at it along an axis that does not lie in it.
    let corners = [p, q, r, s];
    let seen =
        |drop: usize| (0..4).any(|k| turn(drop, corners[k], corners[(k + 1) % 4], corners[(k + 2) % 4]) != 0);
    match (0..3).find(|&drop| seen(drop)) {
        Some(drop) => {
            let ends = |[a, b]: [&Vec3; 2], [c, d]: [&Vec3; 2]| turn(drop, a, b, c) * turn(drop, a, b, d);
            ends(pair[0], pair[1]) <= 0 && ends(pair[1], pair[0]) <= 0
        }
        // On one line the boxes decide, and they meet.
        None => true,
    }
}

/// Segment against triangle, given the sides of its ends.
fn crosses([p, q]: [&Vec3; 2], ends: [i32; 2], t: &[Vec3; 3]) -> bool {
    if ends[0] * ends[1] > 0 {
        return false;
    }
    if ends == [0, 0] {
        return in_plane(p, q, t);
    }
    // The line meets the plane in one point; it is inside if the line passes all edges on one side.
    let around = [0, 1, 2].map(|k| side(p, q, &t[k], &t[(k + 1) % 3]));
    !(around.contains(&1) && around.contains(&-1))
}

/// Segment in the plane of the triangle; or a triangle without area, which spans no plane.
fn in_plane(p: &Vec3, q: &Vec3, t: &[Vec3; 3]) -> bool {
    if (0..3).any(|k| segment_segment(p, q, &t[k], &t[(k + 1) % 3])) {
        return true;
    }
    // No edge is met: all inside or all outside.
    (0..3).find(|&drop| turn(drop, &t[0], &t[1], &t[2]) != 0).is_some_and(|drop| {
        let around = [0, 1, 2].map(|k| turn(drop, &t[k], &t[(k + 1) % 3], p));
        around == [1; 3] || around == [-1; 3]
    })
}

fn apart(sides: &[i32; 3]) -> bool {
    *sides == [1; 3] || *sides == [-1; 3]
}

fn finite(x: &[Vec3]) -> bool {
    x.iter().all(|p| p.iter().all(|v| v.is_finite()))
}

fn boxes_meet(a: &[Vec3], b: &[Vec3]) -> bool {
    let range = |x: &[Vec3], i: usize| {
        x.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), p| (lo.min(p[i]), hi.max(p[i])))
    };
    (0..3).all(|i| {
        let ((a_lo, a_hi), (b_lo, b_hi)) = (range(a, i), range(b, i));
        a_lo <= b_hi && b_lo <= a_hi
    })
}

fn sign(x: f64) -> i32 {
    (x > 0.0) as i32 - (x < 0.0) as i32
}

/// Side of `x` with respect to the plane a b c: 1, −1, or 0 in the plane. The name of the sides is arbitrary.
fn side(a: &Vec3, b: &Vec3, c: &Vec3, x: &Vec3) -> i32 {
    let coord = |p: &Vec3| Coord3D { x: p.x, y: p.y, z: p.z };
    sign(orient3d(coord(a), coord(b), coord(c), coord(x)))
}

/// Sense of the turn a → b → c, seen along the axis `drop`.
fn turn(drop: usize, a: &Vec3, b: &Vec3, c: &Vec3) -> i32 {
    let coord = |p: &Vec3| Coord { x: p[(drop + 1) % 3], y: p[(drop + 2) % 3] };
    sign(orient2d(coord(a), coord(b), coord(c)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contact::dice::Dice;

    /// Integer vectors: every determinant below is exact.
    type Whole = [i128; 3];

    fn whole(x: &Vec3) -> Whole {
        [x.x as i128, x.y as i128, x.z as i128]
    }

    fn sub(a: &Whole, b: &Whole) -> Whole {
        [0, 1, 2].map(|k| a[k] - b[k])
    }

    fn cross(a: &Whole, b: &Whole) -> Whole {
        [0, 1, 2].map(|k| a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3])
    }

    fn dot(a: &Whole, b: &Whole) -> i128 {
        a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
    }

    /// Disjoint triangles are strictly parted across their shortest connection, which runs between a corner
    /// and a face, two edges, a corner and an edge, or two corners. All of these directions, in integers.
    fn parted(a: &[Vec3; 3], b: &[Vec3; 3]) -> bool {
        let (a, b) = (a.map(|x| whole(&x)), b.map(|x| whole(&x)));
        let edges = |t: &[Whole; 3]| [sub(&t[1], &t[0]), sub(&t[2], &t[1]), sub(&t[0], &t[2])];
        let (ea, eb) = (edges(&a), edges(&b));
        let mut directions = vec![cross(&ea[0], &ea[1]), cross(&eb[0], &eb[1])];
        for i in 0..3 {
            for j in 0..3 {
                let between = sub(&a[i], &b[j]);
                directions.extend([cross(&ea[i], &eb[j]), between]);
                for k in 0..3 {
                    directions.push(cross(&ea[k], &cross(&ea[k], &between)));
                    directions.push(cross(&eb[k], &cross(&eb[k], &between)));
                }
            }
        }
        directions.iter().any(|n| {
            let range = |t: &[Whole; 3]| {
                let s = t.map(|x| dot(n, &x));
                (s[0].min(s[1]).min(s[2]), s[0].max(s[1]).max(s[2]))
            };
            let ((a_lo, a_hi), (b_lo, b_hi)) = (range(&a), range(&b));
            a_hi < b_lo || b_hi < a_lo
        })
    }

    fn grid_triangle(dice: &mut Dice, n: i64) -> [Vec3; 3] {
        let mut t = [dice.grid(n), dice.grid(n), dice.grid(n)];
        match dice.below(12) {
            0 => t[2] = t[1],
            1 => t[2] = 2.0 * t[1] - t[0],
            2 => t = [t[0]; 3],
            3 | 4 => t.iter_mut().for_each(|x| x.z = 0.0),
            _ => {}
        }
        t
    }

    #[test]
    fn triangles_on_a_grid_meet_exactly_when_no_plane_parts_them() {
        let mut dice = Dice(31);
        let (mut met, mut not) = (0, 0);
        for trial in 0..60_000 {
            let n = [1, 2, 3, 6, 50][trial % 5];
            let (a, b) = (grid_triangle(&mut dice, n), grid_triangle(&mut dice, n));
            let meet = triangle_triangle(&a, &b);
            assert_eq!(meet, !parted(&a, &b), "{a:?} {b:?}");
            assert_eq!(meet, triangle_triangle(&b, &[a[2], a[0], a[1]]));
            if meet { met += 1 } else { not += 1 }
        }
        assert!(met > 10_000 && not > 10_000, "{met} {not}");
    }

    /// The same on grids that are scaled and moved without rounding, and for segments.
    #[test]
    fn segments_and_triangles_meet_alike_near_and_far_from_the_origin() {
        let mut dice = Dice(32);
        for trial in 0..30_000 {
            let n = [1, 2, 4, 20][trial % 4];
            let t = grid_triangle(&mut dice, n);
            let (p, q) = (dice.grid(n), dice.grid(n));
            let meet = triangle_triangle(&[p, q, q], &t);
            assert_eq!(meet, !parted(&[p, q, q], &t), "{p:?} {q:?} {t:?}");
            let (r, s) = (t[0], t[1]);
            assert_eq!(segment_segment(&p, &q, &r, &s), !parted(&[p, q, q], &[r, s, s]));

            let scale = 2f64.powi([-90, 60, -30][trial % 3]);
            let offset = dice.grid(1 << 40);
            let there = |x: &Vec3| scale * (x + offset);
            let far = t.map(|x| there(&x));
            assert_eq!(triangle_triangle(&[p, q, q].map(|x| there(&x)), &far), meet);
        }
    }

    /// A corner on a face, an edge or a corner touches; one ulp above it does not.
    #[test]
    fn one_ulp_decides_between_touching_and_not() {
        let e = |x: f64, y: f64, z: f64| Vec3::new(x, y, z);
        let floor = [e(0.0, 0.0, 1.0), e(3.0, 0.0, 1.0), e(0.0, 3.0, 1.0)];
        for (x, y) in [(0.5, 0.7), (1.5, 1.5), (0.0, 1.1), (3.0, 0.0), (0.0, 0.0)] {
            let tip = |z: f64| [e(x, y, z), e(x + 1.0, y, 2.0), e(x, y + 1.0, 3.0)];
            assert!(triangle_triangle(&floor, &tip(1.0)));
            assert!(!triangle_triangle(&floor, &tip(1f64.next_up())));
        }
    }

    #[test]
    fn a_triangle_inside_another_in_one_plane_meets_it() {
        let e = |x: f64, y: f64| Vec3::new(x, y, x + 2.0 * y);
        let outer = [e(0.0, 0.0), e(8.0, 0.0), e(0.0, 8.0)];
        let inner = [e(1.0, 1.0), e(2.0, 1.0), e(1.0, 2.0)];
        let beside = [e(5.0, 4.0), e(8.0, 1.0), e(6.0, 6.0)];
        assert!(triangle_triangle(&outer, &inner) && triangle_triangle(&inner, &outer));
        assert!(!triangle_triangle(&outer, &beside));
    }

    #[test]
    fn what_is_not_a_number_overlaps_everything() {
        let here = [Vec3::zeros(), Vec3::x(), Vec3::y()];
        for bad in [f64::NAN, f64::INFINITY] {
            let lost = [Vec3::new(9.0, bad, 9.0), Vec3::new(9.0, 9.0, 9.0), Vec3::new(8.0, 9.0, 9.0)];
            assert!(triangle_triangle(&here, &lost) && triangle_triangle(&lost, &here));
            assert!(segment_segment(&here[0], &here[1], &lost[0], &lost[1]));
        }
    }
}
