//! Finds what a change removed although something still refers to it.
//!
//! The earlier run knows every declaration, the later one every reference that nothing in the tree answers
//! ([`FileReference`]). A reference dangles if the earlier run declared what it names where the file could reach it:
//! in the file itself, in a file that it depended on by that name, or in its package. A library that happens to
//! have the same name is no reason to complain, so names that every program of the language has are left out.

use crate::facts::{AccessLevel, FileNote, SourceRange, UnitKind};
use crate::finding::{CodeLocation, Confidence, Finding, FindingFamily, FindingId, Severity};
use crate::finding_matcher::MovedFiles;
use crate::language::Language;
use crate::references::{FileReference, ReferenceKind, class_of_path, family};
use crate::regression_cause::FindingRegression;
use crate::run::AnalysisRun;
use probity_core::Digest;
use probity_paths::RepoPath;
use std::collections::{BTreeMap, BTreeSet};

pub(crate) fn find(before: &AnalysisRun, after: &AnalysisRun, moves: &MovedFiles) -> Vec<FindingRegression> {
    let candidates = candidates(before, after, moves);
    if candidates.is_empty() {
        return Vec::new();
    }
    let removed = RemovedDeclarations::new(before, after, moves, &candidates);
    candidates.iter().filter_map(|candidate| removed.regression(candidate)).collect()
}

/// A reference of the later run that the earlier one does not have in the same file.
struct ReferenceCandidate<'a> {
    reference: &'a FileReference,
    path: &'a RepoPath,
    language: Language,
    /// The file in the earlier run.
    old_file: Option<u32>,
    is_changed: bool,
}

impl<'a> ReferenceCandidate<'a> {
    /// Returns the name that is looked for: of an imported path its class.
    fn name(&self) -> &'a str {
        match (self.reference.kind, self.language) {
            (ReferenceKind::Name, Language::Java | Language::Kotlin | Language::Php) => {
                class_of_path(self.language, &self.reference.name)
            }
            _ => &self.reference.name,
        }
    }
}

fn candidates<'a>(
    before: &'a AnalysisRun,
    after: &'a AnalysisRun,
    moves: &'a MovedFiles,
) -> Vec<ReferenceCandidate<'a>> {
    let old_files: BTreeMap<&RepoPath, u32> =
        before.files.iter().zip(0..).map(|(file, index)| (moves.apply(&file.path), index)).collect();
    let old: BTreeMap<u32, &[FileReference]> = chunks(&before.references);
    let mut found = Vec::new();
    for (file, references) in chunks(&after.references) {
        let run_file = &after.files[file as usize];
        let Some(language) = run_file.language else { continue };
        let old_file = old_files.get(&run_file.path).copied();
        let known = old_file.and_then(|file| old.get(&file)).map_or(&[][..], |known| *known);
        let is_known =
            |new: &FileReference| known.iter().any(|old| (old.kind, &old.name) == (new.kind, &new.name));
        let is_changed = old_file.is_none_or(|old| before.files[old as usize].content != run_file.content);
        for reference in references {
            if !reference.kind.is_declaration()
                && !is_builtin(language, &reference.name)
                && !is_known(reference)
            {
                found.push(ReferenceCandidate {
                    reference,
                    path: &run_file.path,
                    language,
                    old_file,
                    is_changed,
                });
            }
        }
    }
    found
}

/// Splits references, which are sorted by file, by file.
fn chunks(references: &[FileReference]) -> BTreeMap<u32, &[FileReference]> {
    references.chunk_by(|one, other| one.file == other.file).map(|chunk| (chunk[0].file, chunk)).collect()
}

struct RemovedDeclarations<'a> {
    before: &'a AnalysisRun,
    after: &'a AnalysisRun,
    moves: &'a MovedFiles,
    /// For names that are candidates: the earlier files that declare them at the top level or in a class, and
    /// whether other files can use them.
    declared: BTreeMap<&'a str, Vec<(u32, bool)>>,
    /// Later files that cannot be read completely, so that they may declare anything.
    unreadable: BTreeSet<&'a RepoPath>,
    /// Earlier files that are gone, without those that moved.
    gone: Vec<u32>,
    /// Earlier namespaces that no later file declares: (namespace, file).
    gone_packages: Vec<(&'a str, u32)>,
}

