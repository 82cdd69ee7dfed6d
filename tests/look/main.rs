//! Plots and pictures of output folders that look like those of a run.
//!
//! The pictures themselves are kept under the target folder (`tmp/look`), to be looked at.

mod errors;
mod folders;
mod frames_open_in_vtk;
mod obstacles;
mod pictures;
mod plots;
mod real;
