//! The page with a whole run in it: one file that opens anywhere, without server and network.

use super::pack::{deflated, pack};
use super::{Outline, POSITION, history, page, progress};
use crate::look::results::Results;
use crate::look::{LookError, in_own_pool, write_all};
use crate::output::vtu::name;
use rayon::prelude::*;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// How a file is to be made.
#[derive(Clone, Debug)]
pub struct HtmlOptions {
    /// Largest size of the file [bytes]; frames are left out evenly until it fits.
    pub limit: usize,
    pub threads: Option<usize>,
}

/// What became of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Thinned {
    pub path: PathBuf,
    /// [bytes]
    pub size: usize,
    /// Frames in the file, and in the folder.
    pub frames: [usize; 2],
    /// Fields that were left out.
    pub without: Vec<String>,
}

/// With fewer frames than this a run does not move any more: fields go first.
const SMOOTH: usize = 40;

/// Fields that can be missed most, first.
const SPARE: [&str; 2] = [name::STRESS, name::VELOCITY];

/// Writes a run as one page.
pub fn html(dir: &Path, file: &Path, options: &HtmlOptions) -> Result<Thinned, LookError> {
    in_own_pool(options.threads, || {
        let results = Results::open(dir)?;
        let times = results.times()?;
        if times.is_empty() {
            let words =
                format!("{} has no frames to show: the deck says how many, `output.frames`", dir.display());
            return Err(LookError::Nothing(words));
        }
        let outline = Outline::new(&results)?;
        let made = Maker { results: &results, outline: &outline, times: &times }.fit(options.limit)?;
        let size = made.text.len();
        let written = write_all(vec![(file.to_owned(), made.text.into_bytes())])?;
        let path = written.into_iter().next().unwrap_or_default();
        Ok(Thinned { path, size, frames: [made.frames, times.len()], without: made.without })
    })
}

struct Made {
    text: String,
    frames: usize,
    without: Vec<String>,
}

struct Maker<'a> {
    results: &'a Results,
    outline: &'a Outline,
    times: &'a [f64],
}

/// `count` of `all`, evenly, the first and the last among them.
fn evenly(count: usize, all: usize) -> Vec<usize> {
    let count = count.clamp(1, all);
    match count {
        1 => vec![all - 1],
        _ => (0..count).map(|i| (i * (all - 1) + (count - 1) / 2) / (count - 1)).collect(),
    }
}

impl Maker<'_> {
    /// With as many frames and fields as the limit leaves room for; one frame stays in any case.
    fn fit(&self, limit: usize) -> Result<Made, LookError> {
        let all = self.times.len();
        let (mut fields, mut without) = (self.outline.fields(), Vec::new());
        let alone = self.file(&[], &fields, &without)?.len();
        // what a frame takes, from a few of them
        let some = evenly(3, all);
        let mut spare = SPARE.iter();
        let mut count = loop {
            let took = self.file(&some, &fields, &without)?.len() - alone;
            let fits = limit.saturating_sub(alone) * some.len() / took.max(1);
            if fits >= all.min(SMOOTH) {
                break fits.min(all);
            }
            let Some(next) = spare.next() else { break fits.clamp(1, all) };
            if let Some(at) = fields.iter().position(|f| f == next) {
                without.push(fields.remove(at));
            }
        };
        loop {
            let text = self.file(&evenly(count, all), &fields, &without)?;
            if text.len() <= limit || count == 1 {
                return Ok(Made { text, frames: count, without });
            }
            // frames differ: the few were smaller than others
            count = (count * limit / text.len()).clamp(1, count - 1);
        }
    }

    fn file(&self, frames: &[usize], fields: &[String], without: &[String]) -> Result<String, LookError> {
        let packed: Vec<Value> =
            frames.par_iter().map(|&i| self.frame(i, fields)).collect::<Result<_, LookError>>()?;
        let mut progress: Value = serde_json::from_str(&progress(self.results)?).unwrap_or(Value::Null);
        progress["times"] = frames.iter().map(|&i| self.times[i]).collect();
        let data = json!({
            "progress": progress,
            "history": serde_json::from_str::<Value>(&history(self.results)?).unwrap_or(Value::Null),
            "mesh": deflated(&self.outline.bytes()),
            "frames": packed,
            "fields": fields,
            "thinned": { "frames": [frames.len(), self.times.len()], "without": without },
        });
        // nothing in it ends the element it stands in
        let data = data.to_string().replace("</", "<\\/").replace("<!", "<\\u0021");
        Ok(page(&format!("<script type=\"application/json\" id=\"run\">{data}</script>")))
    }

    /// Displacements and fields of a frame.
    fn frame(&self, index: usize, fields: &[String]) -> Result<Value, LookError> {
        let frame =
            self.results.frame_with(index, |n| n == name::DISPLACEMENT || fields.iter().any(|f| f == n))?;
        let mut packed = serde_json::Map::new();
        let moved =
            if frame.point_field(name::DISPLACEMENT).is_some() { name::DISPLACEMENT } else { POSITION };
        for what in fields.iter().map(String::as_str).chain([moved]) {
            let numbers = self.outline.pick(&frame, what)?;
            let components = frame.point_field(what).map_or(3, |f| f.components);
            let p = pack(&numbers, components);
            packed.insert(what.to_owned(), json!({ "scale": p.scale, "data": p.text }));
        }
        Ok(Value::Object(packed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_left_out_evenly_and_the_first_and_last_stay() {
        assert_eq!(evenly(5, 9), [0, 2, 4, 6, 8]);
        assert_eq!(evenly(3, 4), [0, 2, 3]);
        assert_eq!((evenly(1, 7), evenly(20, 3)), (vec![6], vec![0, 1, 2]));
        for count in 2..30 {
            let chosen = evenly(count, 30);
            assert!(chosen.len() == count && chosen[0] == 0 && chosen[count - 1] == 29);
            assert!(chosen.windows(2).all(|w| w[0] < w[1]));
        }
    }
}
