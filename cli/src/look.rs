//! `carom plot` and `carom render`: arguments of the library's plots and pictures.

use crate::exit::{BAD_INPUT, Failure, NO_OUTPUT, Outcome, say};
use carom::look::{self, ColourBy, Cut, LookError, PlotOptions, RenderOptions, Select, Theme, View, page};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Tells which files were written, or why none were.
pub fn command(written: Result<Vec<PathBuf>, LookError>) -> Outcome {
    let files = written.map_err(failure)?;
    let lines: Vec<String> = files.iter().map(|f| format!("{}\n", f.display())).collect();
    say(&lines.concat())?;
    Ok(0)
}

/// With the exit code of what went wrong.
pub fn failure(error: LookError) -> Failure {
    let code = if error.is_output() { NO_OUTPUT } else { BAD_INPUT };
    Failure::new(code, error.to_string())
}

/// Paper of a picture.
#[derive(Clone, Copy, Default, ValueEnum)]
pub enum Paper {
    #[default]
    Light,
    Dark,
    /// None; inks that read on light and dark pages
    Transparent,
}

impl From<Paper> for Theme {
    fn from(paper: Paper) -> Theme {
        match paper {
            Paper::Light => Theme::Light,
            Paper::Dark => Theme::Dark,
            Paper::Transparent => Theme::Transparent,
        }
    }
}

#[derive(Args)]
pub struct PlotArgs {
    /// Output folders: plots of one run, or of several over each other
    #[arg(required = true, value_name = "DIR")]
    dirs: Vec<PathBuf>,
    /// Folder of the plots [default: DIR/plots; of several runs, compare beside the first]
    #[arg(long)]
    out: Option<PathBuf>,
    /// CSV of points to compare with: `time` and columns named as in history.csv; may be repeated
    #[arg(long, value_name = "CSV")]
    reference: Vec<PathBuf>,
    #[arg(long, value_enum, default_value_t)]
    theme: Paper,
    /// Unit of time on the axes
    #[arg(long, value_name = "UNIT")]
    time_unit: Option<String>,
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
}

/// Writes the plots; returns their files.
pub fn plot(arguments: &PlotArgs) -> Result<Vec<PathBuf>, LookError> {
    let options = PlotOptions {
        out: arguments.out.clone(),
        references: arguments.reference.clone(),
        theme: arguments.theme.into(),
        time_unit: arguments.time_unit.clone(),
        threads: arguments.threads,
    };
    match &arguments.dirs[..] {
        [dir] => look::plot(dir, &options),
        _ if !options.references.is_empty() => {
            Err(LookError::Nothing("points to compare with go into the plots of one run".into()))
        }
        dirs => look::overlay(dirs, &options),
    }
}

#[derive(Args)]
pub struct RenderArgs {
    /// Output folder of a run
    dir: PathBuf,
    /// Frame by number, from 0 [default: the last]
    #[arg(long, value_name = "N", group = "which")]
    frame: Option<usize>,
    /// Frame nearest to a time
    #[arg(long, value_name = "T", group = "which", allow_hyphen_values = true)]
    time: Option<f64>,
    /// All frames: an animation (.gif, .png) or, into a folder, a numbered series
    #[arg(long, group = "which")]
    all: bool,
    /// Several times in one picture, rows x columns
    #[arg(long, value_name = "RxC", group = "which", value_parser = pair)]
    sheet: Option<(usize, usize)>,
    /// mises, speed, displacement, body or contact [default: the first that the frames have]
    #[arg(long)]
    field: Option<ColourBy>,
    /// iso, x, y, z or azimuth,elevation in degrees [default: iso; z for plane bodies and bars]
    #[arg(long, allow_hyphen_values = true)]
    view: Option<View>,
    /// Pixels
    #[arg(long, value_name = "WxH", default_value = "1280x800", value_parser = pair)]
    size: (usize, usize),
    /// File, or folder of a numbered series [default: in DIR/pictures]
    #[arg(long)]
    out: Option<PathBuf>,
    /// Draw the undeformed outline, too
    #[arg(long)]
    undeformed: bool,
    /// Keep one side of a plane: x=0.5 keeps x ≤ 0.5, -x=-0.5 the other side, 1,1,0=0.7 any
    #[arg(long, value_name = "PLANE", allow_hyphen_values = true)]
    cut: Option<Cut>,
    /// Leave out the edges of elements
    #[arg(long)]
    no_edges: bool,
    /// Values at the ends of the colour bar
    #[arg(long, value_name = "LO,HI", value_parser = range, allow_hyphen_values = true)]
    range: Option<(f64, f64)>,
    #[arg(long, value_enum, default_value_t)]
    theme: Paper,
    /// Pictures a second of an animation
    #[arg(long, default_value_t = 20.0, value_parser = speed)]
    fps: f64,
    /// One interactive page instead, in one file that opens anywhere
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Largest size of that file [MB]; frames are left out until it fits
    #[arg(long, value_name = "MB", default_value_t = 25.0, requires = "html", value_parser = megabytes)]
    limit: f64,
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
}

