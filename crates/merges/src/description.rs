//! What a finding says, in words: the same in a report, an annotation, a summary and a SARIF file.

use probity_api::merge_audit::{EditKind, FindingClass, LossCause, MergeFinding};
use probity_line_diff::{aligned_pairs, changed_regions};
use std::ops::Range;

/// Says what happened to an edit, or what is broken, in half a sentence.
pub fn what_happened(finding: &MergeFinding) -> String {
    let name = finding.lost.first().map_or("", String::as_str);
    match finding.class {
        FindingClass::Markers => return "conflict markers were committed".to_owned(),
        FindingClass::DoesNotParse => return "the result does not parse, both sides do".to_owned(),
        FindingClass::Duplicate => return format!("the result defines `{name}` twice"),
        FindingClass::Dangling => return format!("calls `{name}`, which the other side removed"),
        FindingClass::Signature => return format!("calls `{name}` with arguments that no longer fit"),
        _ => {}
    }
    let edit = match finding.kind {
        EditKind::Insert | EditKind::Text => "inserted lines are not in the result",
        EditKind::Update => "changed lines are not in the result",
        EditKind::Delete => "deleted lines are back",
        EditKind::AddEntity => "something new is not in the result",
        EditKind::RemoveEntity => "something that was removed is back",
        EditKind::Import => "an import is not as this side left it",
        EditKind::ImportLost => "an import is gone that the result needs",
        EditKind::Comment => "a comment is not in the result",
        EditKind::AddFile => "a new file is not in the result",
        EditKind::RemoveFile => "a removed file is back",
        EditKind::UpdateFile => "a changed file is not in the result",
        EditKind::RenameFile => "a renamed file has its old name",
        EditKind::Move => "moved code is at its old place",
        EditKind::Mode => "a changed file mode is not in the result",
        EditKind::Symlink => "a changed link is not in the result",
        EditKind::Submodule => "a moved submodule is not in the result",
        EditKind::Definition | EditKind::Call => "the result is broken",
    };
    let cause = match (finding.class, finding.cause) {
        (FindingClass::Superseded, _) => "the other side had it and went on",
        (FindingClass::TwoWay, _) => "there is no common ancestor",
        (FindingClass::Contested, Some(LossCause::File)) => "the other side removed the file",
        (FindingClass::Contested, _) => "the other side changed the same place",
        (_, Some(LossCause::Conflict)) => "decided in a conflict",
        (_, Some(LossCause::Resolution)) => "both sides merge cleanly here: the resolution dropped it",
        (_, Some(LossCause::File)) => "the file as a whole",
        (_, None) => return edit.to_owned(),
    };
    format!("{edit}; {cause}")
}

/// Returns the byte ranges of the words of `after` that `before` does not have at that place.
pub fn changed_words(before: &str, after: &str) -> Vec<Range<usize>> {
    let (old, new) = (words_of(before), words_of(after));
    let texts = |text: &'_ str, words: &[Range<usize>]| -> Vec<String> {
        words.iter().map(|range| text[range.clone()].to_owned()).collect()
    };
    let (old_texts, new_texts) = (texts(before, &old), texts(after, &new));
    let old_texts: Vec<&str> = old_texts.iter().map(String::as_str).collect();
    let new_texts: Vec<&str> = new_texts.iter().map(String::as_str).collect();
    let pairs = aligned_pairs(&old_texts, &new_texts);
    let regions = changed_regions(&pairs, old_texts.len(), new_texts.len());
    regions.into_iter().flat_map(|region| region.after).map(|index| new[index].clone()).collect()
}

/// Splits a text into words and single other characters, without white space.
fn words_of(text: &str) -> Vec<Range<usize>> {
    let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    let mut words: Vec<Range<usize>> = Vec::new();
    let mut was_word = false;
    for (at, letter) in text.char_indices() {
        let end = at + letter.len_utf8();
        match words.last_mut() {
            Some(word) if was_word && is_word(letter) && word.end == at => word.end = end,
            _ if letter.is_whitespace() => {}
            _ => words.push(at..end),
        }
        was_word = is_word(letter);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_words_that_differ_are_changed() {
        let after = "total = round(total, 2)\ncheck(total)";
        let changed: Vec<&str> = changed_words("total = sum(total)\ncheck(total)", after)
            .into_iter()
            .map(|range| &after[range])
            .collect();
        assert_eq!(changed, ["round", ",", "2"]);
        assert!(changed_words("same", "same").is_empty());
    }

    #[test]
    fn letters_of_any_script_are_words() {
        let after = "\u{e4}\u{f6} x";
        let changed: Vec<&str> = changed_words("", after).into_iter().map(|range| &after[range]).collect();
        assert_eq!(changed, ["\u{e4}\u{f6}", "x"]);
    }
}
