//! One contact, whatever touched whatever.
//!
//! Every narrow-phase check ends in the same shape: a few points (nine at most), the weights that tie
//! them together, a unit normal and a gap.
//!
//! | touch         | points         | weights                    |
//! |---------------|----------------|----------------------------|
//! | node–node     | p, a           | 1, −1                      |
//! | node–segment  | p, a, b        | 1, −(1−s), −s              |
//! | node–triangle | p, a, b, c     | 1, −β₁, −β₂, −β₃           |
//! | node–quad     | p, a…d         | 1, −N₁ … −N₄               |
//! | edge–edge     | a, b, c, d     | 1−s, s, −(1−t), −t         |
//! | node–obstacle | p; outer point | 1; −1                      |
//! | obstacle–facet | a…d; outer point | N₁ … N₄; −1             |
//! | edge–obstacle | a, b; outer point | 1−s, s; −1              |
//! | node–element  | p, a…h         | 1, −N₁ … −N₈               |
//!
//! The gap vector is `h = Σ wₖ xₖ − y`, the relative velocity `u = Σ wₖ vₖ − v_y`; `y`, `v_y` belong to the
//! outer point of a rigid obstacle and are absent otherwise. The gap of a surface pair is `g = n·h`; a node
//! inside an element has `h = 0` and `g = −depth`, so the gap is kept as a field. Its gradient at point k
//! is `wₖ n` at touch.
//!
//! **Sign.** `g > 0` is open, `g < 0` is overlap; `n` points to the side with positive weights.
//!
//! Made from `contact::closest_point`, read by every file in `method/`, which bring their own responses.

use crate::math::Vec3;

/// Points of the largest stencil: a node and the eight of a hexahedron.
pub(crate) const MAX_POINTS: usize = 9;

/// Stands for a body that is not known.
pub(crate) const NOBODY: u32 = u32::MAX;

/// What touched what; the order in which pairs of different kinds stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    NodeFace,
    EdgeEdge,
    NodeElement,
}

/// Identity of a contact: the same two things touching one step later have the same key. Pairs are
/// sorted by it, and warm starts find their old values by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    pub kind: Kind,
    /// The node, or the first edge.
    pub first: u32,
    /// The facet, edge or element it touches; a node if it has no facet.
    pub second: u32,
}

/// Which face of a surface is touched. Solids have a front only; a shell has both, and the normal of the
/// pair already points to the side named here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Side {
    Front,
    Back,
}

impl Side {
    /// Along (1) or against (−1) the normal of the face.
    #[inline]
    pub fn sign(self) -> f64 {
        match self {
            Side::Front => 1.0,
            Side::Back => -1.0,
        }
    }
}

/// The touched point of a rigid obstacle: weight −1, no inverse mass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outer {
    /// Position [m].
    pub position: Vec3,
    /// Velocity [m/s].
    pub velocity: Vec3,
}

/// Two material points that meet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair {
    pub(crate) points: [u32; MAX_POINTS],
    pub(crate) count: u8,
    pub side: Side,
    pub key: Key,
    /// Of the first and of the second feature; `NOBODY` if whoever made the pair did not know.
    pub bodies: [u32; 2],
    pub(crate) weights: [f64; MAX_POINTS],
    /// Unit normal, towards the points with positive weights.
    pub normal: Vec3,
    /// Gap [m]: positive when open.
    pub gap: f64,
    pub outer: Option<Outer>,
    /// The node came through this face, whatever is nearer now: the normal is that of the face.
    pub through: bool,
    /// Of a crossing: when they met, as a share of the step. Weights, normal and side are those of that instant and stay.
    pub met: Option<f64>,
    /// Friction coefficient [-].
    pub mu: f64,
    /// Restitution [-].
    pub e: f64,
}

impl Pair {
    /// Node `p` on a facet with some of the corners, weighted by its closest point.
    pub(crate) fn node_facet(p: u32, facet: u32, corners: &[u32], weights: &[f64], normal: Vec3) -> Pair {
        let mut pair = Pair::node_on(key(Kind::NodeFace, p, facet), [], [], normal);
        corners.iter().zip(weights).take(4).for_each(|(&k, &w)| pair.push(k, -w));
        pair
    }

    /// Node `p` in an element, at the image of the weights, `depth` below the surface (normal outwards).
    pub fn node_element<const N: usize>(
        p: u32,
        element: u32,
        nodes: [u32; N],
        weights: [f64; N],
        normal: Vec3,
        depth: f64,
    ) -> Pair {
        Pair::node_on(key(Kind::NodeElement, p, element), nodes, weights, normal).with_gap(-depth)
    }

