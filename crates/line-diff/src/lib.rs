//! Differences between two texts, and the merge of two edits of one text, line by line.
//!
//! Owns: aligning sequences, splitting into lines, the unified format, the three-way merge.
//! May use: no other crate of ours.
//! Must not know: a file, a repository, whose edit is whose.
//!
//! Texts are bytes: no encoding is assumed. A line ends after `\n`; the last one may have none.

mod alignment;
mod sequence;
mod three_way;
mod unified;

pub use alignment::{LineAlignment, line_changes, split_lines};
pub use sequence::{ChangedRegion, aligned_pairs, changed_regions, shortest_script_pairs};
pub use three_way::{MergeConflict, ThreeWayTexts, merge};
pub use unified::{is_binary, unified_hunks};
