package main

import (
	"bytes"
	"fmt"
	"sync"
	"time"

	"github.com/panebridge/panebridge/internal/api"
)

const (
	markPrefix = "pbmark"
	markLen    = len(markPrefix) + 8
)

// marks are texts of their own that are written to panes, and when they were
// seen. Its methods may be called from any goroutine.
type marks struct {
	mu  sync.Mutex
	all []mark
}

type mark struct{ written, first, output time.Time }

func newMarks() *marks { return &marks{} }

// next is a text that hasn't been written before.
func (m *marks) next(now time.Time) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.all = append(m.all, mark{written: now})
	return fmt.Sprintf("%s%08d", markPrefix, len(m.all)-1)
}

// seen finds the texts in what a reader got.
func (m *marks) seen(event string, data []byte, at time.Time) {
	if event != api.EventOutput && event != api.EventLive && event != "screen" {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for {
		i := bytes.Index(data, []byte(markPrefix))
		if i < 0 || len(data) < i+markLen {
			return
		}
		n := -1
		if _, err := fmt.Sscanf(string(data[i+len(markPrefix):i+markLen]), "%d", &n); err == nil && n >= 0 && n < len(m.all) {
			k := &m.all[n]
			if k.first.IsZero() {
				k.first = at
			}
			if k.output.IsZero() && event != api.EventLive {
				k.output = at
			}
		}
		data = data[i+markLen:]
	}
}

// open reports whether texts are still on their way.
func (m *marks) open() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, k := range m.all {
		if k.output.IsZero() {
			return true
		}
	}
	return false
}

// firsts are how many milliseconds the texts took that were seen.
func (m *marks) firsts() (all []float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, k := range m.all {
		if !k.first.IsZero() {
			all = append(all, ms(k.first.Sub(k.written)))
		}
	}
	return all
}

// row sums up.
func (m *marks) row(way string, cadence float64, n int) latencyRow {
	m.mu.Lock()
	defer m.mu.Unlock()
	row := latencyRow{Way: way, CadenceS: cadence, Sessions: n, Writes: len(m.all)}
	var first, output, later []float64
	for _, k := range m.all {
		if k.first.IsZero() || k.output.IsZero() {
			row.Lost++
			continue
		}
		first = append(first, ms(k.first.Sub(k.written)))
		output = append(output, ms(k.output.Sub(k.written)))
		later = append(later, ms(k.output.Sub(k.first)))
	}
	row.P50MS, row.P95MS, row.MaxMS = quantile(first, 0.5), quantile(first, 0.95), quantile(first, 1)
	if way != wayProcesses {
		row.OutputP95MS = quantile(output, 0.95)
		row.LaterP95MS, row.LaterMaxMS = quantile(later, 0.95), quantile(later, 1)
	}
	return row
}
