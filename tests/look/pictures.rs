//! Pictures show what the frames hold, the right way round.
//!
//! Golden pictures are kept small (`golden/*.png`, a quarter of the size drawn) and compared with a
//! tolerance: shapes, colours and places matter, single pixels do not. After an intended change look at the
//! new pictures and run with `CAROM_GOLDEN=write`.

use crate::folders;
use carom::look::image::Image;
use carom::look::{ColourBy, Range, RenderOptions, Select, Theme, picture, render};
use carom::math::Vec3;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

fn read_png(path: &Path) -> Image {
    let file = File::open(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let mut reader = png::Decoder::new(BufReader::new(file)).read_info().unwrap();
    let mut data = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut data).unwrap();
    let data = match info.color_type {
        png::ColorType::Rgb => data.chunks_exact(3).flat_map(|p| [p[0], p[1], p[2], 255]).collect(),
        _ => data,
    };
    Image { width: info.width as usize, height: info.height as usize, data }
}

/// Mean of each 4 × 4 pixels.
fn quarter(image: &Image) -> Image {
    let (w, h) = (image.width / 4, image.height / 4);
    let mut data = Vec::new();
    for y in 0..h {
        for x in 0..w {
            for c in 0..4 {
                let sum: u32 = (0..16)
                    .map(|i| image.data[4 * ((4 * y + i / 4) * image.width + 4 * x + i % 4) + c] as u32)
                    .sum();
                data.push((sum / 16) as u8);
            }
        }
    }
    Image { width: w, height: h, data }
}

fn matches_golden(name: &str, image: &Image) {
    let small = quarter(image);
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("tests/look/golden/{name}.png"));
    if std::env::var_os("CAROM_GOLDEN").is_some_and(|v| v == "write") {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, small.png().unwrap()).unwrap();
    }
    let golden = read_png(&path);
    assert_eq!((small.width, small.height), (golden.width, golden.height), "{name}");
    let differences: Vec<u32> =
        small.data.iter().zip(&golden.data).map(|(a, b)| a.abs_diff(*b) as u32).collect();
    let mean = differences.iter().sum::<u32>() as f64 / differences.len() as f64;
    let far = differences.iter().filter(|&&d| d > 48).count() as f64 / differences.len() as f64;
    assert!(mean < 1.5 && far < 0.002, "{name}: mean difference {mean:.2}, far off {:.2} %", 100.0 * far);
}

/// Colours up to the largest value, as golden pictures have them.
pub fn small() -> RenderOptions {
    RenderOptions { size: (640, 400), range: Range::Full, ..RenderOptions::default() }
}

/// Draws, keeps the picture for the eye, and compares.
pub fn golden(dir: &Path, name: &str, options: &RenderOptions) {
    let image = picture(dir, options).unwrap();
    std::fs::write(dir.join(format!("{name}.png")), image.png().unwrap()).unwrap();
    matches_golden(name, &image);
}

#[test]
fn colliding_bars_look_as_they_did() {
    let dir = folders::empty("bars");
    folders::two_bars(&dir, 13);
    golden(&dir, "bars", &RenderOptions { select: Select::Frame(6), ..small() });
    let outline = RenderOptions {
        select: Select::Frame(6),
        field: Some(ColourBy::Contact),
        undeformed: true,
        theme: Theme::Dark,
        view: Some("20,35".parse().unwrap()),
        ..small()
    };
    golden(&dir, "bars-contact", &outline);
}

#[test]
fn a_pile_of_cubes_looks_as_it_did() {
    let dir = folders::empty("cubes");
    folders::cubes(&dir, 4, 4, 4);
    golden(&dir, "cubes", &small());
    let cut = RenderOptions { cut: Some("-y=0.1".parse().unwrap()), field: Some(ColourBy::Body), ..small() };
    golden(&dir, "cubes-cut", &cut);
}

#[test]
fn a_disc_and_a_bar_look_as_they_did() {
    let dir = folders::empty("disc");
    folders::disc(&dir, 4);
    golden(&dir, "disc", &small());
    let dir = folders::empty("line");
    folders::line_bars(&dir, 5);
    golden(&dir, "line", &RenderOptions { select: Select::Time(2e-4), ..small() });
}

#[test]
fn round_bodies_are_smooth_and_keep_their_rims() {
    let dir = folders::empty("round");
    folders::round_bodies(&dir);
    golden(&dir, "round", &RenderOptions { field: Some(ColourBy::Body), ..small() });
    let image = picture(&dir, &RenderOptions { size: (1280, 800), ..small() }).unwrap();
    std::fs::write(dir.join("round-mises.png"), image.png().unwrap()).unwrap();
}

