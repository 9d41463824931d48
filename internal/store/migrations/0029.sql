-- Why a receipt is as it is was read from the words that say it to people.
ALTER TABLE receipts ADD COLUMN cause TEXT NOT NULL DEFAULT '';
UPDATE receipts SET cause = CASE
  WHEN state = 'held' AND reason LIKE 'it waits behind another text: %' THEN 'behind'
  WHEN state = 'submitted' AND reason LIKE 'queued: %' THEN 'queued'
  WHEN state = 'submitted' AND reason LIKE 'queued by the agent, %' THEN 'passed'
  WHEN state IN ('submitted', 'answered') AND reason LIKE 'unverified%' THEN 'unverified'
  ELSE '' END
WHERE reason <> '';
