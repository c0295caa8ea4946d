//! Changes in a shared tree: what is dirty there, and whose it is.

mod dirt;
mod record;

pub use dirt::Look;
pub use record::StartRecord;
