//! Undoes the out-of-scope changes of a run exactly, and nothing else; a path that is named also if it was in scope.
//!
//! A path is undone only if it is still in the state the run left. Content comes from the before-images or from git and
//! is checked against the digest in the start snapshot. Every path that cannot be undone is reported, and the revert
//! leaves evidence of its own.

mod landed;
mod ref_notes;
mod staged;

use crate::attest::MaintenanceOperation;
use crate::bundles::DELTA_FILE;
use crate::landing::LandingReversal;
use crate::maintenance_run::MaintenanceRun;
use crate::recorded_delta::{RecordedFault as RevertRefusal, mode_of, read_delta, side_of};
use crate::run_verdict::RunVerdict;
use crate::{bundles, held, recover, run};
use probity_api::govern::delta::{EntryKind, RecordedChange, RecordedSide};
use probity_api::govern::revert::{PathRevert, RevertAction, RevertAnswer};
use probity_api::govern::run::{FindingSeverity, RefMovement, RunFinding};
use probity_changes::claims;
use probity_core::bytes::bare_shell_word;
use probity_core::{Digest, ReasonCode};
use probity_evidence::{ChangePlace, GlobList, Seal};
use probity_paths::RepoPath;
use probity_snapshot::git::{GitLayout, IndexEntries};
use probity_snapshot::restore::{TreeRestorer, WantedEntry};
use probity_snapshot::{EntryState, Snapshot};
use probity_storage::FileLock;
use probity_workspace::observe::WorkspaceObserver;
use probity_workspace::refs::{HEAD, RefFacts, recorded_movements, shown_name, shown_value};
use probity_workspace::selection::names;
use probity_workspace::worktree::from_top;
use probity_workspace::{ServiceError, Workspace, git};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// Undoes the out-of-scope changes of `run`, or its changes at the paths in `only`, whatever the scope.
pub fn revert(
    workspace: &Workspace,
    run: &str,
    only: &[RepoPath],
    dry_run: bool,
) -> Result<RevertAnswer, ServiceError> {
    recover::adopt_all(workspace)?;
    let run_id = bundles::find_judged(workspace, run)?;
    let landings = landed::landings(workspace, &run_id, find_landing(workspace, run)?)?;
    if !landings.is_empty() {
        return landed::revert_landings(workspace, &run_id, landings, only, dry_run);
    }
    let bundles::SoundBundle { files, stored } = bundles::read_sound_bundle(workspace, &run_id)?;
    if stored.manifest.reasons().contains(&ReasonCode::RunInterrupted) {
        let detail =
            format!("run {run_id} was interrupted: what it changed is not known, so nothing was undone");
        return Err(ServiceError::refused(ReasonCode::RunInterrupted, detail));
    }
    let recorded = read_delta(&files, &run_id)?;
    let (manifest, run_hash) = (stored.manifest, stored.run_hash);
    // What a run in a view changed is in the tree only if it landed.
    let is_in_tree = manifest.details.landing.is_none();
    let untracked: BTreeSet<RepoPath> =
        manifest.untracked().unwrap_or_default().into_iter().filter(|_| is_in_tree).collect();
    // A path that is named goes back although it was in scope.
    let in_scope: BTreeSet<RepoPath> = manifest
        .delta_paths()
        .unwrap_or_default()
        .into_iter()
        .filter(|path| is_in_tree && !untracked.contains(path))
        .collect();
    if let Some(path) = only.iter().find(|path| !untracked.contains(*path) && !in_scope.contains(*path)) {
        let detail = format!("`{path}` is not a change that run {run_id} left in the tree");
        return Err(ServiceError::refused(ReasonCode::PathInvalid, detail)
            .with_next_step(format!("`probity evidence show {run_id}` lists what the run changed")));
    }
    let seal = bundles::seal(&files, &run_id)?;
    let _lock = run::take_tree(workspace, &format!("reverting run {run_id}"))?;
    let _images = FileLock::share(&workspace.state.before_lock())?;
    recover::close_interrupted(workspace, true)?;
    let is_meant =
        |path: &RepoPath| if only.is_empty() { untracked.contains(path) } else { only.contains(path) };
    let mut meant: Vec<&RecordedChange> =
        recorded.changes.iter().filter(|change| is_meant(&change.path)).collect();
    // Removes added paths first, deepest first, so that nothing blocks a restored path.
    meant.sort_by_key(|change| (change.before.is_some(), std::cmp::Reverse(change.path.clone())));
    let dir_mode =
        |path: &RepoPath| u32::from_str_radix(recorded.directories.get(&path.to_string())?, 8).ok();
    let observer = WorkspaceObserver::new(workspace);
    let now = observer.content(None)?;
    let paths: Vec<RepoPath> = meant.iter().map(|change| change.path.clone()).collect();
    let is_done = !dry_run && !paths.is_empty();
    let deed = is_done.then(|| seal_maintenance_run(workspace, &seal, &paths, &now)).transpose()?;
    let movements = recorded_movements(&manifest.details.refs);
    let undoing = ChangeReverter {
        workspace,
        movements: &movements,
        repositories: RefCell::default(),
        // A caller who names a path has decided about it; otherwise paths that someone works on are left alone (law 5).
        holders: if only.is_empty() { claims::path_holders(workspace, &paths)? } else { BTreeMap::new() },
        now,
        restorer: TreeRestorer::open(&workspace.root, &dir_mode)
            .map_err(ServiceError::system("cannot open the tree"))?,
        dry_run,
    };
    let mut undone: Vec<PathRevert> = meant.iter().map(|change| undoing.revert_change(change)).collect();
    undone.sort_by(|one, other| one.path.cmp(&other.path));
    let staged = staged::find(workspace, &meant, &undone);
    let attested = match deed {
        None => None,
        Some(deed) => {
            let after = observer.content(Some(&undoing.now))?;
            let verdict = verdict(&seal, [&undoing.now, &after], &undone)?;
            Some(deed.conclude(
                workspace,
                MaintenanceOperation::Revert(run_hash),
                [&undoing.now, &after],
                &verdict,
            )?)
        }
    };
    let protected = manifest.details.protected.into_iter().filter_map(|found| found.path);
    let left = protected.filter(|path| !untracked.contains(path)).collect();
    let kept = recorded.changes.iter().filter(|change| {
        in_scope.contains(&change.path)
            && !is_meant(&change.path)
            && change.place.is_none()
            && !undoing.is_undone(change)
    });
    let mut kept: Vec<RepoPath> = kept.map(|change| change.path.clone()).collect();
    kept.sort();
    let asked = only.iter().cloned().collect();
    let refs = ref_notes::notes(workspace, &movements, if only.is_empty() { &untracked } else { &asked });
    Ok(RevertAnswer {
        root: workspace.root.clone().into(),
        run_id,
        dry_run,
        landed: false,
        paths: undone,
        kept,
        left,
        refs,
        staged,
        evidence_dir: attested.map(|attested| attested.dir.into()),
    })
}

