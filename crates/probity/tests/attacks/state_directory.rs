//! Attacks on the judge itself: its state, policy, cache and helpers. Each of them once succeeded.

use crate::repo::{Repo, has};
use std::fs;
use std::os::unix::fs::MetadataExt as _;

const STATE: &str = ".git/probity";

#[test]
fn a_peer_that_is_gone_cannot_widen_the_scope() {
    if !has("python3") {
        return probity_testkit::skip!("python3 is not installed");
    }
    let script = r#"
import os, socket
s = socket.socket(socket.AF_UNIX)
path = [os.path.join(d, 'amend.sock') for d, _, f in os.walk('.git/probity/open') if 'amend.sock' in f][0]
child = os.fork()
if child == 0:
    s.connect(path); os._exit(0)
os.waitpid(child, 0)
s.send(b'{"add":["**"],"by":"the human","why":"x"}\n')
print(s.recv(1000))
"#;
    let repo = Repo::new();
    repo.write("../attack.py", script);
    let outcome = repo.run("python3 ../attack.py; echo x >> docs/d.md");
    outcome.is_out(&["docs/d.md"]);
    assert_eq!(outcome.json["amendments"], serde_json::json!([]));
}

#[test]
fn the_state_directory_cannot_be_touched_unseen() {
    let attacks = [
        "rm .git/probity/open/*/seal.json",
        "for f in .git/probity/open/*/seal.json; do echo '{}' > $f; done",
        "for f in .git/probity/cache/*; do echo forged >> $f; done",
        "mkdir -p .git/probity/evidence/x; echo '{\"run_hash\":1}' > .git/probity/evidence/x/manifest.json",
        "echo x > .git/probity/payload",
        "rm -rf .git/probity/locks",
    ];
    for attack in attacks {
        let repo = Repo::new();
        repo.run("true").passes();
        let outcome = repo.run(attack);
        assert!(outcome.has_reason("PROTECTED.CHANGED"), "{attack}: {outcome:#?}");
    }
}

/// Each of these once kept the judge waiting or reading without end.
#[test]
fn pipes_and_enormous_files_in_the_state_directory_do_not_stop_the_judge() {
    let seal = "mkdir -p open/01a1eb55-cf86-7760-8905-474e785343c6.0123456789abcdef; \
                cd open/01a1eb55-cf86-7760-8905-474e785343c6.0123456789abcdef";
    let object = |place: &str| format!("mkdir -p {place}/aa; cd {place}/aa");
    let name = "b".repeat(62);
    for attack in [
        format!("{seal}; mkfifo seal.json"),
        format!("{seal}; truncate -s 100G seal.json"),
        format!("{}; mkfifo {name}", object("objects")),
        format!("{}; truncate -s 100G {name}", object("objects")),
        format!("{}; mkfifo {name}", object("before")),
        "mkdir -p receipts; mkfifo receipts/7.json".to_owned(),
        "rm -f guard.json; mkfifo guard.json".to_owned(),
        "rm -f evidence.lock; mkfifo evidence.lock".to_owned(),
    ] {
        let repo = Repo::new();
        repo.ask(&["start", "src/a.py", "--intent", "x"]);
        let outcome = repo.run(&format!("cd .git/probity; {attack}"));
        assert!(outcome.has_reason("PROTECTED.CHANGED"), "{attack}: {outcome:#?}");
    }
}

/// What hooks believe decides whether an edit is stopped at the call.
#[test]
fn the_claims_that_hooks_read_cannot_be_rewritten_unseen() {
    if !has("python3") {
        return probity_testkit::skip!("python3 is not installed");
    }
    for edit in [
        "guard['rules']['build_outputs'] = ['**']",
        "guard['rules']['without_intent'] = 'allow'",
        "guard['intents'][0]['scope']['allowed_files'].append('docs/d.md')",
        "guard['intents'][0]['agent'] = 'somebody'",
        "guard['intents'][0]['owner'] = 'sha256:' + '0' * 64",
        "guard['intents'][0]['expires_at'] += 10 ** 9",
        "guard['intents'][0]['is_active'] = False",
        "guard['intents'].clear()",
    ] {
        let repo = Repo::new();
        repo.ask(&["start", "src/a.py", "--intent", "x"]);
        repo.write(
            "../edit.py",
            &format!(
                "import json\npath = '.git/probity/guard.json'\nguard = json.load(open(path))\n{edit}\n\
                 json.dump(guard, open(path, 'w'))\n"
            ),
        );
        let outcome = repo.run("python3 ../edit.py");
        assert!(outcome.has_reason("PROTECTED.CHANGED"), "{edit}: {outcome:#?}");
    }
    // Commands of other agents replace the snapshot as a whole, and that is no forgery.
    let repo = Repo::new();
    repo.ask(&["start", "src/a.py", "--intent", "x"]);
    let start =
        format!("'{}' start docs/d.md --intent y > /dev/null 2>&1 || true", env!("CARGO_BIN_EXE_probity"));
    let outcome = repo.run(&start);
    assert!(!outcome.has_reason("PROTECTED.CHANGED"), "{outcome:#?}");
}

