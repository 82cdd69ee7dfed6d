//! What every file here needs: a body with nothing acting on it, and a run without a deck.

use carom::element::Element;
use carom::element::solid::{Solid, SolidOptions};
use carom::material::Material;
use carom::math::Vec3;
use carom::mesh::Mesh;
use carom::method::verlet::{StepRule, Verlet};
use carom::method::{Method, StepError};
use carom::model::{BodySpec, Ledger, Model, State, Table};
use std::sync::atomic::AtomicBool;

/// A free body of one kind of element and one law.
pub fn body<E: Element, M: Material + Clone>(
    name: &str,
    mesh: Mesh,
    law: M,
    section: f64,
) -> BodySpec<'static> {
    let make = move |connectivity: Vec<u32>, reference: &[Vec3]| {
        let options = SolidOptions { section, ..Default::default() };
        let block = Solid::<E, M>::new(law.clone(), connectivity, reference, &options);
        Box::new(block) as Box<dyn carom::element::Block>
    };
    BodySpec {
        name: name.into(),
        mesh,
        blocks: vec![Box::new(make)],
        section,
        gravity: Vec3::zeros(),
        gravity_table: Table::default(),
        damping: 0.0,
    }
}

/// A model on its way.
pub struct Run<M: Method = Verlet> {
    pub model: Model,
    pub state: State,
    pub ledger: Ledger,
    pub method: M,
}

impl Run {
    /// From rest in the reference shape but for the velocity `v(X)`.
    pub fn start(model: Model, rule: StepRule, v: impl Fn(&Vec3) -> Vec3) -> Self {
        let method = Verlet::new(&model, rule);
        Run::with(model, method, |_, x| v(x))
    }
}

impl<M: Method> Run<M> {
    /// The same with any method; `v` is told the body as well.
    pub fn with(model: Model, mut method: M, v: impl Fn(usize, &Vec3) -> Vec3) -> Self {
        let mut state = model.rest();
        for (b, body) in model.bodies.iter().enumerate() {
            for k in body.nodes.clone() {
                state.v[k] = v(b, &model.reference[k]);
            }
        }
        let mut ledger = Ledger::default();
        method.start(&model, &mut state, &mut ledger).unwrap();
        Run { model, state, ledger, method }
    }

    pub fn until(&mut self, time: f64) -> Result<(), StepError> {
        let never = AtomicBool::new(false);
        self.method.advance(&self.model, &mut self.state, time, &mut self.ledger, &never).map(|_| ())
    }
}
