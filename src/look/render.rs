//! Pictures of frames: one, several in a sheet, or all as an animation.
//!
//! All chosen frames are read once before anything is drawn: the camera, the range of colours and the form
//! of the time stamp are the same in every picture of a set, and a bad frame leaves no file.

use super::aim::{Aim, Focus, Survey, toward_cut};
use super::band::{ends, strip_on_screen, strip_width};
use super::camera::{Camera, View};
use super::colour::{BODIES, Encoder, Theme};
use super::field::{ColourBy, choose_field, shown};
use super::film::{Select, choose};
use super::folder::Summary;
use super::image::Image;
use super::obstacle::{Bounds, Room, Window};
use super::overlay::{self, Furniture, Legend, Mark};
use super::polygon::Cut;
use super::raster::{self, Look, ScreenTriangle};
use super::scene::{Scene, Shown, Skin};
use super::{LookError, in_own_pool};
use crate::math::Vec3;
use crate::mesh::CellKind;
use crate::output::pvd::Series;
use crate::output::vtu::{FrameData, name, read_vtu_fields};
use crate::run::memory::lack_now;
use rayon::prelude::*;
use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};

/// Which values the colours span.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Range {
    /// Up to the largest value, unless that is far above nearly all others, which would then look alike.
    #[default]
    Usual,
    /// Up to the largest value.
    Full,
    Fixed(f64, f64),
}

impl std::str::FromStr for Range {
    type Err = String;

    fn from_str(text: &str) -> Result<Range, String> {
        if text == "full" {
            return Ok(Range::Full);
        }
        let ends: Option<(f64, f64)> =
            text.split_once(',').and_then(|(a, b)| Some((a.trim().parse().ok()?, b.trim().parse().ok()?)));
        ends.filter(|(lo, hi)| lo < hi && (hi - lo).is_finite())
            .map(|(lo, hi)| Range::Fixed(lo, hi))
            .ok_or_else(|| format!("`{text}` is not `full`, nor two rising numbers like 0,2.5e8"))
    }
}

/// What to draw, from where, and into which file.
#[derive(Clone, Debug)]
pub struct RenderOptions {
    pub select: Select,
    /// The first of mises, speed, displacement, body that the frames have, by default.
    pub field: Option<ColourBy>,
    /// From the front, right and above; plane bodies and bars from +z, a cut from where its face is seen, by default.
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
    /// Values at the ends of the colour bar.
    pub range: Range,
    /// The body, by name or number, whose values decide the range; all that are shown by default.
    pub range_of: Option<String>,
    /// Bodies and obstacles, by name or number, that are shown; all by default.
    pub bodies: Vec<String>,
    /// What stands in the middle; everything that is shown by default.
    pub focus: Option<Focus>,
    /// How much nearer than it takes to see all of it.
    pub zoom: Option<f64>,
    /// A ring where the value is largest, with the value.
    pub mark: bool,
    /// A line above the picture.
    pub title: Option<String>,
    /// Unit of the colours.
    pub unit: Option<String>,
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
            range: Range::Usual,
            range_of: None,
            bodies: Vec::new(),
            focus: None,
            zoom: None,
            mark: false,
            title: None,
            unit: None,
            fps: 20.0,
            threads: None,
        }
    }
}

/// Smallest and largest side of a picture.
pub(super) const SIDES: std::ops::RangeInclusive<usize> = 64..=16384;

/// What drawing takes [bytes]: of each pixel light, depth and normal, in tiles and as a whole, what is hidden and the colour; in an
/// animation for as many pictures as there are threads, with those that wait to be written.
fn picture_bytes(options: &RenderOptions, count: usize) -> f64 {
    const LAYER: f64 = 2.0 * 32.0 + 8.0;
    const COLOUR: f64 = 4.0;
    let threads = rayon::current_num_threads();
    let (drawn, kept) = match options.select {
        Select::All => (threads.min(count), (2 * threads + 8).min(count)),
        _ => (1, 2),
    };
    let (w, h) = options.size;
    w as f64 * h as f64 * (LAYER * drawn as f64 + COLOUR * kept as f64)
}

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
pub(super) struct Show<'a> {
    pub(super) options: &'a RenderOptions,
    series: Series,
    /// Indices into the series.
    pub(super) chosen: Vec<usize>,
    pub(super) field: ColourBy,
    aim: Aim,
    /// What all frames show, in view coordinates and in space.
    window: Window,
    room: Room,
    range: (f64, f64),
    /// Values lie below and above the range.
    beyond: [bool; 2],
    bodies: usize,
    cells: Vec<(CellKind, Vec<u32>)>,
    skin: Skin,
    /// The frame itself, when there is only one.
    only: Option<FrameData>,
}

