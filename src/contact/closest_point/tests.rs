//! Closest points against sampling, optimality conditions and answers known by construction.

use super::*;
use crate::contact::dice::Dice;

/// Violation of the optimality conditions of a convex facet: with `d = x_c − y`, no corner may lie
/// behind the plane through `x_c` across `d`, and those that carry weight lie in it.
fn kkt<const N: usize>(y: &Vec3, x: &[Vec3; N], found: &Closest<N>) -> f64 {
    let d = found.point - y;
    let scale = x.iter().map(|p| (p - y).norm()).fold(0.0, f64::max).powi(2);
    (0..N)
        .map(|k| {
            let slack = d.dot(&(x[k] - found.point));
            if found.weights[k] > 0.0 { (found.weights[k] * slack).abs().max(-slack) } else { -slack }
        })
        .fold(0.0, f64::max)
        / scale
}

fn sum<const N: usize>(weights: &[f64; N], x: &[Vec3; N]) -> Vec3 {
    (0..N).map(|k| weights[k] * x[k]).sum()
}

#[test]
fn no_corner_of_a_triangle_is_nearer_than_its_closest_point_allows() {
    let mut dice = Dice(1);
    let mut regions = [0; 7];
    for _ in 0..20_000 {
        let x = [dice.point(1.0), dice.point(1.0), dice.point(1.0)];
        let y = dice.point(2.0);
        let found = tri3(&y, &x[0], &x[1], &x[2]);
        assert!(kkt(&y, &x, &found) <= 5e-14);
        assert!((sum(&found.weights, &x) - found.point).norm() <= 1e-15 * 4.0);
        assert!(found.weights.iter().all(|&w| w >= 0.0));
        regions[match found.feature {
            Feature::Face => 0,
            Feature::Edge(k) => 1 + k as usize,
            Feature::Vertex(k) => 4 + k as usize,
        }] += 1;
    }
    assert!(regions.iter().all(|&n| n > 100), "{regions:?}");
}

/// y = x_c + (a vector of the normal cone of the feature): x_c is the closest point by construction.
/// Triangles stand on the axes, where the normal is exact, with heights down to 1e-9.
#[test]
fn a_point_lifted_off_a_triangle_comes_back_to_where_it_was_lifted() {
    let mut dice = Dice(2);
    for trial in 0..20_000 {
        let height = 10f64.powf(-dice.between(0.0, 9.0));
        let flat = [[0.0, 0.0], [1.0, 0.0], [dice.between(-0.5, 1.5), height]];
        let turn = trial % 3;
        let x = flat.map(|p| {
            let mut q = Vec3::zeros();
            (q[turn], q[(turn + 1) % 3]) = (p[0], p[1]);
            q
        });
        let order = [[0, 1, 2], [1, 2, 0], [2, 0, 1], [0, 2, 1]][dice.below(4) as usize];
        let x = order.map(|k| x[k]);
        let mut normal = Vec3::zeros();
        normal[(turn + 2) % 3] = dice.between(-1.0, 1.0);

        let (u, v) = (dice.unit(), dice.unit());
        let (weights, feature, cone) = match dice.below(3) {
            0 => {
                let (u, v) = if u + v < 1.0 { (u, v) } else { (1.0 - u, 1.0 - v) };
                ([1.0 - u - v, u, v], Feature::Face, normal)
            }
            1 => {
                let k = dice.below(3) as usize;
                let mut weights = [0.0; 3];
                (weights[k], weights[(k + 1) % 3]) = (1.0 - u, u);
                // Out of the edge, in the plane: across the edge, away from the third corner.
                let along = x[(k + 1) % 3] - x[k];
                let to_third = x[(k + 2) % 3] - x[k];
                let axis = (normal / normal.norm()).cross(&along);
                let out = -axis * axis.dot(&to_third).signum() / axis.norm();
                (weights, Feature::Edge(k as u8), normal + v * out)
            }
            _ => {
                let k = dice.below(3) as usize;
                let mut weights = [0.0; 3];
                weights[k] = 1.0;
                let (p, q) = (x[(k + 1) % 3] - x[k], x[(k + 2) % 3] - x[k]);
                let inwards = p / p.norm() + q / q.norm();
                // The opposite of the bisector is in the cone of every corner.
                (weights, Feature::Vertex(k as u8), normal - v * inwards)
            }
        };
        let foot = sum(&weights, &x);
        let found = tri3(&(foot + cone), &x[0], &x[1], &x[2]);
        assert!((found.point - foot).norm() <= 1e-10, "{feature:?} {found:?} {foot:?} height {height:e}");
        assert!(!found.degenerate);
    }
}

