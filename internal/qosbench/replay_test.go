package qosbench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/internal/qostrace"
	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/qos/qostest"
)

// dayDeliverer answers as platforms do, at drawn moments.
type dayDeliverer struct {
	mu     sync.Mutex
	random *rand.Rand
}

func (d *dayDeliverer) Deliver(ctx context.Context, call qos.Call) qos.CallResult {
	d.mu.Lock()
	took := time.Duration(20e6 + d.random.Int64N(900e6))
	kind := d.random.IntN(120)
	more := d.random.IntN(20) == 0
	retry := time.Duration(1+d.random.IntN(40)) * time.Second
	ahead := int64(d.random.IntN(3))
	d.mu.Unlock()
	select {
	case <-time.After(took):
	case <-ctx.Done():
		return qos.CallResult{Outcome: qos.Uncertain}
	}
	switch kind {
	case 0:
		return qos.CallResult{Outcome: qos.Throttled, RetryAfter: retry}
	case 1, 2:
		return qos.CallResult{Outcome: qos.Failed, Err: errors.New("a text that isn't recorded")}
	case 3:
		return qos.CallResult{Outcome: qos.Uncertain, Over: true}
	case 4:
		return qos.CallResult{Outcome: qos.NotSent}
	case 5:
		return qos.CallResult{Outcome: qos.Unchanged}
	case 7:
		return qos.CallResult{Outcome: qos.Throttled, RetryAfter: retry, Global: true}
	case 8:
		return qos.CallResult{Outcome: qos.Throttled, RetryAfter: retry, Narrow: true}
	case 9:
		return qos.CallResult{Outcome: qos.Unchanged, Again: time.Now().Add(retry)}
	case 10:
		return qos.CallResult{Outcome: qos.NotSent, RetryAfter: retry}
	case 11:
		if call.Chat != "-300 group" && ahead == 0 {
			return qos.CallResult{Outcome: qos.Migrated, Chat: "-300 group"}
		}
	case 12:
		return qos.CallResult{Outcome: qos.Throttled}
	case 13:
		return qos.CallResult{Outcome: qos.Delivered, Delivered: call.Wanted, Final: call.Final, Chat: "-300 group"}
	case 14:
		if ahead == 0 {
			return qos.CallResult{Outcome: qos.ChatGone}
		}
	case 15:
		if ahead == 0 {
			return qos.CallResult{Outcome: qos.Rejected}
		}
	case 6:
		if call.Key != "" {
			return qos.CallResult{Outcome: qos.Rejected}
		}
	}
	return qos.CallResult{Outcome: qos.Delivered, Delivered: call.Wanted + ahead, Final: call.Final, More: more}
}

