-- The program that a session was made with, for people to know what they write to.
ALTER TABLE sessions ADD COLUMN program TEXT NOT NULL DEFAULT '';