/// Returns what the run, or the landing of a part of a run, brought into this tree, if it landed.
fn find_landing(workspace: &Workspace, run: &str) -> Result<Option<LandingReversal>, ServiceError> {
    let run_id = bundles::find(workspace, run)?;
    match LandingReversal::find(workspace, &run_id)? {
        None => LandingReversal::find(workspace, &held::first_judged(workspace, run_id)?),
        found => Ok(found),
    }
}

/// Seals the revert as a maintenance run on `paths`, under the policy of the reverted run.
fn seal_maintenance_run(
    workspace: &Workspace,
    of: &Seal,
    paths: &[RepoPath],
    now: &Snapshot,
) -> Result<MaintenanceRun, ServiceError> {
    let scope = GlobList::new(probity_scopes::suggest(paths, &names(now).0));
    let mut command: Vec<OsString> = vec!["probity".into(), "revert".into(), (&of.contents().run_id).into()];
    command.extend(paths.iter().map(|path| OsString::from_vec(path.as_bytes().to_vec())));
    MaintenanceRun::seal(workspace, of.contents(), scope, now, command)
}

/// Refused paths fail a revert. Other changes made meanwhile fail it too, through scope and delta.
fn verdict(
    of: &Seal,
    [before, after]: [&Snapshot; 2],
    undone: &[PathRevert],
) -> Result<RunVerdict, ServiceError> {
    let build_outputs = of.contents().build_outputs.to_scope()?;
    // The reverted paths were judged despite the patterns, so they are not exempt here either.
    let meant: BTreeSet<&RepoPath> = undone.iter().map(|one| &one.path).collect();
    let (exempt, delta): (Vec<_>, Vec<_>) = probity_snapshot::delta(before, after)
        .into_iter()
        .partition(|change| build_outputs.contains(&change.path) && !meant.contains(&change.path));
    let refused = |one: &PathRevert| {
        let (path, detail) = (Some(one.path.clone()), one.detail.clone());
        Some(RunFinding { reason: one.reason?, path, detail, severity: FindingSeverity::Error })
    };
    let findings: Vec<RunFinding> = undone.iter().filter_map(refused).collect();
    let reasons: BTreeSet<ReasonCode> = findings.iter().map(|finding| finding.reason).collect();
    let exempt = exempt.into_iter().map(|change| change.path).collect();
    Ok(RunVerdict {
        delta,
        exempt,
        findings,
        reasons: reasons.into_iter().collect(),
        ..RunVerdict::default()
    })
}

