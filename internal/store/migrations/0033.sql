-- What the message of a held text shows: that it waits behind another, or the screen on which it could be sent.
ALTER TABLE origins ADD COLUMN shows TEXT NOT NULL DEFAULT '';
