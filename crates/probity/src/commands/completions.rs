//! `probity completions` and `probity man`, generated from the command-line definition.

use crate::answer::CommandAnswer;
use crate::ui;
use clap::Args;
use probity_api::ExitCode;
use probity_api::govern::tools::{ManualPage, ShellCompletions};

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

/// Print the manual page
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  probity man > probity.1")]
pub(crate) struct ManArgs;

pub(crate) fn man(definition: clap::Command) -> CommandAnswer {
    let mut page = Vec::new();
    // Writing to memory does not fail.
    let _ = clap_mangen::Man::new(definition).render(&mut page);
    CommandAnswer::of(ExitCode::Ok, &ManualPage { text: print_bytes(&page) })
}

fn print_bytes(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes).into_owned();
    ui::print_document(&text);
    text
}
