package discord_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/adaptertest"
	"github.com/panebridge/panebridge/adapters/discord"
	"github.com/panebridge/panebridge/adapters/discord/discordtest"
	"github.com/panebridge/panebridge/adapters/inbound"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/adapters/platform"
	"github.com/panebridge/panebridge/adapters/platformtest"
	"github.com/panebridge/panebridge/internal/faults"
	"github.com/panebridge/panebridge/internal/render/rendertest"
	"github.com/panebridge/panebridge/internal/store"
)

// office is all of a daemon that questions pass through, and a stand-in with two people.
type office struct {
	*bridge
	*platformtest.Office
	bob    *discordtest.Person
	at     string // the thread
	notes  *notes
	forged int
	guard  int         // how often the guard in front of Discord has ordered silence in a storm
	deaf   atomic.Bool // threads can be made, and not written to
}

const asking = platformtest.AskingText

// office returns one whose sessions are mirrored to a channel.
func (w *world) office(channel, dir string) *office {
	o := &office{bridge: w.bridge(adapters.MirrorRule{Session: "*", To: target(channel, ""), Input: true}), notes: &notes{kept: map[string]string{}}}
	o.bob = w.Person("Bob")
	o.change = func(opt *discord.Options) {
		opt.Dial, opt.Notes = w.net.Dial, o.notes
		opt.Shows = func(t adapters.Target) bool { return o.Bridge != nil && len(o.Hub.BindingsAt(t)) > 0 }
	}
	people := platformtest.People{Approver: "discord:" + w.ada.ID, Operator: "discord:" + o.bob.ID, Chat: target(channel, "")}
	o.Office = platformtest.NewOffice(w.T, o.Bridge, dir, people, func(*store.Store) platformtest.Side {
		o.noErr(o.bot.Load(context.Background()))
		return platformtest.Side{
			Name: "discord", Platform: o.bot, Decode: decoder.Decode,
			Reader: func(q *intake.Queue, in *inbound.Inbound) platformtest.UpdateReader {
				return o.bot.Gateway(filled(discord.GatewayOptions{Keeper: q, Host: platform.Host{
					Knows: in.KnowsChat, Admits: in.Admits, Complete: in.Complete, Offered: in.IsOffered, Mirrored: o.mirrored,
				}}))
			},
		}
	})
	return o
}

// mirrored are the places that mirror sessions.
func (o *office) mirrored() (out []adapters.Target) {
	for _, b := range o.Hub.Status("") {
		if !b.Binding.Unbound {
			out = append(out, b.Target)
		}
	}
	return out
}

// inOffice runs a test with a session that has a thread.
func inOffice(t *testing.T, pinned bool, test func(o *office)) {
	t.Helper()
	dir := t.TempDir()
	inBubble(t, discordtest.Options{}, func(w *world) {
		o := w.office(w.agents, dir)
		o.Pinned = pinned
		o.Open()
		o.Begin(asking, "agent")
		o.Print(asking, adaptertest.Output{Lines: lines(1, 2)})
		o.Pass(20 * time.Second)
		o.at = o.thread(w.agents, "agent").ID
		test(o)
		o.Close()
		w.noRefusals()
	})
}

func (o *office) Seen() []adaptertest.Posted {
	var out []adaptertest.Posted
	for _, m := range o.Messages(o.at) {
		if m.Kind != 0 && m.Kind != 19 || m.Author.ID != o.Bot().ID || len(m.Rows) == 0 && len(m.History) == 0 || m.OnlyFor != "" {
			continue // of the mirror, or for one person
		}
		text, wrong := rendertest.ReadDiscord(m.Content)
		for _, what := range wrong {
			o.Errorf("in %q: %s", m.Content, what)
		}
		p := adaptertest.Posted{ID: m.ID, Text: plain(text), Rang: m.Rang, Edited: len(m.History) > 0, ReplyTo: m.ReplyTo}
		for _, row := range m.Rows {
			for _, c := range row {
				if !c.Select {
					p.Buttons = append(p.Buttons, c.Label)
				}
				for _, option := range c.Options {
					if option.Default {
						p.Chosen = append(p.Chosen, option.Label)
					}
				}
			}
		}
		out = append(out, p)
	}
	return out
}

func (o *office) Press(approver bool, message, label string) (string, error) {
	person := o.bob
	if approver {
		person = o.ada
	}
	o.TakeTold()
	id, err := person.Press(message, label)
	if err != nil {
		return "", err
	}
	return o.answered(id)
}

// Choose chooses of the menu that has the first of the options.
func (o *office) Choose(message string, labels ...string) (string, error) {
	m, _ := o.Message(message)
	for _, row := range m.Rows {
		var values []string
		for _, option := range row[0].Options {
			if slices.ContainsFunc(labels, func(l string) bool { return strings.HasPrefix(option.Label, l) }) {
				values = append(values, option.Value)
			}
		}
		if len(values) == 0 {
			continue
		}
		o.TakeTold()
		id, err := o.ada.Select(message, row[0].CustomID, values...)
		if err != nil {
			return "", err
		}
		return o.answered(id)
	}
	return "", errors.New("there's no such menu")
}

