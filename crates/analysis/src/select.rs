//! Decides by path which files of a tree are analyzed, and why others are not.
//!
//! Source in an unsupported language is reported as not analyzed (law 6). Documents and data are not source:
//! their paths only show that an import of them is not dangling.

use crate::facts::FileNote;
use crate::language::Language;
use crate::settings::AnalysisSettings;
use probity_paths::{PatternError, RepoPath, Scope};

/// The role of a path in an analysis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathRole {
    /// Source that is read.
    Source(Language),
    /// Source that is not read, and why.
    NotRead(FileNote),
    /// Not source, but something that source may import.
    Asset,
    /// Text for people: nothing depends on it.
    Document,
}

/// The path rules of [`AnalysisSettings`], compiled.
#[derive(Debug, Clone)]
pub struct SourceSelection<'a> {
    settings: &'a AnalysisSettings,
    exclude: Scope,
    generated: Scope,
}

impl<'a> SourceSelection<'a> {
    /// Compiles the patterns, or reports the invalid one.
    pub fn new(settings: &'a AnalysisSettings) -> Result<Self, PatternError> {
        let [exclude, generated] = [&settings.exclude, &settings.generated].map(|globs| Scope::parse(globs));
        Ok(Self { settings, exclude: exclude?, generated: generated? })
    }

    pub fn path_role(&self, path: &RepoPath) -> PathRole {
        let language = Language::of_file_name(path.file_name());
        if language.is_none() && !is_unread_language(path) {
            return if is_document(path) { PathRole::Document } else { PathRole::Asset };
        }
        match language {
            _ if self.exclude.contains(path) => PathRole::NotRead(FileNote::Excluded),
            _ if self.generated.contains(path) || is_vendored(path, self.settings) => {
                PathRole::NotRead(FileNote::Generated)
            }
            Some(language) => PathRole::Source(language),
            None => PathRole::NotRead(FileNote::UnknownLanguage),
        }
    }
}

/// Returns true if a path is below a directory of third-party code.
pub(crate) fn is_vendored(path: &RepoPath, settings: &AnalysisSettings) -> bool {
    path.segments().any(|name| settings.vendored.iter().any(|vendored| vendored.as_bytes() == name))
}

/// Extensions of programming languages that are not supported.
const UNREAD_EXTENSIONS: &[&str] = &[
    "adb", "ads", "asm", "astro", "clj", "cljs", "cob", "coffee", "cr", "cu", "d", "dart", "el", "elm",
    "erl", "ex", "exs", "f", "f90", "f95", "fish", "fs", "fsx", "gd", "gleam", "groovy", "hcl", "hrl", "hs",
    "ipynb", "jl", "lisp", "lua", "m", "ml", "mli", "mm", "nim", "nix", "pas", "pl", "pm", "proto", "ps1",
    "psm1", "pyx", "pxd", "r", "R", "res", "rkt", "S", "s", "scala", "scm", "sol", "sql", "sv", "svelte",
    "swift", "tcl", "tf", "v", "vb", "vhd", "vim", "vue", "wat", "zig", "zsh",
];

const DOCUMENT_EXTENSIONS: &[&str] = &["md", "rst", "txt", "adoc", "textile"];

fn is_unread_language(path: &RepoPath) -> bool {
    extension(path).is_some_and(|extension| is_one_of(UNREAD_EXTENSIONS, extension))
}

fn is_document(path: &RepoPath) -> bool {
    extension(path).is_none_or(|extension| is_one_of(DOCUMENT_EXTENSIONS, extension))
}

fn is_one_of(known: &[&str], extension: &[u8]) -> bool {
    known.iter().any(|known| known.as_bytes() == extension)
}

/// Returns the part after the last dot, unless that dot is the first character.
fn extension(path: &RepoPath) -> Option<&[u8]> {
    let name = path.file_name();
    let dot = name.iter().rposition(|&byte| byte == b'.').filter(|&dot| dot > 0)?;
    Some(&name[dot + 1..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(settings: &AnalysisSettings, path: &str) -> PathRole {
        let path = RepoPath::parse(path.as_bytes()).expect("a path");
        SourceSelection::new(settings).expect("sound patterns").path_role(&path)
    }

    #[test]
    fn source_is_read_and_everything_else_has_a_reason() {
        let settings = AnalysisSettings {
            exclude: vec!["old/**".to_owned()],
            generated: vec!["**/*_pb2.py".to_owned()],
            ..AnalysisSettings::default()
        };
        let is = |path| part(&settings, path);
        assert_eq!(is("src/a.py"), PathRole::Source(Language::Python));
        assert_eq!(is("old/a.py"), PathRole::NotRead(FileNote::Excluded));
        assert_eq!(is("old/a.swift"), PathRole::NotRead(FileNote::Excluded));
        assert_eq!(is("src/a_pb2.py"), PathRole::NotRead(FileNote::Generated));
        assert_eq!(is("third_party/x/a.c"), PathRole::NotRead(FileNote::Generated));
        assert_eq!(is("src/a.swift"), PathRole::NotRead(FileNote::UnknownLanguage));
        assert_eq!(is("src/a.json"), PathRole::Asset);
        assert_eq!(is("README.md"), PathRole::Document);
        assert_eq!(is("LICENSE"), PathRole::Document);
    }

    #[test]
    fn a_bad_pattern_is_refused() {
        let settings = AnalysisSettings { exclude: vec!["a/[".to_owned()], ..AnalysisSettings::default() };
        assert!(SourceSelection::new(&settings).is_err());
    }
}
