// Package polling turns what tmux shows of a pane into lines: each line a
// session prints comes out once, in order, or a gap stands in its place.
//
// # Who does what
//
// PollingCoordinator (coordinator.go) looks at the panes of a tmux server that
// had output once a tick, at all every 5 s, and wakes the pollers of
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
//     finished, is as good as history and is looked for too.
//   - Still not found, history full: tmux dropped them between two looks. A gap
//     says at least how many, and reading goes on at the oldest row kept.
//   - Not found otherwise, or the width changed: the screen was cleared,
//     reflowed or printed again (reprint.go). Where a program draws, or the width
//     is another, the text is compared with the newest lines of the output log,
//     word by word, because programs wrap the same text differently in another
//     width; what was printed before isn't emitted again. That goes
//     on for some seconds, in which what leaves the screen counts as printed too:
//     a program that prints everything again may do so below its old text.
//   - Found in several places, because the text repeats itself, or known by less than
//     a whole anchor while history is full: the lowest is taken at which the finished rows
//     of the last screen stand too, else the lowest, so that nothing comes twice,
//     and a gap says that some may be missing. Another stands wherever a row is
//     left out because it only seems to be a line already.
//
// Rows still on the screen become lines early where that's safe (settle.go):
// the pane is used like a printer (cursor shown, nothing below it), the row is
// above the cursor, and two looks in a row found it the same. While a program
// draws (cursor hidden, or text below it), nothing on the screen is settled:
// rows become lines as they leave it, when a turn marker stands below them, or
// at the end of the session; what it paints a second time is recognised
// (reprint.go). The rest is the live region: shown, never emitted. What was seen
// there and vanishes unread is emitted from memory where it was finished
// (engine.go). An open dialog is live as well, whoever draws it: what leaves the screen, or
// has something below it, is a dialog no more.
//
// # Shells
//
// A shell with panebridge's integration marks in its prompts where a command's
// output begins and ends (sessions.Mark); of others, prompts are known by their look
// (shell.go). What's above a prompt is final, and a command is a turn (turns.go). Of other
// programs, lines and what's typed tell where turns begin.
//
// # Waiting
//
// Wait (wait.go) waits for output of a pane. It looks at the pane by itself, at the interval
// asked for, and has an engine of its own, of which it uses the numbering only
// (wait_follow.go): what it searches is each row that isn't as it was at the call
// (wait_line.go), finished or not. After a change of width it finds by their text the
// lines that it knew.
//
// # What it can't know
//
// tmux doesn't count what it drops, and the size of history comes round with every
// limit/10 rows. So these look like something else:
//
//   - Text with a period of twelve rows or more, while history is full: if a multiple
//     of the period is one of limit/10, and so many rows or more come between two
//     looks, whole periods may be missing without a gap. A gap stands all the same
//     where a capture (64 rows and more) shows the anchor (24 rows) a second time.
//   - Lost lines that were longer than any that was ever seen: a gap counts rows, and
//     may claim more lines than are missing.
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
