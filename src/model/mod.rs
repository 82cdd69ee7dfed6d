//! What is computed: bodies, masses, restraints and loads, all fixed; and what changes: state and ledger.
//!
//! A model is put together by [`Builder`]: bodies bring their meshes and blocks, then restraints and loads
//! refer to their nodes. All nodes of all bodies stand in one array; a body owns a contiguous range.

#[doc(hidden)]
pub mod between;
pub mod contact;
#[doc(hidden)]
pub mod forces;
#[doc(hidden)]
pub mod inertia;
pub mod ledger;
pub mod load;
pub mod points;
pub mod record;
pub mod restraint;
pub mod smooth;
pub mod table;

use crate::contact::scene::BodyKind;
use crate::element::{Block, MakeBlock};
use crate::math::Vec3;
use crate::mesh::{Mesh, Side};
use contact::Contact;
use load::{Load, LoadKind, OwnLoad};
use restraint::{Motion, Restraint, Restraints};
use smooth::SmoothSides;
use std::ops::Range;

pub use ledger::Ledger;
pub use table::Table;

/// One body.
pub struct Body {
    pub name: String,
    /// Its nodes in the model's arrays.
    pub nodes: Range<usize>,
    /// Its blocks in [`Model::blocks`].
    pub blocks: Range<usize>,
    pub kind: BodyKind,
    /// Its mesh, with node ids of its own (add `nodes.start` for the model's) and its named sets.
    pub mesh: Mesh,
    /// Thickness [m] of a plane body or a shell, area [m²] of a bar, 1 in space.
    pub section: f64,
    /// Acceleration that acts on all of it [m/s²], and its factor in time.
    pub gravity: Vec3,
    pub gravity_table: Table,
    /// Mass-proportional damping [1/s]: the force is −c m v.
    pub damping: f64,
}

impl Body {
    /// Model-wide ids of a named node set; every side set and cell group names its nodes as well.
    pub fn node_set(&self, name: &str) -> Option<Vec<u32>> {
        let start = self.nodes.start as u32;
        self.mesh.node_sets.get(name).map(|set| set.iter().map(|n| n + start).collect())
    }
}

/// Everything that does not change in time.
pub struct Model {
    /// Where nodes start [m].
    pub reference: Vec<Vec3>,
    pub bodies: Vec<Body>,
    pub blocks: Vec<Box<dyn Block>>,
    /// Lumped mass of each node [kg].
    pub mass: Vec<f64>,
    pub restraints: Restraints,
    pub loads: Vec<Load>,
    /// Read by methods that know contact.
    pub contact: Contact,
}

impl Model {
    pub fn elements(&self) -> usize {
        self.blocks.iter().map(|b| b.len()).sum()
    }

    /// Body that owns a block.
    pub fn body_of_block(&self, block: usize) -> &Body {
        let at = self.bodies.partition_point(|b| b.blocks.end <= block);
        &self.bodies[at]
    }

    /// Body that owns a node.
    pub fn body_of_node(&self, node: usize) -> &Body {
        &self.bodies[self.bodies.partition_point(|b| b.nodes.end <= node)]
    }

    /// Diagonal of the box around all nodes where they start [m].
    pub fn size(&self) -> f64 {
        let first = self.reference.first().copied().unwrap_or_default();
        let (low, high) =
            self.reference.iter().fold((first, first), |(low, high), x| (low.inf(x), high.sup(x)));
        (high - low).norm()
    }

    /// Bytes held by nodes, blocks and meshes.
    pub fn bytes(&self) -> usize {
        let mesh = |m: &Mesh| m.nodes.len() * 24 + m.cells.iter().map(|c| c.nodes.len() * 4).sum::<usize>();
        self.reference.len() * 32
            + self.blocks.iter().map(|b| b.bytes()).sum::<usize>()
            + self.bodies.iter().map(|b| mesh(&b.mesh)).sum::<usize>()
    }

    /// Smallest stable step [s] of the reference shapes, over all elements.
    pub fn stable_step(&self) -> f64 {
        self.blocks.iter().flat_map(|b| b.stable_steps()).copied().fold(f64::INFINITY, f64::min)
    }

