//! The names of changes: a run, an intent, two revisions, or the uncommitted work.

use probity_changes::registry::IntentService;
use probity_runner::bundles;
use probity_workspace::{ServiceError, Workspace, git, run_claims};

/// The name of the uncommitted work.
const WORKTREE: &str = "worktree";

/// A change that exists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChangeName {
    /// A governed run that ended.
    Run(String),
    /// A governed run that goes on.
    OpenRun(String),
    Intent(String),
    /// Two commits.
    Range {
        base: String,
        head: String,
    },
    Worktree,
}

/// Finds the change that `name` means: a run or an intent by id or the beginning of it, `last`, `BASE..HEAD`, or
/// `worktree`.
pub fn find_change(workspace: &Workspace, name: &str) -> Result<ChangeName, ServiceError> {
    if name == WORKTREE {
        return Ok(ChangeName::Worktree);
    }
    if let Some((base, head)) = name.split_once("..") {
        let head = if head.is_empty() { "HEAD" } else { head };
        let (base, head) = (git::commit_id(workspace, base)?, git::commit_id(workspace, head)?);
        return Ok(ChangeName::Range { base, head });
    }
    let open = run_claims::open_runs(&workspace.state)?;
    if let Some(run) = open.iter().find(|run| !name.is_empty() && run.claim.run_id.starts_with(name)) {
        return Ok(ChangeName::OpenRun(run.claim.run_id.clone()));
    }
    let run = bundles::find(workspace, name);
    match run {
        Ok(id) => Ok(ChangeName::Run(id)),
        Err(run_fault) => match IntentService::open(workspace)?.resolve(name) {
            Ok(intent) => Ok(ChangeName::Intent(intent.id.as_str().to_owned())),
            // A prefix of two intents is told as such; else the message about runs is the better one.
            Err(ServiceError::Missing(why)) if why.contains("begins the ids") => {
                Err(ServiceError::Missing(why))
            }
            Err(_) => Err(run_fault),
        },
    }
}

impl ChangeName {
    /// Returns the name that leads to the change again.
    pub fn address(&self) -> String {
        match self {
            Self::Run(id) | Self::OpenRun(id) | Self::Intent(id) => id.clone(),
            Self::Range { base, head } => format!("{base}..{head}"),
            Self::Worktree => WORKTREE.to_owned(),
        }
    }
}
