//! Triangles with what is drawn on them, and polygons on their way to become some: clipped by planes.

use crate::math::Vec3;

/// How an edge of a triangle is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Line {
    /// Inside a face.
    None,
    /// Between two elements.
    Element,
    /// A rim or a crease.
    Feature,
}

/// A corner of a triangle.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Corner {
    pub at: Vec3,
    pub normal: Vec3,
    /// The number that becomes a colour.
    pub value: f64,
}

/// A triangle; `lines[i]` is the edge from corner i to the next.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Triangle {
    pub corners: [Corner; 3],
    pub lines: [Line; 3],
    pub rigid: bool,
}

/// The half-space that is kept: `normal · x ≤ offset`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cut {
    pub normal: Vec3,
    pub offset: f64,
}

impl std::str::FromStr for Cut {
    type Err = String;

    /// `x=0.5` keeps x ≤ 0.5, `-x=-0.5` keeps x ≥ 0.5; `1,1,0=0.7` takes any normal.
    fn from_str(text: &str) -> Result<Cut, String> {
        let wrong = || format!("cut `{text}` is not like x=0.5, -x=-0.5 or 1,1,0=0.7");
        let (normal, offset) = text.split_once('=').ok_or_else(wrong)?;
        let offset: f64 = offset.trim().parse().map_err(|_| wrong())?;
        let normal = match normal.trim() {
            "x" => Vec3::x(),
            "y" => Vec3::y(),
            "z" => Vec3::z(),
            "-x" => -Vec3::x(),
            "-y" => -Vec3::y(),
            "-z" => -Vec3::z(),
            other => {
                let parts: Vec<f64> = other
                    .split(',')
                    .map(|p| p.trim().parse())
                    .collect::<Result<_, _>>()
                    .map_err(|_| wrong())?;
                if parts.len() != 3 {
                    return Err(wrong());
                }
                Vec3::from_column_slice(&parts)
            }
        };
        let length = normal.norm();
        if !(length > 0.0 && length.is_finite() && offset.is_finite()) {
            return Err(wrong());
        }
        Ok(Cut { normal: normal / length, offset: offset / length })
    }
}

/// A convex polygon; the line of a corner leads to the next.
#[derive(Default)]
pub(crate) struct Polygon {
    pub corners: Vec<(Corner, Line)>,
}

impl Polygon {
    /// With the same line all around; values do not matter.
    pub(crate) fn flat(points: &[Vec3], line: Line) -> Polygon {
        let corner = |&at: &Vec3| (Corner { at, normal: Vec3::z(), value: 0.0 }, line);
        Polygon { corners: points.iter().map(corner).collect() }
    }

    pub(crate) fn push(&mut self, corner: Corner, line: Line) {
        self.corners.push((corner, line));
    }

    pub(crate) fn points(&self) -> impl Iterator<Item = Vec3> {
        self.corners.iter().map(|(c, _)| c.at)
    }

    /// Its sides that are rims or creases.
    pub(crate) fn features(&self) -> impl Iterator<Item = [Vec3; 2]> {
        let n = self.corners.len();
        let side = move |k: usize| [self.corners[k].0.at, self.corners[(k + 1) % n].0.at];
        (0..n).filter(|&k| self.corners[k].1 == Line::Feature).map(side)
    }

    /// The part on the kept side; the new side is a feature.
    pub(crate) fn clipped(self, cut: &Cut) -> Polygon {
        let distance = |c: &Corner| cut.normal.dot(&c.at) - cut.offset;
        let mut out = Polygon::default();
        let n = self.corners.len();
        for k in 0..n {
            let (a, line) = self.corners[k];
            let (b, _) = self.corners[(k + 1) % n];
            let (da, db) = (distance(&a), distance(&b));
            if da <= 0.0 {
                out.push(a, line);
            }
            if da * db < 0.0 {
                // Leaving: the cut begins here. Entering: the old side goes on.
                out.push(between(&a, &b, da / (da - db)), if da < 0.0 { Line::Feature } else { line });
            }
        }
        out
    }

    /// Quads along the shorter diagonal, larger ones as a fan.
    pub(crate) fn triangles(self, rigid: bool) -> Vec<Triangle> {
        let c = &self.corners;
        let n = c.len();
        if n < 3 {
            return Vec::new();
        }
        let turn = usize::from(
            n == 4 && (c[2].0.at - c[0].0.at).norm_squared() > (c[3].0.at - c[1].0.at).norm_squared(),
        );
        let at = |k: usize| c[(k + turn) % n];
        (1..n - 1)
            .map(|k| Triangle {
                corners: [at(0).0, at(k).0, at(k + 1).0],
                lines: [
                    if k == 1 { at(0).1 } else { Line::None },
                    at(k).1,
                    if k + 2 == n { at(n - 1).1 } else { Line::None },
                ],
                rigid,
            })
            .collect()
    }
}

pub(crate) fn between(a: &Corner, b: &Corner, t: f64) -> Corner {
    Corner {
        at: a.at + t * (b.at - a.at),
        normal: (a.normal + t * (b.normal - a.normal)).try_normalize(0.0).unwrap_or(a.normal),
        value: a.value + t * (b.value - a.value),
    }
}
