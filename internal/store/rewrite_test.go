package store

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/internal/inbox"
	"github.com/panebridge/panebridge/polling"
	"github.com/panebridge/panebridge/sessions"
)

// rewriteChildEnv makes the test binary append to the database in its folder, and write it anew where that helps, until
// it's killed.
const rewriteChildEnv = "PANEBRIDGE_TEST_REWRITE_CHILD"

// marker is in each line, to be forgotten.
const marker = "xyzzy-marker-"

func rewriteChild() error {
	ctx := context.Background()
	s, err := Open(ctx, "panebridge.db", Options{})
	if err != nil {
		return err
	}
	if err := s.PutSession(ctx, sessions.Session{ID: "pb_1"}); err != nil {
		return err
	}
	go func() {
		for ; ; time.Sleep(time.Millisecond) {
			if found := s.Health(ctx); IsRescuable(found) {
				_ = s.Rescue(ctx) // tried again
			}
		}
	}()
	for {
		a, err := s.Append(ctx, polling.Batch{Session: "pb_1", Lines: []sessions.Line{{Kind: sessions.KindPane, Text: marker + strings.Repeat("x", 200)}}})
		switch {
		case err == nil:
			if _, err := fmt.Fprintln(os.Stdout, a.Head); err != nil {
				return err
			}
		case !errors.Is(err, sessions.ErrUnavailable):
			return err
		}
	}
}

// copies of a database that's written anew.
var copies = []string{newSuffix, wholeSuffix, salvagedSuffix}

// mustBeAlone fails unless beside the database there's nothing but what's always there, and what's allowed besides.
func mustBeAlone(t *testing.T, path string, besides ...string) {
	t.Helper()
	all, err := filepath.Glob(path + "*")
	if err != nil {
		t.Fatal(err)
	}
	usual := append(besides, "", walSuffix, "-shm", lineSuffix, roomSuffix)
	for _, one := range all {
		if suffix := strings.TrimPrefix(one, path); !slices.ContainsFunc(usual, func(u string) bool {
			return u == suffix || u != "" && strings.HasPrefix(suffix, "-damaged") && u == "-damaged"
		}) {
			t.Errorf("there's %s", one)
		}
	}
}

// mustForget fails if a marker is left in any file once the session is forgotten.
func mustForget(t *testing.T, s *Store) {
	t.Helper()
	if err := errors.Join(s.DropSession(t.Context(), "pb_1"), s.Erase(t.Context())); err != nil {
		t.Fatal(err)
	}
	all, err := filepath.Glob(s.path + "*")
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range all {
		if text, err := os.ReadFile(one); err != nil || bytes.Contains(text, []byte(marker)) {
			t.Errorf("%s has what's forgotten, or can't be read: %v", one, err)
		}
	}
}

// openAfterwards opens a database as the daemon does.
func openAfterwards(t *testing.T, path string) (s *Store, lost bool) {
	t.Helper()
	if err := FinishRewrite(path); err != nil {
		t.Fatal(err)
	}
	lost = IsLost(path)
	s, err := Open(t.Context(), path, Options{})
	if unsound := Unsound(path); unsound != nil || errors.Is(err, ErrDamaged) {
		if s != nil {
			_ = s.Close()
		}
		if _, err := Salvage(t.Context(), path, slog.New(slog.DiscardHandler)); err != nil {
			t.Fatal(err)
		}
		s, err = Open(t.Context(), path, Options{})
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s, lost
}

// A daemon is killed at any moment while it writes the database anew: once its copy is whole nothing that was
// acknowledged is lost, and no copy is left beside the database, in which what's forgotten would be.
func TestAKillWhileTheDatabaseIsWrittenAnew(t *testing.T) {
	rounds := 20
	if drawtest.Stressed() {
		rounds = 500
	}
	saved := 0
	for seed := range drawtest.Seeds(t, rounds) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			if killRewrite(t, rand.New(rand.NewPCG(seed, 1))) {
				saved++
			}
		})
	}
	t.Logf("of %d kills %d found a whole copy", rounds, saved)
	if saved == 0 {
		t.Error("no kill found a whole copy")
	}
}

// killRewrite reports whether the copy was whole by then.
func killRewrite(t *testing.T, random *rand.Rand) (whole bool) {
	t.Helper()
	path := dbPath(t)
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Dir, cmd.Env = filepath.Dir(path), append(os.Environ(), rewriteChildEnv+"=1")
	cmd.Stderr = os.Stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var told atomic.Int64
	var reading sync.WaitGroup
	reading.Go(func() {
		lines := bufio.NewReader(stdout)
		for {
			var n int64
			text, err := lines.ReadString('\n')
			if err != nil {
				return
			}
			if _, err := fmt.Sscan(text, &n); err == nil {
				told.Store(n)
			}
		}
	})
	for enough := int64(50 + random.IntN(400)); told.Load() < enough; {
		time.Sleep(time.Millisecond)
	}
	before, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	switch random.IntN(3) {
	case 0:
		err = os.Remove(path)
	case 1:
		err = os.Remove(path + walSuffix)
	default:
		err = os.Truncate(path+walSuffix, walHeaderBytes+3000)
	}
	if err != nil {
		t.Fatal(err)
	}
	isNew := func() bool { now, err := os.Lstat(path); return err == nil && !os.SameFile(before, now) }
	there := func(suffix string) bool { _, err := os.Lstat(path + suffix); return err == nil }
	moment := random.IntN(4)
	for began := time.Now(); time.Since(began) < time.Minute; {
		if moment == 0 && there(newSuffix) || moment == 1 && there(wholeSuffix) || moment == 2 && !there("") || isNew() {
			break
		}
	}
	time.Sleep(time.Duration(random.IntN(3)*random.IntN(1500)) * time.Microsecond)
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	reading.Wait()
	whole = isNew() || there(wholeSuffix)
	s, _ := openAfterwards(t, path)
	if whole {
		end, err := s.End(t.Context(), "pb_1")
		if err != nil || end.Line < told.Load() {
			t.Errorf("%d lines were acknowledged, and there are %d, %v", told.Load(), end.Line, err)
		}
		mustBeAlone(t, path)
		mustForget(t, s)
		return true
	}
	mustBeAlone(t, path, "-damaged") // what was lost was so before
	return false
}

