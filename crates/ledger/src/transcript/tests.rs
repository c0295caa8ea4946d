use super::*;
use proptest::prelude::*;

fn said(transcript: &Transcript) -> Vec<(&str, Role, &str)> {
    let said = transcript.parts.iter().filter_map(|part| match part {
        TranscriptPart::Said(said) => Some(said),
        TranscriptPart::Proposed(_) => None,
    });
    said.map(|said| (said.id.as_str(), said.role, said.text.as_str())).collect()
}

#[test]
fn reads_a_session_of_claude_code() {
    let transcript = read(include_bytes!("../../tests/data/sessions/claude-code.jsonl"));
    assert_eq!(transcript.agent, Some("claude-code"));
    let said = said(&transcript);
    assert_eq!(said[0].1, Role::User);
    assert!(said[0].2.starts_with("We need a rate limiter"), "{said:?}");
    assert!(said.iter().all(|(_, _, text)| !text.contains("<system-reminder>")), "{said:?}");
    assert!(said.iter().all(|(_, role, _)| *role != Role::Tool));
    assert_eq!(transcript.n_odd, 1, "{:?}", transcript.odd);
    assert!(transcript.left_out.contains_key("claude-code tool_result"), "{:?}", transcript.left_out);
    assert!(transcript.left_out.contains_key("claude-code isMeta"));
}

#[test]
fn reads_a_session_of_codex() {
    let transcript = read(include_bytes!("../../tests/data/sessions/codex.jsonl"));
    assert_eq!(transcript.agent, Some("codex"));
    let said = said(&transcript);
    assert_eq!(said.len(), 4, "{said:?}");
    assert_eq!(said[0].0, "0199aaaa-0000-7000-8000-000000000001:4");
    assert!(said.iter().all(|(_, _, text)| !text.contains("environment_context")));
    assert_eq!(transcript.n_odd, 0, "{:?}", transcript.odd);
}

#[test]
fn reads_plain_turns_and_candidates() {
    let lines = concat!(
        "{\"id\": \"t1\", \"role\": \"user\", \"text\": \"Use Redis.\"}\n",
        "\n",
        "{\"text\": \"No id.\"}\n",
        "{\"kind\": \"task_opened\", \"handle\": \"k\", \"summary\": \"Docs\", \"sources\": [{\"turn\": \"t1\"}]}\n",
        "{\"role\": \"narrator\", \"text\": \"Once\"}\nnot json\n[1]\n{\"a\": 1}\n",
    );
    let transcript = read(lines.as_bytes());
    assert_eq!(said(&transcript)[0], ("t1", Role::User, "Use Redis."));
    assert!(said(&transcript)[1].0.starts_with("said-"));
    assert!(
        matches!(&transcript.parts[2], TranscriptPart::Proposed(delta) if delta["kind"] == "task_opened")
    );
    assert_eq!(transcript.odd.iter().map(|odd| odd.line).collect::<Vec<_>>(), [5, 6, 7, 8]);
}

#[test]
fn types_of_lines_that_are_not_known_yet_are_left_out_and_counted() {
    let lines = concat!(
        "{\"type\": \"pr-link\", \"sessionId\": \"s\", \"prNumber\": 7}\n",
        "{\"type\": \"ai-title\", \"sessionId\": \"s\", \"aiTitle\": \"Never deploy on Fridays\"}\n",
        "{\"type\": \"system\", \"subtype\": \"compact_boundary\", \"uuid\": \"u\", \"content\": \"Conversation compacted\"}\n",
        "{\"type\": \"user\", \"uuid\": \"a\", \"isCompactSummary\": true, \"message\": {\"content\": \"We use Oracle.\"}}\n",
        "{\"type\": \"user\", \"uuid\": \"b\", \"isSidechain\": true, \"message\": {\"content\": \"Look at the parser.\"}}\n",
        "{\"type\": \"assistant\", \"uuid\": \"c\", \"message\": {\"content\": [{\"type\": \"thinking\", \"thinking\": \"x\"}, {\"type\": \"new_block\"}]}}\n",
        "{\"timestamp\": \"2026-01-01\", \"ordinal\": 3, \"type\": \"world_state\", \"payload\": {\"text\": \"We use Oracle.\"}}\n",
        "{\"timestamp\": \"2026-01-01\", \"type\": \"compacted\", \"payload\": {\"message\": \"We use Oracle.\", \"replacement_history\": []}}\n",
        "{\"timestamp\": \"2026-01-01\", \"type\": \"response_item\", \"payload\": {\"type\": \"tool_search_call\"}}\n",
    );
    let transcript = read(lines.as_bytes());
    assert_eq!(said(&transcript), [("b", Role::Assistant, "Look at the parser.")]);
    assert_eq!(transcript.n_odd, 0, "{:?}", transcript.odd);
    let n_left_out: usize = transcript.left_out.values().sum();
    assert_eq!(n_left_out, 8, "{:?}", transcript.left_out);
}

