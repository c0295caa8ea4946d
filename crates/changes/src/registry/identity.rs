//! Identifies callers by handle, not by connection.
//!
//! An agent's shell commands are short-lived processes, several agents may share one server, and a server may be
//! restarted. So the owner is identified by a *handle*: a secret text, created at the first start and passed with
//! every later command. The log has only its digest, so reading the log is not enough to act as the owner.
//!
//! An owner may also name a process, so that other agents can see that the owner is dead and recover its work. It
//! must be the calling process or one of its ancestors. It is never guessed: a guess could pick the shell of a single
//! command, and the owner would look dead a moment later. Without a process, lease and lifetime decide.

use super::handles::{KeptHandle, handle_for_intent};
use super::host::{self, RegistryHost};
use probity_core::ReasonCode;
use probity_intents::IntentOwner;
use probity_intents::handle_digest;
use probity_workspace::ServiceError;
use std::fmt;

const HANDLE_BYTES: std::ops::RangeInclusive<usize> = 16..=128;
const MAX_LABEL_BYTES: usize = 128;

#[derive(Clone, PartialEq, Eq)]
pub struct OwnerHandle(String);

impl OwnerHandle {
    pub fn random() -> Self {
        Self(format!("owner-{}", uuid::Uuid::new_v4().simple()))
    }

    pub fn parse(text: &str) -> Result<Self, ServiceError> {
        let is_good = HANDLE_BYTES.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic());
        if is_good {
            return Ok(Self(text.to_owned()));
        }
        let bounds = format!(
            "{} to {} printable ASCII characters without space",
            HANDLE_BYTES.start(),
            HANDLE_BYTES.end()
        );
        Err(ServiceError::refused(ReasonCode::OwnerInvalid, format!("an owner's handle has {bounds}")))
    }

    /// Returns the secret text, for the owner only.
    pub fn secret(&self) -> &str {
        &self.0
    }

    /// Returns the only form of the handle that may reach the log.
    pub(super) fn digest(&self) -> String {
        handle_digest(&self.0)
    }
}

impl fmt::Debug for OwnerHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Handle(…)")
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentLabel {
    Given(String),
    /// The caller gave no name: the user's name, or a server's default.
    Assumed(String),
}

impl AgentLabel {
    pub fn as_str(&self) -> &str {
        match self {
            Self::Given(label) | Self::Assumed(label) => label,
        }
    }
}

impl From<&str> for AgentLabel {
    fn from(label: &str) -> Self {
        Self::Given(label.to_owned())
    }
}

#[derive(Debug, Clone)]
pub struct CallerCredentials {
    pub handle: Option<OwnerHandle>,
    pub label: AgentLabel,
    /// The process whose end means that the owner is gone.
    pub pid: Option<u32>,
}

impl CallerCredentials {
    /// Returns the caller of a command that names no intent: a new owner if no handle was given.
    pub fn caller(&self) -> Caller {
        self.caller_with(self.handle.clone())
    }

    /// Returns the caller of a command about one intent, for which `kept` is the kept handle.
    pub fn caller_for_intent(&self, kept: Option<&KeptHandle>) -> Caller {
        let agent = match &self.label {
            AgentLabel::Given(label) => Some(label.as_str()),
            AgentLabel::Assumed(_) => None,
        };
        self.caller_with(handle_for_intent(self.handle.as_ref(), agent, kept))
    }

    fn caller_with(&self, handle: Option<OwnerHandle>) -> Caller {
        Caller {
            is_new: handle.is_none(),
            handle: handle.unwrap_or_else(OwnerHandle::random),
            label: self.label.clone(),
            pid: self.pid,
        }
    }
}

#[derive(Debug, Clone)]
pub struct Caller {
    /// A new handle if the caller has none yet.
    pub handle: OwnerHandle,
    /// Whether the handle was created for this call, so that nobody knows it yet.
    pub is_new: bool,
    pub label: AgentLabel,
    /// The process whose end means that the owner is gone.
    pub pid: Option<u32>,
}

impl Caller {
    /// Returns the owner to record. The process must be alive, and be this one or one of its ancestors.
    pub fn owner(&self, host: &dyn RegistryHost) -> Result<IntentOwner, ServiceError> {
        let pid_start = match self.pid {
            Some(pid) if !host::is_self_or_ancestor(pid) => {
                let detail = format!("process {pid} is neither this one nor one that started it");
                return Err(ServiceError::refused(ReasonCode::OwnerInvalid, detail));
            }
            Some(pid) => host.probe_process(pid).pid_start,
            None => None,
        };
        let label = self.label.as_str();
        if label.len() > MAX_LABEL_BYTES || label.chars().any(char::is_control) {
            let detail = format!("the name of an agent has at most {MAX_LABEL_BYTES} bytes on one line");
            return Err(ServiceError::refused(ReasonCode::OwnerInvalid, detail));
        }
        Ok(IntentOwner {
            host: host.host_name().to_owned(),
            boot_id: host.boot_id().map(Into::into),
            pid: self.pid.unwrap_or(0),
            pid_start,
            session: host.session().map(Into::into),
            token: Some(self.handle.digest()),
            label: label.to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::host::LocalHost;
    use super::*;

    fn caller(pid: Option<u32>) -> Caller {
        let handle = OwnerHandle::parse("0123456789abcdef").expect("a handle");
        Caller { handle, is_new: false, label: "ann".into(), pid }
    }

    #[test]
    fn the_record_does_not_hold_the_secret() {
        let owner = caller(None).owner(&LocalHost).expect("an owner");
        let text = serde_json::to_string(&owner).expect("JSON");
        assert!(!text.contains("0123456789abcdef"), "{text}");
        assert!(owner.is_same_owner(&caller(Some(std::process::id())).owner(&LocalHost).expect("an owner")));
    }

    #[test]
    fn a_process_that_did_not_start_this_one_is_refused() {
        assert!(caller(Some(std::process::id())).owner(&LocalHost).is_ok());
        let mut child = std::process::Command::new("sleep").arg("3600").spawn().expect("starts");
        assert!(caller(Some(child.id())).owner(&LocalHost).is_err());
        child.kill().expect("ends");
        child.wait().expect("ends");
    }

    #[test]
    fn a_handle_is_one_long_word() {
        for bad in ["", "short", "with a space in it", "tab\tin the middle", &"x".repeat(129)] {
            assert!(OwnerHandle::parse(bad).is_err(), "{bad:?}");
        }
        let random = OwnerHandle::random();
        assert_eq!(OwnerHandle::parse(random.secret()).expect("is one"), random);
        assert_ne!(random, OwnerHandle::random());
    }
}
