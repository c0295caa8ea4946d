//! Members of etcd on this machine, and the ways to hurt them: real processes on loopback, ended by their own ids.

use crate::member_network::{MemberNetwork, address, command_in};
use crate::wait_until;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Names the program of etcd, where the one of `cargo xtask team install` is not wanted.
pub const ETCD_VARIABLE: &str = "PROBITY_ETCD";
/// Where `cargo xtask team install` puts the program, below the target directory.
const INSTALLED: &str = "team/etcd/usr/bin/etcd";
/// The ports of members that have an address of their own.
const CLIENT_PORT: u16 = 2379;
const PEER_PORT: u16 = 2380;
const STATUS_TIMEOUT: Duration = Duration::from_secs(5);

/// Returns the program of etcd; `None` where there is none.
pub fn etcd_program() -> Option<PathBuf> {
    let named = std::env::var_os(ETCD_VARIABLE).filter(|path| !path.is_empty()).map(PathBuf::from);
    let installed = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target").join(INSTALLED);
    let in_path = || {
        let path = std::env::var_os("PATH")?;
        std::env::split_paths(&path).map(|dir| dir.join("etcd")).find(|program| program.is_file())
    };
    named.or_else(|| Some(installed()).filter(|program| program.is_file())).or_else(in_path)
}

/// What a member says about itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemberStatus {
    pub is_leader: bool,
    pub has_leader: bool,
}

struct Member {
    /// Where it listens.
    host: String,
    client: u16,
    peer: u16,
    process: Option<Child>,
}

impl Member {
    fn url(&self, port: u16) -> String {
        format!("http://{}:{port}", self.host)
    }
}

/// Some members of one cluster. They are killed when this is dropped.
pub struct EtcdCluster {
    directory: tempfile::TempDir,
    program: PathBuf,
    settings: Vec<String>,
    members: Vec<Member>,
    /// If each member has a network namespace of its own.
    network: Option<MemberNetwork>,
}

impl EtcdCluster {
    /// Starts `n_members`, with `settings` such as `--quota-backend-bytes=16777216`, and waits for their leader. `{client}` in a
    /// setting stands for the address of the member. `None` where there is no etcd.
    pub fn start(n_members: usize, settings: &[&str]) -> Option<Self> {
        let program = etcd_program()?;
        let directory = tempfile::tempdir().expect("a directory");
        // The ports are free while all of them are held; etcd takes them right afterwards.
        let held: Vec<TcpListener> =
            (0..n_members * 2).map(|_| TcpListener::bind("127.0.0.1:0").expect("a free port")).collect();
        let port = |n: usize| held[n].local_addr().expect("has one").port();
        let member = |n: usize| Member {
            host: "127.0.0.1".into(),
            client: port(2 * n),
            peer: port(2 * n + 1),
            process: None,
        };
        let members = (0..n_members).map(member).collect();
        let settings = settings.iter().map(|word| (*word).to_owned()).collect();
        drop(held);
        Some(Self { directory, program, settings, members, network: None }.begun())
    }

    /// Like [`Self::start`], with a network namespace for each member. Only where [`crate::member_network::enter`] said so.
    pub fn start_in_namespaces(n_members: usize) -> Option<Self> {
        let program = etcd_program()?;
        let directory = tempfile::tempdir().expect("a directory");
        let network = Some(MemberNetwork::new(n_members));
        let member = |n| Member { host: address(n), client: CLIENT_PORT, peer: PEER_PORT, process: None };
        let members = (0..n_members).map(member).collect();
        Some(Self { directory, program, settings: Vec::new(), members, network }.begun())
    }

    fn begun(mut self) -> Self {
        (0..self.members.len()).for_each(|n| self.start_member(n));
        self.wait_until_led();
        self
    }

    /// The network of members that have namespaces of their own.
    pub fn network(&self) -> &MemberNetwork {
        self.network.as_ref().expect("the members were started in namespaces")
    }

