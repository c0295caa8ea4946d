//! The binary: parses the command line, calls a service, and prints its answer. No rule lives here.

mod answer;
mod caller_location;
mod cli;
mod commands;
mod help;
mod logging;
mod progress;
mod review;
mod terminal_text;
mod timings;
mod ui;

use answer::CommandAnswer;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, Parser};
use cli::{Cli, CliCommand};
use probity_api::ExitCode;
use probity_workspace::{ServiceError, Workspace};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    // Before anything else: a view is entered by a process with one thread and no open files.
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    if let Some(code) = probity_runner::run_view_role(&arguments) {
        return code;
    }
    // Before anything else is set up: an agent waits for this answer at every tool call.
    if std::env::args_os().nth(1).is_some_and(|word| word == "hook") {
        let words =
            std::env::args_os().skip(2).map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>();
        if words.iter().all(|word| !word.starts_with('-')) {
            return probity_hook::process::main(words.into_iter()).into();
        }
    }
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return report_usage_error(&error),
    };
    let meter = cli.timings.then(timings::WorkMeter::default);
    logging::install(cli.verbose, meter.clone());
    let json = cli.json;
    if json {
        ui::keep_stdout_for_json();
    }
    let answer = answer(cli).unwrap_or_else(|fault| {
        show_fault(&fault);
        CommandAnswer::of_fault(&fault)
    });
    if json {
        ui::print_json(&answer.document);
    }
    if let Some(meter) = meter {
        meter.show(json);
    }
    process_exit_code(&answer)
}

/// An answer that could not be written is an internal error, whatever it says.
fn process_exit_code(answer: &CommandAnswer) -> std::process::ExitCode {
    if ui::output_arrived() { answer.exit_code } else { ExitCode::Internal }.into()
}

/// Reports a usage error. `--help` also arrives here and is not an error.
fn report_usage_error(error: &clap::Error) -> std::process::ExitCode {
    show_usage_error(error);
    if let Some(hint) = usage_hint(error) {
        ui::eprint(format_args!("{}: {hint}", ui::warn("hint")));
    }
    let words = std::env::args_os().skip(1).take_while(|word| word != "--");
    if !error.use_stderr() || !words.into_iter().any(|word| word == "--json") {
        return if error.use_stderr() { ExitCode::Refused } else { ExitCode::Ok }.into();
    }
    let answer = CommandAnswer::of_fault(&ServiceError::refused(
        probity_core::ReasonCode::UsageInvalid,
        first_words(error),
    ));
    ui::print_json(&answer.document);
    process_exit_code(&answer)
}

/// Prints clap's message. It quotes what was typed, so it has clap's colors only where that is harmless.
fn show_usage_error(error: &clap::Error) {
    let is_deceptive = |word: OsString| probity_core::bytes::is_deceptive_text(&word.to_string_lossy());
    let mut quotable = std::env::args_os().chain(std::env::vars_os().map(|(_, value)| value));
    if error.use_stderr() && quotable.any(is_deceptive) {
        ui::eprint(error.render().to_string().trim_end());
    } else {
        let _ = error.print();
    }
}

/// Explains an unexpected word before `--`: usually a pattern that the shell expanded, or a command without `--`.
fn usage_hint(error: &clap::Error) -> Option<String> {
    let is_run =
        std::env::args_os().skip(1).find(|word| !word.as_encoded_bytes().starts_with(b"-"))? == "run";
    let is_missing = error.kind() == ErrorKind::MissingRequiredArgument;
    if is_run && is_missing && first_words(error).contains("<COMMAND>") {
        return Some("put the command after `--`: probity run --scope 'src/**' -- COMMAND".to_owned());
    }
    if is_missing && first_words(error).contains("<RUN>") {
        return Some("`last` names the newest run; `probity evidence list` lists all".to_owned());
    }
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidArg) else { return None };
    if !is_run || error.kind() != ErrorKind::UnknownArgument || word.starts_with('-') {
        return None;
    }
    Some(if Path::new(word).exists() {
        "if the shell expanded a pattern, quote it: --scope 'src/*.py'; several scopes need `--scope` each"
            .to_owned()
    } else {
        format!("put the command after `--`: probity run --scope … -- {word} …")
    })
}

