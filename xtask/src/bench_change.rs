//! `cargo xtask bench change`: starts and finishes changes in a large shared tree, beside codeclone's MCP server on the
//! same repository. `cargo xtask bench edit TREE`: a whole governed edit of one line.
//!
//! The repository has 10,000 files. 1,000 other agents hold and have edited one file each: 1,000 live intents, 1,000
//! dirty files. Nothing is analyzed while the clock runs.

use crate::bench::{shell, time};
use crate::bench_peers::codeclone_mcp;
use crate::mcp::ServerProcess;
use crate::measure::median;
use crate::{ChoreResult, build, cargo};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

const N_FILES: usize = 10_000;
pub(crate) const N_OTHER_AGENTS: usize = 1_000;
const ROUNDS: usize = 15;
/// Few, because the other server takes seconds per call.
const PEER_ROUNDS: usize = 3;

/// Writes a registry of other agents' intents in codeclone's format. Arguments: root, count, pid of a live process.
const PEER_INTENTS: &str = r#"
import datetime, hashlib, json, os, sys
root, count, pid = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
directory = os.path.join(root, ".codeclone", "intents")
os.makedirs(directory, exist_ok=True)
now = datetime.datetime.now(datetime.timezone.utc)
text = lambda at: at.strftime("%Y-%m-%dT%H:%M:%SZ")
digest = lambda value: hashlib.sha256(json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()).hexdigest()
for n in range(count):
    scope = {"allowed_files": [f"held/p{n // 100:02}/m{n:04}.py"], "allowed_related": [], "forbidden": []}
    name = f"intent-{n:08x}-001"
    record = {
        "registry_version": "2", "intent_id": name, "agent_pid": pid, "agent_start_epoch": 1000 + n,
        "agent_label": f"agent {n}", "run_id": "0" * 64, "declared_at_utc": text(now),
        "expires_at_utc": text(now + datetime.timedelta(hours=20)), "ttl_seconds": 72000, "status": "active",
        "intent": "another change", "scope": scope, "scope_digest": digest(scope), "blast_radius_summary": {},
        "lease_renewed_at_utc": text(now), "lease_seconds": 600, "report_digest": "0" * 64,
    }
    record["integrity"] = {"payload_sha256": digest(record)}
    with open(os.path.join(directory, f"{pid}-{1000 + n}-{name}.json"), "w") as file:
        json.dump(record, file)
"#;

#[derive(Default)]
struct ChangeTimes {
    start: Vec<Duration>,
    finish: Vec<Duration>,
}

/// Measures start and finish in a tree that a thousand other agents use.
pub fn change() -> ChoreResult {
    let binary = build("release")?;
    let place = std::env::temp_dir().join(format!("probity-change-{}", std::process::id()));
    let result = measure_change(&binary, &place);
    let _ = fs::remove_dir_all(&place);
    result
}

fn measure_change(binary: &Path, place: &Path) -> ChoreResult {
    let root = place.join("repo");
    fs::create_dir_all(&root).map_err(|error| error.to_string())?;
    shell(&root, "git init -q -b main")?;
    let mut others = ServerProcess::start(binary, &["mcp"], &root)?;
    start_others(&mut others)?;
    fill(&root)?;
    let mut server = ServerProcess::start(binary, &["mcp"], &root)?;
    server.call("analyze_repository", &json!({}))?;
    println!("10,000 files, 1,000 live intents of other agents, 1,000 dirty files");
    show("documentation, command line", &command_line(binary, &root)?, None);
    let own = documentation(&mut server, &root, "own", ROUNDS)?;
    show("documentation, MCP", &own, None);
    let own_code = code(&mut server, &root, ROUNDS / 3)?;
    show("code with its after-run, MCP", &own_code, None);
    drop((others, server));
    let Some(peer) = codeclone_mcp() else { return Ok(()) };
    let mut server = ServerProcess::start(&peer, &[], &root)?;
    // codeclone's own process must not own the other agents' intents.
    shell_with(&root, PEER_INTENTS, &[&N_OTHER_AGENTS.to_string(), &std::process::id().to_string()])?;
    let analyze = json!({ "root": root, "processes": 1 });
    server.call("analyze_repository", &analyze)?;
    show("documentation, codeclone", &documentation(&mut server, &root, "peer", PEER_ROUNDS)?, Some(&own));
    Ok(())
}

