-- Messages that are kept as they're to be: one of a kind about a subject in a place. A session's card
-- that was kept before this stands, and its number isn't known.
CREATE TABLE standing (
	kind    TEXT    NOT NULL,
	subject TEXT    NOT NULL, -- a session's id, say; '': it's about all of the place
	adapter TEXT    NOT NULL,
	chat    TEXT    NOT NULL,
	thread  TEXT    NOT NULL,
	session TEXT    NOT NULL, -- with which it's forgotten; '': none
	message TEXT    NOT NULL, -- the platform's id; '': it isn't known to be there
	shows   TEXT    NOT NULL, -- names what it shows
	begun   INTEGER NOT NULL, -- a call was begun, and it isn't known what came of it
	PRIMARY KEY (kind, adapter, chat, thread, subject)
) STRICT, WITHOUT ROWID;
INSERT INTO standing SELECT 'session', session, adapter, chat, thread, session, '', 'stands', 0 FROM cards;
DROP TABLE cards;