    /// Node `p` on facet `facet` of a rigid obstacle.
    pub(crate) fn node_obstacle(p: u32, facet: u32, outer: Outer, normal: Vec3) -> Pair {
        let pair = Pair::node_on(key(Kind::NodeFace, p, facet), [], [], normal);
        Pair { outer: Some(outer), ..pair }
    }

    /// Node `node` of a rigid obstacle in facet `facet`, whose corners carry the weights; `normal` points from the
    /// obstacle into the facet's body.
    pub(crate) fn obstacle_facet(
        node: u32,
        facet: u32,
        corners: &[u32],
        weights: &[f64],
        outer: Outer,
        normal: Vec3,
    ) -> Pair {
        let mut pair = Pair { outer: Some(outer), ..Pair::empty(key(Kind::NodeFace, node, facet), normal) };
        corners.iter().zip(weights).take(4).for_each(|(&k, &w)| pair.push(k, w));
        pair
    }

    /// Edge `a b` at `s` on an edge of a rigid obstacle; `edges` are the two edges in their order, `normal` points
    /// from the obstacle to the edge.
    pub(crate) fn edge_obstacle(
        edges: [u32; 2],
        [a, b]: [u32; 2],
        s: f64,
        outer: Outer,
        normal: Vec3,
    ) -> Pair {
        let mut pair =
            Pair { outer: Some(outer), ..Pair::empty(key(Kind::EdgeEdge, edges[0], edges[1]), normal) };
        pair.push(a, 1.0 - s);
        pair.push(b, s);
        pair
    }

    /// Edge `first` from `a` to `b` at `s`, on edge `second` from `c` to `d` at `t`; `nodes = [a, b, c, d]`.
    pub fn edge_edge(first: u32, second: u32, nodes: [u32; 4], s: f64, t: f64, normal: Vec3) -> Pair {
        let mut pair = Pair::empty(key(Kind::EdgeEdge, first, second), normal);
        let weights = [1.0 - s, s, t - 1.0, -t];
        for (k, w) in nodes.into_iter().zip(weights) {
            pair.push(k, w);
        }
        pair
    }

    fn node_on<const N: usize>(key: Key, nodes: [u32; N], weights: [f64; N], normal: Vec3) -> Pair {
        const { assert!(N < MAX_POINTS) };
        let mut pair = Pair::empty(key, normal);
        pair.push(key.first, 1.0);
        for (k, w) in nodes.into_iter().zip(weights) {
            pair.push(k, -w);
        }
        pair
    }

    fn empty(key: Key, normal: Vec3) -> Pair {
        Pair {
            points: [0; MAX_POINTS],
            count: 0,
            side: Side::Front,
            key,
            bodies: [NOBODY; 2],
            weights: [0.0; MAX_POINTS],
            normal,
            gap: 0.0,
            outer: None,
            through: false,
            met: None,
            mu: 0.0,
            e: 0.0,
        }
    }

    fn push(&mut self, point: u32, weight: f64) {
        let k = usize::from(self.count);
        self.points[k] = point;
        self.weights[k] = weight;
        self.count += 1;
    }

    /// The same pair with gap `gap` [m].
    pub(crate) fn with_gap(self, gap: f64) -> Pair {
        Pair { gap, ..self }
    }

    /// The same pair with the gap its points have at positions `x`: `g = n·h`. Not for a node in an
    /// element, whose `h` is zero.
    pub fn measured(self, x: &[Vec3]) -> Pair {
        self.with_gap(self.normal.dot(&self.gap_vector(x)))
    }

    /// Its points, as indices and weights.
    #[inline]
    pub fn stencil(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        let count = usize::from(self.count);
        self.points[..count].iter().zip(&self.weights[..count]).map(|(&k, &w)| (k as usize, w))
    }

    /// Ids of its points.
    #[inline]
    pub fn points(&self) -> &[u32] {
        &self.points[..usize::from(self.count)]
    }

    /// To number its points anew.
    #[inline]
    pub(crate) fn points_mut(&mut self) -> &mut [u32] {
        &mut self.points[..usize::from(self.count)]
    }

    /// Weights of its points.
    #[inline]
    pub fn weights(&self) -> &[f64] {
        &self.weights[..usize::from(self.count)]
    }

    /// Gap vector `h = Σ wₖ xₖ − y` [m].
    #[inline]
    pub(crate) fn gap_vector(&self, x: &[Vec3]) -> Vec3 {
        let y = self.outer.map_or(Vec3::zeros(), |outer| outer.position);
        self.stencil().fold(-y, |h, (k, w)| h + w * x[k])
    }

