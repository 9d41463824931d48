// Package polling turns what tmux shows of a pane into lines: each line a
// session prints comes out once, in order, or a gap stands in its place.
//
// # Who does what
//
// PollingCoordinator (coordinator.go) looks at the panes of a tmux server that
// had output once a tick, at all every 5 s (watch.go), and wakes the pollers of
// those that changed. An OutputPoller
// (poller.go) is the one reader of one session's pane: a goroutine that owns a
// line engine, stores what it yields in the output log and only then tells
// others. Engine (engine.go) is the algorithm: a pure function of its state,
// one snapshot and the time.
//
// # The algorithm
//
// tmux numbers the rows of a pane's grid from the oldest row it keeps. That
// number isn't stable: on reaching its limit, history drops a tenth at once;
// clearing, resizing and reprinting move everything. The engine gives rows
// absolute numbers by content. It remembers the last rows of history, which
// can't change any more (the anchor, anchor.go), and looks where they are now.
// Since tmux drops rows in multiples of limit/10 there are at most eleven
// places to look.
//
//   - Found: the rows below it are new. Rows that have left the screen are
//     final, and become lines.
//   - Not found, or only a remnant of it: a printer's screen, where it was
//     finished, is as good as history and is looked for too (resume.go).
//   - Still not found, history full: tmux dropped them between two looks. A gap
//     says at least how many, and reading goes on at the oldest row kept.
//   - Not found otherwise, or the width changed: the screen was cleared,
//     reflowed or printed again (rebase.go). Where a program draws, or the width
//     is another, the text is compared with the newest lines of the output log,
//     word by word, because programs wrap the same text differently in another
//     width (reprint.go); what was printed before isn't emitted again. That goes
//     on for some seconds, in which what leaves the screen counts as printed too:
//     a program that prints everything again may do so below its old text.
//   - Found in several places, because the text repeats itself: the lowest is
//     taken, so that nothing comes twice, and a gap says that some may be
//     missing.
//
// Rows still on the screen become lines early where that's safe (settle.go):
// the pane is used like a printer (cursor shown, nothing below it), the row is
// above the cursor, and two looks in a row found it the same. While a program
// draws (cursor hidden, or text below it), nothing on the screen is settled:
// rows become lines as they leave it, when a turn marker stands below them, or
// at the end of the session; what it paints a second time is recognised
// (repaint.go). The rest is the live region: shown, never emitted. What was seen
// there and vanishes unread is emitted from memory where it was finished
// (screen.go).
//
// # What it can't know
//
// tmux doesn't count what it drops, so three things look like something else:
//
//   - Text with a period longer than the rows of a capture (64 and more), of which
//     limit/10 is a multiple, while history is full and at least limit/10 rows come
//     between two looks: whole periods may be missing without a gap.
//   - A screen and history that are cleared and filled again to nine tenths
//     between two looks are taken for one that overflowed, and the gap may say more
//     than is missing.
//   - A line that's the same as an older one, printed within ten seconds of a
//     program's printing everything again, may be taken for a part of that.
//   - What was printed again is recognised by four words in a row, and where the
//     thread was lost by twelve: shorter texts may come twice then.
//
// What may not live here: where snapshots come from (sessions/tmux), where
// lines go (internal/store, adapters).
package polling
