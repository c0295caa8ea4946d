//! The cost of merely parsing a tree: reads every file of a known language below the given directory and
//! parses it with tree-sitter, on one thread per processor. Prints the median of three rounds in
//! milliseconds. `cargo xtask bench analyze` compares a whole analysis with it.
#![expect(clippy::disallowed_methods, reason = "it reads the tree that it measures")]
#![expect(clippy::print_stdout, reason = "its output is the figure")]

use probity_analysis::Language;
use rayon::prelude::*;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Directories that an analysis does not read by default, so that both do the same.
const LEFT_OUT: [&str; 6] = ["node_modules", "__pycache__", "site-packages", "third_party", "vendor", ".git"];
const MAX_BYTES: u64 = 4 << 20;

fn main() {
    let Some(tree) = std::env::args().skip(1).find(|argument| !argument.starts_with("--")) else { return };
    let mut files = Vec::new();
    collect(Path::new(&tree), &mut files);
    let mut rounds: Vec<u128> = (0..3).map(|_| round(&files)).collect();
    rounds.sort_unstable();
    println!("{}", rounds[1]);
}

fn round(files: &[(PathBuf, Language)]) -> u128 {
    let began = Instant::now();
    let n_parsed = files.par_iter().filter(|(path, language)| parse(path, *language)).count();
    assert_eq!(n_parsed, files.len(), "some files could not be parsed");
    began.elapsed().as_millis()
}

fn parse(path: &Path, language: Language) -> bool {
    thread_local! {
        static PARSER: std::cell::RefCell<tree_sitter::Parser> = tree_sitter::Parser::new().into();
    }
    let Ok(bytes) = std::fs::read(path) else { return false };
    PARSER.with_borrow_mut(|parser| {
        parser.set_language(&grammar(language)).is_ok() && parser.parse(&bytes, None).is_some()
    })
}

fn grammar(language: Language) -> tree_sitter::Language {
    match language {
        Language::Bash => tree_sitter_bash::LANGUAGE.into(),
        Language::C => tree_sitter_c::LANGUAGE.into(),
        Language::Cpp => tree_sitter_cpp::LANGUAGE.into(),
        Language::CSharp => tree_sitter_c_sharp::LANGUAGE.into(),
        Language::Go => tree_sitter_go::LANGUAGE.into(),
        Language::Java => tree_sitter_java::LANGUAGE.into(),
        Language::JavaScript => tree_sitter_javascript::LANGUAGE.into(),
        Language::Kotlin => tree_sitter_kotlin_ng::LANGUAGE.into(),
        Language::Php => tree_sitter_php::LANGUAGE_PHP.into(),
        Language::Python => tree_sitter_python::LANGUAGE.into(),
        Language::Ruby => tree_sitter_ruby::LANGUAGE.into(),
        Language::Rust => tree_sitter_rust::LANGUAGE.into(),
        Language::Tsx => tree_sitter_typescript::LANGUAGE_TSX.into(),
        Language::TypeScript => tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
    }
}

fn collect(directory: &Path, files: &mut Vec<(PathBuf, Language)>) {
    let Ok(entries) = std::fs::read_dir(directory) else { return };
    for entry in entries.flatten() {
        let (name, path) = (entry.file_name().to_string_lossy().into_owned(), entry.path());
        match entry.file_type() {
            Ok(kind) if kind.is_dir() && !LEFT_OUT.contains(&name.as_str()) => collect(&path, files),
            Ok(kind) if kind.is_file() && entry.metadata().is_ok_and(|facts| facts.len() <= MAX_BYTES) => {
                let language = Language::of_file_name(name.as_bytes());
                files.extend(language.map(|language| (path, language)));
            }
            _ => {}
        }
    }
}
