//! `probity evidence`: list, show, verify, chain, export.

use crate::answer::CommandAnswer;
use crate::progress::meter;
use crate::ui;
use clap::{Subcommand, ValueEnum};
use probity_api::govern::evidence::{EvidenceChain, EvidenceVerification, RunRevert};
use probity_api::{Answer as _, ExitCode};
use probity_core::text::short_id;
use probity_core::{Digest, ReasonCode};
use probity_evidence::{
    BundleCheck, BundleVerdict, CheckStatus, InclusionProof, ManifestDetails, RunStatus, SignedCheckpoint,
    StoredManifest, TrustRequirements,
};
use probity_runner::bundles::{self, ListedBundle};
use probity_runner::log_proofs;
use probity_runner::prune::{self, BundleRetention};
use probity_workspace::{ServiceError, Workspace, transparency_log};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// List, show, check and export evidence bundles
#[derive(Debug, Subcommand)]
#[command(after_help = "Examples:\n  probity evidence list\n  probity evidence verify last")]
pub(crate) enum EvidenceCommand {
    /// List the runs of this repository, newest last
    #[command(after_help = "Examples:\n  probity evidence list")]
    List,

    /// Show one bundle
    #[command(after_help = "Examples:\n  probity evidence show last")]
    Show {
        /// The run: its id, a prefix of it, or `last`
        #[arg(default_value = "last")]
        run: String,
    },

    /// Check a bundle, trusting nothing in it
    ///
    /// Everything that can be recomputed is recomputed. What only the caller can know (required profile, sealed plan,
    /// chain, keys) is checked when `--trust` gives it, and named as skipped otherwise.
    #[command(
        after_help = "Examples:\n  probity evidence verify last\n  probity evidence verify ./bundle --trust trust.json --tree ."
    )]
    Verify {
        /// The directory of a bundle, or a run: its id, a prefix of it, or `last`
        #[arg(default_value = "last")]
        bundle: PathBuf,

        /// A trust file (JSON, `probity/trust/v1`): required profile, plan, chain, gates, keys
        #[arg(long, value_name = "FILE")]
        trust: Option<PathBuf>,

        /// Compare this tree with the one that the bundle describes
        #[arg(long, value_name = "DIR")]
        tree: Option<PathBuf>,

        /// Check a proof from `probity evidence prove` that the bundle is in the log
        #[arg(long, value_name = "FILE")]
        proof: Option<PathBuf>,

        /// The checkpoint that the proof must lead to, for example from a witness
        #[arg(long, value_name = "FILE", requires = "proof")]
        checkpoint: Option<PathBuf>,
    },

    /// Prove to a stranger that a bundle is in the log
    ///
    /// The proof is a JSON document with the entry, the hashes up to the root, and a checkpoint with that root.
    /// `probity evidence verify BUNDLE --proof FILE` checks it anywhere, without this repository.
    #[command(
        after_help = "Examples:\n  probity evidence prove last -o proof.json\n  probity evidence prove last --checkpoint countersigned.checkpoint"
    )]
    Prove {
        /// The run: its id, a prefix of it, or `last`
        #[arg(default_value = "last")]
        run: String,

        /// Write the proof to this file
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,

        /// Lead to this checkpoint, which witnesses may have countersigned, instead of the newest one
        #[arg(long, value_name = "FILE")]
        checkpoint: Option<PathBuf>,
    },

    /// Check every bundle of this repository and the chain between them
    #[command(
        after_help = "Examples:\n  probity evidence chain\n  probity evidence chain --trust trust.json"
    )]
    Chain {
        /// A trust file for every bundle
        #[arg(long, value_name = "FILE")]
        trust: Option<PathBuf>,
    },

    /// Print a bundle as an attestation for other tools
    #[command(
        after_help = "Examples:\n  probity evidence export last > run.dsse.json\n  probity evidence export last --format statement"
    )]
    Export {
        /// The run: its id, a prefix of it, or `last`
        #[arg(default_value = "last")]
        run: String,

        /// The form of the attestation
        #[arg(long, value_enum, default_value_t = ExportFormat::Dsse)]
        format: ExportFormat,
    },

    /// Remove old bundles, and before-images that nothing needs anymore
    ///
    /// Bundles go from the old end of the chain only, and a new bundle lists them, so that the chain stays whole. With
    /// them goes the way to undo or amend those runs: copy the directories first if they matter.
    #[command(
        group = clap::ArgGroup::new("what stays").required(true).args(["keep", "older_than"]),
        after_help = "Examples:\n  probity evidence gc --older-than 90d --dry-run\n  probity evidence gc --keep 100"
    )]
    Gc {
        /// Keep this many of the newest bundles
        #[arg(long, value_name = "N")]
        keep: Option<usize>,

        /// Remove bundles older than this, such as `90d` or `12h`
        #[arg(long, value_name = "TIME", value_parser = age)]
        older_than: Option<std::time::Duration>,

        /// Show what would be removed, and remove nothing
        #[arg(long)]
        dry_run: bool,
    },
}

