//! Build outputs: proposals for `build_outputs`, recognition by marker files, and judgment by name.
//!
//! Conservative by design, because an exemption hides changes. A pattern is proposed only if its ecosystem is
//! in the tree, only for the tool's default name, and never for a directory in which git tracks files. Only
//! [`table`] knows the tools.

mod ignored_names;
mod javascript;
mod look;
mod recognize;
mod table;

pub use look::{
    ENTRY_POINTS_FILE, OutputLook, code_in_output, declares_plugins, is_entry_points_file,
    is_interpreter_link, is_interpreter_name, is_module_of_environment, output_root,
};
pub use recognize::{MarkedDirectory, is_valid_mark, recognize_outputs};

use probity_paths::RepoPath;
use std::collections::BTreeSet;
pub(crate) use table::Ecosystem;
use table::{
    AdjacentOutputs, BuildOutput, ECOSYSTEMS, GO_MODULE_FILE, NPM_MANIFEST, OutputPlacement, name_matches,
};

/// A name with more tracked directories than this is not an output in this tree.
const MAX_EXCLUSIONS: usize = 10;

/// A proposed pattern for `build_outputs`, and the file that supports it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputProposal {
    pub pattern: String,
    pub ecosystem: &'static str,
    /// The file that makes a tool write there; for an exclusion, the tracked file.
    pub because: RepoPath,
}

/// Reads the text of a file in the tree, if possible.
pub type ReadText<'a> = &'a dyn Fn(&RepoPath) -> Option<String>;

/// Proposes `build_outputs` for a tree, ecosystem by ecosystem. `files` are those that the tree is meant to
/// keep (the tracked ones, if there is version control).
pub fn propose_build_outputs(files: &[RepoPath], read: ReadText<'_>) -> Vec<OutputProposal> {
    let mut proposals = ProposalCollector::default();
    for ecosystem in ECOSYSTEMS {
        // Chooses the first marker of the row that exists, and the topmost of several.
        let rank = |file: &RepoPath| {
            let row = ecosystem.markers.iter().position(|marker| name_matches(marker, file.file_name()))?;
            Some((row, file.segments().count()))
        };
        let ranked = files.iter().filter_map(|file| Some((rank(file)?, file)));
        let marker = ranked.min_by_key(|(rank, _)| *rank).map(|(_, file)| file);
        let Some(marker) = marker else { continue };
        for BuildOutput { name: directory, .. } in ecosystem.directories {
            let kept = kept_below(files, |above| Ecosystem::is_named(above, directory));
            let pattern = format!("**/{directory}/**");
            proposals.add_anywhere(ecosystem, pattern, marker, "/**", &kept);
        }
        for BuildOutput { name, .. } in ecosystem.files {
            let kept = files.iter().filter(|file| Ecosystem::is_named(file.as_bytes(), name));
            let kept: TrackedOutputs = kept.map(|file| (file.as_bytes().to_vec(), file.clone())).collect();
            proposals.add_anywhere(ecosystem, format!("**/{name}"), marker, "", &kept);
        }
        for beside in ecosystem.beside {
            propose_beside(ecosystem, beside, files, read, &mut proposals.found);
        }
        ignored_names::propose_lock_files(ecosystem, marker, files, read, &mut proposals.found);
        if ecosystem.markers.contains(&NPM_MANIFEST) {
            javascript::propose_declarations(ecosystem, files, read, &mut proposals);
            javascript::propose_package_entries(ecosystem, files, read, &mut proposals.found);
        }
        if ecosystem.markers.contains(&GO_MODULE_FILE) {
            propose_go_programs(ecosystem, files, read, &mut proposals.found);
        }
    }
    let mut seen = BTreeSet::new();
    // The last matching pattern decides, so exclusions come after the patterns they restrict.
    let all = proposals.found.into_iter().chain(proposals.exclusions);
    all.filter(|proposal| seen.insert(proposal.pattern.clone())).collect()
}

/// Tracked directories or files with a name of the table, each with a file that proves it.
type TrackedOutputs = Vec<(Vec<u8>, RepoPath)>;

#[derive(Default)]
struct ProposalCollector {
    found: Vec<OutputProposal>,
    exclusions: Vec<OutputProposal>,
}

