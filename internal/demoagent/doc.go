// Package demoagent is the program in the pane of `panebridge demo`: it looks
// and behaves like a coding agent (banner, prompt, spinner, streamed answers, a
// permission dialog), answers from a script and runs nothing.
//
// It draws inline, as most agents do: never on the alternate screen, and what
// it has said stays in the pane's history. Only the spinner and an open dialog
// are drawn over again. It imports nothing of panebridge; to the daemon it's a
// program like any other.
package demoagent
