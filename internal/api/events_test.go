package api_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/api/client"
	"github.com/panebridge/panebridge/sessions"
)

var errEnough = errors.New("enough")

// short writes an event in a line, so that a test reads as a list of them.
func short(t *testing.T, ev client.Event) string {
	t.Helper()
	var d struct {
		Session  string
		First    int64
		Lines    []sessions.Line
		Rows     []string
		Turn     sessions.Turn
		Complete bool
		State    string
		After    int64
		AtLeast  int64 `json:"at_least"`
		Status   int
	}
	if err := json.Unmarshal(ev.Data, &d); err != nil {
		t.Errorf("the data of %s isn't an object: %v", ev.Name, err)
	}
	switch ev.Name {
	case api.EventOutput:
		return fmt.Sprintf("output %d-%d", d.First, d.First+int64(len(d.Lines))-1)
	case api.EventGap:
		return fmt.Sprintf("gap after %d: %d", d.After, d.AtLeast)
	case api.EventTurn:
		return fmt.Sprintf("turn %d complete=%t", d.Turn.Number, d.Complete)
	case api.EventState:
		return "state " + d.State
	case api.EventLive:
		return "live " + strings.Join(d.Rows, "|")
	default:
		return fmt.Sprintf("%s %d", ev.Name, d.Status)
	}
}

// listener collects a stream's events in the background.
type listener struct {
	events chan client.Event
	end    context.CancelFunc
}

func (b *bench) listen(t *testing.T, session, from string) *listener {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	l := &listener{events: make(chan client.Event, 10000), end: cancel}
	go func() {
		_ = b.client.Events(ctx, session, from, func(ev client.Event) error {
			l.events <- ev
			return nil
		})
		close(l.events)
	}()
	t.Cleanup(cancel)
	return l
}

// next returns the next n events.
func (l *listener) next(t *testing.T, n int) []string {
	t.Helper()
	var got []string
	for len(got) < n {
		select {
		case ev, ok := <-l.events:
			if !ok {
				t.Fatalf("the stream ended after %q", got)
			}
			got = append(got, short(t, ev))
		case <-time.After(5 * time.Second):
			t.Fatalf("got only %q", got)
		}
	}
	return got
}

func (l *listener) expect(t *testing.T, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, l.next(t, len(want))); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func texts(from, to int) []string {
	var list []string
	for i := from; i <= to; i++ {
		list = append(list, fmt.Sprintf("line %d", i))
	}
	return list
}

func TestStreamOfOneSession(t *testing.T) {
	b := setup(t)
	id := b.daemon.Add("one", "")
	other := b.daemon.Add("other", "")
	b.daemon.Append(id, sessions.KindPane, texts(1, 3)...)
	b.daemon.Live(id, "thinking")
	l := b.listen(t, "one", "")
	l.expect(t, "state idle", "live thinking")
	b.daemon.Append(other, sessions.KindPane, "not for us")
	b.daemon.Append(id, sessions.KindPane, texts(4, 5)...)
	l.expect(t, "output 4-5")
	b.daemon.Turn(id, true)
	l.expect(t, "turn 1 complete=false")
	b.daemon.Live(id, "\x1b[31mstill\x1b[0m", "thinking")
	l.expect(t, "live still|thinking")
	b.daemon.Gap(id, 7, "too fast")
	l.expect(t, "gap after 5: 7")
	b.daemon.SetState(id, sessions.StateWaiting, "a dialog")
	l.expect(t, "state waiting")
	b.daemon.Exit(id, 3)
	l.expect(t, "exit 3")
	b.daemon.SetState(id, sessions.StateEnded, "its program ended")
	l.expect(t, "state ended")
}

func TestReplayIsInOrder(t *testing.T) {
	b := setup(t)
	id := b.daemon.Add("one", "")
	b.daemon.Gap(id, 0, "before the first")
	b.daemon.Append(id, sessions.KindPane, texts(1, 700)...)
	b.daemon.Gap(id, 1, "x")
	b.daemon.Gap(id, 2, "y")
	b.daemon.Append(id, sessions.KindPane, texts(701, 1200)...)
	b.daemon.Gap(id, 3, "z")
	b.listen(t, "one", "0").expect(t, "state idle", "live ", "gap after 0: 0", "output 1-500", "output 501-700",
		"gap after 700: 1", "gap after 700: 2", "output 701-1000", "output 1001-1200", "gap after 1200: 3")
	b.listen(t, "one", "701").expect(t, "state idle", "live ", "gap after 700: 1", "gap after 700: 2", "output 701-1200", "gap after 1200: 3")
	b.listen(t, "one", "1200").expect(t, "state idle", "live ", "output 1200-1200", "gap after 1200: 3")
}

