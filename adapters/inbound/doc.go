// Package inbound carries what people do in chats to the sessions, the same on every platform:
// it routes an event of adapters/intake.
//
//	                  Inbound.Handle ── who may do what      adapters/access
//	                     │ the audit log                     inbound.go
//	   ┌─────────────────┼──────────────────┐
//	a command         a button            text, files
//	adapters/commands     │               text.go, files.go
//	   │                                     │
//	   ▼                                     ▼
//	an answer                      sessions.Manager.Input ──receipt──▶ adapters/cards
//
// An event is handled at least once: after a crash it comes again. What types into
// a pane carries the event's key, so that it's typed at most once.
//
// Inbound has a commands.Runner, which has a cards.Clerk, which has an access.Guard, and each
// method of those is called as if it were its own: Admit and GiveRole are the Guard's, ReplyText
// and MakeOffer the Clerk's, RunCommand and PressButton the Runner's.
//
// What's old is never done unasked (text.go): neither what was written while the
// daemon was down, nor what had to wait for a dialog to close.
//
// A platform's ids, markup or limits aren't known here; neither is SQL, when a call is made,
// which is qos's, or how text is typed, which is the Manager's.
package inbound
