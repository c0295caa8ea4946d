//! Markdown and lines: which parts of a turn are its author's own prose.
//!
//! Code, quotations and tables are left out. List items stand for themselves and remember the heading above them;
//! the lines of a paragraph belong together.

use std::ops::Range;

/// A piece of prose: a paragraph or a list item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Block {
    /// Where its lines stand in the turn.
    pub(super) lines: Vec<Range<usize>>,
    pub(super) form: Form,
    /// What the heading or label above says that it is.
    pub(super) topic: Option<Topic>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Paragraph,
    Item,
    /// A check box, ticked or not.
    Box {
        done: bool,
    },
}

/// What a heading announces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Topic {
    Goals,
    Decisions,
    Constraints,
    Tasks,
    Done,
    Facts,
    /// Alternatives between which nothing is decided yet.
    Options,
    /// Whatever is below is not asserted: questions, ideas, risks.
    Open,
}

/// The prose of a turn, in order.
pub(super) fn blocks(text: &str) -> Vec<Block> {
    let mut reader = Reader::default();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let body = line.trim_end_matches(['\n', '\r']);
        reader.line(body, start);
        start += line.len();
    }
    reader.blocks
}

#[derive(Default)]
struct Reader {
    blocks: Vec<Block>,
    /// The fence that closes the code we are in.
    fence: Option<&'static str>,
    topic: Option<Topic>,
    /// What the sentence announces that the last paragraph ended with, for a list that follows at once.
    lead: Option<Topic>,
    /// Whether the next line may continue the last block.
    continues: bool,
    after_blank: bool,
}

impl Reader {
    fn line(&mut self, body: &str, start: usize) {
        let trimmed = body.trim_start();
        let indent = body.len() - trimmed.len();
        if let Some(fence) = ["```", "~~~"].into_iter().find(|fence| trimmed.starts_with(fence)) {
            self.fence = match self.fence {
                None => Some(fence),
                Some(open) if open == fence => None,
                open => open,
            };
            return self.pause();
        }
        if self.fence.is_some() {
            return;
        }
        if trimmed.is_empty() {
            return self.pause();
        }
        let is_item = item_body(trimmed).is_some();
        let is_code = indent >= 4 && self.after_blank && !is_item;
        if is_code || trimmed.starts_with(['>', '|']) {
            self.continues = false;
            return;
        }
        self.after_blank = false;
        self.prose(trimmed, start + indent);
    }

    fn prose(&mut self, trimmed: &str, start: usize) {
        if let Some(heading) = trimmed.strip_prefix('#') {
            self.topic = topic_of(heading.trim_start_matches('#'));
            self.continues = false;
            return;
        }
        if let Some((body, form)) = item_body(trimmed) {
            let at = start + (trimmed.len() - body.len());
            self.topic = self.lead.take().or(self.topic);
            self.push(at..start + trimmed.len(), form);
            return;
        }
        if let Some(topic) = label(trimmed) {
            self.topic = Some(topic);
            self.continues = false;
            return;
        }
        self.lead = lead(trimmed);
        let range = start..start + trimmed.trim_end().len();
        if let Some(block) = self.blocks.last_mut().filter(|_| self.continues) {
            block.lines.push(range);
            return;
        }
        // A paragraph after a list is no longer under its label.
        if self.blocks.last().is_some_and(|block| block.form == Form::Item) {
            self.topic = None;
        }
        self.push(range, Form::Paragraph);
    }

    fn push(&mut self, range: Range<usize>, form: Form) {
        self.blocks.push(Block { lines: vec![range], form, topic: self.topic });
        self.continues = true;
    }

    fn pause(&mut self) {
        self.continues = false;
        self.after_blank = true;
    }
}

/// The text of a list item and its form.
fn item_body(line: &str) -> Option<(&str, Form)> {
    let bullet = line.strip_prefix(['-', '*', '+', '•']).and_then(|rest| rest.strip_prefix(' '));
    let numbered = || {
        let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
        let n_digits = line.len() - rest.len();
        let rest = rest.strip_prefix(['.', ')'])?.strip_prefix(' ')?;
        (1..=3).contains(&n_digits).then_some(rest)
    };
    let body = bullet.or_else(numbered)?.trim_start();
    for (mark, done) in [("[ ] ", false), ("[x] ", true), ("[X] ", true)] {
        if let Some(rest) = body.strip_prefix(mark) {
            return Some((rest, Form::Box { done }));
        }
    }
    Some((body, Form::Item))
}

/// A line that only announces what follows: `**Decisions:**`, `Next steps:`.
fn label(line: &str) -> Option<Topic> {
    let bare = line.trim_end().trim_matches('*').trim_end_matches([':', '：', ' ']).trim_matches('*');
    let is_label =
        line.trim_end().trim_end_matches('*').ends_with([':', '：']) && bare.split_whitespace().count() <= 4;
    topic_of(bare).filter(|_| is_label)
}

