//! What a set of pictures shows of its frames: which bodies, from where, how near, and over which values.

use super::LookError;
use super::camera::{Camera, View};
use super::field::ColourBy;
use super::obstacle::{Bounds, Plane, Window};
use super::polygon::Cut;
use super::render::{Range, RenderOptions, undeformed};
use super::scene::{Shown, Skin};
use crate::math::Vec3;
use crate::output::vtu::{FrameData, name};

/// What stands in the middle of a picture.
#[derive(Clone, Debug, PartialEq)]
pub enum Focus {
    Point(Vec3),
    /// By name or number.
    Body(String),
    /// Where the value is largest.
    Maximum,
}

impl std::str::FromStr for Focus {
    type Err = String;

    /// `x,y,z`, `max`, or a body.
    fn from_str(text: &str) -> Result<Focus, String> {
        if text == "max" {
            return Ok(Focus::Maximum);
        }
        let parts: Vec<&str> = text.split(',').collect();
        if parts.len() == 1 {
            return Ok(Focus::Body(text.to_owned()));
        }
        let numbers: Option<Vec<f64>> = parts.iter().map(|p| p.trim().parse().ok()).collect();
        match numbers.as_deref() {
            Some(&[x, y, z]) if [x, y, z].iter().all(|c| c.is_finite()) => {
                Ok(Focus::Point(Vec3::new(x, y, z)))
            }
            _ => Err(format!("focus `{text}` is not x,y,z, a body, or max")),
        }
    }
}

/// Share of the values that the colours span at least, and how far above it the largest may be to be spanned too.
const MOST: f64 = 0.97;
const FAR: f64 = 2.0;
/// How much nearer a point is looked at unless told.
const POINT_ZOOM: f64 = 3.0;

/// A view whose camera sees the face of a cut: the usual one if it does.
pub(super) fn toward_cut(cut: &Cut) -> View {
    let n = cut.normal;
    if Camera::new(View::Iso).towards.dot(&n) > 0.5 {
        return View::Iso;
    }
    if n.z.abs() > 0.8 {
        return View::Angles { azimuth: 32.0, elevation: 50.0 * n.z.signum() };
    }
    View::Angles { azimuth: n.x.atan2(-n.y).to_degrees() + 28.0, elevation: 24.0 }
}

/// What options say about bodies and views, with bodies as numbers.
pub(super) struct Aim {
    pub camera: Camera,
    /// Bodies that are shown; all if there are none.
    shown: Vec<f64>,
    range_of: Option<f64>,
    focus: Option<Focus>,
    focus_body: Option<f64>,
}

impl Aim {
    /// `names` are those of bodies and obstacles, as frames count them.
    pub(crate) fn new(
        options: &RenderOptions,
        names: &[String],
        first: &FrameData,
    ) -> Result<Aim, LookError> {
        let numbers = first.cell_field(name::BODY).map_or(&[][..], |f| &f.values);
        let find = |text: &String| {
            let number = names.iter().position(|n| n == text).or_else(|| text.parse().ok()).map(|i| i as f64);
            number.filter(|n| numbers.contains(n)).ok_or_else(|| {
                let known = if names.is_empty() { "numbers from 0".to_owned() } else { names.join(", ") };
                LookError::Nothing(format!("there is no body `{text}` in the frames; there are {known}"))
            })
        };
        let focus_body = match &options.focus {
            Some(Focus::Body(text)) => Some(find(text)?),
            _ => None,
        };
        Ok(Aim {
            camera: Camera::new(View::Iso),
            shown: options.bodies.iter().map(find).collect::<Result<_, _>>()?,
            range_of: options.range_of.as_ref().map(find).transpose()?,
            focus: options.focus.clone(),
            focus_body,
        })
    }

    /// Some body is meant: frames have to say which cell is whose.
    pub(crate) fn asks_for_bodies(&self) -> bool {
        !self.shown.is_empty() || self.range_of.is_some() || self.focus_body.is_some()
    }

