//! A proxy that swallows some replies and some requests: what was asked for may have happened, and nobody says so.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Passes connections on to one port. It lives as long as the process.
pub struct LossyProxy {
    port: u16,
    n_lost: Arc<AtomicU64>,
    /// One of this many replies is swallowed; 0 for none.
    one_in: Arc<AtomicU64>,
}

impl LossyProxy {
    /// Swallows one of `one_in` replies, and half as many requests.
    pub fn start(to: u16, one_in: u64) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("has one").port();
        let (n_lost, one_in) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(one_in)));
        let shared = (n_lost.clone(), one_in.clone());
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let Ok(server) = TcpStream::connect(("127.0.0.1", to)) else { continue };
                let pair =
                    |from: &TcpStream, to: &TcpStream| Some((from.try_clone().ok()?, to.try_clone().ok()?));
                let (Some(there), Some(back)) = (pair(&client, &server), pair(&server, &client)) else {
                    continue;
                };
                for ((from, to), factor) in [(there, 2), (back, 1)] {
                    let (n_lost, one_in) = shared.clone();
                    std::thread::spawn(move || pass(from, to, &n_lost, &one_in, factor));
                }
            }
        });
        Self { port, n_lost, one_in }
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    pub fn n_lost(&self) -> u64 {
        self.n_lost.load(Ordering::Relaxed)
    }

    /// Swallows nothing from now on.
    pub fn heal(&self) {
        self.one_in.store(0, Ordering::Relaxed);
    }
}

fn pass(mut from: TcpStream, mut to: TcpStream, n_lost: &AtomicU64, one_in: &AtomicU64, factor: u64) {
    let mut buffer = vec![0; 65_536];
    // Which part is lost differs from connection to connection, and is the same in every run with the same ports.
    let mut state = u64::from(from.peer_addr().map_or(7, |peer| peer.port())) * 2 + factor;
    while let Ok(n) = from.read(&mut buffer) {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let one_in = one_in.load(Ordering::Relaxed) * factor;
        let is_lost = one_in > 0 && (state >> 33).is_multiple_of(one_in);
        if n > 0 && is_lost {
            n_lost.fetch_add(1, Ordering::Relaxed);
        }
        if n == 0 || is_lost || to.write_all(&buffer[..n]).is_err() {
            break;
        }
    }
    let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
}
