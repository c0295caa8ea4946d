//! One merge of git or of the document store, with one of its places: four versions side by side, and what can be done.

use super::PageFrame;
use super::merge::{HEADS_ADDRESS, document_merge_address, merge_address, merge_title, short};
use crate::untrusted_text::{Untrusted, glyph, own_markup, push_text};
use crate::url_text::encode;
use maud::{Markup, html};
use probity_api::merge_audit::{
    CommitReference, FindingClass, LossCause, MergeAuditAnswer, MergeFinding, MergeSide,
};
use probity_api::merges::{ConflictReport, MergeAnalysisAnswer};
use probity_core::text::count;
use probity_documents::LocusReading;
use probity_review::lost_intents::FindingAction;
use std::ops::Range;

/// Places that are listed beside the one that is shown.
const MAX_LISTED_PLACES: usize = 200;
/// Characters of one version that are shown.
const MAX_EXCERPT_CHARS: usize = 6_000;

/// What can be done about a place.
struct PlaceOption {
    action: &'static str,
    key: &'static str,
    label: String,
    is_main: bool,
}

/// A place of a merge, of git or of the document store, as the page shows it.
struct LostPlace {
    id: String,
    title: String,
    detail: String,
    what: String,
    lost: Option<&'static str>,
    /// Base, ours, theirs, merged; `None` where there is nothing.
    versions: [Option<String>; 4],
    is_open: bool,
    decision: Option<String>,
    facts: Vec<(&'static str, String, String)>,
    options: Vec<PlaceOption>,
}

impl LostPlace {
    fn of_finding(finding: &MergeFinding, is_committed: bool) -> Self {
        let text = |version: &Option<probity_api::merge_audit::VersionExcerpt>| {
            version.as_ref().map(|version| version.text.clone())
        };
        let entity = finding.entity.clone().unwrap_or_default();
        let lines = finding.lines.map(|[first, _]| format!("line {first}")).unwrap_or_default();
        let detail: Vec<String> = [entity, lines].into_iter().filter(|part| !part.is_empty()).collect();
        let words = |decision: &probity_api::merge_audit::FindingDecision| {
            format!("{}: {} ({}), {}", decision.chosen, decision.by, decision.at, decision.why)
        };
        let commits = |one: &CommitReference| format!("{} {}", short(&one.id), one.subject);
        let mut facts = vec![("Class", finding.class.to_string(), class_words(finding.class).to_owned())];
        if let Some(cause) = finding.cause {
            facts.push(("Cause", cause.to_string(), cause_words(cause).to_owned()));
        }
        if let Some(side) = finding.side {
            let author = finding.commits.first().map_or_else(|| side.to_string(), |one| one.author.clone());
            facts.push(("Whose", author, finding.commits.first().map(commits).unwrap_or_default()));
        }
        if let Some(before) = &finding.decided_before {
            facts.push(("Before", before.chosen.to_string(), words(before)));
        }
        Self {
            id: finding.id.clone(),
            title: finding.path.to_string(),
            detail: detail.join(", "),
            what: probity_merges::what_happened(finding),
            lost: finding.side.map(MergeSide::as_str),
            versions: [
                text(&finding.base),
                text(&finding.ours),
                text(&finding.theirs),
                // A result that is broken as a whole has no versions of its own, only the lines that show it.
                text(&finding.merged).or_else(|| {
                    (finding.side.is_none() && !finding.lost.is_empty()).then(|| finding.lost.join("\n"))
                }),
            ],
            is_open: finding.is_undecided(),
            decision: finding.decision.as_ref().map(words),
            facts,
            options: finding_options(finding, is_committed),
        }
    }

