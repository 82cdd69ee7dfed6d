//! Implicit methods from the outside: iterations that can be printed, steps that cannot be done, a body that touches itself.

use crate::common::{Scratch, carom, code, column, stderr, stdout};
use carom::math::Vec3;
use carom::output::pvd::Series;
use carom::output::vtu::read_vtu;
use std::path::Path;

/// A block meets another from `gap` above it.
fn blocks(gap: f64, more: &str) -> String {
    let block = |name: &str, at: &str, v: &str| {
        format!(
            "[body.{name}]\nmesh = {{ shape = \"rectangle\", size = [1, 1], cells = [4, 4], at = {at} }}\n\
             material = {{ law = \"st-venant-kirchhoff\", young = 100, poisson = 0.3, density = 1 }}\n\
             plane = \"strain\"\nvelocity = {v}\n"
        )
    };
    format!(
        "method = \"velocity-update\"\nend = 0.3\n{}{}[contact]\nfriction = 0.3\n[output]\ncheckpoint = 0\nframes = 0\n{more}",
        block("upper", &format!("[0, {gap}, 0]"), "[0.3, -0.5, 0]"),
        block("lower", "[0.37, -1, 0]", "[0, 0, 0]"),
    )
}

fn run(scratch: &Scratch, text: &str, out: &Path, more: &[&str]) -> std::process::Output {
    let deck = scratch.write("deck.toml", text);
    let arguments = ["run".as_ref(), deck.as_os_str(), "--out".as_ref(), out.as_os_str(), "--quiet".as_ref()];
    carom(arguments.into_iter().chain(more.iter().map(|m| m.as_ref())))
}

/// One iteration is enough in free flight and never in contact: the run ends there, with code 3, who meets whom, how far forces are out of
/// balance, and the last good state.
#[test]
fn a_step_that_cannot_be_done_names_its_contact_and_keeps_the_last_good_state() {
    let scratch = Scratch::new("unsolved");
    let out = scratch.path("out");
    let tight = "[velocity-update]\niterations = 1\nhalvings = 1\n";
    let output = run(&scratch, &blocks(0.05, tight), &out, &[]);
    let told = stderr(&output);
    assert_eq!(code(&output), 3, "{told}");
    for word in ["does not converge", "out of balance by", "the contact of `upper` and `lower`"] {
        assert!(told.contains(word), "{word}: {told}");
    }
    // they would meet after 0.1 s
    let time = column(&out, "time");
    assert!((0.05..0.1).contains(time.last().unwrap()), "{told}");
    assert!(carom::run::checkpoint::newest(&out).is_some());
}

/// Once points do what they did before, and multipliers have taken up what they may, residuals fall faster and faster, with friction as without: by Newton's method the logarithm of
/// each reduction is twice that of the one before, once and a half at least is asked for over the last three that are not round-off. A tangent that is not that of the residual leaves
/// the same share each time, once.
#[test]
fn residuals_of_a_step_can_be_printed() {
    let scratch = Scratch::new("residuals");
    for (friction, out) in [("0", "smooth"), ("0.3", "rough")] {
        let friction_is = format!("contact.friction={friction}");
        let out = scratch.path(out);
        let output = run(&scratch, &blocks(0.002, ""), &out, &["--residuals", "0.05", "--set", &friction_is]);
        let told = stdout(&output);
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        assert!(told.starts_with("step "), "{told}");
        // of forces, in the rows of the first solution, and what is left
        let rows = told.lines().skip(2).take_while(|l| !l.contains("solved again") && !l.contains("left"));
        let of_forces = |line: &str| line.split_whitespace().nth(2).unwrap().parse::<f64>().unwrap();
        let end = told.lines().last().unwrap();
        assert!(end.contains("left") && of_forces(end) < 1e-12, "{told}");
        let above: Vec<f64> = rows.chain([end]).map(of_forces).filter(|r| *r > 1e-13).collect();
        let [.., a, b, c] = above[..] else { panic!("{told}") };
        let order = (c / b).ln() / (b / a).ln();
        assert!(order > 1.5 && b < 1e-2, "{order}: {told}");
    }
    let none =
        run(&scratch, &blocks(0.002, ""), &scratch.path("dcr"), &["--method", "dcr", "--residuals", "0.05"]);
    assert!(code(&none) == 2 && stderr(&none).contains("Newton"), "{}", stderr(&none));
}

