package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
)

const (
	settle       = 4 * time.Second // after a start, until quiet sessions are known to be quiet
	sweepLimit   = 5 * time.Second
	fullCaptures = 10_000
)

// captureOptions are the flags of pbbench capture.
type captureOptions struct {
	sessions []int
	active   int
	seconds  int
	captures int
	full     bool
	json     bool
	profile  string
}

// captureRow is what one tick costs, one way, with so many sessions.
type captureRow struct {
	Way           string  `json:"way"`
	Sessions      int     `json:"sessions"`
	Active        int     `json:"active"`
	ClientMS      float64 `json:"client_ms_per_tick"` // CPU: the daemon and its control client, or the tmux processes
	ServerMS      float64 `json:"server_ms_per_tick"` // CPU of the tmux server above what it uses unread
	Processes     float64 `json:"processes_per_tick"` // started
	WallMS        float64 `json:"wall_ms"`            // one look at all sessions, with the captures it leads to
	SessionUS     float64 `json:"cpu_us_per_session_tick"`
	DaemonMS      float64 `json:"daemon_ms_per_tick,omitempty"` // part of client_ms_per_tick: without the control client
	ClientMeanMS  float64 `json:"client_mean_ms_per_tick"`
	ServerAloneMS float64 `json:"server_alone_ms_per_tick"` // what the server uses unread
	Ticks         int     `json:"ticks"`
	GrowthKB      *int64  `json:"server_growth_kb,omitempty"` // of the server's memory over the ticks
	Captures      int     `json:"captures,omitempty"`         // of the check of the server's memory
	CapturesKB    *int64  `json:"captures_growth_kb,omitempty"`
	Note          string  `json:"note,omitempty"`
}

func captureCommand() *cobra.Command {
	opt := captureOptions{}
	cmd := &cobra.Command{
		Use: "capture", Short: "What a tick costs: CPU of daemon and tmux server, processes, memory", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if opt.full {
				opt.seconds, opt.captures = max(opt.seconds, 60), fullCaptures
			}
			return opt.run(cmd.Context(), cmd.OutOrStdout())
		},
	}
	f := cmd.Flags()
	f.IntSliceVar(&opt.sessions, "sessions", []int{10, 100, 1000}, "how many sessions the tmux server has; one measurement each")
	f.IntVar(&opt.active, "active", 10, "how many of them print, 3.3 lines a second each")
	f.IntVar(&opt.seconds, "seconds", 6, "ticks of a second to measure")
	f.IntVar(&opt.captures, "captures", 2000, "captures of the check of the tmux server's memory; 0: no check")
	f.StringVar(&opt.profile, "profile", "", "write a CPU profile of the daemon's ticks to this file (of the last --sessions)")
	f.BoolVar(&opt.full, "full", false, "the counts of the bars: 60 ticks, 10,000 captures")
	f.BoolVar(&opt.json, "json", false, "print one JSON object a row")
	return cmd
}

func (o captureOptions) run(ctx context.Context, out io.Writer) error {
	var rows []captureRow
	var failed error
	for i, n := range o.sessions {
		got, err := o.measure(ctx, n, i == 0)
		if err != nil {
			failed = fmt.Errorf("measure %d sessions: %w", n, err) // what has been measured is shown all the same
			break
		}
		rows = append(rows, got...)
	}
	if o.json {
		return errors.Join(failed, printJSON(out, rows))
	}
	return errors.Join(failed, printCapture(out, rows))
}

// measure takes both ways on one bed. The server's own use is taken before and
// after the daemon's run, so that a drift of the machine falls on both sides.
func (o captureOptions) measure(ctx context.Context, n int, memoryToo bool) ([]captureRow, error) {
	progress("%d sessions, %d active: start", n, min(n, o.active))
	b, err := newBed(ctx, n)
	if err != nil {
		return nil, err
	}
	defer b.close(ctx)
	if err := b.fill(); err != nil {
		return nil, err
	}
	defer b.drive(o.active)()
	if err := pause(ctx, settle); err != nil {
		return nil, err
	}
	alone, err := o.alone(ctx, b)
	if err != nil {
		return nil, err
	}
	ours, ticks, err := o.panebridge(ctx, b)
	if err != nil {
		return nil, err
	}
	after, err := o.alone(ctx, b)
	if err != nil {
		return nil, err
	}
	idle := median(append(alone, after...))
	for i := range ticks {
		ticks[i] = max(0, ticks[i]-idle)
	}
	ours.ServerMS, ours.ServerAloneMS = round(median(ticks)), round(idle)
	ours.SessionUS = round(1000 * (ours.ClientMS + ours.ServerMS) / float64(n))
	if err := o.direct(ctx, b, &ours, memoryToo); err != nil {
		return nil, err
	}
	theirs, err := o.processes(ctx, b, idle)
	return []captureRow{ours, theirs}, err
}