    fn of_conflict(conflict: &ConflictReport) -> Self {
        let text = |reading: &LocusReading| reading.0.as_ref().map(pretty);
        let at = &conflict.conflict;
        let sides: Vec<&str> = at.lost.iter().map(|side| side.as_str()).collect();
        let mut facts = vec![("Policy", conflict.verdict.status.to_string(), String::new())];
        if !conflict.authors.is_empty() {
            facts.push(("Whose", conflict.authors.join(", "), sides.join(", ")));
        }
        let decided = conflict.resolved_by.as_ref();
        Self {
            id: at.id.clone(),
            title: format!("{}/{}", at.attachment, at.key),
            detail: conflict.place.clone(),
            what: format!("what {} said is not in the merge", sides.join(" and ")),
            lost: at.lost.first().map(|side| side.as_str()),
            versions: [text(&at.base), text(&at.ours), text(&at.theirs), text(&at.merged)],
            is_open: decided.is_none(),
            decision: decided.map(|it| format!("{} ({}), {}", it.by, it.at, it.why)),
            facts,
            options: conflict_options(),
        }
    }
}

fn pretty(value: &serde_json::Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_else(|_| value.to_string())
}

fn class_words(class: FindingClass) -> &'static str {
    match class {
        FindingClass::Lost => "nothing of the other side explains it",
        FindingClass::Contested => "both sides edited the place: only a person can say",
        FindingClass::Superseded => "the other side had it and went on",
        FindingClass::TwoWay => "no common ancestor: a hint",
        FindingClass::Markers => "the result holds conflict markers",
        FindingClass::DoesNotParse => "both sides parse, the result does not",
        FindingClass::Duplicate => "the result defines something twice",
        FindingClass::Dangling => "the result calls what the other side removed",
        FindingClass::Signature => "the result calls with arguments that no longer fit",
    }
}

fn cause_words(cause: LossCause) -> &'static str {
    match cause {
        LossCause::Resolution => "both sides merge cleanly here",
        LossCause::Conflict => "decided by the person who merged",
        LossCause::File => "the file as a whole",
    }
}

fn finding_options(finding: &MergeFinding, is_committed: bool) -> Vec<PlaceOption> {
    let mut options = Vec::new();
    if let Some(side) = finding.side.filter(|_| is_committed) {
        options.push(PlaceOption {
            action: FindingAction::Restore.as_str(),
            key: if side == MergeSide::Ours { "2" } else { "3" },
            label: format!("Restore {side}"),
            is_main: finding.class.is_hard(),
        });
    }
    options.push(PlaceOption {
        action: FindingAction::Accept.as_str(),
        key: "4",
        label: "The merge stands".into(),
        is_main: false,
    });
    options
}

fn conflict_options() -> Vec<PlaceOption> {
    let one = |action, key, label: &str| PlaceOption { action, key, label: label.into(), is_main: false };
    vec![
        one("base", "1", "Base"),
        one("ours", "2", "Ours"),
        one("theirs", "3", "Theirs"),
        one("merged", "4", "The merge stands"),
    ]
}

/// One git merge, with one of its places.
pub(crate) fn git_merge(frame: &PageFrame, audit: &MergeAuditAnswer, chosen: Option<&str>) -> Markup {
    let is_committed = audit.merge.is_some();
    let places: Vec<LostPlace> =
        audit.findings.iter().map(|finding| LostPlace::of_finding(finding, is_committed)).collect();
    let names = [
        audit.base.as_deref().map_or("none", short).to_owned(),
        short(&audit.ours).to_owned(),
        short(&audit.theirs).to_owned(),
        audit.merge.as_deref().map_or_else(|| "working tree".to_owned(), |merge| short(merge).to_owned()),
    ];
    let facts = html! {
        @if let Some(by) = &audit.merged_by { span { (Untrusted(&by.author)) " merged " code { (names[2]) } " into " code { (names[1]) } } }
        @if audit.two_way { span.held { "no common ancestor: every finding is a hint" } }
        @if !audit.taken_whole.is_empty() { span { (count(audit.taken_whole.len(), "file")) " taken whole from one side" } }
        @if !audit.set_aside.is_empty() { span { (count(audit.set_aside.len(), "file")) " only listed" } }
        @for part in &audit.unchecked { span.held { "not checked: " (part) } }
    };
    let address = merge_address(audit.merge.as_deref());
    one_merge(frame, &merge_title(audit), &names, &facts, &address, &places, chosen)
}

/// One merge of the document store, with one of its places.
pub(crate) fn document_merge(frame: &PageFrame, merge: &MergeAnalysisAnswer, chosen: Option<&str>) -> Markup {
    let places: Vec<LostPlace> = merge.conflicts.iter().map(LostPlace::of_conflict).collect();
    let title = html! { "Merge of documents " code { (short(&merge.merge.to_string())) } };
    documents(frame, merge, &title, &document_merge_address(merge), &places, chosen)
}

/// Heads of the document store that are not merged, with one of the places where they conflict.
pub(crate) fn pending_merge(frame: &PageFrame, merge: &MergeAnalysisAnswer, chosen: Option<&str>) -> Markup {
    let without_options =
        |conflict| LostPlace { options: merge_heads_option(), ..LostPlace::of_conflict(conflict) };
    let places: Vec<LostPlace> = merge.conflicts.iter().map(without_options).collect();
    documents(frame, merge, &html! { "Heads that are not merged" }, HEADS_ADDRESS, &places, chosen)
}

