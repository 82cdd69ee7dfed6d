//! Whole decks: what is read is what was written, and the schema says the same as the reader.

mod declared;
mod everything;
mod messages;
mod survey;

use super::*;
use crate::math::Vec3;
use everything::EVERYTHING;

fn load_text(text: &str) -> Result<Loaded, DeckErrors> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/meshes");
    load(&Input { name: "deck.toml", text, folder: &folder, options: &[] })
}

#[test]
fn every_key_can_be_written_and_the_resolved_deck_says_the_same() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/meshes");
    for text in EVERYTHING {
        let loaded = load_text(text).unwrap_or_else(|e| panic!("{e}"));
        let resolved = loaded.resolved(&folder).unwrap();
        let again = load_text(&resolved).unwrap_or_else(|e| panic!("{e}\n{resolved}"));
        assert_eq!(loaded.spec, again.spec, "{resolved}");
        assert_eq!(again.resolved(&folder).unwrap(), resolved);
        assert_eq!(loaded.case.state, again.case.state);
        assert_eq!(loaded.case.model.mass, again.case.model.mass);
    }
}

#[test]
fn all_problems_are_told_at_once_in_the_order_of_the_text() {
    let text = r#"
method = "verlet"
end = -1
[material.steel]
law = "neo-hooke"
[body.a]
mesh = { shape = "box", size = [1, 1], cells = [1, 1, 1] }
material = "steel"
colour = "red"
[body.b]
mesh = { shape = "bar", length = 1, cells = 4 }
material = { law = "linear", young = 1, poisson = 0.5, density = -1 }
[probe.p]
body = "c"
"#;
    let problems = load_text(text).err().unwrap().problems;
    let lines: Vec<usize> = problems
        .iter()
        .map(|p| match p.at {
            At::Line { line, .. } => line,
            _ => 0,
        })
        .collect();
    assert_eq!(lines, [3, 5, 7, 9, 12, 12, 14]);
    let told = problems[1].to_string();
    assert_eq!(
        told,
        "deck.toml:5:7: material `steel` has no law called \"neo-hooke\"\n  \
         5 | law = \"neo-hooke\"\n    |       ^^^^^^^^^^^ did you mean \"neo-hookean\"?"
    );
}

#[test]
fn groups_of_cells_can_have_materials_of_their_own() {
    let text = |material: &str, materials: &str| {
        format!(
            "method = \"verlet\"\nend = 1\n[material.soft]\nlaw = \"linear\"\nyoung = 1\npoisson = 0\ndensity = 1\n\
             [body.a]\nmesh = {{ file = \"hex8-41-ascii.msh\" }}\n{material}materials = {materials}\n"
        )
    };
    let told = load_text(&text("", "{ nobody = \"soft\" }")).err().unwrap().to_string();
    assert!(told.contains("no group of cells called `nobody`") && told.contains("`lower`"), "{told}");
    let heavy = r#"{ lower = { law = "linear", young = 1, poisson = 0, density = 3 } }"#;
    let told = load_text(&text("", heavy)).err().unwrap().to_string();
    assert!(told.contains("are in no group with a material"), "{told}");
    // the cells of the group at three times the density of the others
    let loaded = load_text(&text("material = \"soft\"\n", heavy)).unwrap_or_else(|e| panic!("{e}"));
    let mesh =
        crate::mesh::gmsh::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/meshes/hex8-41-ascii.msh"))
            .unwrap();
    let volumes: Vec<Vec<f64>> = mesh.cells.iter().map(|c| mesh.measures(c).collect()).collect();
    let lower: f64 = mesh.cell_sets["lower"].iter().map(|&(c, i)| volumes[c as usize][i as usize]).sum();
    let mass = loaded.case.model.mass.iter().sum::<f64>();
    assert!(lower > 0.0 && lower < mesh.measure());
    assert!((mass - mesh.measure() - 2.0 * lower).abs() < 1e-12 * mass);
}

