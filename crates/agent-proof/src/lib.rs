//! Proves on the real program of an agent that Probity's hook stands in front of it.
//!
//! Owns: a model that plays a script, the command lines of agents, the report of what was blocked.
//! May use: api, changes, core, process, workspace.
//! Must not know: how a hook decides; a store.
//!
//! Registration is no proof: agents skip hooks that they do not trust without a word, and old versions ignore settings. So
//! the real program runs in a throw-away repository against a model on the loopback address that plays a fixed script:
//! undeclared edits, a declaration, a declared edit, an attempt on the configuration, the finish. What happened is read from
//! the repository and from what the program told the model.
//!
//! * [`prove`]: runs one agent and reports. [`drive`]: one run. [`ModelScript`]: the steps. [`ModelServer`], `wire`: the
//!   model. `launch`: how each agent is started.

mod drive;
mod failures;
mod launch;
mod model_server;
mod proof;
mod script;
mod wire;

pub use drive::{DriveReport, DriveRequest, GovernedRunReport, drive, governed_run};
pub use failures::{FailureCell, HookFailure, hook_failure};
pub use launch::model_variables;
pub use model_server::{ModelLog, ModelServer};
pub use proof::{ProofRequest, prove};
pub use script::ModelScript;
