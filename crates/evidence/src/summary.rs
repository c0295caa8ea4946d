//! Renders a run as a Markdown page for people. Every path appears on it, and none can pass for markup.
//!
//! The verifier renders the page again and compares, so its form belongs to version 1 of the manifest.

use crate::manifest_v1::GateResult;
use crate::{Amendment, Manifest, ManifestChange, ManifestDetails, ManifestFinding, RecognizedBecause};
use probity_core::bytes;
use probity_core::markup::markdown_code;
use std::fmt::Display;

pub fn render(manifest: &Manifest) -> String {
    let mut page = SummaryPage::default();
    let reasons = manifest.reasons();
    let verdict = if reasons.is_empty() { "PASS" } else { "FAIL" };
    page.line(&format!("# {verdict}: run {}", code(manifest.run_id.as_bytes())));
    page.section(
        "Why it failed",
        reasons
            .iter()
            .map(|reason| format!("`{reason}`: {}. Next: {}.", reason.meaning(), reason.next_step())),
    );
    page.section("Facts", facts(manifest));
    let paths = |paths: &[probity_paths::RepoPath]| {
        paths.iter().map(|path| code(path.as_bytes())).collect::<Vec<_>>()
    };
    page.section("Outside the scope", paths(&manifest.untracked().unwrap_or_default()));
    page.section("Protected", manifest.details.protected.iter().map(finding));
    page.section("Unsafe", manifest.details.unsafe_entries.iter().map(finding));
    page.section("Findings", manifest.details.findings.iter().map(finding));
    page.section("Gates", manifest.gate_results.iter().map(|result| gate(manifest, result)));
    page.section(
        "Gates above the tier, not run",
        manifest.plan.skipped_gates.iter().map(|id| code(id.as_bytes())),
    );
    page.section("Scope", manifest.plan.scope.as_slice().iter().map(|glob| code(glob)));
    page.section("Amendments", manifest.amendments.iter().map(amendment));
    page.section("Changed", manifest.delta.iter().flatten().map(change));
    page.section("Changed by gates", paths(&manifest.details.gate_delta_paths));
    page.section("Build outputs, exempt", paths(&manifest.exempt_delta_paths));
    page.section("Build outputs recognized by their content", recognized(&manifest.details));
    page.section(
        "References",
        manifest.details.refs.iter().map(|it| {
            format!(
                "{}{}: {} → {}",
                code(it.name.as_bytes()),
                it.repository.as_ref().map_or_else(String::new, |at| format!(" in {}", code(at.as_bytes()))),
                code_or_none(it.before.as_ref()),
                code_or_none(it.after.as_ref())
            )
        }),
    );
    page.0
}

/// Returns whether `page` is the summary of `manifest`. What a reason means and what to do next may be said in other
/// words: they are not facts, and later versions explain better.
pub(crate) fn is_page_of(manifest: &Manifest, page: &[u8]) -> bool {
    let rendered = render(manifest);
    let Ok(page) = std::str::from_utf8(page) else { return false };
    let n_explained = manifest.reasons().len();
    let lines = |text: &'_ str| text.split('\n').map(str::to_owned).collect::<Vec<_>>();
    let (own, given) = (lines(&rendered), lines(page));
    // Title, blank, heading, blank, then one line for each reason.
    let is_explanation = |index: usize| (4..4 + n_explained).contains(&index);
    let code_of = |line: &str| line.split_once(": ").map(|(code, _)| code.to_owned());
    own.len() == given.len()
        && own.iter().zip(&given).enumerate().all(|(index, (own, given))| {
            own == given || is_explanation(index) && code_of(own).is_some() && code_of(own) == code_of(given)
        })
}

fn recognized(details: &ManifestDetails) -> Vec<String> {
    let line = |output: &crate::RecognizedOutput| {
        let because = match output.because {
            RecognizedBecause::MarkedAtStart => "marked at the start",
            RecognizedBecause::Ignored => "ignored",
            RecognizedBecause::ToolName => "the tool's own name",
        };
        format!("{}: `{}`, {because}", code(output.path.as_bytes()), output.mark.file_name())
    };
    details.recognized_outputs.iter().map(line).collect()
}

#[derive(Default)]
struct SummaryPage(String);

