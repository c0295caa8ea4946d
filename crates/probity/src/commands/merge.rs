//! `probity merge`: what a merge lost, and deciding about it.

use super::commits::{Place, Signed, chosen_text, input, json_of, list_of, losses, open_at};
use crate::answer::{Answer, Outcome};
use crate::{review, ui};
use clap::{Args, Subcommand};
use commit::Chosen;
use control::commits::merge::{self, Analyzed, ReconcileRequest, Reconciled, Which};
use control::commits::{CommitStore, op_text};
use control::{Fault, Workspace};
use serde_json::{Value, json};
use std::io::IsTerminal;
use std::path::PathBuf;

/// `probity merge`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  probity merge analyze @\n  probity merge analyze --ours main --theirs 3f2a\n  \
    probity merge reconcile @      # in a terminal: look, choose, write\n  \
    probity merge reconcile @ --all ours --why 'the release branch goes first'\n  \
    probity merge reconcile @ --resolutions decisions.json --why 'agreed'"
)]
pub(crate) struct MergeArgs {
    #[command(flatten)]
    place: Place,

    #[command(subcommand)]
    command: MergeCommand,
}

#[derive(Debug, Subcommand)]
enum MergeCommand {
    /// Say which intent a merge lost
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

    /// Decide about what a merge lost; in a terminal, without further options, by looking and choosing
    #[command(
        after_help = "Examples:\n  probity merge reconcile @\n  probity merge reconcile @ --all ours --why 'the release goes first'"
    )]
    Reconcile {
        /// The merge
        #[arg(default_value = "@")]
        merge: String,

        /// Resolutions, as JSON: `[{"conflict": "1f2e…", "choose": "ours"}]`; `-` for stdin
        #[arg(long, value_name = "FILE")]
        resolutions: Option<PathBuf>,

        /// Decide whatever nothing else decides: ours, theirs, base or merged
        #[arg(long, value_name = "SIDE")]
        all: Option<String>,

        /// Decide again what was decided before about the same values
        #[arg(long)]
        repeat: bool,

        /// Let the policy alone decide; ask nobody
        #[arg(long)]
        policy_only: bool,

        /// Decide what the policy refuses all the same; needs a resolution for it
        #[arg(long)]
        override_policy: bool,

        /// Say what would be written, and write nothing
        #[arg(long)]
        dry_run: bool,

        /// Why it is decided so
        #[arg(long, value_name = "TEXT", default_value = "")]
        why: String,

        #[command(flatten)]
        signed: Signed,
    },

    /// Show the policy that decides before a person is asked, or set it
    #[command(
        after_help = "Examples:\n  probity merge policy\n  probity merge policy --set merge-policy.json"
    )]
    Policy {
        /// The policy, in JSON: `{"rules": […], "groups": […], "invariants": […]}`; `-` for stdin
        #[arg(long, value_name = "FILE")]
        set: Option<PathBuf>,
    },

    /// Show who decided what, when and why, and what else was on offer
    #[command(after_help = "Examples:\n  probity merge decisions")]
    Decisions {
        /// Only those about this merge
        merge: Option<String>,
    },
}

/// Answers a question about merges, or decides.
pub(crate) fn merge(
    workspace: impl Fn() -> Result<Workspace, Fault>,
    arguments: MergeArgs,
    json: bool,
) -> Result<Answer, Fault> {
    let store = open_at(workspace, arguments.place.store.as_deref())?;
    match arguments.command {
        MergeCommand::Analyze { heads: true, .. } => analyze_heads(&store),
        MergeCommand::Analyze { merge, ours, theirs, .. } => {
            let which = match (ours, theirs) {
                (Some(ours), Some(theirs)) => Which::Virtual { ours, theirs },
                _ => Which::Written(merge.unwrap_or_default()),
            };
            let found = merge::analyze(&store, &which)?;
            losses(&found);
            Ok(analyzed(&found))
        }
        MergeCommand::Reconcile { .. } => reconcile(&store, arguments.command, json),
        MergeCommand::Policy { set } => policy(&store, set),
        MergeCommand::Decisions { merge } => decisions(&store, merge.as_deref()),
    }
}

fn analyzed(found: &Analyzed) -> Answer {
    Answer::new("merge-analysis", outcome(found), found.to_json())
}

/// Open conflicts are a conflict; what the policy refuses or an invariant forbids is a failure.
fn outcome(found: &Analyzed) -> Outcome {
    if found.rulings.is_refused() || !found.violations.is_empty() {
        Outcome::Failed
    } else if found.n_open() > 0 {
        Outcome::Conflict
    } else {
        Outcome::Ok
    }
}

