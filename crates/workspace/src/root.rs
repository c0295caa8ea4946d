//! Finds the root of the tree when the caller does not name it.

use crate::ServiceError;
use crate::own_files::{JSON_POLICY_FILE, POLICY_FILE, STATE_DIR_NAME};
use probity_core::ReasonCode;
use probity_snapshot::git::{GITLINK_MODE, GitLayout, IndexEntries};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Entries that mark a root. A state directory does not: a stray one must not turn everything below it into a tree.
const ROOT_MARKERS: [&str; 3] = [".git", POLICY_FILE, JSON_POLICY_FILE];

const ACCOUNTS_FILE: &str = "/etc/passwd";

/// The permission bit that lets every user put entries into a directory.
const EVERYBODY_WRITES: u32 = 0o002;

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct FoundRoot {
    pub root: PathBuf,
    pub above: Option<UnusedTree>,
}

/// A directory above the root that the caller may have meant. It is only reported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UnusedTree {
    /// It has Probity state, and no directory is marked as a root.
    HasState(PathBuf),
    /// It is marked as a root by another user.
    IsForeign(PathBuf),
}

/// Finds the root for `from`, a canonical path: the nearest marked ancestor, or else `from` itself.
pub(crate) fn find_root(from: &Path, homes: &[PathBuf]) -> Result<FoundRoot, ServiceError> {
    let nearest = from.ancestors().find(|directory| has_marker(directory, from, &ROOT_MARKERS));
    let root = nearest.unwrap_or(from);
    if let Some(what) = too_broad(root, nearest.is_some(), homes) {
        let marker = ROOT_MARKERS.iter().find(|name| root.join(name).exists());
        let because = marker.map_or_else(
            || "no directory from here upwards has `.git` or a policy".to_owned(),
            |marker| format!("it has `{marker}`"),
        );
        let here = if root == from { "" } else { ", or `--root .` for this directory alone" };
        let detail = format!(
            "the tree would be {}, {what}, because {because}; pass `--root {}` if you mean it{here}",
            root.display(),
            shell_name(root, homes)
        );
        return Err(ServiceError::refused(ReasonCode::RootTooBroad, detail));
    }
    Ok(FoundRoot { root: root.to_owned(), above: unused_tree(from, nearest) })
}

/// Returns the nearest directory above `from`, and below the marked root `nearest`, that the caller may have meant. What
/// lies in a directory to which everybody can write says nothing about the trees below.
fn unused_tree(from: &Path, nearest: Option<&Path>) -> Option<UnusedTree> {
    let user = rustix::process::geteuid().as_raw();
    let has_own_state = nearest.is_some() || from.join(STATE_DIR_NAME).is_dir();
    let above = from.ancestors().take_while(|directory| Some(*directory) != nearest).skip(1);
    let mut closed = above.filter_map(|directory| {
        let facts = std::fs::metadata(directory).ok()?;
        (facts.mode() & EVERYBODY_WRITES == 0).then_some((directory, [0, user].contains(&facts.uid())))
    });
    closed.find_map(|(directory, is_own)| {
        if is_marked(directory) {
            return Some(UnusedTree::IsForeign(directory.to_owned()));
        }
        let has_state = is_own && !has_own_state && directory.join(STATE_DIR_NAME).is_dir();
        has_state.then(|| UnusedTree::HasState(directory.to_owned()))
    })
}

/// Returns the repository around `root`, if there is one.
pub(crate) fn find_repository(root: &Path) -> Option<GitLayout> {
    root.ancestors().filter(|directory| has_marker(directory, root, &[".git"])).find_map(GitLayout::find)
}

/// Returns whether a directory has one of `markers`, put there by somebody who may decide about trees below: this user,
/// root, or the owner of `from`. Otherwise any user who can write to a directory above, such as `/tmp`, would choose the
/// policy and the repository for everybody. Where the caller stands, everything counts.
fn has_marker(directory: &Path, from: &Path, markers: &[&str]) -> bool {
    markers.iter().map(|name| directory.join(name)).filter(|marker| marker.exists()).any(|marker| {
        let owner = |path: &Path| path.symlink_metadata().map(|facts| facts.uid()).ok();
        let trusted = [Some(0), Some(rustix::process::geteuid().as_raw()), owner(from)];
        directory == from || owner(&marker).is_some_and(|owner| trusted.contains(&Some(owner)))
    })
}

