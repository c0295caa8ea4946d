//! What the known programs write. A program that is not listed is taken for one that writes nothing by its arguments:
//! build tools and test runners are judged from the tree.

use super::WriteKind;
use super::arguments::Arguments;
use super::expansion::Value;
use super::filters::{FilterEffects, awk_effects, sed_effects};
use super::interpreter::{CommandInput, Interpreter, ShellState, StepResult};

/// Programs that write the file of an option: their names, the short options that take a value (the output first), and the long
/// ones (the output first).
const OUTPUT_OPTIONS: [(&[&str], &str, &[&str]); 7] = [
    (&["sort", "shuf"], "okSTtn", &["output", "key", "random-source"]),
    (
        &["gcc", "g++", "cc", "c++", "clang", "clang++", "gfortran", "ld", "as", "nasm", "tcc"],
        "oxIDULlTfMW",
        &["output"],
    ),
    (&["rustc"], "oLlCAWDFOg", &["output-unused", "crate-name", "crate-type", "edition", "emit", "target"]),
    (
        &["pandoc", "dot", "xmllint", "xsltproc", "iconv", "uglifyjs", "terser", "strip", "bison"],
        "oftrTGNEKA",
        &["output"],
    ),
    (&["pg_dump", "pg_dumpall"], "fdhpUtnFj", &["file"]),
    (&["mysqldump"], "ruhP", &["result-file"]),
    (&["esbuild", "tsc", "rollup"], "o", &["outfile"]),
];

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
        if self.builtin(program, args, state, input) || self.wrapper(program, args, state, input)? {
            return Ok(());
        }
        let before_separator = args.iter().take_while(|arg| arg.known() != Some("--"));
        if before_separator.into_iter().any(|arg| matches!(arg.known(), Some("--help" | "--version"))) {
            return Ok(());
        }
        match program {
            "git" | "hub" => self.git(args, state),
            "probity" => self.probity(args, state),
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
            "mkdir" => {
                self.write_operands(state, &Arguments::read(args, "mZ", &["mode"]), WriteKind::Directory);
            }
            "mkfifo" | "mknod" => {
                let read = Arguments::read(args, "mZ", &["mode"]);
                // Behind the name of a node stand its type and numbers.
                let n_names = if program == "mknod" { 1 } else { read.operands.len() };
                read.operands.iter().take(n_names).for_each(|it| self.write(state, it, WriteKind::Entry));
            }
            "chmod" | "chown" | "chgrp" | "chattr" | "setfacl" | "setfattr" => {
                self.change_mode(program, args, state);
            }
            "rsync" => self.rsync(args, state),
            "scp" => self.scp(args, state),
            "gzip" | "gunzip" | "bzip2" | "xz" | "zstd" => self.compress(program, args, state),
            "curl" => self.curl(args, state),
            "wget" => self.wget(args, state),
            "tar" | "bsdtar" | "gtar" => self.tar(args, state),
            "unzip" => self.unzip(args, state),
            "zip" => self.zip(args, state),
            "7z" | "7za" | "7zr" | "7zz" => self.seven_zip(args, state),
            "xxd" => {
                let read = Arguments::read(args, "clogsn", &["len", "cols", "seek"]);
                read.operands.iter().skip(1).for_each(|it| self.write(state, it, WriteKind::Entry));
            }
            "uniq" => {
                let read = Arguments::read(args, "fsw", &["skip-fields", "skip-chars", "check-chars"]);
                read.operands.iter().skip(1).for_each(|it| self.write(state, it, WriteKind::Entry));
            }
            "openssl" | "ffmpeg" | "java" | "keytool" => self.single_dash_outputs(args, state),
            "sed" | "gsed" => self.sed(args, state)?,
            "perl" | "ruby" => self.perl(program, args, state, input),
            "awk" | "gawk" | "mawk" | "nawk" => self.awk(args, state)?,
            "patch" => self.patch(args, state),
            "ed" | "ex" => {
                let read = Arguments::read(args, "cp", &[]);
                self.write_operands(state, &read, WriteKind::Entry);
            }
            "vim" | "nvim" | "vi" => {
                // In ex mode `-s` means silent; otherwise it takes a file of keys.
                let is_ex = args
                    .iter()
                    .filter_map(Value::known)
                    .any(|arg| matches!(arg, "-e" | "-es" | "-E" | "-Es"));
                let read = Arguments::read(args, if is_ex { "cSTuUiw" } else { "cSsTuUiw" }, &["cmd"]);
                if read.has(&["e", "E", "c", "S", "s"]) {
                    self.write_operands(state, &read, WriteKind::Entry);
                }
            }
            _ if self.agent_command(program, args, state) => {}
            _ if self.formatter(program, args, state, input)? => {}
            _ if self.output_option(program, args, state) => {}
            _ if self.renaming_or_archive(program, args, state) => {}
            _ if name.contains('/') && !is_system_path(name) => self.effects.is_unproven = true,
            _ => {}
        }
        Ok(())
    }

    /// Runs a program that renames, mounts, unpacks or changes a database; `false` if `program` is none of them.
    fn renaming_or_archive(&mut self, program: &str, args: &[Value], state: &ShellState) -> bool {
        match program {
            "rename" | "prename" | "file-rename" => {
                let read = Arguments::read(args, "e", &[]);
                if !read.has(&["n", "nono", "no-act", "just-print"]) {
                    // The names of Perl's `rename` follow an expression, those of util-linux two texts.
                    let is_expression =
                        read.operands.first().and_then(Value::known).is_some_and(|text| text.contains('/'));
                    let n_texts = if read.has(&["e"]) { 0 } else { 2 - usize::from(is_expression) };
                    read.operands.iter().skip(n_texts).for_each(|it| self.write(state, it, WriteKind::Entry));
                }
            }
            "mount" => {
                let read = Arguments::read(args, "otLU", &["options", "types"]);
                if let [_, .., target] = read.operands.as_slice() {
                    self.write(state, target, WriteKind::Subtree);
                }
            }
            "cpio" => self.cpio(args, state),
            "sqlite3" => self.sqlite(args, state),
            _ => return false,
        }
        true
    }

    /// Runs a program that writes where an option says; `false` if `program` is none of them.
    fn output_option(&mut self, program: &str, args: &[Value], state: &ShellState) -> bool {
        let Some((_, short, long)) = OUTPUT_OPTIONS.iter().find(|(names, ..)| names.contains(&program))
        else {
            return false;
        };
        let read = Arguments::read(args, short, long);
        let first = short.chars().next().map(String::from).unwrap_or_default();
        let names: Vec<&str> = long.iter().copied().take(1).chain([first.as_str()]).collect();
        self.write_option(state, &read, &names);
        true
    }

    /// Programs with options of one dash and a whole word: `-out FILE`.
    fn single_dash_outputs(&mut self, args: &[Value], state: &ShellState) {
        for pair in args.windows(2) {
            if matches!(pair[0].known(), Some("-out" | "-keyout" | "-CAserial" | "-writerand")) {
                self.write(state, &pair[1], WriteKind::Entry);
            }
        }
    }

    pub(super) fn write_operands(&mut self, state: &ShellState, read: &Arguments, kind: WriteKind) {
        read.operands
            .iter()
            .filter(|value| value.known() != Some("-"))
            .for_each(|value| self.write(state, value, kind));
    }

    pub(super) fn write_option(&mut self, state: &ShellState, read: &Arguments, names: &[&str]) {
        if let Some(target) = read.value(names).filter(|value| value.known() != Some("-")) {
            self.write(state, &target.clone(), WriteKind::Entry);
        }
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
        let (mut writes, mut linked) = (Vec::new(), Vec::new());
        let links = program == "ln" || read.has(&["l", "link", "s", "symbolic-link"]) && program == "cp";
        let is_symbolic = read.has(&["s", "symbolic", "symbolic-link"]);
        for source in sources {
            let written = if is_inside { target.join(&source.base_name()) } else { target.clone() };
            if links {
                linked.push((source, written.clone()));
            }
            writes.push((written, kind(source)));
            if program == "mv" {
                writes.push((source.clone(), kind(source)));
            }
        }
        for (value, kind) in &writes {
            self.write(state, value, *kind);
        }
        for (source, link) in &linked {
            self.record_link(state, source, link, is_symbolic);
        }
    }

    /// Records a link, so that what the line writes through it is judged where it arrives. A file with a second hard link can be
    /// written under that name by later lines, too.
    fn record_link(&mut self, state: &ShellState, source: &Value, link: &Value, is_symbolic: bool) {
        if !is_symbolic {
            self.write(state, source, WriteKind::Alias);
            return self.link(state, link, source);
        }
        // The target of a symbolic link is relative to the directory of the link.
        let place = match (source, link) {
            (Value::Known(source), Value::Known(link)) if !source.starts_with('/') => {
                let dir =
                    link.rsplit_once('/').map_or(".", |(dir, _)| if dir.is_empty() { "/" } else { dir });
                Value::Known(format!("{dir}/{source}"))
            }
            _ => source.clone(),
        };
        self.link(state, link, &place);
    }

    /// `cpio`: `-i` extracts, `-p` copies into a directory, `-o` writes an archive.
    fn cpio(&mut self, args: &[Value], state: &ShellState) {
        let read = Arguments::read(args, "DFOIEHCRM", &["directory", "file", "format", "owner"]);
        if read.has(&["t", "list"]) {
            return;
        }
        if read.has(&["o", "create"]) {
            self.write_option(state, &read, &["O", "F", "file"]);
        } else if read.has(&["p", "pass-through"]) {
            self.write_operands(state, &read, WriteKind::Subtree);
        } else if read.has(&["i", "extract"]) && !read.has(&["to-stdout"]) {
            let dir = read.value(&["D", "directory"]).cloned().unwrap_or_else(|| Value::Known(".".into()));
            self.write(state, &dir, WriteKind::Subtree);
        }
    }

    /// `sqlite3 DATABASE COMMAND…`: commands that change the database, and those that name a file to write.
    fn sqlite(&mut self, args: &[Value], state: &ShellState) {
        let read = Arguments::read(args, "", &[]);
        let Some((database, commands)) = read.operands.split_first() else { return };
        for command in commands.iter().filter_map(Value::known).flat_map(|text| text.split([';', '\n'])) {
            let words: Vec<&str> = command.split_whitespace().collect();
            let Some((first, rest)) = words.split_first() else { continue };
            match first.to_ascii_lowercase().as_str() {
                "insert" | "update" | "delete" | "create" | "drop" | "alter" | "vacuum" | "replace"
                | "reindex" | ".import" | ".restore" => self.write(state, database, WriteKind::Entry),
                ".output" | ".once" | ".backup" | ".save" | ".log" => {
                    if let Some(file) = rest.last().filter(|file| !matches!(**file, "stdout" | "off" | "on"))
                    {
                        let file = Value::Known(file.trim_matches(['"', '\'']).to_owned());
                        self.write(state, &file, WriteKind::Entry);
                    }
                }
                _ => {}
            }
        }
    }

    fn change_mode(&mut self, program: &str, args: &[Value], state: &ShellState) {
        let (short, long): (&str, &[&str]) = match program {
            "setfacl" => ("mxMX", &["modify", "remove", "modify-file", "remove-file", "set", "set-file"]),
            "setfattr" => ("nvx", &["name", "value", "remove"]),
            _ => ("", &[]),
        };
        let read = Arguments::read(args, short, long);
        if !short.is_empty() {
            let kind = if read.has(&["R", "recursive"]) { WriteKind::Subtree } else { WriteKind::Entry };
            return self.write_operands(state, &read, kind);
        }
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

    /// `scp`: the last operand, unless it is on another machine.
    fn scp(&mut self, args: &[Value], state: &ShellState) {
        let read = Arguments::read(args, "cDFiJloPSX", &[]);
        let Some((target, sources)) = read.operands.split_last() else { return };
        if target.known().is_some_and(|text| text.split('/').next().unwrap_or_default().contains(':')) {
            return;
        }
        let kind = if read.has(&["r"]) { WriteKind::Subtree } else { WriteKind::Entry };
        for source in sources {
            let is_inside = sources.len() > 1
                || target.known().is_some_and(|text| text.ends_with('/'))
                || self.is_directory(state, target);
            let name = match source.known().and_then(|text| text.rsplit_once(':')) {
                Some((_, path)) => Value::Known(path.to_owned()).base_name(),
                None => source.base_name(),
            };
            let written = if is_inside { target.join(&name) } else { target.clone() };
            self.write(state, &written, kind);
        }
    }

    fn zip(&mut self, args: &[Value], state: &ShellState) {
        let read = Arguments::read(args, "bixnPst", &["include", "exclude"]);
        if read.has(&["T", "sf", "show-files", "h"]) {
            return;
        }
        let Some(archive) = read.operands.first().filter(|it| it.known() != Some("-")) else { return };
        let has_suffix =
            archive.known().is_none_or(|text| text.rsplit('/').next().unwrap_or_default().contains('.'));
        let archive = match archive {
            Value::Known(text) if !has_suffix => Value::Known(format!("{text}.zip")),
            other => other.clone(),
        };
        self.write(state, &archive, WriteKind::Entry);
    }

    fn seven_zip(&mut self, args: &[Value], state: &ShellState) {
        let words: Vec<&str> = args.iter().filter_map(Value::known).collect();
        match args.first().and_then(Value::known) {
            Some("a" | "u" | "d" | "rn") => {
                let archive =
                    args.iter().skip(1).find(|it| it.known().is_none_or(|text| !text.starts_with('-')));
                if let Some(archive) = archive {
                    self.write(state, &archive.clone(), WriteKind::Entry);
                }
            }
            Some("x" | "e") if !words.contains(&"-so") => {
                let dir = words.iter().find_map(|word| word.strip_prefix("-o")).unwrap_or(".");
                self.write(state, &Value::Known(dir.to_owned()), WriteKind::Subtree);
            }
            _ => {}
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

    fn sed(&mut self, args: &[Value], state: &ShellState) -> StepResult {
        let mut in_place = None;
        let mut has_script = false;
        let mut scripts = Vec::new();
        let mut operands = Vec::new();
        let mut rest = args.iter();
        while let Some(arg) = rest.next() {
            let Some(text) = arg.known() else {
                operands.push(arg.clone());
                continue;
            };
            match text {
                "--" => break,
                "-e" | "--expression" => {
                    has_script = true;
                    scripts.extend(rest.next().cloned());
                }
                "-f" | "--file" => {
                    has_script = true;
                    self.effects.is_unproven |= rest.next().is_some();
                }
                "-l" | "--line-length" => {
                    rest.next();
                }
                _ if text.starts_with("--") => {
                    if let Some(suffix) = text.strip_prefix("--in-place") {
                        in_place = Some(suffix.trim_start_matches('=').to_owned());
                    }
                    if let Some(script) = text.strip_prefix("--expression=") {
                        scripts.push(Value::Known(script.to_owned()));
                    }
                    self.effects.is_unproven |= text.starts_with("--file=");
                    has_script |= text.starts_with("--expression=") || text.starts_with("--file=");
                }
                _ if text.len() > 1 && text.starts_with('-') => {
                    // `-i` takes the rest of its word as a suffix.
                    for (at, letter) in text.char_indices().skip(1) {
                        match letter {
                            'i' => {
                                in_place = Some(text[at + 1..].to_owned());
                                break;
                            }
                            'e' | 'f' => {
                                has_script = true;
                                let script = if at + 1 == text.len() {
                                    rest.next().cloned()
                                } else {
                                    Some(Value::Known(text[at + 1..].to_owned()))
                                };
                                self.effects.is_unproven |= letter == 'f';
                                scripts.extend(script.filter(|_| letter == 'e'));
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
        if let Some(suffix) = &in_place {
            self.write_in_place(&operands[usize::from(!has_script).min(operands.len())..], suffix, state);
        }
        scripts.extend(operands.into_iter().take(usize::from(!has_script)));
        let known: Vec<&str> = scripts.iter().filter_map(Value::known).collect();
        let effects = sed_effects(&known.join("\n"));
        self.filter_effects(effects, state)
    }

    /// Records what the program of `sed` or `awk` writes and runs.
    fn filter_effects(&mut self, effects: FilterEffects, state: &ShellState) -> StepResult {
        self.effects.is_unproven |= effects.is_unproven;
        effects.targets.into_iter().for_each(|it| self.write(state, &Value::Known(it), WriteKind::Entry));
        effects.commands.iter().try_for_each(|it| self.run_text(it, &mut state.clone()))
    }

    /// Records files that are edited in place, with the copies that a suffix asks for.
    fn write_in_place(&mut self, files: &[Value], suffix: &str, state: &ShellState) {
        for file in files {
            self.write(state, file, WriteKind::Entry);
            let copy = match file {
                _ if suffix.is_empty() => continue,
                Value::Known(path) => Value::Known(backup_path(path, suffix)),
                Value::Pattern(path) => Value::Pattern(backup_path(path, suffix)),
                Value::Below(_) => continue,
                Value::Unknown => Value::Unknown,
            };
            if file.known() != Some("") {
                self.write(state, &copy, WriteKind::Entry);
            }
        }
    }

    /// `perl` and `ruby`, which edit in place with `-i`.
    fn perl(&mut self, program: &str, args: &[Value], state: &ShellState, input: &CommandInput) {
        let (mut in_place, mut is_filter, mut has_script) = (None, false, false);
        let mut operands = Vec::new();
        let mut rest = args.iter();
        while let Some(arg) = rest.next() {
            match arg.known() {
                Some("--") => break,
                Some(text) if text.len() > 1 && text.starts_with('-') && operands.is_empty() => {
                    for (at, letter) in text.char_indices().skip(1) {
                        match letter {
                            'i' => {
                                let suffix = &text[at + 1..];
                                // A suffix may follow, as in `-i.bak`.
                                if suffix.starts_with(['.', '~', '_']) {
                                    in_place = Some(suffix.to_owned());
                                    break;
                                }
                                in_place = Some(String::new());
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
        if let Some(suffix) = &in_place {
            self.write_in_place(&operands[usize::from(!has_script).min(operands.len())..], suffix, state);
        }
        if args.is_empty() && *input == CommandInput::Inherited {
            self.effects.bare_interpreters.push(program.to_owned());
        } else {
            // A one-line filter over named files is the usual way to edit in place.
            self.effects.is_unproven |= !(in_place.is_some() && is_filter && has_script);
        }
    }

    fn awk(&mut self, args: &[Value], state: &ShellState) -> StepResult {
        let read = Arguments::read(args, "Fvfi", &["field-separator", "assign", "file", "include"]);
        let is_in_place = read.value(&["i", "include"]).and_then(Value::known) == Some("inplace");
        let has_file = read.has(&["f", "file"]);
        if is_in_place {
            let files = read.operands.iter().skip(usize::from(!has_file));
            files.for_each(|file| self.write(state, file, WriteKind::Entry));
        }
        let program = read.operands.first().filter(|_| !has_file);
        self.effects.is_unproven |= has_file || program.is_some_and(|program| program.known().is_none());
        match program.and_then(Value::known) {
            Some(program) => self.filter_effects(awk_effects(program), state),
            None => Ok(()),
        }
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
}

/// Returns the name of the copy that an edit in place leaves: a suffix, or a name with `*` for the old one.
fn backup_path(path: &str, suffix: &str) -> String {
    if !suffix.contains('*') {
        return format!("{path}{suffix}");
    }
    let (dir, name) = path.rsplit_once('/').map_or(("", path), |(dir, name)| (dir, name));
    let copy = suffix.replace('*', name);
    if suffix.contains('/') || dir.is_empty() { copy } else { format!("{dir}/{copy}") }
}

fn is_system_path(name: &str) -> bool {
    ["/bin/", "/usr/", "/sbin/", "/opt/"].iter().any(|prefix| name.starts_with(prefix))
}