fn analyze_heads(store: &CommitStore) -> Result<Answer, Fault> {
    let found = merge::analyze_heads(store)?;
    if found.is_empty() {
        ui::print("one head, or none: there is nothing to merge");
    }
    found.iter().for_each(losses);
    let worst = found.iter().map(outcome).max_by_key(|outcome| outcome.exit_code()).unwrap_or(Outcome::Ok);
    let open: usize = found.iter().map(Analyzed::n_open).sum();
    let merges: Vec<Value> = found.iter().map(Analyzed::to_json).collect();
    Ok(Answer::new("merge-heads", worst, json!({ "written": false, "merges": merges, "open": open })))
}

fn reconcile(store: &CommitStore, command: MergeCommand, json: bool) -> Result<Answer, Fault> {
    let MergeCommand::Reconcile {
        merge,
        resolutions,
        all,
        repeat,
        policy_only,
        override_policy,
        dry_run,
        why,
        signed,
    } = command
    else {
        unreachable!("only ever called to reconcile");
    };
    let is_told = resolutions.is_some() || all.is_some() || repeat || policy_only || dry_run;
    let resolutions = match resolutions {
        Some(file) => list_of(&input(&file)?)?,
        None => Vec::new(),
    };
    let rest = all.map(|side| Chosen::from(Value::String(side)));
    let request = ReconcileRequest {
        merge,
        resolutions,
        rest,
        repeat,
        override_policy,
        dry_run,
        by: signed.into(),
        why,
    };
    if is_told || json || !std::io::stdin().is_terminal() || !std::io::stdout().is_terminal() {
        return Ok(reconciled(&merge::reconcile(store, &request)?));
    }
    let found = merge::analyze(store, &Which::Written(request.merge.clone()))?;
    if found.analysis.conflicts().is_empty() {
        losses(&found);
        return Ok(reconciled(&merge::reconcile(store, &request)?));
    }
    if let Some(outcome) = review::review(store, &found, &request)? {
        return Ok(reconciled(&outcome));
    }
    ui::say("nothing was written; the merge stands as it is");
    Ok(reconciled(&merge::reconcile(store, &ReconcileRequest { dry_run: true, ..request })?))
}

fn reconciled(done: &Reconciled) -> Answer {
    for (conflict, chosen, by) in &done.decided {
        let place = format!("{}/{} {}", conflict.attachment, conflict.key, commit::path_text(&conflict.path));
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
        ui::row("open", format_args!("{} stay as merged, undecided", ui::count(done.open.len(), "conflict")));
    }
    let outcome = if !done.violations.is_empty() {
        Outcome::Failed
    } else if done.open.is_empty() {
        Outcome::Ok
    } else {
        Outcome::Conflict
    };
    Answer::new("merge-reconcile", outcome, done.to_json())
}

fn policy(store: &CommitStore, set: Option<PathBuf>) -> Result<Answer, Fault> {
    let policy = match set {
        Some(file) => {
            let bytes = input(&file)?;
            json_of(&bytes)?;
            merge::set_policy(store, &bytes)?
        }
        None => merge::policy(store)?,
    };
    let document = json!({ "policy": policy });
    if let Ok(text) = serde_json::to_string_pretty(&document["policy"]) {
        ui::print(text);
    }
    if policy.rules.is_empty() && policy.groups.is_empty() && policy.invariants.is_empty() {
        ui::say("the policy is empty: every conflict is for a person to decide");
    }
    Ok(Answer::new("merge-policy", Outcome::Ok, document))
}

fn decisions(store: &CommitStore, merge: Option<&str>) -> Result<Answer, Fault> {
    let answer = merge::decisions(store, merge)?;
    for record in answer["decisions"].as_array().into_iter().flatten() {
        let text = |name: &str| record[name].as_str().unwrap_or_default().to_owned();
        ui::print(format_args!(
            "{}  {}  merge {}  {}",
            ui::dim(text("at")),
            ui::bold(text("by")),
            ui::code(&text("merge")[..10]),
            text("why")
        ));
        for decision in record["decisions"].as_array().into_iter().flatten() {
            show_decision(decision);
        }
    }
    Ok(Answer::new("merge-decisions", Outcome::Ok, answer))
}

fn show_decision(decision: &Value) {
    let conflict = &decision["conflict"];
    let text = |name: &str| conflict[name].as_str().unwrap_or_default();
    let place = format!("{}/{} {}", text("attachment"), text("key"), commit::path_text(&conflict["path"]));
    let chosen = Chosen::from(decision["chosen"].clone());
    ui::print(format_args!("    {place}: {}", ui::good(chosen_text(&chosen))));
    for side in ["base", "ours", "theirs", "merged"] {
        let value = conflict[side].get("some").map_or_else(|| "absent".to_owned(), ToString::to_string);
        ui::print(format_args!("        {} {value}", ui::dim(format_args!("{side:<7}"))));
    }
}
