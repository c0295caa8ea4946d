//! Git commands that write the working tree. Commits, branches and the index are not writes of the tree.

use super::WriteKind;
use super::arguments::Arguments;
use super::expansion::Value;
use super::interpreter::{Interpreter, ShellState};

/// Commands that may rewrite any file of the tree, whatever their arguments.
const TREE_COMMANDS: [&str; 13] = [
    "merge",
    "rebase",
    "pull",
    "cherry-pick",
    "revert",
    "am",
    "checkout-index",
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
        let Some((command, rest)) = global.operands.split_first() else { return };
        let Some(command) = command.known() else {
            self.effects.is_unproven = true;
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
        ];
        let short = match command {
            "checkout" => "bB",
            "switch" => "cC",
            "restore" => "s",
            "clean" => "e",
            "stash" => "m",
            "archive" | "format-patch" | "bundle" => "o",
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
