//! Signs of gaps, sides of shells, and which faces a node meets at corners.

use super::*;
/// A cube with a notch, and a torus: both closed and far from convex.
fn closed_surfaces() -> [(Vec<Vec3>, Vec<[u32; 3]>); 2] {
    // The cube of 4³ cells without a block of cells that opens to the top: its quads by counting.
    let filled = |i: i32, j: i32, k: i32| {
        let within = |v: i32| (0..4).contains(&v);
        within(i) && within(j) && within(k) && !(k >= 2 && (1..3).contains(&j) && i < 3)
    };
    let mut ids = std::collections::BTreeMap::new();
    let mut triangles = Vec::new();
    for (i, j, k) in (0..64).map(|c| (c % 4, c / 4 % 4, c / 16)) {
        if !filled(i, j, k) {
            continue;
        }
        for d in 0..3 {
            for up in [0, 1] {
                let mut next = [i, j, k];
                next[d] += 2 * up - 1;
                if filled(next[0], next[1], next[2]) {
                    continue;
                }
                let (e, f) = ((d + 1) % 3, (d + 2) % 3);
                let mut quad = [[0, 0], [1, 0], [1, 1], [0, 1]].map(|[p, q]| {
                    let mut at = [i, j, k];
                    at[d] += up;
                    at[e] += p;
                    at[f] += q;
                    let new = ids.len() as u32;
                    *ids.entry(at).or_insert(new)
                });
                if up == 0 {
                    quad.reverse();
                }
                triangles.push([quad[0], quad[1], quad[2]]);
                triangles.push([quad[0], quad[2], quad[3]]);
            }
        }
    }
    let mut notched = vec![Vec3::zeros(); ids.len()];
    for (at, id) in ids {
        notched[id as usize] = Vec3::new(f64::from(at[0]), f64::from(at[1]), f64::from(at[2])) / 4.0;
    }
    let (n, m) = (18usize, 10usize);
    let turn = |k: usize, n: usize| std::f64::consts::TAU * k as f64 / n as f64;
    let torus = (0..n * m).map(|k| {
        let (p, q) = (turn(k % n, n), turn(k / n, m));
        let r = 0.5 + 0.2 * q.cos();
        Vec3::new(r * p.cos(), r * p.sin(), 0.2 * q.sin())
    });
    let at = |i: usize, j: usize| (i % n + j % m * n) as u32;
    let ring = (0..n * m).flat_map(|k| {
        let (i, j) = (k % n, k / n);
        [[at(i, j), at(i + 1, j), at(i + 1, j + 1)], [at(i, j), at(i + 1, j + 1), at(i, j + 1)]]
    });
    [(notched, triangles), (torus.collect(), ring.collect())]
}

/// Crossings of a ray with a closed surface, the ray chosen so that it meets no edge.
fn is_inside(y: &Vec3, x: &[Vec3], triangles: &[[u32; 3]]) -> bool {
    let d = Vec3::new(0.5377, 0.8339, 0.1241);
    let mut inside = false;
    for t in triangles {
        let [a, b, c] = t.map(|k| x[k as usize]);
        let (u, v) = (b - a, c - a);
        let n = d.cross(&v);
        let det = u.dot(&n);
        let s = (y - a).dot(&n) / det;
        let q = (y - a).cross(&u);
        let w = d.dot(&q) / det;
        if s >= 0.0 && w >= 0.0 && s + w <= 1.0 && v.dot(&q) / det > 0.0 {
            inside = !inside;
        }
    }
    inside
}

/// The sign of the gap is that of ray parity, at faces, edges and corners, convex and concave.
#[test]
fn gaps_are_negative_inside_and_positive_outside() {
    for (surface, triangles) in closed_surfaces() {
        let mut dice = dice_of(3);
        let mut x = surface.clone();
        let n = x.len() as u32;
        let middle = if surface[0].x >= 0.0 && surface.iter().all(|p| p.x >= 0.0) { 0.5 } else { 0.0 };
        let mut points = Vec::new();
        for _ in 0..2000 {
            points.push(1.5 * dice.point(0.5) + Vec3::repeat(middle));
        }
        // Near corners and edges, where the sign is hard.
        for t in &triangles {
            let [a, b, _] = t.map(|k| surface[k as usize]);
            points.push(a + 0.02 * dice.point(0.5));
            points.push(a + dice.unit() * (b - a) + 0.02 * dice.point(0.5));
        }
        // Each point is a body of its own: a triangle so small that its corners are one place.
        let mut bodies = vec![BodyInput::of_triangles("solid", &triangles, Attributes::default())];
        let mut specks = Vec::new();
        for (k, p) in points.iter().enumerate() {
            x.extend([*p, *p, *p]);
            let first = n + 3 * k as u32;
            specks.push([first, first + 1, first + 2]);
        }
        bodies.push(BodyInput::of_triangles("specks", &specks, Attributes::default()));
        let scene = Scene::new(&bodies, &x, Rules::default());
        let mut query = Query::vertex_face(3.0);
        query.max_penetration = Some(f64::INFINITY);
        let mut search = ThreeStage::new();
        search.find(&scene, &x, None, &query).unwrap();
        let mut inside = 0;
        for (k, p) in points.iter().enumerate() {
            let first = n + 3 * k as u32;
            let records = search.vertex_face();
            let at = records.partition_point(|r| r.node < first);
            let of_node = records[at..]
                .iter()
                .take_while(|r| r.node == first && scene.facets[r.face as usize].body == 0);
            let nearest = of_node.min_by(|p, q| p.distance_squared.total_cmp(&q.distance_squared));
            let gap = nearest.expect("the surface is within reach").gap;
            if gap.abs() > 1e-9 {
                assert_eq!(gap < 0.0, is_inside(p, &surface, &triangles), "{p:?} has gap {gap}");
                inside += usize::from(gap < 0.0);
            }
        }
        assert!(inside > 100, "{inside}");
    }
}

