//! Requests and answers about changes in a tree that several agents share.

mod amend;
mod doctor;
mod finish;
mod hygiene;
mod intents;
mod neighbors;
mod patch_trail;
mod request;
mod start;
mod status;
mod team;

pub use amend::AmendAnswer;
pub use doctor::{CheckupStatus, DoctorAnswer, DoctorCheckup};
pub use finish::{
    ChangeAttribution, ChangeEnforcement, ChangedPath, ClaimsSummary, CommittedElsewhere, Coordination,
    ExternalChange, ExternalChanges, FailedGate, FinishAnswer, FinishReceipt, FinishReview, FinishSummary,
    HealthAdvisory, LandingHold, LandingWait, OverlappingIntent, ReceiptHealth, RefutedClaim, WorseFinding,
};
pub use hygiene::{
    FinishDirtyCounts, FinishHygieneAnswer, FinishHygieneDetail, StartDirtyCounts, StartHygieneAnswer,
    WorktreeSnapshotAnswer,
};
pub use intents::{
    AmendmentView, ChainStatus, IntentAnswer, IntentChangeAnswer, IntentChangeStatus, IntentListAnswer,
    IntentLogAnswer, IntentResetAnswer, IntentView, LoggedEvent, OwnerView, ResetAction, ResetEntry,
};
pub use neighbors::{ClaimRelationWord, ConcurrentRun, ConcurrentWork, RelatedIntent, RelatedIntentAction};
pub use patch_trail::{PatchTrail, PatchTrailCounts, PatchTrailDetail, TrailEntry};
pub use request::{DetailLevel, FinishRequest, PromoteRequest, StartRequest};
pub use start::{
    BlastLevel, BlastSummary, ConstraintInScope, GateForecast, MissingPath, ScopeWarning, StartAnswer,
    StartBudget, StartObstacle,
};
pub use status::{
    DirtyGroup, DirtySummary, FinishedGroup, HeldLayerLine, IntentLine, RunLine, RunWorkGroup, StatusAnswer,
};
pub use team::{
    LandedChange, TeamChange, TeamChangeAnswer, TeamClone, TeamLandedAnswer, TeamLogAcceptedAnswer,
    TeamStatusAnswer, TeamStoreMember, TeamView, TeamWarning, WaitingChange,
};
