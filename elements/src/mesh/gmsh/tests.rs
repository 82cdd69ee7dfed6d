use super::*;
use crate::math::Vec3;
use crate::mesh::error::Place;
use crate::mesh::shape::{Bar, Box, Cylinder, Disc, Rectangle, Sphere};
use crate::mesh::surface::Surface;
use crate::mesh::{CellKind, Side};
use std::path::PathBuf;

mod writer;
use writer::{Format, write};

fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/meshes").join(name)
}

fn fixture(name: &str) -> Mesh {
    read(path(name)).unwrap_or_else(|e| panic!("{e}"))
}

fn text(name: &str) -> String {
    std::fs::read_to_string(path(name)).unwrap()
}

fn message(file: &str) -> String {
    parse(file.as_bytes()).map(|_| ()).unwrap_err().to_string()
}

/// Everything equal; places to the 16 digits that Gmsh writes as text.
fn assert_same(a: &Mesh, b: &Mesh) {
    assert_eq!(a.cells, b.cells);
    assert_eq!(a.node_sets, b.node_sets);
    assert_eq!(a.side_sets, b.side_sets);
    assert_eq!(a.cell_sets, b.cell_sets);
    assert_eq!(a.nodes.len(), b.nodes.len());
    for (p, q) in a.nodes.iter().zip(&b.nodes) {
        assert!((p - q).amax() <= 1e-15 * 2.5, "{p} {q}");
    }
}

#[test]
fn all_four_formats_of_a_geometry_give_the_same_mesh() {
    for kind in ["tri3", "quad4", "tet4", "hex8"] {
        let mesh = fixture(&format!("{kind}-41-ascii.msh"));
        mesh.check().unwrap();
        assert_eq!(mesh.cells.len(), 1);
        assert_eq!(mesh.cells[0].kind.name(), kind);
        for other in ["41-binary", "22-ascii", "22-binary"] {
            assert_same(&mesh, &fixture(&format!("{kind}-{other}.msh")));
        }
    }
}

#[test]
fn parameters_of_nodes_change_nothing() {
    let plain = fixture("tet4-41-ascii.msh");
    for file in ["tet4-parametric-41-ascii.msh", "tet4-parametric-41-binary.msh"] {
        assert_same(&plain, &fixture(file));
    }
}

fn volume_of(mesh: &Mesh, set: &str) -> f64 {
    let volumes: Vec<f64> = mesh.measures(&mesh.cells[0]).collect();
    mesh.cell_sets[set].iter().map(|&(_, cell)| volumes[cell as usize]).sum()
}

#[test]
fn groups_of_solids_become_cell_side_and_node_sets() {
    let mesh = fixture("hex8-41-ascii.msh");
    assert_eq!((mesh.nodes.len(), mesh.cells[0].len()), (4 * 3 * 4, 18));
    assert!((volume_of(&mesh, "lower") - 1.0).abs() < 1e-10);
    assert!((volume_of(&mesh, "upper") - 0.5).abs() < 1e-10);
    let boundary: Vec<Side> = Surface::of(&mesh).facets.iter().map(|f| f.side).collect();
    for (set, z) in [("bottom", 0.0), ("top", 0.75)] {
        assert_eq!((mesh.side_sets[set].len(), mesh.node_sets[set].len()), (6, 12));
        assert!(mesh.side_sets[set].iter().all(|s| boundary.contains(s)));
        assert!(mesh.node_sets[set].iter().all(|&n| mesh.nodes[n as usize].z == z));
    }
    assert_eq!(mesh.node_sets["front edge"].len(), 4);
    assert_eq!(mesh.nodes[mesh.node_sets["origin"][0] as usize], Vec3::zeros());
    assert_eq!(mesh.node_sets["lower"].len(), 4 * 3 * 3);
    assert_eq!(Vec::from_iter(mesh.side_sets.keys()), ["bottom", "top"]);
}

