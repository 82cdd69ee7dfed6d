//! What `carom reproduce --out` leaves: a folder for every case, and one page about all of them.

use super::{Check, Done, Origin, Outcome, Published, Relation, SHEET};
use crate::look::draw::Drawing;
use crate::look::plot::write_drawings;
use crate::look::{self, LookError, PlotOptions, RenderOptions, Select, Theme};
use crate::output::replace_file;
use std::fmt::Write;
use std::io;
use std::path::Path;

/// Plots of a run that say more about the machine than about the case.
const ASIDE: [&str; 2] = ["step", "phases"];

/// Draws what a case has to show into its folder: its own figures, and the plots and a sheet of pictures of its first
/// run. Returns the files, from the folder.
pub(super) fn draw(
    figures: &[(String, Drawing)],
    outcomes: &[Outcome],
    folder: &Path,
) -> Result<Vec<String>, LookError> {
    write_drawings(figures, &folder.join("plots"), Theme::Light)?;
    let mut shown: Vec<String> = figures.iter().map(|(name, _)| format!("plots/{name}.svg")).collect();
    let Some(first) = outcomes.first() else { return Ok(shown) };
    let inside = |file: &str| match first.name.as_str() {
        "" => file.to_owned(),
        part => format!("{part}/{file}"),
    };
    let dir = folder.join(&first.name);
    let sheet = Select::Sheet { rows: SHEET.0, columns: SHEET.1 };
    let picture = dir.join("picture.png");
    look::render(&dir, &RenderOptions { select: sheet, out: Some(picture), ..RenderOptions::default() })?;
    shown.push(inside("picture.png"));
    let touched = first.ledger.collision_kicks > 0;
    for file in look::plot(&dir, &PlotOptions::default())? {
        let (stem, ending) = (file.file_stem(), file.extension());
        let Some(stem) = stem.and_then(|s| s.to_str()) else { continue };
        let empty = stem == "contact" && !touched;
        if ending.is_some_and(|e| e == "svg") && !ASIDE.contains(&stem) && !empty {
            shown.push(inside(&format!("plots/{stem}.svg")));
        }
    }
    Ok(shown)
}

/// Writes the page about all that was run; returns its name.
pub fn write(folder: &Path, done: &[(&Published, Done)], quick: bool) -> io::Result<&'static str> {
    replace_file(&folder.join(PAGE), page(done, quick).as_bytes())?;
    Ok(PAGE)
}

const PAGE: &str = "index.html";

