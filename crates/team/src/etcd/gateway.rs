//! One client of etcd's JSON gateway: goes on to the next member when one is silent, and tells what was certainly not
//! carried out from what may have been.

use super::credentials::Credentials;
use super::wire::{EmptyQuestion, ErrorAnswer, GatewayAnswer, LoginQuestion, TokenAnswer, WatchQuestion};
use probity_storage::StoreError;
use serde::Serialize;
use std::io::{BufRead, BufReader};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use ureq::Agent;
use ureq::tls::{PemItem, RootCerts, TlsConfig, TlsProvider, parse_pem};

/// How long a connection may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);
/// The first pause before a question is put again after all members were tried, and the longest.
const FIRST_RETRY_INTERVAL: Duration = Duration::from_millis(20);
const MAX_RETRY_INTERVAL: Duration = Duration::from_millis(250);
/// A range of the largest events, as base64.
const MAX_ANSWER_BYTES: u64 = 64 * 1024 * 1024;
/// Where systems keep the authorities that they trust.
const SYSTEM_AUTHORITIES: [&str; 4] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

/// How long to wait for members. etcd itself gives up after 7 s; a longer wait would hide a leader that is cut off.
#[derive(Debug, Clone, Copy)]
pub struct EtcdTimeouts {
    /// How long one member may take for an answer.
    pub member: Duration,
    /// How long a question is put to one member after the other.
    pub store: Duration,
}

impl Default for EtcdTimeouts {
    fn default() -> Self {
        Self { member: Duration::from_millis(2_500), store: Duration::from_secs(5) }
    }
}

/// Why a question has no answer.
#[derive(Debug)]
pub(super) enum GatewayFault {
    /// It was certainly not carried out, unless the store is full: the caller then reads what became of the write.
    Refused(StoreError),
    /// It may have been carried out, or may be later.
    Unknown(StoreError),
}

impl GatewayFault {
    pub(super) fn into_error(self) -> StoreError {
        match self {
            Self::Refused(error) | Self::Unknown(error) => error,
        }
    }
}

/// What one try at one member came to.
enum TryFault {
    /// The member was not reached: the next one can be asked.
    NotSent(String),
    /// No answer came, or one that leaves open what happened.
    Silent(String),
    /// The token is not known, or no longer.
    Token(String),
    Denied(String),
    Full(String),
    Busy(String),
    Other(String),
}

/// Counts what went over the network, for measurements.
#[derive(Debug, Default)]
pub(super) struct Traffic {
    pub(super) requests: AtomicU64,
    pub(super) bytes: AtomicU64,
}

impl Traffic {
    fn count_request(&self) {
        self.requests.fetch_add(1, Ordering::Relaxed);
        tracing::trace!(target: "probity::work", store_requests = 1_u64);
    }
}

pub(super) struct Gateway {
    agent: Agent,
    endpoints: Vec<String>,
    /// The member that answered last.
    preferred: AtomicUsize,
    timeouts: EtcdTimeouts,
    credentials: Credentials,
    token: Mutex<Option<String>>,
    /// The cluster that this clone joined; any answer of another one is refused.
    cluster: Option<String>,
    pub(super) traffic: Traffic,
}

impl Gateway {
    pub(super) fn new(
        endpoints: Vec<String>,
        ca: Option<&str>,
        credentials: Credentials,
        cluster: Option<String>,
        timeouts: EtcdTimeouts,
    ) -> Result<Self, StoreError> {
        let mut config = Agent::config_builder()
            .timeout_connect(Some(CONNECT_TIMEOUT.min(timeouts.member)))
            .http_status_as_error(false)
            // A redirect could send the password to another host; a proxy is none of the team's members.
            .max_redirects(0)
            .proxy(None);
        if endpoints.iter().any(|endpoint| endpoint.starts_with("https://")) {
            let tls = tls_config(ca).map_err(|why| StoreError::Unfit { store: endpoints.join(","), why })?;
            config = config.tls_config(tls);
        }
        let token = Mutex::new(credentials.cached_token());
        let first = first_member(endpoints.len());
        Ok(Self {
            agent: config.build().into(),
            endpoints,
            preferred: AtomicUsize::new(first),
            timeouts,
            credentials,
            token,
            cluster,
            traffic: Traffic::default(),
        })
    }

    /// Returns the members' addresses as people see them.
    pub(super) fn name(&self) -> String {
        self.endpoints.join(",")
    }

    pub(super) fn endpoints(&self) -> &[String] {
        &self.endpoints
    }

