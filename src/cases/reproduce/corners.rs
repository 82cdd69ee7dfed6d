//! Corners that meet corners (Kane, Repetto, Ortiz & Marsden 1999; Pandolfi, Kane, Marsden & Ortiz 2002), answered by `nonsmooth`.
//!
//! The short paper prints no data; figures to compare with come from a program of its own for the same decks. Where other methods solve the same
//! problem the answers are compared under refinement.

use super::Origin::*;
use super::{Check, Outcome, Part, Published, deck_of};

const PAPER: &str = "own set-up after Pandolfi, Kane, Marsden & Ortiz 2002, Time-discretized variational formulation of non-smooth frictional contact: no data are printed";

/// Every step without overlap, momentum kept, and no energy out of nothing beside that of explicit steps, `created` of the initial one.
fn sound(o: &Outcome, created: f64) -> Vec<Check> {
    let name = &o.name;
    let total = o.column("total");
    let most = total.iter().fold(f64::NEG_INFINITY, |m: f64, e| m.max(*e)) / o.ledger.initial;
    let friction = o.column("friction");
    let falls = friction.windows(2).map(|w| w[0] - w[1]).fold(0.0, f64::max) / o.ledger.initial;
    vec![
        Exact.at_most(
            format!("{name}: deepest overlap of any accepted state [m]"),
            o.ledger.penetration_max,
            1e-10,
        ),
        Exact.at_most(format!("{name}: drift of momentum"), o.balance.linear_drift_max, 1e-12),
        Exact.at_most(format!("{name}: largest energy, of the initial"), most, 1.0 + created),
        Exact.at_most(
            format!("{name}: largest fall of the friction account, of the initial energy"),
            falls,
            1e-12,
        ),
    ]
}

fn kite(at: &str, more: &str) -> String {
    deck_of("truesdell-wedge").replace("at = [0.02, 0.01, 0] }", &format!("at = [{at}, 0.01, 0] }}")) + more
}

pub(super) const TRUESDELL_WEDGE: Published = Published {
    name: "truesdell-wedge",
    method: "nonsmooth",
    source: PAPER,
    parts: |_| {
        vec![
            Part::new("right", kite("0.02", "")),
            Part::new("left", kite("-0.02", "")),
            Part::new("middle-first", kite("0", "")),
            Part::new("middle-last", kite("0", "\n[nonsmooth]\nties = \"last\"\n")),
        ]
    },
    checks: |o| {
        let v = |k: usize| [o[k].last("kite.vx"), o[k].last("kite.vy")];
        let (right, left) = (v(0), v(1));
        let mut checks = vec![
            Prototype.within("right: vx of the kite [m/s]", right[0], 0.375, 0.045),
            Prototype.within("left: vx of the kite [m/s]", left[0], -0.375, 0.045),
            Prototype.within("right: |vy| [m/s]", right[1].abs(), 0.74, 0.06),
            Prototype.within("left: |vy| [m/s]", left[1].abs(), 0.74, 0.06),
            Exact.within("vx of both sides, of the right one", (right[0] + left[0]) / right[0], 0.0, 0.03),
            Prototype.at_least("on the axis: |vx| [m/s]", v(2)[0].abs(), 0.1),
            Prototype.at_least("on the axis: |vx| of the other solution [m/s]", v(3)[0].abs(), 0.1),
            Exact.at_most("on the axis: product of the signs", v(2)[0].signum() * v(3)[0].signum(), -1.0),
        ];
        o.iter().for_each(|o| checks.extend(sound(o, 1e-9)));
        checks
    },
    figures: |_| Vec::new(),
};

/// A piece of the unit square cut into 3×3 quadrilaterals, shrunk by 2 %: corners, and the velocity of its centroid.
struct Piece {
    corners: [[f64; 2]; 4],
    area: f64,
    centroid: [f64; 2],
    velocity: [f64; 2],
}

