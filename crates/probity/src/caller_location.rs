//! The caller's location: typed paths are relative to the working directory, and printed commands work there.

use crate::ui;
use clap::Args;
use probity_core::bytes::shell_word;
use probity_scopes::{TypedPathError, WorkingDirectory};
use probity_workspace::{ServiceError, UnusedTree, Workspace};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// What the plan is made from.
#[derive(Debug, Args)]
pub(crate) struct Selection {
    /// What may change: a pattern relative to the current directory, or with a leading `/` to the root of the tree; `!` in
    /// front excludes, the last match wins
    #[arg(long, value_name = "GLOB")]
    pub(crate) scope: Vec<OsString>,

    /// The command will create the files in the scope, so it may match nothing yet
    #[arg(long)]
    pub(crate) creates: bool,

    /// Nothing may change: prove that the command leaves the tree as it is
    #[arg(long, conflicts_with_all = ["scope", "pack", "changed", "creates"])]
    pub(crate) no_changes: bool,

    /// A pack of the policy
    #[arg(long, value_name = "ID")]
    pub(crate) pack: Vec<String>,

    /// A path that will change; it chooses the packs that are meant for it
    #[arg(long, value_name = "PATH")]
    pub(crate) changed: Vec<OsString>,

    /// The lowest tier of gates to run, such as `T1`
    #[arg(long, value_name = "TIER")]
    pub(crate) tier: Option<String>,

    /// The profile of the policy
    #[arg(long, value_name = "ID")]
    pub(crate) profile: Option<String>,
}

/// The caller's directory and `--root`, on which every printed command depends.
#[derive(Debug, Default)]
struct CallerLocation {
    working_directory: WorkingDirectory,
    /// The value of `--root`, if given.
    root: Option<PathBuf>,
}

/// Set once, when the workspace is found: one process serves one command line.
static CALLER_LOCATION: OnceLock<CallerLocation> = OnceLock::new();

/// Remembers the location for commands printed later. Returns `false` if it was already known.
pub(crate) fn remember_location(workspace: &Workspace, named_root: Option<&Path>) -> bool {
    let working_directory = workspace.working_directory.clone();
    CALLER_LOCATION.set(CallerLocation { working_directory, root: named_root.map(Path::to_owned) }).is_ok()
}

/// Returns the start of every printed command, with `--root` if the caller gave it.
pub(crate) fn program_prefix() -> String {
    match CALLER_LOCATION.get().and_then(|place| place.root.as_ref()) {
        Some(root) => format!("probity --root {}", shell_word(root.as_os_str().as_bytes())),
        None => "probity".to_owned(),
    }
}

/// Turns a path or pattern from the root into a shell word that means the same in the caller's directory.
pub(crate) fn typed_word(from_root: &[u8]) -> String {
    let typed = CALLER_LOCATION.get().map(|place| place.working_directory.to_typed(from_root));
    shell_word(typed.as_deref().unwrap_or(from_root))
}

/// Prints the root that a command works in.
pub(crate) fn announce(command: &str, workspace: &Workspace) {
    if !ui::stdout_is_for_json() {
        ui::eprint(ui::dim(format_args!("probity {command}  in {}", workspace.root.display())));
    }
}

/// Mentions a directory above the root, which the caller may have meant.
pub(crate) fn mention_tree_above(workspace: &Workspace) {
    let Some(tree) = &workspace.above else { return };
    let (UnusedTree::HasState(above) | UnusedTree::IsForeign(above)) = tree;
    let n_up = workspace.root.strip_prefix(above).map_or(0, |below| below.components().count());
    let up = vec![".."; n_up].join("/");
    let what = match tree {
        UnusedTree::HasState(_) => format!("there is Probity state in {up}"),
        UnusedTree::IsForeign(_) => format!("the tree in {up} belongs to another user and is not used"),
    };
    ui::eprint(format_args!(
        "{}: {what}; pass {} if you mean that tree",
        ui::warn("note"),
        ui::code(format_args!("--root {up}"))
    ));
}

