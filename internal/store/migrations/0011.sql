-- Who sent an input though a dialog's words stood on the screen: "telegram:123". '':
-- nobody.
ALTER TABLE receipts ADD COLUMN anyway TEXT NOT NULL DEFAULT '';
