//! Checkpoints: the head of the log as a signed note, as C2SP `signed-note`, `tlog-checkpoint` and `tlog-cosignature`
//! (version 1, Ed25519) define it, so that the tools of other transparency logs can read and countersign it.
//!
//! ```text
//! probity.dev/log/5f1c9ab2c1d7e3f0            origin: which log
//! 20852163                                     number of leaves
//! CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I= root
//!
//! — probity.dev/log/5f1c9ab2c1d7e3f0 Az3grlgt…  the log's signature
//! — witness.example.org/w1 jWbPPwAAAABkGFDL…    countersignatures of witnesses
//! ```

use crate::{PublicKey, SecretKey};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use probity_core::merkle::TreeHead;
use probity_core::{Digest, ReasonCode};
use std::fmt::Write as _;

/// More than any honest log has; a longer note is refused unread.
const MAX_NOTE_BYTES: usize = 64 << 10;
const MAX_SIGNATURES: usize = 64;

const ED25519: u8 = 0x01;
const TIMESTAMPED_ED25519: u8 = 0x04;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("this is no checkpoint: {0}")]
pub struct CheckpointError(&'static str);

impl CheckpointError {
    pub const fn reason(&self) -> ReasonCode {
        ReasonCode::LogCheckpointInvalid
    }
}

/// What a checkpoint says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeCheckpoint {
    /// Identifies the log; the name of its key as well.
    pub origin: String,
    pub head: TreeHead,
}

impl TreeCheckpoint {
    fn to_body(&self) -> String {
        let root = STANDARD.encode(self.head.root.as_bytes());
        format!("{}\n{}\n{root}\n", self.origin, self.head.size)
    }

    /// Parses a note's text. Further lines are allowed and covered by the signatures, but mean nothing here.
    fn parse(body: &str) -> Result<Self, CheckpointError> {
        let mut lines = body.strip_suffix('\n').ok_or(CheckpointError("its text does not end"))?.split('\n');
        let [Some(origin), Some(size), Some(root)] = [lines.next(), lines.next(), lines.next()] else {
            return Err(CheckpointError("it needs an origin, a size and a root"));
        };
        if origin.is_empty() || lines.any(str::is_empty) {
            return Err(CheckpointError("it has an empty line"));
        }
        let number = size.parse().ok().filter(|number: &u64| number.to_string() == size);
        let bytes = STANDARD.decode(root).ok().and_then(|bytes| <[u8; 32]>::try_from(bytes).ok());
        Ok(Self {
            origin: origin.to_owned(),
            head: TreeHead {
                size: number.ok_or(CheckpointError("its size is not a number"))?,
                root: bytes.map(Digest::from_bytes).ok_or(CheckpointError("its root is no SHA-256"))?,
            },
        })
    }
}

/// A checkpoint with its signatures, none of which is believed before it is checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignedCheckpoint {
    checkpoint: TreeCheckpoint,
    /// The signed text, including lines that are not understood.
    body: String,
    signatures: Vec<NoteSignature>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct NoteSignature {
    name: String,
    /// The key id and the signature.
    bytes: Vec<u8>,
}

/// The outcome of looking for one key's signature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoteVerdict {
    /// There is no signature of this name and key.
    Absent,
    Valid,
    /// A signature claims to be by this key and is not.
    Invalid,
}

impl SignedCheckpoint {
    pub fn unsigned(checkpoint: TreeCheckpoint) -> Self {
        Self { body: checkpoint.to_body(), checkpoint, signatures: Vec::new() }
    }

    pub const fn checkpoint(&self) -> &TreeCheckpoint {
        &self.checkpoint
    }

    /// Adds the signature of the log, whose key is named by the origin.
    #[must_use]
    pub fn signed(mut self, key: &SecretKey) -> Self {
        let (name, public) = (self.checkpoint.origin.clone(), key.public());
        let signature = key.sign(self.body.as_bytes());
        self.add(&name, &[key_id(&name, ED25519, &public).as_slice(), &signature].concat());
        self
    }

    /// Adds the countersignature of a witness, who states that at `time` (in seconds since 1970) this was the largest
    /// consistent tree it had seen.
    pub fn cosign(&mut self, name: &str, key: &SecretKey, time: u64) -> Result<(), CheckpointError> {
        if !is_key_name(name) {
            return Err(CheckpointError("the name of a witness has neither spaces nor `+`"));
        }
        let id = key_id(name, TIMESTAMPED_ED25519, &key.public());
        let signature = key.sign(self.cosigned_message(time).as_bytes());
        self.add(name, &[id.as_slice(), &time.to_be_bytes(), &signature].concat());
        Ok(())
    }