/// Returns the contents that reverting a run may need; empty if its changes are not known.
pub(crate) fn needed_contents(
    files: &bundles::BundleFiles,
    run_id: &str,
) -> Result<Vec<Digest>, ServiceError> {
    if !files.contains_key(DELTA_FILE.as_bytes()) {
        return Ok(Vec::new());
    }
    let changes = read_delta(files, run_id)?.changes;
    Ok(changes.into_iter().filter_map(|change| change.before?.digest).collect())
}

/// What a revert asks of a repository, each question once.
#[derive(Default)]
struct RepositoryLook {
    layout: Option<GitLayout>,
    index: Option<IndexEntries>,
    /// Whether a reference leads to a commit; `None` if git could not say.
    is_led_to: BTreeMap<String, Option<bool>>,
}

struct ChangeReverter<'a> {
    workspace: &'a Workspace,
    /// The git references that the run moved.
    movements: &'a [RefMovement],
    /// What was asked of each repository, by its path in the tree: one commit may place thousands of changes.
    repositories: RefCell<BTreeMap<Option<RepoPath>, RepositoryLook>>,
    /// A description of the holder, by path.
    holders: BTreeMap<RepoPath, String>,
    now: Snapshot,
    restorer: TreeRestorer<'a>,
    dry_run: bool,
}

