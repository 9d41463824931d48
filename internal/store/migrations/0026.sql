-- What answers people and isn't seen yet.
CREATE TABLE replies (
	seq     INTEGER PRIMARY KEY,
	id      TEXT    NOT NULL UNIQUE,
	session TEXT    NOT NULL, -- '': it's about none
	at      INTEGER NOT NULL,
	post    BLOB    NOT NULL
) STRICT;