    /// Takes the cells of other bodies away.
    pub(crate) fn leave_out(&self, frame: &mut FrameData) {
        let Some(bodies) = frame.cell_field(name::BODY).filter(|_| !self.shown.is_empty()) else { return };
        let kept: Vec<bool> = bodies.values.iter().map(|b| self.shown.contains(b)).collect();
        let mut first = 0;
        for (kind, ids) in &mut frame.cells {
            let per = kind.nodes();
            let own = &kept[first..first + ids.len() / per];
            first += own.len();
            *ids = ids
                .chunks_exact(per)
                .zip(own)
                .filter(|(_, k)| **k)
                .flat_map(|(c, _)| c.iter().copied())
                .collect();
        }
        frame.cells.retain(|(_, ids)| !ids.is_empty());
        for field in &mut frame.cell_fields {
            let cells = field.values.chunks_exact(field.components).zip(&kept);
            field.values = cells.filter(|(_, k)| **k).flat_map(|(v, _)| v.iter().copied()).collect();
        }
    }

    /// Nodes of a body in a frame.
    fn nodes_of(&self, frame: &FrameData, body: f64) -> Vec<u32> {
        let Some(bodies) = frame.cell_field(name::BODY) else { return Vec::new() };
        let cells = frame.cells.iter().flat_map(|(kind, ids)| ids.chunks_exact(kind.nodes()));
        let own = cells.zip(&bodies.values).filter(|(_, b)| **b == body);
        let mut nodes: Vec<u32> = own.flat_map(|(cell, _)| cell.iter().copied()).collect();
        nodes.sort_unstable();
        nodes.dedup();
        nodes
    }

    /// Part of what is there does not fit into the picture.
    pub(crate) fn near(&self, zoom: Option<f64>) -> bool {
        self.focus.is_some() || zoom.is_some_and(|z| z > 1.0)
    }

    /// What the picture spans, of all there is and what is to stand in the middle.
    pub(crate) fn window(&self, whole: Window, focus: Window, zoom: Option<f64>) -> Window {
        let of = if focus.is_empty() { whole } else { focus };
        let point = matches!(self.focus, Some(Focus::Point(_) | Focus::Maximum));
        let zoom = zoom.unwrap_or(if point { POINT_ZOOM } else { 1.0 });
        let extent = if point { &whole } else { &of };
        let mut window = of;
        for k in 0..2 {
            let (middle, half) = (0.5 * (of.lo[k] + of.hi[k]), 0.5 * (extent.hi[k] - extent.lo[k]) / zoom);
            (window.lo[k], window.hi[k]) = (middle - half, middle + half);
        }
        window
    }

    /// Ends of the colours, and whether there are values below and above.
    pub(crate) fn range(&self, surveys: &[Survey], asked: Range, signed: bool) -> ((f64, f64), [bool; 2]) {
        let most = |of: fn(&Survey) -> f64| surveys.iter().map(of).fold(0.0, f64::max);
        let (largest, nearly_all) = (most(|s| s.largest), most(|s| s.nearly_all));
        let hi = match asked {
            Range::Fixed(lo, hi) => return ((lo, hi), [false; 2]),
            Range::Usual if nearly_all > 0.0 && largest > FAR * nearly_all => nearly_all,
            _ if largest > 0.0 => largest,
            _ => 1.0,
        };
        let beyond = largest > hi;
        ((if signed { -hi } else { 0.0 }, hi), [beyond && signed, beyond])
    }
}

/// What one frame adds to the shared part.
pub(super) struct Survey {
    /// Of the bodies, in view coordinates and in space.
    pub window: Window,
    pub bodies: Bounds,
    /// Of rigid meshes, likewise.
    pub mesh_window: Window,
    pub meshes: Bounds,
    pub planes: Vec<Plane>,
    /// What is to stand in the middle.
    pub focus: Window,
    /// The largest size of a value, and what nearly all of them stay below.
    largest: f64,
    nearly_all: f64,
}

