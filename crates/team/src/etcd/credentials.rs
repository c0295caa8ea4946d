//! The secret of a team's user: never in the repository, and asked of the server as seldom as possible.
//!
//! A login costs the server a deliberately slow hash, so the token that it gives is kept in the state directory, for the
//! user alone.

use probity_storage::durable;
use serde::Deserialize;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use zeroize::Zeroizing;

/// A token given from outside, for example by a build service.
pub const TOKEN_VARIABLE: &str = "PROBITY_TEAM_TOKEN";
/// Names the file with the password of the team's user.
pub const PASSWORD_FILE_VARIABLE: &str = "PROBITY_TEAM_PASSWORD_FILE";

/// Where the user of a team and its secrets come from.
#[derive(Debug, Clone, Default)]
pub struct Credentials {
    user: Option<String>,
    /// The user's own file about this team: `~/.config/probity/teams/<namespace>.toml`.
    secrets_file: Option<PathBuf>,
    token_file: Option<PathBuf>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SecretsFile {
    password: String,
}

impl Credentials {
    /// `token_file` lies in the state directory.
    pub fn new(user: Option<String>, namespace: &str, token_file: PathBuf) -> Self {
        let secrets_file =
            config_dir().map(|dir| dir.join("probity/teams").join(format!("{namespace}.toml")));
        Self { user, secrets_file, token_file: Some(token_file) }
    }

    /// Takes the secret from another file than the user's own.
    #[must_use]
    pub fn with_secrets_file(mut self, path: PathBuf) -> Self {
        self.secrets_file = Some(path);
        self
    }

    pub(super) fn user(&self) -> Option<&str> {
        self.user.as_deref()
    }

    pub(super) fn cached_token(&self) -> Option<String> {
        self.user.as_ref()?;
        if let Some(token) = std::env::var(TOKEN_VARIABLE).ok().filter(|token| !token.is_empty()) {
            return Some(token);
        }
        let bytes = durable::read(self.token_file.as_deref()?).ok().flatten()?;
        String::from_utf8(bytes).ok().filter(|token| !token.is_empty())
    }

    /// Keeps a token for the next command. A token that cannot be kept is only asked for again.
    pub(super) fn keep_token(&self, token: &str) {
        if let Some(path) = &self.token_file {
            let _ = durable::write(path, token.as_bytes());
        }
    }

    pub(super) fn forget_token(&self) {
        if let Some(path) = &self.token_file {
            let _ = durable::remove(path);
        }
    }

    pub(super) fn password(&self) -> Result<Zeroizing<String>, String> {
        if let Some(path) = std::env::var_os(PASSWORD_FILE_VARIABLE).filter(|path| !path.is_empty()) {
            let text = read_private(Path::new(&path))?;
            return Ok(Zeroizing::new(text.trim_end_matches(['\r', '\n']).to_owned()));
        }
        let user = self.user.as_deref().unwrap_or_default();
        let Some(path) = self.secrets_file.as_ref().filter(|path| path.exists()) else {
            let file = self
                .secrets_file
                .as_ref()
                .map(|path| format!(", or write `password = \"…\"` to {}", path.display()));
            return Err(format!(
                "there is no password for the user `{user}`: name its file in {PASSWORD_FILE_VARIABLE}{}",
                file.unwrap_or_default()
            ));
        };
        let text = read_private(path)?;
        let parsed: SecretsFile = toml::from_str(&text)
            .map_err(|error| format!("{} has no `password`: {}", path.display(), error.message()))?;
        Ok(Zeroizing::new(parsed.password))
    }
}

/// Reads a file that nobody else may read.
fn read_private(path: &Path) -> Result<Zeroizing<String>, String> {
    let shown = path.display();
    let facts = path.metadata().map_err(|error| format!("{shown}: {error}"))?;
    // A secret that a build service mounts is often owned by root and readable for a group.
    if facts.mode() & 0o007 != 0 {
        return Err(format!("{shown} can be read by everyone: `chmod 600` it"));
    }
    std::fs::read_to_string(path).map(Zeroizing::new).map_err(|error| format!("{shown}: {error}"))
}

fn config_dir() -> Option<PathBuf> {
    let dir =
        std::env::var_os("XDG_CONFIG_HOME").filter(|dir| Path::new(dir).is_absolute()).map(PathBuf::from);
    dir.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".config")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn a_secret_that_everyone_can_read_is_refused() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("secret");
        std::fs::write(&path, "word\n").expect("writes");
        for (mode, is_read) in [(0o600, true), (0o640, true), (0o644, false)] {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).expect("sets");
            assert_eq!(read_private(&path).is_ok(), is_read, "{mode:o}");
        }
    }

    #[test]
    fn a_token_is_kept_for_the_user_alone() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("token");
        let credentials = Credentials::new(Some("ann".into()), "t", path.clone());
        credentials.keep_token("abc.1");
        assert_eq!(path.metadata().expect("is there").permissions().mode() & 0o777, 0o600);
        assert_eq!(credentials.cached_token().as_deref(), Some("abc.1"));
        credentials.forget_token();
        assert_eq!(credentials.cached_token(), None);
        assert_eq!(Credentials::new(None, "t", path).cached_token(), None, "nobody to log in as");
    }
}
