//! What says that a result should not be believed, though its books may close.
//!
//! A closed balance is not yet a right answer: two accounts of many times the whole energy can cancel each other, bodies can
//! sink into each other at no cost, and a contact that was not solved is booked as it is.

use super::Run;
use crate::model::{Ledger, Model};

/// Contact may take all the energy that was there. Twice the round-off of accounts beyond that is a doubt.
const ALL: f64 = 1.02;
/// Overlap that is a doubt, as a share of the edges of the finest body: what wrong places and normals cost shows then.
const OVERLAP: f64 = 0.1;
/// Share of the energy that normal contact may give: a restitution of one leaves its account at nothing, but for what is settled a
/// step later and for steps that are long for an impact.
const GIVEN: f64 = 0.05;
/// Share of the energy that may be unaccounted for.
const LEDGER_TOL: f64 = 0.02;

/// Everything that is to be said, in words; nothing if the run may be believed as far as it knows.
pub fn of(run: &Run) -> Vec<String> {
    let ledger = &run.ledger;
    let mut doubts = energies(ledger);
    doubts.extend(overlap(ledger, &run.case.model));
    if ledger.unsolved > 0 {
        let (count, steps) = (ledger.unsolved, run.case.state.step);
        doubts.push(format!(
            "contacts were left unsolved in {count} of {steps} steps: more `sweeps` or a smaller `step.safety` helps"
        ));
    }
    if ledger.let_go > 0 {
        let count = ledger.let_go;
        doubts.push(format!(
            "{count} times a node was found deeper in an element than half of it and was let go: bodies may have passed \
             through each other; a shorter `contact_step` or a smaller `step.safety` helps"
        ));
    }
    doubts.extend(run.case.method.doubts());
    doubts
}

fn energies(ledger: &Ledger) -> Vec<String> {
    let mut doubts = Vec::new();
    let error = ledger.error_max_rel();
    if error >= LEDGER_TOL {
        let part = 100.0 * error;
        doubts.push(format!(
            "{part:.1} % of the energy is NOT accounted for: take a smaller step or a finer mesh"
        ));
    }
    let given = -ledger.restitution / ledger.peak;
    if given > GIVEN && given <= ALL {
        doubts.push(format!(
            "normal contact gave {:.1} % of the energy that was there: take a smaller step or a finer mesh",
            100.0 * given
        ));
    }
    let moved = [("friction", ledger.friction), ("normal contact", ledger.restitution)];
    for (name, joules) in moved {
        if joules.abs() > ALL * ledger.peak {
            let (verb, times) = (if joules > 0.0 { "took" } else { "gave" }, joules.abs() / ledger.peak);
            doubts.push(format!(
                "{name} {verb} {:.3e} J, {times:.2} times the energy that was there ({:.3e} J): contacts are answered \
                 wrongly; compare with another method or mesh",
                joules.abs(),
                ledger.peak
            ));
        }
    }
    doubts
}

fn overlap(ledger: &Ledger, model: &Model) -> Option<String> {
    if ledger.penetration_max == 0.0 {
        return None;
    }
    let scene = model.contact.scene(model, false);
    let soft = scene.bodies.iter().filter(|b| !b.attributes.rigid() && b.median_edge > 0.0);
    let (edge, name) = (soft.map(|b| (b.median_edge, &b.name))).min_by(|p, q| p.0.total_cmp(&q.0))?;
    let share = ledger.penetration_max / edge;
    (share > OVERLAP).then(|| {
        format!(
            "bodies overlapped by {:.3e} m, {:.0} % of an edge of `{name}`: a smaller `step.safety` or a finer mesh helps",
            ledger.penetration_max,
            100.0 * share
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accounts_that_are_larger_than_the_energy_and_cancel_are_doubted() {
        let closed = Ledger {
            kinetic: 0.2,
            initial: 1.0,
            peak: 1.0,
            friction: 0.7,
            restitution: 0.1,
            ..Ledger::default()
        };
        assert_eq!(energies(&closed), Vec::<String>::new());
        let wild = Ledger { friction: 32.0, restitution: -31.2, ..closed.clone() };
        assert!(wild.error().abs() < 1e-12);
        let said = energies(&wild);
        assert!(
            said.len() == 2
                && said[0].starts_with("friction took")
                && said[1].starts_with("normal contact gave")
        );
        // normal contact can take, and never give
        let gave = Ledger { kinetic: 1.06, restitution: -0.06, friction: 0.0, ..closed.clone() };
        assert!(energies(&gave)[0].contains("normal contact gave 6.0 %"), "{:?}", energies(&gave));
        let open = Ledger { error_max: 0.05, ..closed };
        assert!(energies(&open)[0].contains("5.0 % of the energy is NOT accounted for"));
    }
}
