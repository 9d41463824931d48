-- When a mail was shown to its recipient first: its preview was typed, or it was polled.
-- 0: it wasn't yet. Of older mail it's known only that it was.
ALTER TABLE mail ADD COLUMN seen_at INTEGER NOT NULL DEFAULT 0;
UPDATE mail SET seen_at = sent_at WHERE preview = 'typed' OR preview_reason = 'it was polled before' OR status = 'completed';
CREATE INDEX mail_seen ON mail (recipient, seen_at);
