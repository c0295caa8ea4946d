//! Finds words that the project avoids in comments, messages and pages, and suggests better ones.

use super::allowances::RuleHit;
use super::{SourceFile, rust_text};

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct AvoidedWord {
    word: String,
    better: String,
}

/// Parses `word = better word`, one per line.
pub(crate) fn parse(text: &str) -> Result<Vec<AvoidedWord>, String> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    let read = |(index, line): (usize, &str)| {
        let (word, better) = line
            .split_once(" = ")
            .ok_or_else(|| format!("xtask/words.txt:{}: expected `word = better word`", index + 1))?;
        Ok(AvoidedWord { word: word.to_lowercase(), better: better.to_owned() })
    };
    lines.map(read).collect()
}

pub(crate) fn hits(words: &[AvoidedWord], files: &[SourceFile]) -> Vec<RuleHit> {
    let mut found = Vec::new();
    for file in files.iter().filter(|file| is_worded_by_us(&file.path)) {
        let lines = match file.path.ends_with(".rs") {
            true => rust_text::prose(&file.text),
            false => (1..).zip(file.text.lines()).collect(),
        };
        for (line, text) in lines {
            let lower = text.to_lowercase();
            for avoided in words {
                let weight = count_word(&lower, &avoided.word);
                if weight > 0 {
                    let AvoidedWord { word, better } = avoided;
                    let detail = format!("{}:{line}: say `{better}`, not `{word}`", file.path);
                    found.push(RuleHit { rule: "word", subject: file.path.clone(), weight, detail });
                }
            }
        }
    }
    found
}

/// Excludes vectors, which quote others, and this directory, which has to name the words.
fn is_worded_by_us(path: &str) -> bool {
    !path.ends_with(".json") && !path.starts_with("xtask/src/tidy/")
}

/// Counts `word` in `text` as a whole word. A hyphen or an underscore makes it part of another.
fn count_word(text: &str, word: &str) -> usize {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    let stands_alone = |at: usize| {
        let before = text[..at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        !before.is_some_and(is_part) && !after.is_some_and(is_part)
    };
    text.match_indices(word).filter(|(at, _)| stands_alone(*at)).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tests::file;

    #[test]
    fn an_avoided_word_is_named_with_the_better_one() {
        let words = parse("# comment\nmend = fix\na core = per core\n").expect("words");
        let files = [
            file("crates/a/src/lib.rs", "/// Mend it.\nfn mend() { say(\"amend\") }\n// 2 threads a core\n"),
            file("docs/a.md", "mend-able\nTo mend, mend.\n"),
        ];
        let found: Vec<(String, usize)> =
            hits(&words, &files).into_iter().map(|hit| (hit.detail, hit.weight)).collect();
        assert_eq!(
            found,
            [
                ("crates/a/src/lib.rs:1: say `fix`, not `mend`".into(), 1),
                ("crates/a/src/lib.rs:3: say `per core`, not `a core`".into(), 1),
                ("docs/a.md:2: say `fix`, not `mend`".into(), 2),
            ]
        );
    }

    #[test]
    fn a_word_without_a_better_one_is_refused() {
        assert!(parse("mend\n").is_err());
    }
}
