//! Runs conformance vectors: data files that state what a function must answer.
//!
//! Owns: the form of vector files, and how an answer is compared with the one that is expected.
//! May use: no other crate of ours.
//! Must not know: what any kind of vector means.
//!
//! Each product crate supplies its [`VectorKind`]s. A kind that nobody supplies is *unsupported* and counts as a
//! failure (law 6: not applicable is not passed).

use serde::Serialize;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

#[derive(Clone, Copy)]
pub struct VectorKind {
    /// The `kind` of the vector files.
    pub name: &'static str,
    /// Computes the answer of a case. `Err` says why `given` was not understood; the case then fails.
    pub answer: fn(given: &Value) -> Result<Value, String>,
    /// Decides whether an answer is what the case expects, for kinds where plain equality is not the rule.
    pub accepts: fn(given: &Value, expect: &Value, answer: &Value) -> bool,
}

impl VectorKind {
    /// Returns a kind whose answers must equal what the case expects.
    pub const fn equal(name: &'static str, answer: fn(&Value) -> Result<Value, String>) -> Self {
        Self { name, answer, accepts: |_, expect, answer| json_equal(expect, answer) }
    }
}

#[derive(Debug, Clone, Serialize)]
pub struct CaseResult {
    /// `file/case`, or the file's id if it holds a single case.
    pub id: String,
    pub kind: String,
    pub ok: bool,
    /// The actual answer, or why there is none; empty if `ok`.
    pub detail: String,
}

#[derive(Debug, Clone, Default, Serialize)]
pub struct VectorReport {
    pub passed: usize,
    pub failed: usize,
    /// Cases of a kind that nobody supplied.
    pub unsupported: usize,
    /// One entry per case, in the order of files and cases.
    pub results: Vec<CaseResult>,
}

impl VectorReport {
    /// Returns whether there was at least one case and every case passed.
    pub fn all_passed(&self) -> bool {
        self.passed > 0 && self.failed == 0 && self.unsupported == 0
    }

    fn push(&mut self, result: CaseResult) {
        if result.ok {
            self.passed += 1;
        } else {
            self.failed += 1;
        }
        self.results.push(result);
    }
}

/// A vector file that could not be read at all.
#[derive(Debug, thiserror::Error)]
pub enum VectorError {
    #[error("cannot read {path}: {source}")]
    Read { path: PathBuf, source: std::io::Error },
    /// The file is not JSON, or not in the form that the README of the vectors describes.
    #[error("{path} is not a vector file: {why}")]
    Form { path: PathBuf, why: String },
}

/// Runs the vectors in `files` through `kinds`; directories are walked.
pub fn run(files: &[PathBuf], kinds: &[VectorKind]) -> Result<VectorReport, VectorError> {
    let mut report = VectorReport::default();
    for path in expand_directories(files)? {
        for case in read_cases(&path)? {
            run_case(&case, kinds, &mut report);
        }
    }
    Ok(report)
}

/// Makes one test for each kind of vectors: `name = function`.
#[macro_export]
macro_rules! vector_tests {
    ($($name:ident = $answer:path),+ $(,)?) => {$(
        #[test]
        fn $name() {
            $crate::check_vectors($crate::VectorKind::equal(stringify!($name), $answer));
        }
    )+};
}

/// Runs the project's own vectors of `kind`, for the tests of a crate.
///
/// # Panics
/// If a case fails, naming every failed case, or if there is none.
pub fn check_vectors(kind: VectorKind) {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance").join(kind.name);
    let report = match run(&[directory], &[kind]) {
        Ok(report) => report,
        Err(error) => panic!("{error}"),
    };
    let failures: Vec<String> = report
        .results
        .iter()
        .filter(|case| !case.ok)
        .map(|case| format!("{}: {}", case.id, case.detail))
        .collect();
    assert!(
        failures.is_empty(),
        "{} of {} cases failed:\n{}",
        failures.len(),
        report.results.len(),
        failures.join("\n")
    );
    assert!(report.all_passed(), "no case was run");
}

struct VectorCase {
    id: String,
    kind: String,
    given: Value,
    expect: Value,
}

