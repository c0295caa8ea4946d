//! What a CI service says about the change under judgment, read from its variables. Pure.

use probity_api::quality::PipelineService;
use serde::Deserialize;

/// What the variables of a pipeline say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PipelineVariables {
    pub service: PipelineService,
    /// The tip of the branch that asks to be merged. If the checkout is a merge of it, the base is the first parent.
    pub request_tip: Option<String>,
    /// Revisions to compare the change with, the most reliable first: commits or branches.
    pub targets: Vec<String>,
    /// The commit that a push started from.
    pub before_push: Option<String>,
    /// The author's text about the change.
    pub text: Option<String>,
}

/// The commit id that services give for "there was nothing before".
fn is_null_id(id: &str) -> bool {
    !id.is_empty() && id.bytes().all(|byte| byte == b'0')
}

/// The members of GitHub's event file that name commits.
#[derive(Debug, Default, Deserialize)]
struct GithubEvent {
    pull_request: Option<GithubPullRequest>,
    merge_group: Option<GithubMergeGroup>,
    before: Option<String>,
}

#[derive(Debug, Deserialize)]
struct GithubPullRequest {
    base: GithubCommit,
    head: GithubCommit,
    body: Option<String>,
}

#[derive(Debug, Deserialize)]
struct GithubCommit {
    sha: String,
}

#[derive(Debug, Deserialize)]
struct GithubMergeGroup {
    base_sha: String,
}

/// Reads the variables of the usual services. `event` is the content of the file that `GITHUB_EVENT_PATH` names.
pub fn read(variable: impl Fn(&str) -> Option<String>, event: Option<&[u8]>) -> PipelineVariables {
    let get = |name: &str| variable(name).filter(|value| !value.is_empty());
    let is_set = |name: &str| get(name).is_some();
    let service = if is_set("GITHUB_ACTIONS") {
        PipelineService::GithubActions
    } else if is_set("GITLAB_CI") {
        PipelineService::GitlabCi
    } else if is_set("BITBUCKET_BUILD_NUMBER") {
        PipelineService::Bitbucket
    } else if is_set("TF_BUILD") {
        PipelineService::AzurePipelines
    } else if is_set("BUILDKITE") {
        PipelineService::Buildkite
    } else if is_set("CIRCLECI") {
        PipelineService::CircleCi
    } else if is_set("TRAVIS") {
        PipelineService::Travis
    } else if get("CI").is_some_and(|name| name == "woodpecker") {
        PipelineService::Woodpecker
    } else if is_set("JENKINS_URL") {
        PipelineService::Jenkins
    } else {
        PipelineService::Local
    };
    let mut found =
        PipelineVariables { service, request_tip: None, targets: Vec::new(), before_push: None, text: None };
    match service {
        PipelineService::GithubActions => found.read_github(get, event),
        PipelineService::GitlabCi => {
            found.request_tip = get("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA");
            found.add_commit(get("CI_MERGE_REQUEST_DIFF_BASE_SHA"));
            found.add_branch(get("CI_MERGE_REQUEST_TARGET_BRANCH_NAME"));
            found.text = get("CI_MERGE_REQUEST_DESCRIPTION");
            found.set_before_push(get("CI_COMMIT_BEFORE_SHA"));
        }
        PipelineService::Bitbucket => {
            found.add_commit(get("BITBUCKET_PR_DESTINATION_COMMIT"));
            found.add_branch(get("BITBUCKET_PR_DESTINATION_BRANCH"));
        }
        PipelineService::AzurePipelines => {
            found.request_tip = get("SYSTEM_PULLREQUEST_SOURCECOMMITID");
            found.add_branch(get("SYSTEM_PULLREQUEST_TARGETBRANCH"));
        }
        PipelineService::Buildkite => found.add_branch(get("BUILDKITE_PULL_REQUEST_BASE_BRANCH")),
        PipelineService::Travis => {
            found.request_tip = get("TRAVIS_PULL_REQUEST_SHA");
            if get("TRAVIS_PULL_REQUEST").is_some_and(|number| number != "false") {
                found.add_branch(get("TRAVIS_BRANCH"));
            }
        }
        PipelineService::Woodpecker => {
            if get("CI_PIPELINE_EVENT").is_some_and(|event| event == "pull_request") {
                found.add_branch(get("CI_COMMIT_TARGET_BRANCH"));
            }
            found.set_before_push(get("CI_PREV_COMMIT_SHA"));
        }
        PipelineService::Jenkins => {
            found.add_branch(get("CHANGE_TARGET"));
            found.set_before_push(get("GIT_PREVIOUS_SUCCESSFUL_COMMIT"));
        }
        // CircleCI names neither the target of a request nor the commit before a push.
        PipelineService::CircleCi | PipelineService::Local => {}
    }
    found
}

impl PipelineVariables {
    fn read_github(&mut self, get: impl Fn(&str) -> Option<String>, event: Option<&[u8]>) {
        // A form of the event that is not known leaves what the variables say.
        let event: GithubEvent =
            event.and_then(|bytes| serde_json::from_slice(bytes).ok()).unwrap_or_default();
        if let Some(request) = event.pull_request {
            self.request_tip = Some(request.head.sha);
            self.text = request.body;
            self.add_branch(get("GITHUB_BASE_REF"));
            self.add_commit(Some(request.base.sha));
        } else if let Some(group) = event.merge_group {
            self.add_commit(Some(group.base_sha));
        } else {
            self.add_branch(get("GITHUB_BASE_REF"));
            self.set_before_push(event.before);
        }
    }

