//! Classifies changes to git's files by name alone.

use super::zone::ZoneClass::{self, Protected, Recorded};

/// The directories with traces of ordinary work.
const RECORDED_DIRS: [&[u8]; 8] = [
    b"refs",
    b"reftable",
    b"rebase-merge",
    b"rebase-apply",
    b"sequencer",
    b"rr-cache",
    b"lost-found",
    b"fsmonitor--daemon",
];

/// The files with traces of ordinary work, besides those that [`is_trace`] recognizes by their form.
const RECORDED_FILES: [&[u8]; 11] = [
    b"HEAD",
    b"packed-refs",
    b"packed-refs.new",
    b"shallow",
    b"SQUASH_MSG",
    b"AUTO_MERGE",
    b"EDIT_DESCRIPTION",
    b"addp-hunk-edit.diff",
    b"gc.log",
    b"gc.pid",
    b"fsmonitor--daemon.ipc",
];

/// Returns the class of a file, given the names from its git directory down; `None` if it is not examined. `is_own` is
/// true if it belongs to the worktree being judged.
pub(super) fn zone_class(names: &[&[u8]], is_own: bool) -> Option<ZoneClass> {
    match names {
        // Objects are named by their content. `objects/info` decides where git looks for them; git's housekeeping
        // rebuilds the caches there.
        [b"objects", b"info", b"packs" | b"commit-graph" | b"commit-graphs", ..] | [b"info", b"refs"] => {
            Some(Recorded)
        }
        [b"objects"] | [b"objects", b"info", ..] => Some(Protected),
        [b"objects" | b"logs", ..]
        | [b"index"]
        | [b"lfs", b"objects" | b"incomplete" | b"tmp" | b"cache" | b"logs", ..] => None,
        [b"worktrees", _, b"gitdir" | b"commondir" | b"locked"] if !is_own => Some(Recorded),
        [b"worktrees", _, rest @ ..] if !rest.is_empty() => zone_class(rest, is_own),
        [dir, _, ..] if RECORDED_DIRS.contains(dir) => Some(Recorded),
        [name] if name.starts_with(b"sharedindex.") => None,
        [name] if RECORDED_FILES.contains(name) || is_trace(name) => Some(Recorded),
        _ => Some(Protected),
    }
}

/// Matches `ORIG_HEAD`, `MERGE_MSG`, `BISECT_LOG`, `COMMIT_EDITMSG`, `config.lock` and similar names.
fn is_trace(name: &[u8]) -> bool {
    let ends = [&b"_HEAD"[..], b"_EDITMSG", b".lock"];
    let begins = [&b"MERGE_"[..], b"BISECT_"];
    ends.iter().any(|end| name.ends_with(end)) || begins.iter().any(|begin| name.starts_with(begin))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, expected: Option<ZoneClass>) {
        let names: Vec<&[u8]> = path.split('/').map(str::as_bytes).collect();
        assert_eq!(zone_class(&names, false), expected, "{path}");
    }

    #[test]
    fn what_decides_what_git_does_is_protected() {
        for path in [
            "config",
            "config.worktree",
            "hooks/pre-commit",
            "hooks/x.lock",
            "info/exclude",
            "info/attributes",
            "info/sparse-checkout",
            "info/grafts",
            "objects/info/alternates",
            "objects",
            "refs",
            "description",
            "commondir",
            "gitdir",
            "remotes/origin",
            "branches/x",
            "annex/objects/x",
            "what/ever",
            "worktrees/w/config.worktree",
            "worktrees/w/hooks/x",
            "worktrees/w",
            "head",
        ] {
            check(path, Some(Protected));
        }
    }

    #[test]
    fn the_traces_of_work_are_recorded() {
        for path in [
            "HEAD",
            "ORIG_HEAD",
            "FETCH_HEAD",
            "packed-refs",
            "refs/heads/main",
            "refs/stash",
            "COMMIT_EDITMSG",
            "MERGE_MSG",
            "BISECT_LOG",
            "rebase-merge/done",
            "sequencer/todo",
            "gc.log",
            "index.lock",
            "shallow",
            "objects/info/packs",
            "objects/info/commit-graphs/x",
            "info/refs",
            "worktrees/w/HEAD",
            "worktrees/w/gitdir",
            "worktrees/w/commondir",
            "worktrees/w/locked",
            "worktrees/w/refs/bisect/x",
        ] {
            check(path, Some(Recorded));
        }
    }

    #[test]
    fn objects_logs_and_index_are_not_looked_at() {
        for path in [
            "objects/ab/cdef",
            "objects/pack/x.pack",
            "logs/HEAD",
            "index",
            "sharedindex.abc",
            "worktrees/w/index",
            "worktrees/w/logs/HEAD",
            "lfs/objects/aa/bb/x",
        ] {
            check(path, None);
        }
    }

    #[test]
    fn the_pointers_of_ones_own_worktree_are_protected() {
        assert_eq!(zone_class(&[b"worktrees", b"w", b"commondir"], true), Some(Protected));
        assert_eq!(zone_class(&[b"worktrees", b"w", b"gitdir"], true), Some(Protected));
        assert_eq!(zone_class(&[b"worktrees", b"w", b"HEAD"], true), Some(Recorded));
    }
}
