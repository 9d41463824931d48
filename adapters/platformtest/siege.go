package platformtest

import (
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/access"
	"github.com/panebridge/panebridge/adapters/inbound"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/internal/store"
	"github.com/panebridge/panebridge/internal/store/storetest"
	"github.com/panebridge/panebridge/sessions"
)

// grown is how many bytes the heap may grow by while most updates come.
const grown = 8 << 20

// Siege is a platform's inbound side that hostile updates come to. Nobody who isn't let in
// may have anything typed, fetched or written by it, whatever they send; those who are let
// in are served all the while, in order and once; and memory doesn't grow with them.
type Siege struct {
	Desk  *SessionDesk
	DB    *store.Store // from Begin on
	In    *inbound.Inbound
	Queue *intake.Queue

	count       int // updates
	dir, db     string
	early, late uint64 // heaps, in bytes
	cancel      context.CancelFunc
	children    sync.WaitGroup
}

// NewSiege returns one in folders made outside of the bubble. chat is the one that's known.
func NewSiege(t *testing.T, chat string) *Siege {
	t.Helper()
	s := &Siege{count: drawtest.Times(100_000, 5000, 1000), dir: t.TempDir(), db: t.TempDir()}
	s.Desk = &SessionDesk{Chat: chat, Session: sessions.Session{ID: "pb_1", Name: "agent", Cwd: filepath.Join(s.dir, "home"), State: sessions.StateWorking}}
	if err := os.Mkdir(s.Desk.Session.Cwd, 0o700); err != nil {
		t.Fatal(err)
	}
	return s
}

// SiegeTarget is what's besieged.
type SiegeTarget struct {
	// Side is the platform. Without a Reader the test puts updates into the queue itself.
	Side
	Sessions inbound.Sessions // Desk, and what else the platform's updates may ask of it
	Hub      inbound.Hub
	Boss     string // who may do everything: "discord:…", say
	Chat     adapters.Target
	Logger   *slog.Logger
}

// Begin opens the database and has the target run on it.
func (s *Siege) Begin(t *testing.T, target func(db *store.Store) SiegeTarget) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	var err error
	if s.DB, err = storetest.Open(ctx, filepath.Join(s.db, "db")); err != nil {
		t.Fatal(err)
	}
	on := target(s.DB)
	s.In, err = inbound.New(inbound.Options{
		Platforms: []intake.InboundAdapter{on.Platform}, Sessions: on.Sessions, Hub: on.Hub, Store: s.DB, StateDir: filepath.Join(s.dir, "state"),
		Access: access.Config{Roles: map[string]access.Roles{on.Boss: {access.Admin: true}}, Chats: []adapters.Target{on.Chat}},
		Logger: on.Logger,
	})
	if err == nil {
		err = s.In.Load(ctx)
	}
	if err != nil {
		t.Fatal(err)
	}
	s.Queue = intake.NewQueue(intake.QueueOptions{
		Journal: s.DB.Journal(on.Name), Decode: on.Decode, Handle: s.In.Handle,
		GaveUp: func(e intake.Event) { t.Errorf("gave %+v up", e) },
	})
	all := []func(context.Context) error{s.Queue.Run, s.In.Run}
	if on.Reader != nil {
		all = append(all, on.Reader(s.Queue, s.In).Run)
	}
	for _, run := range all {
		s.children.Go(func() { _ = run(ctx) }) // what was under way may fail when it ends
	}
}

// Rage sends all updates, a hundred a minute.
func (s *Siege) Rage(hundred func()) {
	for sent := 0; sent < s.count; sent += 100 {
		hundred()
		time.Sleep(time.Minute)
		synctest.Wait()
		if sent == s.count/5 {
			s.early = heap()
		}
	}
	s.late = heap()
}

