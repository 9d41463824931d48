// Package format has the parts of a recording's files that `panebridge doctor record`
// writes too. Apart from the recordings, so that the program doesn't carry them.
//
// What lives here: frames, what was heard and believed, and the archive of it all. What
// may not: where it comes from, and what tests make of it.
package format
