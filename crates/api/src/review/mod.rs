//! What a reviewer sees: one change against what it declared, who works where, and why a line is there.

mod board;
mod change;
mod decision;
mod line_origin;

pub use board::{
    BoardAnswer, BoardArea, BoardDirtyPath, BoardLane, BoardNeed, BoardOverlap, DirtyPathClass, LanePath,
    LaneState, LogFeedLine, NeedKind,
};
pub use change::{
    ChangeFindings, ChangeReview, ClaimFact, FindingChange, FindingNote, GateFacts, PathFate,
    ReviewAmendment, ReviewClause, ReviewPath, ReviewReason, ReviewState, ReviewedKind,
};
pub use decision::{
    DecisionAction, DecisionAnswer, DecisionOption, DecisionRecord, ReviewServerEnd, ServerEndStatus,
};
pub use line_origin::{LineOriginAnswer, OriginKnowledge, OriginStep, OriginStepKind};
