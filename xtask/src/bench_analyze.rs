//! `cargo xtask bench analyze [TREE…]`: measures an analysis from scratch, repeated, and after editing one file, beside
//! only parsing the same files; on trees of 10,000, 100,000 and 1,000,000 lines, or on the given ones.
//!
//! The built-in trees are real code: sources from cargo's registry on this machine, in the order of package names,
//! until there are enough lines.

use crate::measure::{append, copy, files, kilobytes, largest, median, milliseconds, ratio};
use crate::{ChoreResult, build, root};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

const SERIES_LINES: [usize; 3] = [10_000, 100_000, 1_000_000];
const ROUNDS: usize = 5;
const ENDINGS: [&str; 2] = [".rs", ".py"];
/// Larger files are generated tables.
const MAX_SOURCE_BYTES: u64 = 300_000;

pub fn analyze(trees: &[PathBuf]) -> ChoreResult {
    let probity = build("release")?;
    let place = std::env::temp_dir().join(format!("probity-analyze-{}", std::process::id()));
    println!("| Tree | Lines | Parse only | Cold | × | Again | One file edited | Memory |");
    println!("|---|---:|---:|---:|---:|---:|---:|---:|");
    let result =
        if trees.is_empty() { series(&probity, &place) } else { measure_trees(&probity, &place, trees) };
    let _ = fs::remove_dir_all(&place);
    result
}

fn measure_trees(probity: &Path, place: &Path, trees: &[PathBuf]) -> ChoreResult {
    for tree in trees {
        copy(tree, place)?;
        measure(probity, place, &tree.to_string_lossy())?;
    }
    Ok(())
}

fn series(probity: &Path, place: &Path) -> ChoreResult {
    for n_lines in SERIES_LINES {
        let _ = fs::remove_dir_all(place);
        fill(place, n_lines)?;
        measure(probity, place, "crates")?;
    }
    Ok(())
}

/// Fills a directory with sources of crates, up to the given number of lines.
fn fill(place: &Path, n_lines: usize) -> ChoreResult {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo")));
    let registry = home.ok_or("no cargo home")?.join("registry/src");
    let mut n_left = n_lines;
    for (path, size) in files(&registry, &[".rs"]) {
        let below: PathBuf = path.strip_prefix(&registry).unwrap_or(&path).components().skip(1).collect();
        let text = fs::read(&path).map_err(|error| error.to_string())?;
        let own = text.iter().filter(|&&byte| byte == b'\n').count();
        if size > MAX_SOURCE_BYTES || own > n_left {
            continue;
        }
        let target = place.join(below);
        fs::create_dir_all(target.parent().unwrap_or(place)).map_err(|error| error.to_string())?;
        fs::write(target, text).map_err(|error| error.to_string())?;
        n_left -= own;
        if n_left == 0 {
            return Ok(());
        }
    }
    if n_left * 10 > n_lines {
        Err(format!("cargo keeps only {} lines here", n_lines - n_left))
    } else {
        Ok(())
    }
}

fn measure(probity: &Path, tree: &Path, name: &str) -> ChoreResult {
    // Recently written files are always read again, so wait until the cache trusts them.
    std::thread::sleep(Duration::from_secs(3));
    let command = [probity.to_string_lossy().into_owned(), "analyze".to_owned(), "--json".to_owned()];
    let forget = || drop(fs::remove_dir_all(tree.join(".probity")));
    let (mut cold, mut again, mut edited) = (Vec::new(), Vec::new(), Vec::new());
    let edit = largest(tree, &ENDINGS)?;
    for round in 0..ROUNDS {
        forget();
        cold.push(milliseconds(&command, tree)?);
        again.push(milliseconds(&command, tree)?);
        append(&edit, if round % 2 == 0 { "\n" } else { "\n\n" })?;
        edited.push(milliseconds(&command, tree)?);
    }
    forget();
    let memory = kilobytes(&command, tree)?;
    forget();
    let parse = parse_only(tree)?;
    let [cold, again, edited] = [cold, again, edited].map(|figures| median(figures).unwrap_or(0));
    println!(
        "| {name} | {} | {parse} ms | {cold} ms | {} | {again} ms | {edited} ms | {} MB |",
        n_lines(tree),
        ratio(cold, parse),
        memory / 1024,
    );
    Ok(())
}

fn n_lines(tree: &Path) -> usize {
    let texts = files(tree, &ENDINGS).into_iter().filter_map(|(path, _)| fs::read(path).ok());
    texts.map(|text| text.iter().filter(|&&byte| byte == b'\n').count()).sum()
}

/// Measures the milliseconds that tree-sitter alone needs for the same files on the same cores.
fn parse_only(tree: &Path) -> Result<u64, String> {
    let output = Command::new(env!("CARGO"))
        .args(["bench", "--quiet", "--package", "probity-analysis", "--bench", "parse", "--"])
        .arg(tree)
        .current_dir(root())
        .output()
        .map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.trim().parse().map_err(|_| format!("no figure for parsing alone: {text}"))
}
