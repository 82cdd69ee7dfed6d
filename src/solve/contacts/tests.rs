use super::*;
use nalgebra::{DMatrix, DVector};

/// Reproducible random numbers (splitmix64).
struct Dice(u64);

impl Dice {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn between(&mut self, lo: f64, hi: f64) -> f64 {
        lo + (hi - lo) * (self.bits() >> 11) as f64 * (0.5 * f64::EPSILON)
    }

    fn vector(&mut self) -> Vec3 {
        Vec3::from_fn(|_, _| self.between(-1.0, 1.0))
    }
}

const DT: f64 = 0.01;
const TIGHT: Limits =
    Limits { local: Local::Exact, tolerance: 1e-13, scale: 1.0, sweeps: 50_000, natural_map_residual: None };

struct Scene {
    mass: Vec<f64>,
    inertia: Inertia,
    v: Vec<Vec3>,
    list: Vec<Contact>,
}

/// Nodes on faces and on obstacles, at random; every fifth node held in part, if asked.
fn scene(seed: u64, nodes: usize, contacts: usize, mu: f64, held: bool) -> Scene {
    let mut dice = Dice(seed);
    let mass: Vec<f64> = (0..nodes).map(|_| dice.between(0.5, 2.0)).collect();
    let mut projectors = Vec::new();
    for k in (0..nodes as u32).filter(|k| held && k % 5 == 0) {
        let d = if k % 10 == 0 { Vec3::z() } else { dice.vector().normalize() };
        projectors.push((k, Mat3::identity() - d * d.transpose()));
    }
    let inertia = Inertia::new(&mass, projectors.iter().map(|(k, p)| (*k, p)));
    let v: Vec<Vec3> = (0..nodes)
        .map(|k| {
            let v = dice.vector();
            projectors.iter().find(|p| p.0 as usize == k).map_or(v, |p| p.1 * v)
        })
        .collect();
    // A motion with u_n + s > μ|u_t| at all contacts: then forces exist (Acary, Cadoux, Lemaréchal & Malick 2011).
    let free: Vec<Vec3> = v.iter().map(|v| Vec3::new(v.y, -v.z, v.x)).collect();
    let free: Vec<Vec3> = free.iter().enumerate().map(|(k, v)| mass[k] * (inertia.of(k) * v)).collect();
    let list = (0..contacts)
        .map(|_| {
            let mut picked = Vec::new();
            let count = if dice.bits().is_multiple_of(3) { 1 } else { 4 };
            while picked.len() < count {
                let k = (dice.bits() % nodes as u64) as u32;
                if !picked.contains(&k) {
                    picked.push(k);
                }
            }
            let (a, b) = (dice.between(0.1, 0.4), dice.between(0.1, 0.4));
            let weights = [1.0, -a, -b, a + b - 1.0];
            let points: Vec<(u32, f64)> = picked.iter().copied().zip(weights).collect();
            // what a held node cannot follow is no matter of forces: obstacles of one node look and move where it can
            let mut along = || match picked[..] {
                [k] => mass[k as usize] * (inertia.of(k as usize) * dice.vector()),
                _ => dice.vector(),
            };
            let mut contact = Contact::new(&points, along().normalize());
            contact.mu = mu;
            if count == 1 {
                contact.outer = 0.3 * along();
            }
            let u = contact.velocity(&free);
            let along = contact.normal.dot(&u);
            contact.velocity_bias =
                dice.between(0.02, 0.2) + mu * (u - along * contact.normal).norm() - along;
            contact
        })
        .collect();
    Scene { mass, inertia, v, list }
}

impl Scene {
    fn solved(&self, limits: &Limits) -> (Vec<Vec3>, Contacts, Report) {
        let mut contacts = Contacts { list: self.list.clone(), ..Contacts::default() };
        let mut v = self.v.clone();
        let report = contacts.solve(&self.inertia, DT, &mut v, limits);
        (v, contacts, report)
    }
}

fn apart(a: &[Vec3], b: &[Vec3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max)
}

