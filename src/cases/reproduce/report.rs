//! What `carom reproduce --out` leaves: a folder for every case, and one page about all of them.

use super::{Check, Done, Origin, Outcome, Published, Relation, SHEET, gaps};
use crate::look::draw::Drawing;
use crate::look::plot::write_drawings;
use crate::look::{self, Focus, LookError, PlotOptions, RenderOptions, Select, Theme, View};
use crate::output::replace_file;
use std::fmt::Write;
use std::io;
use std::path::Path;

/// Plots of a run that say more about the machine than about the case.
const ASIDE: [&str; 2] = ["step", "phases"];

/// Pixels of the pictures of a first run, and of those of the others.
const LARGE: (usize, usize) = (1280, 800);
const SMALL: (usize, usize) = (960, 600);

/// From where a case is looked at: what matters is small in some, or hidden by what stands before it.
fn stand(case: &str) -> RenderOptions {
    let usual = RenderOptions::default();
    match case {
        "golf-ball" => RenderOptions { view: Some(View::X), ..usual },
        "pebble" => {
            let view = Some(View::Angles { azimuth: 30.0, elevation: 5.0 });
            let focus = Some(Focus::Body("pebble".into()));
            RenderOptions { view, focus, zoom: Some(0.6), ..usual }
        }
        _ => usual,
    }
}

/// Draws what a case has to show into its folder: its own figures, pictures of every run, and the plots of its first
/// run. Returns the files, from the folder.
pub(super) fn draw(
    case: &str,
    figures: &[(String, Drawing)],
    outcomes: &[Outcome],
    folder: &Path,
) -> Result<Vec<String>, LookError> {
    let plots = match outcomes.first() {
        Some(first) => look::plot(&folder.join(&first.name), &PlotOptions::default())?,
        None => Vec::new(),
    };
    // a figure of the case comes after the plot of the same name, in whose place it is
    write_drawings(figures, &folder.join("plots"), Theme::Light)?;
    let mut shown: Vec<String> = figures.iter().map(|(name, _)| format!("plots/{name}.svg")).collect();
    let inside = |outcome: &Outcome, file: &str| match outcome.name.as_str() {
        "" => file.to_owned(),
        part => format!("{part}/{file}"),
    };
    let sheet = Select::Sheet { rows: SHEET.0, columns: SHEET.1 };
    // a run that comes out as one before is repeated for its wall time: there is nothing new to see
    let new = |i: usize| outcomes[..i].iter().all(|before| before.history != outcomes[i].history);
    for (i, outcome) in outcomes.iter().enumerate().filter(|(i, _)| new(*i)) {
        let dir = folder.join(&outcome.name);
        let (size, title) = (if i == 0 { LARGE } else { SMALL }, Some(outcome.name.clone()));
        let title = title.filter(|name| !name.is_empty());
        let out = Some(dir.join("picture.png"));
        look::render(&dir, &RenderOptions { select: sheet, out, size, title, ..stand(case) })?;
        shown.push(inside(outcome, "picture.png"));
    }
    let Some(first) = outcomes.first() else { return Ok(shown) };
    let touched = first.ledger.collision_kicks > 0;
    for file in plots {
        let (stem, ending) = (file.file_stem(), file.extension());
        let Some(stem) = stem.and_then(|s| s.to_str()) else { continue };
        let empty = stem == "contact" && !touched;
        let plot = inside(first, &format!("plots/{stem}.svg"));
        let wanted = ending.is_some_and(|e| e == "svg") && !ASIDE.contains(&stem) && !empty;
        if wanted && !shown.contains(&plot) {
            shown.push(plot);
        }
    }
    Ok(shown)
}

