//! Prints ledger items as a table.

use crate::ui;
use probity_api::ledger::LedgerItem;
use probity_ledger::{ConfidenceLevel, ItemStatus};

/// Maximum width of the handle column; longer handles overflow it.
const HANDLE_WIDTH: usize = 24;

pub(super) fn print_items(items: &[LedgerItem]) {
    let width = items.iter().map(|item| item.handle.chars().count()).max().unwrap_or(0);
    let width = width.min(HANDLE_WIDTH);
    for item in items {
        let LedgerItem { kind, status, .. } = item;
        let mark = match status {
            ItemStatus::Active if item.hard => ui::bad("hard      "),
            ItemStatus::Active => ui::good("active    "),
            ItemStatus::Tentative => ui::warn("tentative "),
            ItemStatus::Superseded | ItemStatus::Resolved => ui::dim(format_args!("{status:<10}")),
        };
        let summary = item.summary.split_whitespace().collect::<Vec<_>>().join(" ");
        let handle = format!("{:<width$}", item.handle);
        ui::print(format_args!("  {}  {kind:<10}  {mark}  {summary}{}", ui::bold(handle), item_remark(item)));
    }
}

/// Adds low confidence, the closing note, and the item that replaced this one.
fn item_remark(item: &LedgerItem) -> String {
    let mut parts = Vec::new();
    if item.confidence < ConfidenceLevel::High {
        parts.push(item.confidence.to_string());
    }
    parts.extend(item.note.clone());
    parts.extend(item.superseded_by.as_ref().map(|by| format!("see {by}")));
    if parts.is_empty() { String::new() } else { ui::dim(format_args!("  ({})", parts.join("; "))) }
}

pub(super) fn print_contradictions(pairs: &[[String; 2]]) {
    for [older, newer] in pairs {
        ui::print(format_args!("  {} {older} and {newer} contradict each other", ui::bad("!")));
    }
}
