-- Which call of a tool a block of lines is a part of: JSON of sessions.ToolPart, of its first line.
ALTER TABLE lines ADD COLUMN tool TEXT NOT NULL DEFAULT '';
-- What tools were called with and what they returned, whole, by the first line of their block. size
-- is their bytes, about.
CREATE TABLE tool_details (
	session INTEGER NOT NULL REFERENCES logs (session) ON DELETE CASCADE,
	n       INTEGER NOT NULL,
	call    TEXT    NOT NULL,
	size    INTEGER NOT NULL,
	args    TEXT    NOT NULL,
	output  TEXT    NOT NULL,
	diff    TEXT    NOT NULL,
	PRIMARY KEY (session, n)
) STRICT;
CREATE INDEX tool_details_call ON tool_details (session, call, n);
