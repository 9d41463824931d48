package redisbucket_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/qos/qostest"
	"github.com/panebridge/panebridge/qos/redisbucket"
)

// meddler comes between a process and Redis: it's shown each question, and may have it
// wait or fail.
type meddler struct {
	mu     sync.Mutex
	before func(script string) error
	after  func(script string) error
}

func (h *meddler) set(before, after func(script string) error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.before, h.after = before, after
}

// script is acquire, or beat, join or leave.
func script(cmd redis.Cmder) string {
	args := cmd.Args()
	if len(args) < 8 || !strings.HasPrefix(cmd.Name(), "eval") {
		return ""
	}
	keys := args[2].(int)
	if strings.Contains(args[6].(string), "}:claims") {
		return "acquire"
	}
	mode, _ := args[3+keys+7].(string)
	return mode
}

func (h *meddler) DialHook(next redis.DialHook) redis.DialHook { return next }

func (h *meddler) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		h.mu.Lock()
		before, after := h.before, h.after
		h.mu.Unlock()
		if before != nil {
			if err := before(script(cmd)); err != nil {
				cmd.SetErr(err)
				return err
			}
		}
		err := next(ctx, cmd)
		if after != nil && err == nil {
			if err := after(script(cmd)); err != nil {
				cmd.SetErr(err)
				return err
			}
		}
		return err
	}
}

func (h *meddler) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

var errReset = errors.New("connection reset")

// meddled starts a process with somebody between it and Redis.
func (r *rig) meddled(state string) (*member, *meddler) {
	r.t.Helper()
	h := &meddler{}
	r.hook = h
	defer func() { r.hook = nil }()
	return r.join(state), h
}

// A question that's under way while its process joins again is decided by Redis, and
// by nothing else.
func TestAQuestionUnderWayInAJoinIsntGrantedByIt(t *testing.T) {
	inRig(t, 4, func(r *rig) {
		one, h := r.meddled("")
		two := r.join("")
		time.Sleep(aWindow + 2*time.Second)
		two.mustCall(20, "all there is")
		joined := make(chan struct{})
		var once sync.Once
		h.set(func(script string) error {
			switch script {
			case "acquire":
				<-joined
			case "beat":
				err := error(nil)
				once.Do(func() { err = errReset })
				return err
			}
			return nil
		}, func(script string) error {
			if script == "join" {
				time.AfterFunc(time.Millisecond, sync.OnceFunc(func() { close(joined) }))
			}
			return nil
		})
		if n, _ := one.calls(1); n != 0 {
			r.t.Fatal("a 21st call in a window")
		}
		one.leave()
		two.leave()
	})
}

// Who was forgotten and finds its place taken isn't a member, and no share is held back
// for it.
func TestWhoIsRefusedSendsNothingThoughItWasAMember(t *testing.T) {
	inRig(t, 2, func(r *rig) {
		state := r.t.TempDir() + "/member"
		one, two := r.join(""), r.join(state)
		time.Sleep(aWindow + time.Second)
		id := two.Status(time.Now()).Member
		two.cut.Store(true) // it's killed
		time.Sleep(3 * time.Second)
		two.leave()
		if err := redisbucket.Forget(context.Background(), r.client, "b", id); err != nil {
			r.t.Fatal(err)
		}
		three := r.join("")
		time.Sleep(time.Second)
		two = r.join(state)
		time.Sleep(2 * silence)
		if n, last := two.calls(1); n != 0 || last.Err == nil || two.Status(time.Now()).State != "refused" {
			r.t.Fatalf("refused, it made %d calls: %+v", n, last)
		}
		two.leave()
		r.redis.SetError("gone") // nor when it begins anew without an answer
		two = r.join(state)
		time.Sleep(2 * silence)
		two.mustCall(0, "refused before")
		r.redis.SetError("")
		two.leave()
		three.leave()
		one.leave()
	})
}

