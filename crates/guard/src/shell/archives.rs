//! Programs that pack, unpack and compress.

use super::WriteKind;
use super::arguments::Arguments;
use super::expansion::Value;
use super::interpreter::{Interpreter, ShellState};
use super::programs::COMPRESSORS;

impl Interpreter<'_> {
    /// `cpio`: `-i` extracts, `-p` copies into a directory, `-o` writes an archive.
    pub(super) fn cpio(&mut self, args: &[Value], state: &ShellState) {
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

    pub(super) fn zip(&mut self, args: &[Value], state: &ShellState) {
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

    pub(super) fn seven_zip(&mut self, args: &[Value], state: &ShellState) {
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

    pub(super) fn compress(&mut self, program: &str, args: &[Value], state: &ShellState) {
        let suffix =
            COMPRESSORS.iter().find(|(names, _)| names.contains(&program)).map_or("gz", |(_, it)| *it);
        // These keep what they read, and name their output with `-o`; for the others `-S` is a suffix.
        let keeps = matches!(suffix, "zst" | "lz4" | "br");
        let read = Arguments::read(args, if keeps { "oDMT" } else { "S" }, &["suffix", "output"]);
        if read.has(&["c", "stdout", "to-stdout", "t", "test", "l", "list"]) {
            return;
        }
        if read.has(&["o", "output"]) {
            return self.write_option(state, &read, &["o", "output"]);
        }
        let keeps = keeps && !read.has(&["rm"]) || read.has(&["k", "keep"]);
        let unpacks = program.starts_with("un")
            || matches!(program, "gunzip" | "bunzip2")
            || read.has(&["d", "decompress", "uncompress"]);
        for operand in &read.operands {
            if !keeps {
                self.write(state, operand, WriteKind::Entry);
            }
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

    pub(super) fn tar(&mut self, args: &[Value], state: &ShellState) {
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

    pub(super) fn unzip(&mut self, args: &[Value], state: &ShellState) {
        let read = Arguments::read(args, "dxP", &[]);
        if read.has(&["l", "t", "p", "c", "Z", "v", "z"]) {
            return;
        }
        let dir = read.value(&["d"]).cloned().unwrap_or_else(|| Value::Known(".".into()));
        self.write(state, &dir, WriteKind::Subtree);
    }
}
