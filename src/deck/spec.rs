//! A deck as plain data: what it says, with every default filled in.
//!
//! These types are written out as the resolved deck and are the source of the JSON schema. They are *not* read by
//! serde: `read.rs` does that by hand, because it knows the place of every value and reports all problems at once.
//! A test holds the two together.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};
use std::borrow::Cow;

/// Entries of a table whose keys are names, in the order of the deck.
#[derive(Clone, Debug, PartialEq)]
pub struct Named<T>(pub Vec<(String, T)>);

impl<T> Default for Named<T> {
    fn default() -> Self {
        Named(Vec::new())
    }
}

impl<T> Named<T> {
    pub fn get(&self, name: &str) -> Option<&T> {
        self.0.iter().find(|(n, _)| n == name).map(|(_, value)| value)
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<T: Serialize> Serialize for Named<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

impl<T: JsonSchema> JsonSchema for Named<T> {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        format!("Named{}", T::schema_name()).into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let inner = generator.subschema_for::<T>();
        json_schema!({ "type": "object", "additionalProperties": inner })
    }
}

/// A deck of Carom: one problem, ready to run. Consistent units of your choice; comments here say SI.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Carom deck", deny_unknown_fields)]
pub struct Spec {
    /// What this is about, in a line.
    #[serde(default)]
    pub title: String,
    /// How the state is carried forward in time.
    pub method: MethodName,
    /// When it ends [s].
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub end: f64,
    /// How long a step is.
    #[serde(default)]
    pub step: Step,
    /// What is written.
    #[serde(default)]
    pub output: Output,
    /// Materials by name.
    #[serde(default, skip_serializing_if = "Named::is_empty")]
    pub material: Named<Law>,
    /// Bodies by name.
    pub body: Named<Body>,
    /// Forces from outside.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub load: Vec<Load>,
    /// Numbers to follow in time, by name: columns of history.csv.
    #[serde(default, skip_serializing_if = "Named::is_empty")]
    pub probe: Named<Probe>,
}

/// A method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MethodName {
    /// Velocity Verlet, explicit.
    Verlet,
}

impl MethodName {
    pub const ALL: [&'static str; 1] = ["verlet"];
    /// Names that are spoken for.
    pub const LATER: [&'static str; 7] = [
        "dcr",
        "asynchronous",
        "nonsmooth",
        "velocity-update",
        "semi-explicit",
        "newmark-penalty",
        "bipotential-implicit",
    ];

    pub fn name(self) -> &'static str {
        match self {
            MethodName::Verlet => "verlet",
        }
    }
}

/// A law with its numbers.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "law", rename_all = "kebab-case")]
#[schemars(deny_unknown_fields)]
pub enum Law {
    /// Hooke's law at small strains. Not for large rotations.
    Linear {
        /// Young's modulus [Pa].
        young: f64,
        /// Poisson's ratio, above -1 and below 0.5.
        poisson: f64,
        /// Mass per volume [kg/m³].
        density: f64,
    },
    /// St. Venant–Kirchhoff: Hooke's law in the Green strain.
    StVenantKirchhoff {
        /// Young's modulus [Pa].
        young: f64,
        /// Poisson's ratio, above -1 and below 0.5.
        poisson: f64,
        /// Mass per volume [kg/m³].
        density: f64,
    },
    /// Compressible neo-Hookean.
    NeoHookean {
        /// Young's modulus at small strains [Pa].
        young: f64,
        /// Poisson's ratio at small strains, above -1 and below 0.5.
        poisson: f64,
        /// Mass per volume [kg/m³].
        density: f64,
    },
    /// Mooney–Rivlin.
    MooneyRivlin {
        /// C₁ [Pa].
        c1: f64,
        /// C₂ [Pa].
        c2: f64,
        /// Bulk modulus at small strains [Pa].
        bulk: f64,
        /// Mass per volume [kg/m³].
        density: f64,
    },
    /// Ogden's law, one entry of `mu` and `alpha` per term.
    Ogden {
        /// μ of each term [Pa].
        mu: Vec<f64>,
        /// α of each term.
        alpha: Vec<f64>,
        /// Bulk modulus at small strains [Pa].
        bulk: f64,
        /// Mass per volume [kg/m³].
        density: f64,
    },
    /// Blatz–Ko foam rubber.
    BlatzKo {
        /// Shear modulus at small strains [Pa].
        shear: f64,
        /// Mass per volume [kg/m³].
        density: f64,
    },
}