// What's held back for a process was reckoned with the max_processes it had.
func TestAnotherMaxProcessesAfterACrashSendsNothingAlone(t *testing.T) {
	for _, away := range []bool{false, true} {
		inRig(t, 4, func(r *rig) {
			state := r.t.TempDir() + "/member"
			one, two := r.join(""), r.join(state)
			time.Sleep(time.Second)
			two.cut.Store(true) // it's killed
			time.Sleep(3 * time.Second)
			two.leave()
			r.most = 2
			if away {
				r.redis.SetError("gone")
			}
			two = r.join(state)
			time.Sleep(2 * silence)
			two.mustCall(0, "with another max_processes")
			r.redis.SetError("")
			two.leave()
			one.leave()
		})
	}
}

// A member that has merged after a restart without getting the answer may go on within
// its share: that stays held back.
func TestAShareStaysHeldBackWhileTheAnswerToAJoinIsLost(t *testing.T) {
	inRig(t, 4, func(r *rig) {
		one, h := r.meddled("")
		two := r.join("")
		time.Sleep(aWindow + 2*time.Second)
		r.redis.SetError("gone")
		time.Sleep(silence + aWindow)
		if s := one.Status(time.Now()); s.State != "share" {
			r.t.Fatalf("it stands %+v", s)
		}
		h.set(nil, func(script string) error {
			if script == "join" {
				time.Sleep(50 * time.Millisecond)
				return errReset
			}
			return nil
		})
		r.redis.SetError("")
		total := 0
		for range 40 {
			n, _ := two.calls(20)
			total += n
			time.Sleep(10 * time.Millisecond)
		}
		for range 40 {
			n, _ := one.calls(20)
			total += n
			time.Sleep(10 * time.Millisecond)
		}
		if total > 20 {
			r.t.Fatalf("%d calls within a second", total)
		}
		h.set(nil, nil)
		time.Sleep(time.Second)
		one.leave()
		two.leave()
	})
}

// backup is what Redis had saved.
func (r *rig) backup() (restore func()) {
	hashes := map[string]map[string]string{}
	for _, key := range r.redis.Keys() {
		if r.redis.Type(key) == "hash" {
			hashes[key] = map[string]string{}
			fields, _ := r.redis.HKeys(key)
			for _, f := range fields {
				hashes[key][f] = r.redis.HGet(key, f)
			}
		}
	}
	return func() {
		r.redis.FlushAll()
		for key, fields := range hashes {
			for f, v := range fields {
				r.redis.HSet(key, f, v)
			}
		}
	}
}

// A server that's restored from an old backup is told who has joined since.
func TestAnOldBackupDoesntKnowWhoCameSince(t *testing.T) {
	inRig(t, 4, func(r *rig) {
		state := r.t.TempDir() + "/member"
		one := r.join(state)
		time.Sleep(2 * silence)
		restore := r.backup()
		two := r.join("")
		time.Sleep(time.Second)
		two.mustCall(20, "all there is")
		two.cut.Store(true)
		one.cut.Store(true)
		r.redis.SetError("gone")
		one.leave()
		restore()
		r.redis.SetError("")
		one = r.join(state)
		time.Sleep(5 * time.Second)
		one.mustCall(0, "nobody knows what the other one did")
		time.Sleep(silence)
		one.mustCall(15, "all but the share of who is cut off")
		one.leave()
		two.stop()
		<-two.ended
	})
}

// An empty server is told who has signed off lately: what it did still counts.
func TestAnEmptyServerIsToldWhoHasLeft(t *testing.T) {
	inRig(t, 4, func(r *rig) {
		one, two, three := r.join(""), r.join(""), r.join("")
		time.Sleep(aWindow + 2*time.Second)
		if n, _ := three.calls(15); n != 15 {
			r.t.Fatalf("%d calls, want 15", n)
		}
		three.leave()
		time.Sleep(time.Second)
		r.redis.FlushAll()
		time.Sleep(5 * time.Second)
		n, _ := one.calls(20)
		m, _ := two.calls(20)
		if n+m > 5 {
			r.t.Fatalf("%d calls after 15", n+m)
		}
		time.Sleep(silence)
		one.mustCall(20, "nothing is held back for who has left")
		one.leave()
		two.leave()
	})
}

