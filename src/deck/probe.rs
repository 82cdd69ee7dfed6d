//! `[probe.NAME]`: numbers to follow in time.

use carom_declare::section;

section! {
    /// Numbers to follow: of a body a node, the mean of a set, what holds a set, or its centre and spin; or what contact does.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Probe: "probe" {
        /// The body it looks at; alone, its centre of mass and spin.
        body: Option<String>;
        /// The force and impulse that contact with the second body gives to the first; either may be an obstacle.
        between: Option<[String; 2]>;
        /// The force and impulse that contact with all others together gives to this body, or obstacle.
        contact: Option<String>;
        /// One node, counted from 0 in the body.
        node: Option<u32>;
        /// The mean of a set of nodes.
        nodes: Option<String>;
        /// The force and impulse that hold a set.
        reaction: Option<String>;
    } check |r| {
        let what = r.one_of(&["body", "between", "contact"]);
        let parts = ["node", "nodes", "reaction"];
        let given: Vec<&str> = parts.into_iter().filter(|k| r.has(k)).collect();
        match (what, &given[..]) {
            (_, [_, _, ..]) => r.one_of(&parts).is_some() && what.is_some(),
            (Some(what @ ("between" | "contact")), [key]) => {
                let place = r.key_place(key).unwrap_or(&r.place);
                let message = format!("{} has `{what}`; it has no `{key}`", r.name);
                r.problems.add(place, message, format!("`{key}` is for a probe of one `body`"));
                false
            }
            _ => what.is_some(),
        }
    }
}
