//! Output folders made by hand, as a run would leave them: something to look at without a solver.

use carom::math::Vec3;
use carom::mesh::shape::{Cylinder, Sphere};
use carom::mesh::{CellKind, Mesh};
use carom::output::pvd::Series;
use carom::output::vtu::{Field, Frame, PackedCells, Values, name, write_vtu};
use std::f64::consts::PI;
use std::path::{Path, PathBuf};

pub const COLUMNS: &str = "time,step,dt,kinetic,strain,contact,external,friction,restitution,damping,plastic,\
                           correction,total,error,hourglass,px,py,pz,lx,ly,lz,contacts,penetration,\
                           tip.ux,tip.uy,tip.uz,tip.vx,tip.vy,tip.vz";

/// An empty folder of its own for one test.
pub fn empty(name: &str) -> PathBuf {
    let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("look").join(name);
    let _ = std::fs::remove_dir_all(&dir);
    std::fs::create_dir_all(&dir).unwrap();
    dir
}

/// A smooth bump: 0 before `from` and after `to`, 1 in the middle.
fn bump(t: f64, from: f64, to: f64) -> f64 {
    let s = (t - from) / (to - from);
    if (0.0..=1.0).contains(&s) { (PI * s).sin().powi(2) } else { 0.0 }
}

/// The values of one row of the synthetic history at share `s` of the run.
pub fn row(s: f64) -> [f64; 29] {
    let strain = 420.0 * bump(s, 0.25, 0.75);
    let friction = 90.0 * ((s - 0.25) / 0.5).clamp(0.0, 1.0);
    let restitution = 40.0 * ((s - 0.45) / 0.1).clamp(0.0, 1.0);
    let total = 1000.0 - friction - restitution;
    let contact = 60.0 * bump(s, 0.3, 0.7);
    let error = 3e-7 * (40.0 * s).sin() * s;
    let ux = if s < 0.25 { 0.8 * s } else { 0.2 + 0.05 * (14.0 * (s - 0.25)).sin() - 0.35 * (s - 0.25) };
    [
        s * 2e-3,
        (s * 4000.0).round(),
        5e-7 * (1.0 - 0.3 * bump(s, 0.2, 0.8)),
        total - strain - contact,
        strain,
        contact,
        0.0,
        friction,
        restitution,
        0.0,
        0.0,
        1e-3 * s,
        total,
        error,
        0.0,
        12.5,
        0.0,
        0.0,
        0.0,
        0.3 * (1.0 - bump(s, 0.2, 1.2)),
        -0.2,
        (64.0 * bump(s, 0.25, 0.75)).round(),
        2.4e-6 * bump(s, 0.25, 0.75),
        ux,
        0.02 * (9.0 * s).sin(),
        0.0,
        if s < 0.25 { 400.0 } else { -175.0 },
        90.0 * (9.0 * s).cos(),
        0.0,
    ]
}

/// History with `rows` + 1 rows and the summary of a finished run.
pub fn history(dir: &Path, title: &str, rows: usize) {
    let mut text = format!("{COLUMNS}\n");
    for i in 0..=rows {
        let cells: Vec<String> = row(i as f64 / rows as f64).iter().map(|v| format!("{v:.16e}")).collect();
        text.push_str(&cells.join(","));
        text.push('\n');
    }
    std::fs::write(dir.join("history.csv"), text).unwrap();
    let summary = format!(
        r#"{{"carom": "0.1.0", "title": "{title}", "method": "dcr", "threads": 2, "steps": 4000, "end_time": 2e-3,
            "wall_seconds": 12.9, "loop_seconds": 12.4,
            "phase_seconds": {{"force": 7.61, "search": 2.2, "response": 1.3, "solve": 0.0, "output": 0.42}},
            "status": "finished"}}"#
    );
    std::fs::write(dir.join("summary.json"), summary).unwrap();
}

/// Cells and nodes of several bodies, and how they move.
#[derive(Default)]
pub struct Model {
    pub rest: Vec<Vec3>,
    pub cells: Vec<(CellKind, Vec<u32>)>,
    /// One entry per cell.
    pub body: Vec<i32>,
    /// Of the last cells, or of none: 1 for obstacles, 2 for planes.
    pub rigid: Vec<u8>,
}