/// How far the upper half of the inside of a ring stays above the lower half, over all frames [m].
fn inner_gap(out: &Path, radius: f64, centre: Vec3) -> f64 {
    let series = Series::open(out).unwrap();
    let frames: Vec<Vec<Vec3>> =
        series.entries().iter().map(|e| read_vtu(&series.path(e)).unwrap().points).collect();
    let inside: Vec<usize> =
        (0..120).filter(|&k| ((frames[0][k] - centre).norm() - radius).abs() < 1e-6).collect();
    let (above, below): (Vec<usize>, Vec<usize>) = inside.iter().partition(|&&k| frames[0][k].y > centre.y);
    let mut least = f64::INFINITY;
    for x in &frames {
        let mut floor: Vec<Vec3> = below.iter().map(|&k| x[k]).collect();
        floor.sort_by(|a, b| a.x.total_cmp(&b.x));
        for p in above.iter().map(|&k| x[k]) {
            for pair in floor.windows(2).filter(|w| (w[0].x..w[1].x).contains(&p.x)) {
                let share = (p.x - pair[0].x) / (pair[1].x - pair[0].x);
                least = least.min(p.y - pair[0].y - share * (pair[1].y - pair[0].y));
            }
        }
    }
    least
}

/// A ring thrown on a floor folds until its inside meets itself. Told that it may, its halves hold each other and the books close; else they pass.
#[test]
fn a_crushed_ring_touches_itself() {
    let scratch = Scratch::new("ring");
    let gap = |own: &str, quadrature: &str| {
        let text = format!(
            "method = \"velocity-update\"\nend = 0.9\n[body.ring]\n\
             mesh = {{ shape = \"ring\", inner = 0.85, outer = 1.0, around = 40, radial = 2, at = [0, 1.001, 0] }}\n\
             material = {{ law = \"neo-hookean\", young = 100, poisson = 0.3, density = 1 }}\n\
             plane = \"strain\"\nvelocity = [0, -2.5, 0]\n\
             [body.floor]\nplane = {{ point = [0, 0, 0], normal = [0, 1, 0] }}\n\
             [contact]\nfriction = 0.2\nself = [{own}]\n[output]\nhistory = 200\nframes = 90\n\
             [velocity-update]\nquadrature = \"{quadrature}\"\n"
        );
        let out = scratch.path(&format!("{quadrature}-{}", own.len()));
        let output = run(&scratch, &text, &out, &[]);
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        let (error, total) = (column(&out, "error"), column(&out, "total"));
        assert!(error.iter().all(|e| e.abs() < 1e-8 * total[0]), "{error:?}");
        inner_gap(&out, 0.85, Vec3::new(0.0, 1.001, 0.0))
    };
    let (held, gauss, free) = (gap("\"ring\"", "corners"), gap("\"ring\"", "gauss"), gap("", "gauss"));
    println!("corners {held}, points of Gauss {gauss}, not told {free}");
    // facets are straight where the ring is round: the rise of a chord; points of Gauss see a node that stands out as a corner only
    // when it is deeper by its distance from the next of them
    let rise = 0.85 * (1.0 - (std::f64::consts::PI / 40.0).cos());
    let beside = 0.5 * (1.0 - 1.0 / 3.0_f64.sqrt()) * std::f64::consts::TAU * 0.85 / 40.0;
    assert!(held > -3.0 * rise && gauss > -beside && free < -10.0 * beside, "{held} {gauss} {free}");
}
