//! The commands of the binary, as its help lists them.

use std::collections::BTreeSet;
use std::process::Command;

/// Returns the commands that the help of `path` lists, without `help` itself. `start` prepares the binary.
pub(crate) fn subcommands(start: &dyn Fn(&[&str]) -> Command, path: &[&str]) -> Vec<String> {
    let output = start(path).arg("--help").output().expect("probity starts");
    let help = String::from_utf8(output.stdout).expect("text");
    let mut commands = Vec::new();
    let mut lists_commands = false;
    for line in help.lines() {
        if line.ends_with(':') && !line.starts_with(' ') {
            lists_commands = !["Arguments:", "Options:", "Examples:"].contains(&line);
        } else if lists_commands && line.starts_with("  ") && !line.starts_with("   ") {
            commands.extend(
                line.split_whitespace()
                    .next()
                    .filter(|name| *name != "help" && !name.starts_with('-'))
                    .map(str::to_owned),
            );
        } else if !line.is_empty() && !line.starts_with(' ') {
            lists_commands = false;
        }
    }
    commands
}

/// Returns every command that does something: those without subcommands, and those that work without one.
pub(crate) fn working_commands(start: &dyn Fn(&[&str]) -> Command) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    collect(start, &[], &mut found);
    assert!(found.len() > 70, "the help was not understood: {found:?}");
    found
}

fn collect(start: &dyn Fn(&[&str]) -> Command, path: &[&str], found: &mut BTreeSet<String>) {
    let below = subcommands(start, path);
    if below.is_empty() || path == ["analyze"] {
        found.insert(path.join(" "));
    }
    for command in &below {
        collect(start, &[path, &[command.as_str()]].concat(), found);
    }
}