impl Model {
    /// A box of hexes; returns the first node.
    pub fn block(&mut self, at: Vec3, size: Vec3, n: [usize; 3], body: i32) -> usize {
        let first = self.rest.len();
        let id = |i: usize, j: usize, k: usize| (first + i + (n[0] + 1) * (j + (n[1] + 1) * k)) as u32;
        for k in 0..=n[2] {
            for j in 0..=n[1] {
                for i in 0..=n[0] {
                    let s = Vec3::new(i as f64 / n[0] as f64, j as f64 / n[1] as f64, k as f64 / n[2] as f64);
                    self.rest.push(at + size.component_mul(&s));
                }
            }
        }
        let mut nodes = Vec::new();
        for k in 0..n[2] {
            for j in 0..n[1] {
                for i in 0..n[0] {
                    nodes.extend([id(i, j, k), id(i + 1, j, k), id(i + 1, j + 1, k), id(i, j + 1, k)]);
                    nodes
                        .extend([0, 1, 2, 3].map(|c| nodes[nodes.len() - 4 + c] + id(0, 0, 1) - id(0, 0, 0)));
                    self.body.push(body);
                }
            }
        }
        self.cells.push((CellKind::Hex8, nodes));
        first
    }

    /// A disc of triangles around a centre, in rings; returns the first node.
    pub fn disc(&mut self, centre: Vec3, radius: f64, rings: usize, sectors: usize, body: i32) -> usize {
        let first = self.rest.len();
        self.rest.push(centre);
        for r in 1..=rings {
            for s in 0..sectors {
                let a = 2.0 * PI * s as f64 / sectors as f64;
                let q = radius * r as f64 / rings as f64;
                self.rest.push(centre + q * Vec3::new(a.cos(), a.sin(), 0.0));
            }
        }
        let id = |r: usize, s: usize| (first + 1 + (r - 1) * sectors + s % sectors) as u32;
        let (mut fan, mut quads) = (Vec::new(), Vec::new());
        for s in 0..sectors {
            fan.extend([first as u32, id(1, s), id(1, s + 1)]);
            for r in 1..rings {
                quads.extend([id(r, s), id(r + 1, s), id(r + 1, s + 1), id(r, s + 1)]);
            }
        }
        self.body.extend(vec![body; sectors * rings]);
        self.cells.push((CellKind::Tri3, fan));
        self.cells.push((CellKind::Quad4, quads));
        first
    }

    /// A bar of line cells along x.
    pub fn bar(&mut self, from: f64, length: f64, n: usize, body: i32) {
        let first = self.rest.len() as u32;
        self.rest.extend((0..=n).map(|i| Vec3::new(from + length * i as f64 / n as f64, 0.0, 0.0)));
        self.cells.push((CellKind::Bar2, (0..n as u32).flat_map(|i| [first + i, first + i + 1]).collect()));
        self.body.extend(vec![body; n]);
    }

    /// A mesh of the library, moved by `offset`.
    pub fn mesh(&mut self, mesh: &Mesh, offset: Vec3, body: i32) {
        let first = self.rest.len() as u32;
        self.rest.extend(mesh.nodes.iter().map(|x| x + offset));
        for cells in &mesh.cells {
            self.cells.push((cells.kind, cells.nodes.iter().map(|n| n + first).collect()));
            self.body.extend(vec![body; cells.len()]);
        }
    }

    /// A rigid cell, a plane if `kind` is 2, as the next body.
    pub fn obstacle(&mut self, corners: [Vec3; 4], kind: u8) {
        let first = self.rest.len() as u32;
        self.rest.extend(corners);
        self.cells.push((CellKind::Quad4, (first..first + 4).collect()));
        self.body.push(self.body.iter().max().map_or(0, |b| b + 1));
        self.rigid.push(kind);
    }

    /// Writes `count` frames over the times 0 … `end`; `motion` gives the displacement of a node at a
    /// share of the run, `mises` the stress at the middle of a cell.
    pub fn frames(
        &self,
        dir: &Path,
        count: usize,
        end: f64,
        motion: impl Fn(usize, Vec3, f64) -> Vec3,
        mises: impl Fn(Vec3, f64) -> f64,
        push: impl Fn(Vec3, f64) -> f64,
    ) {
        let borrowed: Vec<(CellKind, &[u32])> = self.cells.iter().map(|(k, n)| (*k, n.as_slice())).collect();
        let cells = PackedCells::new(&borrowed);
        let mut rigid = vec![0; self.body.len() - self.rigid.len()];
        rigid.extend(&self.rigid);
        let mut series = Series::create(dir).unwrap();
        for f in 0..count {
            let s = f as f64 / (count - 1).max(1) as f64;
            let u: Vec<Vec3> = self.rest.iter().enumerate().map(|(i, &x)| motion(i, x, s)).collect();
            let h = 1e-4;
            let v: Vec<Vec3> = self
                .rest
                .iter()
                .enumerate()
                .map(|(i, &x)| (motion(i, x, s + h) - motion(i, x, s)) / (h * end))
                .collect();
            let x: Vec<Vec3> = self.rest.iter().zip(&u).map(|(x, u)| x + u).collect();
            let pushes: Vec<Vec3> = x.iter().map(|&p| Vec3::new(0.0, 0.0, push(p, s))).collect();
            let mut stress = Vec::new();
            for (kind, nodes) in &self.cells {
                for cell in nodes.chunks_exact(kind.nodes()) {
                    let middle: Vec3 = cell.iter().map(|&n| x[n as usize]).sum::<Vec3>() / cell.len() as f64;
                    stress.push(mises(middle, s));
                }
            }
            let mut cell_fields = vec![
                Field { name: name::MISES, components: 1, values: Values::Single(&stress) },
                Field { name: name::BODY, components: 1, values: Values::I32(&self.body) },
            ];
            if !self.rigid.is_empty() {
                cell_fields.push(Field { name: name::RIGID, components: 1, values: Values::U8(&rigid) });
            }
            write_vtu(
                &series.next_path(),
                &Frame {
                    time: s * end,
                    points: &x,
                    cells: &cells,
                    point_fields: &[
                        Field { name: name::DISPLACEMENT, components: 3, values: Values::vectors(&u) },
                        Field { name: name::VELOCITY, components: 3, values: Values::vectors(&v) },
                        Field {
                            name: name::CONTACT_FORCE,
                            components: 3,
                            values: Values::single_vectors(&pushes),
                        },
                    ],
                    cell_fields: &cell_fields,
                },
            )
            .unwrap();
            series.push(s * end).unwrap();
        }
    }
}

