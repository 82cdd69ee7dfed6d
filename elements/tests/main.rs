//! Claims about elements, laws and meshes, one file each. One program: each would link all kernels.

mod between;
mod every_element;
mod mesh_files;
mod shell;
mod shell_benchmarks;
mod tet10;
