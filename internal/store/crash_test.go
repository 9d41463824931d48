package store

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/polling"
	"github.com/panebridge/panebridge/sessions"
)

const (
	// crashChildEnv makes the test binary append to the database it names until it's killed.
	crashChildEnv = "PANEBRIDGE_TEST_CRASH_CHILD"
	crashMaxLines = 300
)

var crashSessions = []sessions.ID{"pb_1", "pb_2", "pb_3"}

// crashChild appends lines that hold their own number, with the number of the
// newest as engine state, and says how far it was told it had got.
func crashChild(path string) error {
	ctx := context.Background()
	s, err := Open(ctx, path, Options{LogMaxLines: crashMaxLines})
	if err != nil {
		return err
	}
	failed := make(chan error)
	for _, id := range crashSessions {
		if err := s.PutSession(ctx, sessions.Session{ID: id}); err != nil {
			return err
		}
		engine, _, err := s.Load(ctx, id)
		if err != nil {
			return err
		}
		n, _ := strconv.Atoi(string(engine)) // none: 0
		go func() { failed <- appendNumbers(ctx, s, id, n) }()
	}
	return <-failed
}

func appendNumbers(ctx context.Context, s *Store, id sessions.ID, n int) error {
	for {
		count := 1 + rand.IntN(7)
		a, err := s.Append(ctx, polling.Batch{Session: id, Lines: paneLines(n+1, count), Engine: []byte(strconv.Itoa(n + count))})
		if err != nil {
			return err
		}
		n += count
		if _, err := fmt.Fprintf(os.Stdout, "%s %d\n", id, a.Head); err != nil {
			return err
		}
	}
}

func TestAKilledProcessLeavesLinesAndEngineStateInAgreement(t *testing.T) {
	rounds := 5
	if drawtest.Stressed() {
		rounds = 50
	}
	path := dbPath(t)
	random := drawtest.Rand(t, 0)
	for range rounds {
		told := killedChild(t, path, time.Duration(random.Int64N(int64(300*time.Millisecond))))
		checkAfterCrash(t, path, told)
	}
}

// killedChild runs the child, kills it in the middle and returns the newest
// line of each session that it was told is stored.
func killedChild(t *testing.T, path string, after time.Duration) map[sessions.ID]int64 {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), crashChildEnv+"="+path)
	cmd.Stderr = os.Stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	told := map[sessions.ID]int64{}
	lines := bufio.NewReader(stdout)
	var kill *time.Timer
	for {
		line, err := lines.ReadString('\n')
		if err != nil { // the last one may be cut
			if !errors.Is(err, io.EOF) {
				t.Error(err)
			}
			break
		}
		if kill == nil { // it has begun
			kill = time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
		}
		var id sessions.ID
		var n int64
		if _, err := fmt.Sscan(line, &id, &n); err != nil {
			t.Fatal(err)
		}
		told[id] = n
	}
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() != -1 {
		t.Fatalf("the child ended by itself: %v", err)
	}
	return told
}

func checkAfterCrash(t *testing.T, path string, told map[sessions.ID]int64) {
	t.Helper()
	ctx := t.Context()
	s := mustOpen(t, path, Options{LogMaxLines: crashMaxLines})
	defer func() { _ = s.Close() }()
	all, err := s.Sessions(ctx)
	if err != nil || len(all) != len(crashSessions) {
		t.Fatalf("got %d sessions, %v; want %d", len(all), err, len(crashSessions))
	}
	for _, x := range all {
		engine, _, err := s.Load(ctx, x.ID)
		if err != nil {
			t.Fatal(err)
		}
		if x.Lines > 0 && string(engine) != strconv.FormatInt(x.Lines, 10) {
			t.Errorf("%s: engine state of line %s with newest line %d", x.ID, engine, x.Lines)
		}
		if x.Lines < told[x.ID] {
			t.Errorf("%s: newest line %d, but line %d was said to be stored", x.ID, x.Lines, told[x.ID])
		}
		lines, err := s.Tail(ctx, x.ID, 10*crashMaxLines)
		if err != nil {
			t.Fatal(err)
		}
		if want := min(x.Lines, crashMaxLines); int64(len(lines)) < want {
			t.Errorf("%s: %d lines kept, want at least %d", x.ID, len(lines), want)
		}
		for i, l := range lines {
			if l.N != x.Lines-int64(len(lines)-1-i) || l.Text != strconv.FormatInt(l.N, 10) {
				t.Fatalf("%s: line %d says %s, %d lines before the newest, which is %d", x.ID, l.N, l.Text, len(lines)-1-i, x.Lines)
			}
		}
	}
	var sound string
	if err := s.write.conn.QueryRowContext(ctx, `PRAGMA integrity_check`).Scan(&sound); err != nil || sound != "ok" {
		t.Errorf("integrity check: %s, %v", sound, err)
	}
}
