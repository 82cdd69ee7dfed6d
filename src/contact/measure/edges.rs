//! Edges that cross: nearest points, common normal, gap.
//!
//! The plain case (solids of triangles) is computed for several pairs side by side,
//! by the operations of `closest_point::edge_edge` in their order: the bits are those of the scalar path,
//! which serves everything else.

use super::super::closest_point::{self, ENDS, NO_NORMAL, PARALLEL, SLENDER};
use super::super::scene::{Body, Edge, Scene};
use super::super::search::{EdgeEdge, Query};
use super::choose::Measured;
use super::normals::{Normals, unit, unit_of};
use super::sieve::{cross, dot, gather, minus};
use crate::math::Vec3;
use crate::math::lane::{Lane, MAX_WIDTH, OnLanes};

/// What is known of all pairs.
#[derive(Clone, Copy)]
pub(super) struct EdgeChooser<'a> {
    pub normals: Normals<'a>,
    pub before: Option<&'a [Vec3]>,
    pub query: &'a Query,
}

/// Pairs to measure, as keys in canonical order, and where the records go.
pub(super) struct MeasureEdges<'a> {
    pub chooser: EdgeChooser<'a>,
    pub keys: &'a [u64],
    pub out: &'a mut Vec<EdgeEdge>,
    /// Bodies of pairs that were.
    pub too_deep: &'a mut Vec<[u32; 2]>,
}

impl OnLanes for MeasureEdges<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lane>(self, token: L::Token) {
        let MeasureEdges { chooser, keys, out, too_deep } = self;
        let scene = chooser.normals.scene;
        let x = chooser.normals.x;
        for some in keys.chunks(L::WIDTH) {
            let edge = |l: usize, which: usize| {
                let key = some[l.min(some.len() - 1)];
                &scene.edges[[key >> 32, key & u64::from(u32::MAX)][which] as usize]
            };
            let end = |l: usize, which: usize, k: usize| x[edge(l, which).nodes[k] as usize];
            let found = cross_points::<L>([
                gather(token, |l| end(l, 0, 0)),
                gather(token, |l| end(l, 0, 1)),
                gather(token, |l| end(l, 1, 0)),
                gather(token, |l| end(l, 1, 1)),
                gather(token, |l| chooser.normals.sum_at(edge(l, 0))),
                gather(token, |l| chooser.normals.sum_at(edge(l, 1))),
            ]);
            let mut at = [[0.0; MAX_WIDTH]; FIELDS];
            for (field, to) in found.into_iter().zip(&mut at) {
                field.store(to);
            }
            for (l, &key) in some.iter().enumerate() {
                let [e, f] = [(key >> 32) as u32, key as u32];
                let plain = L::WIDTH > 1 && chooser.is_plain(edge(l, 0)) && chooser.is_plain(edge(l, 1));
                let touch = if plain { chooser.of_lane(e, f, &at, l) } else { chooser.measure(e, f) };
                match touch {
                    Measured::Near(record) => out.push(record),
                    Measured::TooDeep => too_deep.push([e, f].map(|e| scene.edges[e as usize].body)),
                    Measured::None => {}
                }
            }
        }
    }
}

/// Fields of the answer for lanes: s, t, p, q, squared distance, crossing, unit normal, its product with the
/// gap vector.
const FIELDS: usize = 14;
const S: usize = 0;
const T: usize = 1;
const P: usize = 2;
const Q: usize = 5;
const DISTANCE: usize = 8;
const CROSSING: usize = 9;
const NORMAL: usize = 10;
const GAP: usize = 13;

