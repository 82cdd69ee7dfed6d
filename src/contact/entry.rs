//! Did a point go through a facet on its way? What moves further between two contact checks than the other is thick is not found
//! inside of it. And how thick is that?

use super::cells::{Cells, box_around};
use super::scene::{Body, Scene};
use crate::math::Vec3;

/// Where on the way from `p` to `q` a point goes in through a facet with these corners and outward normal: a share of the way,
/// or nothing. A quadrilateral counts as two triangles, a segment lies in the x–y plane, a single corner is the end of a bar.
pub(crate) fn enters(p: &Vec3, q: &Vec3, corners: &[Vec3], normal: &Vec3) -> Option<f64> {
    let through = |a: &Vec3, normal: &Vec3| {
        let (before, after) = (normal.dot(&(p - a)), normal.dot(&(q - a)));
        (before >= 0.0 && after < 0.0).then(|| before / (before - after))
    };
    let triangle = |a: &Vec3, b: &Vec3, c: &Vec3| {
        let own = (b - a).cross(&(c - a));
        let own = if own.dot(normal) < 0.0 { -own } else { own };
        let s = through(a, &own)?;
        let at = p + s * (q - p);
        let sense = (b - a).cross(&(c - a));
        let left_of = |from: &Vec3, to: &Vec3| (to - from).cross(&(at - from)).dot(&sense) >= 0.0;
        (left_of(a, b) && left_of(b, c) && left_of(c, a)).then_some(s)
    };
    match corners {
        [a] => through(a, normal),
        [a, b] => {
            let s = through(a, normal)?;
            let along = (p + s * (q - p) - a).dot(&(b - a)) / (b - a).norm_squared();
            (0.0..=1.0).contains(&along).then_some(s)
        }
        [a, b, c] => triangle(a, b, c),
        [a, b, c, d] => triangle(a, b, c).or_else(|| triangle(a, c, d)),
        _ => None,
    }
}

/// How thick each body is [m], if that is less than `up_to`; infinite otherwise, and for bodies whose surface is two-sided:
/// the least distance from the middle of a facet straight in to where the body ends.
pub(crate) fn thickness(scene: &Scene, x: &[Vec3], up_to: f64) -> Vec<f64> {
    let mut found = Vec::new();
    let of_body = |body: &Body| {
        let facets = scene.facets_of(body);
        if body.plane || body.attributes.two_sided() || up_to <= 0.0 {
            return f64::INFINITY;
        }
        let size = body.median_edge.max(up_to);
        let mut cells = Cells::new([0.0; 3], size, 0.0);
        for (i, facet) in (0..).zip(facets) {
            let tight = box_around(facet.corners().iter().map(|&k| x[k as usize]));
            cells.insert_box(i, tight.lo, tight.hi);
        }
        let mut least = f64::INFINITY;
        for facet in facets {
            let (corners, count) = facet.points(x);
            let middle = corners[..count].iter().sum::<Vec3>() / count as f64;
            let Some(n) = facet.area_vector(x).try_normalize(0.0) else { continue };
            let far = middle - up_to * n;
            let (lo, hi) = (middle.inf(&far), middle.sup(&far));
            cells.query_box(lo.as_ref(), hi.as_ref(), &mut found);
            for &other in &found {
                let other = &facets[other as usize];
                let (corners, count) = other.points(x);
                // the way back, in from behind
                if let Some(at) = enters(&far, &middle, &corners[..count], &other.area_vector(x)) {
                    least = least.min((1.0 - at) * up_to);
                }
            }
        }
        least
    };
    scene.bodies.iter().map(of_body).collect()
}

/// Of a body that touches itself: facets that a node lies behind in the reference configuration, no further than half an edge,
/// as (node, facet). The far side of a thin wall is no contact, however it bends.
pub(crate) fn far_sides(scene: &Scene, body: &Body, reference: &[Vec3], pairs: &mut Vec<(u32, u32)>) {
    let reach = 0.5 * body.median_edge;
    let mut cells = Cells::new([0.0; 3], 2.0 * body.median_edge, 0.0);
    for f in body.facets.clone() {
        let corners = scene.facets[f as usize].corners().iter();
        let around = box_around(corners.map(|&k| reference[k as usize])).grown(reach);
        cells.insert_box(f - body.facets.start, around.lo, around.hi);
    }
    let mut found = Vec::new();
    for &node in scene.slots_of(body) {
        let y = reference[node as usize];
        cells.query_box(y.as_ref(), y.as_ref(), &mut found);
        for f in found.iter().map(|f| body.facets.start + f) {
            let facet = &scene.facets[f as usize];
            let behind = facet.area_vector(reference).dot(&(y - reference[facet.nodes[0] as usize])) < 0.0;
            if behind && !facet.corners().contains(&node) {
                pairs.push((node, f));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ways across a unit square, from its front and from its back, inside and beside it.
    #[test]
    fn a_way_through_a_facet_from_its_front_is_found() {
        let v = Vec3::new;
        let square = [v(0.0, 0.0, 0.0), v(1.0, 0.0, 0.0), v(1.0, 1.0, 0.0), v(0.0, 1.0, 0.0)];
        let backwards = [square[3], square[2], square[1], square[0]];
        for (x, y) in [(0.2, 0.7), (0.7, 0.2), (0.5, 0.5)] {
            let (above, below) = (v(x - 0.1, y, 0.3), v(x + 0.1, y, -0.1));
            for corners in [&square, &backwards] {
                let at = enters(&above, &below, corners, &Vec3::z()).unwrap();
                assert!((at - 0.75).abs() < 1e-15);
                assert_eq!(enters(&below, &above, corners, &Vec3::z()), None, "from its back");
                assert_eq!(enters(&above, &above, corners, &Vec3::z()), None, "not at all");
            }
        }
        assert_eq!(enters(&v(1.2, 0.5, 0.1), &v(1.2, 0.5, -0.1), &square, &Vec3::z()), None);
        let segment = [v(0.0, 0.0, 0.0), v(2.0, 0.0, 0.0)];
        assert_eq!(enters(&v(1.0, 1.0, 0.0), &v(1.0, -3.0, 0.0), &segment, &Vec3::y()), Some(0.25));
        assert_eq!(enters(&v(3.0, 1.0, 0.0), &v(3.0, -3.0, 0.0), &segment, &Vec3::y()), None);
        assert_eq!(enters(&Vec3::x(), &-Vec3::x(), &[Vec3::zeros()], &Vec3::x()), Some(0.5));
    }
}
