-- Whom people write to in a session: '' is the shell or the program that its pane was
-- made with, "agent:NAME" an agent program, "run:ID" one run of another program.
ALTER TABLE sessions ADD COLUMN addressee TEXT NOT NULL DEFAULT '';

-- Enter was pressed behind an input's text, or was about to be.
ALTER TABLE receipts ADD COLUMN pressed INTEGER NOT NULL DEFAULT 0;

-- Whom an input was written to, as in sessions.
ALTER TABLE receipts ADD COLUMN addressee TEXT NOT NULL DEFAULT '';
