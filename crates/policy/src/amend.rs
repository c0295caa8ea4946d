//! Decides whether a sealed scope may be amended at a given moment.

use probity_core::Reason;
use probity_evidence::{AmendPolicy, Permission};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    During,
    After,
}

/// Decides whether a scope may be amended at this moment. The judged never widen their own scope: an
/// amendment from inside the run is refused whatever the policy says.
pub fn may_amend(policy: AmendPolicy, moment: Moment, from_inside: bool) -> Result<(), Reason> {
    if from_inside {
        return Err(Reason::AmendFromInside);
    }
    let permission = match moment {
        Moment::During => policy.during,
        Moment::After => policy.after,
    };
    match permission {
        Permission::Allow => Ok(()),
        Permission::Deny => Err(Reason::AmendNotAllowed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_policy_decides_when() {
        let policy = AmendPolicy { during: Permission::Deny, after: Permission::Allow };
        assert_eq!(may_amend(policy, Moment::During, false), Err(Reason::AmendNotAllowed));
        assert_eq!(may_amend(policy, Moment::After, false), Ok(()));
    }

    #[test]
    fn the_judged_never_widen_their_own_scope() {
        assert_eq!(may_amend(AmendPolicy::default(), Moment::During, true), Err(Reason::AmendFromInside));
        assert_eq!(may_amend(AmendPolicy::default(), Moment::After, true), Err(Reason::AmendFromInside));
    }
}
