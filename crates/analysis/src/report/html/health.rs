//! The head of the page: the dial, the dimensions, the languages, and what changed.

use super::{Section, esc, grade_class, path_html, table, words};
use crate::compare::{Comparison, Incomparable, Verdict};
use crate::health::{Dimension, DimensionScore};
use crate::run::Run;
use std::collections::BTreeMap;

const SHOWN: usize = 50;

pub(super) fn section(run: &Run, against: Option<&Comparison>) -> Section {
    let delta = against.and_then(|comparison| comparison.health_delta_milli);
    let dimensions: String = run.health.dimensions.iter().copied().map(dimension).collect();
    let body = format!(
        "<div class=\"top\">\n{}<div class=\"dimensions\">\n{dimensions}</div>\n</div>\n{}",
        dial(run, delta),
        languages(run)
    );
    Section { id: "health", title: "Health", lead: String::new(), body }
}

fn dial(run: &Run, delta: Option<i32>) -> String {
    let (Some(score), Some(grade)) = (run.health.score(), run.health.grade()) else {
        return format!("<p class=\"lead\">{}</p>\n", esc(&words::health(run)));
    };
    let class = grade_class(run.health.score_milli);
    let delta = delta.map_or(String::new(), |delta| {
        let class = if delta < 0 { "worse" } else { "better" };
        format!("<text x=\"60\" y=\"94\" class=\"delta {class}\">{}</text>", words::signed_milli(delta))
    });
    format!(
        "<svg class=\"dial grade-{class}\" viewBox=\"0 0 120 120\" role=\"img\" aria-label=\"Health {score} of 100, grade {grade}\">\
         <circle class=\"track\" cx=\"60\" cy=\"60\" r=\"52\"/>\
         <circle class=\"value\" cx=\"60\" cy=\"60\" r=\"52\" pathLength=\"100\" stroke-dasharray=\"{score} 100\" transform=\"rotate(-90 60 60)\"/>\
         <text x=\"60\" y=\"62\" class=\"score\">{score}</text><text x=\"60\" y=\"79\" class=\"grade\">grade {grade}</text>{delta}</svg>\n",
    )
}

fn dimension(part: DimensionScore) -> String {
    format!(
        "<div class=\"dimension\"><b>{}</b><span class=\"says\">{}</span>\
         <svg class=\"bar grade-{}\" viewBox=\"0 0 100 4\" preserveAspectRatio=\"none\" aria-hidden=\"true\">\
         <rect class=\"track\" width=\"100\" height=\"4\"/><rect class=\"value\" width=\"{}\" height=\"4\"/></svg>\
         <span class=\"n\">{}</span><span class=\"weight\">{} % of the whole</span></div>\n",
        words::dimension(part.dimension),
        meaning(part.dimension),
        grade_class(part.score_milli),
        words::milli(part.score_milli),
        words::milli(part.score_milli),
        part.dimension.weight(),
    )
}

const fn meaning(dimension: Dimension) -> &'static str {
    match dimension {
        Dimension::Duplication => "code that repeats other code",
        Dimension::Complexity => "functions that are hard to follow",
        Dimension::Structure => "long or deep functions, split classes",
        Dimension::Dependencies => "cycles, missing files, wide coupling",
        Dimension::DeadCode => "code that nothing uses",
        Dimension::Readability => "places that do not parse",
    }
}

fn languages(run: &Run) -> String {
    let mut sizes: BTreeMap<&str, (usize, u64)> = BTreeMap::new();
    for file in run.files.iter().filter(|file| file.is_analysed()) {
        let size = sizes.entry(file.language.map_or("", crate::Language::name)).or_default();
        *size = (size.0 + 1, size.1 + u64::from(file.n_lines));
    }
    let mut sizes: Vec<_> = sizes.into_iter().collect();
    sizes.sort_by_key(|(name, (_, n_lines))| (u64::MAX - n_lines, *name));
    let items = sizes
        .iter()
        .map(|(name, (n_files, n_lines))| {
            format!(
                "<li><b>{}</b> {} lines in {}</li>",
                esc(name),
                words::number(*n_lines),
                words::counted(*n_files, "file")
            )
        })
        .collect::<Vec<_>>()
        .concat();
    format!("<ul class=\"languages\">{items}</ul>\n")
}

/// What changed since the other run.
pub(super) fn changes(against: Option<&Comparison>) -> Option<Section> {
    let comparison = against?;
    let (id, title) = ("changes", "Changes");
    if comparison.verdict == Verdict::Incomparable {
        let why: Vec<&str> = comparison.incomparable_because.iter().map(|why| because(*why)).collect();
        let lead = format!("The two runs do not compare: {}.", why.join(", "));
        return Some(Section { id, title, lead, body: String::new() });
    }
    let lead = format!(
        "<strong class=\"verdict {}\">{}</strong> {} new, {} gone, {} as before.",
        if matches!(comparison.verdict, Verdict::Regressed | Verdict::Mixed) { "worse" } else { "better" },
        verdict(comparison.verdict),
        words::counted(comparison.regressions.len(), "finding"),
        words::number(comparison.improvements.len() as u64),
        words::number(u64::from(comparison.unchanged)),
    );
    Some(Section { id, title, lead, body: worsened(comparison) + &breaks(comparison) })
}

const fn because(why: Incomparable) -> &'static str {
    match why {
        Incomparable::DifferentSettings => "they looked for different things",
        Incomparable::DifferentAnalyser => "different analysers made them",
    }
}

const fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Improved => "Improved.",
        Verdict::Regressed => "Regressed.",
        Verdict::Mixed => "Better and worse.",
        Verdict::Stable => "Stable.",
        Verdict::Incomparable => "Incomparable.",
    }
}

fn worsened(comparison: &Comparison) -> String {
    let rows = comparison
        .worsened
        .iter()
        .take(SHOWN)
        .map(|worse| {
            let metric = format!("{:?}", worse.metric).to_lowercase();
            format!(
                "<tr><td><code>{}</code></td><td><code>{}</code></td><td>{metric}</td><td class=\"n\">{}</td><td class=\"n\">{}</td></tr>\n",
                path_html(&worse.path.to_string()),
                esc(&worse.symbol),
                worse.before,
                worse.after
            )
        })
        .collect::<Vec<_>>().concat();
    if rows.is_empty() {
        return String::new();
    }
    let table = table(&["File", "Symbol", "Measure", "#Before", "#After"], &rows);
    format!("<h3>Symbols that measure worse</h3>\n{table}{}", super::more(comparison.worsened.len(), SHOWN))
}

fn breaks(comparison: &Comparison) -> String {
    let rows = comparison
        .api_breaks
        .iter()
        .take(SHOWN)
        .map(|found| {
            let path = path_html(&found.path.to_string());
            format!(
                "<tr><td><code>{path}</code></td><td><code>{}</code></td><td>{}</td></tr>\n",
                esc(&found.symbol),
                found.change.words()
            )
        })
        .collect::<Vec<_>>()
        .concat();
    if rows.is_empty() {
        return String::new();
    }
    let table = table(&["File", "Symbol", "Change"], &rows);
    format!(
        "<h3>Breaks of the public interface</h3>\n{table}{}",
        super::more(comparison.api_breaks.len(), SHOWN)
    )
}
