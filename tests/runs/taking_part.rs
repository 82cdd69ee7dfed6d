//! Taking part in a run through the front door: contacts one by one, velocities and loads from outside, states kept and taken up.

use carom::Simulation;
use carom::math::Vec3;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

const METHODS: [&str; 7] = [
    "verlet",
    "dcr",
    "asynchronous",
    "semi-explicit",
    "bipotential-implicit",
    "nonsmooth",
    "velocity-update",
];

/// A cube that lands on a table and slides, in 0.02 s.
fn landing(method: &str) -> String {
    format!(
        "method = \"{method}\"\nend = 0.02\n[output]\nhistory = 10\nframes = 2\n[body.cube]\n\
         mesh = {{ shape = \"box\", size = [0.1, 0.1, 0.1], cells = [2, 2, 2], at = [0, 0, 0.002] }}\n\
         material = {{ law = \"neo-hookean\", young = 1e5, poisson = 0.3, density = 1000 }}\n\
         velocity = [0.1, 0, -1]\n[body.table]\nplane = {{ point = [0, 0, 0], normal = [0, 0, 1] }}\n\
         [contact]\nfriction = 0.3\n[probe.push]\ncontact = \"cube\"\n"
    )
}

/// The same cube in free flight.
fn flight(method: &str, more: &str) -> String {
    let (flying, _) =
        landing(method).split_once("[body.table]").map(|(a, b)| (a.to_owned(), b.to_owned())).unwrap();
    flying + more
}

fn setup() -> carom::Setup {
    Simulation::setup().threads(1)
}

