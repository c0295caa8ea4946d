//! Concurrent runs in several worktrees of one repository, which share a state directory and nothing else. No run is
//! blamed for another's writes there, none is closed while it lives, and the chain never forks.

use crate::repo::Repo;

const ROUNDS: usize = 8;

#[test]
fn runs_in_other_worktrees_are_in_nobodys_way() {
    let repo = Repo::new();
    repo.sh("git worktree add -q ../one; git worktree add -q ../two");
    let roots = [repo.path(), repo.outside().join("one"), repo.outside().join("two")];
    // Threads cannot share the repository, so each gets prepared commands.
    let commands: Vec<Vec<_>> = roots
        .iter()
        .map(|root| {
            let command = |round| {
                let mut command = repo.probity(&["run", "--json", "--scope", "src/a.py", "--", "sh", "-c"]);
                command.arg(format!("echo {round} >> src/a.py")).current_dir(root);
                command
            };
            (0..ROUNDS).map(command).collect()
        })
        .collect();
    let outputs = std::thread::scope(|scope| {
        let run = |commands: Vec<std::process::Command>| {
            scope.spawn(|| {
                commands.into_iter().map(|mut one| one.output().expect("starts")).collect::<Vec<_>>()
            })
        };
        let running: Vec<_> = commands.into_iter().map(run).collect();
        running.into_iter().flat_map(|thread| thread.join().expect("ends")).collect::<Vec<_>>()
    });
    for output in &outputs {
        let outcome = repo.outcome(output);
        outcome.passes();
        assert!(outcome.evidence_dir().starts_with(repo.path()), "{outcome:#?}");
    }
    let chain = repo.ask(&["evidence", "chain"]);
    assert_eq!(chain.json["outcome"], "PASS", "{chain:#?}");
    assert_eq!(chain.json["links"].as_array().map(Vec::len), Some(outputs.len()), "{chain:#?}");
}

#[test]
fn a_view_of_a_linked_worktree_is_judged_and_lands() {
    let repo = Repo::new();
    repo.sh("git worktree add -q ../one");
    let script = "echo x >> src/a.py; git commit -q -a -m inside";
    let arguments = ["run", "--json", "--enforce", "overlay", "--scope", "src/**", "--", "sh", "-c", script];
    let mut command = repo.probity(&arguments);
    let outcome =
        repo.outcome(&command.current_dir(repo.outside().join("one")).output().expect("probity starts"));
    if outcome.json["reason"] == "ENFORCE.UNAVAILABLE" {
        probity_testkit::skip!("there are no views here");
        return;
    }
    outcome.passes();
    assert_eq!(outcome.json["landing"]["state"], "landed", "{outcome:#?}");
    // The content landed, and neither the commit nor anything in the main worktree.
    repo.sh("test \"$(git -C ../one status --porcelain)\" = ' M src/a.py' && test -z \"$(git status --porcelain)\"");
}

#[test]
fn an_intent_recovered_from_another_worktree_is_finished_where_it_was_started() {
    let repo = Repo::new();
    repo.sh("git worktree add -q ../one");
    // The shell is the agent: it starts a change, edits and ends.
    let start = format!("{} start src/a.py --intent x --agent-pid $$", env!("CARGO_BIN_EXE_probity"));
    repo.sh(&format!("{start} > ../started 2>&1; echo y >> src/a.py; true"));
    let beside = |arguments: &[&str]| {
        let mut command = repo.probity(&[arguments, &["--json"]].concat());
        repo.outcome(&command.current_dir(repo.outside().join("one")).output().expect("probity starts"))
    };
    let line = &beside(&["status"]).json["intents"][0];
    let intent = line["intent_id"].as_str().expect("an id").to_owned();
    let home = line["root"].as_str().expect("a root").to_owned();
    assert!(beside(&["intent", "recover", &intent]).json["owner"].is_string());
    let refused = beside(&["finish", &intent]);
    refused.refused_with("INTENT.ELSEWHERE");
    let next = refused.json["next_step"].as_str().expect("a next step");
    assert!(next.contains(&home) && next.contains("probity finish "), "{next}");
    // The handle is kept where the change is.
    let finished = repo.ask(&["finish"]);
    assert_eq!(finished.json["status"], "accepted", "{finished:#?}");
}

/// The handle is kept where the change was started, so a finish elsewhere says where to go, not that it is a stranger's.
#[test]
fn a_finish_in_another_worktree_names_the_one_with_the_handle() {
    let repo = Repo::new();
    repo.sh("git worktree add -q ../one");
    let intent = repo.ask(&["start", "src/a.py", "--intent", "x"]).json["intent_id"].clone();
    let intent = intent.as_str().expect("an id");
    let mut command = repo.probity(&["finish", intent, "--json"]);
    let command = command.current_dir(repo.outside().join("one"));
    let refused = repo.outcome(&command.output().expect("probity starts"));
    refused.refused_with("INTENT.ELSEWHERE");
    let next = refused.json["next_step"].as_str().expect("a next step");
    assert!(next.contains("probity finish ") && next.starts_with("`cd "), "{next}");
}
