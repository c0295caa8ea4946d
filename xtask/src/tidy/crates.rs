//! The allowed dependencies between crates. The table must equal the graph: an edge missing from it is forbidden, and
//! an entry without an edge is stale.

use super::TidyComplaint;
use crate::root;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

/// Every crate with the crates of the project that it may use. Tests and benchmarks may use more.
pub(crate) const MAY_USE: &[(&str, &[&str])] = &[
    ("agent-proof", &["api", "changes", "core", "process", "workspace"]),
    ("analysis", &["collections", "core", "languages", "paths"]),
    (
        "api",
        &[
            "analysis",
            "contract",
            "core",
            "documents",
            "evidence",
            "intents",
            "languages",
            "ledger",
            "merge-audit",
            "paths",
            "policy",
        ],
    ),
    (
        "changes",
        &[
            "analysis",
            "api",
            "contract",
            "core",
            "evidence",
            "guard",
            "intents",
            "knowledge",
            "paths",
            "policy",
            "quality",
            "scopes",
            "snapshot",
            "storage",
            "team",
            "workspace",
        ],
    ),
    ("collections", &[]),
    ("conformance", &[]),
    ("contract", &["core", "evidence", "intents", "languages", "paths", "policy", "prose"]),
    ("core", &[]),
    ("document-store", &["api", "core", "documents", "storage", "workspace"]),
    ("documents", &["collections", "core"]),
    // The verifier: an audit reads these three crates and nothing else of ours.
    ("evidence", &["core", "paths"]),
    ("guard", &["core", "intents", "paths", "policy"]),
    ("hook", &["core", "guard", "process"]),
    ("intents", &["core", "paths", "scopes"]),
    ("knowledge", &["api", "core", "documents", "ledger", "process", "scopes", "storage", "workspace"]),
    ("languages", &[]),
    ("ledger", &["collections", "core", "documents", "paths", "prose", "scopes"]),
    ("line-diff", &[]),
    ("lsp", &["guard", "hook"]),
    (
        "mcp",
        &[
            "api",
            "changes",
            "contract",
            "core",
            "document-store",
            "documents",
            "intents",
            "knowledge",
            "ledger",
            "merges",
            "paths",
            "policy",
            "quality",
            "review",
            "runner",
            "workspace",
        ],
    ),
    ("merge-audit", &["analysis", "core", "line-diff", "paths"]),
    (
        "merges",
        &[
            "analysis",
            "api",
            "core",
            "documents",
            "evidence",
            "line-diff",
            "merge-audit",
            "paths",
            "policy",
            "process",
            "snapshot",
            "storage",
            "workspace",
        ],
    ),
    ("paths", &["core"]),
    ("policy", &["core", "evidence", "paths"]),
    (
        "probity",
        &[
            "agent-proof",
            "analysis",
            "api",
            "changes",
            "conformance",
            "contract",
            "core",
            "document-store",
            "documents",
            "evidence",
            "hook",
            "intents",
            "knowledge",
            "ledger",
            "lsp",
            "mcp",
            "merges",
            "paths",
            "policy",
            "quality",
            "review",
            "runner",
            "scopes",
            "snapshot",
            "web",
            "workspace",
        ],
    ),
    ("process", &["core"]),
    (
        "quality",
        &[
            "analysis",
            "api",
            "contract",
            "core",
            "evidence",
            "intents",
            "paths",
            "policy",
            "process",
            "scopes",
            "snapshot",
            "storage",
            "workspace",
        ],
    ),
    (
        "review",
        &[
            "analysis",
            "api",
            "changes",
            "core",
            "document-store",
            "documents",
            "evidence",
            "intents",
            "knowledge",
            "ledger",
            "line-diff",
            "merges",
            "paths",
            "quality",
            "runner",
            "scopes",
            "snapshot",
            "storage",
            "workspace",
        ],
    ),
    (
        "runner",
        &[
            "api",
            "changes",
            "core",
            "evidence",
            "line-diff",
            "paths",
            "policy",
            "process",
            "sandbox",
            "scopes",
            "snapshot",
            "storage",
            "workspace",
        ],
    ),
    ("prose", &["collections"]),
    ("sandbox", &[]),
    ("scopes", &["core", "paths"]),
    ("snapshot", &["core", "paths"]),
    ("storage", &["core"]),
    ("team", &["core", "policy", "snapshot", "storage", "workspace"]),
    ("testkit", &[]),
    (
        "web",
        &[
            "analysis",
            "api",
            "core",
            "documents",
            "evidence",
            "knowledge",
            "ledger",
            "line-diff",
            "merges",
            "paths",
            "quality",
            "review",
            "runner",
            "workspace",
        ],
    ),
    (
        "workspace",
        &[
            "api", "core", "evidence", "intents", "paths", "policy", "process", "scopes", "snapshot",
            "storage",
        ],
    ),
    ("xtask", &[]),
];

/// The crates of the project, each with those that it uses. A crate goes by the name of its directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CrateGraph(BTreeMap<String, BTreeSet<String>>);

