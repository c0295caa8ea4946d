//! Decides at each event of an agent.

use crate::answer::HookDecision;
use crate::declare;
use crate::machine::FileWorld;
use crate::payload::{AgentDialect, HookEvent, HookPayload};
use crate::tool_call::{ToolAction, tool_action};
use probity_guard::shell::{self, WriteKind, normalize};
use probity_guard::{
    GovernedTree, GuardRefusal, GuardVerdict, GuardWorld, MAX_UNPROVEN_PROGRAMS, PathWrite, RefusalCode,
    RunGuard, ToolCallEffects, decide, handle_digest, own_intents,
};

/// How long after its start an intent that a shell command started can still be bound, in seconds.
const MAX_BINDING_AGE_SECONDS: u64 = 600;
/// An intent that ends sooner is mentioned, in seconds.
const ENDING_SOON_SECONDS: u64 = 300;

/// How many handles of owners are looked for in an answer; a start shows one.
const MAX_SHOWN_OWNERS: usize = 64;

/// How many patterns of a sealed scope an agent is told.
const MAX_SHOWN_PATTERNS: usize = 20;

/// Decides about an event.
pub fn on_event(
    dialect: AgentDialect,
    event: HookEvent,
    payload: &HookPayload,
    world: &FileWorld,
) -> HookDecision {
    match event {
        HookEvent::BeforeTool => before_tool(dialect, payload, world),
        HookEvent::AfterTool => after_tool(dialect, payload, world),
        HookEvent::Stop => stop(payload, world),
        HookEvent::SessionStart => session_start(world),
    }
}

fn refused(code: RefusalCode, reason: &str) -> HookDecision {
    HookDecision::Refuse(GuardRefusal::new(code, reason).reason)
}

fn before_tool(dialect: AgentDialect, payload: &HookPayload, world: &FileWorld) -> HookDecision {
    let effects = match effects_of(dialect, payload, world) {
        Ok(effects) => effects,
        Err(refusal) => return HookDecision::Refuse(refusal.reason),
    };
    match decide(&effects, world) {
        GuardVerdict::Pass => {}
        GuardVerdict::Refuse(refusal) => return HookDecision::Refuse(refusal.reason),
        GuardVerdict::Declare { root, paths } => {
            if let Err(refusal) = declare::start_intent(dialect, &root, &paths, world) {
                return HookDecision::Refuse(refusal.reason);
            }
        }
    }
    if !effects.unproven_programs.is_empty()
        && let Some(tree) = world.session_tree().filter(|tree| tree.run.is_none())
    {
        note_unproven(&effects.unproven_programs, &tree, world);
    }
    HookDecision::Silent
}

/// Returns what a call writes, or the refusal of a call that cannot be understood in a governed tree.
fn effects_of(
    dialect: AgentDialect,
    payload: &HookPayload,
    world: &FileWorld,
) -> Result<ToolCallEffects, GuardRefusal> {
    let is_governed = || world.session_tree().is_some();
    match tool_action(dialect, payload) {
        ToolAction::Harmless | ToolAction::Reads(_) | ToolAction::Probity(_) => {
            Ok(ToolCallEffects::default())
        }
        ToolAction::Writes(paths) => {
            let write =
                |path: &String| PathWrite { path: normalize(world.cwd(), path), kind: WriteKind::Entry };
            Ok(ToolCallEffects { writes: paths.iter().map(write).collect(), ..ToolCallEffects::default() })
        }
        ToolAction::Shell { command, directory } => {
            let cwd = directory.map_or_else(|| world.cwd().to_owned(), |dir| normalize(world.cwd(), &dir));
            match shell::effects(&command, &cwd, world) {
                Ok(effects) => {
                    if let Some(name) = effects.bare_interpreters.first()
                        && dialect == AgentDialect::Codex
                        && is_governed()
                    {
                        let reason = format!(
                            "`{name}` without a program would take commands that no hook sees; give it the program, \
                             as in `{name} -c …`"
                        );
                        return Err(GuardRefusal::new(RefusalCode::BareInterpreter, reason));
                    }
                    let writes = effects.writes.into_iter();
                    let writes =
                        writes.map(|write| PathWrite { path: write.path, kind: write.kind }).collect();
                    Ok(ToolCallEffects { writes, unproven_programs: effects.unproven_programs })
                }
                Err(why) if is_governed() => {
                    let reason =
                        format!("this command line cannot be followed ({why}); split it into simpler ones");
                    Err(GuardRefusal::new(RefusalCode::NotUnderstood, reason))
                }
                Err(_) => Ok(ToolCallEffects::default()),
            }
        }
        ToolAction::Unknown(why) if is_governed() => {
            let reason = format!("{why}: this version is not known; run `probity doctor --agent {dialect}`");
            Err(GuardRefusal::new(RefusalCode::NotUnderstood, reason))
        }
        ToolAction::Unknown(_) => Ok(ToolCallEffects::default()),
    }
}

