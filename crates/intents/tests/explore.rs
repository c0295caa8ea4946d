//! Explores every schedule of a small world: three agents, two paths, lost replies, crashes, late messages, time.
//!
//! The world drives the real `decide` and `apply` breadth first, and after every step checks the laws against what
//! really happened. Mutants of the rules must each be caught, which shows that the search covers what it should.

mod common;

use common::{command, id, owner, promote, release, scope, seen, start};
use probity_intents::registry::{
    CommandContext, CommandDecision, CommandRefusal, EventSeq, Intent, IntentRegistry, RegistryAction,
    RegistryChange, RegistryCommand, RegistryEvent,
};
use probity_intents::start::OnConflict::{Block, Queue};
use probity_intents::{IntentId, IntentOwner, IntentStatus, ProcessProbe, Timestamp, overlap};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

const NAMES: [&str; 3] = ["a", "b", "c"];
const SCOPES: [&[&str]; 3] = [&["p"], &["p", "q"], &["p"]];
/// A lease lasts one step and a lifetime two, so that every boundary is hit exactly.
const STEP: u64 = 60;
const LAST_STEP: u64 = 3;

/// The rules under test: the real ones, or a mutant.
trait Rules {
    fn decide(
        &self,
        registry: &IntentRegistry,
        seen: &CommandContext,
        command: &RegistryCommand,
    ) -> Result<CommandDecision, CommandRefusal> {
        registry.decide(seen, command)
    }

    fn store(&self, event: RegistryEvent) -> RegistryEvent {
        event
    }
}

/// A start that was sent: its number, and whether it may be queued.
type Sent = (u32, bool);

/// The state and knowledge of one agent.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
struct Agent {
    /// Its process; a new one after each crash.
    incarnation: u32,
    is_down: bool,
    /// The start it sent, whose answer it may not have received.
    sent: Option<Sent>,
    knows_answer: bool,
    /// Every token it was ever given.
    tokens: BTreeSet<EventSeq>,
}

