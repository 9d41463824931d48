package intake_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/adapters/intake/journaltest"
	"github.com/panebridge/panebridge/sessions"
)

func TestMemoryJournalConforms(t *testing.T) {
	journaltest.Run(t, func(t *testing.T) func() intake.Journal {
		t.Helper()
		m := journaltest.NewMemory()
		return func() intake.Journal { return m.Process() }
	})
}

// An update of these tests is "place/words": the event of one is in that place.
// "bad" can't be read, "none" is none of our business, "boom" panics when it's read. What begins with "!" is a button.
func decode(raw []byte) (intake.Event, bool, error) {
	place, words, ok := strings.Cut(string(raw), "/")
	switch {
	case words == "boom":
		panic("reading " + words)
	case words == "none":
		return intake.Event{}, false, nil
	case !ok:
		return intake.Event{}, false, errors.New("no place")
	}
	e := intake.Event{Key: "test:" + string(raw), Place: adapters.Target{Adapter: "test", Chat: place}, Action: intake.Said{Text: words}}
	if strings.HasPrefix(words, "!") {
		e.Action = intake.Pressed{Data: words}
	}
	return e, true, nil
}

func update(key, raw string) intake.Update {
	return intake.Update{Key: key, Raw: []byte(raw), KeptAt: time.Now()}
}

// desk is a queue in a bubble, and what its Handle was given.
type desk struct {
	*intake.Queue
	journal *journaltest.Memory
	log     bytes.Buffer
	stop    context.CancelFunc
	ended   chan error

	mu      sync.Mutex
	handled []string
	at      []time.Time
	gaveUp  []string
}

// open starts a queue over a journal. handle nil: everything is handled.
func open(t *testing.T, m *journaltest.Memory, handle func(ctx context.Context, e intake.Event) error) *desk {
	t.Helper()
	d := &desk{journal: m, ended: make(chan error, 1)}
	d.Queue = intake.NewQueue(intake.QueueOptions{
		Journal: m.Process(), Decode: decode, Logger: slog.New(slog.NewTextHandler(&d.log, nil)), Places: 4,
		Handle: func(ctx context.Context, e intake.Event) error {
			d.mu.Lock()
			d.handled, d.at = append(d.handled, e.Key), append(d.at, e.At)
			d.mu.Unlock()
			if handle == nil {
				return nil
			}
			return handle(ctx, e)
		},
		GaveUp: func(e intake.Event) {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.gaveUp = append(d.gaveUp, e.Key)
		},
	})
	ctx, cancel := context.WithCancel(t.Context())
	d.stop = cancel
	go func() { d.ended <- d.Run(ctx) }()
	return d
}

func (d *desk) end(t *testing.T) {
	t.Helper()
	d.stop()
	ok(t, <-d.ended)
}

func (d *desk) keep(t *testing.T, updates ...intake.Update) {
	t.Helper()
	ok(t, d.Keep(t.Context(), updates))
}

// saw compares what was handled, place by place.
func (d *desk) saw(t *testing.T, want ...string) {
	t.Helper()
	synctest.Wait()
	d.mu.Lock()
	defer d.mu.Unlock()
	got := slices.Clone(d.handled)
	slices.SortStableFunc(got, func(a, b string) int { return strings.Compare(placeOf(a), placeOf(b)) })
	if !slices.Equal(got, want) {
		t.Errorf("handled %v, want %v", got, want)
	}
}

func placeOf(key string) string {
	place, _, _ := strings.Cut(key, "/")
	return place
}

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestQueueHandsOutWhatCameAndComesOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := journaltest.NewMemory()
		d := open(t, m, nil)
		came := time.Now()
		d.keep(t, update("1", "a/1"), update("2", "a/2"))
		d.saw(t, "test:a/1", "test:a/2")
		d.keep(t, update("2", "a/2"), update("3", "a/none"))
		d.saw(t, "test:a/1", "test:a/2")
		if s := d.Stats(); s.Handled != 2 || s.Ignored != 1 || s.Duplicates != 1 || s.Waiting != 0 {
			t.Errorf("the figures are %+v", s)
		}
		if !d.at[0].Equal(came) {
			t.Errorf("an event without a time is of %v, not of when it came", d.at[0])
		}
		d.end(t)
		again := open(t, m, nil)
		again.keep(t, update("1", "a/1"), update("3", "a/none"))
		again.saw(t)
		again.end(t)
	})
}

func TestQueueStartsWithWhatWasLeftOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := journaltest.NewMemory()
		var list []intake.Update
		for i := range 250 { // more than a page
			list = append(list, update(fmt.Sprint(i), fmt.Sprintf("a/%d", i)))
		}
		_, err := m.Process().Keep(t.Context(), list)
		ok(t, err)
		d := open(t, m, nil)
		d.keep(t, update("new", "a/new"))
		synctest.Wait()
		if len(d.handled) != 251 || d.handled[0] != "test:a/0" || d.handled[249] != "test:a/249" || d.handled[250] != "test:a/new" {
			t.Errorf("%d were handled: %v", len(d.handled), d.handled)
		}
		d.end(t)
	})
}

// A place is handled by one goroutine, and as many places as asked for at a time.
func TestQueueKeepsPlacesApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		running := map[string]int{}
		most := 0
		var mu sync.Mutex
		d := open(t, journaltest.NewMemory(), func(_ context.Context, e intake.Event) error {
			mu.Lock()
			running[e.Place.Chat]++
			if running[e.Place.Chat] > 1 {
				t.Errorf("place %s is handled twice at a time", e.Place.Chat)
			}
			most = max(most, len(running))
			mu.Unlock()
			time.Sleep(time.Second)
			mu.Lock()
			defer mu.Unlock()
			delete(running, e.Place.Chat)
			return nil
		})
		for i := range 60 {
			d.keep(t, update(fmt.Sprint(i), fmt.Sprintf("%d/%d", i%6, i)))
		}
		time.Sleep(10*time.Second + 500*time.Millisecond)
		synctest.Wait()
		if n := d.Stats().Handled; n != 40 { // while four places have something left, whichever they are
			t.Errorf("%d updates in 10 s, want 40", n)
		}
		time.Sleep(10 * time.Second) // fewer than four may be left at the end
		d.end(t)
		if most != 4 || len(d.handled) != 60 {
			t.Errorf("at most %d places at a time, %d updates; want 4 and 60", most, len(d.handled))
		}
	})
}

func TestQueueLetsAFailingPlaceRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fails := 3
		var tries []time.Time
		d := open(t, journaltest.NewMemory(), func(_ context.Context, e intake.Event) error {
			if e.Key != "test:a/1" {
				return nil
			}
			tries = append(tries, time.Now())
			if len(tries) <= fails {
				return errors.New("out of paper")
			}
			return nil
		})
		d.keep(t, update("1", "a/1"), update("2", "a/2"), update("3", "b/3"))
		d.saw(t, "test:a/1", "test:b/3") // b doesn't wait for a
		if s := d.Stats(); s.Failing != 1 || s.Waiting != 2 {
			t.Errorf("the figures are %+v", s)
		}
		time.Sleep(time.Minute)
		d.saw(t, "test:a/1", "test:a/1", "test:a/1", "test:a/1", "test:a/2", "test:b/3")
		for i, least := range []time.Duration{2 * time.Second / 3, 4 * time.Second / 3, 8 * time.Second / 3} {
			if rest := tries[i+1].Sub(tries[i]); rest < least || rest > 2*least {
				t.Errorf("try %d came after %v, want %v at least", i+2, rest, least)
			}
		}
		if s := d.Stats(); s.Failing != 0 || s.Waiting != 0 || s.Failures != 3 || s.Handled != 3 {
			t.Errorf("the figures are %+v", s)
		}
		d.end(t)
	})
}

