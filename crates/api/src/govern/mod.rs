//! Answers about governed runs, their evidence, and the setup of a tree.

pub mod amend;
pub mod delta;
pub mod enforcement;
pub mod evidence;
pub mod land;
pub mod log;
pub mod path;
pub mod plan;
pub mod revert;
pub mod run;
pub mod setup;
pub mod tools;
