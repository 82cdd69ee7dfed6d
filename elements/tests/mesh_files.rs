//! Files of other tools: read as VTK's own readers have them, and parts, instances and sets written by hand.

use carom_elements::math::Vec3;
use carom_elements::mesh::surface::Surface;
use carom_elements::mesh::{CellKind, Mesh, MeshError, abaqus, file};
use std::path::PathBuf;

fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/meshes").join(name)
}

fn read(name: &str) -> Mesh {
    file::read(&path(name), file::WELD, &mut |_| ()).unwrap_or_else(|e| panic!("{e}")).mesh
}

/// `expected.csv` holds what VTK's readers find: tets, their points, Σ (k + 1) x of the k-th node of every tet, and sizes of groups.
#[test]
fn files_hold_what_vtk_finds_in_them() {
    let table = std::fs::read_to_string(path("expected.csv")).unwrap();
    let mut seen = 0;
    for row in table.lines().skip(1) {
        let fields: Vec<&str> = row.split(',').collect();
        let [name, tets, points, x, y, z, solid, left, bore] = fields[..] else { panic!("{row}") };
        let count = |text: &str| text.parse::<usize>().unwrap();
        let mesh = read(name);
        mesh.check().unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(mesh.cells.len(), 1, "{name}");
        let cells = &mesh.cells[0];
        assert_eq!((cells.len(), mesh.nodes.len()), (count(tets), count(points)), "{name}");
        let kind = if name.contains("tet10") { CellKind::Tet10 } else { CellKind::Tet4 };
        assert_eq!(cells.kind, kind, "{name}");
        let mut sums = Vec3::zeros();
        for (k, &node) in cells.nodes.iter().enumerate() {
            sums += (k % kind.nodes() + 1) as f64 * mesh.nodes[node as usize];
        }
        let wanted = Vec3::from([x, y, z].map(|t| t.parse::<f64>().unwrap()));
        // digits of text files: meshio writes 16, Gmsh ten
        assert!((sums - wanted).amax() < 1e-8 * wanted.amax(), "{name}: {sums} {wanted}");
        let sets = if name.starts_with("plate-tet10-4") && name.ends_with("msh")
            || name.ends_with("22-binary.msh")
            || name.ends_with("gmsh.inp")
        {
            ["plate", "left", "bore"]
        } else {
            ["group-1", "group-2", "group-3"]
        };
        if !name.ends_with("meshio.inp") {
            assert_eq!(mesh.cell_sets[sets[0]].len(), count(solid), "{name}");
            for (set, size, at) in [(sets[1], left, None), (sets[2], bore, Some(Vec3::new(1.2, 0.5, 0.0)))] {
                let sides = &mesh.side_sets[set];
                assert_eq!(sides.len(), count(size), "{name} {set}");
                let boundary: Vec<_> = Surface::of(&mesh).facets.iter().map(|f| f.side).collect();
                assert!(sides.iter().all(|s| boundary.contains(s)), "{name}");
                for &node in &mesh.node_sets[set] {
                    let x = mesh.nodes[node as usize];
                    let off = at.map_or(x.x, |c: Vec3| (x - c).xy().norm() - 0.25);
                    assert!(off.abs() < 1e-9, "{name}: node {node} of `{set}` at {x}");
                }
                let each = if kind == CellKind::Tet10 { 6 } else { 3 };
                assert!(sides.iter().all(|&s| mesh.side_nodes(s).count() == each));
            }
        }
        let left = mesh.node_sets.get(sets[1]).or(mesh.node_sets.get("left")).unwrap();
        let on_face = mesh.nodes.iter().filter(|x| x.x.abs() < 1e-9).count();
        assert_eq!(left.len(), on_face, "{name}");
        seen += 1;
    }
    assert!(seen > 15);
}

