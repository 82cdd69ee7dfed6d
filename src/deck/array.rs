//! Bodies that stand in rows: `[body.NAME.array]` makes `NAME-1`, `NAME-2`, … out of one body before anything is read.
//!
//! Copies are written into the tree with the places of the original, so a mistake in one is told where it was made, and
//! the resolved deck names every copy.

use super::body::Array;
use crate::math::Vec3;
use crate::math::dice::Dice;
use crate::run::memory::{Room, gigabytes};
use carom_declare::tree::Entry;
use carom_declare::{Item, Kind, Node, Place, Problems, Tree, Value};
use std::collections::HashSet;

/// What the text of a copy takes [bytes], until it is built: a million bodies of one box took 3.2 GB.
const COPY: f64 = 3200.0;

/// Replaces every body that has an `array` by its copies, if there is `room` for them.
pub(crate) fn expand(tree: &mut Tree, room: Option<Room>, problems: &Problems) {
    let Some(bodies) = table_mut(&mut tree.root, "body") else { return };
    let mut all = Vec::new();
    let mut bytes = 0.0;
    for mut entry in std::mem::take(bodies) {
        let array = array_of(&entry, problems);
        bytes += COPY * array.as_ref().map_or(0.0, |a| a.count.iter().map(|c| f64::from(*c)).product());
        match array {
            Some(_) if room.is_some_and(|room| bytes > room.bytes as f64) => {
                let bound = room.map_or("", |room| room.bound);
                let message = format!(
                    "copies of body `{}` take more than {} before they are built: that is more than what is {bound}",
                    entry.key,
                    gigabytes(bytes)
                );
                problems.add(&entry.key_place, message, "take fewer copies, or a machine with more memory");
            }
            Some(array) => copies(&entry, &array, problems, &mut all),
            None => {
                // nothing, or nothing that could be read and has been told
                if let Value::Table(keys) = &mut entry.node.value {
                    keys.retain(|e| e.key != "array");
                }
                all.push(entry);
            }
        }
    }
    let mut names = HashSet::with_capacity(all.len());
    for entry in &all {
        if !names.insert(entry.key.as_str()) {
            let message =
                format!("two bodies are called `{}`: copies of an `array` are NAME-1, NAME-2, …", entry.key);
            problems.add(&entry.key_place, message, "give one of them another name");
        }
    }
    *bodies = all;
}

fn array_of(body: &Entry, problems: &Problems) -> Option<Array> {
    let Value::Table(keys) = &body.node.value else { return None };
    let node = &keys.iter().find(|e| e.key == "array")?.node;
    Array::read(Item { node, name: format!("`array` of body `{}`", body.key), problems })
}

fn copies(body: &Entry, array: &Array, problems: &Problems, out: &mut Vec<Entry>) {
    let mut dice = Dice(array.tumble.unwrap_or_default().into());
    let mut number = 0;
    for k in 0..array.count[2] {
        for j in 0..array.count[1] {
            for i in 0..array.count[0] {
                number += 1;
                let mut copy = body.clone();
                copy.key = format!("{}-{number}", body.key);
                let Value::Table(keys) = &mut copy.node.value else { return };
                keys.retain(|e| e.key != "array");
                let offset = [i, j, k].map(f64::from);
                let offset = [0, 1, 2].map(|a| offset[a] * array.spacing[a]);
                if let Some(mesh) = table_mut(&mut copy.node, "mesh") {
                    add_to(mesh, "at", offset);
                    if array.tumble.is_some() {
                        turn(mesh, &mut dice, &body.key, problems);
                    }
                }
                out.push(copy);
            }
        }
    }
}

/// Adds to a vector of a table, zero where it is not there; what is wrong with it is told when it is read.
pub(super) fn add_to(keys: &mut Vec<Entry>, key: &str, offset: [f64; 3]) {
    match keys.iter_mut().find(|e| e.key == key) {
        None => keys.push(entry(key, vector(offset))),
        Some(Entry { node: Node { value: Value::Array(old), .. }, .. }) => {
            for (x, d) in old.iter_mut().zip(offset) {
                match x.value {
                    Value::Integer(n) => x.value = Value::Float(n as f64 + d),
                    Value::Float(old) => x.value = Value::Float(old + d),
                    _ => {}
                }
            }
        }
        Some(_) => {}
    }
}

/// Turns a mesh about its middle, all directions alike.
fn turn(mesh: &mut Vec<Entry>, dice: &mut Dice, name: &str, problems: &Problems) {
    if let Some(own) = mesh.iter().find(|e| e.key == "rotate") {
        let message = format!("the mesh of body `{name}` is rotated, and its copies tumble");
        problems.add(&own.key_place, message, "drop `rotate` or `tumble`");
        return;
    }
    // A quaternion from the ball is as likely in every direction.
    let (real, axis) = loop {
        let q = [0; 4].map(|_| 2.0 * dice.unit() - 1.0);
        let size = q.iter().map(|c| c * c).sum::<f64>();
        let axis = Vec3::new(q[1], q[2], q[3]);
        if (0.01..=1.0).contains(&size) && axis.norm() > 0.01 {
            break (q[0] / size.sqrt(), axis.normalize());
        }
    };
    let angle = Node { value: Value::Float(2.0 * real.acos().to_degrees()), place: Place::Whole };
    let rotate = vec![entry("axis", vector(axis.into())), entry("angle", angle)];
    mesh.push(entry("rotate", Node { value: Value::Table(rotate), place: Place::Whole }));
}

pub(super) fn entry(key: &str, node: Node) -> Entry {
    Entry { key: key.into(), key_place: Place::Whole, node }
}

pub(super) fn vector(of: [f64; 3]) -> Node {
    let number = |x| Node { value: Value::Float(x), place: Place::Whole };
    Node { value: Value::Array(of.map(number).into()), place: Place::Whole }
}

pub(super) fn table_mut<'a>(node: &'a mut Node, key: &str) -> Option<&'a mut Vec<Entry>> {
    let Value::Table(entries) = &mut node.value else { return None };
    match &mut entries.iter_mut().find(|e| e.key == key)?.node.value {
        Value::Table(inner) => Some(inner),
        _ => None,
    }
}
