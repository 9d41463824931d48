package discord

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/qos"
)

// answerable is the message that shows a slash command, while its first reply can become part of
// it by the interaction's token: a command is one message then. Its fields belong to the
// interactions' mutex.
type answerable struct {
	app, token string
	line       string // the command, as the message shows it
	at         time.Time
	unsure     bool   // its reply may stand there
	closed     bool   // nothing more becomes part of it
	key        string // of the post that's its reply; "": none is yet
}

// maxAnswerable bounds the commands whose reply may still come.
const maxAnswerable = 500

// opens keeps that a command is shown by a message that can become its reply.
func (is *interactions) opens(o *owed) {
	is.mu.Lock()
	defer is.mu.Unlock()
	for id, a := range is.shown {
		if time.Since(a.at) > tokenFor {
			delete(is.shown, id)
		}
	}
	if len(is.shown) < maxAnswerable {
		is.shown[o.id] = &answerable{app: o.app, token: o.token, line: o.line, at: o.at}
	}
}

// replyTo returns the message of a slash command that a post can become, which is the first post
// that answers it. It waits until the command is shown. ok is false if there's none any more.
func (is *interactions) replyTo(ctx context.Context, id, key string) (_ answerable, ok bool) {
	waiting, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	is.answeredFor(waiting, id)
	is.mu.Lock()
	defer is.mu.Unlock()
	a := is.shown[id]
	if a == nil || a.closed || time.Since(a.at) > tokenFor || a.key != "" && a.key != key {
		return answerable{}, false
	}
	a.key = key
	return *a, true
}

// closes keeps that nothing more becomes part of a command's message.
func (is *interactions) closes(id string) {
	is.mu.Lock()
	defer is.mu.Unlock()
	if a := is.shown[id]; a != nil {
		a.closed = true
	}
}

// mayStand reports whether a post may stand in a command's message: each try to make it a message of
// its own says so.
func (is *interactions) mayStand(id, key string) bool {
	is.mu.Lock()
	defer is.mu.Unlock()
	a := is.shown[id]
	return a != nil && a.unsure && a.key == key
}

// doubts keeps that a command's reply may be part of its message.
func (is *interactions) doubts(id string) {
	is.mu.Lock()
	defer is.mu.Unlock()
	if a := is.shown[id]; a != nil {
		a.unsure = true
	}
}

// answer has a slash command's message become its reply, below the command's line if there's room
// for both (docs.discord.com/developers/interactions/receiving-and-responding#edit-original-interaction-response).
// The same call may be made twice. ok is false if the reply has to be a message of its own: edits
// ring nobody; unsure then says that it may stand there all the same.
func (a *Adapter) answer(ctx context.Context, command, key string, m message) (_ adapters.Reply, ok, unsure bool) {
	id := strings.TrimPrefix(command, replyMark)
	if m.ring {
		a.interactions.closes(id)
		return adapters.Reply{}, false, a.interactions.mayStand(id, key)
	}
	shown, ok := a.interactions.replyTo(ctx, id, key)
	if !ok {
		return adapters.Reply{}, false, a.interactions.mayStand(id, key)
	}
	body := change{Content: shown.line, Mentions: nobody(), Rows: m.rows}
	switch both := shown.line + "\n" + m.content; {
	case m.content == "":
	case adapters.UTF16Len(both) <= maxText:
		body.Content = both
	default:
		body.Content = m.content
	}
	if body.Rows == nil {
		body.Rows = []discordgo.MessageComponent{}
	}
	path := "webhooks/" + shown.app + "/" + shown.token + "/messages/@original"
	var got made
	var err error
	if files := m.files(); len(files) > 0 {
		err = a.client.upload(ctx, http.MethodPatch, path, body, files, &got)
	} else {
		err = a.client.raw(ctx, http.MethodPatch, path, body, &got)
	}
	f, failed := errors.AsType[*failure](err)
	switch {
	case err == nil:
		return adapters.Reply{Outcome: qos.Delivered, ID: got.ID}, true, false
	case failed && !f.local && (f.Outcome == qos.Rejected || f.Status == http.StatusUnauthorized && f.Code != 0):
		// Its token isn't good any more (404, or 401 with a code of its own), or the message is gone.
		a.interactions.closes(id)
		return adapters.Reply{}, false, a.interactions.mayStand(id, key)
	default:
		if !failed || f.Outcome == qos.Uncertain {
			a.interactions.doubts(id)
		}
		return only(outcome(err, m.at)), true, false
	}
}
