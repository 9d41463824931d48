-- The path of a session's folder without links, as it was when the session began; '': nobody knows.
ALTER TABLE sessions ADD COLUMN real_cwd TEXT NOT NULL DEFAULT '';