// alone is the server's CPU per second while nobody reads, in ms.
func (o captureOptions) alone(ctx context.Context, b *bed) ([]float64, error) {
	var out []float64
	err := eachSecond(ctx, max(3, o.seconds/2), []int{b.pid}, func(used []time.Duration) { out = append(out, ms(used[0])) })
	return out, err
}

// panebridge measures the daemon, and returns the server's use beside the row.
func (o captureOptions) panebridge(ctx context.Context, b *bed) (row captureRow, server []float64, err error) {
	d, err := startDaemon(ctx, b, daemonOptions{cadence: 1, adopt: true, profile: o.profile})
	if err != nil {
		return row, nil, err
	}
	if err = errors.Join(pause(ctx, settle), d.startProfile()); err == nil {
		row, server, err = o.ticks(ctx, b, d)
	}
	if stopErr := d.stop(); err == nil {
		err = stopErr
	}
	return row, server, err
}

func (o captureOptions) ticks(ctx context.Context, b *bed, d *daemon) (row captureRow, server []float64, err error) {
	progress("%d sessions: panebridge, %d ticks", len(b.panes), o.seconds)
	control, err := childOf(d.pid)
	if err != nil {
		return row, nil, err
	}
	size, err := memory(b.pid)
	if err != nil {
		return row, nil, err
	}
	ours, theirs, machine := offspringOf(d.pid), offspringOf(b.pid), forks()
	var client, own []float64
	err = eachSecond(ctx, o.seconds, []int{d.pid, control, b.pid}, func(used []time.Duration) {
		own = append(own, ms(used[0]))
		client = append(client, ms(used[0]+used[1]))
		server = append(server, ms(used[2]))
	})
	if err != nil {
		return row, nil, err
	}
	row = captureRow{
		Way: wayPanebridge, Sessions: len(b.panes), Active: min(o.active, len(b.panes)), Ticks: o.seconds,
		ClientMS: round(median(client)), ClientMeanMS: round(mean(client)), DaemonMS: round(median(own)),
	}
	if ours != offspringOf(d.pid) || theirs != offspringOf(b.pid) {
		// Somebody started something; how much is only known for the machine.
		row.Processes = round((forks() - machine) / float64(o.seconds))
		row.Note = "processes of the whole machine"
	}
	now, err := memory(b.pid)
	growth := (now - size) / 1024
	row.GrowthKB = &growth
	return row, server, err
}

// processes measures the other way on the same bed. idle is the server's use
// unread, in ms per second.
func (o captureOptions) processes(ctx context.Context, b *bed, idle float64) (captureRow, error) {
	n := len(b.panes)
	row := captureRow{Way: wayProcesses, Sessions: n, Active: min(o.active, n), Processes: float64(2 * n), ServerAloneMS: round(idle)}
	limit := sweepLimit
	if o.full {
		limit *= 12
	}
	var client, server, wall []float64
	for start := time.Now(); row.Ticks < o.seconds && (row.Ticks == 0 || time.Since(start) < limit); row.Ticks++ {
		progress("%d sessions: two processes per session, sweep %d", n, row.Ticks+1)
		tick := time.Now()
		s, err := b.sweepByProcesses(ctx, limit, nil)
		if err != nil {
			return row, err
		}
		all := float64(n) / float64(s.sessions)
		if s.sessions < n {
			row.Note = fmt.Sprintf("one sweep, cut after %d sessions and scaled up", s.sessions)
		}
		client = append(client, ms(s.client)*all)
		server = append(server, max(0, ms(s.server)-idle*s.wall.Seconds())*all)
		wall = append(wall, ms(s.wall)*all)
		if err := pause(ctx, max(0, time.Second-time.Since(tick))); err != nil {
			return row, err
		}
	}
	row.ClientMS, row.ServerMS, row.WallMS = round(median(client)), round(median(server)), round(median(wall))
	row.ClientMeanMS = round(mean(client))
	row.SessionUS = round(1000 * (row.ClientMS + row.ServerMS) / float64(n))
	return row, nil
}

// eachSecond reports, each second, what CPU the processes used in it.
func eachSecond(ctx context.Context, seconds int, pids []int, report func(used []time.Duration)) error {
	last := make([]time.Duration, len(pids))
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for i := range seconds + 1 {
		used := make([]time.Duration, len(pids))
		for k, pid := range pids {
			now, err := cpuTime(pid)
			if err != nil {
				return err
			}
			used[k], last[k] = now-last[k], now
		}
		if i > 0 {
			report(used)
		}
		if i == seconds {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
	return nil
}
