//! `probity completions` and `probity man`, generated from the command-line definition.

use crate::answer::CommandAnswer;
use crate::help::GLOBAL_OPTIONS;
use crate::ui;
use clap::Args;
use probity_api::ExitCode;
use probity_api::govern::tools::{ManualPage, ShellCompletions};
use std::fmt::Write;

/// Print shell completions
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  probity completions bash > ~/.local/share/bash-completion/completions/probity"
)]
pub(crate) struct CompletionsArgs {
    /// The shell
    shell: clap_complete::Shell,
}

pub(crate) fn completions(mut definition: clap::Command, args: &CompletionsArgs) -> CommandAnswer {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut definition, "probity", &mut script);
    CommandAnswer::of(ExitCode::Ok, &ShellCompletions { text: print_bytes(&script) })
}

/// Print the manual page, or the reference of all commands
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  probity man > probity.1\n  probity man --markdown > commands.md")]
pub(crate) struct ManArgs {
    /// Print every command with its options as Markdown
    #[arg(long)]
    markdown: bool,
}

pub(crate) fn man(mut definition: clap::Command, args: &ManArgs) -> CommandAnswer {
    let mut page = Vec::new();
    if args.markdown {
        definition.build();
        page = command_reference(&mut definition).into_bytes();
    } else {
        // Writing to memory does not fail.
        let _ = clap_mangen::Man::new(definition).render(&mut page);
    }
    CommandAnswer::of(ExitCode::Ok, &ManualPage { text: print_bytes(&page) })
}

/// Columns of the help in the reference.
const REFERENCE_WIDTH: usize = 100;

/// The heading level of the program itself; those of its commands are below it.
const ROOT_SECTION_DEPTH: usize = 2;

/// The help of every command, one section each.
fn command_reference(definition: &mut clap::Command) -> String {
    let mut page = String::from(
        "# Commands\n\nEvery command also takes the global options, which are listed under `probity` only.\n",
    );
    add_section(definition, "probity", ROOT_SECTION_DEPTH, &mut page);
    page
}

fn add_section(command: &mut clap::Command, name: &str, depth: usize, page: &mut String) {
    let mut shown = command.clone().term_width(REFERENCE_WIDTH);
    if depth > ROOT_SECTION_DEPTH {
        shown = shown.mut_args(|arg| {
            let is_global = arg.get_help_heading() == Some(GLOBAL_OPTIONS);
            arg.hide(is_global)
        });
    }
    let help = shown.render_long_help().to_string();
    let lines: Vec<&str> = help.trim_end().lines().map(str::trim_end).collect();
    let _ = write!(page, "\n{} {name}\n\n```text\n{}\n```\n", "#".repeat(depth), lines.join("\n"));
    let is_shown = |sub: &&mut clap::Command| !sub.is_hide_set() && sub.get_name() != "help";
    for sub in command.get_subcommands_mut().filter(is_shown) {
        let sub_name = format!("{name} {}", sub.get_name());
        add_section(sub, &sub_name, 3, page);
    }
}

fn print_bytes(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes).into_owned();
    ui::print_document(&text);
    text
}
