package adapters_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/adaptertest"
	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/sessions"
)

// rig is a hub with adapters a and b, each for a platform of its own with groups
// -1, -2 and -3.
type rig struct {
	*testing.T
	backend   adaptertest.Backend
	house     *adaptertest.House
	form      adapters.Shape
	qos       qos.Options
	keys      bool // ThreadKeys
	names     []string
	rules     []adapters.Rule
	platforms map[string]*adaptertest.Platform
	ledgers   map[string]func() (qos.Ledger, func())
	disabled  []adapters.Binding
	full      atomic.Bool // the store takes no bindings

	process *adaptertest.Process
	hub     *adapters.Hub
	stop    func()
}

func newRig(t *testing.T, o adaptertest.Options) *rig {
	t.Helper()
	m := adaptertest.NewMemory(0)
	r := &rig{
		T: t, backend: m, house: adaptertest.NewHouse(m), form: adapters.Shape{MaxLen: 4096}, names: []string{"a", "b"},
		platforms: map[string]*adaptertest.Platform{}, ledgers: map[string]func() (qos.Ledger, func()){},
	}
	for _, name := range r.names {
		p := adaptertest.NewPlatform(o)
		for _, chat := range []string{"-1", "-2", "-3"} {
			p.AddGroup(chat, true)
		}
		r.platforms[name], r.ledgers[name] = p, ledgers()
	}
	return r
}

// start begins a process, and has it end with the test.
func (r *rig) start() {
	r.Helper()
	r.process = &adaptertest.Process{Store: &fullStore{Store: r.backend, full: &r.full}}
	var outlets []adapters.Outlet
	for _, name := range r.names {
		ledger, _ := r.ledgers[name]()
		o := r.qos
		o.Seed = 1
		outlets = append(outlets, adapters.Outlet{
			Adapter: &adaptertest.Adapter{
				Conn: r.platforms[name].Connect(), Named: name, Form: r.form, QoS: o, ThreadKeys: r.keys,
				Chats: []string{"-1", "-2", "-3"},
			},
			Budget: qos.NewLocalBudget(ledger),
		})
	}
	var err error
	r.hub, err = adapters.NewHub(adapters.HubOptions{
		Outlets: outlets, Store: r.process, Log: r.backend, Sessions: r.house, Screens: r.house, Rules: r.rules,
		Disabled: func(b adapters.Binding) { r.disabled = append(r.disabled, b) }, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		r.Fatal(err)
	}
	if err := r.hub.Load(context.Background()); err != nil {
		r.Fatal(err)
	}
	r.house.SetSink(r.hub)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- r.hub.Run(ctx) }()
	stopped := false
	r.stop = func() {
		if stopped {
			return
		}
		stopped = true
		r.house.SetSink(nil)
		cancel()
		if err := <-ended; err != nil {
			r.Error(err)
		}
		for _, p := range r.platforms {
			p.Wait()
		}
	}
	r.Cleanup(r.stop)
	synctest.Wait()
}

func (r *rig) must(err error) {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
	synctest.Wait()
}

func (r *rig) begin(id sessions.ID, name string) { r.Helper(); r.must(r.house.Begin(id, name)) }

func (r *rig) print(id sessions.ID, lines ...string) {
	r.Helper()
	r.must(r.house.Print(id, adaptertest.Output{Lines: lines}))
}

func (r *rig) ends(id sessions.ID, lines ...string) {
	r.Helper()
	r.must(r.house.Print(id, adaptertest.Output{Lines: lines, Ends: true}))
}

// pass lets time pass.
func (r *rig) pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func (r *rig) bind(id sessions.ID, to string, view adapters.View) adapters.Binding {
	r.Helper()
	t, err := adapters.ParseTarget(to)
	if err != nil {
		r.Fatal(err)
	}
	b, err := r.hub.Bind(context.Background(), id, t, view, false)
	r.must(err)
	return b
}

