-- Whether a session's mirrors by rule are still to be made: it's stored with the session, so that a
-- kill before they're made loses none of its lines. Those that there are have theirs.
ALTER TABLE sessions ADD COLUMN fresh INTEGER NOT NULL DEFAULT 0;
