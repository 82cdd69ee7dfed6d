use super::*;
use crate::contact::scene::BodyKind;
use crate::element::choice::{Kind, maker};
use crate::material::Law;
use crate::mesh::{CellKind, shape};
use crate::method::asynchronous::clock::Clock;
use crate::method::asynchronous::edges::Crossing;
use crate::method::asynchronous::groups::Groups;
use crate::method::asynchronous::synchronised::{Phase, When};
use crate::model::{BodySpec, Builder, Table};

fn random(seed: &mut u64) -> f64 {
    *seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    (*seed >> 11) as f64 / (1u64 << 53) as f64 - 0.5
}

fn two_boxes() -> Model {
    let mut builder = Builder::default();
    for (name, at, cells) in [("a", Vec3::zeros(), [4, 3, 5]), ("b", Vec3::new(0.8, 0.1, 0.2), [3, 4, 2])] {
        let mut mesh = shape::Box::new([1.0; 3], cells).build().unwrap();
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
    let model = two_boxes();
    let clock = Clock { begin: 0.0, tick: 1e-3 };
    let local = vec![1e-2; model.reference.len()];
    let kicks = vec![None; local.len()];
    let around = Around { local: &local, average: 1e-2, smallest: 1e-2, kicks: &kicks };
    let mut collisions = Collisions::new(&model, &Options::default(), &around, clock.tick);
    let still: Vec<Vec<Option<u64>>> = model.blocks.iter().map(|b| vec![None; b.potentials()]).collect();
    let mut groups = Groups::new(&model, &still);
    let mut state = model.rest();
    let mut tau = vec![0; state.x.len()];
    let (mut seed, mut tick, mut found, mut renewed) = (12, 0, 0, 0);
    let mut edges = Edges::new(&model, &collisions);
    collisions.prepare(&model, &edges);
    let mut crossings = 0;
    for round in 0..400 {
        tick += 1 + (20.0 * (random(&mut seed) + 0.5)) as u64;
        if round % 3 == 0 {
            for n in 0..state.x.len() {
                if random(&mut seed) > 0.2 {
                    state.x[n] += clock.between(tau[n], tick) * state.v[n];
                    tau[n] = tick;
                    // towards where it was at first, and about
                    let noise = Vec3::new(random(&mut seed), random(&mut seed), random(&mut seed));
                    state.v[n] = 2.0 * (model.reference[n] - state.x[n]) + 1.2 * noise;
                    collisions.notice_speed(state.v[n].norm_squared(), tick);
                }
            }
        }
        let when = When { tick, phase: Phase::Centred, clock };
        let context =
            ContactContext { model: &model, groups: &mut groups, state: &mut state, tau: &mut tau, when };
        if collisions.is_due(tick) {
            collisions.refresh(&mut edges, &context);
            renewed += 1;
        }
        let motion = context.motion();
        for check_group in 0..collisions.check_groups.len() {
            let mut hits = std::mem::take(&mut collisions.hits);
            // nobody has come from anywhere
            collisions.contactors.iter_mut().for_each(|c| c.seen = (motion.at(c.node), tick + 1));
            let tasks = collisions.find_hits(check_group, &mut hits, &model, &motion);
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
                        && collisions.targets.find(target, &y, normal, None, &model, at).is_some()
                    {
                        asked.push((i, t as u32));
                    }
                }
            }
            assert_eq!(listed, asked);
            collisions.hits = hits;
            found += listed.len();
        }
        crossings += compare_crossings(&edges, &collisions, &motion);
    }
    assert!(found > 1000 && crossings > 100 && renewed < 350, "{found} {crossings} {renewed}");
}
