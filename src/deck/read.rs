//! From the tree to a [`Spec`]: every key of a deck has its line here.
//!
//! A part that could not be read is `None` and its problems are noted; the others can still be checked.

use super::problem::{Problems, suggest};
use super::reader::{Item, Reader};
use super::spec::*;
use super::tree::{Node, Tree, Value};

/// A deck as far as it could be read.
pub struct Draft {
    pub title: Option<String>,
    pub method: Option<MethodName>,
    pub end: Option<f64>,
    pub step: Option<Step>,
    pub output: Option<Output>,
    pub material: Vec<(String, Option<Law>)>,
    pub body: Vec<(String, Option<Body>)>,
    pub load: Vec<Option<Load>>,
    pub probe: Vec<(String, Option<Probe>)>,
}

impl Draft {
    /// The whole deck, if all of it could be read.
    pub fn spec(self) -> Option<Spec> {
        fn named<T>(list: Vec<(String, Option<T>)>) -> Option<Named<T>> {
            list.into_iter().map(|(name, value)| Some((name, value?))).collect::<Option<_>>().map(Named)
        }
        Some(Spec {
            title: self.title?,
            method: self.method?,
            end: self.end?,
            step: self.step?,
            output: self.output?,
            material: named(self.material)?,
            body: named(self.body)?,
            load: self.load.into_iter().collect::<Option<_>>()?,
            probe: named(self.probe)?,
        })
    }
}

pub fn deck(tree: &Tree, problems: &Problems) -> Option<Draft> {
    let root = Item { node: &tree.root, name: String::new(), problems };
    let mut r = root.table("deck")?;
    let title = r.or("title", String::new(), Item::text);
    let method = r.required("method", "\"verlet\"").and_then(method_name);
    let end = r.required("end", "0.1").and_then(Item::positive);
    let step = r.or("step", Step { size: None, safety: Some(SAFETY) }, step);
    let output = r.or("output", Output::default(), output);
    let material = r.named("material", "material", |_, item| law(item));
    let body = r.named("body", "body", |_, item| body(item));
    if body.is_empty() {
        problems.add(
            &r.place,
            "the deck has no bodies",
            "add a table [body.NAME] with a mesh and a material",
        );
    }
    let load = match r.get("load") {
        None => Vec::new(),
        Some(item) if matches!(item.node.value, Value::Table(_)) => {
            item.refuse::<()>("is a single table", "write it as [[load]], with two brackets");
            Vec::new()
        }
        Some(item) => {
            let items = item.items().unwrap_or_default();
            let numbered = |(i, item): (usize, Item<'_>)| {
                let (node, problems) = (item.node, item.problems);
                load(Item { node, name: format!("load {}", i + 1), problems })
            };
            items.into_iter().enumerate().map(numbered).collect()
        }
    };
    let probe = r.named("probe", "probe", |_, item| probe(item));
    later(&mut r, "contact", "contact is not in this version yet", "remove [contact] to run without it");
    r.finish();
    Some(Draft { title, method, end, step, output, material, body, load, probe })
}

/// A key that will come: not offered as a suggestion, not taken for a slip.
fn later(r: &mut Reader, key: &'static str, message: &str, help: &str) {
    if let Some(place) = r.key_place(key) {
        r.problems.add(place, message, help);
        r.ignore(key);
    }
}

fn method_name(item: Item) -> Option<MethodName> {
    let text = item.clone().text()?;
    if MethodName::LATER.contains(&text.as_str()) {
        return item.refuse(format!("is \"{text}\", which is not in this version yet"), "use \"verlet\"");
    }
    item.choice(&MethodName::ALL).map(|_| MethodName::Verlet)
}

fn step(item: Item) -> Option<Step> {
    let mut r = item.table("step")?;
    let size = r.maybe("size", Item::positive);
    let safety = r.maybe("safety", Item::positive);
    let both = r.key_place("size").is_some() && r.key_place("safety").is_some();
    let place = if both { r.key_place("safety").cloned() } else { None };
    let problems = r.problems;
    r.finish();
    if let Some(place) = place {
        problems.add(&place, "the step has both `size` and `safety`", "keep one of them");
        return None;
    }
    Some(match (size?, safety?) {
        (Some(size), _) => Step { size: Some(size), safety: None },
        (None, safety) => Step { size: None, safety: Some(safety.unwrap_or(SAFETY)) },
    })
}

