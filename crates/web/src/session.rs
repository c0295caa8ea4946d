//! Who may look and decide: one-time links, sessions, and tokens that bind a form to a session and an action.

use probity_core::Digest;
use probity_runner::keys::random_token;
use probity_workspace::ServiceError;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long a link can be used.
const LINK_LIFETIME: Duration = Duration::from_mins(5);
/// More sessions end the oldest one.
const MAX_SESSIONS: usize = 64;

/// What a browser shows in its cookie.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SessionId(String);

impl SessionId {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

#[derive(Debug, Default)]
struct SessionTable {
    links: BTreeMap<String, Instant>,
    /// The secret of each session, and when it began.
    sessions: BTreeMap<SessionId, (String, u64)>,
    n_begun: u64,
}

/// The links that were given out, and the sessions that they opened.
#[derive(Debug, Default)]
pub(crate) struct SessionStore(Mutex<SessionTable>);

/// 256 bits that nobody can guess.
fn secret() -> Result<String, ServiceError> {
    Ok(format!("{}{}", random_token()?, random_token()?))
}

impl SessionStore {
    fn lock(&self) -> MutexGuard<'_, SessionTable> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes the token of a link.
    pub(crate) fn new_link(&self) -> Result<String, ServiceError> {
        let token = secret()?;
        self.lock().links.insert(token.clone(), Instant::now());
        Ok(token)
    }

    /// Uses a link up; returns the session that it opens.
    pub(crate) fn enter(&self, token: &str) -> Result<Option<SessionId>, ServiceError> {
        let (id, own) = (secret()?, secret()?);
        let mut table = self.lock();
        table.links.retain(|_, made| made.elapsed() < LINK_LIFETIME);
        // Compared by digest: how long it takes says nothing about the token.
        let given = Digest::of(token.as_bytes());
        let known = table.links.keys().find(|link| Digest::of(link.as_bytes()) == given).cloned();
        let Some(known) = known else { return Ok(None) };
        table.links.remove(&known);
        while table.sessions.len() >= MAX_SESSIONS {
            let oldest = table.sessions.iter().min_by_key(|(_, (_, begun))| *begun).map(|(id, _)| id.clone());
            oldest.and_then(|oldest| table.sessions.remove(&oldest));
        }
        table.n_begun += 1;
        let begun = table.n_begun;
        table.sessions.insert(SessionId(id.clone()), (own, begun));
        Ok(Some(SessionId(id)))
    }

    /// Returns the session of a cookie.
    pub(crate) fn find(&self, cookie: &str) -> Option<SessionId> {
        let given = Digest::of(cookie.as_bytes());
        self.lock().sessions.keys().find(|id| Digest::of(id.0.as_bytes()) == given).cloned()
    }

    /// Returns the token that a form of this session about `subject` must bring.
    pub(crate) fn form_token(&self, session: &SessionId, subject: &str) -> Option<String> {
        let table = self.lock();
        let (own, _) = table.sessions.get(session)?;
        Some(Digest::of(format!("{own}\0{subject}").as_bytes()).to_hex())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_opens_one_session() {
        let store = SessionStore::default();
        let link = store.new_link().expect("random");
        assert_eq!(store.enter("another").expect("looks"), None);
        let session = store.enter(&link).expect("looks").expect("is known");
        assert_eq!(store.enter(&link).expect("looks"), None, "a link is used up");
        assert_eq!(store.find(session.as_str()), Some(session.clone()));
        assert_eq!(store.find("guess"), None);
    }

    #[test]
    fn a_form_belongs_to_its_session_and_subject() {
        let store = SessionStore::default();
        let enter = || store.enter(&store.new_link().expect("random")).expect("looks").expect("is known");
        let (one, other) = (enter(), enter());
        assert_eq!(store.form_token(&one, "a"), store.form_token(&one, "a"));
        assert_ne!(store.form_token(&one, "a"), store.form_token(&one, "b"));
        assert_ne!(store.form_token(&one, "a"), store.form_token(&other, "a"));
    }

    #[test]
    fn old_sessions_make_room() {
        let store = SessionStore::default();
        let enter = || store.enter(&store.new_link().expect("random")).expect("looks").expect("is known");
        let first = enter();
        for _ in 0..MAX_SESSIONS {
            enter();
        }
        assert_eq!(store.find(first.as_str()), None);
    }
}