    /// Relative velocity `u = Σ wₖ vₖ − v_y` [m/s]; `n·u < 0` is approach.
    #[inline]
    pub fn relative_velocity(&self, v: &[Vec3]) -> Vec3 {
        let v_y = self.outer.map_or(Vec3::zeros(), |outer| outer.velocity);
        self.stencil().fold(-v_y, |u, (k, w)| u + w * v[k])
    }
}

fn key(kind: Kind, first: u32, second: u32) -> Key {
    Key { kind, first, second }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contact::closest_point::{edge_edge, quad4, seg2, tri3};
    use crate::contact::dice::Dice;

    /// Moves every point of `pair` along every axis and compares the change of the signed distance
    /// `g(x)`, everything recomputed, with `wₖ n`. Central differences: error O(ε²) + round-off/ε.
    fn gradient_is_weight_times_normal(pair: &Pair, x: &[Vec3], g: impl Fn(&[Vec3]) -> f64) {
        let eps = 1e-5;
        for (k, w) in pair.stencil() {
            for axis in 0..3 {
                let at = |step: f64| {
                    let mut moved = x.to_vec();
                    moved[k][axis] += step;
                    g(&moved)
                };
                let slope = (at(eps) - at(-eps)) / (2.0 * eps);
                assert!((slope - w * pair.normal[axis]).abs() <= 1e-8, "point {k} axis {axis}: {slope}");
            }
        }
    }

    fn signed(h: Vec3, n: Vec3) -> f64 {
        h.norm().copysign(h.dot(&n))
    }

    #[test]
    fn at_touch_the_gap_of_a_node_on_a_triangle_changes_by_weight_times_normal() {
        let mut dice = Dice(11);
        for _ in 0..100 {
            let mut x = vec![Vec3::zeros(), dice.point(1.0), dice.point(1.0), dice.point(1.0)];
            let (u, v) = (dice.between(0.1, 0.4), dice.between(0.1, 0.4));
            let n = (x[2] - x[1]).cross(&(x[3] - x[1]));
            if n.norm() < 0.3 {
                continue;
            }
            let n = n.normalize();
            x[0] = (1.0 - u - v) * x[1] + u * x[2] + v * x[3];
            let weights = tri3(&x[0], &x[1], &x[2], &x[3]).weights;
            let pair = Pair::node_facet(0, 0, &[1, 2, 3], &weights, n).measured(&x);
            assert!(pair.gap.abs() <= 1e-15);
            gradient_is_weight_times_normal(&pair, &x, |x| {
                signed(x[0] - tri3(&x[0], &x[1], &x[2], &x[3]).point, n)
            });
        }
    }

    #[test]
    fn at_touch_the_gap_of_a_node_on_a_warped_quad_changes_by_weight_times_normal() {
        let mut dice = Dice(12);
        for _ in 0..100 {
            let square = [[0.0, 0.0], [-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]];
            let mut x: Vec<Vec3> =
                square.iter().map(|p| Vec3::new(p[0], p[1], 0.0) + dice.point(0.2)).collect();
            let corners = |x: &[Vec3]| [x[1], x[2], x[3], x[4]];
            let (xi, eta) = (dice.between(-0.8, 0.8), dice.between(-0.8, 0.8));
            let a = (1.0 - eta) * (x[2] - x[1]) + (1.0 + eta) * (x[3] - x[4]);
            let b = (1.0 - xi) * (x[4] - x[1]) + (1.0 + xi) * (x[3] - x[2]);
            let n = a.cross(&b).normalize();
            let weights = crate::contact::closest_point::quad4_weights(xi, eta);
            x[0] = (0..4).map(|k| weights[k] * x[k + 1]).sum();
            let found = quad4(&x[0], &corners(&x));
            let pair = Pair::node_facet(0, 0, &[1, 2, 3, 4], &found.weights, n);
            gradient_is_weight_times_normal(&pair, &x, |x| signed(x[0] - quad4(&x[0], &corners(x)).point, n));
        }
    }

    #[test]
    fn at_touch_the_gap_of_edges_and_of_a_node_on_a_segment_changes_by_weight_times_normal() {
        let e = |x: f64, y: f64, z: f64| Vec3::new(x, y, z);
        let x = [e(-1.0, 0.25, 0.0), e(1.0, 0.25, 0.0), e(0.5, -1.0, -0.5), e(0.5, 1.5, 0.75)];
        // They cross where x = 1/2 and y = 1/4.
        let found = edge_edge(&x[0], &x[1], &x[2], &x[3]);
        let lift = found.p - found.q;
        let x = [x[0] - lift, x[1] - lift, x[2], x[3]];
        let n = (x[1] - x[0]).cross(&(x[3] - x[2])).normalize();
        let pair = Pair::edge_edge(0, 1, [0, 1, 2, 3], found.s, found.t, n);
        gradient_is_weight_times_normal(&pair, &x, |x| {
            let found = edge_edge(&x[0], &x[1], &x[2], &x[3]);
            signed(found.p - found.q, n)
        });

        let x = [e(0.3, 0.6, 0.0), e(0.0, 0.0, 0.0), e(1.0, 2.0, 0.0)];
        let n = e(2.0, -1.0, 0.0).normalize();
        let weights = seg2(&x[0], &x[1], &x[2]).weights;
        let pair = Pair::node_facet(0, 0, &[1, 2], &weights, n).measured(&x);
        gradient_is_weight_times_normal(&pair, &x, |x| (x[0] - seg2(&x[0], &x[1], &x[2]).point).dot(&n));
    }

    #[test]
    fn whatever_touches_moving_everything_together_opens_no_gap() {
        let n = Vec3::z();
        let pairs = [
            Pair::node_facet(0, 1, &[1], &[1.0], n),
            Pair::node_facet(0, 7, &[1, 2], &[0.25, 0.75], n),
            Pair::node_facet(0, 7, &[1, 2, 3], &[0.25, 0.25, 0.5], n),
            Pair::node_facet(0, 7, &[1, 2, 3, 4], &[0.125, 0.125, 0.25, 0.5], n),
            Pair::edge_edge(3, 4, [0, 1, 2, 3], 0.25, 0.5, n),
            Pair::node_element(0, 2, [1, 2, 3, 4, 5, 6, 7, 8], [0.125; 8], n, 0.1),
        ];
        let together = [Vec3::new(1.0, -2.0, 3.0); 9];
        for pair in pairs {
            assert_eq!(pair.relative_velocity(&together), Vec3::zeros(), "{:?}", pair.key.kind);
            assert_eq!(pair.weights().iter().sum::<f64>(), 0.0);
        }
        let outer = Outer { position: Vec3::zeros(), velocity: together[0] };
        let wall = Pair::node_obstacle(0, 0, outer, n);
        assert_eq!(wall.relative_velocity(&together), Vec3::zeros());
        assert_eq!(wall.points(), [0]);
    }

    /// Node 2 m above a plane that rises at 1 m/s, sinking at 3 m/s: g = 2 m, n·u = −4 m/s.
    #[test]
    fn a_node_above_a_rising_obstacle_is_open_and_approaches() {
        let outer = Outer { position: Vec3::new(5.0, 5.0, 1.0), velocity: Vec3::z() };
        let x = [Vec3::new(5.0, 5.0, 3.0)];
        let pair = Pair::node_obstacle(0, 0, outer, Vec3::z()).measured(&x);
        assert_eq!(pair.gap, 2.0);
        assert_eq!(pair.normal.dot(&pair.relative_velocity(&[-3.0 * Vec3::z()])), -4.0);
    }

    #[test]
    fn a_node_in_an_element_keeps_its_depth_although_its_points_coincide() {
        let x = [Vec3::new(0.25, 0.25, 0.25), Vec3::zeros(), Vec3::x(), Vec3::y(), Vec3::z()];
        let pair = Pair::node_element(0, 0, [1, 2, 3, 4], [0.25; 4], -Vec3::z(), 0.25);
        assert_eq!(pair.gap_vector(&x), Vec3::zeros());
        assert_eq!(pair.gap, -0.25);
    }

    #[test]
    fn pairs_stand_in_the_order_of_what_touches() {
        let n = Vec3::z();
        let mut pairs = [
            Pair::edge_edge(0, 1, [0, 1, 2, 3], 0.5, 0.5, n),
            Pair::node_facet(4, 2, &[1, 2, 3], &[1.0, 0.0, 0.0], n),
            Pair::node_facet(4, 1, &[5, 2, 3], &[1.0, 0.0, 0.0], n),
            Pair::node_facet(3, 9, &[5, 2, 7], &[1.0, 0.0, 0.0], n),
        ];
        pairs.sort_by_key(|pair| pair.key);
        let order: Vec<_> = pairs.iter().map(|pair| (pair.key.first, pair.key.second)).collect();
        assert_eq!(order, [(3, 9), (4, 1), (4, 2), (0, 1)]);
    }
}