impl Law {
    pub const ALL: [&'static str; 6] =
        ["linear", "st-venant-kirchhoff", "neo-hookean", "mooney-rivlin", "ogden", "blatz-ko"];

    pub fn name(&self) -> &'static str {
        let index = match self {
            Law::Linear { .. } => 0,
            Law::StVenantKirchhoff { .. } => 1,
            Law::NeoHookean { .. } => 2,
            Law::MooneyRivlin { .. } => 3,
            Law::Ogden { .. } => 4,
            Law::BlatzKo { .. } => 5,
        };
        Law::ALL[index]
    }
}

/// A material: the name of one, or a law right here.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum MaterialRef {
    Name(String),
    Inline(Law),
}

/// One body.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Body {
    /// Its material; not needed where `materials` covers all cells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub material: Option<MaterialRef>,
    /// Integration points of hexahedra.
    #[serde(default)]
    pub integration: Integration,
    /// Stiffness against hourglass modes as a share of λ + 2μ, for `integration = "one-point"`.
    #[serde(default = "default_hourglass")]
    pub hourglass: f64,
    /// What happens across a plane body; "strain" unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plane: Option<Plane>,
    /// Thickness of a plane body [m]; 1 unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thickness: Option<f64>,
    /// Cross-section of a bar [m²]; 1 unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub area: Option<f64>,
    /// Initial velocity [m/s].
    #[serde(default)]
    pub velocity: [f64; 3],
    /// Initial spin [rad/s].
    #[serde(default)]
    pub spin: [f64; 3],
    /// The point it spins about: "centre" (of mass) or a point [m].
    #[serde(default)]
    pub spin_about: About,
    /// Acceleration [m/s²].
    #[serde(default)]
    pub gravity: [f64; 3],
    /// Factor of gravity in time: [time, factor] pairs, straight lines between.
    #[serde(default = "default_table")]
    pub gravity_table: Vec<[f64; 2]>,
    /// Mass-proportional damping [1/s].
    #[serde(default)]
    pub damping: f64,
    /// What is held in all directions: everything, nothing, or sets.
    #[serde(default)]
    pub fix: Fix,
    /// Nodes, cells and named sets.
    pub mesh: MeshSpec,
    /// Materials of groups of cells, by the name of the group.
    #[serde(default, skip_serializing_if = "Named::is_empty")]
    pub materials: Named<MaterialRef>,
    /// Sets held in some directions, or led.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub support: Vec<Support>,
}

pub fn default_hourglass() -> f64 {
    0.1
}

/// One at all times.
pub fn default_table() -> Vec<[f64; 2]> {
    vec![[0.0, 1.0]]
}

/// Integration points of hexahedra.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Integration {
    /// 2×2×2 points.
    #[default]
    Full,
    /// One, with hourglass control.
    OnePoint,
}

impl Integration {
    pub const ALL: [&'static str; 2] = ["full", "one-point"];
}

/// What happens across a plane body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Plane {
    /// It cannot get thicker.
    #[default]
    Strain,
    /// It is free to.
    Stress,
}

impl Plane {
    pub const ALL: [&'static str; 2] = ["strain", "stress"];
}

/// A point: the centre of mass, or where it is said to be.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum About {
    Word(CentreWord),
    Point([f64; 3]),
}

impl Default for About {
    fn default() -> Self {
        About::Word(CentreWord::Centre)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CentreWord {
    Centre,
}

/// What is held.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Fix {
    All(bool),
    One(String),
    Sets(Vec<String>),
}

impl Default for Fix {
    fn default() -> Self {
        Fix::All(false)
    }
}

/// A set held in some directions; with a motion, led along them.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Support {
    /// A set of the body.
    pub set: String,
    /// Held directions: "x", "y", "z" or vectors; all three unless given.
    #[serde(default = "default_directions")]
    pub directions: Vec<Direction>,
    /// Where it is led [m], times the factor of `table`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub displacement: Option<[f64; 3]>,
    /// Factor of `displacement` in time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table: Option<Vec<[f64; 2]>>,
    /// How fast it is led [m/s].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub velocity: Option<[f64; 3]>,
}

