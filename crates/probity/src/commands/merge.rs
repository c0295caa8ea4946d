//! `probity merge`: shows what a merge lost, and records decisions about it.

use super::change::word_parser;
use super::commits::{
    CommitMetadataArgs, StoreArgs, conflict_values, json_of, list_of, open_at, print_losses, read_input,
};
use super::merge_audit::{self, AUDIT_EXAMPLES, MergeAuditArgs};
use crate::answer::CommandAnswer;
use crate::review::chosen_text;
use crate::{review, ui};
use clap::{Args, Subcommand};
use probity_api::ExitCode;
use probity_api::merges::{DecisionEntry, MergeHeadsAnswer};
use probity_document_store::merge::{self, AnalyzedMerge, MergeSelector, ReconcileRequest, ReconciledMerge};
use probity_document_store::{CommitStore, op_text, short_id};
use probity_documents::{ChosenState, ConflictChoice, DecidedConflict, GivenResolution};
use probity_workspace::{ServiceError, Workspace};
use std::io::IsTerminal;
use std::path::PathBuf;

/// Find what a merge lost, and restore or accept it
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  probity merge analyze @\n  probity merge analyze --ours main --theirs 3f2a\n  \
    probity merge reconcile @      # in a terminal: look, choose, write\n  \
    probity merge reconcile @ --all ours --why 'the release branch goes first'\n  \
    probity merge reconcile @ --resolutions decisions.json --why 'agreed'"
)]
pub(crate) struct MergeArgs {
    #[command(flatten)]
    place: StoreArgs,

    #[command(subcommand)]
    command: MergeCommand,
}

#[derive(Debug, Subcommand)]
enum MergeCommand {
    /// Find every edit that a git merge lost
    #[command(after_help = AUDIT_EXAMPLES)]
    Audit(MergeAuditArgs),

    /// Show which intent a merge lost
    #[command(
        after_help = "Examples:\n  probity merge analyze @\n  probity merge analyze --ours main --theirs 3f2a"
    )]
    Analyze {
        /// A merge that was written
        #[arg(required_unless_present_any = ["ours", "heads"])]
        merge: Option<String>,

        /// For a merge that is not written: the parent
        #[arg(long, value_name = "COMMIT", requires = "theirs", conflicts_with = "merge")]
        ours: Option<String>,

        /// For a merge that is not written: the target
        #[arg(long, value_name = "COMMIT", requires = "ours")]
        theirs: Option<String>,

        /// For all heads together: one report a merge of the fold
        #[arg(long, conflicts_with_all = ["merge", "ours"])]
        heads: bool,
    },

    /// Resolve what a merge lost; interactively in a terminal when no other option is given
    #[command(
        after_help = "Examples:\n  probity merge reconcile @\n  probity merge reconcile @ --all ours --why 'the release goes first'"
    )]
    Reconcile(ReconcileArgs),

    /// Show the policy that decides before a person is asked, or set it
    #[command(
        after_help = "Examples:\n  probity merge policy\n  probity merge policy --set merge-policy.json\n  \
                      probity merge policy --git --set finding-policy.json"
    )]
    Policy {
        /// The policy, in JSON: `{"rules": […], "groups": […], "invariants": […]}`; `-` for stdin
        #[arg(long, value_name = "FILE")]
        set: Option<PathBuf>,

        /// The one for findings of git merges: `{"rules": [{"path": …, "entity": …, "class": …, "decide": …}]}`
        #[arg(long)]
        git: bool,
    },

    /// Show who decided what, when and why, and what the alternatives were
    #[command(after_help = "Examples:\n  probity merge decisions")]
    Decisions {
        /// Only those about this merge
        merge: Option<String>,

        /// Those about findings of git merges instead
        #[arg(long, conflicts_with = "merge")]
        git: bool,
    },

    /// Have git audit every merge before it is committed
    #[command(after_help = "Examples:\n  probity merge hook --install\n  probity merge hook --remove")]
    Hook(MergeHookArgs),
}

#[derive(Debug, Args)]
struct MergeHookArgs {
    /// Install the hooks `pre-merge-commit` and `pre-commit`, unless others exist
    #[arg(long, required_unless_present = "remove", conflicts_with = "remove")]
    install: bool,