fn run_case(case: &VectorCase, kinds: &[VectorKind], report: &mut VectorReport) {
    let Some(kind) = kinds.iter().find(|kind| kind.name == case.kind) else {
        report.unsupported += 1;
        report.results.push(CaseResult {
            id: case.id.clone(),
            kind: case.kind.clone(),
            ok: false,
            detail: format!("kind `{}` is not supported", case.kind),
        });
        return;
    };
    let (ok, detail) = match (kind.answer)(&case.given) {
        Ok(answer) if (kind.accepts)(&case.given, &case.expect, &answer) => (true, String::new()),
        Ok(answer) => (false, format!("expected {}, got {answer}", case.expect)),
        Err(why) => (false, format!("the case could not be read: {why}")),
    };
    report.push(CaseResult { id: case.id.clone(), kind: case.kind.clone(), ok, detail });
}

/// Compares JSON values, with `1` equal to `1.0`.
fn json_equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| json_equal(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| json_equal(a, b)))
        }
        _ => a == b,
    }
}

fn expand_directories(files: &[PathBuf]) -> Result<Vec<PathBuf>, VectorError> {
    let mut found = Vec::new();
    for path in files {
        if path.is_dir() {
            let read = |source| VectorError::Read { path: path.clone(), source };
            let mut inside = Vec::new();
            for entry in fs::read_dir(path).map_err(read)? {
                let child = entry.map_err(read)?.path();
                if child.is_dir() || child.extension().is_some_and(|extension| extension == "json") {
                    inside.push(child);
                }
            }
            inside.sort();
            found.extend(expand_directories(&inside)?);
        } else {
            found.push(path.clone());
        }
    }
    Ok(found)
}

fn read_cases(path: &Path) -> Result<Vec<VectorCase>, VectorError> {
    let bytes = fs::read(path).map_err(|source| VectorError::Read { path: path.into(), source })?;
    let form = |why: String| VectorError::Form { path: path.into(), why };
    let file: Value = serde_json::from_slice(&bytes).map_err(|error| form(error.to_string()))?;
    let stem = path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
    let Some(list) = file.get("cases") else {
        return Ok(vec![read_case(&file, &file, text_member(&file, "id").unwrap_or(stem)).map_err(form)?]);
    };
    let list = list.as_array().ok_or_else(|| form("`cases` is no list".into()))?;
    let mut cases = Vec::new();
    for (index, case) in list.iter().enumerate() {
        let id = text_member(case, "id").unwrap_or_else(|| index.to_string());
        cases.push(read_case(&file, case, format!("{stem}/{id}")).map_err(form)?);
    }
    Ok(cases)
}

fn read_case(file: &Value, case: &Value, id: String) -> Result<VectorCase, String> {
    let member = |name: &str| case.get(name).cloned().ok_or_else(|| format!("case `{id}` has no `{name}`"));
    let kind = text_member(case, "kind")
        .or_else(|| text_member(file, "kind"))
        .ok_or_else(|| format!("case `{id}` has no `kind`"))?;
    Ok(VectorCase { given: member("given")?, expect: member("expect")?, kind, id })
}

fn text_member(value: &Value, name: &str) -> Option<String> {
    value.get(name).and_then(Value::as_str).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn case(kind: &str, expect: Value) -> VectorCase {
        VectorCase { id: "c".into(), kind: kind.into(), given: json!({"n": 1}), expect }
    }

    #[test]
    fn an_unknown_kind_is_counted_and_never_passes() {
        let mut report = VectorReport::default();
        run_case(&case("nobody", json!({})), &[], &mut report);
        assert_eq!((report.passed, report.failed, report.unsupported), (0, 0, 1));
        assert!(!report.all_passed());
    }

    #[test]
    fn an_answer_must_equal_the_expectation() {
        let kind = VectorKind::equal("echo", |given| Ok(given.clone()));
        let mut report = VectorReport::default();
        run_case(&case("echo", json!({"n": 1.0})), &[kind], &mut report);
        run_case(&case("echo", json!({"n": 2})), &[kind], &mut report);
        assert_eq!((report.passed, report.failed), (1, 1));
        assert_eq!(report.results[1].detail, r#"expected {"n":2}, got {"n":1}"#);
    }

    #[test]
    fn no_case_at_all_is_no_success() {
        assert!(!VectorReport::default().all_passed());
    }
}
