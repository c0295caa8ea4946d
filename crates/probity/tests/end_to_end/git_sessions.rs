//! Ordinary work with git inside a governed run, which is no violation.

use crate::repo::Repo;

/// Prepares a repository with `prepare`, then runs `script` with `src/**` as its scope. It must pass.
fn is_ordinary(prepare: &str, script: &str) {
    let repo = Repo::new();
    if !prepare.is_empty() {
        repo.sh(prepare);
    }
    let outcome = repo.run_with(&["--scope", "src/**"], script);
    assert_eq!(outcome.json["status"], "pass", "{script}: {outcome:#?}");
    outcome.passes();
}

#[test]
fn committing_and_staging_in_scope() {
    for script in [
        "echo 1 >> src/a.py; git add src/a.py",
        "echo 1 >> src/a.py; git commit -qam one; echo 2 > src/new.py; git add .; git commit -qm two",
        "git mv src/b.py src/c.py; git commit -qm move",
        "git rm -q src/b.py",
        "echo 1 >> src/a.py; git commit -qam one; git revert --no-edit HEAD > /dev/null",
        "echo 1 >> src/a.py; git commit -qam one; git tag v1; git tag -a -m two v2; git branch topic",
        "echo 1 >> src/a.py; git commit -qam one; git reset -q --soft HEAD~; git commit -qm again",
        "echo 1 >> src/a.py; git commit -qam one; git reset -q HEAD~",
        "git add -N .; git add --refresh .",
    ] {
        is_ordinary("", script);
    }
}

#[test]
fn branches_and_stashes() {
    for script in [
        "git checkout -qb topic; echo 1 >> src/a.py; git commit -qam one; git checkout -q main; git merge -q topic",
        "git checkout -qb topic; echo 1 >> src/a.py; git commit -qam one; git checkout -q main; git merge -q --no-ff topic",
        "git switch -q old; git switch -q main",
        "git branch -f old main; git tag mark old; git branch -d old",
        "echo 1 >> src/a.py; git stash -q; git stash pop -q",
        "echo 1 >> src/a.py; git stash -q",
        "echo 1 >> src/a.py; echo new > src/n.py; git stash -q -u; git stash apply -q",
        "git checkout -q --detach; echo 1 >> src/a.py; git commit -qam one; git checkout -q main",
        "git checkout -q --detach; echo 1 >> src/a.py; git commit -qam one",
        // The other branch has changed what lies outside of the scope; the merge takes it as it is there.
        "git switch -q other; git merge -q --no-edit main; git switch -q main",
    ] {
        let prepare = "git branch old; echo other > docs/d.md; git checkout -qb other; git commit -qam other; \
                       git checkout -q main; echo m >> src/b.py; git commit -qam m";
        is_ordinary(prepare, script);
    }
}

#[test]
fn rewriting_commits_that_were_there_before() {
    let prepare = "echo 2 >> docs/d.md; git commit -qam two; echo 3 >> docs/d.md; echo 3 >> src/b.py; git commit -qam three";
    for script in [
        "echo 1 >> src/a.py; git commit -qa --amend -m better",
        "git commit -q --amend -m better; git commit -q --amend -m best",
        "git reset -q --soft HEAD~2; echo 1 >> src/a.py; git commit -qam squashed",
        "export GIT_COMMITTER_DATE='2030-01-01T00:00:00Z'; git rebase -q --force-rebase HEAD~2",
        "export GIT_COMMITTER_DATE='2030-01-01T00:00:00Z' GIT_SEQUENCE_EDITOR='sed -i 2s/pick/fixup/'; git rebase -q -i HEAD~2",
        "git checkout -qb topic HEAD~; git cherry-pick main > /dev/null; git checkout -q main; git branch -D topic > /dev/null",
    ] {
        is_ordinary(prepare, script);
    }
}

