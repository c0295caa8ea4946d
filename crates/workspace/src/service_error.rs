//! The shared error: everything that can keep a command from giving a report, with the text surfaces show.
//!
//! A refusal is an answer: it has a reason code and a next step, and nothing was done. Every other error is the
//! machine's fault or ours. Verdicts on runs are neither; they are reports.

use crate::git_failure::GitFailure;
use probity_api::refusal::{RefusalAnswer, RefusalReason, RefusalStatus};
use probity_api::{ExitCode, PathClaim};
use probity_core::ReasonCode;
use probity_intents::registry::CommandRefusal;
use probity_paths::PatternError;
use probity_policy::PlanError;
use probity_scopes::TypedPathError;
use probity_snapshot::TreeError;
use probity_storage::StoreError;
use std::path::{Path, PathBuf};

/// Why a command gave no report.
#[derive(Debug, thiserror::Error)]
pub enum ServiceError {
    /// Refused, and nothing was done.
    #[error("{detail}")]
    Refused {
        reason: ReasonCode,
        detail: String,
        /// What to do in this very case; else what the reason says.
        next_step: Option<String>,
    },
    #[error("{path}: {detail}")]
    Policy { path: PathBuf, reason: ReasonCode, detail: String },
    #[error("another run works on this tree: {holder}")]
    Held {
        /// The other run's description of itself.
        holder: String,
    },
    /// Other agents hold paths in the scope of a run.
    #[error("{}", describe_claims(.claims))]
    Claimed {
        claims: Vec<PathClaim>,
        /// Patterns that leave the claimed paths out of the scope, as they are typed in the current directory.
        exclusions: Vec<Vec<u8>>,
    },
    /// Refused by the registry of intents, and nothing was done.
    #[error("{}", refused_by_registry(.0))]
    Intent(Box<CommandRefusal>),
    /// Something the caller named does not exist.
    #[error("{0}")]
    Missing(String),
    /// A file from the caller is invalid.
    #[error("{0}")]
    BadInput(String),
    /// No run has this name, or several do.
    #[error("{0}")]
    NoSuchRun(String),
    /// No stored analysis has this name, or several do.
    #[error("{0}")]
    NoSuchAnalysis(String),
    /// The tree could not be read at all.
    #[error(transparent)]
    Tree(#[from] TreeError),
    #[error(transparent)]
    Git(#[from] GitFailure),
    /// Our own files could not be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A sealed run could not be judged; it is closed as failed.
    #[error("{source}; the run is closed as failed, with evidence in {}", evidence.display())]
    Unjudged { evidence: PathBuf, source: Box<ServiceError> },
    /// Any other system error.
    #[error("{what}: {source}")]
    System {
        /// The attempted operation.
        what: String,
        source: std::io::Error,
    },
}

impl From<PatternError> for ServiceError {
    fn from(error: PatternError) -> Self {
        Self::refused(error.reason, error.to_string())
    }
}

impl From<TypedPathError> for ServiceError {
    fn from(error: TypedPathError) -> Self {
        Self::refused(error.reason(), error.to_string())
    }
}

impl From<PlanError> for ServiceError {
    fn from(error: PlanError) -> Self {
        Self::refused(error.reason(), error.to_string())
    }
}

impl From<CommandRefusal> for ServiceError {
    fn from(refusal: CommandRefusal) -> Self {
        Self::Intent(Box::new(refusal))
    }
}

impl ServiceError {
    pub fn refused(reason: ReasonCode, detail: impl Into<String>) -> Self {
        Self::Refused { reason, detail: detail.into(), next_step: None }
    }

    /// Replaces the general next step of a refusal's reason; other errors are returned unchanged.
    #[must_use]
    pub fn with_next_step(self, step: impl Into<String>) -> Self {
        match self {
            Self::Refused { reason, detail, .. } => {
                Self::Refused { reason, detail, next_step: Some(step.into()) }
            }
            other => other,
        }
    }

    /// Returns a constructor for a system error during `what`.
    pub fn system(what: impl Into<String>) -> impl FnOnce(std::io::Error) -> Self {
        let what = what.into();
        move |source| Self::System { what, source }
    }

    /// Returns the reason code; `None` for a refusal by the registry of intents, which has its own codes.
    pub fn reason(&self) -> Option<ReasonCode> {
        match self {
            Self::Refused { reason, .. } | Self::Policy { reason, .. } => Some(*reason),
            Self::Held { .. } => Some(ReasonCode::RunLocked),
            Self::Claimed { .. } => Some(ReasonCode::RunClaimed),
            Self::Tree(error) => Some(error.reason),
            Self::Git(failure) => Some(failure.reason()),
            Self::Store(StoreError::Damaged { .. }) => Some(ReasonCode::StateDamaged),
            Self::Store(StoreError::Shortened { .. }) => Some(ReasonCode::LogShortened),
            Self::Store(StoreError::Inconsistent { .. }) => Some(ReasonCode::LogInconsistent),
            Self::Store(StoreError::Newer { .. }) => Some(ReasonCode::StateNewer),
            Self::Store(StoreError::Network { .. }) => Some(ReasonCode::StateNetwork),
            Self::Store(StoreError::Busy { .. }) => Some(ReasonCode::StateBusy),
            Self::Store(StoreError::Io { .. }) => Some(ReasonCode::StateIo),
            Self::Store(StoreError::Engine { .. } | StoreError::Cut { .. }) => Some(ReasonCode::StateEngine),
            Self::Store(StoreError::TooLarge { .. }) => Some(ReasonCode::StateTooLarge),
            Self::Store(StoreError::Unreachable { .. }) => Some(ReasonCode::TeamUnreachable),
            Self::Store(StoreError::Denied { .. }) => Some(ReasonCode::TeamDenied),
            Self::Store(StoreError::Full { .. }) => Some(ReasonCode::TeamFull),
            Self::Store(StoreError::Unfit { .. }) => Some(ReasonCode::TeamUnfit),
            Self::Missing(_) => Some(ReasonCode::InputMissing),
            Self::BadInput(_) => Some(ReasonCode::InputInvalid),
            Self::NoSuchRun(_) => Some(ReasonCode::RunUnknown),
            Self::NoSuchAnalysis(_) => Some(ReasonCode::AnalysisUnknown),
            Self::System { .. } => Some(ReasonCode::SystemIo),
            Self::Unjudged { source, .. } => source.reason(),
            Self::Intent(_) => None,
        }
    }

    pub fn code(&self) -> &'static str {
        self.refusal_reason().as_str()
    }

    /// Returns the code that programs rely on: a reason code, or the code of a refusal by the registry of intents.
    /// Every refusal has one (law 3).
    pub fn refusal_reason(&self) -> RefusalReason {
        match self {
            Self::Intent(refusal) => RefusalReason::Intent(refusal.code()),
            Self::Unjudged { source, .. } => source.refusal_reason(),
            _ => RefusalReason::Reason(self.reason().unwrap_or(ReasonCode::SystemIo)),
        }
    }

    /// Returns the refusal by the registry of intents, if it is one.
    pub fn refusal(&self) -> Option<&CommandRefusal> {
        match self {
            Self::Intent(refusal) => Some(refusal),
            _ => None,
        }
    }

    /// Returns the conflicting claims of other agents.
    pub fn claims(&self) -> Option<&[PathClaim]> {
        match self {
            Self::Claimed { claims, .. } => Some(claims),
            _ => None,
        }
    }

    /// Returns the evidence of a run that was closed as failed.
    pub fn evidence(&self) -> Option<&Path> {
        match self {
            Self::Unjudged { evidence, .. } => Some(evidence),
            _ => None,
        }
    }

    pub fn next_step(&self) -> String {
        match (self, self.reason()) {
            (Self::Intent(refusal), _) => refusal.next_step().into(),
            (Self::Refused { next_step: Some(step), .. }, _) => step.clone(),
            (Self::Claimed { exclusions, .. }, _) => describe_exclusions(exclusions),
            (Self::Git(failure), _) => failure.next_step(),
            (Self::Policy { path, reason, .. }, _) => correct_policy(path, *reason),
            (Self::Unjudged { source, .. }, _) => source.next_step(),
            (Self::Store(StoreError::Damaged { path, .. }), _) if path.ends_with(crate::DATABASE_FILE) => {
                damaged_database(path)
            }
            (_, reason) => reason.unwrap_or(ReasonCode::SystemIo).next_step().into(),
        }
    }

    /// Returns the answer for every surface: what was refused, why, and the next step.
    pub fn answer(&self) -> RefusalAnswer {
        RefusalAnswer {
            status: RefusalStatus::Refused,
            reason: self.refusal_reason(),
            message: self.to_string(),
            next_step: self.next_step(),
            refusal: self.refusal().cloned(),
            evidence_dir: self.evidence().map(Into::into),
            claims: self.claims().map(<[PathClaim]>::to_vec),
        }
    }

    pub fn exit_code(&self) -> ExitCode {
        // Not a fault of the machine: what must only grow did not.
        if let Some(ReasonCode::LogShortened | ReasonCode::LogInconsistent) = self.reason() {
            return ExitCode::Failed;
        }
        match self {
            Self::Refused { .. }
            | Self::Policy { .. }
            | Self::Missing(_)
            | Self::NoSuchRun(_)
            | Self::NoSuchAnalysis(_)
            | Self::BadInput(_) => ExitCode::Refused,
            Self::Git(failure) if failure.is_missing_object() => ExitCode::Refused,
            Self::Held { .. } | Self::Claimed { .. } => ExitCode::Conflict,
            Self::Intent(refusal) => ExitCode::from(&**refusal),
            // The network is nobody's fault here: what was asked is undecided.
            Self::Store(StoreError::Unreachable { .. }) => ExitCode::Unverified,
            Self::Store(StoreError::Denied { .. } | StoreError::Full { .. } | StoreError::Unfit { .. }) => {
                ExitCode::Refused
            }
            Self::Tree(_) | Self::Git(_) | Self::Store(_) | Self::Unjudged { .. } | Self::System { .. } => {
                ExitCode::Internal
            }
        }
    }
}

/// Returns the next step for a policy file, with its actual name in place of the default one.
fn correct_policy(path: &Path, reason: ReasonCode) -> String {
    let step = reason.next_step();
    match path.file_name().and_then(|name| name.to_str()) {
        Some(name) => step.replace(crate::own_files::POLICY_FILE, name),
        None => step.into(),
    }
}

/// Adds the time at which the intent was closed to the registry's message.
fn refused_by_registry(refusal: &CommandRefusal) -> String {
    match refusal {
        CommandRefusal::WrongStatus { closed_at: Some(at), .. } => {
            format!("{refusal} ({})", crate::clock::format_rfc3339(at.0))
        }
        _ => refusal.to_string(),
    }
}

/// The number of claims, and of paths per claim, that a message names.
const MAX_NAMED_CLAIMS: usize = 5;

/// Describes who holds which paths of a run's scope, and until when.
fn describe_claims(claims: &[PathClaim]) -> String {
    let one = |claim: &PathClaim| {
        let mut paths: Vec<String> =
            claim.paths.iter().take(MAX_NAMED_CLAIMS).map(|path| format!("`{path}`")).collect();
        if claim.paths.len() > MAX_NAMED_CLAIMS {
            paths.push(format!("{} more paths", claim.paths.len() - MAX_NAMED_CLAIMS));
        }
        format!(
            "{} held by {} with intent {} until {} at the latest",
            if paths.len() == 1 { format!("{} is", paths[0]) } else { format!("{} are", paths.join(", ")) },
            claim.agent,
            claim.intent_id,
            claim.expires_at
        )
    };
    let mut words: Vec<String> = claims.iter().take(MAX_NAMED_CLAIMS).map(one).collect();
    if claims.len() > MAX_NAMED_CLAIMS {
        words.push(format!("{} more intents hold paths of the scope", claims.len() - MAX_NAMED_CLAIMS));
    }
    words.join("; ")
}

/// Suggests how to run anyway: later, or without the held paths.
fn describe_exclusions(exclusions: &[Vec<u8>]) -> String {
    let flags: Vec<String> = exclusions
        .iter()
        .map(|pattern| format!("--scope {}", probity_core::bytes::shell_word(pattern)))
        .collect();
    let wait = "wait until it is finished (`probity status` shows it)";
    if flags.is_empty() || flags.len() > MAX_NAMED_CLAIMS * 2 {
        return format!("{wait}, or choose a narrower scope");
    }
    format!("{wait}, or leave it out: add {}", flags.join(" "))
}

/// Nothing is discarded automatically; a person has to decide.
fn damaged_database(path: &Path) -> String {
    let directory = path.parent().unwrap_or(path).display();
    format!(
        "restore it from a backup; or, to begin with nothing, move all of {directory} aside: evidence and receipts stay readable \
         there, every open change must be started again"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(reason: ReasonCode) -> ServiceError {
        ServiceError::refused(reason, "why")
    }

    fn io() -> std::io::Error {
        std::io::Error::other("no")
    }

    /// Every kind of error: its exit code, its reason, and a word of its next step.
    #[rustfmt::skip]
    fn table() -> Vec<(ServiceError, u8, Option<ReasonCode>, &'static str)> {
        let tree = TreeError { root: "/t".into(), reason: ReasonCode::TreeUnavailable, detail: "no".into() };
        let unjudged = |source| ServiceError::Unjudged { evidence: "/e".into(), source: Box::new(source) };
        let policy = |reason| ServiceError::Policy { path: "/p/probity.json".into(), reason, detail: "no".into() };
        vec![
            (refused(ReasonCode::KeyExists),                                       2, Some(ReasonCode::KeyExists),       "keep its public half"),
            (refused(ReasonCode::AmendNotAllowed),                                 2, Some(ReasonCode::AmendNotAllowed), "declare the scope"),
            (policy(ReasonCode::ConfigInvalid),                                    2, Some(ReasonCode::ConfigInvalid),   "probity.json"),
            (policy(ReasonCode::PlanUnknownGate),                                  2, Some(ReasonCode::PlanUnknownGate), "define the gate"),
            (ServiceError::Missing("no".into()),                                      2, Some(ReasonCode::InputMissing),    "check the name"),
            (ServiceError::NoSuchRun("no".into()),                                    2, Some(ReasonCode::RunUnknown),      "evidence list"),
            (ServiceError::NoSuchAnalysis("no".into()),                               2, Some(ReasonCode::AnalysisUnknown), "runs list"),
            (ServiceError::BadInput("no".into()),                                     2, Some(ReasonCode::InputInvalid),    "format"),
            (ServiceError::Held { holder: "x".into() },                               5, Some(ReasonCode::RunLocked),       "wait for it"),
            (tree.into(),                                                     70, Some(ReasonCode::TreeUnavailable), "readable"),
            (StoreError::Damaged { path: "/s".into(), why: "x".into() }.into(), 70, Some(ReasonCode::StateDamaged),  "copy for study"),
            (StoreError::Shortened { path: "/s".into(), why: "x".into() }.into(), 1, Some(ReasonCode::LogShortened), "log show"),
            (StoreError::Io { path: "/s".into(), source: io() }.into(),       70, Some(ReasonCode::StateIo),         "free space"),
            (StoreError::Engine { path: "/s".into(), why: "x".into() }.into(), 70, Some(ReasonCode::StateEngine),   "free space"),
            (StoreError::Unreachable { store: "s".into(), why: "x".into() }.into(), 3, Some(ReasonCode::TeamUnreachable), "network"),
            (StoreError::Denied { store: "s".into(), why: "x".into() }.into(), 2, Some(ReasonCode::TeamDenied), "credentials"),
            (StoreError::TooLarge { what: "x", bytes: 2, most: 1 }.into(),    70, Some(ReasonCode::StateTooLarge),   "smaller"),
            (ServiceError::System { what: "x".into(), source: io() },                70, Some(ReasonCode::SystemIo),        "free space"),
            (unjudged(ServiceError::System { what: "x".into(), source: io() }),      70, Some(ReasonCode::SystemIo),        "free space"),
            (unjudged(refused(ReasonCode::TreeUnstable)),                         70, Some(ReasonCode::TreeUnstable),    "stop what writes"),
        ]
    }

    #[test]
    fn every_fault_has_an_exit_code_and_a_next_step() {
        for (fault, exit_code, reason, next) in table() {
            assert_eq!((fault.exit_code().number(), fault.reason()), (exit_code, reason), "{fault:?}");
            assert!(fault.next_step().contains(next), "{fault:?}: {}", fault.next_step());
            assert_eq!(fault.answer().reason.as_str(), fault.code(), "{fault:?}");
        }
    }

    #[test]
    fn only_a_run_that_was_closed_points_to_evidence() {
        for (fault, ..) in table() {
            assert_eq!(
                fault.evidence().is_some(),
                matches!(fault, ServiceError::Unjudged { .. }),
                "{fault:?}"
            );
        }
    }
}
