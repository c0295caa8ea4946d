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

    fn look_at(&self, below: &str) -> (Workspace, Look) {
        let root: PathBuf = self.path().join(below);
        let workspace = Workspace::find(Some(&root), &root).expect("a workspace");
        let look = Look::take(&workspace, &workspace.policy().expect("a policy")).expect("can be seen");
        (workspace, look)
    }

    fn dirty(&self) -> Vec<String> {
        self.look_at("").1.state.dirty.values().map(shown).collect()
    }

    /// What git calls dirty: every name, untracked files one by one.
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

    /// What is dirty after `script`, seen from before it.
    fn since(&self, below: &str, script: &str) -> Vec<String> {
        let start = self.look_at(below).1.state;
        let start = StartRecord::parse(&start.to_bytes()).expect("is kept");
        self.sh(script);
        let (workspace, look) = self.look_at(below);
        let since = look.since(&workspace, &start).expect("git answers");
        assert!(matches!(since.start, StartSnapshot::Available { .. }));
        let mark = |dirt: &Dirt| if dirt.as_at_start { " as at start" } else { "" };
        since.dirt.values().map(|dirt| format!("{}{}", shown(&dirt.entry), mark(dirt))).collect()
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
