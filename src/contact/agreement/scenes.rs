//! Random scenes: soups of triangles, quads, segments and points, boxes, planes, in many positions.

use crate::contact::bench_scenes::box_surface;
use crate::contact::dice::Dice;
use crate::contact::scene::{Attributes, BodyInput, BodyKind, FacetKind, Rules, Scene};
use crate::contact::search::{Pass, Query};
use crate::math::Vec3;

/// Dice of their own for each scene.
pub(crate) fn dice_of(seed: u64) -> Dice {
    Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d)
}

fn below(dice: &mut Dice, n: usize) -> usize {
    dice.below(n as u64) as usize
}

/// Whether one of `n` sides, all alike, came up.
fn one_in(dice: &mut Dice, n: usize) -> bool {
    below(dice, n) == 0
}

pub(super) struct Case {
    pub scene: Scene,
    pub x: Vec<Vec3>,
    pub query: Query,
}

/// What all bodies of a scene have in common: one of eight kinds, and whether their nodes stand on a grid.
struct Family {
    kind: usize,
    grid: bool,
}

pub(crate) fn random_case(seed: u64) -> Case {
    let mut dice = dice_of(seed);
    let mut x: Vec<Vec3> = Vec::new();
    let mut bodies = Vec::new();
    let kind = below(&mut dice, 8);
    let family = Family { kind, grid: one_in(&mut dice, 3) };
    let flat_world = kind == 6;
    for b in 0..2 + below(&mut dice, 4) {
        bodies.push(family.body(b, &mut dice, &mut x));
    }
    if one_in(&mut dice, 4) {
        let p = 0.4 * dice.point(0.5);
        let n = if flat_world { Vec3::new(0.6, 0.8, 0.0) } else { dice.point(0.5).normalize() };
        bodies.push(BodyInput::of_plane("plane", x.len() as u32, false));
        x.extend([p, p + n]);
    }
    let far = match below(&mut dice, 6) {
        0 => 1e5,
        1 => 1e9,
        _ => 0.0,
    };
    x.iter_mut().for_each(|p| *p += Vec3::new(far, -0.3 * far, if flat_world { 0.0 } else { far }));
    let rules = Rules {
        split_quads: one_in(&mut dice, 2),
        bonded: if one_in(&mut dice, 5) { vec![[1, 0]] } else { vec![] },
        only: if one_in(&mut dice, 8) { Some(vec![[0, 1], [2, 1], [0, 0]]) } else { None },
        off: if one_in(&mut dice, 8) { vec![1] } else { vec![] },
    };
    let reach = match below(&mut dice, 5) {
        0 => 0.0,
        1 => 10.0,
        _ => 0.2 * dice.unit() * dice.unit(),
    };
    let mut query = Query::all(reach);
    query.face_face = true;
    query.pass = if one_in(&mut dice, 4) { Pass::Single } else { Pass::Double };
    query.max_penetration = if one_in(&mut dice, 2) { Some(f64::INFINITY) } else { None };
    Case { scene: Scene::new(&bodies, &x, rules), x, query }
}

fn random_attributes(dice: &mut Dice) -> Attributes {
    let mut attributes = Attributes {
        self_contact: one_in(dice, 3),
        kind: if one_in(dice, 6) { BodyKind::Rigid } else { BodyKind::Solid },
        groups: if one_in(dice, 5) { 2 } else { 3 },
        ..Attributes::default()
    };
    if one_in(dice, 4) {
        (attributes.kind, attributes.thickness) = (BodyKind::Shell, 0.05 * dice.unit());
    }
    attributes
}

impl Family {
    /// Body `b` of the scene; its nodes are added to `x`.
    fn body(&self, b: usize, dice: &mut Dice, x: &mut Vec<Vec3>) -> BodyInput {
        let attributes = random_attributes(dice);
        let name = format!("b{b}");
        let place = 0.7 * dice.point(0.5);
        let size = if self.kind == 3 { 10f64.powf(4.0 * dice.unit() - 3.0) } else { 0.4 + dice.unit() };
        match self.kind {
            0 | 7 => self.boxed(&name, attributes, place, size, dice, x),
            6 => self.outline(&name, attributes, place, size, dice, x),
            // Bars end to end: points on a line.
            5 if b < 2 => {
                let first = x.len() as u32;
                x.extend((0..3).map(|k| Vec3::new(place.x + 0.2 * f64::from(k), 0.0, 0.0)));
                let ends = [[first, first + 1], [first + 2, first + 1]];
                let facets = ends.map(|[p, q]| (FacetKind::Point, [p, q, p, p])).to_vec();
                BodyInput { name, facets, attributes }
            }
            _ => self.soup(&name, attributes, place, size, dice, x),
        }
    }

    /// A box with quads, maybe twisted, maybe flush with others.
    fn boxed(
        &self,
        name: &str,
        attributes: Attributes,
        place: Vec3,
        size: f64,
        dice: &mut Dice,
        x: &mut Vec<Vec3>,
    ) -> BodyInput {
        let first = x.len() as u32;
        let cells = [1 + below(dice, 3), 1 + below(dice, 2), 1 + below(dice, 2)];
        let (points, quads) = box_surface(cells, [size, size, 0.5 * size]);
        let warp = if one_in(dice, 2) { 0.0 } else { 0.1 };
        for p in points {
            let p = if self.grid { p } else { p + warp * dice.point(0.5) };
            x.push(p + if self.grid { place.map(|v| (4.0 * v).round() / 4.0) } else { place });
        }
        let quads: Vec<_> = quads.iter().map(|q| q.map(|k| k + first)).collect();
        BodyInput::of_quads(name, &quads, attributes)
    }

    /// Segments in the plane.
    fn outline(
        &self,
        name: &str,
        attributes: Attributes,
        place: Vec3,
        size: f64,
        dice: &mut Dice,
        x: &mut Vec<Vec3>,
    ) -> BodyInput {
        let first = x.len() as u32;
        let n = 3 + below(dice, 6);
        for k in 0..n {
            let a = std::f64::consts::TAU * k as f64 / n as f64;
            let r = size * (0.5 + 0.3 * dice.unit());
            let p = Vec3::new(place.x + r * a.cos(), place.y + r * a.sin(), 0.0);
            x.push(if self.grid { p.map(|v| (4.0 * v).round() / 4.0) } else { p });
        }
        let closed = !one_in(dice, 3);
        BodyInput::of_polyline(name, first, n as u32, closed, attributes)
    }

    /// Triangles sharing nodes at will.
    fn soup(
        &self,
        name: &str,
        attributes: Attributes,
        place: Vec3,
        size: f64,
        dice: &mut Dice,
        x: &mut Vec<Vec3>,
    ) -> BodyInput {
        let first = x.len() as u32;
        let n = 4 + below(dice, 12);
        for _ in 0..n {
            let p = if self.grid {
                (3.0 * (dice.point(0.5) + place)).map(|v| v.round() / 3.0)
            } else {
                place + size * dice.point(0.5)
            };
            // Needles: everything near a line. Sheets: everything in a plane.
            x.push(match self.kind {
                1 => Vec3::new(p.x, 1e-3 * p.y, 1e-7 * p.z),
                2 => Vec3::new(p.x, p.y, 0.0),
                _ => p,
            });
        }
        let corner = |dice: &mut Dice| first + below(dice, n) as u32;
        let triangles: Vec<_> = (0..3 + below(dice, 14)).map(|_| [0; 3].map(|_: u32| corner(dice))).collect();
        BodyInput::of_triangles(name, &triangles, attributes)
    }
}
