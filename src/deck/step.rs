//! `[step]`: how long a step is.

use carom_declare::{Positive, section};

section! {
    /// How long a step is: a fixed size, or a share of the largest stable one.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Step: "step" {
        /// Always this long [s]; not with method "asynchronous".
        size: Option<f64> as Option<Positive>;
        /// Share of the largest stable step, which follows the deformation: 0.9 unless given, with contact 0.5. With methods
        /// "asynchronous", and "verlet" with contact, the share of the critical step of each element, undeformed; a run that
        /// stiffens too much stops and says so. With "bipotential-implicit", "velocity-update" and "newmark-penalty" 2, with "velocity-update"
        /// and contact 1.
        safety: Option<f64> as Option<Positive>;
    } check |r| {
        let both = r.has("size") && r.has("safety");
        if let (true, Some(place)) = (both, r.key_place("safety")) {
            r.problems.add(place, "the step has both `size` and `safety`", "keep one of them");
        }
        !both
    }
}
