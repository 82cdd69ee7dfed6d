//! `carom bench soak`: random scenes with every method for as long as it is told, and the worst that was seen.

use crate::exit::{BAD_INPUT, CHECK_FAILED, Failure, Outcome, complain, say};
use carom::cases::soak::{METHODS, Tally, judge};
use clap::Args;
use std::time::{Duration, Instant};

#[derive(Args)]
pub struct SoakArgs {
    /// Number of the first scene of `soak`; a number is a scene, the same everywhere
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// How long `soak` goes on
    #[arg(long, value_name = "MINUTES", default_value_t = 1.0)]
    minutes: f64,
    /// Scenes of `soak`, if they are done before its time is over
    #[arg(long, value_name = "COUNT")]
    scenes: Option<u64>,
    /// Only this method in `soak`
    #[arg(long, value_name = "M")]
    method: Option<String>,
}

pub fn command(args: &SoakArgs, json: bool) -> Outcome {
    let methods: Vec<&str> = match &args.method {
        None => METHODS.to_vec(),
        Some(one) if METHODS.contains(&one.as_str()) => vec![one],
        Some(other) => {
            let message = format!("no method is called {other}; there is {}", METHODS.join(", "));
            return Err(Failure::new(BAD_INPUT, message));
        }
    };
    if !(args.minutes >= 0.0 && args.minutes <= 1e6) {
        return Err(Failure::new(
            BAD_INPUT,
            format!("--minutes {}: it must be from 0 to a million", args.minutes),
        ));
    }
    let (begin, time) = (Instant::now(), Duration::from_secs_f64(60.0 * args.minutes));
    let mut tallies: Vec<Tally> = vec![Tally::default(); methods.len()];
    for seed in args.seed..args.seed.saturating_add(args.scenes.unwrap_or(u64::MAX)) {
        if begin.elapsed() >= time {
            break;
        }
        let k = (seed % methods.len() as u64) as usize;
        let verdict = judge(seed, methods[k]);
        if let Some(what) = &verdict.wrong {
            complain(&format!("scene {seed} by {}: {what}", methods[k]));
        }
        tallies[k].add(seed, verdict);
    }
    for (method, tally) in methods.iter().zip(&tallies) {
        say(&line(method, tally, json))?;
    }
    Ok(if tallies.iter().any(|t| !t.wrong.is_empty()) { CHECK_FAILED } else { 0 })
}

fn line(method: &str, t: &Tally, json: bool) -> String {
    let [linear, angular] = t.drift;
    if json {
        let object = serde_json::json!({
            "bench": "soak", "case": method, "scenes": t.scenes, "refused": t.refused, "late": t.late, "doubted": t.doubted,
            "ledger_error": t.ledger_error, "overlap": t.overlap, "linear_drift": linear, "angular_drift": angular,
            "wrong": t.wrong.len(),
        });
        return format!("{object}\n");
    }
    format!(
        "{method:<22} {:>5} scenes, {} stopped with a reason, {} doubted, {} too slow, {} wrong; at worst ledger {:.1e}, \
         overlap {:.1e} of an edge, momentum {linear:.1e} and {angular:.1e}\n",
        t.scenes,
        t.refused,
        t.doubted,
        t.late,
        t.wrong.len(),
        t.ledger_error,
        t.overlap
    )
}
