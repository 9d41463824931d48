-- What a question's message says: what's chosen of its options is kept before that's shown.
ALTER TABLE prompt_messages ADD COLUMN shows TEXT NOT NULL DEFAULT '';
