//! The tags of an XML document, one after the other: as much XML as coverage reports are written in.
//!
//! No entities are expanded but the five that XML itself has and numbers, no document type is followed, nothing nests
//! on the stack: a hostile document costs no more than its length.

/// One tag, or the text before the next one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Event<'a> {
    /// `<name a="b">`, also when it closes itself.
    Open(&'a str, Vec<(&'a str, String)>),
    /// `</name>`
    Close(&'a str),
    /// Text that is more than blanks.
    Text(String),
}

/// Reads the tags of a text.
#[derive(Debug)]
pub(super) struct Tags<'a> {
    rest: &'a str,
}

/// A tag that never ends, or is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Broken;

impl<'a> Tags<'a> {
    pub(super) const fn new(text: &'a str) -> Self {
        Self { rest: text }
    }

    /// How many bytes are still to be read.
    pub(super) const fn n_left(&self) -> usize {
        self.rest.len()
    }

    /// The next event, or `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<Event<'a>>, Broken> {
        loop {
            let (text, from) = self.rest.split_at(self.rest.find('<').unwrap_or(self.rest.len()));
            if !text.trim().is_empty() {
                self.rest = from;
                return Ok(Some(Event::Text(unescaped(text.trim()))));
            }
            if from.is_empty() {
                return Ok(None);
            }
            match hidden(from) {
                Some(end) => self.rest = from.get(end?..).ok_or(Broken)?,
                None => return self.tag(from).map(Some),
            }
        }
    }

    fn tag(&mut self, from: &'a str) -> Result<Event<'a>, Broken> {
        let end = tag_end(from).ok_or(Broken)?;
        self.rest = &from[end + 1..];
        let inside = &from[1..end];
        if let Some(name) = inside.strip_prefix('/') {
            return Ok(Event::Close(name.trim()));
        }
        let inside = inside.strip_suffix('/').unwrap_or(inside);
        let (name, rest) = inside.split_at(inside.find(char::is_whitespace).unwrap_or(inside.len()));
        if name.is_empty() {
            return Err(Broken);
        }
        Ok(Event::Open(name, attributes(rest)?))
    }
}

/// Where a comment, declaration, instruction or document type ends, if `from` begins with one.
fn hidden(from: &str) -> Option<Result<usize, Broken>> {
    const HIDDEN: [(&str, &str); 4] = [("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>"), ("<!", ">")];
    let (_, last) = HIDDEN.iter().find(|(first, _)| from.starts_with(first))?;
    Some(from.find(last).map(|at| at + last.len()).ok_or(Broken))
}

/// The end of a tag: the first `>` outside quotes.
fn tag_end(from: &str) -> Option<usize> {
    let mut quote = None;
    from.bytes().position(|byte| {
        match quote {
            Some(open) if open == byte => quote = None,
            Some(_) => {}
            None if byte == b'"' || byte == b'\'' => quote = Some(byte),
            None => return byte == b'>',
        }
        false
    })
}

fn attributes(mut rest: &str) -> Result<Vec<(&str, String)>, Broken> {
    let mut found = Vec::new();
    while let Some((name, after)) = rest.split_once('=') {
        let after = after.trim_start();
        let quote = after.chars().next().filter(|&c| c == '"' || c == '\'').ok_or(Broken)?;
        let (value, next) = after[1..].split_once(quote).ok_or(Broken)?;
        found.push((name.trim(), unescaped(value)));
        rest = next;
    }
    if rest.trim().is_empty() { Ok(found) } else { Err(Broken) }
}

fn unescaped(text: &str) -> String {
    let mut parts = text.split('&');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let known = part.split_once(';').and_then(|(name, rest)| Some((entity(name)?, rest)));
        if let Some((c, rest)) = known {
            out.push(c);
            out.push_str(rest);
        } else {
            out.push('&');
            out.push_str(part);
        }
    }
    out
}

fn entity(name: &str) -> Option<char> {
    match name {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => {
            let number = name.strip_prefix('#')?;
            let code = match number.strip_prefix('x') {
                Some(hex) => u32::from_str_radix(hex, 16),
                None => number.parse(),
            };
            char::from_u32(code.ok()?)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_attributes_and_text_come_in_order() {
        let text = "<?xml version='1.0'?><!DOCTYPE a>\n<a b=\"1 &lt; &#50;\" c = 'x>y'><!-- <no/> --> t &amp; u <d/></a>";
        let mut tags = Tags::new(text);
        let attributes = vec![("b", "1 < 2".to_owned()), ("c", "x>y".to_owned())];
        assert_eq!(tags.next(), Ok(Some(Event::Open("a", attributes))));
        assert_eq!(tags.next(), Ok(Some(Event::Text("t & u".to_owned()))));
        assert_eq!(tags.next(), Ok(Some(Event::Open("d", Vec::new()))));
        assert_eq!(tags.next(), Ok(Some(Event::Close("a"))));
        assert_eq!(tags.next(), Ok(None));
    }

    #[test]
    fn what_is_broken_off_is_told() {
        for text in ["<a", "<a b", "<a b=c>", "<a b='>", "<!-- ", "<>"] {
            let mut tags = Tags::new(text);
            assert_eq!(tags.next(), Err(Broken), "{text}");
        }
    }
}