/// The clone of a team keeps a repository of its own, which git reads with the user's credentials.
#[test]
fn the_repository_of_a_team_cannot_be_led_elsewhere() {
    let repo = Repo::new();
    repo.sh("git init -q --bare -b main ../remote.git; git remote add origin $PWD/../remote.git");
    let remote = repo.outside().join("remote.git").canonicalize().expect("is there");
    let remote = remote.to_str().expect("UTF-8");
    assert_eq!(repo.ask(&["team", "init", "--git", remote]).exit_code, Some(0));
    repo.sh("git add -A; git commit -qm team; git push -q origin main");
    assert_eq!(repo.ask(&["status"]).exit_code, Some(0));
    let elsewhere = format!(
        "cp -r .git/probity/team/git ../other; git config --file ../other/config url./nowhere/.insteadOf {remote}; \
         echo $PWD/../other > .git/probity/team/git/commondir"
    );
    for attack in [
        elsewhere.as_str(),
        "git config --file .git/probity/team/git/config core.sshCommand false",
        "mkdir -p .git/probity/team/git/hooks; echo true > .git/probity/team/git/hooks/pre-push",
        "mkdir -p .git/probity/team/pending; echo '{}' > .git/probity/team/pending/0123456789abcdef",
    ] {
        let outcome = repo.run(attack);
        assert!(outcome.has_reason("PROTECTED.CHANGED"), "{attack}: {outcome:#?}");
        // Git does not follow it, either.
        assert_eq!(repo.ask(&["status"]).exit_code, Some(0), "{attack}");
        repo.sh("rm -rf .git/probity/team/git/commondir .git/probity/team/git/hooks");
    }
}

#[test]
fn nothing_is_written_through_planted_links() {
    let repo = Repo::new();
    repo.run("true").passes();
    let plant = "cd .git/probity; for f in cache/* log.checkpoint; do for n in $(seq 0 99); do \
                 ln -s \"$PWD/../../docs/d.md\" $f.$PPID-$n.tmp; done; done; \
                 for f in locks/*; do rm $f; ln -s ../../../docs/d.md $f; done";
    let outcome = repo.run(plant);
    assert!(outcome.has_reason("PROTECTED.CHANGED"), "{outcome:#?}");
    assert_eq!(fs::read_to_string(repo.path().join("docs/d.md")).expect("reads"), "# D\n");
    // A lock that is a symbolic link is refused, not followed.
    let next = repo.ask(&["revert", "last"]);
    assert_ne!(next.exit_code, Some(0), "{next:#?}");
    assert_eq!(fs::read_to_string(repo.path().join("docs/d.md")).expect("reads"), "# D\n");
}

#[test]
fn a_policy_cannot_be_smuggled_in() {
    let everything = "printf '[workspace]\\nbuild_outputs = [\"**\"]\\n'";
    let outcome = Repo::new().run_with(&["--scope", "src/**"], &format!("{everything} > src/probity.toml"));
    outcome.fails_with("PROTECTED.CHANGED").finds("PROTECTED.CHANGED", "src/probity.toml");
    let repo = Repo::new();
    repo.write("config/p.toml", "");
    repo.sh("ln -s config/p.toml probity.toml");
    let linked = repo.run_with(&["--scope", "config/**"], "true");
    assert_ne!(linked.exit_code, Some(0), "a policy behind a link was read: {linked:#?}");
}

#[test]
fn a_run_cannot_amend_an_earlier_one() {
    let repo = Repo::new();
    repo.run("echo x >> docs/d.md").is_out(&["docs/d.md"]);
    let binary = env!("CARGO_BIN_EXE_probity");
    let script =
        format!("'{binary}' amend last --add 'docs/**' --why ok --by human --json > ../answer || true");
    repo.run(&script).passes();
    let answer = fs::read_to_string(repo.outside().join("answer")).expect("an answer");
    assert!(answer.contains("AMEND.FROM_INSIDE"), "{answer}");
}

