//! Registers Probity with a coding agent (`probity init --agent`): its MCP server, its hook, and instructions.
//!
//! Existing content stays; only our own entries are added, updated or removed, so repeating a command changes nothing, and
//! taking Probity out restores the bytes from before. A file that cannot be read safely is left alone, and the answer says
//! what to add by hand.

mod advice;
mod block;
mod command_line;
mod hook_entries;
mod json_members;
pub(crate) mod originals;
mod servers;

pub use advice::installed_agents;
pub use command_line::{AgentPermissions, task_command, task_variables};
pub(crate) use hook_entries::starts_hook;
pub use hook_entries::{HookMoment, HookProgram, hook_events};

use json_members::edit_text;
use probity_api::govern::setup::{AgentFileChange, AgentFileChangeKind, AgentRegistration, CodingAgent};
use probity_core::ReasonCode;
use probity_workspace::{ServiceError, Workspace};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RegistrationWish {
    Register,
    Unregister,
}

/// The instructions file that several agents share.
const SHARED_INSTRUCTIONS: &str = "AGENTS.md";

const INSTRUCTIONS_FILES: [&str; 4] = [SHARED_INSTRUCTIONS, "CLAUDE.md", "GEMINI.md", "QWEN.md"];

/// The plugin that stands for a hook in OpenCode.
const OPENCODE_PLUGIN: &str = "opencode-probity.js";

/// The settings that no agent can change, for Claude Code on Linux.
pub const CLAUDE_MANAGED_SETTINGS: &str = "/etc/claude-code/managed-settings.json";

/// The files in which an agent keeps its configuration and instructions.
trait AgentFiles: Sized {
    /// The configuration files of the project that Probity edits.
    fn config_files(self) -> &'static [&'static str];

    /// The file that the agent always reads when it starts in a project.
    fn own_instructions(self) -> &'static str;

    /// The file to put instructions in: the shared file if the agent already reads it, so that it does not read them twice.
    fn instructions_file(self, root: &Path) -> &'static str;

    /// Returns the `text` of a configuration file with our entries added or removed.
    fn updated_config(
        self,
        file: &str,
        text: &str,
        program: &HookProgram,
        wish: RegistrationWish,
    ) -> Result<String, String>;
}