    /// Starts a member, again with the data that it had.
    pub fn start_member(&mut self, n: usize) {
        let initial: Vec<String> = self
            .members
            .iter()
            .enumerate()
            .map(|(k, member)| format!("n{k}={}", member.url(member.peer)))
            .collect();
        let own = &self.members[n];
        let (client, peer) = (own.url(own.client), own.url(own.peer));
        let log =
            std::fs::OpenOptions::new().create(true).append(true).open(self.log_file(n)).expect("a log");
        let mut command = match &self.network {
            Some(_) => command_in(n, &self.program),
            None => Command::new(&self.program),
        };
        let child = command
            .arg(format!("--name=n{n}"))
            .arg(format!("--data-dir={}", self.directory.path().join(format!("n{n}.data")).display()))
            .args([format!("--listen-client-urls={client}"), format!("--advertise-client-urls={client}")])
            .args([format!("--listen-peer-urls={peer}"), format!("--initial-advertise-peer-urls={peer}")])
            .arg(format!("--initial-cluster={}", initial.join(",")))
            .args(["--initial-cluster-state=new", "--logger=zap", "--log-level=warn"])
            .args(self.settings.iter().map(|word| word.replace("{client}", &client)))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .expect("etcd starts");
        self.members[n].process = Some(child);
    }

    fn log_file(&self, n: usize) -> PathBuf {
        self.directory.path().join(format!("n{n}.log"))
    }

    /// Waits until every member that runs knows a leader.
    pub fn wait_until_led(&mut self) {
        wait_until("every member knows a leader", || {
            let running: Vec<usize> =
                (0..self.members.len()).filter(|n| self.members[*n].process.is_some()).collect();
            running.into_iter().all(|n| {
                // While a member was down, a connection of somebody else may have had its port for a moment.
                if self.has_ended(n) {
                    self.start_member(n);
                }
                self.status(n).is_some_and(|status| status.has_leader)
            })
        });
    }

    fn has_ended(&mut self, n: usize) -> bool {
        self.members[n].process.as_mut().is_some_and(|child| child.try_wait().is_ok_and(|end| end.is_some()))
    }

    pub fn endpoints(&self) -> Vec<String> {
        self.members.iter().map(|member| member.url(member.client)).collect()
    }

    /// Returns the ports that clients use.
    pub fn client_ports(&self) -> Vec<u16> {
        self.members.iter().map(|member| member.client).collect()
    }

    pub fn status(&self, n: usize) -> Option<MemberStatus> {
        let answer = self.post(n, "/v3/maintenance/status", "{}")?;
        let member = text_member(&answer, "member_id")?;
        let leader = text_member(&answer, "leader").unwrap_or_default();
        let has_leader = !leader.is_empty() && leader != "0";
        Some(MemberStatus { is_leader: has_leader && leader == member, has_leader })
    }

    /// Returns the leader, as soon as there is one.
    pub fn leader(&self) -> usize {
        crate::wait_for("there is a leader", || {
            (0..self.members.len()).find(|n| self.status(*n).is_some_and(|status| status.is_leader))
        })
    }

    /// Kills a member: what it had not written is gone.
    pub fn kill(&mut self, n: usize) {
        if let Some(mut child) = self.members[n].process.take() {
            child.kill().expect("is killed");
            child.wait().expect("ends");
        }
    }

    /// Stops a member: its connections stay, and nothing answers.
    pub fn stop(&self, n: usize) {
        self.signal(n, "-STOP");
    }

    pub fn resume(&self, n: usize) {
        self.signal(n, "-CONT");
    }

    fn signal(&self, n: usize, signal: &str) {
        let Some(child) = &self.members[n].process else { return };
        let sent =
            Command::new("kill").args([signal, &child.id().to_string()]).status().expect("`kill` starts");
        assert!(sent.success(), "kill {signal} failed");
    }

    /// Puts a question to the gateway of a member; `None` if nothing came back.
    pub fn post(&self, n: usize, path: &str, body: &str) -> Option<String> {
        let member = &self.members[n];
        let address = SocketAddr::new(member.host.parse().ok()?, member.client);
        let mut stream = TcpStream::connect_timeout(&address, STATUS_TIMEOUT).ok()?;
        stream.set_read_timeout(Some(STATUS_TIMEOUT)).ok()?;
        write!(
            stream,
            "POST {path} HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\
             Connection: close\r\n\r\n{body}",
            body.len()
        )
        .ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok()?;
        Some(answer.split_once("\r\n\r\n")?.1.to_owned())
    }
}

impl Drop for EtcdCluster {
    fn drop(&mut self) {
        for n in 0..self.members.len() {
            self.kill(n);
        }
    }
}

/// Returns a member of a flat JSON document whose value is text without escapes, as etcd writes numbers.
fn text_member(document: &str, name: &str) -> Option<String> {
    let rest = document.split_once(&format!("\"{name}\":\""))?.1;
    Some(rest.split('"').next()?.to_owned())
}
