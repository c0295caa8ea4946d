//! What the known programs write. A program that is not listed is taken for one that writes nothing by its arguments:
//! build tools and test runners are judged from the tree.

use super::WriteKind;
use super::arguments::Arguments;
use super::expansion::Value;
use super::interpreter::{CommandInput, Interpreter, ShellState, StepResult};

impl Interpreter<'_> {
    /// Runs the program called `name` by its base name `program`.
    pub(super) fn program(
        &mut self,
        program: &str,
        name: &str,
        args: &[Value],
        state: &mut ShellState,
        input: &CommandInput,
    ) -> StepResult {
        if self.wrapper(program, args, state, input)? {
            return Ok(());
        }
        let before_separator = args.iter().take_while(|arg| arg.known() != Some("--"));
        if before_separator.into_iter().any(|arg| matches!(arg.known(), Some("--help" | "--version"))) {
            return Ok(());
        }
        match program {
            "cd" | "pushd" | "popd" => self.directory_builtin(program, args, state),
            "git" | "hub" => self.git(args, state),
            "probity" => {
                self.effects.starts_change |= args.iter().any(|arg| arg.known() == Some("start"));
            }
            "tee" | "sponge" => self.write_operands(state, &Arguments::read(args, "", &[]), WriteKind::Entry),
            "cp" | "mv" | "ln" | "install" => self.copy(program, args, state),
            "rm" | "rmdir" | "unlink" | "shred" => {
                let read = Arguments::read(args, "ns", &["iterations", "size", "random-source"]);
                let is_deep = program == "rm" && read.has(&["r", "R", "recursive"]);
                let kind = if is_deep { WriteKind::Subtree } else { WriteKind::Entry };
                self.write_operands(state, &read, kind);
            }
            "dd" => {
                for target in args.iter().filter_map(|arg| arg.known()?.strip_prefix("of=")) {
                    self.write(state, &Value::Known(target.to_owned()), WriteKind::Entry);
                }
            }
            "truncate" => {
                self.write_operands(
                    state,
                    &Arguments::read(args, "sr", &["size", "reference"]),
                    WriteKind::Entry,
                );
            }
            "touch" => {
                let read = Arguments::read(args, "dtr", &["date", "reference", "time"]);
                self.write_operands(state, &read, WriteKind::Entry);
            }
            "mkdir" | "mkfifo" | "mknod" => {
                self.write_operands(state, &Arguments::read(args, "mZ", &["mode"]), WriteKind::Directory);
            }
            "chmod" | "chown" | "chgrp" => self.change_mode(args, state),
            "rsync" => self.rsync(args, state),
            "gzip" | "gunzip" | "bzip2" | "xz" | "zstd" => self.compress(program, args, state),
            "curl" => self.curl(args, state),
            "wget" => self.wget(args, state),
            "tar" => self.tar(args, state),
            "unzip" => self.unzip(args, state),
            "sort" => self.write_option(
                state,
                &Arguments::read(args, "okSTt", &["output", "key"]),
                &["o", "output"],
            ),
            "sed" | "gsed" => self.sed(args, state),
            "perl" | "ruby" => self.perl(program, args, state, input),
            "awk" | "gawk" | "mawk" | "nawk" => self.awk(args, state),
            "patch" => self.patch(args, state),
            "ed" | "ex" => {
                let read = Arguments::read(args, "cp", &[]);
                self.write_operands(state, &read, WriteKind::Entry);
            }
            "vim" | "nvim" | "vi" => {
                let read = Arguments::read(args, "cSsTuUiw", &["cmd"]);
                if read.has(&["e", "c", "S", "s"]) {
                    self.write_operands(state, &read, WriteKind::Entry);
                }
            }
            "cargo" | "go" | "gh" | "npm" | "pnpm" | "yarn" | "uv" | "poetry" | "ruff" | "rustfmt"
            | "prettier" | "black" | "isort" | "gofmt" | "goimports" | "eslint" | "clang-format"
            | "shfmt" => {
                self.formatter(program, args, state, input)?;
            }
            _ if name.contains('/') && !is_system_path(name) => self.effects.is_unproven = true,
            _ => {}
        }
        Ok(())
    }

    fn write_operands(&mut self, state: &ShellState, read: &Arguments, kind: WriteKind) {
        read.operands
            .iter()
            .filter(|value| value.known() != Some("-"))
            .for_each(|value| self.write(state, value, kind));
    }

    fn write_option(&mut self, state: &ShellState, read: &Arguments, names: &[&str]) {
        if let Some(target) = read.value(names).filter(|value| value.known() != Some("-")) {
            self.write(state, &target.clone(), WriteKind::Entry);
        }
    }

    fn directory_builtin(&mut self, program: &str, args: &[Value], state: &mut ShellState) {
        if program == "popd" {
            if let Some(back) = state.stack.pop() {
                state.cwd = back;
            }
            return;
        }
        let read = Arguments::read(args, "", &[]);
        if program == "pushd" {
            state.stack.push(state.cwd.clone());
        }
        let target = read.operands.first().cloned();
        let target =
            if target.as_ref().and_then(Value::known) == Some("-") { Some(Value::Unknown) } else { target };
        self.change_directory(state, target);
    }

    /// `cp`, `mv`, `ln` and `install`: the last operand is the destination, unless `-t` names a directory.
    fn copy(&mut self, program: &str, args: &[Value], state: &ShellState) {
        let short = if program == "install" { "tSmog" } else { "tS" };
        let read = Arguments::read(args, short, &["target-directory", "suffix", "mode", "owner", "group"]);
        if program == "install" && read.has(&["d", "directory"]) {
            return self.write_operands(state, &read, WriteKind::Directory);
        }
        let here = Value::Known(".".into());
        let (sources, target, is_inside) =
            match (read.value(&["t", "target-directory"]), read.operands.split_last()) {
                (Some(target), _) => (read.operands.as_slice(), target, true),
                (None, Some((only, []))) if program == "ln" => (std::slice::from_ref(only), &here, true),
                (None, Some((target, sources))) => {
                    let is_inside = sources.len() > 1
                        || target.known().is_some_and(|text| text.ends_with('/'))
                        || self.is_directory(state, target) && !read.has(&["T", "no-target-directory"]);
                    (sources, target, is_inside)
                }
                (None, None) => return,
            };
        let is_deep = read.has(&["r", "R", "a", "recursive", "archive"]) || program == "mv";
        let kind = |path: &Value| {
            if is_deep && self.is_directory(state, path) { WriteKind::Subtree } else { WriteKind::Entry }
        };
        let mut writes = Vec::new();
        for source in sources {
            let written = if is_inside { target.join(&source.base_name()) } else { target.clone() };
            writes.push((written, kind(source)));
            if program == "mv" {
                writes.push((source.clone(), kind(source)));
            }
        }
        for (value, kind) in &writes {
            self.write(state, value, *kind);
        }
    }

    fn change_mode(&mut self, args: &[Value], state: &ShellState) {
        let read = Arguments::read(args, "", &[]);
        let n_words = usize::from(!read.has_long_prefix("reference"));
        // `chmod -x file` looks like an option but is the mode.
        let has_mode_option = read.has(&["x", "w", "r"]) && read.operands.len() == 1;
        let kind = if read.has(&["R", "recursive"]) { WriteKind::Subtree } else { WriteKind::Entry };
        let n_words = if has_mode_option { 0 } else { n_words };
        read.operands.iter().skip(n_words).for_each(|value| self.write(state, value, kind));
    }

    fn rsync(&mut self, args: &[Value], state: &ShellState) {
        let read = Arguments::read(
            args,
            "eTfM",
            &["rsh", "exclude", "include", "filter", "exclude-from", "files-from"],
        );
        if read.has(&["n", "dry-run"]) {
            return;
        }
        let Some((target, sources)) = read.operands.split_last() else { return };
        let is_remote =
            target.known().is_some_and(|text| text.split('/').next().unwrap_or_default().contains(':'));
        if !is_remote && !sources.is_empty() {
            self.write(state, target, WriteKind::Subtree);
        }
    }

    fn compress(&mut self, program: &str, args: &[Value], state: &ShellState) {
        let read = Arguments::read(args, "So", &["suffix"]);
        if read.has(&["c", "stdout", "to-stdout", "t", "test", "l", "list"]) {
            return;
        }
        let suffix = match program {
            "bzip2" => "bz2",
            "xz" => "xz",
            "zstd" => "zst",
            _ => "gz",
        };
        let unpacks = program == "gunzip" || read.has(&["d", "decompress", "uncompress"]);
        for operand in &read.operands {
            self.write(state, operand, WriteKind::Entry);
            if let Some(text) = operand.known() {
                let other = if unpacks {
                    text.rsplit_once('.').map_or(text, |(stem, _)| stem).to_owned()
                } else {
                    format!("{text}.{suffix}")
                };
                self.write(state, &Value::Known(other), WriteKind::Entry);
            }
        }
    }

    fn curl(&mut self, args: &[Value], state: &ShellState) {
        let long = [
            "output",
            "header",
            "data",
            "request",
            "user",
            "output-dir",
            "form",
            "url",
            "max-time",
            "data-binary",
        ];
        let read = Arguments::read(args, "oXHdFuAeTbcmxKEwrCDytzYQ", &long);
        self.write_option(state, &read, &["o", "output"]);
        if read.has(&["O", "remote-name", "remote-name-all"]) {
            read.operands.iter().for_each(|url| self.write(state, &url.base_name(), WriteKind::Entry));
        }
        self.write_option(state, &read, &["D", "dump-header"]);
        self.write_option(state, &read, &["c", "cookie-jar"]);
    }

    fn wget(&mut self, args: &[Value], state: &ShellState) {
        let read = Arguments::read(
            args,
            "OoPUTtiw",
            &["output-document", "output-file", "directory-prefix", "header"],
        );
        if read.has(&["spider"]) {
            return;
        }
        if read.has(&["O", "output-document"]) {
            return self.write_option(state, &read, &["O", "output-document"]);
        }
        let dir = read.value(&["P", "directory-prefix"]).cloned().unwrap_or_else(|| Value::Known(".".into()));
        read.operands.iter().for_each(|url| self.write(state, &dir.join(&url.base_name()), WriteKind::Entry));
    }

    fn tar(&mut self, args: &[Value], state: &ShellState) {
        // The first word may be options without a dash.
        let mut args = args.to_vec();
        if let Some(Value::Known(first)) = args.first_mut()
            && !first.starts_with('-')
        {
            first.insert(0, '-');
        }
        let read = Arguments::read(&args, "fCTXIbgHLV", &["file", "directory", "exclude", "files-from"]);
        if read.has(&["c", "r", "u", "create", "append", "update"]) {
            self.write_option(state, &read, &["f", "file"]);
        } else if read.has(&["x", "extract", "get"]) && !read.has(&["O", "to-stdout"]) {
            let dir = read.value(&["C", "directory"]).cloned().unwrap_or_else(|| Value::Known(".".into()));
            self.write(state, &dir, WriteKind::Subtree);
        }
    }

    fn unzip(&mut self, args: &[Value], state: &ShellState) {
        let read = Arguments::read(args, "dxP", &[]);
        if read.has(&["l", "t", "p", "c", "Z", "v", "z"]) {
            return;
        }
        let dir = read.value(&["d"]).cloned().unwrap_or_else(|| Value::Known(".".into()));
        self.write(state, &dir, WriteKind::Subtree);
    }

    fn sed(&mut self, args: &[Value], state: &ShellState) {
        let mut is_in_place = false;
        let mut has_script = false;
        let mut operands = Vec::new();
        let mut rest = args.iter();
        while let Some(arg) = rest.next() {
            let Some(text) = arg.known() else {
                operands.push(arg.clone());
                continue;
            };
            match text {
                "--" => break,
                "-e" | "-f" | "--expression" | "--file" => {
                    has_script = true;
                    rest.next();
                }
                "-l" | "--line-length" => {
                    rest.next();
                }
                _ if text.starts_with("--") => {
                    is_in_place |= text == "--in-place" || text.starts_with("--in-place=");
                    has_script |= text.starts_with("--expression=") || text.starts_with("--file=");
                }
                _ if text.len() > 1 && text.starts_with('-') => {
                    // `-i` takes the rest of its word as a suffix.
                    for (at, letter) in text.char_indices().skip(1) {
                        match letter {
                            'i' => {
                                is_in_place = true;
                                break;
                            }
                            'e' | 'f' => {
                                has_script = true;
                                if at + 1 == text.len() {
                                    rest.next();
                                }
                                break;
                            }
                            _ => {}
                        }
                    }
                }
                _ => operands.push(arg.clone()),
            }
        }
        operands.extend(rest.cloned());
        if is_in_place {
            operands
                .iter()
                .skip(usize::from(!has_script))
                .for_each(|file| self.write(state, file, WriteKind::Entry));
        }
    }

    /// `perl` and `ruby`, which edit in place with `-i`.
    fn perl(&mut self, program: &str, args: &[Value], state: &ShellState, input: &CommandInput) {
        let (mut is_in_place, mut is_filter, mut has_script) = (false, false, false);
        let mut operands = Vec::new();
        let mut rest = args.iter();
        while let Some(arg) = rest.next() {
            match arg.known() {
                Some("--") => break,
                Some(text) if text.len() > 1 && text.starts_with('-') && operands.is_empty() => {
                    for (at, letter) in text.char_indices().skip(1) {
                        match letter {
                            'i' => {
                                is_in_place = true;
                                // A suffix may follow, as in `-i.bak`.
                                if text[at + 1..].starts_with('.') {
                                    break;
                                }
                            }
                            'p' | 'n' => is_filter = true,
                            'e' | 'E' => {
                                has_script = true;
                                if at + 1 == text.len() {
                                    rest.next();
                                }
                                break;
                            }
                            'M' | 'm' | 'I' | 'x' | '0' | 'F' => break,
                            _ => {}
                        }
                    }
                }
                _ => operands.push(arg.clone()),
            }
        }
        operands.extend(rest.cloned());
        if is_in_place {
            operands
                .iter()
                .skip(usize::from(!has_script))
                .for_each(|file| self.write(state, file, WriteKind::Entry));
        }
        if args.is_empty() && *input == CommandInput::Inherited {
            self.effects.bare_interpreters.push(program.to_owned());
        } else {
            // A one-line filter over named files is the usual way to edit in place.
            self.effects.is_unproven |= !(program == "perl" && is_in_place && is_filter && has_script);
        }
    }

    fn awk(&mut self, args: &[Value], state: &ShellState) {
        let read = Arguments::read(args, "Fvfi", &["field-separator", "assign", "file", "include"]);
        let is_in_place = read.value(&["i", "include"]).and_then(Value::known) == Some("inplace");
        let has_file = read.has(&["f", "file"]);
        if is_in_place {
            let files = read.operands.iter().skip(usize::from(!has_file));
            files.for_each(|file| self.write(state, file, WriteKind::Entry));
        }
        let program = read.operands.first().filter(|_| !has_file);
        self.effects.is_unproven |= is_in_place
            || has_file
            || program.is_some_and(|program| program.known().is_none_or(awk_program_writes));
    }

    fn patch(&mut self, args: &[Value], state: &ShellState) {
        let read =
            Arguments::read(args, "pidorBzFYDgV", &["strip", "input", "directory", "output", "reject-file"]);
        if read.has(&["dry-run"]) {
            return;
        }
        if read.has(&["o", "output"]) {
            return self.write_option(state, &read, &["o", "output"]);
        }
        if let Some(file) = read.operands.first() {
            return self.write(state, &file.clone(), WriteKind::Entry);
        }
        let dir = read.value(&["d", "directory"]).cloned().unwrap_or_else(|| Value::Known(".".into()));
        self.write(state, &dir, WriteKind::Subtree);
    }

    /// Programs that rewrite the files they are given, and the package managers that run them.
    fn formatter(
        &mut self,
        program: &str,
        args: &[Value],
        state: &mut ShellState,
        input: &CommandInput,
    ) -> StepResult {
        let read =
            Arguments::read(args, "lo", &["config", "parser", "edition", "config-path", "line-length"]);
        let first = read.operands.first().and_then(Value::known).unwrap_or_default().to_owned();
        let only_checks = read.has(&["check", "diff", "l", "d", "list-different"]);
        let rest = read.behind_subcommand();
        let here = Value::Known(".".into());
        match (program, first.as_str()) {
            ("cargo" | "go", "fmt") if !only_checks => self.write(state, &here, WriteKind::Subtree),
            ("gh", "pr") if rest.operands.first().and_then(Value::known) == Some("checkout") => {
                self.write(state, &here, WriteKind::Subtree);
            }
            ("npm" | "pnpm" | "yarn" | "uv" | "poetry", "exec" | "x" | "dlx" | "run")
                if program != "npm" || first != "run" =>
            {
                let at = args.iter().position(|arg| arg.known() == Some(first.as_str())).unwrap_or_default();
                let inner = Arguments::read_prefix(&args[at + 1..], "", &[]);
                return self.call(&inner.operands, state, input);
            }
            ("ruff", "format") if !only_checks => self.write_operands(state, &rest, WriteKind::Subtree),
            ("ruff", "check") if read.has(&["fix"]) => self.write_operands(state, &rest, WriteKind::Subtree),
            ("rustfmt" | "black" | "isort", _) if !only_checks => {
                self.write_operands(state, &read, WriteKind::Subtree);
            }
            ("prettier", _) if read.has(&["write", "w"]) => {
                self.write_operands(state, &read, WriteKind::Subtree);
            }
            ("gofmt" | "goimports" | "shfmt", _) if read.has(&["w"]) => {
                self.write_operands(state, &read, WriteKind::Subtree);
            }
            ("clang-format", _) if read.has(&["i"]) => self.write_operands(state, &read, WriteKind::Entry),
            ("eslint", _) if read.has(&["fix"]) => self.write_operands(state, &read, WriteKind::Subtree),
            _ => {}
        }
        Ok(())
    }
}

/// Returns whether an awk program prints to a file or runs commands.
fn awk_program_writes(program: &str) -> bool {
    let prints = program
        .split(['{', '}', ';', '\n'])
        .any(|statement| statement.find("print").is_some_and(|at| statement[at..].contains(['>', '|'])));
    prints || program.contains("system(") || program.contains("| getline")
}

fn is_system_path(name: &str) -> bool {
    ["/bin/", "/usr/", "/sbin/", "/opt/"].iter().any(|prefix| name.starts_with(prefix))
}
