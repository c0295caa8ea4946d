//! Laws of matching, scopes and overlap on random patterns and paths.

use probity_paths::{MatchRule, RepoPath, Scope, fnmatch, reconcile};
use probity_scopes::{
    IntentScope, ScopeClaim, TreeNames, declare_intent, declare_plan, outside, overlap, suggest, vectors,
};
use proptest::collection::{btree_set, vec};
use proptest::prelude::*;
use proptest::sample::select;
use std::collections::BTreeSet;
use std::slice::from_ref;
use std::sync::LazyLock;

/// The bytes of small names: letters, a dot, a slash, and two that form a character together.
const BYTES: [u8; 6] = [b'a', b'b', b'.', b'/', 0xc3, 0xa9];

/// Every path of at most four such bytes.
static SMALL_PATHS: LazyLock<Vec<RepoPath>> = LazyLock::new(|| {
    let mut texts: Vec<Vec<u8>> = vec![Vec::new()];
    let mut from = 0;
    for _ in 0..4 {
        let longer: Vec<Vec<u8>> = texts[from..]
            .iter()
            .flat_map(|text| BYTES.map(|byte| [text.as_slice(), &[byte]].concat()))
            .collect();
        from = texts.len();
        texts.extend(longer);
    }
    texts.iter().filter_map(|text| RepoPath::parse(text).ok()).collect()
});

/// The building blocks of one-segment patterns.
const TOKENS: &[&[u8]] = &[
    b"a",
    b"b",
    b".",
    b"*",
    b"*",
    b"?",
    b"[ab]",
    b"[!a]",
    b"[^b.]",
    b"[!-~]",
    b"\xc3",
    b"\xa9",
    b"\xc3\xa9",
    b"[\xc3]",
    b"[\xa9]",
    b"[\x80-\xff]",
    b"[\xc3\xa9]",
    b"[!\xc3\xa9]",
];

fn segment() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        4 => vec(select(TOKENS), 1..4).prop_map(|tokens| tokens.concat()),
        1 => Just(b"**".to_vec()),
    ]
}

fn glob() -> impl Strategy<Value = Vec<u8>> {
    vec(segment(), 1..4)
        .prop_map(|segments| segments.join(&b'/'))
        .prop_filter("a valid pattern", |pattern| Scope::parse(&[pattern]).is_ok())
}

/// Lists of patterns, some of which exclude.
fn list() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let pattern = (glob(), prop::bool::weighted(0.4));
    vec(
        pattern.prop_map(|(glob, excludes)| if excludes { [b"!", glob.as_slice()].concat() } else { glob }),
        0..5,
    )
}

fn claim() -> impl Strategy<Value = ScopeClaim> {
    (list(), btree_set(select(SMALL_PATHS.as_slice()), 0..3))
        .prop_map(|(list, literals)| ScopeClaim { scope: scope(&list), literals })
}

fn scope(list: &[Vec<u8>]) -> Scope {
    Scope::parse(list).expect("valid patterns")
}

/// A sample of the small paths, for laws that need no exact answer.
fn some_paths() -> impl Iterator<Item = &'static RepoPath> {
    SMALL_PATHS.iter().step_by(7)
}

fn let_in(scope: &Scope) -> BTreeSet<&'static RepoPath> {
    some_paths().filter(|path| scope.contains(path)).collect()
}

