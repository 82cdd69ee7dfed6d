//! Is there memory for what a deck asks for? Asked before meshes are built, as far as its keys tell, and again when they are there.

use super::check::{Made, Prepared};
use super::mesh::{MeshSpec, Origin};
use super::method::touches;
use super::spec::{AnyBody, Draft, Spec};
use crate::mesh::Mesh;
use crate::run::memory::{self, Room};
use crate::survey::size::{Estimate, Size};
use carom_declare::Report;
use std::fs;
use std::path::Path;

/// Counts of a body, and whether it is deformable. Those of its mesh count, if that is there and does not follow from the deck.
fn of_body(body: &AnyBody, folder: &Path, made: Option<&Mesh>) -> (Size, bool) {
    let of = |spec: &MeshSpec| match (&spec.origin, made) {
        (Origin::Shape(shape), _) => Size::of_shape(shape),
        (_, Some(mesh)) => Size::of_mesh(mesh),
        (Origin::File(file), None) => {
            Size::of_file(fs::metadata(folder.join(&file.file)).map_or(0, |m| m.len()))
        }
        // stands in the deck, and is small
        (Origin::Drawn(_), None) => Size::of_file(0),
    };
    match body {
        AnyBody::Deformable(body) => (of(&body.mesh).refined(body.refine), true),
        AnyBody::Rigid(obstacle) => (obstacle.mesh.as_ref().map_or(Size::default(), of), false),
    }
}

/// Does what the deck asks for fit the memory? If not, it is told with figures.
pub(super) fn fits(draft: &Draft, folder: &Path, room: Option<Room>, report: &Report) -> bool {
    let (Some(bodies), Some(method)) = (&draft.body, draft.method) else { return true };
    let contact = bodies.iter().count() > 1 || draft.contact.is_some();
    let each = bodies.iter().map(|(name, body)| (name, of_body(body, folder, None)));
    Estimate::of(each, method, contact).fits(room, report)
}

/// The same when the meshes are there, those of files and of pieces as well: what a run takes [bytes], if there is room for it.
pub(super) fn fits_as_made(spec: &Spec, made: &[Made], folder: &Path, report: &Report) -> Option<f64> {
    let each = spec.body.iter().zip(made).map(|((name, body), made)| match made {
        // refined already
        Made::Deformable(Prepared { mesh, surface: Some(_), .. }) => (name, (Size::of_mesh(mesh), true)),
        Made::Deformable(Prepared { mesh, .. }) => (name, of_body(body, folder, Some(mesh))),
        Made::Rigid(mesh) => (name, of_body(body, folder, mesh.as_ref())),
    });
    let estimate = Estimate::of(each, spec.method, touches(spec));
    estimate.fits(memory::room(), report).then_some(estimate.bytes)
}