/// Parts of an input file written by hand stand where VTK's transformations put them, and sets hold the same.
#[test]
fn instances_stand_where_vtk_puts_them() {
    let (ours, vtk) = (read("instances.inp"), read("instances.vtu"));
    assert_eq!((ours.nodes.len(), ours.cells.len()), (28, 2));
    for (a, b) in ours.cells.iter().zip(&vtk.cells) {
        assert_eq!((a.kind, a.len()), (b.kind, b.len()));
        for (&m, &n) in a.nodes.iter().zip(&b.nodes) {
            let apart = (ours.nodes[m as usize] - vtk.nodes[n as usize]).norm();
            // digits of the text that VTK writes
            assert!(apart < 1e-10, "{apart}: {} {}", ours.nodes[m as usize], vtk.nodes[n as usize]);
        }
    }
    for (number, name) in ["plain", "turned", "tilted", "tip"].into_iter().enumerate() {
        assert_eq!(ours.cell_sets[name], vtk.cell_sets[&format!("instance-{number}")], "{name}");
    }
    assert_eq!(ours.cell_sets["moved"], vtk.cell_sets["moved-1"]);
    assert_eq!(ours.node_sets["feet"], vtk.node_sets["feet-1"]);
    let top = &ours.node_sets["tilted.top"];
    assert!(top.len() == 4 && top.iter().all(|n| (20..24).contains(n)), "{top:?}");
}

/// The skin that VTK wrote of the same plate: closed, with its volume.
#[test]
fn a_surface_of_triangles_is_closed_after_welding() {
    let read = file::read(&path("plate-tet4.stl"), file::WELD, &mut |_| ()).unwrap();
    let text = read.mesh.describe();
    assert!(text.contains(", closed"), "{text}");
    assert!(read.notes[0].starts_with("corners within 2.000e-6 m"), "{:?}", read.notes);
}

const PARTS: &str = "*HEADING
 two cubes by hand
** a comment, and a keyword that goes on
*Part, name=Cube
*Node, nset=all
 1, 0., 0., 0.
 2, 1., 0., 0.
 3, 1., 1., 0.
 4, 0., 1.0D0, 0.
 5, 0., 0., 1.
 6, 1., 0., 1.
 7, 1., 1., 1.
 8, 0., 1., 1.
*Element, type=C3D8R,
 elset=Body
 10, 1, 2, 3, 4,
 5, 6, 7, 8
*Nset, nset=base, generate
 1, 4, 1
*Elset, elset=mine
 body
*Surface, type=ELEMENT, name=Top
 mine, S2
*End Part
*Assembly, name=A
*Instance, name=near, part=cube
*End Instance
*Instance, name=far, part=Cube
 3., 0., 0.
 3., 0., 0., 3., 0., 1., 90.
*End Instance
*Nset, nset=ends, instance=far
 2, 3
*Nset, nset=ends
 near.1, near.base
*Elset, elset=both
 near.body, far.mine
*Surface, name=lids
 near.mine, S2
 both, S1
*End Assembly
*Material, name=Steel
*Density
 7.8e-9,
*Step
*Boundary
 ends, 1, 3
*End Step
";

fn parsed(text: &str) -> Result<Mesh, MeshError> {
    abaqus::parse(text.as_bytes(), &mut |_| Err(std::io::Error::other("nothing is included here")))
}

