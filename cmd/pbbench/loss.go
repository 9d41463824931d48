package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/sessions"
)

const (
	lossHistory = 2000 // rows tmux keeps, its own default
	lossTimeout = 5 * time.Minute
	pageLimit   = 5000 // lines the API gives at once, at most
)

// lossOptions are the flags of pbbench loss.
type lossOptions struct {
	full bool
	json bool
}

// lossRow is what came of a printer's lines.
type lossRow struct {
	Way      string  `json:"way"`
	Case     string  `json:"case"`
	Printed  int     `json:"printed"`
	Missing  int     `json:"missing"`
	Twice    int     `json:"twice"`
	Silent   int     `json:"silent"`  // missing where no gap stands
	Claimed  int     `json:"claimed"` // lines that gaps say are missing and aren't
	Gaps     int     `json:"gaps"`
	Rollover int     `json:"rollovers"`     // how often tmux dropped a tenth of the history, at least
	ApartS   float64 `json:"polls_apart_s"` // the longest time between two polls that brought lines
	Seconds  float64 `json:"printing_s"`    // from the first line read to the last

	paced bool // slow enough that nothing may be missing
}

// lossCase is one printer.
type lossCase struct {
	name    string
	command []string
	want    []string
	paced   bool
}

func lossCommand() *cobra.Command {
	opt := lossOptions{}
	cmd := &cobra.Command{
		Use: "loss", Short: "What's missing or doubled of what programs print", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return opt.run(cmd.Context(), cmd.OutOrStdout()) },
	}
	cmd.Flags().BoolVar(&opt.full, "full", false, "the counts of the bars: 60,000 lines in 60 s, seq 1 1000000")
	cmd.Flags().BoolVar(&opt.json, "json", false, "print one JSON object a row")
	return cmd
}

func (o lossOptions) cases() ([]lossCase, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	seconds, flood := 10, 200_000
	if o.full {
		seconds, flood = 60, 1_000_000
	}
	paced := func(name string, rate int) lossCase {
		n := rate * seconds
		return lossCase{
			name: name, want: script(n, true), paced: rate <= lossHistory/2,
			command: []string{self, "print", "--mixed", "--lines", strconv.Itoa(n), "--rate", strconv.Itoa(rate)},
		}
	}
	return []lossCase{
		paced("normal", 1000),
		paced("4000/s", 4000),
		{name: "flood", command: []string{"seq", "1", strconv.Itoa(flood)}, want: script(flood, false)},
	}, nil
}

func (o lossOptions) run(ctx context.Context, out io.Writer) (err error) {
	cases, err := o.cases()
	if err != nil {
		return err
	}
	b, err := newBed(ctx, 1)
	if err != nil {
		return err
	}
	defer b.close(ctx)
	d, err := startDaemon(ctx, b, daemonOptions{cadence: 1, historyLimit: lossHistory})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.stop()) }()
	var rows []lossRow
	for _, c := range cases {
		progress("%s: %d lines", c.name, len(c.want))
		got, err := c.measure(ctx, b, d)
		if err != nil {
			return fmt.Errorf("case %s: %w", c.name, err)
		}
		rows = append(rows, got...)
	}
	if o.json {
		return printJSON(out, rows)
	}
	return printLoss(out, rows)
}

// measure lets both ways read the same printer at the same time.
func (c lossCase) measure(ctx context.Context, b *bed, d *daemon) ([]lossRow, error) {
	ctx, cancel := context.WithTimeout(ctx, lossTimeout)
	defer cancel()
	s, err := d.api.NewSession(ctx, api.Create{Name: "loss " + c.name, Command: c.command, Cwd: b.dir})
	if err != nil {
		return nil, err
	}
	reading, stop := context.WithCancel(ctx)
	screens := make(chan []got, 1)
	go func() { screens <- b.followScreen(reading, s.Tmux.Session) }()
	err = d.ended(ctx, s.ID)
	stop()
	theirs := <-screens
	if err != nil {
		return nil, err
	}
	ours, times, err := d.lines(ctx, s.ID)
	if err != nil {
		return nil, err
	}
	row := c.row(wayPanebridge, ours)
	row.ApartS, row.Seconds = apart(times)
	return []lossRow{row, c.row(wayProcesses, theirs)}, nil
}

