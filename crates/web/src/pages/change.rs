//! One change: the decision, declared against done, the facts, and the files.

use super::diff::{DiffSource, diff};
use super::fence::{fate_marks, fence};
use super::findings::findings_sum;
use super::{PageFrame, change_address, face, plus_minus, time_text};
use crate::review_context::ReviewContext;
use crate::untrusted_text::{Untrusted, glyph, path_text};
use maud::{Markup, html};
use probity_api::review::{
    ChangeReview, DecisionAction, DecisionOption, PathFate, ReviewPath, ReviewState, ReviewedKind,
};
use probity_core::ReasonCode;
use probity_core::text::{count, short_id};
use probity_evidence::{BundleCheck, ChangeKind, CheckStatus};
use probity_paths::RepoPath;
use probity_review::FileSides;
use probity_runner::bundles;
use probity_workspace::{ServiceError, Workspace};

/// Rows of files that come with the page; the other files are loaded when they come near.
const MAX_ROWS_AT_ONCE: usize = 400;
/// Files that come with the page.
const MAX_FILES_AT_ONCE: usize = 8;
/// Letters of a digest that name what was shown.
const SHOWN_PREFIX_LETTERS: usize = 16;
/// Paths in the tree beside the files.
const MAX_TREE_ROWS: usize = 1_000;

/// Returns both contents of the file with this number.
pub(crate) fn sides_of(
    workspace: &Workspace,
    context: &ReviewContext,
    file: usize,
) -> Result<FileSides, ServiceError> {
    let row = context.review.paths.get(file).ok_or_else(|| {
        ServiceError::refused(ReasonCode::PathInvalid, format!("the change has no file number {file}"))
    })?;
    if row.fate == PathFate::Exempt {
        let lost = probity_runner::recorded_contents::SideContent::Lost;
        return Ok(FileSides { before: lost.clone(), after: lost });
    }
    context.contents.sides(workspace, &row.path)
}

/// Returns the contents of the files that come with the page: outside paths first, then in order.
pub(crate) fn first_files(
    workspace: &Workspace,
    context: &ReviewContext,
) -> Result<Vec<(usize, FileSides)>, ServiceError> {
    let mut order: Vec<(usize, &ReviewPath)> = context.review.paths.iter().enumerate().collect();
    order.sort_by_key(|(index, path)| (path.fate != PathFate::Outside, *index));
    let mut n_rows = 0;
    let mut first = Vec::new();
    let is_shown = |path: &ReviewPath| path.folded.is_none() && path.fate != PathFate::Exempt;
    for (index, path) in order.into_iter().filter(|(_, path)| is_shown(path)) {
        let rows = path.lines_added + path.lines_removed;
        if first.len() >= MAX_FILES_AT_ONCE || n_rows + rows > MAX_ROWS_AT_ONCE {
            break;
        }
        n_rows += rows;
        first.push((index, &path.path));
    }
    let paths: Vec<&RepoPath> = first.iter().map(|(_, path)| *path).collect();
    let sides = context.contents.all_sides(workspace, &paths)?;
    Ok(first.iter().map(|(index, _)| *index).zip(sides).collect())
}

pub(crate) fn change(
    frame: &PageFrame,
    context: &ReviewContext,
    files: &[(usize, FileSides)],
    is_split: bool,
) -> Markup {
    let review = &context.review;
    let markup = html! {
        (head(context))
        (decision_bar(frame, review))
        div.top2 { (fence(review, context.notes())) (facts(context)) }
        (details(context))
        (work(context, files, is_split))
    };
    frame.page(&review.title, markup)
}

