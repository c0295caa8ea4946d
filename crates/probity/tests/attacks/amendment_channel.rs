//! Attempts of the judged to widen their own scope through the amendment socket of their run (law 2).

use crate::repo::{Outcome, Repo, has};
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// What every agent here has: a connection to its own run, and the words of a request for everything.
const CLIENT: &str = r#"
import atexit, glob, json, os, signal, socket, sys

# Whatever goes wrong in a test, nothing of it stays behind.
socket.setdefaulttimeout(120)
atexit.register(os.kill, os.getppid(), signal.SIGCONT)
home, outside = os.getcwd(), os.path.dirname(os.getcwd())

def connect():
    os.chdir(glob.glob(home + '/.git/probity/open/*')[0])
    end = socket.socket(socket.AF_UNIX)
    end.connect('amend.sock')
    os.chdir(home)
    return end

def line(end):
    heard = b''
    while not heard.endswith(b'\n'):
        more = end.recv(1)
        if not more:
            break
        heard += more
    return heard

def words(end):
    greeting = json.loads(line(end))
    request = {'add': ['**'], 'by': 'boss', 'why': 'it belongs to it', 'challenge': greeting.get('challenge', '')}
    return json.dumps(request).encode() + b'\n'

def ask(end):
    try:
        end.sendall(words(end))
        return line(end)
    except OSError:
        return b''

def wait_for(name):
    import time
    while not os.path.exists(os.path.join(outside, name)):
        time.sleep(0.01)

def tell(name, text=''):
    with open(os.path.join(outside, name + '.part'), 'w') as file:
        file.write(text)
    os.rename(os.path.join(outside, name + '.part'), os.path.join(outside, name))

def handed_over(make):
    """A connection that a child makes and leaves to this process, and the id that the child had."""
    ours, theirs = socket.socketpair()
    child = os.fork()
    if child == 0:
        end = make()
        socket.send_fds(theirs, [b'x'], [end.fileno()])
        os._exit(0)
    _, [end], _, _ = socket.recv_fds(ours, 1, 1)
    os.waitpid(child, 0)
    return socket.socket(fileno=end), child

def leave_scope():
    with open(home + '/docs/d.md', 'a') as file:
        file.write('evil\n')
"#;