impl CrateGraph {
    /// Reads the graph from cargo. Needs neither the network nor a build.
    pub(crate) fn read() -> Result<Self, String> {
        let output = Command::new(env!("CARGO"))
            .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
            .current_dir(root())
            .output()
            .map_err(|error| format!("cargo metadata could not be started: {error}"))?;
        if !output.status.success() {
            return Err(format!("cargo metadata failed: {}", String::from_utf8_lossy(&output.stderr)));
        }
        let metadata = serde_json::from_slice(&output.stdout).map_err(|error| error.to_string())?;
        Self::from_metadata(&metadata).ok_or_else(|| "cargo metadata has an unknown form".into())
    }

    fn from_metadata(metadata: &Value) -> Option<Self> {
        let packages = metadata["packages"].as_array()?;
        let directory = |package: &Value| {
            let manifest = package["manifest_path"].as_str()?.strip_suffix("/Cargo.toml")?;
            Some(manifest.rsplit('/').next()?.to_owned())
        };
        let own: BTreeMap<&str, String> = packages
            .iter()
            .map(|package| Some((package["name"].as_str()?, directory(package)?)))
            .collect::<Option<_>>()?;
        let uses = |package: &Value| {
            // A normal dependency has the kind null, unlike `dev` and `build`.
            let normal = package["dependencies"].as_array()?.iter().filter(|it| it["kind"].is_null());
            Some(normal.filter_map(|it| own.get(it["name"].as_str()?).cloned()).collect())
        };
        let crates = packages.iter().map(|package| Some((directory(package)?, uses(package)?)));
        crates.collect::<Option<_>>().map(Self)
    }

    #[cfg(test)]
    pub(crate) fn new(crates: &[(&str, &[&str])]) -> Self {
        let owned = |uses: &[&str]| uses.iter().map(|&name| name.to_owned()).collect();
        Self(crates.iter().map(|(name, uses)| ((*name).to_owned(), owned(uses))).collect())
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &BTreeSet<String>)> {
        self.0.iter().map(|(name, uses)| (name.as_str(), uses))
    }

    /// Returns a crate and everything it depends on, sorted.
    pub(crate) fn closure(&self, name: &str) -> BTreeSet<String> {
        let mut found = BTreeSet::from([name.to_owned()]);
        let mut open = vec![name.to_owned()];
        while let Some(name) = open.pop() {
            for used in self.0.get(&name).into_iter().flatten() {
                if found.insert(used.clone()) {
                    open.push(used.clone());
                }
            }
        }
        found
    }
}

/// Reports the differences between the graph and [`MAY_USE`].
pub(crate) fn complaints(graph: &CrateGraph) -> Vec<TidyComplaint> {
    differences(graph, MAY_USE)
}

fn differences(graph: &CrateGraph, table: &[(&str, &[&str])]) -> Vec<TidyComplaint> {
    let table: BTreeMap<&str, BTreeSet<&str>> =
        table.iter().map(|(name, uses)| (*name, uses.iter().copied().collect())).collect();
    let mut found = Vec::new();
    for (name, uses) in graph.iter() {
        let Some(allowed) = table.get(name) else {
            found.push(format!("crate `{name}` is not in the table of xtask/src/tidy/crates.rs"));
            continue;
        };
        let uses: BTreeSet<&str> = uses.iter().map(String::as_str).collect();
        found.extend(uses.difference(allowed).map(|used| format!("crate `{name}` must not use `{used}`")));
        found.extend(allowed.difference(&uses).map(|stale| {
            format!("crate `{name}` does not use `{stale}`: take it out of xtask/src/tidy/crates.rs")
        }));
    }
    let gone = table.keys().filter(|name| graph.iter().all(|(known, _)| known != **name));
    found
        .extend(gone.map(|name| format!("there is no crate `{name}`, which xtask/src/tidy/crates.rs lists")));
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_verifier_stands_on_core_and_paths_alone() {
        let graph = CrateGraph::read().expect("a graph");
        let closure: Vec<String> = graph.closure("evidence").into_iter().collect();
        assert_eq!(closure, ["core", "evidence", "paths"]);
    }

    #[test]
    fn an_edge_that_is_not_in_the_table_is_forbidden_and_an_entry_without_an_edge_is_stale() {
        let graph = CrateGraph::new(&[("a", &["b"]), ("b", &[]), ("c", &[])]);
        assert!(differences(&graph, &[("a", &["b"]), ("b", &[]), ("c", &[])]).is_empty());
        assert_eq!(
            differences(&graph, &[("a", &["c"]), ("b", &[]), ("d", &[])]),
            [
                "crate `a` must not use `b`",
                "crate `a` does not use `c`: take it out of xtask/src/tidy/crates.rs",
                "crate `c` is not in the table of xtask/src/tidy/crates.rs",
                "there is no crate `d`, which xtask/src/tidy/crates.rs lists",
            ]
        );
    }

    #[test]
    fn tests_may_use_more() {
        let metadata = json!({"packages": [
            {"name": "x-a", "manifest_path": "/w/crates/a/Cargo.toml", "dependencies": [
                {"name": "x-b", "kind": null}, {"name": "x-c", "kind": "dev"}, {"name": "serde", "kind": null},
            ]},
            {"name": "x-b", "manifest_path": "/w/crates/b/Cargo.toml", "dependencies": []},
            {"name": "x-c", "manifest_path": "/w/crates/c/Cargo.toml", "dependencies": []},
        ]});
        let graph = CrateGraph::from_metadata(&metadata).expect("a graph");
        assert_eq!(graph, CrateGraph::new(&[("a", &["b"]), ("b", &[]), ("c", &[])]));
    }
}
