//! `[body.NAME]`: what deforms, or without a material stands in the way.

use super::load::always;
use super::material::MaterialRef;
use super::mesh::MeshSpec;
use super::obstacle::{self, Obstacle};
use super::shatter::Shatter;
use super::support::Support;
use super::symmetry::Symmetry;
use crate::element::choice::{Integration, Plane, Points, Sheet};
use carom_declare::{
    Count, Item, Json, Kind, Named, NotNegative, Positive, Schemas, Tables, TimeTable, Value, Written, json,
    kind, read_section, section, words,
};

words! {
    /// From where a shell is touched.
    pub enum Sides {
        /// From where its triangles look to, as a solid: it must be closed.
        Outside = "outside",
        /// From either side; a node stays on the side it came from.
        Both = "both",
    }
}

words! {
    /// What stands beyond the open edges of a shell, so that its surface is smooth up to them.
    pub enum Ghosts {
        /// Points that hang on the nodes inside: no curvature across an edge.
        Dependent = "dependent",
        /// Nodes of their own beyond edges that nothing holds: the surface bends there as it likes, and in its undeformed shape
        /// goes on with its curvature.
        Independent = "independent",
    }
}

section! {
    /// A body that deforms.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Body: "body" {
        /// Nodes, cells and named sets: a built-in shape, or { file = "part.inp" }, a Gmsh, Abaqus or VTK file; .stl and .obj hold triangles.
        mesh: MeshSpec => "{ shape = \"box\", size = [1, 1, 1], cells = [4, 4, 4] }";
        /// Its material: the name of one, or a table with a law; not needed where `materials` covers all cells.
        material: Option<MaterialRef>;
        /// Materials of groups of cells, by the name of the group.
        materials: Named<MaterialRef>;
        /// Integration points of solids.
        integration: Integration;
        /// Stiffness against hourglass modes as a share of λ + 2μ, for `integration = "one-point"`.
        hourglass: f64 as NotNegative = 0.1;
        /// What triangles and quadrilaterals are.
        element: Sheet;
        /// Shells: how often every triangle is split into four by Loop's rules.
        refine: u32;
        /// Shells: move the control points so that the smooth surface goes through the nodes of the mesh.
        fit: bool;
        /// Integration points of a shell's triangle.
        points: Points;
        /// Shells: what stands beyond their open edges.
        ghosts: Ghosts;
        /// What happens across a plane body; "strain" unless given.
        plane: Option<Plane>;
        /// Thickness of a shell, or of a plane body [m], where it is 1 unless given.
        thickness: Option<f64> as Option<Positive>;
        /// Shells: from where they are touched. A closed one "outside", as a solid, unless it touches itself or has a
        /// `contact_thickness`; all others on both sides, and with "dcr" guarded.
        sides: Option<Sides>;
        /// Shells: contact takes place at half this distance from the control surface [m]; 0 as published.
        contact_thickness: f64 as NotNegative;
        /// Cross-section of a bar [m²]; 1 unless given.
        area: Option<f64> as Option<Positive>;
        /// Initial velocity [m/s].
        velocity: [f64; 3];
        /// Initial spin [rad/s].
        spin: [f64; 3];
        /// The point it spins about: "centre" (of mass) or a point [m].
        spin_about: About;
        /// Acceleration [m/s²].
        gravity: [f64; 3];
        /// Factor of gravity in time: [time, factor] pairs, straight lines between, constant beyond.
        gravity_table: Vec<[f64; 2]> as TimeTable = always();
        /// Mass-proportional damping [1/s]: c of the force −c m v.
        damping: f64 as NotNegative;
        /// What is held in all directions: everything, nothing, or sets.
        fix: Part = Part::All(false);
        /// What of its surface can touch: everything, nothing, or sets of sides.
        contact: Part as Touching = Part::All(true);
        /// Sets held in some directions, or with prescribed motion along them.
        support: Vec<Support> as Tables<Support>;
        /// Planes of symmetry at its edge: nodes in them stay in them, and shells go on beyond as their own image.
        symmetry: Vec<Symmetry> as Tables<Symmetry>;
        /// Copies in rows, named NAME-1, NAME-2, …; gone when the deck has been read.
        array: Option<Array>;
        /// Pieces that it is cut into, named NAME-1, NAME-2, …; gone when the deck has been read.
        shatter: Option<Shatter>;
    } check |_r| {
        materials.as_ref().is_some_and(Named::whole)
    }
}

/// More copies than this are a slip of the pen.
const MOST_COPIES: u64 = 1_000_000;

