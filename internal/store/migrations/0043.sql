-- What programs ask people by panebridge. Its answer, and how it stands, are in the JSON, too.
CREATE TABLE inquiries (
	id        TEXT    PRIMARY KEY,
	session   TEXT    NOT NULL,
	open      INTEGER NOT NULL,
	opened_at INTEGER NOT NULL,
	closed_at INTEGER NOT NULL, -- 0: it's open
	inquiry   TEXT    NOT NULL  -- as JSON
) STRICT, WITHOUT ROWID;
CREATE INDEX inquiries_open ON inquiries (opened_at) WHERE open;
CREATE INDEX inquiries_session ON inquiries (session, closed_at);

-- Files that programs show people.
CREATE TABLE exhibits (
	id      TEXT    PRIMARY KEY,
	session TEXT    NOT NULL,
	at      INTEGER NOT NULL,
	waits   INTEGER NOT NULL, -- some of its chats don't have it yet
	exhibit TEXT    NOT NULL, -- as JSON
	content BLOB    NOT NULL
) STRICT;
CREATE INDEX exhibits_session ON exhibits (session, at);
CREATE INDEX exhibits_waiting ON exhibits (at) WHERE waits;
