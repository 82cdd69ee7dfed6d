//! From the tree to a [`Spec`]: every key of a deck has its line here.
//!
//! A part that could not be read is `None` and its problems are noted; the others can still be checked.

use super::problem::{Problems, list, suggest};
use super::reader::{Item, Reader};
use super::spec::*;
use super::tree::{Node, Place, Tree, Value};

/// A deck as far as it could be read.
pub struct Draft {
    pub title: Option<String>,
    pub method: Option<MethodName>,
    pub end: Option<f64>,
    pub step: Option<Step>,
    pub output: Option<Output>,
    pub dcr: Option<Option<Dcr>>,
    pub asynchronous: Option<Option<Asynchronous>>,
    pub semi_explicit: Option<Option<SemiExplicit>>,
    pub bipotential_implicit: Option<Option<BipotentialImplicit>>,
    pub contact: Option<Option<Contact>>,
    pub material: Vec<(String, Option<Law>)>,
    pub body: Vec<(String, Option<AnyBody>)>,
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
            dcr: self.dcr?,
            asynchronous: self.asynchronous?,
            semi_explicit: self.semi_explicit?,
            bipotential_implicit: self.bipotential_implicit?,
            contact: self.contact?,
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
    let method = r.required("method", "\"dcr\"").and_then(method_name);
    let end = r.required("end", "0.1").and_then(Item::positive);
    let step = r.or("step", Step::default(), step);
    let output = r.or("output", Output::default(), output);
    let dcr = r.maybe("dcr", dcr);
    let asynchronous = r.maybe("asynchronous", asynchronous);
    let semi_explicit = r.maybe("semi-explicit", semi_explicit);
    let bipotential_implicit = r.maybe("bipotential-implicit", bipotential_implicit);
    let contact = r.maybe("contact", contact);
    let material = r.named("material", "material", |_, item| law(item));
    let body = r.named("body", "body", |_, item| any_body(item));
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
    r.finish();
    let mut draft = Draft {
        title,
        method,
        end,
        step,
        output,
        dcr,
        asynchronous,
        semi_explicit,
        bipotential_implicit,
        contact,
        material,
        body,
        load,
        probe,
    };
    if let Some(method) = method {
        defaults_of_method(method, tree, problems, &mut draft);
    }
    Some(draft)
}

/// Tables that belong to the method, with its own defaults.
fn defaults_of_method(method: MethodName, tree: &Tree, problems: &Problems, draft: &mut Draft) {
    let own = OwnTable { method, tree, problems };
    own.settle(MethodName::Dcr, &mut draft.dcr);
    own.settle(MethodName::Asynchronous, &mut draft.asynchronous);
    own.settle(MethodName::SemiExplicit, &mut draft.semi_explicit);
    own.settle(MethodName::BipotentialImplicit, &mut draft.bipotential_implicit);
    let bodies: Vec<(String, Option<&AnyBody>)> =
        draft.body.iter().map(|(name, body)| (name.clone(), body.as_ref())).collect();
    let touching = touching(draft.contact.as_ref().and_then(Option::as_ref), &bodies);
    if let Some(Step { size: None, safety: safety @ None }) = &mut draft.step {
        let own = draft.asynchronous.as_ref().and_then(Option::as_ref);
        *safety = Some(usual_safety(method, touching, own));
    }
    let Some(contact) = &mut draft.contact else { return };
    if method == MethodName::Verlet && !touching && contact.is_none() {
        return;
    }
    let contact = contact.get_or_insert_default();
    let own = method.restitution();
    let before = tree.method_before.as_deref().and_then(MethodName::called);
    let before = before.filter(|b| *b != method).map(MethodName::restitution);
    let told = |path: &[&str]| matches!(tree.place(path), Place::Option(_));
    if !told(&["contact", "restitution"]) {
        contact.restitution = carried_over(contact.restitution, before);
    }
    for (i, between) in contact.between.iter_mut().enumerate() {
        if !told(&["contact", "between", &i.to_string(), "restitution"]) {
            between.restitution = carried_over(between.restitution, before);
        }
        between.friction.get_or_insert(contact.friction);
        between.restitution.get_or_insert(contact.restitution.unwrap_or(own));
    }
    contact.restitution.get_or_insert(own);
}

/// The tables of switches that methods have.
struct OwnTable<'a> {
    method: MethodName,
    tree: &'a Tree,
    problems: &'a Problems<'a>,
}

