//! `cargo xtask demo`: Probity governs two example agents on a small project, as a newcomer would see it.
//!
//! Nothing is staged: the project is copied into a fresh git repository, the agents are shell scripts, and the output
//! is what the commands print.

use crate::{ChoreResult, build, root};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

pub fn demo() -> ChoreResult {
    let binary = build("dev")?;
    play_steps(&binary, &mut |text| print!("{text}"), DemoOutput::Inherit)
}

/// Plays the demo and returns its output without color.
pub fn transcript(binary: &Path) -> Result<String, String> {
    let mut seen = String::new();
    play_steps(binary, &mut |text| seen.push_str(text), DemoOutput::Capture)?;
    // The temporary directory differs from run to run.
    Ok(seen.replace(&demo_directory().display().to_string(), SHOWN_PLACE))
}

/// Shown in the README instead of the demo's directory.
const SHOWN_PLACE: &str = "/home/you";

#[derive(Clone, Copy, PartialEq, Eq)]
enum DemoOutput {
    Inherit,
    Capture,
}

/// One command of the demo and its expected exit code.
struct DemoStep {
    says: &'static str,
    command: &'static str,
    exit_code: i32,
}

const FIRST_STEPS: [DemoStep; 3] = [
    DemoStep {
        says: "An agent is asked to fix the login. It may touch src/auth, nothing else.",
        command: "probity run --scope 'src/auth/**' -- sh ../careful-agent.sh",
        exit_code: 0,
    },
    DemoStep {
        says: "A second program run checks the evidence. It trusts nothing in the bundle.",
        command: "probity evidence verify last",
        exit_code: 0,
    },
    DemoStep {
        says: "Another agent says that it did the same. The tree says otherwise.",
        command: "probity run --scope 'src/auth/**' -- sh ../eager-agent.sh",
        exit_code: 1,
    },
];

/// What follows where the agents work in private views.
const STEPS_IN_A_VIEW: &[DemoStep] = &[
    DemoStep { says: "Nothing of that reached the project.", command: "git diff --stat", exit_code: 0 },
    DemoStep {
        says: "Land the part that was asked for; the rest stays held.",
        command: "probity land last --in-scope",
        exit_code: 0,
    },
    DemoStep { says: "Drop the rest.", command: "probity discard last", exit_code: 0 },
];

/// What follows where changes are only found afterwards.
const STEPS_AFTERWARDS: &[DemoStep] =
    &[DemoStep { says: "Undo only what was out of scope.", command: "probity revert last", exit_code: 0 }];

fn play_steps(binary: &Path, show: &mut dyn FnMut(&str), stream: DemoOutput) -> ChoreResult {
    let place = demo_directory();
    let result = prepare(&place).and_then(|()| {
        let has_views = has_views(binary, &place)?;
        let rest = if has_views { STEPS_IN_A_VIEW } else { STEPS_AFTERWARDS };
        for step in FIRST_STEPS.iter().chain(rest) {
            // Without views the kernel may refuse what the eager agent writes (Landlock), and there would be nothing to find.
            let plain = if has_views { "probity run" } else { "probity run --enforce observe" };
            let command = step.command.replacen("probity run", plain, 1);
            show(&format!("\n# {}\n$ {command}\n", step.says));
            let (output, exit_code) = run(binary, &place.join("shop"), &command, stream)?;
            show(&output);
            if exit_code != Some(step.exit_code) {
                return Err(format!("`{command}` ended with {exit_code:?}, not {}", step.exit_code));
            }
        }
        Ok(())
    });
    let _ = fs::remove_dir_all(&place);
    result
}

/// Returns the place of the demo: not the directory for temporary files, which is private in a view, so that the agents
/// beside the project would not be found.
fn demo_directory() -> PathBuf {
    let target = crate::target();
    target.canonicalize().unwrap_or(target).join(format!("demo-{}", std::process::id()))
}

/// Returns whether commands can have a private view here.
fn has_views(binary: &Path, place: &Path) -> Result<bool, String> {
    let probe = "probity run --enforce overlay --scope 'src/auth/**' -- true";
    let shop = place.join("shop");
    let (_, exit_code) = run(binary, &shop, probe, DemoOutput::Capture)?;
    // The probe leaves evidence; the demo begins without any.
    let _ = fs::remove_dir_all(shop.join(".git/probity"));
    Ok(exit_code == Some(0))
}

/// Creates a git repository with the example project, and the two agents beside it.
fn prepare(place: &Path) -> ChoreResult {
    let shop = place.join("shop");
    copy(&root().join("examples"), place).map_err(|error| format!("copying the example: {error}"))?;
    let git: [&[&str]; 3] = [
        &["init", "--quiet", "--initial-branch=main"],
        &["add", "."],
        &["-c", "user.name=demo", "-c", "user.email=demo@example.org", "commit", "--quiet", "-m", "The shop"],
    ];
    for arguments in git {
        let status = Command::new("git").args(arguments).current_dir(&shop).status();
        if !status.is_ok_and(|status| status.success()) {
            return Err(format!("git {} failed in {}", arguments.join(" "), shop.display()));
        }
    }
    Ok(())
}

fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

/// Runs one line of the demo in a shell, so that the README shows exactly what a user would type.
fn run(binary: &Path, dir: &Path, line: &str, stream: DemoOutput) -> Result<(String, Option<i32>), String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let directory = binary.parent().unwrap_or(Path::new("."));
    let path = [directory.as_os_str(), OsStr::new(":"), &path].into_iter().collect::<std::ffi::OsString>();
    let mut command = Command::new("sh");
    command.current_dir(dir).env("PATH", path).env_remove("PROBITY_ENFORCE").stdin(Stdio::null());
    if stream == DemoOutput::Inherit {
        let status = command.arg("-c").arg(line).status().map_err(|error| error.to_string())?;
        return Ok((String::new(), status.code()));
    }
    // One pipe for both streams keeps their lines in order.
    let output = command.arg("-c").arg(format!("{{ {line}; }} 2>&1")).env("NO_COLOR", "1").output();
    let output = output.map_err(|error| error.to_string())?;
    Ok((String::from_utf8_lossy(&output.stdout).into_owned(), output.status.code()))
}
