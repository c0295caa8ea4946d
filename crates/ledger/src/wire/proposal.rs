//! Proposals in a log: what was proposed, and of what is no candidate as much as could be read.

use super::{Malformed, Reader, put, put_len, put_text};
use crate::candidate::{Change, Content, Delta, Proposal, Source};
use crate::words::{Confidence, DeltaKind, Mode};

/// The names of fields that can be wrong. Their ranks are written; new ones go to the end.
const FIELDS: &[&str] = &[
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

pub(super) fn put_proposal(out: &mut Vec<u8>, proposal: &Proposal<'_>) {
    let flags = [
        (proposal.key.is_some(), HAS_KEY),
        (proposal.sources.is_none(), NO_SOURCES),
        (proposal.delta.is_err(), IS_FAULTY),
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
        Err(field) => put_len(out, FIELDS.iter().position(|name| name == field).unwrap_or(0)),
    }
}

pub(super) fn proposal<'a>(reader: &mut Reader<'a>) -> Result<Proposal<'a>, Malformed> {
    let flags = reader.byte()?;
    let kind = reader.optional_word(DeltaKind::ALL)?;
    let key = if flags & HAS_KEY == 0 { None } else { Some(reader.text()?) };
    let sources = if flags & NO_SOURCES == 0 { Some(sources(reader)?) } else { None };
    let delta = match kind {
        _ if flags & IS_FAULTY != 0 => Err(reader.word(FIELDS)?),
        Some(kind) => Ok(delta(reader, kind)?),
        None => return Err(reader.malformed()),
    };
    Ok(Proposal { key, kind, sources, delta })
}

fn put_source(out: &mut Vec<u8>, source: &Source<'_>) {
    put_text(out, source.turn);
    // A range is never empty, so its length plus one tells it from no range.
    let (start, end) = source.range.unwrap_or((0, 0));
    put(out, end.saturating_sub(start));
    if source.range.is_some() {
        put(out, start);
    }
}

fn sources<'a>(reader: &mut Reader<'a>) -> Result<Vec<Source<'a>>, Malformed> {
    let read = |reader: &mut Reader<'a>| {
        let turn = reader.text()?;
        let range = match reader.number()? {
            0 => None,
            length => {
                let start = reader.number()?;
                Some((start, start.checked_add(length).ok_or(reader.malformed())?))
            }
        };
        Ok(Source { turn, range })
    };
    (0..reader.count()?).map(|_| read(reader)).collect()
}

fn put_optional(out: &mut Vec<u8>, rank: Option<u8>) {
    out.push(rank.map_or(0, |rank| rank + 1));
}

fn put_confidence(out: &mut Vec<u8>, confidence: Option<Confidence>) {
    put_optional(out, confidence.map(|confidence| confidence as u8));
}

fn put_delta(out: &mut Vec<u8>, delta: &Delta<'_>) {
    match delta {
        Delta::Create { handle, content } => {
            put_text(out, handle);
            put_content(out, content);
        }
        Delta::Change { target, change } => {
            put_text(out, target);
            put_change(out, change);
        }
    }
}

fn put_content(out: &mut Vec<u8>, content: &Content<'_>) {
    match content {
        Content::Goal { summary, confidence }
        | Content::Decision { summary, confidence }
        | Content::Fact { summary, confidence }
        | Content::Hypothesis { summary, confidence } => {
            put_text(out, summary);
            out.push(*confidence as u8);
        }
        Content::Constraint { summary, hard } => {
            put_text(out, summary);
            out.push(u8::from(*hard));
        }
        Content::Task { summary } => put_text(out, summary),
        Content::Branch { alternatives } => {
            put_len(out, alternatives.len());
            for alternative in alternatives {
                put_text(out, alternative);
            }
        }
    }
}