/// A place of heads that are not merged is decided after they are.
fn merge_heads_option() -> Vec<PlaceOption> {
    let label = "Merge the heads, then decide".to_owned();
    vec![PlaceOption { action: "reduce", key: "4", label, is_main: true }]
}

fn documents(
    frame: &PageFrame,
    merge: &MergeAnalysisAnswer,
    title: &Markup,
    address: &str,
    places: &[LostPlace],
    chosen: Option<&str>,
) -> Markup {
    let text = |id: probity_documents::CommitId| short(&id.to_string()).to_owned();
    let names = [
        merge.base.map_or_else(|| "none".to_owned(), text),
        text(merge.ours),
        text(merge.theirs),
        text(merge.merge),
    ];
    let facts = html! {
        @if merge.refused { span.lost { "the policy refuses this merge" } }
        @for violation in &merge.violations { span.lost { (Untrusted(&violation.why)) } }
    };
    one_merge(frame, title, &names, &facts, address, places, chosen)
}

fn one_merge(
    frame: &PageFrame,
    title: &Markup,
    names: &[String; 4],
    facts: &Markup,
    address: &str,
    places: &[LostPlace],
    chosen: Option<&str>,
) -> Markup {
    let n_open = places.iter().filter(|place| place.is_open).count();
    let wanted = chosen.and_then(|id| places.iter().find(|place| place.id == id));
    let place = wanted.or_else(|| places.iter().find(|place| place.is_open)).or_else(|| places.first());
    let content = html! {
        div id="merge" {
            p.crumb { a href="/merge" { "Lost intent" } " / " span { (names[3]) } }
            h1 { (title) }
            div.facts-line { span { (count(places.len(), "place")) ", " (n_open) " open" } (facts) }
        }
        @match place {
            None => section.card { p.quiet { "Every edit of either side is in the result." } },
            Some(place) => div.cols3 {
                section.card aria-label="Places" {
                    header { h2 { "Places" } span.grow {} span.dim.num { (n_open) " open" } }
                    ul.loci { @for other in places.iter().take(MAX_LISTED_PLACES) { li { (place_row(address, other, other.id == place.id)) } } }
                    @if places.len() > MAX_LISTED_PLACES { p.quiet { "and " (places.len() - MAX_LISTED_PLACES) " more: " code { "probity merge audit" } " lists them" } }
                }
                (place_card(frame, address, place, names))
                div.stack {
                    section.card { header { h2 { "Why it was lost" } } dl.kv {
                        @for (name, value, more) in &place.facts { dt { (name) } dd { (Untrusted(value)) @if !more.is_empty() { small { (Untrusted(more)) } } } }
                    } }
                    section.card id="place-state" { header { h2 { "Decided" } }
                        @match &place.decision { Some(words) => p.quiet { (Untrusted(words)) }, None => p.quiet { "Nobody decided about this place." } } }
                }
            },
        }
    };
    frame.page("Lost intent", content)
}

fn place_row(address: &str, place: &LostPlace, is_shown: bool) -> Markup {
    let (symbol, class, word) = match (place.is_open, &place.decision) {
        (true, _) => ("lost", "lost", "open"),
        (false, Some(_)) => ("ok", "in", "decided"),
        (false, None) => ("stale", "held", "to look at"),
    };
    html! {
        a href={ (address) "?place=" (encode(place.id.as_bytes())) } aria-current=[is_shown.then_some("true")] {
            (glyph(symbol, class)) span.path { (Untrusted(&place.title)) span.sr { ", " (word) } }
            @if !place.detail.is_empty() { small { (Untrusted(&place.detail)) } }
            small { (Untrusted(&place.what)) }
        }
    }
}

