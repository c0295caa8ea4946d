//! The stored form of a directory's records: a table of fixed width, which is read and written without a look at each
//! member. A large tree has many records, and every command reads all of them.

use crate::entry_record::{EntryContent, EntryFacts, EntryRecord};
use crate::merkle;
use probity_core::Digest;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serializer};

/// Five numbers of 8 bytes, two of 4, two of 2, the tag, and the content.
const RECORD_BYTES: usize = 5 * 8 + 2 * 4 + 2 * 2 + 1 + CONTENT_BYTES;
const CONTENT_BYTES: usize = 32;

pub(crate) fn serialize<S: Serializer>(records: &[EntryRecord], serializer: S) -> Result<S::Ok, S::Error> {
    let mut table = Vec::with_capacity(records.len() * RECORD_BYTES);
    records.iter().for_each(|record| put(record, &mut table));
    serializer.serialize_bytes(&table)
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Box<[EntryRecord]>, D::Error> {
    let table = <&[u8]>::deserialize(deserializer)?;
    let (rows, rest) = table.as_chunks::<RECORD_BYTES>();
    let records = rest.is_empty().then(|| rows.iter().map(record).collect()).flatten();
    records.ok_or_else(|| D::Error::custom("a record is damaged"))
}

fn put(record: &EntryRecord, table: &mut Vec<u8>) {
    let EntryFacts { device, inode, size, mtime_ns, ctime_ns, links, mode } = record.facts;
    for number in [device, inode, size, mtime_ns.cast_unsigned(), ctime_ns.cast_unsigned()] {
        table.extend_from_slice(&number.to_le_bytes());
    }
    table.extend_from_slice(&links.to_le_bytes());
    table.extend_from_slice(&record.name.0.to_le_bytes());
    table.extend_from_slice(&record.name.1.to_le_bytes());
    table.extend_from_slice(&mode.to_le_bytes());
    table.push(merkle::tag(&record.held));
    let mut content = [0; CONTENT_BYTES];
    match record.held {
        EntryContent::File(Some(digest)) | EntryContent::Symlink(Some(digest)) => {
            content = *digest.as_bytes();
        }
        EntryContent::Directory(Some(id)) => content[..4].copy_from_slice(&id.to_le_bytes()),
        EntryContent::CharDevice(number) | EntryContent::BlockDevice(number) => {
            content[..8].copy_from_slice(&number.to_le_bytes());
        }
        EntryContent::File(None)
        | EntryContent::Symlink(None)
        | EntryContent::Directory(None)
        | EntryContent::Fifo
        | EntryContent::Socket => {}
    }
    table.extend_from_slice(&content);
}

/// Reads one row; `None` if its tag or its content has no meaning.
fn record(row: &[u8; RECORD_BYTES]) -> Option<EntryRecord> {
    let mut rest = row.as_slice();
    let [device, inode, size, mtime, ctime] = std::array::from_fn(|_| u64::from_le_bytes(take(&mut rest)));
    let links = u32::from_le_bytes(take(&mut rest));
    let name = (u32::from_le_bytes(take(&mut rest)), u16::from_le_bytes(take(&mut rest)));
    let mode = u16::from_le_bytes(take(&mut rest));
    let [tag] = take(&mut rest);
    let content: [u8; CONTENT_BYTES] = take(&mut rest);
    let mut unused = content.as_slice();
    let held = match tag {
        b'f' => EntryContent::File(Some(Digest::from_bytes(take(&mut unused)))),
        b'l' => EntryContent::Symlink(Some(Digest::from_bytes(take(&mut unused)))),
        b'd' => EntryContent::Directory(Some(u32::from_le_bytes(take(&mut unused)))),
        b'c' => EntryContent::CharDevice(u64::from_le_bytes(take(&mut unused))),
        b'b' => EntryContent::BlockDevice(u64::from_le_bytes(take(&mut unused))),
        b'F' => EntryContent::File(None),
        b'L' => EntryContent::Symlink(None),
        b'D' => EntryContent::Directory(None),
        b'p' => EntryContent::Fifo,
        b's' => EntryContent::Socket,
        _ => return None,
    };
    let (mtime_ns, ctime_ns) = (mtime.cast_signed(), ctime.cast_signed());
    let facts = EntryFacts { device, inode, size, mtime_ns, ctime_ns, links, mode };
    unused.iter().all(|byte| *byte == 0).then_some(EntryRecord { name, facts, held })
}

/// Takes the next `N` bytes of a row.
fn take<const N: usize>(rest: &mut &[u8]) -> [u8; N] {
    let (taken, others) = rest.split_first_chunk().expect("a row has the bytes of all its members");
    *rest = others;
    *taken
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(serde::Serialize, serde::Deserialize)]
    struct Table(#[serde(with = "super")] Box<[EntryRecord]>);

    #[test]
    fn every_kind_of_content_comes_back_and_damage_is_refused() {
        let digest = Digest::of(b"content");
        let facts = EntryFacts {
            device: u64::MAX,
            inode: 2,
            size: 3,
            mtime_ns: -4,
            ctime_ns: i64::MAX,
            links: 5,
            mode: 0o4755,
        };
        let contents = [
            EntryContent::File(Some(digest)),
            EntryContent::File(None),
            EntryContent::Symlink(Some(digest)),
            EntryContent::Symlink(None),
            EntryContent::Directory(Some(7)),
            EntryContent::Directory(None),
            EntryContent::Fifo,
            EntryContent::Socket,
            EntryContent::CharDevice(8),
            EntryContent::BlockDevice(u64::MAX),
        ];
        for held in contents {
            let record = EntryRecord { name: (70_000, 9), facts, held };
            let bytes = postcard::to_stdvec(&Table(Box::new([record, record]))).expect("bytes");
            let Table(read) = postcard::from_bytes(&bytes).expect("a table");
            assert_eq!(*read, [record, record]);
            let mut row = Vec::new();
            put(&record, &mut row);
            let mut row: [u8; RECORD_BYTES] = row.try_into().expect("a row");
            let tag = row[RECORD_BYTES - CONTENT_BYTES - 1];
            if !matches!(tag, b'f' | b'l') {
                row[RECORD_BYTES - 1] = 1;
                assert!(super::record(&row).is_none(), "content that means nothing");
            }
            row[RECORD_BYTES - CONTENT_BYTES - 1] = b'?';
            assert!(super::record(&row).is_none(), "an unknown tag");
        }
        assert!(postcard::from_bytes::<Table>(&[3, 1, 2, 3]).is_err(), "a part of a row");
    }
}
