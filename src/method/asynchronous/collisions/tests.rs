use super::*;
use crate::contact::scene::BodyKind;
use crate::element::choice::{Kind, maker};
use crate::material::Law;
use crate::mesh::{CellKind, shape};
use crate::method::asynchronous::clock::Clock;
use crate::method::asynchronous::edges::Crossing;
use crate::method::asynchronous::groups::Groups;
use crate::method::asynchronous::synchronised::{Phase, When};
use crate::model::{BodySpec, Builder, State, Table};

fn random(seed: &mut u64) -> f64 {
    *seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    (*seed >> 11) as f64 / (1u64 << 53) as f64 - 0.5
}

/// Boxes of one material: name, size, cells, lower corner.
fn boxes(all: &[(&str, [f64; 3], [u32; 3], Vec3)]) -> Model {
    let mut builder = Builder::default();
    for &(name, size, cells, at) in all {
        let mut mesh = shape::Box::new(size, cells).build().unwrap();
        mesh.nodes.iter_mut().for_each(|p| *p += at);
        let law = Law::StVenantKirchhoff { young: 2.5, poisson: 0.25, density: 1.0 };
        builder.body(BodySpec {
            name: name.into(),
            kind: BodyKind::Solid,
            mesh,
            blocks: vec![maker(Kind::new(CellKind::Hex8), &law)],
            section: 1.0,
            gravity: Vec3::zeros(),
            gravity_table: Table::default(),
            damping: 0.0,
        });
    }
    builder.build().unwrap()
}

/// Bodies that move as they are told.
struct Stage {
    model: Model,
    clock: Clock,
    collisions: Collisions,
    edges: Edges,
    groups: Groups,
    state: State,
    tau: Vec<u64>,
    /// Looks so far.
    looks: usize,
}

impl Stage {
    fn new(model: Model) -> Stage {
        let clock = Clock { begin: 0.0, tick: 1e-3 };
        let local = vec![4e-3; model.reference.len()];
        let kicks = vec![None; local.len()];
        let around = Around { local: &local, average: 4e-3, smallest: 4e-3, kicks: &kicks };
        let mut collisions = Collisions::new(&model, &Options::default(), &around, clock.tick);
        let still: Vec<Vec<Option<u64>>> = model.blocks.iter().map(|b| vec![None; b.potentials()]).collect();
        let groups = Groups::new(&model, &still);
        let state = model.rest();
        let tau = vec![0; state.x.len()];
        let edges = Edges::new(&model, &collisions);
        collisions.prepare(&model, &edges);
        Stage { model, clock, collisions, edges, groups, state, tau, looks: 0 }
    }

    /// From `tick` on a node moves with `v`.
    fn send(&mut self, node: usize, v: Vec3, tick: u64) {
        self.state.x[node] += self.clock.between(self.tau[node], tick) * self.state.v[node];
        (self.tau[node], self.state.v[node]) = (tick, v);
        self.collisions.notice_speed(v.norm_squared(), tick);
    }

    fn send_body(&mut self, body: usize, v: Vec3, tick: u64) {
        self.model.bodies[body].nodes.clone().for_each(|n| self.send(n, v, tick));
    }

    /// Looks if it is time to, and compares who is in whom, and has crossed whom, by the lists with what is found when everybody is
    /// asked; returns how many are, and have.
    fn compare(&mut self, tick: u64) -> [usize; 2] {
        let Stage { model, clock, collisions, edges, groups, state, tau, looks } = self;
        let when = When { tick, phase: Phase::Centred, clock: *clock };
        let context = ContactContext { model, groups, state, tau, when };
        if collisions.is_due(tick) {
            collisions.refresh(edges, &context);
            *looks += 1;
        }
        let motion = context.motion();
        let mut found = 0;
        for check_group in 0..collisions.check_groups.len() {
            let mut hits = std::mem::take(&mut collisions.hits);
            // nobody has come from anywhere
            collisions.contactors.iter_mut().for_each(|c| c.seen = (motion.at(c.node), tick + 1));
            let tasks = collisions.find_hits(check_group, &mut hits, model, &motion);
            let listed: Vec<(u32, u32)> =
                hits[..tasks].iter().flatten().map(|h| (h.contactor, h.target)).collect();
            let mut asked = Vec::new();
            for i in collisions.check_groups[check_group].members.clone() {
                let c = collisions.contactors[i as usize];
                for (t, target) in collisions.targets.list.iter().enumerate() {
                    let y = motion.at(c.node);
                    let at = |n| motion.at(n);
                    let normal = || collisions.targets.node_normal(&collisions.world.scene, c.node, at);
                    if target.body != c.body
                        && collisions.targets.find(target, &y, normal, None, model, at).is_some()
                    {
                        asked.push((i, t as u32));
                    }
                }
            }
            assert_eq!(listed, asked, "tick {tick}");
            collisions.hits = hits;
            found += listed.len();
        }
        [found, compare_crossings(edges, collisions, &motion)]
    }
}

