-- How much of a session's work a binding shows (adapters.WorkShown): all, brief or none; '': as usual.
ALTER TABLE bindings ADD COLUMN tools TEXT NOT NULL DEFAULT '';
ALTER TABLE bindings ADD COLUMN thinking TEXT NOT NULL DEFAULT '';
ALTER TABLE bindings ADD COLUMN prompts TEXT NOT NULL DEFAULT '';