/// Keeps the names of programs whose writes the hook does not see. What a sub-agent ran counts for its parent, too, under whose
/// intents it may work.
fn note_unproven(programs: &[String], tree: &GovernedTree, world: &FileWorld) {
    let own = (world.session_files(tree), tree.subagent.as_ref().unwrap_or(&tree.session));
    let parent = tree.subagent.is_some().then(|| (world.parent_files(tree), &tree.session));
    for (files, record) in [own].into_iter().chain(parent) {
        let is_new = |program: &&String| !record.unproven_programs.contains(program);
        let room = MAX_UNPROVEN_PROGRAMS.saturating_sub(record.unproven_programs.len());
        programs.iter().filter(is_new).take(room).for_each(|program| files.note_unproven(program));
    }
}

fn after_tool(dialect: AgentDialect, payload: &HookPayload, world: &FileWorld) -> HookDecision {
    let Some(tree) = world.session_tree().filter(|tree| tree.run.is_none()) else {
        return HookDecision::Silent;
    };
    let Ok(snapshot) = &tree.snapshot else { return HookDecision::Silent };
    let files = world.session_files(&tree);
    let action = tool_action(dialect, payload);
    bind_started(&action, payload, &tree, world);
    let record = tree.subagent.as_ref().unwrap_or(&tree.session);
    let mut state = record.state.clone();
    let mut lines = Vec::new();
    let digest = world.configuration_digest(&tree);
    if state.configuration.is_empty() {
        world.note_guard(&mut state, digest);
    } else if state.configuration != digest {
        state.is_altered = true;
        lines.push(
            "the configuration of the guard was changed during this session; finish will say so".to_owned(),
        );
    }
    let now = world.now();
    if let ToolAction::Reads(paths) = &action {
        let own = own_intents(&tree, snapshot, now);
        for path in paths.iter().map(|path| normalize(world.cwd(), path)) {
            let Some(below) = path.strip_prefix(&format!("{}/", tree.root)) else { continue };
            let holder = snapshot.intents.iter().find(|intent| {
                let is_own = own.iter().any(|own| own.intent_id == intent.intent_id);
                !is_own
                    && intent.is_active
                    && intent.expires_at > now
                    && intent.scope.holds(below.as_bytes()).is_some()
            });
            if let Some(holder) = holder {
                let agent = probity_core::bytes::escape(holder.agent.as_bytes());
                let below = probity_core::bytes::escape(below.as_bytes());
                lines.push(format!("{below} is held by {agent} (intent {})", holder.intent_id));
            }
        }
    }
    for intent in own_intents(&tree, snapshot, now) {
        if intent.expires_at.saturating_sub(now) < ENDING_SOON_SECONDS {
            lines.push(format!("intent {} ends in less than 5 min; renew it or finish", intent.intent_id));
        }
    }
    if !record.unproven_programs.is_empty() {
        let names = record.unproven_programs.join(", ");
        lines.push(format!("what {names} wrote passed no hook; finish judges it from the tree"));
    }
    let line = lines.join("; ");
    let is_news = !line.is_empty() && line != state.last_line;
    state.last_line.clone_from(&line);
    if state != record.state {
        files.write(&state);
    }
    if is_news { HookDecision::Context(format!("probity: {line}")) } else { HookDecision::Silent }
}

/// Binds the intents that this call started to the session: those whose owner's handle its answer shows, and that no session
/// has. The name alone proves nothing: the answer to a blocked start names the intents of other agents, too.
fn bind_started(action: &ToolAction, payload: &HookPayload, tree: &GovernedTree, world: &FileWorld) {
    let min_start = match action {
        ToolAction::Probity(tool) if tool == "start_controlled_change" => 0,
        ToolAction::Shell { command, .. } => {
            let starts =
                shell::effects(command, world.cwd(), world).is_ok_and(|effects| effects.starts_change);
            if !starts {
                return;
            }
            world.now().saturating_sub(MAX_BINDING_AGE_SECONDS)
        }
        _ => return,
    };
    let (Some(response), Ok(snapshot)) = (&payload.response, &tree.snapshot) else { return };
    let text = response.to_string();
    let owners = shown_owners(&text);
    let files = world.session_files(tree);
    for intent in snapshot.intents.iter().filter(|intent| intent.started_at >= min_start) {
        let is_owners = intent.owner.as_ref().is_some_and(|owner| owners.contains(owner));
        if is_owners && text.contains(&intent.intent_id) {
            files.bind(&intent.intent_id);
        }
    }
}

