//! Any bytes as patterns and paths: an answer, never a panic; and every answer about two scopes proves itself.
//!
//! Lines are patterns of the first scope, up to an empty line; then those of the second; the last line is a path.
#![no_main]

use libfuzzer_sys::fuzz_target;
use probity_paths::{MatchRule, RepoPath, Scope};
use probity_scopes::{IntentScope, ScopeClaim, TreeNames};
use std::collections::BTreeSet;

fuzz_target!(|bytes: &[u8]| {
    let lines: Vec<Vec<u8>> = bytes.split(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect();
    let Some((path, lists)) = lines.split_last() else { return };
    let mut lists = lists.splitn(2, Vec::is_empty);
    let (first, second) = (lists.next().unwrap_or_default(), lists.next().unwrap_or_default());
    if let Ok(path) = RepoPath::parse(path) {
        judge(first, second, &path);
    }
    if let (Ok(first), Ok(second)) = (Scope::parse(first), Scope::parse(second)) {
        compare(&claim(first), &claim(second));
    }
});

/// Every rule and both declarations take any patterns.
fn judge(first: &[Vec<u8>], second: &[Vec<u8>], path: &RepoPath) {
    let tree = TreeNames::new([path], []);
    probity_scopes::declare_plan(first, &tree);
    probity_scopes::declare_intent(
        IntentScope { allowed_files: first, allowed_related: &[], forbidden: second },
        &tree,
    );
    for rule in MatchRule::ALL {
        if let Ok(matcher) = rule.compile(first) {
            matcher.matches(path);
        }
    }
    let suggested =
        Scope::parse(&probity_scopes::suggest(&[path.clone()], [])).expect("a suggestion is a scope");
    assert!(suggested.contains(path));
}

fn claim(scope: Scope) -> ScopeClaim {
    ScopeClaim { scope, literals: BTreeSet::new() }
}

fn compare(first: &ScopeClaim, second: &ScopeClaim) {
    let (there, back) = (probity_scopes::overlap(first, second), probity_scopes::overlap(second, first));
    if let (Ok(there), Ok(back)) = (&there, &back) {
        assert_eq!(there.is_some(), back.is_some());
    }
    for path in [there, back].into_iter().flatten().flatten() {
        assert!(first.contains(&path) && second.contains(&path));
    }
    if let Ok(Some(path)) = probity_scopes::outside(first, second) {
        assert!(first.contains(&path) && !second.contains(&path));
    }
}
