//! Checks that everything that change control needs is in place; each check says what to do if it is not.

use crate::agents::is_registered;
use crate::registry::{HandleStore, IntentService, audit, published_log};
use probity_api::change::{CheckupStatus, DoctorAnswer, DoctorCheckup};
use probity_api::govern::setup::CodingAgent;
use probity_core::ReasonCode;
use probity_core::text::count;
use probity_workspace::{LoadedPolicy, ServiceError, Workspace, signing, transparency_log};

/// A system clock before 2024-01-01 was never set.
const EARLIEST_PLAUSIBLE_SECONDS: u64 = 1_704_067_200;

pub fn doctor(workspace: &Workspace) -> DoctorAnswer {
    let mut checks = vec![
        git(workspace),
        state(workspace),
        store(workspace),
        secrets(workspace),
        log(workspace),
        clock(),
        process_table(),
        policy(workspace),
        agents(workspace),
    ];
    checks.extend(team(workspace));
    DoctorAnswer::new(checks)
}

/// Checks the team of this clone; nothing if neither the policy nor the clone knows one.
fn team(workspace: &Workspace) -> Option<DoctorCheckup> {
    let named = workspace.load_policy().map(|loaded| loaded.policy.team).unwrap_or_default();
    let failed = |fault: &ServiceError| {
        failing_checkup(
            "team",
            CheckupStatus::Failed,
            format!("{}: {fault}", fault.code()),
            fault.next_step(),
        )
    };
    let view = match crate::team::status(workspace) {
        Ok(answer) => answer.team,
        Err(fault) => return Some(failed(&fault)),
    };
    let Some(view) = view else {
        return named.repository.map(|_| {
            let detail = "the policy names a team that this clone has not joined";
            failing_checkup("team", CheckupStatus::Warning, detail, "`probity team join`")
        });
    };
    if let Some(why) = view.unreachable {
        let next_step = ReasonCode::TeamUnreachable.next_step();
        return Some(failing_checkup("team", CheckupStatus::Failed, why, next_step));
    }
    if named.repository.as_ref() != Some(&view.repository) || named.line != view.line {
        let detail = "the policy of this tree names another team or line than the one that was joined";
        return Some(failing_checkup(
            "team",
            CheckupStatus::Warning,
            detail,
            "`probity team join` takes it over",
        ));
    }
    let waits = if view.n_pending > 0 {
        format!(", {} waiting", count(view.n_pending, "release"))
    } else {
        String::new()
    };
    if let Some(warning) = view.warnings.first() {
        let more = match view.warnings.len() {
            1 => String::new(),
            n => format!(" (and {} more: `probity team status`)", n - 1),
        };
        let detail = format!("{}{more}", warning.what);
        return Some(failing_checkup("team", CheckupStatus::Warning, detail, warning.next_step.clone()));
    }
    let clones = count(view.clones.len(), "clone");
    let time = view.round_trip_ms.unwrap_or_default();
    Some(passing_checkup(
        "team",
        format!(
            "{} answered in {time} ms; {clones}, {}{waits}",
            view.remote,
            count(usize::try_from(view.head).unwrap_or(usize::MAX), "event")
        ),
    ))
}

fn passing_checkup(name: &'static str, detail: impl Into<String>) -> DoctorCheckup {
    DoctorCheckup { name, status: CheckupStatus::Ok, detail: detail.into(), next_step: None }
}

fn failing_checkup(
    name: &'static str,
    status: CheckupStatus,
    detail: impl Into<String>,
    next_step: impl Into<String>,
) -> DoctorCheckup {
    DoctorCheckup { name, status, detail: detail.into(), next_step: Some(next_step.into()) }
}

fn git(workspace: &Workspace) -> DoctorCheckup {
    let Some(git) = &workspace.git else {
        let detail = "this tree is not a git repository: only what changes after a start is seen";
        return failing_checkup(
            "git",
            CheckupStatus::Warning,
            detail,
            "`git init` and commit, so that old uncommitted changes can be told from new ones",
        );
    };
    let listed = probity_workspace::git::head(workspace).and_then(|head| {
        let Some(head) = head else { return Ok(None) };
        Ok(Some((probity_workspace::git::tree_of(workspace, &head)?.len(), head)))
    });
    match listed {
        Ok(Some((n_files, head))) => {
            let files = count(n_files, "file");
            passing_checkup("git", format!("{files} in commit {head} ({})", git.common_dir.display()))
        }
        Ok(None) => failing_checkup(
            "git",
            CheckupStatus::Warning,
            "the repository has no commit",
            "commit what is there",
        ),
        Err(fault) => failing_checkup("git", CheckupStatus::Failed, fault.to_string(), fault.next_step()),
    }
}

fn state(workspace: &Workspace) -> DoctorCheckup {
    let dir = workspace.state.dir();
    let probe = workspace.state.objects().put(b"probity doctor\n");
    match probe {
        Ok(_) => passing_checkup("state", dir.display().to_string()),
        Err(error) => failing_checkup(
            "state",
            CheckupStatus::Failed,
            error.to_string(),
            "make that directory writable for you",
        ),
    }
}