impl SummaryPage {
    fn line(&mut self, text: &str) {
        self.0.push_str(text);
        self.0.push('\n');
    }

    /// Writes a heading and a list, or nothing if the list is empty.
    fn section(&mut self, title: &str, items: impl IntoIterator<Item = String>) {
        for (index, item) in items.into_iter().enumerate() {
            if index == 0 {
                self.line(&format!("\n## {title}\n"));
            }
            self.line(&format!("- {item}"));
        }
    }
}

fn facts(manifest: &Manifest) -> Vec<String> {
    let details = &manifest.details;
    let weakness = details.enforcement_detail.as_ref();
    let weakness = weakness.map_or_else(String::new, |detail| format!(" ({})", code(detail.as_bytes())));
    let mut facts = vec![
        format!("made at {}", code(manifest.created_at.as_bytes())),
        format!(
            "profile {}, tier {}",
            code(manifest.plan.profile.as_bytes()),
            code(manifest.plan.tier.as_bytes())
        ),
        format!("plan `{}`", manifest.plan.hash()),
        format!(
            "tree before: {}, after: {}",
            code_or_none(manifest.before_root),
            code_or_none(manifest.after_root)
        ),
        format!("enforcement: {}{weakness}", details.enforcement),
    ];
    if let Some(delta) = &manifest.delta {
        facts.push(format!("{} changed, {} exempt", delta.len(), manifest.exempt_delta_paths.len()));
    }
    if let Some(command) = &details.command {
        let argv: Vec<String> = command.argv.iter().map(|word| code(word.as_bytes())).collect();
        facts.push(format!("command {}, exit code {}", argv.join(" "), code_or_none(command.exit_code)));
    }
    for (name, budget) in &details.budgets {
        facts.push(format!(
            "budget {}: {} of {}",
            code(name.as_bytes()),
            budget.used,
            code_or_none(budget.limit)
        ));
    }
    if let Some(before) = details.amended_from {
        facts.push(format!("amends the run `{before}`"));
    }
    if let Some(of) = details.reverts {
        facts.push(format!("undoes the run `{of}`"));
    }
    if let Some(pruned) = details.pruned {
        facts.push(format!("removed {pruned} older bundles: `pruned.json` lists them"));
    }
    if let Some(tool) = &details.tool {
        facts.push(format!("written by {} {}", code(tool.name.as_bytes()), code(tool.version.as_bytes())));
    }
    facts
}

fn gate(manifest: &Manifest, result: &GateResult) -> String {
    let is_required = manifest.plan.required_gates().any(|id| id == result.gate_id);
    let required = if is_required { "required" } else { "not required" };
    format!(
        "{}: **{}** ({required}), exit code {}, {} ms",
        code(result.gate_id.as_bytes()),
        result.status,
        code_or_none(result.exit_code),
        result.duration_ms
    )
}

fn change(change: &ManifestChange) -> String {
    format!("{} {}", change.change, code(change.path.as_bytes()))
}

fn finding(finding: &ManifestFinding) -> String {
    let path = finding.path.as_ref().map_or_else(String::new, |path| format!(" {}", code(path.as_bytes())));
    format!("{}{path}: {}", code(finding.code.as_bytes()), code(finding.detail.as_bytes()))
}

fn amendment(amendment: &Amendment) -> String {
    let globs: Vec<String> = amendment.add.as_slice().iter().map(|glob| code(glob)).collect();
    let [by, why, at] = [&amendment.by, &amendment.why, &amendment.at].map(|text| code(text.as_bytes()));
    format!("{} by {by} at {at}: {why}", globs.join(", "))
}

fn code_or_none<T: Display>(value: Option<T>) -> String {
    value.map_or_else(|| "none".into(), |value| code(value.to_string().as_bytes()))
}

/// Formats arbitrary bytes as a code span that cannot be broken out of.
fn code(text: &[u8]) -> String {
    markdown_code(&bytes::escape(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_pass_for_markup() {
        assert_eq!(code(b"src/a.rs"), "`src/a.rs`");
        assert_eq!(code(b"a`b"), "``a`b``");
        assert_eq!(code(b"`x`"), "`` `x` ``");
        assert_eq!(code(b"a\n# heading"), "`a\\n# heading`");
        assert_eq!(code(b""), "`  `");
        assert_eq!(code(b" a "), "`  a  `");
    }
}