/// The title and who, when, from where.
pub(crate) fn head(context: &ReviewContext) -> Markup {
    let review = &context.review;
    let kind = match review.kind {
        ReviewedKind::Run => "run",
        ReviewedKind::Intent => "intent",
        ReviewedKind::Range => "range",
        ReviewedKind::Worktree => "working tree",
    };
    html! {
        div data-shown=(review.shown.to_hex()) data-change=(review.change) data-log=(context.log_size) id="change" {
            p.crumb { a href="/board" { "Board" } " / " span { (kind) @if review.kind != ReviewedKind::Worktree { " " (Untrusted(&shortened(&review.change))) } } }
            h1 { (Untrusted(&review.title)) }
            div.facts-line {
                @if let Some(agent) = &review.agent {
                    span { (face(Some(agent))) (Untrusted(agent)) @if let Some(machine) = &review.machine { " on " (Untrusted(machine)) } }
                }
                @if let Some(began) = &review.began_at {
                    span.num { (time_text(began)) @if let Some(ended) = &review.ended_at { " to " (time_text(ended)) } }
                }
                @if let Some(base) = &review.base { span { "from " code { (base.get(..8).unwrap_or(base)) } } }
                @for item in &review.decisions_cited { span { "under " code { (Untrusted(item)) } } }
                @let (added, removed) = review.lines();
                span { (count(review.paths.len(), "path")) " " (plus_minus(added, removed)) }
            }
        }
    }
}

fn shortened(change: &str) -> String {
    match change.split_once("..") {
        Some((base, head)) => format!("{}..{}", base.get(..8).unwrap_or(base), head.get(..8).unwrap_or(head)),
        None => short_id(change).to_owned(),
    }
}

/// The state in words: symbol, class, title, sentence.
fn state_words(review: &ChangeReview) -> (&'static str, &'static str, String, String) {
    let n_outside = review.n_with(PathFate::Outside);
    let reason = review.reasons.first();
    let why = reason.map_or_else(String::new, |reason| reason.meaning.clone());
    match review.state {
        ReviewState::Held if n_outside > 0 => {
            let is = if n_outside == 1 { "is" } else { "are" };
            (
                "held",
                "held",
                format!("Held: {} {is} outside the scope", count(n_outside, "path")),
                "The tree is as it was. The layer is kept until you decide.".into(),
            )
        }
        ReviewState::Held => (
            "held",
            "held",
            format!("Held: {why}"),
            "The tree is as it was. The layer is kept until you decide.".into(),
        ),
        ReviewState::Ready => (
            "ok",
            "in",
            "Passed, ready to land".into(),
            "Everything is inside the scope. The tree does not have it yet.".into(),
        ),
        ReviewState::Landed => {
            ("ok", "in", "Passed, and in the tree".into(), "Nothing waits for a decision.".into())
        }
        ReviewState::Failed => (
            "no",
            "out",
            format!("Did not pass: {why}"),
            reason.map_or_else(String::new, |reason| reason.next_step.clone()),
        ),
        ReviewState::Undone => (
            "skip",
            "mute",
            if review.kind == ReviewedKind::Intent { "Given up" } else { "Undone or dropped" }.into(),
            "The tree does not have it any more, or never had it.".into(),
        ),
        ReviewState::Editing => (
            "run",
            "in",
            "Being made".into(),
            "Its agent still works on it. The page says so when there is something newer.".into(),
        ),
        ReviewState::Queued => ("queue", "mute", "Queued".into(), "Others hold its paths.".into()),
        ReviewState::Recoverable => (
            "unk",
            "held",
            "Its owner is gone".into(),
            "The process that made the claim has ended. Take it over, or clear it.".into(),
        ),
        ReviewState::Unjudged if review.kind == ReviewedKind::Worktree => {
            let sentence = review.notes.first().cloned().unwrap_or_default();
            ("exempt", "mute", "Work in progress, not judged yet".into(), sentence)
        }
        ReviewState::Unjudged => {
            ("unk", "mute", "Nobody judged this".into(), review.notes.first().cloned().unwrap_or_default())
        }
    }
}

fn key_of(action: DecisionAction) -> Option<&'static str> {
    match action {
        DecisionAction::Land | DecisionAction::LandInScope => Some("L"),
        DecisionAction::Amend => Some("E"),
        DecisionAction::LandOnly => Some("S"),
        DecisionAction::Revert | DecisionAction::Discard => Some("R"),
        _ => None,
    }
}

