//! Audits of real repositories: the story of the manual, decisions on record, hooks of git, and hostile repositories.

mod manual_story;

use manual_story::{MANUAL, done, references, restore_lost, sh, story};
use probity_api::merge_audit::{AuditOutcome, DecisionRequest, FindingClass, MergeAuditAnswer};
use probity_merges::{
    MergeQuestion, accept, audit, audit_before_commit, audit_range, decisions, install_git_hooks,
    merge_sarif, merge_summary, remove_git_hooks, restore,
};
use probity_workspace::Workspace;
use std::os::unix::fs::PermissionsExt;

fn audit_head(workspace: &Workspace) -> MergeAuditAnswer {
    audit(workspace, &MergeQuestion::Commit("HEAD".to_owned())).expect("an audit")
}

#[test]
fn the_story_of_the_manual_ends_as_it_says() {
    let (home, workspace) = story();
    let before = references(home.path());
    let found = audit_head(&workspace);
    assert_eq!(found.outcome, AuditOutcome::Lost);
    let [finding] = &found.findings[..] else { panic!("{found:?}") };
    assert_eq!((finding.class, finding.path.to_string().as_str()), (FindingClass::Lost, "shop.py"));
    assert_eq!(finding.entity.as_deref(), Some("price"));
    assert_eq!(finding.commits[0].subject, "Round the total");
    assert!(MANUAL.contains("lost theirs shop.py:3 in price"), "the manual shows this finding");
    assert_eq!(references(home.path()), before, "an audit writes nothing");
    let restored = restore(&workspace, &restore_lost(false)).expect("a survival commit");
    let branch = restored.branch.expect("a branch");
    let after = references(home.path());
    let added: Vec<&str> = after.lines().filter(|line| !before.contains(line)).collect();
    assert_eq!(added.len(), 1, "only the branch is new: {added:?}");
    let message = done(home.path(), &format!("git log -1 --format=%B {branch}"));
    assert!(message.contains("Probity-Merge: ") && message.contains("Probity-Restores: "), "{message}");
    done(home.path(), &format!("git merge -q --ff-only {branch}"));
    let text = std::fs::read_to_string(home.path().join("shop.py")).expect("the program");
    assert!(text.contains("round(total, 2)") && text.contains("insure(parcel)"), "{text}");
}

#[test]
fn an_accepted_loss_stays_accepted_and_is_offered_when_it_comes_back() {
    let (home, workspace) = story();
    let found = audit_head(&workspace);
    let without_reason = DecisionRequest::default();
    assert!(accept(&workspace, &found, &without_reason).is_err(), "a decision needs a reason");
    let request = DecisionRequest {
        why: "rounding comes with the new prices".to_owned(),
        by: Some("ann".to_owned()),
        ..DecisionRequest::default()
    };
    let decided = accept(&workspace, &found, &request).expect("a decision");
    assert_eq!(decided.recorded.len(), 1);
    assert_eq!(decided.audit.outcome, AuditOutcome::Clean);
    let again = audit_head(&workspace);
    assert_eq!(again.outcome, AuditOutcome::Clean);
    assert!(again.findings[0].is_accepted());
    assert_eq!(decisions(&workspace).expect("decisions").decisions[0].by, "ann");
    // The same branch merged again, in the same wrong way: another merge, the same conflict.
    done(
        home.path(),
        "git checkout -qb again HEAD^1 && git commit -q --allow-empty -m 'Later' && git merge -q --no-commit rounding; \
         git checkout -q HEAD -- shop.py && git commit -qm 'Merge rounding once more'",
    );
    let other = audit_head(&workspace);
    let finding = &other.findings[0];
    // The contents are the same four, so that it is the same finding, or at least the same conflict.
    let known = finding.decision.as_ref().or(finding.decided_before.as_ref());
    assert_eq!(known.map(|decision| decision.why.as_str()), Some("rounding comes with the new prices"));
    let summary = merge_summary(&[&again]);
    assert!(summary.contains("(accepted)") && summary.contains("Round the total"), "{summary}");
    let sarif: serde_json::Value = serde_json::from_str(&merge_sarif(&[&again])).expect("JSON");
    assert_eq!(sarif["runs"][0]["results"][0]["suppressions"][0]["kind"], "external");
    assert_eq!(sarif["runs"][0]["results"][0]["ruleId"], "merge/lost");
}