func TestQueueSetsAsideWhatPoisons(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := journaltest.NewMemory()
		secret := "my-password"
		d := open(t, m, func(_ context.Context, e intake.Event) error {
			if e.Key == "test:a/"+secret {
				panic("I know " + secret)
			}
			return nil
		})
		d.keep(t, update("1", "a/"+secret), update("2", "a/2"), update("3", secret), update("4", secret+"/boom"))
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		if n := len(d.handled); n != 9 || d.handled[8] != "test:a/2" || fmt.Sprint(d.gaveUp) != "[test:a/"+secret+"]" {
			t.Errorf("handled %v, gave up %v", d.handled, d.gaveUp)
		}
		if s := d.Stats(); s.SetAside != 3 || s.Handled != 1 || s.Waiting != 0 {
			t.Errorf("the figures are %+v", s)
		}
		d.end(t)
		if got := m.Outcomes(); got["1"] != intake.SetAside || got["2"] != intake.Handled || got["3"] != intake.SetAside || got["4"] != intake.SetAside {
			t.Errorf("the journal says %v", got)
		}
		// The key that the platform gave the event is the one thing of it that's logged.
		if text := strings.ReplaceAll(d.log.String(), "key=test:a/"+secret, ""); strings.Contains(text, secret) || !strings.Contains(text, "set aside") {
			t.Errorf("the log is\n%s", text)
		}
	})
}

// What isn't the update's fault isn't counted, however long it takes.
func TestQueueWaitsForWhatIsUnavailable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := journaltest.NewMemory()
		var broken atomic.Bool
		broken.Store(true)
		d := open(t, m, func(context.Context, intake.Event) error {
			if broken.Load() {
				return fmt.Errorf("store it: %w", sessions.ErrUnavailable)
			}
			return nil
		})
		d.keep(t, update("1", "a/1"))
		time.Sleep(time.Hour)
		synctest.Wait()
		d.mu.Lock()
		n := len(d.handled)
		d.mu.Unlock()
		if n < 59 || n > 100 {
			t.Errorf("tried %d times in an hour", n)
		}
		broken.Store(false)
		time.Sleep(time.Minute)
		synctest.Wait()
		if got := m.Outcomes()["1"]; got != intake.Handled {
			t.Errorf("the update was %s", got)
		}
		d.end(t)
	})
}

// What was handled is only written down again if that failed, not handled again.
func TestQueueHandlesOnceWhenTheJournalFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := journaltest.NewMemory()
		p := m.Process()
		var broken atomic.Bool
		broken.Store(true)
		p.Hook = func(method string, _ bool) error {
			if broken.Load() && method == "settle" {
				return errors.New("the disk is full")
			}
			return nil
		}
		handled := 0
		q := intake.NewQueue(intake.QueueOptions{Journal: p, Decode: decode, Handle: func(context.Context, intake.Event) error {
			handled++
			return nil
		}})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- q.Run(ctx) }()
		ok(t, q.Keep(t.Context(), []intake.Update{update("1", "a/1")}))
		time.Sleep(10 * time.Minute)
		broken.Store(false)
		time.Sleep(time.Minute)
		cancel()
		ok(t, <-ended)
		if got := m.Outcomes()["1"]; handled != 1 || got != intake.Handled {
			t.Errorf("handled %d times, and then %q", handled, got)
		}
	})
}

func TestQueueStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := journaltest.NewMemory()
		d := open(t, m, func(ctx context.Context, e intake.Event) error {
			if e.Key != "test:a/1" {
				return nil
			}
			<-ctx.Done()
			return ctx.Err()
		})
		d.keep(t, update("1", "a/1"), update("2", "a/2"), update("3", "b/3"))
		d.saw(t, "test:a/1", "test:b/3")
		d.end(t)
		list, err := m.Process().Waiting(t.Context(), 0, 10)
		ok(t, err)
		if len(list) != 2 || list[0].Tries != 0 {
			t.Errorf("left over are %+v: a try that was interrupted counts", list)
		}
		again := open(t, m, nil)
		again.saw(t, "test:a/1", "test:a/2")
		again.end(t)
	})
}

