//! The snapshot of claims that a hook reads instead of the registry, and the record of one session.
//!
//! Every command that changes a claim replaces the snapshot as a whole. It is a cache: the registry stays the source, and
//! a snapshot that is missing where Probity governs a tree means that nobody has declared anything.

use probity_intents::IntentScope;
use probity_paths::{PatternError, RepoPath, Scope};
use probity_policy::{SubagentRule, WithoutIntent};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The name of the snapshot in the state directory.
pub const GUARD_FILE: &str = "guard.json";
/// The directory of session records in the state directory.
pub const SESSIONS_DIR: &str = "sessions";

const GUARD_SCHEMA: &str = "probity/guard/v1";

/// Bytes as a string or as `{"bytes_hex": …}`, like a path.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct GuardBytes(pub Vec<u8>);

impl Serialize for GuardBytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        probity_core::bytes::to_json(&self.0).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for GuardBytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = serde_json::Value::deserialize(deserializer)?;
        probity_core::bytes::from_json(&value)
            .map(Self)
            .ok_or_else(|| serde::de::Error::custom("bytes are a string or {\"bytes_hex\": …}"))
    }
}

/// What a hook knows about a repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GuardSnapshot {
    pub schema: String,
    pub rules: GuardRules,
    pub intents: Vec<GuardedIntent>,
    pub runs: Vec<GuardedRun>,
}

/// The rules of the policy that concern a hook.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GuardRules {
    pub without_intent: WithoutIntent,
    pub subagents: SubagentRule,
    /// Patterns of build outputs, which nobody needs to declare.
    pub build_outputs: Vec<GuardBytes>,
    /// Patterns that no change may touch.
    pub protected: Vec<GuardBytes>,
}

/// An open intent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GuardedIntent {
    pub intent_id: String,
    /// The name of the owner.
    pub agent: String,
    /// The digest of the owner's handle, as in the log; only the owner can show the handle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// From the top of the working tree.
    pub scope: IntentScope,
    /// Whether it holds its paths; otherwise it waits in the queue.
    pub is_active: bool,
    /// Seconds since 1970.
    pub started_at: u64,
    pub expires_at: u64,
}

/// A running governed run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GuardedRun {
    pub run_id: String,
    /// The root of the run, from the top of the working tree; empty for the top.
    pub prefix: GuardBytes,
    pub scope: Vec<GuardBytes>,
    /// The process that supervises it. A run whose process is gone holds nothing.
    pub pid: u32,
}

impl GuardSnapshot {
    pub fn new(rules: GuardRules) -> Self {
        Self { schema: GUARD_SCHEMA.into(), rules, intents: Vec::new(), runs: Vec::new() }
    }

    /// Reads the snapshot.
    ///
    /// # Errors
    ///
    /// Returns why the bytes are no snapshot of this version.
    pub fn parse(bytes: &[u8]) -> Result<Self, String> {
        let snapshot: Self = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
        if snapshot.schema == GUARD_SCHEMA {
            Ok(snapshot)
        } else {
            Err(format!("its schema is {}, not {GUARD_SCHEMA}", snapshot.schema))
        }
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("a snapshot has text keys only")
    }

    pub fn intent(&self, intent_id: &str) -> Option<&GuardedIntent> {
        self.intents.iter().find(|intent| intent.intent_id == intent_id)
    }
}

impl GuardRules {
    /// Returns whether a path is a build output.
    pub(crate) fn is_build_output(&self, path: &RepoPath) -> bool {
        matches(&self.build_outputs, path)
    }

    pub(crate) fn is_protected(&self, path: &RepoPath) -> bool {
        matches(&self.protected, path)
    }
}

/// Patterns are checked when the policy is loaded; one that is invalid here matches nothing.
fn matches(patterns: &[GuardBytes], path: &RepoPath) -> bool {
    !patterns.is_empty() && compile(patterns).is_ok_and(|scope| scope.contains(path))
}

fn compile(patterns: &[GuardBytes]) -> Result<Scope, PatternError> {
    let patterns: Vec<&[u8]> = patterns.iter().map(|pattern| pattern.0.as_slice()).collect();
    Scope::parse(&patterns)
}

impl GuardedRun {
    /// Returns whether the run claims a path, named from the top of the working tree.
    pub(crate) fn claims(&self, path: &RepoPath) -> bool {
        path_below(&self.prefix, path)
            .is_some_and(|below| compile(&self.scope).is_ok_and(|scope| scope.contains(&below)))
    }
}

/// The variable in which a governed run tells the hooks below it what may change. In a view the state directory with the
/// snapshot is hidden.
pub const RUN_GUARD_VARIABLE: &str = "PROBITY_RUN_GUARD";

const RUN_GUARD_SCHEMA: &str = "probity/run-guard/v1";
/// The longest value of the variable; the kernel refuses to start a program with a longer one.
const MAX_RUN_GUARD_BYTES: usize = 100 * 1024;

/// The run that an agent works in, as its hook sees it. A hook gives an early word; the run judges the tree in any case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunGuard {
    schema: String,
    pub run_id: String,
    /// The top of the working tree, absolute.
    pub top: String,
    /// The root of the run, from the top of the working tree; empty for the top.
    pub prefix: GuardBytes,
    /// The sealed patterns; none if there are too many to tell, and then nothing is refused early.
    pub scope: Option<Vec<GuardBytes>>,
    /// Whether the agent works in a private view, from which only what is in scope lands.
    pub is_view: bool,
    pub rules: GuardRules,
}

