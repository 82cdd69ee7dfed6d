//! Triangles to pixels: depth, light, element edges, and shade where surfaces come close.
//!
//! The picture is cut into tiles that are worked on in parallel. In a tile every pixel has [`SAMPLES`]
//! points that remember the nearest triangle; a triangle is then lit once per pixel and weighted
//! with the points it holds, so rims are soft and the cost is that of single pixels. Afterwards the
//! depths of the whole picture tell how much of the sky each pixel sees ([`occlusion`]).
//!
//! Screen coordinates: x to the right, y downwards, z towards the viewer, all in pixels. Normals are in view
//! coordinates (y up). Light is linear.

use super::polygon::Line;
use crate::math::lists::Lists;
use rayon::prelude::*;

/// Points per pixel: eight give rims sixteen soft steps.
const SAMPLES: usize = 8;
/// No two points share a row or a column [1/16 pixel].
const POINTS: [[f32; 2]; SAMPLES] =
    [[1.0, -3.0], [-1.0, 3.0], [5.0, 1.0], [-3.0, -5.0], [-5.0, 5.0], [-7.0, -1.0], [3.0, 7.0], [7.0, -7.0]];
const TILE: usize = 32;
const NOBODY: u32 = u32::MAX;
const FAR: f32 = f32::NEG_INFINITY;

/// A triangle on the screen; `lines[i]` is the edge from corner i to the next.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ScreenTriangle {
    pub at: [[f32; 3]; 3],
    pub normals: [[f32; 3]; 3],
    /// Place in the table of colours, 0 … 1.
    pub values: [f32; 3],
    pub lines: [Line; 3],
    /// Drawn in the colour of obstacles.
    pub rigid: bool,
}

/// How surfaces look.
pub(crate) struct Look {
    /// Linear colours over 0 … 1.
    pub colours: Vec<[f32; 3]>,
    /// Linear colour of obstacles.
    pub rigid: [f32; 3],
    /// The model's up in view coordinates.
    pub up: [f32; 3],
    /// Pixels that a line is wide, relative to a picture 1000 pixels high.
    pub pen: f32,
    pub edges: bool,
    /// Reach of the shade between surfaces in pixels; 0 for none.
    pub shade: f32,
}

/// Light of every pixel (premultiplied with the fourth number, its coverage), linear.
pub(crate) struct Layer {
    pub width: usize,
    pub height: usize,
    pub light: Vec<[f32; 4]>,
}

/// Draws all triangles.
pub(crate) fn draw(triangles: &[ScreenTriangle], width: usize, height: usize, look: &Look) -> Layer {
    let (columns, rows) = (width.div_ceil(TILE), height.div_ceil(TILE));
    let bins = Bins::new(triangles, columns, rows, width, height);
    let tiles: Vec<Tile> = (0..columns * rows)
        .into_par_iter()
        .map(|t| {
            let corner = [(t % columns) * TILE, (t / columns) * TILE];
            Tile::new(triangles, bins.of(t), corner, look)
        })
        .collect();

    let mut layer = Layer { width, height, light: vec![[0.0; 4]; width * height] };
    let mut depth = vec![FAR; width * height];
    let mut normal = vec![[0.0_f32; 3]; width * height];
    for (t, tile) in tiles.iter().enumerate() {
        if tile.light.is_empty() {
            continue;
        }
        let (x0, y0) = ((t % columns) * TILE, (t / columns) * TILE);
        let w = TILE.min(width - x0);
        for y in 0..TILE.min(height - y0) {
            let to = (y0 + y) * width + x0;
            let from = y * TILE;
            layer.light[to..to + w].copy_from_slice(&tile.light[from..from + w]);
            depth[to..to + w].copy_from_slice(&tile.depth[from..from + w]);
            normal[to..to + w].copy_from_slice(&tile.normal[from..from + w]);
        }
    }
    if look.shade > 0.0 {
        let open = occlusion(&depth, &normal, width, look.shade);
        layer.light.par_iter_mut().zip(&open).for_each(|(light, &open)| {
            light[..3].iter_mut().for_each(|c| *c *= open);
        });
    }
    layer
}