    pub(super) fn unreachable(&self, why: impl Into<String>) -> StoreError {
        StoreError::Unreachable { store: self.name(), why: why.into() }
    }

    pub(super) fn unfit(&self, why: impl Into<String>) -> StoreError {
        StoreError::Unfit { store: self.name(), why: why.into() }
    }

    /// Asks what may be asked twice: goes on to the next member until the time is over.
    pub(super) fn read<A: GatewayAnswer>(
        &self,
        path: &str,
        question: &impl Serialize,
    ) -> Result<A, StoreError> {
        let end = Instant::now() + self.timeouts.store;
        let mut pause = FIRST_RETRY_INTERVAL;
        for n_tries in 1.. {
            match self.once(path, question) {
                Ok(answer) => return Ok(answer),
                Err(
                    GatewayFault::Refused(error @ StoreError::Unreachable { .. })
                    | GatewayFault::Unknown(error),
                ) if Instant::now() + pause > end => {
                    return Err(error);
                }
                Err(GatewayFault::Refused(StoreError::Unreachable { .. }) | GatewayFault::Unknown(_)) => {}
                Err(GatewayFault::Refused(error)) => return Err(error),
            }
            if n_tries >= self.endpoints.len() {
                std::thread::sleep(pause);
                pause = (pause * 2).min(MAX_RETRY_INTERVAL);
            }
        }
        unreachable!("the loop ends by its own returns")
    }

    /// Asks once. Only a member that was certainly not reached is left for the next one.
    pub(super) fn once<A: GatewayAnswer>(
        &self,
        path: &str,
        question: &impl Serialize,
    ) -> Result<A, GatewayFault> {
        let body = serde_json::to_vec(question)
            .map_err(|error| GatewayFault::Refused(self.unfit(error.to_string())))?;
        let mut not_sent = String::new();
        let mut has_logged_in = false;
        let mut n_left = self.endpoints.len();
        while n_left > 0 {
            let at = self.preferred.load(Ordering::Relaxed) % self.endpoints.len();
            let fault = match self.with_token(at, path, &body) {
                Ok(bytes) => return self.parse(&bytes),
                Err(fault) => fault,
            };
            let name = || self.endpoints[at].clone();
            match fault {
                TryFault::Token(why) if has_logged_in => {
                    return Err(GatewayFault::Refused(StoreError::Denied { store: name(), why }));
                }
                TryFault::Token(_) => {
                    has_logged_in = true;
                    *self.token.lock().unwrap_or_else(PoisonError::into_inner) = None;
                    self.credentials.forget_token();
                }
                TryFault::NotSent(why) => {
                    self.preferred.store(at + 1, Ordering::Relaxed);
                    not_sent = format!("{}: {why}", name());
                    n_left -= 1;
                }
                TryFault::Silent(why) => {
                    self.preferred.store(at + 1, Ordering::Relaxed);
                    return Err(GatewayFault::Unknown(self.unreachable(format!("{}: {why}", name()))));
                }
                TryFault::Busy(why) => {
                    return Err(GatewayFault::Refused(self.unreachable(format!("{}: {why}", name()))));
                }
                TryFault::Denied(why) => {
                    return Err(GatewayFault::Refused(StoreError::Denied { store: name(), why }));
                }
                TryFault::Full(why) => {
                    return Err(GatewayFault::Refused(StoreError::Full { store: name(), why }));
                }
                TryFault::Other(why) => {
                    return Err(GatewayFault::Refused(StoreError::Unfit { store: name(), why }));
                }
            }
        }
        Err(GatewayFault::Refused(self.unreachable(not_sent)))
    }

    /// Asks one member, whichever answered last.
    pub(super) fn member<A: GatewayAnswer>(&self, at: usize, path: &str) -> Result<A, StoreError> {
        let body = serde_json::to_vec(&EmptyQuestion {}).map_err(|error| self.unfit(error.to_string()))?;
        let store = self.endpoints[at].clone();
        match self.with_token(at, path, &body) {
            Ok(bytes) => self.parse(&bytes).map_err(GatewayFault::into_error),
            Err(TryFault::Denied(why) | TryFault::Token(why)) => Err(StoreError::Denied { store, why }),
            Err(TryFault::Full(why)) => Err(StoreError::Full { store, why }),
            Err(
                TryFault::NotSent(why) | TryFault::Silent(why) | TryFault::Busy(why) | TryFault::Other(why),
            ) => Err(StoreError::Unreachable { store, why }),
        }
    }

