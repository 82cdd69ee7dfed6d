//! Published cases: a deck, where it comes from, and checks of what comes out.
//!
//! A case runs the same way as any deck, into an output folder, and its checks read the history that a user would
//! read. Each check has an expected value, a measured one and a tolerance.

mod free_bar;
mod impacts;

use crate::deck::{self, DeckErrors, Input};
use crate::look::folder::Table;
use crate::model::Ledger;
use crate::output::history::History;
use crate::run::{Balance, Run, RunError};
use serde::Serialize;
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// How measured and expected compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Relation {
    /// |measured − expected| ≤ tolerance
    Within,
    /// measured ≤ expected + tolerance
    AtMost,
    /// measured ≥ expected − tolerance
    AtLeast,
}

/// One check.
#[derive(Clone, Debug, Serialize)]
pub struct Check {
    pub check: String,
    pub relation: Relation,
    pub expected: f64,
    pub measured: f64,
    /// Absolute, in the unit of `measured`.
    pub tolerance: f64,
}

impl Check {
    pub fn within(check: impl Into<String>, measured: f64, expected: f64, tolerance: f64) -> Self {
        Check { check: check.into(), relation: Relation::Within, expected, measured, tolerance }
    }

    pub fn at_most(check: impl Into<String>, measured: f64, expected: f64) -> Self {
        Check { check: check.into(), relation: Relation::AtMost, expected, measured, tolerance: 0.0 }
    }

    /// What is not finite never passes.
    pub fn pass(&self) -> bool {
        let excess = self.measured - self.expected;
        match self.relation {
            Relation::Within => excess.abs() <= self.tolerance,
            Relation::AtMost => excess <= self.tolerance,
            Relation::AtLeast => -excess <= self.tolerance,
        }
    }
}

/// A published case.
pub struct Published {
    pub name: &'static str,
    pub method: &'static str,
    pub source: &'static str,
    /// The deck, in full size or in the size for a quick look.
    deck: fn(quick: bool) -> String,
    checks: fn(&Outcome) -> Vec<Check>,
}

/// What checks look at.
pub struct Outcome {
    pub history: Table,
    pub ledger: Ledger,
    pub balance: Balance,
    /// The size for a quick look.
    pub quick: bool,
}

impl Outcome {
    /// A column of the history; all not-a-number if there is none, which no check passes.
    pub fn column(&self, name: &str) -> Vec<f64> {
        self.history.column(name).map_or(vec![f64::NAN], <[f64]>::to_vec)
    }
}

/// Why a case could not be run.
#[derive(Debug, thiserror::Error)]
pub enum ReproduceError {
    #[error("{0}")]
    Deck(DeckErrors),
    #[error(transparent)]
    Run(#[from] RunError),
    #[error("{0}")]
    Output(String),
}

/// All cases.
pub const CASES: [Published; 7] = [
    free_bar::CASE,
    impacts::TWO_PARTICLES,
    impacts::NODE_FACE,
    impacts::TWO_BARS,
    impacts::TWO_HEX_BARS,
    impacts::FIVE_CUBES,
    impacts::CUBES_76,
];

/// The case of that name.
pub fn find(name: &str) -> Option<&'static Published> {
    CASES.iter().find(|c| c.name == name)
}

impl Published {
    /// The deck it runs.
    pub fn deck(&self, quick: bool) -> String {
        (self.deck)(quick)
    }

    /// Runs the case and checks it; history and summary go to `folder`, which exists. Call inside
    /// [`crate::run::pool`]'s `install`.
    pub fn run(&self, quick: bool, folder: &Path, stop: &AtomicBool) -> Result<Vec<Check>, ReproduceError> {
        let text = self.deck(quick);
        let input = Input { name: self.name, text: &text, folder, options: &[] };
        let loaded = deck::load(&input).map_err(ReproduceError::Deck)?;
        let count = loaded.spec.output.history;
        let history = History::create(folder, &loaded.case.probes, loaded.case.end, count)
            .map_err(|e| ReproduceError::Output(e.to_string()))?;
        let mut run = Run::start(loaded.case, vec![Box::new(history)], None)?;
        run.to_end(stop)?;
        let history = Table::read(&folder.join("history.csv"), false)
            .map_err(|e| ReproduceError::Output(e.to_string()))?;
        let outcome = Outcome { history, ledger: run.ledger, balance: run.balance, quick };
        Ok((self.checks)(&outcome))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_that_is_not_finite_fails_and_the_relations_mean_what_they_say() {
        assert!(Check::within("", 1.05, 1.0, 0.1).pass() && !Check::within("", 1.2, 1.0, 0.1).pass());
        assert!(Check::at_most("", -5.0, 1.0).pass() && !Check::at_most("", 1.1, 1.0).pass());
        let least = Check { relation: Relation::AtLeast, ..Check::at_most("", 2.0, 1.0) };
        assert!(least.pass());
        for relation in [Relation::Within, Relation::AtMost, Relation::AtLeast] {
            let check = Check { relation, ..Check::within("", f64::NAN, 1.0, f64::INFINITY) };
            assert!(!check.pass());
        }
    }

    #[test]
    fn every_case_passes_at_least_three_checks_in_its_quick_size() {
        for case in &CASES {
            let folder =
                std::env::temp_dir().join(format!("carom-reproduce-{}-{}", case.name, std::process::id()));
            std::fs::create_dir_all(&folder).unwrap();
            let checks = crate::run::pool(2)
                .unwrap()
                .install(|| case.run(true, &folder, &AtomicBool::new(false)))
                .unwrap();
            std::fs::remove_dir_all(&folder).unwrap();
            assert!(checks.len() >= 3, "{}", case.name);
            for check in checks {
                assert!(check.pass(), "{}: {check:?}", case.name);
            }
        }
    }
}
