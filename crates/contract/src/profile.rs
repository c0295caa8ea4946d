//! The verification profile of a patch: which checks apply, derived from the changed files and never declared.

use probity_languages::Language;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt;

/// File names that control builds, checks and tools.
const GOVERNANCE_NAMES: &[&str] = &[
    "probity.toml",
    "pyproject.toml",
    "setup.cfg",
    "tox.ini",
    "pytest.ini",
    "mypy.ini",
    "ruff.toml",
    ".coveragerc",
    "coverage.toml",
    ".pre-commit-config.yaml",
    "py.typed",
    "Makefile",
    "Dockerfile",
    "Cargo.toml",
    "Cargo.lock",
    "rust-toolchain.toml",
    "clippy.toml",
    "deny.toml",
    "package.json",
    "package-lock.json",
    "tsconfig.json",
    "go.mod",
    "go.sum",
    "pom.xml",
    "CMakeLists.txt",
    "Gemfile",
    "Gemfile.lock",
    "composer.json",
    ".editorconfig",
    ".gitattributes",
    ".gitignore",
    ".gitlab-ci.yml",
];

/// Prefixes and suffixes of further such file names.
const GOVERNANCE_AFFIXES: &[(&str, &str)] = &[
    ("requirements", ".txt"),
    ("constraints", ".txt"),
    ("docker-compose", ".yml"),
    ("docker-compose", ".yaml"),
    (".eslintrc", ""),
];

const GOVERNANCE_FOLDERS: &[&str] = &[".github/workflows/", ".github/actions/", ".cargo/"];

const DOCUMENT_EXTENSIONS: &[&str] = &["md", "rst", "txt", "adoc", "textile"];

const DOCUMENT_FOLDERS: &[&str] = &["docs/", "doc/"];

const DOCUMENT_NAMES: &[&str] = &[
    "README",
    "CHANGELOG",
    "CHANGES",
    "HISTORY",
    "NEWS",
    "LICENSE",
    "LICENCE",
    "COPYING",
    "NOTICE",
    "CONTRIBUTING",
    "CONTRIBUTORS",
    "AUTHORS",
    "CREDITS",
    "MAINTAINERS",
    "THANKS",
    "SECURITY",
    "CODE_OF_CONDUCT",
];

/// The role of a file in a patch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileClass {
    /// The baseline or Probity's own state.
    State,
    Source(Language),
    /// Configuration that controls builds, checks and tools.
    Governance,
    Documentation,
    Other,
}

/// The file with a tree's accepted findings.
pub const BASELINE_FILE: &str = "probity.baseline.json";

/// Returns the first class that fits a path.
pub fn classify_file(path: &[u8]) -> FileClass {
    let name = path.rsplit(|&byte| byte == b'/').next().unwrap_or(path);
    let folders = path.strip_suffix(name).unwrap_or_default();
    let is_in_state = folders.split(|&byte| byte == b'/').any(|part| part == b".probity");
    if name == BASELINE_FILE.as_bytes() || is_in_state {
        FileClass::State
    } else if let Some(language) = Language::of_file_name(name) {
        FileClass::Source(language.dialect_of())
    } else if is_governance(path, name) {
        FileClass::Governance
    } else if is_documentation(path, name) {
        FileClass::Documentation
    } else {
        FileClass::Other
    }
}

/// Returns the part after the last dot, unless that dot is the first character.
fn extension(name: &[u8]) -> Option<&[u8]> {
    let dot = name.iter().rposition(|&byte| byte == b'.')?;
    (dot > 0).then(|| &name[dot + 1..])
}

fn is_governance(path: &[u8], name: &[u8]) -> bool {
    let has_form = |(start, end): &(&str, &str)| {
        name.len() >= start.len() + end.len()
            && name.starts_with(start.as_bytes())
            && name.ends_with(end.as_bytes())
    };
    GOVERNANCE_NAMES.iter().any(|known| known.as_bytes() == name)
        || GOVERNANCE_AFFIXES.iter().any(has_form)
        || GOVERNANCE_FOLDERS.iter().any(|folder| path.starts_with(folder.as_bytes()))
}

