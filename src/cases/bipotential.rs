//! The examples of Peng, Feng & Joli (2018): cylinders thrown into a notch and cubes thrown on a plate, as runs of
//! `semi-explicit` that come back as numbers.
//!
//! The paper leaves geometry open; what is added here is written beside it. Blatz–Ko foam rubber, no gravity, no damping.
//!
//! Read by `reproduce` and by the tests of whole runs.

use crate::contact::scene::BodyKind;
use crate::element::Positions;
use crate::element::choice::{Kind, maker};
use crate::material;
use crate::math::Vec3;
use crate::mesh::place::Placement;
use crate::mesh::{CellKind, Cells, Mesh, MeshError, Side, shape};
use crate::method::{Method, StepError};
use crate::model::contact::{Law, Obstacle, ObstacleShape};
use crate::model::{BodySpec, Builder, Ledger, Model, ModelError, State, Table};
use std::f64::consts::PI;
use std::sync::atomic::AtomicBool;

/// Why a case did not come to an end.
#[derive(Debug, thiserror::Error)]
pub enum CaseError {
    #[error(transparent)]
    Mesh(#[from] MeshError),
    #[error(transparent)]
    Model(#[from] ModelError),
    #[error(transparent)]
    Step(#[from] StepError),
}

/// Foam rubber of density 800 kg/m³ with shear modulus `shear` [Pa].
pub fn foam(shear: f64) -> material::Law {
    material::Law::BlatzKo { shear, density: 800.0 }
}

/// A body of one law, of unit thickness if plane.
pub fn body(name: &str, mesh: Mesh, law: &material::Law) -> BodySpec<'static> {
    let blocks = mesh.cells.iter().map(|cells| maker(Kind::new(cells.kind), law)).collect();
    BodySpec {
        name: name.into(),
        kind: BodyKind::of_cells(mesh.dimension()),
        mesh,
        blocks,
        section: 1.0,
        gravity: Vec3::zeros(),
        gravity_table: Table::default(),
        damping: 0.0,
    }
}

/// Adds a plane body and keeps it in its plane.
pub fn plane_body(builder: &mut Builder, spec: BodySpec) -> usize {
    let index = builder.body(spec);
    let nodes = builder.bodies()[index].nodes.clone().map(|n| n as u32).collect();
    builder.restrain(nodes, vec![Vec3::z()], None);
    index
}

/// A disc of radius 1 about the origin: a core of `core`² quads, half square and half round, in `rings` rings of 4 `core`.
///
/// ```text
/// core   (x, y) ∈ [−1, 1]² at ½·0.40 (x, y) + ½·0.50 max(|x|, |y|) (cos φ, sin φ)
/// rings  straight from its rim to the circle, by equal angles from −135°
/// ```
///
/// Nodes: row by row, then ring by ring from that corner.
pub fn disc(core: u32, rings: u32) -> Mesh {
    let n = core + 1;
    let mut nodes = Vec::new();
    for j in 0..n {
        for i in 0..n {
            let [x, y] = [i, j].map(|k| (2 * k as i64 - i64::from(core)) as f64 / f64::from(core));
            let phi = y.atan2(x);
            let round = x.abs().max(y.abs());
            nodes.push(Vec3::new(
                0.2 * x + 0.25 * round * phi.cos(),
                0.2 * y + 0.25 * round * phi.sin(),
                0.0,
            ));
        }
    }
    let mut cells = Vec::new();
    for j in 0..core {
        for i in 0..core {
            let a = j * n + i;
            cells.extend([a, a + 1, a + 1 + n, a + n]);
        }
    }
    let (around, last) = (4 * core, n - 1);
    let rim: Vec<u32> = (0..around)
        .map(|q| match (q / core, q % core) {
            (0, k) => k,
            (1, k) => k * n + last,
            (2, k) => last * n + last - k,
            (_, k) => (last - k) * n,
        })
        .collect();
    let mut inner = rim.clone();
    let mut outside = Vec::new();
    for ring in 1..=rings {
        let share = f64::from(ring) / f64::from(rings);
        let first = nodes.len() as u32;
        for q in 0..around {
            let angle = -0.75 * PI + 2.0 * PI * f64::from(q) / f64::from(around);
            let circle = Vec3::new(angle.cos(), angle.sin(), 0.0);
            nodes.push((1.0 - share) * nodes[rim[q as usize] as usize] + share * circle);
        }
        let outer: Vec<u32> = (first..first + around).collect();
        for q in 0..around as usize {
            let next = (q + 1) % around as usize;
            if ring == rings {
                outside.push(Side { cells: 0, cell: (cells.len() / 4) as u32, side: 1 });
            }
            cells.extend([inner[q], outer[q], outer[next], inner[next]]);
        }
        inner = outer;
    }
    let mut mesh =
        Mesh { nodes, cells: vec![Cells { kind: CellKind::Quad4, nodes: cells }], ..Mesh::default() };
    mesh.name_sides("outer", outside);
    mesh
}

/// [`disc`] of a given radius and centre.
pub fn disc_at(radius: f64, x: f64, y: f64, core: u32, rings: u32) -> Mesh {
    let mut mesh = disc(core, rings);
    mesh.nodes.iter_mut().for_each(|p| *p = radius * *p + Vec3::new(x, y, 0.0));
    mesh
}

/// Centres and radii of the ten cylinders, symmetric about x = 0.
pub const CYLINDERS: [(f64, f64, f64); 10] = [
    (0.0, 0.21, 0.14),
    (0.0, 1.02, 0.14),
    (-0.72, 0.935, 0.14),
    (0.72, 0.935, 0.14),
    (-0.85, 1.30, 0.14),
    (0.85, 1.30, 0.14),
    (-0.29, 0.70, 0.28),
    (0.29, 0.70, 0.28),
    (-0.34, 1.33, 0.28),
    (0.34, 1.33, 0.28),
];

/// Ten cylinders over a notch y = |x| of two half spaces; G = 2 MPa.
pub fn ten_cylinders(friction: f64) -> Result<Model, CaseError> {
    let mut builder = Builder::default();
    for (i, (x, y, radius)) in CYLINDERS.into_iter().enumerate() {
        let spec = body(&format!("disc-{i}"), disc_at(radius, x, y, 8, 2), &foam(2e6));
        plane_body(&mut builder, spec);
    }
    for (name, side) in [("left", 1.0), ("right", -1.0)] {
        let shape = ObstacleShape::Plane { point: Vec3::zeros(), normal: Vec3::new(side, 1.0, 0.0) };
        builder.contact.obstacles.push(Obstacle::new(name, shape));
    }
    builder.contact.law = Law { friction, restitution: None };
    Ok(builder.build()?)
}

/// Sizes of the cubes of a column, from below.
const COLUMN: [f64; 5] = [0.5, 0.55, 0.5, 0.55, 0.5];

/// Five columns of five cubes (3×3×3 hexes) on a rigid plate, `gap` [m] between the cubes of a column; G = 20 MPa.
pub fn cubes_on_plate(gap: f64, friction: f64) -> Result<Model, CaseError> {
    let mut builder = Builder::default();
    for (x, z) in [(0.0, 0.0), (-0.7, -0.7), (0.7, -0.7), (-0.7, 0.7), (0.7, 0.7)] {
        let mut y = 0.0;
        for (level, size) in COLUMN.into_iter().enumerate() {
            let mut mesh = shape::Box::new([size; 3], [3; 3]).build()?;
            let at = Vec3::new(x - 0.5 * size, y, z - 0.5 * size);
            mesh.place(&Placement { at, rotation: None })?;
            builder.body(body(&format!("cube {x} {z} {level}"), mesh, &foam(2e7)));
            y += size + gap;
        }
    }
    let mut plate = shape::Box::new([4.0, 0.2, 4.0], [1; 3]).build()?;
    plate.place(&Placement { at: Vec3::new(-2.0, -0.2, -2.0), rotation: None })?;
    builder.contact.obstacles.push(Obstacle::new("plate", ObstacleShape::Mesh(plate)));
    builder.contact.law = Law { friction, restitution: None };
    Ok(builder.build()?)
}

/// Largest von Mises stress at any integration point [Pa].
pub fn largest_mises(model: &Model, state: &State) -> f64 {
    let positions = Positions { reference: &model.reference, current: &state.x };
    let mut largest: f64 = 0.0;
    for block in &model.blocks {
        for element in 0..block.len() {
            block.stress(element, positions, &mut |point| largest = largest.max(point.von_mises));
        }
    }
    largest
}

/// Von Mises stress at the integration points of one element [Pa].
pub(crate) fn element_mises(model: &Model, state: &State, block: usize, element: usize) -> Vec<f64> {
    let positions = Positions { reference: &model.reference, current: &state.x };
    let mut points = Vec::new();
    model.blocks[block].stress(element, positions, &mut |point| points.push(point.von_mises));
    points
}

/// Mass and velocity of the mass centre [m/s].
pub fn mass_centre(model: &Model, state: &State) -> (f64, Vec3) {
    let mass: f64 = model.mass.iter().sum();
    let momentum: Vec3 = model.mass.iter().zip(&state.v).map(|(m, v)| *m * v).sum();
    (mass, momentum / mass)
}

/// One look at a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    pub time: f64,
    pub kinetic: f64,
    pub strain: f64,
    /// Largest von Mises stress [Pa].
    pub mises: f64,
    pub contacts: u64,
    pub penetration: f64,
    /// Velocity of the mass centre [m/s].
    pub velocity: Vec3,
}

/// A run with what was seen on the way.
pub struct Thrown<M: Method> {
    pub model: Model,
    pub state: State,
    pub ledger: Ledger,
    pub method: M,
    pub samples: Vec<Sample>,
}

impl<M: Method> Thrown<M> {
    /// All bodies start with `velocity`.
    pub fn new(model: Model, mut method: M, velocity: Vec3) -> Result<Self, CaseError> {
        let mut state = model.rest();
        state.v.fill(velocity);
        let mut ledger = Ledger::default();
        method.start(&model, &mut state, &mut ledger)?;
        Ok(Thrown { model, state, ledger, method, samples: Vec::new() })
    }

