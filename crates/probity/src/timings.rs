//! `--timings`: collects the steps of a command and the counts of its work.
//!
//! Steps are the spans of the diagnostic log. Counts are its events with the target `probity::work`: each member of such
//! an event is the name of a count and what to add to it.

use crate::ui;
use probity_api::Answer as _;
use probity_api::work::{WorkReport, WorkStep};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id};
use tracing::{Event, Subscriber};
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::{Context, Layer};
use tracing_subscriber::registry::LookupSpan;

/// The target of events that count work.
pub(crate) const WORK_TARGET: &str = "probity::work";

/// The cost of this command so far.
#[derive(Debug, Clone, Default)]
pub(crate) struct WorkMeter {
    report: Arc<Mutex<WorkReport>>,
}

/// A span that is open.
struct OpenStep {
    place: usize,
    began: Instant,
}

impl WorkMeter {
    fn report(&self) -> MutexGuard<'_, WorkReport> {
        self.report.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns what the meter has to see.
    pub(crate) fn filter() -> Targets {
        Targets::new().with_target("probity", LevelFilter::INFO).with_target(WORK_TARGET, LevelFilter::TRACE)
    }

    /// Prints the cost to standard error: a document for programs, a table for people.
    pub(crate) fn show(&self, json: bool) {
        let report = self.report().clone();
        if json {
            ui::eprint_json(&report.to_document());
            return;
        }
        for WorkStep { name, depth, microseconds } in &report.steps {
            let indented = format!("{:indent$}{name}", "", indent = 2 * depth);
            let (whole, rest) = (microseconds / 1000, microseconds % 1000 / 10);
            ui::eprint(format_args!("{whole:>7}.{rest:02} ms  {indented}"));
        }
        for (words, count) in report.counts.in_words() {
            ui::eprint(format_args!("{count:>13}  {words}"));
        }
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for WorkMeter {
    fn on_new_span(&self, _: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        let depth = span.scope().skip(1).count();
        let mut report = self.report();
        let place = report.steps.len();
        report.steps.push(WorkStep { name: span.name().to_owned(), depth, microseconds: 0 });
        span.extensions_mut().insert(OpenStep { place, began: Instant::now() });
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        let Some(span) = context.span(&id) else { return };
        if let Some(OpenStep { place, began }) = span.extensions().get() {
            let passed = u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX);
            self.report().steps[*place].microseconds = passed;
        }
    }

    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        if event.metadata().target() == WORK_TARGET {
            event.record(&mut CountVisitor { report: &mut self.report() });
        }
    }
}

struct CountVisitor<'a> {
    report: &'a mut WorkReport,
}

impl Visit for CountVisitor<'_> {
    fn record_u64(&mut self, field: &Field, value: u64) {
        let is_known = self.report.counts.add(field.name(), value);
        debug_assert!(is_known, "{} is no count", field.name());
    }

    fn record_debug(&mut self, _: &Field, _: &dyn std::fmt::Debug) {}
}
