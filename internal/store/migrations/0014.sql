-- What a pairing code gave in a group holds as long as its person is in there, and whoever
-- gave something must still be able to. See adapters/inbound/grants.go.
ALTER TABLE grants ADD COLUMN adapter    TEXT    NOT NULL DEFAULT ''; -- of the group; '': it doesn't go by a group
ALTER TABLE grants ADD COLUMN chat       TEXT    NOT NULL DEFAULT '';
ALTER TABLE grants ADD COLUMN checked_at INTEGER NOT NULL DEFAULT 0;  -- when the person was seen to be in there last
ALTER TABLE grants ADD COLUMN used_at    INTEGER NOT NULL DEFAULT 0;  -- when the person did something last; 0: never
ALTER TABLE grants ADD COLUMN void       TEXT    NOT NULL DEFAULT ''; -- why it's void for good; '': it isn't

-- Whose private chats with the bot are whose.
CREATE TABLE private_chats (
	adapter TEXT NOT NULL,
	chat    TEXT NOT NULL,
	person  TEXT NOT NULL,
	PRIMARY KEY (adapter, chat)
) STRICT, WITHOUT ROWID;
