-- The browsers that may use the page: see internal/browsers. Public keys aren't secret;
-- one-time tokens are never stored.
CREATE TABLE browsers (
	id         TEXT    PRIMARY KEY,
	label      TEXT    NOT NULL,
	address    TEXT    NOT NULL, -- host:port of the page, as the browser calls it
	key        BLOB    NOT NULL, -- a point of P-256, uncompressed
	next_key   BLOB,             -- takes key's place as soon as it's used
	created_at INTEGER NOT NULL,
	used_at    INTEGER NOT NULL,
	expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