#[test]
fn an_entity_in_two_groups_is_in_both_and_its_cells_are_there_once() {
    for file in ["quad4-41-ascii.msh", "quad4-22-ascii.msh"] {
        let mesh = fixture(file);
        assert_eq!(mesh.cells[0].len(), 12);
        assert!((mesh.measure() - 2.5).abs() < 1e-14);
        assert_eq!(mesh.cell_sets["steel"], mesh.cell_sets["heavy"]);
        assert_eq!((mesh.cell_sets["steel"].len(), mesh.cell_sets["rubber part"].len()), (6, 6));
        // A group without name goes by its tag.
        assert_eq!(mesh.side_sets["curve-77"].len(), 2);
        assert!(mesh.node_sets["curve-77"].iter().all(|&n| mesh.nodes[n as usize].x == 0.0));
    }
}

/// The named line runs upwards, so its right-hand normal is +x: that is outwards for the left cells.
#[test]
fn an_inner_side_is_taken_from_the_cell_it_points_out_of() {
    let mesh = fixture("quad4-41-binary.msh");
    assert_eq!(mesh.side_sets["between"].len(), 2);
    for side in &mesh.side_sets["between"] {
        assert!(mesh.cell_sets["steel"].contains(&(side.cells, side.cell)));
        let [a, b] = Vec::from_iter(mesh.side_nodes(*side))[..] else { panic!() };
        assert!(mesh.nodes[a as usize].y < mesh.nodes[b as usize].y);
    }
}

#[test]
fn the_skin_of_a_ball_is_its_whole_boundary() {
    let mesh = fixture("tet4-22-binary.msh");
    let boundary: Vec<Side> = Surface::of(&mesh).facets.iter().map(|f| f.side).collect();
    assert_eq!(mesh.side_sets["skin"], boundary);
    assert_eq!(mesh.node_sets["skin"], Surface::of(&mesh).nodes);
    let centre = Vec3::new(0.1, 0.2, 0.3);
    assert!(
        mesh.node_sets["skin"]
            .iter()
            .all(|&n| ((mesh.nodes[n as usize] - centre).norm() - 1.0).abs() < 1e-12)
    );
}

#[test]
fn points_and_curves_of_a_plane_mesh_are_named() {
    let mesh = fixture("tri3-22-binary.msh");
    assert_eq!(Vec::from_iter(mesh.side_sets.keys()), ["hole", "left", "right"]);
    assert_eq!(mesh.node_sets["corner"].len(), 1);
    assert!(
        mesh.node_sets["hole"]
            .iter()
            .all(|&n| { ((mesh.nodes[n as usize] - Vec3::new(0.7, 0.5, 0.0)).norm() - 0.2).abs() < 1e-12 })
    );
}

const fn format(v4: bool, binary: bool, big_endian: bool) -> Format {
    Format { v4, binary, big_endian }
}

const FORMATS: [Format; 6] = [
    format(true, false, false),
    format(true, true, false),
    format(true, true, true),
    format(false, false, false),
    format(false, true, false),
    format(false, true, true),
];

fn shapes() -> Vec<Mesh> {
    vec![
        Bar::new(1.0, 3).build().unwrap(),
        Rectangle::new([1.0, 2.0], [2, 3]).build().unwrap(),
        Disc { cell: CellKind::Tri3, ..Disc::new(1.0, 2, 1) }.build().unwrap(),
        Box::new([1.0, 2.0, 3.0], [2, 1, 2]).build().unwrap(),
        Cylinder { cell: CellKind::Tet4, ..Cylinder::new(1.0, 2.0, 2, 1, 2) }.build().unwrap(),
        Sphere::new(1.0, 2, 1).build().unwrap(),
    ]
}

#[test]
fn a_written_mesh_comes_back_bit_for_bit_in_every_format_and_byte_order() {
    for mut mesh in shapes() {
        let all = (0..mesh.cells[0].len() as u32).map(|cell| (0, cell)).collect();
        mesh.cell_sets.insert("all".into(), all);
        mesh.name_nodes("all", (0..mesh.nodes.len() as u32).collect());
        for format in FORMATS {
            assert_eq!(parse(&write(&mesh, format)).unwrap(), mesh);
        }
    }
}

