package platformtest

import (
	"context"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
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
	Desk  *Desk
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
	s.Desk = &Desk{Chat: chat, Session: sessions.Session{ID: "pb_1", Name: "agent", Cwd: filepath.Join(s.dir, "home"), State: sessions.StateWorking}}
	if err := os.Mkdir(s.Desk.Session.Cwd, 0o700); err != nil {
		t.Fatal(err)
	}
	return s
}

// Target is what's besieged.
type Target struct {
	// Side is the platform. Without a Reader the test puts updates into the queue itself.
	Side
	Sessions inbound.Sessions // Desk, and what else the platform's updates may ask of it
	Hub      inbound.Hub
	Boss     string // who may do everything: "discord:…", say
	Chat     adapters.Target
	Logger   *slog.Logger
}

// Begin opens the database and has the target run on it.
func (s *Siege) Begin(t *testing.T, target func(db *store.Store) Target) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	var err error
	if s.DB, err = storetest.Open(ctx, filepath.Join(s.db, "db")); err != nil {
		t.Fatal(err)
	}
	on := target(s.DB)
	s.In, err = inbound.New(inbound.Options{
		Platforms: []intake.Platform{on.Platform}, Sessions: on.Sessions, Hub: on.Hub, Store: s.DB, StateDir: filepath.Join(s.dir, "state"),
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
