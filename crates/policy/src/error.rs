//! Why a policy and a request do not lead to a plan.

use probity_core::{ReasonCode, bytes};
use probity_paths::PathError;

fn suggestion_text(asked: &str, known: &[String]) -> String {
    crate::did_you_mean(asked, known.iter().map(String::as_str))
}

fn joined_or_none(known: &[String]) -> String {
    if known.is_empty() { "none".into() } else { known.join(", ") }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    #[error("there are two {kind}s with the id `{id}`")]
    DuplicateId {
        /// `pack`, `gate` or `profile`.
        kind: &'static str,
        id: String,
    },
    #[error("pack `{pack}` names the gate `{gate}`, which the policy does not have")]
    UnknownGate { pack: String, gate: String },
    #[error("{place} has the tier `{tier}`: a tier is `T` and a number")]
    BadTier { place: String, tier: String },
    #[error(
        "{place}, pattern {} (`{}`): {}{}",
        index + 1,
        bytes::escape(.pattern),
        .reason.meaning(),
        list_remark(pattern)
    )]
    BadPattern {
        place: String,
        /// Position in the list, from 0.
        index: usize,
        pattern: Vec<u8>,
        /// One of the `SCOPE.*` codes.
        reason: ReasonCode,
    },
    #[error("the policy has no profile `{asked}`; it has {}{}", known.join(", "), suggestion_text(asked, known))]
    UnknownProfile { asked: String, known: Vec<String> },
    #[error(transparent)]
    InvalidPath(PathError),
    #[error(
        "the policy has no pack `{asked}`; it has {}{}",
        joined_or_none(known),
        suggestion_text(asked, known)
    )]
    UnknownPack { asked: String, known: Vec<String> },
    #[error("the change needs {} packs ({}), and the profile allows {cap}", packs.len(), packs.join(", "))]
    PackCapExceeded { cap: u64, packs: Vec<String> },
}

/// Says that a pattern looks like several.
fn list_remark(pattern: &[u8]) -> String {
    let hint = std::str::from_utf8(pattern).ok().and_then(crate::comma_hint);
    hint.map_or_else(String::new, |hint| format!("; {hint}"))
}

impl PlanError {
    /// Returns the offending text as written in the policy, if the error is about one.
    fn offending_text(&self) -> Option<&[u8]> {
        match self {
            Self::DuplicateId { id, .. } => Some(id.as_bytes()),
            Self::UnknownGate { gate, .. } => Some(gate.as_bytes()),
            Self::BadTier { tier, .. } => Some(tier.as_bytes()),
            Self::BadPattern { pattern, .. } => Some(pattern),
            _ => None,
        }
    }

    /// Returns line and column (from 1) of the offending text in a policy file. If it occurs several times,
    /// the last one counts: the second use of an id is the duplicate.
    pub fn place_in(&self, text: &str) -> Option<(usize, usize)> {
        let word = std::str::from_utf8(self.offending_text()?).ok()?;
        let quoted = ['"', '\''].map(|quote| format!("{quote}{word}{quote}"));
        let at = quoted.iter().filter_map(|quoted| text.rfind(quoted.as_str())).max()?;
        Some(crate::line_and_column(text, at))
    }

    pub const fn reason(&self) -> ReasonCode {
        match self {
            Self::DuplicateId { .. } => ReasonCode::PlanDuplicateId,
            Self::UnknownGate { .. } => ReasonCode::PlanUnknownGate,
            Self::BadTier { .. } => ReasonCode::PlanBadTier,
            Self::BadPattern { reason, .. } => *reason,
            Self::UnknownProfile { .. } => ReasonCode::PlanUnknownProfile,
            Self::InvalidPath(_) => ReasonCode::PathInvalid,
            Self::UnknownPack { .. } => ReasonCode::PlanUnknownPack,
            Self::PackCapExceeded { .. } => ReasonCode::PlanPackCapExceeded,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_word_has_a_place_in_the_text() {
        let text = "[[pack]]\nid = \"P\"\ngates = [\"lint\", \"tset\"]\n";
        let error = PlanError::UnknownGate { pack: "P".into(), gate: "tset".into() };
        assert_eq!(error.place_in(text), Some((3, 18)));
        assert_eq!(error.place_in("nothing like it"), None);
        let twice = "id = \"a\"\nid = \"a\"\n";
        let error = PlanError::DuplicateId { kind: "gate", id: "a".into() };
        assert_eq!(error.place_in(twice), Some((2, 6)));
    }

    #[test]
    fn patterns_with_commas_between_them_get_a_hint() {
        let words = |pattern: &str| {
            let (place, pattern) = ("the requested scope".to_owned(), pattern.into());
            let reason = ReasonCode::ScopeDoubleStarInSegment;
            PlanError::BadPattern { place, index: 0, pattern, reason }.to_string()
        };
        assert!(words("src/**,README.md").contains("; a comma separates nothing"));
        assert!(!words("a**").contains("comma"));
    }

    #[test]
    fn a_name_that_is_nearly_right_gets_a_hint() {
        let known = vec!["BP-PACK-CODE".to_owned(), "BP-PACK-DOCS".to_owned()];
        let error = PlanError::UnknownPack { asked: "BP-PACK-COED".into(), known };
        assert!(error.to_string().ends_with("did you mean `BP-PACK-CODE`?"), "{error}");
        let error = PlanError::UnknownPack { asked: "x".into(), known: Vec::new() };
        assert_eq!(error.to_string(), "the policy has no pack `x`; it has none");
    }
}
