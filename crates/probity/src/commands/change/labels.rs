//! Option parsers and labels that the commands about changes share.

use crate::ui;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use probity_changes::registry::view::format_time;
use probity_core::codes::UnknownWord;
use probity_core::text::short_id;
use probity_intents::Ownership;
use probity_intents::registry::{ClosureReason, NoticeKind, OwnerNotice};
use std::str::FromStr;

/// Parses an option whose values are the words of an enum; `words` lists all of them.
pub(crate) fn word_parser<W>(words: &'static [&'static str]) -> impl TypedValueParser<Value = W>
where
    W: FromStr<Err = UnknownWord> + Clone + Send + Sync + 'static,
{
    PossibleValuesParser::new(words).try_map(|word| word.parse())
}

/// Formats a code to put after the sentence that explains it, so that users can search for it.
pub(crate) fn dimmed_code(code: &str) -> String {
    ui::dim(format_args!("[{code}]"))
}

pub(crate) fn show_notices(notices: &[OwnerNotice]) {
    for notice in notices {
        let (words, code) = notice_words(&notice.kind);
        let code = dimmed_code(code);
        ui::print_row(
            "notice",
            format_args!("{}: {} (event {}) {code}", notice.intent_id, ui::warn(words), notice.seq),
        );
    }
}

fn notice_words(kind: &NoticeKind) -> (String, &'static str) {
    match kind {
        NoticeKind::LeaseLapsed { since } => {
            (format!("its lease lapsed at {}", format_time(*since)), "lease_lapsed")
        }
        NoticeKind::TakenOver { by } => (format!("{by} took it over"), "taken_over"),
        NoticeKind::Overlap { agent, host, paths, .. } => {
            let what = ui::first_and_more(paths.iter());
            (format!("{agent} on {host} works on {what} too: coordinate before you merge"), "overlap")
        }
        NoticeKind::LandedUnder { agent, commit, branch, paths, receipt, .. } => {
            let what = ui::first_and_more(paths.iter());
            let receipt = receipt
                .map_or_else(String::new, |receipt| format!(", receipt {}", short_id(&receipt.to_hex())));
            let commit = short_id(commit);
            let words = format!(
                "{agent} changed {what} on {branch} (commit {commit}{receipt}): fetch and rebase before you finish"
            );
            (words, "landed_under")
        }
        NoticeKind::Closed { why, by } => {
            let words = match (why, by) {
                (ClosureReason::Expired, _) => "closed: its time was over".to_owned(),
                (ClosureReason::Displaced, Some(by)) => format!("closed: intent {by} was granted its paths"),
                (ClosureReason::Displaced, None) => "closed: another intent was granted its paths".to_owned(),
                (ClosureReason::Cleared, _) => "closed: somebody else gave it up".to_owned(),
            };
            (words, "closed")
        }
    }
}

/// Describes who owns an intent. `is_kept`: its handle is stored in this worktree, so the reader may use it.
pub(crate) const fn ownership_label(ownership: Ownership, is_kept: bool) -> &'static str {
    match ownership {
        Ownership::OwnActive => "yours",
        Ownership::OwnStale => "yours, lease lapsed",
        Ownership::ForeignActive if is_kept => "yours",
        Ownership::ForeignStale if is_kept => "yours, lease lapsed",
        Ownership::ForeignActive => "another agent",
        Ownership::ForeignStale => "another agent, silent",
        Ownership::Recoverable => "owner gone, recoverable",
        Ownership::Expired => "expired",
    }
}

/// Parses a number of seconds: `300`, or with a unit: `90s`, `5m`, `1h`.
pub(crate) fn parse_seconds(text: &str) -> Result<u64, String> {
    let parsed = text.parse().ok().or_else(|| probity_policy::duration_ms(text).map(|ms| ms / 1_000));
    parsed.ok_or_else(|| {
        "give whole seconds, as `300`, or a time with its unit, as `90s`, `5m` or `1h`".to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::parse_seconds;

    #[test]
    fn a_time_is_seconds_or_has_a_unit() {
        assert_eq!(
            [parse_seconds("300"), parse_seconds("90s"), parse_seconds("5m"), parse_seconds("1h")],
            [Ok(300), Ok(90), Ok(300), Ok(3_600)]
        );
        for wrong in ["", "soon", "-5", "5 weeks"] {
            assert!(parse_seconds(wrong).is_err_and(|words| words.contains("90s")), "{wrong}");
        }
    }
}