/// Two square bars that meet end to end, barrel out and part.
pub fn two_bars(dir: &Path, frames: usize) {
    history(dir, "Two elastic bars", 400);
    let mut model = Model::default();
    model.block(Vec3::new(-1.25, -0.1, -0.1), Vec3::new(1.0, 0.2, 0.2), [30, 6, 6], 0);
    let second = model.block(Vec3::new(0.25, -0.1, -0.1), Vec3::new(1.0, 0.2, 0.2), [30, 6, 6], 1);
    let squeeze = |s: f64| bump(s, 0.25, 0.75);
    model.frames(
        dir,
        frames,
        2e-3,
        |i, x, s| {
            let sign = if i < second { 1.0 } else { -1.0 };
            let way = if s < 0.25 {
                s
            } else if s < 0.75 {
                0.25
            } else {
                1.0 - s
            };
            let from_face = (x.x.abs() - 0.25) / 1.0;
            let push = -0.12 * squeeze(s) * from_face * (1.0 - 0.4 * from_face) * x.x.signum();
            let bulge = 0.35 * squeeze(s) * (-6.0 * from_face * from_face).exp();
            Vec3::new(sign * way + push, x.y * bulge, x.z * bulge)
        },
        |x, s| 2.4e8 * squeeze(s) * (-4.0 * x.x * x.x).exp() * (1.0 + 0.3 * (20.0 * x.y).sin().abs()),
        |x, s| 900.0 * squeeze(s) * (-(x.x / 0.02).powi(2)).exp(),
    );
}

/// A heap of cubes that fall and settle, each turned its own way.
pub fn cubes(dir: &Path, frames: usize, layers: usize, cells: usize) {
    history(dir, "A pile of cubes", 400);
    let mut model = Model::default();
    model.block(Vec3::new(-2.6, -2.6, -0.25), Vec3::new(5.2, 5.2, 0.25), [13, 13, 1], 0);
    let mut owners = vec![0_usize; model.rest.len()];
    let mut centres = vec![(Vec3::zeros(), 0.0, 0.0)];
    let mut seed = 7_u64;
    let mut random = || {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 33) as f64 / (1_u64 << 31) as f64
    };
    for layer in 0..layers {
        let side = layers - layer;
        for i in 0..side {
            for j in 0..side {
                let at = |k: usize| (k as f64 - (side - 1) as f64 / 2.0) * 1.08;
                let c = Vec3::new(at(i), at(j), 0.5 + layer as f64);
                model.block(c - Vec3::repeat(0.5), Vec3::repeat(1.0), [cells; 3], centres.len() as i32);
                owners.resize(model.rest.len(), centres.len());
                centres.push((c, (random() - 0.5) * 0.5, random()));
            }
        }
    }
    model.frames(
        dir,
        frames,
        1.5,
        |i, x, s| {
            let (c, turn, late) = centres[owners[i]];
            if owners[i] == 0 {
                return Vec3::zeros();
            }
            let fall = (1.0 - s).powi(2) * (0.6 + 1.2 * late + 0.5 * c.z);
            let (sin, cos) = (turn * (0.3 + s)).sin_cos();
            let r = x - c;
            let press = 1.0 - 0.05 * s * (4.0 - c.z).max(0.0) / 4.0;
            let lean = Vec3::new(turn * 0.15, (late - 0.5) * 0.12, 0.0);
            c + Vec3::new(cos * r.x - sin * r.y, sin * r.x + cos * r.y, r.z * press) + lean + Vec3::z() * fall
                - x
        },
        |x, s| 4e5 * s * (1.2 + (3.0 * x.x).sin() * (3.0 * x.y).cos()) * (4.2 - x.z).max(0.2) / 4.0,
        |x, s| 60.0 * s * (-((x.z - x.z.round()) / 0.06).powi(2)).exp() * (1.0 + (5.0 * x.x).sin()),
    );
}

