package inbound_test

import (
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/sessions"
)

// edited has somebody change a message, and returns the button that sends what stands there now.
func (w *world) edited(person string, first intake.Event, now intake.Edited) string {
	w.Helper()
	e := w.event(person, now)
	e.Message = first.Message
	w.do(e)
	return w.button(w.hub.take(), "Send the new text")
}

// An edited text that nothing takes any more isn't said to be sent.
func TestAnEditedTextThatIsNotTakenIsNotSaidToBeSent(t *testing.T) {
	for name, x := range map[string]struct {
		text   string
		change func(b *adapters.Binding)
		want   []string
	}{
		"no session":          {"second", func(b *adapters.Binding) { b.Unbound = true }, []string{"No session is bound", "Not sent."}},
		"it can't be typed":   {"a\x1b[201~b", func(*adapters.Binding) {}, []string{"control character", "Not sent."}},
		"no command":          {"/nothing", func(*adapters.Binding) {}, []string{"There's no command", "Not sent."}},
		"a command that errs": {"/continue maybe", func(*adapters.Binding) {}, []string{"Write /continue", "Not sent."}},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				ev := w.say(ann, "first")
				w.pass(5 * time.Second)
				w.hub.take()
				button := w.edited(ann, ev, intake.Edited{Text: x.text})
				if err := w.hub.change(w.hub.BindingsAt(group)[0].ID, x.change); err != nil {
					w.Fatal(err)
				}
				w.press(ann, button)
				w.pass(5 * time.Second)
				w.wantTyped("first")
				w.wantPosts(x.want...)
			})
		})
	}
}

// An old message that nothing takes any more isn't said to be run.
func TestAnOldTextThatIsNotTakenIsNotSaidToBeRun(t *testing.T) {
	inWorld(t, func(w *world) {
		ev := w.event(ann, intake.Said{Text: "late"})
		ev.At = time.Now().Add(-3 * time.Hour)
		w.do(ev)
		button := w.button(w.hub.take(), "Run")
		if err := w.hub.change(w.hub.BindingsAt(group)[0].ID, func(b *adapters.Binding) { b.Unbound = true }); err != nil {
			w.Fatal(err)
		}
		w.press(ann, button)
		w.wantTyped()
		w.wantPosts("No session is bound", "Not run.")
	})
}

// An edited reply to a question answers it, as a new one does, however long ago it was edited.
func TestAnEditedReplyAnswersAQuestion(t *testing.T) {
	inWorld(t, func(w *world) {
		w.panes.setDialog(true)
		d := permission()
		d.Text = ""
		w.question("pr_1", d)
		w.hub.take()
		ev := w.event(dora, intake.Said{Text: "the secnod", ReplyTo: "p1"})
		w.do(ev)
		w.hub.take()
		button := w.edited(dora, ev, intake.Edited{Text: "#2", ReplyTo: "p1"})
		w.pass(time.Hour)
		w.hub.take()
		w.press(dora, button)
		if took := w.asks.Took(); len(took) != 1 {
			t.Errorf("answers are %+v", took)
		}
		w.wantTyped()
	})
}

// Who is to write an answer and sends something else than a text is told, and what they write next still is the answer: it's
// typed into no session.
func TestAFileInPlaceOfAnAnswerLeavesItToBeWritten(t *testing.T) {
	inWorld(t, func(w *world) {
		w.question("iq_1", sessions.Dialog{Kind: sessions.PromptInquiry, Title: "Which name?", Body: "Which name?", Text: "Write an answer…"})
		w.press(dora, w.button(w.hub.take(), "Write an answer…"))
		w.hub.take()
		w.do(w.event(dora, intake.Said{Files: []intake.Attachment{voiceNote("a")}}))
		w.wantPosts("A question takes a text alone.")
		w.say(dora, "panebridge")
		w.pass(5 * time.Second)
		if took := w.asks.Took(); len(took) != 1 || took[0].Text != "panebridge" {
			t.Errorf("answers are %+v", took)
		}
		w.say(dora, "go on")
		w.pass(5 * time.Second)
		w.wantTyped("go on")
	})
}