fn decision_bar(frame: &PageFrame, review: &ChangeReview) -> Markup {
    let (symbol, class, title, sentence) = state_words(review);
    html! {
        section class={ "decide " (class) "-edge" } aria-label="Decide" id="decide" {
            div.say { b { (glyph(symbol, class)) (Untrusted(&title)) } span { (Untrusted(&sentence)) } }
            @for option in &review.options {
                @if frame.read_only { code.cmd { (Untrusted(&option.command)) } } @else { (option_button(review, option)) }
            }
        }
        div.notice id="newer" hidden { (glyph("stale", "held")) p { "Something newer stands since you loaded this page. A decision on what you see is refused." } a.btn href=(change_address(&review.change)) { "Load it" } }
    }
}

fn option_button(review: &ChangeReview, option: &DecisionOption) -> Markup {
    html! {
        a.btn.main[option.is_main] href={ (change_address(&review.change)) "/do/" (option.action) } data-act="dialog" data-key=[key_of(option.action)] {
            (Untrusted(&option.label)) @if let Some(key) = key_of(option.action) { " " kbd { (key) } }
        }
    }
}

fn facts(context: &ReviewContext) -> Markup {
    let review = &context.review;
    let n_passed = |status| review.checks.iter().filter(|check| check.status == status).count();
    let n_gates = review.gates.iter().filter(|gate| gate.passed).count();
    let n_false = review.claims.iter().filter(|claim| claim.holds == Some(false)).count();
    html! {
        section.card aria-labelledby="facts-h" {
            header { h2 id="facts-h" { "Verdict and facts" } }
            dl.kv {
                dt { "State" }
                dd { @let (symbol, class, _, _) = state_words(review); span class=(class) { (glyph(symbol, "")) " " b { (review.state) } }
                    @for reason in &review.reasons { small { code { (Untrusted(&reason.code)) } " " (Untrusted(&reason.meaning)) } } }
                @if !matches!(review.kind, ReviewedKind::Range | ReviewedKind::Worktree) { dt { "Enforced by" }
                dd { @match &review.enforcement { Some(level) => (Untrusted(level)), None => span.dim { "known when it ends" } } } }
                dt { "Gates" }
                dd {
                    @if review.gates.is_empty() { span.dim { "none were sealed" } }
                    @else if n_gates == review.gates.len() { span.in { (glyph("ok", "")) " " (n_gates) " of " (review.gates.len()) " passed" } }
                    @else { span.out { (glyph("no", "")) " " (n_gates) " of " (review.gates.len()) " passed" } }
                }
                dt { "Claims" }
                dd {
                    @if review.claims.is_empty() { span.dim { "none were checked" } }
                    @else if n_false > 0 { span.out { (glyph("no", "")) " " (n_false) " false" } " of " (review.claims.len()) }
                    @else { (review.claims.len()) " checked, none false" }
                }
                dt { "Findings" }
                dd id="findings-dd" { @match &context.findings {
                    Some(found) => { (findings_sum(found)) @if !found.findings.is_empty() { small { a href={ (change_address(&review.change)) "/findings" } { "all" } } } },
                    None if review.findings_known => { (review.findings.len()) " new" },
                    None if review.paths.is_empty() => span.dim { "nothing to compare" },
                    None => span.dim { "not compared yet" small { a id="compare" href={ (change_address(&review.change)) "/findings" } { "compare" } } },
                } }
                @if let Some((before, after)) = review.health.or_else(|| context.findings.as_ref()?.health) { dt { "Health" } dd.num { (before) " → " (after) } }
                dt { "Evidence" }
                dd {
                    @if review.checks.is_empty() { span.dim { "there is none yet" } } @else {
                        @let n_flaws = n_flawed(&review.checks);
                        @if n_flaws == 0 { span.in { (glyph("ok", "")) " sound: " (count(n_passed(CheckStatus::Passed), "check")) " passed" } }
                        @else { span.out { (glyph("no", "")) " not sound: " (count(n_flaws, "check")) " failed" } }
                        @let n_verdict = n_passed(CheckStatus::Failed) - n_flaws;
                        @if n_verdict > 0 { small { (count(n_verdict, "check")) " " @if n_verdict == 1 { "says" } @else { "say" } " that the run did not pass" } }
                        small { (n_passed(CheckStatus::Skipped)) " not demanded, " a href={ (change_address(&review.change)) "/evidence" } { "look" } }
                    }
                }
                @if let Some(index) = review.log_index { dt { "In the log" } dd.num { a href={ (change_address(&review.change)) "/evidence" } { "#" (index) } } }
                @for decision in &context.decisions {
                    dt { "Decided" }
                    dd { (decision.action) small { (Untrusted(&decision.by)) ", " (time_text(&decision.at)) @if let Some(why) = &decision.why { ": " q { (Untrusted(why)) } } } }
                }
            }
        }
    }
}