/// A disc that flattens on a block, in the plane.
pub fn disc(dir: &Path, frames: usize) {
    history(dir, "Disc on a block", 400);
    let mut model = Model::default();
    let n = model.disc(Vec3::new(0.0, 1.25, 0.0), 1.0, 10, 56, 0) + 1 + 560;
    let first = model.rest.len() as u32;
    assert_eq!(first as usize, n);
    let (nx, ny) = (24, 4);
    for j in 0..=ny {
        for i in 0..=nx {
            model.rest.push(Vec3::new(
                -1.8 + 3.6 * i as f64 / nx as f64,
                -0.6 + 0.6 * j as f64 / ny as f64,
                0.0,
            ));
        }
    }
    let id = |i: u32, j: u32| first + i + (nx + 1) * j;
    let mut quads = Vec::new();
    for j in 0..ny {
        for i in 0..nx {
            quads.extend([id(i, j), id(i + 1, j), id(i + 1, j + 1), id(i, j + 1)]);
            model.body.push(1);
        }
    }
    model.cells.push((CellKind::Quad4, quads));
    model.frames(
        dir,
        frames,
        0.02,
        |i, x, s| {
            let press = bump(s, 0.3, 1.7);
            if i >= n {
                let dent = 0.12 * press * (-(x.x / 0.5).powi(2)).exp() * (x.y + 0.6) / 0.6;
                return Vec3::new(0.0, -dent, 0.0);
            }
            let y = x.y - 0.25;
            let drop = -0.25 * (s / 0.3).min(1.0) - 0.12 * press;
            Vec3::new(0.16 * press * x.x, drop - 0.18 * press * y, 0.0)
        },
        |x, s| {
            let d = (x - Vec3::new(0.0, -0.05, 0.0)).norm();
            9e7 * bump(s, 0.3, 1.7) / (0.35 + d * d) * (1.2 + (4.0 * x.x).cos()) / 2.0
        },
        |x, s| 300.0 * bump(s, 0.3, 1.7) * (-(x.x / 0.3).powi(2) - (x.y / 0.1).powi(2)).exp(),
    );
}

/// Two bars of line cells on the x axis, a wave running through them.
pub fn line_bars(dir: &Path, frames: usize) {
    history(dir, "Wave in two bars", 400);
    let mut model = Model::default();
    model.bar(0.0, 1.0, 40, 0);
    model.bar(1.06, 1.0, 40, 1);
    model.frames(
        dir,
        frames,
        4e-4,
        |i, _, s| Vec3::new(if i <= 40 { 0.06 * (s * 4.0).min(1.0) } else { 0.0 }, 0.0, 0.0),
        |x, s| 5e7 * (-((x.x - 1.06).abs() / (0.05 + 0.6 * s)).powi(4)).exp() * (4.0 * s).min(1.0),
        |x, _| 100.0 * (-((x.x - 1.06) / 0.02).powi(2)).exp(),
    );
}

/// A ball, a drum and a tetrahedral ball on a rigid sheet: round sides, sharp rims, a surface without volume.
pub fn round_bodies(dir: &Path) {
    history(dir, "Round bodies", 50);
    let mut model = Model::default();
    let ball = Sphere::new(0.5, 6, 5).build().unwrap();
    model.mesh(&ball, Vec3::new(-1.2, 0.0, 0.5), 0);
    model.mesh(&Cylinder::new(0.45, 0.9, 6, 4, 8).build().unwrap(), Vec3::new(0.0, 0.0, 0.45), 1);
    let pointed = Sphere { cell: CellKind::Tet4, ..Sphere::new(0.5, 4, 3) }.build().unwrap();
    model.mesh(&pointed, Vec3::new(1.2, 0.0, 0.5), 2);
    let first = model.rest.len() as u32;
    let sheet = [[-2.0, -0.9], [2.0, -0.9], [2.0, 0.9], [-2.0, 0.9]];
    model.rest.extend(sheet.map(|[x, y]| Vec3::new(x, y, 0.0)));
    model.cells.push((CellKind::Quad4, vec![first, first + 1, first + 2, first + 3]));
    model.body.push(3);
    model.frames(
        dir,
        1,
        1.0,
        |_, _, _| Vec3::zeros(),
        |x, _| 1e6 * (1.0 - x.z).max(0.0).powi(3),
        |x, _| if x.z < 0.05 { 10.0 } else { 0.0 },
    );
}
