//! Edits a marked block in a user's file: everything outside our two markers belongs to the user.

#[derive(Debug, Clone, Copy)]
pub(super) struct BlockMarkers {
    begin: &'static str,
    end: &'static str,
}

pub(super) const MARKDOWN_MARKERS: BlockMarkers =
    BlockMarkers { begin: "<!-- probity:begin -->", end: "<!-- probity:end -->" };
pub(super) const TOML_MARKERS: BlockMarkers = BlockMarkers { begin: "# probity:begin", end: "# probity:end" };

/// Without the approval mode, `codex exec` refuses every tool that writes to Probity's state.
const CODEX_ENTRY: &str = "[mcp_servers.probity]\ncommand = \"probity\"\nargs = [\"mcp\"]\n\
                           default_tools_approval_mode = \"approve\"\n";

const INSTRUCTIONS: &str = "\
## Changes go through Probity

Other agents may be working in this tree. Before you edit, declare what you will touch; afterwards, finish.

1. `start_controlled_change` with the exact files (`allowed_files`). Edit only while the answer says `edit_allowed: true`;
   otherwise follow its `next_step` (wait, narrow, or talk to the owner). Never end another agent's process.
2. Edit only what you declared. If you need more, ask for it with `manage_change_intent` (`amend`) first.
3. `finish_controlled_change` when you are done. It looks at the tree, not at what you say. Fix what it reports.

A hook refuses edits outside the declared files and says which call to make. Without MCP the same commands are
`probity start`, `probity amend --intent` and `probity finish`; in a sandbox with a read-only `.git` only the tools work.
";

pub(super) fn with_instructions(text: &str) -> String {
    insert_block(MARKDOWN_MARKERS, text, INSTRUCTIONS)
}

pub(super) fn with_codex(text: &str) -> Result<String, String> {
    let rest: toml::Table =
        remove_block(TOML_MARKERS, text).parse().map_err(|error| format!("not valid TOML: {error}"))?;
    let servers = rest.get("mcp_servers").and_then(|servers| servers.as_table());
    if servers.is_some_and(|servers| servers.contains_key("probity")) {
        return Err("a server called probity stands there that Probity did not write; remove it first".into());
    }
    let wished = insert_block(TOML_MARKERS, text, CODEX_ENTRY);
    match wished.parse::<toml::Table>() {
        Ok(_) => Ok(wished),
        Err(_) => Err(format!("no table can be added at its end; add this by hand:\n{CODEX_ENTRY}")),
    }
}

/// Puts `inner` into our block, appending the block if the text has none.
fn insert_block(marks: BlockMarkers, text: &str, inner: &str) -> String {
    let block = format!("{}\n{inner}{}\n", marks.begin, marks.end);
    match split_at_block(marks, text) {
        Some((before, after)) => format!("{before}{block}{after}"),
        None if text.trim().is_empty() => block,
        None => format!("{}\n\n{block}", text.trim_end_matches('\n')),
    }
}

pub(super) fn remove_block(marks: BlockMarkers, text: &str) -> String {
    match split_at_block(marks, text) {
        None => text.to_owned(),
        Some((before, after)) if before.trim().is_empty() => after.trim_start_matches('\n').to_owned(),
        Some((before, after)) => format!("{}\n{after}", before.trim_end_matches('\n')),
    }
}

/// Returns the text before and after our block. A marker counts only if it is a whole line.
fn split_at_block(marks: BlockMarkers, text: &str) -> Option<(&str, &str)> {
    let begin = line_start(text, marks.begin)?;
    let end = begin + line_start(&text[begin..], marks.end)?;
    let after = text[end..].find('\n').map_or(text.len(), |newline| end + newline + 1);
    Some((&text[..begin], &text[after..]))
}

fn line_start(text: &str, line: &str) -> Option<usize> {
    let mut start = 0;
    for candidate in text.split_inclusive('\n') {
        if candidate.trim_end() == line {
            return Some(start);
        }
        start += candidate.len();
    }
    None
}