fn age(text: &str) -> Result<std::time::Duration, String> {
    let ms =
        probity_policy::duration_ms(text).ok_or("write a whole number and `d`, `h` or `m`, such as `90d`")?;
    Ok(std::time::Duration::from_millis(ms))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// An in-toto Statement in a signed DSSE envelope
    Dsse,
    /// The in-toto Statement alone
    Statement,
}

pub(crate) fn evidence(
    workspace: impl Fn() -> Result<Workspace, ServiceError>,
    command: EvidenceCommand,
) -> Result<CommandAnswer, ServiceError> {
    match command {
        EvidenceCommand::List => list(&workspace()?),
        EvidenceCommand::Show { run } => show(&workspace()?, &run),
        EvidenceCommand::Prove { run, output, checkpoint } => {
            prove(&workspace()?, &run, output.as_deref(), checkpoint.as_deref())
        }
        EvidenceCommand::Verify { bundle, trust, tree, proof, checkpoint } => {
            let dir = bundles::locate(&workspace, &bundle)?;
            let here = workspace().ok();
            let trust = match (trust, &here) {
                (Some(file), _) => bundles::read_trust(Some(&file))?,
                // A bundle of this repository, if signed, must be signed with the repository's key.
                (None, Some(here)) if dir.starts_with(here.state.evidence()) => bundles::own_trust(here)?,
                (None, _) => bundles::read_trust(None)?,
            };
            let proof = proof.as_deref().map(log_proofs::read_proof).transpose()?;
            let checkpoint = checkpoint.as_deref().map(log_proofs::read_checkpoint).transpose()?;
            let demands = BundleDemands { tree, proof, checkpoint };
            verify(here.as_ref(), &dir, &trust, &demands)
        }
        EvidenceCommand::Chain { trust } => chain(&workspace()?, trust.as_deref()),
        EvidenceCommand::Export { run, format } => export(&workspace()?, &run, format),
        EvidenceCommand::Gc { keep, older_than, dry_run } => {
            // clap requires exactly one of the two.
            let keep = keep.map(BundleRetention::Newest).or(older_than.map(BundleRetention::YoungerThan));
            gc(&workspace()?, keep.unwrap_or(BundleRetention::Newest(usize::MAX)), dry_run)
        }
    }
}

fn prove(
    workspace: &Workspace,
    run: &str,
    output: Option<&Path>,
    checkpoint: Option<&Path>,
) -> Result<CommandAnswer, ServiceError> {
    let checkpoint = checkpoint.map(log_proofs::read_checkpoint).transpose()?;
    let proof = log_proofs::prove(workspace, run, checkpoint.as_ref())?;
    let text = probity_core::json::canonical(&proof.to_document());
    match output {
        Some(file) => {
            log_proofs::write_file(file, &[text, b"\n".to_vec()].concat())?;
            ui::print_row("written", file.display());
        }
        None => ui::print_document(&String::from_utf8_lossy(&text)),
    }
    Ok(CommandAnswer::of(ExitCode::Ok, &proof))
}

