-- Whether what's kept for a chat has followed it to its other id. Where only a call was told of that,
-- it hasn't; where an update said so, it's done once more, which changes nothing.
ALTER TABLE moves ADD COLUMN followed INTEGER NOT NULL DEFAULT 0;
