-- Who wrote a line of kind "user", as people are called, and the place it came from, as a
-- target of adapters: "telegram:-1001234567890/7". '': nobody known, nowhere.
ALTER TABLE lines ADD COLUMN author TEXT NOT NULL DEFAULT '';
ALTER TABLE lines ADD COLUMN origin TEXT NOT NULL DEFAULT '';

ALTER TABLE receipts ADD COLUMN name TEXT NOT NULL DEFAULT '';
ALTER TABLE receipts ADD COLUMN origin TEXT NOT NULL DEFAULT '';
