//! Registers Probity in a coding agent's project configuration (`probity init --agent`).
//!
//! Existing content stays byte for byte; only our own entry is added, updated or removed, so repeating a command
//! changes nothing. A file that cannot be read safely is left alone, and the answer says what to add by hand.

mod block;
mod servers;

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

const INSTRUCTIONS_FILES: [&str; 3] = [SHARED_INSTRUCTIONS, "CLAUDE.md", "GEMINI.md"];

/// The files in which an agent keeps its configuration and instructions.
trait AgentFiles: Sized {
    /// The file that lists the project's MCP servers.
    fn config_file(self) -> &'static str;

    /// The file that the agent always reads when it starts in a project.
    fn own_instructions(self) -> &'static str;

    /// The file to put instructions in: the shared file if the agent already reads it, so that it does not read them twice.
    fn instructions_file(self, root: &Path) -> &'static str;

    /// Returns the configuration `text` with our entry added or removed.
    fn updated_config(self, text: &str, wish: RegistrationWish) -> Result<String, String>;
}

impl AgentFiles for CodingAgent {
    fn config_file(self) -> &'static str {
        match self {
            Self::Claude => ".mcp.json",
            Self::Codex => ".codex/config.toml",
            Self::Cursor => ".cursor/mcp.json",
            Self::Gemini => ".gemini/settings.json",
        }
    }

    fn own_instructions(self) -> &'static str {
        match self {
            Self::Claude => "CLAUDE.md",
            Self::Gemini => "GEMINI.md",
            Self::Codex | Self::Cursor => SHARED_INSTRUCTIONS,
        }
    }

    fn instructions_file(self, root: &Path) -> &'static str {
        let own = self.own_instructions();
        let is_led = links_to_shared(root, own)
            || text_of(root, own).ok().flatten().is_some_and(|text| imports_shared(&text))
            || self == Self::Gemini && gemini_reads_shared(root);
        if is_led { SHARED_INSTRUCTIONS } else { own }
    }

    fn updated_config(self, text: &str, wish: RegistrationWish) -> Result<String, String> {
        match (self, wish) {
            (Self::Codex, RegistrationWish::Register) => block::with_codex(text),
            (Self::Codex, RegistrationWish::Unregister) => Ok(block::remove_block(block::TOML_MARKERS, text)),
            (_, RegistrationWish::Register) => servers::with_probity(text),
            (_, RegistrationWish::Unregister) => servers::without_probity(text),
        }
    }
}

/// Registers Probity with an agent, or removes it again. With `dry_run` nothing is written.
pub fn register(
    workspace: &Workspace,
    agent: CodingAgent,
    wish: RegistrationWish,
    dry_run: bool,
) -> Result<AgentRegistration, ServiceError> {
    let root = &workspace.root;
    let mut changes = vec![change(root, agent.config_file(), |text| agent.updated_config(text, wish))?];
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
            change(root, file, |text| Ok(block::with_instructions(text)))?
        } else if let Ok(Some(_)) = text_of(root, file) {
            change(root, file, |text| Ok(block::remove_block(block::MARKDOWN_MARKERS, text)))?
        } else {
            continue;
        };
        // Another agent's file is listed only if it changes.
        let is_own = needed.contains(file) && file == agent.instructions_file(root);
        changes
            .extend(Some(change).filter(|change| is_own || change.change != AgentFileChangeKind::Unchanged));
    }
    if !dry_run {
        changes.iter().try_for_each(|change| carry_out(root, change))?;
    }
    Ok(AgentRegistration { root: root.clone().into(), agent, files: changes, written: !dry_run })
}

/// Returns whether an agent's configuration of this project names Probity.
pub fn is_registered(workspace: &Workspace, agent: CodingAgent) -> bool {
    let Ok(Some(text)) = text_of(&workspace.root, agent.config_file()) else { return false };
    // Registering is idempotent, so an unchanged text means that the entry is there.
    agent.updated_config(&text, RegistrationWish::Register).is_ok_and(|wished| wished == text)
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

/// Returns whether Gemini CLI's settings list the shared file as context.
fn gemini_reads_shared(root: &Path) -> bool {
    let settings = text_of(root, CodingAgent::Gemini.config_file()).ok().flatten().unwrap_or_default();
    let settings: serde_json::Value = serde_json::from_str(&settings).unwrap_or_default();
    let names = [&settings["context"]["fileName"], &settings["contextFileName"]];
    names.into_iter().any(|name| match name {
        serde_json::Value::Array(names) => names.iter().any(|name| name == SHARED_INSTRUCTIONS),
        name => name == SHARED_INSTRUCTIONS,
    })
}

fn change(
    root: &Path,
    path: &str,
    edit: impl FnOnce(&str) -> Result<String, String>,
) -> Result<AgentFileChange, ServiceError> {
    let now = text_of(root, path)?;
    let text = edit(now.as_deref().unwrap_or_default())
        .map_err(|why| ServiceError::refused(ReasonCode::ConfigForeign, format!("{path}: {why}")))?;
    let change = match &now {
        None if text.is_empty() => AgentFileChangeKind::Unchanged,
        None => AgentFileChangeKind::Created,
        Some(now) if *now == text => AgentFileChangeKind::Unchanged,
        Some(_) if text.trim().is_empty() => AgentFileChangeKind::Removed,
        Some(_) => AgentFileChangeKind::Changed,
    };
    Ok(AgentFileChange { path: PathBuf::from(path).into(), change, text })
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
fn carry_out(root: &Path, change: &AgentFileChange) -> Result<(), ServiceError> {
    let path = root.join(&change.path.0);
    let fault = || ServiceError::system(format!("cannot write {}", change.path.0.display()));
    match change.change {
        AgentFileChangeKind::Unchanged => Ok(()),
        AgentFileChangeKind::Removed => fs::remove_file(path).map_err(fault()),
        AgentFileChangeKind::Created | AgentFileChangeKind::Changed => {
            if let Some(folder) = path.parent() {
                fs::create_dir_all(folder).map_err(fault())?;
            }
            replace(&path, &change.text).map_err(fault())
        }
    }
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