// texts are what a chat shows.
func (r *rig) texts(adapter, chat string) []string {
	var out []string
	for _, m := range r.platforms[adapter].Seen(chat, "") {
		out = append(out, m.Text)
	}
	return out
}

func (r *rig) wantTexts(adapter, chat string, want ...string) {
	r.Helper()
	if got := r.texts(adapter, chat); strings.Join(got, "|") != strings.Join(want, "|") {
		r.Errorf("%s:%s shows %q, want %q", adapter, chat, got, want)
	}
}

func rule(t *testing.T, pattern, to string) adapters.Rule {
	t.Helper()
	target, err := adapters.ParseTarget(to)
	if err != nil {
		t.Fatal(err)
	}
	return adapters.Rule{Session: pattern, To: target}
}

// inBubble runs a test in fake time.
func inBubble(t *testing.T, f func(t *testing.T, r *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { f(t, newRig(t, adaptertest.Options{})) })
}

func TestAChatMirrorsNothingWithoutARuleOrABind(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		t.Helper()
		r.start()
		r.begin("pb_1", "agent-1")
		r.ends("pb_1", "one")
		r.pass(time.Hour)
		for name, p := range r.platforms {
			if n := len(p.Arrivals()); n > 0 {
				t.Errorf("adapter %s made %d calls", name, n)
			}
		}
	})
}

func TestARuleBindsNewSessionsFromTheirBeginningAndOthersFromTheirNewestLine(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		t.Helper()
		r.rules = []adapters.Rule{rule(t, "agent-*", "a:-1"), rule(t, "*-2", "b:-2"), rule(t, "agent-2", "a:-1")}
		r.must(r.house.Begin("pb_1", "agent-1"))
		r.print("pb_1", "before the daemon")
		r.start()
		r.print("pb_1", "one")
		r.pass(time.Minute)
		r.wantTexts("a", "-1", "one")

		// Its first lines come before the hub has had time for it.
		if err := r.house.Begin("pb_2", "agent-2"); err != nil {
			t.Fatal(err)
		}
		r.print("pb_2", "first")
		r.begin("pb_3", "shell")
		r.print("pb_3", "nobody's")
		r.pass(time.Minute)
		r.wantTexts("a", "-1", "one", "first")
		r.wantTexts("b", "-2", "first")
		if n := len(r.hub.Status("pb_2")); n != 2 {
			t.Errorf("agent-2 has %d bindings, want one per target, which is 2", n)
		}
	})
}

func TestRulesAreAppliedAnewOnReload(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		t.Helper()
		r.rules = []adapters.Rule{rule(t, "agent-1", "a:-1"), rule(t, "agent-1", "a:-2")}
		r.start()
		r.begin("pb_1", "agent-1")
		r.print("pb_1", "one")
		byHand := r.bind("pb_1", "b:-1", adapters.ViewStream)
		r.pass(time.Minute)

		moved := rule(t, "agent-1", "a:-2")
		moved.View = adapters.ViewFinal
		r.must(r.hub.SetRules(context.Background(), []adapters.Rule{moved, rule(t, "agent-1", "b:-3")}))
		r.print("pb_1", "two")
		r.pass(time.Minute)
		r.wantTexts("a", "-1", "one") // its rule is gone
		r.wantTexts("a", "-2", "one") // waits for the end of the turn now
		r.wantTexts("b", "-1", "two") // by hand, and stays
		r.wantTexts("b", "-3", "two") // new: from the newest line
		r.ends("pb_1", "three")
		r.pass(time.Minute)
		r.wantTexts("a", "-2", "one", "two\nthree")

		r.must(r.hub.SetRules(context.Background(), nil))
		if got := r.hub.Status(""); len(got) != 1 || got[0].Binding.ID != byHand.ID {
			t.Errorf("without rules there is %+v, want the binding made by hand", got)
		}
	})
}

