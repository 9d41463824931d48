-- Until when a push service asked to be left alone; 0: it didn't, or that's over.
ALTER TABLE push_subscriptions ADD COLUMN not_before INTEGER NOT NULL DEFAULT 0;
