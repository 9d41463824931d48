// Package inbound carries what people do in chats to the sessions, the same on
// every platform: what an event of adapters/intake means.
//
// # The way of a message
//
//	                  Inbound.Handle ── who may do what            adapters/access
//	                     │ the audit log                           audit.go
//	   ┌─────────────────┼──────────────────┐
//	a command         a button            text, files
//	command.go        button.go           text.go, file.go
//	   │                                     │
//	   ▼                                     ▼
//	ask: replies      ask.go         sessions.Manager.Input ──receipt──▶ receipt.go
//
// An event is handled at least once: after a crash it comes again. What types into
// a pane carries the update's key, so that it's typed at most once. A command that was
// begun and isn't the same twice isn't done again; its person is told. What answers it is
// kept with what became of it, until it's seen (replies_kept.go).
//
// What's old is never done unasked (stale.go): neither what was written while the
// daemon was down, nor what had to wait for a dialog to close.
//
// # Buttons
//
// Buttons carry an offer's random id and nothing else (button.go). What pressing one
// does, where, for whom, until when and how often, is in the store.
//
// # What may not live here
//
// A platform's ids, markup or limits; SQL; decisions about when a call is made, which
// are qos's; how text is typed, which is the Manager's.
package inbound
