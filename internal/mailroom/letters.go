package mailroom

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/commands"
	"github.com/panebridge/panebridge/internal/inbox"
)

// letterWithin is how long who sends a letter waits until a chat has it.
const letterWithin = 10 * time.Second

// Chats are where people read their mail: inbound.Inbound.
type Chats interface {
	// DeliverLetter has a letter shown in a person's chat, and returns at once; sent is called when that's
	// done, with the message's id, or why it can't be.
	DeliverLetter(ctx context.Context, place adapters.Target, person string, l commands.Letter, sent func(message string, err error)) error
}

// Letters is the mail as people in chats have to do with it.
func (m *Mailroom) Letters() commands.Mailbox { return chatMail{m} }

// chatMail is the agents' mail as people in chats have to do with it: commands.Mailbox.
type chatMail struct{ m *Mailroom }

var _ commands.Mailbox = chatMail{}

// addressOf is the address of a person of a platform: by their name in the configuration,
// else by their id.
func (m *Mailroom) addressOf(person string) inbox.Address {
	for name, ids := range m.opt.People() {
		if slices.Contains(ids, person) {
			return inbox.Person(name)
		}
	}
	return inbox.Person(person)
}

// Letters implements commands.Mailbox.
func (l chatMail) Letters(ctx context.Context, person string) ([]commands.Letter, error) {
	mails, err := l.newBox().Poll(ctx, inbox.Query{To: l.m.addressOf(person), Status: inbox.InputRequired})
	var out []commands.Letter
	for _, one := range mails {
		out = append(out, letterOf(one))
	}
	return out, err
}

func letterOf(m inbox.Mail) commands.Letter {
	return commands.Letter{ID: m.ID, From: m.FromName, To: m.ToName, Text: m.Text, At: m.SentAt}
}

func (l chatMail) newBox() inbox.PostOffice { return inbox.PostOffice{Store: l.m.store, Announce: l.m} }

// WriteLetter implements commands.Mailbox.
func (l chatMail) WriteLetter(ctx context.Context, person, to, text, key string) (commands.Letter, string, error) {
	all, err := l.m.store.Parties(ctx)
	if err != nil {
		return commands.Letter{}, "", err
	}
	from := l.m.addressOf(person)
	recipient, err := all.Address(to, from)
	if err != nil {
		return commands.Letter{}, "", err
	}
	sent, err := l.newBox().SendOnce(ctx, all, from, recipient, text, inbox.KeyID(key))
	return letterOf(sent.Mail), sent.Reason, err
}

// AnswerLetter implements commands.Mailbox.
func (l chatMail) AnswerLetter(ctx context.Context, person, id, text, key string) (commands.Letter, string, error) {
	one, err := l.m.store.One(ctx, id)
	if err != nil {
		return commands.Letter{}, "", err
	}
	if one.To != l.m.addressOf(person) {
		return commands.Letter{}, "", fmt.Errorf("answer %s: %w: it was sent to %s", id, inbox.ErrNotYours, one.ToName)
	}
	out, why, err := l.WriteLetter(ctx, person, string(one.From), text, key)
	if err != nil {
		return out, why, err
	}
	if err := l.SettleLetter(ctx, person, id); err != nil && !errors.Is(err, inbox.ErrState) {
		return out, why, err
	}
	return out, why, nil
}

// SettleLetter implements commands.Mailbox.
func (l chatMail) SettleLetter(ctx context.Context, person, id string) error {
	_, err := l.newBox().Settle(ctx, id, l.m.addressOf(person), inbox.Completed)
	return err
}

// KeepShown implements commands.Mailbox.
func (l chatMail) KeepShown(ctx context.Context, place adapters.Target, message, id string) error {
	return l.m.store.Shown(ctx, place, message, id)
}

// LetterAt implements commands.Mailbox.
func (l chatMail) LetterAt(ctx context.Context, place adapters.Target, message string) (string, error) {
	return l.m.store.LetterAt(ctx, place, message)
}

// Fleets implements commands.Mailbox.
func (l chatMail) Fleets(ctx context.Context) ([]commands.Fleet, error) {
	fleets, err := l.m.store.Fleets(ctx)
	if err != nil {
		return nil, err
	}
	all, err := l.m.store.Parties(ctx)
	if err != nil {
		return nil, err
	}
	if err := l.m.store.Activity(ctx, all); err != nil {
		return nil, err
	}
	var out []commands.Fleet
	for _, f := range fleets {
		one := commands.Fleet{Name: f.Name}
		for _, p := range all.Members(f.Name) {
			m := commands.FleetMember{ID: p.ID, LastReceived: p.LastReceived, Unread: p.Unread}
			if p.Leads(f.Name) {
				one.Director = m
			} else {
				one.Members = append(one.Members, m)
			}
		}
		out = append(out, one)
	}
	return out, nil
}

// chatsOf are a person's private chats with the bots, by Person.ID.
func (m *Mailroom) chatsOf(ctx context.Context, name string) (map[string]adapters.Target, error) {
	ids, ok := m.opt.People()[name]
	if !ok {
		ids = []string{name}
	}
	out := map[string]adapters.Target{}
	for _, id := range ids {
		chat, err := m.opt.PrivateChat(ctx, id)
		if err != nil {
			return nil, err
		}
		if chat != (adapters.Target{}) {
			out[id] = chat
		}
	}
	return out, nil
}

// showMail shows what waits for a person in their chats. It returns when that's done,
// or within some seconds; what couldn't be shown waits on.
func (m *Mailroom) showMail(ctx context.Context, name string) error {
	to := inbox.Person(name)
	m.mu.Lock()
	chats := m.chats
	m.mu.Unlock()
	if chats == nil {
		return m.store.HoldPreviews(ctx, to, justStarted)
	}
	places, err := m.chatsOf(ctx, name)
	if err != nil {
		return err
	}
	mails, err := m.store.TakePreviews(ctx, to)
	if err != nil {
		return err
	}
	for _, one := range mails {
		if err := m.showLetter(ctx, chats, name, places, one); err != nil {
			return err
		}
	}
	return nil
}

// showLetter shows one mail in all of a person's chats. One of them is enough.
func (m *Mailroom) showLetter(ctx context.Context, chats Chats, name string, places map[string]adapters.Target, one inbox.Mail) error {
	type shown struct {
		place   adapters.Target
		message string
		err     error
	}
	results := make(chan shown, len(places))
	asked := 0
	var failed error
	for person, place := range places {
		err := chats.DeliverLetter(ctx, place, person, letterOf(one), func(message string, err error) { results <- shown{place, message, err} })
		if err != nil {
			failed = err
			continue
		}
		asked++
	}
	state, why := inbox.PreviewWaiting, "no private chat with "+one.ToName+" is known: they write to the bot once"
	if _, named := m.opt.People()[name]; !named && !strings.Contains(name, ":") {
		why = "the configuration's people have no " + name
	}
	if name == "web" || strings.HasPrefix(name, "web:") {
		why = "it's read on the page, by Mail and fleets"
	}
	enough := time.After(letterWithin)
	for ; asked > 0; asked-- {
		select {
		case <-enough:
			asked = 1
			failed = errors.New("the chat platform hasn't taken it yet")
		case r := <-results:
			if failed = r.err; r.err == nil {
				state, why = inbox.PreviewTyped, ""
				if r.message != "" {
					failed = m.store.Shown(ctx, r.place, r.message, one.ID)
				}
			}
		}
	}
	if state == inbox.PreviewWaiting && failed != nil {
		why = failed.Error()
	}
	return m.store.SetPreviews(context.WithoutCancel(ctx), []string{one.ID}, state, why)
}
