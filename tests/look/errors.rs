//! What cannot be read gives a sentence and no picture.

use crate::folders;
use carom::look::{ColourBy, LookError, PlotOptions, RenderOptions, Select, plot, render};
use std::fs;
use std::path::Path;

/// Both commands fail, or one of them, with `words` in the message, and leave no picture behind.
fn refused(dir: &Path, words: &str, options: &RenderOptions) {
    let error = render(dir, options).unwrap_err();
    assert!(error.to_string().contains(words), "{error}");
    assert!(!error.is_output());
    assert!(!dir.join("pictures").exists());
}

fn refused_plot(dir: &Path, words: &str) {
    let error = plot(dir, &PlotOptions::default()).unwrap_err();
    assert!(error.to_string().contains(words), "{error}");
    assert!(!error.is_output());
    assert!(!dir.join("plots").exists());
}

#[test]
fn a_folder_without_a_run_is_refused() {
    let dir = folders::empty("errors_empty");
    refused(&dir, "frames.pvd", &RenderOptions::default());
    refused_plot(&dir, "summary.json");
    refused(&dir.join("nowhere"), "frames.pvd", &RenderOptions::default());
    refused_plot(&dir.join("nowhere"), "summary.json");
}

#[test]
fn a_damaged_history_or_summary_is_refused_with_its_place() {
    let dir = folders::empty("errors_history");
    folders::history(&dir, "Two elastic bars", 20);
    let good = fs::read_to_string(dir.join("history.csv")).unwrap();
    for (text, words) in [
        (String::new(), "history.csv:1: there is no line of column names"),
        ("a,b\n1,2\n".into(), "history.csv:1: the first column is `a`, not `time`"),
        ("time,a\n1,2\n".into(), "there are no columns `total` and `error`"),
        (good.lines().next().unwrap().to_owned() + "\n", "history.csv:2: there is no row yet"),
        (good[..good.len() - 60].to_owned(), "history.csv:22: 27 numbers under 29 names"),
        (
            good.replacen("e0,", "e0x,", 1),
            "history.csv:2: `0.0000000000000000e0x` in column `time` is not a number",
        ),
        ("\u{0}\u{1}PK".into(), "history.csv:1"),
    ] {
        fs::write(dir.join("history.csv"), text).unwrap();
        refused_plot(&dir, words);
    }
    fs::remove_file(dir.join("history.csv")).unwrap();
    refused_plot(&dir, "history.csv");
    fs::write(dir.join("history.csv"), good).unwrap();
    for (text, words) in [("{\"status\": \"fin", "is not a summary"), ("[1, 2]", "it has no \"status\"")] {
        fs::write(dir.join("summary.json"), text).unwrap();
        refused_plot(&dir, words);
    }
}

#[test]
fn a_reference_with_an_unknown_column_is_refused() {
    let dir = folders::empty("errors_reference");
    folders::history(&dir, "Two elastic bars", 20);
    let reference = dir.join("reference.csv");
    fs::write(&reference, "time,tip.ua\n0,1\n").unwrap();
    let error =
        plot(&dir, &PlotOptions { references: vec![reference], ..PlotOptions::default() }).unwrap_err();
    assert!(error.to_string().contains("column `tip.ua`"), "{error}");
    assert!(!dir.join("plots").exists());
}

#[test]
fn damaged_frames_are_refused() {
    let dir = folders::empty("errors_frames");
    folders::line_bars(&dir, 3);
    let all = RenderOptions { select: Select::All, size: (320, 200), ..RenderOptions::default() };
    let last = dir.join("frames/000002.vtu");
    let good = fs::read(&last).unwrap();
    for (bytes, words) in [
        (good[..good.len() / 2].to_vec(), "is damaged"),
        (Vec::new(), "is damaged: it is empty"),
        (b"<?xml version=\"1.0\"?>\n<VTKFile type=\"PolyData\">\n</VTKFile>\n".to_vec(), "is not a frame"),
        (b"GIF89a".to_vec(), "is not a frame"),
    ] {
        fs::write(&last, bytes).unwrap();
        refused(&dir, words, &all);
    }
    fs::remove_file(&last).unwrap();
    refused(&dir, "000002.vtu", &all);
    fs::write(dir.join("frames.pvd"), "hello").unwrap();
    refused(&dir, "is not a series of frames", &all);
}

#[test]
fn what_is_not_there_cannot_be_shown() {
    let dir = folders::empty("errors_options");
    folders::line_bars(&dir, 2);
    let of = |change: &dyn Fn(&mut RenderOptions)| {
        let mut options = RenderOptions { size: (320, 200), ..RenderOptions::default() };
        change(&mut options);
        options
    };
    refused(&dir, "there is no frame 9; the last one is 1", &of(&|o| o.select = Select::Frame(9)));
    refused(&dir, "each side may have", &of(&|o| o.size = (0, 200)));
    refused(&dir, "at least one row", &of(&|o| o.select = Select::Sheet { rows: 0, columns: 3 }));
    refused(
        &dir,
        "cannot go into a .mp4 file",
        &of(&|o| {
            o.select = Select::All;
            o.out = Some("film.mp4".into());
        }),
    );
    assert!("stress".parse::<ColourBy>().unwrap_err().contains("mises, speed, displacement, body, contact"));
}

#[test]
fn a_picture_that_cannot_be_written_is_told_apart() {
    let dir = folders::empty("errors_write");
    folders::line_bars(&dir, 2);
    fs::write(dir.join("file"), "").unwrap();
    let out = Some(dir.join("file/picture.png"));
    let error =
        render(&dir, &RenderOptions { out, size: (320, 200), ..RenderOptions::default() }).unwrap_err();
    assert!(matches!(error, LookError::Write { .. }) && error.is_output(), "{error}");
}