#[test]
fn a_huge_line_is_told_and_the_rest_is_read() {
    let mut bytes = vec![b'x'; MAX_LINE_BYTES + 1];
    bytes.extend(b"\n{\"id\": \"t1\", \"text\": \"Use Redis.\"}\n");
    let transcript = read(&bytes);
    assert_eq!((transcript.n_odd, transcript.odd[0].line, transcript.parts.len()), (1, 1, 1));
}

#[test]
fn a_longer_version_of_a_file_keeps_its_ids() {
    let bytes = include_bytes!("../../tests/data/sessions/codex.jsonl");
    let whole = read(bytes);
    let cut = bytes.len() * 2 / 3;
    let part = read(&bytes[..cut]);
    assert!(!part.parts.is_empty());
    assert_eq!(part.parts[..], whole.parts[..part.parts.len()]);
}

#[test]
fn what_a_program_wraps_is_not_said() {
    use super::program_text::unwrap;
    assert_eq!(unwrap("a <system-reminder>Use X</system-reminder> b"), "a  b");
    assert_eq!(unwrap("<environment_context>\n<cwd>/x</cwd>\n</environment_context>"), "");
    assert_eq!(unwrap("if a < b then <b>bold</b>"), "if a < b then <b>bold</b>");
    assert_eq!(unwrap("keep <command-name>never closed"), "keep");
}

proptest! {
    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        read(&bytes);
    }

    #[test]
    fn no_text_is_unwrapped_badly(text in "[<>/a-z -]{0,60}") {
        super::program_text::unwrap(&text);
    }
}

/// Sessions that the programs themselves wrote: version 0.61.0 of Gemini CLI, 1.0.102 of Copilot CLI, 0.24.4 of Qwen Code, and an
/// export of `OpenCode` 1.18.33. Long texts are shortened, paths are neutral.
#[test]
fn reads_sessions_as_other_programs_wrote_them() {
    let sessions: [(&str, &[u8]); 3] = [
        ("gemini-cli", include_bytes!("../../tests/data/sessions/gemini-cli.jsonl")),
        ("copilot-cli", include_bytes!("../../tests/data/sessions/copilot-cli.jsonl")),
        ("qwen-code", include_bytes!("../../tests/data/sessions/qwen-code.jsonl")),
    ];
    for (agent, bytes) in sessions {
        let transcript = read(bytes);
        assert_eq!(transcript.agent, Some(agent));
        let words: Vec<(Role, &str)> =
            said(&transcript).into_iter().map(|(_, role, text)| (role, text)).collect();
        let expected = [
            (Role::User, "Write the word into a.txt. Remember: we never use tabs in a.txt."),
            (Role::Assistant, "Decision: a.txt keeps one line per entry. We will not use tabs in it."),
        ];
        assert_eq!(words, expected, "{agent}");
        assert_eq!(transcript.n_odd, 0, "{agent}: {:?}", transcript.odd);
        assert!(transcript.left_out.keys().all(|kind| kind.starts_with(agent)), "{:?}", transcript.left_out);
    }
    let transcript = read(include_bytes!("../../tests/data/sessions/opencode.json"));
    assert_eq!((transcript.agent, transcript.n_odd), (Some("opencode"), 0));
    let words: Vec<&str> = said(&transcript).into_iter().map(|(_, _, text)| text).collect();
    assert_eq!(words, ["go", "I write a file.", "I edit a file.", "Done."]);
}

#[test]
fn a_database_is_refused_by_name() {
    let transcript = read(b"SQLite format 3\0rest\nof it");
    assert_eq!((transcript.n_odd, transcript.parts.len()), (1, 0));
    assert!(transcript.odd[0].why.contains("opencode export"), "{:?}", transcript.odd);
}

#[test]
fn an_older_document_of_gemini_cli_is_read_by_its_messages() {
    let document = r#"{"sessionId": "s", "projectHash": "h", "messages": [
        {"id": "1", "timestamp": "t", "type": "user", "content": "Use tabs."},
        {"id": "2", "timestamp": "t", "type": "info", "content": "Update available"},
        {"id": "3", "timestamp": "t", "type": "gemini", "content": "I will."}]}"#;
    let transcript = read(document.as_bytes());
    let expected = [("1", Role::User, "Use tabs."), ("3", Role::Assistant, "I will.")];
    assert_eq!(said(&transcript), expected);
    assert_eq!((transcript.n_odd, transcript.left_out.len()), (0, 1));
}
