package agent

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/sessions"
)

// twinsOf are new files of which the end is drawn as that of another is, or nearly.
func twinsOf(rt *rapid.T, e edits, least int) (out []edits) {
	for range rapid.IntRange(least, 2).Draw(rt, "twins") {
		twin := e
		twin.now = slices.Clone(e.now)
		switch rapid.IntRange(0, 5).Draw(rt, "what's different") {
		case 0:
			twin.path = "other/" + e.path
		case 1:
			twin.now[0] = "harmless"
		case 2:
			twin.now = append([]string{"one more"}, twin.now...)
		case 3:
			twin.now[len(twin.now)-1] += " harmless"
		case 4:
			twin.path = "harmless.txt"
		default:
			twin.now = twin.now[1:]
		}
		out = append(out, twin)
	}
	return out
}

// A new file of which Claude Code draws the end alone is shown by the record of its call while the hook of that very
// call waits, which then is what allows it: whatever else is told, no other record is taken, and no key allows it.
func TestEndsOfNewFilesAreAllowedByTheirHooks(t *testing.T) {
	h, process, seen := newHost(t), 100, map[string]int{}
	drawtest.Check(t, func(rt *rapid.T) {
		e := edits{path: rapid.SampledFrom([]string{"notes.txt", "a b.go", "漢字.md"}).Draw(rt, "path"), first: 1, create: true}
		for n := range rapid.IntRange(30, 120).Draw(rt, "rows") {
			e.now = append(e.now, fmt.Sprintf("row %d%s", n, strings.Repeat(" word", rapid.IntRange(0, 30).Draw(rt, "words"))))
		}
		own, waits := rapid.Bool().Draw(rt, "its own record is told"), rapid.IntRange(0, 3).Draw(rt, "its hook waits") < 3
		least := 1
		if own {
			least = 0
		}
		twins := twinsOf(rt, e, least)
		process++
		p := h.pane(process)
		h.run(p.pid, process, h.now)
		look := func(rows []string) *sessions.Dialog {
			h.now = h.now.Add(3 * time.Second)
			s := screenOfRows(rows)
			s.PID = p.pid
			p.see(sessions.Poll{Screen: s, Dialog: p.o.Dialog(visibleRows(s)), Now: h.now})
			return h.w.Read(p.id, s, nil)
		}
		look(idleScreen("claude"))
		tell := func(e edits, waits bool) string {
			hook := e.hook(rt, "claude", 0)
			hook.Tool, hook.At = "Write", h.now
			p.o.known.calls.noteHook(hook)
			if waits {
				p.o.known.deciders = append(p.o.known.deciders, newDecider(hook, letters(e.path)))
			}
			return newCall(hook).sum
		}
		sum := ""
		if own {
			sum = tell(e, waits)
		}
		for _, twin := range twins {
			tell(twin, true)
		}
		rows := e.drawnAs("claude", 100)
		low := rapid.IntRange(9, 30).Draw(rt, "rows of the pane")
		d := look(rows[len(rows)-low:])
		if d == nil {
			rt.Fatalf("it isn't read:\n%s", strings.Join(rows[len(rows)-low:], "\n"))
		}
		allowed := slices.IndexFunc(d.Options, func(o sessions.DialogOption) bool { return o.Label == "Yes" })
		switch bound := !d.Unseen && !d.Disputed; {
		case bound && own && (!waits || d.Call != sum || len(twins) > 0):
			rt.Fatalf("it's bound to %q (its own: %q, which waits: %t, beside %d)", d.Call, sum, waits, len(twins))
		case bound && !own && (twins[0].path != e.path && !strings.HasSuffix(twins[0].path, "/"+e.path) || len(twins[0].now) != len(e.now) || twins[0].now[len(e.now)-1] != e.now[len(e.now)-1]):
			rt.Fatalf("it's bound to what draws something else: %+v", twins)
		case bound:
			for i, o := range d.Options {
				if d.Offers(i) != (i == allowed || o.Refuses) {
					rt.Fatalf("%q is offered: %t", o.Label, d.Offers(i))
				}
			}
			if _, err := h.w.Next(p.id, d, sessions.Answer{Options: []int{allowed}}); !errors.Is(err, sessions.ErrUnavailable) {
				rt.Fatalf("a key allows it: %v", err)
			}
			seen["bound"]++
		case own && waits && len(twins) == 0 && low > 14:
			rt.Fatalf("it isn't bound:\n%s\n%s", strings.Join(rows[len(rows)-low:], "\n"), d.Body)
		case d.Offers(allowed):
			rt.Fatal("it can be allowed, and nothing says what it is")
		default:
			seen["part"]++
		}
	})
	if t.Log(seen); seen["bound"] == 0 || seen["part"] == 0 {
		t.Errorf("not all of it was drawn: %v", seen)
	}
}