section! {
    /// Copies of a body in rows along x, y and z.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Array: "array" {
        /// Copies along x, y and z.
        count: [u32; 3] as [Count; 3] => "[5, 5, 8]";
        /// From one to the next along x, y and z [m].
        spacing: [f64; 3] => "[1.2, 1.2, 1.2]";
        /// Turn each about its middle, at random by this seed.
        tumble: Option<u32>;
    } check |r| {
        let copies = count.iter().flatten().fold(1, |n: u64, &c| n.saturating_mul(u64::from(c)));
        let many = copies > MOST_COPIES && spacing.is_some();
        if many {
            let message = format!("{} asks for {copies} bodies", r.name);
            r.problems.add(&r.place, message, format!("{MOST_COPIES} are the most"));
        }
        !many
    }
}

/// A point: the centre of mass, or where it is said to be.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum About {
    #[default]
    Centre,
    Point([f64; 3]),
}

impl Kind for About {
    type Of = About;
    fn read(item: Item) -> Option<About> {
        match item.node.value {
            Value::String(_) => item.choice(&["centre"]).map(|_| About::Centre),
            _ => <[f64; 3]>::read(item).map(About::Point),
        }
    }
    fn write(value: &About) -> Option<Written> {
        match value {
            About::Centre => Some(Written::Text("centre".into())),
            About::Point(p) => <[f64; 3]>::write(p),
        }
    }
    fn schema(schemas: &mut Schemas) -> Json {
        json!({ "if": { "type": "string" }, "then": { "const": "centre" }, "else": <[f64; 3]>::schema(schemas) })
    }
}

/// Everything, nothing, or sets.
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    All(bool),
    Sets(Vec<String>),
}

impl Part {
    pub fn sets(&self) -> &[String] {
        match self {
            Part::All(_) => &[],
            Part::Sets(sets) => sets,
        }
    }
}

impl Kind for Part {
    type Of = Part;
    fn read(item: Item) -> Option<Part> {
        match &item.node.value {
            Value::Bool(all) => Some(Part::All(*all)),
            Value::String(set) => Some(Part::Sets(vec![set.clone()])),
            Value::Array(_) => item.list(Item::text).map(Part::Sets),
            other => {
                item.refuse(format!("is {}", other.kind()), "it must be true, false, a set or a list of sets")
            }
        }
    }
    fn write(value: &Part) -> Option<Written> {
        match value {
            Part::All(all) => bool::write(all),
            Part::Sets(sets) => Vec::<String>::write(sets),
        }
    }
    fn schema(_: &mut Schemas) -> Json {
        json!({ "type": ["boolean", "string", "array"], "items": { "type": "string" } })
    }
}

kind!(
    /// What of a surface can touch.
    pub Touching: Part,
    |item: Item| match Part::read(item.clone())? {
        Part::Sets(sets) if sets.is_empty() => {
            item.refuse("is an empty list", "contact = false takes the whole body out")
        }
        part => Some(part),
    },
    { "type": ["boolean", "string", "array"], "items": { "type": "string" }, "minItems": 1 }
);

/// A body: with a material it deforms, without one it is a rigid obstacle.
#[derive(Clone, Debug, PartialEq)]
pub enum AnyBody {
    Deformable(Box<Body>),
    Rigid(Box<Obstacle>),
}

impl AnyBody {
    /// Its mesh; planes and polylines have none.
    pub fn mesh_mut(&mut self) -> Option<&mut MeshSpec> {
        match self {
            AnyBody::Deformable(body) => Some(&mut body.mesh),
            AnyBody::Rigid(obstacle) => obstacle.mesh.as_mut(),
        }
    }
}

impl Kind for AnyBody {
    type Of = AnyBody;
    const CALLED: &'static str = "body";

    fn read(item: Item) -> Option<AnyBody> {
        let r = item.clone().table()?;
        let material = r.has("material") || r.has("materials");
        let rigid = r.is_table("plane") || r.has("polyline") || (r.has("mesh") && !material);
        match rigid {
            true => obstacle::read(item).map(|obstacle| AnyBody::Rigid(Box::new(obstacle))),
            false => read_section(item).map(|body| AnyBody::Deformable(Box::new(body))),
        }
    }
    fn write(value: &AnyBody) -> Option<Written> {
        match value {
            AnyBody::Deformable(body) => Body::write(body),
            AnyBody::Rigid(obstacle) => Obstacle::write(obstacle),
        }
    }
    fn schema(schemas: &mut Schemas) -> Json {
        let (body, obstacle) = (Body::schema(schemas), Obstacle::schema(schemas));
        let has = |key: &str| json!({ "required": [key] });
        let plane = json!({ "required": ["plane"], "properties": { "plane": { "type": "object" } } });
        let bare = json!({ "required": ["mesh"], "not": { "anyOf": [has("material"), has("materials")] } });
        let rigid = json!({ "anyOf": [plane, has("polyline"), bare] });
        json!({ "type": "object", "if": rigid, "then": obstacle, "else": body })
    }
}
