//! The trees of one body, and how far it has moved since they were fitted.
//!
//! Motion is a *displacement*, that of the body as a whole, and a *deviation*, the largest deviation of a node from
//! it. Both add up over refits, so that what was found at one time can be judged at any later one. A plane
//! has no trees; it stands here as a normal and a height.
//!
//! Used by `three_stage`.

use super::body_axes::{self, BodyAxes};
use super::bvh::{Box32, BuildSpace, Tree};
use super::octree::Aabb;
use super::scene::{Body, Facet, Scene};
use super::search::Positions;
use crate::math::Vec3;
use crate::math::lane::{self, Lane, OnLanes};
use std::time::Instant;

/// Trees and motion of one body.
#[derive(Clone, Debug, Default)]
pub(super) struct BodyState {
    pub nodes: Tree,
    pub edges: Tree,
    pub faces: Tree,
    pub space: BuildSpace,
    /// Of a small body, once it has been asked for.
    pub axes: Option<Box<BodyAxes>>,
    /// Slots where the boxes were fitted (start and, swept, end), in the model and in single precision.
    pub fitted: [Vec<Vec3>; 2],
    pub points: [Vec<[f32; 4]>; 2],
    /// Where its slots are, when they do not stand together.
    pub now: Vec<Vec3>,
    /// Motion from the beginning to the fitted positions …
    pub displacement: Vec3,
    pub deviation: f64,
    /// … and from there to now.
    pub new_displacement: Vec3,
    pub new_deviation: f64,
    /// Motion of the last step, to guess that of the next.
    pub step_displacement: Vec3,
    pub step_deviation: f64,
    pub bounds: Option<Aabb>,
    pub finite: bool,
    /// Counts what no list of candidates outlives: a first look, a plane that turned.
    pub epoch: u32,
    /// Trees and axes stand for the positions of this call.
    pub fresh: Fresh,
    /// Rounding of distances measured at these coordinates [m].
    pub slack: f64,
    /// What single precision may have cut off the boxes, and the slack [m]; the same along axes of bodies.
    pub pad: f64,
    pub axes_pad: f64,
    pub needed: bool,
    /// What is needed of it.
    pub wants_trees: bool,
    pub wants_axes: bool,
    pub rebuild: bool,
    /// What the last preparation did.
    pub built: u64,
    pub refitted: u64,
    pub build_seconds: f64,
    pub refit_seconds: f64,
}

/// What stands for the positions of a call.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Fresh {
    pub trees: bool,
    pub axes: bool,
}

/// Nodes that are looked at together; their coordinates fill whole registers.
const NODES: usize = 8;
const COORDINATES: usize = 3 * NODES;

/// Where the nodes of a body are and how far off: eight at once, `x, y, z, x, …` as they stand in memory.
struct Extent {
    displacement: [f64; COORDINATES],
    lo: [f64; COORDINATES],
    hi: [f64; COORDINATES],
    /// Not 0 once a coordinate is none.
    nowhere: [f64; COORDINATES],
    /// Largest square of a deviation [m²].
    off: [f64; NODES],
}

impl Extent {
    fn new(displacement: &Vec3) -> Extent {
        Extent {
            displacement: std::array::from_fn(|i| displacement[i % 3]),
            lo: [f64::INFINITY; COORDINATES],
            hi: [f64::NEG_INFINITY; COORDINATES],
            nowhere: [0.0; COORDINATES],
            off: [0.0; NODES],
        }
    }

    /// Adds nodes that were `fitted` elsewhere.
    #[inline(always)]
    fn add(&mut self, now: &[Vec3], fitted: &[Vec3]) {
        let (some, rest) = now.as_chunks::<NODES>();
        let (then, rest_then) = fitted.as_chunks::<NODES>();
        some.iter().zip(then).for_each(|(now, then)| self.add_some(now, then));
        // The last ones stand for those that are missing.
        if let ([.., now], [.., then]) = (rest, rest_then) {
            let (mut all, mut all_then) = ([*now; NODES], [*then; NODES]);
            all[..rest.len()].copy_from_slice(rest);
            all_then[..rest.len()].copy_from_slice(rest_then);
            self.add_some(&all, &all_then);
        }
    }