func TestLinesDroppedFromTheLogAreAGap(t *testing.T) {
	for _, said := range []bool{false, true} { // by the log itself, or only to be seen
		b := setup(t)
		b.daemon.SayDropped = said
		id := b.daemon.Add("one", "")
		b.daemon.Append(id, sessions.KindPane, texts(1, 15)...)
		b.daemon.Gap(id, 9, "x")
		b.daemon.Append(id, sessions.KindPane, texts(16, 20)...)
		b.daemon.Drop(id, 15)
		b.listen(t, "one", "11").expect(t, "state idle", "live ", "gap after 10: 5", "gap after 15: 9", "output 16-20")
		b.listen(t, "one", "11.5.2").expect(t, "state idle", "live ", "gap after 10: 5")
		b.listen(t, "one", "0").expect(t, "state idle", "live ", "gap after 15: 9", "output 16-20")
	}
}

func TestTurnEndsStandBehindTheirLines(t *testing.T) {
	b := setup(t)
	id := b.daemon.Add("one", "")
	gate := make(chan struct{})
	l := b.listen(t, "one", "")
	l.expect(t, "state idle", "live ")
	// A client that is slow for a moment: its stream hears of all this at once,
	// or of a part; the order is the same.
	go func() {
		b.daemon.Turn(id, true)
		b.daemon.Append(id, sessions.KindPane, texts(1, 10)...)
		b.daemon.Turn(id, false)
		b.daemon.Append(id, sessions.KindPane, texts(11, 20)...)
		b.daemon.Exit(id, 0)
		close(gate)
	}()
	<-gate
	newest, ended := int64(0), false
	for {
		ev := <-l.events
		switch ev.Name {
		case api.EventOutput:
			var d api.OutputEvent
			_ = json.Unmarshal(ev.Data, &d)
			newest = d.Lines[len(d.Lines)-1].N
			if newest > 10 && !ended {
				t.Fatalf("line %d comes before the end of the turn", newest)
			}
		case api.EventTurn:
			if strings.Contains(string(ev.Data), `"complete":true`) {
				ended = true
				if newest != 10 {
					t.Fatalf("the turn ends behind line %d, want 10", newest)
				}
			}
		case api.EventExit:
			if newest != 20 {
				t.Fatalf("the exit stands behind line %d, want 20", newest)
			}
			return
		}
	}
}

func TestStreamOfAllSessions(t *testing.T) {
	b := setup(t)
	id := b.daemon.Add("one", "")
	b.daemon.Append(id, sessions.KindPane, "old")
	l := b.listen(t, "", "")
	l.expect(t, "state idle", "live ")
	b.daemon.Append(id, sessions.KindPane, "new")
	l.expect(t, "output 2-2")
	second := b.daemon.Add("two", "")
	l.expect(t, "state idle")
	b.daemon.Append(second, sessions.KindPane, "first")
	l.expect(t, "output 1-1")
	if err := b.client.CloseSession(t.Context(), "two"); err != nil {
		t.Fatal(err)
	}
	l.expect(t, "state ended")
}

func TestGapsBehindOneLine(t *testing.T) {
	b := setup(t)
	id := b.daemon.Add("one", "")
	b.daemon.Append(id, sessions.KindPane, texts(1, 5)...)
	b.daemon.Gap(id, 1, "x")
	l := b.listen(t, "one", "")
	l.expect(t, "state idle", "live ")
	for n := int64(2); n <= 4; n++ {
		b.daemon.Gap(id, n, "x")
		l.expect(t, fmt.Sprintf("gap after 5: %d", n))
	}
	for from, want := range map[string][]string{
		"5":     {"output 5-5", "gap after 5: 1", "gap after 5: 2"},
		"6":     {"gap after 5: 1", "gap after 5: 2", "gap after 5: 3", "gap after 5: 4"},
		"6.0.3": {"gap after 5: 4"},
		"6.1":   {"gap after 5: 2", "gap after 5: 3"},
		"6.1.2": {"gap after 5: 4"},
	} {
		b.listen(t, "one", from).expect(t, append([]string{"state idle", "live "}, want...)...)
	}
}

