//! The shell obstacle course and what goes with it, on meshes of stated size. Values of other programs come from the
//! literature, those of this element on the same mesh from an independent prototype; both are named at each test.

#[path = "common/statics.rs"]
mod statics;

use carom_elements::element::Block;
use carom_elements::element::shell::{Points, Shell, ShellOptions};
use carom_elements::material::{Lame, Linear, StVenantKirchhoff};
use carom_elements::math::Vec3;
use carom_elements::mesh::shape::{Base, HollowSphere, RoundSheet, Tube};
use carom_elements::mesh::subdivision::{Mirror, Outside, Subdivision, fit};
use carom_elements::mesh::{CellKind, Cells, Mesh};
use nalgebra::DMatrix;
use statics::{Statics, push, read};
use std::sync::Arc;

fn triangles(mesh: &Mesh) -> Vec<[u32; 3]> {
    mesh.cells[0].nodes.chunks_exact(3).map(|t| [t[0], t[1], t[2]]).collect()
}

/// A lattice of `n` by `m` squares, each cut along one diagonal; corners by their place from 0 to 1.
fn lattice(n: u32, m: u32, lift: impl Fn(f64, f64) -> Vec3) -> Mesh {
    let at = |i: u32, j: u32| j * (n + 1) + i;
    let place = |k: u32| lift((k % (n + 1)) as f64 / n as f64, (k / (n + 1)) as f64 / m as f64);
    let nodes = (0..(n + 1) * (m + 1)).map(place).collect();
    let mut cells = Vec::new();
    for (i, j) in (0..m).flat_map(|j| (0..n).map(move |i| (i, j))) {
        let [a, b, c, d] = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
        cells.extend([a, b, d, b, c, d]);
    }
    Mesh { nodes, cells: vec![Cells { kind: CellKind::Tri3, nodes: cells }], ..Mesh::default() }
}

fn linear(young: f64, poisson: f64, thickness: f64) -> Linear {
    // ρ h = 1: lumped masses are areas
    Linear { lame: Lame::from_young(young, poisson), density: 1.0 / thickness }
}

fn near(what: &str, found: f64, wanted: f64, share: f64) {
    println!("{what}: {found:.6e}, wanted {wanted:.6e} ({:+.2} %)", 100.0 * (found / wanted - 1.0));
    assert!((found / wanted - 1.0).abs() <= share, "{what}: {found} instead of {wanted}");
}

/// Scordelis–Lo roof: R = 25, L = 50, ±40°, t = 0.25, E = 4.32e8, ν = 0, 90 per area, diaphragms. Drop at the middle of the
/// free edge: 0.3006 to 0.3024 in the literature; prototype on n × n: 0.2993 and 0.2877 (n = 16, one and three points),
/// 0.2999 and 0.2961 (n = 32).
#[test]
fn scordelis_lo_roof() {
    for (n, points, wanted) in [
        (16, Points::One, 0.2993),
        (16, Points::Three, 0.2877),
        (32, Points::One, 0.2999),
        (32, Points::Three, 0.2961),
    ] {
        let mut mesh = lattice(n, n, |a, s| {
            let angle = (80.0 * a - 40.0_f64).to_radians();
            Vec3::new(25.0 * angle.sin(), 50.0 * s, 25.0 * angle.cos())
        });
        let surface = Subdivision::new(&triangles(&mesh), &mesh.nodes, &Outside::default()).unwrap();
        assert!(fit(&surface, &mut mesh.nodes) < 1e-12);
        let limit = surface.limit();
        let law = linear(4.32e8, 0.0, 0.25);
        let options = ShellOptions { thickness: 0.25, points };
        let block = Shell::new(law, &options, Arc::new(surface), 0, &mesh.nodes);
        let row = n as usize + 1;
        let ends = (0..row).chain(row * n as usize..row * row);
        let mut held: Vec<_> = ends.flat_map(|k| [(k, 0), (k, 2)]).collect();
        held.push((row / 2, 1));
        let mut area = vec![0.0; mesh.nodes.len()];
        block.add_lumped_mass(&mesh.nodes, &mut area);
        let load: Vec<Vec3> = area.iter().map(|a| Vec3::new(0.0, 0.0, -90.0 * a)).collect();
        let u = Statics::new(&block, &mesh.nodes, held).linear(&load);
        let edge = row * (n as usize / 2);
        near(&format!("roof {n} {points:?}"), -read(&u, &limit[edge]).z, wanted, 0.02);
        if n == 32 && points == Points::One {
            near("roof, literature", -read(&u, &limit[edge]).z, 0.3012, 0.01);
        }
    }
}

