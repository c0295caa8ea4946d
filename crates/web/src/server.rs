//! The server on the loopback interface, with limits on connections, headers and bodies.

use crate::ServeError;
use crate::router::router;
use crate::ui_state::{UiOptions, UiState};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

/// The address of the page.
#[derive(Debug, Clone)]
pub struct UiEndpoint {
    pub address: SocketAddr,
    state: Arc<UiState>,
}

impl UiEndpoint {
    /// Returns a link that opens the page once.
    pub fn new_link(&self) -> Result<String, ServeError> {
        Ok(format!("http://{}/enter?t={}", self.address, self.state.sessions.new_link()?))
    }
}

/// The most connections at a time: 200 open boards, and room for what they load.
const MAX_CONNECTIONS: usize = 512;
/// How long a client may take for the head of a request.
const HEADER_TIMEOUT: Duration = Duration::from_secs(10);
/// How long to wait before accepting again, where the system gives no file.
const ACCEPT_RETRY_INTERVAL: Duration = Duration::from_millis(100);

/// Serves until the process ends; calls `told` with the endpoint once the port is open.
pub fn serve(options: UiOptions, told: impl FnOnce(&UiEndpoint)) -> Result<(), ServeError> {
    let system = |what: &'static str| move |source| ServeError::System { what, source };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(system("cannot start"))?;
    runtime.block_on(async {
        let listener =
            TcpListener::bind((Ipv4Addr::LOCALHOST, options.port)).await.map_err(system("cannot listen"))?;
        let address = listener.local_addr().map_err(system("cannot listen"))?;
        let state = Arc::new(UiState::new(options, address.port()));
        crate::events::watch(Arc::clone(&state));
        told(&UiEndpoint { address, state: Arc::clone(&state) });
        accept(&listener, &router(state)).await;
        Ok(())
    })
}

async fn accept(listener: &TcpListener, router: &axum::Router) {
    let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        let stream = loop {
            match listener.accept().await {
                Ok((stream, _)) => break stream,
                Err(_) => tokio::time::sleep(ACCEPT_RETRY_INTERVAL).await,
            }
        };
        // Small answers go out at once: an event must not wait for the acknowledgment of the one before.
        let _ = stream.set_nodelay(true);
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEADER_TIMEOUT)
            .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router.clone()));
        tokio::spawn(async move {
            // An error ends this client's connection and concerns nobody else.
            let _ = connection.await;
            drop(place);
        });
    }
}
