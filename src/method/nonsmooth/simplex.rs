//! Constraint functions of the admissible set: signed lengths, areas and volumes of the simplices that two boundary
//! features span.
//!
//! | touch          | nodes        | g                                     | lever |∂g/∂x_P|  |
//! |----------------|--------------|---------------------------------------|-------------------|
//! | node–point     | P, A, (behind) | σ (x_P − x_A)                       | 1                 |
//! | node–plane     | P, O, tip    | (tip − O)·(P − O)                     | 1                 |
//! | node–segment   | P, A, B      | −½ (B−A)×(P−A)                        | ½ |B−A|           |
//! | node–triangle  | P, A, B, C   | ⅙ ((B−A)×(C−A))·(P−A)                 | ⅓ area            |
//! | edge–edge      | A, B, C, D   | σ/6 (A−C)·((B−A)×(D−C))               | ⅙ |(B−A)×(D−C)|   |
//!
//! **Sign.** g > 0 is open. g over the lever is the distance of the node outside the line or plane of the facet, or of
//! the two lines of the edges; a multiplier λ of g presses with the force λ · lever.
//!
//! Every g is a polynomial that does not change under translation and rotation, so the forces λ ∇g are in equilibrium
//! at the positions ∇g was taken at.
//!
//! Read by the rest of `method::nonsmooth`.

use crate::contact::scene::FacetKind;
use crate::math::Vec3;

/// What touches what; the order in which constraints of different kinds stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ContactKind {
    NodePoint,
    NodePlane,
    NodeSegment,
    NodeTriangle,
    EdgeEdge,
}

impl ContactKind {
    /// A node on a facet.
    pub(crate) fn of_facet(kind: FacetKind) -> ContactKind {
        match kind {
            FacetKind::Plane => ContactKind::NodePlane,
            FacetKind::Point => ContactKind::NodePoint,
            FacetKind::Segment => ContactKind::NodeSegment,
            FacetKind::Triangle | FacetKind::Quad => ContactKind::NodeTriangle,
        }
    }
}

/// One constraint function.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Simplex {
    pub touch: ContactKind,
    /// In the order of the table; unused places repeat the last.
    pub nodes: [u32; 4],
    /// σ of points and edges, else 1.
    pub sign: f64,
}

impl Simplex {
    /// How many nodes it has.
    #[inline]
    pub fn count(&self) -> usize {
        match self.touch {
            ContactKind::NodePoint => 2,
            ContactKind::NodePlane | ContactKind::NodeSegment => 3,
            ContactKind::NodeTriangle | ContactKind::EdgeEdge => 4,
        }
    }

    /// Its nodes.
    #[inline]
    pub fn ids(&self) -> &[u32] {
        &self.nodes[..self.count()]
    }

    #[inline]
    fn at(&self, x: &[Vec3]) -> [Vec3; 4] {
        self.nodes.map(|k| x[k as usize])
    }

    /// g [m, m² or m³].
    #[inline]
    pub fn value(&self, x: &[Vec3]) -> f64 {
        self.value_at(&self.at(x))
    }

    fn value_at(&self, [p, a, b, c]: &[Vec3; 4]) -> f64 {
        match self.touch {
            ContactKind::NodePoint => self.sign * (p.x - a.x),
            ContactKind::NodePlane => (b - a).dot(&(p - a)),
            ContactKind::NodeSegment => -0.5 * flat(&(b - a), &(p - a)),
            ContactKind::NodeTriangle => (b - a).cross(&(c - a)).dot(&(p - a)) / 6.0,
            // here p, a are the ends of the first edge and b, c those of the second
            ContactKind::EdgeEdge => self.sign * (p - b).dot(&(a - p).cross(&(c - b))) / 6.0,
        }
    }

    /// ∂g/∂x of its nodes; zero in unused places.
    #[inline]
    pub fn gradient(&self, x: &[Vec3]) -> [Vec3; 4] {
        self.gradient_at(&self.at(x))
    }