/// Share of pixels near a colour in a part of the picture (x and y from 0 to 1).
pub fn share(image: &Image, x: [f64; 2], y: [f64; 2], like: impl Fn([i32; 3]) -> bool) -> f64 {
    let at = |v: f64, n: usize| (v * n as f64) as usize;
    let (mut hits, mut all) = (0, 0);
    for j in at(y[0], image.height)..at(y[1], image.height) {
        for i in at(x[0], image.width)..at(x[1], image.width) {
            let p = image.pixel(i, j);
            hits += like([p.0 as i32, p.1 as i32, p.2 as i32]) as usize;
            all += 1;
        }
    }
    hits as f64 / all as f64
}

/// Body 0 is blue and lies at smaller x, body 1 orange: left and right in the views along y and z, and
/// swapped when seen from the other side.
#[test]
fn nothing_is_mirrored() {
    let dir = folders::empty("mirror");
    folders::two_bars(&dir, 3);
    let blue = |[r, _, b]: [i32; 3]| b > r + 40;
    let orange = |[r, _, b]: [i32; 3]| r > b + 60;
    for (view, swapped) in [("y", false), ("z", false), ("iso", false), ("180,10", true)] {
        let options = RenderOptions {
            select: Select::Frame(0),
            field: Some(ColourBy::Body),
            view: Some(view.parse().unwrap()),
            ..small()
        };
        let image = picture(&dir, &options).unwrap();
        let (left, right) = ([0.0, 0.4], [0.42, 0.78]);
        let (first, second) = if swapped { (right, left) } else { (left, right) };
        let tall = [0.1, 0.85];
        assert!(
            share(&image, first, tall, blue) > 0.05 && share(&image, first, tall, orange) < 0.002,
            "{view}"
        );
        assert!(
            share(&image, second, tall, orange) > 0.05 && share(&image, second, tall, blue) < 0.002,
            "{view}"
        );
    }
}

/// The whole model lies inside the picture, clear of its border, in any shape of picture.
#[test]
fn nothing_is_clipped() {
    let dir = folders::empty("clipped");
    folders::cubes(&dir, 2, 3, 2);
    for size in [(640, 400), (400, 640), (900, 200), (200, 200), (1001, 333)] {
        for view in ["iso", "x", "z", "-60,-30"] {
            let options = RenderOptions {
                size,
                view: Some(view.parse().unwrap()),
                field: Some(ColourBy::Speed),
                ..small()
            };
            let image = picture(&dir, &options).unwrap();
            let white =
                |x: usize, y: usize| image.pixel(x, y) == carom::look::colour::Rgba::rgb(255, 255, 255);
            let rim = (0..size.0).all(|x| white(x, 0) && white(x, size.1 - 1))
                && (0..size.1).all(|y| white(0, y) && white(size.0 - 1, y));
            assert!(rim, "{size:?} {view}");
        }
    }
}

#[test]
fn a_bar_can_be_looked_at_end_on_and_a_run_that_blew_up_can_be_drawn() {
    let dir = folders::empty("odd");
    folders::line_bars(&dir, 2);
    picture(&dir, &RenderOptions { view: Some("x".parse().unwrap()), ..small() }).unwrap();

    let mut model = folders::Model::default();
    model.block(Vec3::zeros(), Vec3::repeat(1.0), [2, 2, 2], 0);
    let nan = |i, _, _| if i == 5 { Vec3::repeat(f64::NAN) } else { Vec3::zeros() };
    model.frames(&dir, 1, 1.0, nan, |_, _| f64::INFINITY, |_, _| f64::NAN);
    for field in ["mises", "speed", "displacement", "body", "contact", "vx", "uz", "strain"] {
        let options = RenderOptions {
            field: Some(field.parse().unwrap()),
            cut: Some("z=0.4".parse().unwrap()),
            ..small()
        };
        picture(&dir, &options).unwrap();
    }
}

#[test]
fn a_transparent_picture_has_no_paper() {
    let dir = folders::empty("transparent");
    folders::disc(&dir, 2);
    let image = picture(&dir, &RenderOptions { theme: Theme::Transparent, ..small() }).unwrap();
    assert_eq!(image.pixel(2, 2).3, 0);
    assert_eq!(image.pixel(250, 150).3, 255);
}

#[test]
fn pictures_do_not_depend_on_the_number_of_threads() {
    let dir = folders::empty("threads");
    folders::cubes(&dir, 2, 3, 3);
    let draw = |threads| picture(&dir, &RenderOptions { threads: Some(threads), ..small() }).unwrap();
    assert!(draw(1) == draw(3));
}

