//! Conformance vectors about the answers of a surface.

use crate::ExitCode;
use probity_contract::finish::FinishStatus;
use serde::Serialize;
use serde_json::Value;

/// Answers a vector of kind `finish_status`.
pub fn finish_status(given: &Value) -> Result<Value, String> {
    #[derive(Serialize)]
    struct FinishVectorAnswer {
        #[serde(flatten)]
        status: FinishStatus,
        exit_code: u8,
    }
    let status = probity_contract::vectors::finish_status(given)?;
    let exit_code = ExitCode::from(status.status).number();
    serde_json::to_value(FinishVectorAnswer { status, exit_code }).map_err(|error| error.to_string())
}