#[test]
fn git_asks_before_it_commits_a_merge() {
    let (home, workspace) = story();
    let place = home.path();
    let program = place.join(".git/asked.sh");
    // Stands for Probity: notes how it was asked, and refuses.
    let script = "#!/bin/sh\necho \"$@\" >> .git/asked\nenv | grep -c '^GITHEAD_' >> .git/asked\nexit 1\n";
    std::fs::write(&program, script).expect("a program");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).expect("it can be run");
    let installed = install_git_hooks(&workspace, &program).expect("hooks");
    assert_eq!(installed.hooks, ["pre-merge-commit", "pre-commit"]);
    done(place, "git checkout -qb clean HEAD^1");
    let (is_merged, _) = sh(place, "git merge -q --no-edit rounding");
    assert!(!is_merged, "the hook refuses a merge without conflicts");
    let asked = std::fs::read_to_string(place.join(".git/asked")).expect("it was asked");
    assert_eq!(asked, "merge audit --before-commit\n1\n", "git tells the hook the other side");
    assert!(!sh(place, "git commit -qm 'Merge'").0, "and the commit of the resolution");
    assert_eq!(
        audit_before_commit(&workspace, None).expect("an answer").merges,
        1,
        "the merge is in progress"
    );
    assert_eq!(remove_git_hooks(&workspace).expect("removed").hooks.len(), 2);
    done(place, "git commit -qm 'Merge rounding'");
    assert_eq!(audit_before_commit(&workspace, None).expect("an answer").merges, 0);
    assert_eq!(audit_head(&workspace).outcome, AuditOutcome::Clean);
    std::fs::write(place.join(".git/hooks/pre-commit"), "#!/bin/sh\n# mine\n").expect("a hook of the user");
    assert!(install_git_hooks(&workspace, &program).is_err(), "another hook is never replaced");
    assert!(!place.join(".git/hooks/pre-merge-commit").exists(), "and nothing is half installed");
    assert_eq!(remove_git_hooks(&workspace).expect("nothing to remove").hooks.len(), 0);
}

#[test]
fn nothing_that_a_repository_says_is_run_or_decides() {
    let (home, workspace) = story();
    let place = home.path();
    let plain = audit_head(&workspace);
    done(
        place,
        "git config merge.ours.driver 'touch .git/ran; true' && git config diff.external 'touch .git/ran' && \
         git config core.fsmonitor 'touch .git/ran' && git config core.pager 'touch .git/ran' && \
         git config diff.renames copies && git config core.attributesFile .git/attributes && \
         printf '* merge=ours diff=evil filter=evil\\n' > .git/attributes && cp .git/attributes .git/info/attributes && \
         git config filter.evil.smudge 'touch .git/ran' && git config filter.evil.clean 'touch .git/ran' && \
         git config diff.evil.textconv 'touch .git/ran' && git config alias.log '!touch .git/ran' && \
         git replace HEAD^2 HEAD^1",
    );
    let workspace = Workspace::find(Some(place), place).expect("a workspace");
    let hostile = audit_head(&workspace);
    let ids = |answer: &MergeAuditAnswer| {
        answer.findings.iter().map(|finding| finding.id.clone()).collect::<Vec<_>>()
    };
    assert_eq!(ids(&hostile), ids(&plain));
    let range = audit_range(&workspace, None, "HEAD").expect("a range");
    assert_eq!(range.audits.len(), 1);
    assert_eq!(ids(&range.audits[0]), ids(&plain));
    assert!(!place.join(".git/ran").exists(), "nothing of the repository was run");
}

/// Makes a merge of three branches that each edit a file, and returns the audit of it. `result` writes what was committed.
fn octopus(result: &str) -> MergeAuditAnswer {
    let home = tempfile::tempdir().expect("a directory");
    let place = home.path();
    let branch = |name: &str, edit: &str| {
        format!(
            "git checkout -qb {name} main && {edit} && git commit -qam 'Edit {name}' && git checkout -q main"
        )
    };
    done(place, "git init -q -b main && git config user.name ben && git config user.email ben@example.org");
    done(place, "seq 1 9 > one.txt && seq 1 9 > two.txt && git add . && git commit -qm Base");
    done(place, &branch("red", "sed -i 's/5/the red five/' one.txt"));
    done(place, &branch("green", "sed -i 's/5/the green five/' two.txt"));
    done(place, &branch("blue", "sed -i 's/5/the blue fifth of two/' two.txt"));
    done(place, result);
    done(
        place,
        "git add -A && tree=$(git write-tree) && \
         git update-ref HEAD $(git commit-tree $tree -p red -p green -p blue -m 'Merge three')",
    );
    let workspace = Workspace::find(Some(place), place).expect("a workspace");
    let range = audit_range(&workspace, None, "HEAD").expect("a range");
    let one = audit_head(&workspace);
    assert_eq!(range.merges, 1);
    let ids = |answer: &MergeAuditAnswer| {
        answer.findings.iter().map(|finding| (finding.id.clone(), finding.class)).collect::<Vec<_>>()
    };
    assert_eq!(range.audits.first().map(ids).unwrap_or_default(), ids(&one), "a range says the same");
    one
}

#[test]
fn an_octopus_merge_is_audited_parent_by_parent() {
    let red = "sed -i 's/5/the red five/' one.txt";
    let green = "sed -i 's/5/the green five/' two.txt";
    let lost = octopus(green);
    let [red_edit, blue_edit] = &lost.findings[..] else { panic!("{lost:?}") };
    assert_eq!(
        (red_edit.class, red_edit.lost.as_slice()),
        (FindingClass::Lost, &["the red five".to_owned()][..])
    );
    // Green and blue wrote the same line: only a person can say which is right.
    assert_eq!((blue_edit.class, blue_edit.path.to_string().as_str()), (FindingClass::Contested, "two.txt"));
    let kept = octopus(&format!("{red} && {green}"));
    assert_eq!(kept.outcome, AuditOutcome::Contested, "{kept:?}");
    assert_eq!(kept.findings.len(), 1);
}
