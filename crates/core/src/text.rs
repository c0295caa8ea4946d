//! Text helpers shared by every surface.

/// Formats a count with its noun: `1 change`, `2 changes`.
pub fn count(number: usize, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}

/// Length of the timestamp at the start of an id. A shorter prefix would be shared by ids created close together.
const SHORT_ID_BYTES: usize = 13;

/// Returns the prefix of a run or intent id that commands accept in place of the full id.
pub fn short_id(id: &str) -> &str {
    let end = id.char_indices().map(|(at, _)| at).find(|at| *at >= SHORT_ID_BYTES);
    &id[..end.unwrap_or(id.len())]
}

/// How many hex digits of a digest people are shown.
const SHORT_DIGEST_DIGITS: usize = 8;

/// The first digits of a digest in its text form, without the name of the hash.
pub fn short_digest(digest: &str) -> &str {
    let digits = digest.strip_prefix("sha256:").unwrap_or(digest);
    digits.get(..SHORT_DIGEST_DIGITS).unwrap_or(digits)
}

#[cfg(test)]
mod tests {
    use super::{count, short_digest, short_id};

    #[test]
    fn a_short_id_is_the_time_of_a_made_id_and_a_short_text_as_it_is() {
        assert_eq!(short_id("01a1e688-0cf7-7395-ab73-0be59733ca2a"), "01a1e688-0cf7");
        assert_eq!((short_id("my-intent"), short_id("")), ("my-intent", ""));
        assert_eq!(short_id("ääääääääää"), "äääääää");
    }

    #[test]
    fn a_short_digest_has_eight_digits() {
        assert_eq!(short_digest("sha256:0123456789abcdef"), "01234567");
        assert_eq!((short_digest("0123456789"), short_digest("0a")), ("01234567", "0a"));
    }

    #[test]
    fn one_thing_is_singular() {
        assert_eq!([0, 1, 2].map(|n| count(n, "gate")), ["0 gates", "1 gate", "2 gates"]);
    }
}
