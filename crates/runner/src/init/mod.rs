//! `probity init`: proposes a policy that fits the tree.

mod gates;
mod ignore_suggestions;
mod sources;

pub use gates::SuggestedGate;

use crate::planning::{kept_files, read_text};
use probity_api::govern::setup::{EcosystemPatterns, InitAnswer};
use probity_changes::uncommitted_work;
use probity_core::ReasonCode;
use probity_paths::{RepoPath, Scope};
use probity_policy::OutputProposal;
use probity_snapshot::Snapshot;
use probity_workspace::observe::content_options;
use probity_workspace::own_files::POLICY_FILE;
use probity_workspace::{ServiceError, Workspace};
use std::fmt::Write;

const MAX_LINE_LETTERS: usize = 100;

#[derive(Debug)]
pub struct ProposedPolicy {
    pub text: String,
    /// The findings by ecosystem; exclusions last.
    pub build_outputs: Vec<OutputProposal>,
    /// Further patterns from the project's ignore rules, for the user to choose from.
    pub ignored: Vec<String>,
    /// Ignore rules left out because they contain characters that are not displayed as written.
    pub n_deceptive_rules: usize,
    /// Gates the tree can run, commented out in the text.
    pub gates: Vec<SuggestedGate>,
    /// A scope that contains sources of this tree.
    pub example_scope: Option<String>,
}

impl ProposedPolicy {
    /// Returns the number of patterns per ecosystem, in order.
    pub fn counts(&self) -> Vec<EcosystemPatterns> {
        let mut counts: Vec<EcosystemPatterns> = Vec::new();
        for proposal in self.build_outputs.iter().filter(|proposal| !is_exclusion(proposal)) {
            match counts.iter_mut().find(|count| count.ecosystem == proposal.ecosystem) {
                Some(count) => count.patterns += 1,
                None => counts.push(EcosystemPatterns { ecosystem: proposal.ecosystem, patterns: 1 }),
            }
        }
        counts
    }

    pub fn answer(&self, workspace: &Workspace, written: bool) -> InitAnswer {
        InitAnswer {
            root: workspace.root.clone().into(),
            text: self.text.clone(),
            written,
            exempt: self.counts(),
            example_scope: self.example_scope.clone(),
            ignore_rules_left_out: self.n_deceptive_rules,
            commit_command: commit_command(workspace).filter(|_| written),
        }
    }
}

fn is_exclusion(proposal: &OutputProposal) -> bool {
    proposal.pattern.starts_with('!')
}

pub fn propose(workspace: &Workspace) -> Result<ProposedPolicy, ServiceError> {
    let snapshot = Snapshot::take(&workspace.root, &content_options(workspace), None)?;
    let files = kept_files(workspace, &snapshot);
    let read = |file: &RepoPath| read_text(workspace, file);
    let build_outputs = probity_policy::propose_build_outputs(&files, &read);
    let patterns: Vec<&str> = build_outputs.iter().map(|proposal| proposal.pattern.as_str()).collect();
    let exempt = Scope::parse(&patterns)?;
    let rules = RepoPath::parse(b".gitignore").ok().and_then(|file| read(&file)).unwrap_or_default();
    let suggested = ignore_suggestions::suggestions(rules.as_bytes(), &exempt, &files);
    let (ignored, n_deceptive_rules) = (suggested.patterns, suggested.n_deceptive);
    let gates = gates::suggest(&files, &read);
    let text = render(&build_outputs, &ignored, &gates);
    let example_scope = sources::example_scope(&files);
    Ok(ProposedPolicy { text, build_outputs, ignored, n_deceptive_rules, gates, example_scope })
}

/// Writes a proposed policy; refuses if there is one already.
pub fn write(workspace: &Workspace, proposed: &ProposedPolicy) -> Result<std::path::PathBuf, ServiceError> {
    let path = workspace.root.join(POLICY_FILE);
    if path.exists() {
        let detail = format!("{} already exists", path.display());
        return Err(ServiceError::refused(ReasonCode::ConfigExists, detail));
    }
    // An ordinary file with ordinary permissions: it belongs to the user, not to Probity.
    std::fs::write(&path, &proposed.text)
        .map_err(ServiceError::system(format!("cannot write {}", path.display())))?;
    Ok(path)
}

/// Returns the command that commits the policy; `None` without git. Shared changes are judged by the committed policy.
pub fn commit_command(workspace: &Workspace) -> Option<String> {
    let policy = RepoPath::parse(POLICY_FILE.as_bytes()).ok()?;
    uncommitted_work::commit_command(workspace, [&policy].into_iter(), "Add the Probity policy")
}

