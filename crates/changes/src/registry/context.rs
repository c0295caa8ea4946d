//! Gathers what this machine observes when a command is given: the time, processes, leases and life times.

use super::{IntentService, TreeFacts, host};
use probity_intents::coherence::TreeContents;
use probity_intents::registry::{CommandContext, Intent};
use probity_intents::{IntentId, PeerIntent, ProcessProbe};
use probity_storage::ports::LeaseStore;
use probity_workspace::ServiceError;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

impl IntentService {
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
            (BTreeMap::new(), Some(open().map(whole).collect()))
        } else {
            let lives = self.lives.as_deref().map(|lives| self.running(lives)).transpose()?;
            (
                self.leases.as_deref().map(|leases| self.running(leases)).transpose()?.unwrap_or_default(),
                lives,
            )
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
        })
    }

    /// Returns the leases of open intents that run, with the seconds they still run at most.
    fn running(&self, leases: &dyn LeaseStore) -> Result<BTreeMap<IntentId, u64>, ServiceError> {
        if self.registry.open_intents().next().is_none() {
            return Ok(BTreeMap::new());
        }
        let running: BTreeMap<String, Duration> = leases.running()?.into_iter().collect();
        let left =
            |intent: &Intent| running.get(intent.id.as_str()).map(|left| (intent.id.clone(), left.as_secs()));
        Ok(self.registry.open_intents().filter_map(left).collect())
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
