-- A session is a member of one fleet at most, and may direct others: a manager has workers
-- and a director of its own.
CREATE TABLE fleet_parts (
	session  TEXT    NOT NULL,
	fleet    TEXT    NOT NULL REFERENCES fleets (name) ON DELETE CASCADE,
	director INTEGER NOT NULL,
	added_at INTEGER NOT NULL,
	PRIMARY KEY (session, fleet)
) STRICT, WITHOUT ROWID;
INSERT INTO fleet_parts SELECT session, fleet, director, added_at FROM fleet_members;
DROP TABLE fleet_members;
ALTER TABLE fleet_parts RENAME TO fleet_members;
CREATE INDEX fleet_members_fleet ON fleet_members (fleet);
CREATE UNIQUE INDEX fleet_directors ON fleet_members (fleet) WHERE director;
CREATE UNIQUE INDEX fleet_membership ON fleet_members (session) WHERE NOT director;
