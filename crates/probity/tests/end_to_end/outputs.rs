//! Build outputs: ordinary build results are not violations, but files that could deceive a gate or a reader are.

use crate::repo::{Outcome, Repo};
use serde_json::{Value, json};

const CACHEDIR_TAG: &str = "Signature: 8a477f597d28d172789f06886806bc55";
const RECOGNIZING: &str = "[workspace]\nrecognize_outputs = true\n";

fn exempt(outcome: &Outcome) -> Vec<String> {
    let paths = outcome.json["exempt_delta_paths"].as_array().expect("exempt paths");
    paths.iter().map(|path| path.as_str().expect("text").to_owned()).collect()
}

/// Returns the notes with a code, each as its path and its text.
fn notes(outcome: &Outcome, code: &str) -> Vec<(Value, String)> {
    let findings = outcome.json["findings"].as_array().expect("findings");
    let noted = findings.iter().filter(|it| it["code"] == code && it["severity"] == "note");
    noted.map(|it| (it["path"].clone(), it["detail"].as_str().expect("words").to_owned())).collect()
}

/// Creates a repository with this policy, committed.
fn repo_with_policy(policy: &str) -> Repo {
    let repo = Repo::new();
    repo.write("probity.toml", policy);
    repo.sh("git add . && git commit -q -m policy");
    repo
}

/// Writes a program that checks whether `src/pay.py` is honest.
fn write_check(repo: &Repo) {
    repo.write("src/pay.py", "def honest():\n    return False\n");
    repo.write(
        "check.py",
        "import sys\nsys.path.insert(0, 'src')\nimport pay\nsys.exit(0 if pay.honest() else 1)\n",
    );
}

#[test]
fn after_init_an_ordinary_python_session_is_in_scope() {
    let repo = Repo::new();
    repo.write("pyproject.toml", "[project]\nname = 'x'\nversion = '1'\n");
    repo.write(".gitignore", "ignored/\nodd-cache/\n");
    repo.sh("git add . && git commit -q -m project");
    let init = repo.ask(&["init"]);
    assert_eq!(init.json["example_scope"], "src/**");
    repo.sh("git add . && git commit -q -m policy");
    let session = format!(
        "python3 -m venv --without-pip .venv; python3 -m venv --without-pip env
         for d in .mypy_cache/3.12 .ruff_cache .pytest_cache/v src/__pycache__ src/x.egg-info dist build/lib odd-cache; do
             mkdir -p $d; echo x > $d/f; done
         for d in .mypy_cache .ruff_cache .pytest_cache odd-cache; do echo '{CACHEDIR_TAG}' > $d/CACHEDIR.TAG; done
         touch .coverage .coverage.host.1.2; echo x >> src/a.py"
    );
    let outcome = repo.run(&session);
    outcome.passes();
    assert_eq!(outcome.delta(), ["src/a.py"]);
    let all = exempt(&outcome);
    for path in [
        ".venv/pyvenv.cfg",
        "env/pyvenv.cfg",
        ".mypy_cache/3.12/f",
        "src/x.egg-info/f",
        "odd-cache/f",
        ".coverage",
    ] {
        assert!(all.iter().any(|it| it == path), "{path} is not among {all:?}");
    }
    assert_eq!(
        outcome.json["recognized_outputs"],
        json!([
            {"path": "env", "mark": "pyvenv.cfg", "because": "tool_name"},
            {"path": "odd-cache", "mark": "CACHEDIR.TAG", "because": "ignored"},
        ])
    );
    let manifest = repo.ask(&["evidence", "show", "last"]).json["manifest"].clone();
    assert_eq!(manifest["recognized_outputs"], outcome.json["recognized_outputs"]);
    // The links of a virtual environment to its interpreter leave the tree by design.
    assert!(notes(&outcome, "UNSAFE.LINK_ESCAPES").is_empty(), "{outcome:#?}");
    // In the next run the same directories exist from the start.
    repo.run("echo x > env/new; rm -r odd-cache; echo y >> src/a.py").passes();
}

