//! Widening a scope on the record (law 2): while a run goes on, or afterwards as a new judgement of the same facts.

use crate::attest::{self, Attested, Head};
use crate::registry::Credentials;
use crate::{Fault, Workspace, bundles, channel, claims, clock};
use canon::Reason;
use evidence::{Amendment, Globs, Manifest};
use plan::{Moment, may_amend};
use rustix::process::Pid;
use store::{OpenRun, durable};

/// What an amendment did.
#[derive(Debug)]
pub enum Amended {
    /// A run that is going on took it.
    Open {
        /// The run.
        run_id: String,
        /// The amendment as it was granted.
        amendment: Amendment,
    },
    /// A finished run was judged again.
    Judged {
        /// The facts, with the amendment.
        manifest: Box<Manifest>,
        /// The new bundle.
        attested: Attested,
        /// The run that was judged again.
        amended_from: String,
    },
}

/// Amends the scope of `run`: an id, the beginning of one, `last`, or `open`.
pub fn amend(
    workspace: &Workspace,
    credentials: &Credentials,
    run: &str,
    add: &[Vec<u8>],
    by: &str,
    why: &str,
) -> Result<Amended, Fault> {
    if let Some(open) = open_run(workspace, run)? {
        // A run that goes on must not grow over what others hold. Nobody may claim more until it has grown.
        let _alone = claims::lock(&workspace.state)?;
        claims::check_run(workspace, credentials, &Globs::new(add.iter().cloned()).to_scope()?)?;
        let granted = channel::ask(&open.folder, add, by, why);
        return match granted {
            Ok(amendment) => Ok(Amended::Open { run_id: open.run_id, amendment }),
            Err(channel::ChannelError::Refused { reason, detail }) => Err(Fault::refused(reason, detail)),
            Err(channel::ChannelError::Unreachable { path, source }) => {
                Err(Fault::System { what: format!("cannot reach the run at {}", path.display()), source })
            }
        };
    }
    if run == "open" {
        return Err(Fault::NoSuchRun(
            "no run is going on in this tree; name a finished one to judge it again".into(),
        ));
    }
    let run_id = bundles::find(workspace, run)?;
    judge_again(workspace, &run_id, add, by, why)
}

/// The run that is going on in this very tree, if `run` means it.
fn open_run(workspace: &Workspace, run: &str) -> Result<Option<OpenRun>, Fault> {
    let lock = workspace.state.tree_lock(&workspace.root);
    let is_meant = |open: &OpenRun| open.lock == lock && (run == "open" || open.run_id.starts_with(run));
    Ok(workspace.state.open_runs()?.into_iter().rfind(is_meant))
}

/// Whether this very process descends from the supervisor of a run that is going on: what a run judges must not widen
/// the scope of another one either.
fn is_inside_a_run(workspace: &Workspace) -> Result<bool, Fault> {
    let own = rustix::process::getpid();
    let holders = workspace.state.open_runs()?.into_iter().filter_map(|run| {
        let text = std::fs::read_to_string(&run.lock).ok()?;
        Pid::from_raw(text.rsplit(' ').next()?.trim().parse().ok()?)
    });
    Ok(holders.into_iter().any(|supervisor| !channel::comes_from_outside(own, supervisor)))
}

/// Judges the recorded facts of a finished run under its amended scope. The old bundle stays as it is.
fn judge_again(
    workspace: &Workspace,
    run_id: &str,
    add: &[Vec<u8>],
    by: &str,
    why: &str,
) -> Result<Amended, Fault> {
    let bundles::Sound { files, stored } = bundles::sound(workspace, run_id)?;
    let seal = bundles::seal(&files, run_id)?;
    let amendment = Amendment::new(Globs::new(add.iter().cloned()), by, why, &clock::now())
        .map_err(|error| Fault::refused(error.reason(), error.to_string()))?;
    let allowed = may_amend(seal.contents().amend, Moment::After, is_inside_a_run(workspace)?);

    let mut manifest = stored.manifest;
    match allowed {
        Ok(()) => manifest.amendments.push(amendment),
        // Nobody's wish to widen a scope is dropped in silence (law 3): the refusal is a link of the chain.
        Err(reason) => manifest.details.findings.push(refusal(reason, &amendment)),
    }
    manifest.run_id = clock::run_id();
    manifest.created_at = clock::now();
    manifest.details.amended_from = Some(stored.run_hash);
    // What only said that a path was out of scope is said again by the manifest itself.
    manifest.details.findings.retain(|finding| finding.code != Reason::ReconUntrackedDelta.as_str());
    let kept = files.into_iter().filter_map(|(name, bytes)| Some((String::from_utf8(name).ok()?, bytes)));
    let artifacts = kept.filter(|(name, _)| name != "manifest.json" && name != "summary.md").collect();
    let key = attest::signing_key(workspace)?;
    // While this folder is there, whoever comes next brings the chain up to a bundle that was written before a kill.
    let open = workspace.state.open_run(&manifest.run_id, &workspace.root);
    durable::create_dir(&open.folder)?;
    let attested = attest::publish(workspace, &manifest, artifacts, key.as_ref(), Head::OnDisk)?;
    attest::remove_folder(&open.folder)?;
    allowed.map_err(|reason| Fault::refused(reason, reason.meaning()))?;
    Ok(Amended::Judged { manifest: Box::new(manifest), attested, amended_from: run_id.into() })
}

fn refusal(reason: Reason, amendment: &Amendment) -> evidence::Finding {
    let patterns: Vec<String> =
        amendment.add.as_slice().iter().map(|pattern| canon::bytes::escape(pattern)).collect();
    let Amendment { by, why, .. } = amendment;
    let detail = format!("note: refused to add {}, asked by {by}: {why}", patterns.join(" "));
    evidence::Finding { code: reason.as_str().into(), path: None, detail }
}
