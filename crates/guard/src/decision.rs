//! Decides about the writes of one tool call.
//!
//! A write passes if it leaves the governed tree, is a build output, or is named by an intent of the session. Everything
//! else is refused with the path, its holder and the call to make. Never guess who (law 5): an intent that no session
//! started counts for a session only if that session has none and no other owner could be meant.

use crate::guarded_files::{GuardedFileKind, guarded_file, touches};
use crate::shell::{ShellWorld, WriteKind};
use crate::snapshot::{GuardSnapshot, GuardedIntent, RunGuard, SessionRecord};
use probity_core::bytes::escape;
use probity_paths::RepoPath;
use probity_policy::{SubagentRule, WithoutIntent};
use std::collections::BTreeSet;
use std::rc::Rc;

/// The longest reason that a refusal gives to the agent, in characters.
const MAX_REASON_CHARS: usize = 300;
/// The longest path in a reason, in characters.
const MAX_SHOWN_PATH_CHARS: usize = 120;

/// What the decision asks about the machine.
pub trait GuardWorld: ShellWorld {
    /// Returns the path with every link above its last name resolved, and the last one if it is a link.
    fn resolve(&self, path: &str) -> String;

    /// Returns the governed tree that contains an absolute path; `None` if Probity governs none.
    fn tree_of(&self, path: &str) -> Option<Rc<GovernedTree>>;

    /// Returns the governed tree in which the session works.
    fn session_tree(&self) -> Option<Rc<GovernedTree>>;

    /// Returns the programs of the guard itself, absolute: a program that replaces them disables the guard.
    fn guard_programs(&self) -> Vec<String>;

    /// Returns whether a process is alive and not an ancestor of the agent: a run around the agent is no stranger.
    fn is_foreign_process(&self, pid: u32) -> bool;

    /// Seconds since 1970.
    fn now(&self) -> u64;
}

/// A tree that Probity governs, as a hook sees it.
#[derive(Debug, Clone)]
pub struct GovernedTree {
    /// The top of the working tree, absolute.
    pub root: String,
    /// The state directory, absolute.
    pub state_dir: String,
    /// The snapshot, or why it cannot be read.
    pub snapshot: Result<GuardSnapshot, String>,
    /// The record of the session.
    pub session: SessionRecord,
    /// The record of the sub-agent, if the call comes from one.
    pub subagent: Option<SessionRecord>,
    /// Every intent that some session started.
    pub bound: BTreeSet<String>,
    /// The governed run that the session works in.
    pub run: Option<RunGuard>,
}

/// One write of a tool call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathWrite {
    /// Absolute and normalized.
    pub path: String,
    pub kind: WriteKind,
}

/// What a tool call does, as far as it shows.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ToolCallEffects {
    pub writes: Vec<PathWrite>,
    /// The programs of a command line that may write what it does not show, as they are called.
    pub unproven_programs: Vec<String>,
}

probity_core::word_enum! {
    /// Why a call was refused.
    pub enum RefusalCode {
        /// No intent of the session names the path.
        OutOfScope = "out_of_scope",
        /// The session has no intent.
        NoIntent = "no_intent",
        /// Another agent holds the path.
        HeldByOther = "held_by_other",
        /// The intent waits in the queue.
        Queued = "queued",
        /// The intent forbids the path, or the policy protects it.
        Forbidden = "forbidden",
        /// The path configures agents, hooks, git's programs or Probity.
        Guarded = "guarded",
        /// The call cannot be understood.
        NotUnderstood = "not_understood",
        /// An interpreter that takes commands from its terminal.
        BareInterpreter = "bare_interpreter",
        /// The snapshot of claims cannot be read.
        GuardDamaged = "guard_damaged",
        /// The hook itself failed.
        GuardFailed = "guard_failed",
    }
}

/// A refusal with one line for the agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GuardRefusal {
    pub code: RefusalCode,
    /// At most 300 characters on one line.
    pub reason: String,
}

impl GuardRefusal {
    /// Creates a refusal; the reason becomes one line of bounded length.
    pub fn new(code: RefusalCode, reason: impl AsRef<str>) -> Self {
        let line: String = reason.as_ref().split_whitespace().collect::<Vec<_>>().join(" ");
        let mut reason = format!("probity: {line}");
        if reason.chars().count() > MAX_REASON_CHARS {
            reason = reason.chars().take(MAX_REASON_CHARS - 1).chain(['…']).collect();
        }
        Self { code, reason }
    }
}