impl RenderArgs {
    /// Writes the page, if one was asked for.
    pub fn html(&self) -> Option<Result<page::Thinned, LookError>> {
        let options = page::HtmlOptions { limit: (1e6 * self.limit) as usize, threads: self.threads };
        self.html.as_ref().map(|file| page::html(&self.dir, file, &options))
    }
}

/// Tells what became of a page.
pub fn told(written: Result<page::Thinned, LookError>) -> Outcome {
    let page::Thinned { path, size, frames: [kept, all], without } = written.map_err(failure)?;
    let mut text = format!("{} ({:.1} MB)\n", path.display(), size as f64 / 1e6);
    if kept < all {
        text += &format!("  {kept} of {all} frames: --limit MB makes room for more\n");
    }
    if !without.is_empty() {
        text += &format!("  left out to make room: {}\n", without.join(", "));
    }
    say(&text)?;
    Ok(0)
}

/// Writes the pictures; returns their files.
pub fn render(arguments: &RenderArgs) -> Result<Vec<PathBuf>, LookError> {
    let select = match (arguments.frame, arguments.time, arguments.all, arguments.sheet) {
        (Some(i), ..) => Select::Frame(i),
        (_, Some(t), ..) => Select::Time(t),
        (_, _, true, _) => Select::All,
        (.., Some((rows, columns))) => Select::Sheet { rows, columns },
        _ => Select::Last,
    };
    let options = RenderOptions {
        select,
        field: arguments.field,
        view: arguments.view,
        size: arguments.size,
        out: arguments.out.clone(),
        undeformed: arguments.undeformed,
        cut: arguments.cut,
        edges: !arguments.no_edges,
        theme: arguments.theme.into(),
        range: arguments.range,
        fps: arguments.fps,
        threads: arguments.threads,
    };
    look::render(&arguments.dir, &options)
}

fn pair(text: &str) -> Result<(usize, usize), String> {
    let numbers =
        text.split_once(['x', 'X', '×']).and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
    numbers.ok_or_else(|| format!("`{text}` is not two counts like 2x3"))
}

fn range(text: &str) -> Result<(f64, f64), String> {
    let ends: Option<(f64, f64)> =
        text.split_once(',').and_then(|(a, b)| Some((a.trim().parse().ok()?, b.trim().parse().ok()?)));
    ends.filter(|(lo, hi)| lo < hi && (hi - lo).is_finite())
        .ok_or_else(|| format!("`{text}` is not two rising numbers like 0,2.5e8"))
}

fn megabytes(text: &str) -> Result<f64, String> {
    let size = text.parse().ok().filter(|m| (1.0..=2000.0).contains(m));
    size.ok_or_else(|| format!("`{text}` is not a size from 1 to 2000"))
}

fn speed(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|f| (0.1..=50.0).contains(f))
        .ok_or_else(|| format!("`{text}` is not a number from 0.1 to 50"))
}