/// Shortens a usage error to one line: clap's message up to its usage.
fn first_words(error: &clap::Error) -> String {
    let text = error.to_string();
    let words = text.split("\n\nUsage:").next().unwrap_or_default().trim_start_matches("error: ");
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn answer(cli: Cli) -> Result<CommandAnswer, ServiceError> {
    let root = cli.root;
    let cwd = std::env::current_dir().map_err(|source| ServiceError::System {
        what: "cannot determine the current directory".into(),
        source,
    })?;
    let workspace = || find_workspace(root.as_deref(), &cwd);
    // Commands about the whole tree first print its root.
    let about = |command: &str| {
        let workspace = workspace()?;
        caller_location::announce(command, &workspace);
        Ok::<_, ServiceError>(workspace)
    };
    let _phase = long_work(&cli.command).map(|what| progress::meter().begin(what));
    match cli.command {
        CliCommand::Run(args) => commands::run::run(&workspace()?, args, cwd.clone(), cli.json),
        CliCommand::Plan(args) => commands::plan::plan(&about("plan")?, args),
        CliCommand::Start(args) => commands::change::start(&about("start")?, args),
        CliCommand::Finish(args) => commands::change::finish(&about("finish")?, args),
        CliCommand::Status(args) => commands::change::status(&about("status")?, &args),
        CliCommand::Doctor(args) => commands::doctor::doctor(&about("doctor")?, &args),
        CliCommand::Amend(args) => commands::amend::amend(&about("amend")?, args),
        CliCommand::Land(args) => commands::land::land(&about("land")?, &args),
        CliCommand::Discard(args) => commands::land::discard(&about("discard")?, &args),
        CliCommand::Diff(args) => commands::land::diff(&workspace()?, &args),
        CliCommand::Enter(args) => commands::land::enter(&about("enter")?, &args, cli.json),
        CliCommand::Revert(args) => commands::revert::revert(&about("revert")?, &args),
        CliCommand::Analyze(args) => commands::analysis::analyze(&about("analyze")?, args),
        CliCommand::Runs(command) => commands::analysis::runs(&workspace()?, command),
        CliCommand::Intent(arguments) => commands::intent::intent(&workspace()?, &arguments),
        CliCommand::Log(arguments) => commands::log::log(workspace, &arguments),
        CliCommand::Evidence(command) => commands::evidence::evidence(workspace, command),
        CliCommand::Ci(arguments) => commands::ci::ci(&about("ci")?, *arguments),
        CliCommand::Contract(command) => commands::contract::contract(&about("contract")?, command),
        CliCommand::Claims(command) => commands::contract::claims(&workspace()?, command),
        CliCommand::Receipt(command) => commands::receipt::receipt(workspace, command),
        CliCommand::Keys(command) => commands::keys::keys(&workspace()?, &command),
        CliCommand::Ledger(command) => commands::ledger::ledger(&workspace()?, command),
        CliCommand::Commits(arguments) => commands::commits::commits(workspace, arguments),
        CliCommand::Merge(arguments) => commands::merge::merge(workspace, arguments, cli.json),
        CliCommand::Team(command) => commands::team::team(&workspace()?, command),
        CliCommand::Explain(args) => commands::explain::explain(workspace, &args),
        CliCommand::Why(args) => commands::why::why(&workspace()?, &args),
        CliCommand::Ui(args) => commands::ui::serve(&workspace()?, &args),
        CliCommand::Review(command) => commands::ui::review(workspace, &command),
        CliCommand::Init(args) => commands::init::init(&about("init")?, &args),
        CliCommand::Uninstall(args) => commands::uninstall::uninstall(&about("uninstall")?, &args),
        CliCommand::Mcp(args) => commands::mcp::mcp(&workspace()?, &args),
        CliCommand::Lsp(_) => commands::lsp::lsp(),
        CliCommand::Hook(args) => commands::hook::hook(&args),
        CliCommand::Conformance(args) => commands::conformance::conformance(&args),
        CliCommand::Completions(args) => Ok(commands::completions::completions(Cli::command(), &args)),
        CliCommand::Man(args) => Ok(commands::completions::man(Cli::command(), &args)),
    }
}

/// Says what a command does while it shows no more exact progress. None for those that hand over the terminal, wait for
/// input, or show their own progress from the beginning.
fn long_work(command: &CliCommand) -> Option<&'static str> {
    match command {
        CliCommand::Plan(_) => Some("planning"),
        CliCommand::Status(args) => args.reports_once().then_some("reading the tree"),
        CliCommand::Doctor(_) => Some("checking the setup"),
        CliCommand::Amend(_) => Some("judging again"),
        CliCommand::Discard(_) => Some("dropping the changes"),
        CliCommand::Diff(_) => Some("comparing the changes with the tree"),
        CliCommand::Runs(_) => Some("reading stored analyses"),
        CliCommand::Intent(_) => Some("reading the intents"),
        CliCommand::Log(_) => Some("reading the log"),
        CliCommand::Evidence(_) => Some("reading the evidence"),
        CliCommand::Receipt(_) => Some("reading receipts"),
        CliCommand::Team(_) => Some("asking the team's store"),
        CliCommand::Explain(_) => Some("reading the tree and the run"),
        CliCommand::Why(_) => Some("looking for the origin of the line"),
        CliCommand::Review(_) => Some("reading the change"),
        CliCommand::Uninstall(_) => Some("removing Probity's files"),
        CliCommand::Run(_)
        | CliCommand::Start(_)
        | CliCommand::Finish(_)
        | CliCommand::Land(_)
        | CliCommand::Enter(_)
        | CliCommand::Revert(_)
        | CliCommand::Analyze(_)
        | CliCommand::Ci(_)
        | CliCommand::Contract(_)
        | CliCommand::Claims(_)
        | CliCommand::Keys(_)
        | CliCommand::Ledger(_)
        | CliCommand::Commits(_)
        | CliCommand::Merge(_)
        | CliCommand::Ui(_)
        | CliCommand::Init(_)
        | CliCommand::Mcp(_)
        | CliCommand::Lsp(_)
        | CliCommand::Hook(_)
        | CliCommand::Conformance(_)
        | CliCommand::Completions(_)
        | CliCommand::Man(_) => None,
    }
}

/// Finds the workspace; only the first call mentions state in a parent directory.
fn find_workspace(root: Option<&Path>, cwd: &Path) -> Result<Workspace, ServiceError> {
    let mut workspace = Workspace::find(root, cwd)?;
    workspace.progress = progress::meter().clone();
    if caller_location::remember_location(&workspace, root) {
        caller_location::mention_tree_above(&workspace);
    }
    Ok(workspace)
}

fn show_fault(fault: &ServiceError) {
    let code = match fault {
        // These codes are everyday words and would read as the end of the sentence.
        ServiceError::Intent(refusal) => ui::dim(format_args!("[{}]", refusal.code())),
        fault => ui::bad(fault.code()),
    };
    ui::say_sentence(format_args!("{}: {fault} {code}", ui::bad("probity")));
    ui::eprint_row("next", fault.next_step());
}

fn relative_to_cwd(path: &std::path::Path) -> PathBuf {
    let here = std::env::current_dir().unwrap_or_default();
    path.strip_prefix(here).unwrap_or(path).to_owned()
}
