//! `carom examples`, `carom example NAME` and `carom schema`: what comes with the program.

use crate::exit::{BAD_INPUT, Failure, Outcome, say};
use carom::cases;

#[derive(clap::Args)]
pub struct Arguments {
    /// The name of an example
    name: String,
}

pub fn list() -> Outcome {
    let widest = cases::EXAMPLES.iter().map(|e| e.name.len()).max().unwrap_or(0);
    let lines = cases::EXAMPLES.iter().map(|e| format!("{:widest$}  {}\n", e.name, e.about()));
    say(&lines.collect::<String>())?;
    say("\ncarom run NAME runs one; carom example NAME > deck.toml gives a deck to change\n")?;
    Ok(0)
}

pub fn write(arguments: &Arguments) -> Outcome {
    let Some(example) = cases::example(&arguments.name) else {
        let names: Vec<&str> = cases::EXAMPLES.iter().map(|e| e.name).collect();
        let message =
            format!("there is no example called `{}`; there is {}", arguments.name, names.join(", "));
        return Err(Failure::new(BAD_INPUT, message));
    };
    say(example.text)?;
    Ok(0)
}

pub fn schema() -> Outcome {
    say(&carom::deck::schema::text())?;
    Ok(0)
}