    /// A state at rest in the reference shape at time zero.
    pub fn rest(&self) -> State {
        let material = || {
            let patches = self.blocks.iter().flat_map(|b| {
                let per_element = b.state_per_element();
                (0..b.patches().len()).map(move |p| vec![0.0; b.patches().range(p).len() * per_element])
            });
            patches.collect::<Vec<_>>()
        };
        State {
            time: 0.0,
            step: 0,
            x: self.reference.clone(),
            v: vec![Vec3::zeros(); self.reference.len()],
            material: MaterialState { old: material(), new: material() },
        }
    }
}

/// What the laws keep, patch by patch in the order of blocks: before the step, and after it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MaterialState {
    pub old: Vec<Vec<f64>>,
    pub new: Vec<Vec<f64>>,
}

impl MaterialState {
    /// Makes the new numbers the old ones: the step is accepted.
    pub fn accept(&mut self) {
        std::mem::swap(&mut self.old, &mut self.new);
    }
}

/// Everything that changes in time and belongs to no method in particular.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// [s]
    pub time: f64,
    /// Steps done.
    pub step: u64,
    /// Positions [m].
    pub x: Vec<Vec3>,
    /// Velocities [m/s].
    pub v: Vec<Vec3>,
    pub material: MaterialState,
}

/// A body as it is handed to the builder.
pub struct BodySpec<'a> {
    pub name: String,
    pub kind: BodyKind,
    pub mesh: Mesh,
    /// One maker for each entry of `mesh.cells`.
    pub blocks: Vec<Box<MakeBlock<'a>>>,
    pub section: f64,
    pub gravity: Vec3,
    pub gravity_table: Table,
    pub damping: f64,
}

/// Puts a model together.
#[derive(Default)]
pub struct Builder {
    reference: Vec<Vec3>,
    bodies: Vec<Body>,
    blocks: Vec<Box<dyn Block>>,
    restraints: Vec<Restraint>,
    loads: Vec<Load>,
    /// Friction, obstacles, and who touches whom. Bodies are counted as they were added.
    pub contact: Contact,
}

impl Builder {
    /// Adds a body; returns its index.
    pub fn body(&mut self, spec: BodySpec) -> usize {
        let start = self.reference.len();
        let first_block = self.blocks.len();
        self.reference.extend(&spec.mesh.nodes);
        for (cells, make) in spec.mesh.cells.iter().zip(&spec.blocks) {
            let connectivity = cells.nodes.iter().map(|n| n + start as u32).collect();
            self.blocks.push(make(connectivity, &self.reference));
        }
        self.bodies.push(Body {
            name: spec.name,
            kind: spec.kind,
            nodes: start..self.reference.len(),
            blocks: first_block..self.blocks.len(),
            mesh: spec.mesh,
            section: spec.section,
            gravity: spec.gravity,
            gravity_table: spec.gravity_table,
            damping: spec.damping,
        });
        self.bodies.len() - 1
    }

    /// Bodies so far.
    pub fn bodies(&self) -> &[Body] {
        &self.bodies
    }

    /// Holds nodes (model-wide ids) along `directions`; with a `motion`, moves them along these as it says.
    pub fn restrain(&mut self, nodes: Vec<u32>, directions: Vec<Vec3>, motion: Option<Motion>) {
        self.restraints.push(Restraint { nodes, directions, motion });
    }

    /// A force [N] shared equally by the points that belong to nodes (model-wide ids) of one body.
    pub fn force(&mut self, nodes: Vec<u32>, force: Vec3, table: Table) {
        let share = force / nodes.len() as f64;
        let body =
            self.bodies.iter().find(|b| nodes.first().is_some_and(|&n| b.nodes.contains(&(n as usize))));
        let points = body.and_then(|b| points::surface_points(&self.blocks[b.blocks.clone()], &nodes));
        let kind = match points {
            None => LoadKind::Nodal { nodes, share },
            Some(points) => {
                let (nodes, forces) = points.iter().map(|(n, turn)| (*n, turn.transpose() * share)).unzip();
                LoadKind::Dead { nodes, forces }
            }
        };
        self.loads.push(Load { kind, table });
    }

    /// A pressure [Pa] that follows the sides of a body, pushing inwards where positive.
    pub fn pressure(&mut self, body: usize, sides: &[Side], pressure: f64, table: Table) {
        let section = self.bodies[body].section;
        let kind = match self.smooth(body, sides) {
            Some(sides) => LoadKind::SmoothPressure { sides, pressure },
            None => LoadKind::Pressure { facets: self.facets(body, sides), pressure, section },
        };
        self.loads.push(Load { kind, table });
    }