/// The distance from a + s(b−a) to c–d is convex in s: a golden section cannot miss the minimum.
#[test]
fn edges_are_as_near_as_a_line_search_finds_them_parallel_or_not() {
    let mut dice = Dice(3);
    for trial in 0..4_000 {
        let (mut a, mut b, mut c) = (dice.point(1.0), dice.point(1.0), dice.point(1.0));
        let d = match trial % 5 {
            0 | 1 => dice.point(1.0),
            // Scissors, hardly open: they cross halfway.
            4 => {
                let (half, tilt) = (dice.point(1.0), 10f64.powf(-dice.between(1.0, 13.0)) * dice.point(1.0));
                let middle = dice.point(1.0);
                a = middle - half;
                b = middle + half;
                c = middle - 0.7 * half - tilt;
                middle + 0.7 * half + tilt
            }
            2 => c + dice.between(-2.0, 2.0) * (b - a),
            _ => {
                c + dice.between(-2.0, 2.0) * (b - a) + 10f64.powf(-dice.between(3.0, 12.0)) * dice.point(1.0)
            }
        };
        let at = |s: f64| seg2(&(a + s * (b - a)), &c, &d).distance_squared;
        let (mut lo, mut hi) = (0.0, 1.0);
        for _ in 0..100 {
            let (p, q) = (lo + 0.382 * (hi - lo), lo + 0.618 * (hi - lo));
            if at(p) < at(q) { hi = q } else { lo = p }
        }
        let sought = at(0.5 * (lo + hi)).min(at(0.0)).min(at(1.0)).sqrt();
        let found = edge_edge(&a, &b, &c, &d);
        let distance = found.distance_squared.sqrt();
        // Worst where the determinant hands over: round-off over the sine there, 1e-2.
        let round_off = 2.0 * f64::EPSILON / 1e-2;
        assert!(distance <= sought + round_off, "{distance} {sought} {trial}");
        assert!(trial % 5 != 4 || distance <= round_off, "{distance}");
        let p = a + found.s * (b - a);
        assert!((p - found.p).norm() <= 1e-15 && (0.0..=1.0).contains(&found.s));
    }
}

#[test]
fn edges_that_cross_say_so_and_edges_that_end_or_align_leave_it_to_the_nodes() {
    let e = |x: f64, y: f64, z: f64| Vec3::new(x, y, z);
    let cross = edge_edge(&e(-1., 0., 0.), &e(1., 0., 0.), &e(0., -1., 0.5), &e(0., 1., 0.5));
    assert!(cross.crossing && cross.distance_squared == 0.25 && cross.s == 0.5 && cross.t == 0.5);
    let end = edge_edge(&e(-1., 0., 0.), &e(1., 0., 0.), &e(0., 0.25, 0.), &e(0., 1., 0.));
    assert!(!end.crossing && end.t == 0.0 && end.distance_squared == 0.0625);
    let parallel = edge_edge(&e(-1., 0., 0.), &e(1., 0., 0.), &e(-1., 1., 0.), &e(1., 1., 1e-7));
    assert!(!parallel.crossing);
    let point = edge_edge(&e(0., 0., 0.), &e(0., 0., 0.), &e(-1., 1., 0.), &e(1., 1., 0.));
    assert!(point.degenerate && point.distance_squared == 1.0);
}