// aDay has a real scheduler run for a drawn time, restarted and tuned now and then, and records it.
func aDay(t *testing.T, r *rand.Rand, writer *qostrace.Writer, length time.Duration) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var writing sync.WaitGroup
	writing.Go(func() { _ = writer.Run(ctx) })
	ledger := qostest.NewMemLedger()
	deliverer := &dayDeliverer{random: rand.New(rand.NewPCG(r.Uint64(), 2))}
	chats := []qos.ChatKey{"-100 group", "-200 group", "300 private"}
	wanted := make([]int64, 2+r.IntN(6))
	end := time.Now().Add(length)
	opt := qos.Options{Limits: limits(), Trace: writer, Seed: r.Uint64() | 1}
	opt.Limits.IsPrivate = func(c qos.ChatKey) bool { return c == chats[2] }
	opt.Limits.Families = map[qos.Family]qos.Limit{qos.FamilyTyping: {Windows: []qos.Window{{Calls: 20, Per: time.Minute}}}}
	for time.Now().Before(end) {
		s, err := qos.New(opt, deliverer, qos.NewLocalBudget(ledger.Process()))
		if err != nil {
			t.Fatal(err)
		}
		run, cancel := context.WithCancel(ctx)
		var running sync.WaitGroup
		running.Go(func() {
			if err := s.Run(run); err != nil {
				t.Error(err)
			}
		})
		time.Sleep(time.Duration(1 + r.Int64N(1e9)))
		doc := func(i int) qos.DocID { return qos.DocID(fmt.Sprint("secret name ", i)) }
		for i := range wanted {
			if err := s.Open(qos.Doc{ID: doc(i), Chat: chats[i%len(chats)], Session: qos.SessionKey(fmt.Sprint("session ", i/2)), Delivered: wanted[i], Wanted: wanted[i]}); err != nil {
				t.Error(err)
			}
		}
		until := time.Now().Add(time.Duration(r.Int64N(int64(length / 3))))
		for n := 0; time.Now().Before(until); n++ {
			time.Sleep(time.Duration(1 + r.Int64N(3e9)))
			i, chat := r.IntN(len(wanted)), chats[r.IntN(len(chats))]
			switch r.IntN(27) {
			case 12:
				s.CloseSession(qos.SessionKey(fmt.Sprint("session ", i/2)), qos.CloseMode(r.IntN(2)))
			case 13:
				_ = s.PostRequest(qos.Request{Chat: chat, Key: fmt.Sprint("a command ", r.IntN(50)), Class: qos.Class(r.IntN(3)), Session: qos.SessionKey(fmt.Sprint("session ", i/2)), Family: []qos.Family{"", qos.FamilyTyping}[r.IntN(2)]})
			case 14:
				_ = s.Open(qos.Doc{ID: doc(i), Chat: chats[i%len(chats)], Session: qos.SessionKey(fmt.Sprint("session ", i/2)), Delivered: wanted[i], Wanted: wanted[i]})
			case 0, 1:
				_ = s.PostRequest(qos.Request{Chat: chat, Key: fmt.Sprint("a command ", r.IntN(50))})
			case 2:
				s.TryRequest(qos.Request{Chat: chat, Key: "typing", Family: qos.FamilyTyping})
			case 3:
				s.FocusSession(qos.SessionKey(fmt.Sprint("session ", i/2)))
			case 4:
				s.Touch(doc(i))
			case 5:
				s.Grow(doc(i))
			case 6:
				if n%5 == 0 {
					o := opt
					o.ReserveMPM, o.MinSessionTick = 1+r.IntN(8), time.Duration(1+r.IntN(6))*time.Second
					if err := s.Reconfigure(o); err != nil {
						t.Error(err)
					}
				}
			case 7:
				s.Close(doc(i), qos.CloseMode(r.IntN(2)))
				time.Sleep(time.Duration(1 + r.Int64N(1e9)))
				_ = s.Open(qos.Doc{ID: doc(i), Chat: chats[i%len(chats)], Session: qos.SessionKey(fmt.Sprint("session ", i/2)), Delivered: wanted[i], Wanted: wanted[i]})
			case 8:
				s.Learn(qos.Scope{Chat: chat, AllFamilies: true}, qos.Learned{Limit: 20, Remaining: r.IntN(3), Reset: time.Now().Add(time.Duration(r.Int64N(20e9)))})
			case 9, 10, 11:
				wanted[i]++
				s.Want(doc(i), wanted[i], true)
			default:
				wanted[i] += int64(1 + r.IntN(20))
				s.Want(doc(i), wanted[i], false)
			}
		}
		time.Sleep(time.Duration(1 + r.Int64N(1e9))) // nothing happens in the moment in which a slot is being written down
		if r.IntN(2) == 0 {
			drain, done := context.WithTimeout(ctx, 4*time.Second)
			s.Drain(drain)
			done()
		}
		cancel()
		running.Wait()
		time.Sleep(time.Duration(1 + r.Int64N(30e9)))
	}
	stop()
	writing.Wait()
}