impl<'a> RemovedDeclarations<'a> {
    fn new(
        before: &'a AnalysisRun,
        after: &'a AnalysisRun,
        moves: &'a MovedFiles,
        candidates: &[ReferenceCandidate<'a>],
    ) -> Self {
        let wanted: BTreeSet<&str> = candidates.iter().map(ReferenceCandidate::name).collect();
        let callables: BTreeSet<(u32, &str)> = before
            .units
            .iter()
            .filter(|unit| unit.kind.is_callable())
            .map(|unit| (unit.file, unit.symbol.as_str()))
            .collect();
        let mut declared: BTreeMap<&str, Vec<(u32, bool)>> = BTreeMap::new();
        for unit in &before.units {
            let (around, name) = unit.symbol.rsplit_once('.').unwrap_or(("", &unit.symbol));
            let is_declaration = matches!(unit.kind, UnitKind::Function | UnitKind::Class);
            // What a callable declares is its own affair.
            if is_declaration && wanted.contains(name) && !callables.contains(&(unit.file, around)) {
                let is_public = unit.access == AccessLevel::Public;
                declared.entry(name).or_default().push((unit.file, is_public));
            }
        }
        for constant in before.references.iter().filter(|it| it.kind == ReferenceKind::Constant) {
            if wanted.contains(constant.name.as_str()) {
                declared.entry(&constant.name).or_default().push((constant.file, true));
            }
        }
        let now: BTreeSet<&RepoPath> = after.files.iter().map(|file| &file.path).collect();
        let gone = (0..).zip(&before.files).filter(|(_, file)| !now.contains(&file.path));
        let packages = |run: &'a AnalysisRun| {
            run.references.iter().filter(|reference| reference.kind == ReferenceKind::Package)
        };
        let left: BTreeSet<&str> = packages(after).map(|package| package.name.as_str()).collect();
        let is_left = |name: &str| {
            let below = format!("{name}.");
            left.contains(name) || left.iter().any(|other| other.starts_with(&below))
        };
        Self {
            before,
            after,
            moves,
            declared,
            unreadable: after
                .files
                .iter()
                .filter(|file| file.notes.contains(&FileNote::SyntaxErrors))
                .map(|file| &file.path)
                .collect(),
            gone: gone.map(|(index, _)| index).collect(),
            gone_packages: packages(before)
                .filter(|package| !is_left(&package.name))
                .map(|package| (package.name.as_str(), package.file))
                .collect(),
        }
    }

    fn path(&self, file: u32) -> &RepoPath {
        &self.before.files[file as usize].path
    }

    fn is_of_family(&self, file: u32, language: Language) -> bool {
        self.before.files[file as usize].language.is_some_and(|other| family(other) == family(language))
    }

    fn regression(&self, candidate: &ReferenceCandidate<'_>) -> Option<FindingRegression> {
        let name = candidate.name();
        let (cause, message) = match candidate.reference.kind {
            ReferenceKind::Name => {
                let declaring = self.declared.get(name)?.iter().copied();
                // In C every function is known to the whole program, unless its file keeps it.
                let is_linked = |is_public: bool| is_public && family(candidate.language) == Language::C;
                let (file, _) = declaring
                    .filter(|&(file, _)| self.is_of_family(file, candidate.language))
                    .filter(|&(file, _)| self.is_of_package(candidate, file))
                    .filter(|&(file, _)| !self.unreadable.contains(self.moves.apply(self.path(file))))
                    .find(|&(file, is_public)| is_linked(is_public) || self.reaches(candidate, file, name))?;
                (file, format!("`{name}` is gone from {}, and this still uses it", self.path(file)))
            }
            ReferenceKind::Module => {
                let file = self.removed_module(candidate)?;
                (file, format!("`{name}` was {}, which is gone", self.path(file)))
            }
            ReferenceKind::Package | ReferenceKind::Constant => return None,
        };
        let mut caused_in = BTreeSet::from([self.moves.apply(self.path(cause)).clone()]);
        if candidate.is_changed {
            caused_in.insert(candidate.path.clone());
        }
        Some(FindingRegression { finding: finding(candidate, message), caused_in })
    }

