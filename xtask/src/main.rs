//! The chores of the project: `cargo xtask test`.

use std::process::{Command, ExitCode};

fn main() -> ExitCode {
    match std::env::args().nth(1).as_deref() {
        Some("test") => test(),
        _ => {
            eprintln!("usage: cargo xtask test");
            ExitCode::from(2)
        }
    }
}

fn test() -> ExitCode {
    let steps: [(&str, &[&str]); 3] = [
        ("formatting", &["fmt", "--all", "--check"]),
        ("lints", &["clippy", "--workspace", "--all-targets", "--quiet", "--", "-D", "warnings"]),
        ("tests", &["test", "--workspace", "--quiet"]),
    ];
    for (name, arguments) in steps {
        eprintln!("── {name}: cargo {}", arguments.join(" "));
        let passed = Command::new("cargo").args(arguments).status().is_ok_and(|status| status.success());
        if !passed {
            eprintln!("{name} failed");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}
