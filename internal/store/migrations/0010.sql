-- Fleets, mail and notices: see internal/inbox. An address is a session's id or
-- "person:NAME". Nothing here refers to sessions by a key: mail outlives them.

CREATE TABLE fleets (
	name       TEXT    PRIMARY KEY,
	created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- A session is in one fleet at most.
CREATE TABLE fleet_members (
	session  TEXT    PRIMARY KEY,
	fleet    TEXT    NOT NULL REFERENCES fleets (name) ON DELETE CASCADE,
	director INTEGER NOT NULL,
	added_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX fleet_members_fleet ON fleet_members (fleet);
CREATE UNIQUE INDEX fleet_directors ON fleet_members (fleet) WHERE director;

CREATE TABLE mail (
	seq            INTEGER PRIMARY KEY AUTOINCREMENT,
	id             TEXT    NOT NULL UNIQUE,
	kind           TEXT    NOT NULL,
	sender         TEXT    NOT NULL,
	sender_name    TEXT    NOT NULL, -- as it was then
	recipient      TEXT    NOT NULL, -- '': a summary's
	recipient_name TEXT    NOT NULL,
	fleet          TEXT    NOT NULL,
	text           TEXT    NOT NULL,
	status         TEXT    NOT NULL,
	sent_at        INTEGER NOT NULL,
	settled_at     INTEGER NOT NULL,
	preview        TEXT    NOT NULL,
	preview_reason TEXT    NOT NULL
) STRICT;
CREATE INDEX mail_recipient ON mail (recipient, status, seq);
CREATE INDEX mail_sender ON mail (sender, seq);
CREATE INDEX mail_previews ON mail (recipient, seq) WHERE preview = 'waiting';

CREATE TABLE listeners (
	id      INTEGER PRIMARY KEY AUTOINCREMENT, -- never used again
	session TEXT    NOT NULL,
	common  INTEGER NOT NULL,
	pid     INTEGER NOT NULL,
	started INTEGER NOT NULL,
	bell    TEXT    NOT NULL
) STRICT;

-- A notice is deleted when it has been printed. Until then the listener that took it
-- has its lease.
CREATE TABLE notices (
	seq         INTEGER PRIMARY KEY AUTOINCREMENT,
	recipient   TEXT    NOT NULL,
	at          INTEGER NOT NULL,
	sender      TEXT    NOT NULL,
	type        TEXT    NOT NULL,
	text        TEXT    NOT NULL,
	lease       INTEGER NOT NULL DEFAULT 0, -- a listener's id; 0: free
	redelivered INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX notices_free ON notices (recipient, lease, seq);
CREATE INDEX notices_lease ON notices (lease) WHERE lease > 0;

-- Which messages in chats show a mail to a person: an answer to one of them answers it.
CREATE TABLE mail_messages (
	adapter TEXT NOT NULL,
	chat    TEXT NOT NULL,
	message TEXT NOT NULL,
	mail    TEXT NOT NULL REFERENCES mail (id) ON DELETE CASCADE,
	PRIMARY KEY (adapter, chat, message)
) STRICT, WITHOUT ROWID;
