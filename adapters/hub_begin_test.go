package adapters_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/adaptertest"
	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/sessions"
)

// A daemon is killed at any moment of a session's beginning: before its bindings are made, between
// two of them, and between them and what it keeps of that. Whoever was to see the session sees all of
// it, one that has ended meanwhile, too; a chat that a rule names later gets nothing of what was
// before, and neither does one of a session that an earlier version began.
func TestAKillAtASessionsBeginningLosesNoneOfItsLines(t *testing.T) {
	for seed := range drawtest.Seeds(t, drawtest.Times(5000, 300, 60)) {
		synctest.Test(t, func(t *testing.T) {
			b := &beginnings{
				rig: newRig(t, adaptertest.Options{}), random: rand.New(rand.NewPCG(seed, 21)),
				all: []string{"-1", "-2", "-3"}, shown: map[string]map[string]bool{},
			}
			b.live()
		})
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// beginnings are sessions that begin at a time at which the daemon may be killed.
type beginnings struct {
	*rig
	random *rand.Rand
	all    []string // chats
	rules  []string // those that a rule names for every session
	begun  []*beginning
	lines  int
	shown  map[string]map[string]bool // whether a line is to be shown in a chat; not there: it may be
}

// beginning is a session, and the chats that show it.
type beginning struct {
	id    sessions.ID
	chats []string
	ended bool
}

func (b *beginnings) live() {
	b.draw()
	for range b.random.IntN(3) { // an earlier version has them
		b.begin(nil)
	}
	b.start()
	b.bindAll(nil)
	for range 2 + b.random.IntN(6) {
		switch b.random.IntN(5) {
		case 0:
			b.begin(b.rules)
			b.pass(time.Minute)
		case 1, 2:
			b.beginAndDie()
		case 3:
			b.draw()
			b.must(b.reload(b.rig.rules))
			b.bindAll(nil)
		case 4:
			b.stop()
			b.draw()
			b.start()
			b.bindAll(nil)
		}
		for _, s := range b.begun {
			b.says(s)
		}
		b.pass(3 * time.Minute)
	}
	b.pass(time.Hour)
	b.compare()
}

// draw has other rules, mostly.
func (b *beginnings) draw() {
	b.rules, b.rig.rules = nil, nil
	for _, chat := range b.all {
		if b.random.IntN(2) == 0 {
			b.rules = append(b.rules, chat)
			b.rig.rules = append(b.rig.rules, rule(b.T, "*", "a:"+chat))
		}
	}
}

// bindAll has the sessions be shown where the rules say, from now on. Those of fresh ones were
// begun and not taken up.
func (b *beginnings) bindAll(fresh []sessions.ID) {
	for _, s := range b.begun {
		if slices.Contains(fresh, s.id) {
			for line := range b.shown {
				if strings.HasPrefix(line, string(s.id)+":") {
					for _, chat := range b.rules {
						b.shown[line][chat] = true
					}
				}
			}
		}
		if !s.ended {
			s.chats = b.rules
		}
	}
}

// begin begins a session, adopted or not, that's shown in these chats.
func (b *beginnings) begin(chats []string) *beginning {
	b.Helper()
	s := &beginning{id: sessions.ID(fmt.Sprintf("pb_%012d", len(b.begun))), chats: chats}
	b.begun = append(b.begun, s)
	begin := b.house.Begin
	if b.random.IntN(2) == 0 {
		begin = b.house.BeginOwned
	}
	if err := begin(s.id, "agent-"+string(s.id)); err != nil { // nobody waits: its first lines come at once
		b.Fatal(err)
	}
	for range b.random.IntN(3) {
		b.says(s)
	}
	return s
}

// says has a session say something.
func (b *beginnings) says(s *beginning) {
	b.Helper()
	if s.ended {
		return
	}
	b.lines++
	line := fmt.Sprintf("%s:%d.", s.id, b.lines)
	b.shown[line] = map[string]bool{}
	for _, chat := range b.all {
		b.shown[line][chat] = slices.Contains(s.chats, chat)
	}
	if err := b.house.Print(s.id, adaptertest.Output{Lines: []string{line}}); err != nil {
		b.Fatal(err)
	}
}

// beginAndDie has the daemon be killed as a session begins, and the next start.
func (b *beginnings) beginAndDie() {
	b.Helper()
	b.diesBefore = b.random.IntN(2) == 0
	at := b.random.Int64N(int64(len(b.rules)) + 3)
	if at == 0 {
		b.process.Kill() // in front of everything
	}
	b.dies.Store(at)
	s := b.begin(b.rules)
	synctest.Wait()
	b.says(s)
	if b.random.IntN(4) == 0 {
		if err := b.house.End(s.id, string(s.id)+" has ended"); err != nil {
			b.Fatal(err)
		}
		s.ended = true
	}
	synctest.Wait()
	b.process.Kill()
	b.stop()
	b.dies.Store(0)
	if b.random.IntN(3) == 0 {
		b.draw()
	}
	for line, in := range b.shown { // what a chat hasn't got when its rule goes, it doesn't get
		if strings.HasPrefix(line, string(s.id)+":") {
			maps.DeleteFunc(in, func(chat string, is bool) bool { return is && !slices.Contains(b.rules, chat) })
		}
	}
	fresh, err := b.backend.NewSessions(context.Background())
	if err != nil {
		b.Fatal(err)
	}
	b.start()
	b.bindAll(fresh)
}

// compare holds what the chats show against what they're to show.
func (b *beginnings) compare() {
	for _, chat := range b.all {
		text := strings.Join(b.texts("a", chat), "\n")
		for line, in := range b.shown {
			want, sure := in[chat]
			if got := strings.Contains(text, line); sure && got != want {
				b.Errorf("chat %s shows %s: %v, want %v:\n%s", chat, line, got, want, text)
			}
		}
	}
	if fresh, err := b.backend.NewSessions(context.Background()); err != nil || len(fresh) > 0 {
		b.Errorf("in the end %v are new, %v", fresh, err)
	}
}

var _ adapters.Store = (*fullStore)(nil)
