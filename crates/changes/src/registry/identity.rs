//! Who asks: identity by handle, not by connection.
//!
//! An agent's shell commands are short-lived processes, several agents may share one server, and a server may be started
//! again. So an owner is whoever knows its *handle*, a secret text that is made at the first start and given with every
//! later command. The log keeps only its digest: who reads the log cannot speak for the owner.
//!
//! The process of an owner is a second thing: it lets others see that an owner is dead and its work may be recovered. It
//! is recorded only if it is named, and must be the calling process or one that started it. A guess could name the shell
//! of a single command; the owner would look dead the moment after. Without a process, lease and life time decide.

use super::handles::{KeptHandle, handle_for_intent};
use super::host::{self, RegistryHost};
use probity_core::{Digest, ReasonCode};
use probity_intents::IntentOwner;
use probity_workspace::ServiceError;
use std::fmt;

/// The shortest and the longest handle that is taken.
const HANDLE_BYTES: std::ops::RangeInclusive<usize> = 16..=128;
/// The longest name of an agent.
const MAX_LABEL_BYTES: usize = 128;

/// The secret of an owner.
#[derive(Clone, PartialEq, Eq)]
pub struct OwnerHandle(String);

impl OwnerHandle {
    /// A new one that nobody can guess.
    pub fn random() -> Self {
        Self(format!("owner-{}", uuid::Uuid::new_v4().simple()))
    }

    /// Takes a text as a handle, if it can be one.
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

    /// The text, to be given to the owner and to nobody else.
    pub fn secret(&self) -> &str {
        &self.0
    }

    /// What the log may know.
    pub(super) fn digest(&self) -> String {
        Digest::of(format!("probity/owner/v1\0{}", self.0).as_bytes()).to_string()
    }
}

impl fmt::Debug for OwnerHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Handle(…)")
    }
}

/// What people call an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentLabel {
    /// The caller said so.
    Given(String),
    /// Nobody said so: the user's name, or a word for whoever calls a server.
    Assumed(String),
}

impl AgentLabel {
    /// The name.
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

/// What a surface was told about who asks.
#[derive(Debug, Clone)]
pub struct CallerCredentials {
    /// The handle, if one was given.
    pub handle: Option<OwnerHandle>,
    /// What people call the agent.
    pub label: AgentLabel,
    /// The process whose end means that the owner is gone, if one was named.
    pub pid: Option<u32>,
}

impl CallerCredentials {
    /// The caller of a command that names no intent: somebody new if no handle was given.
    pub fn caller(&self) -> Caller {
        self.caller_with(self.handle.clone())
    }

    /// The caller of a command about the intent that `kept` was kept for, if it was.
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

/// Who asks, as a surface knows it.
#[derive(Debug, Clone)]
pub struct Caller {
    /// The handle; a new one for somebody who has none yet.
    pub handle: OwnerHandle,
    /// Whether the handle was made for this call, so that nobody knows it yet.
    pub is_new: bool,
    /// What people call the agent.
    pub label: AgentLabel,
    /// The process whose end means that the owner is gone, if one was named.
    pub pid: Option<u32>,
}

impl Caller {
    /// The owner that is recorded. The process must live, and be this one or one that started it.
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
