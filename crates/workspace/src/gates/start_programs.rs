//! The programs of a policy's gates when a change is started: what the finish runs must be the same (law 8).

use crate::Workspace;
use crate::exemptions::gate_inputs;
use probity_core::json;
use probity_evidence::{ByteString, SealedProgram};
use probity_policy::Policy;
use probity_process::ProcessEnvironment;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The programs of every gate of a policy, and the search path that found them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StartPrograms {
    search_path: ByteString,
    /// By id of the gate.
    programs: BTreeMap<String, Vec<SealedProgram>>,
}

impl StartPrograms {
    /// Looks up the programs of all gates with the search path of this process.
    pub fn find(workspace: &Workspace, policy: &Policy) -> Self {
        let environment = ProcessEnvironment::allow_listed(&[]);
        let search_path = environment.get("PATH").unwrap_or_default();
        let programs = |run: &[String]| {
            gate_inputs::look_up_command(Path::new("/"), &workspace.root, run, search_path, &BTreeSet::new())
                .programs
        };
        Self {
            search_path: search_path.as_bytes().into(),
            programs: policy.gates.iter().map(|gate| (gate.id.clone(), programs(&gate.run))).collect(),
        }
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        json::canonical_of(self)
    }

    /// Parses what [`Self::to_bytes`] wrote; `None` for anything else.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        serde_json::from_value(json::parse(bytes).ok()?).ok()
    }

    pub(super) fn search_path(&self) -> &OsStr {
        OsStr::from_bytes(self.search_path.as_bytes())
    }

    pub(super) fn of_gate(&self, id: &str) -> &[SealedProgram] {
        self.programs.get(id).map_or(&[], Vec::as_slice)
    }
}