fn render(build_outputs: &[OutputProposal], ignored: &[String], gates: &[SuggestedGate]) -> String {
    let mut text = String::from(
        "# The rules for every Probity run in this tree. Everything here is optional.\n\n[workspace]\n\
         # What builds write: recorded, but not judged. Files that git tracks are never exempt, nor is what a\n\
         # gate executes.\nbuild_outputs = [\n",
    );
    let (exclusions, outputs): (Vec<&OutputProposal>, Vec<&OutputProposal>) =
        build_outputs.iter().partition(|proposal| is_exclusion(proposal));
    for group in outputs.chunk_by(|one, other| one.ecosystem == other.ecosystem) {
        let _ =
            writeln!(text, "    # {}: {}", group[0].ecosystem, comment_text(&group[0].because.to_string()));
        text.push_str(&wrapped_patterns("    ", group.iter().map(|proposal| proposal.pattern.as_str())));
    }
    if !exclusions.is_empty() {
        text.push_str("    # Not these: git keeps files there.\n");
        text.push_str(&wrapped_patterns("    ", exclusions.iter().map(|proposal| proposal.pattern.as_str())));
    }
    if !ignored.is_empty() {
        text.push_str("    # Your .gitignore also names these; uncomment what builds write.\n");
        text.push_str(&wrapped_patterns("    # ", ignored.iter().map(String::as_str)));
    }
    text.push_str(
        "]\n# Also exempt: directories that identify themselves as caches (CACHEDIR.TAG) or virtual environments (pyvenv.cfg).\n\
         recognize_outputs = true\n\
         # No run may touch these, whatever its scope.\nprotected = [\".github/workflows/**\"]\n\n",
    );
    text.push_str("# A gate runs after the command and must pass. Uncomment and adapt.\n");
    if gates.is_empty() {
        text.push_str(
            "# [[gate]]\n# id = \"test\"\n# run = [\"PROGRAM\", \"ARGUMENT\"]\n# timeout = \"10m\"\n",
        );
    }
    for gate in gates {
        let words: Vec<String> = gate.run.iter().map(|word| format!("{word:?}")).collect();
        let _ = write!(
            text,
            "# [[gate]]   # {}\n# id = {:?}\n# run = [{}]\n# timeout = \"10m\"\n",
            gate.because,
            gate.id,
            words.join(", ")
        );
    }
    text
}

/// Removes control characters, so that the text fits a one-line comment.
fn comment_text(name: &str) -> String {
    name.chars().filter(|letter| !letter.is_control()).collect()
}

/// Formats patterns as TOML strings, several per line.
fn wrapped_patterns<'a>(indent: &str, patterns: impl Iterator<Item = &'a str>) -> String {
    let mut text = String::new();
    let mut line = String::new();
    for pattern in patterns {
        let word = format!("{},", serde_json::Value::from(pattern));
        if !line.is_empty() && indent.len() + line.len() + 1 + word.len() > MAX_LINE_LETTERS {
            let _ = writeln!(text, "{indent}{line}");
            line.clear();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(&word);
    }
    let _ = writeln!(text, "{indent}{line}");
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use probity_policy::Policy;
    use std::fs;

    fn proposed(files: &[(&str, &str)]) -> (tempfile::TempDir, Workspace, ProposedPolicy) {
        let dir = tempfile::tempdir().expect("a directory");
        for (name, text) in files {
            let path = dir.path().join(name);
            fs::create_dir_all(path.parent().expect("a parent")).expect("creates");
            fs::write(path, text).expect("writes");
        }
        let workspace = Workspace::find(Some(dir.path()), dir.path()).expect("is found");
        let proposed = propose(&workspace).expect("proposes");
        (dir, workspace, proposed)
    }

    #[test]
    fn what_is_proposed_is_a_policy() {
        let (_dir, workspace, proposed) = proposed(&[("Cargo.toml", "")]);
        let policy = Policy::from_toml(&proposed.text).expect("is valid");
        assert!(
            policy.workspace.build_outputs.as_slice().contains(&b"target/**".to_vec()),
            "{}",
            proposed.text
        );
        assert!(policy.workspace.recognize_outputs);
        write(&workspace, &proposed).expect("writes");
        assert!(write(&workspace, &proposed).is_err(), "a policy must not be overwritten");
    }

    #[test]
    fn what_is_commented_out_is_a_policy_too() {
        let (_dir, _, proposed) = proposed(&[
            ("package.json", r#"{"scripts": {"test": "mocha"}}"#),
            ("lib/a.js", ""),
            (".gitignore", "node_modules\n.env\nbench/graphs/\n*.gz\n"),
            ("odd\"\\/Cargo.toml", ""),
        ]);
        let uncommented = proposed.text.lines().filter_map(|line| {
            let inner = line.trim_start().strip_prefix("# ").unwrap_or(line);
            (inner.starts_with(['"', '[', ']']) || inner.contains(" = ")).then(|| format!("{inner}\n"))
        });
        let text: String = uncommented.collect();
        let policy = Policy::from_toml(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert_eq!(policy.gates.iter().map(|gate| gate.id.as_str()).collect::<Vec<_>>(), ["test"]);
        assert_eq!(proposed.ignored, ["bench/graphs/**", "**/*.gz"]);
        assert_eq!(proposed.example_scope.as_deref(), Some("lib/**"));
    }

    #[test]
    fn a_tree_without_commits_keeps_nothing_in_build_outputs() {
        let (_dir, _, proposed) = proposed(&[("package.json", "{}"), ("node_modules/a/index.js", "")]);
        assert!(
            proposed.text.contains("\"**/node_modules/**\"") && !proposed.text.contains('!'),
            "{}",
            proposed.text
        );
    }
}
