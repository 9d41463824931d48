package adaptertest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/sessions"
)

// callTimeout is a call's time here.
const callTimeout = 20 * time.Second

// bench is one session mirrored to one target, by a Deliverer without a scheduler.
type bench struct {
	world   World
	chat    string
	backend Backend
	house   *House
	binding adapters.Binding

	adapter   adapters.Adapter
	kill      func(lost bool) // its calls
	process   *Process
	deliverer *adapters.Deliverer
	final     int64 // the line up to which the scheduler was told of announcements
}

// eachLine has each line be shown, also of long output: what a chat shows is compared with the log line by line.
func eachLine() adapters.WorkShown { return adapters.WorkShown{Output: adapters.LengthAll} }

const theSession = sessions.ID("pb_000000000001")

// newBench makes a bench for a chat of a world's.
func newBench(w World, chat string, b Backend, view adapters.View) (*bench, error) {
	x := &bench{world: w, chat: chat, backend: b, house: NewHouse(b)}
	if err := x.house.Begin(theSession, "agent-1"); err != nil {
		return nil, err
	}
	x.start()
	x.binding = adapters.Binding{
		ID: "bd_1", Session: theSession, View: view, Origin: adapters.ByRule, CreatedAt: time.Now(), Work: eachLine(),
		Target: adapters.Target{Adapter: x.adapter.Name(), Chat: chat},
	}
	doc := adapters.NewDocument(0, adapters.LogProgress{})
	if err := b.PutBinding(context.Background(), x.binding, &doc); err != nil {
		return nil, err
	}
	x.deliverer.Open(x.binding, doc)
	return x, nil
}

// start begins a process.
func (x *bench) start() {
	x.adapter, x.kill = x.world.NewProcess()
	x.process = &Process{Store: x.backend}
	x.deliverer = adapters.NewDeliverer(adapters.DelivererOptions{
		Adapter: x.adapter, Store: x.process, Log: x.backend, Sessions: x.house, Screens: x.house,
	})
}

// restart ends the process and begins another, which knows what's stored.
func (x *bench) restart(lost bool) error {
	x.process.Kill()
	x.kill(lost)
	x.world.Wait()
	x.start()
	kept, err := x.backend.Bindings(context.Background())
	if err != nil {
		return err
	}
	if len(kept) != 1 {
		return fmt.Errorf("%d bindings are stored, want 1", len(kept))
	}
	x.final = 0
	x.deliverer.Open(x.binding, kept[0].Document)
	return nil
}

// document is the open document.
func (x *bench) document() adapters.Document {
	d, _ := x.deliverer.Document(x.binding.ID)
	return d
}

// deliver makes one call, as the scheduler would, and checks that it's at most one.
func (x *bench) deliver() (qos.CallResult, error) {
	ctx, cancel := context.WithTimeout(context.Background(), callTimeout)
	defer cancel()
	p, err := x.backend.Progress(ctx, theSession)
	if err != nil {
		return qos.CallResult{}, err
	}
	d := x.document()
	call := qos.Call{
		Chat: qos.ChatKey(x.chat), Class: qos.Stream, Session: qos.SessionKey(theSession), Doc: x.binding.ID.Doc(),
		Delivered: d.Delivered(), Wanted: p.Head, Uncertain: d.Intent != nil,
	}
	if p.Turn > d.Turn && p.TurnEnd > max(d.Announced, x.final) {
		call.Final, call.Class = p.TurnEnd, qos.Final
	}
	before := len(x.world.Arrivals())
	r := x.deliverer.Deliver(ctx, call)
	x.final = max(x.final, r.Final)
	if n := len(x.world.Arrivals()) - before; n > 1 {
		return r, fmt.Errorf("one Deliver made %d calls", n)
	}
	return r, nil
}

// settle delivers until there's nothing left to do.
func (x *bench) settle() error {
	for range 1000 {
		r, err := x.deliver()
		switch {
		case err != nil:
			return err
		case r.Outcome == qos.Unchanged:
			return nil
		case r.Outcome != qos.Delivered:
			return fmt.Errorf("a call that nothing hinders: %v, %w", r.Outcome, r.Err)
		}
	}
	return fmt.Errorf("after 1000 calls there's still something to do: %+v", x.document())
}

// seen is what a person sees, wherever the target is now.
func (x *bench) seen() []Message {
	d := x.document()
	chat, thread := x.chat, d.Thread
	if d.Chat != "" {
		chat = d.Chat
	}
	return x.world.Seen(chat, thread)
}

// check settles and compares.
func (x *bench) check(tb testing.TB, w Want) []Message {
	tb.Helper()
	if err := x.settle(); err != nil {
		tb.Fatal(err)
	}
	return x.compare(tb, w)
}

func (x *bench) compare(tb testing.TB, w Want) []Message {
	tb.Helper()
	w.Session = theSession
	if w.Oldest == 0 {
		w.Oldest = 1
	}
	seen := x.seen()
	for _, wrong := range x.house.Compare(seen, w) {
		tb.Error(wrong)
	}
	return seen
}

// print prints lines of the session.
func (x *bench) print(tb testing.TB, o Output) {
	tb.Helper()
	if err := x.house.Print(theSession, o); err != nil {
		tb.Fatal(err)
	}
}

// texts makes lines that tell themselves apart.
type texts struct{ n int }

// lines returns so many lines of about a width in bytes. No part of one repeats.
func (t *texts) lines(count, width int) []string {
	var out []string
	for range count {
		t.n++
		out = append(out, t.words(width, " "))
	}
	return out
}

// words is text that counts.
func (t *texts) words(width int, between string) string {
	var s strings.Builder
	fmt.Fprintf(&s, "%d.", t.n)
	for i := 1; s.Len() < width; i++ {
		fmt.Fprintf(&s, "%s%d", between, i)
	}
	return s.String()
}

// random returns lines of all sorts: short, long beyond any message, blank, of many
// bytes and of many runes per character.
func (t *texts) random(r *rand.Rand, longest int) []string {
	count := []int{1, 1, 2, 5, 20, 200}[r.IntN(6)]
	var out []string
	for range count {
		switch r.IntN(12) {
		case 0:
			out = append(out, "")
		case 1:
			out = append(out, t.lines(1, 1+r.IntN(3*longest))[0])
		case 2:
			out = append(out, t.lines(1, 1)[0]+t.words(r.IntN(300), "日本"))
		case 3:
			out = append(out, t.lines(1, 1)[0]+" "+t.words(r.IntN(2000), "👩‍👩‍👧‍👦"))
		case 4:
			out = append(out, strings.Repeat(" ", r.IntN(2*longest))+t.lines(1, 1+r.IntN(longest))[0]+strings.Repeat(" ", r.IntN(longest))+".")
		default:
			out = append(out, t.lines(1, 1+r.IntN(60))[0])
		}
		if count > 20 && r.IntN(4) == 0 {
			out = append(out, "")
		}
	}
	return out
}
