//! `cargo xtask fuzz-binary`: mutated files of every language through `probity analyze`.
//!
//! The fuzz targets call functions; this runs what a user runs, with its threads, cache and exit codes. The files are
//! the analyzer's own fixtures, mutated by bytes, lines and words, spliced with each other and nested deeply. All of it
//! follows from a seed, which is printed; a batch that fails is kept.

use crate::{ChoreResult, build, root};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Exit codes of `analyze` that are answers; 70 is a fault of the program.
const ANSWERS: &[i32] = &[0, 1, 2, 3, 4, 5];
const N_FILES_PER_BATCH: usize = 40;
/// The longest time for a batch. It takes a second or two, so only something stuck reaches this.
const BATCH_TIMEOUT: Duration = Duration::from_secs(300);
const POLL_INTERVAL: Duration = Duration::from_millis(20);
const MAX_MUTATIONS: u64 = 8;

/// Words and marks that mean something to one of the grammars.
const WORDS: &[&str] = &[
    "if",
    "else",
    "for",
    "while",
    "match",
    "switch",
    "case",
    "try",
    "catch",
    "finally",
    "async",
    "await",
    "yield",
    "return",
    "class",
    "struct",
    "enum",
    "impl",
    "interface",
    "def",
    "fn",
    "func",
    "function",
    "lambda",
    "import",
    "from",
    "use",
    "package",
    "#include",
    "#define",
    "#if",
    "#endif",
    "template<",
    "<?php",
    "?>",
    "<<EOF",
    "EOF",
    "\"\"\"",
    "'''",
    "`",
    "${",
    "#{",
    "{{",
    "}}",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "<",
    ">",
    "/*",
    "*/",
    "//",
    "#",
    "--",
    "=>",
    "->",
    "::",
    ";",
    ":",
    ",",
    "\\",
    "\"",
    "'",
    "\r\n",
    "\t",
    "\u{feff}",
    "\u{202e}",
    "é",
    "日本",
    "🦀",
    "0x",
    "1e9",
    "r#\"",
    "\"#",
    "@",
    "$",
    "%",
    "&&",
    "||",
    "??",
    "...",
    "end",
    "do",
    "begin",
    "then",
    "fi",
    "esac",
    "done",
    "<A/>",
    "</A>",
];

/// Runs batches for `seconds`, from `seed` or one taken from the clock.
pub fn fuzz_binary(seconds: u32, seed: Option<u64>) -> ChoreResult {
    let from_clock = || std::time::UNIX_EPOCH.elapsed().map_or(1, |since| since.as_secs());
    let seed = seed.unwrap_or_else(from_clock);
    let binary = build("dev")?;
    let samples = samples()?;
    // Outside of the project's own tree, which has a state of its own.
    let place = std::env::temp_dir().join(format!("probity-fuzz-binary-{}", std::process::id()));
    println!("seed {seed}: {} samples, {seconds} s, in {}", samples.len(), place.display());
    let end = Instant::now() + Duration::from_secs(seconds.into());
    let mut n_batches = 0;
    while Instant::now() < end {
        // Each batch has a seed of its own, so that one can be repeated alone.
        let batch_seed = seed + n_batches;
        let directory = place.join(batch_seed.to_string());
        write_batch(&directory, &samples, &mut RandomNumbers(batch_seed))?;
        run_batch(&binary, &directory).map_err(|why| {
            format!("{why}: `cargo xtask fuzz-binary 1 {batch_seed}`, files in {}", directory.display())
        })?;
        fs::remove_dir_all(&directory).map_err(|error| error.to_string())?;
        n_batches += 1;
    }
    let _ = fs::remove_dir_all(&place);
    println!("{n_batches} batches, {} files: every one was answered", n_batches * N_FILES_PER_BATCH as u64);
    Ok(())
}

/// A file to mutate: its extension and its bytes.
type SampleFile = (String, Vec<u8>);

fn samples() -> Result<Vec<SampleFile>, String> {
    let mut found = Vec::new();
    collect(&root().join("crates/analysis/tests/fixtures"), &mut found)?;
    let n_extensions =
        found.iter().map(|(extension, _)| extension).collect::<std::collections::BTreeSet<_>>().len();
    if n_extensions < 14 {
        return Err(format!("only {n_extensions} languages have a fixture"));
    }
    Ok(found)
}

fn collect(directory: &Path, found: &mut Vec<SampleFile>) -> ChoreResult {
    let mut entries: Vec<PathBuf> = fs::read_dir(directory)
        .map_err(|error| format!("{}: {error}", directory.display()))?
        .flatten()
        .map(|entry| entry.path())
        .collect();
    // The order of a directory is no part of the seed.
    entries.sort();
    for path in entries {
        if path.is_dir() {
            collect(&path, found)?;
        } else if let Some(extension) = path.extension() {
            let bytes = fs::read(&path).map_err(|error| error.to_string())?;
            found.push((extension.to_string_lossy().into_owned(), bytes));
        }
    }
    Ok(())
}

