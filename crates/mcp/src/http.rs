//! Streamable HTTP on the loopback interface, for several agents that share one server.
//!
//! Only this machine can reach it, and only with the token. Requests that name another host or carry an origin are
//! refused, so that no web page can use it.
//!
//! A client without the token cannot keep others out: a connection must show it within [`AUTHENTICATION_TIMEOUT`], and of
//! those that have not, the oldest is closed to make room for a new one.

use crate::ServeError;
use crate::server::McpServer;
use axum::Extension;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::Response;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::task::AbortHandle;

#[derive(Debug, Clone, Copy)]
pub struct HttpEndpoint {
    /// The address, always on the loopback interface.
    pub address: SocketAddr,
}

/// Serves on `port` (0 for any) until the process ends; calls `told` with the endpoint once the port is open.
pub fn serve_http(
    root: &Path,
    port: u16,
    token: &str,
    told: impl FnOnce(HttpEndpoint),
) -> Result<(), ServeError> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(ServeError::system("cannot start"))?;
    runtime.block_on(async {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))
            .await
            .map_err(ServeError::system("cannot listen"))?;
        let address = listener.local_addr().map_err(ServeError::system("cannot listen"))?;
        told(HttpEndpoint { address });
        serve_connections(&listener, &router(root, token)).await;
        Ok(())
    })
}

/// How long a connection may stay open without a request that has the token.
const AUTHENTICATION_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a client that has shown the token may take for the next head of a request.
const HEADER_TIMEOUT: Duration = Duration::from_mins(2);
/// The most connections that have not shown the token.
const MAX_STRANGERS: usize = 64;
/// The largest body of a request: a call with its claims, texts or turns.
const MAX_REQUEST_BODY_BYTES: usize = 4 * 1024 * 1024;
/// How long to wait before accepting again, where the system gives no file.
const ACCEPT_RETRY_INTERVAL: Duration = Duration::from_millis(100);

/// The number of a connection, in order of arrival.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct ConnectionId(u64);

/// The connections that have not shown the token, oldest first.
#[derive(Debug, Clone, Default)]
struct StrangerConnections(Arc<Mutex<BTreeMap<ConnectionId, AbortHandle>>>);

impl StrangerConnections {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<ConnectionId, AbortHandle>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a connection; closes the oldest ones if there are too many.
    fn add(&self, id: ConnectionId, task: AbortHandle) {
        let mut open = self.lock();
        open.insert(id, task);
        while open.len() > MAX_STRANGERS {
            if let Some((_, oldest)) = open.pop_first() {
                oldest.abort();
            }
        }
    }
}

async fn serve_connections(listener: &TcpListener, router: &axum::Router) {
    let strangers = StrangerConnections::default();
    for number in 0.. {
        let stream = loop {
            match listener.accept().await {
                Ok((stream, _)) => break stream,
                Err(_) => tokio::time::sleep(ACCEPT_RETRY_INTERVAL).await,
            }
        };
        let id = ConnectionId(number);
        let router = router.clone().layer(Extension(id)).layer(Extension(strangers.clone()));
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEADER_TIMEOUT)
            .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router));
        let known = strangers.clone();
        // The task waits until it is listed: one that ends sooner would leave its entry behind.
        let (listed, is_listed) = tokio::sync::oneshot::channel::<()>();
        let task = tokio::spawn(async move {
            let _ = is_listed.await;
            let mut connection = std::pin::pin!(connection);
            let is_done = tokio::time::timeout(AUTHENTICATION_TIMEOUT, connection.as_mut()).await.is_ok();
            let is_stranger = known.lock().remove(&id).is_some();
            if !is_done && !is_stranger {
                // An error ends this client's connection and concerns nobody else.
                let _ = connection.await;
            }
        });
        strangers.add(id, task.abort_handle());
        let _ = listed.send(());
    }
}

fn router(root: &Path, token: &str) -> axum::Router {
    let server = McpServer::new(root, None);
    let config = StreamableHttpServerConfig::default()
        .enforce_origin_validation()
        .with_max_request_body_bytes(MAX_REQUEST_BODY_BYTES);
    let service = StreamableHttpService::new(
        move || Ok(server.for_session()),
        Arc::new(LocalSessionManager::default()),
        config,
    );
    let expected: Arc<str> = format!("Bearer {token}").into();
    axum::Router::new()
        .nest_service("/mcp", service)
        .layer(middleware::from_fn_with_state(expected, only_with_token))
}

async fn only_with_token(
    State(expected): State<Arc<str>>,
    Extension(connection): Extension<ConnectionId>,
    Extension(strangers): Extension<StrangerConnections>,
    request: Request,
    next: Next,
) -> Result<Response, StatusCode> {
    let given = request.headers().get(header::AUTHORIZATION).map(HeaderValue::as_bytes);
    if given.is_some_and(|given| constant_time_eq(given, expected.as_bytes())) {
        strangers.lock().remove(&connection);
        Ok(next.run(request).await)
    } else {
        Err(StatusCode::UNAUTHORIZED)
    }
}

/// Compares in a time that does not depend on how many bytes match.
fn constant_time_eq(given: &[u8], expected: &[u8]) -> bool {
    let differing = given.iter().zip(expected).fold(0, |seen, (one, other)| seen | (one ^ other));
    given.len() == expected.len() && differing == 0
}
