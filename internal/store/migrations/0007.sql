-- The exit status of a shell's command; NULL: unknown, or the turn is no command.
ALTER TABLE turns ADD COLUMN status INTEGER;
