//! Renders a receipt as Markdown for a pull request. It shows the document and judges nothing.

use crate::profile::{CheckOutcome, ContractCheck, VerificationProfile};
use crate::status::{ContractReason, ContractStatus};
use probity_core::markup::{markdown_code as code, markdown_text as plain};
use serde_json::Value;
use std::fmt::Write;

const MAX_LISTED_ITEMS: usize = 20;

pub fn receipt_markdown(receipt: &Value) -> String {
    let mut page = String::new();
    let status = value_text(&receipt["outcome"]["status"]);
    let reason = value_text(&receipt["outcome"]["reason"]);
    let because = reason.parse::<ContractReason>().map_or(reason, |reason| reason.meaning().to_owned());
    let because = if because.is_empty() { String::new() } else { format!(" ({because})") };
    let status = status.parse::<ContractStatus>().map_or(status, |status| status.label().to_owned());
    push_block(&mut page, &format!("## Probity: {status}{because}"));
    if let Some(intent) = receipt["intent"].as_object() {
        let name = code(&value_text(&intent["intent_id"]));
        push_block(
            &mut page,
            &format!(
                "{} {name}, by {}",
                plain(&value_text(&intent["description"])),
                plain(&value_text(&intent["agent"]))
            ),
        );
    }
    facts(&mut page, receipt);
    write_section(&mut page, "Checks", receipt["checks"].as_array(), |check| {
        let (check, outcome) = (value_text(&check["check"]), value_text(&check["outcome"]));
        let check = check.parse::<ContractCheck>().map_or(check, |check| check.description().to_owned());
        let outcome = outcome.parse::<CheckOutcome>().map_or(outcome, |outcome| outcome.words().to_owned());
        format!("{check}: **{outcome}**")
    });
    write_section(&mut page, "Gates", receipt["gates"].as_array(), |gate| {
        format!("{}: **{}**", code(&value_text(&gate["id"])), value_text(&gate["result"]).replace('_', " "))
    });
    findings(&mut page, receipt);
    write_section(&mut page, "Let through", receipt["outcome"]["let_through"].as_array(), |reason| {
        let reason = value_text(reason);
        reason.parse::<ContractReason>().map_or(reason, |reason| reason.meaning().to_owned())
    });
    claims(&mut page, receipt);
    write_section(&mut page, "For you to decide", receipt["decision_points"].as_array(), |point| {
        format!(
            "{} {}: {}",
            value_text(&point["id"]),
            value_text(&point["kind"]).replace('_', " "),
            plain(&value_text(&point["detail"]))
        )
    });
    write_section(&mut page, "Changed paths", receipt["delta"].as_array(), |entry| {
        code(&value_text(&entry["path"]))
    });
    push_block(&mut page, &format!("Receipt {}", code(&value_text(&receipt["digest"]))));
    page
}

/// Writes the table of runs and numbers.
fn facts(page: &mut String, receipt: &Value) {
    // Rows that may have nothing to say, and are left out then.
    let optional = [
        ("Health against the baseline", receipt["health"]["delta"].as_i64().map(change)),
        ("Sentences not checked", sentences_not_checked(receipt)),
    ];
    let rows = [
        ("Kind", profile(&value_text(&receipt["profile"]["profile"]))),
        ("Run before", value_text(&receipt["before"]["run_id"])),
        ("Run after", value_text(&receipt["after"]["run_id"])),
        ("Health", health(receipt)),
        ("Enforcement", enforcement(receipt)),
    ];
    let optional = optional.into_iter().filter_map(|(name, value)| Some((name, value?)));
    let mut table = String::from("| | |\n|---|---|\n");
    for (name, value) in rows.into_iter().chain(optional) {
        let value = if value.is_empty() { "not known".to_owned() } else { plain(&value) };
        let _ = writeln!(table, "| {name} | {value} |");
    }
    push_block(page, table.trim_end());
}

/// Returns the level, and what stood in front of the agent if the receipt says so, with the programs that it could not see
/// through.
fn enforcement(receipt: &Value) -> String {
    let level = value_text(&receipt["enforcement"]);
    let unproven: Vec<String> =
        receipt["unproven_programs"].as_array().into_iter().flatten().map(value_text).collect();
    let unseen = match unproven.as_slice() {
        [] => String::new(),
        programs => format!("; judged from the tree only: what {} wrote", programs.join(", ")),
    };
    match value_text(&receipt["guard"]).replace('_', " ") {
        guard if guard.is_empty() => level,
        guard => format!("{level} ({guard}{unseen})"),
    }
}

fn sentences_not_checked(receipt: &Value) -> Option<String> {
    receipt["claims"]["unchecked_sentences"].as_u64().filter(|n| *n > 0).map(|n| n.to_string())
}

