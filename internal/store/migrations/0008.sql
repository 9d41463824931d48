-- Questions that agents ask in their panes, and what became of them.
CREATE TABLE prompts (
	seq       INTEGER PRIMARY KEY,
	id        TEXT    NOT NULL UNIQUE,
	session   TEXT    NOT NULL, -- its id
	dialog    TEXT    NOT NULL, -- JSON
	state     TEXT    NOT NULL,
	reason    TEXT    NOT NULL,
	answer    TEXT,             -- JSON; NULL: nobody's counts
	origin    TEXT    NOT NULL, -- of the answer, as a target of adapters
	opened_at INTEGER NOT NULL,
	closed_at INTEGER NOT NULL, -- 0: it's open
	open      INTEGER NOT NULL  -- 0: the prompt is final
) STRICT;

CREATE INDEX open_prompts ON prompts (opened_at, seq) WHERE open;
CREATE INDEX prompts_by_session ON prompts (session);
CREATE INDEX closed_prompts ON prompts (closed_at) WHERE NOT open;
