//! Hooks that let git audit a merge before it is committed. A command of the user writes them; no configuration does.
//!
//! `pre-merge-commit` runs before git commits a merge without conflicts, `pre-commit` before a person commits the
//! resolution of one. Both ask the same question, and a lost edit stops the commit.

use crate::layout_of;
use probity_api::merge_audit::GitHooksAnswer;
use probity_core::ReasonCode;
use probity_workspace::{ServiceError, Workspace};
use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

const HOOKS: [&str; 2] = ["pre-merge-commit", "pre-commit"];

/// The second line of our hooks; others are never touched.
const OWN_MARK: &str =
    "# Written by `probity merge hook --install`; `probity merge hook --remove` takes it away.";

/// The script: `program` is the Probity that was asked to install it.
fn script(program: &Path) -> String {
    let quoted = program.display().to_string().replace('\'', "'\\''");
    format!("#!/bin/sh\n{OWN_MARK}\nexec '{quoted}' merge audit --before-commit\n")
}

fn system_error(what: &str, path: &Path) -> impl FnOnce(std::io::Error) -> ServiceError {
    let what = format!("cannot {what} {}", path.display());
    |source| ServiceError::System { what, source }
}

/// What stands at the place of a hook.
enum PresentHook {
    None,
    Ours,
    Other,
}

fn present_hook(path: &Path) -> Result<PresentHook, ServiceError> {
    let facts = match path.symlink_metadata() {
        Ok(facts) => facts,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(PresentHook::None),
        Err(error) => return Err(system_error("look at", path)(error)),
    };
    // A link may lead anywhere, and a hook of ours is a short file.
    if !facts.is_file() || facts.len() > 4_096 {
        return Ok(PresentHook::Other);
    }
    let text = std::fs::read(path).map_err(system_error("read", path))?;
    let second = text.split(|&byte| byte == b'\n').nth(1);
    Ok(if second == Some(OWN_MARK.as_bytes()) { PresentHook::Ours } else { PresentHook::Other })
}

fn hook_paths(workspace: &Workspace) -> Result<Vec<PathBuf>, ServiceError> {
    let directory = layout_of(workspace)?.common_dir.join("hooks");
    Ok(HOOKS.iter().map(|name| directory.join(name)).collect())
}

/// Writes the hooks. If another hook is at the place of one of them, nothing is written.
pub fn install_git_hooks(workspace: &Workspace, program: &Path) -> Result<GitHooksAnswer, ServiceError> {
    let paths = hook_paths(workspace)?;
    for path in &paths {
        if matches!(present_hook(path)?, PresentHook::Other) {
            let why = format!(
                "{} is another hook: add the line `probity merge audit --before-commit` to it",
                path.display()
            );
            return Err(ServiceError::refused(ReasonCode::InputInvalid, why));
        }
    }
    for path in &paths {
        let parent = path.parent().unwrap_or(path);
        std::fs::create_dir_all(parent).map_err(system_error("make", parent))?;
        // A new file under another name, so that git never runs half a script.
        let part = path.with_extension(format!("probity-{}", std::process::id()));
        let made = OpenOptions::new().write(true).create_new(true).mode(0o755).open(&part);
        let written = made.and_then(|mut file| file.write_all(script(program).as_bytes()));
        let moved = written.and_then(|()| std::fs::rename(&part, path));
        if moved.is_err() {
            // Ignored: the first error is the one to report.
            let _ = std::fs::remove_file(&part);
        }
        moved.map_err(system_error("write", path))?;
    }
    Ok(answer(&paths, true))
}

/// Removes the hooks that are ours.
pub fn remove_git_hooks(workspace: &Workspace) -> Result<GitHooksAnswer, ServiceError> {
    let mut removed = Vec::new();
    for path in hook_paths(workspace)? {
        if matches!(present_hook(&path)?, PresentHook::Ours) {
            std::fs::remove_file(&path).map_err(system_error("remove", &path))?;
            removed.push(path);
        }
    }
    Ok(answer(&removed, false))
}

fn answer(paths: &[PathBuf], installed: bool) -> GitHooksAnswer {
    let name = |path: &PathBuf| path.file_name().map(|name| name.to_string_lossy().into_owned());
    GitHooksAnswer { hooks: paths.iter().filter_map(name).collect(), installed }
}