/// Which edges have crossed by the lists are those that have when everybody is asked; returns how many.
fn compare_crossings(edges: &Edges, collisions: &Collisions, motion: &DriftedView) -> usize {
    let (scene, at) = (&collisions.world.scene, |n: u32| motion.at(n));
    let mut count = 0;
    for (i, mine) in (0..).zip(&edges.list) {
        for (id, other) in (0..).zip(&edges.list) {
            let apart = mine.line.body != other.line.body && mine.line.bends && other.line.bends;
            let crossed = apart && Crossing::of([&mine.line, &other.line], scene, at, at).is_some();
            if crossed {
                assert!(edges.may_meet(i, id), "{i} {id}");
                count += 1;
            }
        }
    }
    count
}

/// Two boxes that overlap, every node on a way of its own that changes now and then: who is in whom by the lists is who
/// is in whom when everybody is asked, however long ago the lists were made.
#[test]
fn lists_of_candidates_miss_nobody() {
    let mut stage = Stage::new(boxes(&[
        ("a", [1.0; 3], [4, 3, 5], Vec3::zeros()),
        ("b", [1.0; 3], [3, 4, 2], Vec3::new(0.8, 0.1, 0.2)),
    ]));
    let (mut seed, mut tick, mut sum) = (12, 0, [0; 2]);
    for round in 0..1600 {
        tick += 1 + (4.0 * (random(&mut seed) + 0.5)) as u64;
        if round % 12 == 0 {
            for n in 0..stage.state.x.len() {
                if random(&mut seed) > 0.2 {
                    // towards where it was at first, and about
                    let noise = Vec3::new(random(&mut seed), random(&mut seed), random(&mut seed));
                    let at = stage.state.x[n] + stage.clock.between(stage.tau[n], tick) * stage.state.v[n];
                    stage.send(n, 2.0 * (stage.model.reference[n] - at) + 1.2 * noise, tick);
                }
            }
        }
        let found = stage.compare(tick);
        sum = [sum[0] + found[0], sum[1] + found[1]];
    }
    assert!(sum[0] > 4000 && sum[1] > 400 && stage.looks < 1400, "{sum:?} {}", stage.looks);
}

/// A cube slides along a bar as a whole: nothing but the shift of the one against the other tells that new cells have come within reach.
#[test]
fn bodies_that_slide_as_a_whole_are_seen_where_they_come() {
    let mut stage = Stage::new(boxes(&[
        ("bar", [8.0, 1.0, 1.0], [8, 1, 1], Vec3::zeros()),
        ("cube", [0.5; 3], [1, 1, 1], Vec3::new(0.2, 0.2, 0.98)),
    ]));
    stage.send_body(1, Vec3::x(), 0);
    let mut least = usize::MAX;
    for tick in (0..7000).step_by(10) {
        least = least.min(stage.compare(tick)[0]);
    }
    assert!(least >= 4 && stage.looks > 50, "{least} {}", stage.looks);
}

/// Two thin plates go towards each other, half as fast again as at the last look: as fast as anybody may before the next one. What comes
/// into the other in between was as far away as both of them can go.
#[test]
fn what_comes_between_two_looks_is_seen() {
    let (mut entered, mut between) = (0, 0);
    for start in 0..40 {
        let gap = 0.1 + 0.002 * f64::from(start);
        let mut stage = Stage::new(boxes(&[
            ("lower", [1.0, 1.0, 0.1], [1, 1, 1], Vec3::zeros()),
            ("upper", [0.5, 0.5, 0.1], [1, 1, 1], Vec3::new(0.25, 0.25, 0.1 + gap)),
        ]));
        let (mut before, mut inside) = (0, 0);
        for tick in 0..150 {
            let slow = 0.67 * Vec3::z();
            if stage.collisions.is_due(tick) {
                stage.send_body(0, slow, tick);
                stage.send_body(1, -slow, tick);
            }
            let looks = stage.looks;
            let found = stage.compare(tick)[0];
            if found > before {
                entered += 1;
                between += usize::from(stage.looks == looks);
            }
            if stage.looks > looks {
                stage.send_body(0, slow / 0.67, tick);
                stage.send_body(1, -slow / 0.67, tick);
            }
            (before, inside) = (found, inside.max(found));
        }
        assert!(inside >= 4);
    }
    assert!(entered >= 40 && between >= 20, "{entered} {between}");
}
