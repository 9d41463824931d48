// Package toolview makes of a tool's call and result, as agents write them, what people look at: the
// input as names and texts, the output, and for edits the changed files line by line.
//
// Agents' tools are known by their arguments, not by their names: an edit has a path with an old and
// a new text, or several, whatever it's called (files.go); a patch is known by its first line
// (patch.go). Where an agent says itself what changed in which line, that's shown (unified.go).
//
// Secrets are masked before anything is taken apart, and again afterwards: see hide.go.
//
// What lives here is a function of its arguments: bounded by these, no I/O, nothing kept. What may not:
// how it's drawn, and who may see it.
package toolview