/// Pinched cylinder: R = 300, L = 600, t = 3, E = 3e6, ν = 0.3, F = 1, diaphragms. Under the force 1.8248e-5; prototype with 64 by
/// 32 squares: 1.892e-5 and 1.758e-5.
#[test]
fn pinched_cylinder() {
    for (points, wanted) in [(Points::One, 1.892e-5), (Points::Three, 1.758e-5)] {
        let mut mesh = Tube { radius: 300.0, length: 600.0, around: 64, along: 32 }.build().unwrap();
        let surface = Subdivision::new(&triangles(&mesh), &mesh.nodes, &Outside::default()).unwrap();
        assert!(fit(&surface, &mut mesh.nodes) < 1e-12);
        let limit = surface.limit();
        let options = ShellOptions { thickness: 3.0, points };
        let block = Shell::new(linear(3e6, 0.3, 3.0), &options, Arc::new(surface), 0, &mesh.nodes);
        let ends = mesh.node_sets["zmin"].iter().chain(&mesh.node_sets["zmax"]);
        let mut held: Vec<_> = ends.flat_map(|&k| [(k as usize, 0), (k as usize, 1)]).collect();
        let (top, bottom) = (64 * 16, 64 * 16 + 32);
        held.push((top + 16, 2));
        let mut load = vec![Vec3::zeros(); mesh.nodes.len()];
        push(&mut load, &limit[top], -Vec3::x());
        push(&mut load, &limit[bottom], Vec3::x());
        let u = Statics::new(&block, &mesh.nodes, held).linear(&load);
        near(&format!("cylinder {points:?}"), -read(&u, &limit[top]).x, wanted, 0.02);
    }
}

/// Pinched hemisphere without a hole: R = 10, t = 0.04, E = 6.825e7, ν = 0.3, four forces F = 2 at the free equator. 0.0924 in the
/// literature; prototype with 256 and 1024 elements: 0.0924 and 0.0930 (one point), 0.0879 and 0.0923 (three). The next row of
/// vertices below the equator are independent ghosts.
#[test]
fn pinched_hemisphere() {
    for (refinements, points, wanted) in [
        (3, Points::One, 0.0924),
        (3, Points::Three, 0.0879),
        (4, Points::One, 0.0930),
        (4, Points::Three, 0.0923),
    ] {
        let mut mesh = HollowSphere { radius: 10.0, base: Base::Octahedron, refinements }.build().unwrap();
        let whole = Subdivision::new(&triangles(&mesh), &mesh.nodes, &Outside::default()).unwrap();
        // symmetric about the equator before and after
        let on = |x: &Vec3| x.z.abs() < 1e-9;
        let level: Vec<bool> = mesh.nodes.iter().map(on).collect();
        let upper: Vec<bool> = mesh.nodes.iter().map(|x| x.z > -1e-9).collect();
        assert!(fit(&whole, &mut mesh.nodes) < 1e-12);
        let (mut elements, mut ghosts) = (Vec::new(), Vec::new());
        for t in triangles(&mesh) {
            if t.iter().all(|&n| upper[n as usize]) {
                elements.push(t);
            } else if t.iter().any(|&n| level[n as usize]) {
                ghosts.push(t);
            }
        }
        // only the nodes that are used
        let mut new_id = vec![u32::MAX; mesh.nodes.len()];
        let mut nodes = Vec::new();
        for n in elements.iter_mut().chain(&mut ghosts).flatten() {
            if new_id[*n as usize] == u32::MAX {
                new_id[*n as usize] = nodes.len() as u32;
                nodes.push(mesh.nodes[*n as usize]);
            }
            *n = new_id[*n as usize];
        }
        let surface = Subdivision::new(&elements, &nodes, &Outside { ghosts, mirrors: vec![] }).unwrap();
        let limit = surface.limit();
        let options = ShellOptions { thickness: 0.04, points };
        let block = Shell::new(linear(6.825e7, 0.3, 0.04), &options, Arc::new(surface), 0, &nodes);
        let at = |x: Vec3| {
            let far = |n: &usize| (nodes[*n].normalize() - x).norm();
            (0..nodes.len()).min_by(|a, b| far(a).total_cmp(&far(b))).unwrap()
        };
        let mut load = vec![Vec3::zeros(); nodes.len()];
        for (x, force) in [(Vec3::x(), 2.0), (-Vec3::x(), 2.0), (Vec3::y(), -2.0), (-Vec3::y(), -2.0)] {
            push(&mut load, &limit[at(x)], force * x);
        }
        let mut statics = Statics::new(&block, &nodes, Vec::new());
        statics.springs = 1e-11;
        let u = statics.linear(&load);
        near(
            &format!("hemisphere {refinements} {points:?}"),
            read(&u, &limit[at(Vec3::x())]).x,
            wanted,
            0.02,
        );
    }
}

