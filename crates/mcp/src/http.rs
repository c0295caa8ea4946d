//! Streamable HTTP on the loopback interface, for several agents that share one server.
//!
//! Only this machine can reach it, and only with the token. Requests that name another host or carry an origin are
//! refused, so that no web page can use it.

use crate::ServeError;
use crate::server::McpServer;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::Response;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;

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
        let listener = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, port))
            .await
            .map_err(ServeError::system("cannot listen"))?;
        let address = listener.local_addr().map_err(ServeError::system("cannot listen"))?;
        told(HttpEndpoint { address });
        axum::serve(listener, router(root, token)).await.map_err(ServeError::system("cannot serve"))
    })
}

fn router(root: &Path, token: &str) -> axum::Router {
    let server = McpServer::new(root, None);
    let config = StreamableHttpServerConfig::default().enforce_origin_validation();
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
    request: Request,
    next: Next,
) -> Result<Response, StatusCode> {
    let given = request.headers().get(header::AUTHORIZATION).map(HeaderValue::as_bytes);
    if given.is_some_and(|given| constant_time_eq(given, expected.as_bytes())) {
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
