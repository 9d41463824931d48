// Package qosbench compares the scheduler of package qos with others on the same
// arrivals, in virtual time: a model of the original scheduler, a FIFO, and what
// no scheduler could beat.
//
// # The experiment
//
// A Scenario makes a trace from a seed (trace.go): when which session prints a line
// or ends a turn, and when a person gives a command. Each policy (policy.go) gets
// the same trace, knows nothing of what comes later, and makes its calls to a
// platform (platform.go), which counts what arrives in a log of its own. The loop
// (simulate.go) runs until nothing is left to do.
//
//   - panebridge (panebridge.go) is qos.SlotEngine with a qos.LocalBudget, the code that
//     runs in the daemon, with default options.
//   - original (original.go) is a model of the scheduler whose knobs and modes this
//     project keeps (github.com/InstruktAI/TeleClaude, teleclaude/adapters/qos).
//   - fifo (fifo.go) is what one would write first: one queue, and a sliding window
//     stamped at dispatch.
//   - optimum (optimum.go) is no schedule: each of its columns is a bound that no
//     schedule can beat, even one that cared for nothing else, knew what comes, and
//     had no latency.
//
// # What the platform does
//
// It counts. It says "too many requests" only where the scenario says so, because
// the original, which exceeds the limit, would come out far worse if it did so
// whenever the limit is passed: the comparison is with the original at its best.
// (The scenario "refusing" shows the other way.)
//
// # What is measured
//
// Times end when a call that was accepted arrives at the platform. What never gets
// there counts as infinite.
//
//   - A final's delay begins with the end of its turn.
//
//   - Staleness is that of each line of a session, from when it was printed.
//
//   - A gap is the time between two calls for a session that had something to send all
//     the while (or had again within 2 s). For one that was up to date it begins with
//     its next line.
//
//   - The Jain index is that of the calls that sessions got.
//
//   - A session is left stale if the chat doesn't show its last line when all is
//     quiet; the lines that it doesn't show then are lost. An edit with older text
//     takes away the newer.
//
//   - A silence is the time from the answer to a call that failed, or that broke and is known to
//     be over, to the chat's next call; where the window is full then, from when it has a slot.
//     In its scenario sessions take short turns: while streams use what they may of a window,
//     only commands and finals have free slots.
//
// A payload, however many lines it holds, costs panebridge and the FIFO one call,
// and the original two: it edits a message and moves a badge below it. A final costs
// panebridge Options.FinalCalls.
package qosbench
