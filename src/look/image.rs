//! Pixels: painting flat shapes with soft edges, and the files pictures are kept in.

use super::colour::Rgba;
use super::draw::Point;
use rayon::prelude::*;
use std::borrow::Cow;
use std::cell::RefCell;
use std::io;
use std::rc::Rc;

/// Rows from the top, sRGB with straight alpha.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    pub width: usize,
    pub height: usize,
    /// Four bytes a pixel.
    pub data: Vec<u8>,
}

impl Image {
    pub(crate) fn filled(width: usize, height: usize, colour: Rgba) -> Image {
        let data = [colour.0, colour.1, colour.2, colour.3].repeat(width * height);
        Image { width, height, data }
    }

    pub fn pixel(&self, x: usize, y: usize) -> Rgba {
        let i = 4 * (y * self.width + x);
        Rgba(self.data[i], self.data[i + 1], self.data[i + 2], self.data[i + 3])
    }

    /// Copies `other` with its corner at (x, y); what sticks out is dropped.
    pub fn put(&mut self, other: &Image, x: usize, y: usize) {
        let w = other.width.min(self.width.saturating_sub(x));
        for row in 0..other.height.min(self.height.saturating_sub(y)) {
            let from = 4 * row * other.width;
            let to = 4 * ((y + row) * self.width + x);
            self.data[to..to + 4 * w].copy_from_slice(&other.data[from..from + 4 * w]);
        }
    }

    fn blend(&mut self, x: usize, y: usize, colour: Rgba, coverage: f32) {
        let a = coverage * colour.3 as f32 / 255.0;
        let i = 4 * (y * self.width + x);
        let pixel = &mut self.data[i..i + 4];
        let below = pixel[3] as f32 / 255.0;
        let whole = a + below * (1.0 - a);
        if whole <= 0.0 {
            return;
        }
        for (c, new) in pixel.iter_mut().zip([colour.0, colour.1, colour.2]) {
            *c = ((new as f32 * a + *c as f32 * below * (1.0 - a)) / whole + 0.5) as u8;
        }
        pixel[3] = (whole * 255.0 + 0.5) as u8;
    }

