//! Runs commands in real views, as root and as an ordinary user. This test starts itself again as the entrance of a
//! view, so it has its own `main`.

use probity_sandbox::{
    CommandEnd, ENTRANCE_ROLE, LayerBelow, NetworkAccess, OverlayMount, ScratchOverlays, ViewPlan, ViewReport,
};
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Output, Stdio};
use tempfile::TempDir;

/// The ids of the user `nobody`, who owns nothing.
const ORDINARY_ID: &str = "65534";

/// Where the trees may be, best first. Not below `/tmp`, which is private in a view: what is outside would be invisible
/// instead of read-only.
const PLACES: [&str; 4] = [env!("CARGO_TARGET_TMPDIR"), "/srv", "/opt", "/dev/shm"];

/// Type of an overlay in `statfs`.
const OVERLAY_MAGIC: i64 = 0x794c_7630;

type Case = (&'static str, fn(&ViewFixture));

const CASES: &[Case] = &[
    ("changes_reach_the_layer_and_not_the_tree", changes_reach_the_layer_and_not_the_tree),
    ("nothing_outside_can_be_written", nothing_outside_can_be_written),
    ("the_end_of_the_command_is_reported", the_end_of_the_command_is_reported),
    ("a_daemon_ends_with_the_view", a_daemon_ends_with_the_view),
    ("no_descriptor_is_inherited", no_descriptor_is_inherited),
    ("standard_input_cannot_be_written", standard_input_cannot_be_written),
    ("nobody_has_capabilities", nobody_has_capabilities),
    ("listening_sockets_are_masked", listening_sockets_are_masked),
    ("hidden_and_writable_places", hidden_and_writable_places),
    ("a_cache_is_thrown_away", a_cache_is_thrown_away),
    ("nothing_starts_in_a_view_that_is_open", nothing_starts_in_a_view_that_is_open),
    ("the_network_can_be_off", the_network_can_be_off),
    ("git_works_inside", git_works_inside),
    ("nothing_is_flushed_for_a_layer", nothing_is_flushed_for_a_layer),
    ("a_middle_layer_is_seen_and_not_changed", a_middle_layer_is_seen_and_not_changed),
    ("a_command_that_cannot_start_is_told", a_command_that_cannot_start_is_told),
];

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    if let Some(code) = probity_sandbox::run_role(&arguments) {
        return code;
    }
    run_cases(&arguments)
}

#[expect(clippy::print_stdout, reason = "this is a test harness")]
fn run_cases(arguments: &[OsString]) -> ExitCode {
    let words: Vec<&str> = arguments.iter().filter_map(|argument| argument.to_str()).collect();
    let wanted: Vec<&&str> = words.iter().filter(|word| !word.starts_with("--")).collect();
    let is_root = rustix::process::geteuid().is_root();
    let users: &[bool] = if is_root { &[true, false] } else { &[false] };
    let mut failed = Vec::new();
    let mut n_passed = 0;
    for as_root in users {
        for (name, case) in CASES {
            let name = format!("{name}::{}", if *as_root { "as_root" } else { "as_user" });
            if !wanted.is_empty() && !wanted.iter().any(|word| name.contains(**word)) {
                continue;
            }
            if words.contains(&"--list") {
                println!("{name}: test");
                continue;
            }
            let fixture = ViewFixture::new(*as_root, is_root);
            if std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| case(&fixture))).is_ok() {
                println!("test {name} ... ok");
                n_passed += 1;
            } else {
                println!("test {name} ... FAILED");
                failed.push(name);
            }
        }
    }
    if words.contains(&"--list") {
        return ExitCode::SUCCESS;
    }
    if failed.is_empty() {
        println!("test result: ok. {n_passed} passed");
        return ExitCode::SUCCESS;
    }
    println!("\nfailures:\n    {}\n", failed.join("\n    "));
    println!("test result: FAILED. {n_passed} passed; {} failed", failed.len());
    ExitCode::from(101)
}

