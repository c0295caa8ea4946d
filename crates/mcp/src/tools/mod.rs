//! The tools: one table. Each names its function, and the type of its arguments is its schema.

mod analysis;
mod caller_arguments;
mod change;
mod contract;
mod ledger;
mod merge;

use crate::call::{CallCancellation, CallOutcome, ToolCall};
use probity_core::ReasonCode;
use probity_workspace::ServiceError;
use rmcp::model::{JsonObject, ToolAnnotations};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::LazyLock;

/// What a tool does with its arguments.
type ToolFunction = dyn Fn(&ToolCall, Value) -> Result<Value, ServiceError> + Send + Sync;

/// One tool.
pub(crate) struct ToolDefinition {
    name: &'static str,
    description: &'static str,
    effect: ToolEffect,
    input: JsonObject,
    run: Box<ToolFunction>,
}

/// What a tool does to the world.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ToolEffect {
    /// It only looks.
    Reads,
    /// It writes to Probity's own state; never to the tree.
    Records,
}

/// The table, in the order in which an agent needs them.
static TOOLS: LazyLock<Vec<ToolDefinition>> = LazyLock::new(|| {
    let areas = [analysis::tools(), change::tools(), contract::tools(), ledger::tools(), merge::tools()];
    areas.into_iter().flatten().collect()
});

impl ToolDefinition {
    fn new<A: DeserializeOwned + JsonSchema + 'static>(
        name: &'static str,
        effect: ToolEffect,
        description: &'static str,
        run: fn(&ToolCall, A) -> Result<Value, ServiceError>,
    ) -> Self {
        let run = move |call: &ToolCall, arguments: Value| run(call, read_arguments(name, arguments)?);
        Self { name, description, effect, input: input_schema::<A>(), run: Box::new(run) }
    }

    /// Carries out a call. A wrong argument is refused by name, and nothing is done. A call that its caller gave up ends
    /// at its next step.
    #[tracing::instrument(name = "tool", skip_all, fields(name = self.name))]
    pub(crate) fn call(&self, call: &ToolCall, arguments: Value) -> CallOutcome {
        match catch_unwind(AssertUnwindSafe(|| (self.run)(call, arguments))) {
            Ok(Ok(document)) => CallOutcome::answer(document),
            Ok(Err(fault)) => CallOutcome::refusal(&fault),
            Err(thrown) if thrown.is::<CallCancellation>() => {
                CallOutcome::refusal(&ServiceError::refused(ReasonCode::UsageCancelled, self.name))
            }
            Err(panic) => resume_unwind(panic),
        }
    }

    fn list_tools(&self) -> rmcp::model::Tool {
        let annotations = match self.effect {
            ToolEffect::Reads => ToolAnnotations::new().read_only(true),
            ToolEffect::Records => ToolAnnotations::new().read_only(false).destructive(false),
        };
        rmcp::model::Tool::new(self.name, self.description, std::sync::Arc::new(self.input.clone()))
            .with_annotations(annotations)
    }
}

fn read_arguments<A: DeserializeOwned>(tool: &str, arguments: Value) -> Result<A, ServiceError> {
    serde_json::from_value(arguments)
        .map_err(|error| ServiceError::refused(ReasonCode::UsageInvalid, format!("{tool}: {error}")))
}

/// The schema of the arguments, without what no agent reads: an agent pays for every word of it.
fn input_schema<A: JsonSchema>() -> JsonObject {
    let settings = schemars::generate::SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let schema = settings.into_generator().into_root_schema_for::<A>();
    let mut schema = Value::from(schema);
    simplify_schema(&mut schema);
    match schema {
        Value::Object(object) => object,
        _ => JsonObject::new(),
    }
}

/// Takes out titles and formats, and says "may be null" by leaving a member out.
fn simplify_schema(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            for noise in ["title", "format", "default", "minimum"] {
                if object.get(noise).is_some_and(|value| !value.is_object()) {
                    object.remove(noise);
                }
            }
            if let Some(Value::Array(kinds)) = object.get_mut("type") {
                kinds.retain(|kind| kind != "null");
                if let [only] = kinds.as_slice() {
                    let only = only.clone();
                    object.insert("type".into(), only);
                }
            }
            object.values_mut().for_each(simplify_schema);
        }
        Value::Array(items) => items.iter_mut().for_each(simplify_schema),
        _ => {}
    }
}

/// The tool of this name.
pub(crate) fn find(name: &str) -> Option<&'static ToolDefinition> {
    TOOLS.iter().find(|tool| tool.name == name)
}

/// All tools, as a client sees them.
pub(crate) fn listed() -> Vec<rmcp::model::Tool> {
    TOOLS.iter().map(ToolDefinition::list_tools).collect()
}

/// All tools with their schemas, as the server lists them.
pub fn schemas() -> Vec<Value> {
    let value = |tool| serde_json::to_value(tool).expect("tools have text keys only");
    listed().into_iter().map(value).collect()
}
