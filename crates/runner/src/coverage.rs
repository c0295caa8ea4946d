//! Checks that a scope covers something before a command runs: a scope under which every edit is a violation is a
//! mistake, and the command may cost money.

use probity_core::{ReasonCode, bytes};
use probity_paths::{RepoPath, Scope};
use probity_scopes::{TreeNames, WorkingDirectory};
use probity_snapshot::Snapshot;
use probity_workspace::ServiceError;
use probity_workspace::exemptions::Exemptions;
use probity_workspace::selection::{PlanPreview, PlanSelection, names};
use std::collections::BTreeMap;

const MAX_PROPOSALS: usize = 3;

/// A pattern that would cover something.
#[derive(Debug, PartialEq, Eq)]
struct NearMatch {
    pattern: Vec<u8>,
    n_files: usize,
}

impl NearMatch {
    /// Formats the pattern as typed in `directory`, with its file count.
    fn proposal(&self, directory: &WorkingDirectory) -> String {
        let typed = bytes::escape(&directory.to_typed(&self.pattern));
        let files = if self.n_files == 1 { "file" } else { "files" };
        format!("`{typed}` ({} {files})", self.n_files)
    }
}

/// Returns the including patterns that match no file.
pub(crate) fn idle_patterns(scope: &[Vec<u8>], files: &[RepoPath]) -> Result<Vec<Vec<u8>>, ServiceError> {
    let mut idle = Vec::new();
    for pattern in scope.iter().filter(|pattern| !pattern.starts_with(b"!")) {
        if count_matches(pattern, files)? == 0 {
            idle.push(pattern.clone());
        }
    }
    Ok(idle)
}

/// Refuses an empty scope, or one that covers no file of a non-empty tree, unless the caller says it is intended.
pub(crate) fn require_coverage(
    directory: &WorkingDirectory,
    selection: &PlanSelection,
    preview: &PlanPreview,
    snapshot: &Snapshot,
    exemptions: &Exemptions,
) -> Result<(), ServiceError> {
    let scope = preview.plan.scope.as_slice();
    if selection.no_changes {
        if scope.is_empty() {
            return Ok(());
        }
        let detail = format!("`--no-changes` and a scope ({}) exclude each other", quoted_patterns(scope));
        return Err(ServiceError::refused(ReasonCode::UsageInvalid, detail));
    }
    if scope.is_empty() {
        let detail = "no scope was given, so every change would be a violation; say what may change with \
                      `--scope 'src/**'`, or that nothing may with `--no-changes`";
        return Err(ServiceError::refused(ReasonCode::ScopeEmptyScope, detail));
    }
    let covers_something = preview.coverage.covered > 0 || preview.covers_outputs;
    if selection.creates || covers_something || preview.coverage.files == 0 {
        return Ok(());
    }
    let (mut files, mut directories) = names(snapshot);
    // The path of a submodule represents its checked-out commit, so a scope of that path alone covers something.
    let is_repository = |path: &RepoPath| path.file_name() == b".git";
    let mut repositories = files.iter().chain(&directories).filter(|path| is_repository(path));
    if repositories.any(|path| path.parent().is_some_and(|path| preview.scope.contains(&path))) {
        return Ok(());
    }
    // Nobody means a build output, even if more of its files would match.
    let look = probity_policy::OutputLook::of(files.iter().chain(&directories));
    let is_source = |path: &RepoPath| !exemptions.exempts_path(path) && !look.is_output(path);
    files.retain(is_source);
    directories.retain(is_source);
    let near = near_matches(directory, scope, &files, &directories)?;
    let proposals: Vec<String> = near.iter().map(|near| near.proposal(directory)).collect();
    let mut texts = scope.iter().filter_map(|pattern| std::str::from_utf8(pattern).ok());
    let as_list =
        |pattern| probity_policy::brace_hint(pattern).or_else(|| probity_policy::comma_hint(pattern));
    let hint = if !proposals.is_empty() {
        format!("; did you mean {}?", proposals.join(" or "))
    } else if let Some(hint) = texts.find_map(as_list) {
        format!("; {hint}")
    } else {
        String::new()
    };
    let (patterns, n_files) = (quoted_patterns(scope), preview.coverage.files);
    let files = if n_files == 1 {
        "does not cover the only file".to_owned()
    } else {
        format!("covers none of the {n_files} files")
    };
    let detail = if directory.is_root() {
        format!("the scope {patterns} {files}{hint}")
    } else {
        format!(
            "the scope {files}: you are in {directory}, so from the root of the tree it is \
             {patterns}{hint}"
        )
    };
    Err(ServiceError::refused(ReasonCode::ScopeCoversNothing, detail))
}

fn quoted_patterns(scope: &[Vec<u8>]) -> String {
    let shown: Vec<String> = scope.iter().map(|pattern| format!("`{}`", bytes::escape(pattern))).collect();
    shown.join(" ")
}

fn count_matches(pattern: &[u8], files: &[RepoPath]) -> Result<usize, ServiceError> {
    let scope = Scope::parse(&[pattern])?;
    Ok(files.iter().filter(|path| scope.contains(path)).count())
}

