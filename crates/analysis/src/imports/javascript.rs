//! JavaScript and TypeScript: relative paths, workspace packages, `paths` of a `tsconfig.json`.

use super::{ImportTarget, SourceTree, directory, join, resolve_relative};
use crate::facts::ImportStatement;
use serde_json::Value;
use std::collections::BTreeMap;

/// Extensions that may be omitted, in the order they are tried.
const EXTENSIONS: [&str; 11] =
    ["ts", "tsx", "d.ts", "mts", "cts", "d.mts", "d.cts", "js", "jsx", "mjs", "cjs"];

/// Packages of the tree by name, and path aliases.
pub(super) struct JavaScriptPackages {
    folders: BTreeMap<String, String>,
    /// The file that a directory with a manifest stands for, if its manifest names one.
    mains: BTreeMap<String, Option<String>>,
    aliases: Vec<PathAlias>,
}

/// An alias of a configuration: `"@/*": ["src/*"]`.
struct PathAlias {
    /// The directory of the configuration.
    directory: String,
    prefix: String,
    target: String,
    /// True if anything may follow the prefix.
    is_open: bool,
}

impl PathAlias {
    fn path(&self, module: &str) -> Option<String> {
        let rest = module.strip_prefix(self.prefix.as_str())?;
        (self.is_open || rest.is_empty()).then(|| join(&self.target, rest))
    }
}

impl JavaScriptPackages {
    pub(super) fn new(tree: &SourceTree<'_>) -> Self {
        let named = tree.governance_text("package.json").filter_map(|(directory, text)| {
            let manifest: Value = serde_json::from_str(text).ok()?;
            Some((manifest.get("name")?.as_str()?.to_owned(), directory))
        });
        let mains = tree.governance_text("package.json").map(|(directory, text)| {
            let main = main_file(text).and_then(|main| resolve_relative(&directory, &main));
            (directory, main)
        });
        let aliases =
            tree.governance_text("tsconfig.json").flat_map(|(directory, text)| aliases(&directory, text));
        Self { folders: named.collect(), mains: mains.collect(), aliases: aliases.collect() }
    }

    pub(super) fn target(&self, tree: &SourceTree<'_>, from: u32, import: &ImportStatement) -> ImportTarget {
        let here = directory(&tree.files[from as usize].path);
        let module = import.module.split(['?', '#']).next().unwrap_or_default();
        if module.starts_with('.') {
            let Some(path) = resolve_relative(&here, module) else { return ImportTarget::External };
            return match file_at(tree, &path) {
                Some(file) => ImportTarget::Files(vec![file]),
                None => match self.main_of(tree, &path) {
                    Some(target) => target,
                    None if is_known(tree, &path) || is_asset(module) => ImportTarget::External,
                    None => ImportTarget::Missing,
                },
            };
        }
        let aliased = self.alias_paths(&here, module);
        let by_alias = aliased.iter().find_map(|path| file_at(tree, path));
        match by_alias.or_else(|| self.by_package(tree, module)) {
            Some(file) => ImportTarget::Files(vec![file]),
            None if aliased.is_empty() || is_asset(module) => ImportTarget::External,
            None if aliased.iter().any(|path| is_known(tree, path)) => ImportTarget::External,
            None => ImportTarget::Missing,
        }
    }

    /// Returns what a directory with a manifest stands for. What its manifest names may only exist after a build.
    fn main_of(&self, tree: &SourceTree<'_>, directory: &str) -> Option<ImportTarget> {
        let main = self.mains.get(directory)?;
        let file = main.as_ref().and_then(|main| file_at(tree, main));
        Some(file.map_or(ImportTarget::External, |file| ImportTarget::Files(vec![file])))
    }

    /// Returns the paths that a module has by the aliases of the nearest configuration.
    fn alias_paths(&self, here: &str, module: &str) -> Vec<String> {
        let is_above = |directory: &str| {
            directory.is_empty() || here == directory || here.starts_with(&format!("{directory}/"))
        };
        let near = self.aliases.iter().filter(|alias| is_above(&alias.directory));
        near.filter_map(|alias| alias.path(module)).collect()
    }