impl ProposalCollector {
    /// Adds a pattern for what a tool writes wherever it runs, with exclusions (ending in `end`) for tracked files.
    fn add_anywhere(
        &mut self,
        ecosystem: &Ecosystem,
        pattern: String,
        marker: &RepoPath,
        end: &str,
        kept: &[(Vec<u8>, RepoPath)],
    ) {
        let proposal = |pattern, because: &RepoPath| OutputProposal {
            pattern,
            ecosystem: ecosystem.name,
            because: because.clone(),
        };
        let excluded: Vec<OutputProposal> = kept
            .iter()
            .filter_map(|(place, file)| Some(proposal(format!("!{}{end}", exact_pattern(place)?), file)))
            .collect();
        // A path that no pattern can express could not be excluded again.
        if kept.len() <= MAX_EXCLUSIONS && excluded.len() == kept.len() {
            self.found.push(proposal(pattern, marker));
            self.exclusions.extend(excluded);
        }
    }
}

/// Returns the topmost directories for which `is_output` holds and that contain tracked files.
fn kept_below(files: &[RepoPath], is_output: impl Fn(&[u8]) -> bool) -> TrackedOutputs {
    let mut kept = TrackedOutputs::new();
    for file in files {
        let above = file.ancestors_and_self().filter(|above| above.len() < file.as_bytes().len());
        if let Some(directory) = above.into_iter().find(|above| is_output(above))
            && !kept.iter().any(|(known, _)| known == directory)
        {
            kept.push((directory.to_vec(), file.clone()));
        }
    }
    kept
}

fn propose_beside(
    ecosystem: &Ecosystem,
    beside: &AdjacentOutputs,
    files: &[RepoPath],
    read: ReadText<'_>,
    found: &mut Vec<OutputProposal>,
) {
    for (directory, file) in directories_with(beside, files, read) {
        for output in beside.directories {
            let output = join(&directory, output.name.as_bytes());
            if let Some(name) = exact_pattern(&output).filter(|_| !is_kept(&output, files)) {
                let pattern = format!("{name}/**");
                found.push(OutputProposal { pattern, ecosystem: ecosystem.name, because: file.clone() });
            }
        }
    }
}

/// Returns the directories (empty at the root) that contain a marker, each with its first marker.
fn directories_with(
    beside: &AdjacentOutputs,
    files: &[RepoPath],
    read: ReadText<'_>,
) -> Vec<(Vec<u8>, RepoPath)> {
    let mut holders: Vec<(Vec<u8>, RepoPath)> = Vec::new();
    for file in files.iter().filter(|file| is_marker(beside.markers, file)) {
        let directory = directory_of(file);
        if !holders.iter().any(|(known, _)| *known == directory) {
            holders.push((directory, file.clone()));
        }
    }
    if beside.place == OutputPlacement::CargoWorkspace {
        let all: Vec<Vec<u8>> = holders.iter().map(|(directory, _)| directory.clone()).collect();
        holders.retain(|(directory, file)| {
            let is_topmost = !all.iter().any(|other| is_below(directory, other));
            is_topmost || read(file).is_some_and(|text| declares_workspace(&text))
        });
    }
    holders
}

/// Returns true if a `Cargo.toml` is the root of a workspace, and therefore has its own `target`.
fn declares_workspace(manifest: &str) -> bool {
    manifest.lines().any(|line| {
        let line = line.trim_start();
        line.starts_with("[workspace]") || line.starts_with("[workspace.")
    })
}

/// Proposes the programs that `go build` leaves in its working directory: named after the directory of
/// `main.go`, or after the module.
fn propose_go_programs(
    ecosystem: &Ecosystem,
    files: &[RepoPath],
    read: ReadText<'_>,
    found: &mut Vec<OutputProposal>,
) {
    for module in files.iter().filter(|file| file.file_name() == GO_MODULE_FILE.as_bytes()) {
        let root = directory_of(module);
        for main in files.iter().filter(|file| file.file_name() == b"main.go") {
            let directory = directory_of(main);
            if directory != root && !is_below(&directory, &root) {
                continue;
            }
            let name = if directory == root {
                read(module).and_then(|text| go_module_name(&text)).map(String::into_bytes)
            } else {
                directory.rsplit(|&byte| byte == b'/').next().map(<[u8]>::to_vec)
            };
            let Some(name) = name else { continue };
            for place in BTreeSet::from([&root, &directory]) {
                let program = join(place, &name);
                if let Some(pattern) = exact_pattern(&program).filter(|_| !is_kept(&program, files)) {
                    found.push(OutputProposal { pattern, ecosystem: ecosystem.name, because: main.clone() });
                }
            }
        }
    }
}