/// Free circular plate, ν = 0.3: λ² = ωR²√(ρh/D) = 5.358, 9.003, 12.44 (Leissa); prototype with 864 elements, lumped mass and
/// dependent ghosts: 5.352, 8.846, 12.26 to 12.34.
#[test]
fn free_plate_frequencies() {
    let mesh = RoundSheet { radius: 1.0, rings: 12 }.build().unwrap();
    assert_eq!(mesh.cells[0].len(), 864);
    let surface = Subdivision::new(&triangles(&mesh), &mesh.nodes, &Outside::default()).unwrap();
    let h = 0.01_f64;
    let law = linear(12.0 * (1.0 - 0.09) / h.powi(3), 0.3, h); // D = 1, ρh = 1
    let options = ShellOptions { thickness: h, points: Points::One };
    let block = Shell::new(law, &options, Arc::new(surface), 0, &mesh.nodes);
    let n = mesh.nodes.len();
    let mut mass = vec![0.0; n];
    block.add_lumped_mass(&mesh.nodes, &mut mass);
    let mut k = DMatrix::<f64>::zeros(n, n);
    let positions = carom_elements::element::Positions { reference: &mesh.nodes, current: &mesh.nodes };
    for e in 0..block.len() {
        let stencil = block.stencil(e);
        let size = 3 * stencil.len();
        let mut out = vec![0.0; size * size];
        block.tangent(e, positions, &mut out);
        for (i, &a) in stencil.iter().enumerate() {
            for (j, &b) in stencil.iter().enumerate() {
                k[(a as usize, b as usize)] +=
                    out[(3 * i + 2) * size + 3 * j + 2] / (mass[a as usize] * mass[b as usize]).sqrt();
            }
        }
    }
    let mut values: Vec<f64> = k.symmetric_eigenvalues().iter().copied().collect();
    values.sort_by(f64::total_cmp);
    assert!(values[2].abs() < 1e-6 * values[3], "three rigid motions: {:?}", &values[..5]);
    // the first and third belong to two modes each
    for (mode, wanted) in [(3, 5.352), (5, 8.846), (6, 12.30)] {
        near("plate λ²", values[mode].sqrt(), wanted, 0.02);
    }
}