/// The decision about a tool call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GuardVerdict {
    /// Nothing stands against it. A hook says nothing then: it must not overrule the user's own prompts.
    Pass,
    Refuse(GuardRefusal),
    /// An intent for these paths of one tree must be started first; relative to its root.
    Declare {
        root: String,
        paths: Vec<String>,
    },
}

/// Decides about all writes of a call; the first one that must not happen refuses it.
pub fn decide(effects: &ToolCallEffects, world: &dyn GuardWorld) -> GuardVerdict {
    let mut undeclared: Option<(String, Vec<String>)> = None;
    for write in &effects.writes {
        // The written path and the place that it leads to are both judged: a link must not lead around the guard.
        let resolved = world.resolve(&write.path);
        let mut places = vec![write.path.clone()];
        if resolved != write.path {
            places.push(resolved);
        }
        for place in places {
            match decide_place(&place, write.kind, world) {
                PlaceVerdict::Pass => {}
                PlaceVerdict::Refuse(refusal) => return GuardVerdict::Refuse(refusal),
                PlaceVerdict::Declare { root, path } => match &mut undeclared {
                    None => undeclared = Some((root, vec![path])),
                    Some((first, paths)) if *first == root => {
                        if !paths.contains(&path) {
                            paths.push(path);
                        }
                    }
                    Some(_) => {
                        return GuardVerdict::Refuse(GuardRefusal::new(
                            RefusalCode::NoIntent,
                            "one call writes in two trees; start a change in each first",
                        ));
                    }
                },
            }
        }
    }
    undeclared.map_or(GuardVerdict::Pass, |(root, paths)| GuardVerdict::Declare { root, paths })
}

enum PlaceVerdict {
    Pass,
    Refuse(GuardRefusal),
    Declare { root: String, path: String },
}

fn refuse(code: RefusalCode, reason: impl AsRef<str>) -> PlaceVerdict {
    PlaceVerdict::Refuse(GuardRefusal::new(code, reason))
}

fn decide_place(place: &str, kind: WriteKind, world: &dyn GuardWorld) -> PlaceVerdict {
    // The directory that a pattern certainly lies in stands for it.
    let (place, is_deep) = match kind {
        WriteKind::Pattern => (pattern_directory(place), true),
        WriteKind::Subtree => (place, true),
        WriteKind::Entry | WriteKind::Directory | WriteKind::Alias => (place, false),
    };
    // What removes a directory above the tree removes the tree.
    let contains = |tree: &Rc<GovernedTree>| {
        is_deep
            && tree.root.strip_prefix(place.trim_end_matches('/')).is_some_and(|rest| rest.starts_with('/'))
    };
    let (tree, place) = match world.session_tree().filter(contains) {
        Some(tree) => (Some(Rc::clone(&tree)), tree.root.clone()),
        None => (world.tree_of(place), place.to_owned()),
    };
    let place = place.as_str();
    // A session outside of every governed tree that writes outside, too, is none of the guard's business.
    if tree.is_none() && world.session_tree().is_none() {
        return PlaceVerdict::Pass;
    }
    let roots: Vec<&str> = tree.iter().map(|tree| tree.root.as_str()).collect();
    let state = tree.as_ref().map(|tree| tree.state_dir.as_str());
    let is_whole = is_deep && kind != WriteKind::Pattern;
    let found = guarded_file(place, is_whole, &roots, world.home(), state).or_else(|| {
        let programs = world.guard_programs();
        let is_program =
            programs.iter().any(|program| touches(place, program, is_whole && !roots.contains(&place)));
        is_program.then_some(GuardedFileKind::GuardProgram)
    });
    if let Some(found) = found {
        // Outside every governed tree, only the user's agents and the guard itself concern the guard.
        let concerns_guard =
            matches!(found, GuardedFileKind::AgentConfiguration | GuardedFileKind::GuardProgram);
        if tree.is_some() || concerns_guard {
            return refuse(
                RefusalCode::Guarded,
                format!(
                    "{} {}; agents may not write it. Ask the user to change it.",
                    shown(place),
                    found.describe()
                ),
            );
        }
    }
    let Some(tree) = tree else { return PlaceVerdict::Pass };
    let below = place.strip_prefix(tree.root.as_str()).map(|rest| rest.trim_start_matches('/'));
    let Some(below) = below else { return PlaceVerdict::Pass };
    if below == ".git" || below.starts_with(".git/") {
        return PlaceVerdict::Pass;
    }
    let snapshot = match &tree.snapshot {
        Ok(snapshot) => snapshot,
        Err(why) => {
            let reason = format!("the guard's snapshot cannot be read ({why}); run `probity doctor`");
            return refuse(RefusalCode::GuardDamaged, reason);
        }
    };
    decide_in_tree(&tree, snapshot, below, kind, world)
}

