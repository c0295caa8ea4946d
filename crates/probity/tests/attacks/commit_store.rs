//! Names and paths of documents that mean nothing.

use crate::repo::Repo;

#[test]
fn a_document_has_a_name_and_a_path_begins_with_a_field() {
    let repo = Repo::new();
    repo.write(
        "t.schema",
        "struct Ticket {\n    title: string\n    rank: int64\n}\nattachment ticket: Ticket\n",
    );
    repo.ask(&["commits", "init", "--schema", "t.schema"]);
    let value = r#"{"title": "one", "rank": 0}"#;
    for document in ["ticket/", "/t1", "/", "ticket"] {
        repo.ask(&["commits", "put", document, value, "--author", "cy"]).refused_with("COMMIT.MISFIT");
    }
    assert_eq!(repo.ask(&["commits", "put", "ticket/t1", value, "--author", "cy"]).exit_code, Some(0));
    for path in [".rank", "..rank", "rank."] {
        let update = repo.ask(&["commits", "update", "ticket/t1", path, "1", "--author", "cy"]);
        assert_eq!(update.exit_code, Some(2), "{path}: {update:#?}");
    }
    assert_eq!(
        repo.ask(&["commits", "update", "ticket/t1", "rank", "1", "--author", "cy"]).exit_code,
        Some(0)
    );
}
