//! `[[body.NAME.support]]`: what is held in some directions, or moves along them as prescribed.

use super::load::always;
use crate::math::Vec3;
use carom_declare::{
    Item, Json, Kind, Listed, NonZero, Reader, Schemas, TimeTable, Value, Written, json, section, words,
};

section! {
    /// A set held in some directions; with a motion, that of the directions is prescribed.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Support: "body.NAME.support" {
        /// A set of the body.
        set: String => "\"zmin\"";
        /// Held directions: "x", "y", "z" or vectors; all three unless given.
        directions: Vec<Direction> = [Axis::X, Axis::Y, Axis::Z].map(Direction::Axis).to_vec();
        /// Prescribed displacement [m], times the factor of `table`.
        displacement: Option<[f64; 3]>;
        /// Factor of `displacement` in time: [time, factor] pairs, straight lines between, constant beyond.
        table: Option<Vec<[f64; 2]>> as Option<TimeTable> = displacement.flatten().map(|_| always());
        /// Prescribed velocity [m/s].
        velocity: Option<[f64; 3]>;
    } check |r| {
        let moves = displacement.is_some() && table.is_some() && velocity.is_some();
        match (&set, &directions) {
            (Some(set), Some(directions)) if moves => {
                let owner = format!("the support of `{set}`");
                if directions.is_empty() {
                    let message = format!("{owner} has no directions");
                    r.problems.add(&r.place, message, "leave out what holds nothing");
                }
                !directions.is_empty() && motion_fits(&owner, r)
            }
            _ => true,
        }
    }
}

impl Listed for Support {
    fn called(_: usize, list: &str) -> String {
        format!("a support of {}", list.strip_prefix("`support` of ").unwrap_or(list))
    }
}

/// A motion is a displacement times a table, or a velocity.
pub(crate) fn motion_fits(owner: &str, r: &Reader) -> bool {
    if r.has("displacement") && r.has("velocity") {
        let message = format!("{owner} has both `displacement` and `velocity`");
        r.problems.add(&r.place, message, "keep one of them");
        return false;
    }
    if r.has("table") && !r.has("displacement") {
        let message = format!("{owner} has a `table` without `displacement`");
        r.problems.add(&r.place, message, "a table is a factor of the displacement");
        return false;
    }
    true
}

words! {
    /// An axis.
    pub enum Axis {
        /// The first.
        X = "x",
        /// The second.
        Y = "y",
        /// The third.
        Z = "z",
    }
}

/// A vector of any length, with a largest component of one: no length over- or underflows.
pub(crate) fn direction(v: [f64; 3]) -> Vec3 {
    Vec3::from(v) / Vec3::from(v).amax()
}

/// A direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Direction {
    Axis(Axis),
    Vector([f64; 3]),
}

impl Kind for Direction {
    type Of = Direction;
    fn read(item: Item) -> Option<Direction> {
        match item.node.value {
            Value::String(_) => Axis::read(item).map(Direction::Axis),
            _ => NonZero::read(item).map(Direction::Vector),
        }
    }
    fn write(value: &Direction) -> Option<Written> {
        match value {
            Direction::Axis(axis) => Axis::write(axis),
            Direction::Vector(v) => <[f64; 3]>::write(v),
        }
    }
    fn schema(schemas: &mut Schemas) -> Json {
        let (axis, vector) = (Axis::schema(schemas), NonZero::schema(schemas));
        json!({ "if": { "type": "string" }, "then": axis, "else": vector })
    }
}