fn decide_in_tree(
    tree: &GovernedTree,
    snapshot: &GuardSnapshot,
    below: &str,
    kind: WriteKind,
    world: &dyn GuardWorld,
) -> PlaceVerdict {
    let path = RepoPath::parse(below.as_bytes()).ok();
    // A pattern is a build output if whatever lies in its directory is one.
    let sample = match (kind, &path) {
        (WriteKind::Pattern | WriteKind::Subtree, Some(path)) => path.join(b"any").ok(),
        (_, path) => path.clone(),
    };
    if let Some(path) = &path
        && snapshot.rules.is_protected(path)
    {
        return refuse(RefusalCode::Forbidden, format!("the policy protects {}", shown(below)));
    }
    if kind == WriteKind::Alias {
        return PlaceVerdict::Pass;
    }
    if sample.as_ref().is_some_and(|sample| snapshot.rules.is_build_output(sample)) {
        return PlaceVerdict::Pass;
    }
    if let Some(run) = &tree.run {
        let sample = sample.or(path).filter(|_| !below.is_empty());
        return decide_in_run(run, below, sample.as_ref(), kind);
    }
    let now = world.now();
    let own = own_intents(tree, snapshot, now);
    let active: Vec<&GuardedIntent> = own.iter().copied().filter(|intent| intent.is_active).collect();
    let bytes = below.as_bytes();
    if path.is_some() && kind != WriteKind::Pattern {
        if let Some(forbidding) = active.iter().find(|intent| intent.scope.forbids(bytes)) {
            let reason = format!("intent {} forbids {}", forbidding.intent_id, shown(below));
            return refuse(RefusalCode::Forbidden, reason);
        }
        if active.iter().any(|intent| names(intent, bytes, kind)) {
            return PlaceVerdict::Pass;
        }
    }
    let is_own = |intent: &&GuardedIntent| own.iter().any(|own| own.intent_id == intent.intent_id);
    let holder =
        snapshot.intents.iter().filter(|intent| intent.is_active && intent.expires_at > now).find(|intent| {
            !is_own(intent)
                && path.is_some()
                && kind != WriteKind::Pattern
                && intent.scope.holds(bytes).is_some()
        });
    if let Some(holder) = holder {
        let minutes = holder.expires_at.saturating_sub(now).div_ceil(60);
        let reason = format!(
            "{} is held by {} (intent {}) for at most {minutes} min; wait, or start with on_conflict \"queue\"",
            shown(below),
            escape(holder.agent.as_bytes()),
            holder.intent_id
        );
        return refuse(RefusalCode::HeldByOther, reason);
    }
    let run = snapshot
        .runs
        .iter()
        .find(|run| path.as_ref().is_some_and(|path| run.claims(path)) && world.is_foreign_process(run.pid));
    if let Some(run) = run {
        let reason =
            format!("{} is claimed by the governed run {}; wait until it ends", shown(below), run.run_id);
        return refuse(RefusalCode::HeldByOther, reason);
    }
    if let Some(queued) = own.iter().find(|intent| !intent.is_active && intent.scope.holds(bytes).is_some()) {
        let reason = format!(
            "intent {} waits in the queue; call manage_change_intent with action \"promote\" first",
            queued.intent_id
        );
        return refuse(RefusalCode::Queued, reason);
    }
    if let Some(intent) = active.first() {
        return refuse(RefusalCode::OutOfScope, out_of_scope(below, kind, intent));
    }
    match snapshot.rules.without_intent {
        WithoutIntent::Allow => PlaceVerdict::Pass,
        WithoutIntent::Declare if path.is_some() && kind == WriteKind::Entry => {
            PlaceVerdict::Declare { root: tree.root.clone(), path: below.to_owned() }
        }
        WithoutIntent::Declare | WithoutIntent::Deny => refuse(RefusalCode::NoIntent, no_intent(below, kind)),
    }
}

