//! The JSON form of this crate's functions: kinds `scope_match` and `reconciliation`.
//!
//! Nothing is decided here: values are read, handed on, and written.

use crate::{PatternError, RepoPath, Rule, Scope, delta, reconcile};
use canon::{Reason, bytes};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Answers a vector of kind `scope_match`.
pub fn scope_match(given: &Value) -> Result<Value, String> {
    let rule: Rule = text(given, "rule")?.parse().map_err(|error| format!("{error}"))?;
    let patterns = byte_strings(given, "patterns")?;
    let paths = byte_strings(given, "paths")?;
    let matcher = match rule.compile(&patterns) {
        Ok(matcher) => matcher,
        Err(error) => return Ok(pattern_error(&error)),
    };
    Ok(match parse_paths(&paths) {
        Ok(paths) => {
            json!({ "matched": paths.iter().filter(|path| matcher.matches(path)).collect::<Vec<_>>() })
        }
        Err(answer) => answer,
    })
}

/// Answers a vector of kind `reconciliation`.
pub fn reconciliation(given: &Value) -> Result<Value, String> {
    let mut patterns = byte_strings(given, "scope")?;
    for amendment in optional(given, "amendments").map_or(Ok([].as_slice()), list)? {
        patterns.extend(byte_strings(amendment, "add")?);
    }
    let scope = match Scope::parse(&patterns) {
        Ok(scope) => scope,
        Err(error) => return Ok(pattern_error(&error)),
    };
    let mut answer = Map::new();
    let paths = if given.get("delta").is_some() {
        parse_paths(&byte_strings(given, "delta")?)
    } else {
        snapshot_delta(given)?.inspect(|paths| {
            answer.insert("workspace_delta_paths".into(), json!(paths));
        })
    };
    Ok(match paths {
        Ok(paths) => {
            let found = reconcile(&scope, &paths);
            answer.insert("status".into(), json!(found.status()));
            answer.insert("reason".into(), json!(found.reason()));
            answer.insert("untracked_delta_paths".into(), json!(found.untracked));
            Value::Object(answer)
        }
        Err(answer) => answer,
    })
}

/// D from `before` and `after`. Indexes of invalid paths count through both.
fn snapshot_delta(given: &Value) -> Result<Result<Vec<RepoPath>, Value>, String> {
    let before = list(member(given, "before")?)?;
    let after = list(member(given, "after")?)?;
    let entries: Vec<&Value> = before.iter().chain(after).collect();
    let paths: Vec<_> =
        entries.iter().map(|entry| byte_string(member(entry, "path")?)).collect::<Result<_, _>>()?;
    Ok(parse_paths(&paths).map(|paths| {
        let mut entries = paths.into_iter().zip(entries);
        let before: BTreeMap<_, _> = entries.by_ref().take(before.len()).collect();
        delta(&before, &entries.collect())
    }))
}

/// The paths, or the answer that names the first that is none.
fn parse_paths(paths: &[Vec<u8>]) -> Result<Vec<RepoPath>, Value> {
    let invalid = |index| json!({ "error": Reason::PathInvalid, "path_index": index });
    paths.iter().enumerate().map(|(index, path)| RepoPath::parse(path).map_err(|_| invalid(index))).collect()
}

fn pattern_error(error: &PatternError) -> Value {
    json!({ "error": error.reason, "pattern_index": error.index })
}

fn member<'a>(given: &'a Value, name: &str) -> Result<&'a Value, String> {
    given.get(name).ok_or_else(|| format!("`{name}` is missing"))
}

fn optional<'a>(given: &'a Value, name: &str) -> Option<&'a Value> {
    given.get(name).filter(|value| !value.is_null())
}

fn text<'a>(given: &'a Value, name: &str) -> Result<&'a str, String> {
    member(given, name)?.as_str().ok_or_else(|| format!("`{name}` is no string"))
}

fn list(value: &Value) -> Result<&[Value], String> {
    value.as_array().map(Vec::as_slice).ok_or_else(|| format!("{value} is no list"))
}

fn byte_strings(given: &Value, name: &str) -> Result<Vec<Vec<u8>>, String> {
    list(member(given, name)?)?.iter().map(byte_string).collect()
}

fn byte_string(value: &Value) -> Result<Vec<u8>, String> {
    bytes::from_json(value).ok_or_else(|| format!("{value} is no byte string"))
}
