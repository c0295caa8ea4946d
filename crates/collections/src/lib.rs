//! Containers for deterministic code with very many small entries.
//!
//! Owns: a hash table that cannot be iterated, and a list of strings in one allocation.
//! May use: no other crate of ours.
//! Must not know: what an entry means.
//!
//! They are apart from `core` because the verifier needs neither, and an audit should not have to read them.

mod hash_index;
mod string_arena;

pub use hash_index::HashIndex;
pub use string_arena::StringArena;
