//! Checks a declared scope before anything is sealed.
//!
//! An entry that cannot be meant is an error; one that is probably a mistake is a warning. Entries are checked exactly
//! as written; nothing is normalized.

use crate::overlap::are_apart;
use crate::tree_names::TreeNames;
use probity_core::ReasonCode;
use probity_paths::fnmatch::Fnmatch;
use probity_paths::{RepoPath, ScopePattern};
use std::collections::BTreeSet;

/// The list that an entry belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum DeclarationField {
    /// The paths that an intent will change.
    AllowedFiles,
    /// Further paths that it may change.
    AllowedRelated,
    /// Patterns of what it must not change.
    Forbidden,
    /// The patterns of a plan.
    Scope,
}

impl DeclarationField {
    /// Returns the name of the list in documents.
    pub const fn name(self) -> &'static str {
        match self {
            Self::AllowedFiles => "allowed_files",
            Self::AllowedRelated => "allowed_related",
            Self::Forbidden => "forbidden",
            Self::Scope => "scope",
        }
    }
}

/// An error or warning about a declaration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScopeDiagnostic {
    /// A `SCOPE.…` code.
    pub code: ReasonCode,
    pub field: DeclarationField,
    /// Zero-based index of the entry, or `None` when it concerns the whole list.
    pub index: Option<usize>,
}

/// All errors and warnings about a declaration, sorted by list, entry and code.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DeclarationReport {
    /// Each entry has at most one error, and then no warnings.
    pub errors: Vec<ScopeDiagnostic>,
    pub warnings: Vec<ScopeDiagnostic>,
}

impl DeclarationReport {
    /// Returns true if the declaration can be sealed.
    pub fn is_valid(&self) -> bool {
        self.errors.is_empty()
    }

    /// Adds the diagnosis of one entry.
    fn add_entry(&mut self, field: DeclarationField, index: usize, verdict: EntryDiagnosis) {
        let index = Some(index);
        match verdict {
            Ok(warnings) => {
                self.warnings.extend(warnings.into_iter().map(|code| ScopeDiagnostic { code, field, index }));
            }
            Err(code) => self.errors.push(ScopeDiagnostic { code, field, index }),
        }
    }

    fn sorted(mut self) -> Self {
        for list in [&mut self.errors, &mut self.warnings] {
            list.sort_by_key(|remark| (remark.field, remark.index, remark.code.as_str()));
        }
        self
    }
}

/// The diagnosis of one entry: warnings, or the first error.
type EntryDiagnosis = Result<Vec<ReasonCode>, ReasonCode>;

/// The declared scope of an intent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct IntentScope<'a> {
    /// Literal paths.
    pub allowed_files: &'a [Vec<u8>],
    /// Literal paths.
    pub allowed_related: &'a [Vec<u8>],
    /// Patterns under the rule fnmatch.
    pub forbidden: &'a [Vec<u8>],
}

/// Checks the scope of an intent.
pub fn declare_intent(scope: IntentScope<'_>, tree: &TreeNames<'_>) -> DeclarationReport {
    let mut declaration = DeclarationReport::default();
    let mut guards = Vec::new();
    for (index, pattern) in scope.forbidden.iter().enumerate() {
        let guard = Fnmatch::new(pattern);
        let verdict = judge_guard(pattern, &guard, tree);
        guards.extend(verdict.is_ok().then_some(guard));
        declaration.add_entry(DeclarationField::Forbidden, index, verdict);
    }
    let mut seen = BTreeSet::new();
    for (field, list) in [
        (DeclarationField::AllowedFiles, scope.allowed_files),
        (DeclarationField::AllowedRelated, scope.allowed_related),
    ] {
        for (index, entry) in list.iter().enumerate() {
            let is_new = seen.insert(entry);
            declaration.add_entry(field, index, judge_literal(entry, is_new, &guards, tree));
        }
    }
    if scope.allowed_files.is_empty() && scope.allowed_related.is_empty() {
        let (code, field) = (ReasonCode::ScopeEmptyScope, DeclarationField::AllowedFiles);
        declaration.warnings.push(ScopeDiagnostic { code, field, index: None });
    }
    declaration.sorted()
}

