package app_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/panebridge/panebridge/internal/agentlab"
	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/internal/host"
	"github.com/panebridge/panebridge/internal/recording"
	"github.com/panebridge/panebridge/internal/standin"
	"github.com/panebridge/panebridge/sessions"
)

// TestMain makes this binary the program in a pane too.
func TestMain(m *testing.M) {
	agentlab.Main() // first: an MCP server has the environment of its agent, whose hooks are the CLI
	asCLI()
	asBrowser()
	asCaller()
	recording.Main()
	standin.Main()
	recording.ActorMain[longAsker](longVar)
	if mode := os.Getenv("PANEBRIDGE_TEST_RECORDER"); mode != "" {
		record(mode, os.Getenv("PANEBRIDGE_TEST_FILE"))
		return
	}
	if dir := os.Getenv("PANEBRIDGE_TEST_DAEMON"); dir != "" {
		serve(dir)
		return
	}
	// Most of these tests wait for programs: more at once than there are processors.
	parallel := "8"
	if drawtest.Stressed() { // which holds more of them to times
		parallel = "6"
	}
	if err := flag.Set("test.parallel", parallel); err != nil {
		panic(err)
	}
	var err error
	if programDir, err = os.MkdirTemp("", "pb"); err != nil {
		panic(err)
	}
	status := m.Run()
	_ = os.RemoveAll(programDir)
	os.Exit(status)
}

// slow marks a test that waits for real programs for more than a second or two: it runs
// beside others, and -short leaves it out.
func slow(t *testing.T) {
	t.Helper()
	alone(t)
	t.Parallel()
}

// alone marks a slow test beside which no other runs: it measures how soon something
// happens, or changes this process.
func alone(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("-short leaves out what takes more than a second or two")
	}
}

// record writes each read it gets as a JSON line. Mode "raw" reads bytes as a
// terminal program does, and shows what it reads; "silent" shows nothing;
// "cooked" leaves the line to the kernel. All but cooked ask for bracketed
// paste.
func record(mode, file string) {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		panic(err)
	}
	if mode != "cooked" {
		t, err := host.ReadTermios(0)
		if err != nil {
			panic(err)
		}
		t.Iflag &^= unix.ICRNL | unix.IXON
		t.Lflag &^= unix.ICANON | unix.ECHO | unix.ISIG
		if err := host.SetTermios(0, t); err != nil {
			panic(err)
		}
		_, _ = io.WriteString(os.Stdout, "\x1b[?2004h")
	}
	_, _ = io.WriteString(os.Stdout, "ready\r\n")
	buf := make([]byte, 1<<16)
	for {
		n, err := os.Stdin.Read(buf)
		if n == 0 || err != nil {
			return
		}
		b, _ := json.Marshal(buf[:n])
		_, _ = f.Write(append(b, '\n'))
		if mode == "raw" {
			show(buf[:n])
		}
	}
}

// show echoes as an input box would: text as it is, Enter as a new line.
func show(b []byte) {
	b = bytes.ReplaceAll(b, []byte("\x1b[200~"), nil)
	b = bytes.ReplaceAll(b, []byte("\x1b[201~"), nil)
	_, _ = io.WriteString(os.Stdout, strings.NewReplacer("\r", "\r\n> ", "\n", "\r\n").Replace(string(b)))
}

// reads are what the recorder got, read by read.
func reads(t *testing.T, file string) [][]byte {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out [][]byte
	for line := range bytes.Lines(data) {
		var b []byte
		if err := json.Unmarshal(line, &b); err != nil {
			t.Fatal(err)
		}
		out = append(out, b)
	}
	return out
}

func (d *daemon) recorder(name, mode string) (sessions.ID, string) {
	d.Helper()
	file := filepath.Join(d.dir, name+".reads")
	s, err := d.api.NewSession(d.ctx(), api.Create{Name: name, Command: []string{"env", "PANEBRIDGE_TEST_RECORDER=" + mode, "PANEBRIDGE_TEST_FILE=" + file, os.Args[0]}})
	if err != nil {
		d.Fatal(err)
	}
	d.await("recorder", func() bool {
		text, err := d.api.Screen(d.ctx(), name, "text")
		return err == nil && strings.Contains(text, "ready")
	})
	return s.ID, file
}

var pieces = []string{
	"-n", ";", "a;b", "Enter", "C-c", "$HOME", "`id`", "#{pane_id}", "\\", "\\n", "'", "\"", "{", "}", "%", "%begin 1 2 1",
	"日本語", "👩‍💻", "é", "~", "!", "@x", "/", "  ", "\t", "\n", "word", "~ok", "|", "&&", "\u00a0", "==", "#", "-", "--", "@{u}", "$(x)", "]", "[",
}

func randomText(r *rand.Rand) string {
	var b strings.Builder
	for range 1 + r.IntN(12) {
		b.WriteString(pieces[r.IntN(len(pieces))])
		if r.IntN(2) == 0 {
			b.WriteByte(' ')
		}
	}
	switch r.IntN(12) {
	case 0:
		return b.String() + strings.Repeat("long ", r.IntN(4000)) + ";"
	case 1:
		return "-" + b.String()
	case 2:
		return b.String() + ";"
	}
	return b.String()
}

