//! Dependencies between files: cycles, coupling, dependents.

use crate::corpus::CorpusFile;
use crate::facts::{SourceRange, count};
use crate::finding::{CodeLocation, Confidence, FindingDraft, FindingFamily, Severity};
use crate::hash;
use crate::imports::{DependencyEdge, EdgeKind, ResolvedImports, SourceTree, resolve};
use crate::language::Language;
use crate::settings::AnalysisSettings;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug)]
pub(crate) struct DependencyGraph {
    /// Sorted, one for each pair of files.
    pub edges: Vec<DependencyEdge>,
    /// Files that need each other to load: the members of each cycle, sorted.
    pub cycles: Vec<Vec<u32>>,
    /// Imports of project files that do not exist: (file, import).
    pub dangling: Vec<(u32, u32)>,
    /// Imports of names that a project file does not have: (file, import, name).
    pub missing_names: Vec<(u32, u32, String)>,
    /// Imports of what is not part of the project: (file, import).
    pub external: Vec<(u32, u32)>,
}

impl DependencyGraph {
    pub(crate) fn of(tree: &SourceTree<'_>) -> Self {
        let ResolvedImports { edges, dangling, missing_names, external } = resolve(tree);
        let load = edges.iter().filter(|edge| edge.kind == EdgeKind::Load).map(|edge| (edge.from, edge.to));
        let cycles = cycles(tree.files.len(), &load.collect::<Vec<_>>());
        Self { edges, cycles, dangling, missing_names, external }
    }

    /// Returns how many files each file needs, not counting parts of its own module.
    pub(crate) fn fan_out(&self, n_files: usize) -> Vec<u32> {
        let mut fan_out = vec![0; n_files];
        for edge in self.edges.iter().filter(|edge| edge.kind != EdgeKind::Part) {
            fan_out[edge.from as usize] += 1;
        }
        fan_out
    }

    pub(crate) fn drafts(&self, files: &[CorpusFile], settings: &AnalysisSettings) -> Vec<FindingDraft> {
        let mut drafts: Vec<FindingDraft> =
            self.cycles.iter().map(|cycle| self.cycle_draft(files, cycle)).collect();
        drafts.extend(self.dangling.iter().map(|&(file, import)| dangling_draft(files, file, import)));
        drafts.extend(
            self.missing_names
                .iter()
                .map(|(file, import, name)| missing_name_draft(&files[*file as usize], *import, name)),
        );
        for (file, n_needed) in files.iter().zip(self.fan_out(files.len())) {
            if n_needed > settings.coupling {
                drafts.push(coupling_draft(file, n_needed));
            }
        }
        drafts
    }

    fn cycle_draft(&self, files: &[CorpusFile], cycle: &[u32]) -> FindingDraft {
        let members: BTreeSet<u32> = cycle.iter().copied().collect();
        let location = |&member: &u32| {
            let file = &files[member as usize];
            let first = self.edges.partition_point(|edge| edge.from < member);
            let own = self.edges[first..].iter().take_while(|edge| edge.from == member);
            let inside =
                own.into_iter().find(|edge| edge.kind == EdgeKind::Load && members.contains(&edge.to));
            let import =
                inside.and_then(|edge| edge.import).map(|import| &file.facts.imports[import as usize]);
            file.location(import.map_or(SourceRange::default(), |import| import.range), "")
        };
        let locations: Vec<CodeLocation> = cycle.iter().map(location).collect();
        let names: Vec<String> = locations.iter().map(|location| location.path.to_string()).collect();
        // Modules of one Rust crate may refer to each other freely: loading does not suffer.
        let is_harmless = cycle.iter().all(|&member| files[member as usize].language == Language::Rust);
        let severity = if is_harmless { Severity::Info } else { Severity::Warning };
        FindingDraft {
            message: format!("{} files need each other: {}", cycle.len(), names.join(", ")),
            content: hash::of_bytes(names.join("\n").as_bytes()),
            value: Some(count(cycle.len())),
            ..FindingDraft::new(FindingFamily::Cycle, severity, names.join("\n"), locations)
        }
    }
}

fn dangling_draft(files: &[CorpusFile], file: u32, import: u32) -> FindingDraft {
    let file = &files[file as usize];
    let import = &file.facts.imports[import as usize];
    let unit = &file.facts.units[import.unit as usize];
    FindingDraft {
        message: format!("`{}` is a part of this project that is not there", import.module),
        content: hash::of_bytes(import.module.as_bytes()),
        ..FindingDraft::new(
            FindingFamily::DanglingImport,
            Severity::Critical,
            format!("{} {}", file.language.name(), import.module),
            vec![file.location(import.range, &unit.name)],
        )
    }
}

fn missing_name_draft(file: &CorpusFile, import: u32, name: &str) -> FindingDraft {
    let import = &file.facts.imports[import as usize];
    let unit = &file.facts.units[import.unit as usize];
    let subject = format!("{} {} {name}", file.language.name(), import.module);
    FindingDraft {
        message: format!("`{}` has no `{name}`", import.module),
        content: hash::of_bytes(subject.as_bytes()),
        ..FindingDraft::new(
            FindingFamily::DanglingImport,
            Severity::Critical,
            subject,
            vec![file.location(import.range, &unit.name)],
        )
    }
}

fn coupling_draft(file: &CorpusFile, n_needed: u32) -> FindingDraft {
    let range = file.unit().map_or(SourceRange::default(), |unit| unit.range);
    FindingDraft {
        message: format!("it depends on {n_needed} other files of the project"),
        confidence: Confidence::Medium,
        value: Some(n_needed),
        ..FindingDraft::new(
            FindingFamily::Coupling,
            Severity::Info,
            String::from_utf8_lossy(file.path.file_name()).into_owned(),
            vec![file.location(range, "")],
        )
    }
}

