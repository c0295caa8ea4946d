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

pub(super) fn ownership(ownership: Ownership) -> &'static str {
    match ownership {
        Ownership::OwnActive => "yours",
        Ownership::OwnStale => "yours, lease lapsed",
        Ownership::ForeignActive => "active",
        Ownership::ForeignStale => "silent",
        Ownership::Recoverable => "owner gone, recoverable",
        Ownership::Expired => "expired",
    }
}
