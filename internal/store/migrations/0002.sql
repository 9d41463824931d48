-- Which target mirrors which session.
CREATE TABLE bindings (
	seq        INTEGER PRIMARY KEY,
	id         TEXT    NOT NULL UNIQUE,
	session    TEXT    NOT NULL, -- its id
	adapter    TEXT    NOT NULL,
	chat       TEXT    NOT NULL,
	thread     TEXT    NOT NULL,
	view       TEXT    NOT NULL,
	input      INTEGER NOT NULL,
	origin     TEXT    NOT NULL,
	disabled   TEXT    NOT NULL, -- why; '': it works
	unbound    INTEGER NOT NULL,
	created_at INTEGER NOT NULL,
	UNIQUE (session, adapter, chat, thread)
) STRICT;

-- How far each target is. A line number and a byte make a place in the output log.
CREATE TABLE documents (
	binding      INTEGER PRIMARY KEY REFERENCES bindings (seq) ON DELETE CASCADE,
	shown_line   INTEGER NOT NULL, -- everything before this place is in the chat
	shown_byte   INTEGER NOT NULL,
	turn         INTEGER NOT NULL, -- the newest turn whose end was announced
	announced    INTEGER NOT NULL, -- the line at which it ended
	chat         TEXT    NOT NULL, -- where the platform has the target now, if elsewhere
	thread       TEXT    NOT NULL,
	doubt_line   INTEGER NOT NULL, -- what unanswered calls may have shown
	doubt_byte   INTEGER NOT NULL,
	doubt_turn   INTEGER NOT NULL,
	doubt_screen INTEGER NOT NULL,
	tail         TEXT,             -- adapters.Message as JSON
	stale        TEXT,             -- adapters.Message as JSON
	intent       TEXT              -- adapters.Intent as JSON; NULL: no call is under way
) STRICT;

-- What stands in which message, the newest of each document. n counts within the document.
CREATE TABLE messages (
	binding   INTEGER NOT NULL REFERENCES bindings (seq) ON DELETE CASCADE,
	n         INTEGER NOT NULL,
	id        TEXT    NOT NULL, -- the platform's
	from_line INTEGER NOT NULL,
	to_line   INTEGER NOT NULL, -- less than from_line: it shows no line
	PRIMARY KEY (binding, n)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX messages_by_id ON messages (id, binding);

-- The calls that still count against a bot's limits, and the penalties it's under.
CREATE TABLE slots (
	bot    TEXT    NOT NULL,
	permit INTEGER NOT NULL, -- unsigned: the bits are what counts
	chat   TEXT    NOT NULL,
	family TEXT    NOT NULL,
	stamp  INTEGER NOT NULL, -- when the call was answered, or the latest it could be
	PRIMARY KEY (bot, permit)
) STRICT, WITHOUT ROWID;

CREATE TABLE penalties (
	bot          TEXT    NOT NULL,
	chat         TEXT    NOT NULL, -- '': the whole bot
	family       TEXT    NOT NULL,
	all_families INTEGER NOT NULL,
	until        INTEGER NOT NULL,
	multiplier   REAL    NOT NULL,
	PRIMARY KEY (bot, chat, family, all_families)
) STRICT, WITHOUT ROWID;