#[test]
fn a_mesh_of_tets_and_hexes_keeps_both() {
    let mut mesh = Box::new([1.0; 3], [1; 3]).build().unwrap();
    let tets = Box { cell: CellKind::Tet4, ..Box::new([1.0; 3], [1; 3]) }.build().unwrap();
    let shift = mesh.nodes.len() as u32;
    mesh.nodes.extend(tets.nodes.iter().map(|p| p + Vec3::new(5.0, 0.0, 0.0)));
    let mut tets = tets.cells[0].clone();
    tets.nodes.iter_mut().for_each(|n| *n += shift);
    mesh.cells.insert(0, tets);
    mesh.side_sets.clear();
    mesh.node_sets.clear();
    for format in FORMATS {
        assert_eq!(parse(&write(&mesh, format)).unwrap(), mesh);
    }
}

/// Seen from behind, a plane mesh is drawn clockwise; in the plane that says nothing about the body.
#[test]
fn a_plane_region_drawn_clockwise_is_turned_but_a_single_clockwise_cell_is_not() {
    let mut mesh = Rectangle::new([1.0, 2.0], [2, 3]).build().unwrap();
    mesh.side_sets.clear();
    mesh.node_sets.clear();
    let good = mesh.clone();
    mesh.cells[0].nodes.chunks_exact_mut(4).for_each(|q| q[1..].reverse());
    assert_eq!(parse(&write(&mesh, FORMATS[0])).unwrap(), good);
    let mut mesh = good.clone();
    mesh.cells[0].nodes[1..4].reverse();
    assert!(parse(&write(&mesh, FORMATS[0])).unwrap().check().is_err());
}

#[test]
fn nodes_without_cells_are_dropped_and_the_others_keep_their_order() {
    let file = text("hex8-22-ascii.msh");
    let plain = parse(file.as_bytes()).unwrap();
    let more = file.replace("$Nodes\n48\n", "$Nodes\n50\n1000000000 7 7 7\n0 5 5 5\n");
    assert_ne!(file, more);
    assert_eq!(parse(more.as_bytes()).unwrap(), plain);
}

#[test]
fn cells_that_are_not_read_are_named_and_counted_with_a_remedy() {
    let words = |name| read(path(name)).map(|_| ()).unwrap_err().to_string();
    let second = words("tri6-41-ascii.msh");
    assert!(
        second.contains(" tri6 (second order) cells") && second.contains("Mesh.ElementOrder = 1"),
        "{second}"
    );
    let prism = words("prism-41-ascii.msh");
    assert!(prism.contains("4 prism6 cells"), "{prism}");
    let old = words("tri3-40-ascii.msh");
    assert!(old.contains("line 2, column 1: format `4` is not read; save as 4.1"), "{old}");
}

#[test]
fn a_file_that_is_not_there_or_no_file_is_named() {
    let gone = read(path("nowhere.msh")).map(|_| ()).unwrap_err().to_string();
    assert!(gone.contains("nowhere.msh cannot be read"), "{gone}");
    let folder = read(path("")).map(|_| ()).unwrap_err().to_string();
    assert!(folder.contains("it is not a file"), "{folder}");
}

