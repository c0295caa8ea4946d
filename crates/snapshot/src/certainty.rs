//! Whether a later look at a tree still shows what was there at an earlier moment.

use crate::entry_record::{EntryContent, ROOT};
use crate::snapshot::Snapshot;
use crate::walk_selection::WalkSelection;
use probity_paths::RepoPath;

impl Snapshot {
    /// Returns those of `paths` that may have been something else at `since_ns`, by the times that this snapshot of
    /// `selection` shows. `root_changed_ns` is when the root directory last changed.
    ///
    /// Writing, renaming and linking an entry change its ctime, which nobody can set; names that come and go change the
    /// ctime of their directory. A path is certain if its entry has not changed since, or, if there is none, its directory
    /// has not. A directory on the way may have changed if the one above it has not: then other names in it came or went.
    pub fn uncertain_since<'p>(
        &self,
        paths: impl IntoIterator<Item = &'p RepoPath>,
        selection: Option<&WalkSelection>,
        since_ns: i64,
        root_changed_ns: i64,
    ) -> Vec<RepoPath> {
        let is_uncertain =
            |path: &&RepoPath| !self.is_certain(path, selection, since_ns, root_changed_ns).unwrap_or(true);
        paths.into_iter().filter(is_uncertain).cloned().collect()
    }

    /// Returns `None` if the path ends above its last name, at something that was the same then.
    fn is_certain(
        &self,
        path: &RepoPath,
        selection: Option<&WalkSelection>,
        since_ns: i64,
        root_changed_ns: i64,
    ) -> Option<bool> {
        let mut dir = self.dir(ROOT);
        let mut above_is_same = root_changed_ns < since_ns;
        let mut node = selection.map(|_| 0);
        let mut names = path.segments().peekable();
        while let Some(name) = names.next() {
            node = node.and_then(|node| *selection?.names(node).get(name)?);
            let Some(place) = dir.find(name) else { return Some(above_is_same) };
            let record = &dir.records[place];
            let is_same = record.facts.ctime_ns < since_ns;
            if names.peek().is_none() {
                return Some(is_same);
            }
            // Where everything below a name goes, a name that went meanwhile is missing.
            if !is_same && (!above_is_same || node.is_none()) {
                return Some(false);
            }
            let EntryContent::Directory(Some(below)) = record.held else { return None };
            dir = self.dir(below);
            above_is_same = is_same;
        }
        Some(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::take::SnapshotOptions;
    use crate::tree_root::TreeRoot;
    use std::fs;
    use std::os::unix::fs::MetadataExt as _;
    use std::path::Path;

    fn path(text: &str) -> RepoPath {
        RepoPath::parse(text.as_bytes()).expect("a path")
    }

    fn paths(snapshot: &Snapshot) -> Vec<String> {
        snapshot.entries().map(|entry| entry.path().to_string()).collect()
    }

    /// A tree, and a directory for a layer.
    fn tree() -> (tempfile::TempDir, std::path::PathBuf, std::path::PathBuf) {
        let dir = tempfile::tempdir().expect("a directory");
        let (root, upper) = (dir.path().join("root"), dir.path().join("upper"));
        for name in ["src/deep/er", "src/other", "doc"] {
            fs::create_dir_all(root.join(name)).expect("creates");
        }
        for name in ["src/a", "src/b", "src/deep/c", "src/deep/er/d", "src/other/e", "doc/f", "g"] {
            fs::write(root.join(name), name).expect("writes");
        }
        fs::create_dir_all(&upper).expect("creates");
        (dir, root, upper)
    }

    fn look(root: &Path, selection: &WalkSelection) -> Snapshot {
        let root = TreeRoot::open(root).expect("opens");
        Snapshot::take_selected(&root, &SnapshotOptions::default(), Some(selection)).expect("is seen")
    }

    #[test]
    fn only_selected_names_and_what_is_below_them_are_seen() {
        let (_dir, root, _) = tree();
        let selection =
            WalkSelection::of_paths(&[path("src/deep"), path("g"), path("none/such"), path("src/a")]);
        assert_eq!(
            paths(&look(&root, &selection)),
            ["g", "src", "src/a", "src/deep", "src/deep/c", "src/deep/er", "src/deep/er/d"]
        );
        let orders = [[path("src"), path("src/deep")], [path("src/deep"), path("src")]];
        let [one, other] = orders.map(|paths| look(&root, &WalkSelection::of_paths(&paths)));
        assert_eq!(one.root(), other.root(), "what is selected as a whole stays so");
    }

    #[test]
    fn a_layer_selects_what_it_changes() {
        let (_dir, root, upper) = tree();
        fs::create_dir_all(upper.join("src/new")).expect("creates");
        fs::write(upper.join("src/a"), "changed").expect("writes");
        fs::write(upper.join("src/new/x"), "new").expect("writes");
        // A file where a directory was.
        fs::write(upper.join("src/deep"), "now a file").expect("writes");
        let names = WalkSelection::of_layer(&upper, &SnapshotOptions::default()).expect("is seen");
        assert!(!names.has_links);
        let selection = names.selection.expect("hides nothing");
        let start = look(&root, &selection);
        assert_eq!(paths(&start), ["src", "src/a", "src/deep", "src/deep/c", "src/deep/er", "src/deep/er/d"]);
        let options = SnapshotOptions::default();
        let all = Snapshot::take(&root, &options, None).expect("is seen");
        let of = |start: &Snapshot| {
            crate::delta(start, &start.with_layer(&upper, &root, &options).expect("is seen"))
        };
        assert_eq!(of(&start), of(&all), "the delta is the one of the whole tree");
    }

    #[test]
    fn what_changed_since_is_not_taken_for_the_start() {
        let (dir, root, upper) = tree();
        // Each change has a later time than the one before it.
        let stamp = || loop {
            let mark = dir.path().join("mark");
            let made = |at: &Path| {
                fs::write(at, "m").expect("writes");
                let facts = fs::metadata(at).expect("is there");
                facts.ctime() * 1_000_000_000 + facts.ctime_nsec()
            };
            let first = made(&mark);
            for _ in 0..1_000_000 {
                let next = made(&mark);
                if next > first {
                    return next;
                }
            }
        };
        for name in ["src/deep/new", "src/a", "src/b", "src/gone", "src/deep/c", "doc/new", "g"] {
            let path = upper.join(name);
            fs::create_dir_all(path.parent().expect("a parent")).expect("creates");
            fs::write(path, "by the command").expect("writes");
        }
        fs::remove_file(upper.join("src/deep/new")).expect("removes");
        let since = stamp();
        let d: Vec<RepoPath> =
            ["doc/new", "g", "src/a", "src/b", "src/deep/c", "src/gone"].map(path).to_vec();
        let uncertain = || {
            let names = WalkSelection::of_layer(&upper, &SnapshotOptions::default()).expect("is seen");
            let seen = look(&root, names.selection.as_ref().expect("hides nothing"));
            let facts = fs::metadata(&root).expect("is there");
            let root_changed = facts.ctime() * 1_000_000_000 + facts.ctime_nsec();
            let found = seen.uncertain_since(&d, names.selection.as_ref(), since, root_changed);
            found.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        assert!(uncertain().is_empty(), "{:?}", uncertain());
        // A time that was put back does not help.
        let old = fs::metadata(root.join("src/b")).expect("is there").modified().expect("a time");
        fs::write(root.join("src/b"), "edited").expect("writes");
        let file = fs::File::options().write(true).open(root.join("src/b")).expect("opens");
        file.set_modified(old).expect("sets");
        assert_eq!(uncertain(), ["src/b"]);
        // A name that went makes all missing names of its directory uncertain.
        fs::remove_file(root.join("doc/f")).expect("removes");
        assert_eq!(uncertain(), ["doc/new", "src/b"]);
        // A directory that was put in the place of another one, with old files.
        fs::create_dir_all(root.join("src/other/er")).expect("creates");
        fs::rename(root.join("src/other/e"), root.join("src/other/c")).expect("renames");
        fs::rename(root.join("src/deep"), dir.path().join("away")).expect("renames");
        fs::rename(root.join("src/other"), root.join("src/deep")).expect("renames");
        assert_eq!(uncertain(), ["doc/new", "src/b", "src/deep/c", "src/gone"]);
    }

    #[test]
    fn a_name_that_went_from_a_removed_directory_is_missed_by_nobody() {
        let (dir, root, upper) = tree();
        let mark = dir.path().join("mark");
        fs::create_dir_all(upper.join("src")).expect("creates");
        fs::write(upper.join("src/deep"), "a file instead of the directory").expect("writes");
        let since = loop {
            fs::write(&mark, "m").expect("writes");
            let facts = fs::metadata(&mark).expect("is there");
            let now = facts.ctime() * 1_000_000_000 + facts.ctime_nsec();
            let young = fs::metadata(root.join("g")).expect("is there");
            if now > young.ctime() * 1_000_000_000 + young.ctime_nsec() {
                break now;
            }
        };
        fs::remove_file(root.join("src/deep/c")).expect("removes");
        let names = WalkSelection::of_layer(&upper, &SnapshotOptions::default()).expect("is seen");
        let seen = look(&root, names.selection.as_ref().expect("hides nothing"));
        let d = [path("src/deep"), path("src/deep/er/d")];
        let found = seen.uncertain_since(&d, names.selection.as_ref(), since, i64::MAX);
        assert_eq!(found, d, "the directory lost a name meanwhile");
    }
}