/// Counts the checks that failed because of the evidence itself, and not because the run did not pass.
pub(crate) fn n_flawed(checks: &[BundleCheck]) -> usize {
    let failed = checks.iter().filter(|check| check.status == CheckStatus::Failed);
    failed.filter(|check| check.codes.iter().any(|code| bundles::is_flaw(code))).count()
}

/// Gates, claims and amendments.
pub(crate) fn details(context: &ReviewContext) -> Markup {
    let review = &context.review;
    if matches!(review.kind, ReviewedKind::Range | ReviewedKind::Worktree) {
        return undeclared_notes(review);
    }
    let (_, _, _, sentence) = state_words(review);
    html! {
        div.three {
            section.card { header { h2 { "Gates" } span.dim { "sealed before the run" } }
                ul.rows {
                    @for (index, gate) in review.gates.iter().enumerate() {
                        li {
                            @if gate.passed { (glyph("ok", "in")) } @else if gate.status == "skip" { (glyph("skip", "mute")) } @else { (glyph("no", "out")) }
                            span { b { (Untrusted(&gate.id)) } " " code.dim { (Untrusted(&gate.detail)) } }
                            span.dim.num { @if let Some(ms) = gate.duration_ms { (ms / 1000) "." (ms % 1000 / 100) " s" } }
                            span.more { (Untrusted(&gate.status)) @if !gate.required { ", not required" } @if !gate.logs.is_empty() { " · " a href={ (change_address(&review.change)) "/log/" (index) } { "log" } } }
                        }
                    }
                }
                @if review.gates.is_empty() { p.quiet { "No gate looked at this change." } }
            }
            section.card { header { h2 { "Claims" } span.dim { "what the agent says" } }
                ul.rows {
                    @for claim in &review.claims {
                        li {
                            @match claim.holds { Some(true) => (glyph("ok", "in")), Some(false) => (glyph("no", "out")), None => (glyph("unk", "mute")) }
                            q { (Untrusted(&claim.sentence)) }
                            span class=(match claim.holds { Some(true) => "in", Some(false) => "out", None => "dim" }) { (Untrusted(&claim.verdict)) }
                            @if !claim.facts.is_empty() { span.more { @for fact in &claim.facts { (Untrusted(fact)) " " } } }
                        }
                    }
                }
                @if review.claims.is_empty() { p.quiet { "Nobody claimed anything that was checked." } }
            }
            section.card { header { h2 { "Amendments" } span.dim { "appended, never rewritten" } }
                ul.rows {
                    @for (index, amendment) in review.amendments.iter().enumerate() {
                        li {
                            (glyph("ask", "held"))
                            span { b { (index + 1) } " adds " @for pattern in &amendment.added { code { (Untrusted(pattern)) } " " } }
                            span.dim { (time_text(&amendment.at)) }
                            span.more { (Untrusted(&amendment.by)) ": " q { (Untrusted(&amendment.why)) } }
                        }
                    }
                }
                @if review.amendments.is_empty() { p.quiet { "The scope is the one that was declared." } }
                @for note in review.notes.iter().filter(|note| **note != sentence) { p.quiet { (Untrusted(note)) } }
            }
        }
    }
}

/// What is known of a change that nobody declared: it has no gates, claims or amendments.
fn undeclared_notes(review: &ChangeReview) -> Markup {
    let (_, _, _, sentence) = state_words(review);
    html! { @for note in review.notes.iter().filter(|note| **note != sentence) { p.mid { (Untrusted(note)) "." } } }
}