/// Returns the last segment of a module path without its version: `shop` for `example.org/shop/v2`.
fn go_module_name(text: &str) -> Option<String> {
    let module = text.lines().find_map(|line| line.trim().strip_prefix("module "))?;
    let mut names = module.trim().trim_matches('"').rsplit('/');
    let is_version = |name: &str| {
        name.strip_prefix('v')
            .is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|it| it.is_ascii_digit()))
    };
    names.find(|name| !is_version(name)).filter(|name| !name.is_empty()).map(str::to_owned)
}

fn is_marker(markers: &[&str], file: &RepoPath) -> bool {
    markers.iter().any(|marker| name_matches(marker, file.file_name()))
}

fn directory_of(file: &RepoPath) -> Vec<u8> {
    file.parent().map_or_else(Vec::new, |parent| parent.as_bytes().to_vec())
}

fn is_below(directory: &[u8], other: &[u8]) -> bool {
    match directory.strip_prefix(other) {
        Some(rest) => !rest.is_empty() && (other.is_empty() || rest[0] == b'/'),
        None => false,
    }
}

fn join(directory: &[u8], name: &[u8]) -> Vec<u8> {
    if directory.is_empty() { name.to_vec() } else { [directory, name].join(&b'/') }
}

fn is_kept(place: &[u8], files: &[RepoPath]) -> bool {
    files.iter().any(|file| file.is_covered_by(place))
}

/// Returns the pattern that matches exactly this path, escaping special characters. `None` if the path is not
/// UTF-8 and so cannot be in `probity.toml`, or if it begins with `!`, which cannot be escaped.
fn exact_pattern(path: &[u8]) -> Option<String> {
    let name = std::str::from_utf8(path).ok().filter(|name| !name.starts_with('!'))?;
    let mut pattern = String::new();
    for letter in name.chars() {
        match letter {
            '*' | '?' | '[' => pattern.extend(['[', letter, ']']),
            _ => pattern.push(letter),
        }
    }
    Some(pattern)
}

#[cfg(test)]
mod tests {
    use super::*;
    use probity_paths::Scope;

    fn files(names: &[&str]) -> Vec<RepoPath> {
        names.iter().map(|name| RepoPath::parse(name.as_bytes()).expect("a path")).collect()
    }

    fn proposals(names: &[&str]) -> Vec<OutputProposal> {
        propose_build_outputs(&files(names), &|_| None)
    }

    fn patterns(names: &[&str]) -> Vec<String> {
        proposals(names).into_iter().map(|proposal| proposal.pattern).collect()
    }

