//! Encodes proposals in a log, including the readable parts of an invalid one.

use super::{MalformedTransaction, WireReader, put_len, put_number, put_text};
use crate::candidate::{DeltaProposal, ItemChange, ItemContent, ItemDelta, TurnSource};
use crate::vocabulary::{ConfidenceLevel, DeltaKind, RevisionMode};

/// The names of fields that can be invalid. Their ranks are written, so new ones go to the end.
const FIELD_NAMES: &[&str] = &[
    "kind",
    "sources",
    "key",
    "handle",
    "target",
    "summary",
    "confidence",
    "hard",
    "mode",
    "alternatives",
    "resolution",
    "reason",
    "by",
    "chosen",
    "extra",
];

const HAS_KEY: u8 = 1;
const NO_SOURCES: u8 = 2;
const IS_FAULTY: u8 = 4;
const CONTRADICTS_SOURCE: u8 = 8;

pub(super) fn put_proposal(out: &mut Vec<u8>, proposal: &DeltaProposal<'_>) {
    let flags = [
        (proposal.key.is_some(), HAS_KEY),
        (proposal.sources.is_none(), NO_SOURCES),
        (proposal.delta.is_err(), IS_FAULTY),
        (proposal.contradicts_source, CONTRADICTS_SOURCE),
    ];
    out.push(flags.iter().filter(|(is_set, _)| *is_set).map(|(_, flag)| flag).sum());
    put_optional(out, proposal.kind.map(|kind| kind as u8));
    if let Some(key) = proposal.key {
        put_text(out, key);
    }
    if let Some(sources) = &proposal.sources {
        put_len(out, sources.len());
        for source in sources {
            put_source(out, source);
        }
    }
    match &proposal.delta {
        Ok(delta) => put_delta(out, delta),
        Err(field) => put_len(out, FIELD_NAMES.iter().position(|name| name == field).unwrap_or(0)),
    }
}

pub(super) fn proposal<'a>(reader: &mut WireReader<'a>) -> Result<DeltaProposal<'a>, MalformedTransaction> {
    let flags = reader.byte()?;
    let kind = reader.optional_enum_value(DeltaKind::ALL)?;
    let key = if flags & HAS_KEY == 0 { None } else { Some(reader.text()?) };
    let sources = if flags & NO_SOURCES == 0 { Some(sources(reader)?) } else { None };
    let delta = match kind {
        _ if flags & IS_FAULTY != 0 => Err(reader.enum_value(FIELD_NAMES)?),
        Some(kind) => Ok(delta(reader, kind)?),
        None => return Err(reader.malformed()),
    };
    let contradicts_source = flags & CONTRADICTS_SOURCE != 0;
    Ok(DeltaProposal { key, kind, sources, delta, contradicts_source })
}

fn put_source(out: &mut Vec<u8>, source: &TurnSource<'_>) {
    put_text(out, source.turn);
    // A range is never empty, so its length tells it apart from no range.
    let (start, end) = source.range.unwrap_or((0, 0));
    put_number(out, end.saturating_sub(start));
    if source.range.is_some() {
        put_number(out, start);
    }
}

fn sources<'a>(reader: &mut WireReader<'a>) -> Result<Vec<TurnSource<'a>>, MalformedTransaction> {
    let read = |reader: &mut WireReader<'a>| {
        let turn = reader.text()?;
        let range = match reader.number()? {
            0 => None,
            length => {
                let start = reader.number()?;
                Some((start, start.checked_add(length).ok_or(reader.malformed())?))
            }
        };
        Ok(TurnSource { turn, range })
    };
    (0..reader.count()?).map(|_| read(reader)).collect()
}

fn put_optional(out: &mut Vec<u8>, rank: Option<u8>) {
    out.push(rank.map_or(0, |rank| rank + 1));
}

fn put_confidence(out: &mut Vec<u8>, confidence: Option<ConfidenceLevel>) {
    put_optional(out, confidence.map(|confidence| confidence as u8));
}

fn put_delta(out: &mut Vec<u8>, delta: &ItemDelta<'_>) {
    match delta {
        ItemDelta::Create { handle, content } => {
            put_text(out, handle);
            put_content(out, content);
        }
        ItemDelta::Change { target, change } => {
            put_text(out, target);
            put_change(out, change);
        }
    }
}

fn put_content(out: &mut Vec<u8>, content: &ItemContent<'_>) {
    match content {
        ItemContent::Goal { summary, confidence }
        | ItemContent::Decision { summary, confidence }
        | ItemContent::Fact { summary, confidence }
        | ItemContent::Hypothesis { summary, confidence } => {
            put_text(out, summary);
            out.push(*confidence as u8);
        }
        ItemContent::Constraint { summary, hard } => {
            put_text(out, summary);
            out.push(u8::from(*hard));
        }
        ItemContent::Task { summary } => put_text(out, summary),
        ItemContent::Branch { alternatives } => {
            put_len(out, alternatives.len());
            for alternative in alternatives {
                put_text(out, alternative);
            }
        }
    }
}