fn work(context: &ReviewContext, files: &[(usize, FileSides)], is_split: bool) -> Markup {
    let review = &context.review;
    let address = change_address(&review.change);
    html! {
        div.work {
            nav.card.tree aria-label="Changed paths" {
                header { h2 { (count(review.paths.len(), "path")) } span.grow {} span.dim.num id="seen" {} }
                (path_tree(review))
            }
            div.stack id="files" data-files={ (address) "/f/" } data-query={ "?view=" (if is_split { "split" } else { "unified" }) "&v=" (shown_prefix(context)) } {
                div.pagehead {
                    h2 { "Files" }
                    span.grow {}
                    div.seg.views role="group" aria-label="How a diff is shown" {
                        a href={ (address) "?view=split" } data-view="split" aria-current=[is_split.then_some("true")] { "Side by side" }
                        a href={ (address) "?view=unified" } data-view="unified" aria-current=[(!is_split).then_some("true")] { "Unified" }
                    }
                }
                @for (index, path) in review.paths.iter().enumerate() {
                    @let sides = files.iter().find(|(file, _)| *file == index).map(|(_, sides)| sides);
                    (file_card(context, index, path, sides, is_split, false))
                }
            }
        }
    }
}

/// The changed paths by directory.
fn path_tree(review: &ChangeReview) -> Markup {
    let mut last = String::new();
    html! {
        ul {
            @for (index, path) in review.paths.iter().enumerate().take(MAX_TREE_ROWS) {
                @let shown = path.path.to_string();
                @let (directory, name) = shown.rsplit_once('/').unwrap_or(("", shown.as_str()));
                @if directory != last && !directory.is_empty() { li { span.dir { (directory) "/" } } }
                @let (symbol, class, words) = fate_marks(path.fate);
                li { a href={ "#f-" (index) } { (glyph(symbol, class)) span { (name) } @if path.fate != PathFate::Inside { span.sr { (words) } } span.pm { (path.lines_added + path.lines_removed) } } }
                @let () = { directory.clone_into(&mut last); };
            }
            @if review.paths.len() > MAX_TREE_ROWS { li { span.dir { "and " (review.paths.len() - MAX_TREE_ROWS) " more" } } }
        }
    }
}

fn kind_words(path: &ReviewPath) -> &'static str {
    match path.change {
        ChangeKind::Added if path.renamed_from.is_some() => "moved",
        ChangeKind::Added => "new",
        ChangeKind::Deleted => "deleted",
        ChangeKind::Modified => "changed",
    }
}

/// One file with its header; its rows if they are at hand, else a place for them.
fn file_card(
    context: &ReviewContext,
    index: usize,
    path: &ReviewPath,
    sides: Option<&FileSides>,
    is_split: bool,
    is_whole: bool,
) -> Markup {
    let review = &context.review;
    let (symbol, class, words) = fate_marks(path.fate);
    let clause = path.clause.and_then(|clause| review.clauses.get(clause));
    if sides.is_none() && path.folded.is_none() {
        return waiting_card(index, path);
    }
    let view = if is_split { "split" } else { "unified" };
    let source =
        format!("{}/f/{index}?view={view}&v={}", change_address(&review.change), shown_prefix(context));
    html! {
        section.card.file.o[path.fate == PathFate::Outside] id={ "f-" (index) } tabindex="-1" {
            header {
                (glyph(symbol, class))
                (path_text(&path.path))
                span class={ "chip " (class) } { (words) }
                @if let Some(clause) = clause { span.dim.hide-s { "by " code { (Untrusted(&clause.pattern)) } } }
                @if let Some(owner) = &path.owner { span.dim.hide-s { "held by " (Untrusted(owner)) } }
                span.dim.hide-s { (kind_words(path)) @if let Some(from) = &path.renamed_from { " from " code { (from.to_string()) } } }
                @if path.in_tree == Some(false) { span.chip.held.hide-s { (glyph("held", "")) "not in the tree" } }
                span.grow {}
                (plus_minus(path.lines_added, path.lines_removed))
                label.viewed { input type="checkbox" data-seen=(index); "Seen" }
            }
            @match sides {
                Some(sides) => (file_body(context, path, sides, is_split, is_whole, &source)),
                None => div.fold {
                    @if let Some(why) = &path.folded { span { (Untrusted(why)) } }
                    a.btn.s href=(source) data-load="1" { "Show" }
                },
            }
        }
    }
}

