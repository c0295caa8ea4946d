//! `probity ui`: the review page. `probity review`: one change as a file.

use crate::answer::CommandAnswer;
use crate::ui;
use clap::{Args, Subcommand};
use probity_api::ExitCode;
use probity_api::review::{ReviewServerEnd, ServerEndStatus};
use probity_core::bytes::escape;
use probity_evidence::{InclusionProof, StoredManifest, verify_bundle};
use probity_runner::bundles;
use probity_web::{UiEndpoint, UiOptions};
use probity_workspace::{ServiceError, Workspace};
use std::path::{Path, PathBuf};

/// Open the review page in the browser
///
/// Who works where, what each change did against what it declared, and decisions with the same effect as on the command
/// line. The page is served on the loopback address only; the printed link opens it once, and a line on standard input
/// prints another one.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  probity ui\n  probity ui --read-only --no-open --port 4681")]
pub(crate) struct UiArgs {
    /// Show everything, and let nobody decide
    #[arg(long)]
    read_only: bool,

    /// The port on the loopback address [default: any free one]
    #[arg(long, value_name = "PORT", default_value_t = 0, hide_default_value = true)]
    port: u16,

    /// Print the link, and start no browser
    #[arg(long)]
    no_open: bool,

    /// Who decides, on the record [default: the user]
    #[arg(long, value_name = "NAME")]
    by: Option<String>,
}

/// Show a change as the page does, or export it as one file
#[derive(Debug, Subcommand)]
#[command(after_help = "Examples:\n  probity review show last\n  probity review export last -o review.html")]
pub(crate) enum ReviewCommand {
    /// Write a change as one HTML file with its evidence inside
    #[command(
        after_help = "Examples:\n  probity review export last -o review.html\n  probity review export main..HEAD -o review.html"
    )]
    Export {
        /// The change: a run or an intent by id or the beginning of it, `last`, `BASE..HEAD`, or `worktree`
        change: String,
        /// The file
        #[arg(short, long, value_name = "FILE")]
        output: PathBuf,
    },
    /// Check the evidence inside an exported page
    #[command(
        after_help = "Examples:\n  probity review verify review.html\n  probity review verify review.html --trust trust.json"
    )]
    Verify {
        /// The page
        page: PathBuf,
        /// What to demand of the evidence: keys and rules
        #[arg(long, value_name = "FILE")]
        trust: Option<PathBuf>,
    },
    /// Say which findings a change made, made worse and fixed
    ///
    /// The tree as it is, once with the old contents of the changed paths and once with the new ones.
    #[command(
        after_help = "Examples:\n  probity review findings last\n  probity review findings main..HEAD --json"
    )]
    Findings {
        /// The change: a run or an intent by id or the beginning of it, `last`, `BASE..HEAD`, or `worktree`
        change: String,
    },
    /// Print everything about a change, as the page shows it
    #[command(after_help = "Examples:\n  probity review show last --json")]
    Show {
        /// The change: a run or an intent by id or the beginning of it, `last`, `BASE..HEAD`, or `worktree`
        change: String,
    },
}

/// Serves until the process is ended.
pub(crate) fn serve(workspace: &Workspace, args: &UiArgs) -> Result<CommandAnswer, ServiceError> {
    let options = UiOptions {
        root: workspace.root.clone(),
        port: args.port,
        read_only: args.read_only,
        person: args.by.clone().unwrap_or_else(probity_workspace::user_name),
    };
    let opens = !args.no_open;
    let served = probity_web::serve(options, |endpoint| tell(endpoint.clone(), opens));
    served.map_err(|error| ServiceError::System {
        what: "the review page stopped".into(),
        source: std::io::Error::other(error),
    })?;
    Ok(CommandAnswer::of(ExitCode::Ok, &ReviewServerEnd { status: ServerEndStatus::Stopped }))
}

/// Prints a link, and another one for each line on standard input.
fn tell(endpoint: UiEndpoint, opens: bool) {
    let print_link = |endpoint: &UiEndpoint| match endpoint.new_link() {
        Ok(link) => {
            ui::eprint_row("open", &link);
            Some(link)
        }
        Err(error) => {
            ui::eprint_row("open", error);
            None
        }
    };
    let link = print_link(&endpoint);
    ui::eprint_row("", "the link opens the page once; press Enter for another, Ctrl-C to stop");
    if let Some(link) = link.filter(|_| opens) {
        start_browser(&link);
    }
    std::thread::spawn(move || {
        let mut typed = String::new();
        while std::io::stdin().read_line(&mut typed).is_ok_and(|read| read > 0) {
            print_link(&endpoint);
            typed.clear();
        }
    });
}

/// Starts the browser of the desktop; without one the printed link is the way.
fn start_browser(link: &str) {
    let mut command = std::process::Command::new("xdg-open");
    command.arg(link).stdin(std::process::Stdio::null()).stdout(std::process::Stdio::null());
    command.stderr(std::process::Stdio::null());
    if let Ok(mut child) = command.spawn() {
        std::thread::spawn(move || child.wait());
    }
}

pub(crate) fn review(
    workspace: impl Fn() -> Result<Workspace, ServiceError>,
    command: &ReviewCommand,
) -> Result<CommandAnswer, ServiceError> {
    match command {
        ReviewCommand::Export { change, output } => export(&workspace()?, change, output),
        ReviewCommand::Verify { page, trust } => verify(page, trust.as_deref()),
        ReviewCommand::Show { change } => show(&workspace()?, change),
        ReviewCommand::Findings { change } => findings(&workspace()?, change),
    }
}

