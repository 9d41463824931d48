-- Why a turn failed, in the program's own words; '': it went well, or nobody knows.
ALTER TABLE turns ADD COLUMN failed TEXT NOT NULL DEFAULT '';