    /// Adds a signature in place of an earlier one by the same key.
    fn add(&mut self, name: &str, bytes: &[u8]) {
        self.signatures.retain(|found| found.name != name || found.bytes[..4] != bytes[..4]);
        self.signatures.push(NoteSignature { name: name.to_owned(), bytes: bytes.to_vec() });
    }

    fn cosigned_message(&self, time: u64) -> String {
        format!("cosignature/v1\ntime {time}\n{}", self.body)
    }

    /// Tells whether the log signed this with `key`.
    pub fn log_signature(&self, key: &PublicKey) -> NoteVerdict {
        let message = self.body.as_bytes();
        self.verdict(&self.checkpoint.origin, key_id(&self.checkpoint.origin, ED25519, key), |signature| {
            key.verifies(message, signature)
        })
    }

    /// Tells whether a witness countersigned this.
    pub fn cosignature(&self, name: &str, key: &PublicKey) -> NoteVerdict {
        self.verdict(name, key_id(name, TIMESTAMPED_ED25519, key), |signature| {
            let Some((time, signature)) = signature.split_first_chunk() else { return false };
            let time = u64::from_be_bytes(*time);
            i64::try_from(time).is_ok() && key.verifies(self.cosigned_message(time).as_bytes(), signature)
        })
    }

    fn verdict(&self, name: &str, id: [u8; 4], is_valid: impl Fn(&[u8]) -> bool) -> NoteVerdict {
        let own: Vec<_> =
            self.signatures.iter().filter(|found| found.name == name && found.bytes[..4] == id).collect();
        match own.as_slice() {
            [] => NoteVerdict::Absent,
            own if own.iter().all(|found| is_valid(&found.bytes[4..])) => NoteVerdict::Valid,
            _ => NoteVerdict::Invalid,
        }
    }

    /// Returns the note, or only its text if nobody signed it.
    pub fn to_text(&self) -> String {
        let mut text = self.body.clone();
        for (n, NoteSignature { name, bytes }) in self.signatures.iter().enumerate() {
            let gap = if n == 0 { "\n" } else { "" };
            let _ = writeln!(text, "{gap}— {name} {}", STANDARD.encode(bytes));
        }
        text
    }

    /// Parses a note. Unlike other tools it takes a text without signatures, which proves nothing about its author.
    pub fn parse(bytes: &[u8]) -> Result<Self, CheckpointError> {
        if bytes.len() > MAX_NOTE_BYTES {
            return Err(CheckpointError("it is too long"));
        }
        let text = std::str::from_utf8(bytes).map_err(|_| CheckpointError("it is not UTF-8"))?;
        if text.bytes().any(|byte| byte < b' ' && byte != b'\n') {
            return Err(CheckpointError("it has control characters"));
        }
        let (body, lines) = match text.rfind("\n\n") {
            Some(end) if end + 2 == text.len() => return Err(CheckpointError("it has no signature lines")),
            Some(end) => (&text[..=end], &text[end + 2..]),
            None => (text, ""),
        };
        let (checkpoint, body) = (TreeCheckpoint::parse(body)?, body.to_owned());
        if !lines.is_empty() && !lines.ends_with('\n') {
            return Err(CheckpointError("its last line does not end"));
        }
        let signatures = lines.lines().map(NoteSignature::parse).collect::<Option<Vec<_>>>();
        match signatures.filter(|signatures| signatures.len() <= MAX_SIGNATURES) {
            Some(signatures) if !signatures.is_empty() || lines.is_empty() => {
                Ok(Self { checkpoint, body, signatures })
            }
            _ => Err(CheckpointError("its signature lines are malformed")),
        }
    }
}

impl NoteSignature {
    fn parse(line: &str) -> Option<Self> {
        let (name, signature) = line.strip_prefix("— ")?.split_once(' ')?;
        let bytes = STANDARD.decode(signature).ok().filter(|bytes| bytes.len() > 4)?;
        is_key_name(name).then(|| Self { name: name.to_owned(), bytes })
    }
}

fn is_key_name(name: &str) -> bool {
    !name.is_empty()
        && !name.contains(|letter: char| letter.is_whitespace() || letter.is_control() || letter == '+')
}

fn key_id(name: &str, kind: u8, key: &PublicKey) -> [u8; 4] {
    let digest = Digest::of(&[name.as_bytes(), b"\n", &[kind], key.as_bytes()].concat());
    let [a, b, c, d, ..] = *digest.as_bytes();
    [a, b, c, d]
}