/// Returns true if a view of a tree in `place` can be made, by an ordinary user if `for_others`.
fn is_usable(place: &Path, for_others: bool) -> bool {
    // An overlay cannot be the upper layer of another one; containers often have one as their root.
    let is_overlay = rustix::fs::statfs(place).is_ok_and(|status| status.f_type == OVERLAY_MAGIC);
    let others_pass = |directory: &Path| {
        fs::metadata(directory).is_ok_and(|metadata| metadata.permissions().mode() & 0o001 != 0)
    };
    place.is_dir() && !is_overlay && (!for_others || place.ancestors().all(others_pass))
}

/// A tree, a directory beside it, and the layers of a view.
struct ViewFixture {
    place: TempDir,
    /// Whether commands run as another user than this test.
    as_other_user: bool,
}

impl ViewFixture {
    fn new(as_root: bool, is_root: bool) -> Self {
        let as_other_user = is_root && !as_root;
        let place = PLACES.iter().map(Path::new).find(|place| is_usable(place, as_other_user));
        let place =
            TempDir::new_in(place.expect("a directory that everybody can reach")).expect("a directory");
        let fixture = Self { place, as_other_user };
        // The ordinary user may not reach the directory in which this test was built.
        probity_testkit::copy_program(std::env::current_exe().expect("this test"), fixture.path("program"));
        for directory in ["tree/src", "outside", "upper", "work", "home"] {
            fs::create_dir_all(fixture.path(directory)).expect("creates");
        }
        for (file, text) in [("tree/src/a", "a\n"), ("tree/b", "b\n"), ("outside/canary", "canary\n")] {
            fs::write(fixture.path(file), text).expect("writes");
        }
        fixture.give_away();
        fixture
    }