/// Returns the description of a profile; an unknown word of a later version is returned unchanged.
fn profile(word: &str) -> String {
    word.parse::<VerificationProfile>().map_or_else(|_| word.to_owned(), VerificationProfile::words)
}

fn health(receipt: &Value) -> String {
    let score = |value: &Value| value.as_i64();
    let now = score(&receipt["health"]["score"]).or(score(&receipt["after"]["health"]));
    match (score(&receipt["before"]["health"]), now) {
        (Some(before), Some(after)) => health_change(before, after),
        (None, Some(after)) => after.to_string(),
        _ => String::new(),
    }
}

/// Formats two scores and their difference: `90 → 88 (−2)`.
pub fn health_change(before: i64, after: i64) -> String {
    match after.saturating_sub(before) {
        0 => format!("{after} (no change)"),
        delta => format!("{before} → {after} ({})", change(delta)),
    }
}

/// Formats a difference with its sign.
fn change(delta: i64) -> String {
    match delta {
        0 => "no change".to_owned(),
        ..0 => format!("−{}", delta.unsigned_abs()),
        _ => format!("+{delta}"),
    }
}

/// Writes the new findings with location and message. Older receipts contain only the ids.
fn findings(page: &mut String, receipt: &Value) {
    let of_others = |finding: &&Value| finding["in_scope"] == Value::Bool(false);
    let known = receipt["new_findings"].as_array();
    for (heading, ids, are_others) in [
        ("New findings in scope", "intent_regressions", false),
        ("New findings of other agents", "external_regressions", true),
    ] {
        let Some(known) = known else {
            write_section(page, heading, receipt["verdict"][ids].as_array(), |id| code(&value_text(id)));
            continue;
        };
        let shown: Vec<Value> =
            known.iter().filter(|finding| of_others(finding) == are_others).cloned().collect();
        write_section(page, heading, Some(&shown), |finding| {
            let place = match value_text(&finding["path"]) {
                path if path.is_empty() => String::new(),
                path => format!(" {}", code(&format!("{path}:{}", value_text(&finding["line"])))),
            };
            let passed = if finding["let_through"] == true { " (let through)" } else { "" };
            format!(
                "{}{place} {}{passed}",
                value_text(&finding["severity"]),
                plain(&value_text(&finding["message"]))
            )
        });
    }
    if let Some(more) = receipt["new_findings_left_out"].as_u64().filter(|more| *more > 0) {
        push_block(page, &format!("{more} more new findings are in the receipt by their ids alone."));
    }
}

/// Writes the checked claims, each with its sentence. Older receipts contain only the objections.
fn claims(page: &mut String, receipt: &Value) {
    let checked = receipt["claims"]["checked"].as_array();
    if checked.is_some_and(|checked| checked.iter().all(|claim| claim.get("verdict").is_none())) {
        return write_section(
            page,
            "False claims",
            receipt["claims"]["violations"].as_array(),
            |objection| format!("{}: {}", value_text(&objection["claim"]), value_text(&objection["code"])),
        );
    }
    write_section(page, "Claims", checked, |claim| {
        let said = match claim["sentence"].as_str() {
            Some(sentence) => format!("\"{}\"", plain(sentence)),
            None => plain(&value_text(&claim["claim"]).replace('_', " ")),
        };
        let because: Vec<String> = ["objections", "reservations"]
            .into_iter()
            .flat_map(|list| claim[list].as_array().into_iter().flatten())
            .map(|words| plain(&value_text(words)))
            .collect();
        let because = if because.is_empty() { String::new() } else { format!(": {}", because.join("; ")) };
        format!("**{}** {said}{because}", value_text(&claim["verdict"]))
    });
}

/// Writes a list under a heading, or nothing if the list is empty.
fn write_section(
    page: &mut String,
    heading: &str,
    items: Option<&Vec<Value>>,
    show: impl Fn(&Value) -> String,
) {
    let Some(items) = items.filter(|items| !items.is_empty()) else { return };
    let mut shown = format!("**{heading}**\n\n");
    for item in items.iter().take(MAX_LISTED_ITEMS) {
        let _ = writeln!(shown, "- {}", show(item));
    }
    if items.len() > MAX_LISTED_ITEMS {
        let _ = writeln!(shown, "- and {} more", items.len() - MAX_LISTED_ITEMS);
    }
    push_block(page, shown.trim_end());
}

fn push_block(page: &mut String, block: &str) {
    page.push_str(block);
    page.push_str("\n\n");
}

fn value_text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => probity_core::bytes::escape(text.as_bytes()),
        Value::Object(_) if value.get("bytes_hex").is_some() => probity_core::bytes::from_json(value)
            .map(|bytes| probity_core::bytes::escape(&bytes))
            .unwrap_or_default(),
        other => other.to_string(),
    }
}
