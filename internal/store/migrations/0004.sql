-- Updates of platforms, in the order in which they came: from before a platform is told that
-- they've come until they're settled, and their keys for a while after that.
CREATE TABLE updates (
	seq     INTEGER PRIMARY KEY AUTOINCREMENT, -- a number that is free again must not come back
	adapter TEXT    NOT NULL,
	key     TEXT    NOT NULL, -- the platform's
	kept_at INTEGER NOT NULL,
	raw     BLOB    NOT NULL, -- '': it's settled
	tries   INTEGER NOT NULL,
	outcome TEXT    NOT NULL, -- '': it waits
	UNIQUE (adapter, key)
) STRICT;

CREATE INDEX waiting_updates ON updates (adapter, seq) WHERE outcome = '';
CREATE INDEX settled_updates ON updates (adapter, seq) WHERE outcome <> '';

-- What adapters remember over restarts: a word or two for each key.
CREATE TABLE notes (
	adapter TEXT NOT NULL,
	key     TEXT NOT NULL,
	value   TEXT NOT NULL,
	PRIMARY KEY (adapter, key)
) STRICT, WITHOUT ROWID;
