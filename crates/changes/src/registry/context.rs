//! Gathers what this machine observes when a command is given: the time, processes, leases and life times.

use super::{IntentService, TreeFacts, host};
use probity_intents::coherence::TreeContents;
use probity_intents::registry::{CommandContext, Intent};
use probity_intents::{IntentId, PeerIntent, ProcessProbe};
use probity_storage::ports::LeaseStore;
use probity_workspace::ServiceError;
use std::collections::{BTreeMap, BTreeSet};

/// Seconds that leases of intents still run at most.
type RunningLeases = BTreeMap<IntentId, u64>;

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
        })
    }

    /// Returns the leases of open intents that run, with the seconds they still run at most, and their lives on a shared store.
    fn running_leases(&self) -> Result<(RunningLeases, Option<RunningLeases>), ServiceError> {
        if self.registry.open_intents().next().is_none() {
            return Ok((BTreeMap::new(), self.lives.as_ref().map(|_| BTreeMap::new())));
        }
        let now = self.host.uptime();
        let head = self.registry.head().seq.0;
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
