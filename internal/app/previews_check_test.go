package app_test

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/panebridge/panebridge/internal/inbox"
	"github.com/panebridge/panebridge/internal/standin"
)

// unseen is for how long a key that a program has read may not have come to the screen,
// and from there to who looks and then types, with many programs on two processors.
const unseen = 60 * time.Millisecond

var previewHead = regexp.MustCompile(`\[panebridge (?:(\d+) messages, newest )?msg (m_[0-9a-f]+) from`)

// typedCount is what was done in the pane of an agent.
type typedCount struct {
	pasted, mails, submitted int
	early                    int // what nobody could have seen
}

// checkPreviews compares what the programs have read with the mails.
func (r *previewRig) checkPreviews() {
	r.Helper()
	all, typed := typedCount{}, 0
	pasted := map[string]int{}
	for i, m := range r.members {
		entries, err := standin.ReadJournal(m.play.Journal)
		if err != nil {
			r.Fatal(err)
		}
		c := r.checkJournal(m, entries, pasted)
		rows := r.checkPoll(i)
		if c.mails != rows {
			r.Errorf("%s: previews of %d mails were typed, %d are said to be", m.session.Name, c.mails, rows)
		}
		r.Logf("%s: %+v", m.session.Name, c)
		all.pasted, all.submitted, all.early, typed = all.pasted+c.pasted, all.submitted+c.submitted, all.early+c.early, typed+rows
	}
	for id, n := range pasted {
		if n > 1 {
			r.Errorf("the preview of %s was typed %d times", id, n)
		}
		if _, ok := r.sent[id]; !ok {
			r.Errorf("a preview of %s was typed, which nobody sent", id)
		}
	}
	r.Logf("%d mails, %d announced by %d previews, %d of which were submitted; what nobody could see: %d; not announced at once: %v", len(r.sent), typed, all.pasted, all.submitted, all.early, r.refused)
	if len(r.sent) < r.atLeast || all.pasted < r.previews {
		r.Errorf("%d mails were sent and %d previews typed, not %d and %d", len(r.sent), all.pasted, r.atLeast, r.previews)
	}
	if all.submitted < 5 || all.submitted*4 < all.pasted || len(r.refused) < 3 {
		r.Errorf("too little happened to tell anything")
	}
}

// checkJournal looks at all that came into a pane while somebody or something else was
// there.
func (r *previewRig) checkJournal(m *previewMember, entries []standin.Entry, pasted map[string]int) (c typedCount) {
	r.Helper()
	var key time.Time // when a person's was read last
	last := ""        // preview
	broken := false   // a dialog that nobody could see has taken its beginning
	for i, e := range entries {
		preview := previewHead.FindStringSubmatch(e.Text)
		hidden := e.Early || e.At.Sub(key) < unseen
		other := strings.TrimSpace(e.Box)
		switch {
		case e.Kind == standin.Submitted && preview != nil:
			c.submitted++
			continue
		case e.Kind == standin.Lost && preview != nil:
			r.Errorf("%s: a preview was typed before it had an input box: %q", m.session.Name, e.Text)
		case e.Kind != standin.Pressed:
			continue
		case e.Person:
			key = e.At
			continue
		case e.Key == "paste" && preview != nil:
			c.count(preview, pasted)
			last, broken = e.Text, hidden && e.Dialog > 0
		case e.Key != "Enter":
			r.Errorf("%s: %q %q was typed, which is no preview", m.session.Name, e.Key, e.Text)
			continue
		case other == strings.TrimSpace(last), broken && strings.HasSuffix(inOneRow(last), inOneRow(other)):
			other = "" // which this Enter submits
		}
		switch {
		case e.Dialog == 0 && other == "":
		case hidden:
			c.early++
			r.Logf("%s: entry %d, %s %q came as it couldn't be seen that dialog %d was open or %q stood in the box", m.session.Name, i, e.Key, e.Text, e.Dialog, other)
		case e.Dialog != 0:
			r.Errorf("%s: entry %d, %s %q was typed into dialog %d", m.session.Name, i, e.Key, e.Text, e.Dialog)
		default:
			r.Errorf("%s: entry %d, %s %q was typed to %q, %s behind a person's last key", m.session.Name, i, e.Key, e.Text, other, e.At.Sub(key))
		}
	}
	return c
}

// inOneRow is a text without its line break, which may have been an Enter in a dialog.
func inOneRow(text string) string { return strings.ReplaceAll(text, "\n", "") }

func (c *typedCount) count(preview []string, pasted map[string]int) {
	c.pasted++
	pasted[preview[2]]++
	n, err := strconv.Atoi(preview[1])
	if err != nil {
		n = 1
	}
	c.mails += n
}

// checkPoll looks whether a member finds its mails, and returns how many are said to be
// announced.
func (r *previewRig) checkPoll(member int) (announced int) {
	r.Helper()
	for _, m := range r.box(member) {
		if m.Preview == inbox.PreviewTyped {
			announced++
			r.refused[m.Why]++
		} else if m.Preview != inbox.PreviewWaiting {
			r.Errorf("the preview of %s is %s: %s", m.ID, m.Preview, m.Why)
		}
	}
	out, err := r.command("poll", "--json", "--from", r.members[member].session.Name, "--limit", "5000")
	if err != nil {
		r.Fatal(err)
	}
	var mails []inbox.Mail
	if err := json.Unmarshal(out, &mails); err != nil {
		r.Fatal(err)
	}
	found := map[string]int{}
	for _, m := range mails {
		found[m.ID]++
	}
	for id, to := range r.sent {
		if want := map[bool]int{true: 1}[to == member]; found[id] != want {
			r.Errorf("%s finds %s %d times, not %d", r.members[member].session.Name, id, found[id], want)
		}
	}
	return announced
}
