package inbox_test

import (
	"context"
	"runtime"
	"strings"
	"testing"

	"github.com/panebridge/panebridge/internal/inbox"
)

// mortalStore and mortalPane are used by a process that's killed at one of its steps.
type mortalStore struct {
	inbox.Store
	*mortality
}

type mortality struct{ steps int }

func (m *mortality) step() {
	if m.steps--; m.steps == 0 {
		runtime.Goexit()
	}
}

func (s mortalStore) TakePreviews(ctx context.Context, to inbox.Address) ([]inbox.Mail, error) {
	s.step()
	mails, err := s.Store.TakePreviews(ctx, to)
	s.step()
	return mails, err
}

func (s mortalStore) SetPreviews(ctx context.Context, ids []string, p inbox.PreviewState, why string) error {
	s.step()
	err := s.Store.SetPreviews(ctx, ids, p, why)
	s.step()
	return err
}

// mortalPane is the pane of an agent: what stands in its box, and what was submitted.
type mortalPane struct {
	*mortality
	box       string
	dialog    bool
	submitted []string
}

func (p *mortalPane) Type(_ context.Context, _ inbox.Party, text string, _ bool) (bool, string, error) {
	p.step()
	if p.box != "" {
		return false, "a half-typed text stands in its input box", nil
	}
	p.box = text
	p.step()
	p.submit()
	return true, "", nil
}

func (p *mortalPane) submit() {
	p.submitted, p.box = append(p.submitted, p.box), ""
	p.step()
}

func (p *mortalPane) Finish(_ context.Context, _ inbox.Party, text string) (inbox.PreviewState, string) {
	p.step()
	switch {
	case p.dialog:
		return inbox.PreviewTyping, "a dialog is open"
	case p.box != text:
		return inbox.PreviewNone, "it doesn't stand in its input box"
	}
	p.submit()
	return inbox.PreviewTyped, ""
}

// Who announces is killed at each of its steps, and so is the next who does, in the midst
// of looking after what was left. No preview is typed twice, none is left in the box, and
// no row stays as being typed; what's sent later is announced.
func TestKilledAnywhere(t *testing.T) {
	told := 0
	for killed := 1; killed <= 8; killed++ {
		for again := range 8 {
			f := newFleet(t)
			life := &mortality{}
			pane := &mortalPane{mortality: life}
			announce := func(steps int) {
				t.Helper()
				life.steps = steps
				done := make(chan bool)
				go func() {
					defer close(done)
					p := &inbox.Previews{Store: mortalStore{f.db, life}, Typist: pane}
					if err := p.Announce(t.Context(), "pb_work"); err != nil {
						t.Error(err)
					}
				}()
				<-done
			}
			f.box.Announce = nil
			first, second := f.send("pb_lead", "pb_work", "one"), f.send("pb_lead", "pb_work", "two")
			announce(killed)
			pane.dialog = pane.box != ""
			announce(0) // what's not known yet stays so, and keeps what comes later from being typed
			pane.dialog = false
			announce(again)
			third := f.send("pb_lead", "pb_work", "three")
			announce(0)
			all, err := f.db.Mail(t.Context(), inbox.Query{To: "pb_work"})
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range all {
				if m.Preview != inbox.PreviewTyped && (m.Preview != inbox.PreviewNone || !strings.Contains(m.Why, "unknown") || m.ID == third.Mail.ID) {
					t.Errorf("killed at step %d, and then %d: %s is %s: %s", killed, again, m.Text, m.Preview, m.Why)
				}
			}
			said := strings.Join(pane.submitted, "\n")
			if pane.box != "" || strings.Count(said, second.Mail.ID) > 1 || strings.Count(said, third.Mail.ID) != 1 || strings.Contains(said, first.Mail.ID) {
				t.Errorf("killed at step %d, and then %d: %q submitted, %q is left", killed, again, pane.submitted, pane.box)
			}
			told += strings.Count(said, second.Mail.ID)
		}
	}
	if told < 8 {
		t.Errorf("only %d were told", told)
	}
}

// TestNotKnownYet: while it can't be told what became of one, the next wait, and say so.
func TestNotKnownYet(t *testing.T) {
	f := newFleet(t)
	f.screen.left, f.screen.why = inbox.PreviewTyping, "a dialog is open"
	box := f.box
	f.box.Announce = nil
	left := f.send("pb_lead", "pb_work", "left")
	if _, err := f.db.TakePreviews(t.Context(), "pb_work"); err != nil {
		t.Fatal(err)
	}
	f.box = box
	next := f.send("pb_lead", "pb_work", "next")
	if next.NotificationSent || !strings.Contains(next.Reason, "a dialog is open") || len(f.screen.typed) > 0 {
		t.Errorf("%+v, typed %q", next, f.screen.typed)
	}
	f.screen.left, f.screen.why = inbox.PreviewNone, ""
	if err := f.box.Announce.Announce(t.Context(), "pb_work"); err != nil || len(f.screen.typed) != 1 {
		t.Errorf("%v, typed %q", err, f.screen.typed)
	}
	all, err := f.db.Mail(t.Context(), inbox.Query{ID: left.Mail.ID})
	if err != nil || len(all) != 1 || all[0].Preview != inbox.PreviewNone {
		t.Errorf("%+v, %v", all, err)
	}
}
