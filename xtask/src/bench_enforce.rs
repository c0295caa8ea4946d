//! `cargo xtask bench enforce`: what confining a command costs, in processor time, beside running it plainly, beside
//! `bwrap` with the same namespaces, and beside `git status`.
//!
//! Every figure is the processor time of a command and all its descendants, the smallest of several rounds that take
//! turns: it does not depend on what else the machine does, as far as that is possible.

use crate::bench::shell;
use crate::measure::ratio;
use crate::{ChoreResult, build};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const ROUNDS: usize = 5;
/// Few, because each takes seconds.
const LARGE_ROUNDS: usize = 3;

/// Runs a command several times and prints the least processor time of it and its descendants, in microseconds.
const PROCESSOR_TIME_SCRIPT: &str = r#"
import resource, subprocess, sys
def spent():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
before = spent()
code = subprocess.call(sys.argv[1:], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
print(int((spent() - before) * 1e6), code)
"#;

/// `bwrap` with the namespaces and mounts of a view, without an overlay.
const BWRAP: &[&str] = &[
    "bwrap",
    "--unshare-user",
    "--unshare-pid",
    "--unshare-ipc",
    "--ro-bind",
    "/",
    "/",
    "--dev",
    "/dev",
    "--proc",
    "/proc",
    "--tmpfs",
    "/tmp",
    "--tmpfs",
    "/run",
];

/// A command with the name it has in the table.
struct Contender {
    name: &'static str,
    words: Vec<String>,
}

/// Names a directory on the file system to measure on, instead of one beside the build.
const PLACE_VARIABLE: &str = "PROBITY_BENCH_PLACE";

/// Measures every figure. The trees are made in a directory beside the build, or in the one that the environment names.
pub fn enforce(profile: &str) -> ChoreResult {
    let binary = build(profile)?;
    let beside = std::env::var_os(PLACE_VARIABLE).map_or_else(crate::target, PathBuf::from);
    let place = beside.join(format!("bench-enforce-{}", std::process::id()));
    let result = measure_all(&binary, &place);
    let _ = fs::remove_dir_all(&place);
    result
}

fn measure_all(binary: &Path, place: &Path) -> ChoreResult {
    println!("processor time in milliseconds, the least of several rounds; binary {}\n", binary.display());
    let small = tree(place, "small", 1_000)?;
    launch(binary, &small)?;
    work(binary, &small)?;
    landing(binary, &small)?;
    compile(binary, place)?;
    let large = tree(place, "large", 100_000)?;
    whole_runs(binary, &small, "1,000 files")?;
    whole_runs(binary, &large, "100,000 files")?;
    changed(binary, &large)
}

/// Makes a repository with files of a few lines, 100 in each directory.
fn tree(place: &Path, name: &str, n_files: usize) -> Result<PathBuf, String> {
    let root = place.join(name);
    fs::create_dir_all(&root).map_err(|error| error.to_string())?;
    let script = format!(
        "git init -q -b main; git config user.name t; git config user.email t@example.org; git config gc.auto 0
         python3 -c \"
import os
for n in range({n_files}):
    os.makedirs(f'part/d{{n // 100:04}}', exist_ok=True)
    open(f'part/d{{n // 100:04}}/f{{n:06}}.txt', 'w').write(f'line {{n}}\\n' * 5)\"
         mkdir work; echo 1 > work/one; git add .; git commit -qm files; git status --short"
    );
    shell(&root, &script)?;
    Ok(root)
}

/// Measures the contenders in turns and prints a row for each, with its ratio to the first.
fn compare(title: &str, root: &Path, rounds: usize, contenders: &[Contender]) -> ChoreResult {
    println!("{title}");
    let mut least = vec![u64::MAX; contenders.len()];
    for _ in 0..rounds {
        for (contender, least) in contenders.iter().zip(&mut least) {
            *least = (*least).min(processor_time(&contender.words, root)?);
        }
    }
    for (contender, time) in contenders.iter().zip(&least) {
        #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
        let milliseconds = *time as f64 / 1_000.0;
        println!("  {:<28} {milliseconds:>10.1}   {}", contender.name, ratio(*time, least[0].max(1)));
    }
    println!();
    Ok(())
}

fn processor_time(words: &[String], root: &Path) -> Result<u64, String> {
    let output = Command::new("python3")
        .args(["-c", PROCESSOR_TIME_SCRIPT])
        .args(words)
        .current_dir(root)
        // The measured compilation has its own directory.
        .env_remove("CARGO_TARGET_DIR")
        .stderr(Stdio::null())
        .output()
        .map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    match text.split_whitespace().collect::<Vec<_>>().as_slice() {
        [time, "0"] => time.parse().map_err(|_| text.clone()),
        _ => Err(format!("`{}` failed: {text}", words.join(" "))),
    }
}

fn words(text: &[&str]) -> Vec<String> {
    text.iter().map(ToString::to_string).collect()
}

fn plain(name: &'static str, script: &str) -> Contender {
    Contender { name, words: words(&["sh", "-c", script]) }
}

fn governed(name: &'static str, binary: &Path, level: &str, scope: &str, script: &str) -> Contender {
    let binary = binary.display().to_string();
    let argv = [&binary, "run", "--enforce", level, "--scope", scope, "--creates", "--", "sh", "-c", script];
    Contender { name, words: words(&argv) }
}

fn has_bwrap() -> bool {
    let found = Command::new("bwrap").arg("--version").output().is_ok_and(|output| output.status.success());
    if !found {
        println!("skipped: bwrap is not installed (apt install bubblewrap)\n");
    }
    found
}

fn launch(binary: &Path, root: &Path) -> ChoreResult {
    let mut contenders = vec![
        plain("plain", "true"),
        governed("observe", binary, "observe", "work/**", "true"),
        governed("landlock", binary, "landlock", "work/**", "true"),
        governed("overlay", binary, "overlay", "work/**", "true"),
    ];
    if has_bwrap() {
        let tree = root.to_string_lossy();
        let argv = [words(BWRAP), words(&["--bind", &tree, &tree, "--chdir", &tree, "sh", "-c", "true"])];
        let argv = argv.concat();
        contenders.push(Contender { name: "bwrap, same namespaces", words: argv });
    }
    compare("launch: `true` among 1,000 files", root, ROUNDS, &contenders)
}

fn work(binary: &Path, root: &Path) -> ChoreResult {
    // Made and removed in the command, so that nothing lands: this is the cost of the work itself.
    let script = "mkdir -p work/new && python3 -c \"
for n in range(10000): open(f'work/new/{n}', 'w').write('x')\" && rm -rf work/new";
    let contenders = [
        plain("plain", script),
        governed("observe", binary, "observe", "work/**", script),
        governed("landlock", binary, "landlock", "work/**", script),
        governed("overlay", binary, "overlay", "work/**", script),
    ];
    compare("creating and removing 10,000 files", root, LARGE_ROUNDS, &contenders)
}

fn landing(binary: &Path, root: &Path) -> ChoreResult {
    let make = "rm -rf work/new; mkdir -p work/new && python3 -c \"
import os
for n in range(10000): open(f'work/new/{n}', 'w').write(f'{os.getpid()} {n}')\"";
    let copied = format!(
        "{make}; rm -rf ../copied; cp -a work/new ../copied && sync -f ../copied; rm -rf ../copied work/new"
    );
    let contenders = [
        plain("made, cp -a, sync", &copied),
        governed("made in a view and landed", binary, "overlay", "work/**", make),
    ];
    compare("landing 10,000 files", root, LARGE_ROUNDS, &contenders)?;
    shell(root, "rm -rf work/new")
}

fn compile(binary: &Path, place: &Path) -> ChoreResult {
    let root = place.join("crate");
    fs::create_dir_all(root.join("src")).map_err(|error| error.to_string())?;
    let functions: String =
        (0..2_000).map(|n| format!("pub fn f{n}(x: u64) -> u64 {{ x.wrapping_mul({n}) + {n} }}\n")).collect();
    fs::write(root.join("src/lib.rs"), functions).map_err(|error| error.to_string())?;
    let manifest = "[package]\nname = \"sized\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[workspace]\n";
    fs::write(root.join("Cargo.toml"), manifest).map_err(|error| error.to_string())?;
    shell(
        &root,
        "git init -q -b main; echo target > .gitignore; git add .; \
         git -c user.name=t -c user.email=t@example.org commit -qm crate",
    )?;
    let fresh = "rm -rf target; cargo check --offline -q";
    let edited = "echo '// edited' >> src/lib.rs; cargo check --offline -q";
    for (title, script) in [("cargo check, fresh", fresh), ("cargo check after an edit", edited)] {
        let contenders = [
            plain("plain", script),
            governed("landlock", binary, "landlock", "**", script),
            governed("overlay", binary, "overlay", "**", script),
        ];
        compare(title, &root, LARGE_ROUNDS, &contenders)?;
    }
    Ok(())
}

fn whole_runs(binary: &Path, root: &Path, size: &str) -> ChoreResult {
    let contenders = [
        plain("git status", "git status --short"),
        governed("observe", binary, "observe", "work/**", "true"),
        governed("landlock", binary, "landlock", "work/**", "true"),
        governed("overlay", binary, "overlay", "work/**", "true"),
    ];
    compare(&format!("`probity run -- true`, {size}"), root, LARGE_ROUNDS, &contenders)
}

fn changed(binary: &Path, root: &Path) -> ChoreResult {
    let edit = "for n in $(seq 0 99); do echo x >> part/d0001/f0001$(printf %02d $n).txt; done";
    let contenders = [
        plain("git status", "git status --short"),
        plain("plain, 100 files changed", edit),
        governed("overlay, nothing changed", binary, "overlay", "part/d0001/**", "true"),
        governed("overlay, 100 files changed", binary, "overlay", "part/d0001/**", edit),
    ];
    compare("100 changes among 100,000 files", root, LARGE_ROUNDS, &contenders)
}