#[test]
fn a_mesh_that_changed_since_the_deck_was_resolved_is_refused() {
    let text = "method = \"verlet\"\nend = 1\n[body.a]\nmesh = { file = \"hex8-41-ascii.msh\", hash = \"crc32:00000000\" }\n\
                material = { law = \"linear\", young = 1, poisson = 0, density = 1 }";
    let told = load_text(text).err().unwrap().to_string();
    assert!(told.starts_with("deck.toml:4:") && told.contains("has changed"), "{told}");
}

#[test]
fn an_initial_spin_is_about_the_centre_of_mass_and_velocities_add_up() {
    let text = "method = \"verlet\"\nend = 1\n[body.a]\nmesh = { shape = \"box\", size = [2, 1, 1], cells = [2, 1, 1] }\n\
                material = { law = \"linear\", young = 1, poisson = 0, density = 1 }\n\
                velocity = [1, 2, 3]\nspin = [0, 0, 2]";
    let loaded = load_text(text).unwrap_or_else(|e| panic!("{e}"));
    let (model, state) = (&loaded.case.model, &loaded.case.state);
    for (x, v) in model.reference.iter().zip(&state.v) {
        let r = x - crate::math::Vec3::new(1.0, 0.5, 0.5);
        let expected = crate::math::Vec3::new(1.0 - 2.0 * r.y, 2.0 + 2.0 * r.x, 3.0);
        assert!((v - expected).norm() < 1e-14);
    }
}

/// Two boxes side by side, a wall and a floor; `more` is added at the end.
fn two_boxes(method: &str, more: &str) -> String {
    format!(
        "method = \"{method}\"\nend = 1\n[material.soft]\nlaw = \"linear\"\nyoung = 1\npoisson = 0\ndensity = 1\n\
         [body.a]\nmesh = {{ shape = \"box\", size = [1, 1, 1], cells = [2, 2, 2] }}\nmaterial = \"soft\"\n\
         [body.wall]\nplane = {{ point = [-1, 0, 0], normal = [2, 0, 0] }}\n\
         [body.b]\nmesh = {{ shape = \"box\", size = [1, 1, 1], cells = [2, 2, 2], at = [1.5, 0, 0] }}\nmaterial = \"soft\"\n{more}"
    )
}

#[test]
fn a_resolved_deck_writes_out_what_the_method_takes_for_granted() {
    let text = two_boxes("dcr", "[[contact.between]]\nbodies = [\"a\", \"wall\"]\nfriction = 0.2\n");
    let loaded = load_text(&text).unwrap_or_else(|e| panic!("{e}"));
    let resolved = loaded.resolved(Path::new(".")).unwrap();
    for line in [
        "variant = \"predictor\"",
        "edge_edge = true",
        "projection = \"mass\"",
        "sweeps = 10",
        "friction = 0.0",
        "# restitution = 1.0, that of method \"dcr\" unless given",
        "guard = false",
        "off = []",
        "self = []",
        "contact = true",
    ] {
        assert!(resolved.lines().any(|l| l == line), "{line}\n{resolved}");
    }
    // obstacles are counted after bodies
    let contact = &loaded.case.model.contact;
    let law = |a, b| (contact.law(a, b).friction, contact.law(a, b).restitution);
    assert_eq!((law(0, 2), law(2, 0), law(0, 1)), ((0.2, Some(1.0)), (0.2, Some(1.0)), (0.0, Some(1.0))));
    assert_eq!(contact.obstacles[0].name, "wall");
}

/// A restitution that was written stays, though it is just that of the method the deck names; one that was not goes with the
/// method, from a resolved deck too.
#[test]
fn another_method_brings_its_own_restitution_only_where_none_was_written() {
    let law = |text: &str, method: &str| {
        let options = [format!("method=\"{method}\"")];
        let input = Input { name: "deck", text, folder: Path::new("."), options: &options };
        let loaded = load(&input).unwrap_or_else(|e| panic!("{e}"));
        let resolved = loaded.resolved(Path::new(".")).unwrap();
        let contact = loaded.case.model.contact;
        ([contact.law(0, 1), contact.law(0, 2)].map(|l| l.restitution), resolved)
    };
    let between = |more: &str| format!("[contact]\n{more}[[contact.between]]\nbodies = [\"a\", \"wall\"]\n");
    let written = two_boxes("dcr", &between("restitution = 1\n"));
    assert_eq!(law(&written, "semi-explicit").0, [Some(1.0), Some(1.0)]);
    let one = two_boxes("dcr", &(between("") + "restitution = 1\n"));
    assert_eq!(law(&one, "semi-explicit").0, [Some(0.0), Some(1.0)]);
    let silent = two_boxes("dcr", &between(""));
    let (own, resolved) = law(&silent, "dcr");
    assert_eq!(own, [Some(1.0), Some(1.0)]);
    assert_eq!(law(&silent, "semi-explicit").0, [Some(0.0), Some(0.0)]);
    assert_eq!(law(&resolved, "semi-explicit").0, [Some(0.0), Some(0.0)]);
    assert_eq!(law(&resolved, "dcr").0, [Some(1.0), Some(1.0)]);
}

