-- What its person calls a browser that may use the page, and what it may do: names of roles, with
-- a space between. Those of before are the owner's.
ALTER TABLE browsers ADD COLUMN name TEXT NOT NULL DEFAULT '';
ALTER TABLE browsers ADD COLUMN roles TEXT NOT NULL DEFAULT 'admin';
