-- Chats that have another id: groups that became supergroups.
CREATE TABLE moves (
	seq       INTEGER PRIMARY KEY,
	adapter   TEXT NOT NULL,
	from_chat TEXT NOT NULL,
	to_chat   TEXT NOT NULL,
	UNIQUE (adapter, from_chat)
) STRICT;
