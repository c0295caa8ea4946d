//! "Did you mean …?": the nearest of a few known words, or of the paths of a tree.

use strsim::osa_distance;

/// The known word nearest to `word`, if one is near enough to be meant.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let enough = |candidate: &str| (word.len().max(candidate.len()) / 3).max(1);
    known
        .into_iter()
        .map(|candidate| (osa_distance(word, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= enough(candidate))
        .min()
        .map(|(_, candidate)| candidate)
}

/// A question with that word in it, to be put behind a message; nothing if no word is near.
pub fn did_you_mean<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    nearest(word, known).map_or_else(String::new, |word| format!("; did you mean `{word}`?"))
}

/// How many letters of a path may be wrong: few, however long it is. In long paths many others are a few letters away.
const MAX_WRONG_LETTERS: usize = 3;

/// The path nearest to `path`: the only one with fewest other letters, else the only one of that name elsewhere.
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
        // A distance is at least the difference of the lengths, which costs less to tell.
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
    // Of several that are equally near, none is known to be meant.
    match (near.as_slice(), same_name.as_slice()) {
        ([only], _) | ([], [only]) => Some(only),
        _ => None,
    }
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// What to do about a pattern with alternatives in braces, which mean themselves here.
pub fn brace_hint(pattern: &str) -> Option<&'static str> {
    let (_, inside) = pattern.split_once('{')?;
    let (inside, _) = inside.split_once('}')?;
    inside.contains(',').then_some("`{a,b}` is not expanded: list the alternatives one by one")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggests_only_what_is_near() {
        let known = ["build_outputs", "protected", "refs"];
        assert_eq!(nearest("buildoutputs", known), Some("build_outputs"));
        assert_eq!(nearest("protcted", known), Some("protected"));
        assert_eq!(nearest("colour", known), None);
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
    }
}
