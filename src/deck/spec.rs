//! A deck as plain data: what it says, with every default filled in.
//!
//! These types are written out as the resolved deck and are the source of the JSON schema. They are *not* read by
//! serde: `read.rs` does that by hand, because it knows the place of every value and reports all problems at once.
//! A test holds the two together.

pub use crate::element::choice::{Integration, Plane};
pub use crate::material::Law;
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
    /// Switches of method "dcr".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dcr: Option<Dcr>,
    /// Switches of method "asynchronous".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asynchronous: Option<Asynchronous>,
    /// Switches of method "semi-explicit".
    #[serde(default, rename = "semi-explicit", skip_serializing_if = "Option::is_none")]
    pub semi_explicit: Option<SemiExplicit>,
    /// Switches of method "bipotential-implicit".
    #[serde(default, rename = "bipotential-implicit", skip_serializing_if = "Option::is_none")]
    pub bipotential_implicit: Option<BipotentialImplicit>,
    /// Who touches whom, and how.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contact: Option<Contact>,
    /// Materials by name.
    #[serde(default, skip_serializing_if = "Named::is_empty")]
    pub material: Named<Law>,
    /// Bodies by name; those without a material are rigid obstacles.
    pub body: Named<AnyBody>,
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
    /// Velocity Verlet, explicit; contacts one after the other in mid-step.
    Verlet,
    /// Explicit Newmark with decomposition contact response.
    Dcr,
    /// Every element and every contact with a step of its own.
    Asynchronous,
    /// Elasticity explicit, contact with friction solved as a whole.
    SemiExplicit,
    /// The same with forces at the end of the step, by Newton's method.
    BipotentialImplicit,
}

impl MethodName {
    pub const ALL: [&'static str; 5] =
        ["verlet", "dcr", "asynchronous", "semi-explicit", "bipotential-implicit"];
    /// Names that are spoken for.
    pub const LATER: [&'static str; 3] = ["nonsmooth", "velocity-update", "newmark-penalty"];
    const EACH: [MethodName; 5] = [
        MethodName::Verlet,
        MethodName::Dcr,
        MethodName::Asynchronous,
        MethodName::SemiExplicit,
        MethodName::BipotentialImplicit,
    ];

    pub fn name(self) -> &'static str {
        MethodName::ALL[self as usize]
    }

    /// The method of that name.
    pub fn called(name: &str) -> Option<MethodName> {
        MethodName::EACH.into_iter().find(|m| m.name() == name)
    }

    /// Share of the speed of approach with which surface nodes part unless the deck says.
    pub fn restitution(self) -> f64 {
        match self {
            MethodName::Verlet | MethodName::Dcr | MethodName::Asynchronous => 1.0,
            MethodName::SemiExplicit | MethodName::BipotentialImplicit => 0.0,
        }
    }
}

/// Share of the largest stable step that is taken unless the deck says otherwise: impacts want shorter steps, and so do
/// steps that do not fit each other.
pub fn usual_safety(method: MethodName, touching: bool, asynchronous: Option<&Asynchronous>) -> f64 {
    match method {
        MethodName::Verlet if !touching => 0.9,
        MethodName::Asynchronous if asynchronous.is_some_and(|a| a.steps == Steps::Free) => 0.25,
        // no bound holds it
        MethodName::BipotentialImplicit => 2.0,
        _ => 0.5,
    }
}

/// Can anything touch anything? One body alone cannot, unless it may touch itself. What could not be read may be anything.
pub fn touching(contact: Option<&Contact>, bodies: &[(String, Option<&AnyBody>)]) -> bool {
    let out = |name: &String| contact.is_some_and(|c| c.off.contains(name));
    let apart = |body: &&AnyBody| matches!(body, AnyBody::Deformable(Body { contact: Part::All(false), .. }));
    let rigid = |body: &&AnyBody| matches!(body, AnyBody::Rigid(_));
    let there: Vec<Option<&AnyBody>> =
        bodies.iter().filter(|(name, b)| !out(name) && !b.as_ref().is_some_and(apart)).map(|b| b.1).collect();
    let itself = contact.is_some_and(|c| !c.with_itself.is_empty());
    let nobody = contact.is_some_and(|c| c.only.as_ref().is_some_and(Vec::is_empty));
    let some_give_way = there.iter().any(|b| !b.as_ref().is_some_and(rigid));
    !nobody && some_give_way && (itself || there.len() > 1)
}

/// Switches of method "semi-explicit".
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct SemiExplicit {
    /// When a contact acts.
    pub activation: Activation,
    /// Whose nodes are held against whose faces.
    pub pass: Passes,
    /// Sharp edges touch sharp edges.
    pub edge_edge: bool,
    /// Share of an overlap that is undone in a step, with activation "position".
    pub push_back: f64,
    /// Contacts are solved when a sweep changes no velocity by more than this share of the fastest impact so far.
    pub tolerance: f64,
    /// Sweeps at most.
    #[schemars(range(min = 1))]
    pub sweeps: u32,
}

impl Default for SemiExplicit {
    fn default() -> Self {
        SemiExplicit {
            activation: Activation::Position,
            pass: Passes::Double,
            edge_edge: true,
            push_back: 0.2,
            tolerance: 1e-6,
            sweeps: 2000,
        }
    }
}

/// When a contact acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Activation {
    /// Gaps close in the step; overlaps are undone bit by bit.
    Position,
    /// What would overlap at the end of the step stops, as published.
    Rate,
    /// The same, and positions are moved out of overlaps.
    Project,
}

