package agent

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/sessions"
)

// editsOfOneFile draws changes of one file, each of rows that no other has.
func editsOfOneFile(rt *rapid.T) (all []edits) {
	for i := range rapid.IntRange(2, 4).Draw(rt, "changes") {
		rows := func(name string, least, most int) (out []string) {
			for n := range rapid.IntRange(least, most).Draw(rt, name) {
				out = append(out, fmt.Sprintf("%s row %d of change %d%s", name, n, i, strings.Repeat(" word", rapid.IntRange(0, 30).Draw(rt, "words"))))
			}
			return out
		}
		e := edits{path: "notes.txt", first: rapid.IntRange(10, 1200).Draw(rt, "number of its first row"), create: rapid.IntRange(0, 3).Draw(rt, "a new file") == 0, now: rows("new", 1, 30)}
		if e.create {
			e.first = 1
		} else {
			e.old, e.above, e.below = rows("old", 1, 5), rows("above", 0, 3), rows("below", 0, 3)
			if e.shared = rapid.IntRange(0, 1).Draw(rt, "rows that both begin with"); e.shared == 1 {
				shared := fmt.Sprint("shared by both of change ", i)
				e.old, e.now = slices.Insert(e.old, 0, shared), slices.Insert(e.now, 0, shared)
			}
		}
		all = append(all, e)
	}
	return all
}

// Claude Code asks for several changes of one file, one after the other, in dialogs that are higher than the pane, so
// that only Read has them whole. Each is bound to its call's record if it is where it's the only one, whatever was
// asked before.
func TestTallEditsOfOneFileAreBound(t *testing.T) {
	h, process, bound := newHost(t), 100, 0
	drawtest.Check(t, func(rt *rapid.T) {
		all := editsOfOneFile(rt)
		low := rapid.IntRange(9, 16).Draw(rt, "rows of the pane")
		turns := rapid.Bool().Draw(rt, "each in a turn of its own")
		begin := func() *pane {
			process++
			p := h.pane(process)
			h.run(p.pid, process, h.now)
			return p
		}
		look := func(p *pane, rows []string) {
			for range 3 {
				h.now = h.now.Add(3 * time.Second)
				s := screenOfRows(rows)
				s.PID = p.pid
				p.see(sessions.Poll{Screen: s, Dialog: p.o.Dialog(visibleRows(s)), Now: h.now})
			}
		}
		ask := func(p *pane, e edits) string {
			look(p, idleScreen("claude"))
			if turns {
				p.o.known.calls.noteHook(Hook{Agent: "claude", Signal: PromptSent, At: h.now})
				look(p, idleScreen("claude"))
			}
			own := e.hook(rt, "claude", 0)
			own.At = h.now
			p.o.known.calls.noteHook(own)
			rows := e.drawnAs("claude", 100)
			look(p, rows[max(0, len(rows)-low):])
			whole := screenOfRows(rows)
			whole.PID = p.pid
			d := h.w.Read(p.id, whole, nil)
			if d != nil && d.Call != "" && d.Call != newCall(own).sum {
				rt.Fatalf("%s\nis bound to another call", strings.Join(rows, "\n"))
			}
			look(p, rows[max(0, len(rows)-low):])
			if d == nil || d.Disputed {
				return ""
			}
			return d.Call
		}
		p := begin()
		for i, e := range all {
			got := ask(p, e)
			if alone := ask(begin(), e); got != alone {
				rt.Fatalf("change %d of %d is bound to %q, and to %q where it's the only one:\n%s", i+1, len(all), got, alone, strings.Join(e.drawnAs("claude", 100), "\n"))
			}
			if got != "" {
				bound++
			}
		}
	})
	if bound == 0 {
		t.Error("none was bound")
	}
	t.Log(bound, "were bound")
}