fn is_documentation(path: &[u8], name: &[u8]) -> bool {
    let is_named = |known: &&str| {
        name.strip_prefix(known.as_bytes()).is_some_and(|rest| match rest {
            [] => true,
            [mark, rest @ ..] => matches!(mark, b'.' | b'-' | b'_') && !rest.is_empty(),
        })
    };
    extension(name).is_some_and(|found| DOCUMENT_EXTENSIONS.iter().any(|known| known.as_bytes() == found))
        || DOCUMENT_FOLDERS.iter().any(|folder| path.starts_with(folder.as_bytes()))
        || DOCUMENT_NAMES.iter().any(is_named)
}

/// How a patch is verified.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VerificationProfile {
    /// The baseline or Probity's own state was modified.
    StateArtifactChange,
    Structural(Language),
    PolyglotStructural,
    /// Configuration, but no source.
    GovernanceConfig,
    DocumentationOnly,
    /// Anything else, including an empty patch.
    OtherPatch,
}

impl VerificationProfile {
    /// Returns true if a verdict needs an analysis run of the tree after the change.
    pub const fn after_run_required(self) -> bool {
        matches!(self, Self::Structural(_) | Self::PolyglotStructural | Self::GovernanceConfig)
    }
}

impl fmt::Display for VerificationProfile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::StateArtifactChange => f.write_str("state_artifact_change"),
            Self::Structural(language) => write!(f, "{language}_structural"),
            Self::PolyglotStructural => f.write_str("polyglot_structural"),
            Self::GovernanceConfig => f.write_str("governance_config"),
            Self::DocumentationOnly => f.write_str("documentation_only"),
            Self::OtherPatch => f.write_str("other_patch"),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a verification profile")]
pub struct UnknownProfile(String);

impl std::str::FromStr for VerificationProfile {
    type Err = UnknownProfile;

    fn from_str(word: &str) -> Result<Self, UnknownProfile> {
        let plain = [
            Self::StateArtifactChange,
            Self::PolyglotStructural,
            Self::GovernanceConfig,
            Self::DocumentationOnly,
            Self::OtherPatch,
        ];
        let structural = Language::ALL.into_iter().map(|language| Self::Structural(language.dialect_of()));
        structural
            .chain(plain)
            .find(|profile| profile.to_string() == word)
            .ok_or_else(|| UnknownProfile(word.to_owned()))
    }
}

impl Serialize for VerificationProfile {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

probity_core::json_schema_of!(VerificationProfile, probity_core::schema::text("^[a-z_]+$"));

impl<'de> Deserialize<'de> for VerificationProfile {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

probity_core::word_enum! {
    /// A check of the contract.
    pub enum ContractCheck {
        /// The baseline and Probity's own state are untouched.
        ProfileClassification = "profile_classification",
        /// Only declared paths changed.
        ScopeCheck = "scope_check",
        /// No forbidden path changed.
        ForbiddenPaths = "forbidden_paths",
        /// No new findings appeared in scope.
        StructuralDelta = "structural_delta",
        /// The structural gates did not get worse.
        GateComparison = "gate_comparison",
        /// No symbols in scope got worse.
        WorsenedSymbols = "worsened_symbols",
        /// The policy's commands passed.
        PolicyGates = "policy_gates",
    }
}

const UNIVERSAL_CHECKS: [ContractCheck; 3] =
    [ContractCheck::ProfileClassification, ContractCheck::ScopeCheck, ContractCheck::ForbiddenPaths];
const STRUCTURAL_CHECKS: [ContractCheck; 3] =
    [ContractCheck::StructuralDelta, ContractCheck::GateComparison, ContractCheck::WorsenedSymbols];

/// The profile of a patch, with its consequences.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ProfileReport {
    pub profile: VerificationProfile,
    /// Languages of the changed source files, whatever the profile.
    pub languages: BTreeSet<Language>,
    /// True if a verdict needs an analysis run of the tree after the change.
    pub after_run_required: bool,
    pub checks_performed: Vec<ContractCheck>,
    /// Not applicable is not passed (law 6).
    pub checks_not_applicable: Vec<ContractCheck>,
}

/// Derives the profile of a patch from its changed files.
pub fn profile<'a>(changed_files: impl IntoIterator<Item = &'a [u8]>) -> ProfileReport {
    let classes: Vec<FileClass> = changed_files.into_iter().map(classify_file).collect();
    let languages: BTreeSet<Language> = classes
        .iter()
        .filter_map(|class| if let FileClass::Source(language) = class { Some(*language) } else { None })
        .collect();
    let profile = choose(&classes, &languages);
    let after_run_required = profile.after_run_required();
    let (mut checks_performed, mut checks_not_applicable) = (UNIVERSAL_CHECKS.to_vec(), Vec::new());
    if after_run_required { &mut checks_performed } else { &mut checks_not_applicable }
        .extend(STRUCTURAL_CHECKS);
    ProfileReport { profile, languages, after_run_required, checks_performed, checks_not_applicable }
}