/// Smallest distance² on a 60 × 60 grid, zoomed seven times around its best point.
fn sampled(y: &Vec3, x: &[Vec3; 4]) -> f64 {
    let mut best = (f64::INFINITY, 0.0, 0.0);
    let (mut centre, mut half) = ([0.0, 0.0], 1.0);
    for _ in 0..7 {
        for i in 0..=60 {
            for j in 0..=60 {
                let xi = (centre[0] + half * (i as f64 / 30.0 - 1.0)).clamp(-1.0, 1.0);
                let eta = (centre[1] + half * (j as f64 / 30.0 - 1.0)).clamp(-1.0, 1.0);
                let distance_squared = (sum(&quad4_weights(xi, eta), x) - y).norm_squared();
                if distance_squared < best.0 {
                    best = (distance_squared, xi, eta);
                }
            }
        }
        (centre, half) = ([best.1, best.2], half * 0.1);
    }
    best.0
}

fn quad(dice: &mut Dice, warp: f64) -> [Vec3; 4] {
    let corner = [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]];
    corner.map(|[p, q]| {
        let noise = dice.point(0.45);
        Vec3::new(p + noise.x, q + noise.y, warp * dice.between(-1.0, 1.0))
    })
}

#[test]
fn no_sample_of_a_quad_is_nearer_than_its_closest_point() {
    let mut dice = Dice(4);
    for trial in 0..1_000 {
        let x = quad(&mut dice, (trial % 5) as f64 / 4.0);
        let y = dice.point(if trial % 2 == 0 { 1.2 } else { 3.0 });
        let found = quad4(&y, &x);
        let sampled = sampled(&y, &x);
        assert!(found.distance_squared <= sampled * (1.0 + 1e-15) + 1e-16, "{found:?} {sampled}");
        let [xi, eta] = found.reference();
        assert!((sum(&quad4_weights(xi, eta), &x) - found.point).norm() <= 4e-15);
        assert!(((found.point - y).norm_squared() - found.distance_squared).abs() <= 1e-14);
    }
}

/// At an interior closest point the offset is normal to the face; so lifting along S,ξ × S,η less
/// than the radius of curvature and coming back is the identity.
#[test]
fn a_point_lifted_off_a_quad_comes_back_to_where_it_was_lifted() {
    let mut dice = Dice(5);
    for _ in 0..5_000 {
        let x = quad(&mut dice, 0.2);
        let (xi, eta) = (dice.between(-1.0, 1.0), dice.between(-1.0, 1.0));
        let foot = sum(&quad4_weights(xi, eta), &x);
        let a = (1.0 - eta) * (x[1] - x[0]) + (1.0 + eta) * (x[2] - x[3]);
        let b = (1.0 - xi) * (x[3] - x[0]) + (1.0 + xi) * (x[2] - x[1]);
        let y = foot + dice.between(-0.2, 0.2) * a.cross(&b).normalize();
        let found = quad4(&y, &x);
        assert!((found.point - foot).norm() <= 1e-9, "{found:?} {foot:?}");
    }
}

/// Beyond edge k the answer is on edge k, beyond corner k it is corner k: flat and warped.
#[test]
fn a_point_beyond_an_edge_or_corner_of_a_quad_finds_that_edge_or_corner() {
    for warp in [0.0, 0.1, 0.4] {
        let corner = [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]];
        let x: [Vec3; 4] = [0, 1, 2, 3]
            .map(|k| Vec3::new(corner[k][0], corner[k][1], if k % 2 == 0 { warp } else { -warp }));
        for k in 0..4usize {
            let (p, q) = (x[k], x[(k + 1) % 4]);
            let middle = 0.5 * (p + q);
            for lift in [-0.3, 0.0, 0.3] {
                let y = Vec3::new(2.0 * middle.x, 2.0 * middle.y, lift);
                let found = quad4(&y, &x);
                assert_eq!(found.feature, Feature::Edge(k as u8), "warp {warp} lift {lift}");
                let exact = seg2(&y, &p, &q);
                assert!((found.distance_squared - exact.distance_squared).abs() <= 1e-15);
                let y = Vec3::new(3.0 * p.x, 3.0 * p.y, lift);
                let found = quad4(&y, &x);
                assert_eq!(found.feature, Feature::Vertex(k as u8), "warp {warp} lift {lift}");
                assert_eq!(found.point, p);
            }
        }
    }
}

