//! The answer of `probity ci`: a change judged in a pipeline.

use super::ContractVerifyAnswer;
use crate::document::Answer;
use crate::exit_code::ExitCode;
use crate::merge_audit::MergeAuditRangeAnswer;
use schemars::JsonSchema;
use serde::Serialize;

probity_core::word_enum! {
    /// The service that runs a pipeline.
    pub enum PipelineService {
        AzurePipelines = "azure_pipelines",
        Bitbucket = "bitbucket",
        Buildkite = "buildkite",
        CircleCi = "circle_ci",
        GithubActions = "github_actions",
        GitlabCi = "gitlab_ci",
        Jenkins = "jenkins",
        Travis = "travis",
        Woodpecker = "woodpecker",
        /// No known service: a person's own machine, or a service that says nothing about itself.
        Local = "local",
    }
}

probity_core::word_enum! {
    /// How the base of a change was found.
    pub enum PipelineBaseRule {
        /// Named with `--base`.
        Given = "given",
        /// The checkout is a merge of the request into its target, so its first parent is the base.
        FirstParent = "first_parent",
        /// The common ancestor of the checkout and the branch that the change goes to.
        MergeBase = "merge_base",
        /// The commit that a push started from.
        BeforePush = "before_push",
    }
}

/// Where a pipeline runs, and what it compares.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PipelineRange {
    pub service: PipelineService,
    /// The commit that the checkout is compared with.
    pub base: String,
    /// The name that led to it: a branch, a commit or `HEAD^1`.
    pub base_name: String,
    pub base_rule: PipelineBaseRule,
    /// The commit whose policy judges: the tip of the branch that the change goes to.
    pub policy_from: String,
    /// The commit that is checked out.
    pub head: String,
}

/// A change judged in a pipeline: its contract, and the merges on its way.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct PipelineAnswer {
    pub pipeline: PipelineRange,
    pub contract: ContractVerifyAnswer,
    /// The merges between base and head; null if this clone lacks their history.
    pub merges: Option<MergeAuditRangeAnswer>,
}

impl PipelineAnswer {
    /// Returns the code of the contract; a lost edit fails a change that is accepted otherwise.
    pub fn exit_code(&self) -> ExitCode {
        let merges = self.merges.as_ref().map_or(ExitCode::Ok, MergeAuditRangeAnswer::exit_code);
        match ExitCode::from(self.contract.verdict.facts.status) {
            ExitCode::Ok => merges,
            code => code,
        }
    }
}

impl Answer for PipelineAnswer {
    const SCHEMA: &'static str = "probity/ci/v1";
}
