//! The cells that a deck can ask of a shape.

use crate::mesh::CellKind;
use carom_declare::{Item, Json, Kind, Schemas, Written};

macro_rules! cells {
    ($(#[$doc:meta])* $name:ident: $title:literal, $(($kind:ident, $about:literal)),+) => {
        $(#[$doc])*
        pub(crate) struct $name;

        impl Kind for $name {
            type Of = CellKind;
            fn read(item: Item) -> Option<CellKind> {
                let kinds = [$(CellKind::$kind),+];
                item.choice(&kinds.map(|k| k.name())).map(|k| kinds[k])
            }
            fn write(value: &CellKind) -> Option<Written> {
                Some(Written::Text(value.name().into()))
            }
            fn schema(schemas: &mut Schemas) -> Json {
                schemas.words(stringify!($name), $title, &[$((CellKind::$kind.name(), $about)),+])
            }
        }
    };
}

cells!(
    /// Cells of a plane shape.
    PlaneCell: "Cells of a plane shape.", (Quad4, "Quadrilaterals."), (Tri3, "Triangles.")
);
cells!(
    /// Cells of a solid shape.
    SolidCell: "Cells of a solid shape.", (Hex8, "Hexahedra."), (Tet4, "Tetrahedra."), (Tet10, "Quadratic tetrahedra, with nodes in the middles of edges.")
);