#[test]
fn a_parallelogram_is_two_triangles() {
    let mut dice = Dice(6);
    for _ in 0..5_000 {
        let (o, u, v) = (dice.point(1.0), dice.point(1.0), dice.point(1.0));
        let x = [o, o + u, o + u + v, o + v];
        let y = dice.point(2.0);
        let found = quad4(&y, &x);
        let (one, two) = (tri3(&y, &x[0], &x[1], &x[2]), tri3(&y, &x[0], &x[2], &x[3]));
        let nearer = if one.distance_squared <= two.distance_squared { one } else { two };
        assert!((found.distance() - nearer.distance()).abs() <= 1e-14);
        assert!((found.point - nearer.point).norm() <= 1e-9, "{found:?} {nearer:?}");
    }
}

#[test]
fn facets_without_area_are_flagged_and_still_answered() {
    let e = |x: f64, y: f64, z: f64| Vec3::new(x, y, z);
    let y = e(0.25, 3.0, 4.0);
    let line = tri3(&y, &e(0., 0., 0.), &e(1., 0., 0.), &e(0.5, 0., 0.));
    assert!(line.degenerate && line.distance_squared == 25.0);
    let twice = tri3(&y, &e(0., 0., 0.), &e(0., 0., 0.), &e(1., 0., 0.));
    assert!(twice.degenerate && twice.distance_squared == 25.0);
    let point = tri3(&y, &e(0.25, 0., 0.), &e(0.25, 0., 0.), &e(0.25, 0., 0.));
    assert!(point.degenerate && point.distance_squared == 25.0);

    let collinear = quad4(&y, &[e(0., 0., 0.), e(1., 0., 0.), e(2., 0., 0.), e(3., 0., 0.)]);
    assert!(collinear.degenerate && (collinear.distance_squared - 25.0).abs() <= 1e-14);
    let collapsed = quad4(&e(0.25, 0.25, 1.0), &[e(0., 0., 0.), e(1., 0., 0.), e(0., 1., 0.), e(0., 1., 0.)]);
    assert!(collapsed.degenerate && (collapsed.distance_squared - 1.0).abs() <= 1e-14);
    let point = quad4(&y, &[e(0.25, 0., 0.); 4]);
    assert!(point.degenerate && point.distance_squared == 25.0);
    let sound = quad4(&y, &[e(0., 0., 0.), e(1., 0., 0.), e(1., 1., 0.), e(0., 1., 0.)]);
    assert!(!sound.degenerate);
    let segment = seg2(&y, &e(0.25, 0., 0.), &e(0.25, 0., 0.));
    assert!(segment.degenerate && segment.distance_squared == 25.0);
}

/// Multiplying everything by a power of two changes no bit of the weights.
#[test]
fn a_facet_looks_the_same_at_any_scale() {
    let mut dice = Dice(7);
    for trial in 0..2_000 {
        let x = quad(&mut dice, 0.3);
        let y = dice.point(2.0);
        let scale = 2f64.powi([-120, -60, 60, 120][trial % 4]);
        let scaled = x.map(|p| scale * p);
        let far = scale * y;
        assert_eq!(quad4(&y, &x).weights, quad4(&far, &scaled).weights);
        assert_eq!(
            tri3(&y, &x[0], &x[1], &x[2]).weights,
            tri3(&far, &scaled[0], &scaled[1], &scaled[2]).weights
        );
        assert_eq!(
            edge_edge(&y, &x[0], &x[1], &x[2]).s,
            edge_edge(&far, &scaled[0], &scaled[1], &scaled[2]).s
        );
    }
}

#[test]
fn what_is_not_a_number_comes_back_in_finite_time() {
    let bad = Vec3::new(f64::NAN, f64::INFINITY, 1.0);
    let x = [Vec3::zeros(), Vec3::x(), Vec3::new(1.0, 1.0, 0.3), Vec3::y()];
    quad4(&bad, &x);
    quad4(&x[0], &[x[0], bad, x[2], x[3]]);
    tri3(&bad, &x[0], &x[1], &x[2]);
    tri3(&x[0], &bad, &x[1], &x[2]);
    edge_edge(&x[0], &x[1], &bad, &x[2]);
}
