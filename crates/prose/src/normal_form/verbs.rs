//! The base form of an "-ing" form, for words that are certain to be verbs: "using" is a form of "use", but "string" is
//! not a verb form.

use crate::lexicon::{self as lx, class_of};

/// Returns the verb whose "-ing" form `word` is.
pub(super) fn base_of_ing(word: &str) -> Option<String> {
    let stem = word.strip_suffix("ing").filter(|stem| stem.len() >= 2)?;
    if let Some(base) = known_base(stem) {
        return Some(base);
    }
    for prefix in ["re", "un", "de", "pre", "over", "auto", "co", "dis"] {
        let rest = stem.strip_prefix(prefix).map(|rest| rest.strip_prefix('-').unwrap_or(rest));
        if let Some(base) = rest.filter(|rest| rest.len() >= 2).and_then(known_base) {
            let written = &stem[..stem.len() - rest.map_or(0, str::len)];
            return Some(format!("{written}{base}"));
        }
    }
    productive_base(stem)
}

fn known_base(stem: &str) -> Option<String> {
    let bytes = stem.as_bytes();
    let is_doubled = bytes.len() > 3 && bytes[bytes.len() - 1] == bytes[bytes.len() - 2];
    let undoubled = is_doubled.then(|| &stem[..stem.len() - 1]);
    // "planing" is not "planning": a verb that doubles its last letter has no form without.
    if let Some(base) = undoubled.filter(|base| class_of(base).is(lx::DOUBLING_VERB)) {
        return is_verb(base).then(|| base.to_owned());
    }
    if is_verb(stem) && (!stem.ends_with('e') || stem.ends_with("ee")) {
        let class = class_of(stem);
        let must_double = class.is(lx::DOUBLING_VERB) && !class.is(lx::OPTIONALLY_DOUBLING_VERB);
        return (!must_double).then(|| stem.to_owned());
    }
    let with_e = Some(format!("{stem}e")).filter(|base| is_verb(base));
    let from_y = || stem.strip_suffix('y').map(|stem| format!("{stem}ie")).filter(|base| is_verb(base));
    with_e.or_else(from_y)
}

fn is_verb(base: &str) -> bool {
    class_of(base).is(lx::VERB)
}

/// Endings that only verbs have.
fn productive_base(stem: &str) -> Option<String> {
    let is_verb = stem.len() >= 6 && ["iz", "is", "at", "ify"].iter().any(|end| stem.ends_with(end));
    let is_whole = stem.ends_with("ify");
    is_verb.then(|| if is_whole { stem.to_owned() } else { format!("{stem}e") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_verb_and_only_a_verb() {
        for (form, base) in [
            ("using", "use"),
            ("running", "run"),
            ("deploying", "deploy"),
            ("building", "build"),
            ("planning", "plan"),
            ("caching", "cache"),
            ("agreeing", "agree"),
            ("tying", "tie"),
            ("putting", "put"),
            ("adding", "add"),
            ("rolling", "roll"),
            ("modelling", "model"),
            ("modeling", "model"),
            ("redeploying", "redeploy"),
            ("re-running", "re-run"),
            ("containerizing", "containerize"),
            ("quantifying", "quantify"),
            ("passing", "pass"),
            ("setting", "set"),
        ] {
            assert_eq!(base_of_ing(form).as_deref(), Some(base), "{form}");
        }
        for word in [
            "string", "king", "ring", "spring", "nothing", "during", "ceiling", "sibling", "planing",
            "runing", "ing",
        ] {
            assert_eq!(base_of_ing(word), None, "{word}");
        }
    }
}