// An update that takes the process down each time is set aside in the end.
func TestQueueSetsAsideWhatEndsTheProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := journaltest.NewMemory()
		_, err := m.Process().Keep(t.Context(), []intake.Update{update("1", "a/1"), update("2", "a/2")})
		ok(t, err)
		lives := 0
		for m.Outcomes()["2"] == "" && lives < 100 {
			lives++
			p := m.Process()
			ctx, crash := context.WithCancel(t.Context())
			q := intake.NewQueue(intake.QueueOptions{Journal: p, Decode: decode, Handle: func(ctx context.Context, e intake.Event) error {
				if e.Key == "test:a/1" {
					p.Kill()
					crash()
				}
				return ctx.Err()
			}})
			time.AfterFunc(time.Minute, crash)
			ok(t, q.Run(ctx))
		}
		if got := m.Outcomes(); lives != 9 || got["1"] != intake.SetAside || got["2"] != intake.Handled {
			t.Errorf("after %d lives the journal says %v", lives, got)
		}
	})
}

func TestQueueTakesNoMoreThanItsBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		d := open(t, journaltest.NewMemory(), func(context.Context, intake.Event) error {
			<-gate
			return nil
		})
		synctest.Wait() // what's kept while it looks for what was left over counts twice for a moment
		var err error
		kept := 0
		for err == nil {
			var list []intake.Update
			for range 1000 {
				kept++
				list = append(list, update(fmt.Sprint(kept), "a/x"))
			}
			err = d.Keep(t.Context(), list)
		}
		if !errors.Is(err, intake.ErrTooMany) || kept != 21_000 {
			t.Errorf("after %d updates: %v", kept, err)
		}
		close(gate)
		d.end(t)
	})
}

// A button that's pressed while a text takes long comes before its end, and what's written behind it doesn't; what takes
// no longer than usual isn't passed.
func TestAButtonPassesWhatTakesLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var mu sync.Mutex
		var said []string
		d := open(t, journaltest.NewMemory(), func(ctx context.Context, e intake.Event) error {
			takes := map[string]time.Duration{"test:a/slow": time.Minute, "test:a/text": time.Second, "test:a/!stop": time.Second, "test:b/quick": time.Second}[e.Key]
			_ = sessions.Pause(ctx, takes)
			mu.Lock()
			defer mu.Unlock()
			said = append(said, fmt.Sprint(e.Key, " ", time.Since(began)))
			return ctx.Err()
		})
		d.keep(t, update("1", "a/slow"), update("2", "a/text"), update("3", "a/!stop"), update("4", "a/after"), update("5", "b/quick"), update("6", "b/!stop"))
		time.Sleep(2 * time.Minute)
		mu.Lock()
		defer mu.Unlock()
		want := []string{"test:b/quick 1s", "test:b/!stop 1s", "test:a/!stop 3s", "test:a/slow 1m0s", "test:a/text 1m1s", "test:a/after 1m1s"}
		if !slices.Equal(said, want) {
			t.Errorf("handled are %q, want %q", said, want)
		}
		d.end(t)
	})
}

// So it is where the text fails again and again, and with a command that people have.
func TestACommandPassesWhatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var said []string
		q := intake.NewQueue(intake.QueueOptions{
			Journal: journaltest.NewMemory().Process(), Decode: decode, Commands: []intake.CommandInfo{{Name: "stop"}},
			Handle: func(_ context.Context, e intake.Event) error {
				mu.Lock()
				defer mu.Unlock()
				if e.Key == "test:a/text" && len(said) < 3 {
					return fmt.Errorf("fetch: %w", sessions.ErrUnavailable)
				}
				said = append(said, e.Key)
				return nil
			},
		})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- q.Run(ctx) }()
		ok(t, q.Keep(t.Context(), []intake.Update{update("1", "a/text"), update("2", "a//stop"), update("3", "a//stopped"), update("4", "a//stop@bot now"), update("5", "a/!")}))
		time.Sleep(time.Hour)
		mu.Lock()
		defer mu.Unlock()
		if want := []string{"test:a//stop", "test:a//stop@bot now", "test:a/!", "test:a/text", "test:a//stopped"}; !slices.Equal(said, want) {
			t.Errorf("handled are %q, want %q", said, want)
		}
		cancel()
		ok(t, <-ended)
	})
}
