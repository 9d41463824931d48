package agent

import (
	"regexp"
	"strings"
	"testing"

	"github.com/panebridge/panebridge/internal/recording"
)

// pasted is what programs show in place of a long text.
var pasted = regexp.MustCompile(`^\[Pasted .*\]$`)

// unwritten was typed in ways that the recordings have no text of.
var unwritten = []string{"Please say hello in one burst", "line two via C-j", "line two via M-Enter", "unbracketed two"}

// What stands in the input box is what was typed, or nothing; once the program has
// begun, its box is on the screen whenever no dialog is.
func TestBoxIsRead(t *testing.T) {
	all, err := recording.All()
	if err != nil {
		t.Fatal(err)
	}
	set, err := LoadSet()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range all {
		t.Run(r.Name, func(t *testing.T) {
			frames, err := r.Frames()
			if err != nil {
				t.Fatal(err)
			}
			actions, err := r.Actions()
			if err != nil {
				t.Fatal(err)
			}
			p := set.Get(r.Agent)
			var typed strings.Builder
			typed.WriteString(letters(strings.Join(unwritten, " ")))
			begun, away, filled, queued := false, 0, 0, false
			for i := range frames {
				for len(actions) > 0 && actions[0].At <= frames[i].At {
					typed.WriteString(letters(actions[0].Text))
					actions = actions[1:]
				}
				s := &frames[i].Snapshot
				b := p.Box(s)
				begun, queued = begun || b.Open, queued || b.Queued
				switch l := p.layout(s, true); {
				case !b.Known:
					t.Fatal("its box isn't known")
				case !b.Open && begun && l.dialog < 0 && strings.TrimSpace(l.text) != "":
					away++
				case b.Text != "":
					filled++
					for row := range strings.SplitSeq(b.Text, "\n") {
						if !pasted.MatchString(row) && !strings.Contains(typed.String(), letters(row)) {
							t.Errorf("at %v in the box: %q", frames[i].At, row)
						}
					}
				}
			}
			if away > len(frames)/50 { // half drawn
				t.Errorf("the box was away in %d frames", away)
			}
			if filled < 5 {
				t.Errorf("a text stood in the box in %d frames", filled)
			}
			if waits := strings.Contains(r.Name, "/error-") && r.Agent != "codex"; waits && !queued {
				t.Error("a text was queued, and not seen to be")
			}
		})
	}
}
