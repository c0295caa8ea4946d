//! Words that the commands of a change share: those of their options, and those of their answers.

use crate::ui;
use canon::bytes::escape;
use clap::ValueEnum;
use control::change::DetailLevel;
use intent::Ownership;
use plan::StrictnessProfile;
use serde_json::Value;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum DirtyScope {
    Block,
    #[value(name = "continue_own_wip")]
    ContinueOwnWip,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Strictness {
    Ci,
    Strict,
    Relaxed,
}

impl From<Strictness> for StrictnessProfile {
    fn from(strictness: Strictness) -> Self {
        match strictness {
            Strictness::Ci => Self::Ci,
            Strictness::Strict => Self::Strict,
            Strictness::Relaxed => Self::Relaxed,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Detail {
    Summary,
    Normal,
    Full,
}

impl From<Detail> for DetailLevel {
    fn from(detail: Detail) -> Self {
        match detail {
            Detail::Summary => Self::Summary,
            Detail::Normal => Self::Normal,
            Detail::Full => Self::Full,
        }
    }
}

pub(super) fn to_json(answer: &impl serde::Serialize) -> Value {
    serde_json::to_value(answer).unwrap_or_default()
}

pub(super) fn show_notices(notices: &[intent::registry::Notice]) {
    for notice in notices {
        let kind = serde_json::to_value(&notice.kind).unwrap_or_default();
        ui::print_row(
            "notice",
            format_args!("{} {}", notice.intent_id, ui::warn(kind["kind"].as_str().unwrap_or_default())),
        );
    }
}

pub(super) fn shown_path(path: &Value) -> String {
    canon::bytes::from_json(path).map(|path| escape(&path)).unwrap_or_default()
}

/// Whose an intent is, for the reader; `is_kept` if its handle is kept in this worktree and the reader may use it.
pub(crate) const fn ownership(ownership: Ownership, is_kept: bool) -> &'static str {
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

/// A number of seconds: `300`, or with a unit: `90s`, `5m`, `1h`.
pub(crate) fn seconds(text: &str) -> Result<u64, String> {
    let parsed = text.parse().ok().or_else(|| plan::duration_ms(text).map(|ms| ms / 1_000));
    parsed.ok_or_else(|| {
        "give whole seconds, as `300`, or a time with its unit, as `90s`, `5m` or `1h`".to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::seconds;

    #[test]
    fn a_time_is_seconds_or_has_a_unit() {
        assert_eq!(
            [seconds("300"), seconds("90s"), seconds("5m"), seconds("1h")],
            [Ok(300), Ok(90), Ok(300), Ok(3_600)]
        );
        for wrong in ["", "soon", "-5", "5 weeks"] {
            assert!(seconds(wrong).is_err_and(|words| words.contains("90s")), "{wrong}");
        }
    }
}