/// Returns the strongly connected components of more than one node, each sorted, in order of their first members.
///
/// Tarjan's algorithm with an explicit stack, so that long chains of imports cannot overflow the thread's stack.
fn cycles(n_nodes: usize, edges: &[(u32, u32)]) -> Vec<Vec<u32>> {
    let mut search = CycleSearch {
        successors: successors(n_nodes, edges),
        index: vec![0; n_nodes],
        low: vec![0; n_nodes],
        on_stack: vec![false; n_nodes],
        stack: Vec::new(),
        next: 1,
        found: Vec::new(),
    };
    for node in 0..n_nodes {
        if search.index[node] == 0 {
            search.visit(node);
        }
    }
    search.found.sort();
    search.found
}

fn successors(n_nodes: usize, edges: &[(u32, u32)]) -> Vec<Vec<usize>> {
    let mut successors = vec![Vec::new(); n_nodes];
    for &(from, to) in edges {
        successors[from as usize].push(to as usize);
    }
    successors
}

struct CycleSearch {
    successors: Vec<Vec<usize>>,
    /// Discovery order of nodes, from 1; 0 means not yet discovered.
    index: Vec<usize>,
    low: Vec<usize>,
    on_stack: Vec<bool>,
    stack: Vec<usize>,
    next: usize,
    found: Vec<Vec<u32>>,
}

impl CycleSearch {
    fn visit(&mut self, root: usize) {
        // Open nodes, each with its next successor.
        let mut open = vec![(root, 0)];
        self.enter(root);
        while let Some((node, next)) = open.last_mut() {
            let node = *node;
            if let Some(&successor) = self.successors[node].get(*next) {
                *next += 1;
                if self.index[successor] == 0 {
                    self.enter(successor);
                    open.push((successor, 0));
                } else if self.on_stack[successor] {
                    self.low[node] = self.low[node].min(self.index[successor]);
                }
            } else {
                open.pop();
                if let Some(&(above, _)) = open.last() {
                    self.low[above] = self.low[above].min(self.low[node]);
                }
                self.leave(node);
            }
        }
    }

    fn enter(&mut self, node: usize) {
        self.index[node] = self.next;
        self.low[node] = self.next;
        self.next += 1;
        self.stack.push(node);
        self.on_stack[node] = true;
    }

    fn leave(&mut self, node: usize) {
        if self.low[node] != self.index[node] {
            return;
        }
        let mut part = Vec::new();
        while let Some(member) = self.stack.pop() {
            self.on_stack[member] = false;
            part.push(count(member));
            if member == node {
                break;
            }
        }
        if part.len() > 1 {
            part.sort_unstable();
            self.found.push(part);
        }
    }
}

/// Returns the nodes reached from `start` along reversed edges: all of them, and those one step away.
pub(crate) fn dependents(edges: &[(u32, u32)], start: &BTreeSet<u32>) -> (BTreeSet<u32>, BTreeSet<u32>) {
    let mut by_target: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for &(from, to) in edges {
        by_target.entry(to).or_default().push(from);
    }
    let needing = |node: &u32| by_target.get(node).into_iter().flatten().copied();
    let direct: BTreeSet<u32> = start.iter().flat_map(needing).filter(|node| !start.contains(node)).collect();
    let mut reached = direct.clone();
    let mut open: Vec<u32> = direct.iter().copied().collect();
    while let Some(node) = open.pop() {
        for above in needing(&node) {
            if !start.contains(&above) && reached.insert(above) {
                open.push(above);
            }
        }
    }
    (reached, direct)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn finds_each_cycle_once() {
        let edges = [(0, 1), (1, 2), (2, 0), (3, 4), (4, 3), (5, 0), (6, 6)];
        assert_eq!(cycles(7, &edges), [vec![0, 1, 2], vec![3, 4]]);
    }

    #[test]
    fn a_long_chain_needs_no_deep_stack() {
        let n_nodes = 200_000;
        let edges: Vec<(u32, u32)> = (0..n_nodes).map(|node| (node, (node + 1) % n_nodes)).collect();
        assert_eq!(cycles(n_nodes as usize, &edges).len(), 1);
    }

    #[test]
    fn dependents_are_those_who_would_notice() {
        let edges = [(1, 0), (2, 1), (3, 2), (0, 4)];
        let (all, direct) = dependents(&edges, &BTreeSet::from([0]));
        assert_eq!(direct, BTreeSet::from([1]));
        assert_eq!(all, BTreeSet::from([1, 2, 3]));
    }

    proptest! {
        /// Two nodes share a cycle exactly if each reaches the other: checked against a plain search.
        #[test]
        fn agrees_with_reachability(edges in prop::collection::vec((0u32..8, 0u32..8), 0..24)) {
            let found = cycles(8, &edges);
            let reaches = |from: u32| {
                let reversed: Vec<(u32, u32)> = edges.iter().map(|&(a, b)| (b, a)).collect();
                let (mut all, _) = dependents(&reversed, &BTreeSet::from([from]));
                all.insert(from);
                all
            };
            for a in 0..8 {
                for b in 0..a {
                    let together = found.iter().any(|cycle| cycle.contains(&a) && cycle.contains(&b));
                    prop_assert_eq!(together, reaches(a).contains(&b) && reaches(b).contains(&a));
                }
            }
        }
    }
}
