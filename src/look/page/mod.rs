//! The interactive page: what it shows of a run, as the bytes it reads. `carom view` sends them one by one, [`html`] puts
//! them all into one file.
//!
//! Only the skin is sent: faces that can be seen, bars, and the nodes of both. Positions are single precision around
//! [`Outline::centre`]; a body far from the origin keeps its digits.
//!
//! Read by `viewer/src/source.js`.

mod html;
mod pack;

pub use html::{HtmlOptions, Thinned, html};

use super::LookError;
use super::results::{FrameData, Results};
use super::scene::Skin;
use crate::math::Vec3;
use crate::output::vtu::name;
use serde_json::{Value, json};

/// The page itself, without data.
pub(crate) const PAGE: &str = include_str!("../../../viewer/page.html");
const STYLE: &str = include_str!("../../../viewer/style.css");
const SCRIPT: &str = include_str!("../../../viewer/bundle.js");

/// The whole page with `data` in it: nothing where it is served, everything where it is a file.
pub fn page(data: &str) -> String {
    // data come last: what is in them stays as it is
    PAGE.replace("/*style*/", STYLE).replace("/*script*/", SCRIPT).replace("<!--data-->", data)
}

/// What stays the same from frame to frame.
pub struct Outline {
    skin: Skin,
    /// Ids of the nodes that are sent.
    nodes: Vec<u32>,
    /// What positions are told from [m].
    pub centre: Vec3,
    points: usize,
    head: Value,
    body: Vec<u8>,
}

/// Faces, edges and bars of one body.
#[derive(Clone, Default)]
struct Part {
    rigid: bool,
    triangles: Vec<u32>,
    edges: Vec<u32>,
    bars: Vec<u32>,
}

impl Outline {
    /// Of the first frame of a run.
    pub fn new(results: &Results) -> Result<Outline, LookError> {
        let frame = results.frame(0)?;
        let skin = Skin::new(&frame);
        let body = frame.cell_field(name::BODY).filter(|f| f.components == 1);
        let body_of = |cell: u32| body.map_or(0, |f| f.values[cell as usize].max(0.0) as usize);
        let mut seen = vec![false; frame.points.len()];
        let mut parts: Vec<Part> = Vec::new();
        let part = |parts: &mut Vec<Part>, cell: u32| {
            let at = body_of(cell);
            parts.resize(parts.len().max(at + 1), Part::default());
            at
        };
        for (facet, cell) in skin.faces() {
            let at = part(&mut parts, cell);
            let n = facet.nodes();
            n.iter().for_each(|&k| seen[k as usize] = true);
            parts[at].rigid = skin.is_rigid(cell);
            for k in 2..n.len() {
                parts[at].triangles.extend([n[0], n[k - 1], n[k]]);
            }
        }
        for (edge, cell) in skin.face_edges() {
            let at = part(&mut parts, cell);
            parts[at].edges.extend(edge);
        }
        for (ends, cell) in skin.bars() {
            let at = part(&mut parts, cell);
            ends.iter().for_each(|&k| seen[k as usize] = true);
            parts[at].rigid = skin.is_rigid(cell);
            parts[at].bars.extend(ends);
        }
        let nodes: Vec<u32> = (0..seen.len() as u32).filter(|&k| seen[k as usize]).collect();
        let names = names(results);
        let centre = centre(&frame, &skin);
        let mut outline =
            Outline { skin, nodes, centre, points: frame.points.len(), head: Value::Null, body: Vec::new() };
        outline.write(&frame, &parts, &names);
        Ok(outline)
    }

    fn write(&mut self, frame: &FrameData, parts: &[Part], names: &[String]) {
        let mut local = vec![u32::MAX; self.points];
        self.nodes.iter().zip(0..).for_each(|(&n, i)| local[n as usize] = i);
        let mut lists: [Vec<u32>; 3] = Default::default();
        let mut bodies = Vec::new();
        for (i, part) in parts.iter().enumerate() {
            let from: Vec<usize> = lists.iter().map(Vec::len).collect();
            for (list, ids) in lists.iter_mut().zip([&part.triangles, &part.edges, &part.bars]) {
                list.extend(ids.iter().map(|&n| local[n as usize]));
            }
            let name = names.get(i).cloned().unwrap_or_else(|| format!("body {i}"));
            let range = |k: usize| json!([from[k], lists[k].len()]);
            bodies.push(json!({
                "name": name, "rigid": part.rigid, "triangles": range(0), "edges": range(1), "bars": range(2),
            }));
        }
        let fields: Vec<Value> = (frame.point_fields.iter())
            .filter(|f| f.name != name::DISPLACEMENT)
            .map(|f| json!({ "name": f.name, "components": f.components }))
            .collect();
        let reference = match frame.point_field(name::DISPLACEMENT).filter(|f| f.components == 3) {
            Some(u) => {
                let from = |k: usize| frame.points[k] - Vec3::from_column_slice(&u.values[3 * k..3 * k + 3]);
                self.around(from)
            }
            None => self.positions(frame),
        };
        self.head = json!({
            "centre": [self.centre.x, self.centre.y, self.centre.z],
            "dimension": self.skin.dimension,
            "nodes": self.nodes.len(),
            "triangles": lists[0].len(),
            "edges": lists[1].len(),
            "bars": lists[2].len(),
            "bodies": bodies,
            "fields": fields,
        });
        self.body = bytemuck::cast_slice::<f32, u8>(&reference).to_vec();
        self.body.extend_from_slice(bytemuck::cast_slice(&self.nodes));
        lists.iter().for_each(|list| self.body.extend_from_slice(bytemuck::cast_slice(list)));
    }

