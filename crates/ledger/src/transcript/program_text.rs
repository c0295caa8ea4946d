//! Removes text that programs put into messages and nobody said: reminders, contexts, echoes of commands.

/// Tags whose content is the program's and not the speaker's.
const PROGRAM_TAGS: &[&str] = &[
    "system-reminder",
    "command-name",
    "command-message",
    "command-args",
    "command-contents",
    "local-command-stdout",
    "local-command-stderr",
    "local-command-caveat",
    "bash-input",
    "bash-stdout",
    "bash-stderr",
    "ide_opened_file",
    "ide_selection",
    "ide_diagnostics",
    "task-notification",
    "environment_context",
    "user_instructions",
    "INSTRUCTIONS",
    "turn_aborted",
    "user_shell_command",
    "subagent_notification",
    "permissions instructions",
    "skill",
    "hook_context",
    "session_context",
    "current_datetime",
    "reminder",
];

/// Lines that the program writes in the speaker's place.
const PROGRAM_LINES: &[&str] = &[
    "[Request interrupted by user]",
    "[Request interrupted by user for tool use]",
    "No response requested.",
];

/// Returns the text without what the program added. A tag that is never closed covers everything after it.
pub(super) fn unwrap(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        let (before, tagged) = rest.split_at(at);
        kept.push_str(before);
        rest = after_tag(tagged).unwrap_or_else(|| {
            kept.push('<');
            &tagged[1..]
        });
    }
    kept.push_str(rest);
    let kept = kept.trim();
    if PROGRAM_LINES.contains(&kept)
        || kept.starts_with("# AGENTS.md instructions")
        || kept.starts_with("Caveat: The messages below")
    {
        return String::new();
    }
    kept.to_owned()
}

/// Returns the text after the tagged part at the start of `text`, if there is one.
fn after_tag(text: &str) -> Option<&str> {
    let inside = text.strip_prefix('<')?;
    let tag = PROGRAM_TAGS.iter().find(|tag| {
        inside.strip_prefix(**tag).is_some_and(|rest| rest.starts_with('>') || rest.starts_with(' '))
    })?;
    let end = format!("</{tag}>");
    Some(text.find(&end).map_or("", |at| &text[at + end.len()..]))
}
