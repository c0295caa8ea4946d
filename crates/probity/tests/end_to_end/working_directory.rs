//! The choice of the root, and the meaning of paths typed in a subdirectory.

use crate::repo::{Outcome, Repo};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

/// Creates a monorepo: the repository with two packages of the same shape.
fn monorepo() -> Repo {
    let repo = Repo::new();
    repo.write("packages/app/src/a.js", "a\n");
    repo.write("packages/app/src/b.js", "b\n");
    repo.write("packages/lib/src/a.js", "a\n");
    repo.sh("git add . && git commit -q -m packages");
    repo
}

/// Runs the binary with `--json` in a directory of the repository.
fn ask_in(repo: &Repo, directory: &str, arguments: &[&str]) -> Outcome {
    let mut command = repo.probity(&["--json"]);
    command.args(arguments).current_dir(repo.path().join(directory));
    repo.outcome(&command.output().expect("probity starts"))
}

/// Returns the text that a person reads in a directory.
fn read_in(repo: &Repo, directory: &str, arguments: &[&str]) -> String {
    let mut command = repo.probity(arguments);
    let output = command.current_dir(repo.path().join(directory)).output().expect("probity starts");
    format!("{}{}", String::from_utf8_lossy(&output.stderr), String::from_utf8_lossy(&output.stdout))
}

fn real(path: &Path) -> String {
    path.canonicalize().expect("is there").to_str().expect("text").to_owned()
}

/// Creates a directory outside every repository, with the repository's environment.
fn gitless(repo: &Repo, name: &str) -> std::path::PathBuf {
    let place = repo.outside().join(name);
    fs::create_dir_all(&place).expect("creates");
    place
}

#[test]
fn a_scope_typed_in_a_package_means_that_package() {
    let repo = monorepo();
    let run = ["run", "--scope", "src/**", "--", "sh", "-c", "echo x >> src/a.js"];
    let inside = ask_in(&repo, "packages/app", &run);
    inside.passes();
    assert_eq!(inside.json["scope"], serde_json::json!(["packages/app/src/**"]));
    assert_eq!(inside.json["root"], real(&repo.path()));
    assert!(inside.words.contains("packages/app/src/**"), "{}", inside.words);
    assert!(inside.words.contains("(typed 'src/**' in packages/app)"), "{}", inside.words);

    let from_root = ["run", "--scope", "/src/**", "--", "sh", "-c", "echo x >> src/b.js"];
    ask_in(&repo, "packages/app", &from_root).is_out(&["packages/app/src/b.js"]);

    let beside = ["run", "--scope", "../lib/src/a.js", "--", "sh", "-c", "echo x >> ../lib/src/a.js"];
    ask_in(&repo, "packages/app", &beside).passes();
}

#[test]
fn what_leads_out_of_the_tree_is_refused() {
    let repo = monorepo();
    let outside = ["plan", "--scope", "../../../x"];
    ask_in(&repo, "packages/app", &outside).refused_with("SCOPE.LEAVES_ROOT");
    ask_in(&repo, "", &["plan", "--scope", "src/"]).refused_with("SCOPE.TRAILING_SLASH");
    ask_in(&repo, "packages", &["plan", "--scope", "app/../lib/**"]).refused_with("SCOPE.DOT_SEGMENT");
}

#[test]
fn an_absolute_path_of_the_file_system_is_not_taken_for_one_of_the_tree() {
    let repo = monorepo();
    let absolute = format!("{}/src/a.py", real(&repo.path()));
    for arguments in [
        &["start", &absolute, "-m", "x"][..],
        &["plan", "--scope", &absolute],
        &["plan", "--scope", &format!("{}/new/**", real(&repo.path()))],
        &["start", "/etc/passwd", "-m", "x"],
        &["explain", &absolute],
    ] {
        ask_in(&repo, "packages/app", arguments).refused_with("SCOPE.ABSOLUTE");
    }
    let refused = ask_in(&repo, "packages/app", &["plan", "--scope", &absolute]);
    let message = refused.json["message"].as_str().expect("words");
    assert!(message.ends_with("write `/src/a.py`"), "{message}");
}