impl Activation {
    pub const ALL: [&'static str; 3] = ["position", "rate", "project"];
}

/// Whose nodes are held against whose faces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Passes {
    /// Those of the finer body against the other's.
    Single,
    /// Those of each against the other's.
    Double,
}

impl Passes {
    pub const ALL: [&'static str; 2] = ["single", "double"];
}

/// Switches of method "bipotential-implicit".
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct BipotentialImplicit {
    /// Weight of the new velocity in the motion.
    #[schemars(extend("exclusiveMinimum" = 0), range(max = 1))]
    pub theta: f64,
    /// Weight of the new forces.
    #[schemars(range(min = 0, max = 1))]
    pub xi: f64,
    /// Whose nodes are held against whose faces.
    pub pass: Passes,
    /// Sharp edges touch sharp edges.
    pub edge_edge: bool,
    /// Contacts are solved when a sweep changes no velocity by more than this share of the fastest impact so far.
    pub tolerance: f64,
    /// Sweeps at most.
    #[schemars(range(min = 1))]
    pub sweeps: u32,
    /// Iterations of a step at most; then it is halved.
    #[schemars(range(min = 1))]
    pub iterations: u32,
    /// How often a step may be halved.
    pub halvings: u32,
}

impl Default for BipotentialImplicit {
    fn default() -> Self {
        BipotentialImplicit {
            theta: 0.5,
            xi: 0.5,
            pass: Passes::Single,
            edge_edge: true,
            tolerance: 1e-6,
            sweeps: 2000,
            iterations: 12,
            halvings: 8,
        }
    }
}

/// Switches of method "asynchronous".
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct Asynchronous {
    /// Where the other switches stand unless given.
    pub mode: Mode,
    /// How the steps of elements fit each other.
    pub steps: Steps,
    /// Where in the interval it stands for a kick lies.
    pub phase: Phase,
    /// Which velocities a contact sees.
    pub contact_velocity: ContactVelocity,
    /// Edges touch edges.
    pub edge_edge: bool,
    /// How often a surface node looks for contacts.
    pub contact_step: ContactStep,
}

impl Asynchronous {
    /// All switches as a mode has them.
    pub fn of(mode: Mode) -> Asynchronous {
        match mode {
            Mode::Default => Asynchronous {
                mode,
                steps: Steps::Classes,
                phase: Phase::Centred,
                contact_velocity: ContactVelocity::Synchronised,
                edge_edge: true,
                contact_step: ContactStep { local: Some(0.5), ..ContactStep::default() },
            },
            Mode::Paper => Asynchronous {
                mode,
                steps: Steps::Free,
                phase: Phase::Start,
                contact_velocity: ContactVelocity::Raw,
                edge_edge: false,
                contact_step: ContactStep { travel: Some(0.5), average: Some(1.0), ..ContactStep::default() },
            },
        }
    }
}

impl Default for Asynchronous {
    fn default() -> Self {
        Asynchronous::of(Mode::Default)
    }
}

/// Where the switches of method "asynchronous" stand unless given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// As they work best.
    Default,
    /// As the method was published.
    Paper,
}