pub fn default_directions() -> Vec<Direction> {
    vec![Direction::Axis(Axis::X), Direction::Axis(Axis::Y), Direction::Axis(Axis::Z)]
}

/// A direction.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Direction {
    Axis(Axis),
    Vector([f64; 3]),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Axis {
    X,
    Y,
    Z,
}

/// A force from outside: exactly one of `force`, `pressure`, `traction`, `body_force`.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Load {
    /// The body it acts on.
    pub body: String,
    /// The set of the body it acts on; none for `body_force`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub set: Option<String>,
    /// A force [N], shared equally by the nodes of the set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub force: Option<[f64; 3]>,
    /// A pressure [Pa] that follows the sides of the set, pushing inwards.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pressure: Option<f64>,
    /// A force per area of the undeformed sides of the set [Pa].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traction: Option<[f64; 3]>,
    /// A force per volume of the undeformed body [N/m³].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body_force: Option<[f64; 3]>,
    /// Factor in time: [time, factor] pairs, straight lines between.
    #[serde(default = "default_table")]
    pub table: Vec<[f64; 2]>,
}

/// How long a step is: a fixed size, or a share of the largest stable one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Step {
    /// Always this long [s].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<f64>,
    /// Share of the largest stable step, 0.9 unless given; follows the deformation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub safety: Option<f64>,
}

pub const SAFETY: f64 = 0.9;

/// Numbers to follow: a node, the mean of a set, what holds a set, or with `body` alone its centre and spin.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Probe {
    /// The body it looks at.
    pub body: String,
    /// One node, counted from 0 in the body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<u32>,
    /// The mean of a set of nodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<String>,
    /// The force and impulse that hold a set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reaction: Option<String>,
}

/// What is written.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Output {
    /// Rows of history.csv after the first.
    #[serde(default = "default_history")]
    pub history: u64,
    /// Frames after the first; 0 for none.
    #[serde(default = "default_frames")]
    pub frames: u64,
    /// Minutes between checkpoints.
    #[serde(default = "default_checkpoint")]
    pub checkpoint: f64,
}

pub fn default_history() -> u64 {
    200
}
pub fn default_frames() -> u64 {
    50
}
pub fn default_checkpoint() -> f64 {
    5.0
}

impl Default for Output {
    fn default() -> Self {
        Output { history: default_history(), frames: default_frames(), checkpoint: default_checkpoint() }
    }
}

/// A mesh: a file or a built-in shape.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum MeshSpec {
    File(MeshFile),
    Shape(Shape),
}

/// A Gmsh file.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct MeshFile {
    /// Path, relative to the deck.
    pub file: String,
    /// Checksum of the file when the deck was resolved; a file that has changed since is refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<String>,
    /// Where the origin of the mesh goes [m], before rotation.
    #[serde(default)]
    pub at: [f64; 3],
    /// How it is turned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rotate: Option<Rotate>,
}

/// A rotation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Rotate {
    /// Its axis.
    pub axis: [f64; 3],
    /// By the right-hand rule [degrees].
    pub angle: f64,
    /// The point that stays: "centre" of the mesh's bounding box, "at", or a point [m].
    #[serde(default)]
    pub about: RotateAbout,
}

/// The point that a rotation leaves where it is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum RotateAbout {
    Word(RotateWord),
    Point([f64; 3]),
}

