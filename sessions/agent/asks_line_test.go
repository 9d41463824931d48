package agent

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/clipperhouse/displaywidth"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/sessions"
)

// lineAsks are rows by which programs ask for a line, linePrompts such behind which they
// take commands.
var (
	lineAsks = []string{
		"Name: ", "Your name? ", "Password: ", "[sudo] password for ada: ", "Username for 'https://example.org': ", "Are you sure you want to continue connecting (yes/no/[fingerprint])? ",
		"Press Enter to continue", "Press any key to continue . . .", "Project name (demo): ", "Proceed [default]", "Enter passphrase for key '/srv/k': ", "What's the port? (8080) ", "名前：", "Subject: ",
		"License type [MIT]: ", "Weiter mit Return …",
	}
	linePrompts = []string{
		"", "$ ", "# ", "> ", "% ", ">>> ", "... ", "sqlite> ", "   ...> ", "postgres=# ", "postgres-# ", "postgres(# ", "(gdb) ", "(Pdb) ", "(lldb) ", "In [3]: ", "In[3]: ", "Out[3]: ", "irb(main):001:0> ",
		"[ada@host src]$ ", "ada@host:/srv/my dir$ ", "root@host:~# ", "MariaDB [(none)]> ", "127.0.0.1:6379> ", "redis 127.0.0.1:6379> ", "main[1] ", "(%i1) ", "?- ", "| ", ": ", "* ", "λ ", "❯ ", "~/src ➜ ", "php > ", "[1] pry(main)> ",
		"ftp> ", "octave:1> ", "julia> ", "1> ", "iex(1)> ", "scheme@(guile-user)> ", "    -> ", "(dlv) ", "half-", "nothing here", "Downloading 5 of 9", "ada@host ~ % ",
	}
)

func TestRowsThatAskForALine(t *testing.T) {
	for _, row := range lineAsks {
		if !asksForLine(strings.TrimSpace(row)) {
			t.Errorf("%q asks for a line", row)
		}
	}
	for _, row := range linePrompts {
		for _, typed := range []string{"", "x", "echo what: ", "is it?", "ls [a-z]"} {
			if row == "" || row == "half-" || row == "nothing here" || strings.HasPrefix(row, "Down") || strings.Trim(row, "|:*. ") == "" || strings.HasSuffix(row, ") ") || strings.HasSuffix(row, "] ") || strings.HasSuffix(row, "]: ") {
				typed = "" // that it was typed only the waits tell
			}
			if asksForLine(strings.TrimSpace(row + typed)) {
				t.Errorf("%q doesn't ask for a line", row+typed)
			}
		}
	}
}

// reader is a program that prints, waits for lines and goes on, and somebody who types.
type reader struct {
	rows    []string // of the whole history
	width   int
	height  int
	reading Reading
	printed string // in the row in which it waits, by the program alone
	wrapped []bool
}

func (r *reader) print(text string) {
	for _, c := range text {
		last := len(r.rows) - 1
		switch {
		case c == '\n':
			r.rows, r.wrapped = append(r.rows, ""), append(r.wrapped, false)
		case displaywidth.String(r.rows[last]+string(c)) > r.width:
			r.wrapped[last] = true
			r.rows, r.wrapped = append(r.rows, string(c)), append(r.wrapped, false)
		default:
			r.rows[last] += string(c)
		}
	}
}

func (r *reader) snapshot() *sessions.Snapshot {
	first := max(0, len(r.rows)-r.height)
	s := &sessions.Snapshot{
		PID: 7, Width: r.width, Height: r.height, HistorySize: first, First: first, CursorVisible: true,
		Rows: append([]string{}, r.rows[first:]...), Wrapped: append([]bool{}, r.wrapped[first:]...),
	}
	s.CursorY = len(s.Rows) - 1
	s.CursorX = displaywidth.String(s.Rows[s.CursorY])
	for len(s.Rows) < r.height {
		s.Rows, s.Wrapped = append(s.Rows, ""), append(s.Wrapped, false)
	}
	return s
}

// Programs print questions and prompts, wait, and are typed at, while looks come at any
// time. What's told of a question is what the program printed, and never what was typed; it's
// told of one that was seen before anything was typed, if its program hasn't read lines
// without a question before; and of no prompt.
func TestLinesThatAreAskedFor(t *testing.T) {
	times := 3000
	if drawtest.Stressed() {
		times = 100_000
	}
	random := drawtest.Rand(t, 0)
	told, h := 0, newHost(t)
	for range times {
		told += lineHistory(h, random)
		if t.Failed() {
			return
		}
	}
	if told < times/2 {
		t.Errorf("%d questions were told of in %d histories", told, times)
	}
}

