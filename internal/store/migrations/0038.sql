-- Browsers that are notified though no page is open (package push).
CREATE TABLE push_subscriptions (
	browser    TEXT    PRIMARY KEY REFERENCES browsers (id) ON DELETE CASCADE,
	endpoint   TEXT    NOT NULL UNIQUE,
	p256dh     TEXT    NOT NULL,
	auth       TEXT    NOT NULL,
	wishes     TEXT    NOT NULL, -- as JSON
	created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- What the push service took last for a device, by session.
CREATE TABLE push_shown (
	browser TEXT NOT NULL REFERENCES push_subscriptions (browser) ON DELETE CASCADE,
	session TEXT NOT NULL,
	alert   TEXT NOT NULL, -- its key
	PRIMARY KEY (browser, session)
) STRICT, WITHOUT ROWID;

-- How a session's last turn, or its program, ended, as devices are told.
CREATE TABLE push_alerts (
	session TEXT PRIMARY KEY,
	alert   TEXT NOT NULL -- as JSON, masked
) STRICT, WITHOUT ROWID;