/// W and b from the definition, with rows Q by `tangent_frame`.
fn operator(scene: &Scene) -> (DMatrix<f64>, DVector<f64>) {
    let (n, m) = (scene.list.len(), scene.mass.len());
    let mut h = DMatrix::zeros(3 * n, 3 * m);
    let mut inverse = DMatrix::zeros(3 * m, 3 * m);
    let mut b = DVector::zeros(3 * n);
    for (i, contact) in scene.list.iter().enumerate() {
        let q = tangent_frame(&contact.normal);
        for (k, c) in contact.points() {
            h.view_mut((3 * i, 3 * k), (3, 3)).copy_from(&(c * q));
        }
        let free = q * contact.velocity(&scene.v) + Vec3::new(contact.velocity_bias, 0.0, 0.0);
        b.rows_mut(3 * i, 3).copy_from(&free);
    }
    for k in 0..m {
        inverse.view_mut((3 * k, 3 * k), (3, 3)).copy_from(&scene.inertia.of(k));
    }
    (DT * &h * inverse * h.transpose(), b)
}

/// W^{αβ} = Δt s Qα Qβᵀ with s = Σ cᵢα cᵢβ/mᵢ: without restraints the blocks on the diagonal are w·1.
#[test]
fn blocks_of_free_nodes_are_multiples_of_rotations() {
    let scene = scene(1, 12, 20, 0.3, false);
    let (w, _) = operator(&scene);
    for (i, p) in scene.list.iter().enumerate() {
        for (j, q) in scene.list.iter().enumerate() {
            let shared: f64 = p
                .points()
                .flat_map(|(k, c)| q.points().filter(move |o| o.0 == k).map(move |o| (k, c * o.1)))
                .map(|(k, cc)| cc / scene.mass[k])
                .sum();
            let want = DT * shared * (tangent_frame(&p.normal) * tangent_frame(&q.normal).transpose());
            let found = w.fixed_view::<3, 3>(3 * i, 3 * j);
            assert!((found - want).norm() < 1e-16);
        }
        let Response::Isotropic(inverse, _) = p.response(&scene.inertia) else { panic!("not isotropic") };
        assert!((w[(3 * i, 3 * i)] - DT * inverse).abs() < 1e-16);
    }
}

/// Least squares with signs (Lawson & Hanson): min |A r − y| over r ≥ 0.
fn nonnegative(a: &DMatrix<f64>, y: &DVector<f64>) -> DVector<f64> {
    let n = a.ncols();
    let (mut r, mut passive) = (DVector::zeros(n), vec![false; n]);
    for _ in 0..10 * n {
        let gradient = a.transpose() * (y - a * &r);
        let candidates = (0..n).filter(|&k| !passive[k] && gradient[k] > 1e-12);
        let Some(enter) = candidates.max_by(|&i, &j| gradient[i].total_cmp(&gradient[j])) else { break };
        passive[enter] = true;
        loop {
            let set: Vec<usize> = (0..n).filter(|&k| passive[k]).collect();
            let part = a.select_columns(&set);
            let z = part.svd(true, true).solve(y, 1e-12).unwrap();
            if z.iter().all(|&z| z > 0.0) {
                r.fill(0.0);
                set.iter().zip(z.iter()).for_each(|(&k, &z)| r[k] = z);
                break;
            }
            let mut share: f64 = 1.0;
            for (&k, &z) in set.iter().zip(z.iter()) {
                if z <= 0.0 {
                    share = share.min(r[k] / (r[k] - z));
                }
            }
            for (&k, &z) in set.iter().zip(z.iter()) {
                r[k] += share * (z - r[k]);
                if r[k] <= 1e-14 {
                    (r[k], passive[k]) = (0.0, false);
                }
            }
        }
    }
    r
}