func TestARuleDoesNotBringBackWhatAPersonTookBack(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		t.Helper()
		r.rules = []adapters.Rule{rule(t, "*", "a:-1")}
		r.start()
		r.begin("pb_1", "agent-1")
		r.print("pb_1", "one")
		r.pass(time.Minute)
		b := r.hub.Status("pb_1")[0].Binding
		r.must(r.hub.Unbind(context.Background(), b.ID))
		r.print("pb_1", "two")
		r.must(r.hub.SetRules(context.Background(), r.rules))
		r.print("pb_1", "and a half")
		r.stop()
		r.start()
		r.print("pb_1", "and more")
		r.pass(time.Minute)
		r.wantTexts("a", "-1", "one")

		// A person brings it back: from the newest line on.
		r.bind("pb_1", "a:-1", adapters.ViewStream)
		r.print("pb_1", "three")
		r.pass(time.Minute)
		r.wantTexts("a", "-1", "one", "three")
	})
}

func TestAllThatIsWrongWithRulesIsSaidAtOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		t.Helper()
		r.start()
		r.begin("pb_1", "agent-1")
		bad := rule(t, "a", "a:-1")
		bad.View = "sideways"
		err := r.hub.SetRules(context.Background(), []adapters.Rule{
			rule(t, "[", "a:-1"), rule(t, "x", "fax:1"), bad, rule(t, "y", "b:-77"), rule(t, "*", "a:-1"),
		})
		if err == nil {
			t.Fatal("no error")
		}
		for _, want := range []string{`"["`, `adapter "fax"; there is a, b`, `view "sideways"`, "chat -77 is not in the configuration"} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%q isn't in: %v", want, err)
			}
		}
		if n := len(r.hub.Status("")); n > 0 {
			t.Errorf("%d bindings were made all the same", n)
		}
	})
}

func TestBindRefusesWhatCannotBe(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		t.Helper()
		r.start()
		r.begin("pb_1", "agent-1")
		r.begin("pb_2", "agent-2")
		r.must(r.house.End("pb_2", "ended"))
		ctx := context.Background()
		for _, c := range []struct {
			id   sessions.ID
			to   adapters.Target
			view adapters.View
			want error
		}{
			{"pb_9", adapters.Target{Adapter: "a", Chat: "-1"}, "", sessions.ErrUnknown},
			{"pb_2", adapters.Target{Adapter: "a", Chat: "-1"}, "", sessions.ErrEnded},
			{"pb_1", adapters.Target{Adapter: "fax", Chat: "-1"}, "", sessions.ErrUnknown},
			{"pb_1", adapters.Target{Adapter: "a", Chat: "-1"}, "sideways", sessions.ErrInvalid},
		} {
			if _, err := r.hub.Bind(ctx, c.id, c.to, c.view, false); !errors.Is(err, c.want) {
				t.Errorf("bind %s to %s as %q: %v, want %v", c.id, c.to, c.view, err, c.want)
			}
		}
		if _, err := r.hub.Bind(ctx, "pb_1", adapters.Target{Adapter: "a", Chat: "-9"}, "", false); err == nil {
			t.Error("a chat that isn't in the adapter's configuration was bound")
		}
		if err := r.hub.Unbind(ctx, "bd_none"); !errors.Is(err, sessions.ErrUnknown) {
			t.Errorf("unbind what isn't there: %v", err)
		}
	})
}

