//! Drives a run step by step and looks at nodes and contacts in between.
//!
//!     cargo run --release --example step_by_step

use carom::{Simulation, SimulationError};

const DECK: &str = r#"
method = "dcr"
end    = 0.2

[body.ball]
mesh     = { shape = "disc", radius = 0.05, core_cells = 4, layers = 2, at = [0, 0.06, 0] }
material = { law = "neo-hookean", young = 1e5, poisson = 0.3, density = 1000 }
velocity = [0, -1, 0]

[body.floor]
plane = { point = [0, 0, 0], normal = [0, 1, 0] }
"#;

fn main() -> Result<(), SimulationError> {
    let mut simulation = Simulation::setup().threads(1).text(DECK)?;
    simulation.start()?;
    let ball = simulation.body("ball").unwrap_or_default();

    // until the ball touches, step by step
    while simulation.contacts().is_some_and(|c| c.count == 0) && simulation.time() < simulation.end() {
        simulation.step()?;
    }
    println!("touches at {:.4} s", simulation.time());

    // until it has left, in longer pieces
    let mut highest = 0.0;
    while simulation.time() < simulation.end() {
        simulation.advance(simulation.time() + 0.01)?;
        if let Some(nodes) = simulation.nodes() {
            let up: f64 = nodes.v[ball.clone()].iter().map(|v| v.y).sum::<f64>() / ball.len() as f64;
            highest = f64::max(highest, up);
        }
    }
    let push = simulation.impulse_between("ball", "floor").map_or(0.0, |j| j.y);
    println!("rises at up to {highest:.3} m/s; the floor has given it {push:.4} N s");
    let kinetic = simulation.history().column("kinetic").unwrap_or_default();
    println!("kinetic energy {:.4} J at first, {:.4} J at last", kinetic[0], kinetic[kinetic.len() - 1]);
    assert!(highest > 0.5 && push > 0.0);
    Ok(())
}
