//! All searches against brute force, on scenes made to break them.

use super::bench_scenes::{self, box_surface};
use super::brute::Brute;
use super::cells::CellSearch;
use super::classic::Classic;
use super::scene::{Attributes, BodyInput, BodyKind, Rules, Scene};
use super::search::{PairSearch, Positions, Query, SearchError};
use super::three_stage::{ThreeStage, Way, Ways};
use crate::math::Vec3;
use nalgebra::Rotation3;
use rayon::prelude::*;
use scenes::{Case, dice_of, random_case};

mod scenes;
mod signs;

fn find(search: &mut dyn PairSearch, case: &Case, x: &[Vec3], before: Option<&[Vec3]>) {
    search.find(&case.scene, x, before, &case.query).expect("positions are finite");
}

fn assert_same(seed: u64, what: &str, one: &dyn PairSearch, other: &dyn PairSearch) {
    assert_eq!(one.vertex_face(), other.vertex_face(), "scene {seed}: {what} differs in nodes on faces");
    assert_eq!(one.edge_edge(), other.edge_edge(), "scene {seed}: {what} differs in edges on edges");
}

/// The records are a function of the positions: every search gives the bytes of brute force, on ten
/// thousand scenes of soups, boxes, chains, bars, needles, sheets, huge and tiny, near and far.
#[test]
fn every_search_finds_what_brute_force_finds() {
    let found: usize = (0..10_000u64)
        .into_par_iter()
        .map(|seed| {
            let case = random_case(seed);
            let mut brute = Brute::new(false);
            find(&mut brute, &case, &case.x, None);
            for (name, mut other) in [
                ("brute force with pretest", Box::new(Brute::new(true)) as Box<dyn PairSearch>),
                ("three-stage", Box::new(ThreeStage::new())),
                ("classic", Box::new(Classic::new(seed % 2 == 0))),
                ("cells", Box::new(CellSearch::new())),
            ] {
                find(other.as_mut(), &case, &case.x, None);
                assert_same(seed, name, &brute, other.as_ref());
            }
            // Who asks for faces gets trees; nobody else does, of small bodies.
            let (mut by_axes, mut case) = (ThreeStage::new(), case);
            case.query.face_face = false;
            find(&mut by_axes, &case, &case.x, None);
            assert_same(seed, "three-stage by axes", &brute, &by_axes);
            brute.vertex_face().len() + brute.edge_edge().len()
        })
        .sum();
    // The scenes are not empty.
    assert!(found > 100_000, "{found}");
}

/// Where only what overlaps is asked for, that is all there, as brute force has it: the shortcuts for what is open leave nothing else out.
#[test]
fn what_overlaps_is_found_when_nothing_else_is_asked_for() {
    let counts: Vec<[usize; 2]> = (0..10_000u64)
        .into_par_iter()
        .map(|seed| {
            let mut case = random_case(seed);
            let open = if seed % 3 == 0 { 0.0 } else { dice_of(seed).unit() * case.query.reach };
            let mut brute = Brute::new(false);
            find(&mut brute, &case, &case.x, None);
            if case.scene.bodies.iter().any(|b| b.attributes.two_sided()) {
                return [0, 0];
            }
            (case.query.overlaps, case.query.face_face) = (Some(open), seed % 4 == 0);
            let mut search = ThreeStage::new();
            find(&mut search, &case, &case.x, None);
            let overlapping = |s: &dyn PairSearch| {
                let nodes: Vec<_> = s.vertex_face().iter().copied().filter(|r| r.gap <= open).collect();
                let edges: Vec<_> = s.edge_edge().iter().copied().filter(|r| r.gap <= 0.0).collect();
                (nodes, edges)
            };
            let wanted = overlapping(&brute);
            assert_eq!(wanted, overlapping(&search), "scene {seed}");
            let all = |s: &dyn PairSearch| s.vertex_face().len() + s.edge_edge().len();
            [wanted.0.len() + wanted.1.len(), all(&brute) - all(&search)]
        })
        .collect();
    let [wanted, left_out] = [0, 1].map(|k| counts.iter().map(|c| c[k]).sum::<usize>());
    assert!(wanted > 20_000 && left_out > 20_000, "{wanted} wanted, {left_out} left out");
}