/// Returns the digests of the owners' handles that an answer shows: behind the word `owner`, in a line for people and in
/// JSON, also in JSON that is a text of JSON.
fn shown_owners(text: &str) -> Vec<String> {
    // Line feeds in a text of JSON are escapes.
    let text = text.replace("\\n", " ");
    let is_between = |letter: char| letter.is_whitespace() || "\"\\:,{}[]".contains(letter);
    let words: Vec<&str> = text.split(is_between).filter(|word| !word.is_empty()).collect();
    let behind_owner = words.windows(2).filter(|pair| pair[0] == "owner").map(|pair| pair[1]);
    behind_owner.take(MAX_SHOWN_OWNERS).map(handle_digest).collect()
}

fn stop(payload: &HookPayload, world: &FileWorld) -> HookDecision {
    let Some(tree) = world.session_tree() else { return HookDecision::Silent };
    let Ok(snapshot) = &tree.snapshot else { return HookDecision::Silent };
    let record = tree.subagent.as_ref().unwrap_or(&tree.session);
    let now = world.now();
    let open = snapshot.intents.iter().find(|intent| {
        intent.is_active
            && intent.expires_at > now
            && record.intents.contains(&intent.intent_id)
            && !record.state.asked_to_finish.contains(&intent.intent_id)
    });
    let Some(open) = open.filter(|_| !payload.is_continued_stop) else { return HookDecision::Silent };
    let mut state = record.state.clone();
    state.asked_to_finish.push(open.intent_id.clone());
    world.session_files(&tree).write(&state);
    let id = &open.intent_id;
    HookDecision::Continue(format!(
        "probity: intent {id} is still open. Call finish_controlled_change with intent_id \"{id}\"; if the work is given \
         up, manage_change_intent with action \"clear\"."
    ))
}

fn session_start(world: &FileWorld) -> HookDecision {
    let Some(tree) = world.session_tree() else { return HookDecision::Silent };
    if let Some(run) = &tree.run {
        return HookDecision::Context(run_context(run));
    }
    let mut state = tree.session.state.clone();
    let digest = world.configuration_digest(&tree);
    world.note_guard(&mut state, digest);
    if state != tree.session.state {
        world.session_files(&tree).write(&state);
    }
    let Ok(snapshot) = &tree.snapshot else {
        return refused(
            RefusalCode::GuardDamaged,
            "the guard's snapshot cannot be read; run `probity doctor`",
        )
        .into_context();
    };
    let now = world.now();
    let held: Vec<String> = snapshot
        .intents
        .iter()
        .filter(|intent| intent.is_active && intent.expires_at > now)
        .take(5)
        .map(|intent| {
            let entries: Vec<String> = intent.scope.entries().take(5).map(ToString::to_string).collect();
            format!("{} holds {}", probity_core::bytes::escape(intent.agent.as_bytes()), entries.join(", "))
        })
        .collect();
    let held = if held.is_empty() { String::new() } else { format!(" Now: {}.", held.join("; ")) };
    HookDecision::Context(format!(
        "Probity controls changes in this tree. Before editing, call start_controlled_change with the exact files; edits \
         outside are refused. Afterwards call finish_controlled_change.{held}{}",
        declare::ledger_context(&tree.root)
    ))
}

/// What an agent in a governed run is told at the start.
fn run_context(run: &RunGuard) -> String {
    let scope = match &run.scope {
        None => "what was declared".to_owned(),
        Some(patterns) if patterns.is_empty() => "nothing".to_owned(),
        Some(patterns) => {
            let shown: Vec<String> = patterns
                .iter()
                .take(MAX_SHOWN_PATTERNS)
                .map(|it| probity_core::bytes::escape(&it.0))
                .collect();
            let more = if patterns.len() > shown.len() { ", …" } else { "" };
            format!("{}{more}", shown.join(", "))
        }
    };
    format!(
        "This session is the governed run {} of Probity. The scope is already sealed, so nothing has to be declared or \
         finished: do not call start_controlled_change or finish_controlled_change. Only this may change: {scope}. Other \
         edits are refused.",
        run.run_id
    )
}

impl HookDecision {
    /// Turns a refusal into a line for an event that cannot refuse.
    fn into_context(self) -> Self {
        match self {
            Self::Refuse(reason) => Self::Context(reason),
            other => other,
        }
    }
}
