//! Claims about whole runs, one file each.

mod asynchronous_assembly;
mod asynchronous_bars;
mod asynchronous_blocks;
mod asynchronous_frames;
mod asynchronous_kicks;
mod asynchronous_rattle;
mod asynchronous_touches;
mod automatic_step_follows_stiffening;
mod bipotential_implicit;
mod blocks_stick_and_slide;
mod common;
mod contact_of_every_kind;
mod cubes_collide;
mod failures_name_the_place;
mod free_bar_rings_at_its_exact_frequencies;
mod free_spinning_block_keeps_its_momenta;
mod material_memory_survives;
mod semi_explicit_bodies;
mod semi_explicit_cubes;
mod semi_explicit_cylinders;
mod semi_explicit_pile;
mod semi_explicit_touches;
mod supports_and_loads_balance_the_books;
mod threads_change_nothing;
mod two_bars_meet_and_part;
mod two_hex_bars_meet_and_part;