/// Searches that live through the motion, one of which lets candidates sleep, and one that is new at every step agree with brute force.
#[test]
fn after_long_motion_the_search_still_finds_everything() {
    let counts: Vec<[u64; 2]> = (0..100u64)
        .into_par_iter()
        .map(|seed| {
            let mut case = random_case(20_000 + seed);
            case.query.face_face = seed % 2 == 0;
            let mut dice = dice_of(seed);
            let (mut x, mut before) = (case.x.clone(), case.x.clone());
            let drift: Vec<Vec3> = case.scene.bodies.iter().map(|_| 0.02 * dice.point(0.5)).collect();
            let rough = 10f64.powf(-5.0 + 3.0 * dice.unit());
            let mut old: [Box<dyn PairSearch>; 4] = [
                Box::new(Brute::new(false)),
                Box::new(ThreeStage::new()),
                Box::new(CellSearch::new()),
                Box::new(Classic::new(true)),
            ];
            let mut drowsy = ThreeStage::new();
            drowsy.drowsy = true;
            let (mut kept, mut asleep) = (0, 0);
            for step in 0..50 {
                before.copy_from_slice(&x);
                for (k, p) in x.iter_mut().enumerate() {
                    let flat = if case.x[k].z == 0.0 { 0.0 } else { 1.0 };
                    let body = case.scene.node_body[k] as usize;
                    let common = drift.get(body).copied().unwrap_or_default();
                    let calm = if step % 20 < 5 { 0.0 } else { 1.0 };
                    let d = calm * (common + rough * dice.point(0.5));
                    *p += Vec3::new(d.x, d.y, flat * d.z);
                }
                for search in &mut old {
                    find(search.as_mut(), &case, &x, Some(&before));
                }
                find(&mut drowsy, &case, &x, Some(&before));
                assert_same(seed, "a search with sleepers", old[0].as_ref(), &drowsy);
                let [all, awake] = [drowsy.candidates(), drowsy.awake()].map(|c| c.count());
                asleep += (all.0 - awake.0 + all.1 - awake.1) as u64;
                let [brute, others @ ..] = &old;
                for other in others {
                    assert_same(seed, "an old search", brute.as_ref(), other.as_ref());
                }
                kept += others[0].stats().body_pairs_kept;
                // Sides remembered from earlier steps are part of the state; without shells there are none.
                if !case.scene.bodies.iter().any(|b| b.attributes.two_sided()) {
                    let mut new = ThreeStage::new();
                    find(&mut new, &case, &x, Some(&before));
                    assert_same(seed, "a new search", brute.as_ref(), &new);
                }
            }
            [kept, asleep]
        })
        .collect();
    let [kept, asleep] = [0, 1].map(|k| counts.iter().map(|c| c[k]).sum::<u64>());
    assert!(kept > 1000 && asleep > 1000, "lists were kept {kept} times, {asleep} candidates slept");
}

