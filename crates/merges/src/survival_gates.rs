//! The gates of the project on a tree with lost edits put back. They run in a directory of their own: the working tree may
//! be anything while somebody audits a merge.

use probity_api::merge_audit::SurvivalGate;
use probity_core::{Digest, ReasonCode};
use probity_evidence::{GateStatus, Seal};
use probity_paths::RepoPath;
use probity_policy::Policy;
use probity_process::Supervisor;
use probity_snapshot::GitId;
use probity_snapshot::git::{GITLINK_MODE, GitLayout};
use probity_workspace::gates::{self, GatePlace, GateResult, PrivateDirectory};
use probity_workspace::selection::{PlanSelection, compute_plan};
use probity_workspace::{ServiceError, Workspace, clock, git, git_history, judging_policy};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// More bytes of contents than this are not in memory at the same time, unless one content has more.
const MAX_BATCH_BYTES: u64 = 32 << 20;
const SYMLINK_MODE: u32 = 0o120_000;
/// Lines of a failed gate that a refusal shows.
const MAX_SHOWN_LINES: usize = 8;

/// Runs the gates of the project on the restored tree. Those that do not pass run on the merge itself, too: what fails there as
/// well says nothing about the edits.
pub(crate) fn run_gates(
    workspace: &Workspace,
    layout: &GitLayout,
    merge: &GitId,
    restored: &GitId,
    changed: &BTreeSet<RepoPath>,
) -> Result<Vec<SurvivalGate>, ServiceError> {
    // The policy of the merge: what is put back has no say in how it is judged.
    let committed = judging_policy::committed_policy(workspace, &git::files_of(layout, merge)?)?;
    let policy = match committed {
        Some(source) => source.parse(&workspace.root)?,
        None => workspace.load_policy()?.policy,
    };
    if policy.gates.is_empty() {
        return Ok(Vec::new());
    }
    let changed = changed.iter().map(|path| path.as_bytes().to_vec()).collect();
    let plan = compute_plan(&policy, &PlanSelection { changed, ..PlanSelection::default() })?;
    let root = Digest::of(restored.to_string().as_bytes());
    let seal = Seal::new(policy.seal_contents(plan, &clock::run_id(), &clock::now(), root));
    let with_edits = results_on(workspace, layout, &seal, restored)?;
    let has_failed = with_edits.iter().any(|result| result.status == GateStatus::Fail);
    let without = if has_failed { results_on(workspace, layout, &seal, merge)? } else { Vec::new() };
    Ok(with_edits.iter().map(|result| to_answer(&policy, result, &without)).collect())
}

/// Refuses edits that make a required gate fail.
pub(crate) fn check_gates(gates: &[SurvivalGate]) -> Result<(), ServiceError> {
    let broken =
        gates.iter().find(|gate| gate.required && gate.status == GateStatus::Fail && !gate.fails_without);
    let Some(gate) = broken else { return Ok(()) };
    let why = format!(
        "gate `{}` fails with the lost edits put back and passes without them, so no branch was made: {}\n\
         restore them one by one, or make the branch all the same with `--skip-gates`",
        gate.id, gate.detail
    );
    Err(ServiceError::refused(ReasonCode::GateFailed, why))
}

fn to_answer(policy: &Policy, result: &GateResult, without: &[GateResult]) -> SurvivalGate {
    let fails_without =
        without.iter().any(|other| other.gate_id == result.gate_id && other.status == GateStatus::Fail);
    let mut detail: Vec<String> = result.troubles.iter().map(|(_, detail)| detail.clone()).collect();
    if result.status == GateStatus::Fail
        && let Some(log) = result.logs.iter().rev().find(|log| !log.bytes.is_empty())
    {
        let lines = log.tail(MAX_SHOWN_LINES).lines;
        detail.extend(lines.into_iter().map(probity_core::bytes::escape));
    }
    SurvivalGate {
        id: result.gate_id.clone(),
        status: result.status,
        required: policy.gate(&result.gate_id).is_none_or(|gate| gate.required),
        fails_without,
        detail: detail.join("\n"),
    }
}

/// Runs the gates in a directory that holds a tree and nothing else.
fn results_on(
    workspace: &Workspace,
    layout: &GitLayout,
    seal: &Seal,
    tree: &GitId,
) -> Result<Vec<GateResult>, ServiceError> {
    let system = ServiceError::system("cannot make a directory for the gates");
    let directory = PrivateDirectory::create(&workspace.root, workspace.state.dir()).map_err(system)?;
    let root = directory.path().join("tree");
    export_tree(layout, tree, &root)?;
    let mut supervisor = Supervisor::new().map_err(ServiceError::system("cannot supervise processes"))?;
    let place = GatePlace {
        confinement: None,
        root: &root,
        log_directory: directory.path(),
        changed_since_seal: None,
    };
    let mut after = |result: &GateResult| {
        gates::announce_end(workspace, result);
        workspace.cancellation.check()
    };
    gates::run(&mut supervisor, seal, place, &mut gates::announcement(workspace, seal), &mut after)
}

/// Writes the files of a tree as they are: no filter, attribute or hook of the repository takes part.
fn export_tree(layout: &GitLayout, tree: &GitId, root: &Path) -> Result<(), ServiceError> {
    let system = || ServiceError::system(format!("cannot write the tree to {}", root.display()));
    fs::create_dir(root).map_err(system())?;
    let mut places: BTreeMap<String, Vec<(RepoPath, u32)>> = BTreeMap::new();
    for (path, (mode, id)) in git::files_of(layout, tree)? {
        let place = root.join(std::ffi::OsStr::from_bytes(path.as_bytes()));
        if mode == GITLINK_MODE {
            fs::create_dir_all(&place).map_err(system())?;
            continue;
        }
        if let Some(parent) = place.parent() {
            fs::create_dir_all(parent).map_err(system())?;
        }
        places.entry(id.to_string()).or_default().push((path, mode));
    }
    let ids: Vec<String> = places.keys().cloned().collect();
    let sizes = git_history::blob_sizes(layout, &ids)?;
    let mut batches: Vec<Vec<(&RepoPath, String)>> = vec![Vec::new()];
    let mut n_bytes = 0;
    for (id, paths) in &places {
        let size = sizes.get(id).copied().unwrap_or_default();
        if n_bytes + size > MAX_BATCH_BYTES {
            batches.push(Vec::new());
            n_bytes = 0;
        }
        n_bytes += size;
        batches.last_mut().expect("there is always a batch").push((&paths[0].0, id.clone()));
    }
    for batch in batches {
        for (id, bytes) in git::blobs(layout, &batch)? {
            for (path, mode) in &places[&id] {
                let place = root.join(std::ffi::OsStr::from_bytes(path.as_bytes()));
                write_entry(&place, *mode, &bytes).map_err(system())?;
            }
        }
    }
    Ok(())
}

fn write_entry(place: &Path, mode: u32, bytes: &[u8]) -> std::io::Result<()> {
    if mode == SYMLINK_MODE {
        return std::os::unix::fs::symlink(std::ffi::OsStr::from_bytes(bytes), place);
    }
    fs::write(place, bytes)?;
    if mode & 0o100 != 0 {
        fs::set_permissions(place, fs::Permissions::from_mode(0o755))?;
    }
    Ok(())
}
