//! Analyzes a tree: each file separately and in parallel, then everything across files.

use crate::api::ApiItem;
use crate::corpus::CorpusFile;
use crate::facts::{CodeUnit, FileFacts, FileNote, UnitKind, count};
use crate::finding::{self, FindingDraft};
use crate::graph::DependencyGraph;
use crate::hash;
use crate::health::{Health, HealthDebt};
use crate::imports::{DependencyEdge, SourceTree};
use crate::language::Language;
use crate::reach::ReachedUnits;
use crate::references::{self, FileReference};
use crate::run::{
    AnalysisInput, AnalysisOutput, AnalysisRun, FactsKey, FileDependency, RunFile, RunId, RunIdentity,
    SourceInput, UnitMeasurements,
};
use crate::settings::{ANALYZER, AnalysisSettings};
use crate::{api, clones, coupling, dead_code, design, parse, safeguards, select, severity};
use probity_core::Digest;
use probity_paths::RepoPath;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Analyzes a tree. The result depends neither on the number of threads nor on which facts were known.
pub fn analyze(input: &AnalysisInput<'_>, settings: &AnalysisSettings) -> AnalysisOutput {
    analyze_while_wanted(input, settings, &|| false)
}

/// Asks whether the caller has given up; once it has, the answer stays `true`.
pub type GivenUpCheck<'a> = dyn Fn() -> bool + Sync + 'a;

/// Like [`analyze`], but ends soon after the caller has given up, and returns `None` then.
pub fn analyze_unless(
    input: &AnalysisInput<'_>,
    settings: &AnalysisSettings,
    is_given_up: &GivenUpCheck<'_>,
) -> Option<AnalysisOutput> {
    let output = analyze_while_wanted(input, settings, is_given_up);
    (!is_given_up()).then_some(output)
}

/// Analyzes a tree; the output is incomplete if the caller gave up meanwhile.
fn analyze_while_wanted(
    input: &AnalysisInput<'_>,
    settings: &AnalysisSettings,
    is_given_up: &GivenUpCheck<'_>,
) -> AnalysisOutput {
    let sources: Vec<(&RepoPath, &SourceInput<'_>)> = input.sources.iter().collect();
    let read: Vec<(RunFile, Option<Arc<FileFacts>>)> =
        sources.par_iter().map(|(path, source)| read(path, source, settings)).collect();
    let (files, places) = read.par_iter().enumerate().filter_map(corpus_file).unzip();
    let facts = read.iter().filter_map(|(file, facts)| {
        let key = FactsKey::of(&file.path, file.content, settings)?;
        Some((file.path.clone(), (key, Arc::clone(facts.as_ref()?))))
    });
    let facts = facts.collect();
    let run_files = read.into_iter().map(|(file, _)| file).collect();
    let run = CrossFilePass { input, settings, files, places, is_given_up }.run(run_files);
    AnalysisOutput { run, facts }
}

/// Returns a file that was read, with its index in the run.
fn corpus_file(
    (index, (file, facts)): (usize, &(RunFile, Option<Arc<FileFacts>>)),
) -> Option<(CorpusFile, u32)> {
    let facts = facts.as_ref().filter(|facts| !facts.units.is_empty())?;
    Some((CorpusFile::new(file.path.clone(), file.language?, Arc::clone(facts)), count(index)))
}

/// Reads one file, or uses its known facts if they are consistent.
fn read(
    path: &RepoPath,
    source: &SourceInput<'_>,
    settings: &AnalysisSettings,
) -> (RunFile, Option<Arc<FileFacts>>) {
    let (content, known) = match source {
        SourceInput::Bytes(bytes) => (Digest::of(bytes), None),
        SourceInput::Known { content, facts } => (*content, Some(facts).filter(|facts| facts.is_sound())),
        SourceInput::Skipped { content, .. } => (*content, None),
    };
    let language = Language::of_file_name(path.file_name());
    let facts = match (language, source) {
        (None, _) | (_, SourceInput::Skipped { .. }) => None,
        _ if select::is_vendored(path, settings) => None,
        (Some(_), SourceInput::Known { .. }) => known.map(Arc::clone),
        (Some(language), SourceInput::Bytes(bytes)) => {
            Some(Arc::new(parse::read_facts(language, bytes, settings.max_file_bytes)))
        }
    };
    let notes = match (&facts, source, language) {
        (Some(facts), ..) => facts.notes.clone(),
        (None, SourceInput::Skipped { note, .. }, _) => vec![*note],
        (None, _, None) => vec![FileNote::UnknownLanguage],
        (None, _, Some(_)) if select::is_vendored(path, settings) => vec![FileNote::Generated],
        (None, _, Some(_)) => vec![FileNote::BadFacts],
    };
    let file = RunFile {
        path: path.clone(),
        content,
        language,
        n_lines: facts.as_ref().map_or(0, |facts| facts.n_lines),
        n_tokens: facts.as_ref().map_or(0, |facts| facts.n_tokens),
        notes,
        health_milli: None,
        safeguards: facts.as_ref().map(|facts| safeguards::counts(path, language, facts)).unwrap_or_default(),
    };
    (file, facts)
}

/// The results of an analysis except clones.
struct StructuralResults {
    id: RunId,
    governance: BTreeMap<String, Digest>,
    units: Vec<UnitMeasurements>,
    dependencies: Vec<FileDependency>,
    api: Vec<ApiItem>,
    references: Vec<FileReference>,
    graph: DependencyGraph,
    dead: Vec<dead_code::DeadUnit>,
    reached: ReachedUnits,
    /// For each file its classes, with the number of other classes each names.
    couplings: Vec<Vec<(u32, u32)>>,
    drafts: Vec<FindingDraft>,
}

/// The pass over all files together.
struct CrossFilePass<'a> {
    input: &'a AnalysisInput<'a>,
    settings: &'a AnalysisSettings,
    files: Vec<CorpusFile>,
    /// For each file its index in the run.
    places: Vec<u32>,
    is_given_up: &'a GivenUpCheck<'a>,
}