#[test]
fn every_path_that_a_person_types_is_relative_to_their_directory() {
    let repo = monorepo();
    let app = |arguments: &[&str]| ask_in(&repo, "packages/app", arguments);
    let run = ["run", "--scope", "src/a.js", "--", "sh", "-c", "echo x >> src/a.js; echo x >> src/b.js"];
    app(&run).is_out(&["packages/app/src/b.js"]);
    assert_eq!(app(&["explain", "src/b.js"]).json["path"], "packages/app/src/b.js");
    assert_eq!(app(&["explain", "/src/a.py"]).json["path"], "src/a.py");
    let suggested = app(&["plan", "--suggest", "src/b.js"]);
    assert_eq!(suggested.json["scope"], serde_json::json!(["packages/app/src/b.js"]));
    assert_eq!(
        app(&["analyze", "blast", "src/a.js"]).json["paths"],
        serde_json::json!(["packages/app/src/a.js"])
    );
    let amended = app(&["amend", "last", "--add", "src/b.js", "--why", "both", "--by", "ann"]);
    assert_eq!(amended.json["status"], "pass", "{amended:#?}");
    app(&run).is_out(&["packages/app/src/b.js"]);
    let reverted = app(&["revert", "last", "src/b.js"]);
    assert_eq!(reverted.json["paths"][0]["path"], "packages/app/src/b.js");
    repo.sh("git checkout -q .");
    let started =
        app(&["start", "src/a.js", "--related", "../lib/src/a.js", "--forbid", "*.lock", "-m", "x"]);
    assert_eq!(started.json["status"], "active", "{started:#?}");
    let id = started.json["intent_id"].as_str().expect("an id").to_owned();
    let owner = started.json["owner"].as_str().expect("an owner").to_owned();
    let shown = app(&["intent", "show", &id]);
    let text = shown.json.to_string();
    for part in ["packages/app/src/a.js", "packages/lib/src/a.js", "packages/app/*.lock"] {
        assert!(text.contains(part), "no `{part}` in {text}");
    }
    let amend = ["amend", "--intent", &id, "--add", "src/b.js", "--why", "also", "--owner", &owner];
    assert!(app(&amend).json.to_string().contains("packages/app/src/b.js"));
    repo.sh("echo y >> packages/app/src/b.js");
    let finish = ["finish", &id, "--changed", "src/b.js", "--owner", &owner, "--skip-gates"];
    let finished = app(&finish);
    assert_eq!(finished.json["status"], "accepted", "{finished:#?}");
}

#[test]
fn commands_printed_to_be_copied_work_where_they_are_printed() {
    let repo = monorepo();
    let script = "echo x >> src/b.js; echo x >> ../../docs/d.md";
    let run = ["run", "--scope", "src/a.js", "--", "sh", "-c", script];
    let violated = ask_in(&repo, "packages/app", &run);
    violated.is_out(&["docs/d.md", "packages/app/src/b.js"]);
    let steps = violated.json["next_steps"].as_array().expect("steps");
    let step = |way: &str| {
        let found = steps.iter().find(|step| step["way"] == way).expect("a way");
        found["command"].as_str().expect("a command").to_owned()
    };
    assert!(step("expand").contains("--add '/docs/d.md' --add 'src/b.js'"), "{}", step("expand"));
    assert!(step("split").contains("--scope '/docs/d.md' --scope 'src/b.js'"), "{}", step("split"));
    let amend = step("expand").replace('…', "it belongs to it");
    let script = amend.replacen("probity", "\"$0\" --json", 1);
    let mut command = std::process::Command::new("sh");
    command.arg("-c").arg(script).arg(env!("CARGO_BIN_EXE_probity"));
    let output = command.current_dir(repo.path().join("packages/app")).env("HOME", repo.outside()).output();
    let amended = repo.outcome(&output.expect("sh starts"));
    assert_eq!(amended.json["status"], "pass", "{amended:#?}");

    let root = repo.path();
    let named = ["--root", root.to_str().expect("text"), "run", "--scope", "src/a.py", "--", "sh", "-c"];
    let mut command = repo.probity(&["--json"]);
    command.args(named).arg(format!("echo x >> {}/docs/d.md", root.display())).current_dir(repo.outside());
    let violated = repo.outcome(&command.output().expect("probity starts"));
    violated.is_out(&["docs/d.md"]);
    let expand = violated.json["next_steps"][0]["command"].as_str().expect("a command").to_owned();
    assert!(expand.starts_with(&format!("probity --root '{}' amend ", root.display())), "{expand}");
    assert!(expand.contains("--add 'docs/d.md'"), "from outside, patterns begin at the root: {expand}");
}

