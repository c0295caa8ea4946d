//! "Did you mean …?": the nearest of a few known words.

/// The known word nearest to `word`, if one is near enough to be meant.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
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

/// How many letters must be inserted, removed or replaced, or neighbors swapped, to turn one word into the other.
fn distance(a: &str, b: &str) -> usize {
    let [a, b]: [Vec<char>; 2] = [a.chars().collect(), b.chars().collect()];
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, letter) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, other) in b.iter().enumerate() {
            let replaced = last[j] + usize::from(letter != other);
            let mut fewest = replaced.min(last[j + 1] + 1).min(row[j] + 1);
            let are_swapped = i > 0 && j > 0 && *letter == b[j - 1] && a[i - 1] == *other;
            if are_swapped {
                fewest = fewest.min(before_last[j - 1] + 1);
            }
            row.push(fewest);
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last[b.len()]
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
