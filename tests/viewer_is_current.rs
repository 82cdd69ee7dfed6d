//! The bundle of the interactive page was made from the sources that lie beside it.

use std::fs;
use std::path::Path;

/// The first line of the bundle holds the checksum of everything it is made from, as `viewer/build.mjs` writes it.
#[test]
fn the_bundle_was_made_from_these_sources() {
    let viewer = Path::new(env!("CARGO_MANIFEST_DIR")).join("viewer");
    let entries = fs::read_dir(viewer.join("src")).unwrap().map(|e| e.unwrap().path());
    let mut sources: Vec<_> = entries.collect();
    sources.sort();
    assert!(sources.len() > 4);
    let mut sum = crc32fast::Hasher::new();
    for path in [viewer.join("package-lock.json"), viewer.join("build.mjs")].iter().chain(&sources) {
        sum.update(&fs::read(path).unwrap());
    }
    let bundle = fs::read_to_string(viewer.join("bundle.js")).unwrap();
    let head = bundle.lines().next().unwrap();
    let expected = format!("checksum {:08x}", sum.finalize());
    assert!(
        head.contains(&expected),
        "{head}\n  is not {expected}: run `npm ci && npm run build` in viewer/"
    );
    assert!(
        bundle.contains("SPDX-License-Identifier: MIT"),
        "the licence of three.js belongs into the bundle"
    );
}
