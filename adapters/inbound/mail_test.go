package inbound_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/commands"
	"github.com/panebridge/panebridge/adapters/inbound"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/sessions"
)

// letters is mail in memory.
type letters struct {
	mu      sync.Mutex
	waiting []commands.Letter
	shown   map[string]string // message → letter
	done    []string
	sent    []string // what was written, by "WHO to WHOM: TEXT"
	keys    map[string]bool
	why     string
	members []commands.FleetMember
}

func (m *letters) Letters(context.Context, string) ([]commands.Letter, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.waiting, nil
}

func (m *letters) WriteLetter(_ context.Context, person, to, text, key string) (commands.Letter, string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if to == "nobody" {
		return commands.Letter{}, "", fmt.Errorf("%w session %q", sessions.ErrUnknown, to)
	}
	if !m.keys[key] {
		m.keys[key] = true
		m.sent = append(m.sent, person+" to "+to+": "+text)
	}
	return commands.Letter{ID: "m_00000000ff", To: to, Text: text}, m.why, nil
}

func (m *letters) AnswerLetter(ctx context.Context, person, id, text, key string) (commands.Letter, string, error) {
	l, why, err := m.WriteLetter(ctx, person, "agent", text, key)
	return l, why, joinErr(err, m.SettleLetter(ctx, person, id))
}

func joinErr(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

func (m *letters) SettleLetter(_ context.Context, _, id string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.done = append(m.done, id)
	return nil
}

func (m *letters) KeepShown(_ context.Context, _ adapters.Target, message, id string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.shown[message] = id
	return nil
}

func (m *letters) LetterAt(_ context.Context, _ adapters.Target, message string) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if id := m.shown[message]; id != "" {
		return id, nil
	}
	return "", sessions.ErrUnknown
}

func (m *letters) Fleets(context.Context) ([]commands.Fleet, error) {
	return []commands.Fleet{{Name: "web", Director: commands.FleetMember{ID: "pb_gone"}, Members: m.members}}, nil
}

func inMail(t *testing.T, test func(w *world, m *letters)) {
	t.Helper()
	m := &letters{shown: map[string]string{}, keys: map[string]bool{}}
	inWorld(t, func(w *world) {
		w.end()
		w.opt = func(o *inbound.Options) { o.Mail = m }
		w.start()
		test(w, m)
	})
}

var letter = commands.Letter{ID: "m_0123456789", From: "tester", To: "ann", Text: "may I *drop* the tables?", At: time.Unix(1, 0)}

// TestLetterIsAnswered: a letter comes with a button; what's written in answer to it, or
// to what the button says, goes back.
func TestLetterIsAnswered(t *testing.T) {
	inMail(t, func(w *world, m *letters) {
		place := adapters.Target{Adapter: "chat", Chat: "1"}
		if err := w.in.DeliverLetter(w.Context(), place, ann, letter, func(string, error) {}); err != nil {
			w.Fatal(err)
		}
		posts := w.wantPosts("✉ **tester** writes (m_0123456789):\n\nmay I *drop* the tables?")
		reply := w.event(ann, intake.Pressed{Data: w.button(posts, "Reply"), Token: "t"})
		reply.Place, reply.Private = place, true
		w.do(reply)
		asked := w.wantPosts("Answer this message")
		if asked[0].Sent == nil {
			w.Fatal("nobody hears which message it is")
		}
		asked[0].Sent("m77", nil)
		w.pass(time.Second)
		w.chat.take()
		said := w.event(ann, intake.Said{Text: "no", ReplyTo: "m77"})
		said.Place, said.Private = place, true
		w.do(said)
		w.wantPosts("Sent to **agent**, who was told of it.")
		w.do(said) // the platform tells it twice
		if !slices.Equal(m.sent, []string{ann + " to agent: no"}) || !slices.Contains(m.done, letter.ID) {
			w.Errorf("sent %q, settled %q", m.sent, m.done)
		}
		w.wantTyped()
	})
}

// TestMailCommand reads, writes and answers.
func TestMailCommand(t *testing.T) {
	inMail(t, func(w *world, m *letters) {
		w.say(ann, "/mail")
		w.wantPosts("Nothing is waiting for you.")
		m.waiting = []commands.Letter{letter}
		w.say(ann, "/mail")
		w.wantPosts("1 wait for you. They're shown in your private chat")
		private := w.event(ann, intake.Said{Text: "/mail"})
		private.Place, private.Private = adapters.Target{Adapter: "chat", Chat: "1"}, true
		w.do(private)
		w.wantPosts("**tester** writes")
		m.why = "it's working"
		w.say(ann, "/mail agent please stop")
		w.wantPosts("Stored for **agent**, who wasn't told of it yet: it's working.")
		w.say(ann, "/mail nobody x")
		w.wantPosts("Unknown session")
		w.say(ann, "/mail m_0123456789 yes, do")
		w.wantPosts("Stored for **agent**")
		if want := []string{ann + " to agent: please stop", ann + " to agent: yes, do"}; !slices.Equal(m.sent, want) {
			w.Errorf("sent %q, want %q", m.sent, want)
		}
		w.say(bob, "/mail agent x")
		w.wantPosts("takes the role operator")
		w.say(bob, "/fleet")
		w.wantPosts("**web**\n\n- pb_gone: gone, its director")
		one, err := w.manager.Get("agent")
		if err != nil {
			w.Fatal(err)
		}
		m.members = []commands.FleetMember{{ID: one.ID, LastReceived: time.Now().Add(-3 * time.Minute), Unread: 2}}
		w.say(bob, "/fleet")
		w.wantPosts("**web**\n\n- pb_gone: gone, its director\n- agent: starting, received mail 3 min ago, 2 unread")
		m.members = []commands.FleetMember{{ID: one.ID}}
		w.say(bob, "/fleet web")
		w.wantPosts("**web**\n\n- pb_gone: gone, its director\n- agent: starting, received mail never, 0 unread")
	})
}