/// Bodies that sleep miss nothing: cubes that tumble and breathe come together, and whatever is nearer than the margin is found
/// as if everything were measured at every step. (As long as nothing is so deep that nobody looks for it.)
#[test]
fn who_sleeps_wakes_in_time() {
    const REACH: f64 = 0.2;
    const MARGIN: f64 = 0.01;
    let (cube, quads) = box_surface([2, 2, 2], [1.0; 3]);
    let count = cube.len() as u32;
    let triangles = |first: u32| -> Vec<[u32; 3]> {
        quads
            .iter()
            .flat_map(|q| [[q[0], q[1], q[2]], [q[0], q[2], q[3]]])
            .map(|t| t.map(|k| first + k))
            .collect()
    };
    let bodies: Vec<_> = (0..8)
        .map(|b| BodyInput::of_triangles("cube", &triangles(b * count), Attributes::default()))
        .collect();
    let found: Vec<[usize; 2]> = (0..40u64)
        .into_par_iter()
        .map(|seed| {
            let mut dice = dice_of(70_000 + seed);
            let motion: Vec<_> = (0..8u32)
                .map(|b| {
                    let corner = [b & 1, b >> 1 & 1, b >> 2].map(|s| f64::from(s) - 0.5);
                    let at = 2.0 * Vec3::from(corner) + 0.1 * dice.point(1.0);
                    (at, -0.008 * at + 0.004 * dice.point(1.0), dice.point(1.0), 0.01 * dice.point(1.0))
                })
                .collect();
            let place = |step: f64| -> Vec<Vec3> {
                let of_body = |&(at, drift, turned, turns): &(Vec3, Vec3, Vec3, Vec3)| {
                    let turn = Rotation3::from_scaled_axis(turned + step * turns);
                    let breath = 1.0 + 0.02 * (0.9 * step).sin();
                    cube.iter().map(move |p| at + step * drift + turn * (breath * (p - Vec3::repeat(0.5))))
                };
                motion.iter().flat_map(of_body).collect()
            };
            let mut x = place(0.0);
            let scene = Scene::new(&bodies, &x, Rules::default());
            let query = Query::all(REACH);
            // Every second time the sleepers hear of overlaps alone.
            let overlaps = (seed % 2 == 1).then_some(MARGIN);
            let (mut brute, mut sleeper) = (Brute::new(false), ThreeStage::new());
            let (mut asleep, mut touched) = (0, 0);
            for step in 1..150 {
                let before = std::mem::replace(&mut x, place(f64::from(step)));
                let of_body = motion.iter().enumerate().map(|(b, (_, drift, ..))| {
                    let own = b * cube.len()..(b + 1) * cube.len();
                    let deviation = own.map(|k| (x[k] - before[k] - drift).norm()).fold(0.0, f64::max);
                    Way { displacement: *drift, deviation, pushed: 0.0 }
                });
                sleeper.ways =
                    Some(Ways { at_rest: 0.5 * REACH, margin: MARGIN, of_body: of_body.collect() });
                brute.find(&scene, &x, Some(&before), &query).unwrap();
                sleeper.find(&scene, &x, Some(&before), &Query { overlaps, ..query }).unwrap();
                let open = if overlaps.is_some() { 0.0 } else { MARGIN };
                let near = |s: &dyn PairSearch| {
                    let nodes: Vec<_> = s.vertex_face().iter().copied().filter(|r| r.gap < MARGIN).collect();
                    // Lines on the far side of a rim cross others at a distance that says nothing of an overlap.
                    let edges = s.edge_edge().iter().copied();
                    let edges: Vec<_> = edges.filter(|r| r.gap <= open && r.gap.abs() < MARGIN).collect();
                    (nodes, edges)
                };
                let deepest = brute.vertex_face().iter().map(|r| -r.gap).fold(0.0, f64::max);
                if brute.stats().too_deep > 0 || deepest > 0.4 * REACH {
                    break;
                }
                assert_eq!(near(&brute), near(&sleeper), "scene {seed}, step {step}");
                asleep += sleeper.sleeping();
                touched += near(&brute).0.len();
            }
            [asleep, touched]
        })
        .collect();
    let [asleep, touched] = [0, 1].map(|k| found.iter().map(|f| f[k]).sum::<usize>());
    assert!(asleep > 1000 && touched > 100, "{asleep} pairs of bodies slept, {touched} nodes touched");
}