impl OwnTable<'_> {
    /// The switches of `of` are there if the method reads them; otherwise they are for nothing.
    fn settle<T: Default>(&self, of: MethodName, table: &mut Option<Option<T>>) {
        match table {
            Some(own) if self.method == of => _ = own.get_or_insert_default(),
            Some(Some(_)) => {
                let (own, method) = (of.name(), self.method.name());
                let message = format!("[{own}] is for method \"{own}\"; \"{method}\" does not read it");
                self.problems.warn(&self.tree.place(&[own]), message, "");
            }
            _ => {}
        }
    }
}

/// What is left of a restitution when an option puts another method in the place of one whose own is `before`: a
/// resolved deck writes that out, so it says nothing about the new one.
pub fn carried_over(restitution: Option<f64>, before: Option<f64>) -> Option<f64> {
    restitution.filter(|e| before != Some(*e))
}

fn method_name(item: Item) -> Option<MethodName> {
    let text = item.clone().text()?;
    if MethodName::LATER.contains(&text.as_str()) {
        let help = format!("there are {}", list(MethodName::ALL, '"'));
        return item.refuse(format!("is \"{text}\", which is not in this version yet"), help);
    }
    MethodName::called(MethodName::ALL[item.choice(&MethodName::ALL)?])
}

fn dcr(item: Item) -> Option<Dcr> {
    let mut r = item.table("dcr")?;
    let usual = Dcr::default();
    let variant = r.or("variant", usual.variant, |i| {
        i.choice(&DcrVariant::ALL).map(|k| [DcrVariant::Predictor, DcrVariant::FullStep][k])
    });
    let edge_edge = r.or("edge_edge", usual.edge_edge, Item::flag);
    let projection = r.or("projection", usual.projection, |i| {
        i.choice(&Projection::ALL).map(|k| [Projection::Mass, Projection::OneSided][k])
    });
    let sweeps = r.or("sweeps", usual.sweeps, Item::count);
    let swept = r.maybe("swept", Item::flag);
    let energy_correction = r.or("energy_correction", usual.energy_correction, Item::flag);
    let spin = r.or("angular_momentum_correction", usual.angular_momentum_correction, Item::flag);
    r.finish();
    Some(Dcr {
        variant: variant?,
        edge_edge: edge_edge?,
        projection: projection?,
        sweeps: sweeps?,
        swept: swept?,
        energy_correction: energy_correction?,
        angular_momentum_correction: spin?,
    })
}

fn asynchronous(item: Item) -> Option<Asynchronous> {
    let mut r = item.table("asynchronous")?;
    let mode = r.or("mode", Mode::Default, |i| i.choice(&Mode::ALL).map(|k| [Mode::Default, Mode::Paper][k]));
    let usual = Asynchronous::of(mode.unwrap_or(Mode::Default));
    let steps = r.or("steps", usual.steps, |i| {
        i.choice(&Steps::ALL).map(|k| [Steps::Classes, Steps::Free, Steps::Synchronous][k])
    });
    let phase =
        r.or("phase", usual.phase, |i| i.choice(&Phase::ALL).map(|k| [Phase::Centred, Phase::Start][k]));
    let contact_velocity = r.or("contact_velocity", usual.contact_velocity, |i| {
        let each = [ContactVelocity::Synchronised, ContactVelocity::Raw];
        i.choice(&ContactVelocity::ALL).map(|k| each[k])
    });
    let edge_edge = r.or("edge_edge", usual.edge_edge, Item::flag);
    let contact_step = r.or("contact_step", usual.contact_step, contact_step);
    r.finish();
    Some(Asynchronous {
        mode: mode?,
        steps: steps?,
        phase: phase?,
        contact_velocity: contact_velocity?,
        edge_edge: edge_edge?,
        contact_step: contact_step?,
    })
}

fn passes(item: Item) -> Option<Passes> {
    item.choice(&Passes::ALL).map(|k| [Passes::Single, Passes::Double][k])
}

fn semi_explicit(item: Item) -> Option<SemiExplicit> {
    let mut r = item.table("semi-explicit")?;
    let usual = SemiExplicit::default();
    let activation = r.or("activation", usual.activation, |i| {
        i.choice(&Activation::ALL).map(|k| [Activation::Position, Activation::Rate, Activation::Project][k])
    });
    let pass = r.or("pass", usual.pass, passes);
    let edge_edge = r.or("edge_edge", usual.edge_edge, Item::flag);
    let push_back = r.or("push_back", usual.push_back, Item::share);
    let tolerance = r.or("tolerance", usual.tolerance, Item::positive);
    let sweeps = r.or("sweeps", usual.sweeps, Item::count);
    r.finish();
    Some(SemiExplicit {
        activation: activation?,
        pass: pass?,
        edge_edge: edge_edge?,
        push_back: push_back?,
        tolerance: tolerance?,
        sweeps: sweeps?,
    })
}

