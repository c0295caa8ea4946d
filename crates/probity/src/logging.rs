//! The diagnostic log: steps of a command, calls of git, waiting for locks.
//!
//! It goes to stderr only. No answer, verdict or stored file depends on it, and without `-v` or `PROBITY_LOG` no
//! subscriber is installed.

use crate::terminal_text::TerminalText;
use crate::timings::WorkMeter;
use crate::{progress, ui};
use std::io::{self, Write};
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::fmt::format::FmtSpan;
use tracing_subscriber::fmt::time::uptime;
use tracing_subscriber::layer::{Layer as _, SubscriberExt as _};
use tracing_subscriber::util::SubscriberInitExt as _;

/// Environment variable with the filter: a level, or comma-separated `target=level` pairs.
const FILTER_VARIABLE: &str = "PROBITY_LOG";

/// Prefix of the targets of every crate in this workspace.
const OWN_TARGETS: &str = "probity";

/// Installs the log that the command line or else the environment asks for, and the meter of `--timings`.
pub(crate) fn install(verbosity: u8, meter: Option<WorkMeter>) {
    let filter = from_verbosity(verbosity).or_else(from_environment);
    if filter.is_none() && meter.is_none() {
        return;
    }
    let lines = filter.map(|filter| {
        let lines = tracing_subscriber::fmt::layer()
            .with_writer(|| LogWriter)
            .with_timer(uptime())
            .with_target(false)
            .with_ansi(false)
            // Logging the start too shows a step that never ends.
            .with_span_events(FmtSpan::NEW | FmtSpan::CLOSE);
        lines.with_filter(filter)
    });
    let meter = meter.map(|meter| meter.with_filter(WorkMeter::filter()));
    tracing_subscriber::registry().with(lines).with(meter).init();
}

fn from_verbosity(verbosity: u8) -> Option<Targets> {
    let level = match verbosity {
        0 => return None,
        1 => LevelFilter::INFO,
        2 => LevelFilter::DEBUG,
        _ => LevelFilter::TRACE,
    };
    Some(own(level))
}

fn from_environment() -> Option<Targets> {
    let text = std::env::var_os(FILTER_VARIABLE).filter(|text| !text.is_empty())?;
    let filter = parse(&text.to_string_lossy());
    if filter.is_none() {
        ui::eprint(format_args!(
            "{}: {FILTER_VARIABLE} is no filter; write a level as `info` or `debug`, or `probity_storage=debug`",
            ui::warn("warning")
        ));
    }
    filter
}

/// Parses a filter. A level alone applies to our own crates; logs of libraries must be requested by name.
fn parse(text: &str) -> Option<Targets> {
    match text.parse::<LevelFilter>() {
        Ok(level) => Some(own(level)),
        Err(_) if text.contains('=') => text.parse().ok(),
        Err(_) => None,
    }
}

fn own(level: LevelFilter) -> Targets {
    Targets::new().with_target(OWN_TARGETS, level)
}

/// Writes events to stderr after clearing the progress line; each arrives as a whole.
struct LogWriter;

impl Write for LogWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(bytes);
        let line = TerminalText::of_line(text.trim_end_matches('\n'), 4);
        progress::write_undisturbed(|| writeln!(io::stderr(), "{line}"))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracing::Level;

    #[test]
    fn a_level_alone_is_about_our_own_crates() {
        let filter = parse("debug").expect("a filter");
        assert!(filter.would_enable("probity_storage::lock", &Level::DEBUG));
        assert!(!filter.would_enable("probity_storage::lock", &Level::TRACE));
        assert!(!filter.would_enable("rmcp::service", &Level::ERROR));
        let filter = parse("probity_storage=trace,rmcp=warn").expect("a filter");
        assert!(filter.would_enable("rmcp::service", &Level::WARN));
        assert!(!filter.would_enable("probity_runner", &Level::ERROR));
        assert!(parse("loud").is_none() && parse("probity=loud").is_none());
    }

    #[test]
    fn each_v_shows_more() {
        let shows = |verbosity, level: &Level| {
            from_verbosity(verbosity).is_some_and(|filter| filter.would_enable("probity_runner", level))
        };
        assert!(!shows(0, &Level::ERROR));
        assert!(shows(1, &Level::INFO) && !shows(1, &Level::DEBUG));
        assert!(shows(2, &Level::DEBUG) && shows(9, &Level::TRACE));
    }
}
