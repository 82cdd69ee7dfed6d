//! `[body.NAME]` without a material: a rigid obstacle, at rest or moving as told.

use super::load::always;
use super::mesh::MeshSpec;
use super::support::motion_fits;
use carom_declare::{Item, NonZero, Section, TimeTable, kind, section};

section! {
    /// A rigid obstacle, at rest or moving as told: one of `plane`, `polyline` and `mesh`, and no material.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Obstacle: "obstacle" {
        /// The half space below a plane.
        plane: Option<HalfSpace>;
        /// A chain of segments in the x-y plane, solid on the left of the way along them.
        polyline: Option<Polyline>;
        /// Cells whose boundary touches, or in space triangles and quadrilaterals, in the plane bars, that are the surface
        /// themselves (their normals point out).
        mesh: Option<MeshSpec>;
        /// How fast it moves [m/s].
        velocity: Option<[f64; 3]>;
        /// Where it goes [m], times the factor of `table`.
        displacement: Option<[f64; 3]>;
        /// Factor of `displacement` in time: [time, factor] pairs, straight lines between, constant beyond.
        table: Option<Vec<[f64; 2]>> as Option<TimeTable> = displacement.flatten().map(|_| always());
        /// Steady rotation [rad/s] about `centre`.
        spin: [f64; 3];
        /// The point it spins about [m], which moves with it; the middle of its box, or a plane's `point`, unless given.
        centre: Option<[f64; 3]>;
    } check |r| {
        let parsed = displacement.is_some() && velocity.is_some() && table.is_some();
        !parsed || motion_fits(&r.name, r)
    }
}

section! {
    /// The half space below a plane.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct HalfSpace: "plane" {
        /// A point of the plane [m].
        point: [f64; 3] => "[0, 0, 0]";
        /// Out of the solid, of any length.
        normal: [f64; 3] as NonZero => "[0, 0, 1]";
    }
}

kind!(
    /// Two points or more, each apart from the next.
    pub Corners: Vec<[f64; 2]>,
    |item: Item| {
        let points: Vec<[f64; 2]> = item.clone().list(|p| p.array(Item::number))?;
        if points.len() < 2 {
            return item.refuse(format!("has {} points", points.len()), "it needs at least two");
        }
        match points.windows(2).position(|p| p[0] == p[1]) {
            Some(k) => {
                let what = format!("has the same point at entries {k} and {}", k + 1);
                item.refuse(what, "remove one of them")
            }
            None => Some(points),
        }
    },
    {
        "type": "array", "minItems": 2,
        "items": { "type": "array", "items": { "type": "number" }, "minItems": 2, "maxItems": 2 }
    }
);

section! {
    /// A chain of segments in the x-y plane.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Polyline: "polyline" {
        /// Its corners [m], the solid on the left of the way from one to the next.
        points: Vec<[f64; 2]> as Corners => "[[0, 0], [1, 0]]";
        /// The last corner is joined to the first.
        closed: bool;
    } check |r| {
        match (&points, closed) {
            (Some(points), Some(true)) if points.len() < 3 => {
                let message = format!("{} is closed and has two points", r.name);
                r.problems.add(&r.place, message, "it needs at least three");
                false
            }
            (Some(points), Some(true)) if points.first() == points.last() => {
                let message = format!("{} is closed and ends where it begins", r.name);
                r.problems.add(&r.place, message, "remove the last point: it is joined to the first by itself");
                false
            }
            _ => true,
        }
    }
}

/// Keys of bodies that deform, and why an obstacle has none.
const NOT_RIGID: [(&str, &str); 14] = [
    ("material", "a plane or a polyline is rigid; only a body with a `mesh` can have a material"),
    ("materials", "a plane or a polyline is rigid; only a body with a `mesh` can have materials"),
    ("integration", "what is rigid has no stress to integrate"),
    ("hourglass", "what is rigid has no hourglass modes"),
    ("thickness", "what is rigid has no mass"),
    ("area", "what is rigid has no mass"),
    ("spin_about", "the point it spins about is its `centre`"),
    ("gravity", "it moves as told: give it a `velocity` or a `displacement`"),
    ("gravity_table", "it moves as told: give it a `displacement` with a `table`"),
    ("damping", "it moves as told, and nothing slows it"),
    ("fix", "it rests unless it is given a `velocity`, a `displacement` or a `spin`"),
    ("support", "it rests unless it is given a `velocity`, a `displacement` or a `spin`"),
    ("contact", "all of it touches; `off` of [contact] takes it out"),
    ("plane", "\"strain\" and \"stress\" are for bodies that deform"),
];

/// Reads a body without material; says why keys of bodies that deform are none of its own.
pub(crate) fn read(item: Item) -> Option<Obstacle> {
    let mut r = item.table()?;
    let word = r.has("plane") && !r.is_table("plane");
    let shape = r.one_of(if word { &["polyline", "mesh"][..] } else { &["plane", "polyline", "mesh"] });
    for (key, why) in NOT_RIGID {
        if let Some(place) = r.key_place(key)
            && (key != "plane" || word)
        {
            let message = if shape == Some("mesh") {
                format!("{} has no material and is a rigid obstacle; it has no `{key}`", r.name)
            } else {
                format!("{} is a rigid obstacle; it has no `{key}`", r.name)
            };
            let help =
                if shape == Some("mesh") { format!("{why}; or give it a `material`") } else { why.into() };
            r.problems.add(place, message, help);
            r.ignore(key);
        }
    }
    let read = Obstacle::keys(&mut r);
    r.finish();
    shape.and(read)
}