proptest! {
    #[test]
    fn an_exclusion_never_enlarges_a_scope(list in list(), glob in glob()) {
        let narrowed = scope(&list).amended(&[[b"!", glob.as_slice()].concat()]).expect("valid");
        prop_assert!(let_in(&narrowed).is_subset(&let_in(&scope(&list))));
    }

    #[test]
    fn two_lists_without_exclusions_match_what_either_does(a in vec(glob(), 0..4), b in vec(glob(), 0..4)) {
        let both = scope(&[a.clone(), b.clone()].concat());
        let either: BTreeSet<_> = let_in(&scope(&a)).union(&let_in(&scope(&b))).copied().collect();
        prop_assert_eq!(let_in(&both), either);
    }

    #[test]
    fn two_stars_are_everything(path: Vec<u8>) {
        if let Ok(path) = RepoPath::parse(&path) {
            prop_assert!(scope(&[b"**".to_vec()]).contains(&path));
        }
    }

    #[test]
    fn the_index_finds_what_trying_each_pattern_finds(list in list()) {
        let scope = scope(&list);
        for path in some_paths() {
            let last = scope.patterns().iter().enumerate().rev().find(|(_, pattern)| {
                let text = pattern.as_bytes().strip_prefix(b"!").unwrap_or(pattern.as_bytes());
                naive::glob(text, path.as_bytes())
            });
            prop_assert_eq!(scope.decision(path).map(|decision| decision.index), last.map(|(index, _)| index));
        }
    }

    #[test]
    fn reconciliation_splits_the_delta(list in list(), delta in vec(select(SMALL_PATHS.as_slice()), 0..20)) {
        let scope = scope(&list);
        let found = reconcile(&scope, &delta);
        let outside: Vec<RepoPath> = delta.into_iter().filter(|path| !scope.contains(path)).collect();
        prop_assert_eq!(found.passed(), outside.is_empty());
        prop_assert_eq!(found.untracked, outside);
    }

    #[test]
    fn overlap_is_exact_and_symmetric(a in claim(), b in claim()) {
        let found = overlap(&a, &b).expect("simple enough");
        let back = overlap(&b, &a).expect("simple enough");
        prop_assert_eq!(found.is_some(), back.is_some());
        for witness in found.iter().chain(&back) {
            prop_assert!(a.contains(witness) && b.contains(witness), "{} is not in both", witness);
        }
        let missed = SMALL_PATHS.iter().find(|path| a.contains(path) && b.contains(path));
        prop_assert!(found.is_some() || missed.is_none(), "{:?} was missed", missed);
    }

    #[test]
    fn a_claim_lies_within_another_or_a_path_says_why_not(a in claim(), b in claim()) {
        if let Some(path) = outside(&a, &b).expect("simple enough") {
            prop_assert!(a.contains(&path) && !b.contains(&path), "{} proves nothing", path);
        } else {
            let missed = SMALL_PATHS.iter().find(|path| a.contains(path) && !b.contains(path));
            prop_assert_eq!(missed, None);
        }
    }

    #[test]
    fn globs_match_as_the_definition_says(glob in glob(), path in vec(select(&BYTES[..]), 1..12)) {
        if let Ok(path) = RepoPath::parse(&path) {
            prop_assert_eq!(scope(from_ref(&glob)).contains(&path), naive::glob(&glob, path.as_bytes()));
        }
    }

    #[test]
    fn a_suggestion_fits_exactly(
        names in btree_set("(a|b|!|\\*)?(a|b| |!|\\[|\\?)(/(a|b|c|\\*\\*|!){1,2}){0,2}", 0..40),
        wanted in vec(prop::bool::weighted(0.8), 40),
    ) {
        let tree: Vec<RepoPath> = names.iter().filter_map(|name| RepoPath::parse(name.as_bytes()).ok()).collect();
        let (paths, others): (Vec<_>, Vec<_>) = tree.iter().cloned().zip(wanted).partition(|(_, wanted)| *wanted);
        let paths: Vec<RepoPath> = paths.into_iter().map(|(path, _)| path).collect();
        let scope = Scope::parse(&suggest(&paths, &tree)).expect("valid patterns");
        for path in &paths {
            prop_assert!(scope.contains(path), "{} is missing", path);
        }
        for (path, _) in &others {
            prop_assert!(!scope.contains(path), "{} is let in", path);
        }
    }

    #[test]
    fn no_bytes_make_anything_panic(
        patterns in vec(prop_oneof![vec(any::<u8>(), 0..12), vec(select(&b"![]-*?/.^a\xc3\xa9"[..]), 0..12)], 0..4),
        path: Vec<u8>,
    ) {
        let path = RepoPath::parse(&path).or_else(|_| RepoPath::parse(b"a/\xff")).expect("a path");
        for rule in MatchRule::ALL {
            if let Ok(matcher) = rule.compile(&patterns) {
                matcher.matches(&path);
            }
        }
        let tree = TreeNames::new([&path], []);
        declare_plan(&patterns, &tree);
        declare_intent(IntentScope { allowed_files: &patterns, allowed_related: &[], forbidden: &patterns }, &tree);
        for pattern in &patterns {
            fnmatch::matches(pattern, &path);
        }
    }
}

