//! The reason codes: the one list of them (law 12).
//!
//! A code is a promise: it never changes its meaning, and it is never reused. People see the meaning and the next
//! step; programs rely on the code. `docs/reasons.md` is generated from this file.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

/// Why something was refused, failed or reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(
    missing_docs,
    reason = "each variant is documented by its meaning, which the generated table prints"
)]
pub enum Reason {
    ReconUntrackedDelta,
    ReconSnapshotMissing,
    ProtectedChanged,
    UnsafeFifo,
    UnsafeSocket,
    UnsafeDevice,
    UnsafeMountPoint,
    UnsafeHardLink,
    UnsafeLinkEscapes,
    UnsafeNameCollision,
    UnsafeGitLookAlike,
    TreeUnavailable,
    TreeUnstable,
    TreeTouched,
    RunCommandFailed,
    RunCommandNotStarted,
    RunCancelled,
    RunInterrupted,
    RunSurvivors,
    RunLocked,
    GateFailed,
    GateMissing,
    GateSkipped,
    GateTimedOut,
    GateNotStarted,
    GateSurvivors,
    GateInputChanged,
    SealPlanMismatch,
    SealMissingGates,
    SealScopeViolation,
    SealPolicyDrift,
    SealDamaged,
    EvidenceManifestMissing,
    EvidenceSchemaInvalid,
    EvidenceNotCanonical,
    EvidenceRunHashMismatch,
    EvidencePathTraversal,
    EvidenceArtifactMissing,
    EvidenceArtifactMismatch,
    EvidenceArtifactUnlisted,
    EvidenceProfileMismatch,
    EvidenceDeltaMismatch,
    EvidenceReconciliationMismatch,
    EvidenceStatusMismatch,
    EvidenceChainBroken,
    EvidenceSignatureRequired,
    EvidenceKeyUnknown,
    EvidenceSignatureInvalid,
    EvidenceTreeMismatch,
    ScopeEmptyPattern,
    ScopeNul,
    ScopeAbsolute,
    ScopeEmptySegment,
    ScopeTrailingSlash,
    ScopeDotSegment,
    ScopeDoubleStarInSegment,
    ScopeUnclosedClass,
    ScopeBadRange,
    ScopeGlobInLiteral,
    ScopeAllowedAndForbidden,
    ScopeNoInclude,
    ScopeNamesDirectory,
    ScopeLookAlike,
    ScopeLooksLikeGlob,
    ScopeLiteralBang,
    ScopeDuplicate,
    ScopeCatchAll,
    ScopeExcludeInert,
    ScopeEmptyScope,
    ScopeBroad,
    ScopeTooComplex,
    PathInvalid,
    PlanDuplicateId,
    PlanUnknownGate,
    PlanBadTier,
    PlanUnknownProfile,
    PlanUnknownPack,
    PlanPackCapExceeded,
    ConfigInvalid,
    ConfigExists,
    ConfigForeign,
    TrustInvalid,
    JsonNotUtf8,
    JsonSyntax,
    JsonDuplicateKey,
    JsonNonFinite,
    JsonIntegerPrecision,
    JsonLoneSurrogate,
    JsonTrailingBytes,
    JsonTooDeep,
    AmendNotAllowed,
    AmendIncomplete,
    AmendFromInside,
    RevertChangedSince,
    RevertNoBeforeImage,
    OwnerInvalid,
    LedgerInputInvalid,
    LedgerNoSuchItem,
    LedgerNoSuchPosition,
    LedgerNoSuchStream,
    LedgerFull,
    LedgerReviewNeeded,
    LedgerModelFailed,
    IntentInvalid,
    StateDamaged,
    StateNewer,
    StateNetwork,
    StateBusy,
    KeyInvalid,
    KeyExists,
    KeyMissing,
}

/// What a reason says to programs (`code`) and to people (`meaning`, `next_step`).
struct Entry {
    reason: Reason,
    code: &'static str,
    meaning: &'static str,
    next_step: &'static str,
}

const fn entry(reason: Reason, code: &'static str, meaning: &'static str, next_step: &'static str) -> Entry {
    Entry { reason, code, meaning, next_step }
}

