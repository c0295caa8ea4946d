//! The subject of a text: the stems of its content words.

use crate::lexicon::{self as lx, class_of};
use crate::translation::is_function_word;
use std::collections::BTreeSet;

/// Letters of a long word that count; inflections change only later ones.
const STEM_LETTERS: usize = 7;

/// Returns the stems of the content words.
pub fn stems(text: &str) -> BTreeSet<String> {
    text.split(|c: char| !(c.is_alphanumeric() || matches!(c, '+' | '#' | '_')))
        .map(str::to_lowercase)
        .filter(|word| !word.is_empty() && !class_of(word).is(lx::STOP_WORD) && !is_function_word(word))
        .map(|word| stem(&word))
        .collect()
}

fn stem(word: &str) -> String {
    match word {
        "wrote" | "written" | "writing" => return "writ".into(),
        "built" | "building" => return "build".into(),
        "ran" | "running" => return "run".into(),
        "made" | "making" => return "mak".into(),
        _ => {}
    }
    let long_enough = |stripped: &&str| stripped.len() >= 3 && !stripped.ends_with('s');
    let suffixes = ["ing", "ed", "es", "s", "e"];
    let mut base =
        suffixes.iter().find_map(|suffix| word.strip_suffix(suffix).filter(long_enough)).unwrap_or(word);
    if let [.., one, two] = base.as_bytes()
        && one == two
        && base.is_ascii()
        && base.len() > 3
        && *two != b'l'
    {
        base = &base[..base.len() - 1];
    }
    let base = base.strip_suffix('e').filter(|stripped| stripped.len() >= 3).unwrap_or(base);
    base.chars().take(STEM_LETTERS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_a_word_have_one_stem() {
        for (one, other) in
            [("caches", "caching"), ("planned", "plan"), ("wrote", "writing"), ("uses", "use")]
        {
            assert_eq!(stem(one), stem(other), "{one} {other}");
        }
        assert_eq!(
            stems("We will use the Redis cache"),
            BTreeSet::from(["cach".to_owned(), "redi".to_owned()])
        );
    }
}
