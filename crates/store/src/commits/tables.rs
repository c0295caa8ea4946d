//! The tables of a commit store.
//!
//! What cannot be had again are commits, blobs, schemas, refs and decisions. The rest (nodes, writers, heads, kept
//! states) is derived from the commits and can be checked against them.

use crate::database::Form;

/// Marks a commit store: `PrCo` in ASCII.
const APPLICATION: i64 = 0x5072_436f;

/// The form of a commit store. A migration that has been published is never changed again.
pub(super) const FORM: Form = Form {
    application: APPLICATION,
    what: "commit store",
    migrations: &["
    CREATE TABLE schema_version (version INTEGER PRIMARY KEY, json BLOB NOT NULL) STRICT;
    CREATE TABLE node (
        seq INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE, kind INTEGER NOT NULL, parent INTEGER, target INTEGER,
        since INTEGER NOT NULL, since_bytes INTEGER NOT NULL, kept_bytes INTEGER NOT NULL, bytes BLOB NOT NULL
    ) STRICT;
    CREATE TABLE document (
        document INTEGER PRIMARY KEY, attachment TEXT NOT NULL, key TEXT NOT NULL, UNIQUE (attachment, key)
    ) STRICT;
    CREATE TABLE writer (
        document INTEGER NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (document, seq)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE head (seq INTEGER PRIMARY KEY) STRICT;
    CREATE TABLE version (
        version INTEGER PRIMARY KEY, document INTEGER NOT NULL, digest BLOB NOT NULL, value BLOB NOT NULL
    ) STRICT;
    CREATE TABLE snapshot (
        seq INTEGER PRIMARY KEY, digest BLOB NOT NULL, versions BLOB NOT NULL
    ) STRICT;
    CREATE TABLE ref (name TEXT PRIMARY KEY, id BLOB NOT NULL) STRICT, WITHOUT ROWID;
    CREATE TABLE blob (digest BLOB PRIMARY KEY, bytes BLOB NOT NULL) STRICT;
    CREATE TABLE decision (
        number INTEGER PRIMARY KEY, digest BLOB NOT NULL UNIQUE, survival BLOB, json BLOB NOT NULL
    ) STRICT;
    CREATE TABLE policy (number INTEGER PRIMARY KEY, json BLOB NOT NULL) STRICT;
"],
};
