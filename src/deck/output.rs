//! `[output]`: what is written. Asking for more never changes the answer.

use carom_declare::{NotNegative, section};

section! {
    /// What is written.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Output: "output" {
        /// Rows of history.csv after the first, at equal times.
        history: u64 = 200;
        /// Frames after the first, at equal times; 0 for none.
        frames: u64 = 50;
        /// Frames hold stresses at integration points too.
        integration_points: bool;
        /// Frames hold the largest von Mises stress of every element so far: `mises_peak`.
        mises_peak: bool;
        /// Minutes between checkpoints.
        checkpoint: f64 as NotNegative = 5.0;
    }
}
