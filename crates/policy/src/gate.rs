//! Gates, and their form in a policy: with defaults, and with a readable timeout (`"30s"`).

use probity_evidence::GlobList;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

/// A command that must pass.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "GateForm")]
pub struct Gate {
    pub id: String,
    /// The lowest tier at which it runs.
    pub tier: String,
    /// Program and arguments; no shell.
    pub run: Vec<String>,
    pub timeout_ms: u64,
    /// True if a failure of this gate fails the run.
    pub required: bool,
    /// Names of environment variables passed on from the caller, in addition to the default ones.
    pub env: Vec<String>,
    /// Paths in the tree that it may write.
    pub outputs: GlobList,
    /// Paths in the tree that decide what it does: a change of them fails the run.
    #[serde(skip_serializing_if = "GlobList::is_empty")]
    pub inputs: GlobList,
    /// What it checks, if the policy says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<GateKind>,
}

/// What a gate checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GateKind {
    /// It runs tests.
    Test,
    /// It checks anything else.
    Lint,
}

/// Words in the name or command of a gate that indicate tests.
const TEST_WORDS: [&str; 13] = [
    "test", "tests", "testing", "pytest", "unittest", "nextest", "ctest", "tox", "jest", "vitest", "mocha",
    "rspec", "phpunit",
];

impl Gate {
    /// Returns what the gate checks: what the policy says, otherwise a guess from its name and command.
    pub fn kind(&self) -> GateKind {
        let words = std::iter::once(&self.id).chain(&self.run);
        let mut words = words.flat_map(|text| text.split(|letter: char| !letter.is_ascii_alphanumeric()));
        let runs_tests = words.any(|word| TEST_WORDS.contains(&word.to_ascii_lowercase().as_str()));
        self.kind.unwrap_or(if runs_tests { GateKind::Test } else { GateKind::Lint })
    }
}

const DEFAULT_TIMEOUT_MS: u64 = 120_000;

/// One week.
const MAX_TIMEOUT_MS: u64 = 7 * 24 * 3_600_000;

pub(crate) fn default_tier() -> String {
    "T0".into()
}

/// A gate as written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct GateForm {
    id: String,
    #[serde(default = "default_tier")]
    tier: String,
    run: Vec<String>,
    timeout: Option<GateTimeout>,
    timeout_ms: Option<u64>,
    #[serde(default = "yes")]
    required: bool,
    #[serde(default)]
    env: Vec<String>,
    #[serde(default)]
    outputs: GlobList,
    #[serde(default)]
    inputs: GlobList,
    kind: Option<GateKind>,
}

fn yes() -> bool {
    true
}

impl TryFrom<GateForm> for Gate {
    type Error = String;

    fn try_from(form: GateForm) -> Result<Self, String> {
        let GateForm { id, tier, run, timeout, timeout_ms, required, env, outputs, inputs, kind } = form;
        if run.first().is_none_or(String::is_empty) {
            return Err(format!("gate `{id}` names no program in `run`"));
        }
        if let Some(name) = env.iter().find(|name| name.is_empty() || name.contains(['=', '\0'])) {
            return Err(format!(
                "gate `{id}` names a variable `{name}` in `env`, which no variable can be called"
            ));
        }
        let timeout_ms = match (timeout, timeout_ms) {
            (Some(_), Some(_)) => return Err(format!("gate `{id}` has both `timeout` and `timeout_ms`")),
            (Some(GateTimeout(ms)), None) | (None, Some(ms)) => ms,
            (None, None) => DEFAULT_TIMEOUT_MS,
        };
        Ok(Self { id, tier, run, timeout_ms, required, env, outputs, inputs, kind })
    }
}

/// Parses a duration into milliseconds: a whole number and `ms`, `s`, `m`, `min`, `h` or `d`.
pub fn duration_ms(text: &str) -> Option<u64> {
    let unit_at = text.find(|letter: char| !letter.is_ascii_digit())?;
    let (number, unit) = text.split_at(unit_at);
    let factor = match unit.trim_start() {
        "ms" => 1,
        "s" => 1_000,
        "m" | "min" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(factor)
}

/// A timeout in milliseconds, written as a duration.
struct GateTimeout(u64);

impl GateTimeout {
    fn parse(text: &str) -> Option<Self> {
        let ms = duration_ms(text)?;
        (1..=MAX_TIMEOUT_MS).contains(&ms).then_some(Self(ms))
    }
}

impl<'de> Deserialize<'de> for GateTimeout {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| {
            serde::de::Error::custom(format!(
                "`{text}` is not a time between 1ms and a week: write `30s`, `5m` or `1h`"
            ))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn gate(form: Value) -> Result<Gate, String> {
        serde_json::from_value(form).map_err(|error| error.to_string())
    }

    #[test]
    fn a_time_is_a_number_and_a_unit() {
        for (text, ms) in
            [("30s", 30_000), ("5m", 300_000), ("1h", 3_600_000), ("250ms", 250), ("2 min", 120_000)]
        {
            assert_eq!(GateTimeout::parse(text).map(|time| time.0), Some(ms), "{text}");
        }
        for bad in [
            "",
            "s",
            "30",
            "0s",
            "1.5s",
            "-1s",
            "8 days",
            "999999999999999999999h",
            "200h",
            "18446744073709551615h",
        ] {
            assert!(GateTimeout::parse(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn what_is_not_said_has_a_default() {
        let lint = gate(json!({"id": "lint", "run": ["ruff"]})).expect("a gate");
        assert_eq!((lint.tier.as_str(), lint.timeout_ms, lint.required), ("T0", 120_000, true));
    }

    #[test]
    fn a_gate_runs_tests_if_it_says_so_or_is_called_so() {
        let kind = |form: Value| gate(form).expect("a gate").kind();
        for tests in [
            json!({"id": "unit-tests", "run": ["make", "check"]}),
            json!({"id": "py", "run": ["python3", "-m", "pytest"]}),
            json!({"id": "rust", "run": ["cargo", "test"]}),
            json!({"id": "all", "run": ["make"], "kind": "test"}),
        ] {
            assert_eq!(kind(tests.clone()), GateKind::Test, "{tests}");
        }
        for other in [
            json!({"id": "lint", "run": ["ruff", "check"]}),
            json!({"id": "latest", "run": ["attest"]}),
            json!({"id": "tests", "run": ["mypy", "tests"], "kind": "lint"}),
        ] {
            assert_eq!(kind(other.clone()), GateKind::Lint, "{other}");
        }
    }

    #[test]
    fn refuses_gates_that_could_not_run_as_meant() {
        assert!(gate(json!({"id": "lint", "run": []})).is_err());
        assert!(gate(json!({"id": "lint", "run": [""]})).is_err());
        assert!(gate(json!({"id": "lint", "run": ["x"], "env": ["A=B"]})).is_err());
        assert!(gate(json!({"id": "lint", "run": ["x"], "timeout": "1s", "timeout_ms": 1000})).is_err());
        assert!(gate(json!({"id": "lint", "run": ["x"], "requird": false})).is_err());
    }
}
