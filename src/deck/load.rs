//! `[[load]]`: forces from outside.

use carom_declare::{Listed, TimeTable, section};

/// One at all times.
pub(crate) fn always() -> Vec<[f64; 2]> {
    vec![[0.0, 1.0]]
}

section! {
    /// A force from outside: exactly one of `force`, `pressure`, `traction`, `body_force`.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Load: "load" {
        /// The body it acts on.
        body: String => "\"block\"";
        /// The set of the body it acts on; none for `body_force`.
        set: Option<String>;
        /// A force [N], shared equally by the nodes of the set.
        force: Option<[f64; 3]>;
        /// A pressure [Pa] that follows the sides of the set, pushing inwards.
        pressure: Option<f64>;
        /// A force per area of the undeformed sides of the set [Pa].
        traction: Option<[f64; 3]>;
        /// A force per volume of the undeformed body [N/m³].
        body_force: Option<[f64; 3]>;
        /// Factor in time: [time, factor] pairs, straight lines between, constant beyond.
        table: Vec<[f64; 2]> as TimeTable = always();
    } check |r| {
        let kind = r.one_of(&["force", "pressure", "traction", "body_force"]);
        match (kind, r.key_place("set")) {
            (Some("body_force"), Some(place)) => {
                r.problems.add(place, "a `body_force` acts on the whole body", "remove `set`");
                false
            }
            (Some(kind @ ("force" | "pressure" | "traction")), None) => {
                let help = "for example set = \"xmax\"";
                r.problems.add(&r.place, format!("a `{kind}` needs to know where: it has no `set`"), help);
                false
            }
            (kind, _) => kind.is_some(),
        }
    }
}

impl Listed for Load {
    fn called(i: usize, _: &str) -> String {
        format!("load {}", i + 1)
    }
}