#[test]
fn a_misspelt_material_is_told_beside_other_mistakes_of_its_body() {
    let text = two_boxes("dcr", "").replacen(
        "cells = [2, 2, 2] }\nmaterial = \"soft\"",
        "cells = [2, 2] }\nmaterial = \"sofd\"",
        1,
    );
    let told = load_text(&text).err().map(|e| e.to_string()).unwrap_or_default();
    assert!(told.contains("has 2 entries") && told.contains("no material called \"sofd\""), "{told}");
    assert!(told.contains("did you mean \"soft\"?"), "{told}");
}

#[test]
fn switches_of_another_method_are_kept_with_a_warning() {
    let text = "method = \"verlet\"\nend = 1\n[dcr]\nsweeps = 4\n[body.a]\n\
                mesh = { shape = \"bar\", length = 1, cells = 1 }\n\
                material = { law = \"linear\", young = 1, poisson = 0, density = 1 }\n";
    let loaded = load_text(text).unwrap_or_else(|e| panic!("{e}"));
    assert!(loaded.warnings[0].message.contains("[dcr] is for method \"dcr\""), "{:?}", loaded.warnings);
    assert_eq!(loaded.spec.dcr.map(|d| d.sweeps), Some(4));
    assert_eq!((loaded.spec.contact, loaded.surfaces), (None, None));
}

#[test]
fn only_the_chosen_sides_of_a_body_take_part() {
    let surfaces = |more: &str| {
        let loaded = load_text(&two_boxes("dcr", more)).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(loaded.warnings, [], "{more}");
        loaded.surfaces.unwrap()
    };
    let whole = surfaces("");
    let sizes = |s: &crate::survey::surfaces::SurfaceOf| (s.name.clone(), s.facets, s.edges, s.nodes);
    assert_eq!(sizes(&whole.bodies[0]), ("a".into(), 24, 48, 26));
    assert!(whole.bodies[2].rigid && whole.bodies[2].plane && whole.overlaps.is_empty());
    let part = surfaces("contact = [\"xmin\", \"ymin\"]\n");
    assert_eq!(sizes(&part.bodies[1]), ("b".into(), 8, 22, 15));
    let none = surfaces("contact = false\n[contact]\noff = [\"wall\"]\n");
    assert_eq!([0, 1, 2].map(|b| none.bodies[b].off), [false, true, true]);
}

#[test]
fn bodies_that_overlap_at_the_start_are_named_with_the_depth() {
    for (at, depth) in [("[0.95, 0, 0]", 0.05), ("[0.6, 0.1, 0.1]", 0.4), ("[1.0, 0, 0]", 0.0)] {
        let text = two_boxes("dcr", "").replace("at = [1.5, 0, 0]", &format!("at = {at}"));
        let loaded = load_text(&text).unwrap_or_else(|e| panic!("{e}"));
        let surfaces = loaded.surfaces.unwrap();
        if depth == 0.0 {
            assert_eq!((surfaces.overlaps, loaded.warnings), (vec![], vec![]));
            continue;
        }
        let overlap = &surfaces.overlaps[0];
        assert_eq!(overlap.bodies, ["a", "b"]);
        assert!((overlap.depth - depth).abs() < 1e-12, "{overlap:?}");
        assert!(loaded.warnings[0].message.contains("`a` and `b` overlap at the start"));
        // with the guard that is an error
        let told = load_text(&(text + "[contact]\nguard = true\n")).err().unwrap().to_string();
        assert!(told.contains("overlap at the start") && told.contains("`guard`"), "{told}");
    }
}

