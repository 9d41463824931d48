package app

import (
	"context"

	"github.com/panebridge/panebridge/adapters/commands"
	"github.com/panebridge/panebridge/internal/api"
)

// pageMail is the agents' mail as the API has it: the same that chats have.
type pageMail struct{ box commands.Mailbox }

func (m pageMail) Letters(ctx context.Context, person string) (out []api.Letter, err error) {
	all, err := m.box.Letters(ctx, person)
	for _, l := range all {
		out = append(out, letterOf(l))
	}
	return out, err
}

func letterOf(l commands.Letter) api.Letter {
	return api.Letter{ID: l.ID, From: l.From, To: l.To, Text: l.Text, At: l.At}
}

func (m pageMail) WriteLetter(ctx context.Context, person, to, text, key string) (api.Letter, string, error) {
	l, why, err := m.box.WriteLetter(ctx, person, to, text, key)
	return letterOf(l), why, err
}

func (m pageMail) AnswerLetter(ctx context.Context, person, id, text, key string) (api.Letter, string, error) {
	l, why, err := m.box.AnswerLetter(ctx, person, id, text, key)
	return letterOf(l), why, err
}

func (m pageMail) SettleLetter(ctx context.Context, person, id string) error {
	return m.box.SettleLetter(ctx, person, id)
}

func (m pageMail) Fleets(ctx context.Context) (out []api.Fleet, err error) {
	all, err := m.box.Fleets(ctx)
	for _, f := range all {
		one := api.Fleet{Name: f.Name}
		if f.Director.ID != "" {
			one.Members = append(one.Members, memberOf(f.Director, true))
		}
		for _, member := range f.Members {
			one.Members = append(one.Members, memberOf(member, false))
		}
		out = append(out, one)
	}
	return out, err
}

func memberOf(m commands.FleetMember, directs bool) api.FleetMember {
	return api.FleetMember{ID: m.ID, Directs: directs, LastReceived: m.LastReceived, Unread: m.Unread}
}