#[test]
fn a_mark_that_the_command_drops_hides_nothing() {
    let repo = repo_with_policy(RECOGNIZING);
    let plant =
        format!("mkdir src/evil; echo '{CACHEDIR_TAG}' > src/evil/CACHEDIR.TAG; echo x > src/evil/x.py");
    repo.run(&plant).is_out(&["src/evil/CACHEDIR.TAG", "src/evil/x.py"]);
    // Neither does an ignore rule that the command writes, nor a mark in the root itself.
    let repo = repo_with_policy(RECOGNIZING);
    let plant = format!(
        "echo evil/ >> .gitignore; mkdir evil; echo '{CACHEDIR_TAG}' | tee evil/CACHEDIR.TAG > CACHEDIR.TAG"
    );
    repo.run_with(&["--scope", ".gitignore"], &plant).is_out(&["CACHEDIR.TAG", "evil/CACHEDIR.TAG"]);
    // The name of a mark alone is not a mark.
    let repo = repo_with_policy(RECOGNIZING);
    repo.run("mkdir venv; echo version = 3 > venv/pyvenv.cfg").is_out(&["venv/pyvenv.cfg"]);
}

#[test]
fn nothing_is_recognized_where_git_keeps_files_or_the_policy_does_not_say_so() {
    let repo = repo_with_policy(RECOGNIZING);
    repo.write("target/kept.rs", "");
    repo.write("target/CACHEDIR.TAG", CACHEDIR_TAG);
    repo.sh("git add -f target/kept.rs; git commit -q -m kept");
    repo.run("echo x > target/new").is_out(&["target/new"]);
    let staged = repo_with_policy(RECOGNIZING);
    staged.write("target/kept.rs", "");
    staged.sh("git add -f target/kept.rs");
    staged.run(&format!("echo '{CACHEDIR_TAG}' > target/CACHEDIR.TAG")).is_out(&["target/CACHEDIR.TAG"]);
    let strict = Repo::new();
    strict
        .run(&format!("mkdir target; echo '{CACHEDIR_TAG}' > target/CACHEDIR.TAG"))
        .is_out(&["target/CACHEDIR.TAG"]);
}

#[test]
fn what_git_tracks_is_judged_whatever_the_patterns_say() {
    let repo = repo_with_policy("[workspace]\nbuild_outputs = [\"docs/**\", \"made/**\"]\n");
    repo.write("docs/staged.md", "");
    repo.sh("git add docs/staged.md");
    let outcome = repo.run(
        "echo x >> docs/d.md; echo x >> docs/staged.md; echo x > docs/made.md; mkdir made; echo x > made/f",
    );
    outcome.is_out(&["docs/d.md", "docs/staged.md"]);
    assert_eq!(exempt(&outcome), ["docs/made.md", "made/f"]);
    let reverted = repo.ask(&["revert", "last"]);
    assert_eq!(reverted.exit_code, Some(0), "{reverted:#?}");
    repo.sh("test \"$(cat docs/d.md)\" = '# D' && test ! -s docs/staged.md && test -f docs/made.md");
}

#[test]
fn the_program_of_a_gate_is_no_build_output() {
    let policy = "[workspace]\nbuild_outputs = [\"**/node_modules/**\", \".venv/**\"]\n[[gate]]\nid = \"check\"\nrun = [";
    let repo = repo_with_policy(&format!("{policy}\"node_modules/.bin/check\"]\n"));
    repo.write("node_modules/check/run.sh", "#!/bin/sh\nexit 1\n");
    repo.sh("chmod +x node_modules/check/run.sh; mkdir node_modules/.bin; ln -s ../check/run.sh node_modules/.bin/check");
    repo.run("true").fails_with("GATE.FAILED");
    let forged = "printf '#!/bin/sh\\nexit 0\\n'";
    repo.run(&format!("{forged} > node_modules/check/run.sh"))
        .is_out(&["node_modules/check/run.sh"])
        .finds("GATE.INPUT_CHANGED", "node_modules/check/run.sh");
    // Through PATH, with a program that did not exist before.
    let repo = repo_with_policy(&format!("{policy}\"check\"]\n"));
    let mut command = repo.probity(&["run", "--json", "--scope", "src/a.py", "--", "sh", "-ec"]);
    command.arg(format!("mkdir -p .venv/bin; {forged} > .venv/bin/check; chmod +x .venv/bin/check"));
    let path = std::env::var("PATH").expect("a search path");
    command.env("PATH", format!("{}:{path}", repo.path().join(".venv/bin").display()));
    repo.outcome(&command.output().expect("starts")).is_out(&[".venv/bin/check"]);
}