fn write_batch(directory: &Path, samples: &[SampleFile], random: &mut RandomNumbers) -> ChoreResult {
    let _ = fs::remove_dir_all(directory);
    fs::create_dir_all(directory).map_err(|error| error.to_string())?;
    for number in 0..N_FILES_PER_BATCH {
        let (extension, bytes) = random.choose(samples);
        let mut bytes = bytes.clone();
        for _ in 0..=random.below(MAX_MUTATIONS) {
            mutate(&mut bytes, samples, random);
        }
        fs::write(directory.join(format!("f{number}.{extension}")), bytes)
            .map_err(|error| error.to_string())?;
    }
    Ok(())
}

fn mutate(bytes: &mut Vec<u8>, samples: &[SampleFile], random: &mut RandomNumbers) {
    let at = random.place_in(bytes);
    match random.below(10) {
        0 => {
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= 1 << random.below(8);
            }
        }
        1 => {
            let end = (at + random.index(40)).min(bytes.len());
            bytes.drain(at..end);
        }
        2 => insert(bytes, at, random.choose(WORDS).as_bytes()),
        3 => insert(bytes, at, &[random.index(256) as u8]),
        4 => bytes.truncate(at),
        5 => swap_lines(bytes, random),
        6 => {
            // Deep nesting, or an endless line.
            let word = random.choose(WORDS).repeat(1 + random.index(3_000));
            insert(bytes, at, word.as_bytes());
        }
        7 => {
            let (_, other) = random.choose(samples);
            let start = random.place_in(other);
            let end = (start + random.index(400)).min(other.len());
            insert(bytes, at, &other[start..end]);
        }
        8 => {
            let end = (at + random.index(400)).min(bytes.len());
            let piece = bytes[at..end].repeat(1 + random.index(4));
            insert(bytes, at, &piece);
        }
        _ => replace_word(bytes, random),
    }
}

fn insert(bytes: &mut Vec<u8>, at: usize, piece: &[u8]) {
    bytes.splice(at..at, piece.iter().copied());
}

fn swap_lines(bytes: &mut Vec<u8>, random: &mut RandomNumbers) {
    let mut lines: Vec<Vec<u8>> = bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    if lines.len() > 1 {
        let (one, other) = (random.index(lines.len()), random.index(lines.len()));
        lines.swap(one, other);
        *bytes = lines.concat();
    }
}

/// Replaces a name or keyword by another word.
fn replace_word(bytes: &mut Vec<u8>, random: &mut RandomNumbers) {
    let is_letter = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let at = random.place_in(bytes);
    let Some(start) = bytes[at..].iter().position(is_letter).map(|offset| at + offset) else { return };
    let length = bytes[start..].iter().take_while(|byte| is_letter(byte)).count();
    bytes.splice(start..start + length, random.choose(WORDS).bytes());
}

fn run_batch(binary: &Path, directory: &Path) -> ChoreResult {
    let log = directory.with_extension("log");
    let file = fs::File::create(&log).map_err(|error| error.to_string())?;
    let mut child = Command::new(binary)
        .args(["--root", &directory.to_string_lossy(), "analyze", "--json"])
        .current_dir(directory)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(file)
        .spawn()
        .map_err(|error| format!("probity could not be started: {error}"))?;
    let began = Instant::now();
    let status = loop {
        match child.try_wait().map_err(|error| error.to_string())? {
            Some(status) => break status,
            None if began.elapsed() > BATCH_TIMEOUT => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("no answer after {} s", BATCH_TIMEOUT.as_secs()));
            }
            None => std::thread::sleep(POLL_INTERVAL),
        }
    };
    let words = fs::read_to_string(&log).unwrap_or_default();
    if words.contains("panicked at") {
        return Err(format!("a panic: {words}"));
    }
    match status.code() {
        Some(code) if ANSWERS.contains(&code) => {
            let _ = fs::remove_file(&log);
            Ok(())
        }
        _ => Err(format!("ended with {status}: {words}")),
    }
}

/// SplitMix64: small, and the same everywhere.
struct RandomNumbers(u64);

impl RandomNumbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end.max(1)
    }

    fn index(&mut self, end: usize) -> usize {
        usize::try_from(self.below(end as u64)).unwrap_or(0)
    }

    /// A place in the bytes, their end included.
    fn place_in(&mut self, bytes: &[u8]) -> usize {
        self.index(bytes.len() + 1)
    }

    fn choose<'l, T>(&mut self, list: &'l [T]) -> &'l T {
        &list[self.index(list.len())]
    }
}
