//! The registry of stable codes: every word with which Probity gives a reason (law 12).
//!
//! Each rule defines its codes as an enum beside the rule; this module lists all of them in families. `probity
//! explain CODE` answers from this list, and `docs/reasons.md` is generated from it.

use probity_core::codes::CodeEntry;

#[derive(Debug, Clone, Copy)]
pub struct CodeFamily {
    /// The heading of the family.
    pub title: &'static str,
    /// One sentence that says where its codes appear.
    pub about: &'static str,
    pub entries: &'static [CodeEntry],
}

/// Every family, in the order of `docs/reasons.md`.
pub const FAMILIES: &[CodeFamily] = &[
    CodeFamily {
        title: "Reasons",
        about: "The `reason` of a refusal, and the `reasons` and findings of a governed run or of evidence.",
        entries: probity_core::ReasonCode::TABLE,
    },
    CodeFamily {
        title: "Limits of enforcement",
        about: "The `limits` of a governed run: known ways around its level of enforcement.",
        entries: crate::govern::enforcement::EnforcementLimit::TABLE,
    },
    CodeFamily {
        title: "Refusals of the intent registry",
        about: "The `reason` of `start`, `finish`, `amend` and `intent …` when the registry refuses.",
        entries: probity_intents::registry::RefusalCode::TABLE,
    },
    CodeFamily {
        title: "Starts",
        about: "The `reasons` of a `start` that is queued or blocked.",
        entries: probity_intents::start::StartReason::TABLE,
    },
    CodeFamily {
        title: "Uncommitted changes at a finish",
        about: "The `finish_block_reason` of a `finish`.",
        entries: probity_intents::hygiene::FinishBlockReason::TABLE,
    },
    CodeFamily {
        title: "Verdicts",
        about: "The `reason` and the violations of `finish` and `contract verify`.",
        entries: probity_contract::ContractReason::TABLE,
    },
    CodeFamily {
        title: "Claims",
        about: "Why a claim of the author is false or unverified, in `claims check`, `finish` and receipts.",
        entries: probity_contract::claims::ObjectionCode::TABLE,
    },
    CodeFamily {
        title: "Ledger: merged",
        about: "The `code` of a candidate that the ledger merged into what it has.",
        entries: probity_ledger::MergeCode::TABLE,
    },
    CodeFamily {
        title: "Ledger: rejected",
        about: "The `code` of a candidate that the ledger rejected.",
        entries: probity_ledger::RejectCode::TABLE,
    },
    CodeFamily {
        title: "Ledger: positions",
        about: "Positions that the ledger does not have.",
        entries: probity_ledger::PositionCode::TABLE,
    },
    CodeFamily {
        title: "Documents: opcodes without effect",
        about: "Why replay skipped an opcode.",
        entries: probity_documents::SkipReason::TABLE,
    },
    CodeFamily {
        title: "Documents: refused resolutions",
        about: "Why `merge reconcile` wrote nothing.",
        entries: probity_documents::ReconcileCode::TABLE,
    },
];

#[derive(Debug, Clone, Copy)]
pub struct KnownCode {
    pub family: &'static CodeFamily,
    pub entry: &'static CodeEntry,
}

pub fn all() -> impl Iterator<Item = KnownCode> {
    FAMILIES.iter().flat_map(|family| family.entries.iter().map(move |entry| KnownCode { family, entry }))
}

/// Finds the codes spelled `word`, ignoring case. A word can have a meaning in two families.
pub fn find(word: &str) -> Vec<KnownCode> {
    all().filter(|code| code.entry.code.eq_ignore_ascii_case(word)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_family_has_each_code_once() {
        for family in FAMILIES {
            let codes: BTreeSet<_> = family.entries.iter().map(|entry| entry.code).collect();
            assert_eq!(codes.len(), family.entries.len(), "{}", family.title);
        }
    }

    #[test]
    fn every_code_says_what_happened_and_what_to_do() {
        for KnownCode { entry, .. } in all() {
            assert!(!entry.meaning.is_empty() && !entry.next_step.is_empty(), "{}", entry.code);
            assert!(!entry.meaning.ends_with('.') && !entry.next_step.ends_with('.'), "{}", entry.code);
        }
    }

    #[test]
    fn codes_are_found_whatever_their_case() {
        assert_eq!(find("recon.untracked_delta").len(), 1);
        assert_eq!(find("unknown_intent").len(), 1);
        assert!(find("no_such_code").is_empty());
    }
}
