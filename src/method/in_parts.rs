//! Steps that Newton's method solves: in one go, else in halves, and what is said where that does not help either.
//!
//! Used by `bipotential-implicit`, `velocity-update`, `newmark-penalty` and `static`.

use super::{Method, Reached, StepError};
use crate::math::Vec3;
use crate::model::forces::Forces;
use crate::model::record::Record;
use crate::model::{Ledger, Model, State};
use crate::solve::newton::{Leap, Newton, Stuck, Trouble, in_halves};

/// Does a step of length `dt` to `t1` by `attempt`, in parts where it does not converge as a whole. An attempt that fails leaves the state as it
/// found it; parts that were done before it are taken back here, so that the last good state is that of a whole step.
pub(super) fn step_in_parts<M: Method>(
    method: &mut M,
    model: &Model,
    state: &mut State,
    ledger: &mut Ledger,
    ([dt, t1], halvings): ([f64; 2], u32),
    mut attempt: impl FnMut(&mut M, &mut State, &mut Ledger, Leap) -> Result<(), Trouble<StepError>>,
) -> Result<Reached, StepError> {
    let mut before: Option<(Record, Ledger)> = None;
    let done = in_halves(dt, t1, halvings, &mut |leap| {
        if leap.depth > 0 && before.is_none() {
            let mut record = Record::default();
            state.save(&mut record);
            method.save(&mut record);
            before = Some((record, ledger.clone()));
        }
        attempt(method, state, ledger, leap)
    });
    let Err(trouble) = done else {
        state.step += 1;
        return Ok(Reached::Until);
    };
    if let Some((record, books)) = before
        && let (Ok(start), Ok(())) = (State::restore(model, &record), method.restore(model, &record))
    {
        (*state, *ledger) = (start, books);
    }
    match trouble {
        Trouble::Stopped => Ok(Reached::Stopped),
        Trouble::Again(error) | Trouble::Error(error) => Err(error),
    }
}

/// What does not settle: the node with the largest force `left` out of balance [N], and the `contact` it takes part in.
pub(super) fn unsolved(
    model: &Model,
    x: &[Vec3],
    leap: Leap,
    (stuck, newton): (Stuck, &Newton),
    left: impl Fn(usize) -> Vec3,
    contact: impl Fn(usize) -> Option<[u32; 2]>,
) -> StepError {
    let Leap { length: dt, end: time, .. } = leap;
    let residual = match stuck {
        Stuck::Factors(error) => return StepError::Factors { time, dt, error },
        Stuck::Inverted => {
            if let Some((block, element, det_f)) = Forces::find_failure(model, x) {
                let body = model.body_of_block(block).name.clone();
                return StepError::Inverted { body, element, time, det_f };
            }
            newton.last
        }
        Stuck::Residual(residual) => residual,
    };
    let (node, _) = (0..x.len()).fold((0, 0.0), |worst, k| {
        let size = left(k).norm();
        if size > worst.1 { (k, size) } else { worst }
    });
    let body = model.body_of_node(node);
    StepError::NoConvergence {
        time,
        dt,
        body: body.name.clone(),
        node: node - body.nodes.start,
        share: residual.force / residual.scale.max(f64::MIN_POSITIVE),
        contact: contact(node).map(|bodies| bodies.map(|b| model.contact.name_of(model, b))),
    }
}