// Each input arrives exactly as it was written and is submitted once, in raw
// programs with and without echo and in programs that read lines; and text and
// Enter never arrive in one read where the program reads bytes.
func TestInputsArriveAsWritten(t *testing.T) {
	slow(t)
	n := 24
	if drawtest.Stressed() {
		n = 1000 / 3
	}
	d := newDaemon(t)
	var wg sync.WaitGroup
	for i, mode := range []string{"raw", "silent", "cooked"} {
		id, file := d.recorder(mode, mode)
		wg.Go(func() {
			r := rand.New(rand.NewPCG(1, uint64(i)))
			var want []string
			for k := range n {
				text := "#" + strconv.Itoa(k) + " " + randomText(r)
				rec, err := d.api.Input(d.ctx(), string(id), text, true)
				if err != nil {
					t.Errorf("%s: %q: %v", mode, text, err)
					return
				}
				rec = d.final(rec)
				switch {
				case rec.Submitted():
					want = append(want, text)
				case mode == "cooked" && len(text) > 4000 && rec.State == sessions.ReceiptFailed:
				default:
					t.Errorf("%s: %.60q: %s: %s", mode, text, rec.State, rec.Reason)
				}
			}
			checkReads(t, mode, reads(t, file), want)
		})
	}
	wg.Wait()
}

// checkReads compares what a program read with what was written.
func checkReads(t *testing.T, mode string, got [][]byte, want []string) {
	t.Helper()
	var all strings.Builder
	for _, b := range got {
		if mode != "cooked" && len(b) > 1 && bytes.HasSuffix(b, []byte("\r")) {
			t.Errorf("%s: text and Enter in one read: %.80q", mode, b)
		}
		all.Write(b)
	}
	var exp strings.Builder
	for _, w := range want {
		if mode == "cooked" {
			exp.WriteString(w + "\n")
		} else {
			exp.WriteString("\x1b[200~" + w + "\x1b[201~\r")
		}
	}
	if a, e := all.String(), exp.String(); a != e {
		i := 0
		for i < len(a) && i < len(e) && a[i] == e[i] {
			i++
		}
		t.Errorf("%s: %d bytes read, %d expected; they differ at %d: read %.80q, expected %.80q", mode, len(a), len(e), i, a[i:], e[i:])
	}
}

func TestInputRefusesAndHolds(t *testing.T) {
	t.Parallel()
	d := newDaemon(t)
	id, file := d.recorder("r", "raw")
	for _, text := range []string{"esc \x1b[201~ x", "nul \x00", "del \x7f", "c1 \u0085", "cr \r\n", "bad \xff", strings.Repeat("x", 1<<20+1)} {
		if r, err := d.api.Input(d.ctx(), string(id), text, true); err == nil {
			t.Errorf("%.20q was accepted: %+v", text, r)
		}
	}
	big := strings.Repeat("0123456789abcde\n", 1<<16)
	r, err := d.api.Input(d.ctx(), string(id), big, true)
	if err != nil {
		t.Fatal(err)
	}
	if r = d.final(r); !r.Submitted() {
		t.Fatalf("1 MB: %s: %s", r.State, r.Reason)
	}
	checkReads(t, "raw", reads(t, file), []string{big})
}

// Text that's written while a dialog is open waits until it has closed; it can
// be taken back meanwhile.
func TestInputWaitsForDialog(t *testing.T) {
	t.Parallel()
	d := newDaemon(t)
	s, err := d.api.NewSession(d.ctx(), api.Create{Name: "dialog", Command: []string{"sh", "-c", `echo "Do you want to proceed?"; echo " 1. Yes"; read -r x; printf '\033[H\033[2J\033[3J'; echo "answered <$x>"; read -r y; echo "then <$y>"; read -r z`}})
	if err != nil {
		t.Fatal(err)
	}
	d.await("dialog", func() bool {
		text, err := d.api.Screen(d.ctx(), "dialog", "text")
		return err == nil && strings.Contains(text, "1. Yes")
	})
	held := func(text string) sessions.Receipt {
		r, err := d.api.Input(d.ctx(), "dialog", text, true)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	first, second := held("what is this please 7"), held("take me back")
	d.await("held", func() bool {
		r, err := d.api.Receipt(d.ctx(), first.ID)
		return err == nil && r.State == sessions.ReceiptHeld && r.Reason != ""
	})
	if _, err := d.api.Cancel(d.ctx(), second.ID); err != nil {
		t.Errorf("take back: %v", err)
	}
	if err := d.api.Keys(d.ctx(), "dialog", "1", "Enter"); err != nil {
		t.Fatal(err)
	}
	if r := d.final(first); !r.Submitted() {
		t.Fatalf("%s: %s", r.State, r.Reason)
	}
	d.await("both", d.has(s.ID, "then <what is this please 7>"))
	if !d.has(s.ID, "answered <1>")() {
		t.Errorf("the dialog was answered by the text: %q", d.lines(s.ID))
	}
}
