// Package agent knows agent programs: how each is recognised, where its exact
// words are found, by which signs it tells what it's doing, and how its hooks
// are installed.
//
// A profile is data (profiles/*.yaml in the binary, overridden by the
// configuration), so that a new release of a program needs an edit and not a
// build. Judge turns evidence (hooks, titles, the last rows of the screen,
// transcript records) into a state and turn ends, in the order of trust that
// was measured with the real programs.
//
// What may not live here: reading transcripts (sessions/transcript), reading
// panes (polling), and who hears of it (sessions).
package agent