#[test]
fn fetching_and_pulling_in_scope() {
    let prepare = "git clone -q . ../remote; git remote add origin ../remote; git fetch -q; \
                   git branch -q --set-upstream-to=origin/main; cd ../remote; echo far > docs/d.md; \
                   git checkout -qb far; git commit -qam far; git tag far-tag; git checkout -q main; \
                   echo 1 >> src/a.py; git commit -qam near; git tag -a -m near near-tag";
    for script in
        ["git fetch -q --no-tags --prune", "git pull -q --no-tags", "git pull -q --no-tags --rebase"]
    {
        is_ordinary(prepare, script);
    }
    is_ordinary(&format!("{prepare}; git tag -d far-tag > /dev/null"), "git fetch -q --tags");
    // A tag of what is out of scope may be fetched, or made for a commit of the run.
    let repo = Repo::new();
    repo.sh(prepare);
    repo.run_with(&["--scope", "src/**"], "git fetch -q --tags").is_out(&["docs/d.md"]);
    // What a pull brings into the tree outside of the scope is judged, as any other change of the tree.
    let repo = Repo::new();
    repo.sh(prepare);
    repo.run_with(&["--scope", "src/**"], "git pull -q origin far").is_out(&["docs/d.md"]);
}

#[test]
fn housekeeping() {
    let prepare = "for n in 1 2 3; do echo $n >> src/a.py; git commit -qam $n; done; git branch topic HEAD~2; \
                   git checkout -q topic; echo t >> src/b.py; git commit -qam t; git checkout -q main";
    for script in [
        "git gc -q",
        "git gc -q --prune=now --aggressive",
        "git repack -qad; git repack -qad --write-midx 2> /dev/null || true",
        "git maintenance run --quiet --task=gc --task=commit-graph --task=loose-objects",
        "git commit-graph write --reachable; git commit-graph write --reachable --split",
        "git pack-refs --all; git reflog expire --all --expire=now",
        "git notes add -m note; git notes append -m more",
        "git bisect start HEAD HEAD~3 > /dev/null; git bisect good > /dev/null; git bisect reset > /dev/null 2>&1",
        "git bisect start HEAD HEAD~3 > /dev/null; git bisect bad > /dev/null",
        "git worktree add -q ../w -b w; git worktree list > /dev/null",
        "git worktree add -q ../w -b w; git worktree remove ../w; git worktree prune",
        "git merge -q topic -m merged",
        "git -c rerere.enabled=true rebase -q topic",
        "git update-index --split-index; echo 9 >> src/a.py; git add src/a.py; git update-index --no-split-index",
        "git update-index --index-version 4; git update-index --refresh",
        "git archive HEAD > ../a.tar; git bundle create -q ../b HEAD; git format-patch -q -o ../p HEAD~; git fsck > /dev/null 2>&1",
    ] {
        is_ordinary(prepare, script);
    }
}

#[test]
fn a_conflict_that_is_left_or_resolved_in_scope() {
    let prepare = "git checkout -qb topic; echo t >> src/a.py; git commit -qam t; git checkout -q main; echo m >> src/a.py; git commit -qam m";
    for script in [
        "git -c rerere.enabled=true merge -q topic > /dev/null 2>&1 || true",
        "git -c rerere.enabled=true merge -q topic > /dev/null 2>&1 || true; echo both > src/a.py; \
         git add src/a.py; git -c rerere.enabled=true commit -qm merged",
        "git -c rerere.enabled=true rebase -q topic > /dev/null 2>&1 || true",
        "git cherry-pick topic > /dev/null 2>&1 || true; git cherry-pick --abort",
    ] {
        is_ordinary(prepare, script);
    }
}

#[test]
fn a_commit_in_another_worktree_is_not_of_this_run() {
    let prepare = "git worktree add -q ../other -b other";
    is_ordinary(prepare, "cd ../other; echo theirs > docs/d.md; git commit -qam theirs");
    is_ordinary(
        prepare,
        "cd ../other; git checkout -qb theirs; echo theirs > docs/d.md; git commit -qam theirs",
    );
}
