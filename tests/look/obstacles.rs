//! Obstacles are grey, out of the scale, and never in the way.

use crate::folders::{self, Model};
use crate::pictures::{golden, share, small};
use carom::look::image::Image;
use carom::look::{ColourBy, RenderOptions, picture};
use carom::math::Vec3;
use std::path::Path;

/// A unit cube on the floor of a box that is open above; its planes are drawn as pieces of half-size `reach`.
fn cube_in_a_box(reach: f64) -> Model {
    let mut model = Model::default();
    model.block(Vec3::new(-0.5, -0.5, 0.0), Vec3::repeat(1.0), [4, 4, 4], 0);
    let (x, y, z) = (Vec3::x(), Vec3::y(), Vec3::z());
    // Where each plane is, and two directions that span it, the normal into the box.
    for (at, s, t) in [(0.0 * z, x, y), (-x, y, z), (x, z, y), (-y, z, x), (y, x, z)] {
        let corner = |a: f64, b: f64| at + reach * (a * s + b * t);
        model.obstacle([corner(-1.0, -1.0), corner(1.0, -1.0), corner(1.0, 1.0), corner(-1.0, 1.0)], 2);
    }
    model
}

/// One frame at rest; `push` is the contact force.
fn write(model: &Model, dir: &Path, push: impl Fn(Vec3) -> f64) {
    model.frames(dir, 1, 1.0, |_, _, _| Vec3::zeros(), |x, _| 1e5 * (1.0 + x.x), |x, _| push(x));
}

fn is_blue([r, _, b]: [i32; 3]) -> bool {
    b > r + 40
}

fn is_grey([r, g, b]: [i32; 3]) -> bool {
    (120..245).contains(&g) && (r - g).abs() < 12 && (b - g).abs() < 12
}

/// Largest difference between two pictures, of means over the whole picture.
fn difference(a: &Image, b: &Image) -> f64 {
    assert_eq!((a.width, a.height), (b.width, b.height));
    let sum: u64 = a.data.iter().zip(&b.data).map(|(a, b)| a.abs_diff(*b) as u64).sum();
    sum as f64 / a.data.len() as f64
}

/// From every side the cube is blue and unhidden, walls behind it are grey, and nothing has another body's colour.
#[test]
fn walls_give_way_to_what_is_between_them() {
    let dir = folders::empty("box");
    write(&cube_in_a_box(1.5), &dir, |_| 0.0);
    for view in ["iso", "0,20", "90,20", "180,20", "-130,40", "32,-24"] {
        let options =
            RenderOptions { field: Some(ColourBy::Body), view: Some(view.parse().unwrap()), ..small() };
        let image = picture(&dir, &options).unwrap();
        let (wide, tall) = ([0.0, 0.8], [0.0, 0.85]);
        let (blue, grey) = (share(&image, wide, tall, is_blue), share(&image, wide, tall, is_grey));
        let strange = share(&image, wide, tall, |[r, _, b]| r > b + 40);
        assert!(blue > 0.04 && strange == 0.0, "{view}: {blue} {strange}");
        // From below all walls but the two at the back are left out, and so is the floor.
        assert!(grey > 0.04, "{view}: {grey}");
    }
    golden(&dir, "box", &small());
}

/// The camera looks at bodies: a plane is endless, and how much of it a frame holds does not matter.
#[test]
fn a_plane_looks_the_same_however_large_a_piece_is_drawn() {
    let dir = ["piece-small", "piece-large"].map(folders::empty);
    write(&cube_in_a_box(0.2), &dir[0], |_| 0.0);
    write(&cube_in_a_box(300.0), &dir[1], |_| 0.0);
    let [a, b] = dir.map(|dir| picture(&dir, &small()).unwrap());
    assert!(difference(&a, &b) < 0.01);
    assert!(share(&a, [0.0, 0.8], [0.0, 0.85], is_blue) > 0.04);
}