const STYLE: &str = "
body { font: 15px/1.5 system-ui, sans-serif; max-width: 1120px; margin: 2em auto; padding: 0 1em; }
table { border-collapse: collapse; margin: 1em 0; }
td, th { padding: 2px 14px 2px 0; text-align: left; border-bottom: 1px solid #8884; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; }
.fail { color: #c22; font-weight: 600; }
.pictures { display: flex; flex-wrap: wrap; gap: 12px; align-items: flex-start; }
.pictures img { width: 520px; max-width: 100%; background: #fff; }
small { color: #777; }
";

fn page(done: &[(&Published, Done)], quick: bool) -> String {
    let mut text = String::new();
    // a string takes whatever it is given
    let _ = write_page(&mut text, done, quick);
    text
}

fn write_page(text: &mut String, done: &[(&Published, Done)], quick: bool) -> std::fmt::Result {
    let checks = || done.iter().flat_map(|d| &d.1.checks);
    let (count, passed) = (checks().count(), checks().filter(|c| c.pass()).count());
    writeln!(text, "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">")?;
    writeln!(text, "<meta name=\"viewport\" content=\"width=device-width\">")?;
    writeln!(
        text,
        "<title>Carom: published cases</title>\n<style>{STYLE}</style>\n<h1>Published cases</h1>"
    )?;
    let size = if quick { ", in their quick size" } else { "" };
    let version = env!("CARGO_PKG_VERSION");
    writeln!(
        text,
        "<p>{} cases{size}, {count} checks, {passed} passed. Carom {version}, {} threads.</p>\n\
         <p>Where their bounds come from: {}.</p>",
        done.len(),
        rayon::current_num_threads(),
        Origin::count(checks())
    )?;
    writeln!(
        text,
        "<table>\n<tr><th>case<th>method<th class=\"number\">checks<th>verdict<th class=\"number\">time"
    )?;
    for (case, Done { checks, seconds, .. }) in done {
        let failed = checks.iter().filter(|c| !c.pass()).count();
        let verdict = match failed {
            0 => "passed".to_owned(),
            n => format!("<span class=\"fail\">{n} failed</span>"),
        };
        writeln!(
            text,
            "<tr><td><a href=\"#{0}\">{0}</a><td>{1}<td class=\"number\">{2}<td>{verdict}<td class=\"number\">{seconds:.1} s",
            case.name,
            case.method,
            checks.len()
        )?;
    }
    writeln!(text, "</table>")?;
    for (case, done) in done {
        section(text, case, done)?;
    }
    writeln!(text, "</html>")
}

fn section(text: &mut String, case: &Published, done: &Done) -> std::fmt::Result {
    writeln!(
        text,
        "<h2 id=\"{0}\">{0}</h2>\n<p>{1} <small>{2}</small></p>",
        case.name,
        words(case.source),
        case.method
    )?;
    writeln!(
        text,
        "<table>\n<tr><th>check<th class=\"number\">measured<th><th class=\"number\">expected<th class=\"number\">tolerance<th>origin<th>"
    )?;
    for check in &done.checks {
        let Check { expected, measured, tolerance, .. } = check;
        let verdict = if check.pass() { "pass" } else { "<span class=\"fail\">FAIL</span>" };
        let tolerance = if *tolerance == 0.0 { String::new() } else { number(*tolerance) };
        writeln!(
            text,
            "<tr><td>{}<td class=\"number\">{}<td>{}<td class=\"number\">{}<td class=\"number\">{tolerance}<td>{}<td>{verdict}",
            words(&check.check),
            number(*measured),
            check.relation.sign(),
            number(*expected),
            check.origin.name(),
        )?;
        if let Some(why) = check.moved {
            writeln!(text, "<tr><td colspan=\"7\"><small>bound moved: {}</small>", words(why))?;
        }
    }
    writeln!(text, "</table>\n<div class=\"pictures\">")?;
    for file in &done.pictures {
        writeln!(
            text,
            "<a href=\"{0}/{file}\"><img src=\"{0}/{file}\" alt=\"{file}\" loading=\"lazy\"></a>",
            case.name
        )?;
    }
    writeln!(text, "</div>")
}

impl Relation {
    /// Between measured and expected.
    pub fn sign(self) -> &'static str {
        match self {
            Relation::Within => "=",
            Relation::AtMost => "≤",
            Relation::AtLeast => "≥",
        }
    }
}

/// Four digits, and as few zeros as may be.
fn number(x: f64) -> String {
    let size = x.abs();
    if x == x.round() && size < 1e9 {
        format!("{x:.0}")
    } else if (1e-3..1e5).contains(&size) {
        let decimals = (3 - size.log10().floor() as i32).max(0) as usize;
        format!("{x:.decimals$}")
    } else {
        format!("{x:.2e}")
    }
}

/// Text of a page.
fn words(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_four_digits_and_words_no_brackets() {
        let written = [0.0, 2.0, -0.05, 20.0523, 24884.0, 3.2e-13, 0.6, f64::NAN].map(number);
        assert_eq!(written, ["0", "2", "-0.05000", "20.05", "24884", "3.20e-13", "0.6000", "NaN"]);
        assert_eq!(words("a < b & c"), "a &lt; b &amp; c");
    }

    #[test]
    fn a_page_tells_every_check_and_shows_every_picture() {
        let case = &super::super::CASES[0];
        let checks = vec![
            Origin::Paper.within("speed", 1.0, 2.0, 0.1),
            Origin::Exact.at_most("error", 0.5, 1.0).moved("a reason"),
        ];
        let done = Done { checks, pictures: vec!["plots/energy.svg".into()], seconds: 3.0 };
        let page = page(&[(case, done)], true);
        for part in [
            "<td>speed<",
            "<td>error<",
            "FAIL",
            "1 failed",
            "2 checks, 1 passed",
            "1 paper, 1 exact",
            "<td>paper<",
            "bound moved: a reason",
            "free-bar/plots/energy.svg",
        ] {
            assert!(page.contains(part), "{part}\n{page}");
        }
    }
}
