//! A receipt as Markdown, for a pull request. It shows what the document says and judges nothing.

use serde_json::Value;
use std::fmt::Write;

/// The most items that one list shows.
const SHOWN: usize = 20;

/// Renders a receipt.
pub fn markdown(receipt: &Value) -> String {
    let mut page = String::new();
    let status = text(&receipt["outcome"]["status"]);
    let reason = text(&receipt["outcome"]["reason"]);
    let because = if reason.is_empty() { String::new() } else { format!(" ({reason})") };
    line(&mut page, &format!("## Probity: {status}{because}"));
    if let Some(intent) = receipt["intent"].as_object() {
        let name = code(&text(&intent["intent_id"]));
        line(
            &mut page,
            &format!(
                "{} {name}, by {}",
                plain(&text(&intent["description"])),
                plain(&text(&intent["agent"]))
            ),
        );
    }
    facts(&mut page, receipt);
    section(&mut page, "Checks", receipt["checks"].as_array(), |check| {
        format!("{}: **{}**", text(&check["check"]), text(&check["outcome"]))
    });
    section(&mut page, "Gates", receipt["gates"].as_array(), |gate| {
        format!("{}: **{}**", code(&text(&gate["id"])), text(&gate["result"]))
    });
    section(&mut page, "New findings in scope", receipt["verdict"]["intent_regressions"].as_array(), |id| {
        code(&text(id))
    });
    section(
        &mut page,
        "New findings of others",
        receipt["verdict"]["external_regressions"].as_array(),
        |id| code(&text(id)),
    );
    section(&mut page, "Let through", receipt["outcome"]["let_through"].as_array(), text);
    section(&mut page, "False claims", receipt["claims"]["violations"].as_array(), |objection| {
        format!("{}: {}", text(&objection["claim"]), text(&objection["code"]))
    });
    section(&mut page, "For you to decide", receipt["decision_points"].as_array(), |point| {
        format!("{} {}: {}", text(&point["id"]), text(&point["kind"]), plain(&text(&point["detail"])))
    });
    section(&mut page, "Changed paths", receipt["delta"].as_array(), |entry| code(&text(&entry["path"])));
    line(&mut page, &format!("Receipt {}", code(&text(&receipt["digest"]))));
    page
}

/// The table of the two runs and the numbers.
fn facts(page: &mut String, receipt: &Value) {
    let rows = [
        ("Profile", text(&receipt["profile"]["profile"])),
        ("Run before", text(&receipt["before"]["run_id"])),
        ("Run after", text(&receipt["after"]["run_id"])),
        ("Health", text(&receipt["health"]["score"])),
        ("Health, this patch", text(&receipt["health"]["patch_health_delta"])),
        ("Health, against the baseline", text(&receipt["health"]["delta"])),
        ("Enforcement", text(&receipt["enforcement"])),
        ("Sentences not checked", text(&receipt["claims"]["unchecked_sentences"])),
        ("Not claimed", words(&receipt["claims"]["not_made"])),
    ];
    let mut table = String::from("| | |\n|---|---|\n");
    for (name, value) in rows {
        let value = if value.is_empty() { "not known".to_owned() } else { plain(&value) };
        let _ = writeln!(table, "| {name} | {value} |");
    }
    line(page, table.trim_end());
}

/// The words of a list in a row.
fn words(list: &Value) -> String {
    let words: Vec<String> = list.as_array().into_iter().flatten().map(text).collect();
    if words.is_empty() { "nothing".to_owned() } else { words.join(", ") }
}

/// A list under a heading; nothing for an empty list.
fn section(page: &mut String, heading: &str, items: Option<&Vec<Value>>, show: impl Fn(&Value) -> String) {
    let Some(items) = items.filter(|items| !items.is_empty()) else { return };
    let mut shown = format!("**{heading}**\n\n");
    for item in items.iter().take(SHOWN) {
        let _ = writeln!(shown, "- {}", show(item));
    }
    if items.len() > SHOWN {
        let _ = writeln!(shown, "- and {} more", items.len() - SHOWN);
    }
    line(page, shown.trim_end());
}

fn line(page: &mut String, block: &str) {
    page.push_str(block);
    page.push_str("\n\n");
}

fn text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => canon::bytes::escape(text.as_bytes()),
        Value::Object(_) if value.get("bytes_hex").is_some() => {
            canon::bytes::from_json(value).map(|bytes| canon::bytes::escape(&bytes)).unwrap_or_default()
        }
        other => other.to_string(),
    }
}

/// Words of others, with everything that Markdown or HTML would act on taken out of effect.
pub(crate) fn plain(words: &str) -> String {
    let mut safe = String::with_capacity(words.len());
    for character in words.chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '@' => safe.push_str("&#64;"),
            '#' => safe.push_str("&#35;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '!' | '~' => safe.extend(['\\', character]),
            other => safe.push(other),
        }
    }
    safe
}

/// A name in a code span that it cannot break out of.
pub(crate) fn code(name: &str) -> String {
    let longest = name.split(|character| character != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let pad = if name.starts_with('`') || name.ends_with('`') { " " } else { "" };
    format!("{fence}{pad}{name}{pad}{fence}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_break_out_of_its_code_span() {
        assert_eq!(code("a.py"), "`a.py`");
        assert_eq!(code("a`b"), "``a`b``");
        assert_eq!(code("`x`"), "`` `x` ``");
    }

    #[test]
    fn words_of_others_have_no_effect() {
        assert_eq!(plain("<b>@x [l](u) #1"), "&lt;b&gt;&#64;x \\[l\\](u) &#35;1");
    }
}
