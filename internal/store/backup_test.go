package store

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/internal/host/hosttest"
	"github.com/panebridge/panebridge/polling"
	"github.com/panebridge/panebridge/sessions"
)

// restoreInto restores a backup into a state folder of its own, and opens that.
func restoreInto(t *testing.T, backup string) *Store {
	t.Helper()
	path := dbPath(t)
	mustRestore(t, path, backup)
	return mustOpen(t, path, Options{})
}

func allLines(t *testing.T, s *Store, id sessions.ID) (all []sessions.Line) {
	t.Helper()
	for {
		out, err := s.Read(t.Context(), id, int64(len(all))+1, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		if len(out.Lines) == 0 {
			return all
		}
		all = append(all, out.Lines...)
	}
}

func mustRestore(t *testing.T, path, backup string) Restored {
	t.Helper()
	if _, err := Stage(t.Context(), path, backup); err != nil {
		t.Fatal(err)
	}
	done, err := FinishRestore(t.Context(), path, slog.New(slog.DiscardHandler))
	if err != nil || !done.Placed {
		t.Fatalf("restored %v: %v", done, err)
	}
	return done
}

// Backups that are made while several write at full speed are restored to what was there at one moment: of each
// session a beginning of its lines, with nothing missing, and of all what was stored before the backup began.
func TestABackupUnderLoadIsOfOneMoment(t *testing.T) {
	s := mustOpen(t, dbPath(t), Options{})
	const writers = 4
	ids := make([]sessions.ID, writers)
	for i := range ids {
		ids[i] = sessions.ID(fmt.Sprintf("pb_%d", i))
	}
	mustPut(t, s, ids...)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	var mu sync.Mutex
	stored := map[sessions.ID]int64{} // lines that were acknowledged
	for _, id := range ids {
		wg.Go(func() {
			for n := int64(0); ; {
				select {
				case <-stop:
					return
				default:
				}
				b := polling.Batch{Session: id, Engine: fmt.Appendf(nil, "engine at %d", n+3)}
				for range 3 {
					n++
					b.Lines = append(b.Lines, sessions.Line{Kind: sessions.KindPane, Text: fmt.Sprintf("line %d of %s", n, id)})
				}
				if _, err := s.Append(t.Context(), b); err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				stored[id] = n
				mu.Unlock()
			}
		})
	}
	folder := t.TempDir()
	var backups []string
	var least []map[sessions.ID]int64
	for i := range drawtest.Times(40, 4, 2) {
		before := map[sessions.ID]int64{}
		for least := int64(30 * (i + 1)); !t.Failed(); runtime.Gosched() {
			mu.Lock()
			maps.Copy(before, stored)
			mu.Unlock()
			if !slices.ContainsFunc(ids, func(id sessions.ID) bool { return before[id] < least }) {
				break
			}
		}
		into := filepath.Join(folder, fmt.Sprint(i))
		if _, err := Backup(t.Context(), s.path, into, BackupOptions{Version: "v1"}); err != nil {
			t.Fatal(err)
		}
		backups, least = append(backups, into), append(least, before)
	}
	close(stop)
	wg.Wait()
	for i, backup := range backups {
		r := restoreInto(t, backup)
		for _, id := range ids {
			engine, _, err := r.Load(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			lines := allLines(t, r, id)
			head := int64(len(lines))
			if head < least[i][id] || head > stored[id] || head%3 != 0 {
				t.Errorf("backup %d has %d lines of %s; before it there were %d, and in the end %d", i, head, id, least[i][id], stored[id])
			}
			if want := fmt.Sprintf("engine at %d", head); head > 0 && string(engine) != want {
				t.Errorf("backup %d of %s has the engine %q and not %q", i, id, engine, want)
			}
			for j, l := range lines {
				if want := fmt.Sprintf("line %d of %s", j+1, id); l.Text != want || l.N != int64(j+1) {
					t.Fatalf("backup %d has %q as line %d of %s", i, l.Text, l.N, id)
				}
			}
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

// What was deleted isn't in a backup, though an older panebridge didn't overwrite it.
func TestABackupHasNothingThatWasDeleted(t *testing.T) {
	path := dbPath(t)
	s := mustOpen(t, path, Options{})
	mustPut(t, s, "pb_1", "pb_2")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	conn := raw(t, path)
	mustExec(t, conn, "PRAGMA secure_delete = 0")
	mustExec(t, conn, "INSERT INTO notes VALUES ('a', 'secret', 'the word '||hex(zeroblob(9000))||'xyzzy-forgotten')")
	mustExec(t, conn, "DELETE FROM notes")
	if !holds(t, path, "xyzzy-forgotten") && !holds(t, path+walSuffix, "xyzzy-forgotten") {
		t.Fatal("the database itself doesn't have it: the test shows nothing")
	}
	into := filepath.Join(t.TempDir(), "b")
	if _, err := Backup(t.Context(), path, into, BackupOptions{}); err != nil {
		t.Fatal(err)
	}
	if holds(t, into, "xyzzy-forgotten") {
		t.Error("the backup has what was deleted")
	}
	if info, err := os.Stat(into); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("it's %v, %v", info.Mode(), err)
	}
}

func holds(t *testing.T, path, text string) bool {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil && !isGone(err) {
		t.Fatal(err)
	}
	return strings.Contains(string(data), text)
}

// A backup takes no other file's place, and what had the name stays where it fails.
func TestABackupTakesNothingsPlace(t *testing.T) {
	path := dbPath(t)
	s := mustOpen(t, path, Options{})
	mustPut(t, s, "pb_1")
	folder := t.TempDir()
	file := func(name string) string { return filepath.Join(folder, name) }
	if err := errors.Join(os.WriteFile(file("there"), []byte("mine"), 0o600), os.Symlink(file("there"), file("link")), os.Mkdir(file("folder"), 0o700),
		os.Symlink(filepath.Dir(path), file("state")), os.MkdirAll(filepath.Join(filepath.Dir(path), "deep"), 0o700)); err != nil {
		t.Fatal(err)
	}
	for name, overwrite := range map[string][]bool{
		"there": {false}, "link": {false, true}, "folder": {false, true}, "none/file": {false, true},
		"state/panebridge.db": {false, true}, "state/new": {false, true}, "state/deep/new": {false, true}, "there/below": {false, true},
	} {
		for _, o := range overwrite {
			if _, err := Backup(t.Context(), path, file(name), BackupOptions{Overwrite: o}); err == nil {
				t.Errorf("%s, overwrite %v: no error", name, o)
			}
		}
	}
	if !holds(t, file("there"), "mine") {
		t.Error("the file that was there has changed")
	}
	if err := s.Check(t.Context()); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(file("there.part"), []byte("left by a kill"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Backup(t.Context(), path, file("there"), BackupOptions{Overwrite: true}); err != nil {
		t.Error(err)
	}
	names, err := namesBeside(file("x"))
	if err != nil || slices.ContainsFunc(names, func(n string) bool { return strings.Contains(n, partSuffix) }) {
		t.Errorf("left: %v, %v", names, err)
	}
}

// Whatever is changed of a backup, cut off or added, it isn't restored: it's said that it's none, and the database
// stays as it was.
func TestAChangedBackupIsRefused(t *testing.T) {
	path := dbPath(t)
	s := mustOpen(t, path, Options{})
	mustPut(t, s, "pb_1", "pb_2")
	into := filepath.Join(t.TempDir(), "b")
	label, err := Backup(t.Context(), path, into, BackupOptions{Version: "v9"})
	if err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(into)
	if err != nil || int64(len(whole)) != label.Bytes+labelBytes {
		t.Fatalf("%d bytes, %v", len(whole), err)
	}
	random := drawtest.Rand(t, 0)
	for range drawtest.Times(2000, 40, 20) {
		data := slices.Clone(whole)
		var what string
		switch at := random.IntN(int(label.Bytes)); random.IntN(4) {
		case 0:
			data[at] ^= 1 << random.IntN(8)
			what = fmt.Sprintf("a bit of byte %d is changed", at)
		case 1:
			data = data[:random.IntN(len(data))]
			what = fmt.Sprintf("only %d bytes are left", len(data))
			if len(data) == int(label.Bytes) || len(data) == len(whole) {
				continue // a whole database
			}
		case 2:
			data = slices.Delete(data, at, min(at+1+random.IntN(5000), int(label.Bytes)))
			what = fmt.Sprintf("from byte %d on some are missing", at)
		case 3:
			data = append(data[:label.Bytes:label.Bytes], append(make([]byte, 1+random.IntN(9000)), data[label.Bytes:]...)...)
			what = "zeros are put in before the label"
		}
		changed := filepath.Join(t.TempDir(), "changed")
		if err := os.WriteFile(changed, data, 0o600); err != nil {
			t.Fatal(err)
		}
		fresh := dbPath(t)
		if _, err := Stage(t.Context(), fresh, changed); !errors.Is(err, ErrNoBackup) {
			t.Errorf("%s: %v", what, err)
		}
		if IsStaged(fresh) {
			t.Errorf("%s: it's laid beside the database", what)
		}
	}
}

// backupChildEnv makes the test binary back up the database below its folder, over and over.
const backupChildEnv = "PANEBRIDGE_TEST_BACKUP_CHILD"

func backupChild() error {
	for {
		label, err := Backup(context.Background(), "state/panebridge.db", "b", BackupOptions{Version: "v1", Overwrite: true})
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintln(os.Stdout, label.At.UnixNano()); err != nil {
			return err
		}
	}
}

// Killed at any moment, a backup leaves the one that was there, or the new one, whole; and the next takes what it
// has left away.
func TestABackupThatsKilledLeavesAWholeOne(t *testing.T) {
	folder := t.TempDir()
	if err := os.Mkdir(filepath.Join(folder, "state"), 0o700); err != nil {
		t.Fatal(err)
	}
	s := mustOpen(t, filepath.Join(folder, "state", "panebridge.db"), Options{})
	mustPut(t, s, "pb_1")
	for range 20 {
		mustAppend(t, s, polling.Batch{Session: "pb_1", Lines: []sessions.Line{{Kind: sessions.KindPane, Text: strings.Repeat("x", 50_000)}}})
	}
	random := drawtest.Rand(t, 0)
	into := filepath.Join(folder, "b")
	parts := 0
	for range drawtest.Times(300, 12, 4) {
		child := exec.CommandContext(t.Context(), os.Args[0])
		child.Dir, child.Env = folder, append(os.Environ(), backupChildEnv+"=yes")
		pipe, err := child.StdoutPipe()
		if err == nil {
			err = child.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		out := bufio.NewReader(pipe)
		said, err := out.ReadString('\n') // one is whole
		if err != nil {
			t.Fatal(err)
		}
		<-time.NewTimer(time.Duration(random.Int64N(int64(40 * time.Millisecond)))).C
		_ = child.Process.Kill()
		for more, err := out.ReadString('\n'); err == nil; more, err = out.ReadString('\n') {
			said = more
		}
		_ = child.Wait()
		if _, err := os.Lstat(into + partSuffix); err == nil {
			parts++
		}
		label, err := Stage(t.Context(), dbPath(t), into)
		if err != nil {
			t.Fatalf("behind a kill: %v", err)
		}
		if told := strings.TrimSpace(said); fmt.Sprint(label.At.UnixNano()) < told {
			t.Errorf("it's of %d, and one of %s was whole", label.At.UnixNano(), told)
		}
	}
	if parts == 0 {
		t.Error("no kill came amid of a backup")
	}
	if _, err := Backup(t.Context(), s.path, into, BackupOptions{Overwrite: true}); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(into + partSuffix); err == nil {
		t.Error("what a kill has left is there still")
	}
}

// A backup for which there's no room says so, leaves nothing, and what had the name has it still. The same of a restore.
func TestABackupForWhichThereIsNoRoom(t *testing.T) {
	if !inMountNamespace(t) {
		return
	}
	path := dbPath(t)
	s := mustOpen(t, path, Options{})
	mustPut(t, s, "pb_1")
	for range 40 {
		mustAppend(t, s, polling.Batch{Session: "pb_1", Lines: []sessions.Line{{Kind: sessions.KindPane, Text: strings.Repeat("x", 50_000)}}})
	}
	good := filepath.Join(t.TempDir(), "good")
	if _, err := Backup(t.Context(), path, good, BackupOptions{}); err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	if err := hosttest.MountMemory(folder, "size=1m"); err != nil {
		t.Fatal(err)
	}
	into := filepath.Join(folder, "b")
	if err := os.WriteFile(into, []byte("the one before"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err1 := Backup(t.Context(), path, into, BackupOptions{Overwrite: true})
	_, err2 := Stage(t.Context(), filepath.Join(folder, "panebridge.db"), good)
	for _, err := range []error{err1, err2} {
		if !errors.Is(err, ErrFull) {
			t.Errorf("got %v", err)
		}
	}
	all, err := os.ReadDir(folder)
	if err != nil || len(all) != 1 || !holds(t, into, "the one before") {
		t.Errorf("left: %v, %v", all, err)
	}
	if err := errors.Join(s.Check(t.Context()), hosttest.Detach(folder)); err != nil {
		t.Error(err)
	}
}

// Who writes isn't held up by a backup: each write that's asked for while it goes on is acknowledged meanwhile.
func TestABackupHoldsNobodyUp(t *testing.T) {
	s := mustOpen(t, dbPath(t), Options{})
	mustPut(t, s, "pb_1", "pb_2")
	conn := raw(t, s.path)
	mustExec(t, conn, fmt.Sprintf(`WITH RECURSIVE i(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM i WHERE n < %d)
		INSERT INTO lines (session, n, kind, text, at) SELECT (SELECT min(session) FROM logs), n, 'pane', hex(randomblob(1000)), n FROM i`, drawtest.Times(500_000, 3000, 1000)))
	mustExec(t, conn, "PRAGMA wal_checkpoint(TRUNCATE)") // or else the first write would copy all of that into the database
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	var label BackupLabel
	ended := make(chan time.Duration, 1)
	go func() {
		began := time.Now()
		var err error
		if label, err = Backup(t.Context(), s.path, filepath.Join(t.TempDir(), "b"), BackupOptions{}); err != nil {
			t.Error(err)
		}
		ended <- time.Since(began)
	}()
	writes, longest := 0, time.Duration(0)
	write := func() {
		began := time.Now()
		mustAppend(t, s, polling.Batch{Session: "pb_2", Lines: []sessions.Line{{Kind: sessions.KindPane, Text: "on it goes"}}})
		longest = max(longest, time.Since(began))
	}
	var took time.Duration
	for took == 0 {
		write()
		select {
		case took = <-ended:
		default:
			writes++
		}
	}
	if writes < 5 {
		t.Errorf("there were %d writes beside a backup of %v", writes, took)
	}
	t.Logf("%d MB in %v; meanwhile %d writes, which took up to %v", label.Bytes>>20, took, writes, longest)
	for range 2000 { // what couldn't be copied into the database meanwhile is now
		write()
	}
	t.Logf("with those behind it up to %v", longest)
}
