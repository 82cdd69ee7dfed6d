//! Which frames are drawn, and into what: a picture, a sheet, an animation, a series.

use super::image::{Animation, Image};
use super::overlay::{self, Furniture};
use super::render::{SIDES, Show};
use super::{LookError, write_all};
use crate::output::pvd::Series;
use rayon::prelude::*;
use std::path::{Path, PathBuf};

/// Which frames.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub enum Select {
    #[default]
    Last,
    /// By number, from 0.
    Frame(usize),
    /// The one nearest to a time [s].
    Time(f64),
    /// All, as an animation or a numbered series.
    All,
    /// Evenly spaced in time order, in one picture.
    Sheet { rows: usize, columns: usize },
}

pub(super) fn choose(series: &Series, select: Select, dir: &Path) -> Result<Vec<usize>, LookError> {
    let entries = series.entries();
    let Some(last) = entries.len().checked_sub(1) else {
        return Err(LookError::Nothing(format!("`{}` has no frame yet", dir.display())));
    };
    Ok(match select {
        Select::Last => vec![last],
        Select::Frame(i) if i <= last => vec![i],
        Select::Frame(i) => {
            return Err(LookError::Nothing(format!("there is no frame {i}; the last one is {last}")));
        }
        Select::Time(t) => {
            let distance = |i: &usize| (entries[*i].time - t).abs();
            vec![(0..=last).min_by(|i, j| distance(i).total_cmp(&distance(j))).unwrap_or(last)]
        }
        Select::All => (0..=last).collect(),
        Select::Sheet { rows, columns } => {
            let count = rows.saturating_mul(columns).min(last + 1);
            if count == 0 {
                return Err(LookError::Nothing("a sheet needs at least one row and one column".into()));
            }
            (0..count)
                .map(|k| if count == 1 { last } else { (k * last + (count - 1) / 2) / (count - 1) })
                .collect()
        }
    })
}

impl Show<'_> {
    pub(super) fn single(&self, dir: &Path) -> Result<Vec<PathBuf>, LookError> {
        let (w, h) = self.options.size;
        let image = self.draw(0, &self.stage(w, h, true), &Furniture::whole())?;
        let name = format!("{}-{:06}.png", self.field.name(), self.chosen[0]);
        let path = self.options.out.clone().unwrap_or_else(|| dir.join("pictures").join(name));
        self.write_image(path, &image)
    }

    fn write_image(&self, path: PathBuf, image: &Image) -> Result<Vec<PathBuf>, LookError> {
        let bytes = image.png().map_err(|source| LookError::Write { path: path.clone(), source })?;
        write_all(vec![(path, bytes)])
    }

    pub(super) fn sheet(&self, dir: &Path, rows: usize, columns: usize) -> Result<Vec<PathBuf>, LookError> {
        let (w, h) = self.options.size;
        let legend = self.legend();
        let text = overlay::text_size(h / rows.clamp(1, 2));
        let room = overlay::legend_room(&legend, text) as usize;
        let (tile_w, tile_h) = (w.saturating_sub(room) / columns, h / rows);
        if tile_w < *SIDES.start() || tile_h < *SIDES.start() {
            return Err(LookError::Nothing(format!(
                "a sheet of {rows}x{columns} does not fit into {w} × {h} pixels"
            )));
        }
        let stage = self.stage(tile_w, tile_h, false);
        let tiles = (0..self.chosen.len())
            .into_par_iter()
            .map(|i| self.draw(i, &stage, &Furniture::tile(i == 0)))
            .collect::<Result<Vec<_>, LookError>>()?;
        let mut image = Image::filled(w, h, self.options.theme.paper());
        for (i, tile) in tiles.iter().enumerate() {
            image.put(tile, (i % columns) * tile_w, (i / columns) * tile_h);
        }
        overlay::sheet_lines(&mut image, self.options.theme, (rows, columns), (tile_w, tile_h));
        overlay::legend_alone(&mut image, self.options.theme, &legend, text);
        let name = format!("{}-sheet.png", self.field.name());
        self.write_image(self.options.out.clone().unwrap_or_else(|| dir.join("pictures").join(name)), &image)
    }

    pub(super) fn all(&self, dir: &Path) -> Result<Vec<PathBuf>, LookError> {
        let (w, h) = self.options.size;
        let stage = self.stage(w, h, true);
        let name = format!("{}.gif", self.field.name());
        let path = self.options.out.clone().unwrap_or_else(|| dir.join("pictures").join(name));
        let extension = path.extension().and_then(|e| e.to_str()).map(str::to_ascii_lowercase);
        let draw = |i: usize| self.draw(i, &stage, &Furniture::whole());
        let batch = 2 * rayon::current_num_threads();
        let many = |from: usize| -> Result<Vec<Image>, LookError> {
            (from..(from + batch).min(self.chosen.len())).into_par_iter().map(draw).collect()
        };
        let failed = |source| LookError::Write { path: path.clone(), source };
        let mut animation = match extension.as_deref() {
            Some("gif") => {
                let count = self.chosen.len();
                let most = count.min(8);
                let samples: Vec<usize> = (0..most).map(|k| k * (count - 1) / (most - 1).max(1)).collect();
                let samples: Vec<Image> = samples.into_par_iter().map(draw).collect::<Result<_, _>>()?;
                Animation::gif(&samples, self.options.fps)
            }
            Some("png" | "apng") => {
                Animation::png(w, h, self.chosen.len(), self.options.fps).map_err(failed)?
            }
            None => {
                let mut paths = Vec::new();
                for from in (0..self.chosen.len()).step_by(batch) {
                    let files = many(from)?
                        .par_iter()
                        .enumerate()
                        .map(|(k, image)| {
                            let path = path.join(format!("{:06}.png", self.chosen[from + k]));
                            let bytes =
                                image.png().map_err(|source| LookError::Write { path: path.clone(), source });
                            Ok((path, bytes?))
                        })
                        .collect::<Result<Vec<_>, LookError>>()?;
                    paths.extend(write_all(files)?);
                }
                return Ok(paths);
            }
            Some(other) => {
                return Err(LookError::Nothing(format!(
                    "all frames cannot go into a .{other} file; name a .gif, a .png (animated) or a folder"
                )));
            }
        };
        for from in (0..self.chosen.len()).step_by(batch) {
            animation.add(&many(from)?).map_err(failed)?;
        }
        let bytes = animation.finish().map_err(failed)?;
        write_all(vec![(path, bytes)])
    }
}
