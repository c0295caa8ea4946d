//! Amendments: the only way to change a sealed scope, by appending and never by rewriting (law 2).

use crate::GlobList;
use probity_core::ReasonCode;
use probity_paths::{PatternError, Scope};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Patterns added to a sealed scope: by whom, why and when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Amendment {
    /// The patterns. They take precedence over those of the seal and of earlier amendments.
    pub add: GlobList,
    /// Who amended the scope.
    pub by: String,
    /// The reason given.
    pub why: String,
    /// When, in RFC 3339.
    pub at: String,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AmendmentError {
    #[error("an amendment needs `{0}`")]
    Empty(&'static str),
    /// The reason has no word, such as a copied placeholder.
    #[error("`{}` is no reason: say in words why the added paths belong to this change", probity_core::bytes::escape(.0.as_bytes()))]
    Wordless(String),
    #[error(transparent)]
    Pattern(#[from] PatternError),
}

impl AmendmentError {
    pub fn reason(&self) -> ReasonCode {
        match self {
            Self::Empty(_) | Self::Wordless(_) => ReasonCode::AmendIncomplete,
            Self::Pattern(error) => error.reason,
        }
    }
}

impl Amendment {
    /// Creates a complete amendment with valid patterns.
    pub fn new(add: GlobList, by: &str, why: &str, at: &str) -> Result<Self, AmendmentError> {
        // An author or a reason made of blanks counts as empty.
        let amendment = Self { add, by: by.trim().into(), why: why.trim().into(), at: at.into() };
        if let Some(field) = amendment.empty_field() {
            return Err(AmendmentError::Empty(field));
        }
        check_reason(why)?;
        amendment.add.to_scope()?;
        Ok(amendment)
    }

    /// Keeps the times in order although a clock may be set back between two amendments.
    #[must_use]
    pub fn not_before(mut self, earlier: Option<&Self>) -> Self {
        if let Some(earlier) = earlier.filter(|earlier| self.at < earlier.at) {
            self.at.clone_from(&earlier.at);
        }
        self
    }

    pub fn empty_field(&self) -> Option<&'static str> {
        let parts = [
            ("add", self.add.is_empty()),
            ("by", self.by.is_empty()),
            ("why", self.why.is_empty()),
            ("at", self.at.is_empty()),
        ];
        parts.into_iter().find(|(_, empty)| *empty).map(|(field, _)| field)
    }
}

/// Refuses a reason without a word.
pub fn check_reason(why: &str) -> Result<(), AmendmentError> {
    match why.trim() {
        "" => Err(AmendmentError::Empty("why")),
        wordless if !wordless.chars().any(char::is_alphanumeric) => {
            Err(AmendmentError::Wordless(wordless.into()))
        }
        _ => Ok(()),
    }
}

/// Returns the effective scope: the sealed patterns followed by those of each amendment, so that later ones
/// take precedence.
pub fn amended_scope(sealed: &GlobList, amendments: &[Amendment]) -> Result<Scope, PatternError> {
    let mut globs = sealed.clone();
    for amendment in amendments {
        globs.extend(&amendment.add);
    }
    globs.to_scope()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AmendPolicy {
    pub during: AmendPermission,
    pub after: AmendPermission,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AmendPermission {
    #[default]
    Allow,
    Deny,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_amendment_says_who_why_and_when() {
        let docs = || GlobList::new(["docs/**"]);
        assert!(Amendment::new(docs(), "ada", "the page names the option", "2026-03-01T10:00:00Z").is_ok());
        assert_eq!(Amendment::new(docs(), "ada", "", "now"), Err(AmendmentError::Empty("why")));
        for wordless in ["…", "...", " - "] {
            let refused = Amendment::new(docs(), "ada", wordless, "now");
            assert_eq!(refused, Err(AmendmentError::Wordless(wordless.trim().into())));
        }
        assert_eq!(Amendment::new(GlobList::default(), "ada", "x", "now"), Err(AmendmentError::Empty("add")));
        assert!(matches!(
            Amendment::new(GlobList::new(["/etc/**"]), "ada", "x", "now"),
            Err(AmendmentError::Pattern(_))
        ));
    }
}
