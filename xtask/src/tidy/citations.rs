//! Refuses citations of documents that readers of the repository do not have.

use super::{SourceFile, TidyComplaint};

const ABSENT_DOCUMENTS: [&str; 3] = ["DESIGN", "house.md", "house-style.md"];

pub(crate) fn complaints(files: &[SourceFile]) -> Vec<TidyComplaint> {
    let mut found = Vec::new();
    // This file has to name the documents.
    for file in files.iter().filter(|file| !file.path.ends_with("tidy/citations.rs")) {
        for (line, text) in (1..).zip(file.text.lines()) {
            if let Some(cited) = absent_citation(text, file) {
                found.push(format!("{}:{line}: `{cited}` is not in the repository", file.path));
            }
        }
    }
    found
}

fn absent_citation(line: &str, file: &SourceFile) -> Option<String> {
    let name = ABSENT_DOCUMENTS.into_iter().find(|name| has_word(line, name)).map(str::to_owned);
    name.or_else(|| {
        number_after(line, "seed ").filter(|number| number.len() == 3).map(|it| format!("seed {it}"))
    })
    .or_else(|| number_after(line, "design ").map(|it| format!("design {it}")))
    .or_else(|| unknown_section(line, file))
}

fn has_word(line: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).any(|(at, _)| {
        !line[..at].chars().next_back().is_some_and(is_part)
            && !line[at + word.len()..].chars().next().is_some_and(is_part)
    })
}

/// Returns the number right after `start`, if there is one.
fn number_after<'a>(line: &'a str, start: &str) -> Option<&'a str> {
    line.match_indices(start).find_map(|(at, _)| {
        let stands_alone = !line[..at].chars().next_back().is_some_and(char::is_alphanumeric);
        let rest = &line[at + start.len()..];
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        (stands_alone && digits > 0).then(|| &rest[..digits])
    })
}

/// Finds a section sign with a number that is not a heading of the page itself.
fn unknown_section(line: &str, file: &SourceFile) -> Option<String> {
    let number = number_after(line, "§").or_else(|| number_after(line, "§ "))?;
    let is_heading = |text: &str| {
        text.starts_with('#') && text.trim_start_matches('#').trim_start().starts_with(&format!("{number}."))
    };
    let is_own = file.path.ends_with(".md") && file.text.lines().any(is_heading);
    (!is_own).then(|| format!("§{number}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tests::file;

    fn cited(path: &str, text: &str) -> Vec<TidyComplaint> {
        complaints(&[file(path, text)])
    }

    #[test]
    fn a_document_that_is_not_here_is_not_cited() {
        for bad in [
            "//! the loop of DESIGN",
            "/// the fields of seed 001",
            "// see §9",
            "see house.md",
            "design 6: x",
        ] {
            assert_eq!(cited("crates/a/src/lib.rs", bad).len(), 1, "{bad}");
        }
        for good in ["let seed = 9;", "// seed 42 of the simulation", "DESIGNS", "a design", "(law 6)"] {
            assert!(cited("crates/a/src/lib.rs", good).is_empty(), "{good}");
        }
    }

    #[test]
    fn a_page_may_cite_its_own_sections() {
        assert!(cited("docs/a.md", "## 2. Values\nas in §2\n").is_empty());
        assert_eq!(
            cited("docs/a.md", "## 2. Values\nas in §3\n"),
            ["docs/a.md:2: `§3` is not in the repository"]
        );
    }
}