#[test]
fn parts_stand_where_their_instances_say_with_their_sets() {
    let mesh = parsed(PARTS).unwrap();
    mesh.check().unwrap();
    assert_eq!((mesh.nodes.len(), mesh.cells[0].len()), (16, 2));
    // shifted by 3, then a quarter turn about the line x = 3, y = 0: (1, 0, 0) → (4, 0, 0) → (3, 1, 0)
    assert!((mesh.nodes[9] - Vec3::new(3.0, 1.0, 0.0)).norm() < 1e-15);
    assert!((mesh.nodes[10] - Vec3::new(2.0, 1.0, 0.0)).norm() < 1e-15);
    assert_eq!(mesh.node_sets["ends"], [0, 1, 2, 3, 9, 10]);
    assert_eq!(mesh.node_sets["near.base"], [0, 1, 2, 3]);
    assert_eq!(mesh.cell_sets["both"], [(0, 0), (0, 1)]);
    assert_eq!(
        (&mesh.cell_sets["far"][..], &mesh.cell_sets["near.Body"][..]),
        (&[(0, 1)][..], &[(0, 0)][..])
    );
    let z = |set: &str| mesh.node_sets[set].iter().map(|&n| mesh.nodes[n as usize].z).collect::<Vec<_>>();
    assert_eq!(z("far.Top"), [1.0; 4]);
    assert_eq!((mesh.side_sets["lids"].len(), z("lids").iter().sum::<f64>()), (3, 4.0));
    let mut part = mesh.clone();
    part.keep_part("far").unwrap();
    assert_eq!((part.nodes.len(), part.cells[0].len(), part.node_sets["ends"].len()), (8, 1, 2));
    assert!(!part.node_sets.contains_key("near.base"));
    part.check().unwrap();
    assert!(part.keep_part("nowhere").unwrap_err().to_string().contains("`both`"));
}

/// A tetrahedron with each face named by Abaqus's number for it: S1 is 1-2-3, S2 1-4-2, S3 2-4-3, S4 3-4-1.
#[test]
fn faces_have_the_numbers_of_abaqus() {
    let nodes = "*NODE\n1,0,0,0\n2,1,0,0\n3,0,1,0\n4,0,0,1\n5,.5,0,0\n6,.5,.5,0\n7,0,.5,0\n8,0,0,.5\n9,.5,0,.5\n10,0,.5,.5\n";
    let faces: String = (1..5).map(|k| format!("*SURFACE, NAME=S{k}\nall, S{k}\n")).collect();
    let corners = [[1, 2, 3], [1, 4, 2], [2, 4, 3], [3, 4, 1]];
    let linear = parsed(&format!("{nodes}*ELEMENT, TYPE=C3D4, ELSET=all\n1,1,2,3,4\n{faces}")).unwrap();
    let quadratic =
        parsed(&format!("{nodes}*ELEMENT, TYPE=C3D10M, ELSET=all\n1,1,2,3,4,5,6,7,8,9,10\n{faces}")).unwrap();
    quadratic.check().unwrap();
    for (k, face) in corners.iter().enumerate() {
        let mut wanted = face.map(|n| n - 1);
        wanted.sort();
        assert_eq!(linear.node_sets[&format!("S{}", k + 1)], wanted);
        let six = &quadratic.node_sets[&format!("S{}", k + 1)];
        assert_eq!((six.len(), &six[..3]), (6, &wanted[..]));
    }
    let cube = PARTS.replace("mine, S2", "mine, S6");
    // S6 of a hexahedron is 4-8-5-1
    assert_eq!(parsed(&cube).unwrap().node_sets["near.Top"], [0, 3, 4, 7]);
}