/// The beginning of the digest of what is shown, for the addresses of files: enough to name one of the kept reviews.
fn shown_prefix(context: &ReviewContext) -> String {
    context.review.shown.to_hex().chars().take(SHOWN_PREFIX_LETTERS).collect()
}

/// A file whose rows are loaded when it comes near: as small as can be, there may be a thousand. The script knows the
/// address from the page; without one, the link opens the file alone.
fn waiting_card(index: usize, path: &ReviewPath) -> Markup {
    let (symbol, class, _) = fate_marks(path.fate);
    html! {
        section.card.file.wait.o[path.fate == PathFate::Outside] id={ "f-" (index) } tabindex="-1" {
            header { (glyph(symbol, class)) a href={ "?file=" (index) } data-load="1" { (path_text(&path.path)) } b { (path.lines_added + path.lines_removed) } }
        }
    }
}

fn file_body(
    context: &ReviewContext,
    path: &ReviewPath,
    sides: &FileSides,
    is_split: bool,
    is_whole: bool,
    source: &str,
) -> Markup {
    let revision = context.revision();
    match sides.texts() {
        Err(why) => html! { div.fold { span { (Untrusted(&why)) } } },
        Ok((before, after)) => {
            let findings = context.notes().iter().filter(|finding| finding.path == path.path).collect();
            let drawn = diff(&DiffSource {
                before,
                after,
                path,
                findings,
                revision: revision.as_deref().filter(|_| path.in_tree != Some(false)),
                is_split,
                is_whole,
                whole: Some(format!("{source}&all=1")),
            });
            drawn.0
        }
    }
}

/// One file alone: a page, and what the script takes from it.
pub(crate) fn one_file(
    frame: &PageFrame,
    context: &ReviewContext,
    index: usize,
    sides: &FileSides,
    is_split: bool,
    is_whole: bool,
) -> Markup {
    let review = &context.review;
    let Some(path) = review.paths.get(index) else {
        return frame.page("No such file", html! { h1 { "No such file" } });
    };
    let markup = html! {
        div { p.crumb { a href="/board" { "Board" } " / " a href=(change_address(&review.change)) { (Untrusted(&review.title)) } } h1 { (path_text(&path.path)) } }
        (file_card(context, index, path, Some(sides), is_split, is_whole))
    };
    frame.page(&path.path.to_string(), markup)
}

/// All files of a change, whole, for an export.
pub(crate) fn all_files(context: &ReviewContext, files: &[(usize, FileSides)]) -> Markup {
    html! {
        @for (index, path) in context.review.paths.iter().enumerate() {
            @let sides = files.iter().find(|(file, _)| *file == index).map(|(_, sides)| sides);
            (exported_file(context, index, path, sides))
        }
    }
}

fn exported_file(
    context: &ReviewContext,
    index: usize,
    path: &ReviewPath,
    sides: Option<&FileSides>,
) -> Markup {
    let (symbol, class, words) = fate_marks(path.fate);
    html! {
        section.card.file.o[path.fate == PathFate::Outside] id={ "f-" (index) } {
            header { (glyph(symbol, class)) (path_text(&path.path)) span class={ "chip " (class) } { (words) } span.dim { (kind_words(path)) } span.grow {} (plus_minus(path.lines_added, path.lines_removed)) }
            @match sides.map(FileSides::texts) {
                Some(Ok((before, after))) => {
                    @let findings = context.notes().iter().filter(|finding| finding.path == path.path).collect();
                    (diff(&DiffSource { before, after, path, findings, revision: None, is_split: false, is_whole: true, whole: None }).0)
                },
                Some(Err(why)) => div.fold { span { (Untrusted(&why)) } },
                None => div.fold { span { @match &path.folded { Some(why) => (Untrusted(why)), None => "not part of this file" } } },
            }
        }
    }
}

/// The verdict as it stands, for an export.
pub(crate) fn exported_verdict(context: &ReviewContext) -> Markup {
    let (symbol, class, title, sentence) = state_words(&context.review);
    html! {
        section class={ "decide " (class) "-edge" } { div.say { b { (glyph(symbol, class)) (Untrusted(&title)) } span { (Untrusted(&sentence)) } } }
        div.top2 { (fence(&context.review, context.notes())) (facts(context)) }
    }
}
