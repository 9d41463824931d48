-- Of which input a line of what a person wrote is: its receipt's id, '' where there's none.
ALTER TABLE lines ADD COLUMN receipt TEXT NOT NULL DEFAULT '';