#[test]
fn a_run_on_claimed_paths_says_how_to_leave_them_out_from_here() {
    let repo = monorepo();
    let claim = ["start", "packages/app/src/a.js", "--intent", "x", "--agent", "ann"];
    assert_eq!(repo.ask(&claim).json["status"], "active");
    let run = ["run", "--agent", "ben", "--scope", "src/**", "--", "true"];
    let refused = ask_in(&repo, "packages/app", &run);
    assert_eq!(refused.json["reason"], "RUN.CLAIMED", "{refused:#?}");
    let next = refused.json["next_step"].as_str().expect("a next step");
    assert!(next.ends_with("--scope '!src/a.js'"), "{next}");
}

#[test]
fn a_scope_that_covers_nothing_stops_before_the_command_runs() {
    let repo = monorepo();
    let touch = ["--", "sh", "-c", "touch ran"];
    let refused = |directory: &str, options: &[&str]| {
        let arguments = [&["run"][..], options, &touch[..]].concat();
        let outcome = ask_in(&repo, directory, &arguments);
        assert!(!repo.path().join(directory).join("ran").exists(), "{outcome:#?}");
        outcome
    };
    let hinted = |directory: &str, scope: &str, hint: &str| {
        let outcome = refused(directory, &["--scope", scope]);
        outcome.refused_with("SCOPE.COVERS_NOTHING");
        let message = outcome.json["message"].as_str().expect("words");
        assert!(message.contains(hint), "no `{hint}` in {message}");
        assert!(outcome.json["next_step"].as_str().is_some_and(|step| step.contains("--creates")));
    };
    hinted("", "scr/**", "did you mean `src/**` (2 files)?");
    hinted("packages", "src/**", "`/src/**` (2 files)");
    hinted("packages", "src/**", "you are in packages, so from the root of the tree it is `packages/src/**`");
    hinted("packages", "src/a.js", "`app/src/a.js` (1 file)");
    hinted("packages/app", "src", "`src/**` (2 files)");
    refused("", &[]).refused_with("SCOPE.EMPTY_SCOPE");
    ask_in(&repo, "", &["plan", "--scope", "scr/**"]).refused_with("SCOPE.COVERS_NOTHING");
    ask_in(&repo, "", &["plan"]).refused_with("SCOPE.EMPTY_SCOPE");
}

#[test]
fn a_command_that_creates_its_files_says_so() {
    let repo = monorepo();
    let new = ["run", "--creates", "--scope", "new/**", "--", "sh", "-c", "mkdir new; echo x > new/f"];
    ask_in(&repo, "", &new).passes();
    assert_eq!(ask_in(&repo, "", &["plan", "--creates", "--scope", "x/**"]).exit_code, Some(0));
}