/// Without friction: min ½rᵀWr + bᵀr over r ≥ 0, whose velocities are unique. Fewer nodes than contacts, so W is singular.
#[test]
fn without_friction_velocities_are_those_of_the_quadratic_program() {
    for seed in 0..10 {
        let scene = scene(100 + seed, 10, 30, 0.0, seed % 2 == 1);
        let n = scene.list.len();
        let mut h = DMatrix::zeros(n, 3 * scene.mass.len());
        let mut free = DVector::zeros(n);
        for (i, contact) in scene.list.iter().enumerate() {
            for (k, c) in contact.points() {
                h.view_mut((i, 3 * k), (1, 3)).copy_from(&(c * contact.normal.transpose()));
            }
            free[i] = contact.normal.dot(&contact.velocity(&scene.v)) + contact.velocity_bias;
        }
        let mut root = DMatrix::zeros(3 * scene.mass.len(), 3 * scene.mass.len());
        for (k, m) in scene.mass.iter().enumerate() {
            let p = scene.inertia.of(k) * m.sqrt();
            root.view_mut((3 * k, 3 * k), (3, 3)).copy_from(&p);
        }
        // A = √Δt M^-½ Hᵀ;  y with Aᵀy = −b, from the pseudo-inverse
        let a = DT.sqrt() * &root * h.transpose();
        let y = a.transpose().svd(true, true).solve(&(-&free), 1e-12).unwrap();
        if (a.transpose() * &y + &free).norm() > 1e-9 {
            continue; // b not in the range: the problem has no answer
        }
        let r = nonnegative(&a, &y);
        let mut want = scene.v.clone();
        for (i, contact) in scene.list.iter().enumerate() {
            for (k, c) in contact.points() {
                want[k] += DT * c * r[i] * (scene.inertia.of(k) * contact.normal);
            }
        }
        let (v, contacts, report) = scene.solved(&TIGHT);
        assert!(report.unfinished == 0, "{report:?}");
        assert!(apart(&v, &want) < 1e-8, "{:e} {report:?}", apart(&v, &want));
        assert!(contacts.list.iter().all(|c| c.force.dot(&c.normal) >= 0.0));
    }
}

/// With friction: the law at every contact, and velocities that are what forces make of them.
#[test]
fn with_friction_every_contact_obeys_the_law() {
    for (seed, mu) in (0..).zip([0.1, 0.2, 0.3, 0.4, 0.5, 0.1, 0.2, 0.3, 0.4, 0.5, 0.8, 0.8, 1.2, 1.2]) {
        let scene = scene(200 + seed, 40, 40, mu, seed % 2 == 1);
        let (v, contacts, report) = scene.solved(&TIGHT);
        assert!(report.unfinished == 0 && report.natural_map_residual < 1e-9, "{report:?}");
        assert!(report.bipotential.abs() < 1e-9, "{report:?}");
        let mut want = scene.v.clone();
        for contact in &contacts.list {
            for (k, c) in contact.points() {
                want[k] += DT * c * (scene.inertia.of(k) * contact.force);
            }
        }
        assert!(apart(&v, &want) < 1e-12);
        for contact in &contacts.list {
            let (u, r, n) = (contact.velocity(&v), contact.force, contact.normal);
            let (un, rn) = (n.dot(&u) + contact.velocity_bias, n.dot(&r));
            assert!(un > -1e-10 && rn >= 0.0 && un * rn < 1e-8, "{un} {rn}");
            assert!((r - rn * n).norm() <= contact.mu * rn + 1e-9);
        }
    }
}

fn bits(v: &[Vec3]) -> Vec<u64> {
    v.iter().flat_map(|v| [v.x.to_bits(), v.y.to_bits(), v.z.to_bits()]).collect()
}

/// Two nodes to a face in a long row: one island of many colours, each of them long enough to be cut.
fn chain(length: usize) -> Scene {
    let mut dice = Dice(9);
    let mass = vec![1.0; 2 * length + 2];
    let inertia = Inertia::new(&mass, std::iter::empty());
    let v = mass.iter().map(|_| dice.vector()).collect();
    let mut list = Vec::new();
    for i in 0..length as u32 {
        for (slave, share) in [(2 * i, 0.3), (2 * i + 1, 0.6)] {
            let points = [(slave, 1.0), (2 * i + 2, -share), (2 * i + 3, share - 1.0)];
            list.push(Contact { mu: 0.3, ..Contact::new(&points, dice.vector().normalize()) });
        }
    }
    Scene { mass, inertia, v, list }
}