fn list(workspace: &Workspace) -> Result<CommandAnswer, ServiceError> {
    let listed = bundles::list(workspace)?;
    let run_ids: BTreeMap<Digest, &str> = listed
        .iter()
        .filter_map(|one| Some((one.stored.as_ref().ok()?.run_hash, one.run_id.as_str())))
        .collect();
    for one in &listed {
        show_listed(one, &run_ids);
    }
    // The list is shown all the same; that something is missing from it is the answer.
    transparency_log::check_listed(&workspace.state)?;
    let unlisted = transparency_log::unlisted_bundle(&workspace.state)?;
    if let Some(id) = &unlisted {
        ui::eprint_row(
            "warning",
            format_args!("the log does not list {id}: it was planted, or the log was cut"),
        );
    }
    if listed.is_empty() {
        ui::eprint("no run yet; begin with `probity run --scope 'src/**' -- COMMAND`");
    }
    let code = if unlisted.is_none() { ExitCode::Ok } else { ExitCode::Failed };
    Ok(CommandAnswer::of(code, &bundles::list_answer(&listed)))
}

/// `run_ids` names the run of each bundle, by its hash.
fn show_listed(listed: &ListedBundle, run_ids: &BTreeMap<Digest, &str>) {
    let short = short_id(&listed.run_id);
    let (stored, summary) = match (&listed.stored, &listed.entry.manifest) {
        (Ok(stored), Some(summary)) => (stored, summary),
        (Ok(_), None) => return,
        (Err(fault), _) => return ui::print(format_args!("{short}  {}", ui::bad(fault))),
    };
    let manifest = &stored.manifest;
    let mark = match manifest.status() {
        RunStatus::Pass => ui::good("PASS"),
        RunStatus::Fail => ui::bad("FAIL"),
    };
    let reason = listed.entry.reason.map_or("", |reason| reason.as_str());
    let elsewhere = if summary.in_this_tree { "" } else { "  (another worktree)" };
    let elsewhere = if listed.entry.on_chain { elsewhere } else { "  (not on the chain)" };
    let story = bundle_note(&manifest.details, manifest.amendments.is_empty(), run_ids);
    let reverted =
        summary.reverted_by.as_ref().map_or_else(String::new, |it| format!("  ({})", reverted_words(it)));
    let changed = manifest.delta.as_ref().map_or_else(|| "?".into(), |delta| delta.len().to_string());
    let at = manifest.created_at.split('.').next().unwrap_or_default().trim_end_matches('Z');
    // The code is what a reader looks up: only the remarks after it are shortened.
    let used = short.len() + at.len() + "Z    PASS  0000 changed  ".len() + reason.len();
    let rest = ui::fit_to_terminal(&format!("{story}{reverted}{elsewhere}"), used);
    ui::print(format_args!("{short}  {at}Z  {mark}  {changed:>4} changed  {reason}{rest}"));
}

pub(crate) fn reverted_words(reverted: &RunRevert) -> String {
    let run = short_id(&reverted.run_id);
    match reverted.left.len() {
        0 => format!("reverted by run {run}"),
        left => format!("partly reverted by run {run}, {} left", ui::count_of(left, "path")),
    }
}

/// Says of a bundle that does not record an ordinary run what it records.
fn bundle_note(details: &ManifestDetails, is_unamended: bool, run_ids: &BTreeMap<Digest, &str>) -> String {
    let note = |what: &str, of: Digest| match run_ids.get(&of) {
        Some(run_id) => format!("  ({what} of {})", short_id(run_id)),
        None => format!("  ({what})"),
    };
    if details.pruned.is_some() {
        return "  (gc)".to_owned();
    }
    if let Some(reverted) = details.reverts {
        return note("revert", reverted);
    }
    if let Some(landed) = details.lands {
        return note("landing", landed);
    }
    let kind = if is_unamended { "refused amendment" } else { "amendment" };
    details.amended_from.map_or_else(String::new, |from| note(kind, from))
}

fn show(workspace: &Workspace, run: &str) -> Result<CommandAnswer, ServiceError> {
    let (stored, answer) = bundles::show(workspace, run)?;
    super::evidence_show::show(&stored, answer.reverted_by.as_ref());
    Ok(CommandAnswer::of(ExitCode::Ok, &answer))
}

/// What a bundle is held against besides itself.
struct BundleDemands {
    tree: Option<PathBuf>,
    proof: Option<InclusionProof>,
    checkpoint: Option<SignedCheckpoint>,
}