// End ends the target, and looks what the attacker got done.
func (s *Siege) End(t *testing.T, x *Attacker) {
	t.Helper()
	figures := s.Queue.Stats()
	t.Logf("%d updates: %+v, %d strangers, heap from %d to %d kB", s.count, figures, s.In.Strangers(), s.early>>10, s.late>>10)
	s.cancel()
	s.children.Wait()
	if err := s.DB.Close(); err != nil {
		t.Error(err)
	}
	typed := s.Desk.Typed()
	if len(typed) != len(x.Honest) {
		t.Errorf("%d texts were typed, of %d", len(typed), len(x.Honest))
	}
	for i, text := range typed {
		if i < len(x.Honest) && !strings.HasPrefix(text, x.Honest[i]) {
			t.Fatalf("typed %q, want %q", text, x.Honest[i])
		}
	}
	if n := s.Desk.Fetched.Load(); n != x.Files {
		t.Errorf("%d files were fetched, of %d", n, x.Files)
	}
	s.lookAtFiles(t, x)
	if figures.Waiting != 0 || figures.Failing != 0 || figures.Failures != 0 || s.In.Strangers() < uint64(s.count)/10 {
		t.Errorf("the figures are %+v, %d strangers", figures, s.In.Strangers())
	}
	if s.late > s.early+grown {
		t.Errorf("the heap grew from %d to %d bytes", s.early, s.late)
	}
}

// lookAtFiles wants the boss's files alone, where they belong.
func (s *Siege) lookAtFiles(t *testing.T, x *Attacker) {
	t.Helper()
	files := 0
	err := filepath.WalkDir(s.dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			if !strings.HasPrefix(path, filepath.Join(s.Desk.Session.Cwd, ".panebridge")+"/") {
				t.Errorf("%s was written", path)
			}
			files++
		}
		return err
	})
	if err != nil || files != int(x.Files)+1 && x.Files > 0 { // and a .gitignore
		t.Errorf("%d files were written, of %d: %v", files, x.Files, err)
	}
}

// heap is how many bytes are in use.
func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// Object is one of JSON.
type Object = map[string]any

// Attacker is what those have in common who make updates that should change nothing, and
// now and then one of the boss's, which should.
type Attacker struct {
	*rand.Rand
	Next int64 // the number of the newest update
	// What the boss has written, in order, and how many files the boss sent.
	Honest []string
	Files  int64
}

// NewAttacker returns one who does the same each time.
func NewAttacker() Attacker { return Attacker{Rand: rand.New(rand.NewPCG(1, 2))} }

// Pick is one of a list.
func (a *Attacker) Pick(list ...any) any { return list[a.IntN(len(list))] }

// Text is what somebody may write to do harm on any platform, or one of more.
func (a *Attacker) Text(more ...any) any {
	return a.Pick(append(more,
		"rm -rf /", "/new claude", "/close", "/keys C-c", "//x", "", "\x00\x1b[31m\u202e", strings.Repeat("😀", 2000), "/send ../../etc/passwd",
	)...)
}

// FileName is what somebody may call a file to do harm.
func (a *Attacker) FileName() any {
	return a.Pick("../../../../tmp/x", "..", "/etc/passwd", "C:\\x", ".bashrc", "\x00", strings.Repeat("x", 5000), "a/../../b", "-rf", "$(reboot)", "con\u202etxt.exe")
}

// Button is what a forged button may carry.
func (a *Attacker) Button() any {
	return a.Pick("o:0123456789abcdef", "o:"+fmt.Sprintf("%016x", a.Uint64()), "o:", "approve", strings.Repeat("x", 100_000), "o:' OR 1=1 --")
}

// Wish is the boss's next text, and whether a file comes with it.
func (a *Attacker) Wish() (text string, file bool) {
	text = fmt.Sprintf("wish %d", a.Next)
	a.Honest = append(a.Honest, text)
	if file = a.IntN(4) == 0; file {
		a.Files++
	}
	return text, file
}

// Distorted changes a value somewhere in the tree of an update into one of another kind, or
// into text.
func (a *Attacker) Distorted(v, text any) any {
	switch x := v.(type) {
	case Object:
		if keys := slices.Sorted(maps.Keys(x)); len(keys) > 0 && a.IntN(20) > 0 {
			k := keys[a.IntN(len(keys))]
			x[k] = a.Distorted(x[k], text)
			return x
		}
	case []any:
		if len(x) > 0 && a.IntN(20) > 0 {
			i := a.IntN(len(x))
			x[i] = a.Distorted(x[i], text)
			return x
		}
	}
	return a.Pick(nil, true, -1, 0, 1e300, int64(1)<<62, "", strings.Repeat("[", 100_000), []any{}, Object{}, nested(2000), "\x00", "../../x", text, []any{nil, nil})
}

func nested(depth int) any {
	var v any
	for range depth {
		v = []any{v}
	}
	return v
}