/// Returns patterns that would cover something, the most likely first: the same text relative to the root, a directory
/// mistaken for a file, a lookalike name, the same text below another directory, a misspelled file, a misspelled
/// directory.
fn near_matches(
    directory: &WorkingDirectory,
    scope: &[Vec<u8>],
    files: &[RepoPath],
    directories: &[RepoPath],
) -> Result<Vec<NearMatch>, ServiceError> {
    let mut near: Vec<NearMatch> = Vec::new();
    let tree = TreeNames::new(files, directories);
    for pattern in scope.iter().filter(|pattern| !pattern.starts_with(b"!")) {
        let typed = directory.relative(pattern);
        let mut candidates: Vec<Vec<u8>> = Vec::new();
        candidates.extend(typed.map(<[u8]>::to_vec).filter(|typed| typed != pattern));
        candidates.push([pattern.as_slice(), b"/**"].concat());
        candidates.extend(tree.confusable_name(pattern).map(<[u8]>::to_vec));
        let mut elsewhere = matches_elsewhere(typed.unwrap_or(pattern), files)?;
        candidates.append(&mut elsewhere);
        candidates.extend(misspelled_file(pattern, files));
        candidates.extend(respelled_pattern(pattern, directories));
        for pattern in candidates {
            // A candidate that is not a valid pattern matches nothing.
            let n_files = count_matches(&pattern, files).unwrap_or(0);
            if n_files > 0 && near.iter().all(|known| known.pattern != pattern) {
                near.push(NearMatch { pattern, n_files });
            }
        }
    }
    near.truncate(MAX_PROPOSALS);
    Ok(near)
}

/// Returns the pattern below each directory where it matches, those with the most files first.
fn matches_elsewhere(pattern: &[u8], files: &[RepoPath]) -> Result<Vec<Vec<u8>>, ServiceError> {
    let anywhere = Scope::parse(&[[&b"**/"[..], pattern].concat()])?;
    let mut found: BTreeMap<Vec<u8>, usize> = BTreeMap::new();
    for file in files.iter().filter(|file| anywhere.contains(file)) {
        for directory in file.ancestors_and_self() {
            let below = WorkingDirectory::new(directory);
            let Ok(candidate) = below.pattern(pattern) else { continue };
            if Scope::parse(&[&candidate]).is_ok_and(|scope| scope.contains(file)) {
                *found.entry(candidate).or_default() += 1;
                break;
            }
        }
    }
    let mut found: Vec<(Vec<u8>, usize)> = found.into_iter().collect();
    found.sort_by(|one, other| other.1.cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
    Ok(found.into_iter().take(MAX_PROPOSALS).map(|(pattern, _)| pattern).collect())
}

/// Returns the file nearest to a plain path.
fn misspelled_file(pattern: &[u8], files: &[RepoPath]) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(pattern).ok()?;
    if text.contains(['*', '?', '[']) {
        return None;
    }
    let known = files.iter().filter_map(|path| std::str::from_utf8(path.as_bytes()).ok());
    probity_policy::nearest_path(text, known).map(|path| path.as_bytes().to_vec())
}

/// Replaces the plain leading directory of a pattern by the most similar directory of the tree.
fn respelled_pattern(pattern: &[u8], directories: &[RepoPath]) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(pattern).ok()?;
    let wildcard = text.find(['*', '?', '[']).unwrap_or(text.len());
    let (stem, rest) = text.split_at(text[..wildcard].rfind('/')?);
    let known = directories.iter().filter_map(|path| std::str::from_utf8(path.as_bytes()).ok());
    let nearest = probity_policy::nearest(stem, known)?;
    Some(format!("{nearest}{rest}").into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILES: [&str; 5] = [
        "src/main.rs",
        "packages/app/src/a.js",
        "packages/app/src/b.js",
        "packages/lib/src/c.js",
        "README.md",
    ];
    const DIRECTORIES: [&str; 6] =
        ["src", "packages", "packages/app", "packages/app/src", "packages/lib", "packages/lib/src"];

    fn parse(names: &[&str]) -> Vec<RepoPath> {
        names.iter().map(|name| RepoPath::parse(name.as_bytes()).expect("a path")).collect()
    }

    fn near(directory: &str, pattern: &str) -> Vec<String> {
        let directory = WorkingDirectory::new(directory.as_bytes());
        let scope = [directory.pattern(pattern.as_bytes()).expect("a pattern")];
        let near = near_matches(&directory, &scope, &parse(&FILES), &parse(&DIRECTORIES)).expect("patterns");
        let text = |near: &NearMatch| format!("{} {}", String::from_utf8_lossy(&near.pattern), near.n_files);
        near.iter().map(text).collect()
    }

    #[test]
    fn the_same_text_may_have_meant_another_directory() {
        assert_eq!(
            near("packages", "src/**"),
            ["src/** 1", "packages/app/src/** 2", "packages/lib/src/** 1"]
        );
        assert_eq!(near("", "a.js"), ["packages/app/src/a.js 1"]);
        assert_eq!(near("packages/app", "README.md"), ["README.md 1"]);
    }

    #[test]
    fn a_directory_means_what_lies_below_it() {
        assert_eq!(near("packages/app", "src"), ["packages/app/src/** 2"]);
    }

    #[test]
    fn a_misspelled_directory_is_found() {
        assert_eq!(near("", "scr/**"), ["src/** 1"]);
        assert_eq!(near("packages/app", "scr/*.js"), ["packages/app/src/*.js 2"]);
    }

    #[test]
    fn patterns_that_match_nothing_are_named_beside_others_that_do() {
        let scope: Vec<Vec<u8>> =
            ["src/**", "!src/gen/**", "docs/**"].map(|it| it.as_bytes().to_vec()).into();
        assert_eq!(idle_patterns(&scope, &parse(&FILES)).expect("patterns"), [b"docs/**".to_vec()]);
    }
}
