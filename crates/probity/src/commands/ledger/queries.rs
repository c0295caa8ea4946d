//! `probity ledger` commands that read.

use super::args::ExportArgs;
use super::item_table;
use super::updates::show_list;
use crate::answer::CommandAnswer;
use crate::ui;
use probity_api::ExitCode;
use probity_api::ledger::{ItemListAnswer, LedgerInput, ReplayedInput};
use probity_knowledge::ledger::{self, ExportRequest, ItemFilter};
use probity_ledger::DeltaKind;
use probity_workspace::{ServiceError, Workspace};

pub(super) fn show(workspace: &Workspace, filter: &ItemFilter) -> Result<CommandAnswer, ServiceError> {
    let list = ledger::show(workspace, filter)?;
    show_list(&list);
    say_if_empty(&list);
    ui::eprint_row("seq", list.seq);
    Ok(CommandAnswer::of(ExitCode::Ok, &list))
}

fn say_if_empty(list: &ItemListAnswer) {
    if list.items.is_empty() && list.seq == 0 {
        ui::eprint(
            "the ledger is empty; begin with `probity ledger ingest FILE` or `probity ledger propose`",
        );
    }
}

pub(super) fn as_of(
    workspace: &Workspace,
    position: i64,
    filter: &ItemFilter,
) -> Result<CommandAnswer, ServiceError> {
    let list = ledger::as_of(workspace, position, filter)?;
    item_table::print_items(&list.items);
    item_table::print_contradictions(&list.contradictions);
    ui::eprint_row("seq", list.seq);
    Ok(CommandAnswer::of(ExitCode::Ok, &list))
}

pub(super) fn changed(
    workspace: &Workspace,
    since: Option<i64>,
    stream: Option<&str>,
) -> Result<CommandAnswer, ServiceError> {
    let changed = ledger::changed(workspace, since, stream)?;
    item_table::print_items(&changed.items);
    if changed.items.is_empty() {
        ui::eprint(format_args!("nothing changed since {}", changed.since));
    }
    ui::eprint_row("since", changed.since);
    ui::eprint_row("seq", changed.seq);
    Ok(CommandAnswer::of(ExitCode::Ok, &changed))
}

pub(super) fn explain(
    workspace: &Workspace,
    item: &str,
    stream: Option<&str>,
) -> Result<CommandAnswer, ServiceError> {
    let why = ledger::explain(workspace, item, stream)?;
    item_table::print_items(std::slice::from_ref(&why.item));
    for (source, quote) in why.item.sources.iter().zip(&why.quotes) {
        let quote = quote.as_deref().map(|quote| format!("  “{}”", one_line(quote))).unwrap_or_default();
        ui::print_row("said", format_args!("{} by {} at {}{quote}", source.turn, source.author, source.seq));
    }
    row_of("also", &why.handles.iter().skip(1).cloned().collect::<Vec<_>>());
    row_of("replaced by", &why.replaced_by);
    row_of("contradicts", &why.contradicts);
    for change in &why.changes {
        ui::print_row("change", format_args!("{} by {}", change.change, change.author));
    }
    Ok(CommandAnswer::of(ExitCode::Ok, &why))
}