fn store(workspace: &Workspace) -> DoctorCheckup {
    let whole = || {
        let head = audit::check(workspace)?;
        let shell = IntentService::open(workspace)?;
        Ok((head, shell.registry().open_intents().count()))
    };
    match whole() {
        Ok((head, open)) => {
            let words = "every page was read, and each event follows the one before";
            passing_checkup(
                "store",
                format!("the log has {} events, open intents: {open}; {words}", head.seq),
            )
        }
        Err::<_, ServiceError>(fault) => {
            failing_checkup("store", CheckupStatus::Failed, fault.to_string(), fault.next_step())
        }
    }
}

fn process_table() -> DoctorCheckup {
    match Workspace::require_process_table() {
        Ok(()) => passing_checkup("processes", "the processes of this machine can be seen"),
        Err(fault) => {
            failing_checkup("processes", CheckupStatus::Failed, fault.to_string(), fault.next_step())
        }
    }
}

fn secrets(workspace: &Workspace) -> DoctorCheckup {
    let handles = HandleStore::of(workspace);
    let checked = signing::signing_key(workspace).and_then(|key| {
        let kept = handles.files();
        kept.iter().try_for_each(|file| signing::check_private(file))?;
        Ok((key.is_some(), kept.len()))
    });
    match checked {
        Ok((has_key, n_handles)) => {
            let key = if has_key { "a signing key" } else { "no signing key" };
            passing_checkup(
                "secrets",
                format!("{key}, {}; nobody else can read them", count(n_handles, "handle")),
            )
        }
        Err(fault) => failing_checkup("secrets", CheckupStatus::Failed, fault.to_string(), fault.next_step()),
    }
}

fn log(workspace: &Workspace) -> DoctorCheckup {
    let whole = || {
        transparency_log::check_lists(&workspace.state)?;
        published_log::check(&workspace.state)?;
        let store = workspace.state.store()?;
        store.check_leaves(0)?;
        Ok(store.log_head()?)
    };
    match whole() {
        Ok(head) => {
            let (origin, size) = head.map_or_else(Default::default, |head| (head.origin, head.tree.size));
            let words = "every leaf was computed again, and nothing that it lists is gone";
            let noted =
                if workspace.state.checkpoint().exists() { "" } else { "; log.checkpoint is missing" };
            let entries = if size == 1 { "1 entry".to_owned() } else { format!("{size} entries") };
            passing_checkup("log", format!("{origin} has {entries}; {words}{noted}"))
        }
        Err::<_, ServiceError>(fault) => failing_checkup(
            "log",
            CheckupStatus::Failed,
            format!("{}: {fault}", fault.code()),
            fault.next_step(),
        ),
    }
}

fn clock() -> DoctorCheckup {
    let now = probity_workspace::clock::now_seconds();
    if now < EARLIEST_PLAUSIBLE_SECONDS {
        return failing_checkup(
            "clock",
            CheckupStatus::Failed,
            "the clock of this machine is not set",
            "set it: leases end by it",
        );
    }
    passing_checkup("clock", probity_workspace::clock::format_rfc3339(now))
}

fn policy(workspace: &Workspace) -> DoctorCheckup {
    match workspace.load_policy() {
        Ok(LoadedPolicy { source: None, .. }) => failing_checkup(
            "policy",
            CheckupStatus::Warning,
            "there is no probity.toml: build outputs count as changes",
            "`probity init` proposes one",
        ),
        Ok(LoadedPolicy { policy, .. }) => passing_checkup(
            "policy",
            format!("{}, {}", count(policy.gates.len(), "gate"), count(policy.packs.len(), "pack")),
        ),
        Err(fault) => failing_checkup("policy", CheckupStatus::Failed, fault.to_string(), fault.next_step()),
    }
}

fn agents(workspace: &Workspace) -> DoctorCheckup {
    let known: Vec<&str> = CodingAgent::ALL
        .iter()
        .copied()
        .filter(|agent| is_registered(workspace, *agent))
        .map(CodingAgent::as_str)
        .collect();
    if known.is_empty() {
        let next = "`probity init --agent claude` (or another agent, or auto) tells an agent";
        return failing_checkup(
            "agents",
            CheckupStatus::Warning,
            "no agent's configuration of this project names Probity",
            next,
        );
    }
    // Trust and approval are kept outside the project, so the files alone prove nothing.
    passing_checkup("agents", format!("registered, not proven: {}", known.join(", ")))
}

/// Returns whether Probity is registered with one agent. The files alone prove nothing: trust and approval are kept outside
/// the project.
pub fn agent_checkup(workspace: &Workspace, agent: CodingAgent, is_proven_next: bool) -> DoctorCheckup {
    if !is_registered(workspace, agent) {
        return failing_checkup(
            "registered",
            CheckupStatus::Warning,
            format!("this project's configuration of {agent} does not name Probity's server and hook"),
            format!("`probity init --agent {agent}`"),
        );
    }
    if is_proven_next {
        return passing_checkup(
            "registered",
            format!("server and hook are in this project's configuration of {agent}"),
        );
    }
    failing_checkup(
        "registered",
        CheckupStatus::Warning,
        "registered, not proven: agents silently skip hooks that they do not trust",
        format!("`probity doctor --agent {agent} --prove` drives the real program"),
    )
}
