package intake_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/adapters/intake/journaltest"
	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/sessions"
)

// How long parts of an album are waited for: after the newest, and after a start.
const (
	partsWithin     = 1500 * time.Millisecond
	partsAfterStart = 10 * time.Second
	mostParts       = 10
)

// part is an update of these histories, and what its raw content holds.
type part struct {
	N       int
	Place   string
	Person  string
	Album   string // "": a text
	Caption string

	After time.Duration // it comes so long after the one before
	post  int
}

func (p part) update() intake.Update {
	raw, err := json.Marshal(p)
	if err != nil {
		panic(err)
	}
	return intake.Update{Key: strconv.Itoa(p.N), Raw: raw}
}

// decodePart gives each part of an album a file that's named by its number.
func decodePart(raw []byte) (intake.Event, bool, error) {
	var p part
	if err := json.Unmarshal(raw, &p); err != nil {
		return intake.Event{}, false, err
	}
	said := intake.Said{Text: p.Caption, Album: p.Album}
	if p.Album != "" {
		said.Files = []intake.Attachment{{ID: strconv.Itoa(p.N), Kind: intake.FilePhoto}}
	}
	return intake.Event{
		Key: "test:" + strconv.Itoa(p.N), Message: strconv.Itoa(p.N), Place: adapters.Target{Adapter: "test", Chat: p.Place},
		Person: intake.Person{ID: p.Person}, Action: said,
	}, true, nil
}

// numbersOf are the updates that an event was made of.
func numbersOf(e intake.Event) (list []int) {
	for _, f := range e.Action.(intake.Said).Files {
		n, _ := strconv.Atoi(f.ID)
		list = append(list, n)
	}
	if list == nil {
		n, _ := strconv.Atoi(e.Message)
		list = []int{n}
	}
	return list
}

// albumHistory is a random life of a queue that's given albums and texts, mixed. The
// process is killed between any two steps of the journal's.
type albumHistory struct {
	seed    uint64
	posts   []albumPost
	parts   []part // of all posts, as they come
	crashes []int  // after so many steps of each life
	trouble float64
}

// albumPost is what somebody sends at once, and what happens when it's handled.
type albumPost struct {
	takes  time.Duration
	fails  int  // times, each key
	typed  bool // what fails has been typed before that
	absent int  // times that something is unavailable, each key
	poison bool
}

func drawAlbumHistory(t *rapid.T) albumHistory {
	h := albumHistory{seed: rapid.Uint64().Draw(t, "seed")}
	var open [][]part // of posts that aren't sent yet
	for i, seed := range rapid.SliceOfN(rapid.Uint64(), 1, 12).Draw(t, "posts") {
		r := rand.New(rand.NewPCG(seed, seed))
		p := albumPost{takes: []time.Duration{0, 0, time.Millisecond, 3 * time.Second}[r.IntN(4)]}
		switch r.IntN(8) {
		case 0, 1:
			p.fails, p.typed = 1+r.IntN(2), r.IntN(2) == 0
		case 2, 3:
			p.absent, p.typed = 1+r.IntN(4), r.IntN(2) == 0
		case 4:
			p.poison = r.IntN(3) == 0
		}
		h.posts = append(h.posts, p)
		first := part{post: i, Place: strconv.Itoa(r.IntN(2)), Person: strconv.Itoa(r.IntN(3)), Caption: fmt.Sprint("words ", i)}
		list := []part{first}
		if r.IntN(3) > 0 {
			list = slices.Repeat(list, 1+r.IntN(mostParts+1))
			captioned := r.IntN(len(list))
			for j := range list {
				list[j].Album = fmt.Sprint("album ", i)
				if j != captioned {
					list[j].Caption = ""
				}
				list[j].After = []time.Duration{0, 0, 20 * time.Millisecond, 300 * time.Millisecond}[r.IntN(4)]
			}
			if r.IntN(4) == 0 {
				list[len(list)-1].After = []time.Duration{2 * time.Second, 20 * time.Second}[r.IntN(2)]
			}
		}
		open = append(open, list)
	}
	// Few are sent at a time, so that albums mostly come within their time.
	mixed := rand.New(rand.NewPCG(h.seed, 1))
	for len(open) > 0 {
		i := mixed.IntN(min(len(open), 3))
		p := open[i][0]
		p.N = len(h.parts)
		h.parts = append(h.parts, p)
		if open[i] = open[i][1:]; len(open[i]) == 0 {
			open = slices.Delete(open, i, i+1)
		}
	}
	h.trouble = rapid.SampledFrom([]float64{0, 0, 0.03, 0.2}).Draw(t, "trouble")
	h.crashes = rapid.SliceOfN(rapid.IntRange(1, 120), 0, mostCrashes).Draw(t, "crashes")
	return h
}