#[test]
fn obstacles_have_no_say_in_the_range_of_colours() {
    let dir = ["range-bodies", "range-all"].map(folders::empty);
    let on_cube = |x: Vec3| if x.x.abs() <= 0.5 && x.y.abs() <= 0.5 && x.z > 0.0 { 1.0 + x.z } else { 0.0 };
    write(&cube_in_a_box(1.5), &dir[0], on_cube);
    write(
        &cube_in_a_box(1.5),
        &dir[1],
        |x| if on_cube(x) > 0.0 || x.norm() < 1.0 { on_cube(x) } else { 1e6 },
    );
    let options = RenderOptions { field: Some(ColourBy::Contact), ..small() };
    let [a, b] = dir.map(|dir| picture(&dir, &options).unwrap());
    assert!(a == b);
}

/// Frames that do not tell what is rigid show everything as a body.
#[test]
fn frames_without_the_field_are_drawn_as_before() {
    let dir = folders::empty("unmarked");
    let mut model = cube_in_a_box(1.5);
    model.rigid.clear();
    write(&model, &dir, |_| 0.0);
    let image = picture(&dir, &RenderOptions { field: Some(ColourBy::Body), ..small() }).unwrap();
    assert!(share(&image, [0.0, 0.8], [0.0, 0.85], |[r, _, b]| r > b + 40) > 0.05);
}

/// A plate far larger than the body is cut off around it; one of the body's size is shown whole. Seen from behind, that
/// is from inside, both are gone.
#[test]
fn rigid_meshes_are_seen_from_outside_and_near_the_bodies() {
    let plate = |half: f64| {
        let mut model = Model::default();
        model.block(Vec3::new(-0.5, -0.5, 0.0), Vec3::repeat(1.0), [2, 2, 2], 0);
        let corner = |a: f64, b: f64| half * Vec3::new(a, b, 0.0);
        model.obstacle([corner(-1.0, -1.0), corner(1.0, -1.0), corner(1.0, 1.0), corner(-1.0, 1.0)], 1);
        model
    };
    let dir = ["plate-1", "plate-4", "plate-400"].map(folders::empty);
    for (dir, half) in dir.iter().zip([1.0, 4.0, 400.0]) {
        write(&plate(half), dir, |_| 0.0);
    }
    let look = |dir: &Path, view: &str| {
        picture(dir, &RenderOptions { view: Some(view.parse().unwrap()), ..small() }).unwrap()
    };
    let grey = |image: &Image| share(image, [0.0, 0.75], [0.1, 0.8], is_grey);
    let above = dir.each_ref().map(|dir| look(dir, "32,50"));
    assert!(grey(&above[0]) > 0.05 && grey(&above[1]) > 0.05);
    assert!(difference(&above[1], &above[2]) < 0.01 && difference(&above[0], &above[1]) > 1.0);
    assert!(dir.iter().all(|dir| grey(&look(dir, "32,-50")) < 0.02));
}

/// A disc above two planes that meet at a right angle: bands below it, grey, that do not cross.
#[test]
fn a_notch_in_the_plane_is_a_grey_band_with_a_corner() {
    let dir = folders::empty("notch");
    let mut model = Model::default();
    model.disc(Vec3::new(0.0, 1.5, 0.0), 1.0, 6, 40, 0);
    // Down the left side and up the right one, the solid on the left of the way from the first corner to the second.
    for (from, to) in [((0.0, 0.0), (-1.0, 1.0)), ((1.0, 1.0), (0.0, 0.0))] {
        let [a, b] = [from, to].map(|(x, y): (f64, f64)| Vec3::new(x, y, 0.0));
        let along = (b - a).normalize();
        let inwards = 0.1 * Vec3::new(-along.y, along.x, 0.0);
        model.obstacle([a, b, b + inwards, a + inwards], 2);
    }
    write(&model, &dir, |_| 0.0);
    golden(&dir, "notch", &small());
}
