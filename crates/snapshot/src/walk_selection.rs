//! The part of a tree that a walk looks at: some names, and everything below some of them.

use probity_paths::RepoPath;
use std::collections::BTreeMap;

/// The names of one directory. `None`: everything below the name; a number: the names listed there.
pub(crate) type SelectedNames = BTreeMap<Box<[u8]>, Option<usize>>;

/// Names to look at, as a tree in a list because a tree of directories may be deep. The first item is the root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WalkSelection {
    nodes: Vec<SelectedNames>,
}

impl WalkSelection {
    /// Selects `paths` and everything below them.
    pub fn of_paths<'a>(paths: impl IntoIterator<Item = &'a RepoPath>) -> Self {
        let mut nodes = vec![SelectedNames::new()];
        for path in paths {
            let mut at = 0;
            let mut names = path.segments().peekable();
            while let Some(name) = names.next() {
                let next = nodes.len();
                let is_last = names.peek().is_none();
                let child = nodes[at].entry(name.into()).or_insert((!is_last).then_some(next));
                if is_last {
                    *child = None;
                }
                // Something above it is selected as a whole.
                let Some(child) = *child else { break };
                if child == next {
                    nodes.push(SelectedNames::new());
                }
                at = child;
            }
        }
        Self { nodes }
    }

    pub(crate) fn of_nodes(nodes: Vec<SelectedNames>) -> Self {
        Self { nodes }
    }

    /// The names of a directory of the selection.
    pub(crate) fn names(&self, node: usize) -> &SelectedNames {
        &self.nodes[node]
    }
}