    /// The same for the positions of its own nodes.
    pub(crate) fn gradient_at(&self, [p, a, b, c]: &[Vec3; 4]) -> [Vec3; 4] {
        let zero = Vec3::zeros();
        match self.touch {
            ContactKind::NodePoint => [self.sign * Vec3::x(), -self.sign * Vec3::x(), zero, zero],
            ContactKind::NodePlane => {
                let (n, h) = (b - a, p - a);
                [n, -n - h, h, zero]
            }
            ContactKind::NodeSegment => {
                let half = |d: Vec3| 0.5 * Vec3::new(d.y, -d.x, 0.0);
                [half(b - a), half(p - b), half(a - p), zero]
            }
            ContactKind::NodeTriangle => {
                let of_p = (b - a).cross(&(c - a)) / 6.0;
                let of_b = (c - a).cross(&(p - a)) / 6.0;
                let of_c = (a - b).cross(&(p - b)) / 6.0;
                [of_p, -(of_p + of_b + of_c), of_b, of_c]
            }
            ContactKind::EdgeEdge => {
                let (u, w, r) = (a - p, c - b, p - b);
                let sixth = self.sign / 6.0;
                let (of_u, of_w, of_r) = (sixth * w.cross(&r), sixth * r.cross(&u), sixth * u.cross(&w));
                [of_r - of_u, of_u, -of_r - of_w, of_w]
            }
        }
    }

    /// Where the two features meet: nearest points on the lines or planes they span.
    pub fn foot(&self, x: &[Vec3]) -> Foot {
        let [p, a, b, c] = self.at(x);
        let (weights, normal, lever) = match self.touch {
            ContactKind::NodePoint => ([1.0, -1.0, 0.0, 0.0], self.sign * Vec3::x(), 1.0),
            ContactKind::NodePlane => ([1.0, -1.0, 0.0, 0.0], b - a, 1.0),
            ContactKind::NodeSegment => {
                let e = b - a;
                let t = (p - a).dot(&e) / e.norm_squared();
                let n = Vec3::new(e.y, -e.x, 0.0);
                ([1.0, t - 1.0, -t, 0.0], n.normalize(), 0.5 * n.norm())
            }
            ContactKind::NodeTriangle => {
                let n = (b - a).cross(&(c - a));
                let nn = n.norm_squared();
                let of_b = n.dot(&(p - a).cross(&(c - a))) / nn;
                let of_c = n.dot(&(b - a).cross(&(p - a))) / nn;
                ([1.0, of_b + of_c - 1.0, -of_b, -of_c], n.normalize(), n.norm() / 6.0)
            }
            ContactKind::EdgeEdge => {
                let (u, w, r) = (a - p, c - b, p - b);
                let n = u.cross(&w);
                let nn = n.norm_squared();
                let s = w.cross(&r).dot(&n) / nn;
                let t = u.cross(&r).dot(&n) / nn;
                ([1.0 - s, s, t - 1.0, -t], self.sign * n.normalize(), n.norm() / 6.0)
            }
        };
        Foot { weights, normal, lever }
    }
}

/// `a × b` in the plane.
#[inline]
fn flat(a: &Vec3, b: &Vec3) -> f64 {
    a.x * b.y - a.y * b.x
}

/// Where two features meet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Foot {
    /// The contact points are at the positive and at the negative weights; their difference is g n / lever.
    pub weights: [f64; 4],
    /// Unit normal, towards the positive weights.
    pub normal: Vec3,
    /// g over this is a distance.
    pub lever: f64,
}

