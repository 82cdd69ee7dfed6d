//! Who may touch whom, and how: the part of a model that methods with contact read.
//!
//! Bodies are counted as in the model, rigid obstacles after them. A [`Scene`] is made from the boundaries of all
//! of them by the method, which knows whether it sees quadrilaterals as they are or cut into triangles. The nodes of
//! obstacles stand behind those of the model in the scene's numbering, and [`Contact::place`] says where they are.

use super::Model;
use super::restraint::Motion;
use crate::contact::friction::Stick;
use crate::contact::obstacle::Pose;
use crate::contact::scene::{Attributes, BodyInput, FacetKind, Rules, Scene};
use crate::math::{Mat3, Vec3};
use crate::mesh::surface::Surface;
use crate::mesh::{CellKind, Mesh, Side};

/// How two bodies answer each other.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Law {
    /// Coulomb's coefficient [-].
    pub friction: f64,
    /// Share of the speed of approach with which surface nodes part [-]; the method's own if unset.
    pub restitution: Option<f64>,
}

/// What an obstacle looks like.
#[derive(Clone, Debug)]
pub enum ObstacleShape {
    /// The half space below a plane.
    Plane { point: Vec3, normal: Vec3 },
    /// A chain of segments in the x–y plane, solid on its left.
    Polyline { points: Vec<Vec3>, closed: bool },
    /// The boundary of solid cells, or triangles and quadrilaterals that are themselves the surface.
    Mesh(Mesh),
    /// The boundary of cells of any dimension: plane cells are a solid in the x–y plane, bars one on the x axis.
    Solid(Mesh),
}

/// A rigid body that rests or moves as prescribed.
#[derive(Clone, Debug)]
pub struct Obstacle {
    pub name: String,
    pub shape: ObstacleShape,
    pub motion: Option<Motion>,
    /// Steady rotation [rad/s] about `centre`, which follows the motion.
    pub spin: Vec3,
    pub centre: Vec3,
}

impl Obstacle {
    /// At rest.
    pub fn new(name: &str, shape: ObstacleShape) -> Obstacle {
        Obstacle { name: name.into(), shape, motion: None, spin: Vec3::zeros(), centre: Vec3::zeros() }
    }

    /// Where it stands and how it moves at `time`.
    pub fn pose(&self, time: f64) -> Pose {
        let turn = match self.spin == Vec3::zeros() {
            true => Mat3::identity(),
            false => nalgebra::Rotation3::new(self.spin * time).into_inner(),
        };
        let at = |f: fn(&Motion, f64) -> Vec3| self.motion.as_ref().map_or(Vec3::zeros(), |m| f(m, time));
        Pose {
            centre: self.centre,
            displacement: at(Motion::displacement),
            turn,
            velocity: at(Motion::velocity),
            spin: self.spin,
        }
    }

    pub fn at_rest(&self) -> bool {
        self.motion.is_none() && self.spin == Vec3::zeros()
    }

    /// How many nodes it has.
    pub fn count(&self) -> usize {
        match &self.shape {
            ObstacleShape::Plane { .. } => 2,
            ObstacleShape::Polyline { points, .. } => points.len(),
            ObstacleShape::Mesh(mesh) | ObstacleShape::Solid(mesh) => mesh.nodes.len(),
        }
    }

    /// Its nodes as drawn.
    fn nodes(&self) -> Vec<Vec3> {
        match &self.shape {
            ObstacleShape::Plane { point, normal } => vec![*point, point + normal.normalize()],
            ObstacleShape::Polyline { points, .. } => points.clone(),
            ObstacleShape::Mesh(mesh) | ObstacleShape::Solid(mesh) => mesh.nodes.clone(),
        }
    }

    fn input(&self, first: u32) -> BodyInput {
        let attributes = Attributes::obstacle(self.at_rest());
        match &self.shape {
            ObstacleShape::Plane { .. } => BodyInput::of_plane(&self.name, first, self.at_rest()),
            ObstacleShape::Polyline { points, closed } => {
                BodyInput::of_polyline(&self.name, first, points.len() as u32, *closed, attributes)
            }
            ObstacleShape::Solid(mesh) => {
                BodyInput::of_surface(&self.name, mesh, &Surface::of(mesh), first, attributes)
            }
            ObstacleShape::Mesh(mesh) if mesh.dimension() == 3 => {
                BodyInput::of_surface(&self.name, mesh, &Surface::of(mesh), first, attributes)
            }
            ObstacleShape::Mesh(mesh) => {
                let mut facets = Vec::new();
                for cells in &mesh.cells {
                    for cell in cells.nodes.chunks_exact(cells.kind.nodes()) {
                        let n = |k: usize| first + cell[k];
                        match cells.kind {
                            CellKind::Tri3 | CellKind::Shell3 => {
                                facets.push((FacetKind::Triangle, [n(0), n(1), n(2), n(2)]))
                            }
                            CellKind::Quad4 => facets.push((FacetKind::Quad, [n(0), n(1), n(2), n(3)])),
                            CellKind::Bar2 => facets.push((FacetKind::Segment, [n(0), n(1), n(1), n(1)])),
                            CellKind::Tet4 | CellKind::Hex8 => {}
                        }
                    }
                }
                BodyInput { name: self.name.clone(), facets, attributes }
            }
        }
    }
}