fn verify(
    workspace: Option<&Workspace>,
    dir: &Path,
    trust: &TrustRequirements,
    demands: &BundleDemands,
) -> Result<CommandAnswer, ServiceError> {
    let phase = meter().begin("checking the bundle");
    let (verification, files) = bundles::verify(dir, trust)?;
    let tree = demands.tree.as_deref().map(|tree| bundles::check_tree(&files, tree)).transpose()?;
    // The log lists the hash of a whole bundle: one that is damaged is not among it either, and says so itself.
    let listed = workspace
        .filter(|_| bundles::is_sound(&verification))
        .map(|here| bundles::check_listed(here, dir, &files))
        .transpose()?
        .flatten();
    drop(phase);
    let BundleDemands { proof, checkpoint, .. } = demands;
    let proven =
        proof.as_ref().and_then(|proof| bundles::check_proof(&files, proof, trust, checkpoint.as_ref()));
    let further = proven.into_iter().chain(tree.map(|it| it.check())).chain(listed);
    let answer = bundles::verification_answer(&verification, further);
    ui::print(format_args!("{} {}", ui::bold("bundle"), crate::relative_to_cwd(dir).display()));
    show_verification(&answer, &files, trust);
    Ok(CommandAnswer::of(answer.outcome.into(), &answer))
}

/// Shows the checks of a bundle, the verdict, and what to do.
pub(crate) fn show_verification(
    answer: &EvidenceVerification,
    files: &bundles::BundleFiles,
    trust: &TrustRequirements,
) {
    let n_required = n_required_gates(files, trust);
    answer.checks.iter().for_each(|check| show_check(check, n_required));
    let (passed, codes) = (answer.outcome == BundleVerdict::Pass, &answer.codes);
    if passed {
        ui::print(format_args!("{} the evidence is intact, and the run it records passed", ui::good("PASS")));
    } else if !codes.iter().any(|code| bundles::is_flaw(code)) {
        // Two separate facts: the bundle is intact, and the run it records failed.
        let failed = ui::bad(codes.iter().cloned().collect::<Vec<_>>().join(", "));
        ui::print(format_args!(
            "{} the evidence is intact; the run it records failed: {failed}",
            ui::bad("FAIL")
        ));
    } else {
        let flaws: Vec<&String> = codes.iter().filter(|code| bundles::is_flaw(code)).collect();
        let (shown, rest): (Vec<&String>, Vec<&String>) = codes.iter().partition(|code| flaws.contains(code));
        let join = |codes: &[&String]| codes.iter().map(|it| it.as_str()).collect::<Vec<_>>().join(", ");
        let run = if rest.is_empty() {
            String::new()
        } else {
            format!("; the run it records failed: {}", join(&rest))
        };
        let what = "the evidence does not prove what it must";
        ui::print(format_args!("{} {what}: {}{run}", ui::bad("FAIL"), ui::bad(join(&shown))));
    }
    show_next(codes);
}

/// Counts the gates that the recorded plan and the caller require; `None` if the manifest cannot be read.
fn n_required_gates(files: &bundles::BundleFiles, trust: &TrustRequirements) -> Option<usize> {
    let stored = StoredManifest::parse(files.get(&b"manifest.json"[..])?).ok()?;
    Some(stored.manifest.plan.required_gates().count() + trust.required_gates.len())
}

fn show_check(check: &BundleCheck, n_required_gates: Option<usize>) {
    let (mark, detail) = match check.status {
        CheckStatus::Passed if check.name == "gates" && n_required_gates == Some(0) => {
            (ui::good("ok  "), "no gate was required")
        }
        // A check with details, such as the comparison with a tree, describes its own result.
        CheckStatus::Passed if !check.detail.is_empty() => (ui::good("ok  "), check.detail.as_str()),
        CheckStatus::Passed => (ui::good("ok  "), what_passed(check.name)),
        CheckStatus::Failed => (ui::bad("fail"), check.detail.as_str()),
        CheckStatus::Skipped if check.name == "everything_else" => (ui::dim("skip"), check.detail.as_str()),
        CheckStatus::Skipped => (ui::dim("skip"), "not demanded: a trust file can demand it"),
    };
    let codes = check.codes.iter().fold(String::new(), |all, code| all + code + " ");
    ui::print(format_args!("  {mark} {:<14} {codes}{}", check.name, ui::dim(detail)));
}

