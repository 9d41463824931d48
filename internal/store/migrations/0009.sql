-- What chats show of the questions that agents ask.
CREATE TABLE prompt_messages (
	prompt  TEXT    NOT NULL,
	adapter TEXT    NOT NULL,
	chat    TEXT    NOT NULL,
	thread  TEXT    NOT NULL,
	kind    TEXT    NOT NULL, -- asked, reminded, escalated
	session TEXT    NOT NULL,
	message TEXT    NOT NULL, -- the platform's id
	checked TEXT    NOT NULL, -- JSON: indexes of options, of a question that takes several
	closed  INTEGER NOT NULL, -- it says what came of the question
	at      INTEGER NOT NULL,
	PRIMARY KEY (prompt, adapter, chat, thread, kind)
) STRICT, WITHOUT ROWID;
CREATE INDEX prompt_messages_by_message ON prompt_messages (adapter, chat, message);

-- People whose next message in a place is the answer to a question.
CREATE TABLE prompt_writers (
	adapter TEXT    NOT NULL,
	chat    TEXT    NOT NULL,
	thread  TEXT    NOT NULL,
	person  TEXT    NOT NULL,
	prompt  TEXT    NOT NULL,
	expires INTEGER NOT NULL,
	PRIMARY KEY (adapter, chat, thread, person)
) STRICT, WITHOUT ROWID;

-- What would have rung while a place, or a session in it, was quiet.
CREATE TABLE missed (
	adapter TEXT    NOT NULL,
	chat    TEXT    NOT NULL,
	thread  TEXT    NOT NULL,
	session TEXT    NOT NULL,
	what    TEXT    NOT NULL,
	times   INTEGER NOT NULL,
	at      INTEGER NOT NULL, -- the last
	PRIMARY KEY (adapter, chat, thread, session, what)
) STRICT, WITHOUT ROWID;

-- The pinned list of sessions of a chat.
CREATE TABLE boards (
	adapter TEXT    NOT NULL,
	chat    TEXT    NOT NULL,
	message TEXT    NOT NULL,
	says    TEXT    NOT NULL,
	pinned  INTEGER NOT NULL,
	PRIMARY KEY (adapter, chat)
) STRICT, WITHOUT ROWID;
