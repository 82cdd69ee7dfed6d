//! Pictures of frames: one, several in a sheet, or all as an animation.
//!
//! All chosen frames are read once before anything is drawn: the camera, the range of colours and the form
//! of the time stamp are the same in every picture of a set, and a bad frame leaves no file.

use super::camera::{Camera, View};
use super::colour::{BODIES, Encoder, Map, Theme};
use super::image::{Animation, Image};
use super::obstacle::{Bounds, Plane, Room, Window};
use super::overlay::{self, Furniture, Legend};
use super::raster::{self, Look, ScreenTriangle};
use super::scene::{Cut, Line, Scene, Shown, Skin, Strip};
use super::{LookError, in_own_pool, write_all};
use crate::math::Vec3;
use crate::mesh::CellKind;
use crate::output::pvd::Series;
use crate::output::vtu::{FrameData, name, read_vtu_fields};
use rayon::prelude::*;
use std::borrow::Cow;
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

/// What the colours show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColourBy {
    Mises,
    Speed,
    Displacement,
    Body,
    Contact,
}

impl ColourBy {
    pub const ALL: [ColourBy; 5] =
        [ColourBy::Mises, ColourBy::Speed, ColourBy::Displacement, ColourBy::Body, ColourBy::Contact];

    pub fn name(self) -> &'static str {
        match self {
            ColourBy::Mises => "mises",
            ColourBy::Speed => "speed",
            ColourBy::Displacement => "displacement",
            ColourBy::Body => "body",
            ColourBy::Contact => "contact",
        }
    }

    fn title(self) -> &'static str {
        match self {
            ColourBy::Mises => "von Mises stress",
            ColourBy::Speed => "speed",
            ColourBy::Displacement => "displacement",
            ColourBy::Body => "body",
            ColourBy::Contact => "contact force",
        }
    }

    fn map(self) -> Map {
        if self == ColourBy::Contact { Map::Ember } else { Map::Tide }
    }

    /// Fields of the frame that it is made from; any one will do.
    fn sources(self) -> &'static [&'static str] {
        match self {
            ColourBy::Mises => &[name::MISES, name::STRESS],
            ColourBy::Speed => &[name::VELOCITY],
            ColourBy::Displacement => &[name::DISPLACEMENT],
            ColourBy::Body => &[name::BODY],
            ColourBy::Contact => &[name::CONTACT_FORCE],
        }
    }
}

impl std::str::FromStr for ColourBy {
    type Err = String;

    fn from_str(text: &str) -> Result<ColourBy, String> {
        ColourBy::ALL.into_iter().find(|f| f.name() == text).ok_or_else(|| {
            let names: Vec<&str> = ColourBy::ALL.iter().map(|f| f.name()).collect();
            format!("field `{text}` is not one of {}", names.join(", "))
        })
    }
}

/// What to draw, from where, and into which file.
#[derive(Clone, Debug)]
pub struct RenderOptions {
    pub select: Select,
    /// The first of mises, speed, displacement, body that the frames have, by default.
    pub field: Option<ColourBy>,
    /// From the front, right and above; plane bodies and bars from +z, by default.
    pub view: Option<View>,
    /// Pixels.
    pub size: (usize, usize),
    /// A file; for [`Select::All`] a `.gif`, a `.png` (animated), or a folder for a numbered series.
    /// In `pictures` of the output folder by default.
    pub out: Option<PathBuf>,
    /// The undeformed outline as well.
    pub undeformed: bool,
    pub cut: Option<Cut>,
    /// Edges of the elements.
    pub edges: bool,
    pub theme: Theme,
    /// Values at the ends of the colour bar; from the frames by default.
    pub range: Option<(f64, f64)>,
    /// Pictures a second.
    pub fps: f64,
    /// All cores by default.
    pub threads: Option<usize>,
}

impl Default for RenderOptions {
    fn default() -> RenderOptions {
        RenderOptions {
            select: Select::Last,
            field: None,
            view: None,
            size: (1280, 800),
            out: None,
            undeformed: false,
            cut: None,
            edges: true,
            theme: Theme::Light,
            range: None,
            fps: 20.0,
            threads: None,
        }
    }
}

