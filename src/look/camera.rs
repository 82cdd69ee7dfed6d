//! Where the viewer stands: a parallel projection, so that lengths can be read off the scale bar.
//!
//! View coordinates: x to the right, y up, z towards the viewer. Up is the z axis of the model, except
//! when looking down on it: then y is up.

use crate::math::Vec3;

/// A direction to look from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum View {
    /// From the front, right and above.
    Iso,
    /// From +x: y to the right, z up.
    X,
    /// From −y: x to the right, z up.
    Y,
    /// From +z: x to the right, y up. What plane bodies and bars are shown in.
    Z,
    /// Degrees: azimuth 0 is `Y`, 90 is `X`; elevation above the x-y plane.
    Angles { azimuth: f64, elevation: f64 },
}

impl std::str::FromStr for View {
    type Err = String;

    fn from_str(text: &str) -> Result<View, String> {
        match text {
            "iso" => return Ok(View::Iso),
            "x" => return Ok(View::X),
            "y" => return Ok(View::Y),
            "z" => return Ok(View::Z),
            _ => {}
        }
        let angles: Option<(f64, f64)> =
            text.split_once(',').and_then(|(a, e)| Some((a.trim().parse().ok()?, e.trim().parse().ok()?)));
        match angles {
            Some((azimuth, elevation)) if azimuth.is_finite() && (-90.0..=90.0).contains(&elevation) => {
                Ok(View::Angles { azimuth, elevation })
            }
            _ => Err(format!(
                "view `{text}` is not iso, x, y, z or azimuth,elevation in degrees (elevation −90 … 90)"
            )),
        }
    }
}

/// An orthonormal frame and the window it is shown in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Camera {
    pub right: Vec3,
    pub up: Vec3,
    pub towards: Vec3,
    /// Pixels per unit of length.
    pub scale: f64,
    /// View coordinates shown at `middle`.
    pub centre: [f64; 2],
    /// Pixel that `centre` falls on.
    pub middle: [f64; 2],
}

impl Camera {
    pub(crate) fn new(view: View) -> Camera {
        let (azimuth, elevation) = match view {
            View::Iso => (32.0, 24.0),
            View::X => (90.0, 0.0),
            View::Y => (0.0, 0.0),
            View::Z => (0.0, 90.0),
            View::Angles { azimuth, elevation } => (azimuth, elevation),
        };
        let (a, e): (f64, f64) = (f64::to_radians(azimuth), f64::to_radians(elevation));
        let right = Vec3::new(a.cos(), a.sin(), 0.0);
        let towards = Vec3::new(e.cos() * a.sin(), -e.cos() * a.cos(), e.sin());
        let up = towards.cross(&right);
        Camera { right, up, towards, scale: 1.0, centre: [0.0; 2], middle: [0.0; 2] }
    }

    /// View coordinates in units of length.
    pub(crate) fn view(&self, p: &Vec3) -> [f64; 3] {
        [self.right.dot(p), self.up.dot(p), self.towards.dot(p)]
    }

    /// Pixel from the top left, and nearness in pixels.
    pub(crate) fn project(&self, p: &Vec3) -> [f64; 3] {
        let [x, y, z] = self.view(p);
        [
            self.middle[0] + (x - self.centre[0]) * self.scale,
            self.middle[1] - (y - self.centre[1]) * self.scale,
            z * self.scale,
        ]
    }

    /// Fits a box of view coordinates into a window of pixels (x, y, width, height).
    pub(crate) fn fit(&mut self, lo: [f64; 2], hi: [f64; 2], window: [f64; 4]) {
        // A bar seen end-on has no extent: a trace of its distance from the origin stands in.
        let extent = |k: usize| (hi[k] - lo[k]).max(1e-6 * (hi[k].abs() + lo[k].abs())).max(1e-30);
        self.scale = (window[2] / extent(0)).min(window[3] / extent(1));
        self.centre = [0.5 * (lo[0] + hi[0]), 0.5 * (lo[1] + hi[1])];
        self.middle = [window[0] + window[2] / 2.0, window[1] + window[3] / 2.0];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_view_mirrors_the_model() {
        for view in [View::Iso, View::X, View::Y, View::Z, View::Angles { azimuth: -130.0, elevation: -40.0 }]
        {
            let c = Camera::new(view);
            assert!((c.right.cross(&c.up) - c.towards).norm() < 1e-15, "{view:?}");
        }
    }

    #[test]
    fn the_named_views_show_the_axes_where_they_say() {
        let close = |a: Vec3, b: Vec3| (a - b).norm() < 1e-15;
        let (x, y, z) = (Vec3::x(), Vec3::y(), Vec3::z());
        for (view, right, up, towards) in [(View::X, y, z, x), (View::Y, x, z, -y), (View::Z, x, y, z)] {
            let c = Camera::new(view);
            assert!(close(c.right, right) && close(c.up, up) && close(c.towards, towards), "{view:?}");
        }
        assert!(
            "30,20".parse::<View>().is_ok()
                && "30".parse::<View>().is_err()
                && "0,91".parse::<View>().is_err()
        );
    }
}