// A stream can begin so many lines before the end, which its client doesn't know.
func TestAStreamBeginsSoManyLinesBeforeTheEnd(t *testing.T) {
	b := setup(t)
	id := b.daemon.Add("one", "")
	b.daemon.Append(id, sessions.KindPane, texts(1, 9)...)
	b.daemon.Drop(id, 2)
	newest := 9
	for _, last := range []int{1, 3, 7, 200} {
		r, _ := http.NewRequestWithContext(t.Context(), "GET", fmt.Sprintf("%s/api/v1/events?session=one&last=%d", b.url, last), http.NoBody)
		b.sign(r)
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprintf(`"lines":[{"n":%d,`, max(3, newest-last+1))
		newest++
		b.daemon.Append(id, sessions.KindPane, texts(newest, newest)...) // one that begins too late has something to say
		in, output := bufio.NewScanner(resp.Body), ""
		for output == "" && in.Scan() {
			if strings.Contains(in.Text(), `"lines":[`) {
				output = in.Text()
			}
		}
		if !strings.Contains(output, want) {
			t.Errorf("the last %d: the stream has %q, want %s (%v)", last, output, want, in.Err())
		}
		_ = resp.Body.Close()
	}
}

func TestLastEventIDGoesBeforeFrom(t *testing.T) {
	b := setup(t)
	id := b.daemon.Add("one", "")
	b.daemon.Append(id, sessions.KindPane, texts(1, 9)...)
	r, _ := http.NewRequestWithContext(t.Context(), "GET", b.url+"/api/v1/events?session=one&from=1", http.NoBody)
	b.sign(r)
	r.Header.Set("Last-Event-ID", "9")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	buf := make([]byte, 64<<10)
	text := ""
	for !strings.Contains(text, "event: output") {
		n, err := resp.Body.Read(buf)
		if err != nil {
			t.Fatal(err)
		}
		text += string(buf[:n])
	}
	if !strings.Contains(text, "event: output\nid: 10\n") || strings.Contains(text, "line 8") {
		t.Errorf("stream is %s", text)
	}
}

func TestHeartbeat(t *testing.T) {
	b := setup(t, func(o *api.Options) { o.Timeouts.Heartbeat = 10 * time.Millisecond })
	r, _ := http.NewRequestWithContext(t.Context(), "GET", b.url+"/api/v1/events", http.NoBody)
	b.sign(r)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	buf := make([]byte, 3)
	if _, err := resp.Body.Read(buf); err != nil || string(buf) != ":\n\n" {
		t.Errorf("got %q, %v", buf, err)
	}
}

func TestStreamsEndWithTheServer(t *testing.T) {
	b := setup(t)
	b.daemon.Add("one", "")
	l := b.listen(t, "", "")
	l.next(t, 2)
	start := time.Now()
	b.stop()
	if took := time.Since(start); took > 2*time.Second {
		t.Errorf("the server took %v to end", took)
	}
	if _, open := <-l.events; open {
		t.Error("the stream goes on")
	}
}

// TestNothingIsLostOrDoubled appends lines and gaps while clients come and go:
// each reads a random number of events, disconnects in the middle of whatever
// there is, and goes on with the id it has got last. In the end each has every
// line and gap once and in order.
func TestNothingIsLostOrDoubled(t *testing.T) {
	const lines, clients = 4000, 6
	b := setup(t)
	id := b.daemon.Add("one", "")
	want := make(chan []string, 1)
	go func() {
		rnd := rand.New(rand.NewPCG(1, 2))
		var all []string
		n, gaps := 0, int64(0)
		tick := time.NewTicker(3 * time.Millisecond)
		defer tick.Stop()
		for n < lines {
			for range rnd.IntN(4) {
				if rnd.IntN(4) == 0 {
					<-tick.C
				}
				gaps++
				all = append(all, fmt.Sprintf("gap %d after %d", gaps, n))
				b.daemon.Gap(id, gaps, "x")
			}
			k := 1 + rnd.IntN(40)
			if rnd.IntN(30) == 0 {
				k = 700 // more than a page
			}
			b.daemon.Append(id, sessions.KindPane, texts(n+1, n+k)...)
			for i := range k {
				all = append(all, fmt.Sprintf("line %d", n+1+i))
			}
			n += k
			if rnd.IntN(4) == 0 {
				<-tick.C // long enough for some client to have it all
			}
		}
		all = append(all, "end")
		b.daemon.Exit(id, 0)
		want <- all
	}()
	got := make([][]string, clients)
	connections := make([]int, clients)
	var group sync.WaitGroup
	for c := range clients {
		group.Go(func() { got[c], connections[c] = wander(t, b, rand.New(rand.NewPCG(7, uint64(c)))) })
	}
	all := <-want
	group.Wait()
	for c := range clients {
		if diff := cmp.Diff(all, got[c]); diff != "" {
			t.Fatalf("client %d (-want +got):\n%.2000s", c, diff)
		}
	}
	t.Logf("%d items each, connections: %v", len(all), connections)
}

