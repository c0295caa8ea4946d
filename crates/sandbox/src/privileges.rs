//! Gives up what a command in a view must not have.

use crate::ViewFailure;
use landlock::{
    CompatLevel, Compatible as _, LandlockStatus, Ruleset, RulesetAttr as _, RulesetStatus, Scope,
};
use nix::libc;
use rustix::thread::{CapabilitiesSecureBits, CapabilitySet, CapabilitySets};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
};
use std::collections::BTreeMap;

/// Requests of `ioctl` that put characters into the input of a terminal, and so into the user's shell.
const TYPING_REQUESTS: [u64; 2] = [libc::TIOCSTI, libc::TIOCLINUX];

/// Number of `ioctl` in the x32 interface of x86-64, which the same processor mode serves.
#[cfg(target_arch = "x86_64")]
const X32_IOCTL: i64 = 0x4000_0000 + 514;

/// Lets the next program keep the capabilities of this process. Without this, only root keeps them across `exec`.
pub(crate) fn keep_capabilities_across_exec() -> Result<(), ViewFailure> {
    let step = "keep capabilities";
    let held = rustix::thread::capabilities(None).map_err(ViewFailure::step(step))?;
    let inherited = CapabilitySets { inheritable: held.permitted, ..held };
    rustix::thread::set_capabilities(None, inherited).map_err(ViewFailure::step(step))?;
    for capability in held.permitted.iter() {
        match rustix::thread::configure_capability_in_ambient_set(capability, true) {
            // A kernel reports more bits than it has capabilities for.
            Ok(()) | Err(rustix::io::Errno::INVAL) => {}
            Err(error) => return Err(ViewFailure::step(step)(error)),
        }
    }
    Ok(())
}

/// Gives up all capabilities for good, and with them the right to gain privileges by executing a file.
pub(crate) fn drop_capabilities() -> Result<(), ViewFailure> {
    let step = "give up capabilities";
    for capability in CapabilitySet::all().iter() {
        match rustix::thread::remove_capability_from_bounding_set(capability) {
            // A kernel that does not know a capability cannot grant it.
            Ok(()) | Err(rustix::io::Errno::INVAL) => {}
            Err(error) => return Err(ViewFailure::step(step)(error)),
        }
    }
    let locked = CapabilitiesSecureBits::NO_ROOT
        | CapabilitiesSecureBits::NO_ROOT_LOCKED
        | CapabilitiesSecureBits::NO_SETUID_FIXUP
        | CapabilitiesSecureBits::NO_SETUID_FIXUP_LOCKED
        | CapabilitiesSecureBits::KEEP_CAPS_LOCKED
        | CapabilitiesSecureBits::NO_CAP_AMBIENT_RAISE
        | CapabilitiesSecureBits::NO_CAP_AMBIENT_RAISE_LOCKED;
    rustix::thread::set_capabilities_secure_bits(locked).map_err(ViewFailure::step(step))?;
    let none = CapabilitySets {
        effective: CapabilitySet::empty(),
        permitted: CapabilitySet::empty(),
        inheritable: CapabilitySet::empty(),
    };
    rustix::thread::set_capabilities(None, none).map_err(ViewFailure::step(step))?;
    rustix::thread::set_no_new_privs(true).map_err(ViewFailure::step(step))
}

/// Gives up the capabilities of this process, if it has any. An ordinary user has none, and may not change the sets;
/// nothing can be gained by executing a file in either case.
pub(crate) fn drop_capabilities_if_any() -> Result<(), ViewFailure> {
    let step = "give up capabilities";
    let held = rustix::thread::capabilities(None).map_err(ViewFailure::step(step))?;
    if held.permitted.is_empty() {
        return rustix::thread::set_no_new_privs(true).map_err(ViewFailure::step(step));
    }
    drop_capabilities()
}

/// What Landlock does in a view.
pub(crate) struct ScopeRestriction {
    /// Whether abstract Unix sockets and signals are confined to the view.
    pub(crate) is_enforced: bool,
    /// The version of Landlock that the kernel offers.
    pub(crate) abi: Option<u32>,
}

/// Confines abstract Unix sockets and signals to the view, on kernels that can.
///
/// No file rights are restricted: mounts do that better, and a domain with file rights would keep the command from
/// making namespaces of its own, as browsers and other agents' sandboxes do.
pub(crate) fn restrict_scopes() -> ScopeRestriction {
    let restricted = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .scope(Scope::AbstractUnixSocket | Scope::Signal)
        .and_then(Ruleset::create)
        .and_then(landlock::RulesetCreated::restrict_self);
    let Ok(status) = restricted else {
        return ScopeRestriction { is_enforced: false, abi: None };
    };
    let abi = kernel_abi(&status.landlock);
    ScopeRestriction { is_enforced: status.ruleset == RulesetStatus::FullyEnforced, abi }
}

/// Returns the version of Landlock that the kernel offers.
pub(crate) fn kernel_abi(status: &LandlockStatus) -> Option<u32> {
    match status {
        LandlockStatus::Available { effective_abi, kernel_abi } => {
            u32::try_from(kernel_abi.unwrap_or(*effective_abi as i32)).ok()
        }
        _ => None,
    }
}

/// Refuses the requests that would type into the terminal.
pub(crate) fn forbid_typing() -> Result<(), ViewFailure> {
    let step = "install the system call filter";
    let compiled = typing_filter().map_err(|error| ViewFailure::step(step)(std::io::Error::other(error)))?;
    seccompiler::apply_filter(&compiled)
        .map_err(|error| ViewFailure::step(step)(std::io::Error::other(error)))
}

fn typing_filter() -> Result<BpfProgram, seccompiler::BackendError> {
    let rules = TYPING_REQUESTS.iter().map(|request| {
        let is_request = SeccompCondition::new(1, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, *request)?;
        SeccompRule::new(vec![is_request])
    });
    let rules: Vec<SeccompRule> = rules.collect::<Result<_, _>>()?;
    let mut calls = BTreeMap::from([(libc::SYS_ioctl, rules.clone())]);
    #[cfg(target_arch = "x86_64")]
    calls.insert(X32_IOCTL, rules);
    #[cfg(not(target_arch = "x86_64"))]
    drop(rules);
    let refused = SeccompAction::Errno(libc::EPERM.unsigned_abs());
    SeccompFilter::new(calls, SeccompAction::Allow, refused, std::env::consts::ARCH.try_into()?)?.try_into()
}