/// A camera aimed into a picture of a given size.
pub(super) struct Stage {
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
        if let Some(lack) = lack_now(picture_bytes(options, chosen.len())) {
            return Err(LookError::Nothing(format!("a picture of {w} × {h} pixels {lack}")));
        }
        let path = series.path(&series.entries()[chosen[0]]);
        let mut first = read_vtu_fields(&path, |_| true)?;
        let field = choose_field(&first, options.field, &path)?;
        let names = match Summary::read(dir) {
            Err(LookError::Read { source, .. }) if source.kind() == io::ErrorKind::NotFound => Vec::new(),
            told => told?.bodies(),
        };
        let mut aim = Aim::new(options, &names, &first)?;
        aim.leave_out(&mut first);
        let skin = Skin::new(&first);
        aim.camera = Camera::new(options.view.unwrap_or_else(|| {
            let flat = first.points.iter().all(|p| p.z == first.points[0].z);
            match &options.cut {
                _ if skin.dimension < 3 && flat => View::Z,
                Some(cut) => toward_cut(cut),
                None => View::Iso,
            }
        }));
        let bodies = match first.cell_field(name::BODY) {
            Some(f) => skin.of_bodies(&f.values).fold(0.0_f64, f64::max) as usize + 1,
            None => 1,
        };
        let mut show = Show {
            options,
            chosen,
            field,
            window: Window::empty(),
            room: Room::new(&Bounds::empty(), &Bounds::empty(), std::iter::empty(), aim.camera.towards),
            aim,
            range: (0.0, 0.0),
            beyond: [false; 2],
            bodies,
            cells: first.cells.clone(),
            skin,
            only: None,
            series,
        };
        show.survey_all(&first, &path)?;
        show.only = (show.chosen.len() == 1).then_some(first);
        Ok(show)
    }

    /// Looks at all frames: how much room they take, and which values there are.
    fn survey_all(&mut self, first: &FrameData, path: &Path) -> Result<(), LookError> {
        let survey = |frame: &FrameData, path: &Path| {
            let values = shown(frame, self.field, path)?;
            Ok(Survey::of(&self.aim, self.options, self.field, &self.skin_of(frame), frame, &values))
        };
        let surveys = (0..self.chosen.len())
            .into_par_iter()
            .map(
                |i| if i == 0 { survey(first, path) } else { self.read(i).and_then(|(p, f)| survey(&f, &p)) },
            )
            .collect::<Result<Vec<_>, LookError>>()?;
        let (mut bodies, mut meshes) = (Bounds::empty(), Bounds::empty());
        let (mut window, mut mesh_window, mut focus) = (Window::empty(), Window::empty(), Window::empty());
        for s in &surveys {
            bodies.unite(&s.bodies);
            meshes.unite(&s.meshes);
            window.unite(&s.window);
            mesh_window.unite(&s.mesh_window);
            focus.unite(&s.focus);
        }
        if window.is_empty() {
            let what = format!("`{}` shows nothing: it has no cells", path.display());
            return Err(LookError::Nothing(what));
        }
        let camera = &self.aim.camera;
        self.room = Room::new(&bodies, &meshes, surveys.iter().map(|s| &s.planes[..]), camera.towards);
        for s in &surveys {
            window.unite(&self.room.window_of(&s.planes, camera));
        }
        window.unite(&self.room.window_of_meshes(&meshes, mesh_window, camera));
        self.window = self.aim.window(window, focus, self.options.zoom);
        (self.range, self.beyond) = self.aim.range(&surveys, self.options.range, self.field.signed());
        Ok(())
    }

    fn read(&self, i: usize) -> Result<(PathBuf, FrameData), LookError> {
        let path = self.series.path(&self.series.entries()[self.chosen[i]]);
        let mut frame = read_vtu_fields(&path, |n| {
            n == name::DISPLACEMENT
                || n == name::RIGID
                || (n == name::BODY && self.aim.asks_for_bodies())
                || self.field.sources().contains(&n)
        })?;
        self.aim.leave_out(&mut frame);
        Ok((path, frame))
    }

    /// The skin of a frame, made anew only where the mesh is another.
    fn skin_of(&self, frame: &FrameData) -> Cow<'_, Skin> {
        if frame.cells == self.cells { Cow::Borrowed(&self.skin) } else { Cow::Owned(Skin::new(frame)) }
    }

    pub(super) fn legend(&self) -> Legend {
        if self.field == ColourBy::Body {
            return Legend::Bodies(self.bodies);
        }
        Legend::Bar {
            title: self.field.title().to_owned(),
            unit: self.options.unit.clone().unwrap_or_default(),
            map: self.field.map(),
            range: self.range,
            beyond: self.beyond,
        }
    }

    /// Aims the camera into a picture, with room at the right for the legend if there is to be one.
    pub(super) fn stage(&self, width: usize, height: usize, legend: bool) -> Stage {
        let text = overlay::text_size(height);
        let right = if legend { overlay::legend_room(&self.legend(), text) } else { text };
        let (w, h) = (width as f64, height as f64);
        let mut camera = self.aim.camera;
        let below = if h > 12.0 * text { 4.6 * text } else { 3.2 * text };
        let titled = if self.options.title.is_some() { 1.5 * text } else { 0.0 };
        let (top, left) = (2.6 * text + titled, 1.4 * text);
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
    pub(super) fn draw(&self, i: usize, stage: &Stage, furniture: &Furniture) -> Result<Image, LookError> {
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
        let mut image = self.surfaces(stage, frame, &skin, &values);
        let mark = match (&values, self.options.mark) {
            (Shown::Nodes(v), true) => skin
                .largest(v, &frame.points, self.options.cut.as_ref())
                .map(|n| Mark { at: stage.camera.project(&frame.points[n as usize]), value: v[n as usize] }),
            _ => None,
        };
        let end = self.chosen.iter().map(|&i| self.series.entries()[i].time.abs()).fold(0.0, f64::max);
        overlay::Overlay {
            time: frame.time,
            longest_time: end,
            camera: &stage.camera,
            legend: self.legend(),
            text: stage.text,
            title: self.options.title.as_deref().unwrap_or_default(),
            mark,
            near: self.aim.near(self.options.zoom),
        }
        .paint(&mut image, self.options.theme, furniture);
        Ok(image)
    }

    /// Bodies and obstacles, and the lines on them.
    fn surfaces(&self, stage: &Stage, frame: &FrameData, skin: &Skin, values: &Shown) -> Image {
        let scene = Scene::new(skin, frame, values, self.options.cut.as_ref(), &self.room);
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
        image
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
}

/// Reference positions: current ones less the displacement.
pub(super) fn undeformed(frame: &FrameData) -> Option<Vec<Vec3>> {
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