fn place_card(frame: &PageFrame, address: &str, place: &LostPlace, names: &[String; 4]) -> Markup {
    let base = place.versions[0].as_deref().unwrap_or_default();
    let pane = |index: usize, class: &str, title: &str, key: &str| {
        let text = place.versions[index].as_deref();
        let is_choice = place.options.iter().any(|option| option.key == key);
        html! {
            div class={ "pane " (class) } {
                h3 { @if is_choice && !frame.read_only { kbd { (key) } " " } (title) " " span.dim { (Untrusted(&names[index])) } }
                @match text { Some(text) => pre { (marked_text(if index == 0 { None } else { Some(base) }, text)) }, None => p.quiet { "nothing here" } }
            }
        }
    };
    html! {
        section.card aria-labelledby="place-h" {
            header {
                h2 id="place-h" { span.path { (Untrusted(&place.title)) } }
                span.dim { (Untrusted(&place.detail)) }
                span.grow {}
                @if let Some(side) = place.lost { span.chip.lost { (glyph("lost", "")) (side) " is not in the result" } }
            }
            (river(place.lost, names))
            div.quad {
                (pane(0, "base", "Base", "1")) (pane(3, "merged", "Merged", "4"))
                (pane(1, "ours", "Ours", "2")) (pane(2, "theirs", "Theirs", "3"))
            }
            div.choices role="group" aria-label="Decide" {
                @for option in &place.options {
                    @if frame.read_only { code.cmd { (option.label) } } @else {
                        a.btn.main[option.is_main] href={ (address) "/do/" (option.action) "?place=" (encode(place.id.as_bytes())) } data-act="dialog" data-key=(option.key) { kbd { (option.key) } " " (option.label) }
                    }
                }
            }
        }
    }
}

/// Text with the words marked that the base does not have.
fn marked_text(base: Option<&str>, text: &str) -> Markup {
    let cut: String = text.chars().take(MAX_EXCERPT_CHARS).collect();
    let marks: Vec<Range<usize>> = match base {
        Some(base) if base.len() + cut.len() <= 2 * MAX_EXCERPT_CHARS => {
            probity_merges::changed_words(base, &cut)
        }
        _ => Vec::new(),
    };
    let mut page = String::new();
    let mut at = 0;
    for range in joined_words(&cut, marks) {
        push_text(&mut page, &cut[at..range.start]);
        page.push_str("<mark>");
        push_text(&mut page, &cut[range.clone()]);
        page.push_str("</mark>");
        at = range.end;
    }
    push_text(&mut page, &cut[at..]);
    html! { (own_markup(page)) @if cut.len() < text.len() { span.from { "cut here" } } }
}

/// Joins marked words that only blanks of one line separate: a sentence reads as one.
fn joined_words(text: &str, marks: Vec<Range<usize>>) -> Vec<Range<usize>> {
    let mut joined: Vec<Range<usize>> = Vec::new();
    for mark in marks {
        match joined.last_mut() {
            Some(last) if text[last.end..mark.start].bytes().all(|byte| byte == b' ') => last.end = mark.end,
            _ => joined.push(mark),
        }
    }
    joined
}

/// From the base two edits began; the one that is lost ends before the merge.
fn river(lost: Option<&str>, names: &[String; 4]) -> Markup {
    const TOP: &str = "M200 66C290 66 290 30 380 30H560C660 30 670 66 760 66";
    const TOP_CUT: &str = "M200 66C290 66 290 30 380 30H556";
    const TOP_GONE: &str = "M572 30C660 30 680 66 760 66";
    const LOW: &str = "M200 66C290 66 290 102 380 102H560C660 102 670 66 760 66";
    const LOW_CUT: &str = "M200 66C290 66 290 102 380 102H556";
    const LOW_GONE: &str = "M572 102C660 102 680 66 760 66";
    let (is_ours, is_theirs) = (lost == Some("ours"), lost == Some("theirs"));
    let sentence = match lost {
        Some(side) => format!("From the base two edits began. That of {side} ended before the merge."),
        None => "From the base two edits began, and both reached the merge.".to_owned(),
    };
    html! {
        svg.river viewBox="0 0 900 132" preserveAspectRatio="xMidYMid meet" role="img" aria-label=(sentence) {
            path.b d="M40 66H200" {}
            path class=(if is_ours { "th" } else { "o" }) d=(if is_ours { TOP_CUT } else { TOP }) {}
            path class=(if is_theirs { "th" } else { "o" }) d=(if is_theirs { LOW_CUT } else { LOW }) {}
            @if is_ours { path.gone d=(TOP_GONE) {} path.stub d="M558 20 L570 40" {} }
            @if is_theirs { path.gone d=(LOW_GONE) {} path.stub d="M558 92 L570 112" {} }
            path.b d="M760 66H860" {}
            circle cx="200" cy="66" r="6" {}
            circle class=(if is_ours { "dot-t" } else { "dot-o" }) cx="430" cy="30" r="6" {}
            circle class=(if is_theirs { "dot-t" } else { "dot-o" }) cx="430" cy="102" r="6" {}
            circle cx="760" cy="66" r="6" {}
            text.h x="40" y="54" { "base " (names[0]) }
            text.h x="446" y="21" { "ours " (names[1]) }
            text.h x="446" y="92" { "theirs " (names[2]) }
            text.h x="772" y="54" { (names[3]) }
        }
    }
}
