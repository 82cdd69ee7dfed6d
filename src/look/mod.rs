//! Looking at a run: plots and pictures from its output folder, without display, GPU or browser.
//!
//! [`plot`] draws curves from `history.csv` and `summary.json`; [`render`] draws the frames. Both read
//! everything first and write afterwards: a folder that cannot be read leaves no picture.
//!
//! | file | holds |
//! |---|---|
//! | `folder`, `results` | history, summary, reference points; the folder of a run as a whole |
//! | `axis`, `chart`, `plot`, `sheet` | ticks, panels of curves, the figures of a run; tables |
//! | `compare` | several runs beside each other |
//! | `words` | a run in a few lines of text |
//! | `draw`, `image`, `font`, `colour` | flat drawings to SVG and pixels; PNG, APNG, GIF |
//! | `scene`, `polygon`, `camera`, `raster` | surfaces of a frame, where to stand, triangles to pixels |
//! | `obstacle` | rigid walls and tools: grey, and never in the way |
//! | `field`, `aim` | what colours show; which bodies, how near, over which values |
//! | `overlay`, `band` | colour bar, stamps and scales; bars |
//! | `render`, `film` | pictures; sheets, animations, series |
//! | `page` | the interactive page: what it shows, and as one file |

mod aim;
mod axis;
mod band;
mod camera;
pub mod chart;
pub mod colour;
mod compare;
pub mod draw;
mod field;
mod film;
pub mod folder;
pub(crate) mod font;
pub mod image;
mod obstacle;
mod overlay;
pub mod page;
pub mod plot;
mod polygon;
mod raster;
pub mod render;
mod results;
mod scene;
pub(crate) mod sheet;
mod words;

pub use aim::Focus;
pub use camera::View;
pub use colour::Theme;
pub use compare::{Comparison, overlay};
pub use field::ColourBy;
pub use film::Select;
pub use plot::{PlotOptions, TimeUnit, plot};
pub use polygon::Cut;
pub use render::{Range, RenderOptions, picture, render};
pub use results::{FieldData, FrameData, Results};
pub use words::in_words;

use crate::output::pvd::PvdError;
use crate::output::replace_file;
use crate::output::vtu::VtuError;
use std::io;
use std::path::PathBuf;

/// Why there is no picture.
#[derive(Debug, thiserror::Error)]
pub enum LookError {
    #[error("cannot read `{}`: {source}; an output folder of `carom run` has one", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("{}:{line}: {what}", path.display())]
    Table { path: PathBuf, line: usize, what: String },
    #[error("`{}` is not a summary written by Carom: {what}", path.display())]
    Summary { path: PathBuf, what: String },
    #[error("`{}` has a column `{column}` that the history does not have; name columns as in history.csv", path.display())]
    Reference { path: PathBuf, column: String },
    #[error(transparent)]
    Series(#[from] PvdError),
    #[error(transparent)]
    Frame(#[from] VtuError),
    /// The folder or the options leave nothing to draw.
    #[error("{0}")]
    Nothing(String),
    #[error("cannot write `{}`: {source}", path.display())]
    Write { path: PathBuf, source: io::Error },
}

impl LookError {
    /// True when the input was good and the output could not be written.
    pub fn is_output(&self) -> bool {
        matches!(self, LookError::Write { .. })
    }
}

/// Runs `work` on threads of its own; the process-wide pool is left alone.
pub(crate) fn in_own_pool<T: Send>(
    threads: Option<usize>,
    work: impl FnOnce() -> Result<T, LookError> + Send,
) -> Result<T, LookError> {
    match rayon::ThreadPoolBuilder::new().num_threads(threads.unwrap_or(0)).build() {
        Ok(pool) => pool.install(work),
        Err(e) => Err(LookError::Nothing(format!("cannot start threads: {e}"))),
    }
}

/// Writes finished pictures, each in one move, making their folders.
fn write_all(files: Vec<(PathBuf, Vec<u8>)>) -> Result<Vec<PathBuf>, LookError> {
    let mut paths = Vec::with_capacity(files.len());
    for (path, bytes) in files {
        let folder = path.parent().filter(|p| !p.as_os_str().is_empty());
        folder
            .map_or(Ok(()), std::fs::create_dir_all)
            .and_then(|()| replace_file(&path, &bytes))
            .map_err(|source| LookError::Write { path: path.clone(), source })?;
        paths.push(path);
    }
    Ok(paths)
}
