-- What directors' agents were told of their fleets.
CREATE TABLE reminders (
	session      TEXT    PRIMARY KEY,
	conversation TEXT    NOT NULL, -- the last that was told how to listen; '': none
	reminded_at  INTEGER NOT NULL  -- when it was told last that nobody listens; 0: never
) STRICT, WITHOUT ROWID;
