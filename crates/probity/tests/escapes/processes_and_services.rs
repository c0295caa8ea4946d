//! Other processes, and services that run already.

use crate::fixture::{Canary, Case, End, Fixture, cases};
use std::os::unix::net::{UnixDatagram, UnixListener};
use std::process::{Child, Stdio};

const UNREACHED: &[(&str, Option<&str>)] = &[("src/auth/login.sh", Some("unreached\n"))];

cases! {
    a_daemon_ends_with_the_view => Case {
        lands: &[("src/auth/login.sh", Some("fixed\n"))],
        ..Case::new("(setsid sh -c 'trap \"\" TERM HUP INT; sleep 1000; echo late > README.md' &) ; echo fixed > src/auth/login.sh",
                    End::Passes)
    };
    the_supervisor_cannot_be_killed => Case {
        ..Case::new("echo bad > README.md; kill -9 $PPID 2>/dev/null; kill -9 1 2>/dev/null; true", End::Fails)
    };
    the_first_process_cannot_be_debugged => Case::new(
        "python3 - <<'PY'
import ctypes, os, sys
c = ctypes.CDLL(None)
attached = c.ptrace(16, 1, 0, 0) == 0
try:
    os.open('/proc/1/mem', os.O_RDWR); attached = True
except OSError: pass
sys.exit(attached)
PY", End::Passes);
    variables_that_lead_to_services_are_gone => Case {
        start: "export SSH_AUTH_SOCK=/run/x DOCKER_HOST=unix:///run/d TMUX=/tmp/t,1,0 DBUS_SESSION_BUS_ADDRESS=unix:path=/run/b",
        ..Case::new("! env | grep -qE '^(SSH_AUTH_SOCK|DOCKER_HOST|TMUX|DBUS_SESSION_BUS_ADDRESS)='", End::Passes)
    };
    the_network_can_be_off => Case {
        options: &["--network", "off"],
        lands: &[("src/auth/login.sh", Some("1\n"))],
        ..Case::new("grep -c : /proc/net/dev > src/auth/login.sh", End::Passes)
    };
    the_terminal_cannot_be_made_to_type => Case::new(
        "python3 - <<'PY'
import ctypes, fcntl, sys, errno
try:
    fcntl.ioctl(0, 0x5412, b'x')
except OSError as error:
    sys.exit(error.errno != errno.EPERM)
sys.exit(1)
PY", End::Passes);
    a_crontab_cannot_be_written => Case::new(
        "command -v crontab >/dev/null && echo '* * * * * true # probity-escape' | crontab - 2>/dev/null; true", End::Any);
}

#[test]
fn shared_memory_is_private() {
    let case = Case::new("! test -e \"$(cat \"$OUT/name\")\"", End::Passes);
    case.run_beside(|fixture| Box::new(Canary::new_in("/dev/shm", fixture)));
}

/// A process outside that ends only with its input; it must still be there when the case has ended.
struct Bystander(Child);

impl Drop for Bystander {
    fn drop(&mut self) {
        let is_alive = matches!(self.0.try_wait(), Ok(None));
        let _ = self.0.kill();
        let _ = self.0.wait();
        assert!(is_alive || std::thread::panicking(), "a process outside of the view was ended");
    }
}

#[test]
fn processes_outside_are_out_of_reach() {
    let case = Case {
        lands: UNREACHED,
        ..Case::new(
            "! kill -9 \"$(cat \"$OUT/pid\")\" 2>/dev/null && echo unreached > src/auth/login.sh",
            End::Passes,
        )
    };
    case.run_beside(|fixture: &Fixture| {
        let bystander = fixture.shell("exec cat").stdin(Stdio::piped()).spawn().expect("starts");
        std::fs::write(fixture.path("outside/pid"), bystander.id().to_string()).expect("writes");
        Box::new(Bystander(bystander))
    });
}

/// Tries to reach services at `s` (a stream) and `d` (datagrams) beside the tree.
const CALL_SERVICES: &str = "for t in s d; do python3 -c \"
import socket, sys
kind, name = sys.argv[1:]
s = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM if kind == 's' else socket.SOCK_DGRAM)
s.connect(name)
s.send(b'x')\" $t \"$OUT/$t\" 2>/dev/null && exit 9; done; echo unreached > src/auth/login.sh";

/// A service that listens beside the tree when the run begins.
#[test]
fn services_behind_named_sockets_are_not_reached() {
    // A network of its own does not show the sockets of the machine.
    for options in [&[][..], &["--network", "off"]] {
        let case = Case { lands: UNREACHED, options, ..Case::new(CALL_SERVICES, End::Passes) };
        case.run_beside(|fixture: &Fixture| {
            let stream = UnixListener::bind(fixture.path("outside/s")).expect("binds");
            let datagram = UnixDatagram::bind(fixture.path("outside/d")).expect("binds");
            Box::new((stream, datagram))
        });
    }
}

/// The table of the kernel has the name under which a socket was bound.
#[test]
fn services_that_renamed_their_sockets_are_not_reached() {
    let case = Case { lands: UNREACHED, ..Case::new(CALL_SERVICES, End::Passes) };
    case.run_beside(|fixture: &Fixture| {
        let stream = UnixListener::bind(fixture.path("outside/s.new")).expect("binds");
        std::fs::rename(fixture.path("outside/s.new"), fixture.path("outside/s")).expect("renames");
        Box::new(stream)
    });
}

#[test]
fn services_that_bound_a_relative_name_are_not_reached() {
    let case = Case { lands: UNREACHED, ..Case::new(CALL_SERVICES, End::Passes) };
    case.run_beside(|fixture: &Fixture| {
        let service = "cd \"$OUT\"; exec python3 -c \"
import socket, sys
s = socket.socket(socket.AF_UNIX); s.bind('s'); s.listen()
sys.stdin.read()\"";
        let service = fixture.shell(service).stdin(Stdio::piped()).spawn().expect("starts");
        let service = Bystander(service);
        probity_testkit::wait_until("the service listens", || {
            std::fs::read_to_string("/proc/net/unix").is_ok_and(|table| {
                table.lines().any(|line| line.ends_with(" s") && line.contains(" 00010000 "))
            })
        });
        Box::new(service)
    });
}
