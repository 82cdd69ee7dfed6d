//! Faulty surfaces: every search measures what is left of them like brute force, finds contact beside the fault,
//! and `check` names the place.

use super::bench_scenes::box_surface;
use super::brute::Brute;
use super::cells::CellSearch;
use super::check::{Problem, check};
use super::classic::Classic;
use super::scene::{Attributes, BodyInput, FacetKind, Rules, Scene};
use super::search::{PairSearch, Positions, Query, SearchError};
use super::three_stage::ThreeStage;
use crate::math::Vec3;

fn searches() -> [(&'static str, Box<dyn PairSearch>); 5] {
    [
        ("brute force", Box::new(Brute::new(false))),
        ("brute force with pretest", Box::new(Brute::new(true))),
        ("three-stage", Box::new(ThreeStage::new())),
        ("classic", Box::new(Classic::new(true))),
        ("cells", Box::new(CellSearch::new())),
    ]
}

/// A cube of 3³ cells with its faulty copy below it: the fault is made by `spoil`, in the facets or the nodes of the
/// lower cube. Returns what `check` says. The four inner nodes under the upper cube face sound facets whatever the
/// fault (it is kept away from them), 0.01 below.
fn spoilt(split: bool, spoil: impl Fn(&mut Vec<(FacetKind, [u32; 4])>, &mut Vec<Vec3>)) -> Vec<Problem> {
    let (cube, quads) = box_surface([3, 3, 3], [1.0; 3]);
    let mut x = cube.clone();
    x.extend(cube.iter().map(|p| p + Vec3::new(0.1, 0.1, 1.01)));
    let n = cube.len() as u32;
    let upper: Vec<_> = quads.iter().map(|q| q.map(|k| k + n)).collect();
    let mut lower: Vec<_> = quads.iter().map(|&q| (FacetKind::Quad, q)).collect();
    spoil(&mut lower, &mut x);
    let bodies = [
        BodyInput { name: "spoilt".into(), facets: lower, attributes: Attributes::default() },
        BodyInput::of_quads("sound", &upper, Attributes::default()),
    ];
    let scene = Scene::new(&bodies, &x, Rules { split_quads: split, ..Rules::default() });
    let query = Query { face_face: true, ..Query::all(0.05) };

    let mut all = searches();
    for (name, search) in &mut all {
        search.find(&scene, &x, None, &query).unwrap_or_else(|e| panic!("{name}: {e}"));
        // Again, from memory, and swept.
        search.find(&scene, &x, None, &query).unwrap_or_else(|e| panic!("{name}: {e}"));
    }
    let [(_, brute), others @ ..] = &all;
    for (name, other) in others {
        assert_eq!(brute.vertex_face(), other.vertex_face(), "{name}");
        assert_eq!(brute.edge_edge(), other.edge_edge(), "{name}");
    }
    let inner = |k: u32| {
        let p = x[k as usize] - Vec3::new(0.1, 0.1, 1.01);
        k >= n && p.z == 0.0 && [p.x, p.y].iter().all(|v| (0.3..0.7).contains(v))
    };
    let found: Vec<_> = brute.vertex_face().iter().filter(|r| inner(r.node)).collect();
    assert_eq!(found.len(), 4, "{found:?}");
    for r in found {
        assert!((r.gap - 0.01).abs() < 1e-12 && (r.normal - Vec3::z()).norm() < 1e-12, "{r:?}");
    }
    for r in brute.vertex_face() {
        assert!(r.gap.is_finite() && r.normal.iter().chain(&r.weights).all(|v| v.is_finite()), "{r:?}");
    }
    for (name, search) in &mut all {
        let end: Vec<Vec3> = x.iter().map(|p| p + Vec3::new(0.0, 0.0, -0.02)).collect();
        search.gather(&scene, Positions::swept(&x, &end), &query).unwrap_or_else(|e| panic!("{name}: {e}"));
    }
    check(&scene, &x)
}

/// A corner of the lower cube far from contact.
fn corner(x: &[Vec3]) -> u32 {
    x.iter().position(|p| *p == Vec3::zeros()).expect("a corner at the origin") as u32
}

#[test]
fn facets_without_area_are_named_and_hide_no_contact() {
    for split in [false, true] {
        // On a line, along an edge of the bottom; beside the sound facets.
        let found = spoilt(split, |facets, x| {
            let on_edge: Vec<u32> = (0..x.len() as u32 / 2)
                .filter(|&k| x[k as usize].y == 0.0 && x[k as usize].z == 0.0)
                .collect();
            facets.push((FacetKind::Triangle, [on_edge[0], on_edge[1], on_edge[2], on_edge[2]]));
        });
        assert!(found.iter().any(|p| matches!(p, Problem::NoArea { facet: 54, .. })), "{found:?}");

        // All corners of a facet in one place.
        let found = spoilt(split, |facets, x| {
            let at = facets.iter().position(|f| f.1.contains(&corner(x))).expect("it has facets");
            let corners = facets[at].1.map(|k| k as usize);
            corners.iter().for_each(|&k| x[k] = x[corners[0]]);
        });
        assert!(found.iter().any(|p| matches!(p, Problem::NoArea { .. })), "{found:?}");
        assert!(found.iter().any(|p| matches!(p, Problem::SamePlace { .. })), "{found:?}");
    }
}

#[test]
fn doubled_nodes_are_named_and_hide_no_contact() {
    for split in [false, true] {
        // One facet of the corner gets a node of its own there: the surface is open along two edges.
        let found = spoilt(split, |facets, x| {
            let old = corner(x);
            let new = x.len() as u32;
            x.push(x[old as usize]);
            let facet = facets.iter_mut().find(|f| f.1.contains(&old)).expect("it has facets");
            facet.1 = facet.1.map(|k| if k == old { new } else { k });
        });
        assert!(found.iter().any(|p| matches!(p, Problem::SamePlace { .. })), "{found:?}");
        assert!(found.iter().any(|p| matches!(p, Problem::Open { .. })), "{found:?}");

        // A facet that names a node twice.
        let found = spoilt(split, |facets, x| {
            let old = corner(x);
            let facet = facets.iter_mut().find(|f| f.1.contains(&old)).expect("it has facets");
            facet.1[1] = facet.1[0];
        });
        assert!(found.iter().any(|p| matches!(p, Problem::Unusable { .. })), "{found:?}");
    }
}

#[test]
fn edges_of_three_facets_are_named_and_hide_no_contact() {
    for split in [false, true] {
        // A fin on an edge of the bottom.
        let found = spoilt(split, |facets, x| {
            let old = corner(x);
            let facet = facets.iter().find(|f| f.1.contains(&old)).expect("it has facets").1;
            let tip = x.len() as u32;
            x.push(Vec3::new(-0.3, -0.3, -0.3));
            facets.push((FacetKind::Triangle, [facet[0], facet[1], tip, tip]));
        });
        assert!(found.iter().any(|p| matches!(p, Problem::Crowded { facets: 3, .. })), "{found:?}");

        // The same facet twice.
        let found = spoilt(split, |facets, x| {
            let old = corner(x);
            facets.push(*facets.iter().find(|f| f.1.contains(&old)).expect("it has facets"));
        });
        assert!(found.iter().any(|p| matches!(p, Problem::Crowded { .. })), "{found:?}");
    }
}

#[test]
fn open_surfaces_are_named_and_hide_no_contact() {
    for split in [false, true] {
        let found = spoilt(split, |facets, x| {
            let old = corner(x);
            facets.retain(|f| !f.1.contains(&old));
        });
        assert!(found.iter().any(|p| matches!(p, Problem::Open { edges: 6, .. })), "{found:?}");
    }
}

/// In every search, at the start of a step and at its end, not a number and infinite.
#[test]
fn a_position_that_is_nowhere_is_an_error_that_names_the_node() {
    let (cube, quads) = box_surface([1, 1, 1], [1.0; 3]);
    let mut x = cube.clone();
    x.extend(cube.iter().map(|p| p + Vec3::z() * 1.01));
    let upper: Vec<_> = quads.iter().map(|q| q.map(|k| k + 8)).collect();
    let bodies = [
        BodyInput::of_quads("lower", &quads, Attributes::default()),
        BodyInput::of_quads("upper", &upper, Attributes::default()),
    ];
    let scene = Scene::new(&bodies, &x, Rules::default());
    let query = Query::all(0.05);
    for (name, mut search) in searches() {
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let mut lost = x.clone();
            lost[11].y = value;
            let expected = SearchError::NotFinite { body: "upper".into(), node: 11 };
            assert_eq!(search.find(&scene, &lost, None, &query), Err(expected.clone()), "{name}");
            for (start, end) in [(&lost, &x), (&x, &lost)] {
                let found = search.gather(&scene, Positions::swept(start, end), &query);
                assert_eq!(found, Err(expected.clone()), "{name}");
            }
        }
        assert_eq!(search.find(&scene, &x, None, &query), Ok(()));
        assert_eq!(search.vertex_face().len(), 8, "{name}");
    }
}
