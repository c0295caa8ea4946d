//! Puts a lost edit back by a three-way merge: the side without the edit, the side with it, and the result.

use crate::trees::BASE;
use probity_line_diff::{LineAlignment, line_changes, merge, split_lines};

/// Returns the result with the edit of a side put back; `None` if the result changed the same lines, so that a person
/// has to do it. `version` says whether `lines`, from 1, are lines of the base or of the side.
pub fn restore_edit(
    base: &[u8],
    side: &[u8],
    result: &[u8],
    version: usize,
    lines: [u32; 2],
) -> Option<Vec<u8>> {
    let without = side_without_edit(base, side, version, lines);
    merge(&without, result, side, LineAlignment::Anchored).ok().filter(|text| text != result)
}

/// Takes the changed lines that hold the edit back to the base.
fn side_without_edit(base: &[u8], side: &[u8], version: usize, lines: [u32; 2]) -> Vec<u8> {
    let (base, side) = (split_lines(base), split_lines(side));
    let (first, last) = (lines[0].saturating_sub(1) as usize, lines[1] as usize);
    let mut text: Vec<&[u8]> = Vec::new();
    let mut at = 0;
    for region in line_changes(&base, &side, LineAlignment::Anchored) {
        let place = if version == BASE { &region.before } else { &region.after };
        let holds_edit = place.start < last && first < place.end;
        if holds_edit {
            text.extend(&side[at..region.after.start]);
            text.extend(&base[region.before]);
            at = region.after.end;
        }
    }
    text.extend(&side[at..]);
    text.concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trees::THEIRS;

    #[test]
    fn a_lost_insertion_comes_back_at_its_place() {
        let (base, side) = (b"a\nb\nc\nd\n", b"a\nb\nnew\nc\nd\n");
        let restored = restore_edit(base, side, b"A\nb\nc\nd\ne\n", THEIRS, [3, 3]);
        assert_eq!(restored.as_deref(), Some(&b"A\nb\nnew\nc\nd\ne\n"[..]));
    }

    #[test]
    fn a_deletion_is_done_again() {
        let restored = restore_edit(b"a\nb\nc\nd\n", b"a\nc\nd\n", b"a\nb\nc\nD\n", BASE, [2, 2]);
        assert_eq!(restored.as_deref(), Some(&b"a\nc\nD\n"[..]));
    }

    #[test]
    fn only_the_named_edit_comes_back() {
        let (base, side) = (b"a\nb\nc\nd\n", b"a\n1\nb\nc\n2\nd\n");
        let restored = restore_edit(base, side, base, THEIRS, [5, 5]);
        assert_eq!(restored.as_deref(), Some(&b"a\nb\nc\n2\nd\n"[..]));
    }

    #[test]
    fn what_the_result_rewrote_is_left_to_a_person() {
        assert_eq!(restore_edit(b"a\nb\nc\n", b"a\nx\nc\n", b"a\ny\nc\n", THEIRS, [2, 2]), None);
    }
}