/// One row a variant, in the order of the enum; a test holds the two together.
#[rustfmt::skip]
const TABLE: &[Entry] = &[
    entry(Reason::ReconUntrackedDelta, "RECON.UNTRACKED_DELTA",
        "a path changed that the sealed scope does not let in",
        "expand the scope with `probity amend`, undo the path with `probity revert`, or do it in a run of its own"),
    entry(Reason::ReconSnapshotMissing, "RECON.SNAPSHOT_MISSING",
        "one of the two snapshots could not be taken, so the delta is not known",
        "make the tree readable and run again"),
    entry(Reason::ProtectedChanged, "PROTECTED.CHANGED",
        "a protected path changed: git's own files, Probity's state, the policy, or a path that the policy protects",
        "undo the change, or allow it for one run with `--grant PATTERN`"),
    entry(Reason::UnsafeFifo, "UNSAFE.FIFO",
        "a named pipe lies in the tree; its content cannot be judged",
        "remove it"),
    entry(Reason::UnsafeSocket, "UNSAFE.SOCKET",
        "a socket lies in the tree; its content cannot be judged",
        "remove it"),
    entry(Reason::UnsafeDevice, "UNSAFE.DEVICE",
        "a device file lies in the tree; its content cannot be judged",
        "remove it"),
    entry(Reason::UnsafeMountPoint, "UNSAFE.MOUNT_POINT",
        "another file system is mounted inside the tree",
        "unmount it, or run Probity on that tree itself"),
    entry(Reason::UnsafeHardLink, "UNSAFE.HARD_LINK",
        "a file has a hard link outside the tree, so it can be changed from there",
        "break the link by copying the file"),
    entry(Reason::UnsafeLinkEscapes, "UNSAFE.LINK_ESCAPES",
        "a symbolic link leads out of the tree, so a write through it is not seen",
        "remove the link, or point it into the tree"),
    entry(Reason::UnsafeNameCollision, "UNSAFE.NAME_COLLISION",
        "two names differ only in case or Unicode form, on a file system that folds them",
        "rename one of the two"),
    entry(Reason::UnsafeGitLookAlike, "UNSAFE.GIT_LOOK_ALIKE",
        "a name passes for `.git` on other systems",
        "rename it"),
    entry(Reason::TreeUnavailable, "TREE.UNAVAILABLE",
        "a path could not be read",
        "make it readable for the user who runs Probity"),
    entry(Reason::TreeUnstable, "TREE.UNSTABLE",
        "a path kept changing while it was read",
        "stop what writes there and run again"),
    entry(Reason::TreeTouched, "TREE.TOUCHED",
        "something about an entry changed that is no part of its content: its owner, its attributes, its times",
        "compare it with a copy if that matters to you; content, type and permission bits are the same"),
    entry(Reason::RunCommandFailed, "RUN.COMMAND_FAILED",
        "the command ended with an exit code other than 0",
        "look at its output, mend the cause and run again"),
    entry(Reason::RunCommandNotStarted, "RUN.COMMAND_NOT_STARTED",
        "the command could not be started",
        "check its name and permissions"),
    entry(Reason::RunCancelled, "RUN.CANCELLED",
        "the run was ended from outside, by Ctrl-C or a signal",
        "run again when it suits"),
    entry(Reason::RunInterrupted, "RUN.INTERRUPTED",
        "the supervising process ended without writing evidence; the run was closed afterwards",
        "look at the tree with `git status`, then run again"),
    entry(Reason::RunSurvivors, "RUN.SURVIVORS",
        "the command left processes behind; they were ended before the last snapshot",
        "let the command wait for its children"),
    entry(Reason::RunLocked, "RUN.LOCKED",
        "another run works on this tree",
        "wait for it, or use another worktree"),
    entry(Reason::GateFailed, "GATE.FAILED",
        "a required gate did not pass",
        "read its log, mend the cause and run again"),
    entry(Reason::GateMissing, "GATE.MISSING",
        "a required gate has no result",
        "run again with the sealed plan"),
    entry(Reason::GateSkipped, "GATE.SKIPPED",
        "a required gate did not run",
        "mend the gate before it, then run again"),
    entry(Reason::GateTimedOut, "GATE.TIMED_OUT",
        "a gate ran longer than its timeout and was ended with all its children",
        "raise the timeout in the policy or make the gate faster"),
    entry(Reason::GateNotStarted, "GATE.NOT_STARTED",
        "a gate's command could not be started",
        "install the program or correct `run` in the policy"),
    entry(Reason::GateSurvivors, "GATE.SURVIVORS",
        "a gate left processes behind; they were ended and the gate failed",
        "let the gate wait for its children"),
    entry(Reason::GateInputChanged, "GATE.INPUT_CHANGED",
        "the change touches a file that a gate's command names",
        "have a person look at that file: the gate judged with it"),
    entry(Reason::SealPlanMismatch, "SEAL.PLAN_MISMATCH",
        "the plan is not the one that was sealed",
        "use the sealed plan; a new plan needs a new run"),
    entry(Reason::SealMissingGates, "SEAL.MISSING_GATES",
        "gates of the sealed plan did not run",
        "run every gate of the sealed plan"),
    entry(Reason::SealScopeViolation, "SEAL.SCOPE_VIOLATION",
        "a changed path lies outside the sealed scope and its amendments",
        "expand, revert or split, as for RECON.UNTRACKED_DELTA"),
    entry(Reason::SealPolicyDrift, "SEAL.POLICY_DRIFT",
        "the policy versions are not those of the sealed plan",
        "run again under the present policy"),
    entry(Reason::SealDamaged, "SEAL.DAMAGED",
        "the stored seal of a run is missing or is not what was written",
        "treat the run as failed and run again"),
    entry(Reason::EvidenceManifestMissing, "EVIDENCE.MANIFEST_MISSING",
        "the bundle has no manifest.json",
        "get the whole bundle"),
    entry(Reason::EvidenceSchemaInvalid, "EVIDENCE.SCHEMA_INVALID",
        "a field of the manifest is missing, of the wrong type or misspelt",
        "get the bundle as Probity wrote it"),
    entry(Reason::EvidenceNotCanonical, "EVIDENCE.NOT_CANONICAL",
        "the manifest is not in canonical form",
        "get the bundle as Probity wrote it"),
    entry(Reason::EvidenceRunHashMismatch, "EVIDENCE.RUN_HASH_MISMATCH",
        "the manifest was changed after it was hashed",
        "do not trust this bundle; get it from its author again"),
    entry(Reason::EvidencePathTraversal, "EVIDENCE.PATH_TRAVERSAL",
        "a listed file name leads out of the bundle",
        "do not trust this bundle"),
    entry(Reason::EvidenceArtifactMissing, "EVIDENCE.ARTIFACT_MISSING",
        "a listed file is not in the bundle",
        "get the whole bundle"),
    entry(Reason::EvidenceArtifactMismatch, "EVIDENCE.ARTIFACT_MISMATCH",
        "a file of the bundle was changed",
        "do not trust this bundle; get it from its author again"),
    entry(Reason::EvidenceArtifactUnlisted, "EVIDENCE.ARTIFACT_UNLISTED",
        "the bundle has a file that the manifest does not list",
        "remove the file or do not trust the bundle"),
    entry(Reason::EvidenceProfileMismatch, "EVIDENCE.PROFILE_MISMATCH",
        "the run was made under another profile than the one required",
        "run again with the required profile"),
    entry(Reason::EvidenceDeltaMismatch, "EVIDENCE.DELTA_MISMATCH",
        "the delta, its list of paths and the two tree roots do not agree",
        "do not trust this bundle"),
    entry(Reason::EvidenceReconciliationMismatch, "EVIDENCE.RECONCILIATION_MISMATCH",
        "the recorded untracked paths are not those that follow from scope and delta",
        "do not trust this bundle"),
    entry(Reason::EvidenceStatusMismatch, "EVIDENCE.STATUS_MISMATCH",
        "the manifest says pass although its own facts say fail",
        "do not trust this bundle"),
    entry(Reason::EvidenceChainBroken, "EVIDENCE.CHAIN_BROKEN",
        "the bundle does not follow the one before it",
        "ask for the missing bundles"),
    entry(Reason::EvidenceSignatureRequired, "EVIDENCE.SIGNATURE_REQUIRED",
        "the bundle is not signed, and a signature is required",
        "sign runs: `probity keys generate`"),
    entry(Reason::EvidenceKeyUnknown, "EVIDENCE.KEY_UNKNOWN",
        "the bundle is signed with a key that the caller does not trust",
        "add the key to the trust file if you trust it"),
    entry(Reason::EvidenceSignatureInvalid, "EVIDENCE.SIGNATURE_INVALID",
        "the signature does not fit the manifest",
        "do not trust this bundle"),
    entry(Reason::EvidenceTreeMismatch, "EVIDENCE.TREE_MISMATCH",
        "the tree is not, or no longer, the one that the bundle describes",
        "compare with the tree as it was when the run ended"),
    entry(Reason::ScopeEmptyPattern, "SCOPE.EMPTY_PATTERN",
        "a pattern is empty",
        "write the pattern, or leave the entry out"),
    entry(Reason::ScopeNul, "SCOPE.NUL",
        "a pattern or path has a NUL byte",
        "remove it: no file name can have one"),
    entry(Reason::ScopeAbsolute, "SCOPE.ABSOLUTE",
        "a pattern or path begins with `/`",
        "write it relative to the root of the tree"),
    entry(Reason::ScopeEmptySegment, "SCOPE.EMPTY_SEGMENT",
        "a pattern or path has an empty segment (`//`)",
        "write a single `/`"),
    entry(Reason::ScopeTrailingSlash, "SCOPE.TRAILING_SLASH",
        "a pattern or path ends with `/`",
        "write `dir/**` for everything below `dir`"),
    entry(Reason::ScopeDotSegment, "SCOPE.DOT_SEGMENT",
        "a pattern or path has a segment `.` or `..`",
        "write the path as the tree has it"),
    entry(Reason::ScopeDoubleStarInSegment, "SCOPE.DOUBLE_STAR_IN_SEGMENT",
        "`**` stands beside other characters in a segment",
        "write `**/*.py` instead of `**.py`"),
    entry(Reason::ScopeUnclosedClass, "SCOPE.UNCLOSED_CLASS",
        "a `[` has no `]`",
        "close it, or write `[[]` for the character itself"),
    entry(Reason::ScopeBadRange, "SCOPE.BAD_RANGE",
        "a range runs backwards, as `[z-a]`",
        "turn it round"),
    entry(Reason::ScopeGlobInLiteral, "SCOPE.GLOB_IN_LITERAL",
        "a list of literal paths has a `*` or `?`",
        "list the files, or use `scope` of a plan, which takes patterns"),
    entry(Reason::ScopeAllowedAndForbidden, "SCOPE.ALLOWED_AND_FORBIDDEN",
        "a path is allowed and forbidden at once",
        "remove it from one of the two lists"),
    entry(Reason::ScopeNoInclude, "SCOPE.NO_INCLUDE",
        "the scope only excludes, so it lets nothing in",
        "begin with a pattern that lets something in"),
    entry(Reason::ScopeNamesDirectory, "SCOPE.NAMES_DIRECTORY",
        "an entry names a directory: it covers that one name, not what lies below",
        "write `dir/**`, or list the files"),
    entry(Reason::ScopeLookAlike, "SCOPE.LOOK_ALIKE",
        "no such name exists, but one that looks alike does",
        "write the name exactly as the tree has it"),
    entry(Reason::ScopeLooksLikeGlob, "SCOPE.LOOKS_LIKE_GLOB",
        "a literal entry has brackets, and no such file exists",
        "list the files: brackets are ordinary characters here"),
    entry(Reason::ScopeLiteralBang, "SCOPE.LITERAL_BANG",
        "an entry begins with `!`, which excludes nothing here",
        "remove it, or use `forbidden`"),
    entry(Reason::ScopeDuplicate, "SCOPE.DUPLICATE",
        "an entry occurs twice",
        "remove one of the two"),
    entry(Reason::ScopeCatchAll, "SCOPE.CATCH_ALL",
        "the pattern lets in everything",
        "name what will really be touched"),
    entry(Reason::ScopeExcludeInert, "SCOPE.EXCLUDE_INERT",
        "the exclusion takes nothing away from the patterns before it",
        "correct it or remove it"),
    entry(Reason::ScopeEmptyScope, "SCOPE.EMPTY_SCOPE",
        "the scope is empty: every change will be a violation",
        "declare what will be touched"),
    entry(Reason::ScopeBroad, "SCOPE.BROAD",
        "the scope covers most of the tree",
        "name what will really be touched; `probity plan --suggest` helps"),
    entry(Reason::ScopeTooComplex, "SCOPE.TOO_COMPLEX",
        "the patterns are too intricate to compare with another scope",
        "use fewer or simpler exclusions"),
    entry(Reason::PathInvalid, "PATH.INVALID",
        "this is no path of a tree: empty, absolute, or with `.`, `..`, `//`, a `/` at the end or a NUL",
        "write the path relative to the root, as the tree has it"),
    entry(Reason::PlanDuplicateId, "PLAN.DUPLICATE_ID",
        "two packs, gates or profiles have one id",
        "rename one of the two"),
    entry(Reason::PlanUnknownGate, "PLAN.UNKNOWN_GATE",
        "a pack names a gate that the policy does not have",
        "define the gate or correct the name"),
    entry(Reason::PlanBadTier, "PLAN.BAD_TIER",
        "a tier is not `T` and a number",
        "write it as `T0`, `T1` and so on"),
    entry(Reason::PlanUnknownProfile, "PLAN.UNKNOWN_PROFILE",
        "the policy has no such profile",
        "choose one of the policy's profiles"),
    entry(Reason::PlanUnknownPack, "PLAN.UNKNOWN_PACK",
        "the policy has no such pack",
        "choose one of the policy's packs"),
    entry(Reason::PlanPackCapExceeded, "PLAN.PACK_CAP_EXCEEDED",
        "the change needs more packs than the profile allows",
        "split the change"),
    entry(Reason::ConfigInvalid, "CONFIG.INVALID",
        "the configuration cannot be read as it is",
        "correct the named place in `probity.toml`"),
    entry(Reason::ConfigExists, "CONFIG.EXISTS",
        "there is a policy already",
        "edit it; `probity init --dry-run` shows what a new one would say"),
    entry(Reason::ConfigForeign, "CONFIG.FOREIGN",
        "the configuration of another program cannot be edited safely",
        "make the named change by hand, or repair the file and try again"),
    entry(Reason::TrustInvalid, "TRUST.INVALID",
        "the trust file cannot be read as it is",
        "correct the named place; docs/evidence.md shows the form"),
    entry(Reason::JsonNotUtf8, "JSON.NOT_UTF8",
        "the bytes are not UTF-8",
        "write the document as UTF-8"),
    entry(Reason::JsonSyntax, "JSON.SYNTAX",
        "this is not JSON",
        "correct the document at the named byte"),
    entry(Reason::JsonDuplicateKey, "JSON.DUPLICATE_KEY",
        "an object has one key twice",
        "remove one of the two"),
    entry(Reason::JsonNonFinite, "JSON.NON_FINITE",
        "a number is not finite",
        "write a number that a double can hold"),
    entry(Reason::JsonIntegerPrecision, "JSON.INTEGER_PRECISION",
        "an integer is too large to mean the same to every reader",
        "write it as a string"),
    entry(Reason::JsonLoneSurrogate, "JSON.LONE_SURROGATE",
        "an escape is half of a surrogate pair",
        "write the whole character"),
    entry(Reason::JsonTrailingBytes, "JSON.TRAILING_BYTES",
        "there is more after the value",
        "remove it: a document is one value"),
    entry(Reason::JsonTooDeep, "JSON.TOO_DEEP",
        "arrays and objects are nested more than 128 deep",
        "flatten the document"),
    entry(Reason::AmendNotAllowed, "AMEND.NOT_ALLOWED",
        "the policy does not allow an amendment at this point",
        "declare the scope before the run, or change the policy's `amend`"),
    entry(Reason::AmendIncomplete, "AMEND.INCOMPLETE",
        "an amendment does not say who amends, why, or what to add",
        "name all three: `--by`, `--why`, `--add`"),
    entry(Reason::AmendFromInside, "AMEND.FROM_INSIDE",
        "the amendment came from inside the run that it would widen",
        "have someone else amend: the judged cannot widen their own scope"),
    entry(Reason::RevertChangedSince, "REVERT.CHANGED_SINCE",
        "the path changed again after the run, so undoing it would lose that",
        "look at the path and undo it by hand"),
    entry(Reason::RevertNoBeforeImage, "REVERT.NO_BEFORE_IMAGE",
        "the content from before the run is not kept anywhere that Probity can check",
        "restore the path from your own copy"),
    entry(Reason::OwnerInvalid, "OWNER.INVALID",
        "what was said about the owner of an intent cannot be true or cannot be kept",
        "give the handle that the start answered, and name only a process that started this one"),
    entry(Reason::LedgerInputInvalid, "LEDGER.INPUT_INVALID",
        "what was given to the ledger is not of the form that it takes",
        "look at the message; `probity ledger propose --help` shows the form"),
    entry(Reason::LedgerNoSuchItem, "LEDGER.NO_SUCH_ITEM",
        "no item of the ledger goes by this handle or id",
        "`probity ledger show --all` lists all items"),
    entry(Reason::LedgerNoSuchPosition, "LEDGER.NO_SUCH_POSITION",
        "the ledger has no such position",
        "positions count from 0 to the `seq` that every answer of the ledger names"),
    entry(Reason::LedgerNoSuchStream, "LEDGER.NO_SUCH_STREAM",
        "the ledger has no stream of this name",
        "`probity ledger merge` without a name lists the streams; proposing to a new name begins one"),
    entry(Reason::LedgerFull, "LEDGER.FULL",
        "the ledger cannot number more inputs",
        "begin a new ledger from an export of this one"),
    entry(Reason::LedgerReviewNeeded, "LEDGER.REVIEW_NEEDED",
        "merging the stream would lose intent, contradict the ledger, or break one of its rules",
        "decide each point with `--resolve ID=CHOICE`, then merge again"),
    entry(Reason::LedgerModelFailed, "LEDGER.MODEL_FAILED",
        "the model gave no usable answer, so the turns were not read",
        "the turns stay pending: try again with `probity ledger ingest --pending`, or without a model"),
    entry(Reason::IntentInvalid, "INTENT.INVALID",
        "an intent or its evidence is not complete, or is larger than can be kept",
        "say what the change is for and name the files that it changes"),
    entry(Reason::StateDamaged, "STATE.DAMAGED",
        "a file of Probity's own state is not what was written",
        "keep a copy for study, then remove the named file"),
    entry(Reason::StateNewer, "STATE.NEWER",
        "a newer program wrote this state",
        "use the newer program; nothing was changed"),
    entry(Reason::StateNetwork, "STATE.NETWORK",
        "the state lies on a network file system, where several processes cannot share a database",
        "keep the repository, or its git directory, on a local disk"),
    entry(Reason::StateBusy, "STATE.BUSY",
        "another process keeps the right to write and does not give it back",
        "see whether that process is stopped, let it go on, then try again"),
    entry(Reason::KeyInvalid, "KEY.INVALID",
        "a key file is not what it should be",
        "make a new one with `probity keys generate`"),
    entry(Reason::KeyExists, "KEY.EXISTS",
        "this repository has a signing key already",
        "keep its public half for old bundles, remove the key's file from the state directory, then make a new one"),
    entry(Reason::KeyMissing, "KEY.MISSING",
        "this repository has no signing key",
        "make one with `probity keys generate`"),
];