#[test]
fn a_pipe_in_place_of_the_index_is_no_hang() {
    let outcome = Repo::new().run("rm .git/index; mkfifo .git/index; echo x >> docs/d.md");
    outcome.is_out(&["docs/d.md"]).finds("PROTECTED.CHANGED", ".git/index");
}

#[test]
fn refs_that_cannot_be_read_are_not_taken_for_unmoved() {
    let repo = Repo::new();
    repo.write("probity.toml", "[workspace]\nrefs = \"protect\"\n");
    repo.sh("head -c 70000 /dev/zero > .git/refs/heads/big");
    repo.run("git branch evil 2>/dev/null || true").fails_with("PROTECTED.CHANGED");
}

#[test]
fn a_planted_bundle_does_not_hide_a_killed_run() {
    let repo = Repo::new();
    repo.run("true").passes();
    let script = "mkdir -p .git/probity/evidence/$PROBITY_RUN_ID; kill -9 $PPID";
    let mut command = repo.probity(&["run", "--scope", "src/a.py", "--", "sh", "-c", script]);
    command.output().expect("starts");
    repo.run("true").passes();
    let listed = repo.ask(&["evidence", "list"]).json.to_string();
    assert!(listed.contains("RUN.INTERRUPTED"), "{listed}");
    assert_eq!(repo.ask(&["evidence", "chain"]).json["outcome"], "PASS");
}

#[test]
fn a_write_through_memory_is_seen_where_times_do_not_tell() {
    let shm = std::path::Path::new("/dev/shm");
    if !has("python3") || !shm.is_dir() {
        return probity_testkit::skip!("python3 is not installed, or there is no /dev/shm");
    }
    let dir = tempfile::tempdir_in(shm).expect("a directory");
    let repo = Repo::at(dir);
    repo.run("true").passes();
    // Files written in the last two seconds are always read again, so wait until the cache is used.
    let written = fs::metadata(repo.path().join("docs/d.md")).expect("is there").ctime();
    probity_testkit::wait_until("the file is old enough to be believed", || {
        fs::write(repo.outside().join("probe"), "").expect("writes");
        fs::metadata(repo.outside().join("probe")).expect("is there").ctime() > written + 3
    });
    let script =
        "import mmap\nf = open('docs/d.md', 'r+b')\nm = mmap.mmap(f.fileno(), 0)\nm[0]\nm[0:1] = b'X'";
    repo.write("../attack.py", script);
    repo.run("python3 ../attack.py").is_out(&["docs/d.md"]);
}

#[test]
fn git_is_not_taken_from_the_judged_tree() {
    let repo = Repo::new();
    repo.write("bin/git", "#!/bin/sh\ntouch \"$HOME/spied\"\n");
    repo.sh("chmod +x bin/git");
    let path = format!("{}:{}", repo.path().join("bin").display(), std::env::var("PATH").expect("a path"));
    let mut command = repo.probity(&["run", "--json", "--scope", "src/a.py", "--", "true"]);
    repo.outcome(&command.env("PATH", path).output().expect("starts")).passes();
    assert!(!repo.outside().join("spied").exists(), "the judged tree's git was started");
}

#[test]
fn a_required_signature_needs_a_key() {
    let repo = Repo::new();
    repo.write("probity.toml", "[profile.team]\nsignature = \"required\"\n");
    repo.run("echo x > ran").refused_with("KEY.MISSING");
    assert!(!repo.path().join("ran").exists());
    repo.ask(&["keys", "generate"]);
    let signed = repo.run("echo x >> docs/d.md");
    signed.is_out(&["docs/d.md"]);
    // `revert` and `evidence chain` accept the repository's own key.
    assert_eq!(repo.ask(&["revert", "last"]).exit_code, Some(0));
    assert_eq!(repo.ask(&["evidence", "chain"]).json["outcome"], "PASS");
}