// albumLife is such a life while it's lived.
type albumLife struct {
	albumHistory
	journal *journaltest.Memory
	random  *rand.Rand

	mu      sync.Mutex
	wrong   []string
	process int            // counts lives
	running map[string]int // place → first update, in this life
	typed   map[string][]int
	order   map[string][]string // place → keys, as they were typed first
	done    map[string]bool     // handled
	failed  map[string]int
	absent  map[string]int
	gaveUp  map[int]bool
	seen    map[int]bool // parts that have come
	albums  map[string]*albumTimes
}

// albumTimes is when an album's parts came, and until when there was time for more.
type albumTimes struct {
	due    time.Time
	passed bool // due, in a life that's over
	split  bool // parts may have come too late
	parts  int
}

func (l *albumLife) complain(format string, args ...any) {
	l.wrong = append(l.wrong, fmt.Sprintf(format, args...))
}

func (h albumHistory) live() (wrong []string, whole int) {
	l := &albumLife{
		albumHistory: h, journal: journaltest.NewMemory(), random: rand.New(rand.NewPCG(h.seed, 2)),
		typed: map[string][]int{}, order: map[string][]string{}, done: map[string]bool{}, failed: map[string]int{}, absent: map[string]int{},
		gaveUp: map[int]bool{}, seen: map[int]bool{}, albums: map[string]*albumTimes{},
	}
	next := 0
	for _, steps := range append(slices.Clone(h.crashes), 0) {
		next = l.once(steps, next)
	}
	return l.wrong, l.check()
}

// once lives until a crash after so many steps; 0: until all is done.
func (l *albumLife) once(steps, next int) int {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	l.process++
	l.running = map[string]int{}
	for _, a := range l.albums {
		a.due = time.Now().Add(partsAfterStart)
	}
	p, me, taken := l.journal.Process(), l.process, 0
	ended := time.Time{}
	p.Hook = func(method string, done bool) error {
		l.mu.Lock()
		defer l.mu.Unlock()
		if !done && method != "try" && l.random.Float64() < l.trouble {
			return errors.New("the disk has a moment")
		}
		if taken++; steps == 0 || taken != steps {
			return nil
		}
		l.process++ // nothing of this life counts any more
		ended = time.Now()
		defer cancel()
		p.Kill()
		return journaltest.ErrKilled
	}
	q := intake.NewQueue(intake.QueueOptions{
		Journal: p, Decode: decodePart, Places: 3,
		Handle: func(ctx context.Context, e intake.Event) error { return l.handle(ctx, me, e) },
		GaveUp: func(e intake.Event) {
			l.mu.Lock()
			defer l.mu.Unlock()
			for _, n := range numbersOf(e) {
				l.gaveUp[n] = true
			}
		},
	})
	over := make(chan error)
	go func() { over <- q.Run(ctx) }()
	next = l.feed(ctx, q, next)
	if steps == 0 {
		time.Sleep(72 * time.Hour) // more than all of it can take, with a disk like that
		synctest.Wait()
		if s := q.Stats(); s.Waiting != 0 || s.Failing != 0 {
			l.complain("in the end the figures are %+v", s)
		}
	} else {
		time.Sleep([]time.Duration{0, time.Second, time.Minute}[l.rand(3)])
	}
	cancel()
	if err := <-over; err != nil {
		l.complain("the queue ended with %v", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.process++
	if ended.IsZero() {
		ended = time.Now()
	}
	for _, a := range l.albums {
		a.passed = a.passed || !ended.Before(a.due)
	}
	return next
}

func (l *albumLife) rand(n int) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.random.IntN(n)
}

// feed is the platform: it sends batches, some of it again, and goes on when it's
// told that they've come.
func (l *albumLife) feed(ctx context.Context, q *intake.Queue, next int) int {
	for next < len(l.parts) && ctx.Err() == nil {
		time.Sleep(l.parts[next].After)
		to, most := next+1, next+1+l.rand(4)
		for to < min(len(l.parts), most) && l.parts[to].After == 0 {
			to++
		}
		var batch []intake.Update
		for i := max(0, next-l.rand(3)); i < to; i++ {
			batch = append(batch, l.parts[i].update())
		}
		err := q.Keep(ctx, batch)
		l.came(l.parts[next:to])
		if err != nil {
			time.Sleep(time.Second)
			continue
		}
		next = to
	}
	return next
}

// came takes in when parts came, if they did.
func (l *albumLife) came(parts []part) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range parts {
		if _, known := l.journal.Outcome(strconv.Itoa(p.N)); !known || p.Album == "" || l.seen[p.N] {
			continue
		}
		l.seen[p.N] = true
		a := l.albums[p.Album]
		if a == nil {
			a = &albumTimes{}
			l.albums[p.Album] = a
		} else if a.passed || !time.Now().Before(a.due) {
			a.split = true
		}
		a.due = time.Now().Add(partsWithin)
	}
}

