//! Finds out which paths a shell command line certainly writes.
//!
//! *Certain* means that the line itself names the path: a redirection, `tee`, `sed -i`, `cp`, `mv`, `rm`, git commands that
//! rewrite the working tree, and the same inside `sh -c`, `eval`, `find -exec`, here-documents for a shell, functions and
//! substitutions. A line that runs a script, an interpreter with a program of its own, or a command or target taken from
//! a value that the line does not show is *unproven*: what it writes is judged from the tree afterwards.
//!
//! * `syntax`: the parser. `expansion`: words to values. `interpreter`: walks the script and collects effects.
//! * `programs`, `copies`, `archives`, `stream_editors`, `formatters`, `wrappers`, `git`, `agents`: what the known programs write.
//!   `filters`: the programs of sed and awk. `arguments`: reads their options. `output`: what commands print whose output the
//!   line shows. `builtins`: variables and directories of the shell.

mod agents;
mod archives;
mod arguments;
mod builtins;
mod copies;
mod expansion;
mod filters;
mod formatters;
mod git;
mod interpreter;
mod output;
mod programs;
mod stream_editors;
mod syntax;
mod wrappers;

/// The longest command line that is parsed.
const MAX_COMMAND_BYTES: usize = 512 * 1024;

/// What the analysis asks about the machine. Answers come from the file system, or from a test.
pub trait ShellWorld {
    /// The home directory of the user, absolute.
    fn home(&self) -> &str;

    /// Returns whether an absolute path is a directory.
    fn is_directory(&self, path: &str) -> bool;
}

/// What a write does to its path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum WriteKind {
    /// Creates, changes or removes the entry at the path.
    Entry,
    /// Creates a directory.
    Directory,
    /// May change anything at or below the path.
    Subtree,
    /// The path is a wildcard pattern.
    Pattern,
    /// Writes nothing yet, but gives the entry another name through which it can be written: a link of the same line.
    Alias,
}

/// One certain write.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ShellWrite {
    /// Absolute, without `.`, `..` and double slashes. Links are not resolved.
    pub path: String,
    pub kind: WriteKind,
}

/// The effects of a command line, as far as the line shows them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ShellEffects {
    pub writes: Vec<ShellWrite>,
    /// The programs that may write what the line does not show, as they are called; each once.
    pub unproven_programs: Vec<String>,
    /// The interpreters that it opens without a program, so that they read commands from their terminal.
    pub bare_interpreters: Vec<String>,
    /// Whether it calls `probity start`.
    pub starts_change: bool,
}

impl ShellEffects {
    /// Returns whether the line may write what it does not show.
    pub fn is_unproven(&self) -> bool {
        !self.unproven_programs.is_empty()
    }
}

/// Returns the effects of `command`, started in the absolute directory `cwd`.
///
/// # Errors
///
/// Returns why the line cannot be parsed. Such a line must not be taken for a harmless one.
pub fn effects(command: &str, cwd: &str, world: &dyn ShellWorld) -> Result<ShellEffects, String> {
    if command.len() > MAX_COMMAND_BYTES {
        return Err(format!("it is longer than {MAX_COMMAND_BYTES} bytes"));
    }
    let script = syntax::parse(command)?;
    interpreter::run(&script, cwd, world)
}

/// Joins `path` to the directory `base` and removes `.`, `..` and double slashes.
pub fn normalize(base: &str, path: &str) -> String {
    let mut segments: Vec<&str> = Vec::new();
    let base = if path.starts_with('/') { "" } else { base };
    for segment in base.split('/').chain(path.split('/')) {
        match segment {
            "" | "." => {}
            ".." => {
                segments.pop();
            }
            name => segments.push(name),
        }
    }
    format!("/{}", segments.join("/"))
}