fn choose(classes: &[FileClass], languages: &BTreeSet<Language>) -> VerificationProfile {
    let all_documentation = classes.iter().all(|class| *class == FileClass::Documentation);
    if classes.contains(&FileClass::State) {
        VerificationProfile::StateArtifactChange
    } else if let Some(language) = languages.first() {
        if languages.len() > 1 {
            VerificationProfile::PolyglotStructural
        } else {
            VerificationProfile::Structural(*language)
        }
    } else if classes.contains(&FileClass::Governance) {
        VerificationProfile::GovernanceConfig
    } else if !classes.is_empty() && all_documentation {
        VerificationProfile::DocumentationOnly
    } else {
        VerificationProfile::OtherPatch
    }
}

probity_core::word_enum! {
    /// The outcome of a check.
    pub enum CheckOutcome {
        /// The check found no problem.
        Passed = "passed",
        /// The check found a violation of the contract.
        Failed = "failed",
        /// The check found something that is only reported.
        Reported = "reported",
        /// The check does not apply to this patch. Not the same as passed (law 6).
        NotApplicable = "not_applicable",
        /// The verdict was reached before the check.
        NotReached = "not_reached",
        /// The check was skipped, or a step before it failed. Not the same as passed either.
        Skipped = "skipped",
    }
}

impl ContractCheck {
    pub const fn description(self) -> &'static str {
        match self {
            Self::ProfileClassification => "own state untouched",
            Self::ScopeCheck => "declared scope",
            Self::ForbiddenPaths => "forbidden paths",
            Self::StructuralDelta => "new findings",
            Self::GateComparison => "structural gates",
            Self::WorsenedSymbols => "worse symbols",
            Self::PolicyGates => "gates of the policy",
        }
    }
}

impl CheckOutcome {
    pub fn is_result(self) -> bool {
        matches!(self, Self::Passed | Self::Failed | Self::Reported)
    }

    pub const fn words(self) -> &'static str {
        match self {
            Self::NotApplicable => "does not apply",
            Self::NotReached => "not reached",
            Self::Passed | Self::Failed | Self::Reported | Self::Skipped => self.as_str(),
        }
    }
}

/// A check and its outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CheckResult {
    /// The check.
    pub check: ContractCheck,
    /// The outcome.
    pub outcome: CheckOutcome,
}

impl ProfileReport {
    /// Replaces the expected checks, derived from the changed files, by those that were really made or not applicable.
    #[must_use]
    pub fn with_results(&self, results: &[CheckResult]) -> Self {
        let of = |wanted: &dyn Fn(CheckOutcome) -> bool| -> Vec<ContractCheck> {
            results.iter().filter(|result| wanted(result.outcome)).map(|result| result.check).collect()
        };
        Self {
            checks_performed: of(&|outcome| outcome.is_result()),
            checks_not_applicable: of(&|outcome| outcome == CheckOutcome::NotApplicable),
            ..self.clone()
        }
    }
}

