//! Colours: inks of a page, hues of curves and bodies, maps from number to colour.
//!
//! Every set of hues is told apart with any common colour blindness (Okabe and Ito's choice, the pale
//! ones darkened), and keeps a contrast of 3 : 1 to white and to near-black pages alike. Maps rise
//! or fall in lightness from end to end, so they survive grey printing.

/// sRGB with straight alpha, each 0 … 255.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rgba(pub u8, pub u8, pub u8, pub u8);

impl Rgba {
    pub const fn rgb(r: u8, g: u8, b: u8) -> Rgba {
        Rgba(r, g, b, 255)
    }

    pub(crate) fn with_alpha(self, alpha: f64) -> Rgba {
        Rgba(self.0, self.1, self.2, (alpha.clamp(0.0, 1.0) * 255.0).round() as u8)
    }

    pub fn hex(self) -> String {
        format!("#{:02x}{:02x}{:02x}", self.0, self.1, self.2)
    }

    /// Linear light, 0 … 1.
    pub fn linear(self) -> [f32; 3] {
        [self.0, self.1, self.2].map(|c| to_linear(c as f32 / 255.0))
    }
}

fn to_linear(c: f32) -> f32 {
    if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
}

fn from_linear(c: f32) -> f32 {
    if c <= 0.003_130_8 { c * 12.92 } else { 1.055 * c.powf(1.0 / 2.4) - 0.055 }
}

/// Linear light to sRGB bytes by table: pictures hold millions of pixels.
pub(crate) struct Encoder(Vec<u8>);

impl Default for Encoder {
    fn default() -> Encoder {
        // Finer at the dark end: the table runs over the square root.
        Encoder(
            (0..=Self::STEPS)
                .map(|i| {
                    let root = i as f32 / Self::STEPS as f32;
                    (from_linear(root * root) * 255.0).round() as u8
                })
                .collect(),
        )
    }
}

impl Encoder {
    const STEPS: usize = 4096;

    pub(crate) fn byte(&self, linear: f32) -> u8 {
        self.0[(linear.clamp(0.0, 1.0).sqrt() * Self::STEPS as f32 + 0.5) as usize]
    }
}

/// Paper and inks of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Theme {
    /// White paper.
    #[default]
    Light,
    /// Near-black paper.
    Dark,
    /// No paper; inks in a middle grey that reads on either.
    Transparent,
}

impl Theme {
    pub fn paper(self) -> Rgba {
        match self {
            Theme::Light => Rgba::rgb(255, 255, 255),
            Theme::Dark => Rgba::rgb(16, 20, 27),
            Theme::Transparent => Rgba(255, 255, 255, 0),
        }
    }

    /// Text, and the curve of the total.
    pub(crate) fn ink(self) -> Rgba {
        match self {
            Theme::Light => Rgba::rgb(27, 34, 44),
            Theme::Dark => Rgba::rgb(232, 236, 241),
            Theme::Transparent => Rgba::rgb(118, 124, 133),
        }
    }

    /// Axis numbers and notes.
    pub(crate) fn soft_ink(self) -> Rgba {
        match self {
            Theme::Light => Rgba::rgb(84, 94, 108),
            Theme::Dark => Rgba::rgb(164, 174, 187),
            Theme::Transparent => Rgba::rgb(118, 124, 133),
        }
    }

    /// Rigid obstacles: nearer to the paper than any colour of a body.
    pub fn rigid(self) -> Rgba {
        match self {
            Theme::Light => Rgba::rgb(218, 221, 225),
            Theme::Dark => Rgba::rgb(92, 99, 110),
            Theme::Transparent => Rgba::rgb(190, 194, 200),
        }
    }

    /// Grid lines.
    pub fn grid(self) -> Rgba {
        match self {
            Theme::Light => Rgba::rgb(226, 230, 236),
            Theme::Dark => Rgba::rgb(46, 54, 66),
            Theme::Transparent => Rgba(128, 134, 143, 70),
        }
    }
}

/// Hues of curves, in the order in which they are dealt.
pub(crate) const HUES: [Rgba; 8] = [
    Rgba::rgb(0, 114, 178),   // blue
    Rgba::rgb(213, 94, 0),    // vermilion
    Rgba::rgb(0, 150, 110),   // green
    Rgba::rgb(190, 95, 150),  // purple
    Rgba::rgb(196, 134, 0),   // amber
    Rgba::rgb(48, 150, 205),  // sky
    Rgba::rgb(140, 110, 80),  // earth
    Rgba::rgb(120, 120, 200), // violet
];