    #[inline(always)]
    fn add_some(&mut self, now: &[Vec3; NODES], then: &[Vec3; NODES]) {
        let now: &[f64; COORDINATES] = bytemuck::cast_ref(now);
        let then: &[f64; COORDINATES] = bytemuck::cast_ref(then);
        let mut square = [0.0; COORDINATES];
        for i in 0..COORDINATES {
            self.lo[i] = if now[i] < self.lo[i] { now[i] } else { self.lo[i] };
            self.hi[i] = if now[i] > self.hi[i] { now[i] } else { self.hi[i] };
            self.nowhere[i] += 0.0 * now[i];
            let off = now[i] - then[i] - self.displacement[i];
            square[i] = off * off;
        }
        for (most, d) in self.off.iter_mut().zip(square.as_chunks::<3>().0) {
            let off = d[0] + d[1] + d[2];
            *most = if off > *most { off } else { *most };
        }
    }

    fn bounds(&self) -> Aabb {
        Aabb {
            lo: std::array::from_fn(|k| every_third(&self.lo, k).fold(f64::INFINITY, f64::min)),
            hi: std::array::from_fn(|k| every_third(&self.hi, k).fold(f64::NEG_INFINITY, f64::max)),
        }
    }

    fn deviation(&self) -> f64 {
        self.off.iter().copied().fold(0.0, f64::max).sqrt()
    }

    fn is_finite(&self) -> bool {
        self.nowhere.iter().all(|v| *v == 0.0)
    }
}

/// Nodes on their way into an extent, compiled for the vector instructions of this machine.
struct Adding<'a> {
    extent: &'a mut Extent,
    now: &'a [Vec3],
    fitted: &'a [Vec3],
}

impl OnLanes for Adding<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lane>(self, _: L::Token) {
        self.extent.add(self.now, self.fitted);
    }
}

fn every_third(all: &[f64], from: usize) -> impl Iterator<Item = f64> {
    all.iter().skip(from).step_by(3).copied()
}

/// The positions of slots one after the other: as they are, where nodes do so.
fn together<'a>(slots: &[u32], x: &'a [Vec3], room: &'a mut Vec<Vec3>) -> &'a [Vec3] {
    match *slots {
        [first, .., last] if (last - first) as usize + 1 == slots.len() => &x[first as usize..=last as usize],
        _ => {
            room.clear();
            room.extend(slots.iter().map(|&k| x[k as usize]));
            room
        }
    }
}

impl BodyState {
    /// Box, displacement and deviation against the fitted positions.
    pub(super) fn measure(&mut self, scene: &Scene, body: &Body, at: Positions<'_>) {
        let end = at.end.unwrap_or(at.x);
        let swept = usize::from(at.end.is_some());
        if body.plane {
            return self.measure_plane(scene, body, at.x, end);
        }
        if body.attributes.at_rest && self.bounds.is_some() {
            return;
        }
        let slots = &scene.slots[body.slots.start as usize..body.slots.end as usize];
        let known = self.fitted[0].len() == slots.len() && self.fitted[swept].len() == slots.len();

        // The displacement of a few nodes stands for that of all: any choice is right, a good one is small.
        let mut displacement = Vec3::zeros();
        if known && !slots.is_empty() {
            let samples = slots.len().min(4);
            for k in 0..samples {
                let i = k * (slots.len() - 1) / samples.max(2).saturating_sub(1);
                displacement += at.x[slots[i] as usize] - self.fitted[0][i];
            }
            displacement /= samples as f64;
        }
        let mut extent = Extent::new(&displacement);
        for (x, fitted) in [at.x, end].into_iter().zip(&self.fitted).take(1 + swept) {
            let now = together(slots, x, &mut self.now);
            lane::dispatch(Adding { extent: &mut extent, now, fitted: if known { fitted } else { now } });
        }
        let bounds = extent.bounds();
        let deviation = if known { extent.deviation() } else { 0.0 };
        self.finite = extent.is_finite();
        if known {
            self.step_displacement = displacement - self.new_displacement;
            self.step_deviation = (deviation - self.new_deviation).abs();
            if displacement != Vec3::zeros() || deviation != 0.0 {
                self.fresh = Fresh::default();
            }
            (self.new_displacement, self.new_deviation) = (displacement, deviation);
        } else {
            // A first look: whatever was known is not.
            self.epoch += 1;
            self.fresh = Fresh::default();
            (self.new_displacement, self.new_deviation) = (Vec3::zeros(), 0.0);
        }
        let farthest = bounds.lo.iter().chain(&bounds.hi).fold(0.0, |m: f64, v| m.max(v.abs()));
        self.slack = if bounds.is_empty() { 0.0 } else { 1e-14 * farthest };
        self.bounds = Some(bounds);
    }

