//! What an editor shows for a file: the decision about a write to it, as a diagnostic.

use crate::messages::{Diagnostic, DiagnosticSeverity};
use probity_guard::shell::WriteKind;
use probity_guard::{
    GuardRefusal, GuardVerdict, GuardWorld, PathWrite, RefusalCode, ToolCallEffects, decide,
};
use probity_hook::machine::FileWorld;
use probity_hook::sessions::CallerSession;

/// Returns the marks of a file, and the state directory that they follow from.
pub(crate) fn file_diagnostics(
    path: &str,
    home: &str,
    cwd: Option<&str>,
) -> (Vec<Diagnostic>, Option<String>) {
    // An editor has no session of its own: the one who types is the person at this machine.
    let caller = CallerSession { agent: "editor".into(), ..CallerSession::default() };
    let world = FileWorld::new(home.to_owned(), cwd.unwrap_or("/").to_owned(), caller);
    let state_dir = world.tree_of(path).map(|tree| tree.state_dir.clone());
    let write = PathWrite { path: path.to_owned(), kind: WriteKind::Entry };
    let effects = ToolCallEffects { writes: vec![write], ..ToolCallEffects::default() };
    let marks = match decide(&effects, &world) {
        GuardVerdict::Refuse(refusal) => diagnostic(&refusal).into_iter().collect(),
        GuardVerdict::Pass | GuardVerdict::Declare { .. } => Vec::new(),
    };
    (marks, state_dir)
}

/// A person may edit without a declaration and may edit configuration; what concerns a declared change is marked.
fn diagnostic(refusal: &GuardRefusal) -> Option<Diagnostic> {
    let severity = match refusal.code {
        RefusalCode::OutOfScope | RefusalCode::HeldByOther | RefusalCode::Queued | RefusalCode::Forbidden => {
            DiagnosticSeverity::Warning
        }
        RefusalCode::GuardDamaged => DiagnosticSeverity::Information,
        RefusalCode::NoIntent
        | RefusalCode::Guarded
        | RefusalCode::NotUnderstood
        | RefusalCode::BareInterpreter
        | RefusalCode::GuardFailed => return None,
    };
    Some(Diagnostic::of_file(severity, refusal.code.as_str(), message(refusal)))
}

/// What happened, as an agent is told it, and a step that a person can take. The rest of an agent's line names tools.
fn message(refusal: &GuardRefusal) -> String {
    let reason = refusal.reason.trim_start_matches("probity: ");
    let fact = reason.split_once("; ").map_or(reason, |(fact, _)| fact);
    let step = match refusal.code {
        RefusalCode::OutOfScope => "`probity amend` adds it",
        RefusalCode::Queued => "`probity intent promote` when it is your turn",
        RefusalCode::GuardDamaged => "run `probity doctor`",
        _ => "`probity status` shows who holds what",
    };
    format!("{fact}; {step}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_person_is_told_the_fact_and_a_command() {
        let refusal = GuardRefusal::new(
            RefusalCode::OutOfScope,
            "src/b.py is outside intent 01a1; call manage_change_intent with action \"amend\"",
        );
        assert_eq!(message(&refusal), "src/b.py is outside intent 01a1; `probity amend` adds it");
        let held = GuardRefusal::new(
            RefusalCode::HeldByOther,
            "a.py is held by ben (intent 01a1) for at most 9 min; wait, or queue",
        );
        assert!(
            message(&held)
                .starts_with("a.py is held by ben (intent 01a1) for at most 9 min; `probity status`")
        );
    }
}
