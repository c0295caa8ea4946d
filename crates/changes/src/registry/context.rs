//! Gathers what this machine observes when a command is given: the time, processes, leases and life times, governed runs,
//! and what the tree has of work that other trees finished.

use super::{IntentService, TreeFacts, host};
use probity_intents::coherence::{LackingWork, TreeContents};
use probity_intents::registry::{CommandContext, Intent, IntentBase, RegistryAction};
use probity_intents::{IntentId, IntentScope, PeerIntent, ProcessProbe, ScopeEntry};
use probity_storage::ports::LeaseStore;
use probity_workspace::ServiceError;
use probity_workspace::run_claims::{self, OpenRunClaim};
use std::collections::{BTreeMap, BTreeSet};

/// Seconds that leases of intents still run at most.
type RunningLeases = BTreeMap<IntentId, u64>;

impl IntentService {
    /// Returns what this host observes now, without facts about the tree.
    pub fn command_context(&self) -> Result<CommandContext, ServiceError> {
        self.command_context_in(&TreeFacts::default(), Vec::new())
    }

    /// Returns the repository's running governed runs except one that this process is part of.
    pub(crate) fn open_runs(&self) -> Result<Vec<OpenRunClaim>, ServiceError> {
        let Some((state, _)) = &self.runs else { return Ok(Vec::new()) };
        let mut runs = run_claims::open_runs(state)?;
        runs.retain(|run| !run.is_around_us());
        Ok(runs)
    }

    /// Returns the governed runs that conflict with `scope`, which uses the registry's path names.
    pub(crate) fn run_peers(&self, scope: &IntentScope) -> Result<Vec<PeerIntent>, ServiceError> {
        let Some((_, top)) = &self.runs else { return Ok(Vec::new()) };
        let is_file = |entry: &ScopeEntry| run_claims::is_file(top, entry);
        Ok(self.open_runs()?.iter().filter_map(|run| run.claim.as_peer(scope, &is_file)).collect())
    }

    /// Returns the scope that an action would claim.
    pub(super) fn claimed_by(&self, action: &RegistryAction) -> Option<IntentScope> {
        match action {
            RegistryAction::Start { declaration, .. } => Some(declaration.scope.clone()),
            RegistryAction::Promote { intent_id, .. } => {
                self.registry.intent(intent_id).map(|intent| intent.scope.clone())
            }
            RegistryAction::Amend { allowed_files, allowed_related, .. } => Some(IntentScope {
                allowed_files: allowed_files.clone(),
                allowed_related: allowed_related.clone(),
                ..IntentScope::default()
            }),
            _ => None,
        }
    }

    /// Returns what the tree has of work that others finished, as far as an action depends on it.
    pub(super) fn tree_contents(
        &self,
        action: &RegistryAction,
        tree: &TreeFacts,
    ) -> Result<TreeContents, ServiceError> {
        let (scope, base) = match action {
            RegistryAction::Start { declaration, .. } => (&declaration.scope, &declaration.base),
            RegistryAction::Promote { intent_id, base, .. } => match self.registry.intent(intent_id) {
                Some(intent) => (&intent.scope, base),
                None => return Ok(TreeContents::default()),
            },
            _ => return Ok(TreeContents::default()),
        };
        self.ask_tree(scope, base, tree)
    }

    fn ask_tree(
        &self,
        scope: &IntentScope,
        base: &IntentBase,
        tree: &TreeFacts,
    ) -> Result<TreeContents, ServiceError> {
        let Some(probe) = &tree.base else { return Ok(TreeContents::default()) };
        let question = self.registry.base_question(scope, base);
        if question.paths.is_empty() && question.commits.is_empty() {
            return Ok(TreeContents::default());
        }
        probe.answer(&question)
    }

    /// Returns the work of other trees that a claim on `scope` from `base` would lack.
    pub(crate) fn lacking(
        &self,
        scope: &IntentScope,
        base: &IntentBase,
        tree: &TreeFacts,
    ) -> Result<Vec<LackingWork>, ServiceError> {
        Ok(self.registry.lacking(scope, base, &self.ask_tree(scope, base, tree)?))
    }

