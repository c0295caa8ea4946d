//! Items as a table for people.

use crate::ui;
use serde_json::Value;

/// The widest handle that keeps its column.
const HANDLE_WIDTH: usize = 24;

/// Prints items, one a line.
pub(super) fn items(items: &[Value]) {
    let text = |item: &Value, name: &str| item[name].as_str().unwrap_or_default().to_owned();
    let width = items.iter().map(|item| text(item, "handle").chars().count()).max().unwrap_or(0);
    let width = width.min(HANDLE_WIDTH);
    for item in items {
        let (kind, status) = (text(item, "kind"), text(item, "status"));
        let mark = match (status.as_str(), item["hard"].as_bool()) {
            ("active", Some(true)) => ui::bad("hard      "),
            ("active", _) => ui::good("active    "),
            ("tentative", _) => ui::warn("tentative "),
            _ => ui::dim(format_args!("{status:<10}")),
        };
        let summary = text(item, "summary").split_whitespace().collect::<Vec<_>>().join(" ");
        let handle = format!("{:<width$}", text(item, "handle"));
        ui::print(format_args!("  {}  {kind:<10}  {mark}  {summary}{}", ui::bold(handle), remark(item)));
    }
}

/// What one should know besides: how sure it is, how it ended, what replaced it.
fn remark(item: &Value) -> String {
    let text = |name: &str| item[name].as_str();
    let mut parts = Vec::new();
    if let Some(tier) = text("confidence").filter(|tier| matches!(*tier, "low" | "medium")) {
        parts.push(tier.to_owned());
    }
    if let Some(note) = text("note") {
        parts.push(note.to_owned());
    }
    if let Some(by) = text("superseded_by") {
        parts.push(format!("see {by}"));
    }
    if parts.is_empty() { String::new() } else { ui::dim(format_args!("  ({})", parts.join("; "))) }
}

/// Prints a pair of handles that contradict each other, for each pair.
pub(super) fn contradictions(pairs: &[[String; 2]]) {
    for [older, newer] in pairs {
        ui::print(format_args!("  {} {older} and {newer} contradict each other", ui::bad("!")));
    }
}