#[test]
fn a_witness_that_is_not_in_both_is_not_accepted() {
    let given = serde_json::json!({"a": {"globs": ["src/**"]}, "b": {"literals": ["src/a", "x"]}});
    let expect = serde_json::json!({"overlap": true, "witness": "src/a"});
    let accepts = |answer| vectors::accepts_scope_overlap(&given, &expect, &answer);
    assert!(accepts(serde_json::json!({"overlap": true, "witness": "src/a"})));
    assert!(!accepts(serde_json::json!({"overlap": true, "witness": "src/b"})));
    assert!(!accepts(serde_json::json!({"overlap": true, "witness": "src/../x"})));
    assert!(!accepts(serde_json::json!({"overlap": true})));
    assert!(!accepts(serde_json::json!({"overlap": false})));
}

/// The rule glob implemented directly from its definition, by trying every split.
mod naive {
    pub(crate) fn glob(pattern: &[u8], path: &[u8]) -> bool {
        let split = |text: &[u8]| -> Vec<Vec<u32>> { text.split(|&byte| byte == b'/').map(units).collect() };
        segments(&split(pattern), &split(path))
    }

    fn units(text: &[u8]) -> Vec<u32> {
        let chunks = text.utf8_chunks();
        chunks
            .flat_map(|chunk| {
                let single = chunk.invalid().iter().map(|&byte| 0xdc00 + u32::from(byte));
                chunk.valid().chars().map(u32::from).chain(single).collect::<Vec<_>>()
            })
            .collect()
    }

    const STAR: u32 = b'*' as u32;

    fn segments(pattern: &[Vec<u32>], path: &[Vec<u32>]) -> bool {
        match pattern {
            [] => path.is_empty(),
            [last] if *last == [STAR, STAR] => !path.is_empty(),
            [first, rest @ ..] if *first == [STAR, STAR] => {
                (0..=path.len()).any(|taken| segments(rest, &path[taken..]))
            }
            [first, rest @ ..] => {
                path.split_first().is_some_and(|(name, path)| segment(first, name) && segments(rest, path))
            }
        }
    }

    fn segment(pattern: &[u32], name: &[u32]) -> bool {
        let Some((&first, rest)) = pattern.split_first() else { return name.is_empty() };
        if first == STAR {
            return (0..=name.len()).any(|taken| segment(rest, &name[taken..]));
        }
        let Some((&unit, name)) = name.split_first() else { return false };
        if first == u32::from(b'?') {
            return segment(rest, name);
        }
        if first != u32::from(b'[') {
            return first == unit && segment(rest, name);
        }
        let negated = [b'!', b'^'].contains(&u8::try_from(rest[0]).unwrap_or(0));
        let body = &rest[usize::from(negated)..];
        let end = 1 + body[1..].iter().position(|&unit| unit == u32::from(b']')).expect("a closed class");
        has(&body[..end], unit) != negated && segment(&body[end + 1..], name)
    }

    fn has(body: &[u32], unit: u32) -> bool {
        match body {
            [] => false,
            [low, dash, high, rest @ ..] if *dash == u32::from(b'-') => {
                (*low..=*high).contains(&unit) || has(rest, unit)
            }
            [single, rest @ ..] => *single == unit || has(rest, unit),
        }
    }
}
