//! What the known programs write. A program that is not listed is taken for one that writes nothing by its arguments:
//! build tools and test runners are judged from the tree.

use super::WriteKind;
use super::arguments::Arguments;
use super::expansion::Value;
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

/// Programs that compress a file beside it, with the suffix of their results. All unpack with `-d`, or by their own name.
pub(super) const COMPRESSORS: [(&[&str], &str); 8] = [
    (&["gzip", "gunzip", "pigz", "unpigz"], "gz"),
    (&["bzip2", "bunzip2", "pbzip2", "lbzip2"], "bz2"),
    (&["xz", "unxz", "pixz"], "xz"),
    (&["lzma", "unlzma"], "lzma"),
    (&["zstd", "unzstd", "zstdmt"], "zst"),
    (&["lz4", "unlz4"], "lz4"),
    (&["compress", "uncompress"], "Z"),
    (&["brotli"], "br"),
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
            _ if self.file_maker(program, args, state)? => {}
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
            "chmod" | "chown" | "chgrp" | "chattr" | "setfacl" | "setfattr" => {
                self.change_mode(program, args, state);
            }
            "rsync" => self.rsync(args, state),
            "scp" => self.scp(args, state),
            _ if COMPRESSORS.iter().any(|(names, _)| names.contains(&program)) => {
                self.compress(program, args, state);
            }
            "curl" => self.curl(args, state),
            "wget" => self.wget(args, state),
            "tar" | "bsdtar" | "gtar" => self.tar(args, state),
            "unzip" => self.unzip(args, state),
            "zip" => self.zip(args, state),
            "7z" | "7za" | "7zr" | "7zz" => self.seven_zip(args, state),
            "openssl" | "ffmpeg" | "java" | "keytool" => self.single_dash_outputs(args, state),
            "sed" | "gsed" => self.sed(args, state)?,
            "perl" | "ruby" => self.perl(program, args, state, input),
            "awk" | "gawk" | "mawk" | "nawk" => self.awk(args, state)?,
            "patch" => self.patch(args, state),
            "apply_patch" | "applypatch" => self.apply_patch(args, state, input),
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
            _ if self.shell_among_arguments(program, args, state)? => {}
            _ => {
                self.output_of_unknown(program, args, state);
                if name.contains('/') && !is_system_path(name) {
                    self.note_unproven();
                }
            }
        }
        Ok(())
    }

    /// `split FILE PREFIX` and `csplit -f PREFIX`, which make as many files as there is content; `split --filter` runs a command
    /// instead.
    fn split(&mut self, program: &str, args: &[Value], state: &mut ShellState) -> StepResult {
        let long = ["filter", "prefix", "lines", "bytes", "line-bytes", "number", "suffix-length", "digits"];
        let read = Arguments::read(args, if program == "split" { "abClnt" } else { "fbn" }, &long);
        if let Some(text) = read.value(&["filter"]).cloned() {
            return self.evaluate(&text, &mut state.clone());
        }
        let prefix = match program {
            "split" => read.operands.get(1).cloned().unwrap_or_else(|| Value::Known("x".into())),
            _ => read.value(&["f", "prefix"]).cloned().unwrap_or_else(|| Value::Known("xx".into())),
        };
        let made = match prefix {
            Value::Known(prefix) | Value::Pattern(prefix) => Value::Pattern(format!("{prefix}*")),
            Value::Below(_) | Value::Unknown => Value::Unknown,
        };
        self.write(state, &made, WriteKind::Pattern);
        Ok(())
    }

    /// Records the file behind a long option for outputs of a program that is not known. A word such as `json` is a format.
    fn output_of_unknown(&mut self, program: &str, args: &[Value], state: &ShellState) {
        if matches!(program, "docker" | "podman" | "kubectl" | "cargo") {
            return;
        }
        let names = ["output-file", "outfile", "out-file", "outputFile", "output"];
        let read = Arguments::read(args, "", &names);
        let Some(file) = read.value(&names).cloned() else { return };
        let is_file = file.known().is_some_and(|text| {
            text.contains(['.', '/']) && !text.contains(['=', '{', ',', ' ', ':']) && !text.starts_with('-')
        });
        if is_file {
            self.write(state, &file, WriteKind::Entry);
        }
    }

    /// Runs a program that makes or cuts the files that its operands name; `false` if `program` is none of them.
    fn file_maker(&mut self, program: &str, args: &[Value], state: &mut ShellState) -> Result<bool, String> {
        match program {
            "link" => self.copy("ln", args, state),
            "split" | "csplit" => self.split(program, args, state)?,
            "fallocate" => {
                let read = Arguments::read(args, "lo", &["length", "offset"]);
                self.write_operands(state, &read, WriteKind::Entry);
            }
            "history" => {
                let read = Arguments::read(args, "d", &[]);
                if read.has(&["w", "a"]) {
                    self.write_operands(state, &read, WriteKind::Entry);
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
            "xxd" => {
                let read = Arguments::read(args, "clogsn", &["len", "cols", "seek"]);
                read.operands.iter().skip(1).for_each(|it| self.write(state, it, WriteKind::Entry));
            }
            "uniq" => {
                let read = Arguments::read(args, "fsw", &["skip-fields", "skip-chars", "check-chars"]);
                read.operands.iter().skip(1).for_each(|it| self.write(state, it, WriteKind::Entry));
            }
            "indent" => {
                let read = Arguments::read(args, "", &["output-file"]);
                match args.windows(2).find(|pair| matches!(pair[0].known(), Some("-o" | "--output-file"))) {
                    Some(pair) => self.write(state, &pair[1], WriteKind::Entry),
                    None => self.write_operands(state, &read, WriteKind::Entry),
                }
            }
            _ => return Ok(false),
        }
        Ok(true)
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
}

fn is_system_path(name: &str) -> bool {
    ["/bin/", "/usr/", "/sbin/", "/opt/"].iter().any(|prefix| name.starts_with(prefix))
}