/// Pinched hemisphere with an 18° hole under large deformation (Sze, Liu & Lo 2004): t = 0.04, P up to 400 for each of four forces in
/// the whole model. A quarter with two planes of symmetry and independent ghosts at both free edges; with 16, 24 and 32 cells along
/// each side the inward displacement at full load is 3.5, 2.1 and 1.6 % too large (with three points −1.6 and −0.8 % at 24 and 32).
#[test]
fn hemisphere_with_a_hole_under_large_deformation() {
    let n = 32u32;
    // rows beyond both edges, so that the fitted surface there is that of the sphere; one of them stays as ghosts. They end below
    // the pole.
    let more = 6u32;
    let step = 72.0 / n as f64;
    let rows = n + 2 * more;
    let mut wide = lattice(n, rows, |a, s| {
        let (around, up) = ((90.0 * a).to_radians(), ((s * rows as f64 - more as f64) * step).to_radians());
        10.0 * Vec3::new(around.cos() * up.cos(), around.sin() * up.cos(), up.sin())
    });
    let mirrors = vec![
        Mirror { point: Vec3::zeros(), normal: Vec3::y() },
        Mirror { point: Vec3::zeros(), normal: Vec3::x() },
    ];
    let outside = Outside { ghosts: vec![], mirrors: mirrors.clone() };
    let whole = Subdivision::new(&triangles(&wide), &wide.nodes, &outside).unwrap();
    assert!(fit(&whole, &mut wide.nodes) < 1e-12);
    let row_of = |node: u32| node / (n + 1);
    let (low, high) = (more, more + n);
    let inside = |t: &[u32; 3], more: u32| t.iter().all(|&v| (low - more..=high + more).contains(&row_of(v)));
    let first = (low - 1) * (n + 1);
    let shift = |t: [u32; 3]| t.map(|v| v - first);
    let all = triangles(&wide);
    let elements: Vec<_> = all.iter().filter(|t| inside(t, 0)).map(|&t| shift(t)).collect();
    let ghosts: Vec<_> = all.iter().filter(|t| !inside(t, 0) && inside(t, 1)).map(|&t| shift(t)).collect();
    let nodes: Vec<Vec3> = wide.nodes[first as usize..((high + 2) * (n + 1)) as usize].to_vec();
    let surface = Subdivision::new(&elements, &nodes, &Outside { ghosts, mirrors }).unwrap();
    let limit = surface.limit();
    let law = StVenantKirchhoff { lame: Lame::from_young(6.825e7, 0.3), density: 1.0 };
    let block =
        Shell::new(law, &ShellOptions { thickness: 0.04, points: Points::One }, Arc::new(surface), 0, &nodes);
    let per_row = (n + 1) as usize;
    let mut held: Vec<(usize, usize)> = Vec::new();
    for row in 0..nodes.len() / per_row {
        held.push((row * per_row, 1));
        held.push((row * per_row + n as usize, 0));
    }
    // a support that carries nothing: forces lie in the plane
    held.push((per_row * (n as usize / 2), 2));
    let (a, b) = (per_row, per_row + n as usize); // on x and on y, in the first row after the ghosts
    let statics = Statics::new(&block, &nodes, held);
    let mut current = nodes.clone();
    let table = [
        (0.05, 0.855, 0.955),
        (0.1, 1.499, 1.840),
        (0.2, 2.321, 3.261),
        (0.4, 3.158, 5.196),
        (0.6, 3.598, 6.497),
        (0.8, 3.875, 7.448),
        (1.0, 4.067, 8.178),
    ];
    let mut steps = 0;
    for (share, outwards, inwards) in table {
        let mut load = vec![Vec3::zeros(); nodes.len()];
        // a quarter carries half of each force; images push the same way
        let force = 0.5 * 400.0 * share;
        push(&mut load, &limit[a], Vec3::x() * -force);
        push(&mut load, &limit[b], Vec3::y() * force);
        steps += statics.newton(&mut current, &load, 0.5);
        let u: Vec<Vec3> = current.iter().zip(&nodes).map(|(x, y)| x - y).collect();
        near(&format!("outwards at {share}"), read(&u, &limit[b]).y, outwards, 0.02);
        near(&format!("inwards at {share}"), -read(&u, &limit[a]).x, inwards, 0.02);
    }
    println!("{steps} iterations");
}

