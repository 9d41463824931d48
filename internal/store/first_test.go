package store

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/panebridge/panebridge/internal/drawtest"
)

// firstChildEnv has the test's program make databases, each for the first time; it's "a daemon" or "a command".
const firstChildEnv = "PANEBRIDGE_STORE_FIRST_CHILD"

// firstChild makes one database after the other in its folder until it's killed, and says which are made.
func firstChild(as string) error {
	for n := 1; ; n++ {
		var err error
		var made interface{ Close() error }
		if path := fmt.Sprintf("%d.db", n); as == "a daemon" {
			made, err = Open(context.Background(), path, Options{})
		} else {
			made, err = OpenInbox(context.Background(), path)
		}
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintln(os.Stdout, n); err != nil {
			return err
		}
		if err := made.Close(); err != nil {
			return err
		}
	}
}

// Who is killed at any moment while it makes the database leaves none that's said to be gone: it's made anew, and at
// once. One that was really deleted is said to be gone.
func TestAFirstStartThatWasKilledIsAFirstStartAgain(t *testing.T) {
	rounds := 15
	if drawtest.Stressed() {
		rounds = 500
	}
	unfinished, random := 0, drawtest.Rand(t, 0)
	for round := range rounds {
		as := []string{"a daemon", "a command"}[round%2]
		dir := t.TempDir()
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Dir, cmd.Env, cmd.Stderr = dir, append(os.Environ(), firstChildEnv+"="+as), os.Stderr
		stdout, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		made, lines := 0, bufio.NewScanner(stdout)
		for made < 1 && lines.Scan() {
			_, _ = fmt.Sscan(lines.Text(), &made)
		}
		time.Sleep(time.Duration(random.IntN(15_000)) * time.Microsecond)
		_ = cmd.Process.Kill()
		for lines.Scan() {
			_, _ = fmt.Sscan(lines.Text(), &made)
		}
		_ = cmd.Wait()
		left, err := filepath.Glob(filepath.Join(dir, fmt.Sprintf("%d.db*", made+1)))
		if err != nil {
			t.Fatal(err)
		}
		unfinished += min(len(left), 1)
		for n := made; n <= made+1; n++ {
			path := filepath.Join(dir, fmt.Sprintf("%d.db", n))
			began := time.Now()
			if random.IntN(2) == 0 { // a command comes first
				box, err := OpenInbox(t.Context(), path)
				if err != nil {
					t.Fatal(err)
				}
				if err := box.Close(); err != nil {
					t.Fatal(err)
				}
			}
			s, lost := openAfterwards(t, path)
			if took := time.Since(began); lost || took > 5*time.Second {
				t.Errorf("%s, killed with %v beside the database it made: the next start says that it's gone: %t, after %s", as, left, lost, took)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if err := removeAll(path); err != nil {
				t.Fatal(err)
			}
			if !IsLost(path) {
				t.Errorf("%s: one that's deleted isn't said to be gone", as)
			}
		}
	}
	if unfinished == 0 {
		t.Error("no kill came while a database was made")
	}
}
