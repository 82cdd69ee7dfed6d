//! A folder that a run has written, not a hand.

use crate::folders;
use carom::contact::scene::BodyKind;
use carom::element::choice::{Kind, maker};
use carom::look::{PlotOptions, RenderOptions, Select, in_words, plot, render};
use carom::material::Law;
use carom::math::Vec3;
use carom::mesh::{CellKind, shape};
use carom::method::verlet::{StepRule, Verlet};
use carom::model::contact::{Obstacle, ObstacleShape};
use carom::model::{BodySpec, Builder, Table};
use carom::output::frames::Frames;
use carom::output::history::History;
use carom::output::pvd::Series;
use carom::output::summary::{Status, Summary, Wall};
use carom::output::vtu::{name, read_vtu};
use carom::run::probe::{Probe, Target};
use carom::run::{Case, Observer, Run, pool};
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// A beam that is thrown, bends and turns.
fn beam() -> Case {
    let law = Law::StVenantKirchhoff { young: 1.0, poisson: 0.3, density: 1.0 };
    let mut builder = Builder::default();
    builder.body(BodySpec {
        name: "beam".into(),
        kind: BodyKind::Solid,
        mesh: shape::Box::new([4.0, 0.5, 0.5], [24, 3, 3]).build().unwrap(),
        blocks: vec![maker(Kind::new(CellKind::Hex8), &law)],
        section: 1.0,
        gravity: Vec3::new(0.0, 0.0, -0.01),
        gravity_table: Table::default(),
        damping: 0.0,
    });
    let model = builder.build().unwrap();
    let mut state = model.rest();
    for (v, x) in state.v.iter_mut().zip(&model.reference) {
        *v = Vec3::new(0.0, 0.0, 0.02 * (x.x - 2.0).powi(2) - 0.03)
            + 0.02 * Vec3::y().cross(&(x - Vec3::x() * 2.0));
    }
    let method = Verlet::new(&model, StepRule::Automatic { safety: 0.8 });
    let probes = vec![
        Probe { name: "tip".into(), target: Target::Nodes(vec![24]) },
        Probe { name: "beam".into(), target: Target::Body(0) },
    ];
    let (title, method_name) = ("A beam in flight".into(), "verlet".into());
    Case { title, method_name, model, state, method: Box::new(method), end: 8.0, probes }
}

fn run(dir: &Path) {
    pool(1).unwrap().install(|| {
        let case = beam();
        let history = History::create(dir, &case, 40).unwrap();
        let frames = Frames::create(dir, &case.model, case.end, 8).unwrap();
        let observers: Vec<Box<dyn Observer>> = vec![Box::new(history), Box::new(frames)];
        let mut run = Run::start(case, observers, None).unwrap();
        run.to_end(&AtomicBool::new(false)).unwrap();
        Summary::of(&run, Wall::default(), Status::Finished, None).write(dir).unwrap();
    });
}

/// A beam over a floor, beside a rigid block.
#[test]
fn frames_tell_elements_obstacles_and_planes_apart() {
    let dir = folders::empty("rigid");
    pool(1).unwrap().install(|| {
        let mut case = beam();
        let elements = case.model.blocks[0].len();
        let block = shape::Box::new([1.0, 1.0, 1.0], [2, 1, 1]).build().unwrap();
        let floor = ObstacleShape::Plane { point: -Vec3::z(), normal: Vec3::z() };
        case.model.contact.obstacles =
            vec![Obstacle::new("block", ObstacleShape::Mesh(block)), Obstacle::new("floor", floor)];
        case.end = 0.1;
        let frames = Frames::create(&dir, &case.model, case.end, 1).unwrap();
        let mut run = Run::start(case, vec![Box::new(frames)], None).unwrap();
        run.to_end(&AtomicBool::new(false)).unwrap();
        let series = Series::open(&dir).unwrap();
        let frame = read_vtu(&series.path(&series.entries()[1])).unwrap();
        let rigid = &frame.cell_field(name::RIGID).unwrap().values;
        assert!(rigid[..elements].iter().all(|&r| r == 0.0));
        assert_eq!(rigid[elements..], [1.0, 1.0, 2.0]);
    });
    let plain = folders::empty("nothing-rigid");
    run(&plain);
    let series = Series::open(&plain).unwrap();
    assert!(read_vtu(&series.path(&series.entries()[0])).unwrap().cell_field(name::RIGID).is_none());
}

#[test]
fn a_run_can_be_plotted_drawn_and_told() {
    let dir = folders::empty("real");
    run(&dir);
    let plots = plot(&dir, &PlotOptions::default()).unwrap();
    assert!(
        plots.contains(&dir.join("plots/probe-tip.svg")) && plots.contains(&dir.join("plots/probe-beam.png"))
    );
    for select in [Select::Last, Select::Sheet { rows: 2, columns: 2 }, Select::All] {
        let options = RenderOptions { select, size: (640, 400), ..RenderOptions::default() };
        let files = render(&dir, &options).unwrap();
        assert!(files[0].starts_with(dir.join("pictures")) && files[0].exists());
    }
    let words = in_words(&dir).unwrap();
    assert!(words.contains("loads and supports") && words.contains("Contact    none"), "{words}");
}
