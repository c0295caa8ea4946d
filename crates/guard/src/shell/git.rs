//! Git commands that write the working tree. Commits, branches and the index are not writes of the tree.

use super::WriteKind;
use super::arguments::Arguments;
use super::expansion::Value;
use super::interpreter::{Interpreter, ShellState};

/// Commands that may rewrite any file of the tree, whatever their arguments.
const TREE_COMMANDS: [&str; 12] = [
    "merge",
    "rebase",
    "pull",
    "cherry-pick",
    "revert",
    "am",
    "filter-branch",
    "filter-repo",
    "bisect",
    "sparse-checkout",
    "mergetool",
    "subtree",
];

impl Interpreter<'_> {
    pub(super) fn git(&mut self, args: &[Value], state: &ShellState) {
        let global = Arguments::read_prefix(args, "Cc", &["git-dir", "work-tree", "namespace", "exec-path"]);
        let mut state = state.clone();
        for dir in [global.value(&["C"]), global.value(&["work-tree"])].into_iter().flatten() {
            self.change_directory(&mut state, Some(dir.clone()));
        }
        // An alias of the line itself, or another setting that names a program, may run anything.
        let sets_program = |text: &str| {
            let (member, program) = text.split_once('=').unwrap_or((text, "true"));
            // These do nothing: `-c core.editor=true` takes what is there.
            names_program(member) && !matches!(program, "" | "true" | "false" | ":" | "cat")
        };
        if global.values(&["c"]).any(|it| it.known().is_none_or(sets_program)) {
            self.note_unproven();
        }
        let Some((command, rest)) = global.operands.split_first() else { return };
        let Some(command) = command.known() else {
            self.note_unproven();
            return;
        };
        let long = [
            "source",
            "message",
            "output",
            "onto",
            "strategy",
            "branch",
            "reason",
            "orphan",
            "pathspec-from-file",
            "directory",
            "output-directory",
            "depth",
            "origin",
            "reference",
        ];
        let short = match command {
            "checkout" => "bB",
            "switch" => "cC",
            "restore" => "s",
            "clean" => "e",
            "config" => "f",
            "stash" => "m",
            "archive" | "format-patch" | "bundle" => "o",
            "clone" => "bocuj",
            "merge-file" => "L",
            _ => "",
        };
        let read = Arguments::read(rest, short, &long);
        self.git_command(command, &read, &state);
        if let Some(target) = read.value(&["output"]) {
            self.write(&state, &target.clone(), WriteKind::Entry);
        }
    }

    fn git_command(&mut self, command: &str, read: &Arguments, state: &ShellState) {
        let words = &read.operands;
        let first = words.first().and_then(Value::known).unwrap_or_default();
        match command {
            "checkout" => self.git_checkout(read, state),
            "switch" => {
                let creates = read.has(&["c", "C", "create", "force-create"]);
                if !creates || !words.is_empty() {
                    self.whole_tree(state);
                }
            }
            "restore" => {
                let only_index = read.has(&["S", "staged"]) && !read.has(&["W", "worktree"]);
                if !only_index {
                    self.write_paths(words, state);
                }
            }
            "reset" if read.has(&["hard", "merge", "keep"]) => self.whole_tree(state),
            "stash" => match first {
                "list" | "show" | "drop" | "clear" | "create" | "store" => {}
                _ if read.behind_separator().is_empty() => self.whole_tree(state),
                _ => self.write_paths(read.behind_separator(), state),
            },
            "clean" if !read.has(&["n", "dry-run"]) && read.has(&["f", "force", "i"]) => {
                if words.is_empty() {
                    self.whole_tree(state);
                } else {
                    self.write_paths(words, state);
                }
            }
            "apply" if !read.has(&["check", "stat", "numstat", "summary", "cached"]) => {
                let here = Value::Known(".".into());
                let dir = read.value(&["directory"]).cloned().unwrap_or(here);
                self.write(state, &dir, WriteKind::Subtree);
            }
            "archive" => self.write_option(state, read, &["o"]),
            "format-patch" if !read.has(&["stdout"]) => {
                let dir = read.value(&["o", "output-directory"]).cloned();
                self.write(state, &dir.unwrap_or_else(|| Value::Known(".".into())), WriteKind::Subtree);
            }
            "bundle" if first == "create" => {
                if let Some(file) = words.get(1) {
                    self.write(state, file, WriteKind::Entry);
                }
            }
            "read-tree" if read.has(&["u", "m", "reset"]) => self.whole_tree(state),
            "submodule" if matches!(first, "update" | "add" | "deinit" | "foreach") => self.whole_tree(state),
            "lfs" if matches!(first, "pull" | "checkout") => self.whole_tree(state),
            "rm" if !read.has(&["cached", "n", "dry-run"]) => self.write_paths(words, state),
            "mv" if !read.has(&["n", "dry-run"]) => {
                let Some((target, sources)) = words.split_last() else { return };
                let is_inside = sources.len() > 1 || self.is_directory(state, target);
                for source in sources {
                    let written = if is_inside { target.join(&source.base_name()) } else { target.clone() };
                    self.write(state, &written, WriteKind::Entry);
                    self.write(state, source, WriteKind::Entry);
                }
            }
            "config" => self.git_config(read, state),
            "merge-file" if !read.has(&["p", "stdout", "object-id"]) => {
                if let Some(file) = words.first() {
                    self.write(state, file, WriteKind::Entry);
                }
            }
            "checkout-index" => match words.as_slice() {
                [] => self.whole_tree(state),
                paths => self.write_paths(paths, state),
            },
            "init" => {
                if let Some(dir) = words.first() {
                    self.write(state, dir, WriteKind::Subtree);
                }
            }
            "sparse-checkout" if matches!(first, "list" | "check-rules") => {}
            "bisect" if matches!(first, "log" | "view" | "visualize" | "terms" | "help") => {}
            "am" | "rebase" if read.has(&["show-current-patch"]) => {}
            "worktree" if matches!(first, "move" | "remove") => {
                words.iter().skip(1).for_each(|dir| self.write(state, dir, WriteKind::Subtree));
            }
            "worktree" if first == "add" => {
                if let Some(dir) = words.get(1) {
                    self.write(state, dir, WriteKind::Subtree);
                }
            }
            "clone" => {
                let dir = words.get(1).cloned().or_else(|| {
                    let name = words.first()?.base_name();
                    Some(Value::Known(name.known()?.trim_end_matches(".git").to_owned()))
                });
                if let Some(dir) = dir {
                    self.write(state, &dir, WriteKind::Subtree);
                }
            }
            _ if TREE_COMMANDS.contains(&command) => self.whole_tree(state),
            _ => {}
        }
    }

    /// `git config`, which writes a named file, the user's, or the repository's. Only members that name programs count there: the
    /// name of an author changes nothing that runs.
    fn git_config(&mut self, read: &Arguments, state: &ShellState) {
        let reads =
            ["get", "get-all", "get-regexp", "get-urlmatch", "list", "l", "get-color", "show-origin", "e"];
        let words: Vec<&str> = read.operands.iter().filter_map(Value::known).collect();
        let words = match words.as_slice() {
            ["get" | "list" | "get-regexp", ..] => return,
            ["set" | "unset" | "rename-section" | "remove-section" | "edit", rest @ ..] => rest,
            all => all,
        };
        let unsets =
            read.has(&["unset", "unset-all", "remove-section", "rename-section", "add", "replace-all"]);
        if read.has(&reads) || words.is_empty() || words.len() < 2 && !unsets {
            return;
        }
        if let Some(file) = read.value(&["f", "file"]) {
            return self.write(state, &file.clone(), WriteKind::Entry);
        }
        if read.has(&["system"]) || !names_program(words[0]) {
            return;
        }
        let file = if read.has(&["global"]) {
            format!("{}/.gitconfig", self.world.home())
        } else {
            let top = state.cwd.as_deref().and_then(|cwd| self.top_level(cwd));
            format!("{}/.git/config", top.unwrap_or_else(|| ".".into()))
        };
        self.write(state, &Value::Known(file), WriteKind::Entry);
    }

    /// Returns what `git rev-parse --show-toplevel` prints.
    pub(super) fn git_top_level(&self, argv: &[Value], state: &ShellState) -> Option<String> {
        let words: Vec<&str> = argv.iter().map(Value::known).collect::<Option<_>>()?;
        match words.as_slice() {
            ["git", "rev-parse", "--show-toplevel"] => self.top_level(state.cwd.as_deref()?),
            _ => None,
        }
    }

    /// Returns the closest directory at or above `dir` that has a directory of git.
    fn top_level(&self, dir: &str) -> Option<String> {
        let mut dir = dir;
        loop {
            if self.world.is_directory(&format!("{dir}/.git")) {
                return Some(dir.to_owned());
            }
            dir = dir.rsplit_once('/').map(|(above, _)| above).filter(|above| !above.is_empty())?;
        }
    }

    fn git_checkout(&mut self, read: &Arguments, state: &ShellState) {
        let words = &read.operands;
        if read.has(&["b", "B", "orphan"]) {
            // A new branch at another commit rewrites the tree; at HEAD it does not.
            if !words.is_empty() {
                self.whole_tree(state);
            }
        } else if read.before_separator.is_some() {
            self.write_paths(read.behind_separator(), state);
        } else {
            match words.as_slice() {
                [] if read.has(&["f", "force", "p", "patch"]) => self.whole_tree(state),
                [] => {}
                [_] => self.whole_tree(state),
                [_, paths @ ..] => self.write_paths(paths, state),
            }
        }
    }

    fn whole_tree(&mut self, state: &ShellState) {
        self.write(state, &Value::Known(".".into()), WriteKind::Subtree);
    }

    fn write_paths(&mut self, paths: &[Value], state: &ShellState) {
        for path in paths {
            self.write(state, path, WriteKind::Subtree);
        }
    }
}

/// Returns whether a member of git's configuration names a program or another file of configuration.
fn names_program(member: &str) -> bool {
    let member = member.to_ascii_lowercase();
    let exact = [
        "core.hookspath",
        "core.fsmonitor",
        "core.editor",
        "core.pager",
        "core.sshcommand",
        "core.askpass",
        "core.attributesfile",
        "core.worktree",
        "sequence.editor",
        "diff.external",
        "credential.helper",
        "gpg.program",
        "include.path",
    ];
    let sections = ["alias.", "filter.", "includeif.", "pager.", "gpg."];
    exact.contains(&member.as_str())
        || sections.iter().any(|section| member.starts_with(section))
        || [".command", ".textconv", ".driver"].iter().any(|end| member.ends_with(end))
}