#[test]
fn all_frames_become_a_gif_an_animated_png_or_a_series() {
    let dir = folders::empty("animation");
    folders::cubes(&dir, 7, 2, 2);
    let all = |out: &str| RenderOptions {
        select: Select::All,
        size: (320, 200),
        out: Some(dir.join(out)),
        ..RenderOptions::default()
    };

    let files = render(&dir, &all("film.gif")).unwrap();
    assert_eq!(files, [dir.join("film.gif")]);
    let mut options = gif::DecodeOptions::new();
    options.set_color_output(gif::ColorOutput::Indexed);
    let mut decoder = options.read_info(File::open(&files[0]).unwrap()).unwrap();
    assert_eq!((decoder.width(), decoder.height()), (320, 200));
    let mut count = 0;
    while decoder.read_next_frame().unwrap().is_some() {
        count += 1;
    }
    assert_eq!(count, 7);

    let files = render(&dir, &all("film.png")).unwrap();
    let reader = png::Decoder::new(BufReader::new(File::open(&files[0]).unwrap())).read_info().unwrap();
    assert_eq!(reader.info().animation_control().unwrap().num_frames, 7);

    let files = render(&dir, &all("series")).unwrap();
    assert_eq!(files.len(), 7);
    assert_eq!(files[6], dir.join("series/000006.png"));
    // The series and the first image of the animation are the same picture.
    assert!(read_png(&files[0]).data == read_png(&dir.join("film.png")).data);
}

#[test]
fn a_sheet_holds_the_first_and_the_last_frame() {
    let dir = folders::empty("sheet");
    folders::cubes(&dir, 9, 3, 2);
    let options = RenderOptions {
        select: Select::Sheet { rows: 2, columns: 2 },
        size: (960, 640),
        field: Some(ColourBy::Displacement),
        range: Range::Full,
        ..RenderOptions::default()
    };
    let files = render(&dir, &options).unwrap();
    assert_eq!(files, [dir.join("pictures/displacement-sheet.png")]);
    let sheet = read_png(&files[0]);
    assert_eq!((sheet.width, sheet.height), (960, 640));
    matches_golden("sheet", &sheet);
}

/// Two bars, one at smaller x: the other one can be left out, looked at from near, and decide the colours.
#[test]
fn bodies_can_be_left_out_and_looked_at_from_near() {
    let dir = folders::empty("chosen");
    folders::two_bars(&dir, 3);
    let blue = |[r, _, b]: [i32; 3]| b > r + 40;
    let orange = |[r, _, b]: [i32; 3]| r > b + 60;
    let all = [[0.0, 0.8], [0.1, 0.85]];
    let draw = |options: RenderOptions| {
        let options = RenderOptions { field: Some(ColourBy::Body), select: Select::Frame(0), ..options };
        let image = picture(&dir, &options).unwrap();
        (share(&image, all[0], all[1], blue), share(&image, all[0], all[1], orange))
    };
    let both = draw(small());
    assert!(both.0 > 0.05 && both.1 > 0.05, "{both:?}");
    let one = draw(RenderOptions { bodies: vec!["1".into()], ..small() });
    assert!(one.0 < 0.002 && one.1 > both.1, "{one:?} {both:?}");
    let near = draw(RenderOptions { focus: Some("0".parse().unwrap()), ..small() });
    assert!(near.0 > 1.3 * both.0, "{near:?} {both:?}");
    let error = picture(&dir, &RenderOptions { bodies: vec!["ball".into()], ..small() }).unwrap_err();
    assert!(error.to_string().contains("no body `ball`"), "{error}");
}

/// One node of a hundred is stressed fifty times more than the others: only the full range is up to it.
#[test]
fn a_single_peak_does_not_hide_the_rest_and_can_be_marked() {
    let dir = folders::empty("peak");
    let mut model = folders::Model::default();
    model.block(Vec3::zeros(), Vec3::repeat(1.0), [6, 6, 6], 0);
    let stress = |x: Vec3, _| if x.norm() < 0.2 { 50.0 } else { x.x };
    model.frames(&dir, 1, 1.0, |_, _, _| Vec3::zeros(), stress, |_, _| 0.0);
    let view = Some("-30,20".parse().unwrap());
    let yellow = |[r, g, b]: [i32; 3]| r > 150 && g > 150 && b < 120;
    let of = |options: RenderOptions| picture(&dir, &RenderOptions { view, ..options }).unwrap();
    let (usual, full) = (of(RenderOptions { range: Range::Usual, ..small() }), of(small()));
    let part = ([0.1, 0.7], [0.1, 0.85]);
    let (few, most) = (share(&full, part.0, part.1, yellow), share(&usual, part.0, part.1, yellow));
    assert!(most > 0.01 && most > 3.0 * few, "{most} {few}");
    let marked = of(RenderOptions {
        range: Range::Usual,
        mark: true,
        title: Some("A block".into()),
        unit: Some("MPa".into()),
        ..small()
    });
    assert!(marked != usual);
    std::fs::write(dir.join("marked.png"), marked.png().unwrap()).unwrap();
}
