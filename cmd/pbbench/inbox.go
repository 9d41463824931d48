package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/panebridge/panebridge/internal/inbox"
	"github.com/panebridge/panebridge/internal/statedir"
	"github.com/panebridge/panebridge/internal/store"
)

// inboxBar is how many times as long a send takes as a bare INSERT at most, in the 99th
// percentile; listenBar is how soon a waiting listener has a notice, in the 95th.
const (
	inboxBar  = 3
	listenBar = 100 * time.Millisecond
)

// inboxOptions are the flags of pbbench inbox.
type inboxOptions struct {
	processes, sends int
	json             bool
}

// inboxRow is how long one call takes.
type inboxRow struct {
	Way       string  `json:"way"`
	Processes int     `json:"processes"`
	Calls     int     `json:"calls"`
	P50MS     float64 `json:"p50_ms"`
	P95MS     float64 `json:"p95_ms"`
	P99MS     float64 `json:"p99_ms"`
	MaxMS     float64 `json:"max_ms"`
	Errors    int     `json:"errors"`
}

func inboxCommand() *cobra.Command {
	opt := inboxOptions{}
	cmd := &cobra.Command{
		Use: "inbox", Short: "How long agents' messages and notices take, from many processes at once", Args: cobra.NoArgs,
		Long: `Has many processes store messages in one database at once, by panebridge's send
without a preview and by a bare INSERT (WAL, busy_timeout), and measures each call. Then it
measures how soon a waiting listener has a notice. It fails if a bar isn't met.`,
		RunE: func(cmd *cobra.Command, _ []string) error { return opt.run(cmd.Context(), cmd.OutOrStdout()) },
	}
	f := cmd.Flags()
	f.IntVar(&opt.processes, "processes", 16, "how many processes")
	f.IntVar(&opt.sends, "sends", 300, "how many calls each makes")
	f.BoolVar(&opt.json, "json", false, "print one JSON object a row")
	return cmd
}

// inboxWorkerCommand is one of the processes: FOLDER WAY SENDS.
func inboxWorkerCommand() *cobra.Command {
	return &cobra.Command{
		Use: "inbox-worker", Hidden: true, Args: cobra.ExactArgs(3),
		RunE: func(cmd *cobra.Command, args []string) error {
			n, err := strconv.Atoi(args[2])
			if err != nil {
				return fmt.Errorf("read how many sends: %w", err)
			}
			calls, err := inboxWork(cmd.Context(), args[0], args[1], n)
			if err != nil {
				return err
			}
			return json.NewEncoder(cmd.OutOrStdout()).Encode(calls)
		},
	}
}

// inboxCalls is what a worker has measured.
type inboxCalls struct {
	Took   []time.Duration
	Errors int
}

const (
	wayBare = "bare INSERT"
	waySend = "send"
)

func inboxWork(ctx context.Context, dir, way string, n int) (inboxCalls, error) {
	path := statedir.DatabasePath(dir)
	call, done, err := bareInsert(ctx, path)
	if way == waySend {
		call, done, err = plainSend(ctx, path)
	}
	if err != nil {
		return inboxCalls{}, err
	}
	var out inboxCalls
	for i := range n {
		began := time.Now()
		if call(fmt.Sprintf("%d-%d", os.Getpid(), i)) != nil {
			out.Errors++
		}
		out.Took = append(out.Took, time.Since(began))
	}
	return out, done()
}

func plainSend(ctx context.Context, path string) (call func(string) error, done func() error, err error) {
	db, err := store.OpenInbox(ctx, path)
	if err != nil {
		return nil, nil, err
	}
	box := inbox.PostOffice{Store: db}
	return func(text string) error {
		_, err := box.Send(ctx, nil, "pb_from", "pb_to", text)
		return err
	}, db.Close, nil
}

// bareInsert is what a program does that knows nothing of others but SQLite's own
// waiting.
func bareInsert(ctx context.Context, path string) (call func(string) error, done func() error, err error) {
	db, err := store.OpenBare(path)
	if err != nil {
		return nil, nil, err
	}
	return func(text string) error { return db.Insert(ctx, text) }, db.Close, nil
}