fn output(item: Item) -> Option<Output> {
    let mut r = item.table("output")?;
    let count = |item: Item| item.count_or_none().map(u64::from);
    let history = r.or("history", default_history(), count);
    let frames = r.or("frames", default_frames(), count);
    let checkpoint = r.or("checkpoint", default_checkpoint(), Item::not_negative);
    r.finish();
    Some(Output { history: history?, frames: frames?, checkpoint: checkpoint? })
}

fn law(item: Item) -> Option<Law> {
    let (node, name, problems) = (item.node, item.name.clone(), item.problems);
    let tag = |r: &mut Reader| r.required("law", "\"neo-hookean\"").and_then(|i| law_index(i, &name));
    let Some(index) = tag(&mut item.table("law")?) else {
        return None;
    };
    let again = |kind| Item { node, name: name.clone(), problems }.table(kind);
    let modulus = "210e9";
    match index {
        0..=2 => {
            let mut r = again("law.elastic")?;
            r.get("law");
            let young = r.required("young", modulus).and_then(Item::positive);
            let poisson = r.required("poisson", "0.3").and_then(Item::poisson);
            let density = density(&mut r);
            r.finish();
            let (young, poisson, density) = (young?, poisson?, density?);
            Some(match index {
                0 => Law::Linear { young, poisson, density },
                1 => Law::StVenantKirchhoff { young, poisson, density },
                _ => Law::NeoHookean { young, poisson, density },
            })
        }
        3 => {
            let mut r = again("law.mooney-rivlin")?;
            r.get("law");
            let c1 = r.required("c1", "0.3e6").and_then(Item::number);
            let second = r.required("c2", "0.1e6");
            let c2 = second.clone().and_then(Item::number);
            let bulk = r.required("bulk", "1e8").and_then(Item::positive);
            let density = density(&mut r);
            r.finish();
            let (c1, c2) = (c1?, c2?);
            if c1 + c2 <= 0.0 {
                return second?.refuse(
                    format!("makes c1 + c2 = {}", c1 + c2),
                    "the sum must be positive: it is half the shear modulus",
                );
            }
            Some(Law::MooneyRivlin { c1, c2, bulk: bulk?, density: density? })
        }
        4 => {
            let mut r = again("law.ogden")?;
            r.get("law");
            let mu = r.required("mu", "[0.6e6]").and_then(|i| i.list(Item::number));
            let second = r.required("alpha", "[2.0]");
            let alpha = second.clone().and_then(|i| i.list(Item::number));
            let bulk = r.required("bulk", "1e8").and_then(Item::positive);
            let density = density(&mut r);
            r.finish();
            let (mu, alpha) = (mu?, alpha?);
            let second = second?;
            if mu.len() != alpha.len() || mu.is_empty() {
                return second.refuse(
                    format!("has {} entries and `mu` has {}", alpha.len(), mu.len()),
                    "each term needs one of both",
                );
            }
            if alpha.contains(&0.0) {
                return second.refuse("holds a zero", "a term with alpha = 0 says nothing; leave it out");
            }
            let shear: f64 = 0.5 * mu.iter().zip(&alpha).map(|(m, a)| m * a).sum::<f64>();
            if shear <= 0.0 {
                return second.refuse(
                    format!("makes the shear modulus, half the sum of mu alpha, {shear}"),
                    "it must be positive",
                );
            }
            Some(Law::Ogden { mu, alpha, bulk: bulk?, density: density? })
        }
        _ => {
            let mut r = again("law.blatz-ko")?;
            r.get("law");
            let shear = r.required("shear", "1e6").and_then(Item::positive);
            let density = density(&mut r);
            r.finish();
            Some(Law::BlatzKo { shear: shear?, density: density? })
        }
    }
}

fn law_index(item: Item, owner: &str) -> Option<usize> {
    let text = item.clone().text()?;
    let found = Law::ALL.iter().position(|l| *l == text);
    if found.is_none() {
        let help = suggest(&text, Law::ALL, '"');
        item.problems.add(&item.node.place, format!("{owner} has no law called \"{text}\""), help);
    }
    found
}

fn density(r: &mut Reader) -> Option<f64> {
    r.required("density", "7800.0").and_then(Item::positive)
}

/// A name, or a law right here.
fn material(item: Item) -> Option<MaterialRef> {
    match &item.node.value {
        Value::String(name) => Some(MaterialRef::Name(name.clone())),
        Value::Table(_) => law(item).map(MaterialRef::Inline),
        other => item.refuse(
            format!("is {}", other.kind()),
            "it must be the name of a material or a table with a law",
        ),
    }
}

