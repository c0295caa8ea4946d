//! `probity completions` and `probity man`, generated from the command-line definition.

use crate::answer::CommandAnswer;
use crate::ui;
use probity_api::ExitCode;
use probity_api::govern::tools::{ManualPage, ShellCompletions};

pub(crate) fn completions(mut definition: clap::Command, shell: clap_complete::Shell) -> CommandAnswer {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut definition, "probity", &mut script);
    CommandAnswer::of(ExitCode::Ok, &ShellCompletions { text: print_bytes(&script) })
}

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