    /// Returns true unless the reference names another package than that of a file.
    fn is_of_package(&self, candidate: &ReferenceCandidate<'_>, file: u32) -> bool {
        let path = candidate.reference.name.trim_start_matches('\\');
        let Some(end) = path.find(candidate.name()).filter(|&end| end > 0) else { return true };
        let of_file = |it: &&FileReference| it.file == file && it.kind == ReferenceKind::Package;
        let package = self.before.references.iter().find(of_file).map_or("", |it| it.name.as_str());
        let named = path[..end].trim_end_matches(['.', '\\']);
        // A class may stand inside of another one.
        let inner = named.strip_prefix(package).is_some_and(|rest| rest.starts_with('.'));
        named == package || inner
    }

    /// Returns true if the file of a reference could refer to a name of another file before the change.
    fn reaches(&self, candidate: &ReferenceCandidate<'_>, file: u32, name: &str) -> bool {
        let Some(old_file) = candidate.old_file else { return self.is_same_package(candidate, file) };
        let edges = &self.before.dependencies;
        let first = edges.partition_point(|edge| (edge.from, edge.to) < (old_file, file));
        let edge = edges.get(first).filter(|edge| (edge.from, edge.to) == (old_file, file));
        // Edges name units only.
        let is_constant = || {
            let mut of_file = self.before.references.iter().filter(|it| it.file == file);
            of_file.any(|it| it.kind == ReferenceKind::Constant && it.name == name)
        };
        file == old_file
            || edge.is_some_and(|edge| edge.names.iter().any(|used| used == name) || is_constant())
            || (candidate.is_changed && self.is_same_package(candidate, file))
    }

    /// Returns true if files need no import to refer to each other.
    fn is_same_package(&self, candidate: &ReferenceCandidate<'_>, file: u32) -> bool {
        let has_packages = matches!(
            candidate.language,
            Language::Go | Language::Java | Language::Kotlin | Language::CSharp | Language::Php
        );
        has_packages && self.path(file).parent() == candidate.path.parent()
    }

    /// Returns the file of the earlier run that a module was and that is gone.
    fn removed_module(&self, candidate: &ReferenceCandidate<'_>) -> Option<u32> {
        let module = candidate.reference.name.as_str();
        if candidate.language == Language::CSharp {
            let gone = self.gone_packages.iter().find(|(package, _)| *package == module);
            return gone.map(|(_, file)| *file).or_else(|| self.removed_class(module));
        }
        let tail = match candidate.language {
            Language::Python => module.trim_start_matches('.').replace('.', "/"),
            Language::C | Language::Cpp | Language::Bash | Language::Ruby => {
                let ending = if candidate.language == Language::Ruby { ".rb" } else { "" };
                let path = module.trim_start_matches("./").trim_start_matches("../");
                path.trim_end_matches(ending).to_owned()
            }
            _ => return None,
        };
        if tail.is_empty() {
            return None;
        }
        let is_it = |&file: &u32| {
            let path = self.path(file).to_string();
            let stem = match candidate.language {
                Language::Python => path.trim_end_matches(".py").trim_end_matches("/__init__").to_owned(),
                // The ending may be left out.
                Language::Ruby => path.trim_end_matches(".rb").to_owned(),
                _ => path,
            };
            (stem == tail || stem.ends_with(&format!("/{tail}")))
                && self.is_of_family(file, candidate.language)
                && self.was_used(candidate, file)
        };
        self.gone.iter().copied().find(is_it)
    }