    /// Pixels that touch the box around `points`, grown by `margin`: (x0, y0, width, height).
    fn window<'a>(
        &self,
        points: impl Iterator<Item = &'a Point>,
        margin: f64,
    ) -> Option<(usize, usize, usize, usize)> {
        let (mut lo, mut hi) = ([f64::MAX; 2], [f64::MIN; 2]);
        for p in points {
            for k in 0..2 {
                lo[k] = lo[k].min(p[k]);
                hi[k] = hi[k].max(p[k]);
            }
        }
        let cut = |v: f64, most: usize| v.clamp(0.0, most as f64) as usize;
        let x0 = cut((lo[0] - margin).floor(), self.width);
        let x1 = cut((hi[0] + margin).ceil(), self.width);
        let y0 = cut((lo[1] - margin).floor(), self.height);
        let y1 = cut((hi[1] + margin).ceil(), self.height);
        (x1 > x0 && y1 > y0).then(|| (x0, y0, x1 - x0, y1 - y0))
    }

    /// Fills closed contours (holes run the other way round).
    ///
    /// Each edge adds the area it cuts from every pixel to its right; a running sum along the row
    /// gives the exact coverage.
    pub fn fill(&mut self, contours: &[Vec<Point>], colour: Rgba) {
        let Some((x0, y0, w, h)) = self.window(contours.iter().flatten(), 1.0) else { return };
        let mut area = vec![0.0_f32; (w + 2) * h];
        for contour in contours {
            for i in 0..contour.len() {
                let shift = |p: Point| [(p[0] - x0 as f64) as f32, (p[1] - y0 as f64) as f32];
                edge_area(&mut area, w, h, shift(contour[i]), shift(contour[(i + 1) % contour.len()]));
            }
        }
        for y in 0..h {
            let mut sum = 0.0;
            for x in 0..w {
                sum += area[y * (w + 2) + x];
                let coverage = sum.abs().min(1.0);
                if coverage > 0.002 {
                    self.blend(x0 + x, y0 + y, colour, coverage);
                }
            }
        }
    }

    /// Strokes polylines with round joins and ends; a single point is a disc.
    ///
    /// The coverage of a pixel falls over one pixel across the border of the nearest segment; overlaps
    /// within one stroke count once.
    pub(crate) fn stroke(&mut self, lines: &[Vec<Point>], width: f64, colour: Rgba) {
        let radius = width / 2.0;
        if radius <= 0.0 {
            return;
        }
        let Some((x0, y0, w, h)) = self.window(lines.iter().flatten(), radius + 1.0) else { return };
        let mut cover = vec![0.0_f32; w * h];
        // Lines thinner than a pixel become faint instead of broken.
        let (reach, faint) = (radius.max(0.5) as f32, width.min(1.0) as f32);
        for line in lines {
            for i in 0..line.len().max(2) - 1 {
                let (Some(&a), Some(&b)) = (line.get(i), line.get(i + 1).or(line.get(i))) else { continue };
                let Some((sx, sy, sw, sh)) = self.window([a, b].iter(), radius + 1.0) else { continue };
                let (ax, ay) = (a[0] as f32, a[1] as f32);
                let (dx, dy) = (b[0] as f32 - ax, b[1] as f32 - ay);
                let length_squared = (dx * dx + dy * dy).max(1e-12);
                for y in sy..sy + sh {
                    let py = y as f32 + 0.5 - ay;
                    let row = &mut cover[(y - y0) * w..(y - y0 + 1) * w];
                    for x in sx..sx + sw {
                        let px = x as f32 + 0.5 - ax;
                        let t = ((px * dx + py * dy) / length_squared).clamp(0.0, 1.0);
                        let (ex, ey) = (px - t * dx, py - t * dy);
                        let c = (reach + 0.5 - (ex * ex + ey * ey).sqrt()).clamp(0.0, 1.0) * faint;
                        let cell = &mut row[x - x0];
                        *cell = cell.max(c);
                    }
                }
            }
        }
        for y in 0..h {
            for x in 0..w {
                let c = cover[y * w + x];
                if c > 0.002 {
                    self.blend(x0 + x, y0 + y, colour, c);
                }
            }
        }
    }

    fn opaque(&self) -> bool {
        self.data.iter().skip(3).step_by(4).all(|&a| a == 255)
    }

    fn rgb(&self) -> Vec<u8> {
        self.data.chunks_exact(4).flat_map(|p| [p[0], p[1], p[2]]).collect()
    }

    /// The bytes of a PNG file.
    pub fn png(&self) -> io::Result<Vec<u8>> {
        png_of(self)
    }
}

/// Adds the signed area to the right of one edge; the window is `w` + 2 wide and `h` high.
fn edge_area(area: &mut [f32], w: usize, h: usize, a: [f32; 2], b: [f32; 2]) {
    if a[1] == b[1] {
        return;
    }
    let (sign, a, b) = if a[1] < b[1] { (1.0, a, b) } else { (-1.0, b, a) };
    let slope = (b[0] - a[0]) / (b[1] - a[1]);
    let last = w as f32;
    let mut x = if a[1] < 0.0 { a[0] - a[1] * slope } else { a[0] };
    for y in a[1].max(0.0) as usize..h.min(b[1].ceil().max(0.0) as usize) {
        let row = &mut area[y * (w + 2)..(y + 1) * (w + 2)];
        let dy = ((y + 1) as f32).min(b[1]) - (y as f32).max(a[1]);
        let next = x + slope * dy;
        let d = dy * sign;
        let (left, right) = if x < next { (x, next) } else { (next, x) };
        let (left, right) = (left.clamp(0.0, last), right.clamp(0.0, last));
        let first = left.floor() as usize;
        let end = right.ceil() as usize;
        if end <= first + 1 {
            // The whole piece lies in one pixel.
            let middle = 0.5 * (left + right) - first as f32;
            row[first] += d * (1.0 - middle);
            row[first + 1] += d * middle;
        } else {
            let per_pixel = 1.0 / (right - left);
            let into = 1.0 - (left - first as f32);
            let a0 = 0.5 * per_pixel * into * into;
            let out = right - end as f32 + 1.0;
            let am = 0.5 * per_pixel * out * out;
            row[first] += d * a0;
            if end == first + 2 {
                row[first + 1] += d * (1.0 - a0 - am);
            } else {
                let a1 = per_pixel * (1.5 - (left - first as f32));
                row[first + 1] += d * (a1 - a0);
                for cell in &mut row[first + 2..end - 1] {
                    *cell += d * per_pixel;
                }
                let a2 = a1 + (end - first - 3) as f32 * per_pixel;
                row[end - 1] += d * (1.0 - a2 - am);
            }
            row[end] += d * am;
        }
        x = next;
    }
}

