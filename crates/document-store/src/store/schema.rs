//! The tables of a commit store.
//!
//! Commits, blobs, schemas, refs, decisions and the policy cannot be recovered if lost. Everything else (graph
//! positions, writers, ids, heads, snapshots) is derived from the commits and can be checked against them.

use probity_storage::database::DatabaseFormat;

/// Marks a commit store: `PrCo` in ASCII.
const APPLICATION_ID: i64 = 0x5072_436f;

/// The format of a commit store. A published migration never changes.
pub(super) const COMMIT_STORE_FORMAT: DatabaseFormat = DatabaseFormat {
    application: APPLICATION_ID,
    what: "commit store",
    keeps_log: false,
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
", "
    CREATE TABLE entry (
        seq INTEGER PRIMARY KEY, id BLOB NOT NULL, kind INTEGER NOT NULL, parent INTEGER, target INTEGER,
        since INTEGER NOT NULL, since_bytes INTEGER NOT NULL, kept_bytes INTEGER NOT NULL, documents TEXT NOT NULL,
        bytes BLOB NOT NULL
    ) STRICT;
    INSERT INTO entry SELECT seq, id, kind, parent, target, since, since_bytes, kept_bytes, coalesce(list, ''), bytes
        FROM node LEFT JOIN (SELECT seq AS of, group_concat(document) AS list FROM writer GROUP BY seq) ON of = seq
        ORDER BY seq;
    DROP TABLE node;
    ALTER TABLE entry RENAME TO node;
    CREATE TABLE node_id (
        prefix BLOB NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (prefix, seq)
    ) STRICT, WITHOUT ROWID;
    INSERT INTO node_id SELECT substr(id, 1, 8), seq FROM node ORDER BY 1;
    CREATE TABLE indexed (one INTEGER PRIMARY KEY CHECK (one = 1), until INTEGER NOT NULL) STRICT;
    INSERT INTO indexed SELECT 1, coalesce(max(seq) + 1, 0) FROM node;
", "
    INSERT INTO node_id SELECT substr(id, 1, 8), seq FROM node WHERE seq >= (SELECT until FROM indexed);
    INSERT INTO writer SELECT listed.value, seq FROM node, json_each('[' || documents || ']') AS listed
        WHERE seq >= (SELECT until FROM indexed);
    DELETE FROM head;
    INSERT INTO head SELECT seq FROM node
        EXCEPT SELECT parent FROM node EXCEPT SELECT target FROM node WHERE kind = 3;
    DROP TABLE indexed;
    ALTER TABLE node DROP COLUMN documents;
"],
};