    /// Returns the file of the earlier run that declared a class by its whole name, if the class is gone: `using static
    /// A.B`.
    fn removed_class(&self, path: &str) -> Option<u32> {
        let (namespace, class) = path.rsplit_once('.')?;
        let of_namespace = |run: &AnalysisRun, file: u32| {
            let mut packages = run.references.iter().filter(|it| it.kind == ReferenceKind::Package);
            packages.any(|it| it.file == file && it.name == namespace)
        };
        let declares = |run: &AnalysisRun| {
            let mut classes = run.units.iter().filter(|it| it.kind == UnitKind::Class && it.symbol == class);
            classes.find(|it| of_namespace(run, it.file)).map(|it| it.file)
        };
        declares(self.before).filter(|_| declares(self.after).is_none())
    }

    /// Returns true unless the file of the reference existed and did not depend on the other.
    fn was_used(&self, candidate: &ReferenceCandidate<'_>, file: u32) -> bool {
        candidate
            .old_file
            .is_none_or(|old| self.before.dependencies.iter().any(|edge| edge.from == old && edge.to == file))
    }
}

fn finding(candidate: &ReferenceCandidate<'_>, message: String) -> Finding {
    let FileReference { name, line, .. } = candidate.reference;
    let subject = Digest::of(format!("{} {} {name}", candidate.language.name(), candidate.path).as_bytes());
    let family = FindingFamily::DanglingImport;
    let range = SourceRange { start_line: *line, start_column: 1, end_line: *line, end_column: 1 };
    Finding {
        id: FindingId::from(format!("{}:{}#1", family.as_str(), &subject.to_hex()[..16])),
        family,
        severity: Severity::Critical,
        confidence: Confidence::High,
        message,
        locations: vec![CodeLocation { path: candidate.path.clone(), range, symbol: String::new() }],
        content: Digest::of(name.as_bytes()),
        value: None,
        clone_type: None,
        rule: None,
    }
}

/// Returns true for names that every program of a language has, so that removing an own declaration of the same name
/// leaves no gap.
fn is_builtin(language: Language, name: &str) -> bool {
    const GO: &str = "any append bool byte cap clear close comparable complex copy delete error imag int len make \
        max min new panic print println real recover rune string uint uintptr";
    const PYTHON: &str = "ExceptionGroup BaseExceptionGroup TimeoutError ConnectionError FileNotFoundError \
        FileExistsError PermissionError InterruptedError ModuleNotFoundError NotADirectoryError IsADirectoryError \
        ProcessLookupError BrokenPipeError RecursionError StopAsyncIteration UnicodeError WindowsError \
        EncodingWarning abs aiter all anext any ascii bin bool breakpoint bytearray bytes callable chr classmethod \
        compile complex delattr dict dir divmod enumerate eval exec filter float format frozenset getattr globals \
        hasattr hash help hex id input int isinstance issubclass iter len list locals map max memoryview min next \
        object oct open ord pow print property range repr reversed round set setattr slice sorted staticmethod str \
        sum super tuple type vars zip unicode basestring long xrange reduce";
    const JAVASCRIPT: &str = "AbortController AbortSignal AggregateError Array ArrayBuffer BigInt Blob Boolean \
        BroadcastChannel Buffer CustomEvent DOMException Date Error Event EventSource EventTarget File FormData \
        Function Headers Intl Iterator JSON Map Math MessageChannel Number Object Promise Proxy ReadableStream \
        Reflect RegExp Request Response Set String Symbol TextDecoder TextEncoder TransformStream TypeError URL \
        URLSearchParams WeakMap WeakRef WeakSet WebSocket Worker WritableStream atob btoa clearInterval \
        clearTimeout console crypto decodeURIComponent encodeURIComponent escape fetch globalThis isFinite isNaN \
        navigator parseFloat parseInt performance process queueMicrotask require setImmediate setInterval \
        setTimeout structuredClone unescape";
    const C: &str = "asprintf basename bzero explicit_bzero getline memmem memrchr reallocarray strcasecmp \
        strcasestr strchrnul strdup strlcat strlcpy strncasecmp strndup strnlen strsep strtok_r timegm vasprintf";
    let known = match family(language) {
        Language::Go => GO,
        Language::Python => PYTHON,
        Language::JavaScript => JAVASCRIPT,
        Language::C => C,
        _ => return false,
    };
    known.split_whitespace().any(|word| word == name)
}
