//! The tree after a change, and what it says: the dirt, whose it is, and the run that describes it.

use super::{Finisher, Scene};
use crate::Fault;
use crate::analyze::{self, AnalyzeOptions, Progress};
use crate::change::dirt::{Look, Since};
use crate::change::evidence::{self, Witness};
use crate::change::neighbours::Seen;
use crate::runs::{Runs, Stored};
use canon::Reason;
use contract::profile;
use intent::hygiene::StartSnapshot;
use intent::{Claims, Entry, FinishState, hygiene_finish};

/// How often a tree that moves between look and analysis is looked at again.
const ATTEMPTS: u32 = 3;

impl Finisher<'_> {
    /// Looks at the tree; analyses it if the change needs a run and one may be made.
    pub(super) fn scene(&self, progress: &(dyn Fn(Progress) + Sync)) -> Result<Scene, Fault> {
        let runs = Runs::open(self.workspace);
        for _ in 0..ATTEMPTS {
            let look = Look::take(self.workspace, &self.policy)?;
            let since = self.since(&look);
            let circumstances = self.shell.circumstances()?;
            let seen = Seen {
                registry: self.shell.registry(),
                owner: &self.owner,
                circumstances: &circumstances,
                frame: &self.frame,
            };
            let peers = seen.peers_here(&self.intent.id);
            let witness = Witness {
                workspace: self.workspace,
                look: &look,
                since: &since,
                frame: &self.frame,
                scope: &self.intent.scope,
                others: Claims::live(&peers),
            };
            let evidence = witness.paths(&self.request.evidence)?;
            let (dirty, start) = evidence::up(&self.frame, &since);
            let hygiene = hygiene_finish(&FinishState {
                scope: self.intent.scope.clone(),
                evidence: self.frame.entries_up(&evidence),
                dirty,
                start_snapshot: self.intent.base.dirty_snapshot.map(|_| start),
                foreign_intents: peers,
                strict: self.request.strict.unwrap_or(false) || self.policy.change.strict,
            });
            let tree_run = analyze::run_id(self.workspace, &look.snapshot)?;
            // A change of nothing is told by its runs: there is no file to have a profile.
            let needed =
                evidence.is_empty() || profile(evidence.iter().map(Entry::as_bytes)).after_run_required;
            let after = match &self.request.after_run_id {
                Some(name) => Some(runs.load(name)?),
                None => runs.recall(tree_run).filter(|_| needed),
            };
            if after.is_some() || !needed || !self.request.analyze || hygiene.blocks_finish() {
                return Ok(Scene { look, since, evidence, hygiene, tree_run, after });
            }
            analyze::analyze(self.workspace, &AnalyzeOptions::default(), progress)?;
        }
        Err(Fault::refused(Reason::TreeUnstable, "the tree changes while it is analysed"))
    }

    pub(super) fn since(&self, look: &Look) -> Since {
        if let Some(record) = &self.record {
            return look.since(self.workspace, record);
        }
        Since { start: StartSnapshot::Unreadable, ..look.since(self.workspace, &look.state) }
    }

    pub(super) fn before_run(&self) -> Option<Stored> {
        let id = self.intent.base.run_id.parse().ok().map(analysis::RunId)?;
        Runs::open(self.workspace).recall(id)
    }
}
