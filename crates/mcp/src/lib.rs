//! The MCP server: the command line's functions as tools for agents. It contains no rule, and answers with the
//! documents of the services. Between calls it keeps only the handles of the session's own intents.
//!
//! Owns: the tools and resources that agents see, and the two transports.
//! May use: api, changes, contract, core, document-store, documents, intents, knowledge, ledger, merges, paths, policy, quality, review, runner, workspace.
//! Must not know: any rule: an answer is a function of a service.
//!
//! * [`serve_stdio`]: one agent starts the server and talks to it through its pipes.
//! * [`serve_http`]: several agents share a server on this machine, each with the token.
//!
//! The handle that a start returns identifies an agent, not its connection. Within the session that started an intent
//! the server remembers it; any other session must present it.

mod call;
mod http;
mod resources;
mod server;
mod tools;

pub use http::{HttpEndpoint, serve_http};
pub use server::serve_stdio;
pub use tools::schemas;

#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    #[error("{what}: {source}")]
    System { what: &'static str, source: std::io::Error },
    /// The client did not follow the protocol.
    #[error("the client did not open a session: {0}")]
    Handshake(String),
}

impl ServeError {
    fn system(what: &'static str) -> impl FnOnce(std::io::Error) -> Self {
        move |source| Self::System { what, source }
    }
}