/// Refuses a repository without a policy inside a tree that has one: a `.git` that is put into a directory would
/// otherwise take it out of the outer policy. Submodules and worktrees of the outer repository are no strangers.
pub(crate) fn refuse_nested(root: &Path) -> Result<(), ServiceError> {
    let has_policy = |directory: &Path| {
        [POLICY_FILE, JSON_POLICY_FILE].iter().any(|name| directory.join(name).symlink_metadata().is_ok())
    };
    let policies = [POLICY_FILE, JSON_POLICY_FILE];
    let outer = root.ancestors().skip(1).find(|directory| has_marker(directory, root, &policies));
    let Some(outer) = outer.filter(|_| !has_policy(root) && root.join(".git").symlink_metadata().is_ok())
    else {
        return Ok(());
    };
    let mut inner = root.to_owned();
    while inner.starts_with(outer) && inner != outer {
        let Some(around) = inner.ancestors().skip(1).find_map(GitLayout::find) else { break };
        if !is_part_of(&inner, &around) {
            break;
        }
        inner = around.root;
    }
    if !inner.starts_with(outer) || inner == outer {
        return Ok(());
    }
    let (root, outer) = (root.display(), outer.display());
    let detail = format!(
        "{root} has a `.git` and no policy, and lies in {outer}, which has one and does not know it as a submodule; \
         pass `--root {root}` if you mean it, or `--root {outer}` for the outer tree"
    );
    Err(ServiceError::refused(ReasonCode::RootNested, detail))
}

/// Returns whether the repository at `inner` is a submodule that the one around it tracks, or a worktree of it.
fn is_part_of(inner: &Path, around: &GitLayout) -> bool {
    let is_worktree = GitLayout::find(inner).is_some_and(|layout| layout.common_dir == around.common_dir);
    let tracked = || {
        let path = inner.strip_prefix(&around.root).ok()?;
        let entry = IndexEntries::read(around)?.get(path.as_os_str().as_bytes())?.mode;
        Some(entry == GITLINK_MODE)
    };
    is_worktree || tracked().unwrap_or(false)
}

/// Returns the home directories of the user, from the environment and from the list of accounts.
pub(crate) fn user_homes() -> Vec<PathBuf> {
    let accounts = std::fs::read(ACCOUNTS_FILE).unwrap_or_default();
    let listed = account_home(&accounts, rustix::process::getuid().as_raw());
    let homes = std::env::var_os("HOME").map(PathBuf::from).into_iter().chain(listed);
    homes.filter(|home| home.is_absolute()).collect()
}

pub(crate) fn is_marked(directory: &Path) -> bool {
    ROOT_MARKERS.iter().any(|name| directory.join(name).exists())
}

/// Returns why `root` is too broad to be chosen implicitly. A marked directory that contains the home directory is
/// allowed: some build systems put a home directory inside the project.
fn too_broad(root: &Path, is_marked: bool, homes: &[PathBuf]) -> Option<&'static str> {
    if is_same(root, Path::new("/")) {
        return Some("the whole file system");
    }
    if homes.iter().any(|home| is_same(root, home)) {
        return Some("your home directory");
    }
    let holds = |home: &PathBuf| home.canonicalize().is_ok_and(|home| home.starts_with(root));
    (!is_marked && homes.iter().any(holds)).then_some("which contains your home directory")
}

/// Compares by device and inode, so that links do not matter.
fn is_same(one: &Path, other: &Path) -> bool {
    let identity = |path: &Path| std::fs::metadata(path).map(|facts| (facts.dev(), facts.ino()));
    matches!((identity(one), identity(other)), (Ok(one), Ok(other)) if one == other)
}