/// Starts the changes of the other agents, while the tree is small: only their number matters.
pub(crate) fn start_others(server: &mut ServerProcess) -> ChoreResult {
    server.call("analyze_repository", &json!({}))?;
    for number in 0..N_OTHER_AGENTS {
        let wish = json!({
            "intent": "another change", "agent": format!("agent {number}"), "ttl_seconds": 72_000,
            "lease_seconds": 600, "allowed_files": [held_path(number)],
        });
        let (answer, _) = server.call("start_controlled_change", &wish)?;
        expect(&answer, "active")?;
    }
    Ok(())
}

fn held_path(number: usize) -> String {
    format!("held/p{:02}/m{number:04}.py", number / 100)
}

/// Commits 10,000 files, then edits each file that another agent holds.
pub(crate) fn fill(root: &Path) -> ChoreResult {
    let write = |name: &str, text: &str| {
        let path = root.join(name);
        let directory = path.parent().unwrap_or(root);
        fs::create_dir_all(directory)
            .and_then(|()| fs::write(&path, text))
            .map_err(|error| format!("{name}: {error}"))
    };
    write(".gitignore", ".codeclone/\n.cache/\n")?;
    for number in 0..N_FILES {
        let name = if number < N_OTHER_AGENTS {
            held_path(number)
        } else {
            format!("src/p{:02}/m{number:04}.py", number / 100)
        };
        write(&name, &source(number))?;
    }
    for number in 0..ROUNDS * 4 {
        write(&format!("docs/n{number:02}.md"), "# A note\n")?;
    }
    shell(root, "git add . && git -c user.name=b -c user.email=b@example.org commit -qm files")?;
    for number in 0..N_OTHER_AGENTS {
        write(&held_path(number), &(source(number) + "\n\nEDITED = True\n"))?;
    }
    // Recently written files are always read again, so wait until the cache trusts them.
    std::thread::sleep(Duration::from_secs(3));
    Ok(())
}

/// Statements of the generated modules; `@` is replaced by a name and `#` by a number.
const STATEMENTS: [&str; 12] = [
    "    @ = first * # + second\n",
    "    if first > #:\n        second = first - #\n",
    "    for @ in range(#):\n        first += @\n",
    "    while second > #:\n        second //= 2\n",
    "    try:\n        first = int(second)\n    except ValueError:\n        first = #\n",
    "    @ = [item for item in first if item != #]\n",
    "    @ = {'key': first, 'number': #}\n",
    "    assert first != #, second\n",
    "    @ = lambda value: value ** #\n",
    "    with open(str(#)) as @:\n        first = @.read()\n",
    "    second = max(first, #, key=str)\n",
    "    print(first, #, sep=second)\n",
];

/// Generates a small module unlike any other: copies would be findings, which this benchmark is not about.
fn source(number: usize) -> String {
    let mut dice = number.wrapping_mul(2_654_435_761) | 1;
    let mut text = format!("\"\"\"Module {number}.\"\"\"\n\n\ndef work_{number}(first, second):\n");
    for line in 0..6 + number % 9 {
        dice ^= dice << 13;
        dice ^= dice >> 7;
        dice ^= dice << 17;
        let statement = STATEMENTS[dice % STATEMENTS.len()];
        text += &statement.replace('@', &format!("v{line}")).replace('#', &(number + line).to_string());
    }
    text + "    return first\n"
}