#[test]
fn a_lost_node_is_named() {
    let bench = bench_scenes::cubes25(0.0);
    let mut x = bench.x.clone();
    x[70].y = f64::NAN;
    let query = Query::all(0.1);
    for mut search in [
        Box::new(Brute::new(false)) as Box<dyn PairSearch>,
        Box::new(ThreeStage::new()),
        Box::new(Classic::new(false)),
        Box::new(CellSearch::new()),
    ] {
        let error = search.find(&bench.scene, &x, None, &query).unwrap_err();
        assert_eq!(error, SearchError::NotFinite { body: "body1".into(), node: 70 });
        // And it recovers.
        search.find(&bench.scene, &bench.x, None, &query).unwrap();
        assert!(!search.vertex_face().is_empty());
        let short = search.find(&bench.scene, &x[1..], None, &query).unwrap_err();
        assert!(matches!(short, SearchError::Length { .. }));
        let mut none = query;
        none.reach = f64::NAN;
        assert!(matches!(search.find(&bench.scene, &x, None, &none), Err(SearchError::Reach { .. })));
    }
}

/// A node in the corner of a room meets floor and wall; over an outer edge it meets one face only.
#[test]
fn concave_corners_give_two_contacts_and_convex_ones_one() {
    // Floor z = 0 and wall x = 0 of a room, as one body with two quads; then a cube.
    let room = [
        Vec3::new(0.0, 0.0, 0.0),
        Vec3::new(1.0, 0.0, 0.0),
        Vec3::new(1.0, 1.0, 0.0),
        Vec3::new(0.0, 1.0, 0.0),
        Vec3::new(0.0, 0.0, 1.0),
        Vec3::new(0.0, 1.0, 1.0),
    ];
    let quads = [[0, 1, 2, 3], [0, 3, 5, 4]];
    let speck = |p: Vec3| [p, p + Vec3::new(0.3, 0.0, 0.3), p + Vec3::new(0.3, 0.1, 0.3)];
    let mut x = room.to_vec();
    x.extend(speck(Vec3::new(0.03, 0.5, 0.02)));
    let bodies = [
        BodyInput::of_quads("room", &quads, Attributes::obstacle(true)),
        BodyInput::of_triangles("speck", &[[6, 7, 8]], Attributes::default()),
    ];
    let scene = Scene::new(&bodies, &x, Rules::default());
    let mut search = ThreeStage::new();
    search.find(&scene, &x, None, &Query::vertex_face(0.1)).unwrap();
    let of_tip: Vec<_> = search.vertex_face().iter().filter(|r| r.node == 6).collect();
    assert_eq!(of_tip.len(), 2);
    assert!((of_tip[0].gap - 0.02).abs() < 1e-15 && (of_tip[1].gap - 0.03).abs() < 1e-15);
    assert!((of_tip[1].normal - Vec3::x()).norm() < 1e-15);

    let (mut x, quads) = box_surface([2, 2, 2], [1.0; 3]);
    let n = x.len() as u32;
    x.extend(speck(Vec3::new(0.97, 0.4, 0.98)));
    let bodies = [
        BodyInput::of_quads("cube", &quads, Attributes::default()),
        BodyInput::of_triangles("speck", &[[n, n + 1, n + 2]], Attributes::default()),
    ];
    let scene = Scene::new(&bodies, &x, Rules::default());
    let mut search = ThreeStage::new();
    search.find(&scene, &x, None, &Query::vertex_face(0.1)).unwrap();
    let of_tip: Vec<_> = search.vertex_face().iter().filter(|r| r.node == n).collect();
    assert_eq!(of_tip.len(), 1);
    assert!((of_tip[0].gap + 0.02).abs() < 1e-15 && (of_tip[0].normal - Vec3::z()).norm() < 1e-15);
}

/// A node that passed through a shell during the step still belongs to the side it came from.
#[test]
fn a_node_stays_on_its_side_of_a_shell() {
    let mut case = sheet(4, |x, y| Vec3::new(x, y, 0.0));
    let n = case.x.len() as u32;
    let speck = |z: f64| [Vec3::new(0.4, 0.3, z), Vec3::new(0.4, 0.3, z + 1.0), Vec3::new(0.5, 0.3, z + 1.0)];
    let triangles: Vec<[u32; 3]> =
        case.scene.facets.iter().map(|f| [f.nodes[0], f.nodes[1], f.nodes[2]]).collect();
    let shell = Attributes { kind: BodyKind::Shell, thickness: 0.01, ..Attributes::default() };
    let bodies = [
        BodyInput::of_triangles("shell", &triangles, shell),
        BodyInput::of_triangles("speck", &[[n, n + 1, n + 2]], Attributes::default()),
    ];
    let mut before = case.x.clone();
    before.extend(speck(0.02));
    let mut x = case.x.clone();
    x.extend(speck(-0.03));
    case.scene = Scene::new(&bodies, &x, Rules::default());
    case.query = Query::vertex_face(0.1);
    let mut search = ThreeStage::new();
    for _ in 0..2 {
        find(&mut search, &case, &x, Some(&before));
        let r = search.vertex_face().iter().find(|r| r.node == n).expect("it is near");
        assert_eq!(r.side, 1);
        assert!((r.gap - (-0.03 - 0.005)).abs() < 1e-15 && (r.normal - Vec3::z()).norm() < 1e-15);
        // The second time the side is remembered, wherever the step began.
        before.clone_from(&x);
    }
}