#[test]
fn threads_change_nothing() {
    let limits = Limits { tolerance: 1e-6, natural_map_residual: Some(1e-6), ..TIGHT };
    for scene in [chain(2000), scene(3, 4000, 2000, 0.4, true)] {
        let with = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let (v, contacts, report) = scene.solved(&limits);
                let forces: Vec<Vec3> = contacts.list.iter().map(|c| c.force).collect();
                (bits(&v), bits(&forces), report)
            })
        };
        let one = with(1);
        assert!(
            one.2.colours > 1 && one.2.unfinished == 0 && one.2.natural_map_residual < 1e-6,
            "{:?}",
            one.2
        );
        for threads in [2, 4, 8] {
            assert!(one == with(threads), "{threads} threads");
        }
    }
}

/// Solved in closed form or by projections, the contacts of a scene have the same velocities.
#[test]
fn the_published_projections_find_the_same() {
    for seed in 1..6 {
        let scene = scene(seed, 300, 150, 0.4, seed % 2 == 0);
        let (exact, _, report) = scene.solved(&TIGHT);
        let (projected, _, other) = scene.solved(&Limits { local: Local::Uzawa, tolerance: 1e-9, ..TIGHT });
        assert!(report.contacts > 30 && other.unfinished == 0, "{report:?} {other:?}");
        let apart = exact.iter().zip(&projected).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
        // both stop where a sweep changes little; what is left is some sweeps of that
        assert!(apart < 1e-6, "{seed}: {apart:.1e}");
    }
}

/// A mass moves into a wedge of 30°, less than twice the angle of friction, whose sides run inwards: sticking to both would take
/// two velocities, sticking to one runs it into the other, sliding on both draws it in the more the harder they press. There
/// is no answer.
#[test]
fn a_mass_dragged_into_a_wedge_that_locks_is_reported_and_begins_anew() {
    let (half, mass) = (15f64.to_radians(), [1.0]);
    let inertia = Inertia::new(&mass, std::iter::empty());
    let side = |sign: f64| {
        let normal = Vec3::new(half.sin(), sign * half.cos(), 0.0);
        let inwards = Vec3::new(-half.cos(), sign * half.sin(), 0.0);
        Contact { mu: 0.4, outer: inwards, ..Contact::new(&[(0, 1.0)], normal) }
    };
    let free = Contact { mu: 0.4, ..Contact::new(&[(1, 1.0)], Vec3::z()) };
    let inertia_of_two = Inertia::new(&[1.0, 1.0], std::iter::empty());
    let mut contacts = Contacts { list: vec![side(1.0), side(-1.0), free], ..Contacts::default() };
    let mut v = [-Vec3::x(), -Vec3::z()];
    let limits = Limits { tolerance: 1e-6, sweeps: 1000, ..TIGHT };
    let report = contacts.solve(&inertia_of_two, DT, &mut v, &limits);
    assert_eq!((report.unfinished, report.islands), (1, 2));
    assert!(v.iter().all(|v| v.norm() < 10.0), "{v:?}");
    assert_eq!(contacts.list.iter().map(|c| c.settled).collect::<Vec<_>>(), [false, false, true]);
    // sides at rest hold it
    let list = [1.0, -1.0].map(|s| Contact { outer: Vec3::zeros(), ..side(s) }).to_vec();
    let mut contacts = Contacts { list, ..Contacts::default() };
    let mut v = [Vec3::new(-1.0, 0.2, 0.0)];
    let report = contacts.solve(&inertia, DT, &mut v, &TIGHT);
    assert!(report.unfinished == 0 && v[0].norm() < 1e-10, "{report:?} {v:?}");
}