    fn path(&self, name: &str) -> PathBuf {
        self.place.path().join(name)
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    /// Gives all files to the user who runs the commands.
    fn give_away(&self) {
        if self.as_other_user {
            let owner = format!("{ORDINARY_ID}:{ORDINARY_ID}");
            let status = Command::new("chown").arg("-R").arg(owner).arg(self.place.path()).status();
            assert!(status.expect("chown starts").success());
        }
    }

    fn plan(&self) -> ViewPlan {
        ViewPlan {
            overlays: vec![OverlayMount {
                target: self.path("tree").into(),
                below: None,
                upper: self.path("upper").into(),
                work: self.path("work").into(),
            }],
            writable: Vec::new(),
            visible: Vec::new(),
            read_only: Vec::new(),
            hidden: Vec::new(),
            network: NetworkAccess::On,
            scratch: ScratchOverlays::default(),
            outside: vec![self.path("outside").into()],
            working_directory: self.path("tree").into(),
            report: self.path("report").into(),
        }
    }

    fn run(&self, script: &str) -> (Output, ViewReport) {
        self.run_plan(&self.plan(), "", &["sh", "-c", script])
    }

    /// Runs a command in the view of `plan`, started by a shell that first runs `before`.
    fn run_plan(&self, plan: &ViewPlan, before: &str, command: &[&str]) -> (Output, ViewReport) {
        fs::write(self.path("plan"), serde_json::to_vec(plan).expect("a plan is JSON")).expect("writes");
        self.give_away();
        let mut entrance = if self.as_other_user {
            let mut setpriv = Command::new("setpriv");
            let ids = [format!("--reuid={ORDINARY_ID}"), format!("--regid={ORDINARY_ID}")];
            setpriv.args(ids).args(["--clear-groups", "sh"]);
            setpriv
        } else {
            Command::new("sh")
        };
        entrance.arg("-c").arg(format!("{before}\nexec \"$@\"")).arg("sh");
        entrance.arg(self.path("program")).arg(ENTRANCE_ROLE).arg(self.path("plan"));
        entrance.args(command).current_dir(self.path("tree")).stdin(Stdio::null());
        entrance.env("OUT", self.path("outside")).env("HOME", self.path("home"));
        let output = entrance.output().expect("sh starts");
        let report = serde_json::from_str(&self.read("report"));
        (output, report.unwrap_or_default())
    }
}

/// Asserts that the command ran to its end: a command that never ran does no harm either.
#[track_caller]
fn succeeds((output, report): (Output, ViewReport)) -> String {
    let words = format!("{output:?} {report:?}");
    assert_eq!(report.end, Some(CommandEnd::Exited(0)), "{words}");
    assert!(output.status.success(), "{words}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn changes_reach_the_layer_and_not_the_tree(fixture: &ViewFixture) {
    let seen = succeeds(fixture.run("echo new > src/a; rm b; mkdir d; echo c > d/c; cat src/a; ls"));
    assert_eq!(seen, "new\nd\nsrc\n");
    assert_eq!((fixture.read("tree/src/a").as_str(), fixture.read("tree/b").as_str()), ("a\n", "b\n"));
    assert!(!fixture.path("tree/d").exists());
    assert_eq!((fixture.read("upper/src/a").as_str(), fixture.read("upper/d/c").as_str()), ("new\n", "c\n"));
    let whiteout = fs::symlink_metadata(fixture.path("upper/b")).expect("a whiteout");
    assert!(std::os::unix::fs::FileTypeExt::is_char_device(&whiteout.file_type()));
}

fn nothing_outside_can_be_written(fixture: &ViewFixture) {
    let attempts = [
        "echo x > \"$OUT/x\"",
        "echo x >> \"$OUT/canary\"",
        "echo x > ../outside/x",
        "chmod 600 \"$OUT/canary\"",
        "touch \"$OUT/canary\"",
        "ln -s \"$OUT/canary\" l; echo x > l",
        "ln \"$OUT/canary\" h && echo x >> h",
        "for p in /proc/[0-9]*; do echo x > \"$p/root$OUT/x\"; (cd \"$p/cwd\" && echo x > ../outside/x); done",
        "mount -o remount,rw / ; mount -o remount,rw,bind / ; umount -l /proc; umount -l .",
        "unshare -Urm sh -c 'mount -o remount,rw,bind /; echo x > \"$OUT/x\"'",
        "rm -rf \"$HOME\"; echo x > \"$HOME/.bashrc\"",
    ];
    let script = attempts.map(|attempt| format!("({attempt}) 2>/dev/null")).join("; ");
    let before = fs::metadata(fixture.path("outside/canary")).expect("is there").permissions();
    assert_eq!(succeeds(fixture.run(&format!("{script}; echo ran"))), "ran\n");
    assert_eq!(fixture.read("outside/canary"), "canary\n");
    assert_eq!(fs::metadata(fixture.path("outside/canary")).expect("is there").permissions(), before);
    assert_eq!(entries(&fixture.path("outside")), ["canary"]);
    assert_eq!(entries(&fixture.path("home")), Vec::<String>::new());
    assert_eq!(fixture.read("tree/b"), "b\n");
}

fn entries(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).expect("is there").flatten();
    let mut names: Vec<String> = entries.map(|entry| entry.file_name().to_string_lossy().into()).collect();
    names.sort();
    names
}

fn the_end_of_the_command_is_reported(fixture: &ViewFixture) {
    let (output, report) = fixture.run("exit 7");
    assert_eq!((output.status.code(), report.end), (Some(7), Some(CommandEnd::Exited(7))));
    let (output, report) = fixture.run("kill -KILL $$");
    assert_eq!(report.end, Some(CommandEnd::Signaled(9)));
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&output.status), Some(9));
    // A pid 1 that ended at the first dead child would miss the command.
    let seen = succeeds(fixture.run("(sh -c 'exit 3' &) ; wait; sh -c 'exit 4'; echo end"));
    assert_eq!(seen, "end\n");
}

fn a_daemon_ends_with_the_view(fixture: &ViewFixture) {
    // The daemon holds a lock file of the layer open; when the view has ended nobody does.
    succeeds(fixture.run(
        "setsid sh -c 'exec 8>held; flock 8; : > locked; exec sleep 1000' & until test -e locked; do :; done",
    ));
    let held = fixture.path("upper/held");
    let status =
        Command::new("flock").arg("--nonblock").arg(held).arg("true").status().expect("flock starts");
    assert!(status.success(), "a process of the view is left");
}

