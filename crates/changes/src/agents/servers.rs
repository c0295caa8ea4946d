//! Adds or removes our entry in the list of MCP servers of a JSON configuration.

use super::RegistrationWish;
use super::json_members::{OrderedMembers, same_json};

const SERVER_NAME: &str = "probity";

/// The command is found on `PATH` and started in the project's directory.
pub(super) const STDIO_ENTRY: &str =
    "{\n      \"type\": \"stdio\",\n      \"command\": \"probity\",\n      \"args\": [\"mcp\"]\n    }";
/// Gemini CLI and Qwen Code offer the tools of a server without asking only if it is trusted.
pub(super) const TRUSTED_ENTRY: &str =
    "{\n      \"command\": \"probity\",\n      \"args\": [\"mcp\"],\n      \"trust\": true\n    }";
pub(super) const OPENCODE_ENTRY: &str = "{\n      \"type\": \"local\",\n      \"command\": [\"probity\", \"mcp\"],\n      \"enabled\": true\n    }";

/// Edits the servers in the member `key`.
pub(super) fn edit_server(
    config: &mut OrderedMembers,
    key: &str,
    entry: &str,
    wish: RegistrationWish,
) -> Result<(), String> {
    let by_hand =
        |error: String| format!("{error}; add this to \"{key}\" by hand: \"{SERVER_NAME}\": {entry}");
    config
        .edit_object(key, 1, |servers| {
            match wish {
                RegistrationWish::Unregister => servers.remove(SERVER_NAME),
                RegistrationWish::Register => {
                    if !servers.get(SERVER_NAME).is_some_and(|found| same_json(found, entry)) {
                        servers.set(SERVER_NAME, entry.to_owned());
                    }
                }
            }
            Ok(())
        })
        .map_err(by_hand)
}
