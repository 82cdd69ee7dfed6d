//! Implicit steps in all units and places: stiffness from rubber to steel, speeds from rest to a hundredth of the wave speed, in free flight and on a floor,
//! at the origin and far from it. 36 scenes: tolerances that compare with forces must not fail where there are none.

use crate::common::{Run, body};
use carom::material::Law;
use carom::math::Vec3;
use carom::mesh::shape;
use carom::method::bipotential_implicit::{self, BipotentialImplicit};
use carom::method::{Method, StepRule};
use carom::model::contact::{Obstacle, ObstacleShape};
use carom::model::{BodySpec, Builder, Model};

const DENSITY: f64 = 1000.0;
const STEPS: f64 = 20.0;

/// A scene: stiffness [Pa], speed of approach as a share of the wave speed, the lower corner of the block, with a floor below it or not.
#[derive(Clone, Copy, Debug)]
struct Scene {
    young: f64,
    share: f64,
    at: Vec3,
    floor: bool,
}

impl Scene {
    fn all() -> Vec<Scene> {
        let mut scenes = Vec::new();
        for young in [1e4, 1e8, 2.1e11] {
            for share in [0.0, 1e-8, 1e-5, 1e-2] {
                for (at, floor) in
                    [(Vec3::zeros(), false), (Vec3::zeros(), true), (Vec3::new(3e3, 1e3, 0.0), true)]
                {
                    scenes.push(Scene { young, share, at, floor });
                }
            }
        }
        scenes
    }

    fn speed(&self) -> f64 {
        self.share * (self.young / DENSITY).sqrt()
    }

    /// What rests is pulled down: by a weight that strains it by about 10⁻⁵.
    fn gravity(&self) -> f64 {
        if self.share == 0.0 { 1e-5 * self.young / DENSITY } else { 0.0 }
    }

    fn model(&self) -> Model {
        let law = Law::StVenantKirchhoff { young: self.young, poisson: 0.3, density: DENSITY };
        let mut mesh = shape::Rectangle::new([1.0, 1.0], [2, 2]).build().unwrap();
        mesh.nodes.iter_mut().for_each(|x| *x += self.at);
        let nodes = (0..mesh.nodes.len() as u32).collect();
        let mut builder = Builder::default();
        builder.body(BodySpec { gravity: -self.gravity() * Vec3::y(), ..body("block", mesh, &law, 1.0) });
        builder.restrain(nodes, vec![Vec3::z()], None);
        if self.floor {
            let shape = ObstacleShape::Plane { point: self.at, normal: Vec3::y() };
            builder.contact.obstacles.push(Obstacle::new("floor", shape));
        }
        builder.contact.law.friction = 0.3;
        builder.build().unwrap()
    }
}

fn try_all<M: Method>(name: &str, make: impl Fn(&Model, StepRule) -> M, books: f64) {
    for scene in Scene::all() {
        let model = scene.model();
        let step = 2.0 * model.stable_step();
        let method = make(&model, StepRule::Fixed(step));
        let mut run = Run::with(model, method, |_, _| Vec3::new(0.5, -1.0, 0.0) * scene.speed());
        let done = run.until(STEPS * step);
        assert!(done.is_ok(), "{name} {scene:?}: {done:?}");
        let l = &run.ledger;
        // positions far from the origin have fewer digits: what that is as a velocity, and as the work of forces
        let mass: f64 = run.model.mass.iter().sum();
        let round = 64.0 * f64::EPSILON * (1.0 + scene.at.norm());
        let digits = round / step;
        let way = (scene.speed() + scene.gravity() * run.state.time) * run.state.time;
        let round_off = scene.young * round * way + mass * digits * (digits + scene.speed());
        assert!(
            l.error_max <= books * l.peak + round_off,
            "{name} {scene:?}: {:e} of {:e}",
            l.error_max,
            l.peak
        );
        let nodes = run.model.mass.iter().zip(&run.state.v);
        let mean = nodes.map(|(m, v)| *m * v).sum::<Vec3>() / mass;
        if scene.floor {
            // it does not go through: the centre has not fallen by more than it was strained
            let strain = 2.0 * scene.share + 1e-4;
            let nodes = run.model.mass.iter().zip(&run.state.x);
            let height = nodes.map(|(m, x)| m * (x.y - scene.at.y)).sum::<f64>() / mass;
            assert!(height > 0.5 - strain, "{name} {scene:?}: {height}");
        } else {
            let fall = scene.gravity() * run.state.time;
            let expected = Vec3::new(0.5 * scene.speed(), -scene.speed() - fall, 0.0);
            let off = (mean - expected).norm();
            assert!(off <= 1e-9 * expected.norm() + digits, "{name} {scene:?}: {off:e}");
        }
    }
}

#[test]
fn thirty_six_scenes_by_the_bipotential() {
    let options = bipotential_implicit::Options::default();
    try_all("bipotential-implicit", |m, rule| BipotentialImplicit::new(m, rule, options).unwrap(), 0.02);
}