fn put_change(out: &mut Vec<u8>, change: &Change<'_>) {
    match *change {
        Change::ReviseDecision { summary, confidence } => {
            put_text(out, summary);
            put_confidence(out, confidence);
        }
        Change::ReviseConstraint { summary, mode } => {
            put_text(out, summary);
            put_optional(out, mode.map(|mode| mode as u8));
        }
        Change::Confidence { confidence } => out.push(confidence as u8),
        Change::CloseTask { resolution } | Change::CloseGoal { resolution } => put_text(out, resolution),
        Change::Supersede { reason, by } => {
            put_text(out, reason);
            out.push(u8::from(by.is_some()));
            if let Some(by) = by {
                put_text(out, by);
            }
        }
        Change::Promote { confidence } => put_confidence(out, confidence),
        Change::ResolveBranch { handle, chosen, confidence } => {
            put_text(out, handle);
            put_text(out, chosen);
            put_confidence(out, confidence);
        }
        Change::ReopenTask { handle, reason } => {
            put_text(out, handle);
            put_text(out, reason);
        }
        Change::CorrectFact { handle, summary, confidence } => {
            put_text(out, handle);
            put_text(out, summary);
            put_confidence(out, confidence);
        }
    }
}

fn delta<'a>(reader: &mut Reader<'a>, kind: DeltaKind) -> Result<Delta<'a>, Malformed> {
    let name = reader.text()?;
    Ok(match content(reader, kind)? {
        Some(content) => Delta::Create { handle: name, content },
        None => Delta::Change { target: name, change: change(reader, kind)? },
    })
}

fn content<'a>(reader: &mut Reader<'a>, kind: DeltaKind) -> Result<Option<Content<'a>>, Malformed> {
    let sure = |reader: &mut Reader<'a>| Ok((reader.text()?, reader.word(Confidence::ALL)?));
    Ok(Some(match kind {
        DeltaKind::GoalSet => {
            sure(reader).map(|(summary, confidence)| Content::Goal { summary, confidence })?
        }
        DeltaKind::DecisionMade => {
            sure(reader).map(|(summary, confidence)| Content::Decision { summary, confidence })?
        }
        DeltaKind::FactLearned => {
            sure(reader).map(|(summary, confidence)| Content::Fact { summary, confidence })?
        }
        DeltaKind::HypothesisIntroduced => {
            sure(reader).map(|(summary, confidence)| Content::Hypothesis { summary, confidence })?
        }
        DeltaKind::ConstraintAdded => {
            Content::Constraint { summary: reader.text()?, hard: reader.word(&[false, true])? }
        }
        DeltaKind::TaskOpened => Content::Task { summary: reader.text()? },
        DeltaKind::BranchCreated => Content::Branch { alternatives: reader.texts()? },
        _ => return Ok(None),
    }))
}

fn change<'a>(reader: &mut Reader<'a>, kind: DeltaKind) -> Result<Change<'a>, Malformed> {
    Ok(match kind {
        DeltaKind::DecisionRevised => Change::ReviseDecision {
            summary: reader.text()?,
            confidence: reader.optional_word(Confidence::ALL)?,
        },
        DeltaKind::ConstraintRevised => {
            Change::ReviseConstraint { summary: reader.text()?, mode: reader.optional_word(Mode::ALL)? }
        }
        DeltaKind::ConfidenceChanged => Change::Confidence { confidence: reader.word(Confidence::ALL)? },
        DeltaKind::TaskClosed => Change::CloseTask { resolution: reader.text()? },
        DeltaKind::GoalClosed => Change::CloseGoal { resolution: reader.text()? },
        DeltaKind::ItemSuperseded => {
            let reason = reader.text()?;
            let by = if reader.word(&[false, true])? { Some(reader.text()?) } else { None };
            Change::Supersede { reason, by }
        }
        DeltaKind::HypothesisPromoted => {
            Change::Promote { confidence: reader.optional_word(Confidence::ALL)? }
        }
        DeltaKind::BranchResolved => Change::ResolveBranch {
            handle: reader.text()?,
            chosen: reader.text()?,
            confidence: reader.optional_word(Confidence::ALL)?,
        },
        DeltaKind::TaskReopened => Change::ReopenTask { handle: reader.text()?, reason: reader.text()? },
        DeltaKind::FactCorrected => Change::CorrectFact {
            handle: reader.text()?,
            summary: reader.text()?,
            confidence: reader.optional_word(Confidence::ALL)?,
        },
        _ => return Err(reader.malformed()),
    })
}