func (o inboxOptions) run(ctx context.Context, out io.Writer) error {
	if o.processes < 1 || o.sends < 10 {
		return fmt.Errorf("--processes %d, --sends %d: at least 1 and 10", o.processes, o.sends)
	}
	dir, err := os.MkdirTemp("", "pb")
	if err != nil {
		return fmt.Errorf("make a folder: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	db, err := store.OpenInbox(ctx, statedir.DatabasePath(dir))
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	var rows []inboxRow
	for _, way := range []string{wayBare, waySend} {
		progress("%s", way)
		row, err := o.measure(ctx, dir, way)
		if err != nil {
			return err
		}
		rows = append(rows, row)
	}
	progress("listen")
	heard, err := listenTimes(ctx, db, dir, 100)
	if err != nil {
		return err
	}
	rows = append(rows, inboxRowOf("notice to listen", 1, heard, 0))
	return o.print(out, rows)
}

// measure has all processes work at once.
func (o inboxOptions) measure(ctx context.Context, dir, way string) (inboxRow, error) {
	self, err := os.Executable()
	if err != nil {
		return inboxRow{}, fmt.Errorf("find this program: %w", err)
	}
	var mu sync.Mutex
	var all inboxCalls
	var failed error
	var workers sync.WaitGroup
	for range o.processes {
		workers.Go(func() {
			cmd := exec.CommandContext(ctx, self, "inbox-worker", dir, way, strconv.Itoa(o.sends))
			cmd.Stderr = os.Stderr
			text, err := cmd.Output()
			var one inboxCalls
			if err == nil {
				err = json.Unmarshal(text, &one)
			}
			mu.Lock()
			defer mu.Unlock()
			failed = errors.Join(failed, err)
			all.Took, all.Errors = append(all.Took, one.Took...), all.Errors+one.Errors
		})
	}
	workers.Wait()
	if failed != nil {
		return inboxRow{}, fmt.Errorf("measure %s: %w", way, failed)
	}
	return inboxRowOf(way, o.processes, all.Took, all.Errors), nil
}

func inboxRowOf(way string, processes int, took []time.Duration, failed int) inboxRow {
	slices.Sort(took)
	at := func(share float64) float64 {
		return took[min(int(share*float64(len(took))), len(took)-1)].Seconds() * 1000
	}
	return inboxRow{way, processes, len(took), at(0.5), at(0.95), at(0.99), at(1), failed}
}

// listenTimes are how long notices take to a listener that waits.
func listenTimes(ctx context.Context, db *store.Inbox, dir string, n int) ([]time.Duration, error) {
	bells := inbox.Bells{Folder: filepath.Join(dir, inbox.BellFolder)}
	var took []time.Duration
	for range n {
		sent := make(chan time.Time, 1)
		notified := make(chan error, 1)
		go func() {
			time.Sleep(20 * time.Millisecond) // it waits by then
			now := time.Now()
			sent <- now
			notified <- inbox.Notify(ctx, db, bells, inbox.Notice{To: "pb_to", At: now, From: "x", Type: inbox.Info, Msg: "now"})
		}()
		l := inbox.Listening{Store: db, Bells: bells, Print: func([]inbox.Notice) error {
			took = append(took, time.Since(<-sent))
			return nil
		}}
		_, err := l.Run(ctx, "pb_to", false)
		if err = errors.Join(err, <-notified); err != nil {
			return nil, err
		}
	}
	return took, nil
}

func (o inboxOptions) print(out io.Writer, rows []inboxRow) error {
	bars, err := printRows(out, o.json, rows, []any{"way", "processes", "calls", "p50 ms", "p95 ms", "p99 ms", "max ms", "errors"}, func(r inboxRow) []any {
		return []any{r.Way, r.Processes, r.Calls, r.P50MS, r.P95MS, r.P99MS, r.MaxMS, r.Errors}
	})
	if err != nil {
		return err
	}
	bare, send, listen := rows[0], rows[1], rows[2]
	fast := send.P99MS <= inboxBar*bare.P99MS && send.Errors == 0
	soon := listen.P95MS <= float64(listenBar.Milliseconds())
	bar(bars, fast, "p99 of send is %.2f times that of a bare INSERT, at most %d; %d failed", send.P99MS/bare.P99MS, inboxBar, send.Errors)
	bar(bars, soon, "p95 of a notice to a waiting listener is %.1f ms, at most %d", listen.P95MS, listenBar.Milliseconds())
	if !fast || !soon {
		return errors.New("a bar isn't met")
	}
	return nil
}