/// Nearest points of edges `a b` and `c d` and their common normal, turned by the sums of the normals of the
/// facets at the first edge and at the second. (No closures: one that is not inlined leaves the wide registers.)
#[inline(always)]
fn cross_points<L: Lane>([a, b, c, d, first, second]: [[L; 3]; 6]) -> [L; FIELDS] {
    let (u, v, r) = (minus(b, a), minus(d, c), minus(a, c));
    let (uu, uv, vv) = (dot(u, u), dot(u, v), dot(v, v));
    let (ur, vr) = (dot(u, r), dot(v, r));
    let det = uu * vv - uv * uv;
    let (zero, one, far) = (det.of(0.0), det.of(1.0), det.of(f64::INFINITY));

    // The interior solution, if both parameters are inside …
    let n = cross(u, v);
    let nn = dot(n, n);
    let slender = dot(cross(v, r), n) / nn;
    let slender = (uu * PARALLEL * vv).if_less(nn, slender, zero);
    let s = (uu * SLENDER * vv).if_less(det, (uv * vr - vv * ur) / det, slender);
    let t = (vr + s * uv) / vv;
    let inside = if_between(zero, s, one, if_between(zero, t, one, one));
    let interior = zero.if_less(inside, apart(r, s, u, t, v), far);
    let taken = interior.if_less(far, one, zero);
    let mut best = [zero.if_less(taken, s, zero), zero.if_less(taken, t, zero), interior];
    // … and the projections of the ends.
    let ends = [
        [zero, project(vr, vv)],
        [one, project(vr + uv, vv)],
        [project(-ur, uu), zero],
        [project(uv - ur, uu), one],
    ];
    for [s, t] in ends {
        let other = apart(r, s, u, t, v);
        let nearest = best[2];
        best = [
            other.if_less(nearest, s, best[0]),
            other.if_less(nearest, t, best[1]),
            other.if_less(nearest, other, nearest),
        ];
    }
    let [s, t, _] = best;
    let (p, q) = (along(a, s, u), along(c, t, v));
    let gap = minus(p, q);
    let (low, high) = (det.of(ENDS), det.of(1.0 - ENDS));
    let crossing = (uu * (NO_NORMAL * NO_NORMAL) * vv).if_less(nn, one, zero);
    let crossing = if_between(low, s, high, if_between(low, t, high, crossing));

    let direction = unit_of(n);
    let towards = dot(direction, minus(unit_of(second), unit_of(first)));
    // Where the facets say nothing, the gap does.
    let silent = zero.if_less(towards, zero, towards.if_less(zero, zero, one));
    let towards = zero.if_less(silent, dot(direction, gap), towards);
    let normal = [
        towards.if_less(zero, -direction[0], direction[0]),
        towards.if_less(zero, -direction[1], direction[1]),
        towards.if_less(zero, -direction[2], direction[2]),
    ];
    let ([p, pp, ppp], [q, qq, qqq], [n, nn, nnn]) = (p, q, normal);
    [s, t, p, pp, ppp, q, qq, qqq, dot(gap, gap), crossing, n, nn, nnn, dot(normal, gap)]
}

/// `yes` where `low < s < high`, else zero.
#[inline(always)]
fn if_between<L: Lane>(low: L, s: L, high: L, yes: L) -> L {
    let no = s.of(0.0);
    low.if_less(s, s.if_less(high, yes, no), no)
}

#[inline(always)]
fn along<L: Lane>(p: [L; 3], s: L, u: [L; 3]) -> [L; 3] {
    [p[0] + s * u[0], p[1] + s * u[1], p[2] + s * u[2]]
}

/// `|r + s u − t v|²`
#[inline(always)]
fn apart<L: Lane>(r: [L; 3], s: L, u: [L; 3], t: L, v: [L; 3]) -> L {
    let d = minus(along(r, s, u), [t * v[0], t * v[1], t * v[2]]);
    dot(d, d)
}

/// `num / length`, not beyond the ends; zero where there is no length.
#[inline(always)]
fn project<L: Lane>(num: L, length: L) -> L {
    let (zero, one) = (num.of(0.0), num.of(1.0));
    let at = num / length;
    let at = at.if_less(zero, zero, at);
    let at = one.if_less(at, one, at);
    zero.if_less(length, at, zero)
}

impl Body {
    /// Those of a solid, between triangles: their normals are means of two.
    #[inline(always)]
    pub(super) fn has_plain_edges(&self) -> bool {
        self.triangles && !self.attributes.two_sided()
    }
}

impl EdgeChooser<'_> {
    /// See [`Body::has_plain_edges`].
    #[inline(always)]
    fn is_plain(&self, edge: &Edge) -> bool {
        self.normals.scene.bodies[edge.body as usize].has_plain_edges()
    }

    #[inline(always)]
    fn of_lane(&self, e: u32, f: u32, at: &[[f64; MAX_WIDTH]; FIELDS], l: usize) -> Measured<EdgeEdge> {
        let scene = self.normals.scene;
        let (first, second) = (&scene.edges[e as usize], &scene.edges[f as usize]);
        let limit = self.query.reach + scene.offset(first.body, second.body);
        if at[CROSSING][l] == 0.0 || at[DISTANCE][l] > limit * limit {
            return Measured::None;
        }
        let vector = |k: usize| Vec3::new(at[k][l], at[k + 1][l], at[k + 2][l]);
        // Of solids: no thickness.
        let gap = at[GAP][l];
        if gap < 0.0 && self.is_too_deep(first, second, gap) {
            return Measured::TooDeep;
        }
        Measured::Near(EdgeEdge {
            first: e,
            second: f,
            s: at[S][l],
            t: at[T][l],
            p: vector(P),
            q: vector(Q),
            gap,
            normal: vector(NORMAL),
        })
    }

    fn is_too_deep(&self, first: &Edge, second: &Edge, gap: f64) -> bool {
        let deepest = || self.normals.scene.deepest_crossing(first, second);
        -gap > self.query.max_penetration.unwrap_or_else(deepest)
    }

    /// Nearest points of two edges, `e < f`, if they cross within reach.
    fn measure(&self, e: u32, f: u32) -> Measured<EdgeEdge> {
        let (scene, x) = (self.normals.scene, self.normals.x);
        let (first, second) = (&scene.edges[e as usize], &scene.edges[f as usize]);
        let near = nearest(scene, x, e, f);
        let offset = scene.offset(first.body, second.body);
        let limit = self.query.reach + offset;
        if !near.crossing || near.distance_squared > limit * limit {
            return Measured::None;
        }
        let along = |x: &[Vec3], e: &Edge| x[e.nodes[1] as usize] - x[e.nodes[0] as usize];
        let direction = unit(along(x, first).cross(&along(x, second)));
        let gap = near.p - near.q;
        let shell = |body: u32| scene.bodies[body as usize].attributes.two_sided();
        let two_sided = shell(first.body) || shell(second.body);
        let outward = if two_sided {
            // No inside: the first edge stays on the side of the second where it was, if they lay across each other
            // then. If they did not, the sides of their lines say nothing.
            match self.before.map(|x| nearest(scene, x, e, f)) {
                Some(was) if was.crossing => was.p - was.q,
                _ => gap,
            }
        } else {
            self.normals.of_edge(f, near.t) - self.normals.of_edge(e, near.s)
        };
        let towards = direction.dot(&outward);
        let towards = if towards == 0.0 { direction.dot(&gap) } else { towards };
        let normal = if towards < 0.0 { -direction } else { direction };
        let apart = normal.dot(&gap);
        if apart < 0.0 && self.is_too_deep(first, second, apart) {
            return Measured::TooDeep;
        }
        let gap = apart - offset;
        Measured::Near(EdgeEdge {
            first: e,
            second: f,
            s: near.s,
            t: near.t,
            p: near.p,
            q: near.q,
            gap,
            normal,
        })
    }
}