fn body(item: Item) -> Option<Body> {
    let mut r = item.table("body")?;
    if r.key_place("plane").is_some() && r.key_place("mesh").is_none() {
        let help = "give the body a mesh and a material, or remove it";
        later(&mut r, "plane", "rigid obstacles are not in this version yet", help);
        return None;
    }
    let mesh = r.required("mesh", "{ shape = \"box\", size = [1, 1, 1], cells = [4, 4, 4] }").and_then(mesh);
    let material_here = r.maybe("material", material);
    let materials = r.each("materials", "group", |_, item| material(item));
    let integration = r.or("integration", Integration::Full, |i| {
        i.choice(&Integration::ALL).map(|k| [Integration::Full, Integration::OnePoint][k])
    });
    let hourglass = r.or("hourglass", default_hourglass(), Item::not_negative);
    let plane = r.maybe("plane", |i| i.choice(&Plane::ALL).map(|k| [Plane::Strain, Plane::Stress][k]));
    let thickness = r.maybe("thickness", Item::positive);
    let area = r.maybe("area", Item::positive);
    let velocity = r.or("velocity", [0.0; 3], Item::vector);
    let spin = r.or("spin", [0.0; 3], Item::vector);
    let spin_about = r.or("spin_about", About::default(), |item| match item.node.value {
        Value::String(_) => item.choice(&["centre"]).map(|_| About::default()),
        _ => item.vector().map(About::Point),
    });
    let gravity = r.or("gravity", [0.0; 3], Item::vector);
    let gravity_table = r.or("gravity_table", default_table(), Item::table_in_time);
    let damping = r.or("damping", 0.0, Item::not_negative);
    let fix = r.or("fix", Fix::default(), fix);
    let owner = r.name.clone();
    let support = match r.get("support") {
        None => Some(Vec::new()),
        Some(item) if matches!(item.node.value, Value::Table(_)) => {
            item.refuse("is a single table", "write it as [[body.NAME.support]], with two brackets")
        }
        Some(item) => item.list(|i| {
            let name = format!("a support of {owner}");
            support(Item { node: i.node, name, problems: i.problems })
        }),
    };
    r.finish();
    let materials: Option<Vec<_>> = materials.into_iter().map(|(n, m)| Some((n, m?))).collect();
    Some(Body {
        mesh: mesh?,
        material: material_here?,
        materials: Named(materials?),
        integration: integration?,
        hourglass: hourglass?,
        plane: plane?,
        thickness: thickness?,
        area: area?,
        velocity: velocity?,
        spin: spin?,
        spin_about: spin_about?,
        gravity: gravity?,
        gravity_table: gravity_table?,
        damping: damping?,
        fix: fix?,
        support: support?,
    })
}

fn fix(item: Item) -> Option<Fix> {
    match &item.node.value {
        Value::Bool(all) => Some(Fix::All(*all)),
        Value::String(set) => Some(Fix::Sets(vec![set.clone()])),
        Value::Array(_) => item.list(Item::text).map(Fix::Sets),
        other => {
            item.refuse(format!("is {}", other.kind()), "it must be true, false, a set or a list of sets")
        }
    }
}

fn support(item: Item) -> Option<Support> {
    let mut r = item.table("support")?;
    let set = r.required("set", "\"zmin\"").and_then(Item::text);
    let directions = r.or("directions", default_directions(), |i| i.list(direction));
    let displacement = r.maybe("displacement", Item::vector);
    let table = r.maybe("table", Item::table_in_time);
    let velocity = r.maybe("velocity", Item::vector);
    let (place, problems) = (r.place.clone(), r.problems);
    r.finish();
    let support = Support {
        set: set?,
        directions: directions?,
        displacement: displacement?,
        table: table?,
        velocity: velocity?,
    };
    if support.directions.is_empty() {
        problems.add(
            &place,
            format!("the support of `{}` has no directions", support.set),
            "leave out what holds nothing",
        );
        return None;
    }
    if support.displacement.is_some() && support.velocity.is_some() {
        let message = format!("the support of `{}` has both `displacement` and `velocity`", support.set);
        problems.add(&place, message, "keep one of them");
        return None;
    }
    if support.displacement.is_none() && support.table.is_some() {
        let message = format!("the support of `{}` has a `table` without `displacement`", support.set);
        problems.add(&place, message, "a table is a factor of the displacement");
        return None;
    }
    let table = support.displacement.map(|_| support.table.unwrap_or_else(default_table));
    Some(Support { table, ..support })
}

