package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/internal/inbox"
	"github.com/panebridge/panebridge/polling"
	"github.com/panebridge/panebridge/sessions"
)

// vanish takes the database's files away in one of the ways that people do: it says which.
func vanish(rt *rapid.T, path string, logGoes func()) string {
	way := rapid.SampledFrom([]string{"", "-wal", "-shm and database", "all", "folder", "renamed"}).Draw(rt, "what goes")
	var err error
	switch way {
	case "", "-wal":
		if way != "" {
			logGoes()
		}
		err = os.Remove(path + way)
	case "-shm and database":
		err = errors.Join(os.Remove(path+"-shm"), os.Remove(path))
	case "all":
		err = removeAll(path)
	case "folder":
		err = os.RemoveAll(filepath.Dir(path))
	default:
		err = os.Rename(path, path+".bak")
	}
	if err != nil {
		rt.Fatal(err)
	}
	return way
}

// The database's files are deleted while sessions print: all that was acknowledged is in the file that's
// written in their place, whether the daemon sees it or ends first.
func TestADeletedDatabaseIsWrittenAnew(t *testing.T) {
	drawtest.CheckTimes(t, drawtest.Times(100, 20, 20), func(rt *rapid.T) {
		folder, err := os.MkdirTemp(t.TempDir(), "")
		if err != nil {
			rt.Fatal(err)
		}
		path := filepath.Join(folder, "state", "pb.db")
		if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
			rt.Fatal(err)
		}
		s, err := Open(t.Context(), path, Options{})
		if err != nil {
			rt.Fatal(err)
		}
		defer func() { _ = s.Close() }()
		ids := []sessions.ID{"pb_1", "pb_2", "pb_3"}
		heads := map[sessions.ID]int64{}
		for _, id := range ids {
			if err := s.PutSession(t.Context(), sessions.Session{ID: id, Name: string(id)}); err != nil {
				rt.Fatal(err)
			}
		}
		mail, err := OpenInbox(t.Context(), path)
		if err != nil {
			rt.Fatal(err)
		}
		defer func() { _ = mail.Close() }()
		if rapid.Bool().Draw(rt, "nobody waits at the entrance") { // as where a busy machine makes all too late
			s.write.gate.wait, mail.gate.wait = 0, 0
		}
		var logGone atomic.Bool
		var mu sync.Mutex
		var wg sync.WaitGroup
		stop := make(chan struct{})
		for _, id := range ids {
			wg.Go(func() {
				for n := 0; ; n++ {
					select {
					case <-stop:
						return
					default:
					}
					a, err := s.Append(t.Context(), polling.Batch{Session: id, Lines: []sessions.Line{{Kind: sessions.KindPane, Text: fmt.Sprint(n)}}})
					if err != nil {
						t.Errorf("%s: %v", id, err)
						return
					}
					mu.Lock()
					heads[id] = a.Head
					mu.Unlock()
					// Who opens the database without its log reads nonsense until it's written anew.
					if _, err := s.Read(t.Context(), id, 0, 5); err != nil && !logGone.Load() {
						t.Errorf("read %s: %v", id, err)
						return
					}
				}
			})
		}
		var mailed atomic.Int64
		wg.Go(func() {
			for ; ; mailed.Add(1) {
				select {
				case <-stop:
					return
				default:
				}
				if err := mail.AddMail(t.Context(), []inbox.Mail{{ID: fmt.Sprint("m", mailed.Load()), From: "pb_1", To: "pb_2", Text: "t"}}); err != nil {
					t.Errorf("mail %d: %v", mailed.Load(), err)
					return
				}
			}
		})
		for range rapid.IntRange(1, 3).Draw(rt, "times") {
			time.Sleep(time.Duration(rapid.IntRange(0, 20).Draw(rt, "ms")) * time.Millisecond)
			way := vanish(rt, path, func() { logGone.Store(true) })
			if err := s.Health(t.Context()); !errors.Is(err, ErrMissing) {
				rt.Fatalf("%q: its health is %v", way, err)
			}
			if rapid.IntRange(0, 3).Draw(rt, "the daemon ends first") == 0 {
				break
			}
			if err := s.Rescue(t.Context()); err != nil {
				rt.Fatalf("%q: %v", way, err)
			}
			if err := s.Health(t.Context()); err != nil && !errors.Is(err, ErrLittleRoom) {
				rt.Fatalf("%q: after the rescue its health is %v", way, err)
			}
			for before := mailed.Load(); mailed.Load() < before+2 && !t.Failed(); { // who sends mail has opened the new one
				time.Sleep(time.Millisecond)
			}
		}
		close(stop)
		wg.Wait()
		if err := errors.Join(s.Keep(t.Context()), s.Close()); err != nil {
			rt.Fatal(err)
		}
		again, err := Open(t.Context(), path, Options{})
		if err != nil {
			rt.Fatal(err)
		}
		defer func() { _ = again.Close() }()
		if err := again.Check(t.Context()); err != nil {
			rt.Fatal(err)
		}
		var mails int
		if err := again.write.conn.QueryRowContext(t.Context(), "SELECT count(*) FROM mail").Scan(&mails); err != nil || mails != int(mailed.Load()) {
			rt.Fatalf("%d mails were sent, and there are %d, %v", mailed.Load(), mails, err)
		}
		for _, id := range ids {
			end, err := again.End(t.Context(), id)
			if err != nil || end.Line != heads[id] {
				rt.Fatalf("%s: %d lines were acknowledged, and there are %d, %v", id, heads[id], end.Line, err)
			}
		}
	})
}