impl RunGuard {
    pub fn new(run_id: &str, top: &str, prefix: &[u8], scope: Vec<GuardBytes>, rules: GuardRules) -> Self {
        Self {
            schema: RUN_GUARD_SCHEMA.into(),
            run_id: run_id.to_owned(),
            top: top.to_owned(),
            prefix: GuardBytes(prefix.to_vec()),
            scope: Some(scope),
            is_view: false,
            rules,
        }
    }

    /// Returns the value of the variable.
    pub fn to_text(&self) -> String {
        let text = |guard: &Self| serde_json::to_string(guard).expect("a guard has text keys only");
        let whole = text(self);
        if whole.len() <= MAX_RUN_GUARD_BYTES {
            return whole;
        }
        text(&Self { scope: None, rules: GuardRules::default(), ..self.clone() })
    }

    /// Reads the variable.
    ///
    /// # Errors
    ///
    /// Returns why the text is no guard of this version.
    pub fn parse(text: &str) -> Result<Self, String> {
        let guard: Self = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if guard.schema == RUN_GUARD_SCHEMA {
            Ok(guard)
        } else {
            Err(format!("its schema is {}, not {RUN_GUARD_SCHEMA}", guard.schema))
        }
    }

    /// Returns whether the run may change a path, named from the top of the working tree.
    pub(crate) fn allows(&self, path: &RepoPath) -> bool {
        let Some(scope) = &self.scope else { return true };
        path_below(&self.prefix, path)
            .is_some_and(|below| compile(scope).is_ok_and(|scope| scope.contains(&below)))
    }
}

/// Returns a path relative to a prefix.
fn path_below(prefix: &GuardBytes, path: &RepoPath) -> Option<RepoPath> {
    if prefix.0.is_empty() {
        return Some(path.clone());
    }
    let below = path.as_bytes().strip_prefix(prefix.0.as_slice())?.strip_prefix(b"/")?;
    RepoPath::parse(below).ok()
}

/// What is known of one session of an agent, or of one of its sub-agents.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SessionRecord {
    /// The intents that the session started.
    pub intents: Vec<String>,
    /// The programs that it ran and whose writes their command lines did not show, as they were called.
    pub unproven_programs: Vec<String>,
    pub state: SessionState,
}

/// The part of a session's record that is replaced as a whole. Losing an update repeats a line, nothing more.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SessionState {
    /// The word of the agent.
    pub agent: String,
    /// The intents for which it was asked to finish.
    pub asked_to_finish: Vec<String>,
    /// The last line that it was told after a tool.
    pub last_line: String,
    /// The digest of the guard's configuration at the first event of the session.
    pub configuration: String,
    /// Whether that configuration changed during the session.
    pub is_altered: bool,
    /// The program of the hook at that event: its path, and what tells whether it was replaced.
    pub program: String,
    pub program_identity: String,
}

impl SessionState {
    /// Reads a state; an unreadable one counts as none.
    pub fn parse(bytes: &[u8]) -> Self {
        serde_json::from_slice(bytes).unwrap_or_default()
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("a state has text keys only")
    }
}

/// Returns the directory name of a session's record. Sessions choose their names, so this is a digest.
pub fn session_key(agent: &str, session: &str, subagent: Option<&str>) -> String {
    let text = format!("{agent}\0{session}\0{}", subagent.unwrap_or_default());
    probity_core::Digest::of(text.as_bytes()).to_hex()[..32].to_owned()
}

/// The file of a session's state in its directory.
pub const SESSION_STATE_FILE: &str = "state.json";
/// The directory with one file for every intent that a session started; the file has the key of the session.
pub const BOUND_DIR: &str = "bound";

/// Names the file of an intent. Ids may have any character; those that Probity makes are plain.
pub fn intent_file(intent_id: &str) -> String {
    let is_plain = intent_id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    if is_plain {
        format!("i-{intent_id}")
    } else {
        format!("d-{}", &probity_core::Digest::of(intent_id.as_bytes()).to_hex()[..32])
    }
}

/// How many programs of a session whose writes no command line showed are named.
pub const MAX_UNPROVEN_PROGRAMS: usize = 8;
/// The longest name of such a program that is kept, in bytes.
const MAX_PROGRAM_NAME_BYTES: usize = 60;

/// Names the file that says that a session ran a program whose writes its command line did not show.
pub fn unproven_program_file(program: &str) -> String {
    let shown = program.chars().map(|it| if it.is_ascii_graphic() { it } else { '?' });
    let name: String = shown.take(MAX_PROGRAM_NAME_BYTES).collect();
    format!("p-{}", name.replace('%', "%25").replace('/', "%2F"))
}

/// Returns the program that a file of a session names; `None` if it is another file.
pub fn unproven_program_of(file: &str) -> Option<String> {
    file.strip_prefix("p-").map(|name| name.replace("%2F", "/").replace("%25", "%"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_read_from_the_name_of_its_file() {
        for program in ["python3", "./scripts/100%/build.sh", "%2F"] {
            let file = unproven_program_file(program);
            assert!(!file.contains('/'), "{file}");
            assert_eq!(unproven_program_of(&file).as_deref(), Some(program));
        }
        assert_eq!(unproven_program_of(&unproven_program_file("a b\u{e9}\n")).as_deref(), Some("a?b??"));
        assert!(unproven_program_file(&"x".repeat(5000)).len() < 255);
        assert_eq!(unproven_program_of(&intent_file("01a1e514")), None);
    }
}