fn direction(item: Item) -> Option<Direction> {
    match item.node.value {
        Value::String(_) => {
            let axis = item.choice(&["x", "y", "z"])?;
            Some(Direction::Axis([Axis::X, Axis::Y, Axis::Z][axis]))
        }
        _ => item.direction().map(Direction::Vector),
    }
}

fn load(item: Item) -> Option<Load> {
    let mut r = item.table("load")?;
    let body = r.required("body", "\"block\"").and_then(Item::text);
    let set = r.maybe("set", Item::text);
    let force = r.maybe("force", Item::vector);
    let pressure = r.maybe("pressure", Item::number);
    let traction = r.maybe("traction", Item::vector);
    let body_force = r.maybe("body_force", Item::vector);
    let table = r.or("table", default_table(), Item::table_in_time);
    let kind = r.one_of(&["force", "pressure", "traction", "body_force"]);
    match (kind, r.key_place("set")) {
        (Some("body_force"), Some(place)) => {
            r.problems.add(place, "a `body_force` acts on the whole body", "remove `set`");
        }
        (Some(kind @ ("force" | "pressure" | "traction")), None) => {
            let help = "for example set = \"xmax\"";
            r.problems.add(&r.place, format!("a `{kind}` needs to know where: it has no `set`"), help);
        }
        _ => {}
    }
    let good = kind.is_some() && (kind == Some("body_force")) == r.key_place("set").is_none();
    r.finish();
    let load = Load {
        body: body?,
        set: set?,
        force: force?,
        pressure: pressure?,
        traction: traction?,
        body_force: body_force?,
        table: table?,
    };
    good.then_some(load)
}

fn probe(item: Item) -> Option<Probe> {
    let mut r = item.table("probe")?;
    let body = r.required("body", "\"block\"").and_then(Item::text);
    let node = r.maybe("node", Item::count_or_none);
    let nodes = r.maybe("nodes", Item::text);
    let reaction = r.maybe("reaction", Item::text);
    let given = ["node", "nodes", "reaction"].iter().filter(|k| r.key_place(k).is_some()).count();
    let fine = if given > 1 { r.one_of(&["node", "nodes", "reaction"]).is_some() } else { true };
    r.finish();
    let probe = Probe { body: body?, node: node?, nodes: nodes?, reaction: reaction? };
    fine.then_some(probe)
}

fn mesh(item: Item) -> Option<MeshSpec> {
    let (node, name, problems) = (item.node, item.name.clone(), item.problems);
    let again = |kind| Item { node, name: name.clone(), problems }.table(kind);
    let which = item.table("mesh")?.one_of(&["shape", "file"])?;
    if which == "file" {
        let mut r = again("mesh.file")?;
        let file = r.required("file", "").and_then(Item::text);
        let hash = r.maybe("hash", Item::text);
        let (at, rotate) = placement(&mut r);
        r.finish();
        return Some(MeshSpec::File(MeshFile { file: file?, hash: hash?, at: at?, rotate: rotate? }));
    }
    let index = again("mesh")?.get("shape")?.choice(&Shape::ALL)?;
    shape(index, again(KINDS[index])?).map(MeshSpec::Shape)
}

const KINDS: [&str; 7] =
    ["mesh.bar", "mesh.rectangle", "mesh.box", "mesh.ring", "mesh.disc", "mesh.cylinder", "mesh.sphere"];