func TestAFailingAdapterHoldsUpNoOther(t *testing.T) {
	for name, fault := range map[string]adaptertest.Fault{
		"hangs":       {Kind: adaptertest.Lost},
		"unreachable": {Kind: adaptertest.Unconnected},
		"bans":        {Kind: adaptertest.Throttled, RetryAfter: 2 * time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, r *rig) {
				t.Helper()
				r.rules = []adapters.Rule{rule(t, "*", "a:-1"), rule(t, "*", "b:-1")}
				r.platforms["b"].SetFault(func(adaptertest.Call) adaptertest.Fault { return fault })
				r.start()
				r.begin("pb_1", "agent-1")
				for i := range 20 {
					printed := time.Now()
					r.ends("pb_1", fmt.Sprint("line ", i))
					if took := time.Since(printed); took > 0 {
						t.Fatalf("telling of an event took %v", took)
					}
					r.pass(10 * time.Second)
				}
				seen := r.platforms["a"].Seen("-1", "")
				if len(seen) != 20 {
					t.Fatalf("the other chat has %d messages, want 20", len(seen))
				}
				for i, m := range seen {
					if late := m.At.Sub(seen[0].At) - time.Duration(i)*10*time.Second; late > time.Second {
						t.Errorf("final %d came %v late", i, late)
					}
				}
				var behind int64
				for _, st := range r.hub.Status("pb_1") {
					behind = max(behind, st.Pressure.Behind)
				}
				if behind != 20 {
					t.Errorf("%d lines are said to wait for the other, want 20", behind)
				}

				r.platforms["b"].SetFault(nil)
				r.pass(3 * time.Hour)
				seen = r.platforms["b"].Seen("-1", "")
				for _, w := range r.house.Compare(seen, adaptertest.Want{Session: "pb_1", To: 20, Oldest: 1, Doubts: []adaptertest.Doubt{
					{From: adapters.Place{Line: 1}, To: adapters.Place{Line: 21}},
				}}) {
					t.Error(w)
				}
				if rang := seen[len(seen)-1].Rang; !rang || len(seen) > 2 {
					t.Errorf("20 ends of turns came as %d messages, and the last rang: %v", len(seen), rang)
				}
			})
		})
	}
}

func TestARestartGoesOnWithoutAnythingNew(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		t.Helper()
		r.rules = []adapters.Rule{rule(t, "*", "a:-1")}
		r.form.LiveRows = 3
		r.start()
		r.begin("pb_1", "agent-1")
		r.print("pb_1", "one")
		r.pass(10 * time.Second)
		r.must(r.house.Print("pb_1", adaptertest.Output{Live: []string{"live: x"}}))
		r.pass(time.Minute)
		r.wantTexts("a", "-1", "one\nlive: x")
		r.ends("pb_1", "two")
		r.stop() // what matters is sent, and what's left is to take the live region away
		r.wantTexts("a", "-1", "one\nlive: x", "two")
		r.print("pb_1", "three")
		r.ends("pb_1", "four")
		r.start()
		r.pass(time.Minute)
		r.wantTexts("a", "-1", "one", "two", "three\nfour")
		if seen := r.platforms["a"].Seen("-1", ""); !seen[2].Rang {
			t.Error("a turn that ended while the daemon was down didn't ring")
		}
	})
}

func TestWhatIsLeftBehindIsTidiedAfterARestart(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		t.Helper()
		r.rules = []adapters.Rule{rule(t, "*", "a:-1")}
		r.form.LiveRows = 3
		r.start()
		r.begin("pb_1", "agent-1")
		r.print("pb_1", "one")
		r.pass(10 * time.Second)
		r.must(r.house.Print("pb_1", adaptertest.Output{Live: []string{"live: x"}}))
		r.pass(time.Minute)
		r.ends("pb_1", "two")
		r.stop()
		r.start()
		r.pass(time.Minute)
		r.wantTexts("a", "-1", "one", "two")
	})
}