#[test]
fn a_worktree_cannot_revert_the_run_of_another() {
    let repo = Repo::new();
    repo.sh("git worktree add -q ../other -b other");
    let other = repo.outside().join("other");
    let mut command =
        repo.probity(&["run", "--json", "--scope", "src/**", "--", "sh", "-c", "echo same > NOTES"]);
    let outcome = repo.outcome(&command.current_dir(&other).output().expect("starts"));
    outcome.is_out(&["NOTES"]);
    repo.write("NOTES", "same\n");
    assert_eq!(repo.ask(&["revert", "last"]).exit_code, Some(2));
    let id = outcome.json["run_id"].as_str().expect("an id").to_owned();
    assert_eq!(repo.ask(&["revert", &id]).exit_code, Some(2));
    assert!(repo.path().join("NOTES").exists(), "another tree's file was removed");
    assert!(repo.path().join(STATE).is_dir());
}

#[test]
fn a_granted_change_is_told() {
    let script = "git config a.b c";
    let outcome = Repo::new().run_with(&["--scope", "src/**", "--grant", ".git/**"], script);
    outcome.passes().finds("PROTECTED.CHANGED", ".git/config");
}

/// Forges a consistent bundle that follows the last one of the log, and its entry there, from the newest bundle: the most that a process
/// without the key can do.
const FORGE: &str = r"
import hashlib, json, os, shutil, sqlite3, sys
state, run_id = '.git/probity', sys.argv[1]
db = sqlite3.connect(state + '/store.sqlite')
last = 'SELECT seq, command, event FROM event WHERE log = \'bundles\' ORDER BY seq DESC LIMIT 1'
seq, before, digest = db.execute(last).fetchone()
new = state + '/evidence/' + run_id
shutil.copytree(state + '/evidence/' + before, new)
manifest = json.load(open(new + '/manifest.json'))
manifest.update(run_id=run_id, prev_run_hash=digest.decode(), key_id=None)
del manifest['signature'], manifest['run_hash']
text = lambda value: json.dumps(value, sort_keys=True, separators=(',', ':'), ensure_ascii=False).encode()
manifest['run_hash'] = 'sha256:' + hashlib.sha256(text(manifest)).hexdigest()
manifest['signature'] = None
open(new + '/manifest.json', 'wb').write(text(manifest) + b'\n')
if len(sys.argv) > 2:
    event, number = manifest['run_hash'].encode(), db.execute('SELECT count(*) FROM leaf').fetchone()[0]
    leaf = f'probity/log-leaf/v1\nbundles\n{seq + 1}\n{run_id}\n'.encode() + event
    hashes, level = [hashlib.sha256(b'\0' + leaf).digest()], 0
    while number >> level & 1:
        row = (number >> level << level) - 1
        stored = db.execute('SELECT hashes FROM leaf WHERE number = ?', [row]).fetchone()[0]
        hashes.append(hashlib.sha256(b'\1' + stored[32 * level:32 * level + 32] + hashes[-1]).digest())
        level += 1
    db.execute('INSERT INTO event VALUES (?, ?, ?, ?)', ['bundles', seq + 1, run_id, event])
    db.execute('INSERT INTO leaf VALUES (?, ?, ?, ?)', [number, 'bundles', seq + 1, b''.join(hashes)])
    db.commit()
";

/// Creates a repository that signs, with the script beside it; `None` without Python.
fn signing_repo() -> Option<Repo> {
    has("python3").then(|| {
        let repo = Repo::new();
        repo.ask(&["keys", "generate"]);
        repo.run("true").passes();
        repo.write("../forge.py", FORGE);
        repo
    })
}

#[test]
fn a_bundle_without_signature_is_no_link_where_there_is_a_key() {
    let Some(repo) = signing_repo() else { return probity_testkit::skip!("python3 is not installed") };
    let outcome = repo.run("python3 ../forge.py zz-forged head");
    outcome.fails_with("PROTECTED.CHANGED").finds("PROTECTED.CHANGED", ".git/probity/store.sqlite");
    let chain = repo.ask(&["evidence", "chain"]);
    assert_eq!(chain.json["links"].as_array().map(Vec::len), Some(2), "{chain:#?}");
    assert!(chain.json["problems"].to_string().contains("zz-forged"), "{chain:#?}");
}

#[test]
fn a_bundle_that_is_forged_between_runs_shows_in_the_chain() {
    let Some(repo) = signing_repo() else { return probity_testkit::skip!("python3 is not installed") };
    repo.sh("python3 ../forge.py forged head");
    repo.run("true").passes();
    let chain = repo.ask(&["evidence", "chain"]);
    assert!(chain.json["problems"].to_string().contains("forged has no signature"), "{chain:#?}");
}