fn put_change(out: &mut Vec<u8>, change: &ItemChange<'_>) {
    match *change {
        ItemChange::ReviseDecision { summary, confidence } => {
            put_text(out, summary);
            put_confidence(out, confidence);
        }
        ItemChange::ReviseConstraint { summary, mode } => {
            put_text(out, summary);
            put_optional(out, mode.map(|mode| mode as u8));
        }
        ItemChange::Confidence { confidence } => out.push(confidence as u8),
        ItemChange::CloseTask { resolution } | ItemChange::CloseGoal { resolution } => {
            put_text(out, resolution);
        }
        ItemChange::Supersede { reason, by } => {
            put_text(out, reason);
            out.push(u8::from(by.is_some()));
            if let Some(by) = by {
                put_text(out, by);
            }
        }
        ItemChange::Promote { confidence } => put_confidence(out, confidence),
        ItemChange::ResolveBranch { handle, chosen, confidence } => {
            put_text(out, handle);
            put_text(out, chosen);
            put_confidence(out, confidence);
        }
        ItemChange::ReopenTask { handle, reason } => {
            put_text(out, handle);
            put_text(out, reason);
        }
        ItemChange::CorrectFact { handle, summary, confidence } => {
            put_text(out, handle);
            put_text(out, summary);
            put_confidence(out, confidence);
        }
    }
}

fn delta<'a>(reader: &mut WireReader<'a>, kind: DeltaKind) -> Result<ItemDelta<'a>, MalformedTransaction> {
    let name = reader.text()?;
    Ok(match content(reader, kind)? {
        Some(content) => ItemDelta::Create { handle: name, content },
        None => ItemDelta::Change { target: name, change: change(reader, kind)? },
    })
}

fn content<'a>(
    reader: &mut WireReader<'a>,
    kind: DeltaKind,
) -> Result<Option<ItemContent<'a>>, MalformedTransaction> {
    let sure = |reader: &mut WireReader<'a>| Ok((reader.text()?, reader.enum_value(ConfidenceLevel::ALL)?));
    Ok(Some(match kind {
        DeltaKind::GoalSet => {
            sure(reader).map(|(summary, confidence)| ItemContent::Goal { summary, confidence })?
        }
        DeltaKind::DecisionMade => {
            sure(reader).map(|(summary, confidence)| ItemContent::Decision { summary, confidence })?
        }
        DeltaKind::FactLearned => {
            sure(reader).map(|(summary, confidence)| ItemContent::Fact { summary, confidence })?
        }
        DeltaKind::HypothesisIntroduced => {
            sure(reader).map(|(summary, confidence)| ItemContent::Hypothesis { summary, confidence })?
        }
        DeltaKind::ConstraintAdded => {
            ItemContent::Constraint { summary: reader.text()?, hard: reader.enum_value(&[false, true])? }
        }
        DeltaKind::TaskOpened => ItemContent::Task { summary: reader.text()? },
        DeltaKind::BranchCreated => ItemContent::Branch { alternatives: reader.texts()? },
        _ => return Ok(None),
    }))
}

fn change<'a>(reader: &mut WireReader<'a>, kind: DeltaKind) -> Result<ItemChange<'a>, MalformedTransaction> {
    Ok(match kind {
        DeltaKind::DecisionRevised => ItemChange::ReviseDecision {
            summary: reader.text()?,
            confidence: reader.optional_enum_value(ConfidenceLevel::ALL)?,
        },
        DeltaKind::ConstraintRevised => ItemChange::ReviseConstraint {
            summary: reader.text()?,
            mode: reader.optional_enum_value(RevisionMode::ALL)?,
        },
        DeltaKind::ConfidenceChanged => {
            ItemChange::Confidence { confidence: reader.enum_value(ConfidenceLevel::ALL)? }
        }
        DeltaKind::TaskClosed => ItemChange::CloseTask { resolution: reader.text()? },
        DeltaKind::GoalClosed => ItemChange::CloseGoal { resolution: reader.text()? },
        DeltaKind::ItemSuperseded => {
            let reason = reader.text()?;
            let by = if reader.enum_value(&[false, true])? { Some(reader.text()?) } else { None };
            ItemChange::Supersede { reason, by }
        }
        DeltaKind::HypothesisPromoted => {
            ItemChange::Promote { confidence: reader.optional_enum_value(ConfidenceLevel::ALL)? }
        }
        DeltaKind::BranchResolved => ItemChange::ResolveBranch {
            handle: reader.text()?,
            chosen: reader.text()?,
            confidence: reader.optional_enum_value(ConfidenceLevel::ALL)?,
        },
        DeltaKind::TaskReopened => ItemChange::ReopenTask { handle: reader.text()?, reason: reader.text()? },
        DeltaKind::FactCorrected => ItemChange::CorrectFact {
            handle: reader.text()?,
            summary: reader.text()?,
            confidence: reader.optional_enum_value(ConfidenceLevel::ALL)?,
        },
        _ => return Err(reader.malformed()),
    })
}