fn bipotential_implicit(item: Item) -> Option<BipotentialImplicit> {
    let mut r = item.table("bipotential-implicit")?;
    let usual = BipotentialImplicit::default();
    let theta = r.or("theta", usual.theta, |i| {
        let place = i.clone();
        match i.share()? {
            0.0 => place.refuse("is 0", "positions would not see the new velocities: above 0, and up to 1"),
            theta => Some(theta),
        }
    });
    let xi = r.or("xi", usual.xi, Item::share);
    let pass = r.or("pass", usual.pass, passes);
    let edge_edge = r.or("edge_edge", usual.edge_edge, Item::flag);
    let tolerance = r.or("tolerance", usual.tolerance, Item::positive);
    let sweeps = r.or("sweeps", usual.sweeps, Item::count);
    let iterations = r.or("iterations", usual.iterations, Item::count);
    let halvings = r.or("halvings", usual.halvings, Item::count_or_none);
    r.finish();
    Some(BipotentialImplicit {
        theta: theta?,
        xi: xi?,
        pass: pass?,
        edge_edge: edge_edge?,
        tolerance: tolerance?,
        sweeps: sweeps?,
        iterations: iterations?,
        halvings: halvings?,
    })
}

fn contact_step(item: Item) -> Option<ContactStep> {
    let mut r = item.table("contact_step")?;
    let local = r.maybe("local", Item::positive);
    let smallest = r.maybe("smallest", Item::positive);
    let average = r.maybe("average", Item::positive);
    let travel = r.maybe("travel", Item::positive);
    let of = r.one_of(&["local", "smallest", "average"]);
    let place = |key: &str| r.key_place(key).unwrap_or(&r.place).clone();
    let fits = match (of, r.key_place("travel").is_some()) {
        (Some("smallest"), true) => {
            let help = "a step that follows the speed goes with `local` or `average`";
            r.problems.add(&place("travel"), format!("{} has both `smallest` and `travel`", r.name), help);
            false
        }
        (Some("average"), false) => {
            let help =
                "for example { average = 1, travel = 0.5 }; small elements are not seen by an average alone";
            r.problems.add(&place("average"), format!("{} has `average` without `travel`", r.name), help);
            false
        }
        (of, _) => of.is_some(),
    };
    r.finish();
    let step = ContactStep { local: local?, smallest: smallest?, average: average?, travel: travel? };
    fits.then_some(step)
}

fn contact(item: Item) -> Option<Contact> {
    let mut r = item.table("contact")?;
    let friction = r.or("friction", 0.0, Item::not_negative);
    let restitution = r.maybe("restitution", Item::share);
    let stick = r.maybe("stick", |i| i.choice(&Stick::ALL).map(|k| [Stick::Elastic, Stick::Plastic][k]));
    let guard = r.or("guard", false, Item::flag);
    let off = r.or("off", Vec::new(), |i| i.list(Item::text));
    let with_itself = r.or("self", Vec::new(), |i| i.list(Item::text));
    let only = r.maybe("only", |i| i.list(|pair| pair.array(Item::text)));
    let between = match r.get("between") {
        None => Some(Vec::new()),
        Some(item) if matches!(item.node.value, Value::Table(_)) => {
            item.refuse("is a single table", "write it as [[contact.between]], with two brackets")
        }
        Some(item) => item.list(between),
    };
    r.finish();
    Some(Contact {
        friction: friction?,
        restitution: restitution?,
        stick: stick?,
        guard: guard?,
        off: off?,
        with_itself: with_itself?,
        only: only?,
        between: between?,
    })
}

fn between(item: Item) -> Option<Between> {
    let mut r = item.table("between")?;
    let bodies = r.required("bodies", "[\"block\", \"wall\"]").and_then(|i| i.array(Item::text));
    let friction = r.maybe("friction", Item::not_negative);
    let restitution = r.maybe("restitution", Item::share);
    let off = r.or("off", false, Item::flag);
    r.finish();
    Some(Between { bodies: bodies?, friction: friction?, restitution: restitution?, off: off? })
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
        (None, safety) => Step { size: None, safety },
    })
}