    /// Returns the work of other trees that landed on the line of an intent since it was granted, and that its tree lacks.
    pub(crate) fn landed_under(
        &self,
        intent: &Intent,
        tree: &TreeFacts,
    ) -> Result<Vec<LackingWork>, ServiceError> {
        let own = self.ask_tree(&intent.scope, &intent.base, tree)?;
        Ok(self.registry.landed_under(intent, &own, tree.stale_base))
    }

    pub(super) fn command_context_in(
        &self,
        tree: &TreeFacts,
        runs: Vec<PeerIntent>,
    ) -> Result<CommandContext, ServiceError> {
        let open = || self.registry.open_intents();
        let (leases, lives) = if let Some(observations) = &self.observations {
            let observed = observations.observe(&self.registry, self.host.uptime())?;
            (observed.leases, Some(observed.lives))
        } else if self.offline.is_some() {
            // Nothing is known, so nothing is over.
            let whole = |intent: &Intent| (intent.id.clone(), intent.life.seconds);
            let leases = open().map(|intent| (intent.id.clone(), intent.lease.seconds)).collect();
            (leases, Some(open().map(whole).collect()))
        } else {
            self.running_leases()?
        };
        Ok(CommandContext {
            now: self.host.now(),
            probes: self.probes(open()),
            leases,
            lives,
            // On a shared store a session that ended here may be one of a copied image, alive elsewhere.
            ended_sessions: if self.is_shared { BTreeSet::new() } else { self.host.ended_sessions() },
            run_available: tree.run_available,
            dirty: tree.dirty.clone(),
            runs,
            tree: TreeContents::default(),
            stale_base: tree.stale_base,
            clone_log: None,
        })
    }

    /// Returns the leases of open intents that run, with the seconds they still run at most, and their lives on a shared store.
    fn running_leases(&self) -> Result<(RunningLeases, Option<RunningLeases>), ServiceError> {
        let now = self.host.uptime();
        let head = self.registry.head().seq.0;
        if self.registry.open_intents().next().is_none() {
            let none = (BTreeMap::new(), self.lives.as_ref().map(|_| BTreeMap::new()));
            if self.is_shared {
                // What this process appends next is then all there is, and need not be read back.
                self.lease_readings.keep(head, now, none);
            }
            return Ok((BTreeMap::new(), self.lives.as_ref().map(|_| BTreeMap::new())));
        }
        let known = if self.is_shared { self.lease_readings.known(head, &now) } else { None };
        let (leases, lives) = if let Some(known) = known {
            known
        } else {
            let read = |leases: &Option<Box<dyn LeaseStore>>| leases.as_deref().map(running).transpose();
            let found = (read(&self.leases)?.unwrap_or_default(), read(&self.lives)?);
            if self.is_shared {
                self.lease_readings.keep(head, now, found.clone());
            }
            found
        };
        let of_open = |running: BTreeMap<String, u64>| -> RunningLeases {
            let left = |intent: &Intent| Some((intent.id.clone(), *running.get(intent.id.as_str())?));
            self.registry.open_intents().filter_map(left).collect()
        };
        Ok((of_open(leases), lives.map(of_open)))
    }

    /// Probes the processes behind these intents, each process once.
    fn probes<'i>(&self, intents: impl Iterator<Item = &'i Intent>) -> BTreeMap<IntentId, ProcessProbe> {
        let mut known: BTreeMap<u32, ProcessProbe> = BTreeMap::new();
        intents
            .filter(|intent| host::can_probe(self.host(), &intent.owner))
            .map(|intent| {
                let pid = intent.owner.pid;
                (intent.id.clone(), *known.entry(pid).or_insert_with(|| self.host.probe_process(pid)))
            })
            .collect()
    }
}

fn running(leases: &dyn LeaseStore) -> Result<BTreeMap<String, u64>, ServiceError> {
    Ok(leases.running()?.into_iter().map(|(owner, left)| (owner, left.as_secs())).collect())
}
