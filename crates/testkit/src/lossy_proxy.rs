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

/// Decides for all connections together which parts are lost. A choice of its own for each connection could lose the first
/// reply of every one, and nothing would ever get through.
#[derive(Default)]
struct LossOracle {
    n_parts: AtomicU64,
}

impl LossOracle {
    /// Returns whether the next part is lost, which is so for about one of `one_in`.
    fn is_lost(&self, one_in: u64) -> bool {
        let n = self.n_parts.fetch_add(1, Ordering::Relaxed);
        // The finalizer of SplitMix64: the same parts in every run, and no pattern that a client could fall in step with.
        let mut mixed = n.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        one_in > 0 && (mixed ^ (mixed >> 31)).is_multiple_of(one_in)
    }
}

impl LossyProxy {
    /// Swallows one of `one_in` replies, and half as many requests.
    pub fn start(to: u16, one_in: u64) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("has one").port();
        let (n_lost, one_in) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(one_in)));
        let shared = (n_lost.clone(), one_in.clone(), Arc::new(LossOracle::default()));
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let Ok(server) = TcpStream::connect(("127.0.0.1", to)) else { continue };
                let pair =
                    |from: &TcpStream, to: &TcpStream| Some((from.try_clone().ok()?, to.try_clone().ok()?));
                let (Some(there), Some(back)) = (pair(&client, &server), pair(&server, &client)) else {
                    continue;
                };
                for ((from, to), factor) in [(there, 2), (back, 1)] {
                    let (n_lost, one_in, oracle) = shared.clone();
                    std::thread::spawn(move || pass(from, to, &n_lost, &one_in, factor, &oracle));
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

fn pass(
    mut from: TcpStream,
    mut to: TcpStream,
    n_lost: &AtomicU64,
    one_in: &AtomicU64,
    factor: u64,
    oracle: &LossOracle,
) {
    let mut buffer = vec![0; 65_536];
    while let Ok(n) = from.read(&mut buffer) {
        let is_lost = oracle.is_lost(one_in.load(Ordering::Relaxed) * factor);
        if n > 0 && is_lost {
            n_lost.fetch_add(1, Ordering::Relaxed);
        }
        if n == 0 || is_lost || to.write_all(&buffer[..n]).is_err() {
            break;
        }
    }
    let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn about_one_in_eight_parts_is_lost_and_none_after_healing() {
        let oracle = LossOracle::default();
        let n_lost = (0..8_000).filter(|_| oracle.is_lost(8)).count();
        assert!((900..1_100).contains(&n_lost), "{n_lost}");
        assert!((0..8_000).all(|_| !oracle.is_lost(0)));
    }
}