/// Writes the page about all that was run; returns its name.
pub fn write(
    folder: &Path,
    done: &[(&Published, Done)],
    quick: bool,
    threads: usize,
) -> io::Result<&'static str> {
    replace_file(&folder.join(PAGE), page(folder, done, quick, threads)?.as_bytes())?;
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
figure { margin: 0; width: 520px; max-width: 100%; }
figure.wide { width: 100%; }
figure img { width: 100%; background: #fff; }
figcaption, pre { color: #777; font-size: 13px; }
small { color: #777; }
";

/// The page: everything it shows is in it, so that it can be sent around.
fn page(folder: &Path, done: &[(&Published, Done)], quick: bool, threads: usize) -> io::Result<String> {
    let mut text = String::new();
    // a string takes whatever it is given
    let _ = write_head(&mut text, done, quick, threads);
    for (case, done) in done {
        let _ = write_section(&mut text, case, done, quick);
        let _ = writeln!(text, "<div class=\"pictures\">");
        for file in &done.pictures {
            let bytes = std::fs::read(folder.join(case.name).join(file))?;
            let kind = if file.ends_with(".svg") { "svg+xml" } else { "png" };
            let wide = if file.ends_with("picture.png") { " class=\"wide\"" } else { "" };
            let _ = writeln!(
                text,
                "<figure{wide}><img src=\"data:image/{kind};base64,{}\" alt=\"{file}\" loading=\"lazy\"><figcaption>{}/{file}</figcaption></figure>",
                base64(&bytes),
                case.name
            );
        }
        let _ = writeln!(text, "</div>");
    }
    let _ = write_gaps(&mut text);
    let _ = writeln!(text, "</html>");
    Ok(text)
}

/// What the papers show and this page does not.
fn write_gaps(text: &mut String) -> std::fmt::Result {
    writeln!(text, "<h2 id=\"gaps\">Not reproducible, because</h2>\n<table>\n<tr><th>paper<th>what<th>why")?;
    for (paper, what, why) in gaps::GAPS {
        writeln!(text, "<tr><td>{}<td>{}<td>{}", words(paper), words(what), words(why))?;
    }
    writeln!(text, "</table>")
}

/// Bytes in the 64 characters of RFC 4648.
fn base64(bytes: &[u8]) -> String {
    const CHARACTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let bits = three.iter().fold(0_u32, |bits, b| bits << 8 | u32::from(*b)) << (8 * (3 - three.len()));
        for k in 0..4 {
            let character = CHARACTERS[(bits >> (18 - 6 * k)) as usize & 63];
            text.push(if k <= three.len() { character as char } else { '=' });
        }
    }
    text
}

fn write_head(
    text: &mut String,
    done: &[(&Published, Done)],
    quick: bool,
    threads: usize,
) -> std::fmt::Result {
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
        threads,
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
    writeln!(text, "</table>\n<p><a href=\"#gaps\">What cannot be reproduced, and why.</a></p>")
}

/// A case without its pictures.
fn write_section(text: &mut String, case: &Published, done: &Done, quick: bool) -> std::fmt::Result {
    let more = if quick { " --quick" } else { "" };
    writeln!(
        text,
        "<h2 id=\"{0}\">{0}</h2>\n<p>{1} <small>{2}</small></p>\n<pre>carom reproduce {0}{more}</pre>",
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
    writeln!(text, "</table>")
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
    fn bytes_read_as_rfc_4648_says() {
        let pairs = [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")];
        for (plain, text) in pairs {
            assert_eq!(base64(plain.as_bytes()), text);
        }
        assert_eq!(base64(&[0xfb, 0xff, 0xfe]), "+//+");
    }

    #[test]
    fn a_page_tells_every_check_and_shows_every_picture() {
        let case = &super::super::CASES[0];
        let checks = vec![
            Origin::Paper.within("speed", 1.0, 2.0, 0.1),
            Origin::Exact.at_most("error", 0.5, 1.0).moved("a reason"),
        ];
        let folder = crate::output::testing::scratch("page");
        std::fs::create_dir_all(folder.join("free-bar/plots")).unwrap();
        std::fs::write(folder.join("free-bar/plots/energy.svg"), "<svg/>").unwrap();
        let done = Done { checks, pictures: vec!["plots/energy.svg".into()], seconds: 3.0 };
        let page = page(&folder, &[(case, done)], true, 2).unwrap();
        std::fs::remove_dir_all(&folder).unwrap();
        for part in [
            "carom reproduce free-bar --quick",
            "data:image/svg+xml;base64,PHN2Zy8+",
            "Not reproducible, because",
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
