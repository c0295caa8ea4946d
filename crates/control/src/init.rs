//! `probity init`: a policy that fits the tree as it is found.

use crate::observe::content_options;
use crate::planning::kept_files;
use crate::workspace::POLICY_FILE;
use crate::{Fault, Workspace};
use canon::Reason;
use plan::Proposal;
use std::fmt::Write;
use tree::Snapshot;

/// A proposed policy.
#[derive(Debug)]
pub struct Proposed {
    /// The text of the file.
    pub text: String,
    /// What was found in the tree.
    pub build_outputs: Vec<Proposal>,
}

/// Proposes a policy.
pub fn propose(workspace: &Workspace) -> Result<Proposed, Fault> {
    let snapshot = Snapshot::take(&workspace.root, &content_options(workspace), None)?;
    let build_outputs = plan::propose_build_outputs(&kept_files(workspace, &snapshot));
    Ok(Proposed { text: render(&build_outputs), build_outputs })
}

/// Writes a proposed policy, unless there is one.
pub fn write(workspace: &Workspace, proposed: &Proposed) -> Result<std::path::PathBuf, Fault> {
    let path = workspace.root.join(POLICY_FILE);
    if path.exists() {
        let detail = format!("{} is there already", path.display());
        return Err(Fault::refused(Reason::ConfigExists, detail));
    }
    // An ordinary file with ordinary permissions: it is the user's, not ours.
    std::fs::write(&path, &proposed.text)
        .map_err(Fault::system(format!("cannot write {}", path.display())))?;
    Ok(path)
}

fn render(build_outputs: &[Proposal]) -> String {
    let mut text = String::from(
        "# What Probity holds runs in this tree to. Everything here is optional.\n\n[workspace]\n",
    );
    text.push_str("# What builds write: recorded, but no part of the delta.\nbuild_outputs = [\n");
    for proposal in build_outputs {
        let _ = writeln!(text, "    {:?}, # {}", proposal.pattern, proposal.because);
    }
    text.push_str(
        "]\n# No run may touch these, whatever its scope.\nprotected = [\".github/workflows/**\"]\n\n",
    );
    text.push_str(
        "# A gate runs after the command and must pass. Uncomment and adapt.\n\
         # [[gate]]\n# id = \"test\"\n# run = [\"make\", \"test\"]\n# tier = \"T0\"\n# timeout = \"10m\"\n",
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::Policy;
    use std::fs;

    #[test]
    fn what_is_proposed_is_a_policy() {
        let dir = tempfile::tempdir().expect("a directory");
        fs::write(dir.path().join("Cargo.toml"), "").expect("writes");
        let workspace = Workspace::find(Some(dir.path()), dir.path()).expect("is found");
        let proposed = propose(&workspace).expect("proposes");
        let policy = Policy::from_toml(&proposed.text).expect("is valid");
        assert!(
            policy.workspace.build_outputs.as_slice().contains(&b"target/**".to_vec()),
            "{}",
            proposed.text
        );
        write(&workspace, &proposed).expect("writes");
        assert!(write(&workspace, &proposed).is_err(), "a policy must not be overwritten");
    }
}
