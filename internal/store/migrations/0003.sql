-- What came in from chats. A place is (adapter, chat, thread).

ALTER TABLE bindings ADD COLUMN resting INTEGER NOT NULL DEFAULT 0;

-- Whoever asks for an input twice gives it a key; NULL: it has none.
ALTER TABLE receipts ADD COLUMN key TEXT;
CREATE UNIQUE INDEX receipts_by_key ON receipts (key) WHERE key IS NOT NULL;

-- What pairing gave.
CREATE TABLE grants (
	person TEXT    NOT NULL, -- "telegram:123"
	role   TEXT    NOT NULL,
	name   TEXT    NOT NULL, -- as the platform showed it then
	by     TEXT    NOT NULL, -- who made the code
	at     INTEGER NOT NULL,
	PRIMARY KEY (person, role)
) STRICT, WITHOUT ROWID;

CREATE TABLE chats (
	adapter TEXT    NOT NULL,
	chat    TEXT    NOT NULL,
	by      TEXT    NOT NULL,
	at      INTEGER NOT NULL,
	PRIMARY KEY (adapter, chat)
) STRICT, WITHOUT ROWID;

CREATE TABLE codes (
	hash       TEXT    NOT NULL PRIMARY KEY,
	role       TEXT    NOT NULL,
	by         TEXT    NOT NULL,
	expires_at INTEGER NOT NULL,
	used_key   TEXT    NOT NULL DEFAULT '' -- of the event that used it
) STRICT, WITHOUT ROWID;

-- The audit log.
CREATE TABLE audit (
	seq     INTEGER PRIMARY KEY,
	key     TEXT    NOT NULL UNIQUE,
	at      INTEGER NOT NULL,
	adapter TEXT    NOT NULL,
	chat    TEXT    NOT NULL,
	thread  TEXT    NOT NULL,
	person  TEXT    NOT NULL,
	name    TEXT    NOT NULL,
	kind    TEXT    NOT NULL,
	what    TEXT    NOT NULL,
	session TEXT    NOT NULL,
	bytes   INTEGER NOT NULL,
	hash    TEXT    NOT NULL,
	outcome TEXT    NOT NULL
) STRICT;

-- What buttons do. Of those of one "together" one is used.
CREATE TABLE offers (
	id         TEXT    NOT NULL PRIMARY KEY,
	adapter    TEXT    NOT NULL,
	chat       TEXT    NOT NULL,
	thread     TEXT    NOT NULL,
	do         TEXT    NOT NULL,
	session    TEXT    NOT NULL,
	args       TEXT    NOT NULL,
	role       TEXT    NOT NULL,
	person     TEXT    NOT NULL,
	single     INTEGER NOT NULL,
	together   TEXT    NOT NULL,
	expires_at INTEGER NOT NULL,
	used_key   TEXT    NOT NULL DEFAULT '',
	used_by    TEXT    NOT NULL DEFAULT '',
	used_at    INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

CREATE INDEX offers_together ON offers (together);
CREATE INDEX offers_by_expiry ON offers (expires_at);

-- Messages that aren't typed before their writers have said so.
CREATE TABLE waiting (
	key     TEXT    NOT NULL PRIMARY KEY,
	kept_at INTEGER NOT NULL,
	message TEXT    NOT NULL -- inbound.Waiting as JSON
) STRICT;

-- The messages that inputs came from.
CREATE TABLE origins (
	seq     INTEGER PRIMARY KEY,
	key     TEXT    NOT NULL UNIQUE, -- of the input
	adapter TEXT    NOT NULL,
	chat    TEXT    NOT NULL,
	thread  TEXT    NOT NULL,
	message TEXT    NOT NULL,
	person  TEXT    NOT NULL,
	session TEXT    NOT NULL,
	at      INTEGER NOT NULL,
	receipt TEXT    NOT NULL,
	told    TEXT    NOT NULL,
	reply   TEXT    NOT NULL,
	edited  INTEGER NOT NULL DEFAULT 0, -- its writer was told about edits
	done    INTEGER NOT NULL
) STRICT;

CREATE INDEX origins_by_message ON origins (message);
CREATE INDEX open_origins ON origins (seq) WHERE NOT done;

-- How places want to be called. Times of day are nanoseconds since midnight.
CREATE TABLE preferences (
	adapter     TEXT    NOT NULL,
	chat        TEXT    NOT NULL,
	thread      TEXT    NOT NULL,
	session     TEXT    NOT NULL, -- '': all of the place
	muted_until INTEGER NOT NULL,
	quiet_from  INTEGER NOT NULL,
	quiet_to    INTEGER NOT NULL,
	zone        TEXT    NOT NULL,
	PRIMARY KEY (adapter, chat, thread, session)
) STRICT, WITHOUT ROWID;
