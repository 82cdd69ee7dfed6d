//! Voronoi pieces of a convex body: planar faces, corners of every kind.
//!
//! Seeds are thrown at random and moved to the centroids of their cells a few times, so that no piece is a splinter; then seeds beside very short
//! edges are moved at random for as long as that makes the shortest edge near them longer, because the shortest edge bounds the step of explicit methods.
//! A piece is what the planes half way to all other seeds leave of the body, each drawn back by half the gap.

use super::convex::{Convex, HalfSpace};
use crate::math::Vec3;
use crate::math::dice::Dice;

/// Times that seeds are moved to the centroids of their cells.
const EVEN: usize = 4;
/// Edges shorter than this share of the spacing are made longer.
const SHORT: f64 = 0.12;
/// How often a seed beside a short edge is moved on trial, and how far, as a share of the spacing.
const TRIES: usize = 10;
const AWAY: f64 = 0.15;
/// Rounds over all pieces.
const ROUNDS: usize = 3;

/// The pieces of a convex body; `None` where the gap leaves nothing of one. Faces that a cut has made are labelled `cut`.
pub fn shatter(whole: &Convex, pieces: usize, seed: u64, gap: f64, cut: u32) -> Option<Vec<Convex>> {
    let mut dice = Dice(seed);
    let mut seeds = thrown(whole, pieces, &mut dice);
    for _ in 0..EVEN {
        let cells: Vec<Convex> = (0..pieces).map(|k| cell(whole, &seeds, k, 0.0, cut)).collect();
        seeds.iter_mut().zip(&cells).for_each(|(seed, cell)| *seed = cell.centroid());
    }
    lengthen(whole, &mut seeds, &mut dice, cut);
    let cells: Vec<Convex> = (0..pieces).map(|k| cell(whole, &seeds, k, gap, cut)).collect();
    cells.iter().all(|c| !c.corners.is_empty()).then_some(cells)
}

/// Points inside a body, all places alike.
fn thrown(whole: &Convex, count: usize, dice: &mut Dice) -> Vec<Vec3> {
    let first = whole.corners.first().copied().unwrap_or_default();
    let corners = whole.corners.iter();
    let (lo, hi) = corners.fold((first, first), |(lo, hi), x| (lo.inf(x), hi.sup(x)));
    let centre = whole.centroid();
    let mut seeds = Vec::with_capacity(count);
    while seeds.len() < count {
        let mut x = Vec3::from_fn(|a, _| dice.between(lo[a], hi[a]));
        if whole.plane {
            x.z = first.z;
        }
        if inside(whole, &centre, &x) {
            seeds.push(x);
        }
    }
    seeds
}

/// Is a point on the same side of every face as the centre?
fn inside(whole: &Convex, centre: &Vec3, x: &Vec3) -> bool {
    whole.faces.iter().all(|face| {
        let at = |k: usize| whole.corners[face.ring[k] as usize];
        let normal = if whole.plane {
            let e = at(1) - at(0);
            Vec3::new(e.y, -e.x, 0.0)
        } else {
            (at(1) - at(0)).cross(&(at(2) - at(1)))
        };
        normal.dot(&(x - at(0))) * normal.dot(&(centre - at(0))) > 0.0
    })
}

/// What is nearer to seed `k` than to all others.
fn cell(whole: &Convex, seeds: &[Vec3], k: usize, gap: f64, cut: u32) -> Convex {
    let own = seeds[k];
    let mut others: Vec<(f64, usize)> =
        (0..seeds.len()).filter(|&j| j != k).map(|j| ((seeds[j] - own).norm(), j)).collect();
    others.sort_by(|p, q| p.0.total_cmp(&q.0).then(p.1.cmp(&q.1)));
    let mut cell = whole.clone();
    for (distance, j) in others {
        // a plane half way to a seed beyond twice the farthest corner cuts nothing
        if 0.5 * distance - 0.5 * gap > cell.reach(&own) || cell.corners.is_empty() {
            break;
        }
        // from the lower to the higher seed, so that both sides of a cut are one plane
        let (low, high) = (seeds[k.min(j)], seeds[k.max(j)]);
        let normal = (high - low).normalize();
        let middle = normal.dot(&(0.5 * (low + high)));
        let half = match k < j {
            true => HalfSpace { normal, offset: middle - 0.5 * gap, label: cut },
            false => HalfSpace { normal: -normal, offset: -middle - 0.5 * gap, label: cut },
        };
        cell.cut(&half);
    }
    cell
}