    /// Opens a stream of lines at the member that answered last. It ends after `wait`.
    pub(super) fn stream(
        &self,
        path: &str,
        question: &WatchQuestion,
        wait: Duration,
    ) -> Result<impl BufRead + use<>, StoreError> {
        let at = self.preferred.load(Ordering::Relaxed) % self.endpoints.len();
        let body = serde_json::to_vec(question).map_err(|error| self.unfit(error.to_string()))?;
        let mut request = self.agent.post(format!("{}{path}", self.endpoints[at]));
        if let Some(token) = &*self.token.lock().unwrap_or_else(PoisonError::into_inner) {
            request = request.header("Authorization", token);
        }
        let request = request.config().timeout_global(Some(wait)).build();
        self.traffic.count_request();
        let response = request.send(&body[..]).map_err(|error| self.unreachable(error.to_string()))?;
        if response.status().as_u16() != 200 {
            return Err(self.unreachable(format!("the watch was answered with {}", response.status())));
        }
        Ok(BufReader::new(response.into_body().into_reader()))
    }

    fn parse<A: GatewayAnswer>(&self, bytes: &[u8]) -> Result<A, GatewayFault> {
        // It was carried out; what it came to cannot be read.
        let unread = |why: String| GatewayFault::Unknown(self.unfit(why));
        let answer: A = serde_json::from_slice(bytes)
            .map_err(|error| unread(format!("the answer is none of etcd's: {error}")))?;
        let found = &answer.header().cluster_id;
        match &self.cluster {
            Some(joined) if !found.is_empty() && joined != found => {
                let why = format!(
                    "this is cluster {found}, and this clone joined cluster {joined}: the store was replaced or \
                     restored from a backup, and may have forgotten claims"
                );
                Err(GatewayFault::Refused(self.unfit(why)))
            }
            _ => Ok(answer),
        }
    }

    /// Asks one member, and logs in before if the team has a user and no token is known.
    fn with_token(&self, at: usize, path: &str, body: &[u8]) -> Result<Vec<u8>, TryFault> {
        let mut token = self.token.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if token.is_none()
            && let Some(user) = self.credentials.user()
        {
            token = Some(self.login(at, user)?);
        }
        self.post(at, path, body, token.as_deref())
    }

    fn login(&self, at: usize, user: &str) -> Result<String, TryFault> {
        let password = self.credentials.password().map_err(TryFault::Denied)?;
        let body = serde_json::to_vec(&LoginQuestion { name: user, password: &password })
            .map_err(|error| TryFault::Other(error.to_string()))?;
        let bytes = match self.post(at, "/v3/auth/authenticate", &body, None) {
            // Logging in changes nothing, so a lost answer may be asked for at the next member.
            Err(TryFault::Silent(why)) => return Err(TryFault::NotSent(why)),
            Err(TryFault::Token(why)) => return Err(TryFault::Denied(why)),
            answered => answered?,
        };
        let answer: TokenAnswer =
            serde_json::from_slice(&bytes).map_err(|error| TryFault::Other(error.to_string()))?;
        self.credentials.keep_token(&answer.token);
        *self.token.lock().unwrap_or_else(PoisonError::into_inner) = Some(answer.token.clone());
        Ok(answer.token)
    }

    fn post(&self, at: usize, path: &str, body: &[u8], token: Option<&str>) -> Result<Vec<u8>, TryFault> {
        let mut request = self.agent.post(format!("{}{path}", self.endpoints[at]));
        request = request.header("Content-Type", "application/json");
        if let Some(token) = token {
            request = request.header("Authorization", token);
        }
        let request = request.config().timeout_global(Some(self.timeouts.member)).build();
        self.traffic.count_request();
        let mut response = request.send(body).map_err(|error| transport_fault(&error))?;
        let status = response.status().as_u16();
        let read = response.body_mut().with_config().limit(MAX_ANSWER_BYTES).read_to_vec();
        let bytes = read.map_err(|error| TryFault::Silent(error.to_string()))?;
        self.traffic.bytes.fetch_add((body.len() + bytes.len()) as u64, Ordering::Relaxed);
        if status == 200 { Ok(bytes) } else { Err(refusal(status, &bytes)) }
    }
}