fn language_title(language: Language) -> String {
    match language.name() {
        "cpp" => "C++".to_owned(),
        "csharp" => "C#".to_owned(),
        "javascript" => "JavaScript".to_owned(),
        "php" => "PHP".to_owned(),
        "typescript" => "TypeScript".to_owned(),
        name => name[..1].to_ascii_uppercase() + &name[1..],
    }
}

impl VerificationProfile {
    /// Describes the kind of change for people.
    pub fn words(self) -> String {
        match self {
            Self::StateArtifactChange => "a change of Probity's own state".to_owned(),
            Self::Structural(language) => format!("a change of {} code", language_title(language)),
            Self::PolyglotStructural => "a change of code in several languages".to_owned(),
            Self::GovernanceConfig => "a change of configuration".to_owned(),
            Self::DocumentationOnly => "a change of documentation only".to_owned(),
            Self::OtherPatch => "no code, configuration or documentation".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(path: &str) -> FileClass {
        classify_file(path.as_bytes())
    }

    #[test]
    fn state_is_a_file_below_the_state_folder_and_not_a_file_of_that_name() {
        assert_eq!(class(".probity/x.py"), FileClass::State);
        assert_eq!(class("sub/.probity/deep/x"), FileClass::State);
        assert_eq!(class(".probity"), FileClass::Other);
    }

    #[test]
    fn a_name_of_one_leading_dot_has_no_extension() {
        assert_eq!(class(".py"), FileClass::Other);
        assert_eq!(class("a/.md"), FileClass::Other);
        assert_eq!(class("x.tar.py"), FileClass::Source(Language::Python));
        assert_eq!(class(".eslintrc.js"), FileClass::Source(Language::JavaScript));
        assert_eq!(class("a."), FileClass::Other);
    }

    #[test]
    fn names_are_case_sensitive() {
        assert_eq!(class("A.PY"), FileClass::Other);
        assert_eq!(class("makefile"), FileClass::Other);
        assert_eq!(class("readme"), FileClass::Other);
        assert_eq!(class("README"), FileClass::Documentation);
    }

    #[test]
    fn document_names_may_go_on_after_a_mark() {
        assert_eq!(class("README-fr"), FileClass::Documentation);
        assert_eq!(class("sub/LICENSE.apache"), FileClass::Documentation);
        assert_eq!(class("LICENSEE"), FileClass::Other);
        assert_eq!(class("mydocs/logo.png"), FileClass::Other);
        assert_eq!(class("doc/logo.png"), FileClass::Documentation);
        assert_eq!(class("sub/docs/logo.png"), FileClass::Other);
    }

    #[test]
    fn governance_forms_do_not_overlap_themselves() {
        assert_eq!(class("requirements.txt"), FileClass::Governance);
        assert_eq!(class("requirements-dev.txt"), FileClass::Governance);
        assert_eq!(class("docker-compose.prod.yaml"), FileClass::Governance);
        assert_eq!(class(".eslintrc"), FileClass::Governance);
        assert_eq!(class("sub/.cargo/config"), FileClass::Other);
        assert_eq!(class(".cargo/config"), FileClass::Governance);
    }

    #[test]
    fn every_language_that_is_analyzed_has_a_profile_that_needs_an_analysis() {
        for language in Language::ALL {
            for extension in language.extensions() {
                let report = profile([format!("src/x.{extension}").as_bytes()]);
                assert_eq!(
                    report.profile,
                    VerificationProfile::Structural(language.dialect_of()),
                    "{extension}"
                );
                assert!(report.after_run_required, "{extension}");
            }
        }
    }

    #[test]
    fn every_profile_reads_back() {
        let all =
            Language::ALL.into_iter().map(|language| VerificationProfile::Structural(language.dialect_of()));
        for profile in all.chain([VerificationProfile::StateArtifactChange, VerificationProfile::OtherPatch])
        {
            assert_eq!(profile.to_string().parse(), Ok(profile));
        }
    }
}
