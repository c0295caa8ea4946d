//! The git that Probity starts: found once per repository, never inside any of its trees (law 8).

use crate::root::{is_marked, user_homes};
use probity_process::{HelperProgram, HelperProgramError};
use probity_snapshot::git::GitLayout;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// By the directories of a repository. A failure is not kept: git may be installed meanwhile.
static FOUND_PROGRAMS: Mutex<BTreeMap<(PathBuf, PathBuf), HelperProgram>> = Mutex::new(BTreeMap::new());

/// Returns git for a repository. The first answer holds for this process, and a git that has changed since is refused.
pub(crate) fn git_program(layout: &GitLayout) -> Result<HelperProgram, HelperProgramError> {
    let key = (layout.root.clone(), layout.git_dir.clone());
    let mut found = FOUND_PROGRAMS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(program) = found.get(&key) {
        program.check()?;
        return Ok(program.clone());
    }
    let search_path = std::env::var_os("PATH").unwrap_or_default();
    let program = HelperProgram::find(OsStr::new("git"), &search_path, &judged_directories(layout))?;
    found.insert(key, program.clone());
    Ok(program)
}

/// Returns the directories that agents of this repository work in: its trees, linked ones too, the trees around it, and
/// its git directories.
fn judged_directories(layout: &GitLayout) -> Vec<PathBuf> {
    let homes: Vec<PathBuf> = user_homes().iter().filter_map(|home| home.canonicalize().ok()).collect();
    let mut all = vec![layout.root.clone(), layout.git_dir.clone(), layout.common_dir.clone()];
    all.extend(worktrees(&layout.common_dir));
    // A nested repository or a submodule is part of the trees above it. A home directory that is a repository itself, for
    // its dot files, keeps its programs.
    let above: Vec<PathBuf> =
        all.iter().flat_map(|tree| tree.ancestors().skip(1)).map(Path::to_owned).collect();
    all.extend(above.into_iter().filter(|directory| is_marked(directory) && !homes.contains(directory)));
    all.sort();
    all.dedup();
    // A directory that holds everything would leave no program at all.
    all.retain(|directory| directory.parent().is_some());
    all
}

/// Returns the working trees of a repository: the one around its git directory, and the linked ones that it lists.
pub fn worktrees(common_dir: &Path) -> Vec<PathBuf> {
    let main = common_dir.parent().filter(|_| common_dir.ends_with(".git")).map(Path::to_owned);
    let listed = std::fs::read_dir(common_dir.join("worktrees")).into_iter().flatten().flatten();
    let linked = listed.filter_map(|entry| {
        let pointer = std::fs::read(entry.path().join("gitdir")).ok()?;
        let dot_git = entry.path().join(OsStr::from_bytes(pointer.trim_ascii_end()));
        dot_git.parent()?.canonicalize().ok()
    });
    main.into_iter().chain(linked).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_trees_of_a_repository_are_judged() {
        let dir = tempfile::tempdir().expect("a directory");
        let place = dir.path().canonicalize().expect("is there");
        let script = "git init -q main; cd main; git -c user.name=t -c user.email=t@example.org commit -q --allow-empty -m 1
            git worktree add -q ../linked; git worktree add -q ../other; git init -q nested
            git init -q --separate-git-dir ../elsewhere ../separate";
        let output = std::process::Command::new("sh").args(["-ec", script]).current_dir(&place).output();
        assert!(output.is_ok_and(|output| output.status.success()), "git works");
        for (tree, judged) in [
            ("linked", vec!["linked", "main", "main/.git", "other"]),
            ("main/nested", vec!["main", "main/nested"]),
            ("separate", vec!["separate", "elsewhere"]),
        ] {
            let layout = GitLayout::find(&place.join(tree)).expect("a repository");
            let found = judged_directories(&layout);
            for name in judged {
                assert!(found.contains(&place.join(name)), "{tree}: {name} is not in {found:?}");
            }
            assert!(!found.contains(&place), "{found:?}");
        }
    }
}