/// The far side of a thin wall is behind every node of it, and no overlap; a strip that is drawn through itself is one.
#[test]
fn thin_walls_do_not_overlap_themselves() {
    let deck = |mesh: &str| {
        format!(
            "method = \"dcr\"\nend = 1\n[body.wall]\nmesh = {{ {mesh} }}\n\
             material = {{ law = \"linear\", young = 1, poisson = 0, density = 1 }}\n[contact]\nself = [\"wall\"]\n"
        )
    };
    for mesh in [
        "shape = \"ring\", inner = 0.08, outer = 0.1, around = 12, radial = 1",
        "shape = \"box\", size = [1, 1, 0.01], cells = [6, 6, 1]",
        "shape = \"box\", size = [1, 1, 0.01], cells = [6, 6, 1], cell = \"tet4\"",
    ] {
        let loaded = load_text(&deck(mesh)).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!((loaded.surfaces.unwrap().overlaps, loaded.warnings), (vec![], vec![]), "{mesh}");
    }
    let mut file = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n16\n".to_owned();
    // once around and through its own beginning
    let way =
        [[0.0, 0.0], [3.0, 0.0], [4.0, 1.0], [4.0, 3.0], [3.0, 4.0], [2.0, 3.0], [1.5, 1.0], [1.4, -1.0]];
    for (k, p) in way.iter().enumerate() {
        let (before, after) = (way[k.max(1) - 1], way[(k + 1).min(way.len() - 1)]);
        let along = Vec3::new(after[0] - before[0], after[1] - before[1], 0.0).normalize();
        for (i, side) in [-0.1, 0.1].into_iter().enumerate() {
            let (x, y) = (p[0] - side * along.y, p[1] + side * along.x);
            file += &format!("{} {x} {y} 0\n", 2 * k + i + 1);
        }
    }
    file += "$EndNodes\n$Elements\n7\n";
    for k in 0..7 {
        let n = 2 * k + 1;
        file += &format!("{} 3 2 1 1 {} {} {} {}\n", k + 1, n, n + 2, n + 3, n + 1);
    }
    file += "$EndElements\n";
    let folder = std::env::temp_dir().join(format!("carom-{}-strip", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("strip.msh");
    std::fs::write(&path, file).unwrap();
    let loaded =
        load_text(&deck(&format!("file = \"{}\"", path.display()))).unwrap_or_else(|e| panic!("{e}"));
    std::fs::remove_dir_all(folder).unwrap();
    let overlaps = loaded.surfaces.unwrap().overlaps;
    assert!(overlaps.len() == 1 && overlaps[0].bodies == ["wall", "wall"], "{overlaps:?}");
}

#[test]
fn a_body_alone_is_carried_without_contact_and_two_are_not() {
    let alone = "method = \"verlet\"\nend = 1\n[body.a]\nmesh = { shape = \"box\", size = [1, 1, 1], cells = [2, 2, 2] }\n\
                 material = { law = \"linear\", young = 1, poisson = 0, density = 1 }\n";
    let loaded = |text: &str| load_text(text).unwrap_or_else(|e| panic!("{e}"));
    let safety = |loaded: &Loaded| loaded.spec.step.safety;
    let one = loaded(alone);
    assert_eq!((one.surfaces.is_none(), one.kicks.len(), safety(&one)), (true, 0, Some(0.9)));
    // two boxes and a wall: one step for all sixteen elements
    let two = loaded(&two_boxes("verlet", ""));
    assert_eq!((two.surfaces.is_some(), two.kicks.len(), safety(&two)), (true, 1, Some(0.5)));
    assert_eq!(two.kicks[0].1, 16);
    for apart in ["[contact]\nonly = []\n", "[contact]\noff = [\"a\", \"wall\"]\n"] {
        assert!(loaded(&two_boxes("verlet", apart)).kicks.is_empty(), "{apart}");
    }
    assert_eq!(loaded(&(alone.to_owned() + "[contact]\nself = [\"a\"]\n")).kicks.len(), 1);
    // a step of a size that is given is the step
    let fixed = loaded(&two_boxes("verlet", "[step]\nsize = 0.0123\n"));
    assert!((fixed.kicks[0].0 / 0.0123 - 1.0).abs() < 1e-12, "{:?}", fixed.kicks);
}

/// Box edges 1/2 and 1/8 make critical steps of 1/2 and 1/8 (ν = 0, c = 1): two classes apart.
#[test]
fn asynchronous_steps_are_those_of_the_elements() {
    let text = |more: &str| {
        two_boxes("asynchronous", more).replace("cells = [2, 2, 2], at", "cells = [8, 2, 2], at")
    };
    let kicks = |more: &str| load_text(&text(more)).unwrap_or_else(|e| panic!("{e}")).kicks;
    let near = |found: &[(f64, u64)], wanted: &[(f64, u64)]| {
        assert_eq!(found.len(), wanted.len(), "{found:?}");
        for (f, w) in found.iter().zip(wanted) {
            assert!((f.0 / w.0 - 1.0).abs() < 1e-5 && f.1 == w.1, "{found:?}");
        }
    };
    near(&kicks(""), &[(0.0625, 32), (0.25, 8)]);
    near(&kicks("[step]\nsafety = 0.25\n"), &[(0.03125, 32), (0.125, 8)]);
    near(&kicks("[asynchronous]\nsteps = \"synchronous\"\n"), &[(0.0625, 40)]);
    // steps that do not fit each other are shorter unless told
    near(&kicks("[asynchronous]\nmode = \"paper\"\n"), &[(0.03125, 32), (0.125, 8)]);
    near(&kicks("[asynchronous]\nmode = \"paper\"\nsteps = \"synchronous\"\n"), &[(0.0625, 40)]);
}

#[test]
fn what_only_one_method_can_do_is_refused_by_the_others() {
    for (method, more, wanted) in [
        ("asynchronous", "[contact]\nguard = true\n", "no common step to certify"),
        ("verlet", "[contact]\nguard = true\n", "`guard` is for method \"dcr\""),
        ("verlet", "[verlet]\nsupports = \"rattle\"\n", "is for runs without contact"),
        ("nonsmooth", "[contact]\nrestitution = 0.5\n", "nobody chooses the restitution"),
        ("nonsmooth", "[nonsmooth]\ngamma = 0.4\n", "every wave grows"),
        (
            "nonsmooth",
            "[[contact.between]]\nbodies = [\"a\", \"b\"]\nrestitution = 0.5\n",
            "nobody chooses the restitution",
        ),
        ("asynchronous", "[step]\nsize = 1e-3\n", "a step of its own"),
        ("asynchronous", "contact = [\"xmin\"]\n", "all of body `b` can touch"),
        ("asynchronous", "[asynchronous]\ncontact_step = { average = 1 }\n", "`average` without `travel`"),
        (
            "asynchronous",
            "[asynchronous]\ncontact_step = { smallest = 1, travel = 1 }\n",
            "both `smallest` and `travel`",
        ),
    ] {
        let told = load_text(&two_boxes(method, more)).err().unwrap();
        assert!(told.problems.len() == 1 && told.to_string().contains(wanted), "{told}");
    }
    let loaded =
        load_text(&two_boxes("dcr", "[asynchronous]\nedge_edge = false\n")).unwrap_or_else(|e| panic!("{e}"));
    assert!(loaded.warnings[0].message.contains("[asynchronous] is for method \"asynchronous\""));
}

/// 27 nodes and 8 hexes, 27 nodes and 48 tets.
#[test]
fn integration_at_nodes_has_nodes_and_cells_as_potentials() {
    for (cell, count) in [("hex8", 27 + 8), ("tet4", 27 + 48)] {
        for law in
            ["\"neo-hookean\", young = 1, poisson = 0.3", "\"ogden\", mu = [1], alpha = [2], bulk = 50"]
        {
            let text = format!(
                "method = \"asynchronous\"\nend = 1\n[body.a]\nintegration = \"nodal\"\n\
                 mesh = {{ shape = \"box\", size = [1, 1, 1], cells = [2, 2, 2], cell = \"{cell}\" }}\n\
                 material = {{ law = {law}, density = 3 }}\n"
            );
            let loaded = load_text(&text).unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(loaded.kicks.iter().map(|k| k.1).sum::<u64>(), count);
            assert!((loaded.case.model.mass.iter().sum::<f64>() - 3.0).abs() < 1e-12);
        }
    }
}

#[test]
fn an_obstacle_moves_about_the_middle_of_its_box_unless_told() {
    let text = two_boxes(
        "dcr",
        "[body.stone]\nmesh = { shape = \"box\", size = [2, 4, 6], cells = [1, 1, 1], at = [10, 0, 0] }\n\
         velocity = [0, 1, 0]\nspin = [0, 0, 3.141592653589793]\n",
    );
    let loaded = load_text(&text).unwrap_or_else(|e| panic!("{e}"));
    let stone = &loaded.case.model.contact.obstacles[1];
    assert_eq!(stone.centre, crate::math::Vec3::new(11.0, 2.0, 3.0));
    // half a turn takes a corner to the one across, and the shift adds to it
    let corner = stone.pose(1.0).place(&crate::math::Vec3::new(10.0, 0.0, 0.0));
    assert!((corner - crate::math::Vec3::new(12.0, 5.0, 0.0)).norm() < 1e-12, "{corner}");
}

#[test]
fn an_array_makes_copies_in_rows_that_tumble_by_their_seed() {
    let text = |tumble: &str| {
        format!(
            "method = \"dcr\"\nend = 1\n[body.cube]\n\
             mesh = {{ shape = \"box\", size = [1, 1, 1], cells = [1, 1, 1], at = [10, 0, 0] }}\n\
             material = {{ law = \"linear\", young = 1, poisson = 0, density = 1 }}\n\
             array = {{ count = [2, 1, 3], spacing = [2, 0, 3]{tumble} }}\n"
        )
    };
    let middles = |text: &str| -> Vec<(String, Vec<f64>)> {
        let loaded = load_text(text).unwrap_or_else(|e| panic!("{e}"));
        let model = &loaded.case.model;
        let middle = |b: &crate::model::Body| {
            let sum: crate::math::Vec3 = model.reference[b.nodes.clone()].iter().sum();
            (sum / b.nodes.len() as f64).iter().map(|c| (1e9 * c).round() / 1e9).collect()
        };
        model.bodies.iter().map(|b| (b.name.clone(), middle(b))).collect()
    };
    let still = middles(&text(""));
    assert_eq!(still.len(), 6);
    assert_eq!(still[0], ("cube-1".into(), vec![10.5, 0.5, 0.5]));
    assert_eq!(still[1], ("cube-2".into(), vec![12.5, 0.5, 0.5]));
    assert_eq!(still[5], ("cube-6".into(), vec![12.5, 0.5, 6.5]));
    // each about its own middle, and the same every time
    assert_eq!(middles(&text(", tumble = 7")), still);
    let corner = |text: &str| load_text(text).unwrap_or_else(|e| panic!("{e}")).case.model.reference[0];
    assert_eq!(corner(&text(", tumble = 7")), corner(&text(", tumble = 7")));
    assert!((corner(&text(", tumble = 7")) - corner(&text(", tumble = 8"))).norm() > 0.01);
    assert!((corner(&text(", tumble = 7")) - corner(&text(""))).norm() > 0.01);
}

/// Pieces of a block: they fill it, fly apart with the rate that is asked for, and turn as parts of the whole.
#[test]
fn a_shattered_body_is_its_pieces() {
    let text = "method = \"nonsmooth\"\nend = 1\n[body.block]\n\
                mesh = { shape = \"box\", size = [2, 1, 1], cells = [1, 1, 1], at = [5, 0, 0] }\n\
                material = { law = \"linear\", young = 1, poisson = 0, density = 3 }\n\
                velocity = [0, 0, 7]\nspin = [0, 0, 2]\nshatter = { pieces = 6, seed = 4, burst = 10 }\n";
    let loaded = load_text(text).unwrap_or_else(|e| panic!("{e}"));
    let (model, state) = (&loaded.case.model, &loaded.case.state);
    let names: Vec<&str> = model.bodies.iter().map(|b| b.name.as_str()).collect();
    assert_eq!(names, ["block-1", "block-2", "block-3", "block-4", "block-5", "block-6"]);
    assert!((model.mass.iter().sum::<f64>() - 6.0).abs() < 1e-12);
    let centre = Vec3::new(6.0, 0.5, 0.5);
    for body in &model.bodies {
        let mass: f64 = model.mass[body.nodes.clone()].iter().sum();
        let middle = body.nodes.clone().map(|k| model.mass[k] * model.reference[k]).sum::<Vec3>() / mass;
        for k in body.nodes.clone() {
            let out = model.reference[k] - centre;
            let exact = Vec3::new(0.0, 0.0, 7.0)
                + 10.0 * (middle - centre)
                + Vec3::new(-2.0 * out.y, 2.0 * out.x, 0.0);
            // masses of nodes have their centre at the mean of the corners of the cells: that of the piece
            assert!((state.v[k] - exact).norm() < 1e-12, "{} {exact}", state.v[k]);
        }
    }
    let told = |from: &str, to: &str| load_text(&text.replace(from, to)).err().unwrap().to_string();
    assert!(told("pieces = 6", "pieces = 0").contains("from 1"));
    assert!(told("seed = 4", "gap = 3").contains("so narrow that something is left"));
    let sphere = "shape = \"sphere\", radius = 1, core_cells = 1, layers = 1, at";
    assert!(
        told("shape = \"box\", size = [2, 1, 1], cells = [1, 1, 1], at", sphere)
            .contains("a round or hollow shape")
    );
}

#[test]
fn a_mesh_in_the_deck_is_refused_where_it_is_none() {
    let text = |mesh: &str| {
        format!(
            "method = \"dcr\"\nend = 1\n[body.a]\nmesh = {{ {mesh} }}\n\
             material = {{ law = \"linear\", young = 1, poisson = 0, density = 1 }}\n"
        )
    };
    assert!(load_text(&text("nodes = [[0, 0], [1, 0], [0, 1]], cells = [[0, 1, 2]]")).is_ok());
    for (mesh, wanted) in [
        ("nodes = [[0, 0], [1, 0], [0, 1]], cells = [[0, 1, 3]]", "nodes from 0 to 2"),
        ("nodes = [[0, 0], [1, 0], [0, 1]], cells = [[0, 1]]", "3 or 4 nodes"),
        ("nodes = [[0, 0], [1], [0, 1]], cells = [[0, 1, 2]]", "2 coordinates"),
        ("nodes = [[0, 0], [1, 0], [0, 1]], cells = [[0, 2, 1]]", "turned inside out"),
        (
            "nodes = [[0, 0], [1, 0], [0, 1]], cells = [[0, 1, 2]], sides = { a = [[0, 0]] }",
            "one side of a cell",
        ),
        ("nodes = [], cells = []", "one, two or three coordinates"),
    ] {
        let told = load_text(&text(mesh)).err().unwrap_or_else(|| panic!("{mesh}")).to_string();
        assert!(told.contains(wanted) && told.contains("deck.toml:4"), "{told}");
    }
}

#[test]
fn a_mistake_in_a_body_with_copies_is_told_once() {
    let text = "method = \"dcr\"\nend = 1\n[body.cube]\nmesh = { shape = \"box\", size = [1, 1, 1], cells = [1, 1, 1] }\n\
                material = \"stel\"\narray = { count = [9, 9, 9], spacing = [2, 2, 2] }\n";
    let problems = load_text(text).err().unwrap().problems;
    assert_eq!(problems.len(), 1, "{problems:?}");
}

#[test]
fn a_key_with_a_new_name_answers_with_it() {
    let text = two_boxes("semi-explicit", "[semi-explicit]\npush_back = 0.1\n");
    let told = load_text(&text).err().unwrap();
    assert_eq!(told.problems.len(), 1, "{told}");
    assert!(told.to_string().contains("it is called `baumgarte` now"), "{told}");
}