fn show(workspace: &Workspace, change: &str) -> Result<CommandAnswer, ServiceError> {
    let name = probity_review::find_change(workspace, change)?;
    let review = probity_review::review(workspace, &name)?;
    let (added, removed) = review.lines();
    ui::print(format_args!("{}  {}", ui::bold(&review.title), ui::dim(&review.change)));
    ui::print_row("state", review.state);
    for reason in &review.reasons {
        ui::print_row("reason", format_args!("{} {}", ui::bad(&reason.code), reason.meaning));
    }
    for clause in &review.clauses {
        let paths = ui::count_of(clause.n_decided, "path");
        ui::print_row("scope", format_args!("{}  {}", clause.pattern, ui::dim(paths)));
    }
    for path in &review.paths {
        let lines = format!("+{} -{}", path.lines_added, path.lines_removed);
        ui::print_row(path.fate.as_str(), format_args!("{}  {}", path.path, ui::dim(lines)));
    }
    ui::print_row("lines", format_args!("{added} added, {removed} removed"));
    for option in &review.options {
        ui::print_row(option.action.as_str(), ui::code(&option.command));
    }
    for note in &review.notes {
        ui::print_row("note", note);
    }
    Ok(CommandAnswer::of(ExitCode::Ok, &review))
}

fn findings(workspace: &Workspace, change: &str) -> Result<CommandAnswer, ServiceError> {
    let name = probity_review::find_change(workspace, change)?;
    let (review, contents) = probity_review::review_with_contents(workspace, &name)?;
    let found = probity_review::change_findings(workspace, &review, &contents)?;
    for note in &found.findings {
        let place = note.line.map_or_else(|| note.path.to_string(), |line| format!("{}:{line}", note.path));
        ui::print_row(note.change.as_str(), format_args!("{}  {}", note.message, ui::dim(place)));
    }
    if found.left_out > 0 {
        ui::print_row("left out", ui::count_of(found.left_out, "finding"));
    }
    if found.findings.is_empty() {
        ui::print_row("findings", "none new, none worse, none fixed");
    }
    if let Some((before, after)) = found.health {
        ui::print_row("health", format_args!("{before} to {after}"));
    }
    for note in &found.notes {
        ui::print_row("note", note);
    }
    Ok(CommandAnswer::of(ExitCode::Ok, &found))
}

fn export(workspace: &Workspace, change: &str, output: &Path) -> Result<CommandAnswer, ServiceError> {
    let page = probity_web::export(workspace, change)?;
    std::fs::write(output, &page)
        .map_err(ServiceError::system(format!("cannot write {}", output.display())))?;
    let name = probity_review::find_change(workspace, change)?;
    let review = probity_review::review(workspace, &name)?;
    ui::print(format_args!("{} {}", ui::good("wrote"), output.display()));
    ui::print_row("check", ui::code(format_args!("probity review verify {}", output.display())));
    Ok(CommandAnswer::of(ExitCode::Ok, &review))
}

/// How many changed paths of a page are listed.
const MAX_SHOWN_PATHS: usize = 50;

/// Says what the evidence in a page is about: the page around it may tell of another change.
fn print_subject(files: &bundles::BundleFiles) {
    let Some(bytes) = files.get(&b"manifest.json"[..]) else { return };
    let Ok(stored) = StoredManifest::parse(bytes) else { return };
    let manifest = &stored.manifest;
    ui::print_row("evidence", format_args!("of run {}, {}", manifest.run_id, manifest.created_at));
    let reasons: Vec<&str> = manifest.reasons().iter().map(|reason| reason.as_str()).collect();
    let status =
        if reasons.is_empty() { "passed".to_owned() } else { format!("failed: {}", reasons.join(", ")) };
    ui::print_row("the run", status);
    let patterns: Vec<String> =
        manifest.plan.scope.as_slice().iter().map(|pattern| escape(pattern)).collect();
    ui::print_row("scope", patterns.join(" "));
    let changes = manifest.delta.as_deref().unwrap_or_default();
    for change in changes.iter().take(MAX_SHOWN_PATHS) {
        ui::print_row("changed", &change.path);
    }
    if changes.len() > MAX_SHOWN_PATHS {
        ui::print_row("", format_args!("and {} more", ui::count_of(changes.len() - MAX_SHOWN_PATHS, "path")));
    }
    ui::print_row("note", "the page itself is not checked: compare it with these lines");
}

fn verify(page: &Path, trust: Option<&Path>) -> Result<CommandAnswer, ServiceError> {
    let text = std::fs::read_to_string(page).map_err(|error| {
        ServiceError::Missing(format!("cannot read the page {}: {error}", page.display()))
    })?;
    let found = probity_web::read_export(&text)?;
    let trust = bundles::read_trust(trust)?;
    let verification = verify_bundle(&found.files, &trust);
    let proof = found.proof.as_deref().map(InclusionProof::parse).transpose();
    let proof = proof.map_err(|why| ServiceError::BadInput(format!("the proof in the page: {why}")))?;
    let check = proof.and_then(|proof| bundles::check_proof(&found.files, &proof, &trust, None));
    let answer = bundles::verification_answer(&verification, check);
    print_subject(&found.files);
    super::evidence::show_verification(&answer, &found.files, &trust);
    Ok(CommandAnswer::of(answer.outcome.into(), &answer))
}
