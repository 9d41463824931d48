-- What agents have used, by session, local day and agent program. '' is for sessions that are forgotten.
CREATE TABLE usage (
	session     TEXT    NOT NULL,
	day         TEXT    NOT NULL, -- 2026-11-30
	agent       TEXT    NOT NULL,
	input       INTEGER NOT NULL,
	cache_read  INTEGER NOT NULL,
	cache_write INTEGER NOT NULL,
	output      INTEGER NOT NULL,
	cost_usd    REAL    NOT NULL,
	answers     INTEGER NOT NULL,
	PRIMARY KEY (session, day, agent)
) STRICT, WITHOUT ROWID;

-- Which answers are in there, by a hash of their names.
CREATE TABLE usage_counted (
	key INTEGER PRIMARY KEY,
	day TEXT NOT NULL -- of the answer
) STRICT;

-- How things stand with a session's agent.
CREATE TABLE usage_now (
	session TEXT PRIMARY KEY,
	usage   TEXT NOT NULL -- as JSON
) STRICT, WITHOUT ROWID;

-- Texts that are sent by themselves when a limit is over.
CREATE TABLE continuations (
	session      TEXT PRIMARY KEY,
	continuation TEXT NOT NULL -- as JSON
) STRICT, WITHOUT ROWID;
