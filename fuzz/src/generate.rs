//! Inputs that are right in form and odd in content: most changed texts are refused at the first line, these are not.

use crate::mutate::below;
use crate::{METHODS, record_of};
use carom::cases::soak::Dice;
use carom::model::record::{Array, Record};

/// A deck whose keys exist and whose numbers may be anything.
pub fn deck(dice: &mut Dice) -> String {
    let method = METHODS[below(dice, METHODS.len())];
    let space = [3, 3, 3, 2, 1][below(dice, 5)];
    let bodies = 1 + below(dice, 3);
    let mut text = format!("method = \"{method}\"\nend = {}\n", value(dice, 1e-3));
    if dice.unit() < 0.3 {
        text += &format!("[step]\n{} = {}\n", dice.one_of(&["size", "safety"]), value(dice, 0.5));
    }
    if dice.unit() < 0.7 && method != "static" {
        text += &format!("[contact]\nfriction = {}\n", value(dice, 0.3));
        if dice.unit() < 0.4 {
            text += &format!("restitution = {}\n", value(dice, 0.5));
        }
        if dice.unit() < 0.2 {
            text += "self = [\"b0\"]\n";
        }
        if dice.unit() < 0.2 {
            text += "guard = true\n";
        }
    }
    for b in 0..bodies {
        text += &body(dice, b, space, method);
    }
    if dice.unit() < 0.6 && space > 1 && method != "static" {
        let normal = if space == 3 { "[0, 0, 1]" } else { "[0, 1, 0]" };
        text += &format!(
            "[body.floor]\nplane = {{ point = [0, 0, {}], normal = {normal} }}\n",
            value(dice, -0.01)
        );
    }
    if dice.unit() < 0.3 {
        text += &format!(
            "[[load]]\nbody = \"b0\"\nset = \"xmax\"\n{}\ntable = [[0, 0], [{}, 1]]\n",
            dice.one_of(&["pressure = 1e3", "traction = [1e3, 0, 0]", "force = [1, 0, 0]"]),
            value(dice, 1e-3)
        );
    }
    if dice.unit() < 0.3 {
        text += "[probe.p]\nbody = \"b0\"\n";
    }
    text
}

fn body(dice: &mut Dice, b: usize, space: usize, method: &str) -> String {
    let cell = 1 + below(dice, 3);
    let high = 0.101 * b as f64;
    let mesh = match space {
        1 => format!(
            "{{ shape = \"bar\", length = {}, cells = {cell}, at = [{high}, 0, 0] }}",
            value(dice, 0.1)
        ),
        2 => match below(dice, 3) {
            0 => format!(
                "{{ shape = \"disc\", radius = {}, core_cells = 2, layers = 1, at = [0, {high}, 0] }}",
                value(dice, 0.05)
            ),
            _ => format!(
                "{{ shape = \"rectangle\", size = [{}, 0.1], cells = [{cell}, 2], at = [0, {high}, 0], cell = \"{}\" }}",
                value(dice, 0.1),
                dice.one_of(&["quad4", "tri3"])
            ),
        },
        _ => match below(dice, 5) {
            0 => format!(
                "{{ shape = \"sphere\", radius = {}, core_cells = 1, layers = 1, at = [0, 0, {high}] }}",
                value(dice, 0.05)
            ),
            1 => format!(
                "{{ shape = \"hollow-sphere\", radius = {}, refinements = 1, at = [0, 0, {high}] }}",
                value(dice, 0.05)
            ),
            _ => format!(
                "{{ shape = \"box\", size = [{}, 0.1, 0.1], cells = [{cell}, 1, 2], at = [{}, 0, {high}], cell = \"{}\", \
                 rotate = {{ axis = [0, 0, 1], angle = {} }} }}",
                value(dice, 0.1),
                value(dice, 0.0),
                dice.one_of(&["hex8", "tet4"]),
                value(dice, 30.0)
            ),
        },
    };
    let law = match below(dice, 4) {
        0 => "law = \"linear\"",
        1 => "law = \"st-venant-kirchhoff\"",
        _ => "law = \"neo-hookean\"",
    };
    let (young, poisson, density) = (value(dice, 1e5), value(dice, 0.3), value(dice, 1000.0));
    let mut text = format!(
        "[body.b{b}]\nmesh = {mesh}\nmaterial = {{ {law}, young = {young}, poisson = {poisson}, density = {density} }}\n\
         velocity = [{}, 0, {}]\n",
        value(dice, 1.0),
        if space == 3 { value(dice, -1.0) } else { "0".into() }
    );
    if mesh.contains("hollow") {
        text += &format!("element = \"shell\"\nthickness = {}\n", value(dice, 0.001));
    }
    if method == "static" || dice.unit() < 0.2 {
        text += "fix = \"xmin\"\n";
    }
    if dice.unit() < 0.2 {
        text += &format!("damping = {}\n", value(dice, 1.0));
    }
    if dice.unit() < 0.2 && space == 3 {
        text += &format!("gravity = [0, 0, {}]\n", value(dice, -9.81));
    }
    if dice.unit() < 0.1 {
        text += &format!("array = {{ count = [2, 1, 1], spacing = [{}, 0, 0] }}\n", value(dice, 0.2));
    }
    text
}

/// About `usual`, mostly; now and then anything.
fn value(dice: &mut Dice, usual: f64) -> String {
    match below(dice, 40) {
        0 => "0".into(),
        1 => format!("{:e}", -usual),
        2 => format!("{:e}", usual * 10_f64.powf(dice.between(-12.0, 12.0))),
        3 => dice.one_of(&["1e300", "1e-300", "5e-324", "1e308", "-1e308", "1e18", "inf", "nan"]).into(),
        _ => format!("{:e}", usual * dice.between(0.5, 2.0)),
    }
}

/// The file of a checkpoint of a run by some method, with some of its numbers changed; the first byte names the method.
pub fn checkpoint(dice: &mut Dice, known: &[(usize, Record)]) -> Vec<u8> {
    let (method, record) = &known[below(dice, known.len())];
    let mut record = record.clone();
    for _ in 0..below(dice, 4) {
        let which = below(dice, record.arrays.len());
        let Some(array) = record.arrays.values_mut().nth(which) else { continue };
        match array {
            Array::Numbers(v) if v.is_empty() => v.push(1.0),
            Array::Counts(v) if v.is_empty() => v.push(1),
            Array::Numbers(v) => {
                let (at, n) = (below(dice, v.len()), v.len());
                match below(dice, 4) {
                    0 => v.truncate(at),
                    1 => v[at] = [0.0, f64::NAN, f64::INFINITY, -1.0, 1e300, 1e-300][below(dice, 6)],
                    2 => v.push(v[n - 1]),
                    _ => v[at] *= dice.between(-2.0, 2.0),
                }
            }
            Array::Counts(v) => {
                let (at, n) = (below(dice, v.len()), v.len());
                match below(dice, 4) {
                    0 => v.truncate(at),
                    1 => v[at] = [0, 1, u64::MAX, u64::from(u32::MAX), 1 << 40, 7][below(dice, 6)],
                    2 => v.push(v[n - 1]),
                    _ => v[at] = v[at].wrapping_add(1),
                }
            }
        }
    }
    let mut bytes = vec![*method as u8];
    bytes.extend(carom::run::checkpoint::bytes(&record));
    bytes
}

/// Records to begin with, of every method that can be started.
pub fn records() -> Vec<(usize, Record)> {
    METHODS.iter().enumerate().map(|(i, method)| (i, record_of(method))).collect()
}