/// Checks the scope of a plan.
pub fn declare_plan(scope: &[Vec<u8>], tree: &TreeNames<'_>) -> DeclarationReport {
    let mut declaration = DeclarationReport::default();
    let only_excludes = scope.iter().all(|pattern| pattern.starts_with(b"!"));
    let mut includes: Vec<ScopePattern> = Vec::new();
    for (index, text) in scope.iter().enumerate() {
        let verdict = ScopePattern::parse(text).map(|pattern| {
            if pattern.excludes() {
                let is_inert = !only_excludes
                    && includes.iter().all(|include| are_apart(include.glob(), pattern.glob()));
                return applicable_reasons([(is_inert, ReasonCode::ScopeExcludeInert)]);
            }
            includes.push(pattern);
            let mut warnings = judge_include(text, tree);
            // Who lists `dir` beside `dir/**` means the entry itself, such as the commit of a submodule.
            let below = [text.as_slice(), b"/**"].concat();
            if scope.contains(&below) {
                warnings.retain(|code| *code != ReasonCode::ScopeNamesDirectory);
            }
            warnings
        });
        declaration.add_entry(DeclarationField::Scope, index, verdict);
    }
    let (field, index) = (DeclarationField::Scope, None);
    if scope.is_empty() {
        declaration.warnings.push(ScopeDiagnostic { code: ReasonCode::ScopeEmptyScope, field, index });
    } else if only_excludes {
        declaration.errors.push(ScopeDiagnostic { code: ReasonCode::ScopeNoInclude, field, index });
    }
    declaration.sorted()
}

fn judge_literal(entry: &[u8], is_new: bool, guards: &[Fnmatch], tree: &TreeNames<'_>) -> EntryDiagnosis {
    let path = RepoPath::parse(entry).map_err(|error| error.reason)?;
    let is_present = tree.contains(entry);
    if !is_present && entry.iter().any(|byte| b"*?".contains(byte)) {
        return Err(ReasonCode::ScopeGlobInLiteral);
    }
    if guards.iter().any(|guard| guard.matches(&path)) {
        return Err(ReasonCode::ScopeAllowedAndForbidden);
    }
    let mut warnings = judge_name(entry, tree);
    warnings.extend(applicable_reasons([
        (!is_present && has_brackets(entry), ReasonCode::ScopeLooksLikeGlob),
        (!is_present && entry.starts_with(b"!"), ReasonCode::ScopeLiteralBang),
        (!is_new, ReasonCode::ScopeDuplicate),
    ]));
    Ok(warnings)
}

fn judge_guard(pattern: &[u8], guard: &Fnmatch, tree: &TreeNames<'_>) -> EntryDiagnosis {
    if let Some(reason) = probity_paths::name_error(pattern).or(guard.flaw()) {
        return Err(reason);
    }
    let mut warnings = judge_plain(pattern, tree);
    warnings.extend(applicable_reasons([
        (pattern.starts_with(b"!") && !tree.contains(pattern), ReasonCode::ScopeLiteralBang),
        (pattern.iter().all(|&byte| byte == b'*'), ReasonCode::ScopeCatchAll),
    ]));
    Ok(warnings)
}

fn judge_include(pattern: &[u8], tree: &TreeNames<'_>) -> Vec<ReasonCode> {
    let before_last = pattern.strip_suffix(b"/*").unwrap_or(pattern);
    let is_catch_all = before_last.split(|&byte| byte == b'/').all(|segment| segment == b"**");
    let mut warnings = judge_plain(pattern, tree);
    warnings.extend(applicable_reasons([(is_catch_all, ReasonCode::ScopeCatchAll)]));
    warnings
}

/// Returns the warnings about a pattern that names a single path.
fn judge_plain(pattern: &[u8], tree: &TreeNames<'_>) -> Vec<ReasonCode> {
    let is_plain = !pattern.iter().any(|byte| b"*?[".contains(byte));
    if is_plain { judge_name(pattern, tree) } else { Vec::new() }
}

/// Returns the warnings about a name, in any list.
fn judge_name(name: &[u8], tree: &TreeNames<'_>) -> Vec<ReasonCode> {
    applicable_reasons([
        (tree.has_directory(name), ReasonCode::ScopeNamesDirectory),
        (tree.confusable_name(name).is_some(), ReasonCode::ScopeLookAlike),
    ])
}

/// Returns the reasons whose condition holds.
fn applicable_reasons<const N: usize>(reasons: [(bool, ReasonCode); N]) -> Vec<ReasonCode> {
    reasons.into_iter().filter(|(holds, _)| *holds).map(|(_, reason)| reason).collect()
}

