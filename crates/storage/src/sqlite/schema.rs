//! The tables of the ports.

use crate::database::DatabaseFormat;

/// Marks a database as ours: `Prob` in ASCII.
const APPLICATION_ID: i64 = 0x5072_6f62;

/// The format of the ports' database. A published migration never changes.
pub(super) const PORTS_FORMAT: DatabaseFormat = DatabaseFormat {
    application: APPLICATION_ID,
    what: "store",
    keeps_log: true,
    migrations: &[
        "
    CREATE TABLE event (
        log TEXT NOT NULL, seq INTEGER NOT NULL, command TEXT NOT NULL, event BLOB NOT NULL,
        PRIMARY KEY (log, seq), UNIQUE (log, command)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE ref (
        space TEXT NOT NULL, name TEXT NOT NULL, value BLOB NOT NULL,
        PRIMARY KEY (space, name)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE lease (
        space TEXT NOT NULL, owner TEXT NOT NULL, boot TEXT NOT NULL, ends_ms INTEGER NOT NULL,
        PRIMARY KEY (space, owner)
    ) STRICT, WITHOUT ROWID;
",
        "
    -- The Merkle tree over all events: each leaf with the subtrees that it completes, level 0 first.
    CREATE TABLE leaf (
        number INTEGER PRIMARY KEY, log TEXT NOT NULL, seq INTEGER NOT NULL, hashes BLOB NOT NULL
    ) STRICT;
",
    ],
};
