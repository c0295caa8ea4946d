//! Suggests a gate the tree can already run: a test target, a test script, a configured test tool.

use probity_paths::RepoPath;
use probity_policy::ReadText;
use serde_json::Value;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SuggestedGate {
    pub id: &'static str,
    pub run: &'static [&'static str],
    /// The evidence for it.
    pub because: &'static str,
}

/// The test script npm writes into a new `package.json`.
const NPM_PLACEHOLDER: &str = "no test specified";

/// Returns the first gate that fits: a Makefile with tests takes precedence over other tools.
pub(super) fn suggest(files: &[RepoPath], read: ReadText<'_>) -> Vec<SuggestedGate> {
    let text = |name: &str| {
        let file = files.iter().find(|file| file.as_bytes() == name.as_bytes())?;
        read(file)
    };
    let has = |name: &str| files.iter().any(|file| file.as_bytes() == name.as_bytes());
    let has_make_target = ["Makefile", "makefile", "GNUmakefile"]
        .iter()
        .filter_map(|name| text(name))
        .any(|makefile| makefile.lines().any(|line| line.starts_with("test:") || line.starts_with("test :")));
    let mut gates = Vec::new();
    let mut add = |run, because| gates.push(SuggestedGate { id: "test", run, because });
    if has_make_target {
        add(&["make", "test"], "the Makefile has a target `test`");
    }
    if text("package.json").is_some_and(|text| has_test_script(&text)) {
        add(&["npm", "test"], "package.json has a script `test`");
    }
    if has("Cargo.toml") {
        add(&["cargo", "test"], "Cargo.toml");
    }
    if has("go.mod") {
        add(&["go", "test", "./..."], "go.mod");
    }
    let configures_pytest = |name: &str, section: &str| text(name).is_some_and(|text| text.contains(section));
    if has("pytest.ini")
        || files.iter().any(|file| file.file_name() == b"conftest.py")
        || configures_pytest("pyproject.toml", "[tool.pytest")
        || configures_pytest("setup.cfg", "[tool:pytest]")
        || configures_pytest("tox.ini", "[pytest]")
    {
        add(&["pytest"], "pytest is configured");
    }
    // All suggestions share one id, so only one can be used.
    gates.truncate(1);
    gates
}

fn has_test_script(package: &str) -> bool {
    let package: Option<Value> = serde_json::from_str(package).ok();
    let script = package.as_ref().and_then(|package| package["scripts"]["test"].as_str());
    script.is_some_and(|script| !script.contains(NPM_PLACEHOLDER))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gates(tree: &[(&str, &str)]) -> Vec<String> {
        let files: Vec<RepoPath> =
            tree.iter().map(|(name, _)| RepoPath::parse(name.as_bytes()).expect("a path")).collect();
        let read = |file: &RepoPath| {
            tree.iter()
                .find(|(name, _)| name.as_bytes() == file.as_bytes())
                .map(|(_, text)| (*text).to_owned())
        };
        suggest(&files, &read).iter().map(|gate| gate.run.join(" ")).collect()
    }

    #[test]
    fn only_what_the_tree_can_run_is_suggested() {
        assert_eq!(gates(&[("Makefile", "all: x\n\ntest: all\n\t./t\n")]), ["make test"]);
        assert_eq!(gates(&[("Makefile", "tests:\n")]), Vec::<String>::new());
        assert_eq!(gates(&[("package.json", r#"{"scripts": {"test": "mocha"}}"#)]), ["npm test"]);
        let placeholder = r#"{"scripts": {"test": "echo \"Error: no test specified\" && exit 1"}}"#;
        assert_eq!(gates(&[("package.json", placeholder)]), Vec::<String>::new());
        assert_eq!(gates(&[("Cargo.toml", "")]), ["cargo test"]);
        assert_eq!(gates(&[("go.mod", "")]), ["go test ./..."]);
        assert_eq!(gates(&[("pyproject.toml", "[tool.pytest.ini_options]\n")]), ["pytest"]);
        assert_eq!(gates(&[("tests/conftest.py", "")]), ["pytest"]);
        assert_eq!(gates(&[("pyproject.toml", "[project]\n")]), Vec::<String>::new());
    }
}