// wander collects a session's log over many connections, until it's complete.
func wander(t *testing.T, b *bench, rnd *rand.Rand) ([]string, int) {
	t.Helper()
	var got []string
	from, connections := "1", 0
	deadline := time.Now().Add(30 * time.Second)
	for time.Now().Before(deadline) {
		connections++
		left := 1 + rnd.IntN(12)
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		err := b.client.Events(ctx, "one", from, func(ev client.Event) error {
			got = append(got, items(ev)...)
			if ev.ID != "" {
				from = ev.ID
			}
			if left--; left == 0 {
				return errEnough
			}
			return nil
		})
		cancel()
		if s, _ := b.daemon.Get("one"); errors.Is(err, context.DeadlineExceeded) && len(got) > 0 && got[len(got)-1] == fmt.Sprintf("line %d", s.Lines) {
			return append(got, "end"), connections
		}
	}
	return got, connections
}

// items are the lines and gaps of an event.
func items(ev client.Event) []string {
	var list []string
	switch ev.Name {
	case api.EventOutput:
		var d api.OutputEvent
		_ = json.Unmarshal(ev.Data, &d)
		for i, l := range d.Lines {
			if l.N != d.First+int64(i) {
				list = append(list, fmt.Sprintf("hole before line %d", l.N))
			}
			list = append(list, l.Text)
		}
	case api.EventGap:
		var d api.GapEvent
		_ = json.Unmarshal(ev.Data, &d)
		list = append(list, fmt.Sprintf("gap %d after %d", d.AtLeast, d.After))
	}
	return list
}

// TestSlowClient has a client that reads nothing while 200 MB are printed: the
// other client has it all in time, the slow one costs no memory, and in the end
// it's dropped.
func TestSlowClient(t *testing.T) {
	b := setup(t, func(o *api.Options) { o.Timeouts.Write = time.Second })
	id := b.daemon.Add("one", "")
	r, _ := http.NewRequestWithContext(t.Context(), "GET", b.url+"/api/v1/events?session=one&from=0", http.NoBody)
	b.sign(r)
	slow, err := http.DefaultClient.Do(r) // and reads no more than the header
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = slow.Body.Close() }()
	text := strings.Repeat("x", 10_000)
	batch := make([]string, 100)
	for i := range batch {
		batch[i] = text
	}
	fast := b.listen(t, "one", "0")
	fast.expect(t, "state idle", "live ")
	before := heap()
	worst := time.Duration(0)
	const rounds = 200
	for i := range rounds {
		// The log itself is in memory here: lines share one text, and old ones
		// are dropped, so that what grows would be the stream's.
		b.daemon.Drop(id, int64(max(0, i*100-200)))
		start := time.Now()
		b.daemon.Append(id, sessions.KindPane, batch...)
		for newest := int64(0); newest < int64((i+1)*100); {
			ev := <-fast.events
			var d api.OutputEvent
			_ = json.Unmarshal(ev.Data, &d)
			newest = d.Lines[len(d.Lines)-1].N
		}
		worst = max(worst, time.Since(start))
	}
	grown := heap() - before
	t.Logf("fast client: 1 MB at most %v after it was printed; heap grew by %d KB", worst, grown>>10)
	if grown > 30<<20 {
		t.Errorf("the heap grew by %d MB", grown>>20)
	}
	if worst > 2*time.Second {
		t.Errorf("the fast client waited %v", worst)
	}
	buf := make([]byte, 1<<20)
	total := 0
	for {
		n, err := slow.Body.Read(buf)
		total += n
		if err != nil {
			break
		}
		if total > 100<<20 {
			t.Fatal("the stuck client wasn't dropped")
		}
	}
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func TestStreamGoesOnWhenTheLogIsBack(t *testing.T) {
	said := make(logged, 100)
	b := setup(t, func(o *api.Options) {
		o.Timeouts.Retry = 5 * time.Millisecond
		o.Log = slog.New(slog.NewTextHandler(said, nil))
	})
	id := b.daemon.Add("one", "")
	l := b.listen(t, "one", "")
	l.expect(t, "state idle", "live ")
	b.daemon.Fail(sessions.ErrUnavailable)
	b.daemon.Append(id, sessions.KindPane, "kept")
	if text := <-said; !strings.Contains(text, "session="+string(id)) {
		t.Errorf("the log says %s", text)
	}
	b.daemon.Fail(nil)
	l.expect(t, "output 1-1")
}

// logged gets what is logged; what nobody waits for is dropped.
type logged chan string

func (l logged) Write(p []byte) (int, error) {
	select {
	case l <- string(p):
	default:
	}
	return len(p), nil
}
