//! Classifies changes to git's files by name alone.

use super::zone::ZoneClass::{self, Protected, Recorded};

/// The directories with traces of ordinary work.
const RECORDED_DIRS: [&[u8]; 8] = [
    b"refs",
    b"reftable",
    b"rebase-merge",
    b"rebase-apply",
    b"sequencer",
    b"lost-found",
    b"fsmonitor--daemon",
    b"NOTES_MERGE_WORKTREE",
];

/// The files with traces of ordinary work. Each may have a lock beside it.
const RECORDED_FILES: [&[u8]; 38] = [
    b"HEAD",
    b"ORIG_HEAD",
    b"FETCH_HEAD",
    b"MERGE_HEAD",
    b"CHERRY_PICK_HEAD",
    b"REVERT_HEAD",
    b"REBASE_HEAD",
    b"BISECT_HEAD",
    b"MERGE_MSG",
    b"MERGE_MODE",
    b"MERGE_RR",
    b"MERGE_AUTOSTASH",
    b"AUTO_MERGE",
    b"SQUASH_MSG",
    b"BISECT_LOG",
    b"BISECT_NAMES",
    b"BISECT_START",
    b"BISECT_TERMS",
    b"BISECT_EXPECTED_REV",
    b"BISECT_ANCESTORS_OK",
    b"BISECT_FIRST_PARENT",
    b"BISECT_RUN",
    b"COMMIT_EDITMSG",
    b"TAG_EDITMSG",
    b"NOTES_EDITMSG",
    b"MERGE_EDITMSG",
    b"EDIT_DESCRIPTION",
    b"NOTES_MERGE_PARTIAL",
    b"NOTES_MERGE_REF",
    b"RENAMED-REF",
    b"packed-refs",
    b"packed-refs.new",
    b"shallow",
    b"addp-hunk-edit.diff",
    b"gc.log",
    b"gc.pid",
    b"fsmonitor--daemon.ipc",
    b"git-rebase-todo.backup",
];

/// Protected files that ordinary commands rewrite under a lock, which a kill may leave behind.
const LOCKED_FILES: [&[u8]; 3] = [b"index", b"config", b"config.worktree"];

/// The endings of files that belong to a pack.
const PACK_ENDINGS: [&[u8]; 7] = [b".pack", b".idx", b".rev", b".bitmap", b".mtimes", b".keep", b".promisor"];

/// Lengths of ids in hex digits.
const ID_DIGITS: [usize; 2] = [40, 64];

/// Returns the class of a file, given the names from its git directory down; `None` if it is not examined. `is_own` is
/// true if it belongs to the worktree being judged.
pub(super) fn zone_class(names: &[&[u8]], is_own: bool) -> Option<ZoneClass> {
    match names {
        [b"objects", below @ ..] => object_class(below),
        [b"info", b"refs"] => Some(Recorded),
        [b"logs" | b"index"] | [b"logs", b"HEAD" | b"refs", ..] => None,
        [b"logs", name] if is_lock_of(name, &[b"HEAD"]) => Some(Recorded),
        [b"lfs", below @ ..] => lfs_class(below),
        [b"rr-cache", id] if is_id(id) => Some(Recorded),
        [b"rr-cache", id, image] if is_id(id) && is_conflict_image(image) => Some(Recorded),
        // Shared by all worktrees: none has these of its own.
        [b"worktrees", _, b"objects" | b"lfs" | b"rr-cache" | b"worktrees", ..] => Some(Protected),
        [b"worktrees", _, b"gitdir" | b"commondir" | b"locked"] if !is_own => Some(Recorded),
        [b"worktrees", _, rest @ ..] if !rest.is_empty() => zone_class(rest, is_own),
        [dir, _, ..] if RECORDED_DIRS.contains(dir) => Some(Recorded),
        [name] if name.strip_prefix(b"sharedindex.").is_some_and(is_id) => None,
        [name] if RECORDED_FILES.contains(name) => Some(Recorded),
        [name] if is_lock_of(name, &RECORDED_FILES) || is_lock_of(name, &LOCKED_FILES) => Some(Recorded),
        _ => Some(Protected),
    }
}

/// Classifies what is below `objects`. Objects are named by their content, and packs by that of their objects.
/// `objects/info` decides where git looks for them; git's housekeeping rebuilds the caches there.
fn object_class(below: &[&[u8]]) -> Option<ZoneClass> {
    match below {
        [b"info", b"packs" | b"commit-graph" | b"commit-graphs", ..] => Some(Recorded),
        [b"info", name] if is_lock_of(name, &[b"commit-graph", b"packs"]) || name.starts_with(b"tmp_") => {
            Some(Recorded)
        }
        [b"pack"] => None,
        [b"pack", name] if is_pack_file(name) => None,
        [fan] if is_fan(fan) || is_unfinished(fan) || *fan == b"maintenance.lock" => None,
        [fan, name] if is_fan(fan) && is_object_name(name) => None,
        _ => Some(Protected),
    }
}

