//! Why policy and request give no plan.

use probity_core::{Reason, bytes};
use probity_paths::PathError;

fn meant(asked: &str, known: &[String]) -> String {
    crate::did_you_mean(asked, known.iter().map(String::as_str))
}

fn list(known: &[String]) -> String {
    if known.is_empty() { "none".into() } else { known.join(", ") }
}

/// Why there is no plan.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// Two packs, gates or profiles have one id.
    #[error("there are two {kind}s with the id `{id}`")]
    DuplicateId {
        /// `pack`, `gate` or `profile`.
        kind: &'static str,
        /// The id.
        id: String,
    },
    /// A pack names a gate that does not exist.
    #[error("pack `{pack}` names the gate `{gate}`, which the policy does not have")]
    UnknownGate {
        /// The pack.
        pack: String,
        /// The gate.
        gate: String,
    },
    /// A tier is not `T` and a number.
    #[error("{place} has the tier `{tier}`: a tier is `T` and a number")]
    BadTier {
        /// Where it stands.
        place: String,
        /// The tier as written.
        tier: String,
    },
    /// A pattern is not valid.
    #[error("{place}, pattern {} (`{}`): {}", index + 1, bytes::escape(.pattern), .reason.meaning())]
    BadPattern {
        /// Where it stands.
        place: String,
        /// Its position in the list, from 0.
        index: usize,
        /// The pattern as written.
        pattern: Vec<u8>,
        /// One of the `SCOPE.*` codes.
        reason: Reason,
    },
    /// The policy has no such profile.
    #[error("the policy has no profile `{asked}`; it has {}{}", known.join(", "), meant(asked, known))]
    UnknownProfile {
        /// The profile that was asked for.
        asked: String,
        /// The profiles that exist.
        known: Vec<String>,
    },
    /// A changed file is no path of a tree.
    #[error(transparent)]
    InvalidPath(PathError),
    /// The policy has no such pack.
    #[error("the policy has no pack `{asked}`; it has {}{}", list(known), meant(asked, known))]
    UnknownPack {
        /// The pack that was asked for.
        asked: String,
        /// The packs that exist.
        known: Vec<String>,
    },
    /// The change needs more packs than the profile allows.
    #[error("the change needs {} packs ({}), and the profile allows {cap}", packs.len(), packs.join(", "))]
    PackCapExceeded {
        /// The profile's cap.
        cap: u64,
        /// The packs that the change needs.
        packs: Vec<String>,
    },
}

impl PlanError {
    /// The word of the policy that is wrong, as it was written, if it is a word of the policy.
    fn word(&self) -> Option<&[u8]> {
        match self {
            Self::DuplicateId { id, .. } => Some(id.as_bytes()),
            Self::UnknownGate { gate, .. } => Some(gate.as_bytes()),
            Self::BadTier { tier, .. } => Some(tier.as_bytes()),
            Self::BadPattern { pattern, .. } => Some(pattern),
            _ => None,
        }
    }

    /// Where in the text of a policy the wrong word stands: line and column, both from 1. Of several places the last is
    /// told, because what repeats an id comes after it.
    pub fn place_in(&self, text: &str) -> Option<(usize, usize)> {
        let word = std::str::from_utf8(self.word()?).ok()?;
        let quoted = ['"', '\''].map(|quote| format!("{quote}{word}{quote}"));
        let at = quoted.iter().filter_map(|quoted| text.rfind(quoted.as_str())).max()?;
        Some(crate::line_and_column(text, at))
    }

    /// The stable code.
    pub const fn reason(&self) -> Reason {
        match self {
            Self::DuplicateId { .. } => Reason::PlanDuplicateId,
            Self::UnknownGate { .. } => Reason::PlanUnknownGate,
            Self::BadTier { .. } => Reason::PlanBadTier,
            Self::BadPattern { reason, .. } => *reason,
            Self::UnknownProfile { .. } => Reason::PlanUnknownProfile,
            Self::InvalidPath(_) => Reason::PathInvalid,
            Self::UnknownPack { .. } => Reason::PlanUnknownPack,
            Self::PackCapExceeded { .. } => Reason::PlanPackCapExceeded,
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
    fn a_name_that_is_nearly_right_gets_a_hint() {
        let known = vec!["BP-PACK-CODE".to_owned(), "BP-PACK-DOCS".to_owned()];
        let error = PlanError::UnknownPack { asked: "BP-PACK-COED".into(), known };
        assert!(error.to_string().ends_with("did you mean `BP-PACK-CODE`?"), "{error}");
        let error = PlanError::UnknownPack { asked: "x".into(), known: Vec::new() };
        assert_eq!(error.to_string(), "the policy has no pack `x`; it has none");
    }
}