/// Colours of bodies: lighter than curves, for shaded surfaces.
pub(crate) const BODIES: [Rgba; 8] = [
    Rgba::rgb(86, 156, 214),
    Rgba::rgb(231, 138, 62),
    Rgba::rgb(74, 178, 140),
    Rgba::rgb(208, 135, 178),
    Rgba::rgb(226, 186, 70),
    Rgba::rgb(150, 198, 232),
    Rgba::rgb(176, 150, 122),
    Rgba::rgb(150, 150, 214),
];

/// A map from 0 … 1 to colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Map {
    /// Blue over green to yellow, rising in lightness; never so dark that shade disappears.
    Tide,
    /// Pale grey over orange to dark red, falling in lightness: zero looks like nothing.
    Ember,
    /// Blue over pale grey to red: zero in the middle, both signs equally far from it.
    Balance,
}

impl Map {
    fn stops(self) -> &'static [Rgba] {
        const TIDE: [Rgba; 6] = [
            Rgba::rgb(47, 62, 140),
            Rgba::rgb(36, 107, 160),
            Rgba::rgb(30, 146, 148),
            Rgba::rgb(78, 180, 112),
            Rgba::rgb(172, 207, 76),
            Rgba::rgb(252, 231, 92),
        ];
        const EMBER: [Rgba; 6] = [
            Rgba::rgb(226, 227, 224),
            Rgba::rgb(246, 205, 138),
            Rgba::rgb(240, 150, 70),
            Rgba::rgb(216, 92, 48),
            Rgba::rgb(168, 42, 44),
            Rgba::rgb(100, 16, 40),
        ];
        const BALANCE: [Rgba; 7] = [
            Rgba::rgb(36, 70, 150),
            Rgba::rgb(62, 128, 190),
            Rgba::rgb(150, 190, 218),
            Rgba::rgb(228, 228, 226),
            Rgba::rgb(232, 170, 130),
            Rgba::rgb(204, 96, 72),
            Rgba::rgb(140, 24, 48),
        ];
        match self {
            Map::Tide => &TIDE,
            Map::Ember => &EMBER,
            Map::Balance => &BALANCE,
        }
    }

    /// Colour at `t` in 0 … 1; outside, the ends.
    pub fn at(self, t: f64) -> Rgba {
        let stops = self.stops();
        let s = if t.is_finite() { t.clamp(0.0, 1.0) } else { 0.0 } * (stops.len() - 1) as f64;
        let i = (s as usize).min(stops.len() - 2);
        let f = s - i as f64;
        let (a, b) = (stops[i], stops[i + 1]);
        let mix = |a: u8, b: u8| (a as f64 + (b as f64 - a as f64) * f).round() as u8;
        Rgba::rgb(mix(a.0, b.0), mix(a.1, b.1), mix(a.2, b.2))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Relative luminance and contrast of the web accessibility rules.
    fn contrast(a: Rgba, b: Rgba) -> f32 {
        let luminance = |c: Rgba| {
            let [r, g, b] = c.linear();
            0.2126 * r + 0.7152 * g + 0.0722 * b
        };
        let (a, b) = (luminance(a) + 0.05, luminance(b) + 0.05);
        a.max(b) / a.min(b)
    }

    #[test]
    fn curves_stand_out_on_white_and_on_near_black_paper() {
        for hue in HUES {
            for theme in [Theme::Light, Theme::Dark] {
                let c = contrast(hue, theme.paper());
                assert!(c >= 3.0, "{} on {theme:?}: {c}", hue.hex());
            }
        }
    }

    #[test]
    fn maps_change_lightness_in_one_direction() {
        for (map, sign) in [(Map::Tide, 1.0), (Map::Ember, -1.0)] {
            let light: Vec<f32> = (0..=20)
                .map(|i| {
                    let [r, g, b] = map.at(i as f64 / 20.0).linear();
                    0.2126 * r + 0.7152 * g + 0.0722 * b
                })
                .collect();
            assert!(light.windows(2).all(|w| (w[1] - w[0]) * sign > 0.0), "{map:?} {light:?}");
        }
    }

    #[test]
    fn both_signs_darken_alike() {
        let light = |t: f64| {
            let [r, g, b] = Map::Balance.at(t).linear();
            0.2126 * r + 0.7152 * g + 0.0722 * b
        };
        for i in 0..10 {
            let (low, high) = (0.05 * f64::from(i), 1.0 - 0.05 * f64::from(i));
            assert!((light(low) / light(high)).log2().abs() < 0.6, "{i}");
            assert!(light(low) < light(low + 0.05) && light(high) < light(high - 0.05));
        }
    }

    #[test]
    fn bytes_survive_linear_light() {
        let encoder = Encoder::default();
        for b in 0..=255_u8 {
            assert_eq!(encoder.byte(Rgba::rgb(b, 0, 0).linear()[0]), b);
        }
    }
}