/// The bytes of a PNG file that holds one image.
fn png_of(image: &Image) -> io::Result<Vec<u8>> {
    let opaque = image.opaque();
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, image.width as u32, image.height as u32);
    encoder.set_color(if opaque { png::ColorType::Rgb } else { png::ColorType::Rgba });
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_compression(png::Compression::Balanced);
    let mut writer = encoder.write_header().map_err(io::Error::other)?;
    let data = if opaque { Cow::Owned(image.rgb()) } else { Cow::Borrowed(&image.data) };
    writer.write_image_data(&data).map_err(io::Error::other)?;
    writer.finish().map_err(io::Error::other)?;
    Ok(bytes)
}

/// Bytes that stay within reach while an encoder holds them.
#[derive(Clone, Default)]
pub(crate) struct Sink(Rc<RefCell<Vec<u8>>>);

impl io::Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A file of moving pictures in the making; it repeats for ever.
///
/// Images are taken in batches and kept compressed, so that a long animation fits into memory.
pub(crate) enum Animation {
    Png { writer: Box<png::Writer<Sink>>, bytes: Sink },
    Gif(Box<Gif>),
}

impl Animation {
    /// An animated PNG of `count` images.
    pub(crate) fn png(width: usize, height: usize, count: usize, fps: f64) -> io::Result<Animation> {
        let bytes = Sink::default();
        let mut encoder = png::Encoder::new(bytes.clone(), width as u32, height as u32);
        encoder.set_color(png::ColorType::Rgba);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_compression(png::Compression::Fast);
        encoder.set_animated(count as u32, 0).map_err(io::Error::other)?;
        let milliseconds = (1000.0 / fps).round().clamp(1.0, 65535.0) as u16;
        encoder.set_frame_delay(milliseconds, 1000).map_err(io::Error::other)?;
        let writer = Box::new(encoder.write_header().map_err(io::Error::other)?);
        Ok(Animation::Png { writer, bytes })
    }

    /// A GIF with a palette that suits `samples`.
    pub(crate) fn gif(samples: &[Image], fps: f64) -> Animation {
        Animation::Gif(Box::new(Gif::new(samples, fps)))
    }

    /// The next images, in order, all of one size.
    pub(crate) fn add(&mut self, images: &[Image]) -> io::Result<()> {
        match self {
            Animation::Png { writer, .. } => {
                for image in images {
                    writer.write_image_data(&image.data).map_err(io::Error::other)?;
                }
            }
            Animation::Gif(gif) => gif.add(images),
        }
        Ok(())
    }

    /// The bytes of the file.
    pub(crate) fn finish(self) -> io::Result<Vec<u8>> {
        match self {
            Animation::Png { writer, bytes } => {
                writer.finish().map_err(io::Error::other)?;
                Ok(bytes.0.take())
            }
            Animation::Gif(gif) => gif.finish(),
        }
    }
}

/// Bits of a channel that tell colours apart when a palette is looked up.
const BITS: u32 = 5;

/// One palette serves all images, and an image stores only what changed; paper that is transparent
/// becomes white.
pub(crate) struct Gif {
    palette: Vec<[u8; 3]>,
    nearest: Vec<u8>,
    delay: u16,
    width: usize,
    height: usize,
    last: Option<Vec<u8>>,
    frames: Vec<gif::Frame<'static>>,
}