impl ChangeReverter<'_> {
    fn revert_change(&self, change: &RecordedChange) -> PathRevert {
        let path = change.path.clone();
        if let Some(holder) = self.holders.get(&path) {
            let (action, detail) = (RevertAction::Refused, holder.clone());
            return PathRevert { path, action, reason: Some(ReasonCode::RevertHeld), detail };
        }
        if let Some(place) = &change.place {
            return self.placed_change(change, place);
        }
        if self.moved_head(&path).is_none() && self.is_undone(change) {
            return PathRevert {
                path,
                action: RevertAction::AlreadyUndone,
                reason: None,
                detail: String::new(),
            };
        }
        let action = if change.before.is_some() { RevertAction::Restored } else { RevertAction::Removed };
        match self.try_revert_change(change) {
            Ok(()) => PathRevert { path, action, reason: None, detail: String::new() },
            Err((reason, detail)) => {
                PathRevert { path, action: RevertAction::Refused, reason: Some(reason), detail }
            }
        }
    }

    /// Tells how to take back what is only committed or staged. History and index are left to the user.
    fn placed_change(&self, change: &RecordedChange, place: &ChangePlace) -> PathRevert {
        let path = change.path.clone();
        let (is_undone, detail) = match place {
            ChangePlace::Commit { commit, reference, repository } => {
                let (short, name) = (shown_value(commit), shown_name(reference));
                let detail = format!("commit {short} ({name}) holds it: undo the commit");
                (self.is_led_to(repository.as_ref(), commit) == Some(false), detail)
            }
            ChangePlace::Index { repository } => {
                let inner = repository.as_ref().map_or(0, |path| path.as_bytes().len() + 1);
                let program = repository.as_ref().map_or_else(
                    || "git".to_owned(),
                    |path| format!("git -C {}", bare_shell_word(path.as_bytes())),
                );
                let name = bare_shell_word(&path.as_bytes()[inner..]);
                let top = match repository {
                    Some(_) => Some(path.as_bytes()[inner..].to_vec()),
                    None => from_top(self.workspace, &path).map(|path| path.as_bytes().to_vec()),
                };
                let is_undone = top.is_some_and(|top| !self.may_be_staged(repository.as_ref(), &top, change));
                (is_undone, format!("it is staged: `{program} restore --staged -- {name}` takes it back"))
            }
        };
        if is_undone {
            let (action, detail) = (RevertAction::AlreadyUndone, String::new());
            return PathRevert { path, action, reason: None, detail };
        }
        let reason = Some(ReasonCode::RevertRefNotUndone);
        PathRevert { path, action: RevertAction::Refused, reason, detail }
    }

    /// Returns whether a reference leads to a commit; `None` if git cannot say.
    fn is_led_to(&self, repository: Option<&RepoPath>, commit: &str) -> Option<bool> {
        self.ask(repository, |look| {
            let layout = look.layout.as_ref();
            let answer = || layout.and_then(|layout| git::is_reachable(layout, commit).ok());
            *look.is_led_to.entry(commit.to_owned()).or_insert_with(answer)
        })
    }

    /// Returns whether the index may still hold what a change left at a path, or an entry whose flags hide edits.
    fn may_be_staged(&self, repository: Option<&RepoPath>, path: &[u8], change: &RecordedChange) -> bool {
        let left = change.after.as_ref().map(|side| &side.git_id);
        self.ask(repository, |look| {
            let Some(index) = look.index.as_ref() else { return true };
            index.get(path).map_or(left.is_none(), |entry| {
                left == Some(&Some(entry.id.to_string())) || entry.hides_edits()
            })
        })
    }

    /// Asks the repository of the tree, or that of a submodule.
    fn ask<T>(&self, repository: Option<&RepoPath>, question: impl FnOnce(&mut RepositoryLook) -> T) -> T {
        let mut looks = self.repositories.borrow_mut();
        let look = looks.entry(repository.cloned()).or_insert_with(|| {
            let layout = match repository {
                Some(path) => GitLayout::find(&self.workspace.root.join(OsStr::from_bytes(path.as_bytes()))),
                None => self.workspace.git.clone(),
            };
            let index = layout.as_ref().and_then(IndexEntries::read);
            RepositoryLook { layout, index, is_led_to: BTreeMap::new() }
        });
        question(look)
    }

    fn try_revert_change(&self, change: &RecordedChange) -> Result<(), RevertRefusal> {
        if let Some(head) = self.moved_head(&change.path) {
            return self.check_submodule(&change.path, head);
        }
        let expected = change.after.as_ref().map(side_of).transpose()?;
        let content = change
            .before
            .as_ref()
            .map(|side| self.content(&change.path, side))
            .transpose()?
            .unwrap_or_default();
        let wanted =
            change.before.as_ref().map_or(Ok(WantedEntry::Nothing), |side| wanted_entry(side, &content))?;
        if self.dry_run {
            return if self.side_now(&change.path) == expected {
                Ok(())
            } else {
                Err((ReasonCode::RevertChangedSince, "it is not what the run left".into()))
            };
        }
        let restored = self.restorer.restore(&change.path, expected.as_ref(), &wanted);
        restored.map_err(|error| (error.reason, error.detail))
    }

    /// Returns whether a path is as it was before the run.
    fn is_undone(&self, change: &RecordedChange) -> bool {
        let before = change.before.as_ref().map(side_of).transpose();
        before.is_ok_and(|before| before == self.side_now(&change.path))
    }

    fn side_now(&self, path: &RepoPath) -> Option<EntryState> {
        held::entry_state(&self.now, path)
    }

    /// Returns the movement of HEAD in the submodule at `path`, if the run moved it.
    fn moved_head(&self, path: &RepoPath) -> Option<&RefMovement> {
        let is_it = |it: &&RefMovement| it.repository.as_ref() == Some(path) && it.name == HEAD;
        self.movements.iter().find(is_it)
    }

    /// Checks that a submodule has its former commit checked out again. Its files are restored one by one, but HEAD and
    /// index are left to the user: changing them is git's job and would start hooks and filters.
    fn check_submodule(&self, path: &RepoPath, head: &RefMovement) -> Result<(), RevertRefusal> {
        let layout = GitLayout::find(&self.workspace.root.join(OsStr::from_bytes(path.as_bytes())));
        let facts = layout.map(|layout| RefFacts::gather(&layout)).unwrap_or_default();
        let now = facts.commit();
        if now == head.before.as_deref() {
            return Ok(());
        }
        let shown = |id: Option<&str>| id.map_or_else(|| "no commit".to_owned(), shown_value);
        let (before, after) = (head.before.as_deref(), head.after.as_deref());
        if now != after {
            let detail =
                format!("its HEAD is at {} by now, and the run left it at {}", shown(now), shown(after));
            return Err((ReasonCode::RevertChangedSince, detail));
        }
        let command = before.map_or_else(String::new, |id| {
            format!(
                ": `git -C {} reset --mixed {id}` takes it back and keeps the files",
                bare_shell_word(path.as_bytes())
            )
        });
        let detail = format!("its HEAD stays at {}, and was at {}{command}", shown(after), shown(before));
        Err((ReasonCode::RevertRefNotUndone, detail))
    }

    /// Returns the former content of a file or link from the before-images or git, checked against its digest.
    fn content(&self, path: &RepoPath, side: &RecordedSide) -> Result<Vec<u8>, RevertRefusal> {
        let Some(digest) = side.digest else {
            return Ok(Vec::new());
        };
        if let Ok(Some(bytes)) = self.workspace.state.before_images().get(&digest) {
            return Ok(bytes);
        }
        let not_kept = |why: String| Err((ReasonCode::RevertNoBeforeImage, why));
        let Some((layout, id)) = self.workspace.git.as_ref().zip(side.git_id.as_ref()) else {
            return not_kept(format!("no copy with digest {digest} is kept"));
        };
        match git::blob(layout, id) {
            Ok(Some(bytes)) if Digest::of(&bytes) == digest => Ok(bytes),
            Ok(_) if probity_policy::output_root(path).is_some() => not_kept(
                "of build outputs and installed packages no copy is kept: build or install them again".into(),
            ),
            Ok(None) if layout.is_partial() => not_kept(format!(
                "no copy is kept, and this partial clone lacks blob {id}: get it with `git cat-file -e {id}`, then revert again"
            )),
            Ok(_) => not_kept(format!("no copy with digest {digest} is kept")),
            Err(failure) => Err((ReasonCode::GitCommandFailed, failure.to_string())),
        }
    }
}

fn wanted_entry<'c>(recorded: &RecordedSide, content: &'c [u8]) -> Result<WantedEntry<'c>, RevertRefusal> {
    let mode = mode_of(recorded)?;
    match recorded.kind {
        EntryKind::File => Ok(WantedEntry::File { bytes: content, mode }),
        EntryKind::Symlink => Ok(WantedEntry::Symlink { target: content }),
        EntryKind::Directory => Ok(WantedEntry::Directory { mode }),
        special => Err((ReasonCode::RevertNoBeforeImage, format!("a {special} cannot be made again"))),
    }
}