fn row_of(label: &str, names: &[String]) {
    if !names.is_empty() {
        ui::print_row(label, names.join(", "));
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

pub(super) fn history(
    workspace: &Workspace,
    item: &str,
    stream: Option<&str>,
) -> Result<CommandAnswer, ServiceError> {
    let history = ledger::history(workspace, item, stream)?;
    item_table::print_items(std::slice::from_ref(&history.item));
    for version in &history.item.versions {
        let mode = version.mode.map(|mode| format!(", {mode}")).unwrap_or_default();
        let (summary, confidence) = (one_line(&version.summary), version.confidence);
        ui::print_row(
            "said",
            format_args!(
                "{:>5}  {summary}  {}",
                version.seq,
                ui::dim(format_args!("({confidence}{mode}, {})", version.author))
            ),
        );
    }
    for input in &history.inputs {
        let LedgerInput { seq, outcome, author, .. } = input;
        let (kind, code) = (kind_of(input), code_of(input));
        ui::print_row("input", format_args!("{seq:>5}  {kind} {outcome}{code} by {author}"));
    }
    Ok(CommandAnswer::of(ExitCode::Ok, &history))
}

/// Returns the kind of a proposed delta; empty if the input named no known kind.
fn kind_of(input: &LedgerInput) -> &'static str {
    input.kind.map_or("", DeltaKind::as_str)
}

fn code_of(input: &LedgerInput) -> String {
    input.code.map(|code| format!(" ({code})")).unwrap_or_default()
}

pub(super) fn scores(workspace: &Workspace, stream: Option<&str>) -> Result<CommandAnswer, ServiceError> {
    let scores = ledger::scores(workspace, stream)?;
    ui::print(ui::dim(format_args!(
        "  {:<20} {:>8} {:>9} {:>8} {:>9}  {:>8}",
        "author", "inputs", "accepted", "merged", "rejected", "rate"
    )));
    for score in &scores.authors {
        let rate = score
            .rejection_rate_permille
            .map_or_else(|| "-".into(), |rate| format!("{}.{} %", rate / 10, rate % 10));
        ui::print(format_args!(
            "  {:<20} {:>8} {:>9} {:>8} {:>9}  {rate:>8}",
            score.author, score.inputs, score.accepted, score.merged, score.rejected
        ));
        for (code, n) in &score.codes {
            ui::print(ui::dim(format_args!("    {n:>5} × {code}")));
        }
    }
    Ok(CommandAnswer::of(ExitCode::Ok, &scores))
}

pub(super) fn replay(workspace: &Workspace, since: Option<i64>) -> Result<CommandAnswer, ServiceError> {
    let replayed = ledger::replay(workspace, since)?;
    for ReplayedInput { input, item } in &replayed.inputs {
        ui::print(format_args!(
            "{:>6}  {:<9}{}  {}  {}  {}",
            input.seq,
            input.outcome,
            code_of(input),
            kind_of(input),
            ui::bold(item.as_deref().unwrap_or_default()),
            ui::dim(&input.author)
        ));
    }
    ui::print_row("inputs", replayed.seq);
    ui::print_row(
        "log",
        format_args!(
            "{} in {}, {} bytes",
            replayed.log_digest,
            ui::count_of(usize::try_from(replayed.transactions).unwrap_or(usize::MAX), "transaction"),
            replayed.log_bytes
        ),
    );
    ui::print_row("state", replayed.state_digest);
    let failed = replayed.snapshot_agrees == Some(false);
    let snapshot = match replayed.snapshot_agrees {
        None => ui::dim("none in use"),
        Some(true) => ui::good("says the same"),
        Some(false) => ui::bad("says something else: delete it"),
    };
    ui::print_row("snapshot", snapshot);
    if replayed.decided_otherwise > 0 {
        ui::print_row(
            "rules",
            ui::warn(format_args!(
                "{} are decided otherwise by this version",
                ui::count_of(usize::try_from(replayed.decided_otherwise).unwrap_or(usize::MAX), "input")
            )),
        );
    }
    Ok(CommandAnswer::of(if failed { ExitCode::Failed } else { ExitCode::Ok }, &replayed))
}

pub(super) fn export(workspace: &Workspace, arguments: ExportArgs) -> Result<CommandAnswer, ServiceError> {
    let request = ExportRequest {
        stream: arguments.stream.name().map(str::to_owned),
        budget: arguments.budget,
        query: arguments.query,
        since: arguments.since,
        page: arguments.page.map(Into::into),
    };
    let exported = ledger::export(workspace, &request)?;
    ui::print_document(exported.text.trim_end());
    if exported.hard_left_out > 0 {
        ui::eprint_row(
            "warning",
            ui::bad(format_args!(
                "{} did not fit: raise --budget",
                ui::count_of(exported.hard_left_out, "hard constraint")
            )),
        );
    }
    Ok(CommandAnswer::of(ExitCode::Ok, &exported))
}

pub(super) fn suggest(workspace: &Workspace, stream: Option<&str>) -> Result<CommandAnswer, ServiceError> {
    let suggestions = ledger::suggest(workspace, stream)?;
    for suggestion in &suggestions.suggestions {
        ui::print(format_args!(
            "  {}  {}",
            ui::bold(format_args!("{:<9}", suggestion.advice.as_str())),
            suggestion.why
        ));
        for (item, summary) in suggestion.items.iter().zip(&suggestion.summaries) {
            ui::print(format_args!("             {item}: {}", one_line(summary)));
        }
    }
    if suggestions.suggestions.is_empty() {
        ui::eprint("nothing to suggest");
    }
    Ok(CommandAnswer::of(ExitCode::Ok, &suggestions))
}
