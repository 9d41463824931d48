package typing

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/sessions"
)

// While an answer goes through a list, what was seen of it before counts as long as the mark
// goes with its keys; somebody who checks something at the pane has to move the mark there.
func TestWhatWasSeenOfAListCounts(t *testing.T) {
	drawtest.Check(t, func(rt *rapid.T) {
		options, c := rapid.IntRange(4, 9).Draw(rt, "options"), checks{}
		checked := make([]bool, options)
		mark, known := 0, map[int]bool{} // known: since when nobody else has been there
		for range rapid.IntRange(1, 30).Draw(rt, "looks") {
			switch rapid.SampledFrom([]string{"Up", "Down", "number", "person", "question"}).Draw(rt, "what happens") {
			case "Up":
				mark, c.key = max(mark-1, 0), "Up"
			case "Down":
				mark, c.key = min(mark+1, options-1), "Down"
			case "number":
				mark = rapid.IntRange(0, min(options, 9)-1).Draw(rt, "number")
				checked[mark], c.key = !checked[mark], string(rune('1'+mark))
			case "person": // moves the mark, and checks something there
				c.key = "Down"
				to := rapid.IntRange(0, options-1).Draw(rt, "to")
				if to-mark > 1 || mark-to > 1 {
					known = map[int]bool{}
				}
				mark = to
				checked[mark] = !checked[mark]
			case "question":
				c.print, known = "another", map[int]bool{}
			}
			d := &sessions.Dialog{Kind: sessions.PromptMulti, Print: "p", Window: &sessions.ListWindow{First: max(mark-1, 0) + 1, Marked: mark + 1}}
			for i := range options {
				o := sessions.DialogOption{Hidden: i < mark-1 || i > mark+1}
				if !o.Hidden {
					o.Checked, known[i] = checked[i], true
				}
				d.Options = append(d.Options, o)
			}
			c.recallChecks(d)
			for i, o := range d.Options {
				if o.Hidden == known[i] || !o.Hidden && o.Checked != checked[i] {
					rt.Fatalf("option %d is %+v, and checked is %v, known %v", i+1, o, checked, known)
				}
			}
		}
	})
}

// Of a key that checks an option, the check is waited for, whatever else moves before.
func TestACheckIsSeenBeforeTheNextKey(t *testing.T) {
	drawtest.Check(t, func(rt *rapid.T) {
		options := make([]sessions.DialogOption, rapid.IntRange(1, 5).Draw(rt, "options"))
		for i := range options {
			options[i].Checked = rapid.Bool().Draw(rt, "checked")
		}
		which := rapid.IntRange(0, len(options)-1).Draw(rt, "which")
		before := &dialogSnapshot{dialog: &sessions.Dialog{Kind: sessions.PromptMulti, Print: "p", Options: options}}
		after := slices.Clone(options)
		checked, moved := rapid.Bool().Draw(rt, "its check is drawn"), rapid.Bool().Draw(rt, "its mark is drawn")
		now := &dialogSnapshot{dialog: &sessions.Dialog{Kind: sessions.PromptMulti, Print: "p", Options: after}}
		if checked {
			after[which].Checked = !after[which].Checked
		}
		if moved {
			now.dialog.Marked = which + 1
		}
		since := time.Duration(rapid.IntRange(0, 1000).Draw(rt, "milliseconds")) * time.Millisecond
		want := checked || moved && since >= settleFor // long after the key it may be drawn another way
		if got := hasReacted(sessions.DialogStep{Toggles: which + 1}, before, now, since); got != want {
			rt.Fatalf("it has reacted: %t", got)
		}
	})
}