#[test]
fn bytecode_that_was_planted_in_the_tree_is_not_what_a_gate_imports() {
    let policy = "[workspace]\nbuild_outputs = [\"**/__pycache__/**\"]\n[[gate]]\nid = \"check\"\nrun = [\"python3\", \"check.py\"]\nenv = [\"PYTHONPYCACHEPREFIX\", \"PYTHONDONTWRITEBYTECODE\"]\n";
    let repo = Repo::new();
    write_check(&repo);
    repo.write("probity.toml", policy);
    repo.sh("git add . && git commit -q -m check");
    let plant = "printf 'def honest():\\n    return True\\n' > ../evil.py
        python3 -c \"import py_compile; py_compile.compile('../evil.py', 'src/__pycache__/pay.' + __import__('sys').implementation.cache_tag + '.pyc', \
        invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)\"
        python3 check.py && echo planted";
    let outcome = repo.run(plant);
    outcome.fails_with("GATE.FAILED");
    assert!(
        outcome.words.contains("planted"),
        "outside of a gate the bytecode is believed: {}",
        outcome.words
    );
    // A gate leaves no bytecode behind either.
    repo.sh("rm -r src/__pycache__");
    repo.run("true").fails_with("GATE.FAILED");
    repo.sh("test ! -e src/__pycache__");
}

#[test]
fn packages_may_be_added_where_a_gate_imports_but_not_edited() {
    let policy =
        "[workspace]\nbuild_outputs = [\"**/node_modules/**\"]\n[[gate]]\nid = \"test\"\nrun = [\"./npm\"]\n";
    let repo = repo_with_policy(policy);
    repo.write("npm", "#!/bin/sh\nexit 0\n");
    repo.sh("chmod +x npm; git add npm; git commit -q -m npm");
    let install = |name: &str| {
        format!(
            "mkdir -p node_modules/{name}/lib node_modules/.bin; echo x > node_modules/{name}/lib/i.js; echo {name} > node_modules/.package-lock.json; ln -sf ../{name}/lib/i.js node_modules/.bin/{name}"
        )
    };
    let first = repo.run(&install("mocha"));
    first.passes();
    assert_eq!(
        notes(&first, "GATE.INPUT_CHANGED"),
        [(
            json!("node_modules"),
            "gate `test` may import from it, and the command added 2 paths there".to_owned()
        )]
    );
    repo.run(&install("chai")).passes();
    let edited =
        repo.run("echo evil >> node_modules/mocha/lib/i.js; echo x > node_modules/mocha/lib/evil.js");
    edited.is_out(&["node_modules/mocha/lib/evil.js", "node_modules/mocha/lib/i.js"]);
    assert_eq!(notes(&edited, "REVERT.NO_BEFORE_IMAGE").len(), 1);
    assert!(
        edited.words.contains("2 paths out of scope in build outputs, judged anyway"),
        "{}",
        edited.words
    );
    assert!(!edited.words.contains("hint"), "what a gate imports is nothing to exempt: {}", edited.words);
}