/// Moves seeds beside short edges at random where that makes the shortest edge around longer.
fn lengthen(whole: &Convex, seeds: &mut [Vec3], dice: &mut Dice, cut: u32) {
    let count = seeds.len();
    let dimension = if whole.plane { 2.0 } else { 3.0 };
    let spacing = (whole.measure() / count as f64).powf(1.0 / dimension);
    let centre = whole.centroid();
    let mut shortest: Vec<f64> =
        (0..count).map(|k| cell(whole, seeds, k, 0.0, cut).shortest_edge()).collect();
    for _ in 0..ROUNDS {
        let mut worst: Vec<usize> = (0..count).filter(|&k| shortest[k] < SHORT * spacing).collect();
        worst.sort_by(|&p, &q| shortest[p].total_cmp(&shortest[q]).then(p.cmp(&q)));
        for k in worst {
            let mut reach = cell(whole, seeds, k, 0.0, cut).reach(&seeds[k]);
            for _ in 0..TRIES {
                if shortest[k] >= SHORT * spacing {
                    break;
                }
                let old = seeds[k];
                let mut way = AWAY * spacing * dice.point(1.0);
                if whole.plane {
                    way.z = 0.0;
                }
                seeds[k] = old + way;
                if !inside(whole, &centre, &seeds[k]) {
                    seeds[k] = old;
                    continue;
                }
                let own = cell(whole, seeds, k, 0.0, cut);
                let new_reach = own.reach(&seeds[k]);
                // whose cells a cell touches lies within twice its reach
                let touches = |j: &usize| {
                    let near = (seeds[*j] - old).norm().min((seeds[*j] - seeds[k]).norm());
                    *j != k && near <= 2.0 * reach.max(new_reach)
                };
                let near: Vec<usize> = (0..count).filter(touches).collect();
                let before = near.iter().map(|&j| shortest[j]).fold(shortest[k], f64::min);
                let longer = |edge: f64| (edge > before).then_some(edge);
                let all = longer(own.shortest_edge()).and_then(|_| {
                    near.iter().map(|&j| longer(cell(whole, seeds, j, 0.0, cut).shortest_edge())).collect()
                });
                let Some(all): Option<Vec<f64>> = all else {
                    seeds[k] = old;
                    continue;
                };
                near.iter().zip(all).for_each(|(&j, edge)| shortest[j] = edge);
                (shortest[k], reach) = (own.shortest_edge(), new_reach);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::Mesh;
    use crate::mesh::surface::Surface;

    fn square() -> Convex {
        Convex::polygon(vec![Vec3::zeros(), 2.0 * Vec3::x(), Vec3::new(2.0, 1.0, 0.0), Vec3::y()])
    }

    fn block() -> Convex {
        let corner = |k: usize| Vec3::new((k & 1) as f64, (k >> 1 & 1) as f64, 2.0 * (k >> 2) as f64);
        Convex::hull(&Vec::from_iter((0..8).map(corner))).unwrap()
    }

    fn meshes(whole: &Convex, pieces: &[Convex]) -> Vec<Mesh> {
        let names: Vec<String> = (0..whole.faces.len()).map(|k| format!("face-{k}")).collect();
        pieces.iter().map(|p| p.mesh(&names, 0).unwrap()).collect()
    }

    /// Without a gap the pieces fill the body, and every node of a piece that is not on the outside lies on the surface of another.
    #[test]
    fn pieces_fill_the_body_and_touch_each_other_with_plane_faces() {
        for whole in [square(), block()] {
            for count in [1, 2, 9, 30] {
                let pieces = shatter(&whole, count, 7, 0.0, 99).unwrap();
                let volume: f64 = pieces.iter().map(Convex::measure).sum();
                assert!((volume - 2.0).abs() < 1e-13, "{volume}");
                for (mesh, piece) in meshes(&whole, &pieces).iter().zip(&pieces) {
                    mesh.check().unwrap();
                    assert!((mesh.measure() - piece.measure()).abs() < 1e-14);
                    let outer: usize = mesh.side_sets.values().map(Vec::len).sum();
                    let all = Surface::of(mesh).facets.len();
                    assert!(outer <= all && (count > 2 || outer > 0));
                    for face in piece.faces.iter().filter(|f| f.ring.len() > 3) {
                        let at = |k: usize| piece.corners[face.ring[k] as usize];
                        let normal = (at(1) - at(0)).cross(&(at(2) - at(0))).normalize();
                        let off = (0..face.ring.len()).map(|k| normal.dot(&(at(k) - at(0))).abs());
                        assert!(off.fold(0.0, f64::max) < 1e-13);
                    }
                }
                let inside = |x: &Vec3| pieces.iter().filter(|p| inside(p, &p.centroid(), x)).count();
                let mut dice = Dice(3);
                for _ in 0..200 {
                    let mut x = Vec3::from_fn(|a, _| dice.between(0.0, [2.0, 1.0, 2.0][a]));
                    if whole.plane {
                        x.z = 0.0;
                    } else {
                        x.x *= 0.5;
                    }
                    assert_eq!(inside(&x), 1, "{x}");
                }
            }
        }
    }

    /// A gap g draws both sides of every cut back by ½g: the corners of a piece are at least g from all others' half-spaces, and the loss of volume is
    /// g times the area of the cuts to first order.
    #[test]
    fn a_gap_opens_every_cut_by_its_width() {
        let gap = 1e-3;
        for whole in [square(), block()] {
            let (closed, open) =
                (shatter(&whole, 12, 5, 0.0, 99).unwrap(), shatter(&whole, 12, 5, gap, 99).unwrap());
            let cuts: f64 = (closed.iter())
                .flat_map(|p| p.faces.iter().filter(|f| f.label == 99).map(move |f| (p, f)))
                .map(|(p, f)| {
                    let at = |k: usize| p.corners[f.ring[k] as usize];
                    match p.plane {
                        true => (at(1) - at(0)).norm(),
                        false => {
                            let parts =
                                (2..f.ring.len()).map(|k| (at(k - 1) - at(0)).cross(&(at(k) - at(0))));
                            0.5 * parts.sum::<Vec3>().norm()
                        }
                    }
                })
                .sum();
            let lost = 2.0 - open.iter().map(Convex::measure).sum::<f64>();
            // every cut counts from both sides, each drawn back by half of the gap
            assert!((lost / (0.5 * gap * cuts) - 1.0).abs() < 0.02, "{lost} {cuts}");
            assert!(shatter(&whole, 12, 5, 2.0, 99).is_none());
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_pieces_and_another_seed_others() {
        let pieces = |seed: u64| shatter(&block(), 10, seed, 0.0, 99).unwrap();
        assert_eq!(pieces(1), pieces(1));
        assert_ne!(pieces(1), pieces(2));
    }
}