impl AgentFiles for CodingAgent {
    fn config_files(self) -> &'static [&'static str] {
        match self {
            Self::Claude => &[".mcp.json", ".claude/settings.json"],
            Self::Codex => &[".codex/config.toml", ".codex/hooks.json"],
            Self::Copilot => &[".github/hooks/probity.json"],
            Self::Cursor => &[".cursor/mcp.json", ".cursor/hooks.json"],
            Self::Gemini => &[".gemini/settings.json"],
            Self::OpenCode => &["opencode.json", OPENCODE_PLUGIN],
            Self::Qwen => &[".qwen/settings.json"],
        }
    }

    fn own_instructions(self) -> &'static str {
        match self {
            Self::Claude => "CLAUDE.md",
            Self::Gemini => "GEMINI.md",
            Self::Qwen => "QWEN.md",
            Self::Codex | Self::Copilot | Self::Cursor | Self::OpenCode => SHARED_INSTRUCTIONS,
        }
    }

    fn instructions_file(self, root: &Path) -> &'static str {
        let own = self.own_instructions();
        let is_led = links_to_shared(root, own)
            || text_of(root, own).ok().flatten().is_some_and(|text| imports_shared(&text))
            || matches!(self, Self::Gemini | Self::Qwen) && reads_shared(root, self.config_files()[0]);
        if is_led { SHARED_INSTRUCTIONS } else { own }
    }

    fn updated_config(
        self,
        file: &str,
        text: &str,
        program: &HookProgram,
        wish: RegistrationWish,
    ) -> Result<String, String> {
        match (file, wish) {
            (".codex/config.toml", RegistrationWish::Register) => block::with_codex(text),
            (".codex/config.toml", RegistrationWish::Unregister) => {
                Ok(block::remove_block(block::TOML_MARKERS, text))
            }
            (OPENCODE_PLUGIN, RegistrationWish::Register) => Ok(hook_entries::opencode_plugin(program)),
            // Files that are Probity's alone.
            (OPENCODE_PLUGIN | ".github/hooks/probity.json", RegistrationWish::Unregister) => {
                Ok(String::new())
            }
            (".mcp.json" | ".cursor/mcp.json", _) => edit_text(text, |config| {
                servers::edit_server(config, "mcpServers", servers::STDIO_ENTRY, wish)
            }),
            ("opencode.json", _) => edit_text(text, |config| {
                servers::edit_server(config, "mcp", servers::OPENCODE_ENTRY, wish)?;
                list_text(config, "plugin", 1, &format!("./{OPENCODE_PLUGIN}"), wish)
            }),
            (".gemini/settings.json" | ".qwen/settings.json", _) => edit_text(text, |config| {
                servers::edit_server(config, "mcpServers", servers::TRUSTED_ENTRY, wish)?;
                hook_entries::edit_hooks(config, self, program, wish)
            }),
            (".claude/settings.json", _) => edit_text(text, |config| {
                config.edit_object("permissions", 1, |permissions| {
                    list_text(permissions, "allow", 2, "mcp__probity", wish)
                })?;
                list_text(config, "enabledMcpjsonServers", 1, "probity", wish)?;
                hook_entries::edit_hooks(config, self, program, wish)
            }),
            // `.codex/hooks.json`, `.cursor/hooks.json`, `.github/hooks/probity.json`
            _ => edit_text(text, |config| {
                let needs_version = matches!(self, Self::Copilot | Self::Cursor);
                if needs_version && wish == RegistrationWish::Register && config.get("version").is_none() {
                    config.set("version", "1".into());
                }
                hook_entries::edit_hooks(config, self, program, wish)?;
                if needs_version && wish == RegistrationWish::Unregister && config.names() == ["version"] {
                    config.remove("version");
                }
                Ok(())
            }),
        }
    }
}

/// Adds a text to a list, or removes it.
fn list_text(
    config: &mut json_members::OrderedMembers,
    name: &str,
    depth: usize,
    text: &str,
    wish: RegistrationWish,
) -> Result<(), String> {
    let item = json_members::json_text(text);
    config.edit_list(name, depth, |items| match wish {
        RegistrationWish::Register if items.contains(&item) => {}
        RegistrationWish::Register => items.push(item),
        RegistrationWish::Unregister => items.retain(|it| *it != item),
    })
}

/// Registers Probity with an agent, or removes it again. With `dry_run` nothing is written.
pub fn register(
    workspace: &Workspace,
    agent: CodingAgent,
    program: &HookProgram,
    wish: RegistrationWish,
    dry_run: bool,
) -> Result<AgentRegistration, ServiceError> {
    let root = &workspace.root;
    let mut changes = Vec::new();
    for file in agent.config_files() {
        changes.push(change(workspace, file, wish, |text| agent.updated_config(file, text, program, wish))?);
    }
    // The instructions are the same for every agent, so a file keeps them while any registered agent reads it.
    let is_meant = |other: &CodingAgent| {
        if *other == agent { wish == RegistrationWish::Register } else { is_registered(workspace, *other) }
    };
    let needed: BTreeSet<&str> = CodingAgent::ALL
        .iter()
        .copied()
        .filter(is_meant)
        .map(|agent| agent.instructions_file(root))
        .collect();
    for file in INSTRUCTIONS_FILES {
        let change = if needed.contains(file) {
            change(workspace, file, RegistrationWish::Register, |text| Ok(block::with_instructions(text)))?
        } else if let Ok(Some(_)) = text_of(root, file) {
            let remove = |text: &str| Ok(block::remove_block(block::MARKDOWN_MARKERS, text));
            change(workspace, file, RegistrationWish::Unregister, remove)?
        } else {
            continue;
        };
        // Another agent's file is listed only if it changes.
        let is_own = needed.contains(file) && file == agent.instructions_file(root);
        changes
            .extend(Some(change).filter(|change| is_own || change.change != AgentFileChangeKind::Unchanged));
    }
    if !dry_run {
        changes.iter().try_for_each(|change| carry_out(workspace, change, wish))?;
        crate::refresh_guard(workspace)?;
    }
    let manual_steps = match wish {
        RegistrationWish::Register => advice::manual_steps(agent),
        RegistrationWish::Unregister => Vec::new(),
    };
    Ok(AgentRegistration {
        root: root.clone().into(),
        agent,
        files: changes,
        written: !dry_run,
        manual_steps,
    })
}

