//! What every file here needs: a body with nothing acting on it, and a run without a deck.

use carom::contact::scene::BodyKind;
use carom::element::choice::{Kind, maker};
use carom::material::Law;
use carom::math::Vec3;
use carom::mesh::{Cells, Mesh};
use carom::method::verlet::{StepRule, Verlet};
use carom::method::{Method, StepError};
use carom::model::{BodySpec, Ledger, Model, State, Table};
use std::sync::atomic::AtomicBool;

/// A free body of one law.
pub fn body(name: &str, mesh: Mesh, law: &Law, section: f64) -> BodySpec<'static> {
    let maker_of = |cells: &Cells| maker(Kind { section, ..Kind::new(cells.kind) }, law);
    let blocks = mesh.cells.iter().map(maker_of).collect();
    BodySpec {
        name: name.into(),
        kind: BodyKind::of_cells(mesh.dimension()),
        mesh,
        blocks,
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
