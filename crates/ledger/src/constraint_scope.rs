//! Selects the constraints that apply to a change: those that name a path of its scope, and those that name no path.
//!
//! A constraint is a sentence. Words in it that are clearly paths or patterns limit it to what they match; words that
//! only resemble a path do not. In doubt a constraint is shown, because reading an irrelevant one does no harm.

use crate::item_record::ItemId;
use crate::ledger::Ledger;
use crate::vocabulary::{ItemKind, ItemStatus};
use probity_paths::{RepoPath, Scope};
use probity_scopes::ScopeClaim;

/// A constraint that applies to a scope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScopedConstraint<'a> {
    pub item: ItemId,
    pub handle: &'a str,
    pub summary: &'a str,
    pub hard: bool,
    /// The path or pattern in it that overlaps the scope; `None` if it names no path and so applies everywhere.
    pub because: Option<String>,
}

impl Ledger {
    /// Returns the active constraints that apply to a claimed scope: hard ones first, then in order of creation.
    pub fn constraints_touching(&self, claim: &ScopeClaim) -> Vec<ScopedConstraint<'_>> {
        let is_active = |item: &ItemId| {
            let record = self.record(*item);
            record.kind == ItemKind::Constraint && record.status == ItemStatus::Active
        };
        let mut touching: Vec<_> =
            self.ids().filter(is_active).filter_map(|item| self.scoped_constraint(item, claim)).collect();
        touching.sort_by_key(|constraint| (!constraint.hard, constraint.item));
        touching
    }

    fn scoped_constraint(&self, item: ItemId, claim: &ScopeClaim) -> Option<ScopedConstraint<'_>> {
        let summary = self.summary(item);
        let named = paths_in(summary);
        let because = match named.iter().find(|path| overlaps_claim(path, claim)) {
            None if !named.is_empty() => return None,
            found => found.cloned(),
        };
        let hard = self.record(item).hardened.is_some();
        Some(ScopedConstraint { item, handle: self.handle(item), summary, hard, because })
    }
}

/// Returns the words of a sentence that are clearly paths or patterns.
fn paths_in(text: &str) -> Vec<String> {
    let quoted = text.split('`').skip(1).step_by(2).map(|word| (word, true));
    let plain = text.split('`').step_by(2).flat_map(str::split_whitespace).map(|word| (word, false));
    quoted.chain(plain).filter_map(|(word, is_quoted)| path_of(word, is_quoted)).collect()
}

fn path_of(word: &str, is_quoted: bool) -> Option<String> {
    let word = word.trim_matches(|c: char| "\"'“”‘’()[]{}<>,;:!?".contains(c));
    let word = word.strip_suffix('.').unwrap_or(word);
    let word = word.strip_prefix("./").unwrap_or(word);
    let is_clean = !word.is_empty() && !word.contains("://") && !word.contains(char::is_whitespace);
    let last = word.rsplit('/').next().unwrap_or(word);
    let first = word.split('/').next().unwrap_or(word);
    let has_slash = word.contains('/');
    let is_path = (has_slash
        && (is_quoted || word.ends_with('/') || COMMON_ROOT_DIRECTORIES.contains(&first)))
        || (word.contains('*') && (has_slash || word.contains('.')))
        || has_extension(last, is_quoted);
    (is_clean && is_path).then(|| word.to_owned())
}

/// Accepts `Cargo.toml` and `*.py`, but not `Node.js`, which is a product name unless it is quoted.
fn has_extension(name: &str, is_quoted: bool) -> bool {
    name.rsplit_once('.').is_some_and(|(stem, extension)| {
        let is_known = EXTENSIONS.contains(&extension) || (is_quoted && extension == "js");
        is_known && !stem.is_empty() && stem.chars().all(|c| c.is_alphanumeric() || "_-.*".contains(c))
    })
}

const COMMON_ROOT_DIRECTORIES: &[&str] = &[
    "src",
    "lib",
    "test",
    "tests",
    "docs",
    "doc",
    "app",
    "apps",
    "pkg",
    "cmd",
    "internal",
    "crates",
    "packages",
    "scripts",
    "examples",
    "benches",
    "config",
    "migrations",
    ".github",
    ".claude",
    "include",
    "public",
    "vendor",
    "third_party",
];

