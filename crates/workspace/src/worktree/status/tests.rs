//! The dirty state on real repositories, with git itself as the oracle.

use super::*;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// A repository with `src/a.py`, `src/b.py`, an executable, a link and ignored files.
struct Repo {
    dir: TempDir,
}

impl Repo {
    fn new() -> Self {
        let repo = Self { dir: tempfile::tempdir().expect("a directory") };
        repo.sh("git init -q -b main; mkdir src ignored; echo a > src/a.py; echo b > src/b.py; ln -s a.py src/link; \
                 echo tool > tool; chmod +x tool; printf 'ignored/\\n*.log\\n' > .gitignore; echo i > ignored/i");
        repo.sh("git add . && git commit -q -m start");
        repo
    }

    fn path(&self) -> &Path {
        self.dir.path()
    }

    fn sh(&self, script: &str) -> Vec<u8> {
        let mut command = Command::new("sh");
        command.arg("-ec").arg(script).current_dir(self.path());
        command.env("HOME", "/nowhere").env("GIT_CONFIG_NOSYSTEM", "1");
        for (name, value) in [("NAME", "t"), ("EMAIL", "t@example.org")] {
            command.env(format!("GIT_AUTHOR_{name}"), value).env(format!("GIT_COMMITTER_{name}"), value);
        }
        let output = command.output().expect("sh starts");
        assert!(output.status.success(), "{script}: {}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    }

    fn look_at(&self, below: &str) -> (Workspace, WorktreeStatus) {
        let root: PathBuf = self.path().join(below);
        let workspace = Workspace::find(Some(&root), &root).expect("a workspace");
        let look = WorktreeStatus::observe(&workspace, &workspace.load_policy().expect("a policy").policy)
            .expect("can be seen");
        (workspace, look)
    }

    fn dirty(&self) -> Vec<String> {
        self.look_at("").1.state.dirty.values().map(shown).collect()
    }

    /// The paths git calls dirty, untracked files one by one.
    fn git_status(&self) -> Vec<String> {
        let status = self.sh("git status --porcelain=v1 -z -uall --no-renames");
        let mut names: Vec<String> = status
            .split(|&byte| byte == 0)
            .filter(|line| !line.is_empty())
            .map(|line| RepoPath::parse(&line[3..]).expect("a path").to_string())
            .collect();
        names.sort();
        names
    }

    /// The dirty paths after `script`, compared with the start before it.
    fn since(&self, below: &str, script: &str) -> Vec<String> {
        let start = self.look_at(below).1.state;
        let start = StartRecord::parse(&start.to_bytes()).expect("is kept");
        self.sh(script);
        let (workspace, look) = self.look_at(below);
        let since = look.changes_since(&workspace, &start).expect("git answers");
        assert!(matches!(since.start, StartSnapshot::Available { .. }));
        let mark = |dirt: &DirtyPath| if dirt.is_unchanged_since_start { " as at start" } else { "" };
        since.dirty_paths.values().map(|dirt| format!("{}{}", shown(&dirt.entry), mark(dirt))).collect()
    }
}

fn shown(entry: &DirtyEntry) -> String {
    format!("{:?} {}", entry.status, entry.path).to_lowercase()
}

#[test]
fn a_clean_tree_has_no_dirt_and_ignored_files_lie_aside() {
    let repo = Repo::new();
    let look = repo.look_at("").1;
    assert!(look.state.dirty.is_empty(), "{:?}", look.state.dirty);
    assert_eq!(look.state.aside.len(), 1);
}

#[test]
fn sees_every_kind_of_change() {
    let repo = Repo::new();
    repo.sh(
        "echo x >> src/a.py; rm src/b.py; rm src/link; echo l > src/link; chmod -x tool; mkdir -p new/deep; \
             echo n > new/deep/n.py",
    );
    let expected = [
        "added new/deep/n.py",
        "modified src/a.py",
        "deleted src/b.py",
        "typechanged src/link",
        "modified tool",
    ];
    assert_eq!(repo.dirty(), expected);
}

#[test]
fn agrees_with_git_status_whatever_the_names() {
    let repo = Repo::new();
    repo.sh("printf x > 'src/é a.py'; printf x > \"$(printf 'q\\042 \\t.py')\"; rm tool; mkdir tool; echo x > tool/x; \
             echo y > -- -dash; ln -sf b.py src/link; git add src; echo z >> src/a.py; echo log > x.log");
    fs::write(repo.path().join(OsStr::from_bytes(b"src/\xff\n")), "raw").expect("writes");
    let look = repo.look_at("").1;
    let names: Vec<String> = look.state.dirty.keys().map(ToString::to_string).collect();
    let mut names = names;
    names.sort();
    assert_eq!(names, repo.git_status());
    assert!(names.iter().any(|name| name.contains("xff") || name.contains("\\x")), "{names:?}");
}

#[test]
fn a_root_below_the_top_sees_its_own_part_with_its_own_names() {
    let repo = Repo::new();
    repo.sh("echo x >> tool; echo x >> src/a.py; echo n > src/n.py; echo l > src/x.log");
    let look = repo.look_at("src").1;
    let names: Vec<String> = look.state.dirty.keys().map(ToString::to_string).collect();
    assert_eq!(names, ["a.py", "n.py"]);
    assert_eq!(look.state.aside.keys().map(ToString::to_string).collect::<Vec<_>>(), ["x.log"]);
}

#[test]
fn what_was_dirty_at_start_is_told_from_what_changed() {
    let repo = Repo::new();
    repo.sh("echo x >> src/a.py; echo u > u; echo v > v");
    let dirt = repo.since("", "echo more >> u; echo x >> src/b.py");
    assert_eq!(
        dirt,
        ["modified src/a.py as at start", "modified src/b.py", "added u", "added v as at start"]
    );
}

#[test]
fn what_was_committed_since_is_dirt() {
    let repo = Repo::new();
    let dirt = repo.since(
        "",
        "echo x >> src/a.py; echo n > n; git rm -q tool; git add .; git commit -q -m c; echo y >> src/b.py",
    );
    assert_eq!(dirt, ["added n", "modified src/a.py", "modified src/b.py", "deleted tool"]);
    let dirt = repo.since("src", "echo x >> src/a.py; echo o > outside; git add .; git commit -q -m d");
    assert_eq!(dirt, ["modified a.py"]);
}

#[test]
fn committing_what_was_dirty_at_start_changes_nothing() {
    let repo = Repo::new();
    repo.sh("echo x >> src/a.py; echo u > u");
    assert_eq!(repo.since("", "git add .; git commit -q -m theirs"), [""; 0]);
}

#[test]
fn taking_a_commit_back_changes_no_content() {
    let repo = Repo::new();
    repo.sh("echo x >> src/a.py; echo n > n; git add .; git commit -q -m more");
    let dirt = repo.since("", "git reset -q --soft HEAD~1");
    assert_eq!(dirt, ["added n as at start", "modified src/a.py as at start"]);
}

#[test]
fn an_ignored_file_is_dirt_once_it_changed() {
    let repo = Repo::new();
    repo.sh("echo old > old.log; echo k > keep.log");
    let dirt = repo.since(
        "",
        "echo x >> ignored/i; echo n > new.log; rm old.log; echo '*.tmp' >> .gitignore; echo t > t.tmp",
    );
    let expected =
        ["modified .gitignore", "modified ignored/i", "added new.log", "deleted old.log", "added t.tmp"];
    assert_eq!(dirt, expected);
}

#[test]
fn a_new_rule_hides_no_change() {
    let repo = Repo::new();
    repo.sh("echo u > u.txt; echo w > w.txt");
    let dirt = repo.since("", "echo '*.txt' >> .gitignore; echo more >> u.txt");
    assert_eq!(dirt, ["modified .gitignore", "modified u.txt"]);
}

#[test]
fn build_outputs_of_the_policy_are_exempt() {
    let repo = Repo::new();
    repo.sh("printf '[workspace]\\nbuild_outputs = [\"out/**\"]\\n' > probity.toml; git add .; git commit -q -m p");
    assert_eq!(repo.since("", "mkdir out; echo o > out/o; echo s > src/s"), ["added src/s"]);
}

#[test]
fn worktrees_have_dirt_of_their_own() {
    let repo = Repo::new();
    repo.sh("git worktree add -q ignored/wt; echo x >> ignored/wt/src/a.py");
    let look = repo.look_at("ignored/wt").1;
    assert_eq!(look.state.dirty.keys().map(ToString::to_string).collect::<Vec<_>>(), ["src/a.py"]);
    assert_eq!(repo.dirty(), [""; 0]);
}

#[test]
fn without_git_everything_is_compared_with_the_start() {
    let dir = tempfile::tempdir().expect("a directory");
    let repo = Repo { dir };
    repo.sh("mkdir src; echo a > src/a; echo b > src/b; touch probity.toml");
    assert_eq!(
        repo.since("", "echo x >> src/a; rm src/b; echo c > c"),
        ["added c", "modified src/a", "deleted src/b"]
    );
}

#[test]
fn a_repository_without_a_commit_is_all_new() {
    let dir = tempfile::tempdir().expect("a directory");
    let repo = Repo { dir };
    repo.sh("git init -q; echo a > a");
    assert_eq!(repo.dirty(), ["added a"]);
    assert_eq!(repo.since("", "git add .; git commit -q -m first"), [""; 0]);
}

#[test]
fn a_diff_names_untracked_files_too() {
    let repo = Repo::new();
    repo.sh(
        "echo x >> src/a.py; git add .; git commit -q -m more; echo n > n.py; rm src/b.py; echo l > x.log",
    );
    let (workspace, look) = repo.look_at("");
    let names = |revision| {
        let found = look.differing_from(&workspace, revision).expect("a commit");
        found.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(names("HEAD~1"), ["n.py", "src/a.py", "src/b.py"]);
    assert_eq!(names("HEAD"), ["n.py", "src/b.py"]);
    assert!(look.differing_from(&workspace, "--help").is_err());
    repo.sh("git show HEAD~1:src/a.py > src/a.py");
    let (workspace, look) = repo.look_at("");
    assert!(
        !look
            .differing_from(&workspace, "HEAD~1")
            .expect("a commit")
            .iter()
            .any(|path| path.as_bytes() == b"src/a.py")
    );
}

/// A committed Git LFS pointer for `content`, as the tool itself would have written it.
fn with_lfs_file(repo: &Repo, content: &str) {
    repo.sh(&format!(
        "printf '*.bin filter=lfs diff=lfs merge=lfs -text\\n' > .gitattributes; printf '%s' '{content}' > a.bin; \
         oid=$(sha256sum a.bin | cut -d' ' -f1); size=$(wc -c < a.bin); \
         blob=$(printf 'version https://git-lfs.github.com/spec/v1\\noid sha256:%s\\nsize %s\\n' $oid $size | git hash-object -w --stdin); \
         git update-index --add --cacheinfo 100644,$blob,a.bin; git add .gitattributes; git commit -q -m lfs"
    ));
}

#[test]
fn a_file_of_large_file_storage_is_clean_if_its_pointer_names_it() {
    let repo = Repo::new();
    with_lfs_file(&repo, "large content");
    assert_eq!(repo.dirty(), [""; 0]);
    let (workspace, look) = repo.look_at("");
    assert!(look.differing_from(&workspace, "HEAD").expect("a commit").is_empty());
    repo.sh("printf 'large CONTENT' > a.bin");
    assert_eq!(repo.dirty(), ["modified a.bin"]);
    repo.sh("git show HEAD:a.bin > a.bin");
    assert_eq!(repo.dirty(), [""; 0], "the pointer itself is what is committed");
}

#[test]
fn line_ends_and_idents_that_git_converts_are_no_change() {
    let repo = Repo::new();
    repo.sh("printf '*.txt text\\n*.dat -text\\n*.auto text=auto\\n*.id ident\\n*.bin binary\\n' > .gitattributes; \
             for f in a.txt a.auto a.dat a.bin; do printf 'one\\ntwo\\n' > $f; done; printf 'x $Id$\\n' > a.id; \
             printf 'a\\000\\n' > z.auto; git add .; git commit -q -m text");
    repo.sh("for f in a.txt a.auto a.dat a.bin; do printf 'one\\r\\ntwo\\r\\n' > $f; done; rm a.id; git checkout -q a.id; \
             printf 'a\\000\\r\\n' > z.auto");
    // `git status` reports every file whose size changed; `git diff` compares what would be stored.
    assert_eq!(repo.sh("git diff --name-only"), b"a.bin\na.dat\nz.auto\n", "what git itself says");
    assert_eq!(repo.dirty(), ["modified a.bin", "modified a.dat", "modified z.auto"]);
    assert!(repo.sh("cat a.id").starts_with(b"x $Id: "), "git expands it");
    repo.sh("printf 'one\\r\\nTWO\\r\\n' > a.txt; sed -i 's/^x/y/' a.id");
    assert_eq!(
        repo.dirty(),
        ["modified a.bin", "modified a.dat", "modified a.id", "modified a.txt", "modified z.auto"]
    );
}

#[test]
fn words_in_an_ident_that_git_did_not_write_are_a_change() {
    let repo = Repo::new();
    repo.sh(
        "echo '*.id ident' > .gitattributes; printf 'x $Id$\\n' > a.id; git add .; git commit -q -m ident; \
             rm a.id; git checkout -q a.id",
    );
    assert_eq!(repo.dirty(), [""; 0]);
    repo.sh("printf 'x $Id: evil() $\\n' > a.id");
    assert_eq!(repo.sh("git diff --name-only"), b"", "git itself sees no change");
    assert_eq!(repo.dirty(), ["modified a.id"]);
}

#[test]
fn the_repositorys_own_autocrlf_is_heeded() {
    let repo = Repo::new();
    repo.sh("printf 'print(1)\\r\\n' > src/a.py; printf 'print(1)\\n' | git hash-object -w --stdin > blob; \
             git update-index --cacheinfo 100644,$(cat blob),src/a.py; rm blob; git commit -q -m lf");
    assert_eq!(repo.dirty(), ["modified src/a.py"]);
    repo.sh("git config core.autocrlf true");
    assert_eq!(repo.dirty(), [""; 0]);
}

#[test]
fn utf_16_in_the_working_tree_is_held_against_utf_8_in_the_commit() {
    let repo = Repo::new();
    repo.sh("printf '*.u16 text working-tree-encoding=UTF-16LE-BOM\\n' > .gitattributes; \
             printf '\\377\\376a\\000\\n\\000' > a.u16; git add .; git commit -q -m encoded");
    assert_eq!(repo.sh("git show HEAD:a.u16"), b"a\n");
    assert_eq!(repo.dirty(), [""; 0]);
    repo.sh("printf '\\377\\376b\\000\\n\\000' > a.u16");
    assert_eq!(repo.dirty(), ["modified a.u16"]);
}

/// A file behind a filter that only its program knows. On return, the index is at least as new as every file.
fn with_custom_filter(repo: &Repo) {
    repo.sh("git config filter.rot.clean 'tr a-z n-za-m; echo ran >> \"$(git rev-parse --git-dir)/started\"'; \
             git config filter.rot.smudge 'tr a-z n-za-m'; printf '*.rot filter=rot\\n' > .gitattributes; \
             printf 'secret' > a.rot; touch -d '2020-01-01 00:00:00' a.rot; git add .; git commit -q -m filtered; rm -f .git/started");
}

#[test]
fn a_file_behind_an_unknown_filter_is_clean_if_git_has_seen_it_and_the_filter_is_not_started() {
    let repo = Repo::new();
    with_custom_filter(&repo);
    let look = repo.look_at("").1;
    assert!(look.state.dirty.is_empty(), "{:?}", look.state.dirty);
    let notes = look.notes();
    assert!(
        notes[0].starts_with("`a.rot` is behind the filter `rot`, which Probity does not start"),
        "{notes:?}"
    );
    // Rewritten with the same bytes: only the filter could tell.
    repo.sh("printf 'secret' > a.rot");
    let look = repo.look_at("").1;
    assert_eq!(look.state.dirty.values().map(shown).collect::<Vec<_>>(), ["modified a.rot"]);
    let note = look.undecided_note(|_| true).expect("says so");
    assert!(
        note.contains("cannot tell whether it is changed") && note.contains("git update-index --refresh"),
        "{note}"
    );
    assert!(!repo.path().join(".git/started").exists(), "no filter was started");
    // The note's advice works.
    repo.sh("touch -d '2020-01-02 00:00:00' a.rot && git update-index --refresh");
    assert_eq!(repo.dirty(), [""; 0]);
    repo.sh("printf 'changed' > a.rot; touch -d '2020-01-02 00:00:00' a.rot");
    assert_eq!(repo.dirty(), ["modified a.rot"], "the times alone do not make it clean");
}

#[test]
fn a_change_behind_a_filter_since_the_start_is_seen() {
    let repo = Repo::new();
    with_custom_filter(&repo);
    let dirt =
        repo.since("", "printf 'other' > a.rot; touch -d '2020-01-03 00:00:00' a.rot; echo x >> src/a.py");
    assert_eq!(dirt, ["modified a.rot", "modified src/a.py"]);
}

#[test]
fn the_index_does_not_speak_for_a_file_without_a_filter() {
    let repo = Repo::new();
    repo.sh("git update-index --assume-unchanged src/a.py; echo x >> src/a.py");
    assert_eq!(repo.git_status(), [""; 0]);
    assert_eq!(repo.dirty(), ["modified src/a.py"]);
}

#[test]
fn what_a_sparse_checkout_leaves_out_is_not_deleted() {
    for (name, option) in
        [("cone", "--cone"), ("sparse index", "--cone --sparse-index"), ("patterns", "--no-cone .gitignore")]
    {
        let repo = Repo::new();
        repo.sh("mkdir docs; echo d > docs/d; mkdir docs/deep; echo e > docs/deep/e; git add .; git commit -q -m docs");
        repo.sh(&format!("git sparse-checkout set {option} src"));
        assert!(!repo.path().join("docs").exists());
        assert_eq!(repo.git_status(), [""; 0], "{name}");
        assert_eq!(repo.dirty(), [""; 0], "{name}");
        repo.sh("rm src/a.py");
        assert_eq!(repo.dirty(), ["deleted src/a.py"], "{name}");
    }
}

#[test]
fn the_bit_of_a_sparse_checkout_alone_hides_no_deletion() {
    let repo = Repo::new();
    repo.sh("git update-index --skip-worktree src/a.py; rm src/a.py");
    assert_eq!(repo.dirty(), ["deleted src/a.py"]);
}

#[test]
fn every_form_of_the_index_is_read() {
    for version in ["2", "3", "4"] {
        let repo = Repo::new();
        with_custom_filter(&repo);
        repo.sh(&format!("git update-index --index-version {version}; git update-index -q --refresh"));
        assert_eq!(repo.dirty(), [""; 0], "{version}");
    }
}

#[test]
fn what_git_tracks_in_a_build_output_is_not_exempt() {
    let repo = Repo::new();
    repo.sh("printf '[workspace]\\nbuild_outputs = [\"gen/**\"]\\n' > probity.toml; mkdir gen; echo k > gen/kept; \
             echo g > gen/gone; echo s > gen/staged; git add probity.toml gen/kept gen/gone; git commit -q -m gen");
    repo.sh("git add gen/staged; echo n > gen/new");
    assert_eq!(repo.dirty(), ["added gen/staged"]);
    assert_eq!(
        repo.since("", "echo x >> gen/kept; rm gen/gone; echo x > gen/newer"),
        ["deleted gen/gone", "modified gen/kept", "added gen/staged as at start"]
    );
    repo.sh("git commit -q -a -m more");
    let (workspace, look) = repo.look_at("");
    let differing = look.differing_from(&workspace, "HEAD~1").expect("git answers");
    let differing: Vec<String> = differing.iter().map(ToString::to_string).collect();
    assert_eq!(differing, ["gen/gone", "gen/kept", "gen/staged"]);
}