#[test]
fn a_forged_bundle_does_not_pass_for_that_of_a_killed_run() {
    let Some(repo) = signing_repo() else { return probity_testkit::skip!("python3 is not installed") };
    let script = "python3 ../forge.py $PROBITY_RUN_ID; kill -9 $PPID";
    let mut command = repo.probity(&["run", "--scope", "src/a.py", "--", "sh", "-c", script]);
    command.output().expect("starts");
    repo.run("true").passes();
    let listed = repo.ask(&["evidence", "list"]).json["runs"].clone();
    assert_eq!(listed[1]["reason"], "RUN.INTERRUPTED", "{listed:#}");
    assert_eq!(repo.ask(&["evidence", "chain"]).json["outcome"], "PASS");
}

#[test]
fn the_state_directory_is_replaced() {
    for attack in [
        "mv .git/probity ../p; ln -s ../../p .git/probity",
        "mv .git/probity ../p; cp -a ../p .git/probity",
        "mv .git/probity/locks ../l; cp -a ../l .git/probity/locks",
        "mv .git/probity/evidence ../e; ln -s ../../../e .git/probity/evidence",
    ] {
        let repo = Repo::new();
        repo.run("true").passes();
        let outcome = repo.run(attack);
        assert_eq!(outcome.exit_code, Some(1), "{attack}: {outcome:#?}");
        assert!(outcome.has_reason("PROTECTED.CHANGED"), "{attack}: {outcome:#?}");
        assert!(outcome.json["findings"].to_string().contains(".git/probity"), "{attack}: {outcome:#?}");
    }
}

#[test]
fn a_state_directory_that_others_prepared_is_refused_before_anything_is_written() {
    for prepare in [
        "mkdir ../p; ln -s ../../p .git/probity",
        "mkdir -m 777 .git/probity",
        "mkdir -m 770 .git/probity",
        "mkdir -m 700 .git/probity ../p; ln -s ../../../p .git/probity/evidence",
        "mkdir -m 700 .git/probity ../p; mkdir -m 777 .git/probity/locks",
        "mkdir -m 700 .git/probity .git/probity/before ../p; ln -s ../../../../p .git/probity/before/ab",
        "touch .git/probity",
    ] {
        let repo = Repo::new();
        repo.sh(prepare);
        repo.run("echo x > ran").refused_with("STATE.UNSAFE");
        assert!(!repo.path().join("ran").exists());
        let left = fs::read_dir(repo.outside().join("p")).map(Iterator::count).unwrap_or_default();
        assert_eq!(left, 0, "{prepare}: something was written through the link");
    }
}

#[test]
fn a_state_directory_of_another_user_is_refused() {
    if !has("setpriv") || !rustix::process::geteuid().is_root() {
        return probity_testkit::skip!("only root can give directories to another user, with setpriv");
    }
    // As root in a repository whose owner prepared the state.
    let repo = Repo::new();
    repo.sh("mkdir -m 700 .git/probity; chown 65534 .git/probity");
    repo.run("echo x > ran").refused_with("STATE.UNSAFE");
    // As an ordinary user in a repository of its own, where root left its state.
    let repo = Repo::new();
    repo.sh("chmod 755 ..; chown -R 65534:65534 ../repo");
    let binary = repo.outside().join("probity");
    probity_testkit::copy_program(env!("CARGO_BIN_EXE_probity"), &binary);
    let as_nobody = |script: &str| {
        let mut command = repo.probity(&[]);
        let user = ["--reuid=65534", "--regid=65534", "--clear-groups"];
        let mut ordinary = std::process::Command::new("setpriv");
        ordinary
            .args(user)
            .arg(&binary)
            .args(["run", "--json", "--scope", "src/a.py", "--", "sh", "-ec", script]);
        ordinary.current_dir(repo.path());
        for (name, value) in command.env("HOME", "/nonexistent").get_envs() {
            match value {
                Some(value) => ordinary.env(name, value),
                None => ordinary.env_remove(name),
            };
        }
        repo.outcome(&ordinary.output().expect("setpriv starts"))
    };
    let outcome = as_nobody("mv .git/probity ../repo/p; ln -s ../p .git/probity");
    assert!(outcome.has_reason("PROTECTED.CHANGED"), "{outcome:#?}");
    repo.sh("rm -rf .git/probity p; mkdir -m 700 .git/probity");
    as_nobody("true").refused_with("STATE.UNSAFE");
}
