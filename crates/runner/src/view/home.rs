//! The user's home in a view: read-only, but for the agent's own state and for caches; credentials are hidden.

use probity_policy::{EnforceRules, FIXED_NAMES};
use probity_sandbox::ScratchOverlays;
use std::path::{Path, PathBuf};

/// Variables that name a cache elsewhere, for homes without the usual directory.
pub(super) const CACHE_VARIABLES: [(&str, &str, &str); 4] = [
    (".cache", "XDG_CACHE_HOME", "/tmp/.cache"),
    (".npm", "npm_config_cache", "/tmp/.npm"),
    (".cargo", "CARGO_HOME", "/tmp/.cargo"),
    ("go/pkg", "GOMODCACHE", "/tmp/.go"),
];

/// Caches in a directory that also has settings, and that directory: it is covered as a whole where the cache is missing,
/// because the tool must read its settings and cannot be told of another cache.
const CACHES_BESIDE_SETTINGS: [(&str, &str); 1] = [("~/.cargo/registry", "~/.cargo")];

/// Paths of the home, as they are on this machine.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct HomePlan {
    home: Option<PathBuf>,
    pub(crate) persist: Vec<PathBuf>,
    /// Parts of `persist` that stay read-only.
    pub(crate) fixed: Vec<PathBuf>,
    /// Parts that should stay read-only and are missing or links, with what the links lead to: nothing can be mounted on
    /// them.
    open_settings: Vec<(PathBuf, Option<PathBuf>)>,
    pub(crate) scratch: Vec<PathBuf>,
    pub(crate) hidden: Vec<PathBuf>,
    /// The home, if it lies in a directory that is empty in a view.
    pub(crate) visible: Vec<PathBuf>,
}

impl HomePlan {
    /// Finds the paths of the rules that exist. Whatever is around, in or at the tree is left out: the tree has a layer
    /// of its own.
    pub(crate) fn of(rules: &EnforceRules, tree: &Path, state: &Path) -> Self {
        let home = std::env::var_os("HOME").map(PathBuf::from).and_then(|home| home.canonicalize().ok());
        let is_apart =
            |path: &PathBuf| ![tree, state].iter().any(|own| path.starts_with(own) || own.starts_with(path));
        let found = |list: &[String]| -> Vec<PathBuf> {
            let mut paths: Vec<PathBuf> = list
                .iter()
                .filter_map(|text| expand(text, home.as_deref()))
                .filter_map(|path| path.canonicalize().ok())
                .filter(is_apart)
                .collect();
            paths.sort();
            paths.dedup();
            paths
        };
        let persist = found(&rules.persist);
        let settings = persist.iter().filter(|path| path.is_dir());
        let settings = settings.flat_map(|path| FIXED_NAMES.iter().map(|name| path.join(name)));
        let (fixed, open): (Vec<PathBuf>, Vec<PathBuf>) =
            settings.partition(|path| path.symlink_metadata().is_ok_and(|facts| !facts.is_symlink()));
        let open_settings = open.into_iter().map(|path| (path.clone(), path.read_link().ok())).collect();
        let is_coverable = |path: &PathBuf| {
            path.is_dir() && probity_sandbox::mount_below(path).is_none() && !persist.contains(path)
        };
        let is_in_private = |home: &&PathBuf| {
            super::PRIVATE_DIRECTORIES.iter().any(|private| home.starts_with(private))
                && !home.starts_with(tree)
        };
        // A tree in a directory for temporary files has its neighbors there, which people expect to be seen.
        let around_tree = super::TEMPORARY_DIRECTORIES.iter().map(PathBuf::from);
        let around_tree = around_tree.filter(|path| tree.starts_with(path) && tree != path);
        let is_missing = |text: &str| expand(text, home.as_deref()).is_some_and(|path| !path.exists());
        let beside_settings: Vec<String> = CACHES_BESIDE_SETTINGS
            .iter()
            .filter(|(cache, _)| rules.scratch.iter().any(|rule| rule == cache) && is_missing(cache))
            .map(|(_, around)| (*around).to_owned())
            .collect();
        let mut scratch: Vec<PathBuf> =
            found(&rules.scratch).into_iter().chain(around_tree).filter(is_coverable).collect();
        for around in found(&beside_settings).into_iter().filter(is_coverable) {
            // One overlay covers what is in it.
            scratch.retain(|path| !path.starts_with(&around));
            scratch.push(around);
        }
        Self {
            fixed,
            open_settings,
            scratch,
            hidden: found(&rules.hide),
            visible: home.iter().filter(is_in_private).cloned().collect(),
            persist,
            home,
        }
    }

    /// Returns the settings of agents that were made or led elsewhere since the plan was.
    pub(crate) fn made_settings(&self) -> Vec<&Path> {
        let is_made = |(path, link): &&(PathBuf, Option<PathBuf>)| {
            path.symlink_metadata().is_ok() && (link.is_none() || path.read_link().ok() != *link)
        };
        self.open_settings.iter().filter(is_made).map(|(path, _)| path.as_path()).collect()
    }

    /// Returns overlays on the caches, with their layers in `place`, an empty directory.
    pub(super) fn scratch_overlays(&self, place: &Path) -> ScratchOverlays {
        ScratchOverlays { targets: self.scratch.iter().map(Into::into).collect(), place: place.into() }
    }

    /// Returns variables that lead tools to a private cache where the home has none: it could not be created there.
    pub(super) fn missing_caches(&self) -> Vec<(&'static str, &'static str)> {
        let Some(home) = &self.home else { return Vec::new() };
        let missing = CACHE_VARIABLES.iter().filter(|(directory, ..)| !home.join(directory).exists());
        missing.map(|(_, name, value)| (*name, *value)).collect()
    }
}

/// Returns the path that a rule names: absolute, or below the home.
fn expand(text: &str, home: Option<&Path>) -> Option<PathBuf> {
    match text.strip_prefix("~/") {
        Some(below) => Some(home?.join(below)),
        None => Some(PathBuf::from(text)).filter(|path| path.is_absolute()),
    }
}