/// Whatever comes within reach at one of many times on the way is among the swept candidates.
#[test]
fn swept_candidates_hold_every_pair_met_on_the_way() {
    (0..300u64).into_par_iter().for_each(|seed| {
        let mut case = random_case(40_000 + seed);
        case.query.reach = case.query.reach.min(0.05);
        let mut dice = dice_of(seed);
        let start = case.x.clone();
        let end: Vec<Vec3> = start
            .iter()
            .map(|p| {
                let d = 0.6 * dice.point(0.5);
                p + if p.z == 0.0 { Vec3::new(d.x, d.y, 0.0) } else { d }
            })
            .collect();
        let mut searches: [Box<dyn PairSearch>; 3] =
            [Box::new(ThreeStage::new()), Box::new(CellSearch::new()), Box::new(Classic::new(false))];
        let lists: Vec<_> = searches
            .iter_mut()
            .map(|s| {
                // Twice: the second time from its memory.
                for _ in 0..2 {
                    s.gather(&case.scene, Positions::swept(&start, &end), &case.query).unwrap();
                }
                let c = s.candidates();
                let mut vf: Vec<_> =
                    c.groups.iter().flat_map(|g| g.vertex_face.of(&c.vertex_face).to_vec()).collect();
                let mut ee: Vec<_> =
                    c.groups.iter().flat_map(|g| g.edge_edge.of(&c.edge_edge).to_vec()).collect();
                vf.sort_unstable();
                ee.sort_unstable();
                (vf, ee)
            })
            .collect();
        let mut brute = Brute::new(false);
        for step in 0..=8 {
            let t = f64::from(step) / 8.0;
            let x: Vec<Vec3> = start.iter().zip(&end).map(|(p, q)| p + t * (q - p)).collect();
            find(&mut brute, &case, &x, None);
            for (vf, ee) in &lists {
                for r in brute.vertex_face() {
                    assert!(vf.binary_search(&[r.node, r.face]).is_ok(), "scene {seed} at {t}: {r:?}");
                }
                for r in brute.edge_edge() {
                    assert!(ee.binary_search(&[r.first, r.second]).is_ok(), "scene {seed} at {t}: {r:?}");
                }
            }
        }
    });
}

/// What is measured at the end of a way, among the candidates of the way, are the records of a search there.
#[test]
fn the_end_of_a_way_is_measured_as_a_place() {
    let found: Vec<usize> = (0..300u64)
        .into_par_iter()
        .map(|seed| {
            let case = random_case(45_000 + seed);
            let mut dice = dice_of(45_000 + seed);
            let move_on = |p: &Vec3| {
                let d = 0.1 * dice.point(0.5);
                p + if p.z == 0.0 { Vec3::new(d.x, d.y, 0.0) } else { d }
            };
            let end: Vec<Vec3> = case.x.iter().map(move_on).collect();
            let (mut brute, mut way) = (Brute::new(false), ThreeStage::new());
            find(&mut brute, &case, &end, Some(&case.x));
            way.gather(&case.scene, Positions::swept(&case.x, &end), &case.query).unwrap();
            way.measure_end(&case.scene, &end, Some(&case.x), &case.query);
            assert_eq!(brute.vertex_face(), way.vertex_face(), "scene {seed}");
            assert_eq!(brute.edge_edge(), way.edge_edge(), "scene {seed}");
            way.vertex_face().len() + way.edge_edge().len()
        })
        .collect();
    let found: usize = found.iter().sum();
    assert!(found > 1000, "{found} records");
}

/// Face–face candidates: the same set from the trees and from the cells' tight superset, and nothing that
/// overlaps is missing.
#[test]
fn near_faces_are_candidates() {
    for seed in 0..200 {
        let case = random_case(60_000 + seed);
        let (mut trees, mut brute) = (ThreeStage::new(), Brute::new(false));
        for s in [&mut trees as &mut dyn PairSearch, &mut brute] {
            s.gather(&case.scene, Positions::now(&case.x), &case.query).unwrap();
        }
        let list = |s: &dyn PairSearch| {
            let c = s.candidates();
            let all = c.groups.iter().flat_map(|g| g.face_face.of(&c.face_face).to_vec());
            let mut all: Vec<[u32; 2]> = all.collect();
            all.sort_unstable();
            all
        };
        let (fast, all) = (list(&trees), list(&brute));
        let bounds = |f: u32| {
            let mut b = super::octree::Aabb::EMPTY;
            for &k in case.scene.facets[f as usize].corners() {
                let p = case.x[k as usize];
                b.add(&[p.x, p.y, p.z]);
            }
            b.grown(0.5 * case.query.reach)
        };
        for pair in all {
            if bounds(pair[0]).meets(&bounds(pair[1])) {
                assert!(fast.binary_search(&pair).is_ok(), "scene {seed}: {pair:?}");
            }
        }
    }
}