#[test]
fn without_a_policy_the_answer_tells_caches_from_work() {
    let repo = Repo::new();
    let session = "for n in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22; do
            mkdir -p .mypy_cache/$n .venv/lib/$n; echo x > .mypy_cache/$n/a.json; echo x > .venv/lib/$n/b.py; done
        echo x >> src/a.py; echo x >> docs/d.md";
    let mut command = repo.probity(&["run", "--scope", "src/a.py", "--", "sh", "-ec", session]);
    let words = String::from_utf8(command.output().expect("starts").stderr).expect("text");
    for part in [
        "~ src/a.py  in scope",
        "~ docs/d.md  out of scope",
        "+ .mypy_cache/  22 paths  out of scope",
        "+ .venv/  22 paths  out of scope",
        "44 of 45 out-of-scope paths look like build outputs (.mypy_cache, .venv)",
        "probity init",
        "--add 'docs/d.md' --why",
        "probity run --scope 'docs/d.md' -- ",
    ] {
        assert!(words.contains(part), "no `{part}` in {words}");
    }
    let in_scope = words.find("src/a.py  in scope").expect("is there");
    assert!(in_scope < words.find("out of scope").expect("is there"), "{words}");
    let suggested = repo.ask(&["plan", "--suggest-from", "last"]);
    assert_eq!(suggested.json["scope"], json!(["docs/d.md", "src/a.py"]));
    assert_eq!(suggested.json["outputs_left_out"], 44);
    let shown = repo.probity(&["evidence", "show"]).output().expect("starts");
    let shown = String::from_utf8(shown.stdout).expect("text");
    assert!(
        shown.contains("+ .venv/  22 paths  out of scope") && shown.contains("src/a.py  in scope"),
        "{shown}"
    );
}

/// Creates a tree whose policy exempts the outputs of Python tools.
fn with_python_outputs() -> Repo {
    let repo = Repo::new();
    let patterns = r#"["**/__pycache__/**", "**/htmlcov/**", "**/*.egg-info/**", "**/__pypackages__/**"]"#;
    repo.write(
        "probity.toml",
        &format!("[workspace]\nbuild_outputs = {patterns}\nrecognize_outputs = true\n"),
    );
    repo.write("src/app/env.py", "VALUE = 1\n");
    repo.sh("git add -A && git commit -q -m policy");
    repo
}

#[test]
fn a_mark_in_a_source_directory_hides_nothing() {
    let repo = with_python_outputs();
    let venv = "mkdir -p src/app/env; echo 'home = /usr/bin' > src/app/env/pyvenv.cfg; echo 1 > src/app/env/__init__.py";
    repo.run_with(&["--scope", "docs/**"], venv)
        .is_out(&["src/app/env/__init__.py", "src/app/env/pyvenv.cfg"]);
    let cache = "mkdir -p src/target; printf 'Signature: 8a477f597d28d172789f06886806bc55\\n' > src/target/CACHEDIR.TAG; \
                 echo 1 > src/target/x.py";
    let repo = with_python_outputs();
    repo.run_with(&["--scope", "docs/**"], cache).is_out(&["src/target/CACHEDIR.TAG", "src/target/x.py"]);
}

#[test]
fn source_code_in_a_cache_is_judged() {
    for file in ["htmlcov/conftest.py", "src/__pycache__/evil.py", "x.egg-info/a.pth"] {
        let repo = with_python_outputs();
        let plant = format!("mkdir -p $(dirname {file}); echo 1 > {file}; echo 1 > $(dirname {file})/a.txt");
        repo.run_with(&["--scope", "docs/**"], &plant).is_out(&[file]);
    }
}

#[test]
fn what_a_repository_inside_the_tree_tracks_is_never_exempt() {
    let repo = with_python_outputs();
    repo.sh(
        "mkdir -p dep/env dep/__pypackages__; cd dep; git init -q; echo 1 > env/a.py; echo 1 > __pypackages__/z.py; \
         git add -A; git -c user.name=a -c user.email=a@b commit -q -m dep",
    );
    let edit =
        "echo 'home = /x' > dep/env/pyvenv.cfg; echo 2 > dep/env/a.py; echo 2 > dep/__pypackages__/z.py";
    let outcome = repo.run_with(&["--scope", "docs/**"], edit);
    let out = outcome.json["untracked_delta_paths"].to_string();
    assert!(out.contains("dep/env/a.py") && out.contains("dep/__pypackages__/z.py"), "{outcome:#?}");
}
