package discord_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing/synctest"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/commands"
	"github.com/panebridge/panebridge/adapters/discord"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/adapters/intake/journaltest"
)

// notes are kept over processes, until they're said to be broken.
type notes struct {
	mu    sync.Mutex
	kept  map[string]string
	fails error
}

func (n *notes) Note(_ context.Context, key string) (string, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.kept[key], n.fails
}

func (n *notes) PutNote(ctx context.Context, key, value string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := errors.Join(n.fails, ctx.Err()); err != nil {
		return err
	}
	n.kept[key] = value
	return nil
}

// ear is the inbound side of a world: a gateway, its journal and its queue, over
// several processes, and what was handled.
type ear struct {
	*world
	memory *journaltest.Memory
	notes  *notes
	opts   discord.GatewayOptions // but for Keeper; what's nil in it is everybody's, and nobody is told
	change func(o *discord.Options)
	wrap   func(k intake.UpdateKeeper) intake.UpdateKeeper // what stands before the queue; nil: nothing
	handle func(e intake.Event) error                      // nil: it's only written down
	own    bool                                            // another ear has the same bot: it takes what's its own

	bot     *discord.Adapter
	gateway *discord.Gateway
	queue   *intake.Queue
	stop    func()
	kill    func() // what happens from then on isn't kept

	mu   sync.Mutex
	come []intake.Event
}

func (w *world) ear() *ear {
	e := &ear{world: w, memory: journaltest.NewMemory(), notes: &notes{kept: map[string]string{}}}
	e.opts.Knows = func(t adapters.Target) bool { return t.Chat == w.agents || t.Chat == w.posts || t.Chat == w.plain }
	return e
}

// decoder reads events.
var decoder = discord.Decoder{Commands: commands.Commands()}

// filled are options in which nothing is nil: everybody is let in everywhere, and no others are there.
func filled(o discord.GatewayOptions) discord.GatewayOptions {
	o.Commands = decoder.Commands
	if o.Knows == nil {
		o.Knows = func(adapters.Target) bool { return true }
	}
	if o.Uses == nil {
		o.Uses = func(adapters.Target) bool { return false }
	}
	if o.Admits == nil {
		o.Admits = func(intake.Event) bool { return true }
	}
	if o.Mirrored == nil {
		o.Mirrored = func() []adapters.Target { return nil }
	}
	if o.Complete == nil {
		o.Complete = func(intake.Event, string, string, string) []intake.Completion { return nil }
	}
	if o.Offered == nil {
		o.Offered = func(context.Context, string) bool { return true }
	}
	if o.Concerns == nil {
		o.Concerns = func(intake.Event) bool { return false }
	}
	if o.Panicked == nil {
		o.Panicked = func() {}
	}
	if o.RightsChanged == nil {
		o.RightsChanged = func() {}
	}
	return o
}

// start begins a process, which stop ends.
func (e *ear) start() {
	e.Helper()
	e.bot = e.adapter(func(o *discord.Options) {
		o.Dial, o.Notes = e.net.Dial, e.notes
		if e.change != nil {
			e.change(o)
		}
	})
	e.noErr(e.bot.Load(context.Background()))
	process := e.memory.Process()
	e.queue = intake.NewQueue(intake.QueueOptions{
		Journal: process, Decode: decoder.Decode,
		Handle: func(ctx context.Context, ev intake.Event) error {
			return e.owned(func(_ context.Context, ev intake.Event) error { return e.hear(ev) })(ctx, ev)
		},
	})
	opts := filled(e.opts)
	opts.Keeper = e.queue
	if e.wrap != nil {
		opts.Keeper = e.wrap(opts.Keeper)
	}
	e.gateway = e.bot.Gateway(opts)
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = e.queue.Run(ctx) })
	running.Go(func() { _ = e.gateway.Run(ctx) })
	e.stop = func() {
		cancel()
		running.Wait()
	}
	e.kill = func() {
		process.Kill()
		old := e.notes
		old.mu.Lock()
		e.notes = &notes{kept: maps.Clone(old.kept)}
		old.mu.Unlock()
		e.stop()
	}
}

// hear takes in what's handled.
func (e *ear) hear(ev intake.Event) error {
	e.mu.Lock()
	handle := e.handle
	if handle == nil {
		e.come = append(e.come, ev)
	}
	e.mu.Unlock()
	if handle != nil {
		return handle(ev)
	}
	return nil
}

// owned is a handler of what's the daemon's own, if another has the same bot.
func (e *ear) owned(handle func(context.Context, intake.Event) error) func(context.Context, intake.Event) error {
	if !e.own {
		return handle
	}
	return e.gateway.HandleOwn(handle)
}

// quiet waits for what's under way.
func quiet() {
	time.Sleep(2 * time.Second)
	synctest.Wait()
}

// texts are what was said at a place, in order.
func (e *ear) texts(at adapters.Target) []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	var out []string
	for _, ev := range e.come {
		if said, ok := ev.Action.(intake.Said); ok && ev.Place == at {
			out = append(out, said.Text)
		}
	}
	return out
}

// events are what came of one kind.
func eventsOf[A intake.Action](e *ear) []intake.Event {
	e.mu.Lock()
	defer e.mu.Unlock()
	var out []intake.Event
	for _, ev := range e.come {
		if _, ok := ev.Action.(A); ok {
			out = append(out, ev)
		}
	}
	return out
}

func (e *ear) wantTexts(at adapters.Target, want ...string) {
	e.Helper()
	if got := e.texts(at); !slices.Equal(got, want) {
		e.Errorf("at %s came %d texts, of %d:\n%s", at, len(got), len(want), difference(got, want))
	}
}

// difference shows where two lists part.
func difference(got, want []string) string {
	i := 0
	for i < len(got) && i < len(want) && got[i] == want[i] {
		i++
	}
	return "from " + strings.Join(got[max(0, min(i, len(got))):min(len(got), i+5)], " | ") + "\nwant " + strings.Join(want[min(i, len(want)):min(len(want), i+5)], " | ")
}

// must is the id of what a person has just done.
func (w *world) must(id string, err error) string {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
	return id
}

func (w *world) noErr(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}