impl Reason {
    /// Every reason, in the order of the table.
    pub fn all() -> impl Iterator<Item = Self> {
        TABLE.iter().map(|entry| entry.reason)
    }

    /// The stable code, as `RECON.UNTRACKED_DELTA`.
    pub fn code(self) -> &'static str {
        self.entry().code
    }

    /// What happened, in words.
    pub fn meaning(self) -> &'static str {
        self.entry().meaning
    }

    /// What to do about it.
    pub fn next_step(self) -> &'static str {
        self.entry().next_step
    }

    fn entry(self) -> &'static Entry {
        &TABLE[self as usize]
    }
}

/// A text that is no reason code.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no reason code")]
pub struct UnknownReason(String);

impl FromStr for Reason {
    type Err = UnknownReason;

    fn from_str(text: &str) -> Result<Self, UnknownReason> {
        Self::all().find(|reason| reason.code() == text).ok_or_else(|| UnknownReason(text.to_owned()))
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

impl Serialize for Reason {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.code())
    }
}

impl<'de> Deserialize<'de> for Reason {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_table_follows_the_enum() {
        for (index, entry) in TABLE.iter().enumerate() {
            assert_eq!(entry.reason as usize, index, "{} is out of order", entry.code);
        }
    }

    #[test]
    fn every_code_is_its_own_and_can_be_read_back() {
        let codes: BTreeSet<_> = Reason::all().map(Reason::code).collect();
        assert_eq!(codes.len(), TABLE.len());
        for reason in Reason::all() {
            assert_eq!(reason.code().parse(), Ok(reason));
        }
    }

    #[test]
    fn every_reason_says_what_to_do() {
        for reason in Reason::all() {
            assert!(!reason.meaning().is_empty() && !reason.next_step().is_empty(), "{reason}");
        }
    }
}