func (c lossCase) row(way string, read []got) lossRow {
	v := check(c.want, read)
	return lossRow{
		Way: way, Case: c.name, Printed: len(c.want), Missing: v.missing, Twice: v.twice, Silent: v.silent, Claimed: v.claimed,
		Gaps: v.gaps, Rollover: max(0, (len(c.want)-lossHistory)/(lossHistory/10)), paced: c.paced,
	}
}

// ended waits until a session has ended.
func (d *daemon) ended(ctx context.Context, id sessions.ID) error {
	for {
		s, err := d.api.Session(ctx, string(id))
		if err != nil || s.State == sessions.StateEnded {
			return err
		}
		if err := pause(ctx, 200*time.Millisecond); err != nil {
			return err
		}
	}
}

// lines reads a session's pane lines and gaps back, in order, and when they were
// read from the pane.
func (d *daemon) lines(ctx context.Context, id sessions.ID) (all []got, times []time.Time, err error) {
	for from := int64(1); ; {
		page, err := d.api.Output(ctx, string(id), from, pageLimit)
		if err != nil {
			return nil, nil, err
		}
		gaps := page.Gaps
		before := func(n int64) { // the gaps before line n
			for len(gaps) > 0 && gaps[0].After < n {
				all = append(all, got{gap: true, atLeast: gaps[0].AtLeast})
				gaps = gaps[1:]
			}
		}
		for _, l := range page.Lines {
			before(l.N)
			if l.Kind == sessions.KindPane {
				all = append(all, got{text: l.Text})
				times = append(times, l.At)
			}
		}
		if len(page.Lines) == 0 {
			before(page.Next + 1)
			return all, times, nil
		}
		from = page.Next
	}
}

// apart is the longest time between two polls that brought lines, and the time
// between the first and the last.
func apart(times []time.Time) (longest, all float64) {
	for i := 1; i < len(times); i++ {
		longest = max(longest, times[i].Sub(times[i-1]).Seconds())
	}
	if len(times) > 0 {
		all = times[len(times)-1].Sub(times[0]).Seconds()
	}
	return round(longest), round(all)
}

// minRollovers is over how many rollovers nothing may be missing.
const minRollovers = 20

// maxApartS is the time between two polls up to which a gap is a fault, at 1,000
// lines a second and a history of 2,000.
const maxApartS = 1.7

func printLoss(w io.Writer, rows []lossRow) error {
	_, _ = fmt.Fprintf(w, "What's read of what a program prints (history-limit %d, cadence 1 s)\n", lossHistory)
	t := newTable(w, "way", "case", "printed", "missing", "twice", "silent", "claimed", "gaps", "rollovers", "polls apart s", "printing s")
	for _, r := range rows {
		apart, printing := any(r.ApartS), any(r.Seconds)
		if r.Way != wayPanebridge {
			apart, printing = "-", "-"
		}
		t.row(r.Way, r.Case, r.Printed, r.Missing, r.Twice, r.Silent, r.Claimed, r.Gaps, r.Rollover, apart, printing)
	}
	if err := t.Flush(); err != nil {
		return fmt.Errorf("print the table: %w", err)
	}
	_, _ = fmt.Fprintln(w)
	for _, r := range rows {
		if r.Way == wayPanebridge {
			r.bars(w)
		}
	}
	return nil
}

func (r lossRow) bars(w io.Writer) {
	bar(w, r.Twice == 0 && r.Silent == 0 && r.Claimed == 0, "%s: nothing twice, nothing missing silently, no gap claims more than is missing: %d, %d, %d", r.Case, r.Twice, r.Silent, r.Claimed)
	if !r.paced {
		return
	}
	if r.ApartS > maxApartS {
		_, _ = fmt.Fprintf(w, "%s: two polls were %.1f s apart, so gaps are no fault\n", r.Case, r.ApartS)
	}
	bar(w, r.Missing == 0 && r.Gaps == 0 || r.ApartS > maxApartS, "%s: nothing missing and no gap over at least %d rollovers: %d missing, %d gaps, %d rollovers", r.Case, minRollovers, r.Missing, r.Gaps, r.Rollover)
}