    fn around(&self, at: impl Fn(usize) -> Vec3) -> Vec<f32> {
        let place = |&k: &u32| (at(k as usize) - self.centre).map(|c| c as f32);
        self.nodes.iter().flat_map(|k| <[f32; 3]>::from(place(k))).collect()
    }

    fn positions(&self, frame: &FrameData) -> Vec<f32> {
        self.around(|k| frame.points[k])
    }

    /// Who is there: JSON, then reference positions (f32), ids of nodes, triangles, edges and bars (u32), of which the JSON
    /// says the numbers.
    pub fn bytes(&self) -> Vec<u8> {
        let mut head = self.head.to_string().into_bytes();
        head.resize(head.len().next_multiple_of(4), b' ');
        let mut bytes = (head.len() as u32).to_le_bytes().to_vec();
        bytes.append(&mut head);
        bytes.extend_from_slice(&self.body);
        bytes
    }

    /// `position`, or a field of the nodes, of one frame: numbers in the order of the nodes.
    pub fn numbers(&self, results: &Results, frame: usize, what: &str) -> Result<Vec<f32>, LookError> {
        let frame = results.frame_with(frame, |n| n == what)?;
        self.pick(&frame, what)
    }

    fn pick(&self, frame: &FrameData, what: &str) -> Result<Vec<f32>, LookError> {
        if frame.points.len() != self.points {
            let words = "this frame has other nodes than the first: reload the page".into();
            return Err(LookError::Nothing(words));
        }
        if what == POSITION {
            return Ok(self.positions(frame));
        }
        let Some(field) = frame.point_field(what) else {
            return Err(LookError::Nothing(format!("there is no field `{what}` of nodes in this frame")));
        };
        let n = field.components;
        Ok(self.nodes.iter().flat_map(|&k| &field.values[k as usize * n..][..n]).map(|&v| v as f32).collect())
    }

    /// The fields that can be asked for.
    fn fields(&self) -> Vec<String> {
        let list = self.head["fields"].as_array().map_or(&[][..], |l| l);
        list.iter().filter_map(|f| f["name"].as_str().map(str::to_owned)).collect()
    }
}

/// Name of positions among fields.
pub(crate) const POSITION: &str = "position";

/// The middle of the bodies; obstacles go on.
fn centre(frame: &FrameData, skin: &Skin) -> Vec3 {
    let (mut lo, mut hi) = (Vec3::repeat(f64::INFINITY), Vec3::repeat(f64::NEG_INFINITY));
    for &k in &skin.body_nodes {
        let p = frame.points[k as usize];
        (lo, hi) = (lo.inf(&p), hi.sup(&p));
    }
    let middle = 0.5 * (lo + hi);
    if middle.iter().all(|c| c.is_finite()) { middle } else { Vec3::zeros() }
}

/// Names of bodies and obstacles, if the summary has them.
fn names(results: &Results) -> Vec<String> {
    results.summary().map_or(Vec::new(), |s| s.bodies())
}

/// What tells a run from another one in the same folder.
pub fn run_id(results: &Results) -> String {
    let deck =
        std::fs::metadata(results.folder().join("deck.toml")).and_then(|m| m.created().or(m.modified()));
    let since = deck.ok().and_then(|t| t.duration_since(std::time::UNIX_EPOCH).ok());
    since.map_or(0, |t| t.as_micros()).to_string()
}

/// How far the run is: what the page asks for again and again.
pub fn progress(results: &Results) -> Result<String, LookError> {
    let summary = results.summary()?;
    let size = std::fs::metadata(results.folder().join("history.csv")).map_or(0, |m| m.len());
    Ok(json!({
        "run": run_id(results),
        "title": summary.title,
        "method": summary.method,
        "status": summary.status,
        "warnings": summary.warnings,
        "times": results.times()?,
        "history": size,
    })
    .to_string())
}

/// Columns of the history so far.
pub fn history(results: &Results) -> Result<String, LookError> {
    let table = results.history()?;
    let column = |c: &Vec<f64>| c.iter().map(|&x| json!(x)).collect::<Vec<_>>();
    let columns: Vec<_> = table.columns.iter().map(column).collect();
    Ok(json!({ "names": table.names, "columns": columns }).to_string())
}
