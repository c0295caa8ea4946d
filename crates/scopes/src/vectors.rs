//! The JSON form of the functions of `paths` and of this crate, for conformance vectors of kinds `scope_match`, `scope_declare`,
//! `scope_overlap` and `reconciliation`.
//!
//! This module only converts; it decides nothing.

use crate::{
    IntentScope, ScopeClaim, ScopeDiagnostic, TooComplex, TreeNames, declare_intent, declare_plan, overlap,
};
use probity_core::{ReasonCode, bytes};
use probity_paths::{MatchRule, PatternError, RepoPath, Scope, delta, reconcile};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Answers a vector of kind `scope_match`.
pub fn scope_match(given: &Value) -> Result<Value, String> {
    let rule: MatchRule = text(given, "rule")?.parse().map_err(|error| format!("{error}"))?;
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

/// Answers a vector of kind `scope_declare`.
pub fn scope_declare(given: &Value) -> Result<Value, String> {
    let tree = member(given, "tree")?;
    let files = paths(&byte_strings(tree, "files")?)?;
    let directories = paths(&optional_byte_strings(tree, "dirs")?)?;
    let tree = TreeNames::new(&files, &directories);
    let declaration = member(given, "declaration")?;
    let declaration = match text(given, "form")? {
        "intent" => {
            let [allowed_files, allowed_related, forbidden] =
                ["allowed_files", "allowed_related", "forbidden"]
                    .map(|name| optional_byte_strings(declaration, name));
            let (allowed_files, allowed_related, forbidden) = (allowed_files?, allowed_related?, forbidden?);
            let scope = IntentScope {
                allowed_files: &allowed_files,
                allowed_related: &allowed_related,
                forbidden: &forbidden,
            };
            declare_intent(scope, &tree)
        }
        "plan" => declare_plan(&byte_strings(declaration, "scope")?, &tree),
        other => return Err(format!("`{other}` is no form of a declaration")),
    };
    let remarks = |remarks: &[ScopeDiagnostic]| -> Vec<Value> { remarks.iter().map(remark).collect() };
    Ok(json!({
        "valid": declaration.is_valid(),
        "errors": remarks(&declaration.errors),
        "warnings": remarks(&declaration.warnings),
    }))
}

fn remark(remark: &ScopeDiagnostic) -> Value {
    json!({ "code": remark.code, "field": remark.field.name(), "index": remark.index })
}

/// Answers a vector of kind `scope_overlap`.
pub fn scope_overlap(given: &Value) -> Result<Value, String> {
    Ok(match overlap(&claim(given, "a")?, &claim(given, "b")?) {
        Ok(Some(witness)) => json!({ "overlap": true, "witness": witness }),
        Ok(None) => json!({ "overlap": false }),
        Err(TooComplex) => json!({ "error": ReasonCode::ScopeTooComplex }),
    })
}

/// Returns true if `answer` is right for a vector of kind `scope_overlap`: any path in both scopes is a valid witness.
pub fn accepts_scope_overlap(given: &Value, expect: &Value, answer: &Value) -> bool {
    if expect.get("overlap") != Some(&Value::Bool(true)) {
        return expect == answer;
    }
    let Some(Ok(witness)) = answer.get("witness").map(RepoPath::deserialize) else { return false };
    let has_it = |name| claim(given, name).is_ok_and(|claim| claim.contains(&witness));
    *answer == json!({ "overlap": true, "witness": witness }) && has_it("a") && has_it("b")
}

fn claim(given: &Value, name: &str) -> Result<ScopeClaim, String> {
    let claim = member(given, name)?;
    let scope = Scope::parse(&optional_byte_strings(claim, "globs")?).map_err(|error| error.to_string())?;
    let literals = paths(&optional_byte_strings(claim, "literals")?)?;
    Ok(ScopeClaim { scope, literals: literals.into_iter().collect() })
}

/// Answers a vector of kind `reconciliation`.
pub fn reconciliation(given: &Value) -> Result<Value, String> {
    let mut patterns = byte_strings(given, "scope")?;
    for amendment in given.get("amendments").map_or(Ok([].as_slice()), list)? {
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

/// Computes D from `before` and `after`. Indexes of invalid paths count both lists.
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

/// Parses the paths, or returns the answer that names the first invalid one.
fn parse_paths(paths: &[Vec<u8>]) -> Result<Vec<RepoPath>, Value> {
    let invalid = |index| json!({ "error": ReasonCode::PathInvalid, "path_index": index });
    paths.iter().enumerate().map(|(index, path)| RepoPath::parse(path).map_err(|_| invalid(index))).collect()
}

fn pattern_error(error: &PatternError) -> Value {
    json!({ "error": error.reason, "pattern_index": error.index })
}

fn member<'a>(given: &'a Value, name: &str) -> Result<&'a Value, String> {
    given.get(name).ok_or_else(|| format!("`{name}` is missing"))
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

fn optional_byte_strings(given: &Value, name: &str) -> Result<Vec<Vec<u8>>, String> {
    if given.get(name).is_some() { byte_strings(given, name) } else { Ok(Vec::new()) }
}

/// Parses the paths of a case that requires all of them to be valid.
fn paths(paths: &[Vec<u8>]) -> Result<Vec<RepoPath>, String> {
    paths.iter().map(|path| RepoPath::parse(path).map_err(|error| error.to_string())).collect()
}

fn byte_string(value: &Value) -> Result<Vec<u8>, String> {
    bytes::from_json(value).ok_or_else(|| format!("{value} is no byte string"))
}
