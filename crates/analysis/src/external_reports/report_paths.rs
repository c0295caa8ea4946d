//! Maps paths and URIs of other tools to paths of the tree. Never guesses: whatever is not below the root is
//! outside, even if the tree has a file of that name.

use super::LeftOut;
use probity_paths::RepoPath;

/// Maps paths, knowing where the tree was.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReportPathResolver<'a> {
    pub root: &'a [u8],
}

impl ReportPathResolver<'_> {
    /// Returns the tree path for an absolute path, or for one relative to the root.
    pub(super) fn path(&self, path: &[u8]) -> Result<RepoPath, LeftOut> {
        let plain = normal(path).ok_or(LeftOut::OutsideTree)?;
        let below = match plain.first() {
            Some(b'/') => {
                let root = normal(self.root).ok_or(LeftOut::OutsideTree)?;
                let rest = plain.strip_prefix(root.as_slice()).ok_or(LeftOut::OutsideTree)?;
                // The file system root already ends with its slash.
                rest.strip_prefix(b"/").or((root == b"/").then_some(rest)).ok_or(LeftOut::OutsideTree)?
            }
            _ => &plain,
        };
        RepoPath::parse(below).map_err(|_| LeftOut::NoPlace)
    }

    /// Returns the tree path for a URI, which may be relative.
    pub(super) fn uri(&self, uri: &str) -> Result<RepoPath, LeftOut> {
        let rest = match scheme(uri) {
            Some(("file", rest)) => strip_authority(rest),
            Some(_) => return Err(LeftOut::OutsideTree),
            None => uri,
        };
        self.path(&percent_decode(rest))
    }
}

/// Splits a URI into its scheme and the rest after the colon.
pub(super) fn scheme(uri: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = uri.split_once(':')?;
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    is_scheme.then_some((scheme, rest))
}

/// Strips the host from the rest of a file URI: `//host/path`.
fn strip_authority(rest: &str) -> &str {
    match rest.strip_prefix("//") {
        Some(with_host) => with_host.find('/').map_or("", |slash| &with_host[slash..]),
        None => rest,
    }
}

fn percent_decode(text: &str) -> Vec<u8> {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let digits = bytes.get(at + 1..at + 3).filter(|_| bytes[at] == b'%');
        let value = digits
            .filter(|digits| digits.iter().all(u8::is_ascii_hexdigit))
            .and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok());
        out.push(value.unwrap_or(bytes[at]));
        at += if value.is_some() { 3 } else { 1 };
    }
    out
}

/// Removes `.`, `..` and repeated slashes from a path. Returns `None` if it climbs above its base.
fn normal(path: &[u8]) -> Option<Vec<u8>> {
    let mut names: Vec<&[u8]> = Vec::new();
    for name in path.split(|&byte| byte == b'/') {
        match name {
            b"" | b"." => {}
            b".." => drop(names.pop()?),
            name => names.push(name),
        }
    }
    let joined = names.join(&b'/');
    Some(if path.starts_with(b"/") { [b"/", joined.as_slice()].concat() } else { joined })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn located(uri: &str) -> Result<String, LeftOut> {
        ReportPathResolver { root: b"/home/me/project/" }.uri(uri).map(|path| path.to_string())
    }

    #[test]
    fn relative_and_absolute_addresses_of_the_tree_are_its_paths() {
        for uri in [
            "src/a%20b.py",
            "./src/a b.py",
            "file:///home/me/project/src/a%20b.py",
            "file://host/home/me/project/src/x/../a%20b.py",
            "/home/me/project//src/a b.py",
        ] {
            assert_eq!(located(uri), Ok("src/a b.py".to_owned()), "{uri}");
        }
    }

    #[test]
    fn everything_else_is_outside_and_never_guessed() {
        for uri in ["../a.py", "/home/me/project2/a.py", "https://example.org/a.py", "file:///etc/passwd"] {
            assert_eq!(located(uri), Err(LeftOut::OutsideTree), "{uri}");
        }
        for uri in ["", ".", "file:///home/me/project/"] {
            assert!(located(uri).is_err(), "{uri}");
        }
    }

    #[test]
    fn a_percent_sign_that_encodes_nothing_is_itself() {
        assert_eq!(percent_decode("100%/%zz%+1%4"), b"100%/%zz%+1%4");
        assert_eq!(percent_decode("%c3%A9"), "é".as_bytes());
    }
}
