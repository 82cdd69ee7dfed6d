use super::iterations::{newton, newton_or_exact};
use super::uzawa::uzawa;
use super::*;

/// Reproducible random numbers (splitmix64).
struct Dice(u64);

impl Dice {
    fn between(&mut self, lo: f64, hi: f64) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        lo + (hi - lo) * ((z ^ (z >> 31)) >> 11) as f64 * (0.5 * f64::EPSILON)
    }

    fn vector(&mut self) -> Vec3 {
        Vec3::from_fn(|_, _| self.between(-1.0, 1.0))
    }

    fn rotation(&mut self) -> Mat3 {
        nalgebra::Rotation3::new(3.0 * self.vector()).into_inner()
    }

    /// A positive block of this condition.
    fn block(&mut self, condition: f64) -> Mat3 {
        let q = self.rotation();
        let middle = condition.powf(self.between(0.0, 1.0));
        q * Mat3::from_diagonal(&Vec3::new(1.0, middle, condition)) * q.transpose() / condition.sqrt()
    }
}

const FRICTION: [f64; 4] = [0.0, 0.2, 0.6, 1.0];

/// Of a solution: how far from the law, over its own size.
fn residual(w: &Mat3, b: &Vec3, mu: f64, r: &Vec3) -> f64 {
    let scale = w.trace() / 3.0;
    natural_map(r, &(w * r + b), mu, scale) / r.norm().max(b.norm() / scale)
}

/// Where projections lead in the end: begun again from where they stop, a few moves at a time, until nothing moves.
fn settled(w: &Mat3, b: &Vec3, mu: f64, start: Vec3) -> Vec3 {
    let mut r = start;
    for _ in 0..5000 {
        let next = uzawa(w, b, mu, &r).r;
        let moved = (next - r).norm();
        r = next;
        if moved <= 1e-15 * r.norm() {
            break;
        }
    }
    r
}

#[test]
fn for_isotropic_blocks_the_closed_form_is_the_exact_answer_and_the_limit_of_projections() {
    let mut dice = Dice(1);
    for i in 0..4000 {
        let (mu, w) = (FRICTION[i % 4], dice.between(0.01, 5.0));
        let b = dice.vector();
        let r = closed_form(w, &b, mu);
        let block = w * Mat3::identity();
        let tolerance = 1e-12 * b.norm() / w;
        assert!(residual(&block, &b, mu, &r) < 1e-14);
        assert!((exact(&block, &b, mu) - r).norm() <= tolerance, "{b:?} {mu}");
        let first = uzawa(&block, &b, mu, &Vec3::zeros());
        assert!(first.converged && first.iterations <= 60);
        let limit = settled(&block, &b, mu, first.r);
        assert!((limit - r).norm() <= tolerance, "{b:?} {mu}");
    }
}

#[test]
fn the_exact_solver_never_fails() {
    let mut dice = Dice(2);
    let mut statuses = [0; 3];
    for i in 0..6400 {
        let mu = FRICTION[i % 4];
        let condition = [1.0, 10.0, 100.0, 1000.0][i / 4 % 4];
        let (w, b) = (dice.block(condition), dice.vector());
        let r = exact(&w, &b, mu);
        let left = residual(&w, &b, mu, &r);
        assert!(left <= 1e-10, "condition {condition}, mu {mu}: {left:e}");
        statuses[if r.x == 0.0 {
            0
        } else if (w * r + b).norm() < 1e-9 {
            1
        } else {
            2
        }] += 1;
    }
    assert!(statuses.iter().all(|&n| n > 100), "{statuses:?}");
}

/// In the plane sliding has two ways, each with one linear equation: r_n = −b_n/(W_nn − σμW_nt), r_t = −σμr_n.
#[test]
fn in_the_plane_the_exact_solver_finds_what_trying_both_ways_finds() {
    let mut dice = Dice(3);
    for i in 0..6400 {
        let mu = FRICTION[i % 4];
        let (wnn, wtt) = (dice.between(0.1, 2.0), dice.between(0.1, 2.0));
        let wnt = dice.between(-0.95, 0.95) * (wnn * wtt).sqrt();
        let w = Mat3::new(wnn, wnt, 0.0, wnt, wtt, 0.0, 0.0, 0.0, 0.0);
        let b = Vec3::new(dice.between(-1.0, 0.2), dice.between(-1.0, 1.0), 0.0);
        let det = wnn * wtt - wnt * wnt;
        let stick = Vec3::new(-(wtt * b.x - wnt * b.y) / det, -(wnn * b.y - wnt * b.x) / det, 0.0);
        let mut answers = Vec::new();
        if b.x >= 0.0 {
            answers.push(Vec3::zeros());
        } else if stick.x >= 0.0 && stick.y.abs() <= mu * stick.x {
            answers.push(stick);
        } else {
            for sigma in [1.0, -1.0] {
                let under = wnn - sigma * mu * wnt;
                let n = -b.x / under;
                let t = -sigma * mu * n;
                if under > 0.0 && sigma * (wnt * n + wtt * t + b.y) >= 0.0 {
                    answers.push(Vec3::new(n, t, 0.0));
                }
            }
        }
        let r = exact(&w, &b, mu);
        let nearest = answers.iter().map(|a| (a - r).norm()).fold(f64::INFINITY, f64::min);
        assert!(nearest <= 1e-11 * r.norm().max(1.0), "{w} {b} {mu}: {r} {answers:?}");
    }
}

