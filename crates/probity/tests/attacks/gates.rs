//! Attempts to change what a gate runs, so that a broken tree passes (law 8).

use crate::repo::{Outcome, Repo, has};
use std::process::Command;

/// A repository with one gate, and with `[workspace]` rules; everything is committed.
fn repo_with(gate: &str, workspace: &str, files: &[(&str, &str)]) -> Repo {
    let repo = Repo::new();
    for (name, text) in files {
        repo.write(name, text);
    }
    let policy = format!("[workspace]\n{workspace}\n[[gate]]\nid = \"check\"\n{gate}\n");
    repo.write("probity.toml", &policy);
    repo.sh("find . -path ./.git -prune -o \\( -name '*.sh' -o -path '*/bin/*' -o -path '*/.bin/*' \\) -type f -exec chmod +x {} +");
    repo.sh("git add -A && git commit -q -m gate");
    repo
}

fn run_everywhere(repo: &Repo, script: &str) -> Outcome {
    repo.run_with(&["--scope", "**", "--scope", "!probity.toml"], script)
}

fn tells(outcome: &Outcome, path: &str) {
    outcome.passes().finds("GATE.INPUT_CHANGED", path);
}

#[test]
fn a_gate_script_is_told_however_its_command_names_it() {
    for word in ["tools/check.sh", "./tools/check.sh", "tools/../tools//check.sh", "ABSOLUTE"] {
        let repo = Repo::new();
        repo.write("tools/check.sh", "exit 1\n");
        let word = match word {
            "ABSOLUTE" => {
                repo.path().canonicalize().expect("is there").join("tools/check.sh").display().to_string()
            }
            word => word.to_owned(),
        };
        repo.write("probity.toml", &format!("[[gate]]\nid = \"check\"\nrun = [\"sh\", \"{word}\"]\n"));
        repo.sh("git add . && git commit -q -m gate");
        run_everywhere(&repo, "true").fails_with("GATE.FAILED");
        tells(&run_everywhere(&repo, "echo exit 0 > tools/check.sh"), "tools/check.sh");
    }
}

#[test]
fn a_module_that_a_gate_runs_is_told() {
    if !has("python3") {
        return probity_testkit::skip!("python3 is not installed");
    }
    let files = [("tools/__init__.py", ""), ("tools/check.py", "raise SystemExit(1)\n")];
    let repo = repo_with("run = [\"python3\", \"-m\", \"tools.check\"]", "", &files);
    run_everywhere(&repo, "true").fails_with("GATE.FAILED");
    tells(&run_everywhere(&repo, "echo pass > tools/check.py"), "tools/check.py");
}

