//! Writes meshes as Gmsh does, for tests alone: one entity and one group per set, tags with gaps.

use crate::mesh::{CellKind, Mesh};

#[derive(Clone, Copy)]
pub struct Format {
    pub v4: bool,
    pub binary: bool,
    pub big_endian: bool,
}

struct Out {
    format: Format,
    bytes: Vec<u8>,
}

impl Out {
    fn text(&mut self, text: &str) {
        self.bytes.extend(text.as_bytes());
    }

    fn number(&mut self, text: String, big: &[u8]) {
        if !self.format.binary {
            self.text(&text);
            self.text(" ");
        } else if self.format.big_endian {
            self.bytes.extend(big);
        } else {
            self.bytes.extend(big.iter().rev());
        }
    }

    fn int(&mut self, value: usize) {
        self.number(value.to_string(), &(value as i32).to_be_bytes());
    }

    fn size(&mut self, value: usize) {
        self.number(value.to_string(), &(value as u64).to_be_bytes());
    }

    fn float(&mut self, value: f64) {
        // The shortest text that reads back to the same bits.
        self.number(format!("{value:?}"), &value.to_be_bytes());
    }

    fn line(&mut self) {
        if !self.format.binary {
            self.text("\n");
        }
    }
}

/// Elements of one entity: dimension, group (0: none), Gmsh type, nodes per element, nodes.
struct Entity {
    dimension: usize,
    group: usize,
    number: usize,
    each: usize,
    nodes: Vec<u32>,
}

fn number(kind: CellKind) -> usize {
    match kind {
        CellKind::Bar2 => 1,
        CellKind::Tri3 | CellKind::Shell3 => 2,
        CellKind::Quad4 => 3,
        CellKind::Tet4 => 4,
        CellKind::Hex8 => 5,
        CellKind::Tet10 => 11,
    }
}

/// Node tags leave gaps and start high.
fn tag(node: u32) -> usize {
    100 + 3 * node as usize
}

pub fn write(mesh: &Mesh, format: Format) -> Vec<u8> {
    let mut names = Vec::new();
    let mut entities = Vec::new();
    for (name, sides) in &mesh.side_sets {
        names.push((mesh.dimension() - 1, name));
        let nodes: Vec<u32> = sides.iter().flat_map(|&s| mesh.side_nodes(s)).collect();
        let each = nodes.len() / sides.len();
        // Point, line, and in space the face of a tet or hex.
        let number = [15, 1, if each == 3 { 2 } else { 3 }][mesh.dimension() - 1];
        entities.push(Entity { dimension: mesh.dimension() - 1, group: names.len(), number, each, nodes });
    }
    let whole = mesh.cell_sets.keys().next();
    names.extend(whole.map(|name| (mesh.dimension(), name)));
    for cells in &mesh.cells {
        entities.push(Entity {
            dimension: mesh.dimension(),
            group: if whole.is_some() { names.len() } else { 0 },
            number: number(cells.kind),
            each: cells.kind.nodes(),
            nodes: cells.nodes.clone(),
        });
    }

    let mut out = Out { format, bytes: Vec::new() };
    out.text("$MeshFormat\n");
    out.text(&format!("{} {} 8\n", if format.v4 { "4.1" } else { "2.2" }, i32::from(format.binary)));
    if format.binary {
        out.int(1);
        out.text("\n");
    }
    out.text(&format!("$EndMeshFormat\n$PhysicalNames\n{}\n", names.len()));
    for (i, (dimension, name)) in names.iter().enumerate() {
        out.text(&format!("{dimension} {} \"{name}\"\n", i + 1));
    }
    out.text("$EndPhysicalNames\n");
    if format.v4 {
        write_v4(&mut out, mesh, &entities)
    } else {
        write_v2(&mut out, mesh, &entities)
    }
    out.bytes
}

fn write_v4(out: &mut Out, mesh: &Mesh, entities: &[Entity]) {
    out.text("$Entities\n");
    for dimension in 0..4 {
        out.size(entities.iter().filter(|e| e.dimension == dimension).count());
    }
    for dimension in 0..4 {
        for (i, entity) in entities.iter().enumerate().filter(|(_, e)| e.dimension == dimension) {
            out.int(i + 1);
            (0..if dimension == 0 { 3 } else { 6 }).for_each(|_| out.float(0.0));
            out.size(usize::from(entity.group > 0));
            if entity.group > 0 {
                out.int(entity.group);
            }
            if dimension > 0 {
                out.size(1);
                out.int(1);
            }
            out.line();
        }
    }
    // Two blocks of nodes, the later tags first; the second block carries parameters.
    out.text("\n$EndEntities\n$Nodes\n");
    let half = mesh.nodes.len() / 2;
    let header = [2, mesh.nodes.len(), tag(0), tag(mesh.nodes.len() as u32 - 1)];
    header.into_iter().for_each(|n| out.size(n));
    for (range, parametric) in [(half..mesh.nodes.len(), 0), (0..half, 1)] {
        out.line();
        [2, 1, parametric].into_iter().for_each(|n| out.int(n));
        out.size(range.len());
        range.clone().for_each(|n| out.size(tag(n as u32)));
        for p in &mesh.nodes[range] {
            p.iter().for_each(|&c| out.float(c));
            (0..2 * parametric).for_each(|_| out.float(0.5));
            out.line();
        }
    }
    out.text("\n$EndNodes\n$Elements\n");
    let total: usize = entities.iter().map(|e| e.nodes.len() / e.each).sum();
    [entities.len(), total, 1, total].into_iter().for_each(|n| out.size(n));
    let mut next = 0;
    for (i, entity) in entities.iter().enumerate() {
        out.line();
        [entity.dimension, i + 1, entity.number].into_iter().for_each(|n| out.int(n));
        out.size(entity.nodes.len() / entity.each);
        for element in entity.nodes.chunks_exact(entity.each) {
            next += 1;
            out.line();
            out.size(next);
            element.iter().for_each(|&n| out.size(tag(n)));
        }
    }
    out.text("\n$EndElements\n");
}

fn write_v2(out: &mut Out, mesh: &Mesh, entities: &[Entity]) {
    out.text(&format!("$Nodes\n{}\n", mesh.nodes.len()));
    for (n, p) in mesh.nodes.iter().enumerate().rev() {
        out.int(tag(n as u32));
        p.iter().for_each(|&c| out.float(c));
        out.line();
    }
    let total: usize = entities.iter().map(|e| e.nodes.len() / e.each).sum();
    out.text(&format!("\n$EndNodes\n$Elements\n{total}\n"));
    let mut next = 0;
    for (i, entity) in entities.iter().enumerate() {
        if out.format.binary {
            [entity.number, entity.nodes.len() / entity.each, 2].into_iter().for_each(|n| out.int(n));
        }
        for element in entity.nodes.chunks_exact(entity.each) {
            next += 1;
            out.int(next);
            if !out.format.binary {
                [entity.number, 2].into_iter().for_each(|n| out.int(n));
            }
            [entity.group, i + 1].into_iter().for_each(|n| out.int(n));
            element.iter().for_each(|&n| out.int(tag(n)));
            out.line();
        }
    }
    out.text("\n$EndElements\n");
}
