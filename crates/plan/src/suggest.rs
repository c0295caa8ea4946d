//! "Did you mean …?": the nearest of a few known words.

/// The known word nearest to `word`, if one is near enough to be meant.
pub(crate) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let enough = |candidate: &str| (word.len().max(candidate.len()) / 3).max(1);
    known
        .into_iter()
        .map(|candidate| (distance(word, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= enough(candidate))
        .min()
        .map(|(_, candidate)| candidate)
}

/// A question with that word in it, to be put behind a message; nothing if no word is near.
pub fn did_you_mean<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    nearest(word, known).map_or_else(String::new, |word| format!("; did you mean `{word}`?"))
}

/// How many letters must be inserted, removed or replaced to turn one word into the other.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (above, letter) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = above + 1;
        for (index, other) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(letter != *other);
            diagonal = row[index + 1];
            row[index + 1] = replaced.min(diagonal + 1).min(row[index] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_letters() {
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("same", "same"), 0);
    }

    #[test]
    fn suggests_only_what_is_near() {
        let known = ["build_outputs", "protected", "refs"];
        assert_eq!(nearest("buildoutputs", known), Some("build_outputs"));
        assert_eq!(nearest("protcted", known), Some("protected"));
        assert_eq!(nearest("colour", known), None);
    }
}
