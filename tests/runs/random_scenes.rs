//! Two bodies of random shape, law, friction and restitution meet at a random speed, by every method in turn: whatever they do,
//! friction never gives energy, nothing comes from nothing, momentum stays, and nobody passes through the other without a word.
//!
//! 50 scenes; `CAROM_SCENES=2000 cargo test --release --test runs random_scenes` tries 2 000, `CAROM_SCENE=17` the one with that
//! number. `carom bench soak` tries all methods for as long as it is told.

use carom::cases::soak::{deck, judge};

/// Methods without systems of equations: cheap enough for every day.
const METHODS: [&str; 4] = ["dcr", "asynchronous", "verlet", "semi-explicit"];

#[test]
fn random_scenes_obey_what_every_scene_obeys() {
    let number = |name: &str| std::env::var(name).ok().and_then(|n| n.parse::<u64>().ok());
    let method = |seed: u64| METHODS[seed as usize % METHODS.len()];
    if let Some(seed) = number("CAROM_SCENE") {
        println!("{}", deck(seed, method(seed)));
        assert_eq!(judge(seed, method(seed)).wrong, None);
        return;
    }
    let failed: Vec<String> = (0..number("CAROM_SCENES").unwrap_or(50))
        .filter_map(|seed| Some(format!("CAROM_SCENE={seed}: {}", judge(seed, method(seed)).wrong?)))
        .collect();
    assert!(failed.is_empty(), "{} scenes are wrong\n{}", failed.len(), failed.join("\n"));
}
