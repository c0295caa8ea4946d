//! Benchmarks of matching and comparing scopes. Goals: a hostile pattern in under a millisecond, a hundred thousand
//! paths against many patterns in well under a second, thousands of compared scopes per second.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use probity_paths::{RepoPath, Scope, fnmatch};
use probity_scopes::{ScopeClaim, overlap};
use std::hint::black_box;

/// The paths of an imaginary tree of 100,000 files.
fn tree() -> Vec<RepoPath> {
    let path = |index: usize| {
        let (top, middle, suffix) =
            (index % 20, index / 20 % 100, ["rs", "py", "md", "toml", "json"][index % 5]);
        format!("crates/part{top}/src/module{middle}/deep/file{index}.{suffix}")
    };
    (0..100_000).map(|index| parse(&path(index))).collect()
}

/// Realistic patterns: directories, suffixes, single files, exclusions.
fn patterns(count: usize) -> Vec<String> {
    let pattern = |index: usize| match index % 5 {
        0 => format!("crates/part{}/src/**", index % 40),
        1 => format!("crates/part{}/src/module{}/*.rs", index % 20, index % 200),
        2 => format!("!crates/part{}/**/gen{index}/**", index % 20),
        3 => format!("docs/page{index}.md"),
        _ => format!("**/special{index}_*.json"),
    };
    (0..count).map(pattern).collect()
}

fn parse(text: &str) -> RepoPath {
    RepoPath::parse(text.as_bytes()).expect("a path")
}

fn scope(patterns: &[String]) -> Scope {
    Scope::parse(patterns).expect("valid patterns")
}

fn claim(patterns: &[&str]) -> ScopeClaim {
    ScopeClaim { scope: Scope::parse(patterns).expect("valid patterns"), ..ScopeClaim::default() }
}

fn matching(c: &mut Criterion) {
    let tree = tree();
    let mut group = c.benchmark_group("matching");
    group.bench_function("twelve stars against forty characters", |bencher| {
        let (text, path) = ("*a*a*a*a*a*a*a*a*a*a*a*ab", parse(&"a".repeat(40)));
        let scope = Scope::parse(&[text]).expect("a pattern");
        bencher
            .iter(|| (scope.contains(black_box(&path)), fnmatch::matches(text.as_bytes(), black_box(&path))));
    });
    group.sample_size(10).throughput(Throughput::Elements(100_000));
    for count in [1, 50, 1_000] {
        let scope = scope(&patterns(count));
        group.bench_function(format!("{count} patterns, 100,000 paths"), |bencher| {
            bencher.iter(|| scope.coverage(black_box(&tree)));
        });
    }
    group.finish();
}

fn comparing(c: &mut Criterion) {
    let pairs = [
        ("apart at a glance", claim(&["src/auth/**"]), claim(&["docs/**"])),
        ("meet", claim(&["src/**/*.py"]), claim(&["**/auth/*"])),
        ("apart after a search", claim(&["src/*/a*"]), claim(&["src/**/b*c"])),
        (
            "apart by exclusions",
            claim(&["src/**", "!src/gen/**", "!**/*.rs"]),
            claim(&["src/gen/*", "**/*_test.rs"]),
        ),
    ];
    let mut group = c.benchmark_group("overlap");
    group.throughput(Throughput::Elements(1));
    for (name, a, b) in &pairs {
        group.bench_function(*name, |bencher| bencher.iter(|| overlap(black_box(a), black_box(b))));
    }
    let (many, few) = (scope(&patterns(1_000)), claim(&["lib/**", "tools/*.py", "README.md"]));
    let many = ScopeClaim { scope: many, ..ScopeClaim::default() };
    group.bench_function("a thousand patterns", |bencher| {
        bencher.iter(|| overlap(black_box(&many), black_box(&few)));
    });
    group.finish();
}

criterion_group!(benches, matching, comparing);
criterion_main!(benches);