impl Mode {
    pub const ALL: [&'static str; 2] = ["default", "paper"];
}

/// How the steps of elements fit each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Steps {
    /// Powers of two times the smallest.
    Classes,
    /// Each element its own; may resonate.
    Free,
    /// The smallest for all.
    Synchronous,
}

impl Steps {
    pub const ALL: [&'static str; 3] = ["classes", "free", "synchronous"];
}

/// Where in the interval it stands for a kick lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// In its middle.
    Centred,
    /// At its start: velocities at contacts are wrong by the order of the step.
    Start,
}

impl Phase {
    pub const ALL: [&'static str; 2] = ["centred", "start"];
}

/// Which velocities a contact sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ContactVelocity {
    /// Those of the instant.
    Synchronised,
    /// As the last kicks have left them.
    Raw,
}

impl ContactVelocity {
    pub const ALL: [&'static str; 2] = ["synchronised", "raw"];
}

/// How often a surface node looks for contacts: one of `local`, `smallest` and `average`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct ContactStep {
    /// Times the shortest critical step around the node, or less, so that it fits the kicks there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub local: Option<f64>,
    /// Times the shortest step in use, the same for all nodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub smallest: Option<f64>,
    /// Times the average critical step of all elements; with `travel` only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub average: Option<f64>,
    /// As soon as the node has travelled this share of its own size, if that is sooner.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub travel: Option<f64>,
}

/// Switches of method "dcr".
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct Dcr {
    /// Where in the step contact is looked at.
    pub variant: DcrVariant,
    /// Edges touch edges.
    pub edge_edge: bool,
    /// How overlaps are removed.
    pub projection: Projection,
    /// How often the contacts of a step are gone through, at most.
    pub sweeps: u32,
    /// Look for crossings on the way of every step; unless given, where bodies could pass through each other.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub swept: Option<bool>,
    /// Give back the energy that projections take or add.
    pub energy_correction: bool,
    /// Give back the angular momentum that projections take.
    pub angular_momentum_correction: bool,
}

impl Default for Dcr {
    fn default() -> Self {
        Dcr {
            variant: DcrVariant::Predictor,
            edge_edge: true,
            projection: Projection::Mass,
            sweeps: 10,
            swept: None,
            energy_correction: false,
            angular_momentum_correction: false,
        }
    }
}

/// Where in the step contact is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DcrVariant {
    /// After the predictor: loses a little energy.
    Predictor,
    /// After the full step: gains a little.
    FullStep,
}

impl DcrVariant {
    pub const ALL: [&'static str; 2] = ["predictor", "full-step"];
}

/// How overlaps are removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Projection {
    /// Both sides give way, by their inverse masses.
    Mass,
    /// The node goes back, the face stays.
    OneSided,
}

impl Projection {
    pub const ALL: [&'static str; 2] = ["mass", "one-sided"];
}

/// Who touches whom, and how. Everything touches everything else, without friction, unless told otherwise.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct Contact {
    /// Coulomb's coefficient.
    #[schemars(extend("minimum" = 0))]
    pub friction: f64,
    /// Share of the speed of approach with which surface nodes part; the method's own unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("minimum" = 0, "maximum" = 1))]
    pub restitution: Option<f64>,
    /// What sticking does to slip, in methods that answer contacts by impacts; "elastic" unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stick: Option<Stick>,
    /// Every step ends certified free of intersections.
    pub guard: bool,
    /// Bodies that touch nothing.
    pub off: Vec<String>,
    /// Bodies that may touch themselves.
    #[serde(rename = "self")]
    pub with_itself: Vec<String>,
    /// If given, only these pairs touch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub only: Option<Vec<[String; 2]>>,
    /// What holds between two bodies.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub between: Vec<Between>,
}

/// What sticking does to slip.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Stick {
    /// Turns it round with the restitution of the normal: sticking loses nothing where that is 1.
    Elastic,
    /// Stops it, as the schemes were published.
    Plastic,
}

impl Stick {
    pub const ALL: [&'static str; 2] = ["elastic", "plastic"];
}

/// What holds between two bodies.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Between {
    /// The two.
    pub bodies: [String; 2],
    /// Coulomb's coefficient; that of [contact] unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("minimum" = 0))]
    pub friction: Option<f64>,
    /// That of [contact] unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("minimum" = 0, "maximum" = 1))]
    pub restitution: Option<f64>,
    /// They pass through each other.
    #[serde(default)]
    pub off: bool,
}

