-- A pinned list names sessions, which are to be forgotten: its digest is enough to know what stands there.
-- Without one the list is sent again, once.
UPDATE boards SET says = '';
ALTER TABLE boards RENAME COLUMN says TO digest;