const EXTENSIONS: &[&str] = &[
    "toml", "json", "yaml", "yml", "lock", "md", "rs", "py", "ts", "tsx", "jsx", "mjs", "go", "java", "kt",
    "c", "h", "cc", "cpp", "hpp", "cs", "rb", "php", "swift", "sql", "proto", "sh", "css", "html", "xml",
    "txt", "cfg", "ini", "gradle", "tf",
];

/// Returns whether a path or pattern shares a path with a claim. Undecidable cases count as shared.
fn overlaps_claim(word: &str, claim: &ScopeClaim) -> bool {
    let directory = word.trim_end_matches('/');
    let mut patterns = vec![directory.to_owned(), format!("{directory}/**")];
    if !word.contains('/') {
        patterns.extend([format!("**/{directory}"), format!("**/{directory}/**")]);
    }
    let Ok(scope) = Scope::parse(&patterns) else {
        return true;
    };
    let literals = RepoPath::parse(directory.as_bytes()).into_iter().collect();
    probity_scopes::overlap(&ScopeClaim { scope, literals }, claim).map_or(true, |witness| witness.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BatchMode, DeltaProposal};
    use serde_json::json;

    fn ledger_of(constraints: &[(&str, &str, bool)]) -> Ledger {
        let mut ledger = Ledger::new();
        ledger.add_turn("t1");
        for (handle, summary, hard) in constraints {
            let delta = json!({ "kind": "constraint_added", "handle": handle, "summary": summary, "hard": hard,
                "sources": [{ "turn": "t1" }] });
            ledger
                .reconcile("me", BatchMode::BestEffort, &[DeltaProposal::read(&delta)])
                .expect("there is room");
        }
        ledger
    }

    fn touched(ledger: &Ledger, patterns: &[&str]) -> Vec<(String, Option<String>)> {
        let claim =
            ScopeClaim { scope: Scope::parse(patterns).expect("is a scope"), ..ScopeClaim::default() };
        let found = ledger.constraints_touching(&claim);
        found.into_iter().map(|constraint| (constraint.handle.to_owned(), constraint.because)).collect()
    }

    #[test]
    fn a_constraint_holds_where_its_paths_are_or_everywhere() {
        let ledger = ledger_of(&[
            ("soft", "Prefer small files", false),
            ("auth", "Never log tokens in src/auth/", true),
            ("lock", "Do not edit Cargo.lock by hand", false),
            ("all", "Never commit secrets", true),
            ("sql", "Keep `migrations/*.sql` append-only.", true),
        ]);
        let names =
            |patterns: &[&str]| touched(&ledger, patterns).into_iter().map(|it| it.0).collect::<Vec<_>>();
        assert_eq!(names(&["src/auth/token.rs"]), ["auth", "all", "soft"]);
        assert_eq!(names(&["docs/*.md"]), ["all", "soft"]);
        assert_eq!(
            names(&["docs/**"]),
            ["all", "soft", "lock"],
            "a name without a directory may lie anywhere"
        );
        assert_eq!(names(&["migrations/0001.sql"]), ["all", "sql", "soft"]);
        assert_eq!(names(&["**"]), ["auth", "all", "sql", "soft", "lock"]);
        assert_eq!(touched(&ledger, &["crates/a/Cargo.lock"])[2], ("lock".into(), Some("Cargo.lock".into())));
    }

    #[test]
    fn what_is_not_plainly_a_path_limits_nothing() {
        for text in
            ["Use TCP/IP and/or UDP", "Node.js only", "Version 1.2 or later", "See https://a.example/b.md"]
        {
            assert_eq!(paths_in(text), Vec::<String>::new(), "{text}");
        }
        assert_eq!(paths_in("Only touch `a/b`, src/x.rs and *.py files."), ["a/b", "src/x.rs", "*.py"]);
    }

    #[test]
    fn a_withdrawn_constraint_touches_nothing() {
        let mut ledger = ledger_of(&[("all", "Never commit secrets", true)]);
        let end = json!({ "kind": "item_superseded", "target": "all", "reason": "x", "sources": [{ "turn": "t1" }] });
        ledger.reconcile("me", BatchMode::BestEffort, &[DeltaProposal::read(&end)]).expect("there is room");
        assert_eq!(touched(&ledger, &["**"]), []);
    }
}