impl Gif {
    fn new(samples: &[Image], fps: f64) -> Gif {
        let palette = palette(samples);
        Gif {
            nearest: lookup(&palette),
            palette,
            delay: (100.0 / fps).round().clamp(2.0, 6000.0) as u16,
            width: samples.first().map_or(1, |i| i.width),
            height: samples.first().map_or(1, |i| i.height),
            last: None,
            frames: Vec::new(),
        }
    }

    fn add(&mut self, images: &[Image]) {
        let clear = self.palette.len() as u8;
        let mut indexed: Vec<Vec<u8>> = images
            .par_iter()
            .map(|i| i.data.chunks_exact(4).map(|p| self.nearest[bucket(over_white(p))]).collect())
            .collect();
        let frames: Vec<gif::Frame<'static>> = (0..indexed.len())
            .into_par_iter()
            .map(|i| {
                let now = &indexed[i];
                let before = match i.checked_sub(1) {
                    Some(j) => Some(&indexed[j]),
                    None => self.last.as_ref(),
                };
                let (x0, y0, x1, y1) =
                    before.map_or((0, 0, self.width, self.height), |b| changed(b, now, self.width));
                let mut buffer = Vec::with_capacity((x1 - x0) * (y1 - y0));
                for y in y0..y1 {
                    for at in y * self.width + x0..y * self.width + x1 {
                        let same = before.is_some_and(|b| b[at] == now[at]);
                        buffer.push(if same { clear } else { now[at] });
                    }
                }
                let mut frame = gif::Frame {
                    delay: self.delay,
                    dispose: gif::DisposalMethod::Keep,
                    transparent: Some(clear),
                    left: x0 as u16,
                    top: y0 as u16,
                    width: (x1 - x0) as u16,
                    height: (y1 - y0) as u16,
                    buffer: Cow::Owned(buffer),
                    ..gif::Frame::default()
                };
                frame.make_lzw_pre_encoded();
                frame
            })
            .collect();
        self.frames.extend(frames);
        self.last = indexed.pop().or(self.last.take());
    }

    fn finish(self) -> io::Result<Vec<u8>> {
        let mut table: Vec<u8> = self.palette.iter().flatten().copied().collect();
        table.extend([0, 0, 0]);
        let mut bytes = Vec::new();
        let mut encoder = gif::Encoder::new(&mut bytes, self.width as u16, self.height as u16, &table)
            .map_err(io::Error::other)?;
        encoder.set_repeat(gif::Repeat::Infinite).map_err(io::Error::other)?;
        for frame in &self.frames {
            encoder.write_lzw_pre_encoded_frame(frame).map_err(io::Error::other)?;
        }
        drop(encoder);
        Ok(bytes)
    }
}

/// The smallest box around all changed pixels, at least one pixel.
fn changed(before: &[u8], now: &[u8], width: usize) -> (usize, usize, usize, usize) {
    let (mut x0, mut y0, mut x1, mut y1) = (usize::MAX, usize::MAX, 0, 0);
    for (y, (a, b)) in before.chunks_exact(width).zip(now.chunks_exact(width)).enumerate() {
        let Some(left) = a.iter().zip(b).position(|(a, b)| a != b) else { continue };
        let right = a.iter().zip(b).rposition(|(a, b)| a != b).unwrap_or(left);
        x0 = x0.min(left);
        x1 = x1.max(right + 1);
        y0 = y0.min(y);
        y1 = y + 1;
    }
    if x1 == 0 { (0, 0, 1, 1) } else { (x0, y0, x1, y1) }
}

fn over_white(p: &[u8]) -> [u8; 3] {
    let a = p[3] as u32;
    [0, 1, 2].map(|k| ((p[k] as u32 * a + 255 * (255 - a)) / 255) as u8)
}

fn bucket([r, g, b]: [u8; 3]) -> usize {
    let top = |c: u8| (c >> (8 - BITS)) as usize;
    (top(r) << (2 * BITS)) | (top(g) << BITS) | top(b)
}