impl Survey {
    pub(crate) fn of(
        aim: &Aim,
        options: &RenderOptions,
        field: ColourBy,
        skin: &Skin,
        frame: &FrameData,
        values: &Shown,
    ) -> Survey {
        let (largest, nearly_all) = match (values, field) {
            (_, ColourBy::Body) | (Shown::Cells(_), _) => (0.0, 0.0),
            (Shown::Nodes(v), _) => match aim.range_of {
                Some(body) => sizes(aim.nodes_of(frame, body).iter().map(|&n| v[n as usize])),
                None => sizes(skin.body_nodes.iter().map(|&n| v[n as usize])),
            },
        };
        let mut survey = Survey {
            window: Window::empty(),
            bodies: Bounds::empty(),
            mesh_window: Window::empty(),
            meshes: Bounds::empty(),
            planes: skin.planes(&frame.points),
            focus: Window::empty(),
            largest,
            nearly_all,
        };
        let rest = options.undeformed.then(|| undeformed(frame)).flatten();
        for points in std::iter::once(&frame.points).chain(&rest) {
            for p in skin.body_nodes.iter().map(|&n| &points[n as usize]) {
                survey.window.add(&aim.camera, p);
                survey.bodies.add(p);
            }
        }
        for p in skin.mesh_nodes.iter().map(|&n| &frame.points[n as usize]) {
            survey.mesh_window.add(&aim.camera, p);
            survey.meshes.add(p);
        }
        let middle: Vec<Vec3> = match (&aim.focus, aim.focus_body, values) {
            (Some(Focus::Point(p)), ..) => vec![*p],
            (_, Some(body), _) => {
                aim.nodes_of(frame, body).iter().map(|&n| frame.points[n as usize]).collect()
            }
            (Some(Focus::Maximum), _, Shown::Nodes(v)) => skin
                .largest(v, &frame.points, options.cut.as_ref())
                .map(|n| frame.points[n as usize])
                .into_iter()
                .collect(),
            _ => Vec::new(),
        };
        middle.iter().for_each(|p| survey.focus.add(&aim.camera, p));
        survey
    }
}

/// The largest size among numbers, and the one that [`MOST`] of them stay below.
fn sizes(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let mut sizes: Vec<f64> = values.map(f64::abs).filter(|v| v.is_finite()).collect();
    if sizes.is_empty() {
        return (0.0, 0.0);
    }
    let at = ((sizes.len() - 1) as f64 * MOST) as usize;
    let (_, &mut nearly_all, above) = sizes.select_nth_unstable_by(at, f64::total_cmp);
    (above.iter().copied().fold(nearly_all, f64::max), nearly_all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cut_is_seen_from_its_open_side() {
        for text in ["x=0", "-x=0", "y=0", "-y=0", "z=0", "-z=0", "1,1,0=0.3", "1,-2,3=1", "-1,0.5,-2=0"] {
            let cut: Cut = text.parse().unwrap();
            let seen = Camera::new(toward_cut(&cut)).towards.dot(&cut.normal);
            assert!(seen > 0.35, "{text}: {seen}");
        }
    }

    /// Two of a hundred are fast: the others decide. Ten fast ones are no exception.
    #[test]
    fn a_few_large_values_do_not_decide_the_range() {
        let speeds = |fast: usize| (0..100).map(move |i| if i < fast { 50.0 } else { 1.0 });
        assert_eq!(sizes(speeds(2)), (50.0, 1.0));
        assert_eq!(sizes(speeds(10)), (50.0, 50.0));
        assert_eq!(sizes([f64::NAN, -3.0].into_iter()), (3.0, 3.0));
        assert_eq!(sizes(std::iter::empty()), (0.0, 0.0));
    }

    #[test]
    fn a_focus_is_a_point_a_body_or_the_largest_value() {
        assert_eq!("1,2,-3".parse(), Ok(Focus::Point(Vec3::new(1.0, 2.0, -3.0))));
        assert_eq!("ball".parse(), Ok(Focus::Body("ball".into())));
        assert_eq!("max".parse(), Ok(Focus::Maximum));
        assert!("1,2".parse::<Focus>().is_err() && "a,b,c".parse::<Focus>().is_err());
    }
}
