// Package demoagent is the program in the pane of `panebridge demo`: it looks and behaves like a
// coding agent. It's silent until it's asked, thinks, streams its answers, calls a tool, says why
// before it asks, and keeps a transcript with its exact words. It answers from a script and runs
// nothing.
//
// It draws inline, as most agents do: never on the alternate screen, and what it has said stays in
// the pane's history. The row for input, the spinner and an open dialog are drawn over again. It
// imports nothing of panebridge; the daemon knows it by a profile, as it knows the others
// (sessions/agent/profiles/demo.yaml).
package demoagent
