package telegram

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/go-telegram/bot"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/internal/render"
	"github.com/panebridge/panebridge/qos"
)

// maxTitle is how long a topic's name may be, in characters
// (core.telegram.org/bots/api#createforumtopic).
const maxTitle = 128

// topic is what matters of a topic that was made.
type topic struct {
	Thread int `json:"message_thread_id"`
}

func (t *topic) Check() error {
	if t.Thread <= 0 {
		return errors.New("the new topic has no number")
	}
	return nil
}

// createTopic makes a topic.
func (a *Adapter) createTopic(ctx context.Context, at place, title string) adapters.Reply {
	var got topic
	err := call(ctx, a.client, &got, (*bot.Bot).CreateForumTopic, &bot.CreateForumTopicParams{ChatID: at.chat, Name: topicName(title)})
	if err != nil {
		return failed(err)
	}
	return adapters.Reply{Outcome: qos.Delivered, ID: strconv.Itoa(got.Thread)}
}

// topicName is a title that Telegram takes: one of which nothing can be seen it refuses.
func topicName(title string) string {
	title = strings.Join(strings.Fields(title), " ")
	shown := []render.Part{{Kind: render.Pane, Source: title}}
	if render.Render(shown, render.Place{}, render.End(shown)).Blank() {
		title = "session"
	}
	if r := []rune(title); len(r) > maxTitle {
		title = string(r[:maxTitle-1]) + "…"
	}
	return title
}

// closeTopic closes a topic: people can read it, and write no more.
func (a *Adapter) closeTopic(ctx context.Context, at place) adapters.Reply {
	return outcome(call(ctx, a.client, nil, (*bot.Bot).CloseForumTopic, &bot.CloseForumTopicParams{ChatID: at.chat, MessageThreadID: at.thread}))
}

// reopenTopic opens a closed topic.
func (a *Adapter) reopenTopic(ctx context.Context, at place) adapters.Reply {
	return outcome(call(ctx, a.client, nil, (*bot.Bot).ReopenForumTopic, &bot.ReopenForumTopicParams{ChatID: at.chat, MessageThreadID: at.thread}))
}

// renameTopic gives a topic another name. People see a message about it.
func (a *Adapter) renameTopic(ctx context.Context, at place, title string) adapters.Reply {
	return outcome(call(ctx, a.client, nil, (*bot.Bot).EditForumTopic, &bot.EditForumTopicParams{ChatID: at.chat, MessageThreadID: at.thread, Name: topicName(title)}))
}

// errLost is why a message doesn't count that was accepted.
var errLost = errors.New("the topic is gone, and Telegram has put the message outside of it")

// lostTopic is the reply to a message that landed outside of its topic, because that's
// gone: chats have done so without a word
// (github.com/tdlib/telegram-bot-api/issues/854).
func lostTopic(id string) adapters.Reply {
	return adapters.Reply{Outcome: qos.Rejected, Missing: adapters.MissingThread, ID: id, Err: errLost}
}
