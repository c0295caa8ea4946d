//! The MCP server: lists tools and resources, and dispatches each call to its function.
//!
//! Every call runs on a separate thread that may block, so the protocol stays responsive. Calls may overlap: the
//! store, not the order of messages, prevents anything from being done twice.

use crate::call::{CallOutcome, ProgressUpdate, SessionHandles, ToolCall};
use crate::{ServeError, resources, tools};
use probity_workspace::CancellationToken;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ErrorCode, ErrorData, Implementation,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ProgressNotificationParam, ProgressToken, ReadResourceRequestParams, ReadResourceResponse,
    ServerCapabilities, ServerConfig,
};
use rmcp::service::{Peer, RequestContext, RoleServer};
use rmcp::{ServerHandler, ServiceExt};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, ReadBuf};
use tokio::sync::mpsc;

const INSTRUCTIONS: &str = "Change control for shared trees. Before editing: analyze_repository, then \
    start_controlled_change with exact allowed_files; edit only when edit_allowed is true. Afterwards: analyze_repository, \
    then finish_controlled_change. Keep the owner handle that start answers with: it proves who you are, in another session too. When \
    refused, follow next_step.";

#[derive(Debug, Clone)]
pub(crate) struct McpServer {
    root: Arc<PathBuf>,
    /// The process whose end means that the client is gone; `None` if the server has several clients.
    process: Option<u32>,
    handles: SessionHandles,
    /// Set when the client has disconnected.
    over: Arc<AtomicBool>,
}

impl McpServer {
    pub(crate) fn new(root: &Path, process: Option<u32>) -> Self {
        Self {
            root: Arc::new(root.to_owned()),
            process,
            handles: SessionHandles::default(),
            over: Arc::default(),
        }
    }

    /// Clones the server for another session, which has no handles yet.
    pub(crate) fn for_session(&self) -> Self {
        Self { handles: SessionHandles::default(), ..self.clone() }
    }

    async fn call(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResult, ErrorData> {
        let Some(tool) = tools::find(&request.name) else {
            let words = format!("there is no tool called {}", request.name);
            return Err(ErrorData::new(ErrorCode::INVALID_PARAMS, words, None));
        };
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        let (sender, steps) = mpsc::unbounded_channel();
        let listener = context.meta.get_progress_token();
        // A client cancels one call through its context; disconnecting cancels all of them.
        let (given_up, over) = (context.ct.clone(), self.over.clone());
        let is_given_up = move || given_up.is_cancelled() || over.load(Ordering::Relaxed);
        let cancellation = CancellationToken::new(tool.name, is_given_up);
        let steps_to = listener.is_some().then_some(sender);
        let call = ToolCall::new(&self.root, self.process, self.handles.clone(), steps_to, cancellation);
        let work = tokio::task::spawn_blocking(move || tool.call(&call, arguments));
        // All progress is forwarded before the answer is sent: the protocol allows none after it.
        if let Some(token) = listener {
            forward_progress(&context.peer, &token, steps).await;
        }
        let answered = work.await.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        Ok(result_of(answered))
    }
}

fn result_of(answered: CallOutcome) -> CallToolResult {
    if answered.is_refusal {
        CallToolResult::structured_error(answered.document)
    } else {
        CallToolResult::structured(answered.document)
    }
}

/// Sends progress updates to the client that requested them.
async fn forward_progress(
    peer: &Peer<RoleServer>,
    token: &ProgressToken,
    mut steps: mpsc::UnboundedReceiver<ProgressUpdate>,
) {
    while let Some(step) = steps.recv().await {
        let mut message = ProgressNotificationParam::new(token.clone(), wire_number(step.done));
        message.total = step.total.map(wire_number);
        message.message = Some(step.what);
        if peer.notify_progress(message).await.is_err() {
            return;
        }
    }
}

/// Converts a count to the protocol's floating point. Probity never stores or compares such numbers.
#[expect(clippy::cast_precision_loss, reason = "progress is shown, never computed with")]
fn wire_number(count: u64) -> f64 {
    count as f64
}

impl ServerHandler for McpServer {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_resources().build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("probity", env!("CARGO_PKG_VERSION")))
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(tools::listed()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        self.call(request, context).await.map(CallToolResponse::from)
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let root = self.root.clone();
        run_blocking(move || resources::list(&root)).await.map(ListResourcesResult::with_all_items)
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(resources::templates()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let root = self.root.clone();
        run_blocking(move || resources::read(&root, &request.uri)).await.map(ReadResourceResponse::from)
    }
}

async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ErrorData> + Send + 'static,
) -> Result<T, ErrorData> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| ErrorData::internal_error(error.to_string(), None))?
}

/// The client's input. At its end, calls still running for the client stop at their next step.
struct UntilGone<R> {
    from: R,
    over: Arc<AtomicBool>,
}

impl<R: AsyncRead + Unpin> AsyncRead for UntilGone<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.from).poll_read(context, buffer);
        if read.is_ready() && buffer.filled().len() == before {
            self.over.store(true, Ordering::Relaxed);
        }
        read
    }
}

/// Serves one client on standard input and output until it closes them.
pub fn serve_stdio(root: &Path) -> Result<(), ServeError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(ServeError::system("cannot start"))?;
    runtime.block_on(async {
        let server = McpServer::new(root, Some(std::process::id()));
        let over = server.over.clone();
        let (from, to) = rmcp::transport::stdio();
        let session = server.serve((UntilGone { from, over }, to)).await;
        let session = session.map_err(|error| ServeError::Handshake(error.to_string()))?;
        session.waiting().await.map_err(|error| ServeError::Handshake(error.to_string()))?;
        Ok(())
    })
}
