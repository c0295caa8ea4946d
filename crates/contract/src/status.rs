//! Statuses and reasons of a verdict, with what to do about them. Their words are stable.

probity_core::word_enum! {
    /// The verdict in one word.
    pub enum ContractStatus {
        /// Nothing got worse.
        Accepted = "accepted",
        /// Nothing in scope got worse, but something outside did.
        AcceptedWithExternalChanges = "accepted_with_external_changes",
        /// The patch breaks the contract.
        Violated = "violated",
        /// There is not enough information for a verdict.
        Unverified = "unverified",
        /// The analysis that the intent was declared on is gone.
        Expired = "expired",
    }
}

impl ContractStatus {
    pub const fn is_accepted(self) -> bool {
        matches!(self, Self::Accepted | Self::AcceptedWithExternalChanges)
    }

    pub const fn label(self) -> &'static str {
        match self {
            Self::AcceptedWithExternalChanges => "accepted, with changes outside of it",
            Self::Accepted | Self::Violated | Self::Unverified | Self::Expired => self.as_str(),
        }
    }

    /// Returns true if there is no verdict.
    pub const fn is_open(self) -> bool {
        matches!(self, Self::Unverified | Self::Expired)
    }
}

probity_core::word_enum! {
    /// A sign that the baseline was moved to hide something.
    pub enum BaselineTrigger {
        /// It changed together with source code.
        BaselineChangedWithFunctionalCode = "baseline_changed_with_functional_code",
        /// It changed while there are regressions, inside or outside the scope.
        BaselineUpdatedWhileRegressionsPresent = "baseline_updated_while_regressions_present",
        /// It changed without a declared intent.
        BaselineUpdatedWithoutIntent = "baseline_updated_without_intent",
        /// It changed, and a failing gate now passes.
        CiGreenedByAcceptingDebt = "ci_greened_by_accepting_debt",
    }
}

probity_core::code_enum! {
    /// Why a verdict or a finish ended as it did.
    pub enum ContractReason {
        IntentNotActive = "intent_not_active",
            "the intent is queued, not active",
            "promote the intent, then verify again";
        StateArtifactMutation = "state_artifact_mutation",
            "the change touches the baseline or Probity's own state",
            "undo the change to the baseline or to Probity's own state";
        ReportDigestMismatch = "report_digest_mismatch",
            "the stored analysis that the intent started from is not the one it names",
            "analyze the tree, then start a new intent on that run";
        NoBeforeRun = "no_before_run",
            "there is no analysis of the tree before the change",
            "name the run that the change started from with `--before`, or a commit with `--base`";
        NoAfterRun = "no_after_run",
            "there is no analysis of the tree after the change",
            "analyze the tree after the change and name that run";
        AfterRunRequiredForGovernance = "after_run_required_for_governance",
            "the change touches configuration, which can change every result, and was not analyzed",
            "analyze after the change";
        AfterRunNotNew = "after_run_not_new",
            "the analyses before and after the change are the same",
            "analyze again after the edit: both names refer to the same run";
        AfterRunStale = "after_run_stale",
            "the tree changed after it was analyzed",
            "analyze again: the tree changed after the run that was named";
        IncomparableRuns = "incomparable_runs",
            "the two analyses were made with different settings or versions",
            "analyze both trees with the same settings and version";
        StructuralRegressions = "structural_regressions",
            "the change adds findings in its scope",
            "fix the new findings that block; if the team accepts warnings, the policy of the base branch can let them pass, but nothing critical: `severity_floor = \"critical\"` under `[contract]` in probity.toml";
        GateFailures = "gate_failures",
            "a required gate fails after the change",
            "fix what makes the gate fail; if it could not start, install its program or correct its `run` in the policy";
        ScopeViolation = "scope_violation",
            "paths were changed that were not declared",
            "revert what was not declared, or declare it: with `--allow`, or `probity amend` for an intent";
        BaselineChangedWithFunctionalCode = "baseline_abuse:baseline_changed_with_functional_code",
            "the baseline changed together with source code",
            "move the baseline in a change of its own, with an intent and no regressions";
        BaselineUpdatedWhileRegressionsPresent = "baseline_abuse:baseline_updated_while_regressions_present",
            "the baseline changed while there are new findings",
            "move the baseline in a change of its own, with an intent and no regressions";
        BaselineUpdatedWithoutIntent = "baseline_abuse:baseline_updated_without_intent",
            "the baseline changed without an intent",
            "move the baseline in a change of its own, with an intent and no regressions";
        CiGreenedByAcceptingDebt = "baseline_abuse:ci_greened_by_accepting_debt",
            "the baseline changed and a failing gate passes because of it",
            "move the baseline in a change of its own, with an intent and no regressions";
        HealthRegression = "health_regression",
            "the change lowers the health score",
            "raise the health score to what it was before the change";
        WorsenedSymbols = "worsened_symbols",
            "functions or classes in the scope measure worse than before",
            "make the worsened symbols as simple as they were";
        GatesNotRun = "gates_not_run",
            "required gates of the policy were not run",
            "run the gates of the policy: leave `--skip-gates` out";
        GateInputsChanged = "gate_inputs_changed",
            "the change decides what a required gate runs, so that its result proves nothing",
            "have a person review the files that the gate names, then repeat with `--grant FILE`";
        SkipGatesNotAllowed = "skip_gates_not_allowed",
            "the finish leaves out gates that the policy requires",
            "finish again without `--skip-gates`; a policy that allows it says `allow_skip_gates = true` under `[change]`";
        StartRecordMissing = "start_record_missing",
            "what was kept when the change started is gone or damaged, so it is unknown which policy judges it",
            "clear the intent with `probity intent clear`, and start again";
        BaseMoved = "base_moved",
            "another clone or worktree landed a change of this scope since the start, and the checked out commit does not contain it",
            "fetch and rebase onto the line, then finish again";
        PolicyLoosened = "policy_loosened",
            "the change lets the policy demand less of later changes",
            "make the change of the policy on its own, with a person who decides it";
        FalseClaim = "false_claim",
            "the author claims something that the facts contradict",
            "correct the false claims, or make them true";
        UnprovenClaim = "unproven_claim",
            "the author claims something that nothing proves",
            "run the gates that would prove the claim, or leave the claim out";
        WorkspaceHygiene = "workspace_hygiene",
            "uncommitted changes block the finish",
            "`workspace_hygiene_after` lists them: declare, revert or coordinate";
        ReceiptFailed = "receipt_failed",
            "the change is accepted, but its receipt could not be written",
            "finish again";
    }
}

impl From<BaselineTrigger> for ContractReason {
    fn from(trigger: BaselineTrigger) -> Self {
        match trigger {
            BaselineTrigger::BaselineChangedWithFunctionalCode => Self::BaselineChangedWithFunctionalCode,
            BaselineTrigger::BaselineUpdatedWhileRegressionsPresent => {
                Self::BaselineUpdatedWhileRegressionsPresent
            }
            BaselineTrigger::BaselineUpdatedWithoutIntent => Self::BaselineUpdatedWithoutIntent,
            BaselineTrigger::CiGreenedByAcceptingDebt => Self::CiGreenedByAcceptingDebt,
        }
    }
}

impl ContractReason {
    /// Returns true if the policy's strictness blocks, not the contract itself.
    pub const fn is_from_strictness(self) -> bool {
        matches!(
            self,
            Self::HealthRegression
                | Self::WorsenedSymbols
                | Self::GatesNotRun
                | Self::GateInputsChanged
                | Self::PolicyLoosened
                | Self::FalseClaim
                | Self::UnprovenClaim
        )
    }
}