/// Contacts of one colour in any order: the colours are the same if the list keeps its order between them.
#[test]
fn the_order_inside_a_colour_changes_nothing() {
    let mut scene = chain(500);
    // all of them close: |u| ≤ 2√3
    scene.list.iter_mut().for_each(|c| c.velocity_bias = -4.0);
    let (v, contacts, report) = scene.solved(&Limits { tolerance: 1e-6, ..TIGHT });
    assert!(report.contacts == scene.list.len() && report.unfinished == 0, "{report:?}");
    // list the contacts colour by colour, each colour backwards
    let mut turned = Vec::new();
    let mut from = 0;
    for &end in &contacts.order.colours {
        turned.extend(contacts.order.contacts[from..end].iter().rev().map(|&i| scene.list[i as usize]));
        from = end;
    }
    let turned =
        Scene { list: turned, mass: scene.mass.clone(), inertia: scene.inertia.clone(), v: scene.v.clone() };
    let (again, other, _) = turned.solved(&Limits { tolerance: 1e-6, ..TIGHT });
    assert_eq!(other.order.colours, contacts.order.colours);
    assert_eq!(bits(&v), bits(&again));
}

/// Contacts come and go from one solve to the next; what is remembered of the last leaves no trace.
#[test]
fn what_was_solved_before_changes_nothing() {
    let scene = scene(7, 60, 50, 0.3, true);
    let limits = Limits { tolerance: 1e-6, ..TIGHT };
    let mut kept = Contacts::default();
    for part in [0..50, 0..50, 10..40, 0..50, 5..6, 0..50] {
        kept.list = scene.list[part].to_vec();
        let mut fresh = Contacts { list: kept.list.clone(), ..Contacts::default() };
        let (mut v, mut w) = (scene.v.clone(), scene.v.clone());
        let report = fresh.solve(&scene.inertia, DT, &mut v, &limits);
        assert_eq!(report, kept.solve(&scene.inertia, DT, &mut w, &limits));
        assert_eq!(bits(&v), bits(&w));
        assert_eq!(fresh.list, kept.list);
    }
}

/// Contacts with room enough take no part: not a bit differs, though they tie the others together.
#[test]
fn contacts_that_stay_open_change_nothing() {
    let (scene, limits) = (scene(8, 200, 60, 0.3, true), Limits { tolerance: 1e-9, ..TIGHT });
    let (v, alone, report) = scene.solved(&limits);
    assert!(report.islands > 5 && report.unfinished == 0, "{report:?}");
    let mut among = Scene { list: Vec::new(), mass: scene.mass.clone(), v: scene.v.clone(), ..scene };
    for (i, contact) in scene.list.iter().enumerate() {
        let points = [(3 * i as u32, 1.0), (3 * i as u32 + 1, -0.5), ((7 * i as u32 + 2) % 200, -0.5)];
        // nothing is faster than this
        let open = Contact { velocity_bias: 1e3, mu: 0.5, ..Contact::new(&points, Vec3::x()) };
        among.list.extend([open, *contact, open]);
    }
    let (again, all, other) = among.solved(&limits);
    assert_eq!(report, other);
    assert_eq!(bits(&v), bits(&again));
    let kept: Vec<Contact> = all.list.iter().skip(1).step_by(3).copied().collect();
    assert_eq!(alone.list, kept);
    assert!(all.list.iter().filter(|c| c.velocity_bias == 1e3).all(|c| c.force == Vec3::zeros()));
}

/// A wall runs into a row of masses at rest that touch: each of them closes only when the one before it has moved. All go on
/// with the speed of the wall, and force k has to accelerate all masses behind it, Σ m / Δt. What lies elsewhere is solved once.
#[test]
fn contacts_join_when_the_forces_of_others_close_them() {
    let mass = [1.0, 2.0, 0.5, 3.0, 1.5];
    let inertia = Inertia::new(&mass, std::iter::empty());
    let wall = Contact { outer: Vec3::x(), ..Contact::new(&[(0, 1.0)], Vec3::x()) };
    let mut list = vec![Contact { outer: Vec3::y(), ..Contact::new(&[(4, 1.0)], Vec3::y()) }, wall];
    list.extend((0..3).rev().map(|k| Contact::new(&[(k + 1, 1.0), (k, -1.0)], Vec3::x())));
    let mut contacts = Contacts { list, ..Contacts::default() };
    let mut v = [Vec3::zeros(); 5];
    let report = contacts.solve(&inertia, DT, &mut v, &TIGHT);
    assert_eq!((report.contacts, report.islands, report.unfinished), (5, 2, 0));
    assert!(v[..4].iter().all(|v| (v - Vec3::x()).norm() < 1e-10), "{v:?}");
    assert!((v[4] - Vec3::y()).norm() < 1e-15, "{v:?}");
    for (contact, behind) in contacts.list[1..].iter().zip([6.5, 3.0, 3.5, 5.5]) {
        assert!((contact.force.x - behind / DT).abs() < 1e-6, "{contact:?}");
    }
}