/// Two bars one above the other, the lower one deformed more and more; returns how many trees were built
/// anew. At every step the refitted search, a new one and brute force must agree.
fn deform_a_bar(steps: u32, deform: impl Fn(Vec3, f64) -> Vec3) -> u64 {
    let (points, quads) = box_surface([24, 3, 3], [8.0, 1.0, 1.0]);
    let n = points.len() as u32;
    let (mut x, mut bodies) = (points.clone(), Vec::new());
    bodies.push(BodyInput::of_quads("deformed", &quads, Attributes::default()));
    let second: Vec<_> = quads.iter().map(|q| q.map(|k| k + n)).collect();
    x.extend(points.iter().map(|p| p + Vec3::new(0.05, 0.03, 1.02)));
    bodies.push(BodyInput::of_quads("straight", &second, Attributes::default()));
    let reference = x.clone();
    let scene = Scene::new(&bodies, &reference, Rules::default());
    let case = Case { scene, x: x.clone(), query: Query::all(0.1) };
    let (mut old, mut rebuilt, mut contacts) = (ThreeStage::new(), 0, 0);
    for step in 0..=steps {
        for k in 0..n as usize {
            x[k] = deform(reference[k], f64::from(step) / f64::from(steps));
        }
        let (mut new, mut brute) = (ThreeStage::new(), Brute::new(true));
        find(&mut old, &case, &x, None);
        find(&mut new, &case, &x, None);
        find(&mut brute, &case, &x, None);
        assert_same(u64::from(step), "the old search", &brute, &old);
        assert_same(u64::from(step), "the new search", &brute, &new);
        rebuilt += if step > 0 { old.stats().trees_built } else { 0 };
        contacts += old.vertex_face().len();
    }
    assert!(contacts > 1000, "{contacts} contacts");
    rebuilt
}

#[test]
fn a_twisted_bar_keeps_its_contacts() {
    deform_a_bar(30, |p, t| {
        let (angle, mid) = (90f64.to_radians() * t * p.x / 8.0, Vec3::new(0.0, 0.5, 0.5));
        let turn = nalgebra::Rotation3::new(Vec3::new(angle, 0.0, 0.0));
        Vec3::new(p.x, 0.0, 0.0) + mid + turn * (Vec3::new(0.0, p.y, p.z) - mid)
    });
}

/// Shear draws the boxes of the old splits out to needles that overlap: trees are built anew.
#[test]
fn a_sheared_bar_gets_new_trees() {
    let rebuilt = deform_a_bar(20, |p, t| Vec3::new(p.x + 12.0 * t * (p.z - 1.0), p.y, p.z));
    assert!(rebuilt > 0);
}

/// One, two and eight threads: the same bytes, in candidates and in records.
#[test]
fn the_number_of_threads_changes_nothing() {
    for bench in [bench_scenes::pile(27), bench_scenes::spheres(64), bench_scenes::cubes25(0.0)] {
        let query = Query::all(bench.reach);
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let mut search = ThreeStage::new();
                let mut x = bench.x.clone();
                for step in 0..4 {
                    bench_scenes::pile_motion(&bench, step, &mut x);
                    search.find(&bench.scene, &x, None, &query).unwrap();
                }
                let c = search.candidates();
                let vf: Vec<_> =
                    c.groups.iter().flat_map(|g| g.vertex_face.of(&c.vertex_face).to_vec()).collect();
                let ee: Vec<_> =
                    c.groups.iter().flat_map(|g| g.edge_edge.of(&c.edge_edge).to_vec()).collect();
                (search.vertex_face().to_vec(), search.edge_edge().to_vec(), vf, ee)
            })
        };
        let one = run(1);
        assert!(!one.0.is_empty(), "{}", bench.name);
        assert_eq!(one, run(2));
        assert_eq!(one, run(8));
    }
}