#[test]
fn files_that_tools_read_by_themselves_are_told() {
    for (run, file) in [
        (r#"["sh", "-c", "true || pytest"]"#, "conftest.py"),
        (r#"["sh", "-c", "true || make test"]"#, "Makefile"),
        (r#"["sh", "-c", "true || npm test"]"#, "package.json"),
        (r#"["sh", "-c", "true || cargo test"]"#, ".cargo/config.toml"),
        (r#"["sh", "-c", "true || just check"]"#, "justfile"),
        (r#"["sh", "-c", "true || ./gradlew check"]"#, "build.gradle"),
    ] {
        let repo = repo_with(&format!("run = {run}"), "", &[]);
        tells(&run_everywhere(&repo, &format!("mkdir -p $(dirname {file}); echo x > {file}")), file);
    }
}

#[test]
fn a_makefile_that_a_gate_runs_is_told() {
    if !has("make") {
        return probity_testkit::skip!("make is not installed");
    }
    let repo = repo_with("run = [\"make\", \"-s\", \"test\"]", "", &[("Makefile", "test:\n\tfalse\n")]);
    run_everywhere(&repo, "true").fails_with("GATE.FAILED");
    tells(&run_everywhere(&repo, "printf 'test:\\n\\ttrue\\n' > Makefile"), "Makefile");
}

#[test]
fn inputs_that_the_policy_declares_fail_the_run_when_they_change() {
    for (policy, text) in [
        (
            "probity.toml",
            "[[gate]]\nid = \"check\"\nrun = [\"true\"]\ninputs = [\"tests/**\", \"out/cfg\"]\n[workspace]\nbuild_outputs = [\"out/**\"]\n",
        ),
        (
            "probity.json",
            r#"{"gates": [{"id": "check", "run": ["true"], "inputs": ["tests/**", "out/cfg"]}], "workspace": {"build_outputs": ["out/**"]}}"#,
        ),
    ] {
        let repo = Repo::new();
        repo.write("tests/test_a.py", "assert False\n");
        repo.write(policy, text);
        repo.sh("git add . && git commit -q -m gate");
        for script in ["rm tests/test_a.py", "git mv tests/test_a.py src/old.py", "echo x > tests/new.py"] {
            let outcome = repo.run_with(&["--scope", "src/**", "--scope", "tests/**"], script);
            outcome.fails_with("GATE.INPUT_CHANGED");
            repo.sh("git reset -q --hard && git clean -q -f -d");
        }
        // Nor where nothing else is judged.
        repo.run_with(&["--scope", "src/**"], "mkdir -p out; echo x > out/cfg")
            .fails_with("GATE.INPUT_CHANGED");
        repo.sh("rm -r out");
        let options = ["--scope", "tests/**", "--grant", "tests/**"];
        tells(&repo.run_with(&options, "echo x > tests/new.py"), "tests/new.py");
        repo.sh("rm tests/new.py");
        repo.run_with(&["--scope", "src/**"], "echo x >> src/a.py").passes();
    }
}

#[test]
fn a_gate_whose_own_program_was_changed_is_not_run() {
    let repo = repo_with("run = [\"./tools/check.sh\"]", "", &[("tools/check.sh", "#!/bin/sh\nexit 1\n")]);
    run_everywhere(&repo, "true").fails_with("GATE.FAILED");
    let script = "printf '#!/bin/sh\\ntouch ran\\n' > tools/check.sh";
    let outcome = run_everywhere(&repo, script);
    outcome.fails_with("GATE.PROGRAM_CHANGED").finds("GATE.INPUT_CHANGED", "tools/check.sh");
    assert!(!repo.path().join("ran").exists(), "the changed program was run");
}

#[test]
fn a_gate_whose_program_outside_was_changed_is_not_run() {
    let repo = repo_with("run = [\"check\"]", "", &[]);
    repo.write("../bin/check", "#!/bin/sh\nexit 1\n");
    repo.sh("chmod +x ../bin/check");
    let bin = repo.outside().join("bin");
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").expect("a path"));
    let script = "printf '#!/bin/sh\\nexit 0\\n' > ../bin/check";
    let mut command = repo.probity(&["run", "--json", "--scope", "src/a.py", "--", "sh", "-ec", script]);
    repo.outcome(&command.env("PATH", path).output().expect("starts")).fails_with("GATE.PROGRAM_CHANGED");
}

#[test]
fn a_program_in_a_build_output_is_not_replaced_unseen() {
    let repo = repo_with(
        "run = [\"node_modules/.bin/check\"]",
        "build_outputs = [\"node_modules/**\"]",
        &[(".gitignore", "node_modules\n")],
    );
    repo.write("node_modules/.bin/check", "#!/bin/sh\nexit 1\n");
    repo.sh("chmod +x node_modules/.bin/check");
    repo.run("true").fails_with("GATE.FAILED");
    let outcome = repo.run("printf '#!/bin/sh\\nexit 0\\n' > node_modules/.bin/check");
    outcome.fails_with("GATE.PROGRAM_CHANGED").fails_with("RECON.UNTRACKED_DELTA");
}

/// Runs a script with a directory of the tree first on the search path.
fn run_with_path(repo: &Repo, directory: &str, script: &str) -> Outcome {
    let bin = repo.path().canonicalize().expect("is there").join(directory);
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").expect("a path"));
    let mut command = repo.probity(&["run", "--json", "--scope", "src/a.py", "--", "sh", "-ec", script]);
    repo.outcome(&command.env("PATH", path).output().expect("starts"))
}

fn environment_repo(gate: &str) -> Repo {
    let repo = repo_with(gate, "build_outputs = [\".venv/**\"]", &[(".gitignore", ".venv\n")]);
    repo.write(".venv/bin/check", "#!/bin/sh\nhelper || exit 0; exit 1\n");
    repo.write(".venv/bin/helper", "#!/bin/sh\nexit 0\n");
    repo.sh("chmod +x .venv/bin/*");
    repo
}

#[test]
fn a_program_found_through_the_search_path_in_the_tree_is_not_replaced_unseen() {
    let repo = environment_repo("run = [\"check\"]");
    // An activated environment works, with the other programs in it.
    run_with_path(&repo, ".venv/bin", "true").fails_with("GATE.FAILED");
    let outcome = run_with_path(&repo, ".venv/bin", "printf '#!/bin/sh\\nexit 0\\n' > .venv/bin/check");
    outcome.fails_with("GATE.PROGRAM_CHANGED");
}

#[test]
fn a_program_planted_on_the_search_path_in_the_tree_is_not_run() {
    // In place of the program of the gate, and of one that only the gate's own script starts.
    let repo = environment_repo("run = [\"sh\", \"-c\", \"exit 1\"]");
    let planted = "printf '#!/bin/sh\\nexit 0\\n' > .venv/bin/sh; chmod +x .venv/bin/sh";
    run_with_path(&repo, ".venv/bin", planted).fails_with("GATE.PROGRAM_CHANGED");
    let repo = repo_with(
        "run = [\"./tools/check.sh\"]",
        "build_outputs = [\".venv/**\"]",
        &[(".gitignore", ".venv\n"), ("tools/check.sh", "#!/bin/sh\ncmp src/b.py docs/d.md\n")],
    );
    repo.sh("mkdir -p .venv/bin");
    let planted = "printf '#!/bin/sh\\nexit 0\\n' > .venv/bin/cmp; chmod +x .venv/bin/cmp";
    run_with_path(&repo, ".venv/bin", planted).fails_with("GATE.FAILED");
}

#[test]
fn bytecode_planted_in_a_cache_does_not_replace_a_module() {
    if !has("python3") {
        return probity_testkit::skip!("python3 is not installed");
    }
    let files = [("pay.py", "raise SystemExit(1)\n"), ("check.py", "import pay\n")];
    let repo =
        repo_with("run = [\"python3\", \"check.py\"]", "build_outputs = [\"**/__pycache__/**\"]", &files);
    repo.write(
        "../plant.py",
        "import importlib.util, marshal, os, sys
os.makedirs('__pycache__', exist_ok=True)
source = compile('pass', 'pay.py', 'exec')
name = importlib.util.cache_from_source('pay.py')
open(name, 'wb').write(importlib.util.MAGIC_NUMBER + b'\\x01\\0\\0\\0' + b'\\0' * 8 + marshal.dumps(source))
",
    );
    let outcome = repo.run("env -u PYTHONDONTWRITEBYTECODE -u PYTHONPYCACHEPREFIX python3 ../plant.py");
    outcome.fails_with("GATE.FAILED");
}

#[test]
fn a_build_output_that_git_tracks_is_judged() {
    let repo =
        repo_with("run = [\"true\"]", "build_outputs = [\"gen/**\"]", &[("gen/code.py", "safe = True\n")]);
    repo.run("echo 'safe = False' > gen/code.py").is_out(&["gen/code.py"]);
}

/// A repository with a gate, and a branch with one commit on which a script worked.
fn pull_request(gate: &str, files: &[(&str, &str)], script: &str) -> Repo {
    let repo = repo_with(gate, "", files);
    repo.sh("git switch -q -c change");
    repo.sh(script);
    repo.sh("git add -A && git commit -q -m change");
    repo
}

fn ci(repo: &Repo, options: &[&str]) -> Outcome {
    repo.ask(&[&["ci", "--base", "main"], options].concat())
}

fn gate_of(outcome: &Outcome) -> &serde_json::Value {
    &outcome.json["contract"]["gate_results"][0]
}

/// The answer says that the gate was not run because of `path`, which is no pass and in `strict` a violation, and a person
/// can let it through.
fn is_not_believed(repo: &Repo, path: &str) {
    let outcome = ci(repo, &[]);
    let contract = &outcome.json["contract"];
    assert_eq!(outcome.exit_code, Some(3), "{path}: {:#}", outcome.json);
    assert_eq!(
        (&contract["status"], &contract["reason"]),
        (&"unverified".into(), &"gate_inputs_changed".into())
    );
    assert!(contract["next_step"].as_str().is_some_and(|step| step.contains("--grant")), "{contract:#}");
    assert_eq!(gate_of(&outcome)["result"], "unverified", "{contract:#}");
    let detail = gate_of(&outcome)["detail"].as_str().unwrap_or_default();
    assert!(detail.contains(&format!("`{path}`")) && detail.contains("since the base commit"), "{detail}");
    let strict = ci(repo, &["--strictness", "strict"]);
    assert_eq!((strict.exit_code, &strict.json["contract"]["status"]), (Some(1), &"violated".into()));
    let granted = ci(repo, &["--grant", path]);
    assert_eq!(gate_of(&granted)["result"], "passed", "{:#}", granted.json);
    assert_eq!(granted.exit_code, Some(0), "{:#}", granted.json);
}

#[test]
fn a_pull_request_that_rewrites_what_its_gate_runs_is_not_believed() {
    let script = [("tools/check.sh", "exit 1\n")];
    let program = [("tools/check.sh", "#!/bin/sh\nexit 1\n")];
    for (gate, files, change, path) in [
        ("run = [\"sh\", \"tools/check.sh\"]", &script[..], "echo exit 0 > tools/check.sh", "tools/check.sh"),
        (
            "run = [\"sh\", \"-c\", \"cd . && . ./tools/check.sh\"]",
            &script,
            "echo true > tools/check.sh",
            "tools/check.sh",
        ),
        (
            "run = [\"./tools/check.sh\"]",
            &program,
            "printf '#!/bin/sh\\nexit 0\\n' > tools/check.sh",
            "tools/check.sh",
        ),
        (
            "run = [\"timeout\", \"60\", \"./tools/check.sh\"]",
            &program,
            "printf '#!/bin/sh\\nexit 0\\n' > tools/check.sh",
            "tools/check.sh",
        ),
        // A link in front of the script.
        (
            "run = [\"sh\", \"tools/check.sh\"]",
            &script,
            "echo exit 0 > src/ok.sh; ln -sf ../src/ok.sh tools/check.sh",
            "{src/ok.sh,tools/check.sh}",
        ),
        // What the policy calls an input.
        ("run = [\"true\"]\ninputs = [\"rules/**\"]", &[("rules/a", "1\n")], "echo 2 > rules/a", "rules/a"),
    ] {
        let repo = pull_request(gate, files, change);
        if path.starts_with('{') {
            let outcome = ci(&repo, &[]);
            assert_eq!((outcome.exit_code, &gate_of(&outcome)["result"]), (Some(3), &"unverified".into()));
            continue;
        }
        is_not_believed(&repo, path);
        let verified = repo.ask(&["contract", "verify", "--base", "main"]);
        assert_eq!(verified.exit_code, Some(3), "{:#}", verified.json);
        let relaxed = ci(&repo, &["--strictness", "relaxed"]);
        assert_eq!(relaxed.json["contract"]["let_through"], serde_json::json!(["gate_inputs_changed"]));
    }
    // The same behind programs that start others, and in the ways of other tools.
    for run in [
        "\"env\", \"-S\", \"sh tools/check.sh\"",
        "\"setpriv\", \"--no-new-privs\", \"sh\", \"tools/check.sh\"",
        "\"sh\", \"-c\", \"cat tools/check.sh | sh\"",
        "\"sh\", \"-c\", \"sh < tools/check.sh\"",
        "\"make\", \"-s\", \"-f\", \"tools/check.sh\"",
        "\"make\", \"-ftools/check.sh\"",
        "\"make\", \"--file=tools/check.sh\"",
        "\"sed\", \"-n\", \"-f\", \"tools/check.sh\", \"src/a.py\"",
        "\"jq\", \"-e\", \"-f\", \"tools/check.sh\", \"data.json\"",
        "\"eslint\", \"--config\", \"tools/check.sh\", \"src\"",
        "\"python3\", \"-c\", \"exec(open('tools/check.sh').read())\"",
    ] {
        let repo = pull_request(&format!("run = [{run}]"), &script, "echo exit 0 > tools/check.sh");
        let outcome = ci(&repo, &[]);
        assert_eq!(gate_of(&outcome)["result"], "unverified", "{run}: {:#}", outcome.json);
        assert_eq!(outcome.exit_code, Some(3), "{run}");
    }
    // A file that the command names for its program to read is what the gate judges.
    let reads = "run = [\"sh\", \"-c\", \"! grep -q broken docs/d.md\"]";
    for (text, exit_code) in [("fine", 0), ("broken", 1)] {
        let repo = pull_request(reads, &[], &format!("echo {text} > docs/d.md"));
        assert_eq!(ci(&repo, &["--strictness", "strict"]).exit_code, Some(exit_code), "{text}");
    }
    // The gate still judges a change of anything else.
    let repo = pull_request("run = [\"sh\", \"tools/check.sh\"]", &script, "echo '# x' >> docs/d.md");
    let outcome = ci(&repo, &[]);
    assert_eq!((outcome.exit_code, &gate_of(&outcome)["result"]), (Some(1), &"failed".into()));
}

#[test]
fn a_pull_request_is_told_which_files_its_gates_read_by_themselves() {
    if !has("make") {
        return probity_testkit::skip!("make is not installed");
    }
    let files = [("Makefile", "test:\n\tfalse\n")];
    let change = "printf 'test:\\n\\ttrue\\n' > Makefile";
    let repo = pull_request("run = [\"make\", \"-s\", \"test\"]", &files, change);
    let outcome = ci(&repo, &[]);
    assert_eq!(
        (outcome.exit_code, &gate_of(&outcome)["result"]),
        (Some(0), &"passed".into()),
        "{:#}",
        outcome.json
    );
    assert_eq!(gate_of(&outcome)["changed_inputs"], serde_json::json!(["Makefile"]));
    assert!(
        gate_of(&outcome)["detail"].as_str().is_some_and(|it| it.contains("`Makefile`")),
        "{:#}",
        outcome.json
    );
    assert_eq!(outcome.json["contract"]["let_through"], serde_json::json!(["gate_inputs_changed"]));
    let strict = ci(&repo, &["--strictness", "strict"]);
    assert_eq!(
        (strict.exit_code, &strict.json["contract"]["reason"]),
        (Some(1), &"gate_inputs_changed".into())
    );
    assert_eq!(ci(&repo, &["--strictness", "strict", "--grant", "Makefile"]).exit_code, Some(0));
}

#[test]
fn a_new_module_in_the_place_of_one_that_a_gate_imports_is_told_and_not_believed() {
    if !has("python3") {
        return probity_testkit::skip!("python3 is not installed");
    }
    let check = "import json, rules\nraise SystemExit(json.loads('1') if rules.STRICT else 0)\n";
    let files = [("tools/check.py", check), ("tools/rules.py", "STRICT = True\n")];
    let script = "run = [\"python3\", \"tools/check.py\"]";
    let module = [("check.py", "raise SystemExit(1)\n"), ("tools/check.py", check)];
    let unittest = "run = [\"python3\", \"-m\", \"unittest\", \"-q\"]";
    let test =
        [("test_a.py", "import unittest\nclass T(unittest.TestCase):\n    def test(self): self.fail()\n")];
    for (gate, files, change, path) in [
        // A module of the standard library, of the program itself, one that the command names, and the tool.
        (script, &files[..], "echo 'loads = int; loads = lambda it: 0' > tools/json.py", "tools/json.py"),
        (
            script,
            &files,
            "mkdir tools/rules; echo 'STRICT = False' > tools/rules/__init__.py",
            "tools/rules/__init__.py",
        ),
        (
            "run = [\"python3\", \"-m\", \"check\"]",
            &module,
            "mkdir check; touch check/__init__.py check/__main__.py",
            "check/__init__.py",
        ),
        (
            unittest,
            &test,
            "mkdir unittest; touch unittest/__init__.py unittest/__main__.py",
            "unittest/__init__.py",
        ),
    ] {
        let honest = repo_with(gate, "", files);
        run_everywhere(&honest, "true").fails_with("GATE.FAILED");
        tells(&run_everywhere(&honest, change), path);
        let request = pull_request(gate, files, change);
        let outcome = ci(&request, &[]);
        assert_eq!(
            (outcome.exit_code, &gate_of(&outcome)["result"]),
            (Some(3), &"unverified".into()),
            "{path}: {:#}",
            outcome.json
        );
        // Somebody else's new module in a shared tree.
        let shared = repo_with(gate, "", files);
        shared.ask(&["start", "src/a.py", "--intent", "x"]);
        shared.sh("echo '# more' >> src/a.py");
        shared.sh(change);
        let finished = shared.ask(&["finish"]);
        assert_eq!(finished.exit_code, Some(1), "{path}: {:#}", finished.json);
        assert!(finished.json["failed_gates"].to_string().contains(path), "{path}: {:#}", finished.json);
    }
}

#[test]
fn a_pull_request_from_an_old_commit_does_not_bring_back_the_old_policy() {
    let repo = Repo::new();
    repo.sh("git switch -q -c change && git switch -q main");
    repo.write("probity.toml", "[[gate]]\nid = \"check\"\nrun = [\"false\"]\n");
    repo.sh("git add -A && git commit -q -m policy && git update-ref refs/remotes/origin/main main");
    repo.sh("git switch -q change && echo '# x' >> docs/d.md && git commit -q -a -m change");
    let output = Command::new("git").args(["rev-parse", "main~1"]).current_dir(repo.path()).output();
    let old = String::from_utf8(output.expect("git starts").stdout).expect("text");
    let target = [
        ("GITLAB_CI", "true"),
        ("CI_MERGE_REQUEST_DIFF_BASE_SHA", old.trim()),
        ("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "main"),
    ];
    for (arguments, variables) in [
        (&["ci", "--json"][..], &[][..]),
        (&["ci", "--json"], &target),
        (&["ci", "--json", "--base", "main"], &[]),
    ] {
        let output = repo.probity(arguments).envs(variables.iter().copied()).output().expect("starts");
        let outcome = repo.outcome(&output);
        assert_eq!((outcome.exit_code, &gate_of(&outcome)["result"]), (Some(1), &"failed".into()));
        assert_eq!(outcome.json["contract"]["changed_files"], serde_json::json!(["docs/d.md"]));
        let notes = outcome.json["contract"]["notes"].to_string();
        assert!(notes.contains("older than the probity.toml that judges"), "{notes}");
        assert!(!notes.contains("demands less"), "{notes}");
    }
}

#[test]
fn a_pull_request_that_keeps_code_out_of_the_analysis_is_told() {
    for (name, text) in [
        ("src/made.py", "# Code generated by a tool. DO NOT EDIT.\ndef f(): pass\n"),
        ("src/nul.py", "def f(): pass  # \0\n"),
    ] {
        let repo = Repo::new();
        repo.sh("git switch -q -c change");
        repo.write(name, text);
        repo.sh("git add -A && git commit -q -m change");
        let outcome = ci(&repo, &[]);
        let notes = outcome.json["contract"]["notes"].to_string();
        assert!(notes.contains(&format!("changed and not analyzed: `{name}`")), "{notes}");
    }
}