fn no_descriptor_is_inherited(fixture: &ViewFixture) {
    let before = "exec 5<\"$OUT\"; exec 7>>\"$OUT/canary\"";
    let script = "echo x >&7; echo x > /proc/self/fd/5/x; ls /proc/self/fd | wc -l";
    let seen = succeeds(fixture.run_plan(
        &fixture.plan(),
        before,
        &["sh", "-c", &format!("({script}) 2>/dev/null")],
    ));
    // The standard streams, and the directory that `ls` reads.
    assert_eq!(seen.trim(), "4");
    assert_eq!(fixture.read("outside/canary"), "canary\n");
    assert_eq!(entries(&fixture.path("outside")), ["canary"]);
}

fn standard_input_cannot_be_written(fixture: &ViewFixture) {
    let before = "exec 0<>\"$OUT/canary\"";
    let script = "cat; (echo x >&0) 2>/dev/null; echo ran";
    assert_eq!(succeeds(fixture.run_plan(&fixture.plan(), before, &["sh", "-c", script])), "canary\nran\n");
    assert_eq!(fixture.read("outside/canary"), "canary\n");
}

fn nobody_has_capabilities(fixture: &ViewFixture) {
    let seen = succeeds(fixture.run("grep -E '^(Cap(Prm|Eff|Bnd|Amb)|NoNewPrivs)' /proc/self/status"));
    let values: Vec<&str> = seen.split_whitespace().filter(|word| !word.ends_with(':')).collect();
    let (last, sets) = values.split_last().expect("values");
    assert_eq!(*last, "1", "{seen}");
    assert_eq!(sets.len(), 4, "{seen}");
    assert!(sets.iter().all(|set| set.trim_matches('0').is_empty()), "{seen}");
}

fn listening_sockets_are_masked(fixture: &ViewFixture) {
    let path = fixture.path("outside/service");
    let listener = std::os::unix::net::UnixListener::bind(&path).expect("binds");
    let (output, report) = fixture.run("test -S \"$OUT/service\"");
    assert!(report.n_masked_sockets > 0, "{output:?} {report:?}");
    assert_eq!(report.end, Some(CommandEnd::Exited(1)), "the socket is visible: {output:?}");
    drop(listener);
}

fn hidden_and_writable_places(fixture: &ViewFixture) {
    fs::create_dir_all(fixture.path("home/agent/hooks")).expect("creates");
    fs::create_dir_all(fixture.path("home/.ssh")).expect("creates");
    fs::write(fixture.path("home/.ssh/key"), "secret").expect("writes");
    fs::write(fixture.path("home/token"), "secret").expect("writes");
    let plan = ViewPlan {
        writable: vec![fixture.path("home/agent").into()],
        read_only: vec![fixture.path("home/agent/hooks").into()],
        hidden: vec![fixture.path("home/.ssh").into(), fixture.path("home/token").into()],
        ..fixture.plan()
    };
    let script =
        "cat ~/.ssh/key ~/token; echo kept > ~/agent/log; echo x > ~/agent/hooks/h; ls -A ~/.ssh; echo ran";
    let seen = succeeds(fixture.run_plan(&plan, "", &["sh", "-c", script]));
    assert_eq!(seen, "ran\n");
    assert_eq!(fixture.read("home/agent/log"), "kept\n");
    assert_eq!(entries(&fixture.path("home/agent/hooks")), Vec::<String>::new());
}

fn a_cache_is_thrown_away(fixture: &ViewFixture) {
    fs::create_dir_all(fixture.path("home/cache/old")).expect("creates");
    fs::write(fixture.path("home/cache/old/file"), "kept").expect("writes");
    fs::create_dir_all(fixture.path("layers")).expect("creates");
    fixture.give_away();
    let plan = ViewPlan {
        scratch: ScratchOverlays {
            targets: vec![fixture.path("home/cache").into()],
            place: fixture.path("layers").into(),
        },
        hidden: vec![fixture.path("layers").into()],
        ..fixture.plan()
    };
    // A directory that is made again hides what was below it, for which the layer needs attributes.
    let script = "set -e; cat ~/cache/old/file; rm -r ~/cache/old; mkdir ~/cache/old; echo x > ~/cache/old/new; \
                  mv ~/cache/old ~/cache/other; ls ~/cache ~/cache/other; ls -A $(dirname \"$OUT\")/layers";
    let seen = succeeds(fixture.run_plan(&plan, "", &["sh", "-c", script]));
    let home = fixture.path("home");
    let home = home.display();
    assert_eq!(seen, format!("kept{home}/cache:\nother\n\n{home}/cache/other:\nnew\n"));
    assert_eq!(fixture.read("home/cache/old/file"), "kept");
    assert_eq!(entries(&fixture.path("home/cache")), ["old"]);
}