/// Pull-out of an open-ended cylinder (Sze, Liu & Lo 2004): R = 4.953, L = 10.35, t = 0.094, E = 10.5e6, ν = 0.3125, two opposite forces of
/// up to 40 000. An eighth with three planes of symmetry, independent ghosts at the free end. A under the force, B at 90° in
/// the middle, C at 90° at the free end. The rows between 0.5 and 0.55 hold a snap and are left out.
#[test]
fn a_cylinder_is_pulled_out() {
    let (n, m) = (32u32, 24u32);
    let more = 6u32;
    let (radius, half) = (4.953, 0.5 * 10.35);
    let rows = m + more;
    let mut wide = lattice(n, rows, |a, s| {
        let angle = (90.0 * a).to_radians();
        Vec3::new(radius * angle.sin(), half * s * rows as f64 / m as f64, radius * angle.cos())
    });
    let mirrors: Vec<Mirror> =
        [Vec3::x(), Vec3::y(), Vec3::z()].map(|normal| Mirror { point: Vec3::zeros(), normal }).to_vec();
    let outside = Outside { ghosts: vec![], mirrors: mirrors.clone() };
    let whole = Subdivision::new(&triangles(&wide), &wide.nodes, &outside).unwrap();
    assert!(fit(&whole, &mut wide.nodes) < 1e-12);
    let reach = |t: &[u32; 3]| t.iter().map(|v| v / (n + 1)).max().unwrap();
    let all = triangles(&wide);
    let elements: Vec<_> = all.iter().copied().filter(|t| reach(t) <= m).collect();
    let ghosts: Vec<_> = all.iter().copied().filter(|t| reach(t) == m + 1).collect();
    let nodes = wide.nodes[..((m + 2) * (n + 1)) as usize].to_vec();
    let surface = Subdivision::new(&elements, &nodes, &Outside { ghosts, mirrors }).unwrap();
    let limit = surface.limit();
    let law = StVenantKirchhoff { lame: Lame::from_young(10.5e6, 0.3125), density: 1.0 };
    let options = ShellOptions { thickness: 0.094, points: Points::One };
    let block = Shell::new(law, &options, Arc::new(surface), 0, &nodes);
    let per_row = (n + 1) as usize;
    let mut held: Vec<(usize, usize)> = (0..per_row).map(|k| (k, 1)).collect();
    for row in 0..nodes.len() / per_row {
        held.push((row * per_row, 0));
        held.push((row * per_row + n as usize, 2));
    }
    let (a, b, c) = (0, n as usize, per_row * m as usize + n as usize);
    let statics = Statics::new(&block, &nodes, held);
    let mut current = nodes.clone();
    let table = [
        (0.025, 0.819, 0.864, 0.872),
        (0.05, 1.260, 1.471, 1.493),
        (0.1, 1.707, 2.217, 2.293),
        (0.2, 2.079, 2.904, 3.106),
        (0.3, 2.257, 3.227, 3.452),
        (0.4, 2.376, 3.443, 3.632),
        (0.6, 2.618, 4.274, 3.452),
        (0.8, 2.710, 4.455, 3.332),
        (1.0, 2.768, 4.551, 3.269),
    ];
    for (share, at_a, at_b, at_c) in table {
        let mut load = vec![Vec3::zeros(); nodes.len()];
        // A lies in two of the planes: an eighth carries a quarter of the force
        push(&mut load, &limit[a], Vec3::z() * (0.25 * 40_000.0 * share));
        let iterations = statics.newton(&mut current, &load, 0.3);
        let u: Vec<Vec3> = current.iter().zip(&nodes).map(|(x, y)| x - y).collect();
        println!("{iterations} iterations");
        near(&format!("A at {share}"), read(&u, &limit[a]).z, at_a, 0.02);
        near(&format!("B at {share}"), -read(&u, &limit[b]).x, at_b, 0.02);
        near(&format!("C at {share}"), -read(&u, &limit[c]).x, at_c, 0.02);
    }
}
