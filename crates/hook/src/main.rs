//! The small program that agents start as their hook: `probity-hook AGENT [EVENT]`.

fn main() -> std::process::ExitCode {
    let words = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
    probity_hook::process::main(words).into()
}
