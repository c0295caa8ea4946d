use super::*;
use proptest::prelude::*;

fn said(transcript: &Transcript) -> Vec<(&str, Role, &str)> {
    let said = transcript.parts.iter().filter_map(|part| match part {
        Part::Said(said) => Some(said),
        Part::Proposed(_) => None,
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
    assert!(matches!(&transcript.parts[2], Part::Proposed(delta) if delta["kind"] == "task_opened"));
    assert_eq!(transcript.odd.iter().map(|odd| odd.line).collect::<Vec<_>>(), [5, 6, 7, 8]);
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
    use super::wrapping::unwrap;
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
        super::wrapping::unwrap(&text);
    }
}
