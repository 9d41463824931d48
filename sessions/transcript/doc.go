// Package transcript reads the files in which coding agents keep their
// conversations, as they grow.
//
// The text of an answer stands there exactly as the model wrote it, while a
// screen shows it rendered, wrapped and, on the alternate screen, only in part.
// It's written per finished block, not per token.
//
// A Reader reads one transcript from a cursor on and never reads again what it
// has read; Find says which transcripts may belong to a program. Records that
// aren't known are skipped and counted: a new release of an agent adds some.
//
// A file is read by its tail (tail.go), which keeps the place and knows it again
// by the bytes before it. Where a program has written its file anew, the reader
// goes on after the last line that it knows (file.go). A decoder per format turns
// lines into records (claude.go, codex.go, …); its comment says what was seen of
// the real program. opencode's database is read by queries for what comes after
// the last complete message (opencode.go).
//
// What a transcript doesn't tell: when a turn of Gemini CLI ends (but for its
// interruption), requests that failed and were made again (but for pi and Qwen
// Code), and what was being written when Codex or Gemini CLI was interrupted.
// Claude Code leaves no trace of an interruption before the first block.
//
// What may not live here: what a record means for a session (sessions/agent),
// and where its text goes.
package transcript