    fn add_commit(&mut self, id: Option<String>) {
        self.targets.extend(id.filter(|id| !is_null_id(id)));
    }

    /// A branch of the remote is surer than a local one, which may be older.
    fn add_branch(&mut self, name: Option<String>) {
        let Some(name) = name else { return };
        let name = name.strip_prefix("refs/heads/").unwrap_or(&name);
        self.targets.extend([format!("refs/remotes/origin/{name}"), format!("refs/heads/{name}")]);
    }

    fn set_before_push(&mut self, id: Option<String>) {
        self.before_push = id.filter(|id| !is_null_id(id));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_pairs(pairs: &[(&str, &str)], event: Option<&str>) -> PipelineVariables {
        let find =
            |name: &str| pairs.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
        read(find, event.map(str::as_bytes))
    }

    #[test]
    fn a_pull_request_on_github_names_its_tip_its_target_and_its_text() {
        let event = r#"{"action": "opened", "pull_request": {"number": 7, "body": "Docs only.",
            "base": {"ref": "main", "sha": "b45e"}, "head": {"ref": "fix", "sha": "7199"}}}"#;
        let found = read_pairs(&[("GITHUB_ACTIONS", "true"), ("GITHUB_BASE_REF", "main")], Some(event));
        assert_eq!(found.service, PipelineService::GithubActions);
        assert_eq!(found.request_tip.as_deref(), Some("7199"));
        assert_eq!(found.targets, ["refs/remotes/origin/main", "refs/heads/main", "b45e"]);
        assert_eq!(found.text.as_deref(), Some("Docs only."));
    }

    #[test]
    fn a_push_on_github_starts_from_the_commit_before_it() {
        let github = [("GITHUB_ACTIONS", "true")];
        let found = read_pairs(&github, Some(r#"{"before": "a0b1", "after": "c2"}"#));
        assert_eq!((found.before_push.as_deref(), found.targets.len()), (Some("a0b1"), 0));
        let new_branch = format!(r#"{{"before": "{}"}}"#, "0".repeat(40));
        assert_eq!(read_pairs(&github, Some(&new_branch)).before_push, None);
        let group = read_pairs(&github, Some(r#"{"merge_group": {"base_sha": "b45e", "head_sha": "c"}}"#));
        assert_eq!(group.targets, ["b45e"]);
    }

    #[test]
    fn an_event_that_cannot_be_read_leaves_the_variables() {
        let found = read_pairs(
            &[("GITHUB_ACTIONS", "true"), ("GITHUB_BASE_REF", "next")],
            Some("{\"pull_request\": 1}"),
        );
        assert_eq!(found.targets, ["refs/remotes/origin/next", "refs/heads/next"]);
    }

    #[test]
    fn every_other_service_is_told_by_its_own_variables() {
        type PipelineCase<'a> = (&'a [(&'a str, &'a str)], PipelineService, &'a str);
        let cases: [PipelineCase<'_>; 7] = [
            (
                &[("GITLAB_CI", "true"), ("CI_MERGE_REQUEST_DIFF_BASE_SHA", "b45e")],
                PipelineService::GitlabCi,
                "b45e",
            ),
            (
                &[("BITBUCKET_BUILD_NUMBER", "3"), ("BITBUCKET_PR_DESTINATION_BRANCH", "main")],
                PipelineService::Bitbucket,
                "refs/remotes/origin/main",
            ),
            (
                &[("TF_BUILD", "True"), ("SYSTEM_PULLREQUEST_TARGETBRANCH", "refs/heads/main")],
                PipelineService::AzurePipelines,
                "refs/remotes/origin/main",
            ),
            (
                &[("BUILDKITE", "true"), ("BUILDKITE_PULL_REQUEST_BASE_BRANCH", "main")],
                PipelineService::Buildkite,
                "refs/remotes/origin/main",
            ),
            (
                &[("TRAVIS", "true"), ("TRAVIS_PULL_REQUEST", "12"), ("TRAVIS_BRANCH", "main")],
                PipelineService::Travis,
                "refs/remotes/origin/main",
            ),
            (
                &[
                    ("CI", "woodpecker"),
                    ("CI_PIPELINE_EVENT", "pull_request"),
                    ("CI_COMMIT_TARGET_BRANCH", "main"),
                ],
                PipelineService::Woodpecker,
                "refs/remotes/origin/main",
            ),
            (
                &[("JENKINS_URL", "https://ci.example"), ("CHANGE_TARGET", "main")],
                PipelineService::Jenkins,
                "refs/remotes/origin/main",
            ),
        ];
        for (pairs, service, target) in cases {
            let found = read_pairs(pairs, None);
            assert_eq!(found.service, service);
            assert_eq!(found.targets.first().map(String::as_str), Some(target), "{service}");
        }
        assert_eq!(read_pairs(&[("CI", "true")], None).service, PipelineService::Local);
    }
}
