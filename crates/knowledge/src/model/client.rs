//! Adds retries and a budget to a provider.

use crate::model::{ModelError, ModelProvider, ModelQuestion, ModelReply, ProviderUsage};
use std::time::Duration;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    /// The most attempts per question.
    pub tries: u32,
    /// The pause before the second attempt; it doubles each time.
    pub pause: Duration,
    /// The longest pause, whatever the provider asks for.
    pub longest_pause: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self { tries: 3, pause: Duration::from_millis(500), longest_pause: Duration::from_secs(20) }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UsageBudget {
    /// The most calls, including retries.
    pub calls: u64,
    /// The most tokens, of questions and answers together.
    pub tokens: u64,
}

pub struct ModelClient {
    provider: Box<dyn ModelProvider>,
    patience: RetryPolicy,
    budget: UsageBudget,
    spent: ProviderUsage,
}

impl ModelClient {
    pub fn new(provider: Box<dyn ModelProvider>, patience: RetryPolicy, budget: UsageBudget) -> Self {
        Self { provider, patience, budget, spent: ProviderUsage::default() }
    }

    pub const fn spent(&self) -> ProviderUsage {
        self.spent
    }

    /// Asks until `accept` takes an answer, the attempts or the budget run out, or an error is not retryable.
    pub fn ask<T>(
        &mut self,
        question: &ModelQuestion,
        accept: impl Fn(&str) -> Result<T, String>,
    ) -> Result<T, ModelError> {
        let mut pause = self.patience.pause;
        let mut n_tries = 0;
        loop {
            self.check_budget()?;
            n_tries += 1;
            let trouble = match self.ask_once(question) {
                Ok(reply) => match accept(&reply.text) {
                    Ok(answer) => return Ok(answer),
                    Err(why) => ModelError::BadAnswer(why),
                },
                Err(trouble) => trouble,
            };
            if n_tries >= self.patience.tries || !trouble.is_retryable() {
                return Err(trouble);
            }
            let asked = match trouble {
                ModelError::Refused { wait_ms: Some(ms), .. } => Duration::from_millis(ms),
                _ => pause,
            };
            std::thread::sleep(asked.min(self.patience.longest_pause));
            pause *= 2;
        }
    }

    fn ask_once(&mut self, question: &ModelQuestion) -> Result<ModelReply, ModelError> {
        self.spent.calls += 1;
        let reply = self.provider.ask(question)?;
        self.spent.add(ProviderUsage { calls: 0, ..reply.usage });
        Ok(reply)
    }

    fn check_budget(&self) -> Result<(), ModelError> {
        let tokens = self.spent.prompt_tokens + self.spent.completion_tokens;
        if self.spent.calls >= self.budget.calls {
            return Err(ModelError::Budget(format!("{} calls", self.spent.calls)));
        }
        if tokens >= self.budget.tokens {
            return Err(ModelError::Budget(format!("{tokens} tokens")));
        }
        Ok(())
    }
}

impl std::fmt::Debug for ModelClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client")
            .field("budget", &self.budget)
            .field("spent", &self.spent)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::cell::RefCell;

    /// Returns the scripted answers in order.
    struct Script(RefCell<Vec<Result<&'static str, ModelError>>>);

    impl ModelProvider for Script {
        fn ask(&self, _: &ModelQuestion) -> Result<ModelReply, ModelError> {
            let next = self.0.borrow_mut().remove(0);
            let usage = ProviderUsage { calls: 1, prompt_tokens: 10, completion_tokens: 5 };
            next.map(|text| ModelReply { text: text.to_owned(), usage })
        }
    }

    fn client(script: Vec<Result<&'static str, ModelError>>, budget: UsageBudget) -> ModelClient {
        let patience = RetryPolicy {
            tries: 3,
            pause: Duration::from_millis(1),
            longest_pause: Duration::from_millis(2),
        };
        ModelClient::new(Box::new(Script(RefCell::new(script))), patience, budget)
    }

    const ENOUGH: UsageBudget = UsageBudget { calls: 10, tokens: 1000 };

    fn ask(client: &mut ModelClient) -> Result<String, ModelError> {
        let question = ModelQuestion { system: String::new(), user: String::new(), schema: json!({}) };
        client.ask(&question, |text| if text == "bad" { Err("bad".into()) } else { Ok(text.to_owned()) })
    }

    fn busy() -> ModelError {
        ModelError::Refused { status: 429, words: String::new(), wait_ms: Some(100_000) }
    }

    #[test]
    fn tries_again_after_what_may_pass() {
        let mut client = client(vec![Err(busy()), Ok("bad"), Ok("good")], ENOUGH);
        assert_eq!(ask(&mut client), Ok("good".into()));
        assert_eq!(client.spent(), ProviderUsage { calls: 3, prompt_tokens: 20, completion_tokens: 10 });
    }

    #[test]
    fn gives_up_after_its_tries_and_at_once_where_there_is_no_hope() {
        let mut patient = client(vec![Err(busy()), Err(busy()), Err(busy()), Ok("late")], ENOUGH);
        assert_eq!(ask(&mut patient), Err(busy()));
        let denied = ModelError::Refused { status: 401, words: "who are you".into(), wait_ms: None };
        let mut client = client(vec![Err(denied.clone()), Ok("never")], ENOUGH);
        assert_eq!(ask(&mut client), Err(denied));
        assert_eq!(client.spent().calls, 1);
    }

    #[test]
    fn keeps_to_its_budget() {
        let mut client = client(vec![Ok("a"), Ok("b"), Ok("c")], UsageBudget { calls: 9, tokens: 30 });
        assert_eq!((ask(&mut client), ask(&mut client)), (Ok("a".into()), Ok("b".into())));
        assert!(matches!(ask(&mut client), Err(ModelError::Budget(_))));
    }
}
