//! Removes from snapshots everything that differs between machines, users and moments; nothing else does this.
//!
//! Equality is preserved: the first id of a kind in a snapshot becomes number 1, the next different one number 2.

use regex::{Captures, Regex};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::LazyLock;

/// A pattern and its replacement. `$1` keeps text.
struct Filter {
    pattern: &'static str,
    replacement: &'static str,
}

/// Applied in this order, before ids are numbered.
const FILTERS: &[Filter] = &[
    // The small program is used if it was built.
    Filter { pattern: r"'[^'\n]*/probity(?:-hook)?'(?: hook)?", replacement: "[HOOK]" },
    // Progress is shown once work takes longer than a second.
    Filter { pattern: r"(?m)^probity: .*\(\d+ s\)\n", replacement: "" },
    // The header of a stream that contained nothing else.
    Filter { pattern: r"--- stderr\n\z", replacement: "" },
    Filter { pattern: r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?Z?", replacement: "[TIME]" },
    Filter { pattern: r"\d{4}-\d\d-\d\d\b", replacement: "[DATE]" },
    // Seconds or milliseconds since 1970.
    Filter { pattern: r#"": ?\d{10,19}\b"#, replacement: r#"": "[TIME]""# },
    Filter { pattern: r"\b\d+ ms\b", replacement: "[DURATION]" },
    Filter { pattern: r#""(duration_ms|round_trip_ms)": ?\d+"#, replacement: r#""$1": "[DURATION]""# },
    Filter { pattern: r"\bstate of \d+ (?:minutes|seconds?) ago\b", replacement: "state of [DURATION] ago" },
    Filter { pattern: r"\((?:\d+ h )?\d+ (?:s|min) ago\)", replacement: "([DURATION] ago)" },
    Filter { pattern: r"\b(?:\d+ h )?\d+ (?:s|min) left\b", replacement: "[DURATION] left" },
    Filter { pattern: r"\bexpires in (?:\d+ h )?\d+ (?:s|min)\b", replacement: "expires in [DURATION]" },
    Filter { pattern: r"\blease +\d+ s\b", replacement: "lease [DURATION]" },
    Filter {
        pattern: r#""((?:age|lease_expires_in|lease_left|life_left|left)_seconds)": ?\d+"#,
        replacement: r#""$1": "[DURATION]""#,
    },
    // Control groups depend on the user and the machine.
    Filter {
        pattern: r#""enforcement_detail": ?(?:"[^"]*"|null)"#,
        replacement: r#""enforcement_detail": "[ENFORCEMENT]""#,
    },
    Filter { pattern: r#""kernel": ?(?:"[^"]*"|null)"#, replacement: r#""kernel": "[KERNEL]""# },
    // The tests may run as root.
    Filter { pattern: r#""LIMIT.AS_ROOT",\s*"#, replacement: "" },
    // Documents contain paths and times of varying length.
    Filter { pattern: r"\b\d+ kB\b", replacement: "[SIZE]" },
    Filter { pattern: r"\b\d+ bytes\b", replacement: "[SIZE] bytes" },
    Filter { pattern: r#""((?:log_)?bytes)": ?\d+"#, replacement: r#""$1": "[SIZE]""# },
    // The log that SQLite keeps beside a database depends on who closed it last. None is a fact of its own.
    Filter { pattern: r#""state_bytes": ?[1-9]\d*"#, replacement: r#""state_bytes": "[SIZE]""# },
    Filter { pattern: r"\bpid \d+", replacement: "pid [PID]" },
    Filter { pattern: r#""(\w*pid(?:_start)?)": ?\d+"#, replacement: r#""$1": "[PID]""# },
    Filter { pattern: r#""host": ?"[^"]*""#, replacement: r#""host": "[HOST]""# },
    Filter { pattern: r"\bon \S+, since\b", replacement: "on [HOST], since" },
    Filter { pattern: r"\bon \S+ (works on|finished a change of)\b", replacement: "on [HOST] $1" },
    Filter { pattern: r"(?m)^(  line +\S+), on \S+$", replacement: "$1, on [HOST]" },
    Filter { pattern: r"(?m)^(  lacks .* of \S+) on \S+: ", replacement: "$1 on [HOST]: " },
    Filter { pattern: r"(?m)^(  waiting .*) \d+ minutes at most", replacement: "$1 [DURATION] at most" },
    // Only Linux has one.
    Filter { pattern: r#""boot_id": ?(?:"[^"]*"|null)"#, replacement: r#""boot_id": "[BOOT_ID]""# },
    Filter { pattern: r"\bgit version \S+|\bgit \d+\.\d+\S*", replacement: "git [VERSION]" },
];

/// Ids and hashes, in search order: a longer form may contain shorter ones.
static IDS: LazyLock<[(&str, Regex); 4]> = LazyLock::new(|| {
    [
        ("UUID", r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"),
        ("ID", r"\b[0-9a-f]{8}-[0-9a-f]{4}\b"),
        ("BASE64", r"[A-Za-z0-9+/_-]{43,}={0,2}"),
        ("HEX", r"\b[0-9a-f]{8,}\b"),
    ]
    .map(|(kind, pattern)| (kind, Regex::new(pattern).expect("a pattern")))
});

static COMPILED: LazyLock<Vec<(Regex, &'static str)>> = LazyLock::new(|| {
    FILTERS.iter().map(|it| (Regex::new(it.pattern).expect("a pattern"), it.replacement)).collect()
});

/// Redacts `text`. `places` are directories and their placeholders.
pub(crate) fn redact(text: &str, places: &[(&Path, &str)]) -> String {
    let mut text = text.to_owned();
    for (place, name) in places {
        text = text.replace(&*place.to_string_lossy(), name);
    }
    for (pattern, replacement) in COMPILED.iter() {
        text = pattern.replace_all(&text, *replacement).into_owned();
    }
    for (kind, pattern) in IDS.iter() {
        text = number_ids(&text, kind, pattern);
    }
    text
}

fn number_ids(text: &str, kind: &str, pattern: &Regex) -> String {
    let mut numbers: BTreeMap<String, usize> = BTreeMap::new();
    let replace = |captures: &Captures| {
        let found = &captures[0];
        if kind == "BASE64" && !is_random(found) {
            return found.to_owned();
        }
        let next = numbers.len() + 1;
        let number = *numbers.entry(found.to_owned()).or_insert(next);
        // The length of a hash is part of the output format; that of a signed text depends on its content.
        let length = if kind == "HEX" { found.len().to_string() } else { String::new() };
        format!("[{kind}{length}-{number}]")
    };
    pattern.replace_all(text, replace).into_owned()
}

/// Distinguishes encoded bytes from long words that a person wrote.
fn is_random(word: &str) -> bool {
    let has = |is: fn(&char) -> bool| word.chars().any(|letter| is(&letter));
    has(char::is_ascii_uppercase) && has(char::is_ascii_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_ids_get_equal_numbers() {
        let text = "a 0199c2aa-37ea-765a-9e94-5f87cd323e40 b 14d82d39 c 14d82d39 sha256:ffffffffff d 1234567";
        assert_eq!(redact(text, &[]), "a [UUID-1] b [HEX8-1] c [HEX8-1] sha256:[HEX10-2] d 1234567");
    }

    #[test]
    fn progress_is_left_out() {
        assert_eq!(redact("a\nprobity: reading the tree: 3 so far (12 s)\nb\n", &[]), "a\nb\n");
        assert_eq!(redact("a\n--- stderr\nprobity: starting (1 s)\n", &[]), "a\n");
    }

    #[test]
    fn words_and_paths_stay() {
        let text =
            "crates/probity/tests/snapshots/end_to_end/a_long_name_of_a_file and defaced facade ed25519";
        assert_eq!(redact(text, &[]), text);
    }
}