/// Smallest and largest side of a picture.
const SIDES: std::ops::RangeInclusive<usize> = 64..=16384;

/// Draws what `options` ask for of the run in `dir`; returns the files.
pub fn render(dir: &Path, options: &RenderOptions) -> Result<Vec<PathBuf>, LookError> {
    in_own_pool(options.threads, || {
        let show = Show::new(dir, options)?;
        match options.select {
            Select::All => show.all(dir),
            Select::Sheet { rows, columns } => show.sheet(dir, rows, columns),
            _ => show.single(dir),
        }
    })
}

/// Draws one frame without writing a file.
pub fn picture(dir: &Path, options: &RenderOptions) -> Result<Image, LookError> {
    in_own_pool(options.threads, || {
        let show = Show::new(dir, options)?;
        let (w, h) = options.size;
        let stage = show.stage(w, h, true);
        show.draw(0, &stage, &Furniture::whole())
    })
}

/// The chosen frames and all that their pictures share.
struct Show<'a> {
    options: &'a RenderOptions,
    series: Series,
    /// Indices into the series.
    chosen: Vec<usize>,
    field: ColourBy,
    camera: Camera,
    /// What all frames show, in view coordinates and in space.
    window: Window,
    room: Room,
    range: (f64, f64),
    bodies: usize,
    cells: Vec<(CellKind, Vec<u32>)>,
    skin: Skin,
    /// The frame itself, when there is only one.
    only: Option<FrameData>,
}

/// What one frame adds to the shared part.
struct Survey {
    /// Of the bodies, in view coordinates and in space.
    window: Window,
    bodies: Bounds,
    /// Of rigid meshes, likewise.
    mesh_window: Window,
    meshes: Bounds,
    planes: Vec<Plane>,
    largest: f64,
}

/// A camera aimed into a picture of a given size.
struct Stage {
    camera: Camera,
    width: usize,
    height: usize,
    text: f64,
}

impl<'a> Show<'a> {
    fn new(dir: &Path, options: &'a RenderOptions) -> Result<Show<'a>, LookError> {
        let (w, h) = options.size;
        if !SIDES.contains(&w) || !SIDES.contains(&h) {
            return Err(LookError::Nothing(format!(
                "a picture of {w} × {h} pixels is not possible; each side may have {} to {}",
                SIDES.start(),
                SIDES.end()
            )));
        }
        let series = Series::open(dir)?;
        let chosen = choose(&series, options.select, dir)?;
        let path = series.path(&series.entries()[chosen[0]]);
        let first = read_vtu_fields(&path, |_| true)?;
        let field = choose_field(&first, options.field, &path)?;
        let skin = Skin::new(&first);
        let view = options.view.unwrap_or_else(|| {
            let flat = first.points.iter().all(|p| p.z == first.points[0].z);
            if skin.dimension < 3 && flat { View::Z } else { View::Iso }
        });
        let camera = Camera::new(view);
        let bodies = match first.cell_field(name::BODY) {
            Some(f) => skin.of_bodies(&f.values).fold(0.0_f64, f64::max) as usize + 1,
            None => 1,
        };
        let mut show = Show {
            options,
            chosen,
            field,
            camera,
            window: Window::empty(),
            room: Room::new(&Bounds::empty(), &Bounds::empty(), std::iter::empty(), camera.towards),
            range: (0.0, 0.0),
            bodies,
            cells: first.cells.clone(),
            skin,
            only: None,
            series,
        };
        let surveys = (0..show.chosen.len())
            .into_par_iter()
            .map(|i| {
                if i == 0 {
                    show.survey(&first, &path)
                } else {
                    show.read(i).and_then(|(p, f)| show.survey(&f, &p))
                }
            })
            .collect::<Result<Vec<_>, LookError>>()?;
        let (mut bodies, mut meshes) = (Bounds::empty(), Bounds::empty());
        let (mut mesh_window, mut largest) = (Window::empty(), 0.0_f64);
        for s in &surveys {
            bodies.unite(&s.bodies);
            meshes.unite(&s.meshes);
            show.window.unite(&s.window);
            mesh_window.unite(&s.mesh_window);
            largest = largest.max(s.largest);
        }
        if show.window.is_empty() {
            return Err(LookError::Nothing(format!("`{}` shows nothing: it has no cells", path.display())));
        }
        show.room = Room::new(&bodies, &meshes, surveys.iter().map(|s| &s.planes[..]), camera.towards);
        for s in &surveys {
            show.window.unite(&show.room.window_of(&s.planes, &camera));
        }
        show.window.unite(&show.room.window_of_meshes(&meshes, mesh_window, &camera));
        show.range = options.range.unwrap_or((0.0, if largest > 0.0 { largest } else { 1.0 }));
        show.only = (show.chosen.len() == 1).then_some(first);
        Ok(show)
    }

    fn read(&self, i: usize) -> Result<(PathBuf, FrameData), LookError> {
        let path = self.series.path(&self.series.entries()[self.chosen[i]]);
        let frame = read_vtu_fields(&path, |n| {
            n == name::DISPLACEMENT || n == name::RIGID || self.field.sources().contains(&n)
        })?;
        Ok((path, frame))
    }

    /// The skin of a frame, made anew only where the mesh is another.
    fn skin_of(&self, frame: &FrameData) -> Cow<'_, Skin> {
        if frame.cells == self.cells { Cow::Borrowed(&self.skin) } else { Cow::Owned(Skin::new(frame)) }
    }