#[test]
fn mistakes_in_a_text_file_are_shown_at_their_line_and_column() {
    let four = text("quad4-41-ascii.msh");
    let two = text("quad4-22-ascii.msh");
    for (file, from, to, expected) in [
        (&four, "$MeshFormat", "$Mesh", "line 1, column 1: no Gmsh mesh"),
        (&four, "4.1 0 8", "4.1 7 8", "line 2, column 5: expected 0 (text) or 1 (binary), found 7"),
        (&four, "4.1 0 8", "3.0 0 8", "line 2, column 1: format `3.0` is not read"),
        (&four, "4.1 0 8", "4.1 0 2", "line 2, column 7: numbers of 2 bytes"),
        (
            &four,
            "$EndMeshFormat",
            "$EndMesh",
            "line 3, column 1: expected `$EndMeshFormat`, found `$EndMesh`",
        ),
        (&four, "1 4 \"between\"", "1 4 between", "line 6, column 5: expected the name"),
        (&four, "1 4 \"between\"", "7 4 \"between\"", "line 6, column 1: a physical group has dimension 7"),
        (
            &four,
            "1 78 \"right\"",
            "1 4 \"right\"",
            "line 7, column 1: the physical group of dimension 1 and tag 4",
        ),
        (&four, "\n2.5 0 0\n", "\n2.5 O 0\n", "line 40, column 5: expected a coordinate, found `O`"),
        (&four, "\n2.5 0 0\n", "\n2.5 nan 0\n", "line 40, column 5: node 3 has y = NaN"),
        (&four, "\n2.5 0 0\n", "\n2.5 0 1e999\n", "line 40, column 7: node 3 has z = inf"),
        (&four, "0 3 0 1\n3\n", "0 3 0 1\n2\n", "line 39, column 1: node 2 is given twice"),
        (&four, "0 3 0 1\n", "0 3 2 1\n", "line 38, column 5: expected 0 or 1 for parametric"),
        (&four, "0 3 0 1\n", "5 3 0 1\n", "line 38, column 1: an entity has dimension 5"),
        (&four, "15 21 1 21", "15 22 1 21", "line 31, column 4: the blocks hold 21 nodes, but 22"),
        (&four, "15 21 1 21", "14 21 1 21", "the blocks hold 19 nodes, but 21"),
        (&four, "5 18 1 18", "5 17 1 18", "line 91, column 3: the blocks hold 18 elements, but 17"),
        (&four, "7 1 7 18 15 ", "7 1 7 18 99 ", "line 102, column 10: element 7 uses node 99"),
        (&four, "2 1 3 6\n", "2 1 300 6\n", "there is no element type 300"),
        (&four, "2 1 3 6\n", "2 1 5 6\n", "a block of hex8 elements in an entity of dimension 2"),
        (&four, "2 1 3 6\n", "2 9 3 6\n", "line 101, column 1: no entity of dimension 2 has tag 9"),
        (&four, "$EndElements", "", "the file ends where `$EndElements` should stand"),
        (
            &four,
            "$EndElements",
            "$EndElements\nrubbish",
            "line 116, column 1: expected the start of a section",
        ),
        (&four, "$EndElements", "$EndElements\n$Notes\n", "section `Notes` has no end"),
        (&four, "$Entities", "$PartitionedEntities", "the mesh is partitioned"),
        (&two, "\n3 2.5 0 0\n", "\n2 2.5 0 0\n", "line 16, column 1: node 2 is given twice"),
        (&two, "\n3 2.5 0 0\n", "\n-3 2.5 0 0\n", "line 16, column 1: a node has the negative tag -3"),
        (&two, "7 3 2 1 1 1 7 18 15", "7 3 2 1 1 1 7 18 -15", "line 44, column 18: element 7 uses node -15"),
        (
            &two,
            "7 3 2 1 1 1 7 18 15",
            "7 33 2 1 1 1 7 18 15",
            "line 44, column 3: there is no element type 33",
        ),
        (&two, "$Nodes", "$ParametricNodes", "save with Mesh.SaveParametric = 0"),
        (
            &two,
            "1 78 \"right\"",
            "1 78 \"steel\"",
            "two physical groups are called `steel`, one of dimension",
        ),
        (
            &two,
            "5 1 2 78 7 3 17",
            "5 1 2 78 7 1 17",
            "bar2 element 5 of group `right` is no side of any cell",
        ),
    ] {
        assert!(file.contains(from), "{from}");
        let message = message(&file.replacen(from, to, 1));
        assert!(message.contains(expected), "{message}\nnot\n{expected}");
    }
}