/// A material: the name of one, or a law right here.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum MaterialRef {
    Name(String),
    Inline(Law),
}

/// A body: with a material it deforms, without one it is a rigid obstacle.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum AnyBody {
    Deformable(Body),
    Rigid(Obstacle),
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

/// A rigid obstacle, at rest or moving as told: one of `plane`, `polyline` and `mesh`, and no material.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Obstacle {
    /// How fast it moves [m/s].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub velocity: Option<[f64; 3]>,
    /// Where it goes [m], times the factor of `table`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub displacement: Option<[f64; 3]>,
    /// Factor of `displacement` in time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table: Option<Vec<[f64; 2]>>,
    /// Steady rotation [rad/s] about `centre`.
    #[serde(default)]
    pub spin: [f64; 3],
    /// The point it spins about [m], which moves with it; the middle of its box, or a plane's `point`, unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub centre: Option<[f64; 3]>,
    /// The half space below a plane.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plane: Option<HalfSpace>,
    /// A chain of segments in the x-y plane, solid on its left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub polyline: Option<Polyline>,
    /// Cells whose boundary touches, or in space triangles and quadrilaterals that are the surface themselves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mesh: Option<MeshSpec>,
}

/// The half space below a plane.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct HalfSpace {
    /// A point of the plane [m].
    pub point: [f64; 3],
    /// Out of the solid, of any length.
    pub normal: [f64; 3],
}

/// A chain of segments in the x-y plane.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Polyline {
    /// Its corners [m], the solid on the left of the way from one to the next.
    pub points: Vec<[f64; 2]>,
    /// The last corner is joined to the first.
    #[serde(default)]
    pub closed: bool,
}

/// A body that deforms.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Body {
    /// Its material; not needed where `materials` covers all cells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub material: Option<MaterialRef>,
    /// Integration points of solids.
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
    pub fix: Part,
    /// What of its surface can touch: everything, nothing, or sets of sides.
    #[serde(default = "default_contact")]
    pub contact: Part,
    /// Nodes, cells and named sets.
    pub mesh: MeshSpec,
    /// Materials of groups of cells, by the name of the group.
    #[serde(default, skip_serializing_if = "Named::is_empty")]
    pub materials: Named<MaterialRef>,
    /// Sets held in some directions, or led.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub support: Vec<Support>,
    /// Copies in rows, named NAME-1, NAME-2, …; gone when the deck has been read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub array: Option<Array>,
}

/// Copies of a body in rows along x, y and z.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Array {
    /// Copies along x, y and z.
    pub count: [u32; 3],
    /// From one to the next along x, y and z [m].
    pub spacing: [f64; 3],
    /// Turn each about its middle, at random by this seed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tumble: Option<u32>,
}

pub fn default_hourglass() -> f64 {
    0.1
}

/// One at all times.
pub fn default_table() -> Vec<[f64; 2]> {
    vec![[0.0, 1.0]]
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

/// Everything, nothing, or sets.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Part {
    All(bool),
    One(String),
    Sets(Vec<String>),
}

impl Default for Part {
    fn default() -> Self {
        Part::All(false)
    }
}

impl Part {
    pub fn sets(&self) -> &[String] {
        match self {
            Part::All(_) => &[],
            Part::One(set) => std::slice::from_ref(set),
            Part::Sets(sets) => sets,
        }
    }
}

pub fn default_contact() -> Part {
    Part::All(true)
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
    /// Always this long [s]; not with method "asynchronous".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<f64>,
    /// Share of the largest stable step, unless given 0.9, with contact 0.5; follows the deformation. With method
    /// "asynchronous" the share of each element's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub safety: Option<f64>,
}

/// Numbers to follow: of a body a node, the mean of a set, what holds a set, or its centre and spin; or what contact does.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Probe {
    /// The body it looks at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// The force and impulse that the second body gives to the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub between: Option<[String; 2]>,
    /// The force and impulse that all others together give to this body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contact: Option<String>,
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
    /// Frames hold stresses at integration points too.
    #[serde(default)]
    pub integration_points: bool,
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
        Output {
            history: default_history(),
            frames: default_frames(),
            integration_points: false,
            checkpoint: default_checkpoint(),
        }
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