func (l *albumLife) handle(ctx context.Context, me int, e intake.Event) error {
	list := numbersOf(e)
	first := l.parts[list[0]]
	d := l.posts[first.post]
	if !l.begin(me, e, list) {
		return errors.New("nobody is there any more")
	}
	select {
	case <-time.After(d.takes):
	case <-ctx.Done():
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if me != l.process {
		return nil // a dead process says what it likes
	}
	delete(l.running, first.Place)
	fails := l.absent[e.Key] < d.absent || l.failed[e.Key] < d.fails || d.poison
	if !d.poison && (!fails || d.typed) {
		l.types(e, list)
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case l.absent[e.Key] < d.absent:
		l.absent[e.Key]++
		return fmt.Errorf("handle: %w", sessions.ErrUnavailable)
	case fails:
		l.failed[e.Key]++
		return errors.New("handle: no")
	}
	l.done[e.Key] = true
	return nil
}

// types types an event, once per key, as the Manager does.
func (l *albumLife) types(e intake.Event, list []int) {
	if _, typed := l.typed[e.Key]; typed {
		return
	}
	l.typed[e.Key] = list
	l.order[e.Place.Chat] = append(l.order[e.Place.Chat], e.Key)
}

// begin checks that an event may be handled now.
func (l *albumLife) begin(me int, e intake.Event, list []int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if me != l.process {
		return false
	}
	first := l.parts[list[0]]
	if other, busy := l.running[first.Place]; busy {
		l.complain("update %d is handled while update %d of its place is", first.N, other)
	}
	l.running[first.Place] = first.N
	said := e.Action.(intake.Said)
	var words []string
	for _, n := range list {
		p := l.parts[n]
		if p.post != first.post {
			l.complain("updates %d and %d came to be one", first.N, n)
		}
		if p.Caption != "" {
			words = append(words, p.Caption)
		}
		if o, _ := l.journal.Outcome(strconv.Itoa(n)); o != "" {
			l.complain("update %d is handled again, though it was %s", n, o)
		}
	}
	if !slices.IsSorted(list) || len(list) > mostParts || e.Message != strconv.Itoa(first.N) || said.Text != strings.Join(words, "\n") || said.Album != "" {
		l.complain("updates %v became %+v", list, e)
	}
	if was, typed := l.typed[e.Key]; typed && !slices.Equal(was, list) && (!l.done[e.Key] || len(list) >= len(was)) {
		l.complain("%s was made of %v, and is now of %v", e.Key, was, list)
	}
	return true
}

// check returns how many albums came within their time; each was one input.
func (l *albumLife) check() (whole int) {
	times, inputs := map[int]int{}, map[string]int{}
	for _, list := range l.typed {
		for _, n := range list {
			times[n]++
		}
		inputs[l.parts[list[0]].Album]++
	}
	for _, p := range l.parts {
		o, _ := l.journal.Outcome(strconv.Itoa(p.N))
		poison := l.posts[p.post].poison
		switch {
		case poison && (o != intake.SetAside || !l.gaveUp[p.N]):
			l.complain("the poisoned update %d was %q, told: %v", p.N, o, l.gaveUp[p.N])
		case !poison && (o != intake.Handled || times[p.N] != 1):
			l.complain("update %d was %q, and typed %d times", p.N, o, times[p.N])
		}
		if p.Album != "" {
			l.albums[p.Album].parts++
		}
	}
	for album, a := range l.albums {
		if a.split || a.parts > mostParts || inputs[album] == 0 {
			continue
		}
		if whole++; inputs[album] != 1 {
			l.complain("%s came within its time, and was %d inputs", album, inputs[album])
		}
	}
	for place, keys := range l.order {
		first := func(a, b string) int { return l.typed[a][0] - l.typed[b][0] }
		if !slices.IsSortedFunc(keys, first) {
			l.complain("place %s was handled in the order %v", place, keys)
		}
	}
	return whole
}

func TestAlbumHistories(t *testing.T) {
	lives, whole := 0, 0
	drawtest.CheckTimes(t, drawtest.Times(10_000, 400, 80), func(rt *rapid.T) {
		h := drawAlbumHistory(rt)
		var wrong []string
		synctest.Test(t, func(*testing.T) {
			var n int
			wrong, n = h.live()
			lives, whole = lives+1, whole+n
		})
		for _, w := range wrong {
			rt.Error(w)
		}
	})
	if whole < lives {
		t.Errorf("%d albums in %d histories came within their time: too few to show anything", whole, lives)
	}
	t.Logf("%d albums in %d histories came within their time", whole, lives)
}
