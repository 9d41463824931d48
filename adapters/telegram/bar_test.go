package telegram_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/adaptertest"
	"github.com/panebridge/panebridge/adapters/telegram/telegramtest"
	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/sessions"
)

const (
	crowd    = 50               // sessions
	trace    = 10 * time.Minute // for how long they print
	catchUp  = 5 * time.Minute  // by when all of it must be there
	window   = time.Minute      // W: of a group
	perWin   = 20               // N: calls in W
	slowest  = 300 * time.Millisecond
	perTick  = 2 // lines that a session prints each second
	barSeeds = 20
)

func sessionID(i int) sessions.ID { return sessions.ID(fmt.Sprintf("pb_%012d", i+1)) }

// crowdTrace is what 50 sessions do: each ends one turn at a random second, and
// once a minute somebody asks for something.
type crowdTrace struct {
	seed     uint64
	ends     [crowd]int // second
	commands []int      // second, ascending
}

func newTrace(seed uint64) crowdTrace {
	r := rand.New(rand.NewPCG(seed, 1))
	tr := crowdTrace{seed: seed}
	for i := range tr.ends {
		tr.ends[i] = 1 + r.IntN(int(trace.Seconds())-1)
	}
	for minute := range int(trace.Minutes()) {
		tr.commands = append(tr.commands, minute*60+r.IntN(60))
	}
	return tr
}

// latency is how long calls travel, at random but repeatably.
func (tr crowdTrace) latency() func(string, int64) (time.Duration, time.Duration) {
	travel := adaptertest.Latency(tr.seed, slowest)
	return func(string, int64) (here, back time.Duration) { return travel() }
}

// outcome is what came of a trace.
type traceOutcome struct {
	rings    []time.Duration // from the end of a turn to the message that rings
	replies  []time.Duration // from a command to its reply
	calls    int
	worst    int // calls in any window of the group
	lastSeen time.Duration
}

// live lives through a trace in a forum whose topics are there. Without streams,
// sessions print nothing but the end of their turn.
func (tr crowdTrace) live(t *testing.T, streams bool) (out traceOutcome) {
	t.Helper()
	inBubble(t, telegramtest.Options{Latency: tr.latency()}, func(w *world) {
		b := w.bridge()
		b.Start()
		var topics [crowd]telegramtest.Place
		for i := range crowd {
			thread, err := w.ada.CreateTopic(w.forum, fmt.Sprintf("agent-%d", i))
			if err != nil {
				w.Fatal(err)
			}
			topics[i] = telegramtest.Place{Chat: w.forum, Thread: thread}
			b.Begin(sessionID(i), fmt.Sprintf("agent-%d", i))
			if _, err := b.Hub.BindAs(w.Context(), sessionID(i), target(w.forum, thread), adapters.BindingWish{Work: adapters.WorkShown{Output: adapters.LengthAll}}); err != nil {
				w.Fatal(err)
			}
		}
		began := time.Now()
		asked, printed := tr.commands, 0
		for second := range int(trace.Seconds()) {
			for i := range crowd {
				o := adaptertest.Output{Ends: tr.ends[i] == second}
				if streams || o.Ends {
					o.Lines = lines(printed, perTick)
					printed += perTick
					b.Print(sessionID(i), o)
				}
			}
			if len(asked) > 0 && asked[0] == second {
				asked = asked[1:]
				at := time.Now()
				err := b.Hub.Post(adapters.Post{
					To: target(w.forum, 0), Key: fmt.Sprint(second), Class: qos.Interactive, Text: "all is well",
					Sent: func(_ string, err error) {
						if err != nil {
							w.Errorf("a reply: %v", err)
						}
						out.replies = append(out.replies, time.Since(at))
					},
				})
				if err != nil {
					w.Fatal(err)
				}
			}
			after(time.Second)
		}
		over := time.Now()
		after(catchUp)
		for i := range crowd {
			b.compare(topics[i], sessionID(i))
		}
		for i, place := range topics {
			ended := began.Add(time.Duration(tr.ends[i]) * time.Second)
			out.rings = append(out.rings, tr.ring(w, place, ended))
			if m := last(w, place); m.At.After(over) {
				out.lastSeen = max(out.lastSeen, m.At.Sub(over))
			}
		}
		if len(out.replies) != len(tr.commands) {
			w.Errorf("%d of %d commands were answered", len(out.replies), len(tr.commands))
		}
		w.noRefusals()
		out.calls = len(w.CallsTo(w.forum))
		for _, worst := range w.Worst() {
			if worst.Chat == w.forum && worst.Family == telegramtest.Messages {
				out.worst = max(out.worst, worst.Most)
			}
		}
		b.Stop()
	})
	return out
}

