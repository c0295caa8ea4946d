//! The reason codes: why something was refused, failed or reported.
//!
//! Programs rely on the code, people read the meaning and the next step. `docs/reasons.md` is generated from
//! this file and the other code tables.

crate::code_enum! {
    /// Why something was refused, failed or reported.
    pub enum ReasonCode {
        ReconUntrackedDelta = "RECON.UNTRACKED_DELTA", "a changed path is outside the sealed scope",
            "widen the scope with `probity amend`, undo the change with `probity revert`, or make it in a separate run";
        ReconOutsideRoot = "RECON.OUTSIDE_ROOT", "a commit or the index changes a path outside of the root, which lies below the top of the repository",
            "take the commit back (`git reset`), or govern the whole repository with `--root` at its top";
        ReconSnapshotMissing = "RECON.SNAPSHOT_MISSING", "one of the two snapshots could not be taken, so it is not known what changed",
            "make the tree readable and run again";
        ProtectedChanged = "PROTECTED.CHANGED", "a protected path changed: git's own files, Probity's state, the policy, or a path that the policy protects",
            "undo the change, or allow it for one run with `--grant PATTERN`";
        UnsafeFifo = "UNSAFE.FIFO", "the tree contains a named pipe, whose content cannot be judged", "remove it";
        UnsafeSocket = "UNSAFE.SOCKET", "the tree contains a socket, whose content cannot be judged", "remove it";
        UnsafeDevice = "UNSAFE.DEVICE", "the tree contains a device file, whose content cannot be judged", "remove it";
        UnsafeMountPoint = "UNSAFE.MOUNT_POINT", "another file system is mounted inside the tree", "unmount it, or run Probity inside it";
        UnsafeHardLink = "UNSAFE.HARD_LINK", "a file has a hard link outside the tree and can be changed through it", "replace the file with a copy of itself";
        UnsafeLinkEscapes = "UNSAFE.LINK_ESCAPES", "a symbolic link points out of the tree; writes through it are not seen",
            "remove the link, or point it into the tree";
        UnsafeNameCollision = "UNSAFE.NAME_COLLISION", "two names differ only in case or Unicode form, on a file system that folds them", "rename one of the two";
        UnsafeGitLookAlike = "UNSAFE.GIT_LOOK_ALIKE", "other systems read this name as `.git`", "rename it";
        TreeUnavailable = "TREE.UNAVAILABLE", "a path could not be read", "make it readable by the user who runs Probity";
        TreeUnstable = "TREE.UNSTABLE", "a path kept changing while it was read", "stop what writes there and run again";
        TreeTouched = "TREE.TOUCHED", "the owner, attributes or timestamps of an entry changed, but not its content",
            "nothing to do unless these matter to you; content, type and permission bits are the same";
        RunCommandFailed = "RUN.COMMAND_FAILED", "the command failed: its exit code is not 0", "read its output, fix the cause and run again";
        RunCommandNotStarted = "RUN.COMMAND_NOT_STARTED", "the command could not be started", "check its name and permissions";
        RunCancelled = "RUN.CANCELLED", "the run was stopped by Ctrl-C or a signal", "run again when you are ready";
        RunInterrupted = "RUN.INTERRUPTED", "Probity was killed before it could write evidence; the next start closed the run",
            "look at what it left with `git status` and `git diff`, undo by hand what should not stay, then run again";
        RunSurvivors = "RUN.SURVIVORS", "the command left processes running; they were killed before the last snapshot",
            "make the command wait for its child processes";
        RunLocked = "RUN.LOCKED", "another run works on this tree", "wait for it, or use another worktree";
        RunClaimed = "RUN.CLAIMED", "somebody else's live intent holds paths of the scope; nothing ran",
            "wait until it is finished (`probity status` shows it), or leave its paths out of the scope with `!`";
        RunUnknown = "RUN.UNKNOWN", "no run has this name, or more than one does", "`probity evidence list` shows the runs of this repository";
        AnalysisUnknown = "ANALYSIS.UNKNOWN", "no stored analysis has this name, or more than one does",
            "`probity runs list` shows the stored analyses; `probity analyze` makes one";
        AnalysisPathUnknown = "ANALYSIS.PATH_UNKNOWN", "a path is not in the analysis of the tree: it is not there, or its language is not read",
            "name source files of the tree; `probity analyze` says which files were read";
        AnalysisBaselineUntrusted = "ANALYSIS.BASELINE_UNTRUSTED", "the baseline is damaged, or was captured by another analyzer or with other settings",
            "restore the file from git, or capture it again with `probity analyze baseline capture --why TEXT`";
        GateFailed = "GATE.FAILED", "a required gate did not pass", "read its log, fix the cause and run again";
        GateMissing = "GATE.MISSING", "a required gate has no result", "run again with the sealed plan";
        GateSkipped = "GATE.SKIPPED", "a required gate did not run", "fix the gate that failed before it, then run again";
        GateTimedOut = "GATE.TIMED_OUT", "a gate ran longer than its timeout and was killed with its child processes",
            "raise the timeout in the policy or make the gate faster";
        GateNotStarted = "GATE.NOT_STARTED", "a gate's command could not be started", "install the program or correct `run` in the policy";
        GateSurvivors = "GATE.SURVIVORS", "a gate left processes running; they were killed and the gate failed", "make the gate wait for its child processes";
        GateProgramChanged = "GATE.PROGRAM_CHANGED", "a program that a gate executes is not the one that was sealed, so the gate was not run",
            "restore the program; change gate programs in a separate run, without that gate";
        GateInputChanged = "GATE.INPUT_CHANGED", "the change touches what a gate executes, imports or is given by name",
            "have a person review it: the gate's result depends on it";
        SealPlanMismatch = "SEAL.PLAN_MISMATCH", "the plan is not the one that was sealed", "use the sealed plan; a new plan needs a new run";
        SealMissingGates = "SEAL.MISSING_GATES", "gates of the sealed plan did not run", "run every gate of the sealed plan";
        SealScopeViolation = "SEAL.SCOPE_VIOLATION", "a changed path is outside the sealed scope and its amendments",
            "widen the scope, revert the path, or make the change in a separate run";
        SealPolicyDrift = "SEAL.POLICY_DRIFT", "the policy's versions are not those of the sealed plan", "run again under the current policy";
        SealDamaged = "SEAL.DAMAGED", "the stored seal of a run is missing or was altered", "treat the run as failed and run again";
        EvidenceManifestMissing = "EVIDENCE.MANIFEST_MISSING", "the bundle has no manifest.json", "get the whole bundle";
        EvidenceSchemaInvalid = "EVIDENCE.SCHEMA_INVALID", "a field of the manifest is missing, misspelled or of the wrong type",
            "get the bundle as Probity wrote it";
        EvidenceNotCanonical = "EVIDENCE.NOT_CANONICAL", "the manifest is not in canonical form", "get the bundle as Probity wrote it";
        EvidenceRunHashMismatch = "EVIDENCE.RUN_HASH_MISMATCH", "the manifest was changed after it was hashed",
            "do not trust this bundle; get it from its author again";
        EvidencePathTraversal = "EVIDENCE.PATH_TRAVERSAL", "a listed file name points out of the bundle", "do not trust this bundle";
        EvidenceArtifactMissing = "EVIDENCE.ARTIFACT_MISSING", "a listed file is not in the bundle", "get the whole bundle";
        EvidenceArtifactMismatch = "EVIDENCE.ARTIFACT_MISMATCH", "a file of the bundle was changed", "do not trust this bundle; get it from its author again";
        EvidenceArtifactUnlisted = "EVIDENCE.ARTIFACT_UNLISTED", "the bundle has a file that the manifest does not list",
            "remove the file or do not trust the bundle";
        EvidenceProfileMismatch = "EVIDENCE.PROFILE_MISMATCH", "the run used a different profile than the one required",
            "run again with the required profile";
        EvidenceDeltaMismatch = "EVIDENCE.DELTA_MISMATCH", "the recorded changes, their list of paths and the two tree hashes contradict each other",
            "do not trust this bundle";
        EvidenceReconciliationMismatch = "EVIDENCE.RECONCILIATION_MISMATCH", "the recorded out-of-scope paths are not the ones that follow from scope and changes",
            "do not trust this bundle";
        EvidenceStatusMismatch = "EVIDENCE.STATUS_MISMATCH", "the manifest says pass although its own facts say fail", "do not trust this bundle";
        EvidenceChainBroken = "EVIDENCE.CHAIN_BROKEN", "the bundle does not follow the one before it", "ask for the missing bundles";
        EvidenceSignatureRequired = "EVIDENCE.SIGNATURE_REQUIRED", "the bundle is not signed, and a signature is required", "sign runs: `probity keys generate`";
        EvidenceKeyUnknown = "EVIDENCE.KEY_UNKNOWN", "the bundle is signed with a key that the caller does not trust",
            "add the key to the trust file if you trust it";
        EvidenceSignatureInvalid = "EVIDENCE.SIGNATURE_INVALID", "the signature does not fit the manifest", "do not trust this bundle";
        EvidencePartMissing = "EVIDENCE.PART_MISSING", "the bundle lacks a part that every bundle of a run has", "get the whole bundle";
        EvidenceSealMismatch = "EVIDENCE.SEAL_MISMATCH", "the manifest contradicts the seal of the run", "do not trust this bundle";
        EvidenceLandingMismatch = "EVIDENCE.LANDING_MISMATCH", "what landed or waits is not what the run changed, or a run that failed landed something",
            "do not trust this bundle";
        EvidenceEnforcementTooWeak = "EVIDENCE.ENFORCEMENT_TOO_WEAK", "the run was enforced less strongly than required",
            "run again with the required level of enforcement";
        EvidenceChangeMismatch = "EVIDENCE.CHANGE_MISMATCH", "a recorded change does not fit its two sides, or a path is recorded twice",
            "do not trust this bundle";
        EvidenceExemptionUnsealed = "EVIDENCE.EXEMPTION_UNSEALED", "a path is called exempt that no sealed build output or gate output covers",
            "do not trust this bundle";
        EvidenceGateMismatch = "EVIDENCE.GATE_MISMATCH", "the gate results are not those of the sealed gates, or contradict how the gates ended",
            "do not trust this bundle";
        EvidenceAmendmentInvalid = "EVIDENCE.AMENDMENT_INVALID", "an amendment is incomplete, out of order, or not of a kind that the seal allows",
            "do not trust this bundle";
        EvidenceFindingMismatch = "EVIDENCE.FINDING_MISMATCH", "the findings and the reasons of the verdict do not follow from the recorded facts",
            "do not trust this bundle";
        EvidenceDerivedMismatch = "EVIDENCE.DERIVED_MISMATCH", "a member of the manifest is not what follows from the other facts", "do not trust this bundle";
        EvidenceSummaryMismatch = "EVIDENCE.SUMMARY_MISMATCH", "summary.md contradicts the manifest",
            "read the manifest; do not trust this bundle";
        EvidenceTooLarge = "EVIDENCE.TOO_LARGE", "the bundle or receipt has more files, levels, bytes or values than any real one",
            "do not trust it; get the evidence as Probity wrote it";
        EvidenceUnreadable = "EVIDENCE.UNREADABLE", "a part of the bundle cannot be read", "make it readable, or get the bundle again";
        EvidenceNotOnChain = "EVIDENCE.NOT_ON_CHAIN", "the bundle is not on the chain of this repository, so this repository does not vouch for it",
            "`probity evidence chain` says what is on the chain; treat any other bundle as planted";
        EvidenceTreeMismatch = "EVIDENCE.TREE_MISMATCH", "the tree is not, or no longer, the one that the bundle describes",
            "compare with the tree as it was when the run ended";
        LogShortened = "LOG.SHORTENED", "the log, or something that it lists, is shorter than it was",
            "find out who removed it and restore the state directory from a backup; `probity log show` names the place that has more; `probity log restart` accepts the loss on the record";
        LogNewer = "LOG.NEWER_FORM", "the log has an event of a newer form than this program knows, so nothing can be decided from it",
            "install the version of Probity that the others of the team use";
        LogInconsistent = "LOG.INCONSISTENT", "two places disagree about the same part of the log",
            "find out who rewrote it and restore the state directory from a backup; `probity log show` names the places; `probity log restart` accepts the loss on the record";
        LogRestartRefused = "LOG.RESTART_REFUSED", "the log was not restarted: nothing is wrong with it, or a governed run is open",
            "`probity doctor` and `probity evidence chain` tell what is wrong; let open runs end first";
        LogProofInvalid = "LOG.PROOF_INVALID", "the proof does not show that this bundle is in the log of the checkpoint",
            "ask for a new proof: `probity evidence prove RUN`";
        LogCheckpointInvalid = "LOG.CHECKPOINT_INVALID", "this is not a checkpoint of a log, or one of its signatures is invalid",
            "ask for a new checkpoint: `probity log checkpoint`";
        LogWitnessesMissing = "LOG.WITNESSES_MISSING", "fewer witnesses than required have countersigned the checkpoint",
            "let the witnesses countersign it with `probity log witness`";
        ScopeEmptyPattern = "SCOPE.EMPTY_PATTERN", "a pattern is empty", "write the pattern, or leave the entry out";
        ScopeNul = "SCOPE.NUL", "a pattern or path has a NUL byte", "remove it: no file name can have one";
        ScopeAbsolute = "SCOPE.ABSOLUTE", "a pattern or path begins with `/`", "write it relative to the root of the tree";
        ScopeEmptySegment = "SCOPE.EMPTY_SEGMENT", "a pattern or path has an empty segment (`//`)", "write a single `/`";
        ScopeTrailingSlash = "SCOPE.TRAILING_SLASH", "a pattern or path ends with `/`", "write `dir/**` for everything below `dir`";
        ScopeDotSegment = "SCOPE.DOT_SEGMENT", "a pattern or path has a segment `.` or `..`", "write the path as the tree has it";
        ScopeDoubleStarInSegment = "SCOPE.DOUBLE_STAR_IN_SEGMENT", "`**` shares a segment with other characters", "write `**/*.py` instead of `**.py`";
        ScopeUnclosedClass = "SCOPE.UNCLOSED_CLASS", "a `[` has no `]`", "close it, or write `[[]` for the character itself";
        ScopeBadRange = "SCOPE.BAD_RANGE", "a range is reversed, such as `[z-a]`", "swap its ends";
        ScopeGlobInLiteral = "SCOPE.GLOB_IN_LITERAL", "a list of literal paths contains `*` or `?`",
            "list the files; only the `--scope` of a run takes patterns";
        ScopeAllowedAndForbidden = "SCOPE.ALLOWED_AND_FORBIDDEN", "a path is allowed and forbidden at once",
            "remove it from one of the two lists";
        ScopeBeyondLink = "SCOPE.BEYOND_LINK", "a path goes through a symbolic link, so the file's real name is different",
            "declare the real name";
        ScopeHardLink = "SCOPE.HARD_LINK", "a file has several names in the tree, and not all of them are declared",
            "declare every name of the file, or replace the hard link with a copy";
        ScopeNoInclude = "SCOPE.NO_INCLUDE", "the scope only excludes, so it covers nothing",
            "start with a pattern that includes something";
        ScopeNamesDirectory = "SCOPE.NAMES_DIRECTORY", "an entry names a directory and covers only that name, not the files below it",
            "write `dir/**`, or list the files";
        ScopeLookAlike = "SCOPE.LOOK_ALIKE", "no such name exists, but a similar one does",
            "write the name exactly as the tree has it";
        ScopeLooksLikeGlob = "SCOPE.LOOKS_LIKE_GLOB", "a literal entry has brackets, and no such file exists",
            "list the files: brackets are ordinary characters here";
        ScopeLiteralBang = "SCOPE.LITERAL_BANG", "an entry begins with `!`, which excludes nothing here",
            "remove it, or use `forbidden`";
        ScopeDuplicate = "SCOPE.DUPLICATE", "an entry occurs twice",
            "remove one of the two";
        ScopeCatchAll = "SCOPE.CATCH_ALL", "the pattern covers everything",
            "name what the change will really touch";
        ScopeExcludeInert = "SCOPE.EXCLUDE_INERT", "the exclusion removes nothing from the patterns before it",
            "correct it or remove it";
        ScopeEmptyScope = "SCOPE.EMPTY_SCOPE", "the scope is empty: every change will be a violation",
            "declare what the change will touch";
        ScopeBroad = "SCOPE.BROAD", "the scope covers most of the tree",
            "name what the change will really touch; `probity plan --suggest` helps";
        ScopeTooComplex = "SCOPE.TOO_COMPLEX", "the patterns are too complex to compare with another scope",
            "use fewer or simpler exclusions";
        ScopeCoversNothing = "SCOPE.COVERS_NOTHING", "the scope covers no existing file: only new files would be inside",
            "check the spelling and the directory you are in; pass `--creates` if the command will create these files";
        ScopeLeavesRoot = "SCOPE.LEAVES_ROOT", "a pattern or path leads out of the tree",
            "name something inside the tree; a leading `/` begins at its root";
        RootTooBroad = "ROOT.TOO_BROAD", "the tree would be `/`, a home directory, or one that contains the home directory",
            "go to the directory of your project, or name the tree with `--root DIR`";
        RootNested = "ROOT.NESTED", "the tree would be a repository without a policy, inside a tree that has one",
            "start in the outer tree, or name the inner one with `--root DIR`";
        PathInvalid = "PATH.INVALID", "not a path of the tree: it is empty or absolute, or has `.`, `..`, `//`, a trailing `/` or a NUL",
            "write the path relative to the root, as the tree has it";
        PlanDuplicateId = "PLAN.DUPLICATE_ID", "two packs, gates or profiles have the same id",
            "rename one of the two";
        PlanUnknownGate = "PLAN.UNKNOWN_GATE", "a pack names a gate that the policy does not have",
            "define the gate or correct the name";
        PlanBadTier = "PLAN.BAD_TIER", "a tier is not `T` and a number",
            "write it as `T0`, `T1` and so on";
        PlanUnknownProfile = "PLAN.UNKNOWN_PROFILE", "the policy has no such profile",
            "choose one of the policy's profiles, or add a `[profile.NAME]` to it";
        PlanUnknownPack = "PLAN.UNKNOWN_PACK", "the policy has no such pack",
            "choose one of the policy's packs, or add a `[[pack]]` to it";
        PlanPackCapExceeded = "PLAN.PACK_CAP_EXCEEDED", "the change needs more packs than the profile allows",
            "split the change";
        ConfigInvalid = "CONFIG.INVALID", "the configuration is not valid",
            "correct the place that the message names in `probity.toml`";
        ConfigExists = "CONFIG.EXISTS", "a policy already exists",
            "edit it; `probity init --dry-run` shows what a new one would contain";
        ConfigForeign = "CONFIG.FOREIGN", "the configuration of another program cannot be edited safely",
            "make the change by hand, or fix the file and try again";
        InputMissing = "INPUT.MISSING", "a file, commit or other thing that was named does not exist or cannot be read",
            "check the name, and that you have permission to read it";
        InputInvalid = "INPUT.INVALID", "a given file does not have the format that is expected",
            "give a complete file in the format that the option asks for";
        UsageInvalid = "USAGE.INVALID", "an argument is missing, unknown or of the wrong form",
            "correct the argument; nothing was done";
        UsageCancelled = "USAGE.CANCELLED", "the caller cancelled the call before it finished",
            "call again; what was stored before is complete, and nothing else was done";
        TrustInvalid = "TRUST.INVALID", "the trust file is not valid",
            "correct the place that the message names; docs/evidence.md shows the format";
        JsonNotUtf8 = "JSON.NOT_UTF8", "the bytes are not UTF-8",
            "write the document as UTF-8";
        JsonSyntax = "JSON.SYNTAX", "this is not JSON",
            "correct the document at the named byte";
        JsonDuplicateKey = "JSON.DUPLICATE_KEY", "an object has the same key twice",
            "remove one of the two";
        JsonNonFinite = "JSON.NON_FINITE", "a number is not finite",
            "write a number that a double can hold";
        JsonIntegerPrecision = "JSON.INTEGER_PRECISION", "an integer is too large for every reader to read it exactly",
            "write it as a string";
        JsonLoneSurrogate = "JSON.LONE_SURROGATE", "an escape is half of a surrogate pair",
            "write the whole character";
        JsonTrailingBytes = "JSON.TRAILING_BYTES", "something follows the value",
            "remove it: a document is one value";
        JsonTooDeep = "JSON.TOO_DEEP", "arrays and objects are nested more than 128 deep",
            "flatten the document";
        AmendNotAllowed = "AMEND.NOT_ALLOWED", "the policy does not allow an amendment at this point",
            "declare the scope before the run, or change the policy's `amend`";
        AmendIncomplete = "AMEND.INCOMPLETE", "an amendment does not say who amends, why, or what to add",
            "name who (`--by`), what (`--add`) and why, in words: `--why 'the page describes the new option'`";
        AmendFromInside = "AMEND.FROM_INSIDE", "the amendment came from inside the run that it would widen",
            "have someone outside the run amend it: the judged cannot widen their own scope";
        RevertChangedSince = "REVERT.CHANGED_SINCE", "the path changed again after the run; undoing the run's change would lose that",
            "look at the path and undo it by hand";
        RevertNoBeforeImage = "REVERT.NO_BEFORE_IMAGE", "the content from before the run is not kept anywhere that Probity can check",
            "restore the path from your own copy";
        RevertRefNotUndone = "REVERT.REF_NOT_UNDONE", "a submodule's HEAD or branch is still where the run moved it",
            "look at the submodule, then run the command that the message names";
        RevertHeld = "REVERT.HELD", "a live intent holds the path, so the change may be its owner's and not the run's",
            "ask the owner; to undo the change all the same, name the path: `probity revert RUN PATH`";
        LandConflict = "LAND.CONFLICT", "a path that the run changed was also changed in the tree; nothing landed, and the run's changes are held",
            "merge both with `probity land RUN --rebase`, or drop the run's changes with `probity discard RUN`";
        LandStartUnknown = "LAND.START_UNKNOWN", "others changed this path or its directory during the run, so what was there at the start is not known; the run's changes are held",
            "look at it with `probity diff RUN`, then `probity land RUN`; `start_look = \"walk\"` in `[enforce]` knows every start";
        LandBaseMoves = "LAND.BASE_MOVES", "the tree kept changing between the gates and the landing; nothing landed, and the run's changes are held",
            "land it with `probity land RUN` when the tree is quiet";
        LandUnsafe = "LAND.UNSAFE", "an entry cannot land: it is not a file, directory or link, has a set-id bit, or leads out of the tree",
            "look at it with `probity diff RUN`; land the rest with `probity land RUN --only PATH`";
        LandFailed = "LAND.FAILED", "the changes could not be brought into the tree; nothing landed, and they are held",
            "fix the named cause, such as a full disk, then land them with `probity land RUN`";
        LandOtherFileSystem = "LAND.OTHER_FILE_SYSTEM", "the tree and Probity's state are on different file systems, so a change cannot land all at once",
            "keep the worktree on the file system of its git directory";
        ProcMissing = "SYSTEM.NO_PROC", "/proc is not mounted, so processes cannot be told apart and a run cannot be confined",
            "mount it: `mount -t proc proc /proc`; in a chroot, before you enter it";
        StateInUse = "STATE.IN_USE", "runs or intents are open, or changes are held, and the state has the only copy of them",
            "finish or clear what `probity status` lists, land or discard held changes, then try again";
        LayerUnknown = "LAYER.UNKNOWN", "this run holds no changes: they landed or were discarded, or it did not run in a view",
            "`probity evidence show RUN` says what it changed; `probity status` lists the runs that hold changes";
        LayerBusy = "LAYER.BUSY", "another process uses the layer of this run",
            "wait until it ends";
        LayerChanged = "LAYER.CHANGED", "the held layer does not have the content that the evidence recorded",
            "do not land it; drop it with `probity discard RUN` and run again";
        EnforceUnavailable = "ENFORCE.UNAVAILABLE", "the required level of enforcement is not available here, so nothing ran",
            "fix the named cause, or run with `--enforce auto`; `probity doctor` tests every level";
        EnforceDegraded = "ENFORCE.DEGRADED", "the strongest level of enforcement is not available here, so a weaker one was used",
            "`probity doctor` says why; `[enforce] minimum` in the policy refuses such runs";
        ViewNoDirRename = "VIEW.NO_DIR_RENAME", "a directory of the scope is too large to be copied first, so it cannot be renamed in the view",
            "name a smaller directory in the scope, or move files instead of directories";
        ViewGateWrites = "VIEW.GATE_WRITES", "a gate wrote paths that it does not declare as outputs; they were thrown away",
            "list them as `outputs` of the gate if they should land";
        GitCommandFailed = "GIT.COMMAND_FAILED", "a git command that Probity needs failed; the message has git's own words",
            "run the named command yourself; `git fsck` checks the repository";
        GitObjectMissing = "GIT.OBJECT_MISSING", "this clone does not hold the content of a committed file, and Probity fetches nothing by itself",
            "get it with the command that the message names, or get everything with `git fetch --refetch --no-filter`";
        GitHistoryMissing = "GIT.HISTORY_MISSING", "this clone is shallow, and the commit is not in the part of the history that it has",
            "get the rest of the history with `git fetch --unshallow`, then try again";
        PipelineBaseUnknown = "CI.BASE_UNKNOWN", "nothing says which branch this change goes to",
            "name it: `probity ci --base origin/main`";
        PipelineBaseMissing = "CI.BASE_MISSING", "this clone lacks the history between the change and the branch it goes to",
            "fetch it before `probity ci`: on GitHub set `fetch-depth: 0` for actions/checkout, on GitLab `GIT_DEPTH: 0`, elsewhere run `git fetch --unshallow origin`";
        OwnerInvalid = "OWNER.INVALID", "the given owner of an intent is not valid",
            "pass the handle that `probity start` printed; `--agent-pid` must name a process that started this one";
        LedgerInputInvalid = "LEDGER.INPUT_INVALID", "the ledger cannot read what it was given",
            "see the message; `probity ledger propose --help` shows the format";
        LedgerNoSuchItem = "LEDGER.NO_SUCH_ITEM", "the ledger has no item with this handle or id",
            "`probity ledger show --all` lists all items";
        LedgerNoSuchPosition = "LEDGER.NO_SUCH_POSITION", "the ledger has no such position",
            "positions count from 0 to the `seq` that every answer of the ledger names";
        LedgerNoSuchStream = "LEDGER.NO_SUCH_STREAM", "the ledger has no stream of this name",
            "`probity ledger merge` without a name lists the streams; proposing to a new name starts one";
        LedgerNotAuthorised = "LEDGER.NOT_AUTHORISED", "only a guardian may say who may change hard constraints",
            "ask one of the authors that `probity ledger guard` lists";
        LedgerFull = "LEDGER.FULL", "the ledger cannot number more inputs",
            "start a new ledger from an export of this one";
        LedgerReviewNeeded = "LEDGER.REVIEW_NEEDED", "merging the stream would lose intent, contradict the ledger, or break one of its rules",
            "decide each point with `--resolve ID=CHOICE`, then merge again";
        LedgerModelFailed = "LEDGER.MODEL_FAILED", "the model gave no usable answer, so the turns were not read",
            "the turns stay pending: try again with `probity ledger ingest --pending`, or without a model";
        IntentInvalid = "INTENT.INVALID", "the declared change is incomplete or too large",
            "say what the change is for, and name the files that it changes";
        IntentElsewhere = "INTENT.ELSEWHERE", "the intent was started in another working tree, or from another root",
            "finish it where it was started";
        StateDamaged = "STATE.DAMAGED", "a file of Probity's own state is damaged",
            "keep a copy for study, then remove the named file";
        StateUnsafe = "STATE.UNSAFE", "Probity's state is not in a directory of its own: it is a link, belongs to somebody else, or others can write to it",
            "check what was put there, then move it away or make it yours with mode 0700";
        StateNewer = "STATE.NEWER", "this state was written by a newer version of Probity",
            "use the newer program; nothing was changed";
        StateNetwork = "STATE.NETWORK", "the state is on a network file system, where several processes cannot share a database",
            "keep the repository, or its git directory, on a local disk";
        StateBusy = "STATE.BUSY", "another process holds the write lock and does not release it",
            "check whether that process hangs or is stopped, let it finish, then try again";
        StateIo = "STATE.IO", "a file of Probity's own state could not be read or written",
            "check permissions and free space there, then try again";
        StateEngine = "STATE.ENGINE", "the database of Probity's state reported an error; nothing is known to be damaged",
            "check permissions and free space there, then try again";
        DecisionTooLate = "DECISION.TOO_LATE", "a decision was about something that is not what stands now; nothing was done",
            "load the page again, look at what stands now, and decide about that";
        StateTooLarge = "STATE.TOO_LARGE", "a value is larger than Probity's state can hold",
            "split it into smaller parts";
        TeamUnreachable = "TEAM.UNREACHABLE", "the store of the team cannot be reached, so no claim is confirmed",
            "check the network and `probity team status`, then try again; what is shown meanwhile is the last known state";
        TeamDenied = "TEAM.DENIED", "the store of the team refuses the rights of this user",
            "check the credentials: git must be able to push `refs/probity/*`, a user of etcd must own the team's prefix";
        TeamFull = "TEAM.FULL", "the store of the team has no space left",
            "have an administrator make room: compact, defragment, then disarm the alarm";
        TeamUnfit = "TEAM.UNFIT", "the store is not the one that this clone joined, or its version is not safe",
            "`probity team status` shows what was found; join again only if the team moved on purpose";
        TeamNotJoined = "TEAM.NOT_JOINED", "this clone has joined no team",
            "join the one that the policy names: `probity team join`; `probity team init` starts one";
        TeamInvalid = "TEAM.INVALID", "the settings of the team are incomplete or cannot be used",
            "correct `[team]` in `probity.toml`; `probity team init` writes it";
        TeamBusy = "TEAM.BUSY", "this clone has open intents, which would be left behind",
            "finish or clear them first: `probity intent list`";
        SystemIo = "SYSTEM.IO", "the operating system refused to read, write or start something",
            "check permissions and free space there, then try again";
        KeyInvalid = "KEY.INVALID", "a key file is not valid",
            "make a new one with `probity keys generate`";
        KeyExists = "KEY.EXISTS", "this repository already has a signing key",
            "keep its public half for old bundles, remove the key file from the state directory, then generate a new one";
        KeyExposed = "KEY.EXPOSED", "others can read a file with a secret",
            "take their permissions away: `chmod 600 FILE`; if they may have read it, make a new secret";
        KeyMissing = "KEY.MISSING", "this repository has no signing key",
            "make one with `probity keys generate`";
        CommitNoStore = "COMMIT.NO_STORE", "there is no commit store",
            "make one with `probity commits init --schema FILE`, or name one with `--store FILE`";
        CommitStoreExists = "COMMIT.STORE_EXISTS", "a commit store already exists",
            "use it, or choose another path";
        CommitUnknown = "COMMIT.UNKNOWN", "no commit, or more than one, has this name",
            "`probity commits log` lists the commits, `probity commits ref` the names";
        CommitSeveralHeads = "COMMIT.SEVERAL_HEADS", "the store has several heads, and it is not clear which one is meant",
            "name one (`--on COMMIT`), or merge them with `probity commits reduce`";
        CommitMisfit = "COMMIT.MISFIT", "a name, path, value or opcode does not fit the schema",
            "`probity commits schema` shows what fits";
        CommitSchema = "COMMIT.SCHEMA", "the schema is not valid, or does not extend the current one",
            "correct it: a schema may only add to the one before, with a higher version";
        CommitNotAppended = "COMMIT.NOT_APPENDED", "the commit refers to commits that are missing, or merges what is merged already",
            "fetch the missing commits first, with `probity commits sync` or `probity commits import`";
        CommitRefMoved = "COMMIT.REF_MOVED", "the ref was moved in the meantime",
            "check `probity commits ref`, then set it again";
        CommitBundle = "COMMIT.BUNDLE_INVALID", "the bundle differs from what was exported",
            "export it again; what came before the line in the message is imported";
        CommitDamaged = "COMMIT.DAMAGED", "a stored commit is damaged",
            "`probity commits check` lists all damage; restore from a replica with `probity commits sync` into a new store";
        CommitOutcomeUnknown = "COMMIT.OUTCOME_UNKNOWN", "it is not known whether the write was stored",
            "repeat it: what is stored already is not written twice";
        MergeNone = "MERGE.NOT_A_MERGE", "the commit is not a merge",
            "`probity commits log` shows the type of every commit";
        MergeResolutionRefused = "MERGE.RESOLUTION_REFUSED", "a resolution does not fit the merge, so nothing was written",
            "`probity merge analyze` lists the conflicts with their ids";
        MergePolicyInvalid = "MERGE.POLICY_INVALID", "the policy for merges is not valid",
            "correct it; `probity commits schema` shows the places that it can name";
        MergeRefused = "MERGE.REFUSED_BY_POLICY", "the policy refuses a merge that loses this",
            "override it with `--override-policy` and a reason, or merge differently";
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_reason_has_its_own_code_and_says_what_to_do() {
        let codes: BTreeSet<_> = ReasonCode::WORDS.iter().collect();
        assert_eq!(codes.len(), ReasonCode::ALL.len());
        for reason in ReasonCode::ALL {
            assert!(!reason.meaning().is_empty() && !reason.next_step().is_empty(), "{reason}");
        }
    }
}