#[test]
fn projections_converge_for_moderate_conditions_from_anywhere() {
    let mut dice = Dice(4);
    let (mut tried, mut converged, mut elsewhere) = (0, 0, 0);
    for i in 0..4800 {
        let mu = FRICTION[i % 4];
        let condition = [1.0, 10.0, 100.0][i / 4 % 3];
        let (w, b) = (dice.block(condition), dice.vector());
        let cold = uzawa(&w, &b, mu, &Vec3::zeros());
        tried += 1;
        converged += i32::from(cold.converged);
        if cold.converged {
            assert!(residual(&w, &b, mu, &cold.r) <= 1e-7);
            let warm = uzawa(&w, &b, mu, &(cold.r + 0.1 * dice.vector()));
            if !warm.converged {
                continue;
            }
            let (cold, warm) = (settled(&w, &b, mu, cold.r), settled(&w, &b, mu, warm.r));
            let left = [cold, warm].map(|r| residual(&w, &b, mu, &r));
            assert!(left[0].max(left[1]) <= 1e-12, "{left:?}");
            elsewhere += i32::from((warm - cold).norm() > 1e-9 * cold.norm().max(1.0));
        }
    }
    assert!(f64::from(converged) >= 0.995 * f64::from(tried), "{converged} of {tried}");
    // a block that couples its directions strongly may have several answers: one in thousands has
    assert!(elsewhere <= 5, "{elsewhere} of {tried} lead elsewhere");
}

#[test]
fn newton_with_its_fallback_always_answers() {
    let mut dice = Dice(5);
    let (mut tried, mut alone) = (0, 0);
    for i in 0..4800 {
        let mu = FRICTION[i % 4];
        let condition = [10.0, 100.0, 1000.0][i / 4 % 3];
        let (w, b) = (dice.block(condition), dice.vector());
        let start = Vec3::new(1.0, 0.0, 0.0);
        tried += 1;
        alone += i32::from(newton(&w, &b, mu, &start).converged);
        let r = newton_or_exact(&w, &b, mu, &start);
        assert!(residual(&w, &b, mu, &r) <= 1e-10);
    }
    assert!(f64::from(alone) >= 0.95 * f64::from(tried), "{alone} of {tried}");
}

/// Turning the tangents by an angle turns the answer with them.
#[test]
fn answers_do_not_depend_on_the_choice_of_tangents() {
    let mut dice = Dice(6);
    for i in 0..2000 {
        let mu = FRICTION[i % 4];
        let (w, b, angle) = (dice.block(50.0), dice.vector(), dice.between(0.0, 6.3));
        let turn = nalgebra::Rotation3::from_axis_angle(&Vec3::x_axis(), angle).into_inner();
        let turned = exact(&(turn * w * turn.transpose()), &(turn * b), mu);
        let r = exact(&w, &b, mu);
        // several answers are possible where directions couple strongly; both are answers
        let same = (turn * r - turned).norm() <= 1e-12 * r.norm().max(1.0);
        assert!(same, "{:e}", (turn * r - turned).norm());
        let w = dice.between(0.1, 2.0);
        assert!((turn * closed_form(w, &b, mu) - closed_form(w, &(turn * b), mu)).norm() <= 1e-13 / w);
    }
}

/// Where nothing moves the contact cannot be opened, or friction has nobody to hold.
#[test]
fn held_directions_are_left_out() {
    let b = Vec3::new(-1.0, 0.5, 0.7);
    assert_eq!(exact(&Mat3::zeros(), &b, 0.3), Vec3::zeros());
    let normal_only = Mat3::from_diagonal(&Vec3::new(2.0, 0.0, 0.0));
    assert_eq!(exact(&normal_only, &b, 0.3), Vec3::new(0.5, 0.0, 0.0));
    let plane = Mat3::from_diagonal(&Vec3::new(2.0, 2.0, 0.0));
    assert_eq!(exact(&plane, &b, 2.0), Vec3::new(0.5, -0.25, 0.0));
    let r = exact(&plane, &b, 0.1);
    assert!((r - Vec3::new(0.5, -0.05, 0.0)).norm() < 1e-15);
}
