package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/panebridge/panebridge/internal/statedir"
	"github.com/panebridge/panebridge/internal/storebench"
)

// yearsBar is how long a start takes at most, whatever is stored, in milliseconds.
const yearsBar = 1000

// yearsOptions are the flags of pbbench years.
type yearsOptions struct {
	ended, mb, starts int
	json              bool
}

// yearsRow is how long a daemon takes from its process's start until it listens.
type yearsRow struct {
	Stored   string  `json:"stored"`
	Sessions int     `json:"sessions"`
	FileMB   float64 `json:"file_mb"`
	Starts   int     `json:"starts"`
	MedianMS float64 `json:"median_ms"`
	MaxMS    float64 `json:"max_ms"`
}

func yearsCommand() *cobra.Command {
	opt := yearsOptions{}
	cmd := &cobra.Command{
		Use: "years", Short: "How long a start takes after years", Args: cobra.NoArgs,
		Long: `Starts the daemon on a new folder, and on one with many sessions that have ended
and their logs, in turns, and measures each time from the process's start until it listens. It
fails if the bar isn't met.`,
		RunE: func(cmd *cobra.Command, _ []string) error { return opt.run(cmd.Context(), cmd.OutOrStdout()) },
	}
	f := cmd.Flags()
	f.IntVar(&opt.ended, "ended", 10_000, "how many sessions have ended")
	f.IntVar(&opt.mb, "mb", 5000, "how many MB their logs have")
	f.IntVar(&opt.starts, "starts", 5, "how often each is started")
	f.BoolVar(&opt.json, "json", false, "print one JSON object a row")
	return cmd
}

func (o yearsOptions) run(ctx context.Context, out io.Writer) error {
	if o.ended < 1 || o.mb < 1 || o.starts < 1 {
		return fmt.Errorf("--ended %d, --mb %d, --starts %d: at least 1 each", o.ended, o.mb, o.starts)
	}
	b, err := newBed(ctx, 1)
	if err != nil {
		return err
	}
	defer b.close(ctx)
	empty, full := filepath.Join(b.dir, "empty"), filepath.Join(b.dir, "full")
	for _, dir := range []string{empty, full} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return fmt.Errorf("make a state folder: %w", err)
		}
	}
	progress("storing %d sessions with %d MB", o.ended, o.mb)
	years := storebench.Years{Ended: o.ended, Every: time.Minute, Bytes: o.mb << 20}
	if err := years.Fill(ctx, statedir.DatabasePath(full)); err != nil {
		return err
	}
	var nothing, all []float64
	for i := range o.starts + 1 {
		for _, c := range []struct {
			state string
			took  *[]float64
		}{{empty, &nothing}, {full, &all}} {
			d, err := startDaemon(ctx, b, daemonOptions{cadence: 1, state: c.state})
			if err != nil {
				return err
			}
			if err := d.stop(); err != nil {
				return err
			}
			if i > 0 { // the first start of each makes the tables, or finds nothing cached
				*c.took = append(*c.took, ms(d.ready))
			}
		}
	}
	rows := []yearsRow{
		{"nothing", 0, fileMB(empty), o.starts, median(nothing), quantile(nothing, 1)},
		{"years", o.ended, fileMB(full), o.starts, median(all), quantile(all, 1)},
	}
	return o.print(out, rows)
}

// fileMB is how large a folder's database is.
func fileMB(state string) float64 {
	info, err := os.Stat(statedir.DatabasePath(state))
	if err != nil {
		return 0
	}
	return float64(info.Size()) / (1 << 20)
}

func (o yearsOptions) print(out io.Writer, rows []yearsRow) error {
	bars, err := printRows(out, o.json, rows, []any{"stored", "sessions", "file MB", "starts", "median ms", "max ms"}, func(r yearsRow) []any {
		return []any{r.Stored, r.Sessions, r.FileMB, r.Starts, r.MedianMS, r.MaxMS}
	})
	if err != nil {
		return err
	}
	soon := rows[1].MedianMS <= yearsBar
	bar(bars, soon, "a start after years takes %.0f ms, at most %d; %.2f times that with nothing stored", rows[1].MedianMS, yearsBar, rows[1].MedianMS/rows[0].MedianMS)
	if !soon {
		return errors.New("a bar isn't met")
	}
	return nil
}