// Another file that takes the database's name isn't written over: what's held is kept beside it.
func TestAnotherDatabaseIsNotWrittenOver(t *testing.T) {
	path := dbPath(t)
	s := mustOpen(t, path, Options{})
	mustPut(t, s, "pb_1")
	mustAppend(t, s, polling.Batch{Session: "pb_1", Lines: []sessions.Line{{Kind: sessions.KindPane, Text: "held"}}})
	const other = "somebody else's"
	if err := errors.Join(removeAll(path), os.WriteFile(path, []byte(other), 0o600)); err != nil {
		t.Fatal(err)
	}
	if err := s.Health(t.Context()); !errors.Is(err, ErrReplaced) {
		t.Errorf("its health is %v", err)
	}
	if err := s.Rescue(t.Context()); !errors.Is(err, ErrReplaced) || IsRescuable(err) {
		t.Errorf("a rescue says %v", err)
	}
	if err := s.Health(t.Context()); !errors.Is(err, ErrReplaced) || IsRescuable(err) || !strings.Contains(err.Error(), "-kept-") {
		t.Errorf("then its health is %v", err)
	}
	mustAppend(t, s, polling.Batch{Session: "pb_1", Lines: []sessions.Line{{Kind: sessions.KindPane, Text: "later"}}})
	held := func() int { // as whoever looks after the process was killed
		t.Helper()
		all, err := filepath.Glob(path + "-kept-*Z")
		if err != nil || len(all) != 1 {
			t.Fatalf("kept is %v, %v", all, err)
		}
		out, err := mustOpen(t, all[0], Options{}).Read(t.Context(), "pb_1", 0, 10)
		if err != nil {
			t.Fatal(err)
		}
		return len(out.Lines)
	}
	if n := held(); n != 2 {
		t.Errorf("before the end %d lines are in a file with a name", n)
	}
	if err := s.Keep(t.Context()); !errors.Is(err, ErrReplaced) || !strings.Contains(err.Error(), "-kept-") {
		t.Errorf("before it's closed it says %v", err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != other {
		t.Errorf("there's %q, %v", got, err)
	}
	kept, err := filepath.Glob(path + "-kept-*Z")
	if err != nil || len(kept) != 1 {
		t.Fatalf("kept is %v, %v", kept, err)
	}
	again := mustOpen(t, kept[0], Options{})
	if out, err := again.Read(t.Context(), "pb_1", 0, 10); err != nil || len(out.Lines) != 2 {
		t.Errorf("it has %+v, %v", out.Lines, err)
	}
}