/// Which triangles touch which tile, in the order of the list.
struct Bins(Lists);

impl Bins {
    fn new(triangles: &[ScreenTriangle], columns: usize, rows: usize, width: usize, height: usize) -> Bins {
        let spans: Vec<Option<[usize; 4]>> = triangles
            .par_iter()
            .map(|t| {
                let (mut lo, mut hi) = ([f32::MAX; 2], [f32::MIN; 2]);
                for p in &t.at {
                    for k in 0..2 {
                        lo[k] = lo[k].min(p[k] - 0.5);
                        hi[k] = hi[k].max(p[k] + 0.5);
                    }
                }
                let seen = hi[0] >= 0.0 && hi[1] >= 0.0 && lo[0] < width as f32 && lo[1] < height as f32;
                seen.then(|| {
                    let tile = |v: f32, most: usize| ((v.max(0.0) as usize) / TILE).min(most - 1);
                    [tile(lo[0], columns), tile(hi[0], columns), tile(lo[1], rows), tile(hi[1], rows)]
                })
            })
            .collect();
        let seen = spans.iter().zip(0_u32..).filter_map(|(span, i)| Some((i, (*span)?)));
        let tiles = seen.flat_map(|(i, [x0, x1, y0, y1])| {
            (y0..=y1).flat_map(move |y| (x0..=x1).map(move |x| ((y * columns + x) as u32, i)))
        });
        Bins(Lists::new(columns * rows, tiles))
    }

    fn of(&self, tile: usize) -> &[u32] {
        self.0.of(tile as u32)
    }
}

/// A triangle made ready: distances to its three edges and its depth as linear functions of the place.
struct Setup {
    /// Distance to the edge opposite corner i [pixels], positive inside: a·x + b·y + c.
    edges: [[f32; 3]; 3],
    /// Height of corner i over that edge [pixels].
    heights: [f32; 3],
    depth: [f32; 3],
}

impl Setup {
    fn new(t: &ScreenTriangle) -> Option<Setup> {
        let p = t.at;
        let area = (p[1][0] - p[0][0]) * (p[2][1] - p[0][1]) - (p[1][1] - p[0][1]) * (p[2][0] - p[0][0]);
        // Seen edge-on: nothing to fill. NaN ends here, too.
        if area.abs().partial_cmp(&1e-5) != Some(std::cmp::Ordering::Greater) {
            return None;
        }
        let (mut edges, mut heights, mut depth) = ([[0.0; 3]; 3], [0.0; 3], [0.0; 3]);
        for i in 0..3 {
            let (q, r) = (p[(i + 1) % 3], p[(i + 2) % 3]);
            let (dx, dy) = (r[0] - q[0], r[1] - q[1]);
            let length = (dx * dx + dy * dy).sqrt();
            let sign = area.signum() / length;
            let (a, b) = (-dy * sign, dx * sign);
            edges[i] = [a, b, -(a * q[0] + b * q[1])];
            heights[i] = area.abs() / length;
            for k in 0..3 {
                depth[k] += edges[i][k] * p[i][2] / heights[i];
            }
        }
        Some(Setup { edges, heights, depth })
    }

    fn distances(&self, x: f32, y: f32) -> [f32; 3] {
        self.edges.map(|[a, b, c]| a * x + b * y + c)
    }
}

/// One square of the picture; empty lists where nothing is.
struct Tile {
    light: Vec<[f32; 4]>,
    depth: Vec<f32>,
    normal: Vec<[f32; 3]>,
}

/// How far outside an edge a point still counts, so that neighbours leave no crack [pixels].
const SLACK: f32 = -2e-3;

