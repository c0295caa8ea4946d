//! "Did you mean …?": finds the nearest known word or path.

use strsim::osa_distance;

/// Returns the known word nearest to `word`, if it is close enough to be a likely typo.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let enough = |candidate: &str| (word.len().max(candidate.len()) / 3).max(1);
    known
        .into_iter()
        .map(|candidate| (osa_distance(word, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= enough(candidate))
        .min()
        .map(|(_, candidate)| candidate)
}

/// Returns a suggestion to append to a message; empty if no word is close.
pub fn did_you_mean<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    nearest(word, known).map_or_else(String::new, |word| format!("; did you mean `{word}`?"))
}

/// Maximum number of wrong letters, however long the path: in long paths many others are a few letters away.
const MAX_WRONG_LETTERS: usize = 3;

/// Returns the path nearest to `path`: the only one with the smallest edit distance, else the only one
/// elsewhere with the same file name.
pub fn nearest_path<'a>(path: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let name = file_name(path);
    let stem = name.split('.').next().unwrap_or(name);
    let enough = (stem.len() / 3).clamp(1, MAX_WRONG_LETTERS);
    let mut near: Vec<&str> = Vec::new();
    let mut least = enough;
    let mut same_name = Vec::new();
    for candidate in known {
        if file_name(candidate) == name {
            same_name.push(candidate);
        }
        // The edit distance is at least the difference in length, which is cheaper to compute. A character
        // has up to four bytes.
        if candidate.len().abs_diff(path.len()) <= MAX_WRONG_LETTERS * 4 {
            let distance = osa_distance(path, candidate);
            if distance < least {
                near.clear();
            }
            if distance <= least {
                least = distance;
                near.push(candidate);
            }
        }
    }
    // If several are equally near, it is unclear which one was meant.
    match (near.as_slice(), same_name.as_slice()) {
        ([only], _) | ([], [only]) => Some(only),
        _ => None,
    }
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Returns advice on a pattern with alternatives in braces, which are literal here.
pub fn brace_hint(pattern: &str) -> Option<&'static str> {
    let (_, inside) = pattern.split_once('{')?;
    let (inside, _) = inside.split_once('}')?;
    inside.contains(',').then_some("`{a,b}` is not expanded: list the alternatives one by one")
}

/// Returns a hint for a pattern that looks like several with commas between them.
pub fn comma_hint(pattern: &str) -> Option<&'static str> {
    let is_list = pattern.contains(',') && !pattern.contains('{');
    is_list.then_some("a comma separates nothing: give each pattern by itself, as in `--scope A --scope B`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggests_only_what_is_near() {
        let known = ["build_outputs", "protected", "refs"];
        assert_eq!(nearest("buildoutputs", known), Some("build_outputs"));
        assert_eq!(nearest("protcted", known), Some("protected"));
        assert_eq!(nearest("hue", known), None);
    }

    #[test]
    fn suggests_a_path_with_few_other_letters_or_the_same_name() {
        let known = ["lib/utils.js", "lib/view.js", "src/deep/parser.rs", "a/mod.rs", "b/mod.rs"];
        assert_eq!(nearest_path("lib/utlis.js", known), Some("lib/utils.js"));
        assert_eq!(nearest_path("libs/view.js", known), Some("lib/view.js"));
        assert_eq!(nearest_path("parser.rs", known), Some("src/deep/parser.rs"));
        assert_eq!(nearest_path("mod.rs", known), None, "two have that name");
        assert_eq!(nearest_path("lib/new.js", known), None);
    }

    #[test]
    fn braces_with_alternatives_get_a_hint() {
        assert!(brace_hint("lib/{a,b}.js").is_some());
        assert_eq!((brace_hint("{a}"), brace_hint("a,b"), brace_hint("}a,b{")), (None, None, None));
        assert!(comma_hint("src/**,README.md").is_some());
        assert_eq!((comma_hint("lib/{a,b}.js"), comma_hint("src/**")), (None, None));
    }
}