/// The directory as a user would type it.
fn shell_name(root: &Path, homes: &[PathBuf]) -> String {
    let is_home = homes.first().is_some_and(|home| is_same(root, home));
    if is_home { "~".to_owned() } else { root.display().to_string() }
}

/// Returns the account name of this process's user, if it is listed.
pub(crate) fn account_name() -> Option<String> {
    let accounts = std::fs::read(ACCOUNTS_FILE).ok()?;
    name_of_account(&accounts, rustix::process::getuid().as_raw())
}

fn name_of_account(accounts: &[u8], uid: u32) -> Option<String> {
    let uid = uid.to_string();
    accounts.split(|&byte| byte == b'\n').find_map(|line| {
        let mut fields = line.split(|&byte| byte == b':');
        let name = fields.next().filter(|name| !name.is_empty())?;
        let is_meant = fields.nth(1)? == uid.as_bytes();
        is_meant.then(|| probity_core::bytes::escape(name))
    })
}

/// Finds the home directory of a user in lines of `name:password:uid:gid:comment:home:shell`.
fn account_home(accounts: &[u8], uid: u32) -> Option<PathBuf> {
    let uid = uid.to_string();
    accounts.split(|&byte| byte == b'\n').find_map(|line| {
        let mut fields = line.split(|&byte| byte == b':').skip(2);
        let is_meant = fields.next()? == uid.as_bytes();
        let home = fields.nth(2)?;
        is_meant.then(|| PathBuf::from(std::ffi::OsStr::from_bytes(home)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    /// A directory with these entries; a trailing `/` makes a directory.
    fn tree(entries: &[&str]) -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().expect("a directory");
        for entry in entries {
            let path = dir.path().join(entry);
            fs::create_dir_all(path.parent().expect("a parent")).expect("creates");
            if entry.ends_with('/') {
                fs::create_dir_all(path).expect("creates");
            } else {
                fs::write(path, "").expect("writes");
            }
        }
        let top = dir.path().canonicalize().expect("is real");
        (dir, top)
    }

    fn code(found: Result<FoundRoot, ServiceError>) -> &'static str {
        found.expect_err("is refused").code()
    }

    #[test]
    fn the_nearest_marked_directory_is_the_root() {
        let (_dir, top) = tree(&[".git/", "a/probity.toml", "a/b/c/", "d/probity.json", "d/e/"]);
        for (from, root) in [("a/b/c", "a"), ("d/e", "d"), ("a", "a")] {
            assert_eq!(find_root(&top.join(from), &[]).expect("is found").root, top.join(root), "{from}");
        }
    }

    fn set_mode(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("sets the mode");
    }

    #[test]
    fn a_state_directory_above_is_named_and_not_used() {
        let (_dir, top) = tree(&[".probity/", "a/b/", "c/.probity/", "d/.git/", "d/e/"]);
        let found = |from: &str| find_root(&top.join(from), &[]).expect("is found");
        let above = Some(UnusedTree::HasState(top.clone()));
        assert_eq!(found("a/b"), FoundRoot { root: top.join("a/b"), above });
        assert_eq!(found("c"), FoundRoot { root: top.join("c"), above: None });
        assert_eq!(found("d/e"), FoundRoot { root: top.join("d"), above: None });
    }

    #[test]
    fn state_in_a_directory_to_which_others_write_is_not_named() {
        let (_dir, top) = tree(&["state/.probity/", "state/open/.probity/", "state/open/a/"]);
        let named = || find_root(&top.join("state/open/a"), &[]).expect("is found").above;
        assert_eq!(named(), Some(UnusedTree::HasState(top.join("state/open"))));
        for mode in [0o777, 0o1777] {
            set_mode(&top.join("state/open"), mode);
            assert_eq!(named(), Some(UnusedTree::HasState(top.join("state"))), "{mode:o}");
        }
        if rustix::process::geteuid().is_root() {
            std::os::unix::fs::chown(top.join("state"), Some(65534), None).expect("gives away");
            assert_eq!(named(), None);
        }
    }

    /// As root, because only root can give files away.
    #[test]
    fn markers_of_other_users_make_no_root_of_a_directory_above() {
        if !rustix::process::geteuid().is_root() {
            return probity_testkit::skip!("this user cannot give files away");
        }
        let git = ["git/.git/HEAD", "git/.git/objects/x", "git/a/"];
        let (_dir, top) = tree(
            &[&git[..], &["policy/probity.toml", "policy/a/.git/HEAD", "plain/probity.toml", "plain/a/"]]
                .concat(),
        );
        let give = |path: &str| {
            std::os::unix::fs::lchown(top.join(path), Some(65534), None).expect("gives away");
        };
        for marker in ["git/.git", "policy/probity.toml", "plain/probity.toml"] {
            give(marker);
        }
        let found = |from: &str| find_root(&top.join(from), &[]).expect("is found");
        for name in ["git", "plain"] {
            let (root, outer) = (top.join(name).join("a"), top.join(name));
            let above = Some(UnusedTree::IsForeign(outer.clone()));
            assert_eq!(found(&format!("{name}/a")), FoundRoot { root: root.clone(), above });
            assert_eq!(find_repository(&root), None);
            assert_eq!(found(name).root, outer, "the caller stands in it");
            // Anybody can put something there, so it is no hint either.
            set_mode(&outer, 0o1777);
            assert_eq!(found(&format!("{name}/a")), FoundRoot { root, above: None });
        }
        refuse_nested(&top.join("policy/a")).expect("the policy of a stranger refuses nothing");
        // Who works in a tree of somebody else trusts its owner.
        give("git/a");
        assert_eq!(found("git/a").root, top.join("git"));
        assert!(find_repository(&top.join("git/a")).is_some());
    }

    #[test]
    fn a_home_directory_is_no_root_with_or_without_a_marker() {
        let (_dir, top) = tree(&["plain/notes/", "marked/.git/", "marked/notes/", "marked/work/.git/"]);
        let homes = [top.join("plain"), top.join("marked")];
        for from in ["plain", "marked", "marked/notes"] {
            assert_eq!(code(find_root(&top.join(from), &homes)), "ROOT.TOO_BROAD", "{from}");
        }
        assert_eq!(
            find_root(&top.join("plain/notes"), &homes).expect("is found").root,
            top.join("plain/notes")
        );
        assert_eq!(
            find_root(&top.join("marked/work"), &homes).expect("is found").root,
            top.join("marked/work")
        );
        assert_eq!(code(find_root(Path::new("/"), &[])), "ROOT.TOO_BROAD");
    }

    #[test]
    fn a_home_directory_is_known_by_what_it_is_and_not_by_its_name() {
        let (_dir, top) = tree(&["real/"]);
        std::os::unix::fs::symlink(top.join("real"), top.join("link")).expect("links");
        assert_eq!(code(find_root(&top.join("real"), &[top.join("link")])), "ROOT.TOO_BROAD");
    }

    #[test]
    fn what_contains_the_home_directory_needs_a_marker() {
        let (_dir, top) = tree(&["homes/me/", "project/.git/", "project/home/"]);
        assert_eq!(code(find_root(&top.join("homes"), &[top.join("homes/me")])), "ROOT.TOO_BROAD");
        let found = find_root(&top.join("project"), &[top.join("project/home")]).expect("is found");
        assert_eq!(found.root, top.join("project"));
    }

    #[test]
    fn the_list_of_accounts_tells_the_home_and_the_name_of_a_user() {
        let accounts = b"daemon:x:1:1::/usr/sbin:/bin/false\nbroken\nann:x:1000:1000::/home/ann:/bin/sh\n";
        assert_eq!(account_home(accounts, 1000), Some("/home/ann".into()));
        assert_eq!(account_home(accounts, 1), Some("/usr/sbin".into()));
        assert_eq!(account_home(accounts, 7), None);
        assert_eq!(name_of_account(accounts, 1000), Some("ann".to_owned()));
        assert_eq!(name_of_account(accounts, 7), None);
    }
}