/// Writes the hook into the managed settings of an agent, or removes it. Only Claude Code has a file for them.
pub fn register_managed(
    workspace: &Workspace,
    agent: CodingAgent,
    program: &HookProgram,
    wish: RegistrationWish,
    dry_run: bool,
    settings: &Path,
) -> Result<AgentRegistration, ServiceError> {
    if agent != CodingAgent::Claude {
        let detail = format!("{agent} has no managed settings that Probity knows; only claude has");
        return Err(ServiceError::refused(ReasonCode::UsageInvalid, detail));
    }
    let dir = settings.parent().unwrap_or(Path::new("/"));
    let name = settings.file_name().and_then(|name| name.to_str()).unwrap_or("managed-settings.json");
    let now = text_of(dir, name)?;
    let edit = |text: &str| edit_text(text, |config| hook_entries::edit_hooks(config, agent, program, wish));
    let text = edit(now.as_deref().unwrap_or_default()).map_err(|why| {
        ServiceError::refused(ReasonCode::ConfigForeign, format!("{}: {why}", settings.display()))
    })?;
    let change = AgentFileChange {
        path: settings.to_owned().into(),
        change: change_kind(now.as_deref(), &text),
        text,
    };
    if !dry_run {
        let fault = || ServiceError::system(format!("cannot write {}", settings.display()));
        match change.change {
            AgentFileChangeKind::Unchanged => {}
            AgentFileChangeKind::Removed => fs::remove_file(settings).map_err(fault())?,
            AgentFileChangeKind::Created | AgentFileChangeKind::Changed => {
                fs::create_dir_all(dir).and_then(|()| replace(settings, &change.text)).map_err(fault())?;
            }
        }
    }
    let root = workspace.root.clone().into();
    Ok(AgentRegistration { root, agent, files: vec![change], written: !dry_run, manual_steps: Vec::new() })
}

/// Returns whether an agent's configuration of this project names Probity: its server and its hook.
pub fn is_registered(workspace: &Workspace, agent: CodingAgent) -> bool {
    agent.config_files().iter().all(|file| {
        let text = text_of(&workspace.root, file).ok().flatten();
        text.is_some_and(|text| text.contains("probity"))
    })
}

/// Returns whether an instructions file is a symlink to the shared one, a common project layout.
fn links_to_shared(root: &Path, file: &str) -> bool {
    let target = fs::read_link(root.join(file)).ok();
    target.is_some_and(|target| root.join(target) == root.join(SHARED_INSTRUCTIONS))
}

/// Returns whether instructions import the shared ones with the separate word `@AGENTS.md`.
fn imports_shared(text: &str) -> bool {
    let own = block::remove_block(block::MARKDOWN_MARKERS, text);
    own.split_whitespace().any(|word| {
        word.strip_prefix('@').is_some_and(|it| it.trim_start_matches("./") == SHARED_INSTRUCTIONS)
    })
}

/// Returns whether the settings of Gemini CLI or Qwen Code list the shared file as context.
fn reads_shared(root: &Path, settings: &str) -> bool {
    let settings = text_of(root, settings).ok().flatten().unwrap_or_default();
    let settings: serde_json::Value = serde_json::from_str(&settings).unwrap_or_default();
    let names = [&settings["context"]["fileName"], &settings["contextFileName"]];
    names.into_iter().any(|name| match name {
        serde_json::Value::Array(names) => names.iter().any(|name| name == SHARED_INSTRUCTIONS),
        name => name == SHARED_INSTRUCTIONS,
    })
}