/// Converts scope patterns to start at the root.
pub(crate) fn typed_patterns(
    workspace: &Workspace,
    typed: &[OsString],
) -> Result<Vec<Vec<u8>>, ServiceError> {
    map_typed(workspace, typed, WorkingDirectory::pattern)
}

/// Converts patterns for protected paths to start at the root.
pub(crate) fn grants(workspace: &Workspace, typed: &[OsString]) -> Result<Vec<Vec<u8>>, ServiceError> {
    map_typed(workspace, typed, WorkingDirectory::grant)
}

/// Converts fnmatch patterns to start at the root.
pub(crate) fn fnmatches(workspace: &Workspace, typed: &[OsString]) -> Result<Vec<Vec<u8>>, ServiceError> {
    map_typed(workspace, typed, WorkingDirectory::fnmatch)
}

/// Converts literal paths to start at the root.
pub(crate) fn typed_paths(workspace: &Workspace, typed: &[OsString]) -> Result<Vec<Vec<u8>>, ServiceError> {
    map_typed(workspace, typed, WorkingDirectory::path)
}

pub(crate) fn typed_path(workspace: &Workspace, typed: &OsStr) -> Result<Vec<u8>, ServiceError> {
    refuse_system_path(workspace, typed.as_bytes())?;
    Ok(workspace.working_directory.path(typed.as_bytes())?)
}

/// Converts every path and pattern of a selection to start at the root.
pub(crate) fn selection(
    workspace: &Workspace,
    typed: Selection,
) -> Result<probity_workspace::selection::PlanSelection, ServiceError> {
    Ok(probity_workspace::selection::PlanSelection {
        scope: typed_patterns(workspace, &typed.scope)?,
        changed: typed_paths(workspace, &typed.changed)?,
        packs: typed.pack,
        tier: typed.tier,
        profile: typed.profile,
        creates: typed.creates,
        no_changes: typed.no_changes,
    })
}

/// Quotes the relative words as typed, with the directory; empty if the caller is at the root.
pub(crate) fn typed_remark(workspace: &Workspace, typed: &[OsString]) -> String {
    let is_relative = |word: &&OsString| {
        let word = word.as_bytes();
        !word.strip_prefix(b"!").unwrap_or(word).starts_with(b"/")
    };
    let words: Vec<String> =
        typed.iter().filter(is_relative).map(|word| shell_word(word.as_bytes())).collect();
    if words.is_empty() || workspace.working_directory.is_root() {
        return String::new();
    }
    ui::dim(format_args!("   (typed {} in {})", words.join(" "), workspace.working_directory))
}

fn map_typed(
    workspace: &Workspace,
    typed: &[OsString],
    meant: impl Fn(&WorkingDirectory, &[u8]) -> Result<Vec<u8>, TypedPathError>,
) -> Result<Vec<Vec<u8>>, ServiceError> {
    let one = |typed: &OsString| {
        refuse_system_path(workspace, typed.as_bytes())?;
        Ok(meant(&workspace.working_directory, typed.as_bytes())?)
    };
    typed.iter().map(one).collect()
}

/// Refuses an absolute file-system path: a leading `/` means the workspace root, so it would name another file.
fn refuse_system_path(workspace: &Workspace, typed: &[u8]) -> Result<(), ServiceError> {
    let path = Path::new(OsStr::from_bytes(typed.strip_prefix(b"!").unwrap_or(typed)));
    let Ok(from_root) = path.strip_prefix("/") else { return Ok(()) };
    if workspace.root == Path::new("/") || workspace.root.join(from_root).symlink_metadata().is_ok() {
        return Ok(());
    }
    let below = path.strip_prefix(&workspace.root).ok();
    if below.is_none() && path.symlink_metadata().is_err() {
        return Ok(());
    }
    let hint = below.map_or_else(String::new, |below| {
        format!("; write `/{}`", probity_core::bytes::escape(below.as_os_str().as_bytes()))
    });
    let detail = format!(
        "`{}` is a path of the file system, and a leading `/` begins at the root of the tree{hint}",
        probity_core::bytes::escape(typed)
    );
    Err(ServiceError::refused(probity_core::ReasonCode::ScopeAbsolute, detail))
}