impl CrossFilePass<'_> {
    fn run(&self, mut run_files: Vec<RunFile>) -> AnalysisRun {
        let (clones, beside) = rayon::join(
            || clones::find(&self.files, self.settings, self.is_given_up),
            || self.structural_results(&run_files),
        );
        let debts = self.debts(&beside, &clones.repeated);
        for (debt, &place) in debts.iter().zip(&self.places) {
            run_files[place as usize].health_milli = Some(debt.file_health());
        }
        let mut drafts: Vec<FindingDraft> = clones.drafts.into_iter().chain(beside.drafts).collect();
        severity::assign(&mut drafts, &self.files, self.settings);
        AnalysisRun {
            id: beside.id,
            analyser: ANALYZER.to_owned(),
            settings: self.settings.clone(),
            files: run_files,
            governance: beside.governance,
            health: if debts.is_empty() {
                Health::of_nothing()
            } else {
                HealthDebt::sum(self.weighed_debts(&debts)).tree_health()
            },
            findings: finding::assign_ids(drafts),
            units: beside.units,
            dependencies: beside.dependencies,
            cycles: beside.graph.cycles.iter().map(|cycle| self.places(cycle)).collect(),
            siblings: clones.siblings.iter().map(|&(a, b)| (self.place(a), self.place(b))).collect(),
            api: beside.api,
            references: beside.references,
            joined: Vec::new(),
        }
    }

    /// Computes everything except the clones, which take as long as all of this together.
    fn structural_results(&self, run_files: &[RunFile]) -> StructuralResults {
        // Sources that were not read exist nevertheless.
        let others = self.input.others.iter().chain(self.input.sources.keys());
        let tree = SourceTree::new(&self.files, &self.input.governance, others);
        let (graph, (dead, reached)) = rayon::join(
            || DependencyGraph::of(&tree),
            || rayon::join(|| dead_code::find(&self.files), || ReachedUnits::of(&self.files)),
        );
        let couplings = coupling::of(&self.files, &graph.edges);
        let mut drafts: Vec<FindingDraft> =
            self.files.par_iter().flat_map_iter(|file| design::drafts(file, self.settings)).collect();
        drafts.extend(graph.drafts(&self.files, self.settings));
        drafts.extend(dead_code::drafts(&self.files, &dead));
        for (file, classes) in self.files.iter().zip(&couplings) {
            drafts.extend(design::couplings(file, classes, self.settings));
        }
        let governance: Vec<(&RepoPath, Digest)> =
            self.input.governance.iter().map(|(path, bytes)| (path, Digest::of(bytes))).collect();
        let identity = RunIdentity {
            sources: run_files.iter().map(|file| (&file.path, file.content)).collect(),
            governance: governance.clone(),
            others: self.input.others.iter().collect(),
        };
        StructuralResults {
            id: identity.id(self.settings),
            governance: governance.into_iter().map(|(path, content)| (path.to_string(), content)).collect(),
            units: self.measured(&couplings),
            dependencies: self.dependencies(&graph.edges),
            api: self.files.par_iter().flat_map_iter(api::of).collect(),
            references: self.references(&graph.external),
            graph,
            dead,
            reached,
            couplings,
            drafts,
        }
    }

    fn references(&self, external: &[(u32, u32)]) -> Vec<FileReference> {
        let mut references = references::find(&self.files, external);
        for reference in &mut references {
            reference.file = self.place(reference.file);
        }
        references
    }

    /// Returns the debts of the files that the health of the tree is made of: all but tests, if there are others.
    fn weighed_debts<'a>(&'a self, debts: &'a [HealthDebt]) -> impl Iterator<Item = &'a HealthDebt> {
        let are_all_tests = self.files.iter().all(|file| file.is_test);
        let weighed = self.files.iter().zip(debts).filter(move |(file, _)| are_all_tests || !file.is_test);
        weighed.map(|(_, debt)| debt)
    }

    fn debts(&self, beside: &StructuralResults, repeated: &[Vec<bool>]) -> Vec<HealthDebt> {
        let StructuralResults { graph, dead, couplings, reached, .. } = beside;
        let each = self.files.par_iter().zip(repeated).enumerate();
        let mut debts: Vec<HealthDebt> = each
            .map(|(index, (file, repeated))| {
                HealthDebt::of(file, repeated, reached.in_file(index), self.settings)
            })
            .collect();
        for dead in dead {
            let n_tokens = self.files[dead.file as usize].facts.units[dead.unit as usize].n_tokens;
            debts[dead.file as usize].add_dead(n_tokens);
        }
        for &(file, _) in &graph.dangling {
            debts[file as usize].add_dangling();
        }
        for &file in graph.cycles.iter().flatten() {
            debts[file as usize].add_cycle(self.files[file as usize].language);
        }
        for (debt, n_needed) in debts.iter_mut().zip(graph.fan_out(self.files.len())) {
            debt.add_coupling(n_needed, self.settings.coupling);
        }
        for (debt, classes) in debts.iter_mut().zip(couplings) {
            for &(_, n_named) in classes {
                debt.add_coupling(n_named, self.settings.class_coupling);
            }
        }
        debts
    }

    fn place(&self, file: u32) -> u32 {
        self.places[file as usize]
    }

    fn places(&self, files: &[u32]) -> Vec<u32> {
        files.iter().map(|&file| self.place(file)).collect()
    }

    fn measured(&self, couplings: &[Vec<(u32, u32)>]) -> Vec<UnitMeasurements> {
        let files = self.files.par_iter().zip(&self.places).zip(couplings);
        let measured = files.flat_map_iter(|((file, &place), classes)| {
            let mut measured: Vec<UnitMeasurements> =
                file.facts.units.iter().map(|unit| measured(place, unit)).collect();
            for &(class, n_named) in classes {
                measured[class as usize].coupling = Some(n_named);
            }
            measured
        });
        measured.collect()
    }

    /// Returns the reason for each edge: the top-level names of the target that the source file uses.
    fn dependencies(&self, edges: &[DependencyEdge]) -> Vec<FileDependency> {
        let tops: Vec<Vec<(u64, &str)>> = self.files.par_iter().map(top_level_names).collect();
        // Edges are sorted by the dependent file.
        let needed_by: Vec<&[DependencyEdge]> = edges.chunk_by(|a, b| a.from == b.from).collect();
        let dependencies = needed_by.par_iter().flat_map_iter(|edges| {
            let mut used = self.files[edges[0].from as usize].symbols.clone();
            used.sort_unstable();
            let tops = &tops;
            edges.iter().map(move |edge| {
                let top = tops[edge.to as usize].iter();
                let is_used = |(symbol, _): &&(u64, &str)| used.binary_search(symbol).is_ok();
                let names = top.filter(is_used).map(|&(_, name)| name.to_owned());
                FileDependency {
                    from: self.place(edge.from),
                    to: self.place(edge.to),
                    names: names.collect(),
                }
            })
        });
        dependencies.collect()
    }
}

/// Returns the top-level names that a file defines, sorted and unique, with their fingerprints.
fn top_level_names(file: &CorpusFile) -> Vec<(u64, &str)> {
    let top = file.facts.units.iter().filter(|unit| unit.parent == Some(0) && unit.kind != UnitKind::Lambda);
    let mut names: Vec<&str> = top.map(|unit| unit.name.rsplit('.').next().unwrap_or_default()).collect();
    names.sort_unstable();
    names.dedup();
    names.into_iter().map(|name| (hash::of_bytes(name.as_bytes()), name)).collect()
}

fn measured(file: u32, unit: &CodeUnit) -> UnitMeasurements {
    UnitMeasurements {
        file,
        symbol: unit.name.clone(),
        kind: unit.kind,
        access: unit.access,
        cyclomatic: unit.cyclomatic,
        cognitive: unit.cognitive,
        nesting: unit.nesting,
        line: unit.range.start_line,
        lines: unit.range.n_lines(),
        parameters: count(unit.parameters.len()),
        lcom4: unit.lcom4,
        coupling: None,
        content: format!("{:016x}", unit.exact),
    }
}