impl Default for RotateAbout {
    fn default() -> Self {
        RotateAbout::Word(RotateWord::Centre)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RotateWord {
    Centre,
    At,
}

impl RotateWord {
    pub const ALL: [&'static str; 2] = ["centre", "at"];
}

/// How cell edges grow along an axis: the ratio of the last to the first, or quadratically.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum GradingSpec {
    /// Last edge over first edge; 1 is uniform.
    Ratio(f64),
    Quadratic(Quadratic),
}

impl Default for GradingSpec {
    fn default() -> Self {
        GradingSpec::Ratio(1.0)
    }
}

/// Edges grow by a constant amount.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Quadratic {
    /// Slope of the grading at its fine end, 0 to 1; 1 is uniform.
    pub slope: f64,
    /// Where cells are small.
    #[serde(default)]
    pub fine: FineEnd,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FineEnd {
    #[default]
    Min,
    Max,
}

impl FineEnd {
    pub const ALL: [&'static str; 2] = ["min", "max"];
}

/// Cells of a plane shape.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PlaneCell {
    #[default]
    Quad4,
    Tri3,
}

impl PlaneCell {
    pub const ALL: [&'static str; 2] = ["quad4", "tri3"];
}

/// Cells of a solid shape.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SolidCell {
    #[default]
    Hex8,
    Tet4,
}

impl SolidCell {
    pub const ALL: [&'static str; 2] = ["hex8", "tet4"];
}

pub fn default_core() -> f64 {
    0.5
}

/// A built-in shape. `at` is its lower corner (bar, rectangle, box) or centre (round shapes), before rotation.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "shape", rename_all = "lowercase")]
#[schemars(deny_unknown_fields)]
pub enum Shape {
    /// A bar along x. Sets: xmin, xmax.
    Bar {
        /// [m]
        length: f64,
        cells: u32,
        #[serde(default)]
        grading: GradingSpec,
        #[serde(default)]
        at: [f64; 3],
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rotate: Option<Rotate>,
    },
    /// A rectangle in the x-y plane. Sets: xmin, xmax, ymin, ymax.
    Rectangle {
        /// [m]
        size: [f64; 2],
        cells: [u32; 2],
        #[serde(default)]
        cell: PlaneCell,
        #[serde(default)]
        grading: [GradingSpec; 2],
        #[serde(default)]
        at: [f64; 3],
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rotate: Option<Rotate>,
    },
    /// A box. Sets: xmin, xmax, ymin, ymax, zmin, zmax.
    Box {
        /// [m]
        size: [f64; 3],
        cells: [u32; 3],
        #[serde(default)]
        cell: SolidCell,
        #[serde(default)]
        grading: [GradingSpec; 3],
        #[serde(default)]
        at: [f64; 3],
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rotate: Option<Rotate>,
    },
    /// The plane between two circles. Sets: inner, outer.
    Ring {
        /// Inner radius [m].
        inner: f64,
        /// Outer radius [m].
        outer: f64,
        /// Cells around.
        around: u32,
        /// Cells from inside to outside.
        radial: u32,
        #[serde(default)]
        cell: PlaneCell,
        /// From inside to outside.
        #[serde(default)]
        grading: GradingSpec,
        #[serde(default)]
        at: [f64; 3],
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rotate: Option<Rotate>,
    },
    /// A disc in the x-y plane. Set: outer.
    Disc {
        /// [m]
        radius: f64,
        /// Cells along one side of the square core; four times as many stand around.
        core_cells: u32,
        /// Layers around the core.
        layers: u32,
        /// Radius of the core's corners over the radius.
        #[serde(default = "default_core")]
        core: f64,
        #[serde(default)]
        cell: PlaneCell,
        #[serde(default)]
        at: [f64; 3],
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rotate: Option<Rotate>,
    },
    /// A solid cylinder about z. Sets: side, zmin, zmax.
    Cylinder {
        /// [m]
        radius: f64,
        /// Along z [m].
        height: f64,
        /// Cells along one side of the square core; four times as many stand around.
        core_cells: u32,
        /// Layers around the core.
        layers: u32,
        /// Cells along z.
        axial_cells: u32,
        /// Radius of the core's corners over the radius.
        #[serde(default = "default_core")]
        core: f64,
        #[serde(default)]
        cell: SolidCell,
        /// Along z.
        #[serde(default)]
        grading: GradingSpec,
        #[serde(default)]
        at: [f64; 3],
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rotate: Option<Rotate>,
    },
    /// A solid ball. Set: surface.
    Sphere {
        /// [m]
        radius: f64,
        /// Cells along one edge of the cube core; four times as many stand around the equator.
        core_cells: u32,
        /// Layers around the core.
        layers: u32,
        /// Radius of the core's corners over the radius.
        #[serde(default = "default_core")]
        core: f64,
        #[serde(default)]
        cell: SolidCell,
        #[serde(default)]
        at: [f64; 3],
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rotate: Option<Rotate>,
    },
}

impl Shape {
    pub const ALL: [&'static str; 7] = ["bar", "rectangle", "box", "ring", "disc", "cylinder", "sphere"];
}
