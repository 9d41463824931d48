// Package events gives each event of the daemon's log a stable name, and keeps an event that comes too often from
// filling the log.
//
// What lives here: the table of names (names.go), and the [Handler] that stands before the one that writes.
//
// What may not: what an event says. That's at the place where it's logged.
package events