/// At most 255 colours by median cut: the box with the largest spread × count is halved, repeatedly.
fn palette(images: &[Image]) -> Vec<[u8; 3]> {
    // Sum of red, green, blue and count per bucket.
    let empty = || vec![[0_u64; 4]; 1 << (3 * BITS)];
    let sums = images
        .par_iter()
        .fold(empty, |mut sums, image| {
            for p in image.data.chunks_exact(4) {
                let c = over_white(p);
                let sum = &mut sums[bucket(c)];
                for k in 0..3 {
                    sum[k] += c[k] as u64;
                }
                sum[3] += 1;
            }
            sums
        })
        .reduce(empty, |mut a, b| {
            for (a, b) in a.iter_mut().zip(b) {
                for k in 0..4 {
                    a[k] += b[k];
                }
            }
            a
        });
    let used: Vec<([f64; 3], f64)> = sums
        .iter()
        .filter(|s| s[3] > 0)
        .map(|s| ([0, 1, 2].map(|k| s[k] as f64 / s[3] as f64), s[3] as f64))
        .collect();
    let mut boxes = vec![used];
    while boxes.len() < 255 {
        let Some((at, axis)) = boxes
            .iter()
            .enumerate()
            .filter(|(_, b)| b.len() > 1)
            .map(|(i, b)| {
                let spread = [0, 1, 2].map(|k| {
                    let (lo, hi) =
                        b.iter().fold((f64::MAX, f64::MIN), |(lo, hi), c| (lo.min(c.0[k]), hi.max(c.0[k])));
                    hi - lo
                });
                let axis = (0..3).max_by(|&i, &j| spread[i].total_cmp(&spread[j])).unwrap_or(0);
                // The fourth root keeps large flat areas from taking every colour.
                (i, axis, spread[axis] * b.iter().map(|c| c.1).sum::<f64>().powf(0.25))
            })
            .max_by(|a, b| a.2.total_cmp(&b.2))
            .map(|(i, axis, _)| (i, axis))
        else {
            break;
        };
        let mut whole = boxes.swap_remove(at);
        whole.sort_by(|a, b| a.0[axis].total_cmp(&b.0[axis]));
        let (lo, hi) = (whole[0].0[axis], whole[whole.len() - 1].0[axis]);
        let middle = 0.5 * (lo + hi);
        let cut = whole.partition_point(|c| c.0[axis] <= middle).clamp(1, whole.len() - 1);
        let upper = whole.split_off(cut);
        boxes.push(whole);
        boxes.push(upper);
    }
    boxes
        .iter()
        .map(|b| {
            let count: f64 = b.iter().map(|c| c.1).sum();
            [0, 1, 2].map(|k| (b.iter().map(|c| c.0[k] * c.1).sum::<f64>() / count.max(1.0)).round() as u8)
        })
        .collect()
}