impl Tile {
    fn new(triangles: &[ScreenTriangle], items: &[u32], corner: [usize; 2], look: &Look) -> Tile {
        let mut tile = Tile { light: Vec::new(), depth: Vec::new(), normal: Vec::new() };
        if items.is_empty() {
            return tile;
        }
        let setups: Vec<Option<Setup>> = items.iter().map(|&i| Setup::new(&triangles[i as usize])).collect();
        let mut near = vec![[FAR; SAMPLES]; TILE * TILE];
        let mut who = vec![[NOBODY; SAMPLES]; TILE * TILE];
        for (k, setup) in setups.iter().enumerate() {
            if let Some(setup) = setup {
                cover(setup, &triangles[items[k] as usize], k as u32, corner, &mut near, &mut who);
            }
        }

        tile.light = vec![[0.0; 4]; TILE * TILE];
        tile.depth = vec![FAR; TILE * TILE];
        tile.normal = vec![[0.0; 3]; TILE * TILE];
        for pixel in 0..TILE * TILE {
            let ids = who[pixel];
            let (px, py) = ((corner[0] + pixel % TILE) as f32 + 0.5, (corner[1] + pixel / TILE) as f32 + 0.5);
            let mut most = 0;
            let alone = ids.iter().all(|&id| id == ids[0]);
            for s in 0..if alone { 1 } else { SAMPLES } {
                let id = ids[s];
                if id == NOBODY || ids[..s].contains(&id) {
                    continue;
                }
                // The middle of the points this triangle holds lies on it, the pixel's own may not.
                let (mut held, mut mx, mut my) = (0, 0.0, 0.0);
                for (j, point) in POINTS.iter().enumerate().skip(s) {
                    if ids[j] == id {
                        held += 1;
                        mx += point[0];
                        my += point[1];
                    }
                }
                let (x, y) = (px + mx / (16.0 * held as f32), py + my / (16.0 * held as f32));
                let Some(setup) = &setups[id as usize] else { continue };
                let triangle = &triangles[items[id as usize] as usize];
                let (colour, normal) = shade(triangle, setup, x, y, look);
                let weight = held as f32 / SAMPLES as f32;
                let light = &mut tile.light[pixel];
                for c in 0..3 {
                    light[c] += weight * colour[c];
                }
                light[3] += weight;
                if held > most {
                    most = held;
                    tile.depth[pixel] = setup.depth[0] * x + setup.depth[1] * y + setup.depth[2];
                    tile.normal[pixel] = normal;
                }
            }
        }
        tile
    }
}

/// Enters one triangle into the points of a tile.
fn cover(
    setup: &Setup,
    t: &ScreenTriangle,
    id: u32,
    corner: [usize; 2],
    near: &mut [[f32; SAMPLES]],
    who: &mut [[u32; SAMPLES]],
) {
    let bounds = |k: usize| {
        let lo = t.at.iter().map(|p| p[k]).fold(f32::MAX, f32::min) - corner[k] as f32;
        let hi = t.at.iter().map(|p| p[k]).fold(f32::MIN, f32::max) - corner[k] as f32;
        ((lo - 0.5).clamp(0.0, TILE as f32) as usize, ((hi + 0.5).clamp(0.0, TILE as f32).ceil() as usize))
    };
    let ((x0, x1), (y0, y1)) = (bounds(0), bounds(1));
    let offsets = [setup.edges[0], setup.edges[1], setup.edges[2], setup.depth]
        .map(|[a, b, _]| POINTS.map(|[dx, dy]| (a * dx + b * dy) / 16.0));
    for y in y0..y1 {
        let py = (corner[1] + y) as f32 + 0.5;
        for x in x0..x1 {
            let px = (corner[0] + x) as f32 + 0.5;
            let e = setup.distances(px, py);
            // No point is farther from the middle than this.
            if e[0] < -0.65 || e[1] < -0.65 || e[2] < -0.65 {
                continue;
            }
            let z = setup.depth[0] * px + setup.depth[1] * py + setup.depth[2];
            let (near, who) = (&mut near[y * TILE + x], &mut who[y * TILE + x]);
            let whole = e.iter().all(|&e| e > 0.65);
            for s in 0..SAMPLES {
                let inside = whole
                    || e[0] + offsets[0][s] >= SLACK
                        && e[1] + offsets[1][s] >= SLACK
                        && e[2] + offsets[2][s] >= SLACK;
                let zs = z + offsets[3][s];
                if inside && zs > near[s] {
                    near[s] = zs;
                    who[s] = id;
                }
            }
        }
    }
}

