package platformtest

import (
	"fmt"
	"testing"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// Listed is a message as people see it who look for the list of sessions.
type Listed struct {
	Pinned, Rang bool
	Text         string
	Edits        []time.Time
}

// PinnedList is the conformance suite of the list of sessions: it's pinned where the bot may
// pin, without a ring, and edited when something has happened, not more often than twice a
// minute. seen is what people see of the bot where the list belongs, right whether its text
// is that of one session that works.
func PinnedList(t *testing.T, o *Office, seen func() []Listed, right func(text string) bool) {
	t.Helper()
	board := func() Listed {
		t.Helper()
		all := seen()
		if len(all) == 0 {
			t.Fatal("there's no list")
		}
		return all[0]
	}
	o.Pass(3 * time.Minute)
	if m := board(); !m.Pinned || m.Rang || !right(m.Text) {
		t.Errorf("the list is %+v", m)
	}
	for i := range 10 {
		id := fmt.Sprint("pr_", i)
		o.Ask(id)
		o.Pass(10 * time.Second)
		p, err := o.Questions().Prompt(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		p.State = sessions.PromptClosed
		o.Questions().Change(p)
		o.Pass(time.Second)
	}
	o.Pass(2 * time.Minute)
	edits := board().Edits
	for i := range edits {
		if i > 0 && edits[i].Sub(edits[i-1]) < 30*time.Second {
			t.Errorf("edited at %s and %s", edits[i-1], edits[i])
		}
	}
	if len(edits) == 0 {
		t.Error("it was never edited")
	}
	o.Restart()
	o.Pass(5 * time.Minute)
	if n := len(seen()); n != 1 {
		t.Errorf("there are %d messages, want the list alone", n)
	}
}