/// Bodies in another order: the same contacts under their new numbers.
#[test]
fn the_order_of_bodies_changes_only_their_numbers() {
    let bench = bench_scenes::cubes25(0.0);
    let n = bench.scene.bodies.len();
    let order: Vec<usize> = (0..n).map(|i| (i * 11 + 5) % n).collect();
    let quads = |b: usize| -> Vec<[u32; 4]> {
        let body = &bench.scene.bodies[b];
        bench.scene.facets[body.facets.start as usize..body.facets.end as usize]
            .iter()
            .map(|f| f.nodes)
            .collect()
    };
    let attributes = |b: usize| bench.scene.bodies[b].attributes.clone();
    let inputs: Vec<_> = order.iter().map(|&b| BodyInput::of_quads("", &quads(b), attributes(b))).collect();
    let shuffled = Scene::new(&inputs, &bench.x, Rules::default());
    let query = Query::vertex_face(bench.reach);
    let (mut one, mut two) = (ThreeStage::new(), ThreeStage::new());
    one.find(&bench.scene, &bench.x, None, &query).unwrap();
    two.find(&shuffled, &bench.x, None, &query).unwrap();
    let key = |scene: &Scene, r: &super::search::VertexFace| (r.node, scene.facets[r.face as usize].nodes);
    let bits = |r: &super::search::VertexFace| (r.gap.to_bits(), r.xi.to_bits(), r.normal.map(f64::to_bits));
    let mut p: Vec<_> = one.vertex_face().iter().map(|r| (key(&bench.scene, r), bits(r))).collect();
    let mut q: Vec<_> = two.vertex_face().iter().map(|r| (key(&shuffled, r), bits(r))).collect();
    p.sort_by_key(|r| r.0);
    q.sort_by_key(|r| r.0);
    assert_eq!(p.len(), 480);
    assert!(p == q);
}

/// Memory stops growing once a motion repeats itself.
#[test]
fn a_steady_state_needs_no_new_memory() {
    let bench = bench_scenes::pile(27);
    let mut search = ThreeStage::new();
    let mut x = bench.x.clone();
    let query = Query::all(0.01);
    let mut held = 0;
    for step in 0..400 {
        // Period 63 steps within a fraction of a step; twice around before counting.
        bench_scenes::pile_motion(&bench, step % 126, &mut x);
        search.find(&bench.scene, &x, None, &query).unwrap();
        if step == 260 {
            held = search.memory_bytes();
        }
    }
    assert_eq!(search.memory_bytes(), held);
}

/// 20·16 nodes of small faces on large ones, 20·4 inner nodes of large faces on small ones and 5·16 on
/// the plate: 480 by hand; the counts of the classic hierarchy and of the textbook tree stand in the
/// literature's setting (one primitive per leaf, octree depth 3).
#[test]
fn touching_cubes_have_480_contacts_and_the_known_counts() {
    let bench = bench_scenes::cubes25(0.0);
    assert_eq!((bench.scene.slots.len(), bench.scene.facets.len()), (1408, 1356));
    let query = Query::vertex_face(bench.reach);

    let mut brute = Brute::new(false);
    brute.find(&bench.scene, &bench.x, None, &query).unwrap();
    assert_eq!(brute.stats().elementary_tests, 1_833_600);
    assert_eq!(brute.vertex_face().len(), 480);

    let mut textbook = ThreeStage::new();
    (textbook.textbook, textbook.max_depth) = (true, Some(3));
    textbook.find(&bench.scene, &bench.x, None, &query).unwrap();
    let s = *textbook.stats();
    assert_eq!((s.body_pairs, s.leaf_pairs, s.elementary_tests), (25, 480, 480));
    assert!((s.box_tests as f64 - 8282.0).abs() <= 0.1 * 8282.0, "{} box tests", s.box_tests);
    assert_eq!(textbook.vertex_face(), brute.vertex_face());

    let mut classic = Classic::new(false);
    classic.find(&bench.scene, &bench.x, None, &query).unwrap();
    let c = *classic.stats();
    assert!((c.leaf_pairs as f64 - 1005.0).abs() <= 0.1 * 1005.0, "{} leaf pairs", c.leaf_pairs);
    assert_eq!(c.elementary_tests, 8 * c.leaf_pairs);
    assert!(c.elementary_tests >= 10 * s.elementary_tests);

    let mut usual = ThreeStage::new();
    usual.find(&bench.scene, &bench.x, None, &query).unwrap();
    assert_eq!((usual.stats().leaf_pairs, usual.vertex_face().len()), (480, 480));
}

