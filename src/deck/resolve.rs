//! The resolved deck: every default written out, mesh paths from where it lies, the hash of each mesh noted.
//!
//! Running it gives the same result, bit for bit. It is also how a folder remembers what it was made from.

use super::Loaded;
use super::mesh::{MeshSpec, Origin};
use carom_declare::{Section, Written};
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

impl Loaded {
    /// The text of the resolved deck, to be put into `folder`, which exists.
    pub fn resolved(&self, folder: &Path) -> io::Result<String> {
        let mut spec = self.spec.clone();
        let from_there = |path: &str| -> io::Result<String> {
            let path = relative(&fs::canonicalize(folder)?, &fs::canonicalize(self.folder.join(path))?);
            let text = path.to_str().map(str::to_owned);
            text.ok_or_else(|| {
                io::Error::other(format!("the path {} is not UTF-8 and fits no deck", path.display()))
            })
        };
        for (_, body) in spec.body.iter_mut() {
            if let Some(MeshSpec { origin: Origin::File(mesh), .. }) = body.mesh_mut() {
                mesh.file = from_there(&mesh.file)?;
            }
        }
        if let Some(start) = &mut spec.start {
            start.from = from_there(&start.from)?;
        }
        let mut text = toml::to_string(&Written::Table(spec.write_keys())).map_err(io::Error::other)?;
        if spec.contact.as_ref().is_some_and(|c| c.restitution.is_none()) {
            // of the method, not of the deck: another method has its own
            let (method, own) = (spec.method.name(), spec.method.restitution());
            let comment =
                format!("\n[contact]\n# restitution = {own:?}, that of method \"{method}\" unless given\n");
            text = text.replacen("\n[contact]\n", &comment, 1);
        }
        let head =
            format!("# As resolved by Carom {}: every default is written out.\n", env!("CARGO_PKG_VERSION"));
        Ok(head + &text)
    }
}

/// The way from folder `from` to `to`, both absolute; `to` itself where they have nothing in common.
fn relative(from: &Path, to: &Path) -> PathBuf {
    let common = from.components().zip(to.components()).take_while(|(a, b)| a == b).count();
    let rooted = |path: &Path| path.components().next().is_some_and(|c| !matches!(c, Component::Normal(_)));
    if common == 0 && rooted(to) {
        return to.to_owned();
    }
    let up = from.components().skip(common).map(|_| Component::ParentDir);
    up.chain(to.components().skip(common)).collect()
}

/// How a run's stored deck and a new one differ in what a resumed run must keep: all but `end` and `[output]`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Difference {
    /// Dotted keys whose values differ.
    pub keys: Vec<String>,
    /// The end of the stored run [s].
    pub end: f64,
}

/// Compares two resolved decks.
pub(crate) fn compare(stored: &str, new: &str) -> Result<Difference, String> {
    let parse = |text: &str| text.parse::<toml::Table>().map_err(|e| e.message().to_owned());
    let (mut stored, mut new) = (parse(stored)?, parse(new)?);
    let end = stored.get("end").and_then(toml::Value::as_float).ok_or("it has no `end`")?;
    for table in [&mut stored, &mut new] {
        table.remove("end");
        table.remove("output");
    }
    let mut keys = Vec::new();
    differ("", &toml::Value::Table(stored), &toml::Value::Table(new), &mut keys);
    Ok(Difference { keys, end })
}

fn differ(path: &str, a: &toml::Value, b: &toml::Value, keys: &mut Vec<String>) {
    match (a, b) {
        (toml::Value::Table(a), toml::Value::Table(b)) => {
            let join = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
            for key in a.keys().chain(b.keys().filter(|k| !a.contains_key(*k))) {
                match (a.get(key), b.get(key)) {
                    (Some(a), Some(b)) => differ(&join(key), a, b, keys),
                    _ => keys.push(join(key)),
                }
            }
            // bodies are numbered in their order, and probes are columns
            let ordered = ["body", "probe"].contains(&path);
            if ordered && a.keys().ne(b.keys()) && a.len() == b.len() && keys.is_empty() {
                keys.push(format!("the order in {path}"));
            }
        }
        _ if a != b => keys.push(path.to_owned()),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_from_folder_to_file_goes_up_and_down() {
        let way = |from: &str, to: &str| relative(Path::new(from), Path::new(to));
        assert_eq!(way("/a/out/run", "/a/meshes/x.msh"), Path::new("../../meshes/x.msh"));
        assert_eq!(way("/a", "/a/x.msh"), Path::new("x.msh"));
    }

    #[test]
    fn only_the_end_and_the_output_of_a_deck_may_change() {
        let stored =
            "end = 1.0\nmethod = \"verlet\"\n[output]\nframes = 5\n[body.a]\nvelocity = [1.0, 0.0]\n";
        let same = "end = 2.0\nmethod = \"verlet\"\n[body.a]\nvelocity = [1.0, 0.0]\n";
        assert_eq!(compare(stored, same).unwrap(), Difference { keys: vec![], end: 1.0 });
        let other = "end = 2.0\nmethod = \"dcr\"\n[body.a]\nvelocity = [1.0, 0.5]\n[body.b]\n";
        assert_eq!(compare(stored, other).unwrap().keys, ["method", "body.a.velocity", "body.b"]);
        assert!(compare("end = ", same).is_err());
    }
}