    fn by_package(&self, tree: &SourceTree<'_>, module: &str) -> Option<u32> {
        let n_parts = if module.starts_with('@') { 2 } else { 1 };
        let end = module.match_indices('/').nth(n_parts - 1).map_or(module.len(), |(slash, _)| slash);
        let directory = self.folders.get(&module[..end])?;
        let rest = module[end..].trim_start_matches('/');
        let candidates = [join(directory, rest), join(&join(directory, "src"), rest)];
        candidates.iter().find_map(|path| file_at(tree, path))
    }
}

/// Returns the file that a manifest names for the package as a whole.
fn main_file(manifest: &str) -> Option<String> {
    let manifest: Value = serde_json::from_str(manifest).ok()?;
    let exported = || match manifest.get("exports")? {
        Value::String(path) => Some(path.clone()),
        exports => exports.get(".").and_then(Value::as_str).map(str::to_owned),
    };
    manifest.get("main").and_then(Value::as_str).map(str::to_owned).or_else(exported)
}

/// Returns the file for a path without extension.
fn file_at(tree: &SourceTree<'_>, path: &str) -> Option<u32> {
    // An import names the file that will run; the tree may have its source or its declarations.
    let written_as: [(&str, &[&str]); 4] = [
        (".js", &["ts", "tsx", "d.ts"]),
        (".jsx", &["ts", "tsx"]),
        (".mjs", &["mts", "d.mts"]),
        (".cjs", &["cts", "d.cts"]),
    ];
    let of_stem = |&(ending, sources): &(&str, &'static [&'static str])| {
        let stem = path.strip_suffix(ending)?;
        Some(sources.iter().map(move |source| format!("{stem}.{source}")))
    };
    let sources = written_as.iter().filter_map(of_stem).flatten();
    let with_extension = EXTENSIONS.iter().map(|extension| format!("{path}.{extension}"));
    let index = EXTENSIONS.iter().map(|extension| join(path, &format!("index.{extension}")));
    tree.first_file(std::iter::once(path.to_owned()).chain(sources).chain(with_extension).chain(index))
}

/// Returns true if something that is not read exists at the path.
fn is_known(tree: &SourceTree<'_>, path: &str) -> bool {
    let others = ["", ".json", ".vue", ".svelte", ".node", ".wasm"];
    others.iter().any(|extension| tree.exists(&format!("{path}{extension}")))
}

/// Returns true if a path names something that bundlers accept but that is not code.
fn is_asset(module: &str) -> bool {
    let name = module.rsplit('/').next().unwrap_or(module);
    name.rsplit_once('.').is_some_and(|(stem, extension)| {
        !stem.is_empty() && extension.len() <= 5 && !EXTENSIONS.contains(&extension) && extension != "js"
    })
}

/// Returns the aliases of one configuration. An alias for everything says nothing about a module.
fn aliases(directory: &str, text: &str) -> Vec<PathAlias> {
    let Ok(config) = serde_json::from_str::<Value>(text) else { return Vec::new() };
    let Some(options) = config.get("compilerOptions") else { return Vec::new() };
    let base = options.get("baseUrl").and_then(Value::as_str).unwrap_or(".");
    let Some(base) = resolve_relative(directory, base) else { return Vec::new() };
    let paths = options.get("paths").and_then(Value::as_object).into_iter().flatten();
    let each = paths.flat_map(|(alias, targets)| {
        let targets = targets.as_array().into_iter().flatten().filter_map(Value::as_str);
        targets.map(move |target| (alias, target))
    });
    each.filter(|(alias, _)| *alias != "*")
        .filter_map(|(alias, target)| {
            Some(PathAlias {
                directory: directory.to_owned(),
                prefix: alias.trim_end_matches('*').to_owned(),
                target: resolve_relative(&base, target.trim_end_matches('*').trim_end_matches('/'))?,
                is_open: alias.ends_with('*'),
            })
        })
        .collect()
}
