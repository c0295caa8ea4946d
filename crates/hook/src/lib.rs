//! The hook in front of coding agents: reads an agent's payload, decides, and answers in the agent's words.
//!
//! Owns: the payloads and answers of agents' hooks, the events, the files of sessions, failing closed.
//! May use: core, guard, process.
//! Must not know: a store, a lock, git, a policy file, how an intent is granted.
//!
//! * [`payload`]: what an agent sends. [`tool_call`]: what the tool does. [`answer`]: what the agent understands.
//! * [`events`]: the decision at each event. [`machine`]: governed trees and links. [`sessions`]: who started what.
//! * [`process`]: the whole run of the hook, with its deadline.

pub mod answer;
mod deadline;
mod declare;
pub mod events;
pub mod machine;
pub mod payload;
pub mod process;
pub mod sessions;
pub mod tool_call;