/// Cost per result does not grow with the scene: 40 … 120 cubes.
#[test]
fn box_tests_per_pair_do_not_grow_with_the_number_of_cubes() {
    let per_pair = |layers: usize, textbook: bool| {
        let bench = bench_scenes::layers(layers);
        let mut search = ThreeStage::new();
        search.textbook = textbook;
        search.find(&bench.scene, &bench.x, None, &Query::vertex_face(bench.reach)).unwrap();
        search.stats().box_tests as f64 / search.stats().elementary_tests as f64
    };
    for textbook in [true, false] {
        let all: Vec<f64> = (2..=6).map(|n| per_pair(n, textbook)).collect();
        let (least, most) =
            all.iter().fold((f64::INFINITY, 0.0), |(l, m): (f64, f64), &v| (l.min(v), m.max(v)));
        assert!(most < 1.4 * least, "{all:?}");
    }
}

/// A sheet of triangles that may touch itself.
fn sheet(n: usize, bend: impl Fn(f64, f64) -> Vec3) -> Case {
    let at = |i: usize, j: usize| (i + j * (n + 1)) as u32;
    let flat: Vec<Vec3> = (0..(n + 1) * (n + 1))
        .map(|k| Vec3::new((k % (n + 1)) as f64 / n as f64, (k / (n + 1)) as f64 / n as f64, 0.0))
        .collect();
    let mut triangles = Vec::new();
    for j in 0..n {
        for i in 0..n {
            triangles.push([at(i, j), at(i + 1, j), at(i + 1, j + 1)]);
            triangles.push([at(i, j), at(i + 1, j + 1), at(i, j + 1)]);
        }
    }
    let attributes =
        Attributes { self_contact: true, kind: BodyKind::Shell, thickness: 1e-3, ..Attributes::default() };
    let body = BodyInput::of_triangles("sheet", &triangles, attributes);
    let scene = Scene::new(&[body], &flat, Rules::default());
    let x = flat.iter().map(|p| bend(p.x, p.y)).collect();
    Case { scene, x, query: Query::all(0.04) }
}

#[test]
fn a_flat_sheet_does_not_touch_itself() {
    let case = sheet(12, |x, y| Vec3::new(x, y, 0.0));
    let mut search = ThreeStage::new();
    find(&mut search, &case, &case.x, None);
    assert_eq!((search.vertex_face().len(), search.edge_edge().len()), (0, 0));
}

/// Folded by 170° about its middle: near the fold the halves are close, and beyond the neighbours of the
/// crease they are found, by all searches alike.
#[test]
fn a_folded_sheet_touches_itself_beyond_the_crease() {
    let angle = 170f64.to_radians();
    let case = sheet(12, |x, y| {
        if x <= 0.5 {
            Vec3::new(x, y, 0.0)
        } else {
            Vec3::new(0.5 + (x - 0.5) * angle.cos(), y, (x - 0.5) * angle.sin())
        }
    });
    let (mut brute, mut search) = (Brute::new(false), ThreeStage::new());
    let (mut cells, mut classic) = (CellSearch::new(), Classic::new(true));
    find(&mut brute, &case, &case.x, None);
    find(&mut search, &case, &case.x, None);
    find(&mut cells, &case, &case.x, None);
    find(&mut classic, &case, &case.x, None);
    assert_same(0, "three-stage", &brute, &search);
    assert_same(0, "cells", &brute, &cells);
    assert_same(0, "classic", &brute, &classic);
    // Two cells from the crease: 2/12 · sin 10° = 0.029 away, within reach and beyond the neighbours.
    let two_cells = |k: u32| (case.x[k as usize].x - (0.5 - 2.0 / 12.0)).abs() < 1e-9;
    assert!(search.vertex_face().iter().any(|r| two_cells(r.node)));
}

