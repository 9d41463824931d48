package app_test

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/panebridge/panebridge/adapters/inbound"
	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/inbox"
	"github.com/panebridge/panebridge/sessions"
)

// mark begins everything that's to be forgotten.
const mark = "qzforget"

// copies are the places of the marker in a folder: which of them, and in which file.
func copies(t *testing.T, folder string) (found []string) {
	t.Helper()
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // the same
		}
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		name, _ := filepath.Rel(folder, path)
		if strings.Contains(name, mark) {
			found = append(found, "the name "+name)
		}
		content, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil // it was forgotten meanwhile
		}
		if err != nil {
			return err
		}
		for rest := content; ; {
			i := bytes.Index(rest, []byte(mark))
			if i < 0 {
				return nil
			}
			rest = rest[i:]
			if one := fmt.Sprintf("%s in %s", rest[:min(len(rest), len(mark)+8)], name); !slices.Contains(found, one) {
				found = append(found, one)
			}
			rest = rest[len(mark):]
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// What was printed, said, uploaded, asked and mailed in a session is in no file of the state folder
// once the session is forgotten, and what took its room is given back.
func TestForgettingLeavesNoCopy(t *testing.T) {
	slow(t)
	b, d := newBothPlatforms(t)
	d.cfg.Sessions.LogMaxLines = 3000
	d.cfg.Access.Admins = b.people()
	d.start()
	stays, err := d.api.NewSession(d.ctx(), api.Create{Name: "stays", Command: []string{"sh", "-c", "echo kept-for-good; exec cat"}})
	if err != nil {
		t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	known := filepath.Join(t.TempDir(), "known") // a notice of a session that isn't known yet is told to nobody
	script := fmt.Sprintf("until [ -e %s ]; do sleep 0.1; done; %s=1 %s notify --state-dir %s %s-notice\n", known, playedCLI, exe, filepath.Join(d.dir, "state"), mark) + `i=0; while [ $i -lt 10000 ]; do echo "` + mark + `-line $i, of which there are more than are kept"; i=$((i+1)); done
printf '` + mark + `-asks: delete all? [y/N] '; read -r x; echo "answered $x"; exec cat`
	s, err := d.api.NewSession(d.ctx(), api.Create{Name: "qzforget_name", Command: []string{"sh", "-c", script}, Cwd: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(known, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	topic, thread := b.awaitPlaces(d, mark)
	d.await("the question", func() bool {
		prompts, err := d.api.Prompts(d.ctx())
		return err == nil && len(prompts) == 1
	})
	if _, err := b.ann.SendFile(topic, mark+"-file.txt", []byte(mark+"-content"), mark+"-caption"); err != nil {
		t.Fatal(err)
	}
	if err := d.api.Keys(d.ctx(), string(s.ID), "n", "Enter"); err != nil {
		t.Fatal(err)
	}
	d.await("the answer", d.has(s.ID, "answered n"))
	if _, err := b.ann.Say(topic, mark+"-said by Ann"); err != nil {
		t.Fatal(err)
	}
	if _, err := b.bob.Say(thread, mark+"-said by Bob"); err != nil {
		t.Fatal(err)
	}
	db, box := mailOf(d)
	all, err := db.Parties(d.ctx())
	if err != nil {
		t.Fatal(err)
	}
	for _, way := range [][2]inbox.Address{{inbox.Address(s.ID), inbox.Address(stays.ID)}, {inbox.Address(stays.ID), inbox.Address(s.ID)}} {
		if _, err := box.Send(d.ctx(), all, way[0], way[1], mark+"-mail"); err != nil {
			t.Fatal(err)
		}
	}
	d.await("all of it", func() bool {
		text := strings.Join(d.lines(s.ID), "\n")
		return strings.Contains(text, mark+"-said by Ann") && strings.Contains(text, mark+"-said by Bob")
	})
	state := filepath.Join(d.dir, "state")
	tools, err := sql.Open("sqlite", filepath.Join(state, "panebridge.db")+"?_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tools.ExecContext(d.ctx(), `INSERT INTO tool_details SELECT session, head, 'call', 64, ?1 || '-args', ?1 || '-output', ?1 || '-diff'
		FROM logs JOIN sessions ON seq = session WHERE id = ?2`, mark, s.ID); err != nil {
		t.Fatal(err)
	}
	if err := tools.Close(); err != nil {
		t.Fatal(err)
	}
	d.await("what could be forgotten in files", func() bool { // which change while they're read
		all := strings.Join(copies(t, state), "\n")
		return strings.Contains(all, mark+"-notice") && strings.Contains(all, mark+"-output") && strings.Contains(all, mark+"-mail")
	})
	size := func() (n int64) {
		for _, suffix := range []string{"", "-wal"} {
			info, err := os.Stat(filepath.Join(state, "panebridge.db"+suffix))
			if err != nil {
				t.Fatal(err)
			}
			n += info.Size()
		}
		return n
	}
	before := size()
	hashes := func() (n int) {
		audit, err := sql.Open("sqlite", filepath.Join(state, "panebridge.db"))
		if err != nil {
			t.Fatal(err)
		}
		defer audit.Close()
		if err := audit.QueryRowContext(d.ctx(), "SELECT count(*) FROM audit WHERE session = ? AND hash <> ''", s.ID).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	if n := hashes(); n < 3 { // a caption and two texts
		t.Fatalf("%d texts have their hash", n)
	}
	d.tmux("new-session", "-d", "-s", mark+"-adopted", "exec cat") // a session that was begun elsewhere
	adopted, err := d.api.Adopt(d.ctx(), api.Create{Tmux: mark + "-adopted"})
	if err != nil || len(adopted) != 1 {
		t.Fatal(adopted, err)
	}
	for _, id := range []sessions.ID{adopted[0].ID, s.ID} {
		if err := d.api.CloseSession(d.ctx(), string(id)); err != nil {
			t.Fatal(err)
		}
	}
	d.await("the end of the other", func() bool { return d.api.ForgetSession(d.ctx(), string(adopted[0].ID)) == nil })
	d.await("its end", func() bool { return d.api.ForgetSession(d.ctx(), string(s.ID)) == nil })
	if found := copies(t, state); len(found) > 0 {
		t.Errorf("it's still there:\n%s", strings.Join(found, "\n"))
	}
	if n := hashes(); n > 0 {
		t.Errorf("%d hashes are there of what was said in it", n)
	}
	if after := size(); after > before/2 {
		t.Errorf("the database had %d bytes, and has %d", before, after)
	}
	d.await("the last line of the other", d.has(stays.ID, "kept-for-good"))
}

// Whoever reads the database all the time keeps copies in its files: that's said, and when
// they have ended nothing is left, without another word.
func TestForgettingBesideAReader(t *testing.T) {
	slow(t)
	d := newDaemon(t)
	s, err := d.api.NewSession(d.ctx(), api.Create{Name: "read", Command: []string{"sh", "-c", "seq -f " + mark + "-line-%g 2000; exec cat"}})
	if err != nil {
		t.Fatal(err)
	}
	d.await("its lines", d.has(s.ID, mark+"-line-2000"))
	if err := d.api.CloseSession(d.ctx(), string(s.ID)); err != nil {
		t.Fatal(err)
	}
	d.await("its end", func() bool {
		s, err := d.api.Session(d.ctx(), string(s.ID))
		return err == nil && s.State == sessions.StateEnded
	})
	state := filepath.Join(d.dir, "state")
	db, err := sql.Open("sqlite", filepath.Join(state, "panebridge.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	tx, err := db.BeginTx(t.Context(), &sql.TxOptions{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	var n int
	if err := tx.QueryRowContext(t.Context(), "SELECT count(*) FROM lines").Scan(&n); err != nil || n < 2000 {
		t.Fatalf("%d lines, %v", n, err)
	}
	if err := d.api.ForgetSession(d.ctx(), string(s.ID)); err == nil || !strings.Contains(err.Error(), "it's forgotten") {
		t.Errorf("forgetting says %v", err)
	}
	if len(copies(t, state)) == 0 {
		t.Fatal("nobody has read anything")
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	d.await("that there's no copy", func() bool { return len(copies(t, state)) == 0 })
}

// What a session was sent is removed before the session: a forgetting that's cut off in between leaves
// a session that's listed, and forgotten the next time.
func TestForgettingThatIsCutOffIsDoneAgain(t *testing.T) {
	t.Parallel()
	d := newDaemon(t)
	s, err := d.api.NewSession(d.ctx(), api.Create{Name: "cut", Command: []string{"true"}})
	if err != nil {
		t.Fatal(err)
	}
	d.await("its end", func() bool {
		s, err := d.api.Session(d.ctx(), string(s.ID))
		return err == nil && s.State == sessions.StateEnded
	})
	state := filepath.Join(d.dir, "state")
	files := filepath.Join(state, inbound.FilesFolder, string(s.ID))
	if err := errors.Join(os.MkdirAll(files, 0o700), os.WriteFile(filepath.Join(files, mark), []byte(mark), 0o600)); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", filepath.Join(state, "panebridge.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	do := func(stmt string) {
		t.Helper()
		if _, err := db.ExecContext(d.ctx(), stmt); err != nil {
			t.Fatal(err)
		}
	}
	do("CREATE TRIGGER cut BEFORE DELETE ON sessions BEGIN SELECT RAISE(ABORT, 'cut off here'); END")
	if err := d.api.ForgetSession(d.ctx(), string(s.ID)); err == nil {
		t.Error("it's forgotten though its deletion was cut off")
	}
	if found := copies(t, state); len(found) > 0 {
		t.Errorf("what it was sent would stay for good:\n%s", strings.Join(found, "\n"))
	}
	do("DROP TRIGGER cut")
	if err := d.api.ForgetSession(d.ctx(), string(s.ID)); err != nil {
		t.Error(err)
	}
}

// A session that ended long ago is forgotten, and one that lives isn't, however old it is.
func TestEndedSessionsAreKeptForAWhile(t *testing.T) {
	slow(t)
	d := newDaemon(t)
	for name, script := range map[string]string{"lives": "exec cat", "ends": "echo " + mark + "-line"} {
		if _, err := d.api.NewSession(d.ctx(), api.Create{Name: name, Command: []string{"sh", "-c", script}}); err != nil {
			t.Fatal(err)
		}
	}
	names := func() (all []string) {
		list, err := d.api.Sessions(d.ctx())
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range list {
			all = append(all, fmt.Sprint(s.Name, " ", s.State == sessions.StateEnded))
		}
		slices.Sort(all)
		return all
	}
	both := []string{"ends true", "lives false"}
	d.await("the end of one", func() bool { return slices.Equal(names(), both) })
	d.stop()
	d.start()
	if got := names(); !slices.Equal(got, both) {
		t.Fatalf("after a restart there are %v", got)
	}
	d.stop()
	d.cfg.Sessions.KeepEnded = "1ms"
	state := filepath.Join(d.dir, "state")
	for _, suffix := range []string{"", "-wal", "-lost"} {
		if err := os.WriteFile(filepath.Join(state, "panebridge.db-damaged-20260102T030405Z"+suffix), []byte(mark), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	d.start()
	d.await("that it's forgotten", func() bool { return slices.Equal(names(), both[1:]) })
	d.await("that there's no copy", func() bool { return len(copies(t, state)) == 0 })
}