/// Directions to the lamps, in view coordinates, and their strengths.
const KEY: ([f32; 3], f32) = ([-0.42, 0.56, 0.714], 0.62);
const FILL: ([f32; 3], f32) = ([0.78, 0.10, 0.618], 0.20);
/// Light from everywhere, and from the sky of the model's up.
const AMBIENT: f32 = 0.36;
const SKY: f32 = 0.16;
const GLOSS: f32 = 0.05;
/// Share of the contrast between light and shade that obstacles show.
const RIGID_CONTRAST: f32 = 0.4;

fn dot(a: [f32; 3], b: [f32; 3]) -> f32 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// Light on a matt surface; exactly 1 for one that faces the viewer, so that plane bodies keep their colours.
fn light_on(n: [f32; 3], up: [f32; 3]) -> f32 {
    let lamps = |n: [f32; 3]| KEY.1 * dot(n, KEY.0).max(0.0) + FILL.1 * dot(n, FILL.0).max(0.0);
    let facing = AMBIENT + KEY.1 * KEY.0[2] + FILL.1 * FILL.0[2];
    (AMBIENT + lamps(n) + SKY * (dot(n, up) - up[2] * n[2])) / facing
}

/// Colour and normal of a triangle at a place.
fn shade(t: &ScreenTriangle, setup: &Setup, x: f32, y: f32, look: &Look) -> ([f32; 3], [f32; 3]) {
    let distances = setup.distances(x, y);
    let mut w = [0, 1, 2].map(|i| (distances[i] / setup.heights[i]).max(0.0));
    let sum = w[0] + w[1] + w[2];
    w.iter_mut().for_each(|w| *w /= sum);

    let mut n = [0, 1, 2].map(|k| w[0] * t.normals[0][k] + w[1] * t.normals[1][k] + w[2] * t.normals[2][k]);
    let length = dot(n, n).sqrt().max(1e-12);
    // Both sides of a sheet are lit.
    let flip = if n[2] < 0.0 { -1.0 / length } else { 1.0 / length };
    n.iter_mut().for_each(|c| *c *= flip);

    let mut colour = look.rigid;
    if !t.rigid {
        let value = w[0] * t.values[0] + w[1] * t.values[1] + w[2] * t.values[2];
        let last = look.colours.len() - 1;
        colour = look.colours[((value.clamp(0.0, 1.0) * last as f32 + 0.5) as usize).min(last)];
    }
    // Obstacles are lit mildly: a wall in the shade would outweigh the bodies before it, a bright floor melt into the paper.
    let light = light_on(n, look.up);
    let light = if t.rigid { 1.0 + RIGID_CONTRAST * (light - 1.0) } else { light };
    // Half-way vector between the key lamp and the viewer.
    let half = [KEY.0[0] / 1.852, KEY.0[1] / 1.852, (KEY.0[2] + 1.0) / 1.852];
    let gloss = GLOSS * dot(n, half).max(0.0).powi(24);
    colour.iter_mut().for_each(|c| *c = *c * light + gloss * (1.0 - *c));

    if look.edges {
        let ink = edge_ink(t, setup, &distances, look.pen);
        colour.iter_mut().for_each(|c| *c *= 1.0 - ink);
    }
    (colour, n)
}

