package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/api/client"
)

// writesPerSecond is how often a text of its own is written somewhere, on
// average.
const writesPerSecond = 10

// latencyOptions are the flags of pbbench latency.
type latencyOptions struct {
	sessions int
	active   int
	cadences []float64
	seconds  int
	full     bool
	json     bool
}

// latencyRow is how long texts took from a pane's terminal to a reader.
type latencyRow struct {
	Way         string  `json:"way"`
	CadenceS    float64 `json:"cadence_s"`
	Sessions    int     `json:"sessions"`
	P50MS       float64 `json:"p50_ms"` // to the first event that carries the text
	P95MS       float64 `json:"p95_ms"`
	MaxMS       float64 `json:"max_ms"`
	OutputP95MS float64 `json:"output_p95_ms,omitempty"` // to the output event
	LaterP95MS  float64 `json:"later_p95_ms"`            // from the first event to the output event
	LaterMaxMS  float64 `json:"later_max_ms"`
	Writes      int     `json:"writes"`
	Lost        int     `json:"lost"` // texts that came in no event
}

func latencyCommand() *cobra.Command {
	opt := latencyOptions{}
	cmd := &cobra.Command{
		Use: "latency", Short: "How long a text takes from a pane to a client of the API", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if opt.full {
				opt.seconds = max(opt.seconds, 60)
			}
			return opt.run(cmd.Context(), cmd.OutOrStdout())
		},
	}
	f := cmd.Flags()
	f.IntVar(&opt.sessions, "sessions", 100, "how many sessions the tmux server has")
	f.IntVar(&opt.active, "active", 10, "how many of them print, 3.3 lines a second each")
	f.Float64SliceVar(&opt.cadences, "cadence", []float64{1, 0.1}, "seconds between two looks; one measurement each")
	f.IntVar(&opt.seconds, "seconds", 8, "how long to write, 10 texts a second")
	f.BoolVar(&opt.full, "full", false, "the counts of the bars: 60 s")
	f.BoolVar(&opt.json, "json", false, "print one JSON object a row")
	return cmd
}

func (o latencyOptions) run(ctx context.Context, out io.Writer) error {
	var rows []latencyRow
	for _, cadence := range o.cadences {
		got, err := o.measure(ctx, cadence)
		if err != nil {
			return err
		}
		rows = append(rows, got...)
	}
	if o.json {
		return printJSON(out, rows)
	}
	return printLatency(out, rows)
}

// measure takes both ways on one bed, one after the other: together they'd fight
// for the cores.
func (o latencyOptions) measure(ctx context.Context, cadence float64) ([]latencyRow, error) {
	b, err := newBed(ctx, o.sessions)
	if err != nil {
		return nil, err
	}
	defer b.close(ctx)
	if err := b.fill(); err != nil {
		return nil, err
	}
	defer b.drive(o.active)()
	ours, err := o.panebridge(ctx, b, cadence)
	if err != nil {
		return nil, err
	}
	theirs, err := o.processes(ctx, b, cadence)
	if err != nil {
		return nil, err
	}
	followed, err := o.followed(ctx, b, cadence)
	return []latencyRow{ours, theirs, followed}, err
}

// followed writes to two sessions that somebody looks at each, one that prints and a quiet one.
func (o latencyOptions) followed(ctx context.Context, b *bed, cadence float64) (row latencyRow, err error) {
	d, err := startDaemon(ctx, b, daemonOptions{cadence: cadence, adopt: true})
	if err != nil {
		return row, err
	}
	defer func() { err = errors.Join(err, d.stop()) }()
	if err := pause(ctx, settle); err != nil {
		return row, err
	}
	progress("cadence %g s: panebridge, followed, %d s", cadence, o.seconds)
	all, err := d.api.Sessions(ctx)
	if err != nil {
		return row, fmt.Errorf("list the sessions: %w", err)
	}
	m := newMarks()
	reading, stop := context.WithCancel(ctx)
	var readers sync.WaitGroup
	written := []pane{b.panes[0], b.panes[len(b.panes)-1]}
	for _, p := range written {
		at := slices.IndexFunc(all, func(s api.Session) bool { return s.Tmux.Pane == p.id })
		if at < 0 {
			stop()
			return row, fmt.Errorf("no session has pane %s", p.id)
		}
		readers.Go(func() {
			_ = d.api.Events(reading, string(all[at].ID), "", func(e client.Event) error { // what's missing is counted
				m.seen(e.Name, e.Data, time.Now())
				return nil
			})
		})
	}
	if err = pause(ctx, settle); err == nil {
		err = o.writeTo(ctx, m, cadence, func(i int) pane { return written[i%2] })
	}
	stop()
	readers.Wait()
	return m.row(wayFollowed, cadence, len(b.panes)), err
}

func (o latencyOptions) panebridge(ctx context.Context, b *bed, cadence float64) (row latencyRow, err error) {
	d, err := startDaemon(ctx, b, daemonOptions{cadence: cadence, adopt: true})
	if err != nil {
		return row, err
	}
	defer func() { err = errors.Join(err, d.stop()) }()
	if err := pause(ctx, settle); err != nil {
		return row, err
	}
	progress("cadence %g s: panebridge, %d s", cadence, o.seconds)
	m := newMarks()
	reading, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() {
		ended <- d.api.Events(reading, "", "", func(e client.Event) error {
			m.seen(e.Name, e.Data, time.Now())
			return nil
		})
	}()
	err = o.write(ctx, b, m, cadence)
	stop()
	if e := <-ended; err == nil && !errors.Is(e, context.Canceled) {
		err = fmt.Errorf("read the events: %w", e)
	}
	return m.row(wayPanebridge, cadence, len(b.panes)), err
}

