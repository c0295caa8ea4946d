//! The MCP server: what the command line can do, for agents. A surface: it holds no rule, keeps no state between two
//! calls, and answers with the documents of the services.
//!
//! Owns: the tools and resources that agents see, and the two transports.
//! May use: api, changes, contract, core, document-store, documents, intents, knowledge, ledger, policy, quality, runner, workspace.
//! Must not know: any rule: an answer is a function of a service.
//!
//! * [`serve_stdio`]: one agent starts the server and speaks to it through its pipes.
//! * [`serve_http`]: several agents share a server on this machine, each with the token.
//!
//! Who an agent is never hangs on its connection: a start answers with a handle, and every later call names it.

mod call;
mod http;
mod resources;
mod server;
mod tools;

pub use http::{HttpEndpoint, serve_http};
pub use server::serve_stdio;
pub use tools::schemas;

/// Why the server could not serve.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The system refused.
    #[error("{what}: {source}")]
    System {
        /// What was tried.
        what: &'static str,
        /// What it said.
        source: std::io::Error,
    },
    /// The other side does not speak the protocol.
    #[error("the client did not open a session: {0}")]
    Handshake(String),
}

impl ServeError {
    fn system(what: &'static str) -> impl FnOnce(std::io::Error) -> Self {
        move |source| Self::System { what, source }
    }
}
