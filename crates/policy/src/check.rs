//! Checks a policy regardless of any request: unique names, known gates, valid tiers, valid patterns.

use crate::Policy;
use crate::error::PlanError;
use crate::tier::Tier;
use probity_evidence::GlobList;
use probity_paths::Scope;
use std::collections::BTreeSet;

impl Policy {
    /// Reports the first problem of the policy itself.
    pub fn check(&self) -> Result<(), PlanError> {
        unique("pack", self.packs.iter().map(|pack| &pack.id))?;
        unique("gate", self.gates.iter().map(|gate| &gate.id))?;
        unique("profile", self.profiles.iter().map(|profile| &profile.id))?;
        self.check_gate_names()?;
        self.check_tiers()?;
        self.check_patterns()
    }

    fn check_gate_names(&self) -> Result<(), PlanError> {
        for pack in &self.packs {
            if let Some(gate) = pack.gates.iter().find(|gate| self.gate(gate).is_none()) {
                return Err(PlanError::UnknownGate { pack: pack.id.clone(), gate: gate.clone() });
            }
        }
        Ok(())
    }

    fn check_tiers(&self) -> Result<(), PlanError> {
        for pack in &self.packs {
            tier(&pack.gate_tier, || format!("pack `{}`", pack.id))?;
        }
        for gate in &self.gates {
            tier(&gate.tier, || format!("gate `{}`", gate.id))?;
        }
        for profile in &self.profiles {
            tier(&profile.tier, || format!("profile `{}`", profile.id))?;
        }
        Ok(())
    }

    fn check_patterns(&self) -> Result<(), PlanError> {
        for pack in &self.packs {
            scope(&pack.scope, || format!("`scope` of pack `{}`", pack.id))?;
            if let Some(when) = &pack.when {
                scope(when, || format!("`when` of pack `{}`", pack.id))?;
            }
        }
        for gate in &self.gates {
            scope(&gate.outputs, || format!("`outputs` of gate `{}`", gate.id))?;
            scope(&gate.inputs, || format!("`inputs` of gate `{}`", gate.id))?;
        }
        scope(&self.workspace.build_outputs, || "`build_outputs` of the workspace".into())?;
        scope(&self.workspace.protected, || "`protected` of the workspace".into())?;
        Ok(())
    }
}

fn unique<'a>(kind: &'static str, ids: impl Iterator<Item = &'a String>) -> Result<(), PlanError> {
    let mut seen = BTreeSet::new();
    for id in ids {
        if !seen.insert(id) {
            return Err(PlanError::DuplicateId { kind, id: id.clone() });
        }
    }
    Ok(())
}

/// Parses a tier, or reports where the invalid one is.
pub(crate) fn tier(text: &str, place: impl FnOnce() -> String) -> Result<Tier, PlanError> {
    Tier::parse(text).ok_or_else(|| PlanError::BadTier { place: place(), tier: text.into() })
}

/// Parses patterns, or reports where the first invalid one is.
pub(crate) fn scope(globs: &GlobList, place: impl FnOnce() -> String) -> Result<Scope, PlanError> {
    globs.to_scope().map_err(|error| PlanError::BadPattern {
        place: place(),
        index: error.index,
        pattern: error.pattern,
        reason: error.reason,
    })
}
