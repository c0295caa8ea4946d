//! `probity start`, `finish`, `status`: changes in a tree that several agents share.

mod alternate_screen;
mod finish;
mod labels;
mod raw_keyboard;
mod start;
mod status;

pub(crate) use finish::{FinishArgs, finish};
pub(crate) use start::{PromoteArgs, StartArgs, new_handle, promote, start};
pub(crate) use status::{StatusArgs, status};

pub(crate) use labels::{ownership_label, parse_seconds, show_notices, word_parser};
