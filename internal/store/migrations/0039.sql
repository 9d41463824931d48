-- A session's repository as it was when the session began (package diffs).
CREATE TABLE session_bases (
	session TEXT PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
	base    TEXT NOT NULL -- as JSON
) STRICT, WITHOUT ROWID;