/// How much of the edges' ink lies on a place: each neighbour draws its half of the line.
fn edge_ink(t: &ScreenTriangle, setup: &Setup, distances: &[f32; 3], pen: f32) -> f32 {
    // Edges of cells that are small on the screen fade before they become a grey mush.
    let size = setup.heights[0].min(setup.heights[1]).min(setup.heights[2]);
    let mut ink = 0.0_f32;
    for i in 0..3 {
        // The edge opposite corner i leads from corner i + 1 to the next.
        let (half_width, strength) = match t.lines[(i + 1) % 3] {
            Line::None => continue,
            Line::Element => (0.55 * pen, 0.46 * ((size - 2.0 * pen) / (9.0 * pen)).clamp(0.0, 1.0)),
            Line::Feature => (1.1 * pen, 0.85 * (size / (4.0 * pen)).clamp(0.25, 1.0)),
        };
        let reach = (half_width + 0.5 - distances[i].max(0.0)).clamp(0.0, 1.0) * half_width.min(0.5) * 2.0;
        ink = ink.max(reach.min(1.0) * strength);
    }
    ink
}

/// Directions tried around a pixel, and steps along each.
const DIRECTIONS: usize = 7;
const STEPS: usize = 4;
/// Pixels of the pattern in which directions are turned; averaging over it removes the grain.
const PATTERN: usize = 4;

/// Share of open sky at every pixel, 1 where nothing is near.
///
/// Along each direction, the steepest neighbour within `reach` hides the sky by the cosine of its
/// angle to the normal, less the farther away it is.
fn occlusion(depth: &[f32], normal: &[[f32; 3]], width: usize, reach: f32) -> Vec<f32> {
    let height = depth.len() / width;
    let offsets = sky_offsets(reach);
    let mut hidden = vec![0.0_f32; depth.len()];
    hidden.par_chunks_mut(width).enumerate().for_each(|(y, row)| {
        for (x, hidden) in row.iter_mut().enumerate() {
            let at = y * width + x;
            let z = depth[at];
            if z == FAR {
                continue;
            }
            let n = normal[at];
            let mut sum = 0.0;
            for direction in &offsets[(x % PATTERN) + PATTERN * (y % PATTERN)] {
                let mut worst = 0.0_f32;
                for &[dx, dy] in direction {
                    let (qx, qy) = (x as i32 + dx, y as i32 + dy);
                    if qx < 0 || qy < 0 || qx >= width as i32 || qy >= height as i32 {
                        continue;
                    }
                    let q = depth[qy as usize * width + qx as usize];
                    // What lies behind hides nothing; nor does the paper.
                    let to = [dx as f32, -dy as f32, q - z];
                    let rise = dot(n, to);
                    if rise <= 0.0 {
                        continue;
                    }
                    let length = dot(to, to).sqrt();
                    // Past the reach a neighbour hides nothing; the bias keeps flat ground clean.
                    let far = (1.0 - length / (1.6 * reach)).max(0.0);
                    worst = worst.max((rise / length - 0.08) * far);
                }
                sum += worst;
            }
            *hidden = sum / DIRECTIONS as f32;
        }
    });
    let mut open = vec![1.0_f32; depth.len()];
    open.par_chunks_mut(width).enumerate().for_each(|(y, row)| {
        for (x, open) in row.iter_mut().enumerate() {
            let z = depth[y * width + x];
            if z == FAR {
                continue;
            }
            let n = normal[y * width + x];
            let (mut sum, mut weight) = (0.0, 0.0);
            for j in y.saturating_sub(2)..(y + 2).min(height) {
                for i in x.saturating_sub(2)..(x + 2).min(width) {
                    let at = j * width + i;
                    // Only neighbours on the same face: near in depth, alike in direction.
                    if (depth[at] - z).abs() < 6.0 && dot(normal[at], n) > 0.8 {
                        sum += hidden[at];
                        weight += 1.0;
                    }
                }
            }
            *open = (1.0 - 2.1 * sum / f32::max(weight, 1.0)).clamp(0.25, 1.0);
        }
    });
    open
}