fn has_brackets(entry: &[u8]) -> bool {
    let open = entry.iter().position(|&byte| byte == b'[');
    open.is_some_and(|open| entry[open..].contains(&b']'))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILES: [&[u8]; 4] = [b"README.md", b"src/auth/login.py", b"!kept", b"odd*name"];

    fn with_tree<T>(judge: impl Fn(&TreeNames<'_>) -> T) -> T {
        let files = FILES.map(|file| RepoPath::parse(file).expect("a path"));
        judge(&TreeNames::new(&files, []))
    }

    /// Formats errors, then warnings, as `field index CODE`.
    fn said(declaration: &DeclarationReport) -> Vec<String> {
        let remarks = declaration.errors.iter().chain(&declaration.warnings);
        remarks.map(|remark| format!("{} {:?} {}", remark.field.name(), remark.index, remark.code)).collect()
    }

    fn plan(scope: &[&str]) -> Vec<String> {
        let scope: Vec<Vec<u8>> = scope.iter().map(|text| text.as_bytes().to_vec()).collect();
        with_tree(|tree| said(&declare_plan(&scope, tree)))
    }

    fn intent(allowed: &[&str], forbidden: &[&str]) -> Vec<String> {
        let [allowed_files, forbidden] = [allowed, forbidden]
            .map(|list| list.iter().map(|text| text.as_bytes().to_vec()).collect::<Vec<Vec<u8>>>());
        let scope =
            IntentScope { allowed_files: &allowed_files, forbidden: &forbidden, ..IntentScope::default() };
        with_tree(|tree| said(&declare_intent(scope, tree)))
    }

    #[test]
    fn an_entry_with_an_error_has_no_warnings() {
        assert_eq!(
            intent(&["src/*", "src/*"], &[]),
            ["allowed_files Some(0) SCOPE.GLOB_IN_LITERAL", "allowed_files Some(1) SCOPE.GLOB_IN_LITERAL",]
        );
        assert_eq!(
            intent(&["README.md"], &["R*", "[a"]),
            ["allowed_files Some(0) SCOPE.ALLOWED_AND_FORBIDDEN", "forbidden Some(1) SCOPE.UNCLOSED_CLASS",]
        );
    }

    #[test]
    fn a_name_of_the_tree_is_a_name() {
        assert_eq!(intent(&["odd*name", "!kept"], &["!kept"][..0]), [""; 0]);
        assert_eq!(
            intent(&["!other"], &["!kept", "!o*"]),
            ["allowed_files Some(0) SCOPE.ALLOWED_AND_FORBIDDEN", "forbidden Some(1) SCOPE.LITERAL_BANG",]
        );
    }

    #[test]
    fn several_warnings_of_one_entry_are_sorted_by_code() {
        assert_eq!(
            intent(&["!a[b]", "!a[b]"], &[]),
            [
                "allowed_files Some(0) SCOPE.LITERAL_BANG",
                "allowed_files Some(0) SCOPE.LOOKS_LIKE_GLOB",
                "allowed_files Some(1) SCOPE.DUPLICATE",
                "allowed_files Some(1) SCOPE.LITERAL_BANG",
                "allowed_files Some(1) SCOPE.LOOKS_LIKE_GLOB",
            ]
        );
    }

    #[test]
    fn everything_is_a_catch_all_and_every_file_of_the_root_is_not() {
        for pattern in ["**", "**/**", "**/*", "**/**/*"] {
            assert_eq!(plan(&[pattern]), ["scope Some(0) SCOPE.CATCH_ALL"], "{pattern}");
        }
        for pattern in ["*", "*/*", "**/*/*", "**/*.md", "*/**"] {
            assert_eq!(plan(&[pattern]), [""; 0], "{pattern}");
        }
        assert_eq!(plan(&["src/**", "!**"]), [""; 0], "an exclusion is no catch-all");
    }

    #[test]
    fn exclusions_are_inert_when_nothing_before_them_meets_them() {
        assert_eq!(
            plan(&["src/**", "!src/a", "!lib/**", "lib/**", "!*/x"]),
            ["scope Some(2) SCOPE.EXCLUDE_INERT"]
        );
        assert_eq!(
            plan(&["src/[", "!src/a", "x"]),
            ["scope Some(0) SCOPE.UNCLOSED_CLASS", "scope Some(1) SCOPE.EXCLUDE_INERT",]
        );
    }

    #[test]
    fn exclusions_alone_are_an_error_and_only_that() {
        assert_eq!(plan(&["!src/**"]), ["scope None SCOPE.NO_INCLUDE"]);
        assert_eq!(plan(&["!a", "!"]), ["scope None SCOPE.NO_INCLUDE", "scope Some(1) SCOPE.EMPTY_PATTERN"]);
    }

    #[test]
    fn a_plain_pattern_is_compared_with_the_names_of_the_tree() {
        assert_eq!(
            plan(&["src/auth", "readme.md", "src/auth/login.py", "new.py", "[R]eadme.md"]),
            ["scope Some(0) SCOPE.NAMES_DIRECTORY", "scope Some(1) SCOPE.LOOK_ALIKE",]
        );
    }
}