/// Two nodes seen by two pairs of features whose normals differ by 17°, less than the angle of friction. Sticking to the one that is asked
/// first, with room 10⁻⁴, leaves them closing by 10⁻⁴ along the other, so each sweep hands over 10⁻⁴/w until the second bears all of it: nodes go
/// on together, with force ½ m |Δv|/Δt. Without momentum that takes N = |Δv|/10⁻⁴ = 2·10⁴ sweeps. Steps of one size make forces grow with momentum as
/// ẍ + 3ẋ/t = 1, so x = t²/8 (Su, Boyd & Candès 2014): √(8N) = 400 sweeps, after 20 without.
#[test]
fn contacts_that_contradict_each_other_a_little_take_few_sweeps() {
    let inertia = Inertia::new(&[1.0, 1.0], std::iter::empty());
    let side = |sign: f64, tilt: f64, room: f64| {
        let normal = sign * Vec3::new(tilt.cos(), tilt.sin(), 0.0);
        Contact { mu: 0.4, velocity_bias: room, ..Contact::new(&[(0, sign), (1, -sign)], normal) }
    };
    let list = vec![side(-1.0, 0.3, 1e-4), side(1.0, 0.0, 0.0)];
    let mut contacts = Contacts { list, ..Contacts::default() };
    let mut v = [Vec3::new(-1.0, -0.15, 0.0), Vec3::new(1.0, 0.15, 0.0)];
    let apart = v[1] - v[0];
    let limits = Limits { tolerance: 1e-6, sweeps: 2000, ..TIGHT };
    let report = contacts.solve(&inertia, DT, &mut v, &limits);
    assert!(report.unfinished == 0 && report.sweeps < 460, "{report:?}");
    // a sweep that changes no velocity by 10⁻⁶ may be a few such changes away
    assert!(v.iter().all(|v| v.norm() < 1e-5), "{v:?}");
    assert!((contacts.list[1].force - 0.5 / DT * apart).norm() < 1e-5 / DT, "{:?}", contacts.list);
    assert_eq!(contacts.list[0].force, Vec3::zeros());
    // velocities are what forces make of them, to round-off, whatever momentum did on the way
    let round_off = 4.0 * f64::EPSILON;
    assert!((v[0] + 0.5 * apart - DT * contacts.list[1].force).norm() < round_off, "{v:?}");
}

/// What is said twice weighs no more; only the share of the force is undecided.
#[test]
fn contacts_listed_twice_change_no_velocity() {
    for mu in [0.0, 0.3] {
        let mut scene = scene(4, 60, 30, mu, false);
        let (v, _, _) = scene.solved(&TIGHT);
        let again: Vec<Contact> = scene.list.iter().step_by(2).copied().collect();
        scene.list.extend(again);
        let (twice, _, report) = scene.solved(&TIGHT);
        assert!(apart(&v, &twice) < 1e-8, "{:e} {report:?}", apart(&v, &twice));
    }
}