fn pieces() -> [Piece; 9] {
    let moved = |i: usize, j: usize| match (i, j) {
        (1, 1) => (0.04, -0.05),
        (1, 2) => (-0.05, 0.03),
        (2, 1) => (0.03, 0.05),
        (2, 2) => (-0.04, -0.03),
        (0, 1) => (0.0, 0.05),
        (0, 2) => (0.0, -0.04),
        (3, 1) => (0.0, -0.06),
        (3, 2) => (0.0, 0.05),
        (1, 0) => (-0.05, 0.0),
        (2, 0) => (0.06, 0.0),
        (1, 3) => (0.05, 0.0),
        (2, 3) => (-0.03, 0.0),
        _ => (0.0, 0.0),
    };
    let at = |i: usize, j: usize| {
        let (x, y) = moved(i, j);
        [i as f64 / 3.0 + x, j as f64 / 3.0 + y]
    };
    std::array::from_fn(|k| {
        let (i, j) = (k % 3, k / 3);
        let corners = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
        let mean = [0, 1].map(|a| corners.iter().map(|c| c[a]).sum::<f64>() / 4.0);
        let corners = corners.map(|c| [0, 1].map(|a| mean[a] + 0.98 * (c[a] - mean[a])));
        let (area, centroid) = area_and_centroid(corners);
        let c = centroid.map(|c| c - 0.5);
        Piece { corners, area, centroid, velocity: [-2.0 * c[0] - c[1], -2.0 * c[1] + c[0]] }
    })
}

/// Energy and angular momentum about the origin of nine pieces of density 1 that fly as they are: Σ ½A v², Σ A c × v.
fn nine_at_start() -> [f64; 2] {
    pieces().iter().fold([0.0; 2], |[energy, spin], Piece { area, centroid: c, velocity: v, .. }| {
        [energy + 0.5 * area * (v[0] * v[0] + v[1] * v[1]), spin + area * (c[0] * v[1] - c[1] * v[0])]
    })
}

/// Nine pieces, each of 2×2 cells of two triangles.
fn nine(friction: f64) -> String {
    let mut deck = format!(
        "title = \"Nine fragments\"\nmethod = \"nonsmooth\"\nend = 0.1\n[step]\nsize = 5e-4\n[contact]\nfriction = {friction}\n\
         [output]\nhistory = 200\nframes = 20\n\
         [material.rubber]\nlaw = \"neo-hookean\"\nyoung = 1000.9199584199584\npoisson = 0.2998960498960499\ndensity = 1.0\n"
    );
    let cells = "[[0,1,4],[0,4,3],[1,2,4],[2,5,4],[3,4,6],[4,7,6],[4,5,8],[4,8,7]]";
    for (k, Piece { corners: [p, q, r, s], velocity: v, .. }) in pieces().into_iter().enumerate() {
        let mut nodes = Vec::new();
        for b in 0..3 {
            for a in 0..3 {
                let (u, v) = (a as f64 / 2.0, b as f64 / 2.0);
                let x = [0, 1]
                    .map(|d| (1.0 - v) * ((1.0 - u) * p[d] + u * q[d]) + v * ((1.0 - u) * s[d] + u * r[d]));
                nodes.push(format!("[{},{}]", x[0], x[1]));
            }
        }
        deck += &format!(
            "[body.piece-{k}]\nmesh = {{ nodes = [{}], cells = {cells} }}\nmaterial = \"rubber\"\nvelocity = [{}, {}, 0]\n",
            nodes.join(","),
            v[0],
            v[1]
        );
    }
    deck
}

/// Of a quadrilateral.
fn area_and_centroid(corners: [[f64; 2]; 4]) -> (f64, [f64; 2]) {
    let (mut area, mut first) = (0.0, [0.0; 2]);
    for k in 0..4 {
        let (a, b) = (corners[k], corners[(k + 1) % 4]);
        let part = a[0] * b[1] - a[1] * b[0];
        area += part;
        (0..2).for_each(|d| first[d] += part * (a[d] + b[d]) / 3.0);
    }
    (0.5 * area, first.map(|f| f / area))
}

/// Energy at the end, least kinetic energy and drift of the angular momentum of nine fragments, by another program.
const NINE: [(f64, [f64; 3]); 2] = [(0.0, [0.3031, 0.0764, 3.7e-5]), (0.3, [0.2956, 0.0703, 3.2e-6])];

