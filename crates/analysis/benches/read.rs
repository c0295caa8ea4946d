//! The cost of reading beyond parsing: this machine's Python standard library parsed by tree-sitter alone,
//! read into facts, and analyzed cold and with all facts known. `cargo bench -p probity-analysis`.
#![expect(clippy::disallowed_methods, reason = "a benchmark reads the files it measures")]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use probity_analysis::{AnalysisInput, AnalysisSettings, Language, SourceInput, analyze, read_facts};
use probity_paths::RepoPath;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// At most this many files, so that a round stays short.
const MAX_FILES: usize = 250;

fn standard_library() -> BTreeMap<RepoPath, Vec<u8>> {
    let script = "import os; print(os.path.dirname(os.__file__))";
    let output = Command::new("python3").args(["-c", script]).output().expect("python3 is installed");
    let directory = String::from_utf8(output.stdout).expect("text");
    let mut files = BTreeMap::new();
    collect(Path::new(directory.trim()), &mut files);
    files.into_iter().take(MAX_FILES).collect()
}

fn collect(directory: &Path, files: &mut BTreeMap<RepoPath, Vec<u8>>) {
    for entry in std::fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        let name = path.to_string_lossy();
        if path.is_dir() && !["site-packages", "test", "tests"].iter().any(|skip| name.ends_with(skip)) {
            collect(&path, files);
        } else if name.ends_with(".py") {
            let relative = RepoPath::parse(name.trim_start_matches('/').as_bytes()).expect("a path");
            files.insert(relative, std::fs::read(&path).expect("a file"));
        }
    }
}

fn bench(criterion: &mut Criterion) {
    let files = standard_library();
    let settings = AnalysisSettings::default();
    let bytes: usize = files.values().map(Vec::len).sum();
    let mut group = criterion.benchmark_group("python");
    group.sample_size(10).throughput(Throughput::Bytes(bytes as u64));
    group.bench_function("parse alone, one thread", |bencher| {
        let mut parser = tree_sitter::Parser::new();
        parser.set_language(&tree_sitter_python::LANGUAGE.into()).expect("the grammar loads");
        bencher.iter(|| files.values().filter_map(|bytes| parser.parse(bytes, None)).count());
    });
    group.bench_function("read into facts, one thread", |bencher| {
        bencher.iter(|| {
            let facts =
                files.values().map(|bytes| read_facts(Language::Python, bytes, settings.max_file_bytes));
            facts.map(|facts| facts.units.len()).sum::<usize>()
        });
    });
    let sources = files.iter().map(|(path, bytes)| (path.clone(), SourceInput::Bytes(bytes)));
    let cold = AnalysisInput { sources: sources.collect(), ..AnalysisInput::default() };
    group.bench_function("analyze, nothing known", |bencher| bencher.iter(|| analyze(&cold, &settings)));
    let known = analyze(&cold, &settings)
        .facts
        .into_iter()
        .map(|(path, (key, facts))| (path, SourceInput::Known { content: key.content, facts }));
    let warm = AnalysisInput { sources: known.collect(), ..AnalysisInput::default() };
    group.bench_function("analyze, everything known", |bencher| bencher.iter(|| analyze(&warm, &settings)));
    group.finish();
}

criterion_group!(benches, bench);
criterion_main!(benches);