/// Where each pixel of the pattern looks, as whole pixels: directions and distances shuffled over the pattern.
fn sky_offsets(reach: f32) -> Vec<[[[i32; 2]; STEPS]; DIRECTIONS]> {
    (0..PATTERN * PATTERN)
        .map(|cell| {
            let turn = (cell * 7 % 16) as f32 / 16.0;
            let stretch = (cell * 11 % 16) as f32 / 16.0;
            std::array::from_fn(|d| {
                let angle = std::f32::consts::TAU * (d as f32 + turn) / DIRECTIONS as f32;
                std::array::from_fn(|s| {
                    let share = (s as f32 + stretch + 0.03) / STEPS as f32;
                    let r = 1.0 + reach * share * share;
                    [(r * angle.cos()).round() as i32, -(r * angle.sin()).round() as i32]
                })
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain() -> Look {
        Look {
            colours: vec![[0.5; 3]; 2],
            rigid: [0.5; 3],
            up: [0.0, 1.0, 0.0],
            pen: 1.0,
            edges: false,
            shade: 0.0,
        }
    }

    fn triangle(at: [[f32; 3]; 3]) -> ScreenTriangle {
        let normals = [[0.0, 0.0, 1.0]; 3];
        ScreenTriangle { at, normals, values: [0.0; 3], lines: [Line::None; 3], rigid: false }
    }

    #[test]
    fn coverage_adds_up_to_the_area() {
        let t = triangle([[3.2, 4.1, 0.0], [90.7, 11.9, 0.0], [40.3, 77.7, 0.0]]);
        let layer = draw(&[t], 100, 80, &plain());
        let covered: f32 = layer.light.iter().map(|p| p[3]).sum();
        let area = 0.5 * ((90.7 - 3.2) * (77.7 - 4.1) - (11.9 - 4.1) * (40.3 - 3.2));
        assert!((covered - area).abs() < 0.004 * area, "{covered} {area}");
    }

    #[test]
    fn neighbours_leave_no_crack_and_no_overlap() {
        // A fan around a middle that lies on no pixel's grid, over a whole square.
        let middle = [31.37, 29.71, 0.0];
        let rim = [[0.0, 0.0, 0.0], [64.0, 0.0, 0.0], [64.0, 64.0, 0.0], [0.0, 64.0, 0.0]];
        let fan: Vec<_> = (0..4).map(|i| triangle([middle, rim[i], rim[(i + 1) % 4]])).collect();
        let layer = draw(&fan, 64, 64, &plain());
        assert!(layer.light.iter().all(|p| p[3] == 1.0));
    }

    #[test]
    fn the_nearer_surface_hides_the_other_whatever_the_order() {
        let near = ScreenTriangle {
            values: [1.0; 3],
            ..triangle([[-90.0, -90.0, 5.0], [200.0, -90.0, 5.0], [-90.0, 200.0, 5.0]])
        };
        let far = triangle([[-90.0, -90.0, 1.0], [200.0, -90.0, 1.0], [-90.0, 200.0, 1.0]]);
        let look = Look { colours: vec![[0.1; 3], [0.9; 3]], ..plain() };
        for order in [[near, far], [far, near]] {
            let layer = draw(&order, 20, 20, &look);
            assert!(layer.light.iter().all(|p| p[0] > 0.5));
        }
    }

    #[test]
    fn a_surface_that_faces_the_viewer_shows_its_own_colour() {
        for up in [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]] {
            let light = light_on([0.0, 0.0, 1.0], up);
            assert!((light - 1.0).abs() < 1e-6, "{light}");
        }
    }

    /// A floor beside a wall: dark in the corner, untouched far away.
    #[test]
    fn shade_gathers_in_corners_only() {
        let (w, h) = (120, 40);
        let mut depth = vec![0.0; w * h];
        let mut normal = vec![[0.0, 0.0, 1.0]; w * h];
        for y in 0..h {
            for x in 0..20 {
                // A wall that rises steeply towards the left.
                depth[y * w + x] = 4.0 * (20 - x) as f32;
                normal[y * w + x] = [0.97, 0.0, 0.243];
            }
        }
        let open = occlusion(&depth, &normal, w, 20.0);
        let (corner, away) = (open[20 * w + 21], open[20 * w + 100]);
        assert!(corner < 0.8 && away > 0.999, "{corner} {away}");
    }
}
