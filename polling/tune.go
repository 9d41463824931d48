package polling

import (
	"sync/atomic"
	"time"
)

// Tuning is what of the Options can change at run time. Zero means the default.
type Tuning struct {
	Cadence         time.Duration
	FocusCadence    time.Duration
	CaptureTimeout  time.Duration
	MaxCaptureLines int
	Marker          *Marker
}

// Tune has all look, capture and find the ends of turns by other options from now on.
func (c *PollingCoordinator) Tune(t Tuning) {
	next := *c.opt.get()
	next.Cadence, next.FocusCadence, next.CaptureTimeout, next.MaxCaptureLines, next.Marker = t.Cadence, t.FocusCadence, t.CaptureTimeout, t.MaxCaptureLines, t.Marker
	next = next.withDefaults()
	c.opt.now.Store(&next)
	for _, w := range c.servers {
		select {
		case w.tuned <- struct{}{}:
		default: // it hasn't taken in the change before, and will take in both
		}
	}
}

// Cadence is the time between two looks at the panes now.
func (c *PollingCoordinator) Cadence() time.Duration { return c.opt.get().Cadence }

// Marker is what ends a turn now; nil: nothing does.
func (c *PollingCoordinator) Marker() *Marker { return c.opt.get().Marker }

// tuned are options that may change at any time: what needs several of them to fit gets them
// once.
type tuned struct{ now atomic.Pointer[Options] }

func newTuned(o Options) *tuned {
	o = o.withDefaults()
	t := new(tuned)
	t.now.Store(&o)
	return t
}

func (t *tuned) get() *Options { return t.now.Load() }