// processes reads the screens of all sessions over and over, the other way, at
// the cadence if it can keep it.
func (o latencyOptions) processes(ctx context.Context, b *bed, cadence float64) (latencyRow, error) {
	progress("cadence %g s: two processes per session, %d s", cadence, o.seconds)
	m := newMarks()
	reading, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() {
		tick := time.NewTicker(time.Duration(cadence * float64(time.Second)))
		defer tick.Stop()
		for reading.Err() == nil {
			_, err := b.sweepByProcesses(reading, time.Minute, func(screen string) { m.seen("screen", []byte(screen), time.Now()) })
			if err != nil && reading.Err() == nil {
				ended <- err
				return
			}
			select {
			case <-reading.Done():
			case <-tick.C:
			}
		}
		ended <- nil
	}()
	err := o.write(ctx, b, m, cadence)
	stop()
	return m.row(wayProcesses, cadence, len(b.panes)), errors.Join(err, <-ended)
}

// write writes texts at random moments, in turn to a pane that prints and to a
// quiet one, and then gives the last ones time to arrive.
func (o latencyOptions) write(ctx context.Context, b *bed, m *marks, cadence float64) error {
	active := min(o.active, len(b.panes))
	return o.writeTo(ctx, m, cadence, func(i int) pane {
		k := rand.IntN(len(b.panes))
		switch {
		case i%2 == 0 && active > 0:
			k = rand.IntN(active)
		case active < len(b.panes):
			k = active + rand.IntN(len(b.panes)-active)
		}
		return b.panes[k]
	})
}

// writeTo writes texts at random moments, to the panes that choose returns.
func (o latencyOptions) writeTo(ctx context.Context, m *marks, cadence float64, choose func(i int) pane) error {
	for i, end := 0, time.Now().Add(time.Duration(o.seconds)*time.Second); time.Now().Before(end); i++ {
		wait := min(rand.ExpFloat64()/writesPerSecond, 1)
		if err := pause(ctx, time.Duration(wait*float64(time.Second))); err != nil {
			return err
		}
		if err := choose(i).write(m.next(time.Now())); err != nil {
			return err
		}
	}
	for end := time.Now().Add(time.Duration((5 + 3*cadence) * float64(time.Second))); m.open() && time.Now().Before(end); {
		if err := pause(ctx, 50*time.Millisecond); err != nil {
			return err
		}
	}
	return nil
}

// The bars of pbbench latency: a tick is at most this share of the cadence and
// this much more.
const (
	maxShareOfCadence = 1.1
	maxBeyondMS       = 50.0
	followedFirstMS   = 25.0 // of sessions that somebody looks at, whatever the cadence
	followedOutputMS  = 50.0 // the same until the line
)

func printLatency(w io.Writer, rows []latencyRow) error {
	_, _ = fmt.Fprintln(w, "From the write to a pane's terminal until a reader has the text (ms)")
	t := newTable(w, "way", "cadence s", "sessions", "p50", "p95", "max", "output p95", "output later p95", "output later max", "writes", "lost")
	for _, r := range rows {
		output, later, most := any(r.OutputP95MS), any(r.LaterP95MS), any(r.LaterMaxMS)
		if r.Way == wayProcesses {
			output, later, most = "-", "-", "-"
		}
		t.row(r.Way, fmt.Sprint(r.CadenceS), r.Sessions, r.P50MS, r.P95MS, r.MaxMS, output, later, most, r.Writes, r.Lost)
	}
	if err := t.Flush(); err != nil {
		return fmt.Errorf("print the table: %w", err)
	}
	_, _ = fmt.Fprintln(w)
	for i, r := range rows {
		switch r.Way {
		case wayProcesses:
			continue
		case wayFollowed:
			bar(w, r.P95MS <= followedFirstMS && r.Lost == 0, "followed, cadence %g s: the first event %.0f ms after the write (p95), at most %.0f, %d lost", r.CadenceS, r.P95MS, followedFirstMS, r.Lost)
			bar(w, r.OutputP95MS <= followedOutputMS, "followed, cadence %g s: the line %.0f ms after the write (p95), at most %.0f", r.CadenceS, r.OutputP95MS, followedOutputMS)
			continue
		}
		limit := 1000*maxShareOfCadence*r.CadenceS + maxBeyondMS
		other := rows[i+1].P95MS
		_, _ = fmt.Fprintf(w, "cadence %g s: p95 is %.0f ms, with a process per session %.0f ms, %.1f times that\n", r.CadenceS, r.P95MS, other, other/max(r.P95MS, 0.001))
		bar(w, r.P95MS <= limit && r.Lost == 0, "p95 at most %.0f ms at cadence %g s: %.0f ms, %d lost", limit, r.CadenceS, r.P95MS, r.Lost)
		bar(w, r.LaterP95MS <= limit, "output event at most a tick after the first event, give or take as much (p95 ≤ %.0f ms): %.0f ms, max %.0f ms", limit, r.LaterP95MS, r.LaterMaxMS)
	}
	return nil
}
