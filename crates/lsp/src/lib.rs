//! A language server for any editor: marks files that the declared change does not name, or that another one holds.
//!
//! Owns: the messages of the language server protocol that it needs, the open documents, when a mark is renewed.
//! May use: guard, hook.
//! Must not know: a store, a lock, git, how a change is granted.
//!
//! The marks come from the decision that hooks give to agents ([`probity_guard::decide`]), so a person in an editor and
//! an agent are told the same.

mod diagnostics;
mod file_uri;
mod messages;
mod state_watch;

use crossbeam_channel::{Receiver, select};
use diagnostics::file_diagnostics;
use lsp_server::{Connection, Message, Notification, Response};
use messages::{Diagnostic, DocumentParams, InitializeParams, PublishParams, ServerCapabilities};
use state_watch::StateWatch;
use std::collections::BTreeMap;
use std::io;

/// Serves an editor over standard input and output until it disconnects.
///
/// # Errors
///
/// Returns why the conversation with the editor broke off.
pub fn serve_stdio(home: &str) -> io::Result<()> {
    let (connection, threads) = Connection::stdio();
    let served = serve(&connection, home);
    drop(connection);
    threads.join()?;
    served
}

fn serve(connection: &Connection, home: &str) -> io::Result<()> {
    let parameters =
        connection.initialize(serde_json::to_value(ServerCapabilities::default())?).map_err(|error| {
            if error.channel_is_disconnected() {
                io::Error::other("the editor left without an `initialize` request")
            } else {
                io::Error::other(error)
            }
        })?;
    // An editor that names no directory gets its marks from the place of each file.
    let parameters: InitializeParams = serde_json::from_value(parameters).unwrap_or_default();
    let (watch, changes) = StateWatch::start()?;
    let mut server =
        EditorServer { connection, home, cwd: parameters.root(), watch, documents: BTreeMap::new() };
    server.run(&changes)
}

/// One editor, and what it was last told about each open document.
struct EditorServer<'a> {
    connection: &'a Connection,
    home: &'a str,
    cwd: Option<String>,
    watch: StateWatch,
    documents: BTreeMap<String, Vec<Diagnostic>>,
}

impl EditorServer<'_> {
    fn run(&mut self, changes: &Receiver<()>) -> io::Result<()> {
        loop {
            select! {
                recv(self.connection.receiver) -> message => match message {
                    Ok(Message::Request(request)) => {
                        if self.connection.handle_shutdown(&request).map_err(io::Error::other)? {
                            return Ok(());
                        }
                        let refusal = Response::new_err(
                            request.id,
                            lsp_server::ErrorCode::MethodNotFound as i32,
                            format!("`{}` is not offered", request.method),
                        );
                        self.send(refusal.into())?;
                    }
                    Ok(Message::Notification(notification)) => self.note(notification)?,
                    Ok(Message::Response(_)) => {}
                    Err(_) => return Ok(()),
                },
                recv(changes) -> _ => self.renew_marks()?,
            }
        }
    }

    fn note(&mut self, notification: Notification) -> io::Result<()> {
        let Ok(parameters) = serde_json::from_value::<DocumentParams>(notification.params) else {
            return Ok(());
        };
        let uri = parameters.text_document.uri;
        match notification.method.as_str() {
            "textDocument/didOpen" => {
                self.documents.entry(uri.clone()).or_default();
                self.renew_mark(&uri)
            }
            "textDocument/didClose" => {
                self.documents.remove(&uri);
                self.publish(uri, Vec::new())
            }
            "textDocument/didChange" | "textDocument/didSave" => self.renew_mark(&uri),
            _ => Ok(()),
        }
    }

    /// Tells the editor what is different now in any document, because claims changed.
    fn renew_marks(&mut self) -> io::Result<()> {
        let uris: Vec<String> = self.documents.keys().cloned().collect();
        uris.iter().try_for_each(|uri| self.renew_mark(uri))
    }

    /// Tells the editor what is different now in one document. Others are not asked about: an editor may have thousands open.
    fn renew_mark(&mut self, uri: &str) -> io::Result<()> {
        let Some(path) = file_uri::to_path(uri) else { return Ok(()) };
        let Some(known) = self.documents.get_mut(uri) else { return Ok(()) };
        let (found, state_dir) = file_diagnostics(&path, self.home, self.cwd.as_deref());
        if let Some(directory) = state_dir {
            self.watch.add(&directory);
        }
        if *known == found {
            return Ok(());
        }
        known.clone_from(&found);
        self.publish(uri.to_owned(), found)
    }

    fn publish(&self, uri: String, diagnostics: Vec<Diagnostic>) -> io::Result<()> {
        let parameters = PublishParams { uri, diagnostics };
        self.send(Notification::new("textDocument/publishDiagnostics".to_owned(), parameters).into())
    }

    fn send(&self, message: Message) -> io::Result<()> {
        self.connection.sender.send(message).map_err(|_| io::Error::from(io::ErrorKind::BrokenPipe))
    }
}
