//! A network of its own for members of a cluster, each in a network namespace behind one bridge, so that the ways between
//! them can be cut one by one while clients still reach them.
//!
//! It needs no rights of the machine: the test runs itself again in a user, mount and network namespace. Everything is gone
//! when that process ends.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// Says to the process in the namespaces that it is there.
const INSIDE_VARIABLE: &str = "PROBITY_IN_MEMBER_NETWORK";
/// Nobody has this address: what is sent to it is lost without a word.
const NOBODY: &str = "02:00:00:00:00:99";
/// Our own address on the bridge.
const BRIDGE_ADDRESS: &str = "10.231.0.254";

/// Where a test runs that wants a network of its own.
#[derive(Debug, PartialEq, Eq)]
pub enum NetworkPlace {
    /// In namespaces of its own: go on.
    Inside,
    /// Outside; the same test ran inside and passed.
    Passed,
    /// This machine does not allow it, and why.
    Refused(String),
}

/// Runs the test of that name again in namespaces of its own, unless this is that process.
pub fn enter(test: &str) -> NetworkPlace {
    if std::env::var_os(INSIDE_VARIABLE).is_some() {
        return NetworkPlace::Inside;
    }
    let is_root = std::fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0);
    let namespaces: &[&str] =
        if is_root { &["--mount", "--net"] } else { &["--user", "--map-root-user", "--mount", "--net"] };
    for (program, words) in [("ip", ["-V"].as_slice()), ("nsenter", &["-V"]), ("unshare", &["-V"])] {
        if Command::new(program).args(words).stdout(Stdio::null()).status().is_err() {
            return NetworkPlace::Refused(format!("`{program}` is not installed"));
        }
    }
    let tried = Command::new("unshare")
        .args(namespaces)
        .args(["ip", "link", "add", "name", "members", "type", "bridge"])
        .output();
    match tried {
        Ok(output) if output.status.success() => {}
        Ok(output) => {
            let why = String::from_utf8_lossy(&output.stderr).into_owned();
            return NetworkPlace::Refused(format!("no network namespaces: {why}"));
        }
        Err(error) => return NetworkPlace::Refused(error.to_string()),
    }
    let this = std::env::current_exe().expect("this test");
    let status = Command::new("unshare")
        .args(namespaces)
        .arg(this)
        .args(["--exact", test, "--include-ignored", "--nocapture", "--test-threads=1"])
        .env(INSIDE_VARIABLE, "1")
        .status()
        .expect("`unshare` starts");
    assert!(status.success(), "{test} failed in namespaces of its own");
    NetworkPlace::Passed
}

/// The namespaces of some members, and the ways between them.
#[derive(Debug)]
pub struct MemberNetwork {
    n_members: usize,
}

impl MemberNetwork {
    /// Makes a namespace for each member. Only after [`enter`] said that this is the place.
    pub fn new(n_members: usize) -> Self {
        // `ip netns` keeps its names here; the mount is our own.
        run("mount", &["-t", "tmpfs", "tmpfs", "/run"]);
        ip("link set lo up");
        ip("link add name members type bridge");
        ip(&format!("addr add {BRIDGE_ADDRESS}/24 dev members"));
        ip("link set members up");
        for n in 0..n_members {
            let (name, address) = (namespace(n), address(n));
            ip(&format!("netns add {name}"));
            ip(&format!("link add v{n} type veth peer name eth0 netns {name}"));
            ip(&format!("link set v{n} master members up"));
            ip(&format!("-n {name} addr add {address}/24 dev eth0"));
            ip(&format!("-n {name} link set eth0 up"));
            ip(&format!("-n {name} link set lo up"));
        }
        Self { n_members }
    }

    /// Loses everything that `from` sends to `to`, without a word.
    pub fn cut(&self, from: usize, to: usize) {
        lose(from, &address(to));
    }

    /// Loses everything between `n` and the other members. Clients still reach it.
    pub fn cut_off(&self, n: usize) {
        for other in (0..self.n_members).filter(|other| *other != n) {
            self.cut(n, other);
            self.cut(other, n);
        }
    }

    /// Loses everything that the other members send to `n`, which can still speak to them.
    pub fn deafen(&self, n: usize) {
        (0..self.n_members).filter(|other| *other != n).for_each(|other| self.cut(other, n));
    }

    /// Like [`Self::cut_off`], from clients as well.
    pub fn isolate(&self, n: usize) {
        self.cut_off(n);
        lose(n, BRIDGE_ADDRESS);
    }

    pub fn heal(&self) {
        (0..self.n_members)
            .for_each(|n| ip(&format!("-n {} neigh flush dev eth0 nud permanent", namespace(n))));
    }
}

fn lose(from: usize, address: &str) {
    ip(&format!("-n {} neigh replace {address} lladdr {NOBODY} dev eth0 nud permanent", namespace(from)));
}

pub(crate) fn address(n: usize) -> String {
    format!("10.231.0.{}", n + 1)
}

fn namespace(n: usize) -> String {
    format!("member-{n}")
}

/// Returns the command that starts `program` in the namespace of a member.
pub(crate) fn command_in(n: usize, program: &Path) -> Command {
    let mut command = Command::new("nsenter");
    command.arg(format!("--net=/run/netns/{}", namespace(n))).arg("--").arg(program);
    command
}

fn ip(words: &str) {
    run("ip", &words.split(' ').collect::<Vec<_>>());
}

fn run(program: &str, words: &[&str]) {
    let output = Command::new(program).args(words).output().expect("starts");
    let why = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "`{program} {}` failed: {why}", words.join(" "));
}
