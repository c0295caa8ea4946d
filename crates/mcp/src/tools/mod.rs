//! The table of tools. Each names its function, and its argument type generates its schema.

mod analysis;
mod caller_arguments;
mod change;
mod contract;
mod ledger;
mod merge;
mod review;

use crate::call::{CallOutcome, ToolCall};
use probity_core::ReasonCode;
use probity_workspace::ServiceError;
use rmcp::model::{JsonObject, ToolAnnotations};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::sync::LazyLock;

type ToolFunction = dyn Fn(&ToolCall, Value) -> Result<Value, ServiceError> + Send + Sync;

pub(crate) struct ToolDefinition {
    pub(crate) name: &'static str,
    description: &'static str,
    effect: ToolEffect,
    input: JsonObject,
    run: Box<ToolFunction>,
}

/// The side effects of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ToolEffect {
    Reads,
    /// Writes to Probity's own state, never to the tree.
    Records,
}

/// The tools, in the order in which an agent needs them.
static TOOLS: LazyLock<Vec<ToolDefinition>> = LazyLock::new(|| {
    let areas = [
        analysis::tools(),
        change::tools(),
        contract::tools(),
        ledger::tools(),
        merge::tools(),
        review::tools(),
    ];
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

    /// Runs a call. A wrong argument is refused by name before anything is done. A canceled call ends at its next
    /// step.
    #[tracing::instrument(name = "tool", skip_all, fields(name = self.name))]
    pub(crate) fn call(&self, call: &ToolCall, arguments: Value) -> CallOutcome {
        match (self.run)(call, arguments) {
            Ok(document) => CallOutcome::answer(document),
            Err(fault) => CallOutcome::refusal(&fault),
        }
    }

    fn list_tools(&self) -> rmcp::model::Tool {
        let annotations = match self.effect {
            ToolEffect::Reads => ToolAnnotations::new().read_only(true).open_world(false),
            // Codex runs a tool that is not read-only unasked only if it says both.
            ToolEffect::Records => {
                ToolAnnotations::new().read_only(false).destructive(false).open_world(false)
            }
        };
        rmcp::model::Tool::new(self.name, self.description, std::sync::Arc::new(self.input.clone()))
            .with_annotations(annotations)
    }
}

fn read_arguments<A: DeserializeOwned>(tool: &str, arguments: Value) -> Result<A, ServiceError> {
    serde_json::from_value(arguments)
        .map_err(|error| ServiceError::refused(ReasonCode::UsageInvalid, format!("{tool}: {error}")))
}

/// Generates the schema of the arguments without parts that no agent reads: an agent pays for every word.
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

/// Removes titles, formats, defaults, minimums and the type `null`: an agent omits a member instead.
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

pub(crate) fn find(name: &str) -> Option<&'static ToolDefinition> {
    TOOLS.iter().find(|tool| tool.name == name)
}

/// Returns all tools as a client sees them.
pub(crate) fn listed() -> Vec<rmcp::model::Tool> {
    TOOLS.iter().map(ToolDefinition::list_tools).collect()
}

/// Returns all tools with their schemas, as listed by the server.
pub fn schemas() -> Vec<Value> {
    let value = |tool| serde_json::to_value(tool).expect("tools have text keys only");
    listed().into_iter().map(value).collect()
}