    /// Remove the hooks, if they are Probity's
    #[arg(long)]
    remove: bool,
}

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
struct ReconcileArgs {
    /// The merge
    #[arg(default_value = "@")]
    merge: String,

    /// Resolutions, as JSON: `[{"conflict": "1f2e…", "choose": "ours"}]`; `-` for stdin
    #[arg(long, value_name = "FILE")]
    resolutions: Option<PathBuf>,

    /// Resolve everything still undecided with this side: ours, theirs, base or merged
    #[arg(long, value_name = "SIDE", value_parser = word_parser::<ChosenState>(ChosenState::WORDS))]
    all: Option<ChosenState>,

    /// Repeat earlier decisions about the same values
    #[arg(long)]
    repeat: bool,

    /// Apply the policy only; do not ask
    #[arg(long)]
    policy_only: bool,

    /// Decide even what the policy refuses; needs a resolution for it
    #[arg(long)]
    override_policy: bool,

    /// Show what would be written, and write nothing
    #[arg(long)]
    dry_run: bool,

    /// The reason for the decision
    #[arg(long, value_name = "TEXT", default_value = "")]
    why: String,

    #[command(flatten)]
    signed: CommitMetadataArgs,
}

pub(crate) fn merge(
    workspace: impl Fn() -> Result<Workspace, ServiceError>,
    arguments: MergeArgs,
    json: bool,
) -> Result<CommandAnswer, ServiceError> {
    let command = match arguments.command {
        MergeCommand::Audit(args) => return merge_audit::audit(&workspace()?, &args),
        MergeCommand::Decisions { git: true, .. } => return merge_audit::decisions(&workspace()?),
        MergeCommand::Policy { git: true, set } => {
            let json = set.as_deref().map(read_input).transpose()?;
            return merge_audit::policy(&workspace()?, json.as_deref());
        }
        MergeCommand::Hook(args) => return merge_audit::set_hooks(&workspace()?, args.install),
        command => command,
    };
    let store = open_at(workspace, arguments.place.store.as_deref())?;
    match command {
        MergeCommand::Audit(_) | MergeCommand::Hook(_) => unreachable!("answered above"),
        MergeCommand::Analyze { heads: true, .. } => analyze_heads(&store),
        MergeCommand::Analyze { merge, ours, theirs, .. } => {
            let which = match (ours, theirs) {
                (Some(ours), Some(theirs)) => MergeSelector::Virtual { ours, theirs },
                // Here clap requires `merge`, so the default never applies.
                _ => MergeSelector::Written(merge.unwrap_or_else(|| "@".to_owned())),
            };
            let found = merge::analyze(&store, &which)?;
            print_losses(&found);
            let answer = found.to_answer();
            Ok(CommandAnswer::of(answer.exit_code(), &answer))
        }
        MergeCommand::Reconcile(args) => reconcile(&store, args, json),
        MergeCommand::Policy { set, .. } => policy(&store, set),
        MergeCommand::Decisions { merge, .. } => decisions(&store, merge.as_deref()),
    }
}

fn analyze_heads(store: &CommitStore) -> Result<CommandAnswer, ServiceError> {
    let found = merge::analyze_heads(store)?;
    if found.is_empty() {
        ui::print("one head, or none: there is nothing to merge");
    }
    found.iter().for_each(print_losses);
    let answer = MergeHeadsAnswer::new(false, found.iter().map(AnalyzedMerge::to_answer).collect());
    Ok(CommandAnswer::of(answer.exit_code(), &answer))
}