    /// A dead traction [Pa], per reference area, on the sides of a body.
    pub fn traction(&mut self, body: usize, sides: &[Side], traction: Vec3, table: Table) {
        let mut sum = std::collections::BTreeMap::new();
        let mut add = |n: u32, force: Vec3| *sum.entry(n).or_insert(Vec3::zeros()) += force;
        match self.smooth(body, sides) {
            Some(sides) => sides.area_shares(traction, &self.reference, add),
            None => {
                for facet in &self.facets(body, sides) {
                    let x: Vec<Vec3> = facet.nodes().iter().map(|&n| self.reference[n as usize]).collect();
                    let shares = load::area_shares(&x, self.bodies[body].section);
                    facet.nodes().iter().zip(shares).for_each(|(&n, share)| add(n, share * traction));
                }
            }
        }
        let (nodes, forces) = sum.into_iter().unzip();
        self.loads.push(Load { kind: LoadKind::Dead { nodes, forces }, table });
    }

    /// A force per reference volume [N/m³] on a whole body.
    pub fn body_force(&mut self, body: usize, density: Vec3, table: Table) {
        let body = &self.bodies[body];
        let mut volume = vec![0.0; self.reference.len()];
        for block in &self.blocks[body.blocks.clone()] {
            let mut mass = vec![0.0; self.reference.len()];
            block.add_lumped_mass(&self.reference, &mut mass);
            volume.iter_mut().zip(mass).for_each(|(v, m)| *v += m / block.density());
        }
        let nodes: Vec<u32> = body.nodes.clone().map(|n| n as u32).collect();
        let forces = body.nodes.clone().map(|n| volume[n] * density).collect();
        self.loads.push(Load { kind: LoadKind::Dead { nodes, forces }, table });
    }

    /// Forces that somebody's function says.
    pub fn own_load(&mut self, load: OwnLoad) {
        // a table of its own: `static` brings on loads without one little by little
        let table = Table::new(vec![(0.0, 1.0), (1.0, 1.0)]).unwrap_or_default();
        self.loads.push(Load { kind: LoadKind::Own(load), table });
    }

    /// Sides of a shell are triangles of its smooth surface.
    fn smooth(&self, body: usize, sides: &[Side]) -> Option<SmoothSides> {
        let blocks = &self.blocks[self.bodies[body].blocks.clone()];
        let (surface, first) = blocks.iter().find_map(|b| b.surface())?;
        Some(SmoothSides::new(surface, first, sides))
    }

    fn facets(&self, body: usize, sides: &[Side]) -> Vec<load::LoadFacet> {
        let body = &self.bodies[body];
        let facet = |&side: &Side| {
            let nodes: Vec<u32> = body.mesh.side_nodes(side).map(|n| n + body.nodes.start as u32).collect();
            // sides of a bar are its first and its second node
            load::LoadFacet::new(&nodes, if side.side == 0 { -1.0 } else { 1.0 })
        };
        sides.iter().map(facet).collect()
    }

    pub fn build(self) -> Result<Model, ModelError> {
        if self.blocks.iter().all(|b| b.is_empty()) {
            return Err(ModelError::Empty);
        }
        let mut mass = vec![0.0; self.reference.len()];
        for block in &self.blocks {
            block.add_lumped_mass(&self.reference, &mut mass);
        }
        for body in &self.bodies {
            if let Some(node) = body.nodes.clone().find(|&n| !(mass[n] > 0.0 && mass[n].is_finite())) {
                let (body, node) = (body.name.clone(), node - body.nodes.start);
                return Err(ModelError::Massless { body, node });
            }
        }
        let restraints = Restraints::new(&self.restraints, &self.reference);
        Ok(Model {
            reference: self.reference,
            bodies: self.bodies,
            blocks: self.blocks,
            mass,
            restraints,
            loads: self.loads,
            contact: self.contact,
        })
    }
}

/// Why a model cannot be.
#[derive(Debug, thiserror::Error, PartialEq)]
pub enum ModelError {
    #[error("there is nothing to compute: no body has elements")]
    Empty,
    #[error(
        "node {node} of body `{body}` has no mass; every node must belong to an element of positive volume"
    )]
    Massless { body: String, node: usize },
}