// A wake that changes nothing still has the pace worked out anew, with another rounding: 1 ns in one of
// a hundred thousand calls.
func TestAReplayedDayHasTheCallsOfTheDay(t *testing.T) {
	for seed := range drawtest.Seeds(t, drawtest.Times(200, 8, 3), 1001, 3002) {
		dir := t.TempDir()
		synctest.Test(t, func(t *testing.T) {
			if seed%3 == 0 { // so that it goes on in another day's file
				time.Sleep(23*time.Hour + 30*time.Minute)
			}
			aDay(t, rand.New(rand.NewPCG(seed, 1)), qostrace.NewWriter(qostrace.Options{Adapter: "telegram", StateDir: dir, Days: 3}), time.Hour)
		})
		files, err := filepath.Glob(filepath.Join(dir, qostrace.Folder, "telegram-*.jsonl"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no files: %v", err)
		}
		rec, err := qostrace.ReadFiles(files...)
		if err != nil {
			t.Fatal(err)
		}
		if rec.Lost > 0 || rec.Full || rec.Cut > 0 {
			t.Errorf("%d steps lost, full %v, %d lines cut", rec.Lost, rec.Full, rec.Cut)
		}
		want := RecordedCalls(rec)
		got, err := Replay(rec, 1, nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(want) < 100 {
			t.Errorf("seed %d: only %d calls", seed, len(want))
		}
		for i := range min(len(want), len(got)) {
			if want[i].Call != got[i].Call || got[i].Began.Sub(want[i].Began).Abs() > time.Microsecond {
				t.Fatalf("seed %d: call %d of %d is at %v\n%+v, was at %v\n%+v", seed, i, len(want), got[i].Began, got[i].Call, want[i].Began, want[i].Call)
			}
		}
		if len(want) != len(got) {
			t.Errorf("seed %d: %d calls, %d were recorded", seed, len(got), len(want))
		}
		for _, f := range files {
			if text, _ := os.ReadFile(f); len(text) == 0 || containsAny(string(text), "secret", "-100 g", "a command", "session 0", "isn't recorded") {
				t.Errorf("%s is empty, or has a name", f)
			}
		}
	}
}

func containsAny(s string, parts ...string) bool {
	for _, p := range parts {
		if strings.Contains(s, p) {
			return true
		}
	}
	return false
}

// A recording that was changed, or has more lines than there's room for, is no reason to end without a word.
func TestARecordingWithTooManyLinesIsRefused(t *testing.T) {
	at := time.Date(2026, 1, 31, 0, 0, 0, 0, time.UTC)
	rec := &qostrace.Recording{Steps: []qos.TraceStep{
		{Kind: qos.TraceStarted, At: at, Options: qos.Options{Limits: limits()}},
		{Kind: qos.TraceOpened, At: at, Doc: qos.Doc{ID: "1", Chat: "2", Session: "3", Delivered: math.MinInt64}},
		{Kind: qos.TraceWanted, At: at, Doc: qos.Doc{ID: "1", Wanted: math.MaxInt64}},
	}}
	if _, _, err := ReplayRecording(rec, 1, nil); err == nil || !strings.Contains(err.Error(), "more than 10000000 lines") {
		t.Errorf("got %v, want that there are too many lines", err)
	}
	rec.Steps[2].Doc.Wanted = 5
	rec.Steps = append(rec.Steps,
		qos.TraceStep{Kind: qos.TraceCalled, At: at, Number: 1, Call: qos.Call{Chat: "2", Doc: "1", Session: "3", Class: qos.Stream, Wanted: 5}},
		qos.TraceStep{Kind: qos.TraceAnswered, At: at.Add(time.Second), Number: 1, Result: qos.CallResult{Outcome: qos.Delivered, Delivered: 5}})
	if _, _, err := ReplayRecording(rec, 1, nil); err != nil {
		t.Errorf("an answer that's said to have come before its call: %v", err)
	}
}
