//! Programs that copy, move and link files, set their modes, or fetch them.

use super::WriteKind;
use super::arguments::Arguments;
use super::expansion::Value;
use super::interpreter::{Interpreter, ShellState};

impl Interpreter<'_> {
    /// `cp`, `mv`, `ln` and `install`: the last operand is the destination, unless `-t` names a directory.
    pub(super) fn copy(&mut self, program: &str, args: &[Value], state: &ShellState) {
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

    pub(super) fn change_mode(&mut self, program: &str, args: &[Value], state: &ShellState) {
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

    pub(super) fn rsync(&mut self, args: &[Value], state: &ShellState) {
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
        if is_remote || sources.is_empty() {
            return;
        }
        // A plain file, neither on another machine nor a directory, arrives under its own name.
        let is_file = |source: &Value| {
            source.known().is_some_and(|text| !text.ends_with('/') && !text.contains(':'))
                && !self.is_directory(state, source)
        };
        if read.has(&["delete", "R", "relative", "files-from", "b", "backup"]) || !sources.iter().all(is_file)
        {
            return self.write(state, target, WriteKind::Subtree);
        }
        let is_inside = sources.len() > 1
            || target.known().is_some_and(|text| text.ends_with('/'))
            || self.is_directory(state, target);
        for source in sources {
            let written = if is_inside { target.join(&source.base_name()) } else { target.clone() };
            self.write(state, &written, WriteKind::Entry);
        }
    }

    /// `scp`: the last operand, unless it is on another machine.
    pub(super) fn scp(&mut self, args: &[Value], state: &ShellState) {
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

    pub(super) fn curl(&mut self, args: &[Value], state: &ShellState) {
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
            let dir = read.value(&["output-dir"]).cloned().unwrap_or_else(|| Value::Known(".".into()));
            let name = |url: &Value| dir.join(&url.base_name());
            read.operands.iter().for_each(|url| self.write(state, &name(url), WriteKind::Entry));
        }
        self.write_option(state, &read, &["D", "dump-header"]);
        self.write_option(state, &read, &["c", "cookie-jar"]);
    }

    pub(super) fn wget(&mut self, args: &[Value], state: &ShellState) {
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
}