func TestAnEndedSessionIsSentToItsEndAndForgotten(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		t.Helper()
		r.rules = []adapters.Rule{rule(t, "*", "a:-1"), rule(t, "*", "b:-1")}
		r.rules[1].View = adapters.ViewFinal
		r.start()
		r.begin("pb_1", "agent-1")
		r.print("pb_1", "one")
		r.must(r.house.End("pb_1", "session ended"))
		r.pass(time.Minute)
		r.wantTexts("a", "-1", "one", "session ended")
		r.wantTexts("b", "-1", "one\nsession ended")
		if left := r.hub.Status(""); len(left) > 0 {
			t.Errorf("bindings are left: %+v", left)
		}
		if kept, err := r.backend.Bindings(context.Background()); err != nil || len(kept) > 0 {
			t.Errorf("bindings are kept: %+v, %v", kept, err)
		}
		for _, name := range r.names {
			if snap, err := r.hub.Scheduler(name).Snapshot(context.Background()); err != nil || snap.Documents != 0 {
				t.Errorf("the scheduler of %s has %d documents, %v", name, snap.Documents, err)
			}
		}
	})
}

func TestASessionThatEndedWhileTheDaemonWasDownIsSentToItsEnd(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		t.Helper()
		r.rules = []adapters.Rule{rule(t, "*", "a:-1")}
		r.start()
		r.begin("pb_1", "agent-1")
		r.print("pb_1", "one")
		r.pass(time.Minute)
		r.stop()
		r.print("pb_1", "two")
		r.must(r.house.End("pb_1", "session ended"))
		r.start()
		r.pass(time.Minute)
		r.wantTexts("a", "-1", "one", "two\nsession ended")
		if left := r.hub.Status(""); len(left) > 0 {
			t.Errorf("bindings are left: %+v", left)
		}
	})
}

func TestStoppingSendsWhatMattersAndKeepsTheRest(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		t.Helper()
		r.rules = []adapters.Rule{rule(t, "*", "a:-1"), rule(t, "agent-2", "a:-2")}
		r.start()
		r.begin("pb_1", "agent-1")
		r.begin("pb_2", "agent-2")
		for i := range 30 {
			r.print("pb_1", fmt.Sprint("line ", i))
			r.pass(100 * time.Millisecond)
		}
		r.print("pb_2", "working")
		r.ends("pb_2", "done") // a second after the call before, which is after the stop
		r.wantTexts("a", "-2", "working")
		stopping := time.Now()
		r.stop()
		if took := time.Since(stopping); took > 5*time.Second {
			t.Errorf("stopping took %v", took)
		}
		r.wantTexts("a", "-2", "working", "done")
		r.start()
		r.pass(time.Minute)
		for _, w := range r.house.Compare(filter(r.platforms["a"].Seen("-1", ""), "line"), adaptertest.Want{Session: "pb_1", To: 30, Oldest: 1}) {
			t.Error(w)
		}
	})
}

// filter keeps the messages that begin so.
func filter(all []adaptertest.Message, prefix string) []adaptertest.Message {
	var out []adaptertest.Message
	for _, m := range all {
		if strings.HasPrefix(m.Text, prefix) {
			out = append(out, m)
		}
	}
	return out
}

func TestABindingThatThePlatformRefusesIsDisabledAndCanBeRepaired(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		t.Helper()
		r.rules = []adapters.Rule{rule(t, "*", "a:-1")}
		r.start()
		r.begin("pb_1", "agent-1")
		thread := r.platforms["a"].AddThread("-2", "made by hand")
		r.bind("pb_1", "a:-2/"+thread, adapters.ViewStream)
		r.print("pb_1", "one")
		r.pass(time.Minute)
		r.platforms["a"].DeleteThread("-2", thread)
		r.print("pb_1", "two")
		r.pass(time.Minute)
		if len(r.disabled) != 1 || r.disabled[0].Target.Thread != thread || !strings.Contains(r.disabled[0].Disabled, adaptertest.ThreadNotFound) {
			t.Fatalf("disabled: %+v", r.disabled)
		}
		r.stop()
		r.start()
		r.print("pb_1", "three")
		r.pass(time.Minute)
		r.wantTexts("a", "-1", "one\ntwo\nthree") // the others go on
		resting := 0
		for _, st := range r.hub.Status("pb_1") {
			if !st.Open && st.Binding.Disabled != "" {
				resting++
			}
		}
		if resting != 1 {
			t.Fatalf("after a restart: %+v", r.hub.Status("pb_1"))
		}

		r.bind("pb_1", "a:-3", adapters.ViewStream) // another place
		r.platforms["a"].DeleteChat("-3")
		r.print("pb_1", "four")
		r.pass(time.Minute)
		if len(r.disabled) != 2 {
			t.Errorf("disabled: %+v", r.disabled)
		}
	})
}

