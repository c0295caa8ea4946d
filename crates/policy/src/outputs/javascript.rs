//! What the build of a JavaScript or TypeScript package writes, where its own files say so: its manifest or the
//! configuration of its compiler names the place, and the project's `.gitignore` names it too.

use super::ignored_names::IgnoredNames;
use super::table::{Ecosystem, NPM_MANIFEST, name_matches};
use super::{
    OutputProposal, ProposalCollector, ReadText, TrackedOutputs, directory_of, exact_pattern, is_kept, join,
};
use probity_paths::RepoPath;
use serde_json::Value;
use std::collections::BTreeSet;

/// Fields of a manifest that name the files which users of the package load.
const ENTRY_FIELDS: [&str; 9] =
    ["main", "module", "types", "typings", "browser", "unpkg", "jsdelivr", "exports", "bin"];

/// Proposes the declarations that `tsc` writes beside its sources.
pub(super) fn propose_declarations(
    ecosystem: &Ecosystem,
    files: &[RepoPath],
    read: ReadText<'_>,
    proposals: &mut ProposalCollector,
) {
    if !IgnoredNames::read(read).anywhere.contains("*.d.ts") {
        return;
    }
    let asks = |text: String| {
        let text: String = text.split_whitespace().collect();
        ["\"declaration\":true", "\"composite\":true"].iter().any(|option| text.contains(option))
    };
    let mut configurations = files.iter().filter(|file| name_matches("tsconfig*.json", file.file_name()));
    let Some(marker) = configurations.find(|file| read(file).is_some_and(asks)) else { return };
    let kept = files.iter().filter(|file| file.as_bytes().ends_with(b".d.ts"));
    let kept: TrackedOutputs = kept.map(|file| (file.as_bytes().to_vec(), file.clone())).collect();
    for (name, kept) in [("*.d.ts", kept.as_slice()), ("*.d.ts.map", &[])] {
        proposals.add_anywhere(ecosystem, format!("**/{name}"), marker, "", kept);
    }
}

/// Proposes the directories with the files that users of a package load, if they are built.
pub(super) fn propose_package_entries(
    ecosystem: &Ecosystem,
    files: &[RepoPath],
    read: ReadText<'_>,
    found: &mut Vec<OutputProposal>,
) {
    let ignored = IgnoredNames::read(read);
    for manifest in files.iter().filter(|file| file.file_name() == NPM_MANIFEST.as_bytes()) {
        let Some(package) = read(manifest).and_then(|text| serde_json::from_str::<Value>(&text).ok()) else {
            continue;
        };
        let mut entries = BTreeSet::new();
        for field in ENTRY_FIELDS {
            add_entry_directories(&package[field], &mut entries);
        }
        let directory = directory_of(manifest);
        for entry in entries.iter().filter(|entry| ignored.contains(entry, directory.is_empty())) {
            let output = join(&directory, entry.as_bytes());
            if let Some(name) = exact_pattern(&output).filter(|_| !is_kept(&output, files)) {
                let pattern = format!("{name}/**");
                found.push(OutputProposal { pattern, ecosystem: ecosystem.name, because: manifest.clone() });
            }
        }
    }
}

/// Collects the first directory of every path in a field, whatever its form.
fn add_entry_directories(field: &Value, found: &mut BTreeSet<String>) {
    match field {
        Value::String(path) => {
            let path = path.strip_prefix("./").unwrap_or(path);
            let directory = path.split_once('/').map(|(directory, _)| directory);
            found.extend(directory.filter(|name| !name.is_empty() && *name != "..").map(str::to_owned));
        }
        Value::Array(parts) => parts.iter().for_each(|part| add_entry_directories(part, found)),
        Value::Object(parts) => parts.values().for_each(|part| add_entry_directories(part, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::super::propose_build_outputs;
    use super::*;
    use probity_paths::Scope;

    fn path(name: &str) -> RepoPath {
        RepoPath::parse(name.as_bytes()).expect("a path")
    }

    /// Returns which of `asked` the proposals for a tree exempt; files with a text can be read.
    fn exempt<'a>(tree: &[(&str, &str)], asked: &[&'a str]) -> Vec<&'a str> {
        let files: Vec<RepoPath> = tree.iter().map(|(name, _)| path(name)).collect();
        let read = |file: &RepoPath| {
            let found = tree.iter().find(|(name, _)| name.as_bytes() == file.as_bytes());
            found.map(|(_, text)| (*text).to_owned())
        };
        let proposed = propose_build_outputs(&files, &read);
        let patterns: Vec<&str> = proposed.iter().map(|proposal| proposal.pattern.as_str()).collect();
        let scope = Scope::parse(&patterns).expect("valid patterns");
        asked.iter().copied().filter(|name| scope.contains(&path(name))).collect()
    }

    #[test]
    fn declarations_beside_sources_are_exempt_where_tsc_writes_them_and_the_project_ignores_them() {
        let asked = ["lib/index.d.ts", "lib/index.d.ts.map", "index.d.ts", "lib/index.ts"];
        let exempt = |configuration: &str, rules: &str| {
            let tree = [
                ("package.json", "{}"),
                ("tsconfig.json", configuration),
                ("lib/index.js", ""),
                ("index.d.ts", ""),
                (".gitignore", rules),
            ];
            exempt(&tree, &asked)
        };
        let configuration = "{ \"compilerOptions\": { \"declaration\" : true } }";
        assert_eq!(
            exempt(configuration, "node_modules/\n*.d.ts\n!/index.d.ts\n"),
            ["lib/index.d.ts", "lib/index.d.ts.map"]
        );
        assert_eq!(exempt(configuration, "node_modules/\n"), Vec::<&str>::new());
        assert_eq!(exempt("{}", "*.d.ts\n"), Vec::<&str>::new());
    }

    #[test]
    fn a_directory_is_exempt_if_the_manifest_loads_from_it_and_the_project_ignores_it() {
        let manifest = r#"{"main": "lib/index.js", "exports": {".": {"import": {"types": "./dist/index.d.ts"}}},
                           "bin": "../x/y", "types": "index.d.ts"}"#;
        let asked = ["dist/index.js", "lib/index.js", "out/index.js", "packages/a/dist/a.js"];
        let tree = |rules| {
            [
                ("package.json", manifest),
                ("packages/a/package.json", manifest),
                (".gitignore", rules),
                ("src/a.ts", ""),
            ]
        };
        assert_eq!(
            exempt(&tree("node_modules\ndist/\nout\n"), &asked),
            ["dist/index.js", "packages/a/dist/a.js"]
        );
        assert_eq!(exempt(&tree("/dist\n"), &asked), ["dist/index.js"]);
        assert_eq!(exempt(&tree("node_modules\n"), &asked), Vec::<&str>::new());
        let kept = [("package.json", manifest), (".gitignore", "lib\n"), ("lib/index.js", "")];
        assert_eq!(exempt(&kept, &asked), Vec::<&str>::new(), "git tracks files there");
    }
}