/// Classifies what is below `lfs`, where Git LFS keeps large files by their SHA-256.
fn lfs_class(below: &[&[u8]]) -> Option<ZoneClass> {
    match below {
        [] | [b"incomplete" | b"tmp" | b"cache" | b"logs"] => None,
        [b"objects", names @ ..] if is_large_file_place(names) => None,
        [b"incomplete" | b"tmp" | b"cache" | b"logs", ..] => Some(Recorded),
        _ => Some(Protected),
    }
}

/// Returns true for a directory of large files (at most two levels of two digits), and for a file in its own one.
fn is_large_file_place(names: &[&[u8]]) -> bool {
    match names {
        [first, second, name] => is_id(name) && name.starts_with(first) && name[2..].starts_with(second),
        fans => fans.len() < 3 && fans.iter().all(|fan| is_fan(fan)),
    }
}

/// Returns true for the name of a loose object in its directory; the checks need no look at the file.
pub(super) fn is_object_name(name: &[u8]) -> bool {
    is_unfinished(name) || ID_DIGITS.iter().any(|len| name.len() + 2 == *len) && is_hex(name)
}

/// Returns true for a directory of loose objects: two digits.
pub(super) fn is_fan(name: &[u8]) -> bool {
    name.len() == 2 && is_hex(name)
}

/// Returns true for a file that git writes before it gets its name.
fn is_unfinished(name: &[u8]) -> bool {
    [&b"tmp_obj_"[..], b"tmp_pack_", b"tmp_idx_", b"tmp_rev_", b"tmp_bitmap_", b"tmp_mtimes_", b"tmp_midx_"]
        .iter()
        .any(|begin| name.starts_with(begin))
}

fn is_pack_file(name: &[u8]) -> bool {
    let unfinished = name.strip_prefix(b".tmp-");
    let after_number = |rest: &'_ [u8]| {
        let at = rest.iter().position(|&byte| byte == b'-')?;
        rest[..at].iter().all(u8::is_ascii_digit).then(|| rest[at + 1..].to_vec())
    };
    let name = match unfinished {
        Some(rest) => match after_number(rest) {
            Some(name) => name,
            None => return false,
        },
        None => name.to_vec(),
    };
    let of_pack = |rest: &[u8]| PACK_ENDINGS.iter().any(|end| rest.strip_suffix(*end).is_some_and(is_id));
    name.strip_prefix(b"pack-").is_some_and(of_pack)
        || is_unfinished(&name)
        || name.starts_with(b"multi-pack-index")
}

/// Matches `preimage`, `postimage.1` and similar names: what `rerere` keeps of a conflict.
fn is_conflict_image(name: &[u8]) -> bool {
    [&b"preimage"[..], b"postimage", b"thisimage"].iter().any(|image| {
        name.strip_prefix(*image).is_some_and(|rest| match rest {
            [] => true,
            [b'.', number @ ..] => number.iter().all(u8::is_ascii_digit),
            _ => false,
        })
    })
}

fn is_lock_of(name: &[u8], known: &[&[u8]]) -> bool {
    name.strip_suffix(b".lock").is_some_and(|name| known.contains(&name))
}

fn is_id(name: &[u8]) -> bool {
    ID_DIGITS.contains(&name.len()) && is_hex(name)
}

fn is_hex(name: &[u8]) -> bool {
    name.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
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
            "objects/zz/x",
            "objects/ab/x",
            "objects/ab/run.sh",
            "objects/payload",
            "objects/pack/run.sh",
            "objects/pack/pack-x.pack",
            "logs/x",
            "logs/run.sh",
            "rr-cache/x",
            "rr-cache/ce013625030ba8dba906f756967f9e9ca394464a/run.sh",
            "lfs/objects/x",
            "lfs/objects/aa/bb/x",
            "lfs/run.sh",
            "evil_HEAD",
            "x.lock",
            "EVIL_EDITMSG",
            "MERGE_EVIL",
            "BISECT_EVIL",
            "sharedindex.sh",
            "modules/x/payload",
            "worktrees/w/payload",
            "worktrees/w/objects/ab/x",
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
            "config.lock",
            "HEAD.lock",
            "rr-cache/ce013625030ba8dba906f756967f9e9ca394464a/preimage.1",
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
            "objects/ab/013625030ba8dba906f756967f9e9ca394464a",
            "objects/ab/tmp_obj_x1y2",
            "objects/pack/pack-ce013625030ba8dba906f756967f9e9ca394464a.pack",
            "objects/pack/.tmp-12-pack-ce013625030ba8dba906f756967f9e9ca394464a.idx",
            "objects/pack/multi-pack-index",
            "logs/HEAD",
            "logs/refs/heads/x",
            "index",
            "sharedindex.ce013625030ba8dba906f756967f9e9ca394464a",
            "worktrees/w/index",
            "worktrees/w/logs/HEAD",
            "lfs/objects/aa/bb/aabb012345678901234567890123456789012345678901234567890123456789",
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
