// Package continuing has sessions go on by themselves when their agents' limits are over: somebody asks
// for it, and at that time a text is typed, as any text is, if nobody has written meanwhile and no dialog
// is open. What waits is kept in the database, and sent once, whatever becomes of the daemon.
//
// What may not live here: how a limit is known (sessions/transcript, sessions/agent), and how a text is
// typed (sessions/typing).
package continuing