#[derive(Clone)]
struct World {
    registry: IntentRegistry,
    agents: [Agent; 3],
    step: u64,
    /// The last grant of each path.
    granted: BTreeMap<&'static str, EventSeq>,
    n_commands: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Move {
    /// Agent, may be queued, answer is lost.
    Start(usize, bool, bool),
    Retry(usize),
    Promote(usize),
    Renew(usize),
    Release(usize, EventSeq),
    Recover(usize, usize),
    Crash(usize),
    Restart(usize),
    Tick,
}

/// Identifies a world for the search: everything but digests.
type Key = (Vec<Intent>, [Agent; 3], u64, Vec<(&'static str, EventSeq)>);

impl World {
    fn new() -> Self {
        Self {
            registry: IntentRegistry::default(),
            agents: Default::default(),
            step: 0,
            granted: BTreeMap::new(),
            n_commands: 0,
        }
    }

    fn key(&self) -> Key {
        let granted = self.granted.iter().map(|(path, seq)| (*path, *seq)).collect();
        (self.registry.intents().cloned().collect(), self.agents.clone(), self.step, granted)
    }

    fn owner(&self, agent: usize) -> IntentOwner {
        let n = u32::try_from(agent).expect("three agents");
        owner(NAMES[agent], 100 * (n + 1) + self.agents[agent].incarnation)
    }

    fn intent_name(agent: usize) -> String {
        format!("i-{}", NAMES[agent])
    }

    fn intent(&self, agent: usize) -> Option<&Intent> {
        self.registry.intent(&id(&Self::intent_name(agent)))
    }

    /// Returns true if the process that holds an intent is really alive.
    fn lives(&self, intent: &Intent) -> bool {
        (0..3).any(|agent| !self.agents[agent].is_down && self.owner(agent) == intent.owner)
    }

    fn circumstances(&self) -> CommandContext {
        let probe = |intent: &Intent| ProcessProbe { exists: self.lives(intent), pid_start: Some(1) };
        let probes = self.registry.intents().map(|intent| (intent.id.clone(), probe(intent))).collect();
        CommandContext { probes, ..seen(self.step * STEP) }
    }

    fn now(&self) -> Timestamp {
        Timestamp(self.step * STEP)
    }

    fn moves(&self) -> Vec<Move> {
        let mut moves = Vec::new();
        if self.step < LAST_STEP {
            moves.push(Move::Tick);
        }
        for agent in 0..3 {
            self.moves_of(agent, &mut moves);
        }
        moves
    }

    fn moves_of(&self, agent: usize, moves: &mut Vec<Move>) {
        let state = &self.agents[agent];
        for token in &state.tokens {
            // Also from a process that is gone: a message can be late.
            moves.push(Move::Release(agent, *token));
        }
        if state.is_down {
            return moves.push(Move::Restart(agent));
        }
        if state.incarnation == 0 {
            moves.push(Move::Crash(agent));
        }
        match (&state.sent, state.knows_answer) {
            (None, _) => {
                moves.push(Move::Start(agent, true, false));
                moves.push(Move::Start(agent, true, true));
                moves.push(Move::Start(agent, false, false));
            }
            (Some(_), false) => moves.push(Move::Retry(agent)),
            (Some(_), true) => moves.extend([Move::Promote(agent), Move::Renew(agent)]),
        }
        for other in 0..3 {
            if self.intent(other).is_some_and(|intent| !intent.status.is_closed()) {
                moves.push(Move::Recover(agent, other));
            }
        }
    }

    /// Makes a move. `None` if it has no effect, an error if it breaks a law.
    fn make(&self, rules: &dyn Rules, next: Move) -> Result<Option<Self>, String> {
        if let Some((agent, action)) = self.action(next) {
            return self.give(rules, agent, action);
        }
        let mut world = self.clone();
        match next {
            Move::Crash(agent) => world.agents[agent].is_down = true,
            Move::Restart(agent) => {
                world.agents[agent].is_down = false;
                world.agents[agent].incarnation += 1;
            }
            Move::Start(agent, waits, reply_lost) => {
                world.n_commands += 1;
                world.agents[agent].sent = Some((world.n_commands, waits));
                return world.send_start(rules, agent, reply_lost);
            }
            Move::Retry(agent) => return world.send_start(rules, agent, false),
            _ => world.step += 1,
        }
        Ok(Some(world))
    }

    /// Returns the command behind a move, and who gives it. Starts are handled separately: their answers can get lost.
    fn action(&self, next: Move) -> Option<(usize, RegistryAction)> {
        match next {
            Move::Promote(agent) => Some((agent, promote(&Self::intent_name(agent)))),
            Move::Renew(agent) => {
                let intent_id = id(&Self::intent_name(agent));
                Some((agent, RegistryAction::Renew { intent_id, lease_seconds: STEP, ttl_seconds: None }))
            }
            Move::Release(agent, token) => {
                let granted = |name: &String| {
                    self.registry.intent(&id(name)).is_some_and(|intent| intent.history.contains(&token))
                };
                let name = (0..3).map(Self::intent_name).find(granted)?;
                Some((agent, release(&name, token)))
            }
            Move::Recover(agent, other) => {
                let intent_id = id(&Self::intent_name(other));
                Some((
                    agent,
                    RegistryAction::Recover { intent_id, lease_seconds: STEP, ttl_seconds: 2 * STEP },
                ))
            }
            _ => None,
        }
    }

    fn send_start(
        mut self,
        rules: &dyn Rules,
        agent: usize,
        reply_lost: bool,
    ) -> Result<Option<Self>, String> {
        let (number, waits) = self.agents[agent].sent.expect("sent before");
        let action = start(&Self::intent_name(agent), SCOPES[agent], if waits { Queue } else { Block });
        let command = command(&format!("start-{number}"), &self.owner(agent), action);
        let was_carried_out = self.intent(agent).is_some();
        let answer = rules.decide(&self.registry, &self.circumstances(), &command);
        match answer {
            Ok(CommandDecision::Known(event)) if was_carried_out => self.learn(agent, &event),
            Ok(CommandDecision::Append(event)) if !was_carried_out => {
                let event = rules.store(*event);
                self.check_and_apply(agent, &event)?;
                if !reply_lost {
                    self.learn(agent, &event);
                }
            }
            Err(_) if !was_carried_out => {
                self.check_refused_start(agent)?;
                self.agents[agent].sent = None;
            }
            other => return Err(format!("a repeated start was answered with {other:?}")),
        }
        Ok(Some(self))
    }

    fn learn(&mut self, agent: usize, event: &RegistryEvent) {
        self.agents[agent].knows_answer = true;
        if let RegistryChange::Granted { .. } = event.change {
            self.agents[agent].tokens.insert(event.seq);
        }
    }

    /// Gives a command; a refusal changes nothing.
    fn give(&self, rules: &dyn Rules, agent: usize, action: RegistryAction) -> Result<Option<Self>, String> {
        let number = self.n_commands + 1;
        let sent = if let RegistryAction::Release { token, .. } = &action { Some(*token) } else { None };
        let command = command(&format!("c-{number}"), &self.owner(agent), action);
        let Ok(CommandDecision::Append(event)) =
            rules.decide(&self.registry, &self.circumstances(), &command)
        else {
            return Ok(None);
        };
        let event = rules.store(*event);
        self.check_release(&event, sent)?;
        let mut world = Self { n_commands: number, ..self.clone() };
        world.check_and_apply(agent, &event)?;
        let intent = event.change.intent_id().and_then(|id| world.registry.intent(id));
        if intent.is_some_and(|intent| intent.token == Some(event.seq)) {
            world.agents[agent].tokens.insert(event.seq);
        }
        Ok(Some(world))
    }

    /// Checks the laws for an event, applies it, and checks them for the result.
    fn check_and_apply(&mut self, agent: usize, event: &RegistryEvent) -> Result<(), String> {
        self.check_order(agent, event)?;
        self.check_displaced(event)?;
        self.registry.apply(event);
        self.note_grant(event);
        self.check_disjoint()
    }

    fn note_grant(&mut self, event: &RegistryEvent) {
        let Some(intent) = event.change.intent_id().and_then(|id| self.registry.intent(id)) else { return };
        if intent.token == Some(event.seq) {
            for path in ["p", "q"] {
                if overlap(&scope(&[path]), &intent.scope) {
                    self.granted.insert(path, event.seq);
                }
            }
        }
    }

    /// No two active intents overlap.
    fn check_disjoint(&self) -> Result<(), String> {
        let active: Vec<&Intent> =
            self.registry.intents().filter(|intent| intent.status == IntentStatus::Active).collect();
        for (n, one) in active.iter().enumerate() {
            if let Some(other) = active[n + 1..].iter().find(|other| overlap(&one.scope, &other.scope)) {
                return Err(format!("{} and {} hold the same path", one.id, other.id));
            }
        }
        Ok(())
    }

    /// A finish is accepted only from the last agent that was granted the paths, and only in time.
    fn check_release(&self, event: &RegistryEvent, sent: Option<EventSeq>) -> Result<(), String> {
        let RegistryChange::Released { intent_id, .. } = &event.change else { return Ok(()) };
        let intent = self.registry.intent(intent_id).ok_or("a release of nothing")?;
        if intent.expires_at <= self.now() {
            return Err(format!("{intent_id} was released after its end"));
        }
        let old =
            |path: &str| overlap(&scope(&[path]), &intent.scope) && self.granted.get(path).copied() != sent;
        match self.granted.keys().find(|path| old(path)) {
            Some(path) => Err(format!("{intent_id} released {path} with an old token")),
            None => Ok(()),
        }
    }

    /// No one is granted paths for which an earlier waiter was ready.
    fn check_order(&self, agent: usize, event: &RegistryEvent) -> Result<(), String> {
        let (wanted, place) = match &event.change {
            RegistryChange::Granted { declaration, .. } => (&declaration.scope, None),
            RegistryChange::Promoted { intent_id, .. } => {
                let intent = self.registry.intent(intent_id).ok_or("a promotion of nothing")?;
                (&intent.scope, intent.queued_at)
            }
            _ => return Ok(()),
        };
        let earlier = self.registry.intents().filter(|waiter| {
            waiter.status == IntentStatus::Queued
                && waiter.owner.token != self.owner(agent).token
                && place.is_none_or(|place| waiter.queued_at < Some(place))
                && overlap(wanted, &waiter.scope)
        });
        for waiter in earlier {
            let waits =
                self.lives(waiter) && waiter.lease.is_fresh(self.now()) && waiter.expires_at > self.now();
            if waits && self.way_is_free(waiter) {
                return Err(format!("{} was passed by although its way was free", waiter.id));
            }
        }
        Ok(())
    }

    fn way_is_free(&self, waiter: &Intent) -> bool {
        self.registry.intents().all(|holder| {
            holder.status != IntentStatus::Active
                || !overlap(&holder.scope, &waiter.scope)
                || !self.holds(holder)
        })
    }

    /// Returns true if an active intent really holds its paths.
    fn holds(&self, intent: &Intent) -> bool {
        self.lives(intent) && intent.expires_at > self.now()
    }

    /// No living owner loses a claim before its end.
    fn check_displaced(&self, event: &RegistryEvent) -> Result<(), String> {
        let (RegistryChange::Granted { displaced, .. } | RegistryChange::Promoted { displaced, .. }) =
            &event.change
        else {
            return Ok(());
        };
        match displaced.iter().filter_map(|id| self.registry.intent(id)).find(|intent| self.holds(intent)) {
            Some(intent) => Err(format!("{} lost its claim although its owner lives", intent.id)),
            None => Ok(()),
        }
    }

    /// A start is refused only if someone really is in the way.
    fn check_refused_start(&self, agent: usize) -> Result<(), String> {
        let wanted = scope(SCOPES[agent]);
        let own = self.owner(agent).token;
        let in_the_way = self.registry.intents().any(|other| {
            let ours = other.owner.token == own;
            overlap(&wanted, &other.scope)
                && match other.status {
                    IntentStatus::Active => ours && other.expires_at > self.now() || self.holds(other),
                    IntentStatus::Queued => !ours,
                    _ => false,
                }
        });
        if in_the_way { Ok(()) } else { Err(format!("agent {} was refused for nothing", NAMES[agent])) }
    }
}

struct Found {
    n_worlds: usize,
    broken: Option<String>,
}

/// Visits every world within `depth` moves, until a law is broken.
fn explore(rules: &dyn Rules, depth: usize) -> Found {
    let mut known: BTreeSet<Key> = BTreeSet::new();
    let mut queue = VecDeque::from([(World::new(), 0)]);
    while let Some((world, moves)) = queue.pop_front() {
        for next in world.moves() {
            match world.make(rules, next) {
                Err(broken) => {
                    return Found { n_worlds: known.len(), broken: Some(format!("{next:?}: {broken}")) };
                }
                // The last worlds are checked, but need not be kept.
                Ok(Some(after)) if known.insert(after.key()) && moves + 1 < depth => {
                    queue.push_back((after, moves + 1));
                }
                Ok(_) => {}
            }
        }
    }
    Found { n_worlds: known.len(), broken: None }
}

struct Real;
impl Rules for Real {}

/// Accepts any token.
struct NoFence;
impl Rules for NoFence {
    fn decide(
        &self,
        registry: &IntentRegistry,
        seen: &CommandContext,
        command: &RegistryCommand,
    ) -> Result<CommandDecision, CommandRefusal> {
        let mut command = command.clone();
        if let RegistryAction::Release { intent_id, token, .. } = &mut command.action {
            *token = registry.intent(intent_id).and_then(|intent| intent.token).unwrap_or(*token);
        }
        registry.decide(seen, &command)
    }
}

/// Extends leases and lifetimes by a second.
struct LateClock;
impl Rules for LateClock {
    fn decide(
        &self,
        registry: &IntentRegistry,
        seen: &CommandContext,
        command: &RegistryCommand,
    ) -> Result<CommandDecision, CommandRefusal> {
        let now = Timestamp(seen.now.0.saturating_sub(1));
        registry.decide(&CommandContext { now, ..seen.clone() }, command)
    }
}

/// Grants the paths of a dead owner without closing its intent.
struct NoDisplacement;
impl Rules for NoDisplacement {
    fn store(&self, mut event: RegistryEvent) -> RegistryEvent {
        if let RegistryChange::Granted { displaced, .. } | RegistryChange::Promoted { displaced, .. } =
            &mut event.change
        {
            displaced.clear();
        }
        event
    }
}

/// Does not recognize a repeated command.
struct Forgetful;
impl Rules for Forgetful {
    fn decide(
        &self,
        registry: &IntentRegistry,
        seen: &CommandContext,
        command: &RegistryCommand,
    ) -> Result<CommandDecision, CommandRefusal> {
        match registry.decide(seen, command)? {
            CommandDecision::Known(_) => {
                let id = probity_intents::CommandId::parse("forgotten").expect("an id");
                registry.decide(seen, &RegistryCommand { id, ..command.clone() })
            }
            other => Ok(other),
        }
    }
}

/// Treats the owners of some intents as dead.
struct Presumed(fn(&Intent) -> bool);
impl Rules for Presumed {
    fn decide(
        &self,
        registry: &IntentRegistry,
        seen: &CommandContext,
        command: &RegistryCommand,
    ) -> Result<CommandDecision, CommandRefusal> {
        let mut seen = seen.clone();
        let dead: Vec<IntentId> =
            registry.intents().filter(|it| (self.0)(it)).map(|it| it.id.clone()).collect();
        seen.probes.extend(dead.into_iter().map(|id| (id, ProcessProbe { exists: false, pid_start: None })));
        registry.decide(&seen, command)
    }
}

/// Leaves a claim behind if a start is blocked.
struct BlockedClaims;
impl Rules for BlockedClaims {
    fn decide(
        &self,
        registry: &IntentRegistry,
        seen: &CommandContext,
        command: &RegistryCommand,
    ) -> Result<CommandDecision, CommandRefusal> {
        match (registry.decide(seen, command), &command.action) {
            (Err(CommandRefusal::Blocked { .. }), RegistryAction::Start { .. }) => {
                Presumed(|_| true).decide(registry, seen, command).map(|decision| match decision {
                    CommandDecision::Append(event) => {
                        CommandDecision::Append(Box::new(NoDisplacement.store(*event)))
                    }
                    other => other,
                })
            }
            (answer, _) => answer,
        }
    }
}

/// Number of moves explored with the real rules. Optimized builds look further.
const DEPTH: usize = if cfg!(debug_assertions) { 4 } else { 5 };
/// Number of moves within which a mutant must be caught.
const MUTANT_DEPTH: usize = 6;

#[test]
fn no_schedule_breaks_a_law() {
    let found = explore(&Real, DEPTH);
    assert_eq!(found.broken, None);
    assert!(found.n_worlds > 1_000, "only {} worlds", found.n_worlds);
}

fn assert_caught(mutant: &dyn Rules) {
    let found = explore(mutant, MUTANT_DEPTH);
    assert!(found.broken.is_some(), "the mutant survived {} worlds", found.n_worlds);
}

#[test]
fn a_finish_without_fencing_is_caught() {
    assert_caught(&NoFence);
}

#[test]
fn a_life_that_lasts_too_long_is_caught() {
    assert_caught(&LateClock);
}

#[test]
fn a_grant_beside_a_dead_claim_is_caught() {
    assert_caught(&NoDisplacement);
}

#[test]
fn a_forgotten_command_is_caught() {
    assert_caught(&Forgetful);
}

#[test]
fn a_jump_over_the_queue_is_caught() {
    assert_caught(&Presumed(|intent| intent.status == IntentStatus::Queued));
}

#[test]
fn taking_the_claim_of_the_living_is_caught() {
    assert_caught(&Presumed(|intent| intent.status == IntentStatus::Active));
}

#[test]
fn a_blocked_start_that_claims_is_caught() {
    assert_caught(&BlockedClaims);
}