// A process that died can be forgotten also if no other runs.
func TestTheLastProcessCanBeForgotten(t *testing.T) {
	inRig(t, 4, func(r *rig) {
		one := r.join("")
		time.Sleep(time.Second)
		id := one.Status(time.Now()).Member
		one.cut.Store(true)
		one.stop()
		<-one.ended
		time.Sleep(time.Hour)
		members, _, err := redisbucket.Members(context.Background(), r.client, "b")
		if err != nil || len(members) != 1 || !members[0].Vanished {
			r.t.Fatalf("%+v, %v", members, err)
		}
		time.Sleep(time.Hour)
		if err := redisbucket.Forget(context.Background(), r.client, "b", id); err != nil {
			r.t.Fatal(err)
		}
	})
}

// A process that signs off right after Redis was emptied tells what it did, and isn't
// waited for.
func TestWhoSignsOffFromAnEmptyServerHasToldAll(t *testing.T) {
	inRig(t, 4, func(r *rig) {
		one, two := r.join(""), r.join("")
		time.Sleep(aWindow + 2*time.Second)
		one.mustCall(20, "all there is")
		time.Sleep(200 * time.Millisecond)
		r.redis.FlushAll()
		one.leave()
		time.Sleep(time.Second)
		if n, _ := two.calls(20); n != 0 {
			r.t.Fatalf("%d calls after 20", n)
		}
		time.Sleep(aWindow + time.Second)
		two.mustCall(20, "nobody is waited for")
		two.leave()
	})
}

// slowLedger writes when it's allowed to.
type slowLedger struct {
	qos.Ledger
	gate atomic.Pointer[chan struct{}]
}

func (l *slowLedger) Write(ctx context.Context, entries []qos.LedgerEntry) error {
	if gate := l.gate.Load(); gate != nil {
		<-*gate
	}
	return l.Ledger.Write(ctx, entries)
}

// What passed the process's own guards before Redis was emptied passes them again: it
// may only use its share now.
func TestAQuestionThatWaitsForTheDiskIsDecidedAnew(t *testing.T) {
	inRig(t, 4, func(r *rig) {
		ledger := &slowLedger{Ledger: qostest.NewMemLedger().Process()}
		one := r.joinKept("", ledger)
		time.Sleep(2 * silence)
		gate := make(chan struct{})
		ledger.gate.Store(&gate)
		var granted atomic.Int32
		var asked sync.WaitGroup
		for range 10 {
			asked.Go(func() {
				if one.try().State == qos.Granted {
					granted.Add(1)
				}
			})
		}
		time.Sleep(100 * time.Millisecond)
		r.redis.FlushAll()
		time.Sleep(time.Second)
		ledger.gate.Store(nil)
		close(gate)
		asked.Wait()
		if n := granted.Load(); n > 5 {
			r.t.Errorf("%d calls while learning", n)
		}
		one.leave()
	})
}

// Mode off waits for nobody who hasn't merged.
func TestUnguardedCallsDontWaitForAMerge(t *testing.T) {
	inRig(t, 4, func(r *rig) {
		one, two := r.join(""), r.join("")
		time.Sleep(time.Second)
		two.cut.Store(true)
		r.redis.FlushAll()
		time.Sleep(time.Second)
		one.mustCall(0, "nobody knows what the other one did")
		got := make(chan qos.SlotAnswer, 1)
		now := time.Now()
		a := one.AskSlot(now, qos.SlotQuestion{Chat: "-1", Unguarded: true, Deadline: now.Add(20 * time.Second)}, func(a qos.SlotAnswer) { got <- a })
		if a.State == qos.Pending {
			a = <-got
		}
		if a.State != qos.Granted {
			r.t.Errorf("%+v", a)
		}
		one.leave()
		two.stop()
		<-two.ended
	})
}
