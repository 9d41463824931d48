package telegram_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/adaptertest"
	"github.com/panebridge/panebridge/adapters/inbound"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/adapters/platformtest"
	"github.com/panebridge/panebridge/adapters/telegram"
	"github.com/panebridge/panebridge/adapters/telegram/telegramtest"
	"github.com/panebridge/panebridge/internal/faults"
	"github.com/panebridge/panebridge/internal/store"
)

// office is all of a daemon that questions pass through, and a stand-in with two people.
type office struct {
	*bridge
	*platformtest.Office
	bob *telegramtest.Person
	at  telegramtest.Place
}

const asking = platformtest.AskingText

// office returns one whose sessions are mirrored to a group.
func (w *world) office(dir string, chat int64) *office {
	o := &office{bridge: w.bridge(adapters.MirrorRule{Session: "*", To: target(chat, 0), Input: true})}
	o.bob = w.AddUser(telegramtest.User{FirstName: "Bob"})
	o.bob.Join(chat)
	people := platformtest.People{Approver: fmt.Sprintf("telegram:%d", w.ada.ID), Operator: fmt.Sprintf("telegram:%d", o.bob.ID), Chat: target(chat, 0)}
	o.Office = platformtest.NewOffice(w.T, o.Bridge, dir, people, func(db *store.Store) platformtest.Side {
		a := w.noting(db.Notes("telegram"))
		return platformtest.Side{
			Name: "telegram", Platform: a,
			Decode: telegram.Decoder{Bot: w.Bot().ID, User: w.Bot().Username}.Decode,
			Reader: func(q *intake.Queue, in *inbound.Inbound) platformtest.UpdateReader {
				return a.Poller(telegram.PollerOptions{
					Keeper: q, Expired: func(from, to time.Time) error { return in.TellExpired("telegram", from, to) },
				})
			},
		}
	})
	return o
}

// inOffice runs a test with a session that has a topic.
func inOffice(t *testing.T, pinned bool, test func(o *office)) {
	t.Helper()
	dir := t.TempDir()
	inBubble(t, telegramtest.Options{}, func(w *world) {
		o := w.office(dir, w.forum)
		o.Pinned = pinned
		o.Open()
		o.Begin(asking, "agent")
		o.Print(asking, adaptertest.Output{Lines: lines(1, 2)})
		o.Pass(20 * time.Second)
		o.at = o.topic(w.forum, "agent").Place
		test(o)
		o.Close()
		for _, c := range w.Refusals() {
			if c.Method != "getUpdates" { // a poll of the process before may still be open
				t.Errorf("at %v, %s was refused: %s", c.At, c.Method, c.Description)
			}
		}
	})
}

func (o *office) Seen() []adaptertest.Posted {
	var out []adaptertest.Posted
	for _, m := range o.See(o.at) {
		if m.Service != "" || m.From.ID != o.Bot().ID || len(m.Buttons) == 0 && len(m.History) == 0 {
			continue // of the mirror
		}
		p := adaptertest.Posted{ID: strconv.Itoa(m.ID), Text: m.Text, Rang: m.Rang, Edited: len(m.History) > 0, ReplyTo: strconv.Itoa(m.ReplyTo)}
		for _, row := range m.Buttons {
			for _, b := range row {
				p.Buttons = append(p.Buttons, b.Text)
				if label, chosen := strings.CutPrefix(b.Text, "✓ "); chosen {
					p.Chosen = append(p.Chosen, label)
				}
			}
		}
		out = append(out, p)
	}
	return out
}

func (o *office) number(message string) int {
	o.Helper()
	n, err := strconv.Atoi(message)
	if err != nil {
		o.Fatal(err)
	}
	return n
}

func (o *office) Press(approver bool, message, label string) (string, error) {
	person := o.bob
	if approver {
		person = o.ada
	}
	id, err := person.Press(o.forum, o.number(message), label)
	if err != nil {
		return "", err
	}
	return o.answered(id)
}

// Choose presses the buttons whose mark isn't as it's to be.
func (o *office) Choose(message string, labels ...string) (string, error) {
	o.Helper()
	var press []string
	for _, m := range o.Seen() {
		for _, b := range m.Buttons {
			label, chosen := strings.CutPrefix(b, "✓ ")
			wanted := slices.ContainsFunc(labels, func(l string) bool { return strings.HasPrefix(label, l) })
			if m.ID == message && wanted != chosen {
				press = append(press, b)
			}
		}
	}
	for i, b := range press {
		told, err := o.Press(true, message, b)
		if err != nil || i == len(press)-1 {
			return told, err
		}
		o.Pass(5 * time.Second) // the message changes
	}
	return "", errors.New("nothing is to be pressed")
}

func (o *office) answered(id string) (string, error) {
	o.Pass(5 * time.Second)
	p, ok := o.Server.Press(id)
	if !ok || p.Answered.IsZero() {
		return "", errors.New("the press wasn't answered")
	}
	return p.Text, nil
}

func (o *office) Forge(message, data string) string {
	o.Helper()
	id, err := o.ada.Forge(o.forum, o.number(message), data)
	if err == nil {
		var text string
		if text, err = o.answered(id); err == nil {
			return text
		}
	}
	o.Error(err)
	return ""
}

func (o *office) Data(message, label string) string {
	o.Helper()
	for _, m := range o.See(o.at) {
		for _, row := range m.Buttons {
			for _, b := range row {
				if strconv.Itoa(m.ID) == message && b.Text == label {
					return b.Data
				}
			}
		}
	}
	o.Fatalf("there's no button %q", label)
	return ""
}

func (o *office) Say(text, replyTo string) {
	o.Helper()
	var err error
	if replyTo == "" {
		_, err = o.ada.Say(o.at, text)
	} else {
		_, err = o.ada.Reply(o.at, o.number(replyTo), text)
	}
	if err != nil {
		o.Error(err)
	}
}

func TestPrompts(t *testing.T) {
	adaptertest.Prompts(t, func(t *testing.T, test func(s adaptertest.Stage)) {
		t.Helper()
		inOffice(t, false, func(o *office) { test(o) })
	})
}

// A question whose buttons Telegram refuses says how it's answered with numbers, and is.
func TestAQuestionWithoutButtons(t *testing.T) {
	inOffice(t, false, func(o *office) {
		odd := faults.Answer{Status: 400, Body: `{"ok":false,"error_code":400,"description":"Bad Request: BUTTON_DATA_INVALID"}`}
		o.fate.Store(new(func(_ string, body []byte) faults.Fate {
			if bytes.Contains(body, []byte("inline_keyboard")) {
				return faults.Fate{Lost: true, Answer: &odd}
			}
			return faults.Fate{}
		}))
		o.Ask("pr_1")
		o.Pass(10 * time.Second)
		all := o.See(o.at)
		m := all[len(all)-1]
		if !m.Rang || !strings.Contains(m.Text, "1. Yes") || !strings.HasSuffix(m.Text, "Reply to this message with a number to answer, as in “#1”.") {
			t.Errorf("people see %+v", m)
		}
		o.Say("#3", strconv.Itoa(m.ID))
		o.Pass(10 * time.Second)
		if took := o.Questions().Took(); len(took) != 1 || !slices.Equal(took[0].Options, []int{2}) {
			t.Errorf("answers %+v", took)
		}
	})
}