/// A cube in a hollow box, its walls turned inwards: with no reach at all, with a small one, and with one beyond the
/// whole scene, all searches find the same. Its corner is within reach of three walls and meets each of them.
#[test]
fn a_cube_in_a_box_meets_the_walls_within_reach() {
    let (room, quads) = box_surface([4, 4, 4], [2.0; 3]);
    let inwards: Vec<_> = quads.iter().map(|q| [q[3], q[2], q[1], q[0]]).collect();
    let (cube, quads) = box_surface([2, 2, 2], [0.5; 3]);
    let first = room.len() as u32;
    let mut x = room;
    x.extend(cube.iter().map(|p| p + Vec3::new(0.05, 0.045, 0.04)));
    let quads: Vec<_> = quads.iter().map(|q| q.map(|k| k + first)).collect();
    for split_quads in [false, true] {
        let bodies = [
            BodyInput::of_quads("room", &inwards, Attributes::default()),
            BodyInput::of_quads("cube", &quads, Attributes::default()),
        ];
        let scene = Scene::new(&bodies, &x, Rules { split_quads, ..Rules::default() });
        // Nine nodes on each of three walls, each node once per wall.
        for (reach, expected) in [(0.0, Some(0)), (0.06, Some(27)), (10.0, None)] {
            let mut query = Query::all(reach);
            query.max_penetration = Some(f64::INFINITY);
            let case = Case { scene: scene.clone(), x: x.clone(), query };
            let mut brute = Brute::new(false);
            find(&mut brute, &case, &x, None);
            let of_cube = brute.vertex_face().iter().filter(|r| r.node >= first).count();
            assert!(expected.is_none_or(|n| n == of_cube), "{of_cube} at {reach}");
            for (name, mut other) in [
                ("three-stage", Box::new(ThreeStage::new()) as Box<dyn PairSearch>),
                ("classic", Box::new(Classic::new(true))),
                ("cells", Box::new(CellSearch::new())),
            ] {
                find(other.as_mut(), &case, &x, None);
                assert_same(0, name, &brute, other.as_ref());
            }
        }
    }
}

/// A thin plate thrown through another at a hundred thicknesses a step: at both ends of the step they are out of
/// reach of each other, and a search that looks there alone sees nothing. The swept candidates hold the pair.
#[test]
fn what_passes_through_a_plate_within_a_step_is_seen_by_the_swept_search_only() {
    let (flat, quads) = box_surface([2, 2, 1], [1.0, 1.0, 1e-3]);
    let first = flat.len() as u32;
    let second: Vec<_> = quads.iter().map(|q| q.map(|k| k + first)).collect();
    let at = |z: f64| {
        let mut x = flat.clone();
        x.extend(flat.iter().map(|p| p + Vec3::new(0.2, 0.1, z)));
        x
    };
    let (start, end) = (at(0.05), at(-0.05));
    let bodies = [
        BodyInput::of_quads("plate", &quads, Attributes::default()),
        BodyInput::of_quads("thrown", &second, Attributes::default()),
    ];
    let scene = Scene::new(&bodies, &start, Rules { split_quads: true, ..Rules::default() });
    let query = Query::all(1e-3);
    for mut search in [
        Box::new(Brute::new(true)) as Box<dyn PairSearch>,
        Box::new(ThreeStage::new()),
        Box::new(Classic::new(true)),
        Box::new(CellSearch::new()),
    ] {
        for x in [&start, &end] {
            search.find(&scene, x, None, &query).unwrap();
            assert!(search.vertex_face().is_empty() && search.edge_edge().is_empty());
        }
        search.gather(&scene, Positions::swept(&start, &end), &query).unwrap();
        let c = search.candidates();
        let path = |k: u32| super::swept::Path { from: start[k as usize], to: end[k as usize] };
        let sweep = super::swept::Sweep::default();
        let pairs = c.groups.iter().flat_map(|g| g.vertex_face.of(&c.vertex_face));
        let hits = pairs.filter(|&&[node, face]| {
            let corners = scene.facets[face as usize].nodes.map(path);
            super::swept::node_triangle(&path(node), [&corners[0], &corners[1], &corners[2]], &sweep)
                .is_some()
        });
        assert!(hits.count() > 0);
    }
}