func TestARefusedBindingGoesOnWhereItWas(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		t.Helper()
		r.start()
		r.begin("pb_1", "agent-1")
		r.bind("pb_1", "a:-1", adapters.ViewStream)
		r.print("pb_1", "one")
		r.pass(time.Minute)
		r.platforms["a"].DeleteChat("-1")
		r.print("pb_1", "two")
		r.pass(time.Minute)
		r.platforms["a"].AddGroup("-1", false) // the bot was asked back
		r.print("pb_1", "three")
		r.bind("pb_1", "a:-1", adapters.ViewStream)
		r.pass(time.Minute)
		r.wantTexts("a", "-1", "one\ntwo\nthree")
	})
}

func TestABindingByRuleIsTriedAgainOnReload(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		t.Helper()
		r.rules = []adapters.Rule{rule(t, "*", "a:-1")}
		r.start()
		r.begin("pb_1", "agent-1")
		r.platforms["a"].DeleteChat("-1")
		r.print("pb_1", "one")
		r.pass(time.Minute)
		r.print("pb_1", "two")
		r.pass(time.Minute)
		if n := len(r.platforms["a"].Arrivals()); n != 1 || len(r.disabled) != 1 {
			t.Errorf("%d calls to a chat that's gone, said %d times; want one of each", n, len(r.disabled))
		}
		r.platforms["a"].AddGroup("-1", false)
		r.must(r.hub.SetRules(context.Background(), r.rules))
		r.pass(time.Minute)
		r.wantTexts("a", "-1", "one\ntwo")
	})
}

func TestABindingOfAnAdapterThatIsGoneRests(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		t.Helper()
		r.start()
		r.begin("pb_1", "agent-1")
		r.bind("pb_1", "b:-1", adapters.ViewStream)
		r.print("pb_1", "one")
		r.pass(time.Minute)
		r.stop()
		r.names = []string{"a"}
		r.start()
		r.print("pb_1", "two")
		r.pass(time.Minute)
		if st := r.hub.Status("pb_1"); len(st) != 1 || st[0].Open {
			t.Errorf("without its adapter: %+v", st)
		}
		r.stop()
		r.names = []string{"a", "b"}
		r.start()
		r.pass(time.Minute)
		r.wantTexts("b", "-1", "one\ntwo")
	})
}

func TestASessionThatBeginsWhileTheDiskIsFullIsBoundLater(t *testing.T) {
	nothing := func(*rig) {}
	tests := map[string]struct {
		whileFull, then func(r *rig)
		want            string
		left            int
	}{
		"as it is":                {nothing, nothing, "one", 1},
		"the rules are reloaded":  {nothing, func(r *rig) { r.must(r.hub.SetRules(context.Background(), r.rules)) }, "one", 1},
		"it has ended since then": {func(r *rig) { r.must(r.house.End("pb_1", "ended")) }, nothing, "one\nended", 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, r *rig) {
				t.Helper()
				r.rules = []adapters.Rule{rule(t, "*", "a:-1")}
				r.start()
				r.full.Store(true)
				r.begin("pb_1", "agent-1")
				r.print("pb_1", "one")
				r.pass(62 * time.Second)
				tt.whileFull(r)
				r.full.Store(false)
				tt.then(r)
				r.pass(10 * time.Second)
				r.wantTexts("a", "-1", tt.want)
				if n := len(r.hub.Status("")); n != tt.left {
					t.Errorf("%d bindings are left, want %d", n, tt.left)
				}
			})
		})
	}
}

