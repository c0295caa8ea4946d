//! Words of a command line that look like secrets, and addresses with a password in them.
//!
//! What is recorded or logged shows that a word was there, not what it was. This finds what tools usually take; a secret
//! that looks like an ordinary word is not recognized, so secrets belong into the environment or a file.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// Stands for a masked word or part of it.
const MASK: &[u8] = b"***";

/// Parts of the names of options and variables whose values are secrets.
const SECRET_NAMES: &[&str] = &[
    "token",
    "password",
    "passwd",
    "passphrase",
    "secret",
    "apikey",
    "api-key",
    "api_key",
    "access-key",
    "access_key",
    "private-key",
    "private_key",
    "credential",
    "auth",
    "bearer",
    "cookie",
];

/// Beginnings of well-known secrets.
const SECRET_PREFIXES: &[&str] = &[
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "github_pat_",
    "glpat-",
    "sk-",
    "sk_live_",
    "rk_live_",
    "AKIA",
    "ASIA",
    "xoxb-",
    "xoxp-",
    "xoxa-",
    "xoxs-",
    "xapp-",
    "npm_",
    "pypi-",
    "hf_",
    "AIza",
    "eyJ",
];

/// The shortest word that counts as a well-known secret: `sk-` alone is none.
const MIN_SECRET_BYTES: usize = 16;

/// Returns the words of a command line with what looks like a secret masked. The program is never masked.
pub fn mask_secrets(words: &[impl AsRef<OsStr>]) -> Vec<OsString> {
    let words: Vec<&[u8]> = words.iter().map(|word| word.as_ref().as_bytes()).collect();
    let Some((program, arguments)) = words.split_first() else { return Vec::new() };
    let program = OsStr::from_bytes(program).to_owned();
    [program].into_iter().chain(mask_words(arguments).into_iter().map(OsString::from_vec)).collect()
}

fn mask_words(words: &[&[u8]]) -> Vec<Vec<u8>> {
    let mut is_value = false;
    let mask = |word: &&[u8]| {
        let shown = if is_value && !word.starts_with(b"-") { MASK.to_vec() } else { mask_word(word) };
        is_value = word.starts_with(b"-") && !word.contains(&b'=') && is_secret_name(word);
        shown
    };
    words.iter().map(mask).collect()
}

fn mask_word(word: &[u8]) -> Vec<u8> {
    let name_end = word.iter().position(|byte| *byte == b'=').map_or(0, |at| at + 1);
    let (name, value) = word.split_at(name_end);
    if !name.is_empty() && !name.contains(&b' ') {
        let is_secret = is_secret_name(name) && !value.is_empty();
        return [name, &if is_secret { MASK.to_vec() } else { mask_word(value) }].concat();
    }
    if has_secret(word) {
        return MASK.to_vec();
    }
    if word.contains(&b' ') {
        // A script of a shell: its words are those of a command line.
        return mask_words(&word.split(|byte| *byte == b' ').collect::<Vec<_>>()).join(&b' ');
    }
    without_userinfo(word)
}

fn is_secret_name(name: &[u8]) -> bool {
    let name = String::from_utf8_lossy(name).to_ascii_lowercase();
    let name = name.trim_start_matches('-').trim_end_matches('=');
    // `--author` and `--authority` name people and places.
    SECRET_NAMES.iter().any(|secret| match *secret {
        "auth" => name == "auth" || name.ends_with("-auth") || name.ends_with("_auth"),
        secret => name.contains(secret),
    })
}

/// Returns whether a word contains a well-known secret, also behind a scheme as in `Authorization: Bearer …`.
fn has_secret(word: &[u8]) -> bool {
    let is_secret = |part: &[u8]| {
        part.len() >= MIN_SECRET_BYTES
            && SECRET_PREFIXES.iter().any(|prefix| part.starts_with(prefix.as_bytes()))
            && part.iter().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(byte))
    };
    let lower = word.to_ascii_lowercase();
    let is_header = lower.starts_with(b"authorization:") || lower.starts_with(b"cookie:");
    is_header || !word.contains(&b' ') && word.split(|byte| b" :\"'".contains(byte)).any(is_secret)
}

/// Returns text whose addresses (`https://user:password@host`) have lost their user and password.
pub fn without_userinfo(text: &[u8]) -> Vec<u8> {
    let Some(scheme) = text.windows(3).position(|window| window == b"://") else { return text.to_vec() };
    let (before, rest) = text.split_at(scheme + 3);
    let end = rest.iter().position(|byte| b"/?# ".contains(byte)).unwrap_or(rest.len());
    let host = rest[..end].iter().rposition(|byte| *byte == b'@').map_or(0, |at| at + 1);
    [before, &rest[host..end], &without_userinfo(&rest[end..])].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn masked(words: &[&str]) -> Vec<String> {
        mask_secrets(words).into_iter().map(|word| word.into_string().expect("text")).collect()
    }

    #[test]
    fn what_looks_like_a_secret_is_masked() {
        assert_eq!(
            masked(&[
                "deploy",
                "--token=abc",
                "--password",
                "hunter2",
                "-v",
                "API_KEY=x y",
                "GITHUB_TOKEN=t"
            ]),
            ["deploy", "--token=***", "--password", "***", "-v", "API_KEY=***", "GITHUB_TOKEN=***"]
        );
        for secret in [
            "ghp_0123456789abcdefghij",
            "sk-0123456789abcdefghij",
            "AKIA0123456789ABCDEF",
            "xoxb-0123456789-abcdef",
            "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc",
            "Authorization: Bearer x",
        ] {
            assert_eq!(masked(&["curl", secret]), ["curl", "***"], "{secret}");
            assert_eq!(masked(&["curl", &format!("--data={secret}")]), ["curl", "--data=***"], "{secret}");
        }
        assert_eq!(
            masked(&["git", "clone", "https://ann:pw@example.org/a@b"]),
            ["git", "clone", "https://example.org/a@b"]
        );
    }

    #[test]
    fn a_script_is_masked_word_by_word() {
        assert_eq!(
            masked(&[
                "sh",
                "-c",
                "export A_TOKEN=x; curl --password y https://a:b@c/d sk-0123456789abcdefghij"
            ]),
            ["sh", "-c", "export A_TOKEN=*** curl --password *** https://c/d ***"]
        );
    }

    #[test]
    fn ordinary_words_stay() {
        let words =
            ["sh", "-c", "a=1; echo sk-x", "--author", "ann", "--tokens", "--", "src/token.rs", "x=y"];
        let shown = masked(&words);
        assert_eq!(
            (&shown[..5], &shown[6..]),
            (&words.map(String::from)[..5], &words.map(String::from)[6..])
        );
        assert_eq!(masked(&["ghp_0123456789abcdefghij.sh-is-the-program"]).len(), 1);
    }
}