#[test]
fn included_files_are_read_in_their_place() {
    let folder = std::env::temp_dir().join(format!("carom-include-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).unwrap();
    write("main.inp", "*NODE\n*INCLUDE, INPUT=nodes.txt\n*INCLUDE, INPUT=cells.txt\n");
    write("nodes.txt", "1, 0, 0, 0\n2, 1, 0, 0\n3, 0, 1, 0\n4, 0, 0, 1\n");
    write("cells.txt", "*ELEMENT, TYPE=C3D4, ELSET=one\n7, 1, 2, 3, 4\n");
    let mut bytes = 0;
    let mesh = file::read(&folder.join("main.inp"), 0.0, &mut |b| bytes += b.len()).unwrap().mesh;
    assert_eq!((mesh.cells[0].len(), mesh.cell_sets["one"].len()), (1, 1));
    assert!(bytes > 140, "{bytes}");
    let words =
        || file::read(&folder.join("main.inp"), 0.0, &mut |_| ()).map(|_| ()).unwrap_err().to_string();
    write("cells.txt", "*ELEMENT, TYPE=C3D4\n7, 1, 2, 3, 5\n");
    assert!(words().contains("uses node 5"), "{}", words());
    write("cells.txt", "*INCLUDE, INPUT=cells.txt\n");
    assert!(words().contains("include itself"), "{}", words());
    write("cells.txt", "*INCLUDE, INPUT=nowhere\n");
    assert!(
        words().contains("cells.txt, line 1") && words().contains("`nowhere` cannot be read"),
        "{}",
        words()
    );
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn mistakes_in_input_files_are_told_with_their_line() {
    let nodes = "*NODE\n1,0,0,0\n2,1,0,0\n3,0,1,0\n4,0,0,1\n";
    let cases = [
        (format!("{nodes}*ELEMENT, TYPE=C3D20R\n1,1\n"), "line 6", "C3D20R"),
        (format!("{nodes}*ELEMENT, TYPE=C3D4\n1,1,2,3\n*NSET, NSET=a\n1\n"), "line 8", "lacks nodes"),
        (format!("{nodes}*ELEMENT, TYPE=C3D4\n1,1,2,3,4,5\n"), "line 7", "5 nodes"),
        (format!("{nodes}*ELEMENT, TYPE=C3D4\n1,1,2,3,9\n"), "line 7", "node 9"),
        (format!("{nodes}*ELEMENT, TYPE=C3D4\n1,1,2,3,4\n1,1,2,3,4\n"), "line 8", "element 1 is given twice"),
        (format!("{nodes}3,0,0,0\n"), "line 6", "node 3 is given twice"),
        (format!("{nodes}x,0,0,0\n"), "line 6", "`x`"),
        (format!("{nodes}5,0,nan,0\n"), "line 6", "`nan`"),
        (format!("{nodes}*NGEN\n1,2\n"), "line 6", "*NGEN"),
        (
            format!("{nodes}*ELEMENT, TYPE=C3D4, ELSET=e\n1,1,2,3,4\n*SURFACE, NAME=s\ne, S5\n"),
            "line 9",
            "4 sides",
        ),
        (
            format!("{nodes}*ELEMENT, TYPE=C3D4, ELSET=e\n1,1,2,3,4\n*ELSET, ELSET=f\nf\n"),
            "line 9",
            "part of itself",
        ),
        (format!("{nodes}*ELEMENT, TYPE=C3D4\n1,1,2,3,4\n*NSET, NSET=f\nmissing\n"), "line 9", "`missing`"),
        ("*INSTANCE, NAME=a, PART=b\n*END INSTANCE\n".into(), "line 1", "no part called `b`"),
        (format!("{nodes}*ELEMENT, TYPE=C3D4\n1,1,2,3,4\n*ELEMENT, TYPE=S3\n2,1,2,9\n"), "line 9", "node 9"),
    ];
    for (text, line, words) in cases {
        let told = parsed(&text).map(|_| ()).unwrap_err().to_string();
        assert!(told.starts_with(line) && told.contains(words), "{told}\n{text}");
    }
    let apart = format!(
        "{nodes}5,5,5,5\n6,6,5,5\n7,5,6,5\n*ELEMENT, TYPE=C3D4\n1,1,2,3,4\n*ELEMENT, TYPE=S3\n2,5,6,7\n"
    );
    assert!(parsed(&apart).unwrap_err().to_string().contains("no side of any tet4"));
    assert!(matches!(parsed("*NODE\n1,0,0,0\n"), Err(MeshError::NoCells)));
}

#[test]
fn formats_of_others_are_named_with_a_way_out() {
    let folder = std::env::temp_dir().join(format!("carom-foreign-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    for (name, words) in
        [("a.step", "gmsh -3"), ("a.bdf", "meshio convert"), ("a.vtp", "Append"), ("a.xyz", ".inp")]
    {
        std::fs::write(folder.join(name), "content").unwrap();
        let told = file::read(&folder.join(name), 0.0, &mut |_| ()).map(|_| ()).unwrap_err().to_string();
        assert!(told.contains(words), "{told}");
        assert_eq!(file::is_mesh_file(&folder.join(name)), name != "a.xyz");
    }
    std::fs::remove_dir_all(&folder).unwrap();
}
