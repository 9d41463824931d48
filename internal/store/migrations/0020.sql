-- The threads in which a session's card stands. Those that were made before this was kept have
-- theirs, or shall have none: it would stand in the middle.
CREATE TABLE cards (
	session TEXT NOT NULL,
	adapter TEXT NOT NULL,
	chat    TEXT NOT NULL,
	thread  TEXT NOT NULL,
	PRIMARY KEY (session, adapter, chat, thread)
) STRICT, WITHOUT ROWID;
INSERT OR IGNORE INTO cards SELECT b.session, b.adapter, CASE d.chat WHEN '' THEN b.chat ELSE d.chat END, d.thread
	FROM bindings b JOIN documents d ON d.binding = b.seq WHERE b.thread = '' AND d.thread <> '';
