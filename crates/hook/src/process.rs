//! One run of the hook as a process: arguments, deadline, failures.
//!
//! Guards that break deny (law 13). A panic, a payload that cannot be read, the end of the deadline and a termination signal
//! all refuse the call, if the event can refuse. At other events the hook stays silent, because a failure there must not
//! keep an agent from ending its turn.

use crate::answer::{HookAnswer, HookDecision, REFUSED_EXIT_CODE};
use crate::deadline;
use crate::events::on_event;
use crate::machine::FileWorld;
use crate::payload::{self, AgentDialect, HookEvent, MAX_PAYLOAD_BYTES};
use crate::sessions::CallerSession;
use probity_guard::{GuardRefusal, RUN_GUARD_VARIABLE, RefusalCode, RunGuard};
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};

/// Set by the first thread that answers.
static HAS_ANSWERED: AtomicBool = AtomicBool::new(false);
/// The arguments of the hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HookArguments {
    pub dialect: AgentDialect,
    pub event: HookEvent,
}

impl HookArguments {
    /// Reads `AGENT [EVENT]`; the event is `before` unless given.
    ///
    /// # Errors
    ///
    /// Returns a line about the argument that is wrong.
    pub fn read(mut words: impl Iterator<Item = String>) -> Result<Self, String> {
        let usage = "usage: probity hook AGENT [before|after|stop|session]";
        let agent = words.next().ok_or(usage)?;
        let dialect = agent.parse().map_err(|error| format!("{error}; {usage}"))?;
        let event = match words.next() {
            None => HookEvent::BeforeTool,
            Some(word) => word.parse().map_err(|error| format!("{error}; {usage}"))?,
        };
        match words.next() {
            None => Ok(Self { dialect, event }),
            Some(_) => Err(usage.into()),
        }
    }

    fn failure(self, why: &str) -> HookAnswer {
        let reason = format!(
            "the guard failed ({why}); the call is refused. Run `probity doctor --agent {}`",
            self.dialect
        );
        match self.event {
            HookEvent::BeforeTool => {
                let refusal = GuardRefusal::new(RefusalCode::GuardFailed, reason);
                HookDecision::Refuse(refusal.reason).render(self.dialect, self.event)
            }
            _ => HookAnswer::default(),
        }
    }
}

/// Runs the hook on standard input and output; returns the exit code.
pub fn main(words: impl Iterator<Item = String>) -> u8 {
    let arguments = match HookArguments::read(words) {
        Ok(arguments) => arguments,
        Err(usage) => {
            let answer = HookAnswer {
                stderr: format!("{usage}\n"),
                exit_code: REFUSED_EXIT_CODE,
                ..HookAnswer::default()
            };
            return answer_once(&answer).unwrap_or(REFUSED_EXIT_CODE);
        }
    };
    watch(arguments);
    // The default message of a panic would print the payload.
    std::panic::set_hook(Box::new(|_| {}));
    let answer = std::panic::catch_unwind(|| run(arguments)).unwrap_or_else(|_| arguments.failure("panic"));
    match answer_once(&answer) {
        Some(code) => code,
        // The watchdog answers and ends the process.
        None => loop {
            std::thread::park();
        },
    }
}

/// Starts the thread that refuses at the deadline or at a termination signal.
#[expect(clippy::exit, reason = "the main thread may hang; only an exit answers in time")]
fn watch(arguments: HookArguments) {
    let Ok((mut signals, sender)) = UnixStream::pair() else { return };
    for signal in [signal_hook::consts::SIGTERM, signal_hook::consts::SIGINT, signal_hook::consts::SIGHUP] {
        if let Ok(sender) = sender.try_clone() {
            let _ = signal_hook::low_level::pipe::register(signal, sender);
        }
    }
    let work = move || {
        // Held so that the stream stays open while nothing is sent.
        let _sender = sender;
        let is_ended = deadline::wait(arguments.event != HookEvent::BeforeTool, |time| {
            let _ = signals.set_read_timeout(Some(time));
            signals.read(&mut [0_u8]).is_ok()
        });
        let why = if is_ended { "it was told to end" } else { "it took too long" };
        if let Some(code) = answer_once(&arguments.failure(why)) {
            std::process::exit(i32::from(code));
        }
    };
    let _ = std::thread::Builder::new().stack_size(64 * 1024).spawn(work);
}

/// Escapes what would control the terminal of a reader: names in a line come from agents and trees.
fn harmless(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        if character != '\n' && probity_core::bytes::is_deceptive(character) {
            shown.extend(character.escape_default());
        } else {
            shown.push(character);
        }
    }
    shown
}

/// Prints an answer unless another thread has answered; returns the exit code.
fn answer_once(answer: &HookAnswer) -> Option<u8> {
    if HAS_ANSWERED.swap(true, Ordering::SeqCst) {
        return None;
    }
    let printed =
        std::io::stdout().write_all(answer.stdout.as_bytes()).and_then(|()| std::io::stdout().flush());
    let _ = std::io::stderr().write_all(harmless(&answer.stderr).as_bytes());
    // A line for the model that cannot be printed is lost; a refusal still holds by its exit code.
    let _ = printed;
    Some(answer.exit_code)
}

fn run(arguments: HookArguments) -> HookAnswer {
    let mut bytes = Vec::new();
    let limit = MAX_PAYLOAD_BYTES as u64 + 1;
    match std::io::stdin().lock().take(limit).read_to_end(&mut bytes) {
        Ok(_) => answer(arguments, &bytes),
        Err(_) => arguments.failure("its input cannot be read"),
    }
}

/// Decides about one payload.
pub fn answer(arguments: HookArguments, bytes: &[u8]) -> HookAnswer {
    let HookArguments { dialect, event } = arguments;
    let payload = match payload::parse(dialect, event, bytes) {
        Ok(payload) => payload,
        Err(why) => return arguments.failure(&why),
    };
    let own_cwd = || std::env::current_dir().ok().and_then(|dir| dir.to_str().map(str::to_owned));
    let cwd = Some(payload.cwd.clone()).filter(|cwd| cwd.starts_with('/')).or_else(own_cwd);
    let Some(cwd) = cwd else { return arguments.failure("the working directory is not known") };
    let home = std::env::var("HOME").unwrap_or_default();
    let caller = CallerSession {
        agent: dialect.as_str().to_owned(),
        session: payload.session.clone(),
        subagent: payload.subagent.clone(),
    };
    let world = FileWorld::new(home, cwd, caller);
    let world = match std::env::var(RUN_GUARD_VARIABLE).map(|text| RunGuard::parse(&text)) {
        Ok(Ok(run)) => world.in_run(run),
        Ok(Err(why)) => return arguments.failure(&format!("{RUN_GUARD_VARIABLE} cannot be read: {why}")),
        Err(_) => world,
    };
    on_event(dialect, event, &payload, &world).render(dialect, event)
}
