//! `probity analyze blast`: who would notice a change.

use super::analyzed;
use crate::answer::Answer;
use crate::ui;
use api::ExitCode;
use canon::Reason;
use control::analyze::{AnalyzeOptions, documents};
use control::{Fault, Workspace};
use paths::RepoPath;
use std::collections::BTreeSet;

/// Shows who would notice a change of `files`.
pub(crate) fn blast(workspace: &Workspace, files: &[Vec<u8>]) -> Result<Answer, Fault> {
    let paths: BTreeSet<RepoPath> = files
        .iter()
        .map(|file| RepoPath::parse(file))
        .collect::<Result<_, _>>()
        .map_err(|error| Fault::refused(Reason::PathInvalid, error.to_string()))?;
    let run = analyzed(workspace, &AnalyzeOptions::default())?.run;
    let blast = analysis::blast_radius(&run, &paths);
    let lists =
        [("direct", &blast.direct), ("transitive", &blast.transitive), ("copies in", &blast.clone_siblings)];
    for (name, list) in lists {
        ui::print(format_args!("{} {}", ui::bold(name), ui::count(list.len(), "file")));
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
    for path in &blast.unknown {
        ui::print(format_args!("{} {path} is no analysed file of this tree", ui::warn("unknown")));
    }
    Ok(Answer::new("blast-radius", ExitCode::Ok, documents::blast(&run, &paths, &blast)))
}
