package telegram

import (
	"context"
	"errors"
	"strings"

	"github.com/go-telegram/bot"

	"github.com/panebridge/panebridge/qos"
)

// Seen is a chat, and what the bot may do there.
type Seen struct {
	ID       int64 // another than was asked for, if the group was upgraded
	Title    string
	Private  bool // a chat with a person
	Basic    bool // a group that was never upgraded: it can't have topics yet
	Topics   bool // topics are on
	Admin    bool // the bot is an administrator, and so hears everything
	MayWrite bool
	MayTopic bool // it may make and close topics
}

// Chat looks at a chat, and at the bot in it. A group that was upgraded is looked at
// under its new number.
func (p *Probe) Chat(ctx context.Context, self Bot, id int64) (Seen, error) {
	seen, err := p.chat(ctx, self, id)
	if f, ok := errors.AsType[*failure](err); ok && f.migratedTo != 0 {
		return p.chat(ctx, self, f.migratedTo)
	}
	return seen, err
}

func (p *Probe) chat(ctx context.Context, self Bot, id int64) (Seen, error) {
	var chat struct {
		ID        int64  `json:"id"`
		Type      string `json:"type"`
		Title     string `json:"title"`
		FirstName string `json:"first_name"`
		LastName  string `json:"last_name"`
		Forum     bool   `json:"is_forum"`
	}
	if err := call(ctx, p.client, &chat, (*bot.Bot).GetChat, &bot.GetChatParams{ChatID: id}); err != nil {
		return Seen{}, err
	}
	if chat.Type == "private" {
		name := strings.TrimSpace(chat.FirstName + " " + chat.LastName)
		return Seen{
			ID: chat.ID, Title: shownName(name), Private: true, Topics: self.PrivateTopics,
			MayWrite: true, MayTopic: self.PrivateTopics,
		}, nil
	}
	var member struct {
		Status  string `json:"status"`
		CanSend bool   `json:"can_send_messages"` // if restricted
		Topics  bool   `json:"can_manage_topics"` // if an administrator
	}
	if err := call(ctx, p.client, &member, (*bot.Bot).GetChatMember, &bot.GetChatMemberParams{ChatID: id, UserID: self.ID}); err != nil {
		return Seen{}, err
	}
	seen := Seen{ID: chat.ID, Title: shownName(chat.Title), Basic: chat.Type == "group", Topics: chat.Forum}
	switch member.Status {
	case "creator":
		seen.Admin, seen.MayWrite, seen.MayTopic = true, true, true
	case "administrator":
		seen.Admin, seen.MayWrite, seen.MayTopic = true, true, member.Topics
	case "restricted":
		seen.MayWrite = member.CanSend
	case "left", "kicked":
		return seen, &failure{Failure: p.client.exchange.Failed("getChatMember", qos.ChatGone, errors.New(adviceChat))}
	default:
		seen.MayWrite = true
	}
	return seen, nil
}