/// Tells a request that never left from one whose answer is lost.
fn transport_fault(error: &ureq::Error) -> TryFault {
    use std::io::ErrorKind::{AddrNotAvailable, ConnectionRefused, HostUnreachable, NetworkUnreachable};
    let why = error.to_string();
    match error {
        ureq::Error::HostNotFound
        | ureq::Error::ConnectionFailed
        | ureq::Error::Timeout(ureq::Timeout::Connect | ureq::Timeout::Resolve)
        | ureq::Error::BadUri(_)
        | ureq::Error::Tls(_)
        | ureq::Error::Rustls(_) => TryFault::NotSent(why),
        ureq::Error::Io(io)
            if matches!(
                io.kind(),
                ConnectionRefused | HostUnreachable | NetworkUnreachable | AddrNotAvailable
            ) =>
        {
            TryFault::NotSent(why)
        }
        // A certificate that is not trusted ends the handshake, before anything was asked.
        ureq::Error::Io(io) if is_handshake_fault(io) => {
            TryFault::NotSent(format!("{why}: `ca` in `[team]`, or `--ca`, names who signed it"))
        }
        _ => TryFault::Silent(why),
    }
}

fn is_handshake_fault(error: &std::io::Error) -> bool {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
    inner.is_some_and(|inner| matches!(inner, rustls::Error::InvalidCertificate(_)))
}

/// Classifies what the gateway refused: see the codes of gRPC.
fn refusal(status: u16, bytes: &[u8]) -> TryFault {
    let answer: ErrorAnswer = serde_json::from_slice(bytes).unwrap_or_default();
    let why = match (answer.message.is_empty(), answer.error.is_empty()) {
        (false, _) => answer.message,
        (true, false) => answer.error,
        (true, true) => format!("HTTP {status}"),
    };
    match answer.code {
        16 => TryFault::Token(why),
        3 if why.contains("auth store is old") => TryFault::Token(why),
        3 if why.contains("user name is empty") => {
            TryFault::Denied(format!("{why}: it asks for a user, and `[team]` names none"))
        }
        9 if why.contains("not enabled") => {
            TryFault::Denied(format!("{why}: `[team]` names a user, and the server asks nobody for one"))
        }
        3 if why.contains("authentication failed") => TryFault::Denied(why),
        7 => TryFault::Denied(why),
        8 if why.contains("space") => TryFault::Full(why),
        8 => TryFault::Busy(why),
        3 | 5 | 9 | 11 | 12 => TryFault::Other(why),
        // A proxy in between, or a gateway that is switched off.
        0 if status == 404 || status == 400 => TryFault::Other(format!(
            "{why}: the address is none of etcd's JSON gateway, or a client certificate with a name is in use"
        )),
        _ => TryFault::Silent(why),
    }
}

fn tls_config(ca: Option<&str>) -> Result<TlsConfig, String> {
    let pem = match ca {
        Some(pem) => pem.as_bytes().to_vec(),
        None => SYSTEM_AUTHORITIES
            .iter()
            .find_map(|path| std::fs::read(path).ok())
            .ok_or("this system has no list of authorities: give one with `--ca FILE`")?,
    };
    let mut trusted = Vec::new();
    for item in parse_pem(&pem) {
        if let PemItem::Certificate(certificate) = item.map_err(|error| error.to_string())? {
            trusted.push(certificate);
        }
    }
    if trusted.is_empty() {
        return Err("the list of authorities has no certificate".into());
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    Ok(TlsConfig::builder()
        .provider(TlsProvider::Rustls)
        .unversioned_rustls_crypto_provider(provider)
        .root_certs(RootCerts::new_with_certs(&trusted))
        .build())
}

/// Spreads processes over the members.
fn first_member(n_members: usize) -> usize {
    usize::try_from(std::process::id()).unwrap_or_default() % n_members.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_tell_what_was_certainly_not_written() {
        let fault = |code: u32, message: &str| {
            refusal(400, format!("{{\"code\":{code},\"message\":\"{message}\"}}").as_bytes())
        };
        assert!(matches!(fault(8, "etcdserver: mvcc: database space exceeded"), TryFault::Full(_)));
        assert!(matches!(fault(8, "etcdserver: too many requests"), TryFault::Busy(_)));
        assert!(matches!(fault(7, "etcdserver: permission denied"), TryFault::Denied(_)));
        assert!(matches!(fault(16, "etcdserver: invalid auth token"), TryFault::Token(_)));
        assert!(matches!(fault(14, "etcdserver: request timed out"), TryFault::Silent(_)));
        assert!(matches!(fault(2, "etcdserver: leader changed"), TryFault::Silent(_)));
        assert!(matches!(refusal(404, b"404 page not found"), TryFault::Other(_)));
        assert!(matches!(refusal(502, b"bad gateway"), TryFault::Silent(_)));
    }

    #[test]
    fn a_list_without_a_certificate_is_refused() {
        assert!(tls_config(Some("")).is_err());
        assert!(tls_config(Some("-----BEGIN CERTIFICATE-----\n")).is_err());
    }
}
