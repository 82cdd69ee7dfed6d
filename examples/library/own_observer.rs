//! An observer of your own: the highest point of a body, followed in time, in a file of its own.
//!
//!     cargo run --release --example own_observer

use carom::{Look, Observer, ObserverError, Simulation};
use std::fs::File;
use std::io::Write;

const DECK: &str = r#"
method = "verlet"
end    = 1.0

[body.rod]
mesh     = { shape = "bar", length = 1.0, cells = 20 }
material = { law = "linear", young = 100, poisson = 0, density = 1 }
velocity = [-1, 0, 0]
fix      = "xmin"
"#;

/// Writes the largest x of all nodes.
struct Farthest {
    file: File,
    next: f64,
}

impl Observer for Farthest {
    /// When to look next; no step is shortened for it.
    fn next(&self) -> f64 {
        self.next
    }

    /// Any error may come out of it, and ends the run.
    fn look(&mut self, look: &Look) -> Result<(), ObserverError> {
        let farthest = look.state.x.iter().map(|x| x.x).fold(f64::NEG_INFINITY, f64::max);
        if farthest.is_nan() {
            return Err("nobody is anywhere any more".into());
        }
        writeln!(self.file, "{},{farthest}", look.state.time)?;
        self.next = look.state.time + 0.01;
        Ok(())
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::temp_dir().join(format!("carom-farthest-{}.csv", std::process::id()));
    let mut simulation = Simulation::from_text(DECK)?;
    simulation.observe(Farthest { file: File::create(&path)?, next: 0.0 });
    simulation.run()?;
    let written = std::fs::read_to_string(&path)?;
    println!("{} rows in {}", written.lines().count(), path.display());
    assert!(written.lines().count() > 50);
    std::fs::remove_file(path)?;
    Ok(())
}
