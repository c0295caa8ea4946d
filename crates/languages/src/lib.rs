//! The analyzed programming languages. Analysis and verification profiles share this table, so that a file
//! cannot be source code to one and something else to the other.
//!
//! Owns: the list of languages, and which file names belong to which.
//! May use: no other crate of ours.
//! Must not know: how a language is parsed or judged.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// An analyzed programming language.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    /// Bash and related shells.
    Bash,
    C,
    Cpp,
    CSharp,
    Go,
    Java,
    /// JavaScript, including JSX.
    JavaScript,
    Kotlin,
    Php,
    Python,
    Ruby,
    Rust,
    /// TypeScript with JSX. Has its own grammar, but counts as TypeScript everywhere else: see
    /// [`Language::dialect_of`].
    Tsx,
    TypeScript,
}

impl Language {
    /// Every language, in alphabetical order.
    pub const ALL: [Self; 14] = [
        Self::Bash,
        Self::C,
        Self::Cpp,
        Self::CSharp,
        Self::Go,
        Self::Java,
        Self::JavaScript,
        Self::Kotlin,
        Self::Php,
        Self::Python,
        Self::Ruby,
        Self::Rust,
        Self::Tsx,
        Self::TypeScript,
    ];

    /// Returns the language of a file by its extension. A leading dot does not start an extension.
    pub fn of_file_name(name: &[u8]) -> Option<Self> {
        let dot = name.iter().rposition(|&byte| byte == b'.').filter(|&dot| dot > 0)?;
        let extension = std::str::from_utf8(name.get(dot + 1..)?).ok()?;
        Self::ALL.into_iter().find(|language| language.extensions().contains(&extension))
    }

    /// Returns the file extensions, without the dot.
    pub const fn extensions(self) -> &'static [&'static str] {
        match self {
            Self::Bash => &["bash", "sh"],
            Self::C => &["c", "h"],
            Self::Cpp => &["cc", "cpp", "cxx", "hh", "hpp", "hxx"],
            Self::CSharp => &["cs"],
            Self::Go => &["go"],
            Self::Java => &["java"],
            Self::JavaScript => &["js", "jsx", "mjs", "cjs"],
            Self::Kotlin => &["kt", "kts"],
            Self::Php => &["php"],
            Self::Python => &["py", "pyi"],
            Self::Ruby => &["rb"],
            Self::Rust => &["rs"],
            Self::Tsx => &["tsx"],
            Self::TypeScript => &["ts", "mts", "cts"],
        }
    }

    /// Returns the name used in reports. Both TypeScript grammars share one name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bash => "bash",
            Self::C => "c",
            Self::Cpp => "cpp",
            Self::CSharp => "csharp",
            Self::Go => "go",
            Self::Java => "java",
            Self::JavaScript => "javascript",
            Self::Kotlin => "kotlin",
            Self::Php => "php",
            Self::Python => "python",
            Self::Ruby => "ruby",
            Self::Rust => "rust",
            Self::Tsx | Self::TypeScript => "typescript",
        }
    }

    /// Returns the language that this one is a dialect of, or the language itself.
    #[must_use]
    pub const fn dialect_of(self) -> Self {
        match self {
            Self::Tsx => Self::TypeScript,
            other => other,
        }
    }
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_extension_belongs_to_one_language() {
        let extensions: Vec<&str> =
            Language::ALL.iter().flat_map(|language| language.extensions()).copied().collect();
        assert_eq!(extensions.iter().collect::<BTreeSet<_>>().len(), extensions.len());
        for language in Language::ALL {
            for extension in language.extensions() {
                let name = format!("a.b.{extension}");
                assert_eq!(Language::of_file_name(name.as_bytes()), Some(language));
            }
        }
    }

    #[test]
    fn a_name_of_one_leading_dot_has_no_extension() {
        for name in [".py", "a.", "py", "a.PY", "a.ру"] {
            assert_eq!(Language::of_file_name(name.as_bytes()), None, "{name}");
        }
    }
}