    /// The box that meets those of all bodies within reach of this one.
    pub(super) fn reached(&self, body: &Body, reach: f64) -> Aabb {
        let bounds = self.bounds.unwrap_or(Aabb::EMPTY);
        let thickness = if body.attributes.two_sided() { body.attributes.thickness } else { 0.0 };
        bounds.grown(0.5 * (reach + thickness) + self.slack)
    }

    /// A plane has no box. It has moved by the displacement of its point, unless it has turned.
    fn measure_plane(&mut self, scene: &Scene, body: &Body, x: &[Vec3], end: &[Vec3]) {
        let facet = &scene.facets[body.facets.start as usize];
        let at = |x: &[Vec3]| [x[facet.nodes[0] as usize], facet.area_vector(x)];
        let (start, end) = (at(x), at(end));
        self.finite = start.iter().chain(&end).all(|v| v.iter().all(|c| c.is_finite()));
        let same = self.fitted[0].len() == 2
            && self.fitted[0][1] == start[1]
            && self.fitted[1][1] == end[1]
            && start[1] == end[1];
        if same {
            let displacement = start[0] - self.fitted[0][0];
            let other = end[0] - self.fitted[1][0];
            self.step_displacement = displacement - self.new_displacement;
            self.new_displacement = displacement;
            self.new_deviation = (other - displacement).norm();
        } else {
            self.epoch += 1;
            (self.new_displacement, self.new_deviation) = (Vec3::zeros(), 0.0);
        }
        self.fresh = Fresh::default();
        self.bounds = Some(Aabb::EMPTY);
    }

    /// Brings boxes to the present positions, which become the fitted ones.
    pub(super) fn fit(
        &mut self,
        scene: &Scene,
        body: &Body,
        at: Positions<'_>,
        wants: [bool; 3],
        origin: &Vec3,
    ) {
        let end = at.end.unwrap_or(at.x);
        let swept = usize::from(at.end.is_some());
        self.displacement += self.new_displacement;
        self.deviation += self.new_deviation;
        (self.new_displacement, self.new_deviation) = (Vec3::zeros(), 0.0);
        if body.plane {
            return self.fit_plane(&scene.facets[body.facets.start as usize], [at.x, end], origin);
        }
        let missing = wants[0] && self.nodes.is_empty()
            || wants[1] && self.edges.is_empty() && !body.edges.is_empty()
            || wants[2] && self.faces.is_empty();
        let trees = self.wants_trees && (!self.fresh.trees || missing);
        let axes = self.wants_axes && !self.fresh.axes;
        if !trees && !axes {
            return;
        }
        let begin = Instant::now();
        let slots = &scene.slots[body.slots.start as usize..body.slots.end as usize];
        self.take_places(slots, &[at.x, end][..1 + swept], origin);
        if axes {
            self.axes.get_or_insert_default().fit(scene, body, at.x, &self.points[0]);
            self.fresh.axes = true;
        }
        if trees {
            self.fit_trees(scene, body, swept, wants, missing || self.rebuild);
        }
        let seconds = begin.elapsed().as_secs_f64();
        *(if self.built > 0 { &mut self.build_seconds } else { &mut self.refit_seconds }) = seconds;
    }

