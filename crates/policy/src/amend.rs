//! Decides whether a sealed scope may be amended at a given moment.

use probity_core::ReasonCode;
use probity_evidence::{AmendPermission, AmendPolicy};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AmendmentTiming {
    During,
    After,
}

/// Decides whether a scope may be amended at this moment. The judged never widen their own scope: an
/// amendment from inside the run is refused whatever the policy says.
pub fn may_amend(policy: AmendPolicy, moment: AmendmentTiming, from_inside: bool) -> Result<(), ReasonCode> {
    if from_inside {
        return Err(ReasonCode::AmendFromInside);
    }
    let permission = match moment {
        AmendmentTiming::During => policy.during,
        AmendmentTiming::After => policy.after,
    };
    match permission {
        AmendPermission::Allow => Ok(()),
        AmendPermission::Deny => Err(ReasonCode::AmendNotAllowed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_policy_decides_when() {
        let policy = AmendPolicy { during: AmendPermission::Deny, after: AmendPermission::Allow };
        assert_eq!(may_amend(policy, AmendmentTiming::During, false), Err(ReasonCode::AmendNotAllowed));
        assert_eq!(may_amend(policy, AmendmentTiming::After, false), Ok(()));
    }

    #[test]
    fn the_judged_never_widen_their_own_scope() {
        assert_eq!(
            may_amend(AmendPolicy::default(), AmendmentTiming::During, true),
            Err(ReasonCode::AmendFromInside)
        );
        assert_eq!(
            may_amend(AmendPolicy::default(), AmendmentTiming::After, true),
            Err(ReasonCode::AmendFromInside)
        );
    }
}