fn scratch(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("carom-taking-part-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&path).unwrap();
    path
}

/// The impulses of a step's contacts add up to what the table has given the cube in that step; they push upwards, along a
/// normal that points into the cube, from points of its underside.
#[test]
fn contacts_add_up_to_the_impulse_between_the_bodies() {
    for method in METHODS {
        let mut simulation = setup().text(&landing(method)).unwrap();
        assert_eq!(simulation.body_names(), ["cube", "table"]);
        let (mut before, mut steps) = (Vec3::zeros(), 0);
        while simulation.time() < 0.01 {
            simulation.step().unwrap();
            let now = simulation.impulse_between("cube", "table").unwrap();
            let pairs = simulation.contact_pairs();
            if method != "asynchronous" {
                let sum: Vec3 = pairs.iter().map(|p| p.impulse).sum();
                assert!(
                    (sum - (now - before)).norm() <= 1e-12 * now.norm(),
                    "{method}: {sum} {now} {before}"
                );
            }
            before = now;
            steps += u64::from(!pairs.is_empty());
            for pair in pairs {
                assert_eq!(pair.bodies, [0, 1], "{method}");
                assert!((pair.normal - Vec3::z()).norm() < 1e-12, "{method}: {}", pair.normal);
                assert!(pair.impulse.z >= 0.0 && pair.point.z.abs() < 0.01, "{method}: {pair:?}");
                assert!(pair.gap.abs() < 0.01, "{method}: {pair:?}");
            }
        }
        assert!(steps > 0, "{method}");
    }
}

/// Set before the start it is the deck's own; set later it is an impulse m Δv with the work ½ m (v₁² − v₀²).
#[test]
fn velocities_can_be_set_before_and_during_a_run() {
    for method in METHODS {
        let deck = flight(method, "");
        let mut told = setup().text(&deck).unwrap();
        let mut set = setup().set("body.cube.velocity=[0,0,0]").text(&deck).unwrap();
        let nodes: Vec<u32> = (0..27).collect();
        set.set_velocities(&nodes, &[Vec3::new(0.1, 0.0, -1.0); 27]).unwrap();
        told.run().unwrap();
        set.run().unwrap();
        assert_eq!(told.nodes().unwrap().x, set.nodes().unwrap().x, "{method}");

        let mut kicked = setup().text(&deck).unwrap();
        kicked.advance(0.01).unwrap();
        let at = kicked.time();
        kicked.set_velocities(&nodes, &[Vec3::new(0.0, 2.0, 0.0); 27]).unwrap();
        let (mass, work) = (1.0, 0.5 * (4.0 - 1.01));
        let external = kicked.ledger().unwrap().external;
        assert!((external - mass * work).abs() < 1e-9, "{method}: {external}");
        while kicked.time() < kicked.end() {
            kicked.step().unwrap();
        }
        // a free body that does not deform goes straight on
        let expected = Vec3::new(0.1 * at, 2.0 * (kicked.time() - at), 0.002 - at);
        let x = kicked.nodes().unwrap().x[0];
        assert!((x - expected).norm() < 1e-9, "{method}: {x} {expected}");
        let summary = kicked.summary().unwrap();
        assert!(summary.energy.error_max_rel < 1e-9, "{method}: {:?}", summary.energy);
        assert!(summary.momentum.linear_drift_max < 1e-9, "{method}: {:?}", summary.momentum);
    }
}

/// A function that says what a load of the deck says gives the same run, and is asked once a step.
#[test]
fn a_load_of_ones_own_acts_like_a_load_of_the_deck() {
    // upwards on a cube that falls at 1 m/s: it takes energy out
    let force = Vec3::new(0.0, 3.0, 40.0);
    for method in METHODS {
        let load = "[[load]]\nbody = \"cube\"\nset = \"zmax\"\nforce = [0, 3, 40]\n";
        let mut deck = setup().text(&flight(method, load)).unwrap();
        let asked = Arc::new(AtomicU64::new(0));
        let count = asked.clone();
        let mut own = setup()
            .load(move |_, x, forces| {
                count.fetch_add(1, Ordering::Relaxed);
                for (k, f) in forces.iter_mut().enumerate() {
                    // the nodes of the upper side are the last nine of 27
                    *f += if k >= x.len() - 9 { force / 9.0 } else { Vec3::zeros() };
                }
            })
            .text(&flight(method, ""))
            .unwrap();
        deck.run().unwrap();
        own.run().unwrap();
        let (x, y) = (deck.nodes().unwrap().x.to_vec(), own.nodes().unwrap().x.to_vec());
        for (x, y) in x.iter().zip(&y) {
            assert!((x - y).norm() < 1e-12, "{method}: {x} {y}");
        }
        let (a, b) = (deck.ledger().unwrap().external, own.ledger().unwrap().external);
        assert!((a - b).abs() < 1e-12 * a.abs() && a.abs() > 0.01, "{method}: {a} {b}");
        let steps = own.summary().unwrap().steps;
        let asked = asked.load(Ordering::Relaxed);
        // once at the start, once for every step; asynchronous kicks and looks on its own clock
        if method != "asynchronous" {
            assert!(asked <= 2 * steps + 2, "{method}: {asked} times in {steps} steps");
        }
    }
}

/// A state that was kept in a file goes on to the same bits.
#[test]
fn a_run_that_is_taken_up_from_a_file_ends_like_one_that_was_not_interrupted() {
    let folder = scratch("saved");
    for method in METHODS {
        let mut whole = setup().text(&landing(method)).unwrap();
        whole.advance(0.007).unwrap();
        let file = folder.join(method);
        whole.save(&file).unwrap();
        let kept = whole.history().rows();
        whole.run().unwrap();
        let mut again = setup().from_checkpoint(&file).unwrap().text(&landing(method)).unwrap();
        again.run().unwrap();
        assert_eq!(whole.nodes().unwrap().x, again.nodes().unwrap().x, "{method}");
        for name in whole.history().names() {
            let rest = &whole.history().column(name).unwrap()[kept..];
            assert_eq!(rest, again.history().column(name).unwrap(), "{method} {name}");
        }
    }
    std::fs::remove_dir_all(folder).unwrap();
}