/// Measures the command line, where each call is a process without any cache in memory.
fn command_line(binary: &Path, root: &Path) -> Result<ChangeTimes, String> {
    let mut times = ChangeTimes::default();
    for number in 0..ROUNDS {
        let path = format!("docs/n{:02}.md", number + ROUNDS * 2);
        let owner = format!("bench-owner-{number:08}");
        let id = format!("bench-start-{number}");
        let mut start = Command::new(binary);
        start.args(["start", &path, "-m", "a note", "--owner", &owner, "--command-id", &id, "--json"]);
        times.start.push(time(start.current_dir(root))?);
        edit(root, &path)?;
        let mut finish = Command::new(binary);
        finish.args(["finish", &id, "--changed", &path, "--owner", &owner, "--json"]);
        times.finish.push(time(finish.current_dir(root))?);
    }
    Ok(times)
}

/// Measures a change of documentation, which needs no analysis.
fn documentation(
    server: &mut ServerProcess,
    root: &Path,
    who: &str,
    rounds: usize,
) -> Result<ChangeTimes, String> {
    let mut times = ChangeTimes::default();
    let offset = if who == "own" { 0 } else { ROUNDS };
    for number in 0..rounds {
        let path = format!("docs/n{:02}.md", number + offset);
        let (granted, start) = server.call("start_controlled_change", &start_arguments(who, root, &path))?;
        expect(&granted, "active")?;
        edit(root, &path)?;
        let (finished, finish) = server.call("finish_controlled_change", &evidence(who, &granted, &path))?;
        expect(&finished, "accepted")?;
        times.start.push(start);
        times.finish.push(finish);
    }
    Ok(times)
}

/// Measures a change of a module, analyzed while the clock is stopped.
fn code(server: &mut ServerProcess, root: &Path, rounds: usize) -> Result<ChangeTimes, String> {
    let mut times = ChangeTimes::default();
    for number in 0..rounds {
        let path = format!("src/p{:02}/m{:04}.py", 50 + number, (50 + number) * 100);
        let (granted, start) =
            server.call("start_controlled_change", &start_arguments("own", root, &path))?;
        expect(&granted, "active")?;
        edit(root, &path)?;
        server.call("analyze_repository", &json!({}))?;
        let (finished, finish) =
            server.call("finish_controlled_change", &evidence("own", &granted, &path))?;
        expect(&finished, "accepted")?;
        times.start.push(start);
        times.finish.push(finish);
    }
    Ok(times)
}

fn start_arguments(who: &str, root: &Path, path: &str) -> Value {
    match who {
        "own" => json!({ "intent": "a change", "agent": "bench", "allowed_files": [path] }),
        _ => json!({ "root": root, "intent": "a change", "scope": { "allowed_files": [path] } }),
    }
}

fn evidence(who: &str, granted: &Value, path: &str) -> Value {
    let mut evidence = json!({ "intent_id": granted["intent_id"], "changed_files": [path] });
    if who == "own" {
        evidence["owner"] = granted["owner"].clone();
    }
    evidence
}

/// Checks the status of an answer by its prefix: `accepted` also covers `accepted_with_external_changes`.
pub(crate) fn expect(answer: &Value, status: &str) -> ChoreResult {
    let said = answer["status"].as_str().unwrap_or_default();
    if said.starts_with(status) { Ok(()) } else { Err(format!("not {status}: {answer}")) }
}

fn edit(root: &Path, path: &str) -> ChoreResult {
    let old = fs::read_to_string(root.join(path)).map_err(|error| format!("{path}: {error}"))?;
    fs::write(root.join(path), old + "\n# One more line\n").map_err(|error| format!("{path}: {error}"))
}

fn shell_with(root: &Path, script: &str, arguments: &[&str]) -> ChoreResult {
    let status = Command::new("python3").args(["-c", script]).arg(root).args(arguments).status();
    if status.is_ok_and(|status| status.success()) { Ok(()) } else { Err("python3 failed".into()) }
}

fn show(name: &str, times: &ChangeTimes, own: Option<&ChangeTimes>) {
    let median_of = |times: &[Duration]| median(times.to_vec()).unwrap_or_default().as_secs_f64() * 1e3;
    let (start, finish) = (median_of(&times.start), median_of(&times.finish));
    println!("{name:<34} start {start:>8.1} ms   finish {finish:>8.1} ms");
    if let Some(own) = own {
        let (start, finish) = (start / median_of(&own.start), finish / median_of(&own.finish));
        println!("{:<34} start {start:>8.1} ×    finish {finish:>8.1} ×", "");
    }
}