/// Contact of a model. Everything may touch everything else without friction unless told otherwise.
#[derive(Clone, Debug, Default)]
pub struct Contact {
    pub obstacles: Vec<Obstacle>,
    /// Between all who have no law of their own.
    pub law: Law,
    /// What sticking does in methods that answer contacts by impacts.
    pub stick: Stick,
    /// Between two bodies.
    pub laws: Vec<([u32; 2], Law)>,
    /// Of two bodies, whose points are held against whose facets; for methods that ask.
    pub slaves: Vec<([u32; 2], u32)>,
    /// Pairs of bodies that pass through each other.
    pub pairs_off: Vec<[u32; 2]>,
    /// Bodies that touch nothing.
    pub off: Vec<u32>,
    /// Bodies that may touch themselves.
    pub with_itself: Vec<u32>,
    /// If given, only these pairs touch (and bodies of `with_itself` themselves).
    pub only: Option<Vec<[u32; 2]>>,
    /// Bodies of which only some sides take part, and these sides, ascending.
    pub parts: Vec<(u32, Vec<Side>)>,
    /// Shells that touch as if they were so thick [m]: half of it counts on each side.
    pub thickness: Vec<(u32, f64)>,
}

impl Contact {
    /// Name of a body of the scene: obstacles are counted after bodies.
    pub fn name_of(&self, model: &Model, body: u32) -> String {
        let obstacle =
            || self.obstacles.get((body as usize).wrapping_sub(model.bodies.len())).map(|o| &o.name);
        let name = model.bodies.get(body as usize).map(|b| &b.name).or_else(obstacle);
        name.cloned().unwrap_or_default()
    }

    /// What holds between two bodies.
    #[inline]
    pub fn law(&self, a: u32, b: u32) -> Law {
        if self.laws.is_empty() {
            return self.law;
        }
        let pair = |p: &&([u32; 2], Law)| p.0 == [a, b] || p.0 == [b, a];
        self.laws.iter().find(pair).map_or(self.law, |p| p.1)
    }

    /// Of two bodies, the one whose points are held against the other's facets, if that was said.
    pub fn slave(&self, a: u32, b: u32) -> Option<u32> {
        self.slaves.iter().find(|s| s.0 == [a, b] || s.0 == [b, a]).map(|s| s.1)
    }

    /// The surfaces of all bodies and obstacles, in the numbering of the scene.
    pub fn scene(&self, model: &Model, split_quads: bool) -> Scene {
        let mut reference = model.reference.clone();
        let mut bodies: Vec<BodyInput> = Vec::new();
        for (b, body) in model.bodies.iter().enumerate() {
            let thickness = self.thickness.iter().find(|t| t.0 == b as u32).map_or(0.0, |t| t.1);
            let attributes = Attributes {
                kind: body.kind,
                thickness,
                self_contact: self.with_itself.contains(&(b as u32)),
                ..Attributes::default()
            };
            let (first, mut surface) = (body.nodes.start as u32, Surface::of(&body.mesh));
            if let Some((_, sides)) = self.parts.iter().find(|p| p.0 == b as u32) {
                surface.facets.retain(|f| sides.binary_search(&f.side).is_ok());
            }
            bodies.push(BodyInput::of_surface(&body.name, &body.mesh, &surface, first, attributes));
        }
        for obstacle in &self.obstacles {
            bodies.push(obstacle.input(reference.len() as u32));
            reference.extend(obstacle.nodes());
        }
        let only = self.only.as_ref().map(|pairs| {
            let own = self.with_itself.iter().map(|&b| [b, b]);
            pairs.iter().copied().chain(own).collect()
        });
        let rules = Rules { split_quads, only, bonded: self.pairs_off.clone(), off: self.off.clone() };
        Scene::new(&bodies, &reference, rules)
    }

    /// Nodes of all obstacles as drawn, in the order of the scene.
    pub fn obstacle_nodes(&self) -> Vec<Vec3> {
        self.obstacles.iter().flat_map(Obstacle::nodes).collect()
    }

    /// Where these nodes are at `time`.
    pub fn place(&self, time: f64, drawn: &[Vec3], x: &mut [Vec3]) {
        let mut from = 0;
        for obstacle in &self.obstacles {
            let count = obstacle.count();
            obstacle.pose(time).place_all(&drawn[from..from + count], &mut x[from..from + count]);
            from += count;
        }
    }
}
