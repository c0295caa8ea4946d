//! `probity analyze blast`: the files that depend on the changed ones, or hold copies of their code.

use super::with_progress;
use crate::answer::CommandAnswer;
use crate::ui;
use probity_api::ExitCode;
use probity_workspace::{ServiceError, Workspace};

pub(crate) fn blast(workspace: &Workspace, files: &[Vec<u8>]) -> Result<CommandAnswer, ServiceError> {
    let blast = with_progress(|watch| probity_quality::analyze::blast_radius(workspace, files, watch))?;
    let lists = [
        ("direct", &blast.direct_dependents),
        ("transitive", &blast.transitive_dependents),
        ("copies in", &blast.clone_siblings),
    ];
    for (name, list) in lists {
        ui::print(format_args!("{} {}", ui::bold(name), ui::count_of(list.len(), "file")));
        for path in list {
            ui::print(format_args!("  {path}"));
        }
    }
    for cycle in &blast.cycles {
        let members: Vec<String> = cycle.iter().map(ToString::to_string).collect();
        ui::print(format_args!("{} {}", ui::warn("in a cycle:"), members.join(", ")));
    }
    for (file, names) in &blast.symbols {
        for (name, users) in names {
            let users: Vec<String> = users.iter().map(ToString::to_string).collect();
            ui::print(format_args!(
                "  {} {}",
                ui::bold(format_args!("{file} {name}")),
                ui::dim(users.join(", "))
            ));
        }
    }
    Ok(CommandAnswer::of(ExitCode::Ok, &blast))
}