#[cfg(test)]
mod tests {
    use super::*;

    const ORIGIN: &str = "example.com/behind-the-sofa";

    fn checkpoint() -> TreeCheckpoint {
        let root = STANDARD.decode("CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=").expect("base64");
        let root = Digest::from_bytes(root.try_into().expect("32 bytes"));
        TreeCheckpoint { origin: ORIGIN.into(), head: TreeHead { size: 20_852_163, root } }
    }

    /// The example of `tlog-cosignature`, with a log's signature and a witness's.
    const EXAMPLE: &str = "example.com/behind-the-sofa\n20852163\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n\n\
        — example.com/behind-the-sofa Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=\n\
        — witness.example.com/w1 jWbPPwAAAABkGFDLEZMHwSRaJNiIDoe9DYn/zXcrtPHeolMI5OWXEhZCB9dlrDJsX3b2oyin1nPZqhf5nNo0xUe+mbIUBkBIfZ+qnA==\n";

    #[test]
    fn reads_and_writes_the_example_of_the_specification() {
        let read = SignedCheckpoint::parse(EXAMPLE.as_bytes()).expect("a checkpoint");
        assert_eq!(*read.checkpoint(), checkpoint());
        assert_eq!(read.to_text(), EXAMPLE);
        let time = u64::from_be_bytes(*read.signatures[1].bytes[4..].first_chunk().expect("a time"));
        assert_eq!(time, 1_679_315_147);
        let message = read.cosigned_message(time);
        assert!(
            message.starts_with("cosignature/v1\ntime 1679315147\nexample.com/behind-the-sofa\n20852163\n")
        );
    }

    #[test]
    fn a_signature_is_found_by_name_and_key_and_covers_the_text() {
        let (key, other) = (SecretKey::from_random(&[7; 32]), SecretKey::from_random(&[8; 32]));
        let signed = SignedCheckpoint::unsigned(checkpoint()).signed(&key);
        assert_eq!(signed.log_signature(&key.public()), NoteVerdict::Valid);
        assert_eq!(signed.log_signature(&other.public()), NoteVerdict::Absent);
        let read = SignedCheckpoint::parse(signed.to_text().as_bytes()).expect("a checkpoint");
        assert_eq!(read, signed);
        let forged = signed.to_text().replace("20852163", "20852162");
        let forged = SignedCheckpoint::parse(forged.as_bytes()).expect("a checkpoint");
        assert_eq!(forged.log_signature(&key.public()), NoteVerdict::Invalid);
    }

    #[test]
    fn a_witness_signs_the_time_as_well() {
        let key = SecretKey::from_random(&[9; 32]);
        let mut signed = SignedCheckpoint::unsigned(checkpoint());
        signed.cosign("witness.example.com/w1", &key, 1_679_315_147).expect("signs");
        assert_eq!(signed.cosignature("witness.example.com/w1", &key.public()), NoteVerdict::Valid);
        assert_eq!(signed.cosignature("witness.example.com/w2", &key.public()), NoteVerdict::Absent);
        let mut forged = signed.clone();
        forged.signatures[0].bytes[11] ^= 1;
        assert_eq!(forged.cosignature("witness.example.com/w1", &key.public()), NoteVerdict::Invalid);
        signed.cosign("witness.example.com/w1", &key, 1_679_315_148).expect("signs again");
        assert_eq!(signed.signatures.len(), 1, "the later countersignature replaces the earlier one");
        assert!(signed.cosign("a b", &key, 1).is_err());
    }

    #[test]
    fn refuses_what_is_malformed() {
        let body = checkpoint().to_body();
        for bad in [
            "",
            "a\n",
            "a\n1\n",
            &body[..body.len() - 1],
            &body.replace("20852163", "020852163"),
            &body.replace("20852163", "+1"),
            &body.replace("2I=", "2I"),
            &body.replace(ORIGIN, ""),
            &format!("{body}\t\n"),
            &format!("{body}\n— name\n"),
            &format!("{body}\n— name AAAA\n"),
            &format!("{body}\n— na+me AAAAAAAA\n"),
            &format!("{body}\n- name AAAAAAAA\n"),
            &format!("{body}\n— name AAAAAAAA"),
            &format!("{body}\n"),
        ] {
            assert!(SignedCheckpoint::parse(bad.as_bytes()).is_err(), "{bad:?}");
        }
        assert!(
            SignedCheckpoint::parse(format!("{body}more\n").as_bytes()).is_ok(),
            "further lines are allowed"
        );
    }
}
