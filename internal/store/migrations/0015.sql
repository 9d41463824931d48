-- A notice goes with the session that it came from, when that's forgotten. Its sender is a
-- name, which others may have, too.
ALTER TABLE notices ADD COLUMN session TEXT NOT NULL DEFAULT ''; -- an address; '': it came from outside of any
