//! Streams and their merges.

use crate::answer::Answer;
use crate::ui;
use probity_api::ExitCode;
use probity_knowledge::ledger::{self, MergeRequest};
use probity_workspace::{Fault, Workspace};
use serde_json::json;

pub(super) fn list(workspace: &Workspace) -> Result<Answer, Fault> {
    let streams = ledger::streams(workspace)?;
    for stream in &streams {
        let open = match stream.batches {
            0 => ui::dim("merged"),
            1 => "1 batch".to_owned(),
            n => format!("{n} batches"),
        };
        ui::print(format_args!("  {}  from {}  {open}", ui::bold(&stream.name), stream.base));
    }
    if streams.is_empty() {
        ui::say("no streams; `probity ledger propose --stream NAME` begins one");
    }
    Ok(super::give::answer("ledger-streams", false, &json!({ "streams": streams })))
}

pub(super) fn merge(workspace: &Workspace, request: &MergeRequest) -> Result<Answer, Fault> {
    let merged = ledger::merge(workspace, request)?;
    let mark = match merged.status {
        "merged" => ui::good("merged"),
        "review" => ui::bad("review needed"),
        other => ui::warn(other),
    };
    ui::print(format_args!("{mark} {}: {}", merged.stream, ui::count(merged.proposals, "proposal")));
    for (from, to) in &merged.renamed {
        ui::print_row("renamed", format_args!("{from} is called {to} in the ledger"));
    }
    for point in &merged.points {
        let chosen = point.chosen.as_deref().map_or_else(|| ui::warn("undecided"), ui::good);
        let code = point.code.map(|code| format!(" ({code})")).unwrap_or_default();
        ui::print(format_args!(
            "  {}  {} {} {}{code}  {chosen}",
            ui::bold(&point.id),
            point.kind,
            point.item,
            point.about
        ));
        for (label, text) in [("ledger", &point.ours), ("stream", &point.theirs)] {
            if let Some(text) = text {
                ui::print_row(label, text.split_whitespace().collect::<Vec<_>>().join(" "));
            }
        }
        if point.chosen.is_none() {
            let ways =
                point.choices.iter().map(|choice| ui::code(format_args!("--resolve {}={choice}", point.id)));
            ui::print_row("choose", ways.collect::<Vec<_>>().join("  "));
        }
    }
    merged.notices.iter().for_each(|notice| ui::row("notice", ui::warn(notice)));
    ui::row("seq", merged.seq);
    let answer = super::give::answer("ledger-merge", false, &merged);
    Ok(if merged.status == "review" { Answer { exit_code: ExitCode::Conflict, ..answer } } else { answer })
}
