//! A mesh written down as lists: nodes, cells and sets.

use crate::math::Vec3;
use crate::mesh::{CellKind, Cells, Mesh, MeshError, Side};
use carom_declare::{Named, section};
use std::collections::BTreeMap;

section! {
    /// A mesh in the deck itself.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Drawn: "mesh.nodes" {
        /// Coordinates of each node [m]: one of a bar, two of a plane body, three of a solid or a shell.
        nodes: Vec<Vec<f64>> => "[[0, 0], [1, 0], [0, 1]]";
        /// Nodes of each cell, counted from 0: 2 along x, 3 or 4 in the plane (counter-clockwise), 4 or 8 in space, 3 of a shell.
        cells: Vec<Vec<u32>> => "[[0, 1, 2]]";
        /// Sets of sides by name: the nodes of each side. They name the sets of their nodes too.
        sides: Named<Vec<Vec<u32>>>;
        /// Sets of nodes by name.
        sets: Named<Vec<u32>>;
    }
}

fn refuse<T>(
    key: impl Into<String>,
    value: impl Into<String>,
    wanted: impl Into<String>,
) -> Result<T, MeshError> {
    Err(MeshError::Parameter {
        shape: "mesh",
        parameter: key.into(),
        value: value.into(),
        wanted: wanted.into(),
    })
}

impl Drawn {
    pub fn build(&self) -> Result<Mesh, MeshError> {
        let width = self.nodes.first().map_or(0, Vec::len);
        if !(1..=3).contains(&width) {
            return refuse(
                "nodes",
                format!("{:?}", self.nodes.first()),
                "lists of one, two or three coordinates",
            );
        }
        let mut mesh = Mesh::default();
        for (k, x) in self.nodes.iter().enumerate() {
            if x.len() != width {
                let wanted = format!("a list of {width} coordinates, as those before it");
                return refuse(format!("nodes[{k}]"), format!("{x:?}"), wanted);
            }
            mesh.nodes.push(Vec3::from_fn(|a, _| x.get(a).copied().unwrap_or(0.0)));
        }
        let count = mesh.nodes.len() as u32;
        for (k, cell) in self.cells.iter().enumerate() {
            let kind = match (width, cell.len()) {
                (1, 2) => CellKind::Bar2,
                (2 | 3, 3) => CellKind::Tri3,
                (2, 4) => CellKind::Quad4,
                (3, 4) => CellKind::Tet4,
                (3, 8) => CellKind::Hex8,
                _ => {
                    let wanted = match width {
                        1 => "2 nodes",
                        2 => "3 or 4 nodes",
                        _ => "4 or 8 nodes of a solid, or 3 of a shell",
                    };
                    return refuse(format!("cells[{k}]"), format!("{cell:?}"), wanted);
                }
            };
            if let Some(node) = cell.iter().find(|&&n| n >= count) {
                let wanted = format!("nodes from 0 to {}", count - 1);
                return refuse(format!("cells[{k}]"), format!("{cell:?}, with node {node},"), wanted);
            }
            match mesh.cells.iter_mut().find(|c| c.kind == kind) {
                Some(cells) => cells.nodes.extend(cell),
                None => mesh.cells.push(Cells { kind, nodes: cell.clone() }),
            }
        }
        self.name(&mut mesh)?;
        Ok(mesh)
    }

    /// Sets of nodes and of sides.
    fn name(&self, mesh: &mut Mesh) -> Result<(), MeshError> {
        let ordered = |nodes: &[u32]| {
            let mut nodes = nodes.to_vec();
            nodes.sort_unstable();
            nodes
        };
        let mut known: BTreeMap<Vec<u32>, Side> = BTreeMap::new();
        if !self.sides.0.is_empty() {
            for (at, cells) in (0..).zip(&mesh.cells) {
                for cell in 0..cells.len() {
                    for (side, of) in (0..).zip(cells.kind.sides()) {
                        let nodes: Vec<u32> = of.iter().map(|&k| cells.cell(cell)[k as usize]).collect();
                        known.insert(ordered(&nodes), Side { cells: at, cell: cell as u32, side });
                    }
                }
            }
        }
        for (name, sides) in self.sides.iter() {
            let mut all = Vec::with_capacity(sides.len());
            for (k, nodes) in sides.iter().enumerate() {
                match known.get(&ordered(nodes)) {
                    Some(side) => all.push(*side),
                    None => {
                        return refuse(
                            format!("sides.{name}[{k}]"),
                            format!("{nodes:?}"),
                            "the nodes of one side of a cell",
                        );
                    }
                }
            }
            mesh.name_sides(name, all);
        }
        for (name, nodes) in self.sets.iter() {
            let count = mesh.nodes.len();
            if let Some(node) = nodes.iter().find(|&&n| n as usize >= count) {
                return refuse(
                    format!("sets.{name}"),
                    node.to_string(),
                    format!("nodes from 0 to {}", count - 1),
                );
            }
            mesh.name_nodes(name, nodes.clone());
        }
        Ok(())
    }

    /// A mesh as it stands in a deck.
    pub fn of(mesh: &Mesh) -> Drawn {
        let width = mesh.dimension();
        let nodes = mesh.nodes.iter().map(|x| x.iter().take(width).copied().collect()).collect();
        let each = |c: &Cells| (0..c.len()).map(|k| c.cell(k).to_vec()).collect::<Vec<_>>();
        let sides = |all: &Vec<Side>| all.iter().map(|&s| mesh.side_nodes(s).collect()).collect();
        Drawn {
            nodes,
            cells: mesh.cells.iter().flat_map(each).collect(),
            sides: Named(mesh.side_sets.iter().map(|(name, all)| (name.clone(), Some(sides(all)))).collect()),
            sets: Named::default(),
        }
    }
}
