//! Patience and a budget around a provider.

use crate::model::{Provider, Question, Reply, Trouble, Usage};
use std::time::Duration;

/// How often and how long to try.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// How often one question is asked at most.
    pub tries: u32,
    /// The pause before the second try; it doubles each time.
    pub pause: Duration,
    /// The longest pause, whatever the provider asks for.
    pub longest_pause: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self { tries: 3, pause: Duration::from_millis(500), longest_pause: Duration::from_secs(20) }
    }
}

/// What may be spent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// How many calls, retries included.
    pub calls: u64,
    /// How many tokens, of questions and answers together.
    pub tokens: u64,
}

/// A provider that is asked with patience and within a budget.
pub struct Client {
    provider: Box<dyn Provider>,
    patience: Patience,
    budget: Budget,
    spent: Usage,
}

impl Client {
    /// Asks `provider` with the given patience and budget.
    pub fn new(provider: Box<dyn Provider>, patience: Patience, budget: Budget) -> Self {
        Self { provider, patience, budget, spent: Usage::default() }
    }

    /// What was spent so far.
    pub const fn spent(&self) -> Usage {
        self.spent
    }

    /// Asks until there is an answer that `accept` takes, or no hope. An answer that it refuses is asked for again.
    pub fn ask<T>(
        &mut self,
        question: &Question,
        accept: impl Fn(&str) -> Result<T, String>,
    ) -> Result<T, Trouble> {
        let mut pause = self.patience.pause;
        for n_try in 1.. {
            self.check_budget()?;
            let trouble = match self.ask_once(question) {
                Ok(reply) => match accept(&reply.text) {
                    Ok(answer) => return Ok(answer),
                    Err(why) => Trouble::BadAnswer(why),
                },
                Err(trouble) => trouble,
            };
            if n_try >= self.patience.tries || !trouble.may_pass() {
                return Err(trouble);
            }
            let asked = match trouble {
                Trouble::Refused { wait_ms: Some(ms), .. } => Duration::from_millis(ms),
                _ => pause,
            };
            std::thread::sleep(asked.min(self.patience.longest_pause));
            pause *= 2;
        }
        unreachable!("the loop ends with its last try")
    }

    fn ask_once(&mut self, question: &Question) -> Result<Reply, Trouble> {
        self.spent.calls += 1;
        let reply = self.provider.ask(question)?;
        self.spent.add(Usage { calls: 0, ..reply.usage });
        Ok(reply)
    }

    fn check_budget(&self) -> Result<(), Trouble> {
        let tokens = self.spent.prompt_tokens + self.spent.completion_tokens;
        if self.spent.calls >= self.budget.calls {
            return Err(Trouble::Budget(format!("{} calls", self.spent.calls)));
        }
        if tokens >= self.budget.tokens {
            return Err(Trouble::Budget(format!("{tokens} tokens")));
        }
        Ok(())
    }
}

impl std::fmt::Debug for Client {
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

    /// Answers from a list, one after the other.
    struct Script(RefCell<Vec<Result<&'static str, Trouble>>>);

    impl Provider for Script {
        fn ask(&self, _: &Question) -> Result<Reply, Trouble> {
            let next = self.0.borrow_mut().remove(0);
            let usage = Usage { calls: 1, prompt_tokens: 10, completion_tokens: 5 };
            next.map(|text| Reply { text: text.to_owned(), usage })
        }
    }

    fn client(script: Vec<Result<&'static str, Trouble>>, budget: Budget) -> Client {
        let patience =
            Patience { tries: 3, pause: Duration::from_millis(1), longest_pause: Duration::from_millis(2) };
        Client::new(Box::new(Script(RefCell::new(script))), patience, budget)
    }

    const ENOUGH: Budget = Budget { calls: 10, tokens: 1000 };

    fn ask(client: &mut Client) -> Result<String, Trouble> {
        let question = Question { system: String::new(), user: String::new(), schema: json!({}) };
        client.ask(&question, |text| if text == "bad" { Err("bad".into()) } else { Ok(text.to_owned()) })
    }

    fn busy() -> Trouble {
        Trouble::Refused { status: 429, words: String::new(), wait_ms: Some(100_000) }
    }

    #[test]
    fn tries_again_after_what_may_pass() {
        let mut client = client(vec![Err(busy()), Ok("bad"), Ok("good")], ENOUGH);
        assert_eq!(ask(&mut client), Ok("good".into()));
        assert_eq!(client.spent(), Usage { calls: 3, prompt_tokens: 20, completion_tokens: 10 });
    }

    #[test]
    fn gives_up_after_its_tries_and_at_once_where_there_is_no_hope() {
        let mut patient = client(vec![Err(busy()), Err(busy()), Err(busy()), Ok("late")], ENOUGH);
        assert_eq!(ask(&mut patient), Err(busy()));
        let denied = Trouble::Refused { status: 401, words: "who are you".into(), wait_ms: None };
        let mut client = client(vec![Err(denied.clone()), Ok("never")], ENOUGH);
        assert_eq!(ask(&mut client), Err(denied));
        assert_eq!(client.spent().calls, 1);
    }

    #[test]
    fn keeps_to_its_budget() {
        let mut client = client(vec![Ok("a"), Ok("b"), Ok("c")], Budget { calls: 9, tokens: 30 });
        assert_eq!((ask(&mut client), ask(&mut client)), (Ok("a".into()), Ok("b".into())));
        assert!(matches!(ask(&mut client), Err(Trouble::Budget(_))));
    }
}