    fn survey(&self, frame: &FrameData, path: &Path) -> Result<Survey, LookError> {
        let skin = self.skin_of(frame);
        let largest = match shown(frame, self.field, path)? {
            Shown::Nodes(v) => {
                let values = skin.body_nodes.iter().map(|&n| v[n as usize]);
                values.filter(|v| v.is_finite()).fold(0.0, f64::max)
            }
            Shown::Cells(_) => 0.0,
        };
        let mut survey = Survey {
            window: Window::empty(),
            bodies: Bounds::empty(),
            mesh_window: Window::empty(),
            meshes: Bounds::empty(),
            planes: skin.planes(&frame.points),
            largest,
        };
        let rest = self.options.undeformed.then(|| undeformed(frame)).flatten();
        for points in std::iter::once(&frame.points).chain(&rest) {
            for p in skin.body_nodes.iter().map(|&n| &points[n as usize]) {
                survey.window.add(&self.camera, p);
                survey.bodies.add(p);
            }
        }
        for p in skin.mesh_nodes.iter().map(|&n| &frame.points[n as usize]) {
            survey.mesh_window.add(&self.camera, p);
            survey.meshes.add(p);
        }
        Ok(survey)
    }

    fn legend(&self) -> Legend {
        if self.field == ColourBy::Body {
            return Legend::Bodies(self.bodies);
        }
        Legend::Bar { title: self.field.title().to_owned(), map: self.field.map(), range: self.range }
    }

    /// Aims the camera into a picture, with room at the right for the legend if there is to be one.
    fn stage(&self, width: usize, height: usize, legend: bool) -> Stage {
        let text = overlay::text_size(height);
        let right = if legend { overlay::legend_room(&self.legend(), text) } else { text };
        let (w, h) = (width as f64, height as f64);
        let mut camera = self.camera;
        let below = if h > 12.0 * text { 4.6 * text } else { 3.2 * text };
        let (top, left) = (2.6 * text, 1.4 * text);
        let window = [left, top, (w - left - right).max(16.0), (h - top - below).max(16.0)];
        let strip = if self.skin.dimension == 1 { strip_width(height) } else { 0.0 };
        camera.fit(
            self.window.lo,
            self.window.hi,
            [window[0], window[1] + strip / 2.0, window[2], (window[3] - strip).max(8.0)],
        );
        Stage { camera, width, height, text }
    }

