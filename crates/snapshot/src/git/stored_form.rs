//! Computes what git would store for a working file: line endings, `$Id$` and encodings, converted as git does. Filters
//! are not started, so filtered content is not computed.

use super::attributes::{AttributeState, FileAttributes};
use super::config::AutoCrlf;
use crate::git_object::{GitId, ObjectFormat};
use std::borrow::Cow;

/// Returns the id of the blob that git would store for `content`. `None` if nothing would be converted, if the encoding
/// is unknown, or if git would drop text that it never wrote: the text inside `$Id: … $` is not stored, so git ignores
/// an edit there, but it is a change.
pub fn stored_id(
    content: &[u8],
    attributes: &FileAttributes,
    auto_crlf: AutoCrlf,
    format: ObjectFormat,
) -> Option<GitId> {
    let mut stored = Cow::Borrowed(content);
    if let Some(encoding) = attributes.encoding() {
        stored = Cow::Owned(to_utf8(content, encoding)?);
    }
    if line_ends_are_converted(&stored, attributes, auto_crlf) {
        stored = Cow::Owned(without_cr(&stored));
    }
    let expanded = (attributes.get("ident") == Some(&AttributeState::Set)).then(|| stored.clone());
    if expanded.is_some() {
        stored = Cow::Owned(without_ident(&stored).stored);
    }
    let id = (*stored != *content).then(|| GitId::of_blob(format, &stored))?;
    let own_words = format!(" {id} ");
    let is_own = |words: &&[u8]| *words == own_words.as_bytes();
    expanded.is_none_or(|expanded| without_ident(&expanded).words.iter().all(is_own)).then_some(id)
}

fn line_ends_are_converted(content: &[u8], attributes: &FileAttributes, auto_crlf: AutoCrlf) -> bool {
    // `crlf` is the old name of `text`, and `eol` implies that a file is text.
    let has_eol = matches!(attributes.get("eol"), Some(AttributeState::Value(value)) if value == "lf" || value == "crlf");
    let is_auto = |value: &str| value == "auto";
    match attributes.get("text").or_else(|| attributes.get("crlf")) {
        Some(AttributeState::Unset) => false,
        Some(AttributeState::Value(value)) if is_auto(value) => !is_binary(content),
        Some(AttributeState::Value(value)) if value == "input" => true,
        Some(AttributeState::Set) => true,
        _ if has_eol => true,
        _ => auto_crlf == AutoCrlf::On && !is_binary(content),
    }
}

/// Guesses like git whether content is binary.
fn is_binary(content: &[u8]) -> bool {
    let (mut printable, mut nonprintable) = (0_usize, 0_usize);
    let mut bytes = content.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\r' if bytes.next_if_eq(&b'\n').is_some() => {}
            b'\r' | 0 => return true,
            b'\n' => {}
            8 | b'\t' | 0x1b | 0x0c => printable += 1,
            127 | 0..32 => nonprintable += 1,
            _ => printable += 1,
        }
    }
    // A trailing DOS end-of-file mark does not count.
    let mark = usize::from(content.last() == Some(&0x1a));
    (printable >> 7) < nonprintable - mark.min(nonprintable)
}

fn without_cr(content: &[u8]) -> Vec<u8> {
    let mut stored = Vec::with_capacity(content.len());
    for (at, &byte) in content.iter().enumerate() {
        if byte != b'\r' || content.get(at + 1) != Some(&b'\n') {
            stored.push(byte);
        }
    }
    stored
}

/// A text with every `$Id: … $` collapsed to `$Id$`.
struct CollapsedIdents<'a> {
    stored: Vec<u8>,
    /// The text between `$Id:` and `$`, for each occurrence.
    words: Vec<&'a [u8]>,
}

/// Replaces `$Id: … $` by `$Id$` where it is within one line.
fn without_ident(content: &[u8]) -> CollapsedIdents<'_> {
    let mut collapsed = CollapsedIdents { stored: Vec::with_capacity(content.len()), words: Vec::new() };
    let mut rest = content;
    while let Some(at) = rest.iter().position(|&byte| byte == b'$') {
        let (before, after) = rest.split_at(at + 1);
        collapsed.stored.extend_from_slice(before);
        rest = after;
        if let Some(keyword) = rest.strip_prefix(b"Id:")
            && let Some(end) = keyword.iter().position(|&byte| byte == b'$' || byte == b'\n')
            && keyword[end] == b'$'
        {
            collapsed.stored.extend_from_slice(b"Id$");
            collapsed.words.push(&keyword[..end]);
            rest = &keyword[end + 1..];
        }
    }
    collapsed.stored.extend_from_slice(rest);
    collapsed
}

