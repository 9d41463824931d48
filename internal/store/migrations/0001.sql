-- Times are nanoseconds since 1970 (UTC), 0 for none.

-- seq stands for the session in the other tables: 8 bytes less than its id in every line.
CREATE TABLE sessions (
	seq          INTEGER PRIMARY KEY AUTOINCREMENT,
	id           TEXT    NOT NULL UNIQUE,
	name         TEXT    NOT NULL,
	agent        TEXT    NOT NULL,
	cwd          TEXT    NOT NULL,
	state        TEXT    NOT NULL,
	reason       TEXT    NOT NULL,
	server       TEXT    NOT NULL,
	server_pid   INTEGER NOT NULL,
	server_start INTEGER NOT NULL,
	pane         TEXT    NOT NULL,
	tmux_session TEXT    NOT NULL,
	owned        INTEGER NOT NULL,
	created_at   INTEGER NOT NULL,
	ended_at     INTEGER NOT NULL,
	exit_status  INTEGER,          -- NULL: the program hasn't ended
	exit_signal  TEXT    NOT NULL
) STRICT;

-- A session's output log. Apart from sessions, so that storing a session can't touch it.
CREATE TABLE logs (
	session        INTEGER PRIMARY KEY REFERENCES sessions (seq) ON DELETE CASCADE,
	head           INTEGER NOT NULL DEFAULT 0, -- number of the newest line
	oldest         INTEGER NOT NULL DEFAULT 1, -- number of the oldest line kept; head + 1: none
	last_output_at INTEGER NOT NULL DEFAULT 0,
	turn           INTEGER NOT NULL DEFAULT 0, -- number of the present turn
	engine         BLOB                        -- the line engine's state as of head
) STRICT;

CREATE TABLE lines (
	session INTEGER NOT NULL REFERENCES logs (session) ON DELETE CASCADE,
	n       INTEGER NOT NULL,
	kind    TEXT    NOT NULL,
	text    TEXT    NOT NULL,
	at      INTEGER NOT NULL,
	PRIMARY KEY (session, n)
) STRICT, WITHOUT ROWID;

-- AUTOINCREMENT: an id that is free again must not come back, readers remember the last they saw.
CREATE TABLE gaps (
	id       INTEGER PRIMARY KEY AUTOINCREMENT,
	session  INTEGER NOT NULL REFERENCES logs (session) ON DELETE CASCADE,
	after    INTEGER NOT NULL,
	at_least INTEGER NOT NULL,
	reason   TEXT    NOT NULL
) STRICT;

CREATE INDEX gaps_by_place ON gaps (session, after, id);

CREATE TABLE turns (
	session    INTEGER NOT NULL REFERENCES logs (session) ON DELETE CASCADE,
	number     INTEGER NOT NULL,
	open       INTEGER NOT NULL,
	started_at INTEGER NOT NULL,
	ended_at   INTEGER NOT NULL,
	first_line INTEGER NOT NULL,
	last_line  INTEGER NOT NULL,
	PRIMARY KEY (session, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE receipts (
	seq        INTEGER PRIMARY KEY,
	id         TEXT    NOT NULL UNIQUE,
	session    TEXT    NOT NULL, -- its id: a receipt may outlive its session
	text       TEXT    NOT NULL,
	submit     INTEGER NOT NULL,
	author     TEXT    NOT NULL,
	state      TEXT    NOT NULL,
	reason     TEXT    NOT NULL,
	created_at INTEGER NOT NULL,
	updated_at INTEGER NOT NULL,
	open       INTEGER NOT NULL  -- 0: the receipt is final
) STRICT;

CREATE INDEX open_receipts ON receipts (created_at, seq) WHERE open;

-- Panes whose session was closed by hand: no pattern may adopt them again.
CREATE TABLE closed_panes (
	seq          INTEGER PRIMARY KEY,
	server       TEXT    NOT NULL,
	server_pid   INTEGER NOT NULL,
	server_start INTEGER NOT NULL,
	pane         TEXT    NOT NULL,
	tmux_session TEXT    NOT NULL,
	UNIQUE (server, server_pid, server_start, pane)
) STRICT;