    /// One picture with what `furniture` names.
    fn draw(&self, i: usize, stage: &Stage, furniture: &Furniture) -> Result<Image, LookError> {
        let own;
        let path = self.series.path(&self.series.entries()[self.chosen[i]]);
        let frame = match &self.only {
            Some(frame) => frame,
            None => {
                own = self.read(i)?.1;
                &own
            }
        };
        let skin = self.skin_of(frame);
        let values = shown(frame, self.field, &path)?;
        let scene = Scene::new(&skin, frame, &values, self.options.cut.as_ref(), &self.room);
        let triangles = self.project(&scene, stage);
        let camera = &stage.camera;
        let theme = self.options.theme;
        let look = Look {
            colours: self.colours(),
            rigid: theme.rigid().linear(),
            up: [camera.right.z, camera.up.z, camera.towards.z].map(|c| c as f32),
            pen: (stage.height as f32 / 1000.0).clamp(0.55, 4.0),
            edges: self.options.edges,
            shade: if skin.dimension == 3 { stage.height.min(stage.width) as f32 * 0.06 } else { 0.0 },
        };
        let layer = raster::draw(&triangles, stage.width, stage.height, &look);
        let mut image = on_paper(&layer, theme);
        let mut stroke = |lines: &[[Vec3; 2]], width: f64, alpha: f64| {
            let on_screen = |p: &Vec3| {
                let [x, y, _] = camera.project(p);
                [x, y]
            };
            let lines: Vec<Vec<[f64; 2]>> = lines.iter().map(|l| l.iter().map(on_screen).collect()).collect();
            image.stroke(&lines, width, theme.ink().with_alpha(alpha));
        };
        stroke(&scene.rims, (stage.text / 22.0).max(0.8), 0.3);
        if self.options.edges {
            // Elements of a bar may be thinner than the line at its end.
            let half = strip_width(stage.height) / (2.0 * camera.scale);
            stroke(&ends(&scene.strips, camera, half), 1.4 * f64::from(look.pen), 0.8);
        }
        if let Some(rest) = self.options.undeformed.then(|| undeformed(frame)).flatten() {
            stroke(&skin.outline(&rest, camera.towards), (stage.text / 15.0).max(1.0), 0.55);
        }
        let end = self.chosen.iter().map(|&i| self.series.entries()[i].time.abs()).fold(0.0, f64::max);
        overlay::Overlay {
            time: frame.time,
            longest_time: end,
            camera,
            legend: self.legend(),
            text: stage.text,
        }
        .paint(&mut image, theme, furniture);
        Ok(image)
    }

    fn colours(&self) -> Vec<[f32; 3]> {
        if self.field == ColourBy::Body {
            return (0..self.bodies.max(2)).map(|i| BODIES[i % BODIES.len()].linear()).collect();
        }
        let map = self.field.map();
        (0..1024).map(|i| map.at(i as f64 / 1023.0).linear()).collect()
    }

    fn project(&self, scene: &Scene, stage: &Stage) -> Vec<ScreenTriangle> {
        let camera = &stage.camera;
        let (lo, hi) = match self.field {
            ColourBy::Body => (0.0, self.bodies.max(2) as f64 - 1.0),
            _ => self.range,
        };
        let value = |v: f64| ((v - lo) / (hi - lo)) as f32;
        let mut triangles: Vec<ScreenTriangle> = scene
            .triangles
            .par_iter()
            .map(|t| ScreenTriangle {
                at: t.corners.map(|c| camera.project(&c.at).map(|v| v as f32)),
                normals: t.corners.map(|c| camera.view(&c.normal).map(|v| v as f32)),
                values: t.corners.map(|c| value(c.value)),
                lines: t.lines,
                rigid: t.rigid,
            })
            .collect();
        let half = strip_width(stage.height) / 2.0;
        triangles.extend(scene.strips.iter().flat_map(|s| strip_on_screen(s, camera, half, &value)));
        triangles
    }