/// Index of the nearest palette colour for every bucket.
fn lookup(palette: &[[u8; 3]]) -> Vec<u8> {
    let middle = |i: usize| ((i << (8 - BITS)) + (1 << (7 - BITS))) as i32;
    let mask = (1 << BITS) - 1;
    (0..1_usize << (3 * BITS))
        .into_par_iter()
        .map(|i| {
            let c = [middle(i >> (2 * BITS)), middle((i >> BITS) & mask), middle(i & mask)];
            let distance =
                |p: &[u8; 3]| -> i32 { (0..3).map(|k| (p[k] as i32 - c[k]) * (p[k] as i32 - c[k])).sum() };
            (0..palette.len()).min_by_key(|&j| distance(&palette[j])).unwrap_or(0) as u8
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLACK: Rgba = Rgba::rgb(0, 0, 0);
    const WHITE: Rgba = Rgba::rgb(255, 255, 255);

    fn darkness(image: &Image) -> f64 {
        image.data.chunks_exact(4).map(|p| 1.0 - p[0] as f64 / 255.0).sum()
    }

    #[test]
    fn no_lines_and_lines_elsewhere_leave_no_trace() {
        let mut image = Image::filled(40, 30, WHITE);
        image.stroke(&[], 2.0, BLACK);
        image.stroke(&[vec![[-50.0, 90.0], [-20.0, 80.0]]], 2.0, BLACK);
        assert_eq!(darkness(&image), 0.0);
    }

    #[test]
    fn a_filled_polygon_covers_its_area() {
        let mut image = Image::filled(40, 30, WHITE);
        image.fill(&[vec![[3.3, 2.7], [35.1, 6.2], [20.4, 27.9]]], BLACK);
        // Shoelace formula.
        let area: f64 = 0.5 * ((35.1 - 3.3) * (27.9 - 2.7) - (20.4 - 3.3) * (6.2 - 2.7));
        assert!((darkness(&image) - area).abs() < 0.01 * area, "{} {area}", darkness(&image));
    }

    #[test]
    fn a_polygon_beyond_the_picture_fills_what_is_inside() {
        let mut image = Image::filled(10, 10, WHITE);
        image.fill(&[vec![[-50.0, -50.0], [60.0, -50.0], [60.0, 5.0], [-50.0, 5.0]]], BLACK);
        assert!((darkness(&image) - 50.0).abs() < 0.5, "{}", darkness(&image));
    }

    #[test]
    fn a_stroke_covers_length_times_width_however_finely_it_is_cut() {
        for pieces in [1, 7, 200] {
            let mut image = Image::filled(120, 60, WHITE);
            let line: Vec<Point> = (0..=pieces)
                .map(|i| i as f64 / pieces as f64)
                .map(|t| [10.0 + 100.0 * t, 10.0 + 40.0 * t])
                .collect();
            image.stroke(&[line], 3.0, BLACK);
            let expected = 100.0_f64.hypot(40.0) * 3.0 + std::f64::consts::PI * 1.5 * 1.5;
            assert!((darkness(&image) - expected).abs() < 0.02 * expected, "{} {expected}", darkness(&image));
        }
    }

    #[test]
    fn a_png_holds_the_pixels() {
        let mut image = Image::filled(9, 5, Rgba(10, 200, 30, 128));
        image.stroke(&[vec![[4.0, 2.0]]], 3.0, BLACK);
        let bytes = image.png().unwrap();
        let mut reader = png::Decoder::new(io::Cursor::new(bytes)).read_info().unwrap();
        let mut back = vec![0; reader.output_buffer_size().unwrap()];
        reader.next_frame(&mut back).unwrap();
        assert_eq!(back, image.data);
    }

    #[test]
    fn a_gif_keeps_flat_colours_and_the_number_of_images() {
        let images: Vec<Image> = (0..3)
            .map(|i| {
                let mut image = Image::filled(20, 10, WHITE);
                image.fill(
                    &[vec![
                        [5.0 * i as f64, 2.0],
                        [5.0 * i as f64 + 4.0, 2.0],
                        [5.0 * i as f64 + 4.0, 8.0],
                        [5.0 * i as f64, 8.0],
                    ]],
                    Rgba::rgb(200, 40, 40),
                );
                image
            })
            .collect();
        let mut animation = Animation::gif(&images, 10.0);
        animation.add(&images[..2]).unwrap();
        animation.add(&images[2..]).unwrap();
        let bytes = animation.finish().unwrap();
        let mut options = gif::DecodeOptions::new();
        options.set_color_output(gif::ColorOutput::RGBA);
        let mut decoder = options.read_info(io::Cursor::new(bytes)).unwrap();
        let mut count = 0;
        let mut first = Vec::new();
        while let Some(frame) = decoder.read_next_frame().unwrap() {
            if count == 0 {
                first = frame.buffer.to_vec();
            }
            count += 1;
        }
        assert_eq!(count, 3);
        let at = 4 * (5 * 20 + 1);
        assert!(first[at].abs_diff(200) < 4 && first[at + 1].abs_diff(40) < 4, "{:?}", &first[at..at + 4]);
    }
}