/// What a sentence announces that ends in a colon: "Here is what I am going to do:".
fn lead(line: &str) -> Option<Topic> {
    let line = line.trim_end().trim_end_matches('*').strip_suffix([':', '：'])?;
    let sentence = line.rsplit(['.', '!', '?', '。']).next().unwrap_or(line);
    let lower = format!(" {} ", sentence.to_lowercase());
    let promises = [
        " going to ",
        " i will ",
        " i'll ",
        " we will ",
        " we'll ",
        " will do ",
        " je vais ",
        " voy a ",
        " werde ich ",
    ];
    topic_of(sentence).or_else(|| promises.iter().any(|words| lower.contains(words)).then_some(Topic::Tasks))
}

/// Words of headings, and what they announce. What is open or not decided goes first: "open decisions" are none.
#[rustfmt::skip]
const HEADINGS: &[(Topic, &str)] = &[
    (Topic::Open, "open | questions | question | ideas | risks | maybe | later | proposed | proposal | proposals | draft | rejected | \
        background | example | examples | pending | considered | undecided | quote | transcript | offen | offene | fragen | ideen | risiken | \
        vorschläge | idées | propositions | risques | preguntas | propuestas | riesgos | abiertas | 问题 | 待定 | 建议 | 検討 | 質問"),
    (Topic::Options, "options | alternatives | routes | ways | approaches | choices | possibilities | candidates | optionen | alternativen | möglichkeiten | opciones | possibilités"),
    (Topic::Done, "done | completed | finished | shipped | erledigt | fertig | fait | terminé | hecho | terminado | 已完成 | 完了"),
    (Topic::Decisions, "decisions | decided | decision | agreed | entscheidungen | beschlüsse | entscheidung | beschlossen | décisions | décision | decisiones | decisión | 决定 | 決定"),
    (Topic::Constraints, "constraints | rules | requirements | requirement | constraint | must-haves | haves | negotiable | non-negotiable | non-negotiables | anforderungen | regeln | vorgaben | contraintes | exigences | règles | \
        requisitos | reglas | restricciones | 要求 | 约束 | 規則 | 要件"),
    (Topic::Tasks, "todo | todos | tasks | steps | actions | action | next | remaining | plan | do | aufgaben | schritte | maßnahmen | tâches | étapes | faire | tareas | pasos | \
        acciones | 待办 | 待办事项 | 接下来 | 任务 | タスク | 次"),
    (Topic::Goals, "goals | goal | objectives | objective | aims | ziele | ziel | objectifs | objectif | objetivos | objetivo | 目标 | 目標"),
    (Topic::Facts, "facts | findings | found | noticed | learned | learnings | observations | results | know | known | erkenntnisse | fakten | ergebnisse | constats | faits | résultats | hechos | \
        hallazgos | resultados | 发现 | 事实 | 結果"),
];

fn topic_of(heading: &str) -> Option<Topic> {
    let heading = heading.trim().trim_matches(['*', ':', '：', '_', ' ']).to_lowercase();
    let words: Vec<&str> = heading.split(|c: char| !(c.is_alphanumeric() || c == '-')).collect();
    let fits = |list: &str| words.iter().any(|word| super::is_among(list, word));
    HEADINGS.iter().find(|(_, list)| fits(list)).map(|(topic, _)| *topic)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<String> {
        let join = |block: &Block| {
            block.lines.iter().map(|range| &text[range.clone()]).collect::<Vec<_>>().join(" ")
        };
        blocks(text).iter().map(join).collect()
    }

    #[test]
    fn lines_of_a_paragraph_belong_together() {
        assert_eq!(texts("We will use\nRedis.\n\nAnd Kafka.\r\n"), ["We will use Redis.", "And Kafka."]);
    }

    #[test]
    fn code_quotations_and_tables_are_no_prose() {
        let text =
            "Before\n```sh\nuse redis\n```\n> use Kafka\n| use | tables |\n\n    use indented\n\nAfter";
        assert_eq!(texts(text), ["Before", "After"]);
        assert_eq!(texts("~~~\n```\nuse redis\n~~~\nAfter"), ["After"]);
        assert_eq!(texts("```\nnever closed\nuse redis"), Vec::<String>::new());
    }

    #[test]
    fn items_remember_what_stands_above_them() {
        let text = "## Decisions\n- Use Redis\n  for caching\n1. Use Kafka\n\nNext steps:\n- [ ] Write docs\n- [x] Fix CI\n\nBye";
        let found: Vec<_> = blocks(text).iter().map(|block| (block.form, block.topic)).collect();
        assert_eq!(
            found,
            [
                (Form::Item, Some(Topic::Decisions)),
                (Form::Item, Some(Topic::Decisions)),
                (Form::Box { done: false }, Some(Topic::Tasks)),
                (Form::Box { done: true }, Some(Topic::Tasks)),
                (Form::Paragraph, Some(Topic::Tasks)),
            ]
        );
        assert_eq!(texts(text)[0], "Use Redis for caching");
        assert_eq!(topic_of("Open decisions"), Some(Topic::Open));
    }
}