    fn single(&self, dir: &Path) -> Result<Vec<PathBuf>, LookError> {
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

    fn sheet(&self, dir: &Path, rows: usize, columns: usize) -> Result<Vec<PathBuf>, LookError> {
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

    fn all(&self, dir: &Path) -> Result<Vec<PathBuf>, LookError> {
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

fn choose(series: &Series, select: Select, dir: &Path) -> Result<Vec<usize>, LookError> {
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

fn choose_field(frame: &FrameData, asked: Option<ColourBy>, path: &Path) -> Result<ColourBy, LookError> {
    let has = |f: &ColourBy| {
        f.sources().iter().any(|s| frame.point_field(s).is_some() || frame.cell_field(s).is_some())
    };
    let found = match asked {
        Some(f) => Some(f).filter(has),
        None => ColourBy::ALL.into_iter().find(has),
    };
    found.ok_or_else(|| {
        let wanted = asked.map_or("field to show".to_owned(), |f| format!("`{}`", f.sources()[0]));
        let names: Vec<&str> =
            frame.point_fields.iter().chain(&frame.cell_fields).map(|f| f.name.as_str()).collect();
        LookError::Nothing(format!(
            "frame `{}` has no {wanted}; it has {}",
            path.display(),
            if names.is_empty() { "no fields".to_owned() } else { names.join(", ") }
        ))
    })
}

/// The numbers behind the colours of one frame.
fn shown(frame: &FrameData, field: ColourBy, path: &Path) -> Result<Shown, LookError> {
    let missing = || {
        let what =
            format!("frame `{}` has no `{}`, others of the series have", path.display(), field.sources()[0]);
        LookError::Nothing(what)
    };
    let length = |name: &str| {
        let f = frame.point_field(name)?;
        Some(Shown::Nodes(
            f.values
                .chunks_exact(f.components)
                .map(|v| v.iter().map(|c| c * c).sum::<f64>().sqrt())
                .collect(),
        ))
    };
    match field {
        ColourBy::Body => frame.cell_field(name::BODY).map(|f| Shown::Cells(f.values.clone())),
        ColourBy::Mises => match (frame.cell_field(name::MISES), frame.cell_field(name::STRESS)) {
            _ if frame.point_field(name::MISES).is_some() => length(name::MISES),
            (Some(f), _) => Some(Shown::Nodes(averaged(frame, &f.values))),
            (None, Some(f)) if f.components == 6 => {
                let mises: Vec<f64> = f.values.chunks_exact(6).map(von_mises).collect();
                Some(Shown::Nodes(averaged(frame, &mises)))
            }
            _ => None,
        },
        ColourBy::Speed | ColourBy::Displacement | ColourBy::Contact => length(field.sources()[0]),
    }
    .ok_or_else(missing)
}

/// √(3/2 s:s) of a stress XX YY ZZ XY YZ XZ with deviator s.
fn von_mises(s: &[f64]) -> f64 {
    let (a, b, c) = (s[0] - s[1], s[1] - s[2], s[2] - s[0]);
    let shear = s[3] * s[3] + s[4] * s[4] + s[5] * s[5];
    (0.5 * (a * a + b * b + c * c) + 3.0 * shear).sqrt()
}

/// Mean over the cells around each node.
fn averaged(frame: &FrameData, values: &[f64]) -> Vec<f64> {
    let mut sum = vec![0.0; frame.points.len()];
    let mut count = vec![0_u32; frame.points.len()];
    let mut cell = 0;
    for (kind, nodes) in &frame.cells {
        for ids in nodes.chunks_exact(kind.nodes()) {
            for &n in ids {
                sum[n as usize] += values[cell];
                count[n as usize] += 1;
            }
            cell += 1;
        }
    }
    sum.iter().zip(count).map(|(s, c)| s / c.max(1) as f64).collect()
}

/// Reference positions: current ones less the displacement.
fn undeformed(frame: &FrameData) -> Option<Vec<Vec3>> {
    let u = frame.point_field(name::DISPLACEMENT).filter(|f| f.components == 3)?;
    Some(
        frame
            .points
            .iter()
            .zip(u.values.chunks_exact(3))
            .map(|(x, u)| x - Vec3::from_column_slice(u))
            .collect(),
    )
}

/// Width of a bar on the screen [pixels].
fn strip_width(height: usize) -> f64 {
    (height as f64 * 0.07).max(6.0)
}

/// Lines across the ends of bars, as long as the bars are wide on the screen.
fn ends(strips: &[Strip], camera: &Camera, half: f64) -> Vec<[Vec3; 2]> {
    let mut lines = Vec::new();
    for s in strips {
        let [x, y, _] = camera.view(&(s.ends[1] - s.ends[0]));
        let length = x.hypot(y);
        if length <= 0.0 {
            continue;
        }
        let across = (half / length) * (x * camera.up - y * camera.right);
        let free = s.ends.iter().zip(s.free).filter(|(_, free)| *free);
        lines.extend(free.map(|(p, _)| [p - across, p + across]));
    }
    lines
}

/// A piece of a bar as a band that bulges towards the viewer.
fn strip_on_screen(s: &Strip, camera: &Camera, half: f64, value: &dyn Fn(f64) -> f32) -> Vec<ScreenTriangle> {
    let [a, b] = s.ends.map(|p| camera.project(&p));
    let (dx, dy) = (b[0] - a[0], b[1] - a[1]);
    let length = dx.hypot(dy);
    if length <= 1e-9 {
        return Vec::new();
    }
    // Across the bar on the screen, y downwards; normals have y up.
    let (cx, cy) = (-dy / length, dx / length);
    let corner =
        |p: [f64; 3], side: f64| [p[0] + side * half * cx, p[1] + side * half * cy, p[2]].map(|v| v as f32);
    let normal = |side: f64| [0.75 * side * cx, -0.75 * side * cy, 0.66].map(|v| v as f32);
    let [va, vb] = s.values.map(value);
    let end = |free: bool| if free { Line::Feature } else { Line::Element };
    let (la, lb) = (end(s.free[0]), end(s.free[1]));
    let mut all = Vec::new();
    // Two halves, so that the normal turns through the viewer in the middle.
    for (from, to) in [(-1.0, 0.0), (0.0, 1.0)] {
        let (q, n) =
            ([corner(a, from), corner(b, from), corner(b, to), corner(a, to)], [normal(from), normal(to)]);
        let (low, high) = if from < 0.0 { (Line::Feature, Line::None) } else { (Line::None, Line::Feature) };
        all.push(ScreenTriangle {
            at: [q[0], q[1], q[2]],
            normals: [n[0], n[0], n[1]],
            values: [va, vb, vb],
            lines: [low, lb, Line::None],
            rigid: s.rigid,
        });
        all.push(ScreenTriangle {
            at: [q[0], q[2], q[3]],
            normals: [n[0], n[1], n[1]],
            values: [va, vb, va],
            lines: [Line::None, high, la],
            rigid: s.rigid,
        });
    }
    all
}

/// Light over the theme's paper, as bytes.
fn on_paper(layer: &raster::Layer, theme: Theme) -> Image {
    let encoder = Encoder::default();
    let paper = theme.paper();
    let under = paper.linear();
    let mut image = Image::filled(layer.width, layer.height, paper);
    image.data.par_chunks_mut(4 * layer.width).zip(layer.light.par_chunks(layer.width)).for_each(
        |(row, lights)| {
            for (pixel, light) in row.chunks_exact_mut(4).zip(lights) {
                let a = light[3];
                if a <= 0.0 {
                    continue;
                }
                if paper.3 == 0 {
                    (0..3).for_each(|k| pixel[k] = encoder.byte(light[k] / a));
                    pixel[3] = (a * 255.0 + 0.5) as u8;
                } else {
                    (0..3).for_each(|k| pixel[k] = encoder.byte(light[k] + under[k] * (1.0 - a)));
                }
            }
        },
    );
    image
}