/// Explains to people what a passed check means.
fn what_passed(name: &str) -> &'static str {
    match name {
        "manifest" => "it is strict JSON, and every field is valid",
        "canonical" => "its bytes are in canonical form",
        "run_hash" => "its hash, computed again, is the recorded one",
        "artifacts" => "exactly the listed files are there, each with its hash",
        "plan" => "the plan has the recorded hash and the recorded scope",
        "policy" => "the policy versions are those of the plan",
        "seal" => "the plan is the one that you require",
        "profile" => "the profile is the one that you require",
        "reconciliation" => "no changed path is out of scope, computed again",
        "gates" => "every required gate ran and passed",
        "status" => "the status follows from the facts",
        "chain" => "it follows the run that you require",
        "signature" => "one of your keys signed it",
        "form" => "it has the one form that Probity writes",
        "seal_record" => "it repeats what the seal fixed before the run",
        "delta_record" => "delta.json records the same changes",
        "changes" => "every change fits its two sides",
        "exemptions" => "only sealed outputs are exempt",
        "gate_results" => "each sealed gate has one result that fits how it ended",
        "amendments" => "they are complete, in order and allowed by the seal",
        "findings" => "what failed the run is what was found",
        "landing" => "only what the run changed landed or waits, and nothing of a failed run landed",
        "enforcement" => "the run was enforced at least as strongly as required",
        "derived" => "everything else follows from the facts",
        "summary" => "summary.md says the same",
        _ => "",
    }
}

fn show_next(codes: &BTreeSet<String>) {
    if let Some(reason) = codes.first().and_then(|code| code.parse::<ReasonCode>().ok()) {
        ui::print_row("next", reason.next_step());
    }
}

fn chain(workspace: &Workspace, trust: Option<&Path>) -> Result<CommandAnswer, ServiceError> {
    let trust = match trust {
        Some(file) => bundles::read_trust(Some(file))?,
        None => bundles::own_trust(workspace)?,
    };
    let answer = probity_runner::chain_check::check(workspace, &trust)?.answer();
    show_chain(&answer);
    Ok(CommandAnswer::of(answer.outcome.into(), &answer))
}

fn show_chain(answer: &EvidenceChain) {
    for link in &answer.links {
        let mark = if link.codes.is_empty() { ui::good("ok  ") } else { ui::bad("fail") };
        ui::print(format_args!("  {mark} {}  {}", link.run_id, link.codes.join(", ")));
    }
    for problem in &answer.problems {
        ui::print(format_args!("  {} {problem}", ui::bad("fail")));
    }
    let shown = match answer.outcome {
        BundleVerdict::Pass => ui::good("PASS"),
        BundleVerdict::Fail => ui::bad("FAIL"),
    };
    ui::print(format_args!("{shown} {} on the chain", ui::count_of(answer.links.len(), "bundle")));
    if answer.pruned > 0 {
        let removed = ui::count_of(answer.pruned, "older bundle");
        ui::print_row("before", ui::dim(format_args!("{removed} removed on the record by `evidence gc`")));
    }
    show_next(&answer.codes);
}

fn export(workspace: &Workspace, run: &str, format: ExportFormat) -> Result<CommandAnswer, ServiceError> {
    let answer = probity_runner::export::export(workspace, run, format == ExportFormat::Dsse)?;
    ui::print_json_text(&String::from_utf8_lossy(&probity_core::json::canonical(&answer.attestation)));
    Ok(CommandAnswer::of(ExitCode::Ok, &answer))
}

fn gc(workspace: &Workspace, keep: BundleRetention, dry_run: bool) -> Result<CommandAnswer, ServiceError> {
    let answer = prune::prune(workspace, keep, dry_run)?;
    let verb = if dry_run { "would be removed" } else { "removed" };
    let layers = match answer.layers {
        0 => String::new(),
        n => format!(" and {}", ui::count_of(n, "held layer")),
    };
    for run in &answer.bundles {
        ui::print_row(if dry_run { "remove" } else { "removed" }, &run.run_id);
    }
    ui::print(format_args!(
        "{} and {}{layers} {verb}, {} kB; {} kept",
        ui::count_of(answer.bundles.len(), "bundle"),
        ui::count_of(answer.before_images, "before-image"),
        answer.bytes.div_ceil(1000),
        ui::count_of(answer.kept, "bundle"),
    ));
    if let Some(dir) = &answer.evidence_dir {
        ui::print_row("evidence", crate::relative_to_cwd(&dir.0).display());
    }
    Ok(CommandAnswer::of(ExitCode::Ok, &answer))
}