#[test]
fn sections_out_of_order_or_missing_are_refused() {
    let file = text("quad4-22-ascii.msh");
    let (head, rest) = file.split_once("$Nodes").unwrap();
    let (nodes, elements) = rest.split_once("$Elements").unwrap();
    let (nodes, elements) = (format!("$Nodes{nodes}"), format!("$Elements{elements}"));
    assert!(
        message(&format!("{head}{elements}{nodes}")).contains("$Elements comes without $Nodes before it")
    );
    assert!(message(&format!("{head}{nodes}{nodes}{elements}")).contains("section $Nodes appears twice"));
    assert!(
        message(&format!("{head}{nodes}{elements}{elements}")).contains("section $Elements appears twice")
    );
    assert!(message(&format!("{head}{nodes}")).contains("no cells"));
    assert!(message(head).contains("no section $Nodes"));
    assert!(message("").contains("empty"));
    // What comes in between and is not needed does not matter.
    let extra = "$Comments\nany thing $ at all\n$EndComments\n";
    assert_eq!(
        parse(format!("{head}{extra}{nodes}{extra}{elements}{extra}").as_bytes()).unwrap(),
        parse(file.as_bytes()).unwrap()
    );
}

#[test]
fn lines_may_end_as_on_windows() {
    let file = text("quad4-41-ascii.msh");
    assert_eq!(parse(file.replace('\n', "\r\n").as_bytes()).unwrap(), parse(file.as_bytes()).unwrap());
}

#[test]
fn counts_beyond_the_file_are_refused_where_they_stand() {
    let four = text("quad4-41-ascii.msh");
    let two = text("quad4-22-ascii.msh");
    let lie = "1000000000";
    for (file, from, to) in [
        (&four, "$PhysicalNames\n5\n", format!("$PhysicalNames\n{lie}\n")),
        (&four, "6 7 2 0\n", format!("{lie} 7 2 0\n")),
        (&four, "6 7 2 0\n", format!("6 7 {lie} 0\n")),
        (&four, "1 0 0 0 1 1 0 2 1 3", format!("1 0 0 0 1 1 0 {lie} 1 3")),
        (&four, "15 21 1 21", format!("{lie} 21 1 21")),
        (&four, "15 21 1 21", format!("15 {lie} 1 21")),
        (&four, "1 1 0 2\n", format!("1 1 0 {lie}\n")),
        (&four, "5 18 1 18", format!("{lie} 18 1 18")),
        (&four, "5 18 1 18", format!("5 {lie} 1 18")),
        (&four, "2 1 3 6\n", format!("2 1 3 {lie}\n")),
        (&two, "$Nodes\n21\n", format!("$Nodes\n{lie}\n")),
        (&two, "$Elements\n24\n", format!("$Elements\n{lie}\n")),
        (&two, "1 1 2 77 5 1 15", format!("1 1 {lie} 77 5 1 15")),
    ] {
        let message = message(&file.replacen(from, &to, 1));
        assert!(message.contains("the file claims 1000000000"), "{message}");
    }
    // The same in binary: the first number of $Nodes (blocks), then of nodes, becomes enormous.
    for name in ["quad4-41-binary.msh", "hex8-41-binary.msh"] {
        let plain = std::fs::read(path(name)).unwrap();
        let start = plain.windows(7).position(|w| w == b"$Nodes\n").unwrap() + 7;
        for offset in [0, 8] {
            let mut bytes = plain.clone();
            bytes[start + offset + 5] = 1;
            match parse(&bytes) {
                Err(MeshError::Content { place: Place::Byte(at), problem }) => {
                    assert_eq!(at, start + offset);
                    assert!(problem.contains("the file claims 1099511627"), "{problem}");
                }
                other => panic!("{other:?}"),
            }
        }
    }
}

#[test]
fn a_file_cut_anywhere_is_refused_or_gives_the_same_mesh() {
    for kind in ["quad4", "hex8"] {
        for format in ["41-ascii", "41-binary", "22-ascii", "22-binary"] {
            let whole = std::fs::read(path(&format!("{kind}-{format}.msh"))).unwrap();
            let mesh = parse(&whole).unwrap();
            for length in 0..whole.len() {
                // Only the line end after the last word may be missing.
                assert!(parse(&whole[..length]).map_or(true, |m| length + 1 >= whole.len() && m == mesh));
            }
        }
    }
}
