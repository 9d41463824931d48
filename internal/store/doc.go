// Package store keeps everything that must outlive the daemon in one SQLite
// file: sessions, receipts, prompts and the output logs. It is the only place that
// has that file's SQL. It implements sessions.Store and polling.Log, and reads output
// for the API. It decides nothing about sessions: what it is given, it keeps.
//
// # Writing
//
// There is one write connection. All pollers tick at the same moment, so
// writes are committed in groups: a caller that finds nobody committing
// becomes the leader and commits at once; those that come meanwhile queue up,
// and when the leader is done the first of them commits the whole queue in one
// transaction. Nobody waits on purpose, and no goroutine is needed. When a
// joint transaction fails, its requests are tried again one by one, so that a
// bad one fails alone.
//
// # Reading
//
// A few read-only connections; each call reads from one snapshot, and never
// waits for a writer.
//
// # The output log
//
// Lines count from 1 within a session and never get another number. A gap
// stands behind a line; it has no number of its own, but an id that grows with
// time. Hence the two ways to read:
//
//   - [Store.Read] pages by line number. A gap behind line N belongs to line
//     N+1: it comes with the page that holds that line, or, as long as there
//     is no such line, with every page asked for from N+1. So each gap comes
//     once while pages bring lines, and again with each poll at the end.
//   - [Store.ReadSince] pages by [Cursor], which also remembers the last gap,
//     and returns each line and each gap exactly once.
//
// Either may follow the other: ReadSince with CursorAt(Output.Next) continues
// where Read stopped.
//
// A log is bounded. The oldest lines are dropped with the gaps between them;
// who asks for them gets a gap that says so.
package store