#[inline]
fn nearest(scene: &Scene, x: &[Vec3], e: u32, f: u32) -> closest_point::EdgeEdge {
    let ends = |e: u32| scene.edges[e as usize].nodes.map(|k| &x[k as usize]);
    let ([a, b], [c, d]) = (ends(e), ends(f));
    closest_point::edge_edge(a, b, c, d)
}

#[cfg(test)]
mod tests {
    use super::super::super::dice::Dice;
    use super::super::super::scene::{Attributes, BodyInput, Rules};
    use super::super::sieve;
    use super::*;
    use crate::math::lane;

    /// Two soups of triangles, on a grid (parallel edges, edges without length) or anywhere, each pair of edges
    /// measured alone and in company: the same records. And the sieve lets all of them through.
    #[test]
    fn edges_in_company_are_measured_like_edges_alone() {
        let mut dice = Dice(17);
        let (mut records, mut too_deep) = (0, 0);
        for round in 0..300 {
            let far = if round % 5 == 0 { 1e6 } else { 0.0 };
            let scale = [1.0, 1e-5, 1e4][round % 3];
            let x: Vec<Vec3> = (0..16)
                .map(|_| {
                    let p = if round % 2 == 0 { dice.grid(2) } else { dice.point(2.0) };
                    let p = if round % 7 == 0 { Vec3::new(p.x, 1e-4 * p.y, p.z) } else { p };
                    scale * (p + far * Vec3::new(1.0, -0.3, 0.7))
                })
                .collect();
            let bodies = [0, 8].map(|first| {
                let triangles: Vec<[u32; 3]> =
                    (0..7).map(|_| [0; 3].map(|_: u32| first + dice.below(8) as u32)).collect();
                BodyInput::of_triangles("soup", &triangles, Attributes::default())
            });
            let scene = Scene::new(&bodies, &x, Rules::default());
            let query = Query {
                max_penetration: (round % 4 == 0).then_some(f64::INFINITY),
                ..Query::all(scale * dice.between(0.0, 1.0))
            };
            let (first, second) = (scene.bodies[0].edges.clone(), scene.bodies[1].edges.clone());
            let pairs: Vec<[u32; 2]> = first.flat_map(|e| second.clone().map(move |f| [e, f])).collect();
            let normals = Normals::at(&scene, &x);
            let chooser = EdgeChooser { normals, before: None, query: &query };

            let (mut alone, mut deep) = (Vec::new(), 0);
            for &[e, f] in &pairs {
                match chooser.measure(e, f) {
                    Measured::Near(record) => alone.push(record),
                    Measured::TooDeep => deep += 1,
                    Measured::None => {}
                }
            }
            let mut keys = Vec::new();
            let limit = query.reach;
            lane::dispatch(sieve::Edges {
                scene: &scene,
                x: &x,
                limit,
                outward: None,
                pairs: &pairs,
                keys: &mut keys,
            });
            let (mut together, mut left_out) = (Vec::new(), Vec::new());
            lane::dispatch(MeasureEdges {
                chooser,
                keys: &keys,
                out: &mut together,
                too_deep: &mut left_out,
            });
            assert_eq!(alone, together, "round {round}");
            assert_eq!(deep, left_out.len(), "round {round}");
            (records, too_deep) = (records + alone.len(), too_deep + deep);
        }
        assert!(records > 3000 && too_deep > 50, "{records} records, {too_deep} too deep");
    }
}