/// Decides about a write of an agent that a governed run started: its sealed scope counts, and nothing needs to be declared.
fn decide_in_run(run: &RunGuard, below: &str, sample: Option<&RepoPath>, kind: WriteKind) -> PlaceVerdict {
    let is_allowed = match kind {
        // An empty directory changes nothing.
        WriteKind::Directory => true,
        _ => sample.is_some_and(|path| run.allows(path)) || run.scope.is_none(),
    };
    if is_allowed {
        return PlaceVerdict::Pass;
    }
    let fate = if run.is_view { "it would not land" } else { "it would fail the run" };
    let reason = format!(
        "{} is outside the sealed scope of run {} and {fate}; leave it, or ask the user for `probity amend {} --add \
         PATTERN --why …` from another terminal",
        shown_place(below),
        run.run_id,
        run.run_id
    );
    refuse(RefusalCode::OutOfScope, reason)
}

/// Returns the intents under which a session works.
pub fn own_intents<'s>(tree: &GovernedTree, snapshot: &'s GuardSnapshot, now: u64) -> Vec<&'s GuardedIntent> {
    let mut ids: BTreeSet<&str> = BTreeSet::new();
    match &tree.subagent {
        Some(subagent) => {
            ids.extend(subagent.intents.iter().map(String::as_str));
            if snapshot.rules.subagents == SubagentRule::Parent {
                ids.extend(tree.session.intents.iter().map(String::as_str));
            }
        }
        None => ids.extend(tree.session.intents.iter().map(String::as_str)),
    }
    let open = || snapshot.intents.iter().filter(|intent| intent.expires_at > now);
    let own: Vec<&GuardedIntent> = open().filter(|intent| ids.contains(intent.intent_id.as_str())).collect();
    if !own.is_empty() || tree.subagent.is_some() && snapshot.rules.subagents == SubagentRule::Own {
        return own;
    }
    // A person may start a change and then let an agent work on it. That is not guessed if the owner could be someone else.
    let unbound: Vec<&GuardedIntent> =
        open().filter(|intent| !tree.bound.contains(&intent.intent_id)).collect();
    let owners: BTreeSet<&str> = unbound.iter().map(|intent| intent.agent.as_str()).collect();
    if owners.len() == 1 { unbound } else { Vec::new() }
}

/// Returns whether an intent names a path. Entries are literal, as in the check at the finish; a directory may be created
/// above one.
fn names(intent: &GuardedIntent, path: &[u8], kind: WriteKind) -> bool {
    let mut entries = intent.scope.entries();
    match kind {
        WriteKind::Directory => entries.any(|entry| {
            entry.as_bytes().strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
        }),
        WriteKind::Entry | WriteKind::Subtree | WriteKind::Alias => {
            entries.any(|entry| entry.as_bytes() == path)
        }
        WriteKind::Pattern => false,
    }
}

fn out_of_scope(below: &str, kind: WriteKind, intent: &GuardedIntent) -> String {
    let id = &intent.intent_id;
    match kind {
        WriteKind::Pattern => format!(
            "a wildcard below {} may match files outside intent {id}; name the files one by one",
            shown_place(below)
        ),
        _ if below.is_empty() => {
            format!("this rewrites the whole tree, intent {id} names single files; use a narrower command")
        }
        _ => format!(
            "{} is outside intent {id}; call manage_change_intent with action \"amend\", intent_id \"{id}\", \
             allowed_files [\"{}\"] and why, or leave it",
            shown(below),
            shown(below)
        ),
    }
}

fn no_intent(below: &str, kind: WriteKind) -> String {
    match kind {
        WriteKind::Entry | WriteKind::Directory if !below.is_empty() => format!(
            "no intent of this session covers {}; call start_controlled_change with allowed_files [\"{}\"] first \
             (or `probity start`)",
            shown(below),
            shown(below)
        ),
        _ => format!(
            "this writes {} and the session has no intent; call start_controlled_change with the exact files first",
            shown_place(below)
        ),
    }
}

/// Returns the directory part of a pattern before its first wildcard.
fn pattern_directory(pattern: &str) -> &str {
    let literal = pattern.split(['*', '?', '[']).next().unwrap_or_default();
    match literal.rfind('/') {
        Some(0) | None => "/",
        Some(at) => &literal[..at],
    }
}

fn shown_place(below: &str) -> String {
    if below.is_empty() { "the whole tree".into() } else { shown(below) }
}

/// Shows a path on one line, shortened in the middle.
fn shown(path: &str) -> String {
    let text = escape(path.as_bytes());
    let n_chars = text.chars().count();
    if n_chars <= MAX_SHOWN_PATH_CHARS {
        return text;
    }
    let half = MAX_SHOWN_PATH_CHARS / 2;
    let start: String = text.chars().take(half).collect();
    let end: String = text.chars().skip(n_chars - half).collect();
    format!("{start}…{end}")
}

#[cfg(test)]
mod tests;