// answered waits until a press was answered, and returns what the person was told.
func (o *office) answered(id string) (string, error) {
	o.Pass(5 * time.Second)
	i, ok := o.Interaction(id)
	if !ok || i.Answered.IsZero() {
		return "", errors.New("the press wasn't answered")
	}
	text := o.TakeTold()
	if text == "" {
		return "", nil
	}
	if len(i.Followups) != 1 {
		return "", fmt.Errorf("the person should be told %q, and sees %d messages", text, len(i.Followups))
	}
	return text, nil
}

// Forge: Discord lets nobody press what isn't there, so the event is made up.
func (o *office) Forge(message, data string) string {
	o.Helper()
	o.TakeTold()
	o.forged++
	ev := intake.Event{
		Key: fmt.Sprint("discord:forged", o.forged), At: time.Now(), Place: target(o.agents, o.at), Message: message,
		Person: intake.Person{ID: "discord:" + o.ada.ID, Name: "Ada"}, Action: intake.Pressed{Data: data, Stays: true},
	}
	o.noErr(o.In.Handle(context.Background(), ev))
	o.Pass(5 * time.Second)
	return o.TakeTold()
}

func (o *office) Data(message, label string) string {
	o.Helper()
	m, _ := o.Message(message)
	for _, row := range m.Rows {
		for _, c := range row {
			if c.Label == label {
				return c.CustomID
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
		_, err = o.ada.Reply(o.at, replyTo, text)
	}
	o.noErr(err)
}

func TestPrompts(t *testing.T) {
	adaptertest.Prompts(t, func(t *testing.T, test func(s adaptertest.Stage)) {
		t.Helper()
		inOffice(t, false, func(o *office) { test(o) })
	})
}

// Where a session is shown that asks already, the question is shown at once: where it's
// bound to, and in the thread that's made for it, which then rings nobody again.
func TestAQuestionComesToNewPlaces(t *testing.T) {
	dir := t.TempDir()
	inBubble(t, discordtest.Options{}, func(w *world) {
		o := w.office(w.agents, dir)
		o.Open()
		defer func() { o.Close() }()
		o.Begin(asking, "agent")
		o.Ask("pr_1")
		o.Pass(20 * time.Second) // there's nothing to make a thread for
		wantOne := func(at string, rang bool) string {
			t.Helper()
			o.at = at
			seen := o.Seen()
			if len(seen) != 1 || len(seen[0].Buttons) != 6 || seen[0].Rang != rang {
				t.Fatalf("people see %+v", seen)
			}
			return seen[0].ID
		}
		wantOne(w.agents, true)
		if _, err := o.Hub.Bind(t.Context(), asking, target(w.plain, ""), adapters.ViewStream, true); err != nil {
			t.Fatal(err)
		}
		o.Pass(2 * time.Second)
		wantOne(w.plain, true)
		o.Print(asking, adaptertest.Output{Lines: lines(1, 2)})
		o.Pass(10 * time.Second)
		id := wantOne(o.thread(w.agents, "agent").ID, false)
		if told, err := o.Press(true, id, "No"); err != nil || told != "Answered: No." {
			t.Errorf("told %q, %v", told, err)
		}
		o.Pass(10 * time.Second)
		for _, at := range []string{w.agents, w.plain, o.at} {
			o.at = at
			if seen := o.Seen(); len(seen) != 1 || len(seen[0].Buttons) != 0 || !strings.Contains(seen[0].Text, "Answered by Ada: No.") {
				t.Errorf("people see %+v", seen)
			}
		}
	})
}

// A question whose buttons Discord refuses says how it's answered with numbers, and is.
func TestAQuestionWithoutButtons(t *testing.T) {
	inOffice(t, false, func(o *office) {
		odd := faults.Answer{Status: 400, Header: map[string]string{"Content-Type": "application/json"}, Body: `{"code":50035,"message":"Invalid Form Body"}`}
		o.fate.Store(new(func(_ *http.Request, body []byte) faults.Fate {
			if bytes.Contains(body, []byte(`"components":[{`)) {
				return faults.Fate{Lost: true, Answer: &odd}
			}
			return faults.Fate{}
		}))
		o.Ask("pr_1")
		o.Pass(10 * time.Second)
		all := o.Messages(o.at)
		m := all[len(all)-1]
		if !m.Rang || !strings.Contains(m.Content, `1\. Yes`) || !strings.HasSuffix(m.Content, "Reply to this message with a number to answer, as in “#1”.") {
			t.Errorf("people see %+v", m)
		}
		o.Say("#3", m.ID)
		o.Pass(10 * time.Second)
		if took := o.Questions().Took(); len(took) != 1 || !slices.Equal(took[0].Options, []int{2}) {
			t.Errorf("answers %+v", took)
		}
	})
}
