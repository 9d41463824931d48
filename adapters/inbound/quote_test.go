package inbound_test

import (
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/sessions"
)

// quoting has the session's binding quote, an agent read what's typed, and message 77 be of the mirror.
func (w *world) quoting(addressee sessions.Addressee) {
	w.Helper()
	s := w.manager.List()[0]
	s.Addressee = addressee
	w.hub.mu.Lock()
	w.hub.bindings[0].Quotes = true
	b := w.hub.bindings[0]
	w.hub.mu.Unlock()
	b.Origin, b.CreatedAt = adapters.ByHand, time.Now()
	doc := adapters.NewDocument(0, adapters.LogProgress{})
	for _, err := range []error{
		w.store.PutSession(w.Context(), s), w.store.PutBinding(w.Context(), b, &doc),
		w.store.PutDocument(w.Context(), b.ID, doc, &adapters.Message{ID: "77", From: adapters.Position{Line: 1}, To: adapters.Position{Line: 2}}),
	} {
		if err != nil {
			w.Fatal(err)
		}
	}
	w.restart()
}

// Who answers a message of the mirror, or of a person, has an agent see what's answered, if that's asked for; nothing else is
// changed, and nothing that a program would do something with.
func TestAReplyQuotesWhatItAnswers(t *testing.T) {
	const agent = "agent:claude"
	ours, theirs := intake.Quoted{Text: "3 tests fail:\n\n  a\n\x1b[31mb", Ours: true}, intake.Quoted{Text: "use Go"}
	for name, c := range map[string]struct {
		to     sessions.Addressee
		said   intake.Said
		off    bool
		want   string
		person string
	}{
		"a message of the mirror":  {to: agent, said: intake.Said{Text: "which?", ReplyTo: "77", Quoted: ours}, want: "> 3 tests fail:\n>   a\n> [31mb\n\nwhich?"},
		"a person's":               {to: agent, said: intake.Said{Text: "yes\nplease", ReplyTo: "78", Quoted: theirs}, want: "> use Go\n\nyes\nplease"},
		"where it isn't asked for": {to: agent, off: true, said: intake.Said{Text: "yes", ReplyTo: "78", Quoted: theirs}, want: "yes"},
		"another message of ours":  {to: agent, said: intake.Said{Text: "thanks", ReplyTo: "79", Quoted: ours}, want: "thanks"},
		"a command":                {to: agent, said: intake.Said{Text: "//clear", ReplyTo: "78", Quoted: theirs}, want: "/clear"},
		"a shell's command":        {to: agent, said: intake.Said{Text: " !ls", ReplyTo: "78", Quoted: theirs}, want: " !ls"},
		"a note":                   {to: agent, said: intake.Said{Text: "# remember", ReplyTo: "78", Quoted: theirs}, want: "# remember"},
		"a picture":                {to: agent, said: intake.Said{Text: "this?", ReplyTo: "78"}, want: "this?"},
		"to a shell":               {to: "shell:1", said: intake.Said{Text: "ls", ReplyTo: "78", Quoted: theirs}, want: "ls"},
		"to whoever reads it":      {said: intake.Said{Text: "ls", ReplyTo: "78", Quoted: theirs}, want: "ls"},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.quoting(c.to)
				w.hub.bindings[0].Quotes = !c.off
				w.do(w.event(ann, c.said))
				w.pass(5 * time.Second)
				w.wantTyped(c.want)
			})
		})
	}
}

// The very first text to an agent quotes what it answers, once it's known that the agent is what runs there.
func TestTheFirstReplyQuotes(t *testing.T) {
	for program, want := range map[string]string{"claude": "> use Go\n\nyes", "": "yes"} {
		inWorld(t, func(w *world) {
			w.quoting("")
			if err := w.manager.Choose(w.manager.List()[0].ID, sessions.Source{Program: program}); err != nil {
				w.Fatal(err)
			}
			w.do(w.event(ann, intake.Said{Text: "yes", ReplyTo: "78", Quoted: intake.Quoted{Text: "use Go"}}))
			w.pass(5 * time.Second)
			w.wantTyped(want)
		})
	}
}

// A text that's edited is sent with what it answers, too.
func TestAnEditedReplyQuotes(t *testing.T) {
	inWorld(t, func(w *world) {
		w.quoting("agent:claude")
		quoted := intake.Quoted{Text: "use Go"}
		said := w.event(ann, intake.Said{Text: "on", ReplyTo: "78", Quoted: quoted})
		w.do(said)
		w.pass(5 * time.Second)
		w.hub.take()
		edited := w.event(ann, intake.Edited{Text: "no", ReplyTo: "78", Quoted: quoted})
		edited.Message = said.Message
		w.do(edited)
		w.press(ann, w.button(w.hub.take(), "Send the new text"))
		w.pass(5 * time.Second)
		w.wantTyped("> use Go\n\non", "> use Go\n\nno")
	})
}