#[test]
fn one_pattern_among_others_that_covers_nothing_is_a_warning() {
    let repo = monorepo();
    let outcome = ask_in(&repo, "", &["run", "--scope", "src/**", "--scope", "dcos/**", "--", "true"]);
    outcome.passes();
    let warned = |outcome: &Outcome| {
        let warnings = outcome.json["warnings"].as_array().expect("warnings").clone();
        let covers_nothing = warnings.into_iter().filter(|it| it["code"] == "SCOPE.COVERS_NOTHING");
        covers_nothing.map(|it| it["pattern"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(warned(&outcome), ["dcos/**"]);
    let plan = ["plan", "--creates", "--scope", "src/**", "--scope", "new/**"];
    assert!(warned(&ask_in(&repo, "", &plan)).is_empty());
}

#[test]
fn a_run_that_may_change_nothing_proves_that_a_command_changes_nothing() {
    let repo = monorepo();
    let unchanged = ask_in(&repo, "", &["run", "--no-changes", "--", "true"]);
    unchanged.passes();
    assert_eq!(unchanged.json["warnings"], serde_json::json!([]), "it is meant");
    let changed = ask_in(&repo, "", &["run", "--no-changes", "--", "sh", "-c", "echo x > new"]);
    changed.is_out(&["new"]);
    assert!(changed.words.contains("nothing may change"), "{}", changed.words);
    ask_in(&repo, "", &["run", "--no-changes", "--scope", "src/**", "--", "true"])
        .refused_with("USAGE.INVALID");
}

#[test]
fn any_scope_will_do_for_an_empty_tree() {
    let repo = Repo::new();
    let empty = gitless(&repo, "empty");
    let mut command =
        repo.probity(&["run", "--json", "--scope", "src/**", "--", "sh", "-c", "mkdir src; echo > src/a"]);
    repo.outcome(&command.current_dir(&empty).output().expect("probity starts")).passes();
}

#[test]
fn state_in_a_directory_above_is_named_and_not_used() {
    let repo = Repo::new();
    let top = gitless(&repo, "tree");
    let below = gitless(&repo, "tree/notes/today");
    fs::write(top.join("secret"), "x").expect("writes");
    fs::write(below.join("a"), "x").expect("writes");
    let run_in = |place: &Path| {
        let mut command = repo.probity(&["run", "--json", "--scope", "*", "--", "true"]);
        repo.outcome(&command.current_dir(place).output().expect("probity starts"))
    };
    run_in(&top).passes();
    assert!(top.join(".probity").is_dir());
    let list =
        |place: &Path| repo.probity(&["evidence", "list"]).current_dir(place).output().expect("starts");
    let listed = list(&below);
    let words = String::from_utf8_lossy(&listed.stderr).into_owned();
    assert!(
        words.contains("there is Probity state in ../..; pass --root ../.. if you mean that tree"),
        "{words}"
    );
    assert!(listed.stdout.is_empty(), "the state above is not used");
    assert_eq!(words.matches("../..;").count(), 1, "{words}");

    // What anybody may have put there is not worth a word.
    fs::set_permissions(&top, fs::Permissions::from_mode(0o1777)).expect("sets the mode");
    let words = String::from_utf8_lossy(&list(&below).stderr).into_owned();
    assert!(!words.contains("../.."), "{words}");

    let outcome = run_in(&below);
    outcome.passes();
    assert_eq!(outcome.json["root"], real(&below));
    assert_eq!(outcome.json["coverage"]["files"], 1);
    assert!(!String::from_utf8_lossy(&list(&below).stderr).contains("../.."), "it has state of its own now");
}

#[test]
fn the_file_system_and_a_home_directory_are_no_trees_unless_they_are_named() {
    let repo = Repo::new();
    let home = gitless(&repo, "home");
    fs::create_dir_all(home.join("notes")).expect("creates");
    fs::write(home.join("a"), "x").expect("writes");
    let ask = |place: &Path, arguments: &[&str]| {
        let mut command = repo.probity(arguments);
        let output = command.arg("--json").current_dir(place).env("HOME", &home).output();
        repo.outcome(&output.expect("probity starts"))
    };
    for place in [Path::new("/"), &home] {
        let refused = ask(place, &["plan", "--scope", "**"]);
        refused.refused_with("ROOT.TOO_BROAD");
        assert!(
            refused.json["message"].as_str().is_some_and(|text| text.contains("--root ")),
            "{refused:#?}"
        );
        for arguments in [&["status"][..], &["analyze"], &["init", "--dry-run"], &["mcp"]] {
            ask(place, arguments).refused_with("ROOT.TOO_BROAD");
        }
        assert_eq!(ask(place, &["explain", "GATE.FAILED"]).exit_code, Some(0));
        assert_eq!(ask(place, &["man"]).exit_code, Some(0));
        assert_eq!(ask(place, &["completions", "bash"]).exit_code, Some(0));
    }
    assert_eq!(ask(&home.join("notes"), &["plan", "--scope", "**"]).json["root"], real(&home.join("notes")));
    let named = ask(&home, &["plan", "--scope", "**", "--root", "."]);
    assert_eq!((named.exit_code, &named.json["root"]), (Some(0), &real(&home).into()));

    // Many people keep their home directory's dotfiles in a repository.
    fs::create_dir(home.join(".git")).expect("creates");
    let refused = ask(&home.join("notes"), &["plan", "--scope", "**"]);
    refused.refused_with("ROOT.TOO_BROAD");
    let message = refused.json["message"].as_str().expect("words");
    for part in ["it has `.git`", "`--root ~`", "`--root .`"] {
        assert!(message.contains(part), "no {part} in {message}");
    }
}

#[test]
fn the_tree_is_named_in_the_first_line() {
    let repo = monorepo();
    let root = real(&repo.path());
    for (command, arguments) in [
        ("plan", &["plan", "--scope", "src/**"][..]),
        ("status", &["status"]),
        ("init", &["init", "--dry-run"]),
        ("analyze", &["analyze"]),
        ("contract", &["contract", "verify"]),
    ] {
        let text = read_in(&repo, "packages/app", arguments);
        let first = text.lines().next().unwrap_or_default();
        assert_eq!(first, format!("probity {command}  in {root}"), "{text}");
    }
    let text = read_in(&repo, "packages/app", &["run", "--scope", "src/**", "--", "true"]);
    let first = text.lines().next().unwrap_or_default();
    assert!(first.starts_with("probity run ") && first.ends_with(&format!("  in {root}")), "{text}");
}
