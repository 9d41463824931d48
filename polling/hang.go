package polling

import (
	"log/slog"
	"time"
)

// hang is a tmux server that doesn't answer: it's logged and counted once, however many
// captures or looks are given up meanwhile, and that it's over is logged. It has one owner.
type hang struct {
	since time.Time // zero: it answers
}

// begin takes in that a time-out has passed without an answer.
func (h *hang) begin(opt *Options, log *slog.Logger) {
	if !h.since.IsZero() {
		return
	}
	h.since = time.Now().Add(-opt.CaptureTimeout)
	log.Warn("tmux doesn't answer: what's new is seen when it does", "timeout", opt.CaptureTimeout)
	opt.Hung()
}

// end takes in an answer.
func (h *hang) end(log *slog.Logger) {
	if h.since.IsZero() {
		return
	}
	log.Info("tmux answers again", "after", time.Since(h.since).Round(time.Millisecond))
	h.since = time.Time{}
}