/// K(v⁺) − K(v) = Δt Σ r·½(u + u⁺): what contact does, and nothing else.
#[test]
fn kinetic_energy_changes_by_what_forces_do_at_mean_velocities() {
    let scene = scene(5, 60, 50, 0.4, false);
    let (v, contacts, _) = scene.solved(&TIGHT);
    let kinetic =
        |v: &[Vec3]| v.iter().zip(&scene.mass).map(|(v, m)| 0.5 * m * v.norm_squared()).sum::<f64>();
    let work: f64 = contacts
        .list
        .iter()
        .map(|c| {
            let outer = c.outer;
            DT * c.force.dot(&(0.5 * (c.velocity(&scene.v) + c.velocity(&v)) + outer))
        })
        .sum();
    let gained = kinetic(&v) - kinetic(&scene.v);
    assert!((gained - work).abs() <= 1e-12 * kinetic(&scene.v), "{gained} {work}");
    let momentum = |v: &[Vec3]| v.iter().zip(&scene.mass).map(|(v, m)| *m * v).sum::<Vec3>();
    let outside: Vec3 = contacts.list.iter().filter(|c| c.count == 1).map(|c| DT * c.force).sum();
    assert!((momentum(&v) - momentum(&scene.v) - outside).norm() < 1e-13);
}

/// Started from the answer, one sweep sees that nothing changes.
#[test]
fn a_warm_start_at_the_answer_takes_one_sweep() {
    let mut scene = scene(6, 60, 40, 0.3, true);
    let (v, contacts, _) = scene.solved(&TIGHT);
    scene.list = contacts.list;
    let (again, _, report) = scene.solved(&Limits { tolerance: 1e-9, ..TIGHT });
    assert_eq!(report.sweeps, 1);
    assert!(apart(&v, &again) < 1e-9);
}

/// A plane body: friction acts in the plane, and motion across it is nobody's business.
#[test]
fn in_a_plane_body_friction_acts_in_the_plane() {
    let p = Mat3::from_diagonal(&Vec3::new(1.0, 1.0, 0.0));
    let mass = [2.0];
    let inertia = Inertia::new(&mass, [(0, &p)].into_iter());
    let mut contact = Contact::new(&[(0, 1.0)], Vec3::y());
    (contact.mu, contact.outer) = (0.5, Vec3::new(0.0, 0.0, 7.0));
    let mut contacts = Contacts { list: vec![contact], ..Contacts::default() };
    let mut v = [Vec3::new(3.0, -2.0, 0.0)];
    contacts.solve(&inertia, DT, &mut v, &TIGHT);
    assert!((v[0] - Vec3::new(2.0, 0.0, 0.0)).norm() < 1e-15, "{:?}", v[0]);
    // a bar: along the normal only
    let p = Mat3::from_diagonal(&Vec3::y());
    let inertia = Inertia::new(&mass, [(0, &p)].into_iter());
    let mut v = [Vec3::new(0.0, -2.0, 0.0)];
    contacts.list[0].force = Vec3::zeros();
    contacts.solve(&inertia, DT, &mut v, &TIGHT);
    assert_eq!(v[0], Vec3::zeros());
}

/// On a slope of 30° a mass sticks for μ ≥ tan 30° and slides with g(sin 30° − μ cos 30°) else.
#[test]
fn a_mass_on_a_slope_sticks_or_slides_as_coulomb_says() {
    let (g, angle, mass) = (9.81, 30f64.to_radians(), [3.0]);
    let inertia = Inertia::new(&mass, std::iter::empty());
    let n = Vec3::new(angle.sin(), 0.0, angle.cos());
    for mu in [0.0, 0.3, 0.57, 0.58, 1.0] {
        let mut contacts =
            Contacts { list: vec![Contact { mu, ..Contact::new(&[(0, 1.0)], n) }], ..Contacts::default() };
        let mut v = [Vec3::zeros()];
        for step in 1..=100 {
            v[0] -= DT * g * Vec3::z();
            contacts.solve(&inertia, DT, &mut v, &TIGHT);
            let a = if mu >= angle.tan() { 0.0 } else { g * (angle.sin() - mu * angle.cos()) };
            let speed = a * DT * f64::from(step);
            let want = speed * Vec3::new(angle.cos(), 0.0, -angle.sin());
            assert!((v[0] - want).norm() < 1e-12, "{mu}: {:?} {want:?}", v[0]);
        }
    }
}