/// Decodes UTF-16; other encodings are unsupported.
fn to_utf8(content: &[u8], encoding: &str) -> Option<Vec<u8>> {
    let (mark, rest) = match content {
        [0xff, 0xfe, rest @ ..] => (Some(false), rest),
        [0xfe, 0xff, rest @ ..] => (Some(true), rest),
        rest => (None, rest),
    };
    let is_big = match (encoding.to_ascii_uppercase().as_str(), mark) {
        ("UTF-16" | "UTF16", Some(is_big)) => is_big,
        ("UTF-16LE-BOM" | "UTF-16LE", mark)
            if mark.is_some() == encoding.to_ascii_uppercase().ends_with("BOM") =>
        {
            false
        }
        ("UTF-16BE", None) => true,
        _ => return None,
    };
    let (pairs, odd) = rest.as_chunks::<2>();
    let unit = |pair: &[u8; 2]| if is_big { u16::from_be_bytes(*pair) } else { u16::from_le_bytes(*pair) };
    let text: Result<String, _> = char::decode_utf16(pairs.iter().map(unit)).collect();
    text.ok().filter(|_| odd.is_empty()).map(String::into_bytes)
}

/// The file that a Git LFS pointer refers to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LfsPointer {
    /// The SHA-256 of the file in the working tree.
    pub sha256: probity_core::Digest,
    pub size: u64,
}

impl LfsPointer {
    /// Parses a pointer; `None` if the blob is something else.
    pub fn parse(blob: &[u8]) -> Option<Self> {
        const MAX_POINTER_BYTES: usize = 1024;
        let text = std::str::from_utf8(blob).ok().filter(|text| text.len() < MAX_POINTER_BYTES)?;
        let mut lines = text.lines();
        lines.next().filter(|line| line.starts_with("version https://git-lfs.github.com/spec/"))?;
        let (mut sha256, mut size) = (None, None);
        for line in lines {
            match line.split_once(' ')? {
                ("oid", value) => {
                    let bytes: [u8; 32] =
                        hex::decode(value.strip_prefix("sha256:")?).ok()?.try_into().ok()?;
                    sha256 = Some(probity_core::Digest::from_bytes(bytes));
                }
                ("size", value) => size = Some(value.parse().ok()?),
                _ => {}
            }
        }
        Some(Self { sha256: sha256?, size: size? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn git_guesses_binary_from_lone_returns_nuls_and_control_bytes() {
        assert!(!is_binary(b"a\r\nb\n\t"));
        assert!(is_binary(b"a\rb") && is_binary(b"a\0b") && is_binary(b"a\x01"));
        assert!(!is_binary(b"a\x1a"));
    }

    #[test]
    fn an_ident_is_collapsed_within_its_line() {
        let collapsed = without_ident(b"x $Id: 12ab $ y $Id$ $Id: z\n$ $Id: q$");
        assert_eq!(collapsed.stored, b"x $Id$ y $Id$ $Id: z\n$ $Id$");
        assert_eq!(collapsed.words, [&b" 12ab "[..], b" q"]);
    }

    #[test]
    fn only_the_id_that_git_writes_is_no_edit() {
        let mut attributes = FileAttributes::default();
        attributes.set("ident", AttributeState::Set);
        let stored =
            |content: &str| stored_id(content.as_bytes(), &attributes, AutoCrlf::Off, ObjectFormat::Sha1);
        let id = GitId::of_blob(ObjectFormat::Sha1, b"a $Id$ b $Id$\n");
        assert_eq!(stored(&format!("a $Id: {id} $ b $Id: {id} $\n")), Some(id.clone()));
        assert_eq!(stored(&format!("a $Id: {id} $ b $Id$\n")), Some(id.clone()));
        for forged in [" evil() ", "", " 1234 ", &format!(" {id}"), &format!("{id} "), &format!(" {id}  ")] {
            assert_eq!(stored(&format!("a $Id:{forged}$ b $Id: {id} $\n")), None, "{forged:?}");
        }
    }

    #[test]
    fn a_pointer_names_hash_and_size() {
        let oid = "ab".repeat(32);
        let pointer = format!("version https://git-lfs.github.com/spec/v1\noid sha256:{oid}\nsize 12\n");
        let found = LfsPointer::parse(pointer.as_bytes()).expect("a pointer");
        assert_eq!((found.sha256.as_bytes().as_slice(), found.size), (&[0xab; 32][..], 12));
        for bad in [
            "",
            "version https://example.org\n",
            &pointer.replace("sha256", "sha512"),
            &pointer.replace("12", "x"),
        ] {
            assert_eq!(LfsPointer::parse(bad.as_bytes()), None, "{bad}");
        }
    }

    #[test]
    fn utf16_is_read_with_the_mark_that_its_name_asks_for() {
        assert_eq!(to_utf8(b"\xff\xfea\0", "utf-16").as_deref(), Some(&b"a"[..]));
        assert_eq!(to_utf8(b"\xfe\xff\0a", "UTF-16").as_deref(), Some(&b"a"[..]));
        assert_eq!(to_utf8(b"a\0", "UTF-16LE").as_deref(), Some(&b"a"[..]));
        assert_eq!(to_utf8(b"\xff\xfea\0", "UTF-16LE-BOM").as_deref(), Some(&b"a"[..]));
        assert_eq!(to_utf8(b"a\0", "UTF-16"), None);
        assert_eq!(to_utf8(b"a", "SHIFT-JIS"), None);
    }
}