// fullStore takes no bindings while it's full.
type fullStore struct {
	adapters.Store
	full *atomic.Bool
}

func (s *fullStore) PutBinding(ctx context.Context, b adapters.Binding, d *adapters.Document) error {
	if s.full.Load() {
		return sessions.ErrUnavailable
	}
	return s.Store.PutBinding(ctx, b, d)
}

func TestNothingIsSentThatCouldNotBeKept(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		t.Helper()
		r.rules = []adapters.Rule{rule(t, "*", "a:-1")}
		r.start()
		r.begin("pb_1", "agent-1")
		r.process.SetFault(func(d adapters.Document) error {
			if d.Intent != nil {
				return sessions.ErrUnavailable
			}
			return nil
		})
		r.print("pb_1", "one")
		r.pass(10 * time.Minute)
		if n := len(r.platforms["a"].Arrivals()); n > 0 {
			t.Errorf("%d calls were made whose intent couldn't be kept", n)
		}
		r.process.SetFault(func(d adapters.Document) error {
			if d.Intent == nil {
				return sessions.ErrUnavailable
			}
			return nil
		})
		r.pass(2 * time.Minute)
		r.print("pb_1", "two") // the receipt before wasn't kept: that's no reason to send again
		r.pass(2 * time.Minute)
		r.wantTexts("a", "-1", "one\ntwo")
	})
}

func TestSessionsWithAThreadEachShareTheirChatsLimit(t *testing.T) {
	for name, keys := range map[string]bool{"of the chat": false, "of the thread": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, adaptertest.Options{Unlimited: keys}) // which counts by chats
				r.rules = []adapters.Rule{rule(t, "*", "a:-1")}
				r.form.OwnThread, r.keys = true, keys
				r.start()
				const n = 4
				for i := range n {
					r.begin(sessions.ID(fmt.Sprint("pb_", i)), fmt.Sprint("agent-", i))
				}
				for k := range 60 {
					for i := range n {
						r.print(sessions.ID(fmt.Sprint("pb_", i)), fmt.Sprint("line ", k))
					}
					r.pass(time.Second)
				}
				r.pass(time.Minute)
				for i := range n {
					threads := r.platforms["a"].Threads("-1", fmt.Sprint("agent-", i))
					if len(threads) != 1 {
						t.Fatalf("agent-%d has %d threads", i, len(threads))
					}
					for _, w := range r.house.Compare(r.platforms["a"].Seen("-1", threads[0]), adaptertest.Want{
						Session: sessions.ID(fmt.Sprint("pb_", i)), To: 60, Oldest: 1,
					}) {
						t.Error(w)
					}
				}
				snap, err := r.hub.Scheduler("a").Snapshot(context.Background())
				if err != nil {
					t.Fatal(err)
				}
				want := 1
				if keys {
					want = n
				}
				docs := 0
				for _, c := range snap.Chats {
					if strings.Contains(string(c.Chat), "/") == keys {
						docs++
					}
				}
				if docs != want {
					t.Errorf("documents are in %d chats as limits count, want %d: %+v", docs, want, snap.Chats)
				}
			})
		})
	}
}