func lineHistory(h *paneHost, random *rand.Rand) (told int) {
	h.Helper()
	r := &reader{rows: []string{""}, wrapped: []bool{false}, width: 30 + random.IntN(80), height: 5 + random.IntN(30)}
	h.w.opt.Reads = func(*sessions.Snapshot) Reading { return r.reading }
	o, err := newObserver(h.w, sessions.Session{ID: "pb_1"}, "", nil)
	if err != nil {
		h.Fatal(err)
	}
	now := h.now
	by := Process{PID: 8, Started: now, Name: "setup", Args: []string{"setup"}}
	var history []string
	look := func() (string, *sessions.Dialog) {
		reason, d, again := o.asksLine(sessions.Poll{Screen: r.snapshot(), Now: now})
		if soon := now.Add(lineBehindFor); !again.IsZero() && !again.After(soon) { // before anybody types
			now = soon
			reason, d, _ = o.asksLine(sessions.Poll{Screen: r.snapshot(), Now: now})
		}
		history = append(history, fmt.Sprintf("look: %q %v", reason, d))
		now = now.Add(time.Duration(random.IntN(3000)) * time.Millisecond)
		return reason, d
	}
	fed := false
	for range 1 + random.IntN(8) {
		r.reading = Reading{Canonical: true}
		for range random.IntN(3) {
			r.print(fmt.Sprintf("line %d of what it does:\n", random.IntN(100)))
			if random.IntN(3) == 0 {
				if _, d := look(); d != nil {
					h.Fatalf("a program that doesn't read asks %q\n%s", d.Title, strings.Join(history, "\n"))
				}
			}
		}
		asks, hidden := random.IntN(2) == 0, random.IntN(6) == 0
		r.printed = linePrompts[random.IntN(len(linePrompts))]
		if asks {
			r.printed = lineAsks[random.IntN(len(lineAsks))]
		}
		r.print(r.printed)
		history = append(history, fmt.Sprintf("prints %q, hidden %t", r.printed, hidden))
		if random.IntN(3) == 0 {
			look()
		}
		r.reading = Reading{Canonical: true, Hidden: hidden, Reads: true, By: by, Waits: r.reading.Waits + random.Uint64N(1<<40)}
		row := strings.TrimSpace(r.printed)
		seen := false // before anything was typed
		typed := ""
		for range random.IntN(12) {
			switch random.IntN(3) {
			case 0:
				reason, d := look()
				seen = seen || typed == ""
				if d != nil {
					told++
					// A half-typed row that reads like a question, of which no look saw the beginning, is
					// the one thing that can't be told.
					if d.Title != row && (seen || hidden) || !asks && !hidden && seen {
						h.Fatalf("%q is told of %q\n%s", d.Title, row, strings.Join(history, "\n"))
					}
				}
				if (reason != "") != (asks || hidden) && seen && !fed {
					h.Fatalf("%q of %q\n%s", reason, row, strings.Join(history, "\n"))
				}
			default:
				more := []string{"a", "Ada ", "todo: ", "is it? ", "hunter2", strings.Repeat("long ", 9) + "line: ", "$ x"}[random.IntN(7)]
				typed += more
				if !hidden {
					r.print(more)
				}
				history = append(history, fmt.Sprintf("typed %q", more))
			}
		}
		fed = fed || row == "" && seen
		r.print("\n")
		if random.IntN(2) == 0 { // another look while it works
			r.reading = Reading{Canonical: true}
			look()
		}
	}
	return told
}

// A program that reads long after it has asked is noticed all the same, though nothing else has anybody look: soon
// if it reads soon, and within readLate however late it is. On a busy machine a screen is older than what's known of its
// program, and each look comes late.
func TestQuestionsOfProgramsThatReadLate(t *testing.T) {
	random := drawtest.Rand(t, 0)
	h := newHost(t)
	for range 200 {
		r := &reader{rows: []string{"Go on? [y/N] "}, wrapped: []bool{false}, width: 80, height: 24, reading: Reading{Canonical: true}}
		h.w.opt.Reads = func(*sessions.Snapshot) Reading { return r.reading }
		o, err := newObserver(h.w, sessions.Session{ID: "pb_1"}, "", nil)
		if err != nil {
			t.Fatal(err)
		}
		reads, late := time.Duration(random.Int64N(int64(5*time.Minute))), time.Duration(random.IntN(2)*random.IntN(int(lineSecond-lineBehindFor)))
		behind := random.IntN(2) == 0 // the screen of the look that finds it reading
		now, looks := h.now, 0
		for {
			screen := r.snapshot()
			if now.Sub(h.now) >= reads {
				if !r.reading.Reads && behind {
					screen.Rows[screen.CursorY], screen.CursorX = "", 0
				}
				r.reading = Reading{Canonical: true, Reads: true, By: Process{PID: 8, Started: h.now, Name: "setup", Args: []string{"setup"}}}
			}
			_, d, again := o.asksLine(sessions.Poll{Screen: screen, Now: now})
			if looks++; d != nil {
				break
			}
			if again.IsZero() {
				t.Fatalf("it reads after %s, and nobody looks any more after %s", reads, now.Sub(h.now))
			}
			if now = again.Add(late); !now.After(h.now) {
				t.Fatal("it's to be looked at in the past")
			}
		}
		if took := now.Sub(h.now) - reads; took > min(readLate, max(readSoon/6, reads/4))+lineBehindFor+2*late {
			t.Errorf("it reads after %s, and that was seen %s later", reads, took)
		}
		if most := 30 + int(reads/readLate); looks > most {
			t.Errorf("it was looked at %d times in %s, want %d at most", looks, reads, most)
		}
	}
}
