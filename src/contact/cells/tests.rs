use super::*;

fn random(state: &mut u64) -> f64 {
    *state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    (*state >> 11) as f64 / (1u64 << 53) as f64
}

#[test]
fn a_position_code_interleaves_the_bits_of_a_cell() {
    assert_eq!(position_code([1, 0, 0]), 1);
    assert_eq!(position_code([0, 1, 0]), 2);
    assert_eq!(position_code([0, 0, 1]), 4);
    assert_eq!(position_code([1, 2, 3]), 53);
    assert_eq!(position_code([3, 5, 6]), 0b110_101_011);
    let last = (1 << 21) - 1;
    assert_eq!(position_code([last, last, last]), (1 << 63) - 1);
}

/// A million insertions, moves, removals and questions, beside a list of all boxes.
#[test]
fn cells_answer_like_a_list_of_all_boxes() {
    let mut s = 11;
    for (edge, spread, largest, queries) in [
        (0.05, 1.0, 0.08, 550_000),
        (0.02, 1.0, 0.3, 150_000),
        (1e-6, 10.0, 1.0, 150_000),
        (0.1, 0.5, 0.0, 150_000),
    ] {
        let n = 120;
        let mut cells = Cells::new([0.2, -0.1, 0.0], edge, 0.1 * edge);
        let mut tight: Vec<Option<Aabb>> = vec![None; n];
        let mut out = Vec::new();
        for _ in 0..queries {
            let i = (random(&mut s) * n as f64) as usize;
            let at = [0; 3].map(|_| spread * (random(&mut s) - 0.5));
            match (random(&mut s) * 10.0) as usize {
                0 => {
                    cells.remove_box(i as u32);
                    tight[i] = None;
                }
                1 | 2 => {
                    let size = [0; 3].map(|_| largest * random(&mut s) * random(&mut s));
                    let b = Aabb { lo: at, hi: [0, 1, 2].map(|k| at[k] + size[k]) };
                    cells.insert_box(i as u32, b.lo, b.hi);
                    tight[i] = Some(b);
                }
                3..=5 => {
                    // A small move of what is there: mostly within the margin.
                    if let Some(b) = &mut tight[i] {
                        let d = [0; 3].map(|_| 0.1 * edge * (random(&mut s) - 0.5));
                        *b = Aabb {
                            lo: [0, 1, 2].map(|k| b.lo[k] + d[k]),
                            hi: [0, 1, 2].map(|k| b.hi[k] + d[k]),
                        };
                        cells.move_box(i as u32, b.lo, b.hi);
                        let fat = cells.stored(i as u32).expect("it was moved");
                        assert!((0..3).all(|k| fat.lo[k] <= b.lo[k] && b.hi[k] <= fat.hi[k]));
                    }
                }
                kind => {
                    let reach = if kind < 8 { 0.0 } else { 1.5 * edge * random(&mut s) };
                    cells.query(&at, reach, &mut out);
                    assert!(out.is_sorted() && out.windows(2).all(|w| w[0] != w[1]));
                    for (j, b) in tight.iter().enumerate() {
                        let near = b.is_some_and(|b| {
                            (0..3).all(|k| b.lo[k] - reach <= at[k] && at[k] <= b.hi[k] + reach)
                        });
                        let told = out.binary_search(&(j as u32)).is_ok();
                        assert!(told || !near, "box {j} is missing");
                        if told {
                            let fat = cells.stored(j as u32).expect("what is told is there");
                            assert!((0..3).all(|k| fat.lo[k] - reach <= at[k] && at[k] <= fat.hi[k] + reach));
                        }
                    }
                }
            }
        }
    }
}

/// Nodes and boxes at different times. Each segment tells its box when it is its turn, made of ends of different
/// ages; a node that asks in between, with a reach of the largest speed times the oldest age, finds every
/// segment that it meets at its own time.
#[test]
fn boxes_out_of_date_are_found_with_a_reach_of_speed_times_age() {
    let (n, speed, age) = (40, 1.0, 1e-3);
    let mut s = 5;
    // Position of an end at its last event, its velocity since, and the time of that event.
    type End = ([f64; 3], [f64; 3], f64);
    let at = |e: &End, t: f64| [0, 1, 2].map(|k| e.0[k] + e.1[k] * (t - e.2));
    let mut ends: Vec<End> = Vec::new();
    for _ in 0..n {
        let p = [0; 3].map(|_| random(&mut s) - 0.5);
        ends.push((p, [0.0; 3], 0.0));
        ends.push((p.map(|v| v + 0.05), [0.0; 3], 0.0));
    }
    let mut cells = Cells::new([0.0; 3], 0.1, 0.01);
    let mut told = vec![Aabb::EMPTY; n];
    let mut out = Vec::new();
    let (mut time, mut left) = (0.0, 0);
    for event in 0..20_000 {
        time += 1e-5;
        // The next segment in turn moves one end to the present and gives it a new velocity; the other end
        // stays as it was left.
        let i = event % n;
        let end = &mut ends[2 * i + event / n % 2];
        *end = (at(end, time), [0; 3].map(|_| speed * (random(&mut s) - 0.5)), time);
        told[i] = Aabb::EMPTY;
        told[i].add(&ends[2 * i].0);
        told[i].add(&ends[2 * i + 1].0);
        cells.move_box(i as u32, told[i].lo, told[i].hi);
        if event < 2 * n {
            continue;
        }
        // A node on an end of some segment, now.
        let j = (random(&mut s) * n as f64) as usize;
        let end = &ends[2 * j + event % 2];
        assert!(time - end.2 <= age);
        let node = at(end, time);
        cells.query(&node, speed * age, &mut out);
        assert!(out.contains(&(j as u32)), "segment {j} at event {event}");
        left += usize::from((0..3).any(|k| node[k] < told[j].lo[k] || node[k] > told[j].hi[k]));
    }
    // The question was not idle: nodes had left the boxes as told.
    assert!(left > 1000, "{left}");
}

/// A thousand boxes that wander for ever leave no empty cells behind.
#[test]
fn wandering_boxes_do_not_fill_the_memory() {
    let mut cells = Cells::new([0.0; 3], 1.0, 0.1);
    let mut held = 0;
    for step in 0..3000 {
        for i in 0..50u32 {
            let at = [f64::from(step) * 1.7, f64::from(i) * 3.0, 0.0];
            cells.move_box(i, at, at.map(|v| v + 1.0));
        }
        if step == 300 {
            held = cells.memory_bytes();
        }
    }
    assert!(cells.memory_bytes() <= 2 * held);
    let mut out = Vec::new();
    cells.query(&[2999.0 * 1.7 + 0.5, 0.5, 0.5], 0.0, &mut out);
    assert_eq!(out, [0]);
}

/// Beyond the range of 2²¹ cells everything shares the border cells, and nothing is lost.
#[test]
fn far_beyond_the_grid_boxes_are_still_found() {
    let mut cells = Cells::new([0.0; 3], 1.0, 0.0);
    cells.insert_box(0, [1e12; 3], [1e12 + 1e3; 3]);
    cells.insert_box(1, [-1e9; 3], [1e9; 3]);
    cells.insert_box(2, [f64::NAN; 3], [f64::NAN; 3]);
    let mut out = Vec::new();
    cells.query(&[1e12 + 10.0; 3], 0.0, &mut out);
    assert_eq!(out, [0]);
    cells.query(&[5e8; 3], 0.0, &mut out);
    assert_eq!(out, [1]);
}