fn nothing_starts_in_a_view_that_is_open(fixture: &ViewFixture) {
    let open = fixture.path("home");
    let plan = ViewPlan { writable: vec![open.clone().into()], outside: vec![open.into()], ..fixture.plan() };
    let (output, report) = fixture.run_plan(&plan, "", &["sh", "-c", "echo ran > \"$HOME/ran\""]);
    assert!(report.failure.is_some_and(|it| it.step.contains("outside")), "{output:?}");
    assert!(!fixture.path("home/ran").exists(), "{output:?}");
}

fn the_network_can_be_off(fixture: &ViewFixture) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("binds");
    let port = listener.local_addr().expect("an address").port();
    let plan = ViewPlan { network: NetworkAccess::Off, ..fixture.plan() };
    let script = format!(
        "(exec 3<>/dev/tcp/127.0.0.1/{port}) 2>/dev/null && exit 1; cat /sys/class/net/lo/operstate; \
                          ls /proc/net/dev >/dev/null; grep -c : /proc/net/dev"
    );
    let seen = succeeds(fixture.run_plan(&plan, "", &["bash", "-c", &script]));
    assert!(seen.ends_with("1\n"), "more than the loopback device: {seen}");
}

fn git_works_inside(fixture: &ViewFixture) {
    let script = "set -e; git init -q; git config user.name a; git config user.email a@b; git add .; \
                  git commit -qm one; echo 2 > b; git stash -q; git stash pop -q; git mv src moved || true; git gc -q; git log --oneline | wc -l";
    assert_eq!(succeeds(fixture.run(script)).trim(), "1");
    assert!(!fixture.path("tree/.git").exists());
}

/// Flushing every copied file, and the whole disk at the end, is what a layer that nobody needs would cost most.
fn nothing_is_flushed_for_a_layer(fixture: &ViewFixture) {
    let tree = fixture.path("tree");
    for round in 0..2 {
        let mounts = succeeds(fixture.run(&format!("echo {round} > b; cat /proc/self/mountinfo")));
        let own = mounts.lines().find(|line| line.split(' ').nth(4) == tree.to_str()).expect("a mount");
        assert!(own.contains("volatile"), "round {round}: {own}");
    }
    assert_eq!(fixture.read("upper/b"), "1\n");
}

fn a_middle_layer_is_seen_and_not_changed(fixture: &ViewFixture) {
    succeeds(fixture.run("echo agent > src/a; rm b"));
    for directory in ["gate-upper", "gate-work"] {
        fs::create_dir(fixture.path(directory)).expect("creates");
    }
    let mut plan = fixture.plan();
    plan.overlays[0].below =
        Some(LayerBelow { upper: fixture.path("upper").into(), work: fixture.path("work").into() });
    plan.overlays[0].upper = fixture.path("gate-upper").into();
    plan.overlays[0].work = fixture.path("gate-work").into();
    let seen = succeeds(fixture.run_plan(&plan, "", &["sh", "-c", "cat src/a; ls; echo gate > src/a"]));
    assert_eq!(seen, "agent\nsrc\n");
    assert_eq!(
        (fixture.read("upper/src/a").as_str(), fixture.read("gate-upper/src/a").as_str()),
        ("agent\n", "gate\n")
    );
}

fn a_command_that_cannot_start_is_told(fixture: &ViewFixture) {
    let (output, report) = fixture.run_plan(&fixture.plan(), "", &["/not/there"]);
    assert_eq!(output.status.code(), Some(125));
    let failure = report.failure.expect("a failure").to_string();
    assert!(failure.starts_with("cannot start /not/there: "), "{failure}");
}