fn output(item: Item) -> Option<Output> {
    let mut r = item.table("output")?;
    let count = |item: Item| item.count_or_none().map(u64::from);
    let history = r.or("history", default_history(), count);
    let frames = r.or("frames", default_frames(), count);
    let integration_points = r.or("integration_points", false, Item::flag);
    let checkpoint = r.or("checkpoint", default_checkpoint(), Item::not_negative);
    r.finish();
    Some(Output {
        history: history?,
        frames: frames?,
        integration_points: integration_points?,
        checkpoint: checkpoint?,
    })
}

fn law(item: Item) -> Option<Law> {
    let (node, name, problems) = (item.node, item.name.clone(), item.problems);
    let tag = |r: &mut Reader| r.required("law", "\"neo-hookean\"").and_then(|i| law_index(i, &name));
    let index = tag(&mut item.table("law")?)?;
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

fn any_body(item: Item) -> Option<AnyBody> {
    let r = item.clone().table("")?;
    let material = r.key_place("material").is_some() || r.key_place("materials").is_some();
    let rigid = r.is_table("plane")
        || r.key_place("polyline").is_some()
        || (r.key_place("mesh").is_some() && !material);
    if rigid { obstacle(item).map(AnyBody::Rigid) } else { body(item).map(AnyBody::Deformable) }
}

/// Keys of bodies that deform, and why an obstacle has none.
const NOT_RIGID: [(&str, &str); 14] = [
    ("material", "a plane or a polyline is rigid; only a body with a `mesh` can have a material"),
    ("materials", "a plane or a polyline is rigid; only a body with a `mesh` can have materials"),
    ("integration", "what is rigid has no stress to integrate"),
    ("hourglass", "what is rigid has no hourglass modes"),
    ("thickness", "what is rigid has no mass"),
    ("area", "what is rigid has no mass"),
    ("spin_about", "the point it spins about is its `centre`"),
    ("gravity", "it moves as told: give it a `velocity` or a `displacement`"),
    ("gravity_table", "it moves as told: give it a `displacement` with a `table`"),
    ("damping", "it moves as told, and nothing slows it"),
    ("fix", "it rests unless it is given a `velocity`, a `displacement` or a `spin`"),
    ("support", "it rests unless it is given a `velocity`, a `displacement` or a `spin`"),
    ("contact", "all of it touches; `off` of [contact] takes it out"),
    ("plane", "\"strain\" and \"stress\" are for bodies that deform"),
];

/// A body without material.
fn obstacle(item: Item) -> Option<Obstacle> {
    let mut r = item.table("obstacle")?;
    let word = r.key_place("plane").is_some() && !r.is_table("plane");
    let shape = r.one_of(if word { &["polyline", "mesh"][..] } else { &["plane", "polyline", "mesh"] });
    for (key, why) in NOT_RIGID {
        if let Some(place) = r.key_place(key)
            && (key != "plane" || word)
        {
            let message = if shape == Some("mesh") {
                format!("{} has no material and is a rigid obstacle; it has no `{key}`", r.name)
            } else {
                format!("{} is a rigid obstacle; it has no `{key}`", r.name)
            };
            let help =
                if shape == Some("mesh") { format!("{why}; or give it a `material`") } else { why.into() };
            r.problems.add(place, message, help);
            r.ignore(key);
        }
    }
    let plane = if word { None } else { r.maybe("plane", half_space) };
    let polyline = r.maybe("polyline", polyline);
    let mesh = r.maybe("mesh", mesh);
    let velocity = r.maybe("velocity", Item::vector);
    let displacement = r.maybe("displacement", Item::vector);
    let table = r.maybe("table", Item::table_in_time);
    let spin = r.or("spin", [0.0; 3], Item::vector);
    let centre = r.maybe("centre", Item::vector);
    let (name, place, problems) = (r.name.clone(), r.place.clone(), r.problems);
    r.finish();
    let (displacement, velocity) = (displacement?, velocity?);
    let table = led(&name, &place, problems, displacement, velocity, table?)?;
    shape?;
    Some(Obstacle {
        velocity,
        displacement,
        table,
        spin: spin?,
        centre: centre?,
        plane: plane?,
        polyline: polyline?,
        mesh: mesh?,
    })
}

fn half_space(item: Item) -> Option<HalfSpace> {
    let mut r = item.table("plane")?;
    let point = r.required("point", "[0, 0, 0]").and_then(Item::vector);
    let normal = r.required("normal", "[0, 0, 1]").and_then(Item::direction);
    r.finish();
    Some(HalfSpace { point: point?, normal: normal? })
}

fn polyline(item: Item) -> Option<Polyline> {
    let mut r = item.table("polyline")?;
    let points = r.required("points", "[[0, 0], [1, 0]]").and_then(|i| {
        let points: Vec<[f64; 2]> = i.clone().list(|p| p.array(Item::number))?;
        if points.len() < 2 {
            return i.refuse(format!("has {} points", points.len()), "it needs at least two");
        }
        if let Some(k) = points.windows(2).position(|p| p[0] == p[1]) {
            return i
                .refuse(format!("has the same point at entries {k} and {}", k + 1), "remove one of them");
        }
        Some(points)
    });
    let closed = r.or("closed", false, Item::flag);
    let (name, place, problems) = (r.name.clone(), r.place.clone(), r.problems);
    r.finish();
    let (points, closed) = (points?, closed?);
    if closed && points.len() < 3 {
        problems.add(&place, format!("{name} is closed and has two points"), "it needs at least three");
        return None;
    }
    if closed && points.first() == points.last() {
        let message = format!("{name} is closed and ends where it begins");
        problems.add(&place, message, "remove the last point: it is joined to the first by itself");
        return None;
    }
    Some(Polyline { points, closed })
}

fn body(item: Item) -> Option<Body> {
    let mut r = item.table("body")?;
    let mesh = r.required("mesh", "{ shape = \"box\", size = [1, 1, 1], cells = [4, 4, 4] }").and_then(mesh);
    let material_here = r.maybe("material", material);
    let materials = r.each("materials", "group", |_, item| material(item));
    let integration = r.or("integration", Integration::Full, |i| {
        let each = [Integration::Full, Integration::OnePoint, Integration::Nodal];
        i.choice(&Integration::ALL).map(|k| each[k])
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
    let fix = r.or("fix", Part::default(), part);
    let contact = r.or("contact", default_contact(), |item| {
        let read = part(item.clone())?;
        match read {
            Part::Sets(sets) if sets.is_empty() => {
                item.refuse("is an empty list", "contact = false takes the whole body out")
            }
            read => Some(read),
        }
    });
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
    // copies have been made of it
    r.get("array");
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
        contact: contact?,
        support: support?,
        array: None,
    })
}

fn part(item: Item) -> Option<Part> {
    match &item.node.value {
        Value::Bool(all) => Some(Part::All(*all)),
        Value::String(set) => Some(Part::Sets(vec![set.clone()])),
        Value::Array(_) => item.list(Item::text).map(Part::Sets),
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
    let owner = format!("the support of `{}`", support.set);
    let Support { displacement, velocity, table, .. } = support.clone();
    let table = led(&owner, &place, problems, displacement, velocity, table)?;
    Some(Support { table, ..support })
}

/// A motion is a displacement times a table, or a velocity; returns the table, with its default.
fn led(
    owner: &str,
    place: &Place,
    problems: &Problems,
    displacement: Option<[f64; 3]>,
    velocity: Option<[f64; 3]>,
    table: Option<Vec<[f64; 2]>>,
) -> Option<Option<Vec<[f64; 2]>>> {
    if displacement.is_some() && velocity.is_some() {
        let message = format!("{owner} has both `displacement` and `velocity`");
        problems.add(place, message, "keep one of them");
        return None;
    }
    if displacement.is_none() && table.is_some() {
        let message = format!("{owner} has a `table` without `displacement`");
        problems.add(place, message, "a table is a factor of the displacement");
        return None;
    }
    Some(displacement.map(|_| table.unwrap_or_else(default_table)))
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
    let body = r.maybe("body", Item::text);
    let between = r.maybe("between", |i| i.array(Item::text));
    let contact = r.maybe("contact", Item::text);
    let node = r.maybe("node", Item::count_or_none);
    let nodes = r.maybe("nodes", Item::text);
    let reaction = r.maybe("reaction", Item::text);
    let what = r.one_of(&["body", "between", "contact"]);
    let mut fine = what.is_some();
    let parts = ["node", "nodes", "reaction"];
    let given: Vec<&str> = parts.into_iter().filter(|k| r.key_place(k).is_some()).collect();
    if given.len() > 1 {
        fine &= r.one_of(&parts).is_some();
    } else if let (Some(what @ ("between" | "contact")), [key]) = (what, &given[..]) {
        let place = r.key_place(key).unwrap_or(&r.place);
        let message = format!("{} has `{what}`; it has no `{key}`", r.name);
        r.problems.add(place, message, format!("`{key}` is for a probe of one `body`"));
        fine = false;
    }
    r.finish();
    let probe = Probe {
        body: body?,
        between: between?,
        contact: contact?,
        node: node?,
        nodes: nodes?,
        reaction: reaction?,
    };
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
