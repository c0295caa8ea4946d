//! The level `landlock`: the command works in the tree itself, and the kernel refuses writes outside of the directories
//! of the scope. What it cannot refuse is found afterwards.

use crate::fixture::{Case, End, Fixture, cases};
use std::os::unix::net::UnixListener;

const LANDED: &[(&str, Option<&str>)] = &[("src/auth/login.sh", Some("fixed\n"))];

const fn confined(inside: &'static str, end: End) -> Case {
    Case { level: "landlock", ..Case::new(inside, end) }
}

cases! {
    /// The control: without it, a Probity that runs nothing would pass every other case.
    honest_work_passes => Case {
        lands: &[
            ("src/auth/login.sh", Some("fixed\n")),
            ("src/auth/new/", Some("")),
            ("src/auth/new/f", Some("n\n")),
            ("src/auth/deep/d", None),
        ],
        ..confined("echo fixed > src/auth/login.sh; mkdir src/auth/new; echo n > src/auth/new/f; rm src/auth/deep/d; \
                    echo probe > $(mktemp) && git status --short", End::Passes)
    };
    nothing_outside_can_be_written => Case {
        lands: LANDED,
        ..confined("(echo x > \"$OUT/x\"; echo x >> \"$OUT/canary\"; : > \"$OUT/canary\"; truncate -s 0 \"$OUT/canary\"; \
                    echo x > ../outside/y; rm -f \"$OUT/canary\"; mkdir \"$OUT/d\"; echo x > README.md; rm -rf docs; \
                    echo x >> \"$HOME/.bashrc\"; echo x > \"$HOME/.profile\") 2>/dev/null; echo fixed > src/auth/login.sh", End::Passes)
    };
    a_new_link_leads_to_nothing_writable => Case {
        found: &["repo/src/auth/l"],
        ..confined("ln -s \"$OUT/canary\" src/auth/l; (echo x > src/auth/l) 2>/dev/null; true", End::Fails)
    };
    hard_links_do_not_cross_the_border =>
        confined("(ln \"$OUT/canary\" src/auth/h || ln README.md src/auth/h) 2>/dev/null && echo x >> src/auth/h; true", End::Passes);
    moves_do_not_cross_the_border => confined(
        "mv README.md src/auth/ 2>/dev/null; test ! -e src/auth/README.md || { rm src/auth/README.md; exit 9; }; \
         python3 -c \"import ctypes; ctypes.CDLL(None).renameat2(-100, b'README.md', -100, b'src/auth/login.sh', 2)\"; true", End::Passes);
    other_processes_lead_nowhere => confined(
        "for p in /proc/[0-9]*; do echo x > \"$p/root$OUT/x\"; (cd \"$p/cwd\" && echo x > ../outside/x); done 2>/dev/null; true", End::Passes);
    inherited_descriptors_are_closed => Case {
        start: "exec 5<\"$OUT\"; exec 6>>\"$OUT/canary\"; exec 0<>\"$OUT/canary\"",
        ..confined("(echo x > /proc/self/fd/5/x; echo x >&6; echo x >&0) 2>/dev/null; true", End::Passes)
    };
    processes_outside_cannot_be_ended => Case {
        setup: "sleep 60 >/dev/null 2>&1 & echo $! > \"$OUT/pid\"",
        lands: LANDED,
        ..confined("! kill -9 \"$(cat \"$OUT/pid\")\" 2>/dev/null && ! kill -9 $PPID 2>/dev/null && echo fixed > src/auth/login.sh", End::Passes)
    };
    a_nested_namespace_undoes_nothing => confined(
        "unshare -Urm sh -c 'mkdir src/auth/m; mount --rbind / src/auth/m; echo x > \"src/auth/m$OUT/x\"; echo x > \"$OUT/x\"' \
         2>/dev/null; rmdir src/auth/m 2>/dev/null; true", End::Passes);
    nobody_has_capabilities => Case {
        lands: &[("src/auth/login.sh", Some("0000000000000000\n1\n"))],
        ..confined("sed -n 's/^\\(CapEff\\|NoNewPrivs\\):.//p' /proc/self/status > src/auth/login.sh", End::Passes)
    };
    settings_and_devices_of_the_machine_are_refused => Case {
        for_root_only: true,
        lands: LANDED,
        ..confined("v=$(cat /proc/sys/kernel/core_pattern); (echo \"$v\" > /proc/sys/kernel/core_pattern) 2>/dev/null && exit 8; \
                    mkdir /sys/fs/cgroup/probity-escape 2>/dev/null && exit 9; mknod src/auth/disk b 254 0 2>/dev/null && exit 10; \
                    echo fixed > src/auth/login.sh", End::Passes)
    };
    git_and_the_state_are_out_of_reach => Case {
        lands: LANDED,
        ..confined("(git config core.fsmonitor touch; echo x > .git/hooks/post-checkout; rm -rf .git/probity; \
                    mkdir .git/probity/evidence/forged; git commit -qam x; mv .git g; echo x > probity.toml) >/dev/null 2>&1; \
                    echo fixed > src/auth/login.sh", End::Passes)
    };
    an_amendment_cannot_be_made_from_inside => confined(
        "(\"$PROBITY\" amend open --add '**' --why please; echo evil > README.md) 2>/dev/null; true", End::Passes);
    permission_bits_are_found_afterwards => Case {
        found: &["repo/README.md"],
        ..confined("chmod 600 README.md", End::Fails)
    };
    exclusions_are_found_afterwards => Case {
        scope: &["src/auth/**", "!src/auth/deep/**"],
        found: &["repo/src/auth/deep/x"],
        ..confined("echo x > src/auth/deep/x", End::Fails)
    };
    a_glob_opens_its_directory_and_is_judged_exactly => Case {
        scope: &["src/**/*.py"],
        found: &["repo/src/auth/login.sh"],
        ..confined("echo x > src/auth/login.sh; (echo x > README.md) 2>/dev/null; true", End::Fails)
    };
    an_editor_that_renames_works_on_a_single_file => Case {
        scope: &["src/auth/login.sh"],
        lands: LANDED,
        ..confined("sed -i s/login/fixed/ src/auth/login.sh", End::Passes)
    };
    a_directory_of_the_scope_can_be_renamed => Case {
        lands: &[("src/auth/deep/d", None), ("src/auth/deep", None), ("src/auth/deeper/", Some("")), ("src/auth/deeper/d", Some("d\n"))],
        ..confined("mv src/auth/deep src/auth/deeper", End::Passes)
    };
    the_own_state_of_an_agent_can_be_written_but_not_its_hooks => Case {
        setup: "mkdir -p \"$HOME/.claude/hooks\"; echo old > \"$HOME/.claude/hooks/h\"; echo log > \"$HOME/.claude/log\"",
        ..confined("echo log > \"$HOME/.claude/log\" || exit 3; (echo x > \"$HOME/.claude/hooks/h\") 2>/dev/null; true", End::Passes)
    };
    processes_that_are_left_behind_end => Case {
        lands: LANDED,
        ..confined("(setsid sh -c 'trap \"\" TERM HUP INT; sleep 1000; echo late > src/auth/late' &) ; echo fixed > src/auth/login.sh",
                    End::Passes)
    };
    the_terminal_cannot_be_made_to_type => confined(
        "python3 - <<'PY'
import fcntl, sys, errno
try:
    fcntl.ioctl(0, 0x5412, b'x')
except OSError as error:
    sys.exit(error.errno != errno.EPERM)
sys.exit(1)
PY", End::Passes);
}

/// A service hands over a directory outside; the descriptor opens no way around the kernel's rules.
#[test]
fn a_descriptor_that_a_service_hands_over_grants_nothing() {
    let case = confined(
        "python3 -c \"
import array, os, socket, sys
s = socket.socket(socket.AF_UNIX); s.settimeout(5); s.connect(os.environ['OUT'] + '/s')
_, handed, _, _ = s.recvmsg(1, socket.CMSG_SPACE(4))
fd = array.array('i', handed[0][2])[0]
try:
    os.open('x', os.O_CREAT | os.O_WRONLY, 0o600, dir_fd=fd); sys.exit(9)
except PermissionError: pass\"",
        End::Passes,
    );
    case.run_beside(|fixture: &Fixture| {
        let listener = UnixListener::bind(fixture.path("outside/s")).expect("binds");
        let socket = fixture.path("outside/s");
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o777);
        std::fs::set_permissions(&socket, mode).expect("sets the mode");
        let outside = fixture.path("outside");
        let served = std::thread::spawn(move || {
            let (stream, _) = listener.accept().expect("accepts");
            let directory = std::fs::File::open(outside).expect("opens");
            let handed = [std::os::fd::AsFd::as_fd(&directory)];
            let mut space = [std::mem::MaybeUninit::uninit(); 64];
            let mut ancillary = rustix::net::SendAncillaryBuffer::new(&mut space);
            assert!(ancillary.push(rustix::net::SendAncillaryMessage::ScmRights(&handed)), "fits");
            let data = [std::io::IoSlice::new(b"x")];
            rustix::net::sendmsg(&stream, &data, &mut ancillary, rustix::net::SendFlags::empty())
                .expect("sends");
        });
        Box::new(served)
    });
}