func TestAllSessionsFollowAChatThatHasMoved(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		t.Helper()
		r.rules = []adapters.Rule{rule(t, "*", "a:-1")}
		r.start()
		r.begin("pb_1", "agent-1")
		r.begin("pb_2", "agent-2")
		r.print("pb_1", "one")
		r.print("pb_2", "eins")
		r.pass(time.Minute)
		r.platforms["a"].Migrate("-1", "-1001")
		r.print("pb_1", "two")
		r.pass(time.Minute)
		r.print("pb_2", "zwei")
		r.pass(time.Minute)
		if n := len(r.platforms["a"].Refusals(adaptertest.Upgraded)); n != 1 {
			t.Errorf("the platform had to say %d times that the chat has moved, want once", n)
		}
		r.stop()
		r.start()
		r.must(r.hub.SetRules(context.Background(), r.rules))
		r.print("pb_1", "three")
		r.print("pb_2", "drei")
		r.pass(time.Minute)
		r.wantTexts("a", "-1001", "one\ntwo\nthree", "eins\nzwei\ndrei")
		if st := r.hub.Status("pb_1"); len(st) != 1 || st[0].Target.Chat != "-1001" || st[0].Binding.Target.Chat != "-1" {
			t.Errorf("status: %+v", st)
		}
	})
}

func TestAViewCanChange(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		t.Helper()
		r.start()
		r.begin("pb_1", "agent-1")
		r.bind("pb_1", "a:-1", adapters.ViewFinal)
		r.print("pb_1", "one")
		r.pass(time.Minute)
		r.wantTexts("a", "-1")
		r.bind("pb_1", "a:-1", adapters.ViewStream)
		r.pass(time.Minute)
		r.wantTexts("a", "-1", "one")
		r.must(r.house.Print("pb_1", adaptertest.Output{Live: []string{"live: x"}}))
		r.bind("pb_1", "a:-1", adapters.ViewScreen)
		r.pass(time.Minute)
		r.wantTexts("a", "-1", "one", "live: x")
	})
}

func TestAfterAllSessionsAreClosedNothingIsLeft(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		t.Helper()
		r.rules = []adapters.Rule{rule(t, "*", "a:-1")}
		r.qos.Mode = qos.Off
		r.start()
		heap := func() uint64 {
			var m runtime.MemStats
			runtime.GC()
			runtime.GC()
			runtime.ReadMemStats(&m)
			return m.HeapAlloc
		}
		before := heap()
		for i := range 500 {
			r.begin(sessions.ID(fmt.Sprint("pb_", i)), fmt.Sprint("agent-", i))
		}
		for i := range 500 {
			r.must(r.house.End(sessions.ID(fmt.Sprint("pb_", i)), "ended"))
		}
		r.pass(12 * time.Hour)
		if n := len(r.hub.Status("")); n > 0 {
			t.Fatalf("%d bindings are left", n)
		}
		// The house and the platform remember everything; the rest must not.
		if grown := int64(heap()) - int64(before); grown > 4<<20 {
			t.Errorf("500 sessions later, %d bytes more are in use", grown)
		}
	})
}

// An event costs nothing but telling the scheduler, however many sessions there are.
func BenchmarkOutput(b *testing.B) {
	m := adaptertest.NewMemory(0)
	house := adaptertest.NewHouse(m)
	p := adaptertest.NewPlatform(adaptertest.Options{})
	hub, err := adapters.NewHub(adapters.HubOptions{
		Outlets: []adapters.Outlet{{Adapter: &adaptertest.Adapter{Conn: p.Connect()}, Budget: qos.NewLocalBudget(nil)}},
		Store:   m, Log: m, Sessions: house,
		Rules: []adapters.Rule{{Session: "*", To: adapters.Target{Adapter: "mem", Chat: "-1"}}},
	})
	if err != nil {
		b.Fatal(err)
	}
	const n = 2000
	ids := make([]sessions.ID, n)
	for i := range ids {
		ids[i] = sessions.ID(fmt.Sprintf("pb_%012d", i))
		if err := house.Begin(ids[i], fmt.Sprint("agent-", i)); err != nil {
			b.Fatal(err)
		}
	}
	if err := hub.Load(b.Context()); err != nil {
		b.Fatal(err)
	}
	ev := sessions.OutputEvent{Lines: make([]sessions.Line, 1)}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		ev.Session, ev.Lines[0].N = ids[i%n], int64(i)
		hub.Output(ev)
	}
}