// What a kill leaves between any two steps of writing the database anew: the next start, or a command, has all that's
// whole, and no copy is left.
func TestWhatARewriteHasLeftIsFinished(t *testing.T) {
	const part, whole = "part", "whole"
	for name, tt := range map[string]struct {
		path   string // what has the database's name: "": nothing
		copies map[string]string
		lines  int64
		lost   bool
	}{
		"a copy that's begun, of one that was deleted":    {"", map[string]string{newSuffix: part}, 0, true},
		"a copy that's begun, of one whose log is gone":   {part, map[string]string{newSuffix: part}, 1, false},
		"a copy that wasn't needed":                       {whole, map[string]string{newSuffix: part}, 2, false},
		"a whole copy, of one that was deleted":           {"", map[string]string{wholeSuffix: whole}, 2, false},
		"a whole copy, of one whose log is gone":          {part, map[string]string{wholeSuffix: whole}, 2, false},
		"a whole copy, and another that was begun before": {part, map[string]string{wholeSuffix: whole, newSuffix: part}, 2, false},
		"what's saved, of one that has its name":          {whole, map[string]string{salvagedSuffix: part}, 2, false},
		"what's saved, of one that's kept":                {"", map[string]string{salvagedSuffix: whole}, 2, false},
	} {
		for _, by := range []string{"the daemon", "a command"} {
			t.Run(name+", by "+by, func(t *testing.T) {
				ctx, path := t.Context(), dbPath(t)
				put := func(suffix, what string) {
					ctx := t.Context()
					s, err := Open(ctx, path+"-source", Options{})
					if err != nil {
						t.Fatal(err)
					}
					mustPut(t, s, "pb_1")
					for range map[string]int{part: 1, whole: 2}[what] {
						mustAppend(t, s, polling.Batch{Session: "pb_1", Lines: []sessions.Line{{Kind: sessions.KindPane, Text: marker}}})
					}
					held, err := s.write.copyTo(ctx, path+suffix)
					if err := errors.Join(err, held.Close(), s.Close(), removeAll(path+"-source"), os.Remove(path+"-source"+lineSuffix), os.Remove(path+"-source"+roomSuffix)); err != nil {
						t.Fatal(err)
					}
				}
				if tt.path != "" {
					put("", tt.path)
				}
				for suffix, what := range tt.copies {
					put(suffix, what)
				}
				if err := os.WriteFile(path+lineSuffix, nil, 0o600); err != nil { // it was used
					t.Fatal(err)
				}
				if by == "a command" {
					box, err := OpenInbox(ctx, path)
					if err != nil {
						t.Fatal(err)
					}
					if err := errors.Join(box.AddMail(ctx, []inbox.Mail{{ID: "m", From: "pb_1", To: "pb_1", Text: "acknowledged"}}), box.Close()); err != nil {
						t.Fatal(err)
					}
				}
				s, lost := openAfterwards(t, path)
				if want := tt.lost && by == "the daemon"; lost != want {
					t.Errorf("it's said that all is lost: %t", lost)
				}
				end, err := s.End(ctx, "pb_1")
				if tt.lines == 0 {
					if !errors.Is(err, sessions.ErrUnknown) {
						t.Errorf("there's %+v, %v", end, err)
					}
				} else if err != nil || end.Line != tt.lines {
					t.Errorf("there are %d lines, %v; want %d", end.Line, err, tt.lines)
				}
				var mails int
				if err := s.write.conn.QueryRowContext(ctx, "SELECT count(*) FROM mail").Scan(&mails); err != nil || (mails == 1) != (by == "a command") {
					t.Errorf("there are %d mails, %v", mails, err)
				}
				mustBeAlone(t, path)
				mustForget(t, s)
			})
		}
	}
}

// A copy that somebody is at work on is nobody else's to finish.
func TestACopyThatIsBeingWrittenIsLeftAlone(t *testing.T) {
	path := dbPath(t)
	for _, suffix := range copies {
		held, err := beginRewrite(path + suffix)
		if err != nil {
			t.Fatal(err)
		}
		if err := FinishRewrite(path); err != nil {
			t.Fatal(err)
		}
		if !isAt(held, path+suffix) {
			t.Errorf("%s was taken away", suffix)
		}
		_ = held.Close()
	}
}