fn change(
    workspace: &Workspace,
    path: &str,
    wish: RegistrationWish,
    edit: impl FnOnce(&str) -> Result<String, String>,
) -> Result<AgentFileChange, ServiceError> {
    let now = text_of(&workspace.root, path)?;
    let original = match (&now, wish) {
        (Some(now), RegistrationWish::Unregister) => originals::restore(workspace, path, now)?,
        _ => None,
    };
    let text = match original {
        Some(original) => original,
        None => edit(now.as_deref().unwrap_or_default())
            .map_err(|why| ServiceError::refused(ReasonCode::ConfigForeign, format!("{path}: {why}")))?,
    };
    let change = change_kind(now.as_deref(), &text);
    Ok(AgentFileChange { path: PathBuf::from(path).into(), change, text })
}

fn change_kind(now: Option<&str>, text: &str) -> AgentFileChangeKind {
    match now {
        None if text.is_empty() => AgentFileChangeKind::Unchanged,
        None => AgentFileChangeKind::Created,
        Some(now) if now == text => AgentFileChangeKind::Unchanged,
        Some(_) if text.trim().is_empty() => AgentFileChangeKind::Removed,
        Some(_) => AgentFileChangeKind::Changed,
    }
}

/// Reads a file of the tree; `None` if it does not exist. Refuses a symlink, which may lead out of the project.
fn text_of(root: &Path, path: &str) -> Result<Option<String>, ServiceError> {
    let foreign = |why: &str| ServiceError::refused(ReasonCode::ConfigForeign, format!("{path}: {why}"));
    let folder = Path::new(path).parent().unwrap_or(Path::new(""));
    if root.join(folder).symlink_metadata().is_ok_and(|facts| !facts.is_dir()) {
        return Err(foreign("its directory is a link or not a directory"));
    }
    match root.join(path).symlink_metadata() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Ok(facts) if !facts.is_file() => return Err(foreign("it is a link or no plain file")),
        _ => {}
    }
    let bytes = fs::read(root.join(path)).map_err(ServiceError::system(format!("cannot read {path}")))?;
    String::from_utf8(bytes).map(Some).map_err(|_| foreign("it is not text"))
}

/// Writes with ordinary permissions rather than those of the state directory: the files belong to the user.
fn carry_out(
    workspace: &Workspace,
    change: &AgentFileChange,
    wish: RegistrationWish,
) -> Result<(), ServiceError> {
    let path = workspace.root.join(&change.path.0);
    let name = change.path.0.to_string_lossy();
    let fault = || ServiceError::system(format!("cannot write {name}"));
    let now = text_of(&workspace.root, &name)?.unwrap_or_default();
    match (change.change, wish) {
        (AgentFileChangeKind::Unchanged, _) => return Ok(()),
        (_, RegistrationWish::Register) => originals::keep(workspace, &name, &now, &change.text)?,
        (_, RegistrationWish::Unregister) => originals::forget(workspace, &name, &now)?,
    }
    if change.change == AgentFileChangeKind::Removed {
        fs::remove_file(&path).map_err(fault())?;
        // A directory that only held our file goes with it.
        if let Some(dir) = path.parent().filter(|dir| *dir != workspace.root) {
            let _ = fs::remove_dir(dir);
        }
        return Ok(());
    }
    if let Some(dir) = path.parent() {
        fs::create_dir_all(dir).map_err(fault())?;
    }
    replace(&path, &change.text).map_err(fault())
}

/// Replaces the file atomically and keeps its permissions.
fn replace(path: &Path, text: &str) -> std::io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let file = tempfile::NamedTempFile::new_in(folder)?;
    fs::write(file.path(), text)?;
    let permissions = match path.metadata() {
        Ok(facts) => facts.permissions(),
        Err(_) => std::os::unix::fs::PermissionsExt::from_mode(0o644),
    };
    fs::set_permissions(file.path(), permissions)?;
    file.persist(path).map(drop).map_err(|error| error.error)
}

#[cfg(test)]
mod tests;
