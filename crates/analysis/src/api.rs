//! The public interface of a tree, and what breaks it between two runs.

use crate::corpus::CorpusFile;
use crate::facts::{AccessLevel, CallableParameter, CodeUnit, UnitKind};
use probity_paths::RepoPath;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApiItem {
    pub path: RepoPath,
    /// The name within the file.
    pub symbol: String,
    pub kind: UnitKind,
    /// Empty if it cannot be called.
    pub parameters: Vec<CallableParameter>,
}

impl ApiItem {
    /// The sort key of items, which also identifies them.
    pub fn key(&self) -> (&RepoPath, &str) {
        (&self.path, &self.symbol)
    }
}

/// How a public symbol changed so that callers may break.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ApiChange {
    /// The symbol is gone.
    Removed,
    /// The symbol has another kind.
    KindChanged,
    /// A parameter is gone, or has another name or position.
    ParameterChanged,
    /// A parameter that callers could omit is required, or a required one is new.
    ParameterRequired,
}

impl ApiChange {
    pub const fn description(self) -> &'static str {
        match self {
            Self::Removed => "it is gone",
            Self::KindChanged => "it is something else now",
            Self::ParameterChanged => "a parameter is gone, or has another name or place",
            Self::ParameterRequired => "callers must give one more parameter",
        }
    }
}

/// A breaking change of the public interface.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct ApiBreak {
    /// The file. A moved file counts as removed from its old path.
    pub path: RepoPath,
    /// The symbol.
    pub symbol: String,
    /// The kind of change.
    pub change: ApiChange,
}

/// Returns the public interface of one file. Tests have none.
pub(crate) fn of(file: &CorpusFile) -> Vec<ApiItem> {
    if file.is_test {
        return Vec::new();
    }
    let mut items: Vec<ApiItem> = file
        .facts
        .units
        .iter()
        .filter(|unit| is_public(file, unit))
        .map(|unit| ApiItem {
            path: file.path.clone(),
            symbol: unit.name.clone(),
            kind: unit.kind,
            parameters: unit.parameters.clone(),
        })
        .collect();
    items.sort_by(|a, b| a.symbol.cmp(&b.symbol));
    // Overloads, and the several impl blocks of one Rust type: the first represents all.
    items.dedup_by(|a, b| a.symbol == b.symbol);
    items
}

fn is_public(file: &CorpusFile, unit: &CodeUnit) -> bool {
    let named = matches!(unit.kind, UnitKind::Function | UnitKind::Method | UnitKind::Class);
    let parent = unit.parent.map(|parent| &file.facts.units[parent as usize]);
    let is_reachable = parent.is_none_or(|parent| {
        parent.kind == UnitKind::File
            || (parent.kind == UnitKind::Class && parent.access == AccessLevel::Public)
    });
    named && unit.access == AccessLevel::Public && !unit.test && is_reachable
}

/// Returns what callers of `before` cannot rely on in `after`. Both are sorted by path and symbol.
pub(crate) fn find_api_breaks(before: &[ApiItem], after: &[ApiItem]) -> Vec<ApiBreak> {
    let mut rest = after.iter().peekable();
    before
        .iter()
        .filter_map(|item| {
            while rest.next_if(|other| other.key() < item.key()).is_some() {}
            let change = match rest.peek().filter(|other| other.key() == item.key()) {
                Some(now) => change(item, now)?,
                None => ApiChange::Removed,
            };
            Some(ApiBreak { path: item.path.clone(), symbol: item.symbol.clone(), change })
        })
        .collect()
}

/// Returns how an item changed, if that breaks callers. A new optional parameter breaks no one.
fn change(before: &ApiItem, after: &ApiItem) -> Option<ApiChange> {
    if before.kind != after.kind {
        return Some(ApiChange::KindChanged);
    }
    for (index, parameter) in before.parameters.iter().enumerate() {
        match after.parameters.get(index) {
            Some(now) if now.name == parameter.name => {
                if parameter.optional && !now.optional {
                    return Some(ApiChange::ParameterRequired);
                }
            }
            _ => return Some(ApiChange::ParameterChanged),
        }
    }
    let added = after.parameters.iter().skip(before.parameters.len());
    added.into_iter().any(|parameter| !parameter.optional).then_some(ApiChange::ParameterRequired)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(parameters: &[(&str, bool)]) -> ApiItem {
        ApiItem {
            path: RepoPath::parse(b"a.py").expect("a path"),
            symbol: "f".to_owned(),
            kind: UnitKind::Function,
            parameters: parameters
                .iter()
                .map(|&(name, optional)| CallableParameter { name: name.to_owned(), optional })
                .collect(),
        }
    }

    fn changed(before: &[(&str, bool)], after: &[(&str, bool)]) -> Option<ApiChange> {
        find_api_breaks(&[item(before)], &[item(after)]).first().map(|found| found.change)
    }

    #[test]
    fn callers_break_only_when_they_must_change() {
        assert_eq!(changed(&[("a", false)], &[("a", false)]), None);
        assert_eq!(changed(&[("a", false)], &[("a", false), ("b", true)]), None);
        assert_eq!(changed(&[("a", false)], &[("a", true)]), None);
        assert_eq!(
            changed(&[("a", false)], &[("a", false), ("b", false)]),
            Some(ApiChange::ParameterRequired)
        );
        assert_eq!(changed(&[("a", true)], &[("a", false)]), Some(ApiChange::ParameterRequired));
        assert_eq!(changed(&[("a", false)], &[("b", false)]), Some(ApiChange::ParameterChanged));
        assert_eq!(changed(&[("a", false)], &[]), Some(ApiChange::ParameterChanged));
        assert_eq!(find_api_breaks(&[item(&[])], &[])[0].change, ApiChange::Removed);
    }
}