    /// Returns which of these paths the proposals for a tree exempt.
    fn exempt<'a>(names: &[&str], asked: &[&'a str]) -> Vec<&'a str> {
        let scope = Scope::parse(&patterns(names)).expect("valid patterns");
        asked.iter().copied().filter(|name| scope.contains(&files(&[name])[0])).collect()
    }

    #[test]
    fn what_each_ecosystem_writes_is_exempt_in_its_tree_and_nowhere_else() {
        for (marker, outputs) in [
            (
                "pyproject.toml",
                &[
                    ".venv/bin/python",
                    "src/a/__pycache__/b.pyc",
                    ".pytest_cache/README.md",
                    ".mypy_cache/3.12/a.json",
                    ".ruff_cache/CACHEDIR.TAG",
                    "src/a.egg-info/PKG-INFO",
                    "dist/a-1.whl",
                    "build/lib/a.py",
                    ".coverage",
                    ".coverage.host.123.456",
                    "htmlcov/index.html",
                ][..],
            ),
            (
                "package.json",
                &[
                    "node_modules/a/index.js",
                    ".nyc_output/x.json",
                    "coverage/lcov.info",
                    "a.tsbuildinfo",
                    ".next/x",
                ],
            ),
            ("Cargo.toml", &["target/debug/x", "default_1_2_0_3.profraw"]),
            ("go.mod", &["shop.test", "a/b.test", "coverage.out"]),
            ("pom.xml", &["target/classes/A.class"]),
            ("build.gradle.kts", &["build/x", ".gradle/x"]),
            ("App.csproj", &["bin/x", "obj/x"]),
            ("Gemfile", &["vendor/bundle/x", "coverage/x"]),
            ("composer.json", &["vendor/autoload.php", ".phpunit.result.cache"]),
            ("mix.exs", &["_build/x", "deps/x"]),
            ("Package.swift", &[".build/x"]),
            ("build.zig", &["zig-out/x", ".zig-cache/x"]),
        ] {
            assert_eq!(exempt(&[marker], outputs), outputs, "{marker}");
            assert_eq!(exempt(&["README.md"], outputs), Vec::<&str>::new(), "{marker}");
        }
    }

    #[test]
    fn sources_with_ambiguous_names_are_not_exempt() {
        let sources =
            ["src/dist/a.py", "web/build/a.js", "target/a.rs", "env/a.py", "coverage/a.py", ".coveragerc"];
        assert_eq!(exempt(&["src/a.py", "go.mod"], &sources), Vec::<&str>::new());
    }

    #[test]
    fn a_cargo_workspace_builds_at_its_top_and_a_separate_one_in_its_own() {
        let outputs = |names: &[&str], separate: &str| -> Vec<String> {
            let read = |file: &RepoPath| {
                (file.as_bytes() == separate.as_bytes()).then(|| "[package]\n[workspace]\n".to_owned())
            };
            let all =
                propose_build_outputs(&files(names), &read).into_iter().map(|proposal| proposal.pattern);
            all.filter(|pattern| pattern.ends_with("target/**")).collect()
        };
        assert_eq!(outputs(&["Cargo.toml", "crates/a/Cargo.toml"], ""), ["target/**"]);
        assert_eq!(
            outputs(&["a/Cargo.toml", "ab/Cargo.toml", "a/b/Cargo.toml"], ""),
            ["a/target/**", "ab/target/**"]
        );
        assert_eq!(
            outputs(&["Cargo.toml", "fuzz/Cargo.toml"], "fuzz/Cargo.toml"),
            ["target/**", "fuzz/target/**"]
        );
    }

    #[test]
    fn a_go_program_is_named_after_its_directory_or_its_module() {
        let read = |_: &RepoPath| Some("// shop\nmodule example.org/shop/v2\n\ngo 1.22\n".to_owned());
        let found = propose_build_outputs(&files(&["go.mod", "main.go", "cmd/till/main.go"]), &read);
        let programs: Vec<_> =
            found.iter().map(|it| it.pattern.as_str()).filter(|pattern| !pattern.starts_with("**")).collect();
        assert_eq!(programs, ["shop", "till", "cmd/till/till"]);
        let kept = propose_build_outputs(&files(&["go.mod", "cmd/till/main.go", "till/till.go"]), &read);
        assert!(!kept.iter().any(|it| it.pattern == "till"), "git keeps a directory of that name");
    }

    #[test]
    fn says_which_file_and_which_ecosystem_speak_for_it() {
        let found = proposals(&["App/App.csproj"]);
        assert_eq!((found[0].pattern.as_str(), found[0].ecosystem), ("App/bin/**", ".NET"));
        assert_eq!(found[0].because, files(&["App/App.csproj"])[0]);
    }

    #[test]
    fn what_git_keeps_is_never_exempt() {
        assert_eq!(exempt(&["build.gradle", "build/rules.txt"], &["build/x", ".gradle/x"]), [".gradle/x"]);
        let tree = ["package.json", "test/fixtures/node_modules/a/index.js"];
        let asked = ["node_modules/a.js", "test/fixtures/node_modules/b.js", "test/node_modules/c.js"];
        assert_eq!(exempt(&tree, &asked), ["node_modules/a.js", "test/node_modules/c.js"]);
        assert_eq!(exempt(&["a.py", "data/.coverage"], &[".coverage", "data/.coverage"]), [".coverage"]);
        assert_eq!(patterns(&["README.md"]), Vec::<String>::new());
    }

    #[test]
    fn a_name_that_git_keeps_in_many_places_is_no_output() {
        let kept: Vec<String> = (0..=MAX_EXCLUSIONS).map(|n| format!("p{n}/node_modules/a.js")).collect();
        let names: Vec<&str> = kept.iter().map(String::as_str).chain(["package.json"]).collect();
        assert!(!patterns(&names).iter().any(|pattern| pattern.contains("node_modules")));
    }

    #[test]
    fn strange_directory_names_are_matched_as_they_are() {
        for name in ["a[x]*?", "a[b", "a\\b", " a "] {
            let found = patterns(&[&format!("{name}/Cargo.toml")]);
            let scope = Scope::parse(&found).expect("valid patterns");
            assert!(scope.contains(&files(&[&format!("{name}/target/debug/x")])[0]), "{name}");
            assert!(!scope.contains(&files(&["x/target/debug/x"])[0]), "{name}");
        }
        assert!(!patterns(&["!x/Cargo.toml"]).iter().any(|pattern| pattern.contains("target")));
    }
}
