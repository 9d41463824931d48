-- 1: the line is the first of a block: an answer, what a person wrote, a tool's call.
ALTER TABLE lines ADD COLUMN begins INTEGER NOT NULL DEFAULT 0;