impl Foot {
    /// By how much it lies beyond the ends of the features; zero inside. A plane has no ends.
    pub fn outside(&self, touch: ContactKind) -> f64 {
        let beyond = |w: f64| (-w).max(w - 1.0).max(0.0);
        let [_, a, b, c] = self.weights;
        match touch {
            ContactKind::NodePoint | ContactKind::NodePlane => 0.0,
            ContactKind::NodeSegment => beyond(-b),
            ContactKind::NodeTriangle => beyond(-a).max(beyond(-b)).max(beyond(-c)),
            ContactKind::EdgeEdge => beyond(a).max(beyond(-c)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contact::dice::Dice;

    const TOUCHES: [ContactKind; 5] = [
        ContactKind::NodePoint,
        ContactKind::NodePlane,
        ContactKind::NodeSegment,
        ContactKind::NodeTriangle,
        ContactKind::EdgeEdge,
    ];

    fn any(touch: ContactKind, dice: &mut Dice) -> (Simplex, [Vec3; 4]) {
        let sign = if dice.below(2) == 0 { -1.0 } else { 1.0 };
        let sign = if matches!(touch, ContactKind::NodePoint | ContactKind::EdgeEdge) { sign } else { 1.0 };
        let mut x = [(); 4].map(|()| dice.point(1.0));
        if touch == ContactKind::NodeSegment {
            x.iter_mut().for_each(|x| x.z = 0.0);
        }
        (Simplex { touch, nodes: [0, 1, 2, 3], sign }, x)
    }

    /// Central differences of g. It is at most cubic, so only its third derivative (≤ 1) times ε²/6 and round-off
    /// 1e-16/ε are left: 2e-11 at ε = 1e-5.
    #[test]
    fn gradients_are_those_of_the_functions() {
        let (mut dice, eps) = (Dice(1), 1e-5);
        for touch in TOUCHES {
            for _ in 0..200 {
                let (simplex, x) = any(touch, &mut dice);
                let d = [(); 4].map(|()| dice.point(1.0));
                let d =
                    if touch == ContactKind::NodeSegment { d.map(|d| Vec3::new(d.x, d.y, 0.0)) } else { d };
                let at = |h: f64| [0, 1, 2, 3].map(|k| x[k] + h * d[k]);
                let slope = (simplex.value_at(&at(eps)) - simplex.value_at(&at(-eps))) / (2.0 * eps);
                let g = simplex.gradient(&x);
                let along: f64 = (0..simplex.count()).map(|k| g[k].dot(&d[k])).sum();
                assert!((slope - along).abs() < 1e-9, "{touch:?}: {slope} {along}");
            }
        }
    }

    /// Translation and rotation change nothing, so `Σ∇g = 0` and `Σ x × ∇g = 0`. (A bar knows no rotation.)
    #[test]
    fn normal_forces_are_in_equilibrium() {
        let mut dice = Dice(2);
        for touch in TOUCHES {
            for _ in 0..200 {
                let (simplex, x) = any(touch, &mut dice);
                let g = simplex.gradient(&x);
                assert!(g.iter().sum::<Vec3>().norm() < 2e-15);
                let moment: Vec3 = x.iter().zip(&g).map(|(x, g)| x.cross(g)).sum();
                assert!(touch == ContactKind::NodePoint || moment.norm() < 4e-15, "{touch:?}: {moment}");
            }
        }
    }

    /// The points at the foot's weights differ by the distance along the normal, and the lever is the slope of g there:
    /// what a multiplier presses with.
    #[test]
    fn the_foot_joins_two_points_along_the_normal_and_its_lever_is_the_force_of_a_unit_multiplier() {
        let mut dice = Dice(3);
        for touch in [ContactKind::NodeSegment, ContactKind::NodeTriangle, ContactKind::EdgeEdge] {
            for _ in 0..200 {
                let (simplex, x) = any(touch, &mut dice);
                let foot = simplex.foot(&x);
                if foot.lever < 0.02 {
                    continue;
                }
                let between: Vec3 = x.iter().zip(foot.weights).map(|(x, w)| w * x).sum();
                let distance = simplex.value(&x) / foot.lever;
                assert!((between - distance * foot.normal).norm() < 1e-11, "{touch:?}");
                assert!(foot.weights.iter().sum::<f64>().abs() < 1e-12);
                let g = simplex.gradient(&x);
                let first = if touch == ContactKind::EdgeEdge { g[0] + g[1] } else { g[0] };
                assert!((first - foot.lever * foot.normal).norm() < 1e-12);
            }
        }
    }

    /// Above a unit square's top side (counter-clockwise: from right to left) a node at height h spans ½h; on a
    /// triangle with legs 1 in the plane z = 0, ⅙h. Outside is positive.
    #[test]
    fn what_is_outside_counts_as_positive() {
        let e = Vec3::new;
        let segment = Simplex { touch: ContactKind::NodeSegment, nodes: [0, 1, 2, 2], sign: 1.0 };
        let x = [e(0.3, 1.25, 0.0), e(1.0, 1.0, 0.0), e(0.0, 1.0, 0.0)];
        assert!((segment.value(&x) - 0.125).abs() < 1e-15);
        let triangle = Simplex { touch: ContactKind::NodeTriangle, nodes: [0, 1, 2, 3], sign: 1.0 };
        let x = [e(0.25, 0.3, 0.02), e(0.0, 0.0, 0.0), e(1.0, 0.0, 0.0), e(0.0, 1.0, 0.0)];
        assert!((triangle.value(&x) - 0.02 / 6.0).abs() < 1e-17);
        let foot = triangle.foot(&x);
        assert!((foot.weights[2] + 0.25).abs() < 1e-15 && (foot.weights[3] + 0.3).abs() < 1e-15);
        assert_eq!(foot.outside(ContactKind::NodeTriangle), 0.0);
    }
}
