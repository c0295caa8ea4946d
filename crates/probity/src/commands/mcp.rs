//! `probity mcp`: the server for agents.

use crate::answer::CommandAnswer;
use crate::ui;
use probity_api::ExitCode;
use probity_api::govern::tools::{McpServerEnd, McpServerStatus, McpToolList};
use probity_core::ReasonCode;
use probity_mcp::ServeError;
use probity_workspace::{ServiceError, Workspace};
use serde_json::Value;

/// Environment variable for the token: unlike an argument, it does not appear in process lists.
const TOKEN_VARIABLE: &str = "PROBITY_MCP_TOKEN";

/// Serve agents over MCP: the same commands as tools
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  probity init --agent claude      # then the agent starts the server itself\n  \
                        probity mcp --http 4680          # one server for several agents"
)]
pub(crate) struct McpArgs {
    /// Serve streamable HTTP on this port of the loopback address (0 for any) instead of standard input and output
    ///
    /// Every request needs `Authorization: Bearer TOKEN`. The token comes from the variable `PROBITY_MCP_TOKEN`, else a
    /// new one is made and shown.
    #[arg(long, value_name = "PORT")]
    http: Option<u16>,

    /// Print the tools with their schemas, and serve nothing
    #[arg(long, conflicts_with = "http")]
    tools: bool,
}

/// Serves until the client disconnects.
pub(crate) fn mcp(workspace: &Workspace, args: &McpArgs) -> Result<CommandAnswer, ServiceError> {
    if args.tools {
        let answer = McpToolList { tools: probity_mcp::schemas() };
        ui::print_json_text(&format!("{:#}", Value::from(answer.tools.clone())));
        return Ok(CommandAnswer::of(ExitCode::Ok, &answer));
    }
    let served = match args.http {
        None => probity_mcp::serve_stdio(&workspace.root),
        Some(port) => serve_http(workspace, port)?,
    };
    served.map_err(|error| ServiceError::System {
        what: "the MCP server stopped".into(),
        source: std::io::Error::other(error),
    })?;
    Ok(CommandAnswer::of(ExitCode::Ok, &McpServerEnd { status: McpServerStatus::Closed }))
}

/// The shortest token that is accepted.
const MIN_TOKEN_BYTES: usize = 16;

fn serve_http(workspace: &Workspace, port: u16) -> Result<Result<(), ServeError>, ServiceError> {
    let given = std::env::var(TOKEN_VARIABLE).ok().filter(|token| !token.is_empty());
    if given.as_ref().is_some_and(|token| token.len() < MIN_TOKEN_BYTES) {
        return Err(ServiceError::refused(
            ReasonCode::UsageInvalid,
            format!(
                "the token in {TOKEN_VARIABLE} can be guessed: it needs at least {MIN_TOKEN_BYTES} bytes; unset the \
                 variable and a good one is made"
            ),
        ));
    }
    let is_new = given.is_none();
    let token = match given {
        Some(token) => token,
        None => probity_runner::keys::random_token()?,
    };
    Ok(probity_mcp::serve_http(&workspace.root, port, &token, |at| {
        ui::eprint_row("serving", format_args!("http://{}/mcp", at.address));
        if is_new {
            ui::eprint_row("token", &token);
        }
    }))
}
