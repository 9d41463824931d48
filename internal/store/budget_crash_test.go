package store_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/panebridge/panebridge/internal/store"
	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/qos/qostest"
)

const (
	// budgetChildEnv makes TestBudgetChild work on the database it names until it's
	// killed.
	budgetChildEnv = "PANEBRIDGE_TEST_BUDGET_CHILD"
	// budgetAtEnv is the call at which it stands still, and budgetInEnv says where:
	// "kept" is when its slot is written and the call isn't made, "called" is when it's
	// made and not answered.
	budgetAtEnv, budgetInEnv = "PANEBRIDGE_TEST_BUDGET_CHILD_AT", "PANEBRIDGE_TEST_BUDGET_CHILD_IN"

	budgetCalls = 5 // a minute

	budgetChat = qos.ChatKey("-100")
)

func budgetLimits() qos.Limits {
	return qostest.WithLimits(qos.Options{Limits: qos.Limits{Group: qos.Limit{Windows: []qos.Window{{Calls: budgetCalls, Per: time.Minute}}}}}).Limits
}

// budgetProcess is the process that's killed: a scheduler over the real store, and a
// platform that answers at once. What it does goes to standard output.
type budgetProcess struct {
	qos.Ledger
	at, calls, kept int
	in              string
}

// TestBudgetChild isn't a test: it's what the next one kills.
func TestBudgetChild(t *testing.T) {
	path := os.Getenv(budgetChildEnv)
	if path == "" {
		t.Skip("only as a child")
	}
	t.Fatal(budgetChild(context.Background(), path))
}

func budgetChild(ctx context.Context, path string) error {
	s, err := store.Open(ctx, path, store.Options{})
	if err != nil {
		return err
	}
	p := &budgetProcess{Ledger: s.Ledger("telegram"), in: os.Getenv(budgetInEnv)}
	if _, err := fmt.Sscan(os.Getenv(budgetAtEnv), &p.at); err != nil {
		return err
	}
	scheduler, err := qos.New(qos.Options{Limits: budgetLimits()}, p, qos.NewLocalBudget(p))
	if err != nil {
		return err
	}
	for i := range 2 * budgetCalls {
		if err := scheduler.PostRequest(qos.Request{Chat: budgetChat, Key: fmt.Sprint(i)}); err != nil {
			return err
		}
	}
	return scheduler.Run(ctx)
}

// Write is late, so that a call that doesn't wait for it is made before.
func (p *budgetProcess) Write(ctx context.Context, entries []qos.LedgerEntry) error {
	taken := slices.IndexFunc(entries, func(e qos.LedgerEntry) bool { return e.Kind == qos.EntryTake })
	if taken < 0 {
		return p.Ledger.Write(ctx, entries)
	}
	time.Sleep(50 * time.Millisecond)
	if err := p.Ledger.Write(ctx, entries); err != nil {
		return err
	}
	if p.kept++; p.kept == p.at && p.in == "kept" {
		_, _ = fmt.Fprintln(os.Stdout, "kept", time.Now().UnixNano(), entries[taken].Slot.Stamp.Add(-5*time.Second).UnixNano())
		select {}
	}
	return nil
}

func (p *budgetProcess) Deliver(ctx context.Context, _ qos.Call) qos.CallResult {
	deadline, _ := ctx.Deadline()
	p.calls++ // one at a time: it's one chat
	_, _ = fmt.Fprintln(os.Stdout, "called", time.Now().UnixNano(), deadline.UnixNano())
	if p.calls == p.at && p.in == "called" {
		select {}
	}
	return qos.CallResult{Outcome: qos.Delivered}
}

// said is one line of the process.
type said struct {
	what         string
	at, deadline time.Time
}

// killedAt runs the process until it stands still, and kills it.
func killedAt(t *testing.T, path, in string, call int) []said {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestBudgetChild$")
	cmd.Env = append(os.Environ(), budgetChildEnv+"="+path, fmt.Sprint(budgetAtEnv, "=", call), budgetInEnv+"="+in)
	cmd.Stderr = os.Stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var all []said
	calls := 0
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		var s said
		var at, deadline int64
		if _, err := fmt.Sscan(lines.Text(), &s.what, &at, &deadline); err != nil {
			t.Errorf("the process said %q", lines.Text())
		}
		s.at, s.deadline = time.Unix(0, at), time.Unix(0, deadline)
		all = append(all, s)
		if s.what == "called" {
			calls++
		}
		if s.what == in && (in == "kept" || calls == call) {
			_ = cmd.Process.Kill()
		}
	}
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() != -1 {
		t.Fatalf("the process ended by itself: %v", err)
	}
	return all
}

// TestAKilledProcessLeavesItsSlots: whenever a process is killed, between the writing of
// a slot and its call or between the call and its answer, the next one makes no call
// that would be one too many at the platform, wherever the last call is by then. The
// time after the restart is virtual.
func TestAKilledProcessLeavesItsSlots(t *testing.T) {
	for _, in := range []string{"kept", "called"} {
		for _, call := range []int{1, budgetCalls} {
			t.Run(fmt.Sprintf("%s %d", in, call), func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "panebridge.db")
				before := killedAt(t, path, in, call)
				last := before[len(before)-1]
				mayArrive := last.deadline.Add(5*time.Second - time.Microsecond) // as times are kept
				if len(before) != call {
					t.Fatalf("the process said %+v, want %d lines", before, call)
				}
				after := restarted(t, path)
				if len(after) < 2*budgetCalls {
					t.Fatalf("%d calls after the restart", len(after))
				}
				if after[0].Before(mayArrive) {
					t.Errorf("the first call was made %v before the last of the killed process can't arrive any more", mayArrive.Sub(after[0]))
				}
				// The last call arrives at once, or as late as can be.
				for _, at := range []time.Time{last.at, mayArrive} {
					arrivals := []time.Time{at}
					for _, s := range before[:len(before)-1] {
						arrivals = append(arrivals, s.at)
					}
					arrivals = append(arrivals, after...)
					slices.SortFunc(arrivals, time.Time.Compare)
					for i := budgetCalls; i < len(arrivals); i++ {
						if d := arrivals[i].Sub(arrivals[i-budgetCalls]); d < time.Minute {
							t.Errorf("calls %d to %d reach the platform within %v", i-budgetCalls, i, d)
						}
					}
				}
			})
		}
	}
}

// restarted is when a new process makes its calls.
func restarted(t *testing.T, path string) (calls []time.Time) {
	t.Helper()
	s, err := store.Open(t.Context(), path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	budget := qos.NewLocalBudget(s.Ledger("telegram"))
	budget.Configure(budgetLimits())
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- budget.Run(ctx, func(qos.Penalty) {}, func(qos.ChatKey) {}) }()
	defer func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	now := time.Now()
	for end := now.Add(4 * time.Minute); now.Before(end); {
		reply := make(chan qos.SlotAnswer, 1)
		a := budget.AskSlot(now, qos.SlotQuestion{Chat: budgetChat, Deadline: now.Add(20 * time.Second)}, func(a qos.SlotAnswer) { reply <- a })
		if a.State == qos.Pending {
			a = <-reply
		}
		if a.Err != nil {
			t.Fatal(a.Err)
		}
		if a.State == qos.NotBefore {
			now = a.At
			continue
		}
		budget.Settle(now, a.Permit, now)
		calls = append(calls, now)
	}
	return calls
}