// ring is how long after the end of a turn its message came.
func (tr crowdTrace) ring(w *world, place telegramtest.Place, ended time.Time) time.Duration {
	w.Helper()
	for _, r := range w.Rings() {
		if r.Place == place && !r.At.Before(ended) {
			return r.At.Sub(ended)
		}
	}
	w.Errorf("nothing rang in topic %d", place.Thread)
	return 0
}

// 50 sessions print two lines a second each into one forum group for ten minutes.
// Telegram never says no; the end of a turn rings about as early as if nothing was
// streamed; and five minutes later everything is there, once and in order.
func TestFiftySessionsInOneGroup(t *testing.T) {
	var with, without []time.Duration
	for seed := range drawtest.Seeds(t, drawtest.Times(barSeeds, 3, 1)) {
		tr := newTrace(seed)
		quiet, busy := tr.live(t, false), tr.live(t, true)
		t.Logf("seed %d: ring p50 %v p99 %v, without streams %v and %v; replies p99 %v; %d calls, at most %d in a window; the last line %v after the end",
			tr.seed, adaptertest.Percentile(busy.rings, 0.5), adaptertest.Percentile(busy.rings, 0.99), adaptertest.Percentile(quiet.rings, 0.5), adaptertest.Percentile(quiet.rings, 0.99),
			adaptertest.Percentile(busy.replies, 0.99), busy.calls, busy.worst, busy.lastSeen)
		with, without = append(with, busy.rings...), append(without, quiet.rings...)
		if busy.worst > perWin {
			t.Errorf("seed %d: %d calls came within a minute", tr.seed, busy.worst)
		}
		if t.Failed() {
			return
		}
	}
	got, base := adaptertest.Percentile(with, 0.99), adaptertest.Percentile(without, 0.99)
	most := base*5/4 + 2*(window+slowest)/perWin
	t.Logf("all seeds: ring p99 %v, without streams %v; allowed %v", got, base, most)
	if got > most {
		t.Errorf("the end of a turn rings after %v (p99), allowed are %v", got, most)
	}
}

// Telegram orders ten minutes of silence for one chat. Nobody calls it before its
// time, over two restarts; another chat goes on as if nothing was; and afterwards
// everything is there.
func TestPenaltyIsHonouredOverRestarts(t *testing.T) {
	for _, kill := range []bool{false, true} {
		inBubble(t, telegramtest.Options{}, func(w *world) {
			const silence = 600 * time.Second
			second := sessionID(1)
			b := w.bridge(
				adapters.MirrorRule{Session: "agent-0", To: target(w.forum, 0)},
				adapters.MirrorRule{Session: "agent-1", To: target(w.group, 0)},
			)
			b.Start()
			b.Begin(first, "agent-0")
			b.Begin(second, "agent-1")
			step := func(n int) {
				for _, id := range []sessions.ID{first, second} {
					b.Print(id, adaptertest.Output{Lines: lines(n, 2), Ends: n%10 == 0})
				}
				after(5 * time.Second)
			}
			for n := range 6 {
				step(n)
			}
			w.Inject(telegramtest.Fault{Times: 1, Chat: w.forum, RetryAfter: silence})
			ordered := time.Time{}
			for n := 6; ordered.IsZero(); n++ {
				step(n)
				for _, c := range w.CallsTo(w.forum) {
					if c.RetryAfter > 0 {
						ordered = c.At
					}
				}
			}
			for i := range 2 {
				for n := range 20 {
					step(100*(i+1) + n)
				}
				if kill {
					b.Kill()
				}
				b.Stop()
				after(30 * time.Second)
				b.Start()
			}
			for n := range 60 {
				step(500 + n)
			}
			after(5 * time.Minute)
			calls := w.CallsTo(w.forum)
			i := slices.IndexFunc(calls, func(c telegramtest.Call) bool { return c.At.Equal(ordered) })
			if i < 0 || i+1 == len(calls) {
				w.Fatalf("no call came after the order of silence, which was call %d of %d", i, len(calls))
			}
			if waited := calls[i+1].At.Sub(ordered); waited < silence || waited > silence+5*time.Second {
				w.Errorf("the next call came after %v", waited)
			}
			for _, c := range calls {
				if c.InPenalty {
					w.Errorf("at %v a call came during the penalty", c.At)
				}
			}
			during := 0
			for _, c := range w.CallsTo(w.group) {
				if c.At.After(ordered) && c.At.Before(ordered.Add(silence)) {
					during++
				}
			}
			if during < 60 {
				w.Errorf("the other chat got %d calls in ten minutes", during)
			}
			b.compare(b.topic(w.forum, "agent-0").Place, first)
			b.compare(telegramtest.Place{Chat: w.group}, second)
			b.Stop()
			w.noRefusals()
		})
	}
}