    /// Fits the trees that are wanted to the places of slots, or builds them anew.
    fn fit_trees(&mut self, scene: &Scene, body: &Body, swept: usize, wants: [bool; 3], anew: bool) {
        let (first, slots) = (body.slots.start, body.slots.len());
        let (now, then) = (&self.points[0][..], &self.points[swept][..]);
        let at_slot = |s: u32| {
            let p = now[(s - first) as usize];
            let b = Box32 { lo: p, hi: p };
            if swept == 0 {
                return b;
            }
            let q = then[(s - first) as usize];
            b.union(&Box32 { lo: q, hi: q })
        };
        let of_edge = |e: u32| {
            let [i, j] = scene.edge_slots[e as usize];
            at_slot(i).union(&at_slot(j))
        };
        let of_face = |f: u32| {
            let [i, j, k, l] = scene.facet_slots[f as usize];
            at_slot(i).union(&at_slot(j)).union(&at_slot(k)).union(&at_slot(l))
        };
        if anew {
            let space = &mut self.space;
            if wants[0] {
                self.nodes.build(first, slots, space, at_slot);
            }
            if wants[1] {
                self.edges.build(body.edges.start, body.edges.len(), space, of_edge);
            }
            if wants[2] {
                self.faces.build(body.facets.start, body.facets.len(), space, of_face);
            }
            self.built = wants.iter().filter(|w| **w).count() as u64;
            self.rebuild = false;
        } else {
            if wants[0] {
                self.nodes.refit(at_slot);
            }
            if wants[1] {
                self.edges.refit(of_edge);
            }
            if wants[2] {
                self.faces.refit(of_face);
            }
            self.refitted = wants.iter().filter(|w| **w).count() as u64;
        }
        self.fresh.trees = true;
    }

    /// Takes the places of slots as the fitted ones, at one end of a way or at both.
    fn take_places(&mut self, slots: &[u32], ends: &[&[Vec3]], origin: &Vec3) {
        let mut largest: f64 = 0.0;
        for (k, x) in ends.iter().enumerate() {
            self.fitted[k].clear();
            self.points[k].clear();
            for &node in slots {
                let p = x[node as usize];
                let d = p - origin;
                largest = largest.max(d.amax());
                self.fitted[k].push(p);
                self.points[k].push([d.x as f32, d.y as f32, d.z as f32, 0.0]);
            }
        }
        // Rounding to nearest moves a coordinate by half a unit in the last place: 2⁻²⁴ of it.
        self.pad = f64::from(f32::EPSILON) * largest + self.slack;
        self.axes_pad = body_axes::ROUNDING * largest + self.slack;
    }

    /// A plane has no boxes: its point and normal at the ends of the way.
    fn fit_plane(&mut self, facet: &Facet, ends: [&[Vec3]; 2], origin: &Vec3) {
        for (k, x) in ends.into_iter().enumerate() {
            let p = x[facet.nodes[0] as usize];
            self.fitted[k].clear();
            self.fitted[k].extend([p, facet.area_vector(x)]);
            let n = facet.area_vector(x).normalize();
            let height = n.dot(&(p - origin));
            self.points[k].clear();
            self.points[k]
                .extend([[n.x as f32, n.y as f32, n.z as f32, 0.0], [height as f32, 0.0, 0.0, 0.0]]);
        }
    }

    /// Nodes of `tree` below this plane or within `r` of it; returns the number of boxes tested.
    pub(super) fn near_plane(&self, tree: &Tree, r: f32, found: impl FnMut(u32)) -> u64 {
        let mut tests = 0;
        let near = |b: &Box32| {
            tests += 1;
            self.is_near(b, r)
        };
        tree.visit(near, found);
        tests
    }

    /// The same of some points, by their places; returns how many they are.
    pub(super) fn near_slots(&self, points: &[[f32; 4]], r: f32, found: impl FnMut(usize)) -> u64 {
        let near = |i: &usize| self.is_near(&Box32 { lo: points[*i], hi: points[*i] }, r);
        (0..points.len()).filter(near).for_each(found);
        points.len() as u64
    }

    /// Is a box below this plane or within `r` of it?
    fn is_near(&self, b: &Box32, r: f32) -> bool {
        let [start, end] = &self.points;
        // A plane that turns during the step sweeps more than its two ends: everything counts.
        let turns = start[0] != end[0];
        let low = |plane: &[[f32; 4]]| {
            let (mut sum, mut size) = (-plane[1][0], plane[1][0].abs());
            for (k, &n) in plane[0][..3].iter().enumerate() {
                sum += n * if n > 0.0 { b.lo[k] } else { b.hi[k] };
                size = size.max(b.lo[k].abs()).max(b.hi[k].abs());
            }
            // Rounding of a normal and of its products with coordinates of this size.
            sum - 2e-6 * size
        };
        turns || low(start) <= r || low(end) <= r
    }
}
