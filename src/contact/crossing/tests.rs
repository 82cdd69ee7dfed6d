use super::super::dice::Dice;
use super::super::scene::{Attributes, BodyInput, Rules};
use super::*;

/// Nodes fly through or past a warped quadrilateral that moves: whenever the straight way of the node pierces one of its two
/// triangles in between (found by going along in small steps and watching the side), the test says that they meet.
#[test]
fn a_node_that_goes_through_a_quadrilateral_is_seen() {
    let mut dice = Dice(31);
    let (mut through, mut past) = (0, 0);
    for _ in 0..400 {
        let square = [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]];
        let mut start: Vec<Vec3> =
            square.iter().map(|p| Vec3::new(p[0], p[1], 0.0) + dice.point(0.3)).collect();
        let mut end: Vec<Vec3> = start.iter().map(|x| x + dice.point(0.3)).collect();
        let (x, y) = (dice.between(-1.6, 1.6), dice.between(-1.6, 1.6));
        start.push(Vec3::new(x, y, 1.5));
        end.push(Vec3::new(x, y, -1.5) + dice.point(0.5));
        let quad = BodyInput::of_quads("quad", &[[2, 3, 0, 1]], Attributes::default());
        let scene = Scene::new(&[quad], &start, Rules::default());
        let motion = StepPath { start: &start, end: &end };
        // does it change sides of a triangle while above it?
        let above = |t: f64, half: [u32; 3]| {
            let [a, b, c, p] = [half[0], half[1], half[2], 4].map(|k| motion.path(k).at(t));
            let n = (b - a).cross(&(c - a));
            let inside = [(a, b), (b, c), (c, a)].iter().all(|(a, b)| (b - a).cross(&(p - a)).dot(&n) > 0.0);
            (inside, n.dot(&(p - a)) > 0.0)
        };
        let steps = 2000;
        let crosses = split([2, 3, 0, 1]).into_iter().any(|half| {
            let mut last = above(0.0, half);
            (1..=steps).any(|i| {
                let now = above(f64::from(i) / f64::from(steps), half);
                let crossed = last.0 && now.0 && last.1 != now.1;
                last = now;
                crossed
            })
        });
        let met = node_meets(&scene, motion, 4, 0, 0.0);
        assert!(!crosses || met.is_some(), "missed");
        through += u32::from(crosses);
        past += u32::from(met.is_none());
    }
    assert!(through > 100 && past > 50, "{through} through, {past} past");
}
