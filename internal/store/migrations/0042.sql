-- How much of a long output a binding shows (adapters.Length): all, or rows of a phone; '': as usual. Whether what's
-- typed from there begins with what it answers.
ALTER TABLE bindings ADD COLUMN output TEXT NOT NULL DEFAULT '';
ALTER TABLE bindings ADD COLUMN quotes INTEGER NOT NULL DEFAULT 0;