fn reconcile(store: &CommitStore, args: ReconcileArgs, json: bool) -> Result<CommandAnswer, ServiceError> {
    let is_told =
        args.resolutions.is_some() || args.all.is_some() || args.repeat || args.policy_only || args.dry_run;
    let resolutions = match &args.resolutions {
        Some(file) => list_of(&read_input(file)?)?.into_iter().map(GivenResolution::from).collect(),
        None => Vec::new(),
    };
    let request = ReconcileRequest {
        merge: args.merge,
        resolutions,
        rest: args.all.map(ConflictChoice::from),
        repeat: args.repeat,
        override_policy: args.override_policy,
        dry_run: args.dry_run,
        by: args.signed.into(),
        why: args.why,
    };
    if is_told || json || !std::io::stdin().is_terminal() || !std::io::stdout().is_terminal() {
        return Ok(print_reconciled(&merge::reconcile(store, &request)?));
    }
    let found = merge::analyze(store, &MergeSelector::Written(request.merge.clone()))?;
    if found.analysis.conflicts().is_empty() {
        print_losses(&found);
        return Ok(print_reconciled(&merge::reconcile(store, &request)?));
    }
    if let Some(outcome) = review::review(store, &found, &request)? {
        return Ok(print_reconciled(&outcome));
    }
    ui::eprint("nothing was written; the merge stands as it is");
    Ok(print_reconciled(&merge::reconcile(store, &ReconcileRequest { dry_run: true, ..request })?))
}

fn print_reconciled(done: &ReconciledMerge) -> CommandAnswer {
    for (conflict, chosen, by) in &done.decided {
        let place = format!(
            "{}/{} {}",
            conflict.attachment,
            conflict.key,
            probity_documents::path_text(&conflict.path)
        );
        ui::print(format_args!(
            "  {} {} {}",
            ui::bold(place),
            chosen_text(chosen),
            ui::dim(format_args!("({by})"))
        ));
    }
    done.ops.iter().for_each(|op| ui::print_row("op", op_text(op)));
    for violation in &done.violations {
        let words = format!("{}/{} {}", violation.attachment, violation.key, violation.why);
        ui::print_row("violates", ui::bad(words));
    }
    match (&done.survival, done.written) {
        (Some(id), true) => {
            ui::print(format_args!("{} survival commit {}", ui::good("written"), ui::code(id)));
        }
        (Some(_), false) => ui::print("nothing was written: this is what would be"),
        (None, true) => ui::print("the merge stands as it is; the decision is recorded"),
        (None, false) => ui::print("the merge stands as it is"),
    }
    if !done.open.is_empty() {
        let (n_open, stay) = (done.open.len(), ui::agreeing_verb(done.open.len(), "stays", "stay"));
        ui::eprint_row(
            "open",
            format_args!("{} {stay} as merged, undecided", ui::count_of(n_open, "conflict")),
        );
    }
    let answer = done.to_answer();
    CommandAnswer::of(answer.exit_code(), &answer)
}

fn policy(store: &CommitStore, set: Option<PathBuf>) -> Result<CommandAnswer, ServiceError> {
    let answer = match set {
        Some(file) => {
            let bytes = read_input(&file)?;
            json_of(&bytes)?;
            merge::set_policy(store, &bytes)?
        }
        None => merge::policy(store)?,
    };
    let policy = &answer.policy;
    ui::print_json_text(&serde_json::to_string_pretty(policy).expect("a policy has text keys only"));
    if policy.rules.is_empty() && policy.groups.is_empty() && policy.invariants.is_empty() {
        ui::eprint("the policy is empty: every conflict is for a person to decide");
    }
    Ok(CommandAnswer::of(ExitCode::Ok, &answer))
}

fn decisions(store: &CommitStore, merge: Option<&str>) -> Result<CommandAnswer, ServiceError> {
    let answer = merge::decisions(store, merge)?;
    for DecisionEntry { at, record, .. } in &answer.decisions {
        ui::print(format_args!(
            "{}  {}  merge {}  {}",
            ui::dim(at),
            ui::bold(&record.by),
            ui::code(short_id(&record.merge)),
            record.why
        ));
        record.decisions.iter().for_each(show_decision);
    }
    if answer.decisions.is_empty() {
        ui::eprint("nothing was decided yet");
    }
    Ok(CommandAnswer::of(ExitCode::Ok, &answer))
}

fn show_decision(decision: &DecidedConflict) {
    let conflict = &decision.conflict;
    let place =
        format!("{}/{} {}", conflict.attachment, conflict.key, probity_documents::path_text(&conflict.path));
    ui::print(format_args!("    {place}: {}", ui::good(chosen_text(&decision.chosen))));
    for (side, reading) in conflict_values(conflict) {
        let value = reading.0.as_ref().map_or_else(|| "absent".to_owned(), ToString::to_string);
        ui::print(format_args!("        {} {value}", ui::dim(format_args!("{side:<7}"))));
    }
}
