//! Bars on the screen: bands as wide as the picture allows.

use super::camera::Camera;
use super::polygon::Line;
use super::raster::ScreenTriangle;
use super::scene::Strip;
use crate::math::Vec3;

/// Width of a bar on the screen [pixels].
pub(crate) fn strip_width(height: usize) -> f64 {
    (height as f64 * 0.07).max(6.0)
}

/// Lines across the ends of bars, as long as the bars are wide on the screen.
pub(crate) fn ends(strips: &[Strip], camera: &Camera, half: f64) -> Vec<[Vec3; 2]> {
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
pub(crate) fn strip_on_screen(
    s: &Strip,
    camera: &Camera,
    half: f64,
    value: &dyn Fn(f64) -> f32,
) -> Vec<ScreenTriangle> {
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
