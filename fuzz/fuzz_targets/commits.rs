//! Any bytes as a schema in both forms, and as commits, opcodes and paths of one: an answer, never a panic, and
//! whatever is read is written again as it was.
#![no_main]

use libfuzzer_sys::fuzz_target;
use probity_documents::{
    Commit, CommitState, DocumentEngine, DocumentOp, DocumentSchema, MemoryCommits, path_text,
};
use serde_json::json;
use std::sync::LazyLock;

static SCHEMA: LazyLock<DocumentSchema> = LazyLock::new(|| {
    let text = "enum Phase { idea, draft }\nstruct Place {\n line: int64\n at: tuple<uint8,double>\n}\n\
        struct Ticket {\n title: string\n phase: Phase\n labels: set<string>\n votes: map<string,optional<Place>>\n \
        notes: xarray<Place>\n steps: vector<int8>\n raw: variant<bytes,uuid>\n more: any\n file: optional<blob>\n}\n\
        attachment t: Ticket\nattachment n: int64\nattachment x: xarray<string>";
    DocumentSchema::parse(text).expect("a schema")
});

fuzz_target!(|bytes: &[u8]| {
    if let Ok(text) = std::str::from_utf8(bytes) {
        if let Ok(schema) = DocumentSchema::parse(text) {
            assert_eq!(DocumentSchema::parse(&schema.to_text()), Ok(schema.clone()));
            assert_eq!(DocumentSchema::from_json(&schema.to_json()), Ok(schema));
        }
        if let Ok(path) = SCHEMA.parse_path("t", text) {
            assert_eq!(SCHEMA.parse_path("t", &path_text(&path)), Ok(path));
        }
    }
    let Ok(json) = probity_core::json::parse(bytes) else { return };
    if let Ok(schema) = DocumentSchema::from_json(&json) {
        assert_eq!(DocumentSchema::from_json(&schema.to_json()), Ok(schema));
    }
    if let Ok(op) = DocumentOp::from_json(&SCHEMA, &json) {
        assert_eq!(DocumentOp::from_json(&SCHEMA, &op.to_json(&SCHEMA)), Ok(op));
    }
    let _ = CommitState::from_json(&SCHEMA, &json);
    let mut commits = vec![json.clone()];
    if json.is_array() {
        // A list of opcodes is replayed on nothing: skips, and never a panic.
        commits = vec![
            json!({"author": "a", "label": "", "ops": json, "parent": null, "target": null, "timestamp": 0,
            "type": "mutations"}),
        ];
    }
    for json in commits {
        let Ok(commit) = Commit::from_json(&SCHEMA, &json) else { continue };
        assert_eq!(Commit::decode(&SCHEMA, commit.bytes()).as_ref(), Ok(&commit));
        let mut store = MemoryCommits::new();
        if let Ok(id) = store.append(commit) {
            let state = DocumentEngine::new(&store).state(&id).expect("a state");
            let _ = state.to_json(&SCHEMA);
        }
    }
});
