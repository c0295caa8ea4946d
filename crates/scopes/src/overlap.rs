//! Decides exactly, from the patterns alone, whether two claims share a path, and returns such a path as proof.
//!
//! A scope contains a path when some pattern matches it and no later exclusion does. Two scopes therefore overlap
//! exactly when an including pattern of each matches a path that no exclusion after either of the two matches.

use crate::search::{self, SearchBudget, TooComplex};
use probity_paths::compiled::Glob;
use probity_paths::compiled::PatternStep;
use probity_paths::{RepoPath, Scope};
use std::collections::BTreeSet;

/// The paths in a scope, plus some literal paths that its exclusions do not affect.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ScopeClaim {
    pub scope: Scope,
    pub literals: BTreeSet<RepoPath>,
}

impl ScopeClaim {
    /// Claims one path.
    pub fn name(path: &RepoPath) -> Self {
        Self { literals: BTreeSet::from([path.clone()]), ..Self::default() }
    }

    /// Claims a path and everything below it.
    pub fn subtree(path: &RepoPath) -> Self {
        Self { scope: Scope::subtree(path), ..Self::name(path) }
    }

    pub fn contains(&self, path: &RepoPath) -> bool {
        self.literals.contains(path) || self.scope.contains(path)
    }
}

/// Returns a path that both claims contain, or `None` if they are disjoint.
///
/// The choice of path is unspecified; it is short, and readable where possible.
pub fn overlap(a: &ScopeClaim, b: &ScopeClaim) -> Result<Option<RepoPath>, TooComplex> {
    let of_a = a.literals.iter().find(|path| b.contains(path));
    if let Some(path) = of_a.or_else(|| b.literals.iter().find(|path| a.contains(path))) {
        return Ok(Some(path.clone()));
    }
    let found = find_shared_path(grants(&a.scope), &grants(&b.scope).collect::<Vec<_>>(), &[])?;
    Ok(found.map(|path| more_readable(path, |path| a.contains(path) && b.contains(path))))
}

/// Returns a path that `a` contains and `b` does not, or `None` if `b` contains all of `a`.
pub fn outside(a: &ScopeClaim, b: &ScopeClaim) -> Result<Option<RepoPath>, TooComplex> {
    if let Some(path) = a.literals.iter().find(|path| !b.contains(path)) {
        return Ok(Some(path.clone()));
    }
    let names: Vec<Glob> = b.literals.iter().map(Glob::name).collect();
    let everything = Glob::everything();
    let denials: Vec<GlobDifference<'_>> = denials(&b.scope, &everything).collect();
    let found = find_shared_path(grants(&a.scope), &denials, &names)?;
    Ok(found.map(|path| more_readable(path, |path| a.contains(path) && !b.contains(path))))
}

/// Returns true if it is certain that no path matches both globs.
pub(crate) fn are_apart(one: &Glob, other: &Glob) -> bool {
    shared([one, other], [], &mut SearchBudget::default()) == Ok(None)
}

/// The paths of one pattern minus those of the patterns after it.
struct GlobDifference<'a> {
    glob: &'a Glob,
    without: Vec<&'a Glob>,
}

/// Returns a path that is in one of `parts`, in one of `others`, and not among `names`.
fn find_shared_path<'a>(
    parts: impl Iterator<Item = GlobDifference<'a>>,
    others: &[GlobDifference<'a>],
    names: &'a [Glob],
) -> Result<Option<RepoPath>, TooComplex> {
    let mut budget = SearchBudget::default();
    for one in parts {
        for other in others {
            let without = one.without.iter().chain(&other.without).copied().chain(names);
            if let Some(path) = shared([one.glob, other.glob], without, &mut budget)? {
                return Ok(Some(path));
            }
        }
    }
    Ok(None)
}

/// Returns parts whose union is the scope.
fn grants(scope: &Scope) -> impl Iterator<Item = GlobDifference<'_>> {
    parts(scope, false)
}

/// Returns parts whose union is everything outside the scope.
fn denials<'a>(scope: &'a Scope, everything: &'a Glob) -> impl Iterator<Item = GlobDifference<'a>> {
    let without = globs(scope, false).map(|(_, glob)| glob).collect();
    [GlobDifference { glob: everything, without }].into_iter().chain(parts(scope, true))
}

fn parts(scope: &Scope, excluding: bool) -> impl Iterator<Item = GlobDifference<'_>> {
    globs(scope, excluding).map(move |(index, glob)| {
        let behind = globs(scope, !excluding).filter(|(other, _)| *other > index);
        GlobDifference { glob, without: behind.map(|(_, glob)| glob).collect() }
    })
}

fn globs(scope: &Scope, excluding: bool) -> impl Iterator<Item = (usize, &Glob)> {
    let patterns = scope.patterns().iter().enumerate();
    patterns
        .filter(move |(_, pattern)| pattern.excludes() == excluding)
        .map(|(index, pattern)| (index, pattern.glob()))
}

/// Returns a path that both globs match and none of `without` does.
fn shared<'a>(
    both: [&Glob; 2],
    without: impl IntoIterator<Item = &'a Glob>,
    budget: &mut SearchBudget,
) -> Result<Option<RepoPath>, TooComplex> {
    let [one, other] = both;
    if one.is_apart_from(other) {
        return Ok(None);
    }
    let mut without = without.into_iter().filter(|glob| !both.iter().any(|own| own.is_apart_from(glob)));
    let found = if let Some(name) = one.as_name().or(other.as_name()) {
        let is_shared = both.iter().all(|glob| glob.matches(name)) && !without.any(|glob| glob.matches(name));
        is_shared.then(|| name.to_vec())
    } else {
        let without: Vec<Vec<PatternStep>> = without.map(Glob::program).collect();
        let without: Vec<&[PatternStep]> = without.iter().map(Vec::as_slice).collect();
        search::shortest([&one.program(), &other.program()], &without, budget)?
    };
    Ok(found.map(|path| RepoPath::parse(&path).expect("globs are names, and the search builds paths only")))
}

