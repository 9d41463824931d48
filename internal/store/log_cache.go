package store

import (
	"maps"

	"github.com/panebridge/panebridge/sessions"
)

// logCache has the logs that were appended to, as they stand in the database,
// which only this process writes to. A busy session's append then needs no
// query. It's used by the queue's leader only.
type logCache struct {
	committed map[sessions.ID]logState
	changed   map[sessions.ID]logState // by the running transaction
}

func newLogCache() logCache {
	return logCache{committed: map[sessions.ID]logState{}, changed: map[sessions.ID]logState{}}
}

// get returns a log as the running transaction sees it; query asks the database.
func (c *logCache) get(id sessions.ID, query func() (logState, error)) (logState, error) {
	if log, ok := c.changed[id]; ok {
		return log, nil
	}
	if log, ok := c.committed[id]; ok {
		return log, nil
	}
	return query()
}

func (c *logCache) set(id sessions.ID, log logState) { c.changed[id] = log }

func (c *logCache) commit() {
	maps.Copy(c.committed, c.changed)
	clear(c.changed)
}

func (c *logCache) rollback() { clear(c.changed) }
