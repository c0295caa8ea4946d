//! The log of a gate, cut into parts.

use super::{PageFrame, change_address};
use crate::review_context::ReviewContext;
use crate::untrusted_text::Untrusted;
use maud::{Markup, html};
use probity_core::ReasonCode;
use probity_runner::recorded_contents::RecordedRun;
use probity_workspace::{ServiceError, Workspace};

/// Bytes of a log on one page.
const MAX_SHOWN_BYTES: usize = 256 * 1024;

/// Reads the logs of the gate with this number from the bundle.
pub(crate) fn read_logs(
    workspace: &Workspace,
    context: &ReviewContext,
    gate: usize,
) -> Result<Vec<(String, Vec<u8>)>, ServiceError> {
    let facts = context.review.gates.get(gate).ok_or_else(|| {
        ServiceError::refused(ReasonCode::InputMissing, format!("the change has no gate number {gate}"))
    })?;
    let (run, _) = RecordedRun::open(workspace, &context.review.change)?;
    let read = |name: &String| Some((name.clone(), run.files.get(name.as_bytes())?.clone()));
    Ok(facts.logs.iter().filter_map(read).collect())
}

pub(crate) fn gate_log(
    frame: &PageFrame,
    context: &ReviewContext,
    gate: usize,
    logs: &[(String, Vec<u8>)],
    from: usize,
) -> Markup {
    let review = &context.review;
    let name = review.gates.get(gate).map(|gate| gate.id.as_str()).unwrap_or_default();
    let address = format!("{}/log/{gate}", change_address(&review.change));
    let markup = html! {
        div { p.crumb { a href="/board" { "Board" } " / " a href=(change_address(&review.change)) { (Untrusted(&review.title)) } } h1 { "Gate " (Untrusted(name)) } }
        @for (file, bytes) in logs {
            @let start = from.min(bytes.len());
            @let end = (start + MAX_SHOWN_BYTES).min(bytes.len());
            section.card {
                header { h2 { code { (Untrusted(file)) } } span.dim { (bytes.len()) " bytes" } }
                pre.log { (Untrusted(&String::from_utf8_lossy(&bytes[start..end]))) }
                @if end < bytes.len() { div.fold { a.btn.s href={ (address) "?from=" (end) } { "Next part" } } }
            }
        }
        @if logs.is_empty() { p.quiet { "The bundle has no log of this gate." } }
    };
    frame.page(&format!("Gate {name}"), markup)
}