pub(super) const FRAGMENTS: Published = Published {
    name: "fragments",
    method: "nonsmooth",
    source: PAPER,
    parts: |quick| {
        // for a quick look, until most have met: in space at 77 ms
        let short =
            |name: &str, end: &str, early: &str| deck_of(name).replace(end, if quick { early } else { end });
        vec![
            Part::new("nine-smooth", nine(0.0)),
            Part::new("nine-rough", nine(0.3)),
            Part::new("fifty", short("fragments", "end    = 0.5", "end    = 0.12")),
            Part::new("fifty-3d", short("fragments-3d", "end    = 0.4", "end    = 0.08")),
        ]
    },
    checks: |o| {
        let mut checks = Vec::new();
        let [energy_at_start, spin_at_start] = nine_at_start();
        for (o, (_, [energy, least, drift])) in o.iter().zip(NINE) {
            let name = &o.name;
            let kinetic = o.column("kinetic").into_iter().fold(f64::INFINITY, f64::min);
            let spin = o.column("lz");
            let turned = spin.iter().map(|l| (l - spin[0]).abs()).fold(0.0, f64::max);
            checks.extend([
                Exact.within(
                    format!("{name}: initial energy, Σ ½ρA v² [J]"),
                    o.ledger.initial,
                    energy_at_start,
                    1e-12,
                ),
                Prototype.within(
                    format!("{name}: energy at the end [J]"),
                    o.ledger.total(),
                    energy,
                    0.03 * energy,
                ),
                Prototype.within(format!("{name}: least kinetic energy [J]"), kinetic, least, 0.05 * least),
                Exact.within(
                    format!("{name}: angular momentum at the start, Σ ρA c × v"),
                    spin[0],
                    spin_at_start,
                    1e-12,
                ),
                Prototype.at_most(format!("{name}: its drift"), turned, 2.0 * drift),
            ]);
            checks.extend(sound(o, 1e-9));
        }
        checks.push(Exact.at_most("friction takes energy [J]", o[1].ledger.total(), o[0].ledger.total()));
        for o in &o[2..] {
            // explicit steps on coarse pieces: ⅛Δt²Ma² of the elements
            checks.extend(sound(o, 1e-3));
            checks.push(Own.at_most(
                format!("{}: error of the ledger", o.name),
                o.ledger.error_max_rel(),
                0.02,
            ));
            checks.push(Own.at_least(
                format!("{}: contacts at most", o.name),
                o.summary.contacts_peak as f64,
                10.0,
            ));
        }
        checks
    },
    figures: |_| Vec::new(),
};

/// Two bars of so many cells each, by a method.
fn bars(method: &str, cells: usize) -> String {
    let deck = deck_of("two-bars").replace("cells = 100", &format!("cells = {cells}"));
    let size = format!("size = {}", 5.0 / cells as f64);
    deck.replace("\"dcr\"", &format!("\"{method}\"")).replace("size = 0.05 ", &(size + " "))
}

const BAR_METHODS: [&str; 4] = ["nonsmooth", "dcr", "semi-explicit", "velocity-update"];
const BAR_CELLS: [usize; 3] = [25, 50, 100];

pub(super) const BARS_BY_METHODS: Published = Published {
    name: "bars-by-methods",
    method: "nonsmooth",
    source: "two bars meet and part: impulse and way are known, and methods agree with finer meshes",
    parts: |_| {
        let each = |&cells: &usize| BAR_METHODS.map(|m| Part::new(format!("{m}-{cells}"), bars(m, cells)));
        BAR_CELLS.iter().flat_map(each).collect()
    },
    checks: |o| {
        let mut checks = Vec::new();
        let mut before = [f64::INFINITY; 4];
        for (of, cells) in o.chunks(4).zip(BAR_CELLS) {
            // exact: 2 N s, and the tail 3 m to the left
            let off = |o: &Outcome| {
                (o.last("push.jx").abs() / 2.0 - 1.0).abs() + (o.last("tail.ux") / -3.0 - 1.0).abs()
            };
            let own = off(&of[0]);
            checks.push(Exact.at_most(
                format!("{cells} cells: impulse and way of nonsmooth, off the exact ones, over that of a mesh twice as coarse"),
                own / before[0],
                0.75,
            ));
            for (k, other) in of.iter().enumerate().skip(1) {
                let apart = (of[0].last("push.jx") - other.last("push.jx")).abs() / 2.0
                    + (of[0].last("tail.ux") - other.last("tail.ux")).abs() / 3.0;
                if cells == BAR_CELLS[0] {
                    before[k] = apart;
                } else {
                    checks.push(Own.at_most(
                        format!(
                            "{cells} cells: apart from {}, over that of the coarsest mesh",
                            BAR_METHODS[k]
                        ),
                        apart / before[k],
                        1.0,
                    ));
                }
            }
            before[0] = own;
            checks.push(Exact.at_most(
                format!("{cells} cells: overlap [m]"),
                of[0].ledger.penetration_max,
                1e-10,
            ));
        }
        checks
    },
    figures: |_| Vec::new(),
};