/// Starts an agent that leaves its scope at its end, whatever it was granted.
fn start_agent(repo: &Repo, script: &str) -> Child {
    repo.write("../agent.py", &format!("{CLIENT}\n{script}\nleave_scope()\n"));
    let mut command = repo.probity(&["run", "--json", "--scope", "src/a.py", "--", "python3", "../agent.py"]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("probity starts")
}

fn ended(repo: &Repo, agent: Child) -> Outcome {
    repo.outcome(&agent.wait_with_output().expect("ends"))
}

/// Asserts that the agent was granted nothing and that its attempt is on record.
fn held(outcome: &Outcome) {
    outcome.is_out(&["docs/d.md"]);
    let findings = outcome.json["findings"].as_array().expect("findings");
    assert!(findings.iter().any(|finding| finding["code"] == "AMEND.FROM_INSIDE"), "{outcome:#?}");
}

fn attack(script: &str) {
    if !has("python3") {
        return probity_testkit::skip!("python3 is not installed");
    }
    let repo = Repo::new();
    held(&ended(&repo, start_agent(&repo, script)));
}

fn wait_for(path: &Path) {
    probity_testkit::wait_until("the other side is ready", || path.exists());
}

#[test]
fn a_process_of_the_run_is_refused() {
    attack("ask(connect())");
}

#[test]
fn a_detached_process_of_the_run_is_refused() {
    attack(
        "if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        while os.getppid() == 1: pass
        ask(connect())
        tell('asked')
    os._exit(0)
os.wait()
wait_for('asked')",
    );
}

#[test]
fn a_connection_handed_over_by_a_process_that_ended_is_refused() {
    attack("end, _ = handed_over(connect)\nask(end)");
}

#[test]
fn a_peer_that_is_gone_when_the_supervisor_looks_is_refused() {
    // While the supervisor stands still, the process that connected comes and goes.
    attack(
        "os.kill(os.getppid(), signal.SIGSTOP)
end, _ = handed_over(connect)
os.kill(os.getppid(), signal.SIGCONT)
ask(end)",
    );
}

#[test]
fn a_request_that_was_sent_before_the_challenge_is_refused() {
    attack(
        "end = connect()
end.sendall(json.dumps({'add': ['**'], 'by': 'boss', 'why': 'it belongs to it'}).encode() + b'\\n')
line(end), line(end)",
    );
}

/// Lets an innocent process outside connect and give its end of the socket to the run, which then acts on it.
fn gift(from_outside: &str, from_inside: &str) {
    if !has("python3") {
        return probity_testkit::skip!("python3 is not installed");
    }
    let repo = Repo::new();
    let receive = "os.chdir(outside)
door = socket.socket(socket.AF_UNIX)
door.bind('door')
door.listen()
os.chdir(home)
tell('listening')
visitor, _ = door.accept()
text, [end], _, _ = socket.recv_fds(visitor, 4096, 1)
end = socket.socket(fileno=end)";
    let agent = start_agent(&repo, &format!("{receive}\n{from_inside}\ntell('done')"));
    wait_for(&repo.outside().join("listening"));
    let give = "end = connect()
os.chdir(outside)
door = socket.socket(socket.AF_UNIX)
door.connect('door')";
    let stay = "wait_for('done')";
    repo.write("../bystander.py", &format!("{CLIENT}\n{give}\n{from_outside}\n{stay}\n"));
    let mut bystander = Command::new("python3");
    bystander.arg("../bystander.py").current_dir(repo.path());
    let mut bystander = bystander.spawn().expect("starts");
    held(&ended(&repo, agent));
    bystander.wait().expect("ends");
}

#[test]
fn a_connection_that_a_bystander_gave_away_is_refused() {
    gift("socket.send_fds(door, [b'x'], [end.fileno()])", "ask(end)");
}

#[test]
fn a_request_that_two_processes_sent_is_refused() {
    gift(
        "request = words(end)
end.sendall(request[:20])
socket.send_fds(door, [request[20:]], [end.fileno()])",
        "end.sendall(text)\nline(end)",
    );
}

#[test]
fn idle_connections_keep_nobody_out() {
    if !has("python3") {
        return probity_testkit::skip!("python3 is not installed");
    }
    for count in [8, 100] {
        let repo = Repo::new();
        let script = format!("ends = [connect() for _ in range({count})]\ntell('idle')\nwait_for('amended')");
        let agent = start_agent(&repo, &script);
        wait_for(&repo.outside().join("idle"));
        let amended =
            repo.ask(&["amend", "open", "--add", "docs/**", "--by", "ann", "--why", "the docs belong to it"]);
        assert_eq!(amended.json["status"], "amended", "{amended:#?}");
        fs::write(repo.outside().join("amended"), "").expect("writes");
        let outcome = ended(&repo, agent);
        outcome.passes();
        let refused = outcome.json["findings"].to_string();
        assert!(refused.contains("AMEND.FROM_INSIDE"), "{outcome:#?}");
    }
}

/// Runs the binary, and when the agent says which process id it needs, starts processes outside the run until an
/// innocent one has it.
const BYSTANDERS: &str = r"
import os, signal, subprocess, sys, time
home, outside = os.getcwd(), os.path.dirname(os.getcwd())
def next_id(number): open('/proc/sys/kernel/ns_last_pid', 'w').write(str(number - 1))
# Ids below 300 are given out only once, so what is to come again must be above.
if sys.argv[2] == 'round': next_id(400)
run = subprocess.Popen([sys.argv[1], 'run', '--json', '--scope', 'src/a.py', '--', 'python3', '../agent.py'])
def there(name): return os.path.exists(os.path.join(outside, name))
while not there('wanted') and run.poll() is None: time.sleep(0.01)
wanted = int(open(os.path.join(outside, 'wanted')).read()) if there('wanted') else 0
bystander = None
if sys.argv[2] == 'round': next_id(int(open('/proc/sys/kernel/pid_max').read()) - 20)
while wanted and bystander is None:
    if sys.argv[2] == 'set': next_id(wanted)
    child = os.fork()
    if child == 0:
        if os.getpid() == wanted: signal.pause()
        os._exit(0)
    if child == wanted: bystander = child
    else: os.waitpid(child, 0)
open(os.path.join(outside, 'reused'), 'w').close()
code = run.wait()
if bystander:
    os.kill(bystander, signal.SIGKILL)
sys.exit(code)
";

/// The strongest form: an innocent process has the id of the one that connected when the supervisor looks.
fn reuse_of_a_process_id(wrapper: &[&str], how: &str) {
    let repo = Repo::new();
    let script = "os.kill(os.getppid(), signal.SIGSTOP)
end, child = handed_over(connect)
tell('wanted', str(child))
wait_for('reused')
os.kill(os.getppid(), signal.SIGCONT)
ask(end)
leave_scope()";
    repo.write("../agent.py", &format!("{CLIENT}\n{script}\n"));
    repo.write("../bystanders.py", BYSTANDERS);
    // The test's own repository prepares the environment.
    let template = repo.probity(&[]);
    let mut words: Vec<&str> = wrapper.to_vec();
    words.extend(["python3", "../bystanders.py", env!("CARGO_BIN_EXE_probity"), how]);
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).current_dir(repo.path());
    for (name, value) in template.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    held(&repo.outcome(&command.output().expect("starts")));
}

/// Lets an id be given out again in a process namespace of its own.
fn reuse_in_a_namespace(how: &str) {
    let namespace = ["unshare", "--pid", "--fork", "--mount-proc"];
    let can = Command::new("unshare").args(&namespace[1..]).arg("true").output();
    if !has("python3") || !can.is_ok_and(|tried| tried.status.success()) {
        return probity_testkit::skip!("python3 is not installed, or no process namespace can be made");
    }
    reuse_of_a_process_id(&namespace, how);
}

#[test]
fn an_innocent_process_with_the_id_of_the_one_that_connected_lends_it_nothing() {
    reuse_in_a_namespace("set");
}

#[test]
fn process_ids_that_went_round_lend_nothing() {
    reuse_in_a_namespace("round");
}
