//! A model behind an HTTP endpoint: OpenAI-compatible (`…/v1`), or Ollama.

use crate::model::{
    MAX_ANSWER_BYTES, ModelError, ModelProvider, ModelQuestion, ModelReply, ProviderUsage, excerpt,
};
use serde_json::{Value, json};
use std::time::Duration;
use ureq::Agent;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HttpApi {
    /// `POST <base>/chat/completions`.
    OpenAi,
    /// `POST <base>/api/chat`.
    Ollama,
}

pub struct HttpProvider {
    api: HttpApi,
    url: String,
    model: String,
    key: Option<String>,
    timeout: Duration,
    agent: Agent,
}

impl HttpProvider {
    /// `base` is, for example, `http://gateway.local/v1` or `http://localhost:11434`.
    pub fn new(
        api: HttpApi,
        base: &str,
        model: &str,
        key: Option<String>,
        timeout: Duration,
    ) -> Result<Self, ModelError> {
        if base.starts_with("https://") {
            let why = "https is not built in: use --model-command with a program that speaks it, or a local gateway";
            return Err(ModelError::Unusable(why.into()));
        }
        if !base.starts_with("http://") {
            return Err(ModelError::Unusable(format!("`{base}` is not an http address")));
        }
        let path = match api {
            HttpApi::OpenAi => "chat/completions",
            HttpApi::Ollama => "api/chat",
        };
        // A redirect could send the text and the key to another host.
        let mut config = Agent::config_builder()
            .timeout_global(Some(timeout))
            .http_status_as_error(false)
            .max_redirects(0);
        if is_local(base) {
            config = config.proxy(None);
        }
        let url = format!("{}/{path}", base.trim_end_matches('/'));
        Ok(Self { api, url, model: model.to_owned(), key, timeout, agent: config.build().into() })
    }

    fn body(&self, question: &ModelQuestion) -> Value {
        let messages = json!([
            { "role": "system", "content": question.system },
            { "role": "user", "content": question.user },
        ]);
        match self.api {
            HttpApi::OpenAi => json!({
                "model": self.model,
                "messages": messages,
                "temperature": 0,
                "stream": false,
                "response_format": {
                    "type": "json_schema",
                    "json_schema": { "name": "answer", "schema": question.schema },
                },
            }),
            HttpApi::Ollama => json!({
                "model": self.model,
                "messages": messages,
                "stream": false,
                "format": question.schema,
                "options": { "temperature": 0 },
            }),
        }
    }

    fn model_error(&self, error: &ureq::Error) -> ModelError {
        match error {
            ureq::Error::Timeout(_) => ModelError::TimedOut(self.timeout.as_millis()),
            ureq::Error::BodyExceedsLimit(_) => ModelError::BadAnswer("it is too long".into()),
            ureq::Error::BadUri(_) => ModelError::Unusable(error.to_string()),
            _ => ModelError::Unreachable(error.to_string()),
        }
    }
}

/// Returns whether an address is on this machine, where a proxy is not used.
fn is_local(base: &str) -> bool {
    let host = base.split("://").nth(1).unwrap_or("");
    ["localhost", "127.", "[::1]"].iter().any(|here| host.starts_with(here))
}

impl ModelProvider for HttpProvider {
    fn ask(&self, question: &ModelQuestion) -> Result<ModelReply, ModelError> {
        let mut request = self.agent.post(&self.url).content_type("application/json");
        if let Some(key) = &self.key {
            request = request.header("Authorization", format!("Bearer {key}"));
        }
        let body = self.body(question).to_string();
        let mut response = request.send(body.as_bytes()).map_err(|error| self.model_error(&error))?;
        let status = response.status().as_u16();
        let header = response.headers().get("retry-after").and_then(|value| value.to_str().ok());
        let wait_ms =
            header.and_then(|text| text.parse::<u64>().ok()).map(|seconds| seconds.saturating_mul(1000));
        let limit = MAX_ANSWER_BYTES as u64;
        let bytes = response
            .body_mut()
            .with_config()
            .limit(limit)
            .read_to_vec()
            .map_err(|error| self.model_error(&error))?;
        if status != 200 {
            return Err(ModelError::Refused { status, words: excerpt(&bytes), wait_ms });
        }
        let value: Value = serde_json::from_slice(&bytes).map_err(|error| {
            ModelError::BadAnswer(format!("it is not JSON ({error}): {}", excerpt(&bytes)))
        })?;
        match self.api {
            HttpApi::OpenAi => parse_openai(&value),
            HttpApi::Ollama => parse_ollama(&value),
        }
    }
}

fn parse_openai(value: &Value) -> Result<ModelReply, ModelError> {
    let choice = &value["choices"][0];
    if choice["finish_reason"] == "length" {
        return Err(ModelError::BadAnswer("it was cut off for its length".into()));
    }
    let usage = [&value["usage"]["prompt_tokens"], &value["usage"]["completion_tokens"]];
    build_reply(&choice["message"]["content"], usage)
}

fn parse_ollama(value: &Value) -> Result<ModelReply, ModelError> {
    if value["done"] != true || value["done_reason"] == "length" {
        return Err(ModelError::BadAnswer("it was cut off".into()));
    }
    build_reply(&value["message"]["content"], [&value["prompt_eval_count"], &value["eval_count"]])
}

fn build_reply(content: &Value, [prompt, completion]: [&Value; 2]) -> Result<ModelReply, ModelError> {
    let text = content.as_str().ok_or_else(|| ModelError::BadAnswer("there are no words in it".into()))?;
    let usage = ProviderUsage {
        calls: 1,
        prompt_tokens: prompt.as_u64().unwrap_or(0),
        completion_tokens: completion.as_u64().unwrap_or(0),
    };
    Ok(ModelReply { text: text.to_owned(), usage })
}

#[cfg(test)]
mod tests;
