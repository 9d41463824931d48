// Package standin plays an agent program in a pane, for tests: the screens that the real
// ones were recorded with, their input boxes, and their dialogs, which take keys as the
// real ones do. What it asks, and when, follows from a seed.
//
// It's strict where a program is dangerous: text that's typed into an open dialog is
// taken as keys, letter by letter, so that it may well approve something. And it writes
// a journal of all that it showed, read and did, by which a test can tell afterwards
// whether everything that was pressed was asked for.
//
// After each change of what it asks, it asks the terminal for its status. What comes in
// before the answer to that was sent by somebody who couldn't see the change yet, since
// tmux hadn't; the journal says so.
package standin
