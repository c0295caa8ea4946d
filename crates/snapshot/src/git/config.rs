//! The few repository settings that matter here, read from the repository's own files. Includes and the configuration
//! of the user and the machine are ignored, because they differ between machines.

use super::{GitLayout, git_files};

const MAX_CONFIG_BYTES: u64 = 1024 * 1024;

/// One setting: section and key in lower case, value as written.
pub(super) struct ConfigSetting {
    pub(super) section: String,
    pub(super) key: String,
    pub(super) value: String,
}

/// Parses `section.key = value` lines. A subsection stays part of its section's name, so it is never mistaken for a
/// plain section.
pub(super) fn settings(config: &[u8]) -> Vec<ConfigSetting> {
    let mut section = String::new();
    let mut settings = Vec::new();
    for line in String::from_utf8_lossy(config).lines() {
        let line = line.split(['#', ';']).next().unwrap_or_default().trim();
        let mut rest = line;
        if let Some((name, after)) = line.strip_prefix('[').and_then(|line| line.split_once(']')) {
            section = name.trim().to_ascii_lowercase();
            rest = after.trim();
        }
        if rest.is_empty() {
            continue;
        }
        // A key without a value means true.
        let (key, value) =
            rest.split_once('=').map_or((rest, "true"), |(key, value)| (key.trim(), value.trim()));
        settings.push(ConfigSetting {
            section: section.clone(),
            key: key.to_ascii_lowercase(),
            value: value.trim_matches('"').to_owned(),
        });
    }
    settings
}

/// The repository's own setting for line endings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AutoCrlf {
    /// Only attributes decide.
    #[default]
    Off,
    /// Text files are stored with LF in commits.
    On,
}

/// The settings that affect how files of a working tree compare with a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WorktreeSettings {
    /// `core.autocrlf`.
    pub auto_crlf: AutoCrlf,
    /// `core.sparseCheckout`.
    pub sparse_checkout: bool,
}

impl WorktreeSettings {
    pub fn read(layout: &GitLayout) -> Self {
        let mut found = Self::default();
        for file in [layout.common_dir.join("config"), layout.git_dir.join("config.worktree")] {
            for ConfigSetting { section, key, value } in
                settings(&git_files::read(&file, MAX_CONFIG_BYTES).unwrap_or_default())
            {
                let value = value.to_ascii_lowercase();
                let is_on = matches!(value.as_str(), "true" | "yes" | "on" | "1");
                match (section.as_str(), key.as_str()) {
                    ("core", "autocrlf") if is_on || value == "input" => found.auto_crlf = AutoCrlf::On,
                    ("core", "autocrlf") => found.auto_crlf = AutoCrlf::Off,
                    ("core", "sparsecheckout") => found.sparse_checkout = is_on,
                    _ => {}
                }
            }
        }
        found
    }
}
