package main

import (
	"fmt"
	"io"
)

// The bars of pbbench capture.
const (
	maxDaemonMS  = 5.0
	maxServerMS  = 40.0
	maxGrowthKB  = 1024
	minTimesLess = 30.0
)

func printCapture(w io.Writer, rows []captureRow) error {
	_, _ = fmt.Fprintln(w, "CPU per tick of one second (median; client: daemon with its control client, or the tmux processes)")
	t := newTable(w, "way", "sessions", "active", "client ms", "server ms", "processes", "wall ms", "CPU µs/session", "server alone ms", "ticks")
	for _, r := range rows {
		t.row(r.Way, r.Sessions, r.Active, r.ClientMS, r.ServerMS, r.Processes, r.WallMS, r.SessionUS, r.ServerAloneMS, r.Ticks)
	}
	if err := t.Flush(); err != nil {
		return fmt.Errorf("print the table: %w", err)
	}
	for _, r := range rows {
		if r.Note != "" {
			_, _ = fmt.Fprintf(w, "%s, %d sessions: %s\n", r.Way, r.Sessions, r.Note)
		}
	}
	_, _ = fmt.Fprintln(w)
	for i, r := range rows {
		if r.Way == wayPanebridge {
			r.bars(w, rows[i+1])
		}
	}
	return nil
}

// bars compares a row with what was promised, and with the other way's row.
func (r captureRow) bars(w io.Writer, other captureRow) {
	times := other.SessionUS / max(r.SessionUS, 0.001)
	_, _ = fmt.Fprintf(w, "%d sessions: %.0f times less CPU per session and tick than a process per session (%.0f µs, %.0f µs); daemon alone %.1f ms, mean with control client %.1f ms\n",
		r.Sessions, times, r.SessionUS, other.SessionUS, r.DaemonMS, r.ClientMeanMS)
	if r.Sessions == 100 {
		bar(w, times >= minTimesLess, "at least %.0f times less CPU at 100 sessions: %.0f times", minTimesLess, times)
	}
	if r.Sessions == 1000 {
		bar(w, r.ClientMS <= maxDaemonMS, "at most %.0f ms of the daemon's CPU per tick: %.1f ms", maxDaemonMS, r.ClientMS)
		bar(w, r.ServerMS <= maxServerMS, "at most %.0f ms of the tmux server's CPU per tick above its own: %.1f ms", maxServerMS, r.ServerMS)
	}
	bar(w, r.Processes == 0, "no process started per tick at %d sessions: %.1f", r.Sessions, r.Processes)
	if r.CapturesKB != nil {
		bar(w, *r.CapturesKB <= maxGrowthKB, "at most %d KB growth of the tmux server over %d captures: %d KB", maxGrowthKB, r.Captures, *r.CapturesKB)
	}
}
