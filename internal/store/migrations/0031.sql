-- Pinned lists are cards as others are; that one is pinned is a card of its own, without a message.
INSERT INTO standing SELECT 'board', '', adapter, chat, '', '', message, digest, 0 FROM boards WHERE message <> '';
INSERT INTO standing SELECT 'pin', '', adapter, chat, '', '', '', 'pins ' || message, 0 FROM boards WHERE message <> '' AND pinned;
DROP TABLE boards;