/// Inserts a letter before every segment that starts with a dot, as long as the path still `holds`.
fn more_readable(path: RepoPath, holds: impl Fn(&RepoPath) -> bool) -> RepoPath {
    let mut segments: Vec<Vec<u8>> = path.segments().map(<[u8]>::to_vec).collect();
    let mut best = path;
    for index in 0..segments.len() {
        if segments[index].starts_with(b".") {
            segments[index].insert(0, b'a');
            match RepoPath::parse(&segments.join(&b'/')) {
                Ok(path) if holds(&path) => best = path,
                _ => _ = segments[index].remove(0),
            }
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(globs: &[&[u8]]) -> ScopeClaim {
        ScopeClaim { scope: Scope::parse(globs).expect("a scope"), literals: BTreeSet::new() }
    }

    fn witness(a: &[&[u8]], b: &[&[u8]]) -> String {
        shown(overlap(&claim(a), &claim(b)))
    }

    fn shown(answer: Result<Option<RepoPath>, TooComplex>) -> String {
        answer.expect("simple enough").map_or_else(|| "none".into(), |path| path.to_string())
    }

    #[test]
    fn the_witness_is_short_and_pleasant() {
        assert_eq!(witness(&[b"**"], &[b"**"]), "a");
        assert_eq!(witness(&[b"src/**/*.py"], &[b"**/auth/*"]), "src/auth/a.py");
        assert_eq!(witness(&[b"a*"], &[b"*z"]), "az");
        assert_eq!(witness(&[b"[!a]"], &[b"[!b]"]), "c");
        assert_eq!(witness(&[b"**/*.rs", b"!**/a*"], &[b"src/**"]), "src/.rs");
    }

    #[test]
    fn only_paths_count() {
        assert_eq!(witness(&[b".?"], &[b"?."]), "none", "the only common text is `..`");
        assert_eq!(witness(&[b"?"], &[b".*"]), "none", "the only common text is `.`");
        assert_eq!(witness(&[b"?/?"], &[b"[.]/a"]), "none", "the only common text is `./a`");
    }

    #[test]
    fn single_bytes_that_form_a_character_are_no_witness() {
        assert_eq!(witness(&[b"[\xc3][\xa9]"], &[b"**"]), "none");
        assert_eq!(witness(&[b"?[\xa9]"], &[b"[\xc2-\xdf]?"]), "none");
        assert_eq!(witness(&[b"?[\xa9]"], &[b"[\xc1-\xdf]?"]), "\\xc1\\xa9");
        assert_eq!(witness(&[b"[\xe2][\x82]*"], &[b"*[\xac]"]), "\\xe2\\x82a\\xac");
        assert_eq!(witness(&["[é]".as_bytes()], &[b"\xc3*"]), "none", "a character is no sequence of bytes");
    }

    #[test]
    fn exclusions_count_only_behind_the_pattern() {
        assert_eq!(witness(&[b"src/**", b"!src/gen/**"], &[b"src/gen/*.rs"]), "none");
        assert_eq!(witness(&[b"!src/gen/**", b"src/**"], &[b"src/gen/*.rs"]), "src/gen/a.rs");
        assert_eq!(witness(&[b"*", b"!?", b"!??", b"!*[!a]*"], &[b"*"]), "aaa");
        assert_eq!(witness(&[b"**", b"!*", b"!*/**"], &[b"**"]), "none");
    }

    #[test]
    fn a_part_or_a_counterexample() {
        let outside = |a: &[&[u8]], b: &[&[u8]]| shown(outside(&claim(a), &claim(b)));
        assert_eq!(outside(&[b"src/auth/*.py"], &[b"src/**"]), "none");
        assert_eq!(outside(&[b"src/**"], &[b"src/*", b"src/*/**"]), "none");
        assert_eq!(outside(&[b"src/**"], &[b"src/*"]), "src/a/a");
        assert_eq!(outside(&[b"src/**"], &[b"**", b"!**/*.key"]), "src/a.key");
        assert_eq!(outside(&[b"src/**", b"!**/*.key"], &[b"**", b"!**/*.key"]), "none");
        assert_eq!(outside(&[b"a"], &[]), "a");
    }

    #[test]
    fn a_subtree_is_claimed_by_its_name_whatever_it_looks_like() {
        for name in [&b"src"[..], b"!a", b"[x]*", b"odd?"] {
            let path = RepoPath::parse(name).expect("a path");
            let below = RepoPath::parse(&[name, b"/deep/x"].concat()).expect("a path");
            let beside = RepoPath::parse(&[name, b"y/x"].concat()).expect("a path");
            let claim = ScopeClaim::subtree(&path);
            assert!(claim.contains(&path) && claim.contains(&below) && !claim.contains(&beside), "{path}");
        }
    }

    #[test]
    fn names_are_claimed_whatever_the_exclusions_say() {
        let path = RepoPath::parse(b"src/a").expect("a path");
        let a = ScopeClaim { literals: BTreeSet::from([path.clone()]), ..claim(&[b"src/*", b"!src/a"]) };
        assert_eq!(overlap(&a, &claim(&[b"src/[a]"])), Ok(Some(path)));
        assert_eq!(outside(&a, &claim(&[b"src/*"])), Ok(None));
        assert_eq!(outside(&claim(&[b"src/*"]), &a), Ok(None));
    }
}