fn shape(index: usize, mut r: Reader) -> Option<Shape> {
    r.get("shape");
    let (at, rotate) = placement(&mut r);
    let plane = |i: Item| i.choice(&PlaneCell::ALL).map(|k| [PlaneCell::Quad4, PlaneCell::Tri3][k]);
    let solid = |i: Item| i.choice(&SolidCell::ALL).map(|k| [SolidCell::Hex8, SolidCell::Tet4][k]);
    match index {
        0 => {
            let length = r.required("length", "1.0").and_then(Item::positive);
            let cells = r.required("cells", "100").and_then(Item::count);
            let grading = r.or("grading", GradingSpec::default(), grading);
            r.finish();
            Some(Shape::Bar { length: length?, cells: cells?, grading: grading?, at: at?, rotate: rotate? })
        }
        1 => {
            let size = r.required("size", "[1.0, 1.0]").and_then(|i| i.array(Item::positive));
            let cells = r.required("cells", "[10, 10]").and_then(|i| i.array(Item::count));
            let cell = r.or("cell", PlaneCell::Quad4, plane);
            let grading = r.or("grading", Default::default(), |i| i.array(grading));
            r.finish();
            Some(Shape::Rectangle {
                size: size?,
                cells: cells?,
                cell: cell?,
                grading: grading?,
                at: at?,
                rotate: rotate?,
            })
        }
        2 => {
            let size = r.required("size", "[1.0, 1.0, 1.0]").and_then(|i| i.array(Item::positive));
            let cells = r.required("cells", "[10, 10, 10]").and_then(|i| i.array(Item::count));
            let cell = r.or("cell", SolidCell::Hex8, solid);
            let grading = r.or("grading", Default::default(), |i| i.array(grading));
            r.finish();
            Some(Shape::Box {
                size: size?,
                cells: cells?,
                cell: cell?,
                grading: grading?,
                at: at?,
                rotate: rotate?,
            })
        }
        3 => {
            let inner = r.required("inner", "0.9").and_then(Item::positive);
            let outer = r.required("outer", "1.0").and_then(Item::positive);
            let around = r.required("around", "64").and_then(Item::count);
            let radial = r.required("radial", "4").and_then(Item::count);
            let cell = r.or("cell", PlaneCell::Quad4, plane);
            let grading = r.or("grading", GradingSpec::default(), grading);
            r.finish();
            Some(Shape::Ring {
                inner: inner?,
                outer: outer?,
                around: around?,
                radial: radial?,
                cell: cell?,
                grading: grading?,
                at: at?,
                rotate: rotate?,
            })
        }
        4 => {
            let round = round(&mut r);
            let cell = r.or("cell", PlaneCell::Quad4, plane);
            r.finish();
            let (radius, core_cells, layers, core) = round?;
            Some(Shape::Disc { radius, core_cells, layers, core, cell: cell?, at: at?, rotate: rotate? })
        }
        5 => {
            let round = round(&mut r);
            let height = r.required("height", "1.0").and_then(Item::positive);
            let axial_cells = r.required("axial_cells", "10").and_then(Item::count);
            let cell = r.or("cell", SolidCell::Hex8, solid);
            let grading = r.or("grading", GradingSpec::default(), grading);
            r.finish();
            let (radius, core_cells, layers, core) = round?;
            Some(Shape::Cylinder {
                radius,
                height: height?,
                core_cells,
                layers,
                axial_cells: axial_cells?,
                core,
                cell: cell?,
                grading: grading?,
                at: at?,
                rotate: rotate?,
            })
        }
        _ => {
            let round = round(&mut r);
            let cell = r.or("cell", SolidCell::Hex8, solid);
            r.finish();
            let (radius, core_cells, layers, core) = round?;
            Some(Shape::Sphere { radius, core_cells, layers, core, cell: cell?, at: at?, rotate: rotate? })
        }
    }
}

/// Radius, cells of the core, layers and core of the round shapes.
fn round(r: &mut Reader) -> Option<(f64, u32, u32, f64)> {
    let radius = r.required("radius", "1.0").and_then(Item::positive);
    let core_cells = r.required("core_cells", "4").and_then(Item::count);
    let layers = r.required("layers", "4").and_then(Item::count);
    let core = r.or("core", default_core(), Item::positive);
    Some((radius?, core_cells?, layers?, core?))
}

fn placement(r: &mut Reader) -> (Option<[f64; 3]>, Option<Option<Rotate>>) {
    (r.or("at", [0.0; 3], Item::vector), r.maybe("rotate", rotate))
}

fn rotate(item: Item) -> Option<Rotate> {
    let mut r = item.table("rotate")?;
    let axis = r.required("axis", "[0, 0, 1]").and_then(Item::direction);
    let angle = r.required("angle", "45").and_then(Item::number);
    let about = r.or("about", RotateAbout::default(), |item| match item.node.value {
        Value::String(_) => {
            let word = item.choice(&RotateWord::ALL)?;
            Some(RotateAbout::Word([RotateWord::Centre, RotateWord::At][word]))
        }
        _ => item.vector().map(RotateAbout::Point),
    });
    r.finish();
    Some(Rotate { axis: axis?, angle: angle?, about: about? })
}

/// A number, or a table for the quadratic one.
fn grading(item: Item) -> Option<GradingSpec> {
    if !matches!(item.node, Node { value: Value::Table(_), .. }) {
        return item.positive().map(GradingSpec::Ratio);
    }
    let mut r = item.table("grading")?;
    let slope = r.required("slope", "0.2").and_then(Item::not_negative);
    let fine =
        r.or("fine", FineEnd::Min, |i| i.choice(&FineEnd::ALL).map(|k| [FineEnd::Min, FineEnd::Max][k]));
    r.finish();
    Some(GradingSpec::Quadratic(Quadratic { slope: slope?, fine: fine? }))
}