/// Measures a whole governed edit of one line: analyze, start, edit, analyze, finish.
pub fn edit_of(tree: &Path) -> ChoreResult {
    let binary = build("release")?;
    let place = std::env::temp_dir().join(format!("probity-edit-{}", std::process::id()));
    let result = measure_edit(&binary, tree, &place);
    let _ = fs::remove_dir_all(&place);
    result
}

fn measure_edit(binary: &Path, tree: &Path, place: &Path) -> ChoreResult {
    fs::create_dir_all(place).map_err(|error| error.to_string())?;
    let root = place.join("repo");
    let copied = Command::new("cp").arg("-r").arg(tree).arg(&root).status();
    if !copied.is_ok_and(|status| status.success()) {
        return Err(format!("{} could not be copied", tree.display()));
    }
    let commit = "rm -rf .git && printf '.codeclone/\n.cache/\n' >> .gitignore && git init -q -b main && git add . && \
                  git -c user.name=b -c user.email=b@example.org commit -qm files && sleep 3";
    shell(&root, commit)?;
    let paths = sources(&root)?;
    let mut own = Vec::new();
    for path in &paths[..5] {
        shell(&root, "rm -rf .git/probity")?;
        own.push(governed(binary, &["mcp"], "own", &root, path)?);
    }
    let own = median(own).unwrap_or_default();
    println!("a governed edit of one line in {}", tree.display());
    println!("probity                {:>8.2} s", own.as_secs_f64());
    let Some(peer) = codeclone_mcp() else { return Ok(()) };
    let peers = governed(&peer, &[], "peer", &root, &paths[5])?;
    println!("codeclone              {:>8.2} s", peers.as_secs_f64());
    println!("ratio                  {:>8.1} ×", peers.as_secs_f64() / own.as_secs_f64());
    Ok(())
}

/// Makes one edit through a fresh server without a cache; returns the time of its calls.
fn governed(
    program: &Path,
    arguments: &[&str],
    who: &str,
    root: &Path,
    path: &str,
) -> Result<Duration, String> {
    let mut server = ServerProcess::start(program, arguments, root)?;
    let analyze = if who == "own" { json!({}) } else { json!({ "root": root, "processes": 1 }) };
    let (_, first) = server.call("analyze_repository", &analyze)?;
    let (granted, start) = server.call("start_controlled_change", &start_arguments(who, root, path))?;
    expect(&granted, "active")?;
    let old = fs::read_to_string(root.join(path)).map_err(|error| error.to_string())?;
    fs::write(root.join(path), old + "\nEDITED = 1\n").map_err(|error| error.to_string())?;
    let (after, second) = server.call("analyze_repository", &analyze)?;
    let mut shown = evidence(who, &granted, path);
    shown["after_run_id"] = after["run_id"].clone();
    let (finished, finish) = server.call("finish_controlled_change", &shown)?;
    expect(&finished, "accepted")?;
    let ms = |time: Duration| time.as_millis();
    eprintln!(
        "  {who}: analyze {} start {} analyze {} finish {} ms",
        ms(first),
        ms(start),
        ms(second),
        ms(finish)
    );
    Ok(first + start + second + finish)
}

/// Returns six large modules: those on places 35 to 40 by size.
fn sources(root: &Path) -> Result<Vec<String>, String> {
    let script = "git ls-files -z '*.py' | xargs -0 ls -S | head -40 | tail -6";
    let output = Command::new("sh").args(["-ec", script]).current_dir(root).output();
    let text = output.map_err(|error| error.to_string())?.stdout;
    let names: Vec<String> = String::from_utf8_lossy(&text).lines().map(str::to_owned).collect();
    if names.len() < 6 { Err("the tree has too few Python files".into()) } else { Ok(names) }
}

/// Measures claims per second by processes that contend for one path.
pub fn registry() -> ChoreResult {
    cargo("registry", &["bench", "--quiet", "--package", "probity-changes", "--bench", "registry"], &[])
}
