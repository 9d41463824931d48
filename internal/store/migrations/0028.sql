-- Hashes of texts go with their session: these are found without reading the whole audit log.
CREATE INDEX audit_hashed ON audit (session) WHERE hash <> '';