    /// Goes to `end` and looks at the first instant at or after each multiple of `every` [s].
    pub fn run(&mut self, end: f64, every: f64) -> Result<(), CaseError> {
        let never = AtomicBool::new(false);
        let first = (self.state.time / every).round() as u64 + 1;
        for k in first..=(end / every).round() as u64 {
            let until = k as f64 * every;
            self.method.advance(&self.model, &mut self.state, until, &mut self.ledger, &never)?;
            self.samples.push(Sample {
                time: self.state.time,
                kinetic: self.ledger.kinetic,
                strain: self.ledger.strain,
                mises: largest_mises(&self.model, &self.state),
                contacts: self.ledger.contacts,
                penetration: self.ledger.penetration,
                velocity: mass_centre(&self.model, &self.state).1,
            });
        }
        Ok(())
    }

    /// The sample nearest to `time`.
    pub fn at(&self, time: f64) -> Option<&Sample> {
        self.samples.iter().min_by(|p, q| (p.time - time).abs().total_cmp(&(q.time - time).abs()))
    }

    /// Total energy at `time` over that at the start.
    pub fn energy_at(&self, time: f64) -> f64 {
        self.at(time).map_or(f64::NAN, |s| (s.kinetic + s.strain) / self.ledger.initial)
    }

    /// Largest von Mises stress seen between two instants [Pa].
    pub fn mises_between(&self, from: f64, to: f64) -> f64 {
        self.samples.iter().filter(|s| s.time >= from && s.time <= to).fold(0.0, |m: f64, s| m.max(s.mises))
    }
}

/// Cubes of edge 0.5 m (3×3×3 hexes) in `layers` layers of `side`², every other layer shifted by half a cube so that each
/// stands on four, on a rough floor and each other under their weight; G = 20 MPa. About 16 contacts a cube.
pub fn pile(side: u32, layers: u32, friction: f64, damping: f64) -> Result<Model, CaseError> {
    let mut builder = Builder::default();
    for layer in 0..layers {
        let offset = if layer % 2 == 0 { 0.0 } else { 0.26 };
        for k in 0..side * side {
            let mut mesh = shape::Box::new([0.5; 3], [3; 3]).build()?;
            let [x, y] = [k % side, k / side].map(|i| 0.52 * f64::from(i) + offset);
            mesh.place(&Placement { at: Vec3::new(x, y, 0.5 * f64::from(layer)), rotation: None })?;
            let spec = body(&format!("cube {layer} {k}"), mesh, &foam(2e7));
            builder.body(BodySpec { gravity: -9.81 * Vec3::z(), damping, ..spec });
        }
    }
    let floor = ObstacleShape::Plane { point: Vec3::zeros(), normal: Vec3::z() };
    builder.contact.obstacles.push(Obstacle::new("floor", floor));
    builder.contact.law = Law { friction, restitution: None };
    Ok(builder.build()?)
}
