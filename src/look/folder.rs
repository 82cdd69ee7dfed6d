//! An output folder as pictures see it: history by column name, summary, series of frames.
//!
//! A run may still be going on, or may have been killed: then the last row of its history may be cut
//! short, and is left out. In a finished run a short row is damage.

use super::LookError;
use crate::output::summary::checked;
use crate::run::disk;
use std::path::Path;

/// Columns of numbers with names, as in `history.csv` and in files of reference points.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    pub names: Vec<String>,
    /// One list per name, all of one length.
    pub columns: Vec<Vec<f64>>,
}

impl Table {
    pub fn column(&self, name: &str) -> Option<&[f64]> {
        let i = self.names.iter().position(|n| n == name)?;
        Some(&self.columns[i])
    }

    /// Reads comma-separated numbers under a line of names; the first column must be `time`.
    ///
    /// With `growing`, a last line without its end is left out.
    pub fn read(path: &Path, growing: bool) -> Result<Table, LookError> {
        let text = std::fs::read_to_string(path);
        let text = text.map_err(|source| LookError::Read { path: path.to_owned(), source })?;
        Table::parse(path, &text, growing)
    }

    /// The same of a text; `path` is for messages.
    pub fn parse(path: &Path, text: &str, growing: bool) -> Result<Table, LookError> {
        let bad = |line: usize, what: String| LookError::Table { path: path.to_owned(), line, what };
        let mut lines: Vec<&str> = text.split('\n').collect();
        let unended = lines.pop().unwrap_or("");
        if !unended.is_empty() && !growing {
            lines.push(unended);
        }
        let mut lines = lines.into_iter().map(str::trim).enumerate().filter(|(_, l)| !l.is_empty());
        let Some((_, head)) = lines.next() else {
            return Err(bad(1, "there is no line of column names".into()));
        };
        let names: Vec<String> = head.split(',').map(|n| n.trim().to_owned()).collect();
        if names[0] != "time" {
            return Err(bad(1, format!("the first column is `{}`, not `time`", clip(&names[0]))));
        }
        let mut columns = vec![Vec::new(); names.len()];
        for (i, line) in lines {
            let cells: Vec<&str> = line.split(',').map(str::trim).collect();
            if cells.len() != names.len() {
                let what = format!("{} numbers under {} names", cells.len(), names.len());
                return Err(bad(i + 1, what));
            }
            for ((cell, name), column) in cells.iter().zip(&names).zip(&mut columns) {
                let Ok(number) = cell.parse::<f64>() else {
                    return Err(bad(i + 1, format!("`{}` in column `{name}` is not a number", clip(cell))));
                };
                column.push(number);
            }
        }
        Ok(Table { names, columns })
    }

    /// The energy that was there: the largest of total and initial total + external work, over all rows.
    pub(crate) fn energy_there(&self) -> Option<f64> {
        let total = self.column("total").filter(|t| !t.is_empty())?;
        let external = self.column("external").unwrap_or(&[]);
        let put_in = external.iter().map(|e| total[0] + e);
        Some(total.iter().copied().chain(put_in).filter(|e| e.is_finite()).fold(0.0, f64::max))
    }
}

/// What `summary.json` tells; absent entries stay empty.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summary {
    pub title: String,
    pub method: String,
    /// `running`, `finished`, `interrupted` or `failed`.
    pub status: String,
    /// [s]
    pub loop_seconds: Option<f64>,
    /// Name and wall time [s] of each phase, as listed.
    pub phases: Vec<(String, f64)>,
    /// Why the result should not be believed.
    pub warnings: Vec<String>,
    /// All of it.
    pub whole: serde_json::Value,
    /// Over the whole run, between rows of the history too: largest error of the balance, relative to the energy that was
    /// there; pairs that carried impulse; deepest overlap [m].
    pub error_max_rel: Option<f64>,
    pub contacts_peak: f64,
    pub penetration_max: f64,
}

impl Summary {
    pub fn read(dir: &Path) -> Result<Summary, LookError> {
        let path = dir.join("summary.json");
        let text = read_text(&path)?;
        let bad = |what: String| LookError::Summary { path: path.clone(), what };
        let text = checked(&text).map_err(bad)?;
        let value: serde_json::Value = serde_json::from_str(&text).map_err(|e| bad(e.to_string()))?;
        let Some(status) = value["status"].as_str() else {
            return Err(bad("it has no \"status\"".into()));
        };
        let word = |key: &str| value[key].as_str().unwrap_or_default().to_owned();
        let phases = match &value["phase_seconds"] {
            serde_json::Value::Object(map) => {
                map.iter().filter_map(|(name, v)| Some((name.clone(), v.as_f64()?))).collect()
            }
            _ => Vec::new(),
        };
        let warnings = value["warnings"]
            .as_array()
            .map_or(Vec::new(), |all| all.iter().filter_map(|w| Some(w.as_str()?.to_owned())).collect());
        let number = |key: &str| value[key].as_f64().unwrap_or(0.0);
        Ok(Summary {
            warnings,
            // a run that goes on has written its summary once, at the start
            error_max_rel: value["energy"]["error_max_rel"].as_f64().filter(|_| status != "running"),
            contacts_peak: number("contacts_peak"),
            penetration_max: number("penetration_max"),
            title: word("title"),
            method: word("method"),
            status: status.to_owned(),
            loop_seconds: value["loop_seconds"].as_f64(),
            phases,
            whole: value,
        })
    }

    /// An entry by its path: `energy`, `initial`.
    pub fn number(&self, path: &[&str]) -> Option<f64> {
        path.iter().try_fold(&self.whole, |value, key| value.get(key))?.as_f64()
    }

    /// Names of bodies and obstacles, as frames count them.
    pub fn bodies(&self) -> Vec<String> {
        let list = self.whole["bodies"].as_array();
        list.map_or(Vec::new(), |all| all.iter().filter_map(|n| Some(n.as_str()?.to_owned())).collect())
    }

    /// One line that says which run this is.
    pub(crate) fn caption(&self) -> String {
        match (self.title.is_empty(), self.method.is_empty()) {
            (false, false) => format!("{} · {}", self.title, self.method),
            (false, true) => self.title.clone(),
            _ => self.method.clone(),
        }
    }
}

/// The history of a run.
pub fn history(dir: &Path, summary: &Summary) -> Result<Table, LookError> {
    let path = dir.join("history.csv");
    // what a user points at may be a link or a pipe; what stands in a folder may not
    disk::require_file(&path).map_err(|source| LookError::Read { path: path.clone(), source })?;
    let table = Table::read(&path, summary.status != "finished")?;
    if table.column("total").is_none() || table.column("error").is_none() {
        let what = "there are no columns `total` and `error`".into();
        return Err(LookError::Table { path, line: 1, what });
    }
    if table.columns[0].is_empty() {
        return Err(LookError::Table { path, line: 2, what: "there is no row yet".into() });
    }
    Ok(table)
}

fn read_text(path: &Path) -> Result<String, LookError> {
    disk::read_text(path).map_err(|source| LookError::Read { path: path.to_owned(), source })
}

/// Foreign text in a message, kept short.
fn clip(text: &str) -> String {
    text.chars().take(24).collect()
}
