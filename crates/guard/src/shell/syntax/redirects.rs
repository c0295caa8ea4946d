//! Parses redirections and reads here-documents.

use super::{Parser, PendingHeredoc, Redirect, Word, WordPiece};
use std::cell::OnceCell;
use std::rc::Rc;

impl Parser<'_> {
    pub(super) fn read_pending_heredocs(&mut self) {
        for heredoc in std::mem::take(&mut self.pending) {
            let mut body = String::new();
            while !self.rest().is_empty() {
                let line = self.rest().split_inclusive('\n').next().unwrap_or_default();
                let length = line.len();
                let line = line.strip_suffix('\n').unwrap_or(line);
                let line = if heredoc.strips_tabs { line.trim_start_matches('\t') } else { line }.to_owned();
                self.at += length;
                if line == heredoc.delimiter {
                    break;
                }
                body.push_str(&line);
                body.push('\n');
            }
            let word = if heredoc.is_literal {
                Word(vec![WordPiece::Text { text: body, quoted: true }])
            } else {
                self.expand_heredoc(&body)
            };
            let _ = heredoc.body.set(word);
        }
    }

    /// Parses the substitutions of a here-document. A body that cannot be parsed has an unknown value.
    fn expand_heredoc(&self, body: &str) -> Word {
        let mut parser = Parser { text: body, at: 0, depth: self.depth + 1, pending: Vec::new() };
        parser.quoted_pieces(None).map_or_else(|_| Word(vec![WordPiece::Unknown(Vec::new())]), Word)
    }

    pub(super) fn redirects(&mut self) -> Result<Vec<Redirect>, String> {
        let mut redirects = Vec::new();
        loop {
            self.skip_blanks();
            match self.redirect()? {
                Some(redirect) => redirects.push(redirect),
                None => return Ok(redirects),
            }
        }
    }

    /// Parses a redirection, with the number of a descriptor or `{name}` before it.
    pub(super) fn redirect(&mut self) -> Result<Option<Redirect>, String> {
        let start = self.at;
        while self.peek().is_some_and(|found| found.is_ascii_digit()) {
            self.next();
        }
        let is_both = self.at == start && self.rest().starts_with("&>");
        if is_both {
            self.next();
        }
        if !matches!(self.peek(), Some('<' | '>')) {
            self.at = start;
            return Ok(None);
        }
        // A process substitution is a word.
        if self.rest().starts_with("<(") || self.rest().starts_with(">(") {
            self.at = start;
            return Ok(None);
        }
        if self.eat("<<<") {
            self.skip_blanks();
            let word = self.word()?.ok_or("`<<<` has no text")?;
            return Ok(Some(Redirect::Input(Rc::new(OnceCell::from(word)))));
        }
        if self.eat("<<") {
            return self.heredoc().map(Some);
        }
        let is_read = if self.eat("<>") || self.eat(">>") || self.eat(">|") {
            false
        } else if self.eat(">&") {
            self.skip_blanks();
            let target = self.word()?.ok_or("a redirection has no target")?;
            let is_descriptor = target.literal().is_some_and(|text| {
                let text = text.strip_suffix('-').unwrap_or(text);
                text.bytes().all(|byte| byte.is_ascii_digit())
            });
            return Ok(Some(if is_descriptor { Redirect::Duplicate } else { Redirect::Write(target) }));
        } else if self.eat("<&") {
            self.skip_blanks();
            self.word()?;
            return Ok(Some(Redirect::Duplicate));
        } else {
            self.next() == Some('<')
        };
        self.skip_blanks();
        let target = self.word()?.ok_or("a redirection has no target")?;
        Ok(Some(if is_read { Redirect::Read(target) } else { Redirect::Write(target) }))
    }

    fn heredoc(&mut self) -> Result<Redirect, String> {
        let strips_tabs = self.eat("-");
        self.skip_blanks();
        let word = self.word()?.ok_or("`<<` has no delimiter")?;
        let is_literal = word.0.iter().any(|piece| matches!(piece, WordPiece::Text { quoted: true, .. }));
        let delimiter = word.text().ok_or("the delimiter of a here-document is not a plain word")?;
        let body = Rc::new(OnceCell::new());
        self.pending.push(PendingHeredoc { delimiter, is_literal, strips_tabs, body: Rc::clone(&body) });
        Ok(Redirect::Input(body))
    }
}
