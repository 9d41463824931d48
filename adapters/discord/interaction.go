package discord

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/exchange"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/sessions"
)

const (
	// answerWithin is how long Discord waits for the first answer, less the way there
	// (docs.discord.com/developers/interactions/receiving-and-responding#responding-to-an-interaction).
	answerWithin = 2900 * time.Millisecond
	// storeFor is how long the answer waits for the interaction to be stored.
	storeFor = time.Second
	// answerAgain is how long after a failure it's tried again.
	answerAgain = 200 * time.Millisecond
	// tokenFor is how long an interaction's token is good, less some room.
	tokenFor = 15*time.Minute - 30*time.Second
	// maxOwed bounds the answers that are owed at a time.
	maxOwed = 500
	// maxHad bounds the interactions that are known when they come again.
	maxHad = 2 * maxOwed
)

// Kinds of answers.
const (
	answerMessage = 4
	answerLater   = 6 // to a button: nothing shows
	answerChoices = 8
)

// interactions are the answers that we owe to slash commands and buttons. Discord wants
// the first within three seconds, and shows a person that none came. A slash command's
// is the command as it was understood, so that others see who asked for what; its reply
// becomes part of that message (answerable). It isn't "thinking…", which would ring at everybody's,
// since of its flags Discord takes none but the one for the person alone
// (github.com/discord/discord-api-docs/pull/7386), and would stand when nothing follows.
// It's safe for concurrent use.
type interactions struct {
	client  *client
	sharing *botSharing
	log     *slog.Logger

	mu    sync.Mutex
	had   []string               // the interactions that were taken up last: Discord may bring one twice
	owed  map[string]*owedAnswer // by the interaction's id
	shown map[string]*answerable // the same, of slash commands that were answered
}

// owedAnswer is an interaction that's being answered.
type owedAnswer struct {
	id, app, token string
	channel        string
	at             time.Time
	answer         any           // the first one's body
	line           string        // what it shows, if a reply may follow in the same message; "": none may
	answered       chan struct{} // closed when it was given, or not taken
}

func newInteractions(c *client, s *botSharing, log *slog.Logger) *interactions {
	return &interactions{client: c, sharing: s, log: log, owed: map[string]*owedAnswer{}, shown: map[string]*answerable{}}
}

// bareChannel is the channel of an interaction that doesn't say what it is, as other servers
// leave it out that speak Discord's gateway: it may be a thread, whose channel has to be asked
// for. "": it says so.
func bareChannel(f gatewayFrame) string {
	var i interactionJSON
	if err := json.Unmarshal(f.Data, &i); err != nil || i.Where.ID != "" || i.Guild == "" || !isID(i.Channel) {
		return ""
	}
	return i.Channel
}

// readOwed reads an interaction that's to be stored. parent is the channel of its thread, if it
// doesn't say so itself. The event has no action if it's none that we know.
func (g *Gateway) readOwed(s *gatewaySession, f gatewayFrame, parent string) (journalRecord, intake.Event, error) {
	var i struct {
		ID string `json:"id"`
	}
	if err := readEvent(f.Data, &i); err != nil {
		return journalRecord{}, intake.Event{}, err
	}
	r := journalRecord{Type: f.Type, Key: replyMark + i.ID, Bot: s.bot, Parent: parent, Data: f.Data}
	e, _, err := g.decoder().eventOf(r)
	return r, e, err
}

// oweAnswer has an interaction answered in time, whatever else is going on. Who isn't let in
// gets no answer: Discord shows them, and nobody else, that the application didn't
// respond, as it does when nobody is there.
func (g *Gateway) oweAnswer(ctx context.Context, s *gatewaySession, it arrivedEvent, children *sync.WaitGroup) {
	channel := bareChannel(it.gatewayFrame)
	if channel == "" {
		g.oweAnswerAt(ctx, s, it, "", children)
		return
	}
	children.Go(func() {
		g.containPanic(func() {
			asking, cancel := context.WithTimeout(ctx, answerWithin)
			defer cancel()
			c, err := askChannel(asking, g.adapter.client, channel)
			if err != nil || !isThread(c.Type) {
				c.Parent = ""
			}
			g.oweAnswerAt(ctx, s, it, c.Parent, children)
		})
	})
}

// oweAnswerAt is oweAnswer where it's known which channel a thread is in.
func (g *Gateway) oweAnswerAt(ctx context.Context, s *gatewaySession, it arrivedEvent, parent string, children *sync.WaitGroup) {
	var i interactionJSON
	r := journalRecord{Type: it.Type, Key: replyMark, Bot: s.bot, Parent: parent, Data: it.Data}
	e := intake.Event{}
	i, err := r.readInteraction(&e)
	if err != nil || e.Person.ID == "" || !g.intake.isOurGuild(i.Guild) {
		return
	}
	if i.Type == interactionComplete {
		if o, ok := i.focused(); ok {
			children.Go(func() { g.containPanic(func() { g.offerCompletions(ctx, s.bot, i, e, o) }) })
		}
		return
	}
	_, e, err = g.readOwed(s, it.gatewayFrame, parent)
	if err != nil || e.Action == nil || !g.opt.Admits(e) {
		return
	}
	g.adapter.sharing.noteOwner(i.Where)
	o := &owedAnswer{id: i.ID, app: i.App, token: i.Token, channel: channelOf(e.Place), at: time.Now(), answered: make(chan struct{})}
	o.answer, o.line = firstAnswer(e, i.Data.Name)
	if !g.adapter.interactions.addOwed(o) {
		return
	}
	children.Go(func() {
		defer close(o.answered)
		g.containPanic(func() {
			defer g.adapter.interactions.dropOwed(o.id)
			if g.mayAnswer(ctx, s.bot, o, e) {
				g.adapter.interactions.acknowledge(ctx, o, it.stored)
			}
		})
	})
}

// containPanic does what one interaction is owed. A panic in it is logged with its stack and
// counted: it ends nobody else's.
func (g *Gateway) containPanic(work func()) {
	defer func() {
		if r := recover(); r != nil {
			g.log.Error("an answer to an interaction panicked", "err", sessions.PanicError(r), "stack", string(debug.Stack()))
			g.opt.Panicked()
		}
	}()
	work()
}

// firstAnswer is the body of an interaction's first answer: to a slash command what was
// asked for, which its reply may follow in the same message. A pairing code is nobody else's
// business, and the reply to it is everybody's.
func firstAnswer(e intake.Event, command string) (body any, line string) {
	said, ok := e.Action.(intake.Said)
	if !ok {
		return map[string]any{"type": answerLater}, ""
	}
	message := func(content string, flags discordgo.MessageFlags) any {
		return map[string]any{"type": answerMessage, "data": newMessage{Content: content, Flags: flags, Mentions: nobody()}}
	}
	if command == "pair" {
		return message(shownLine("/"+command), discordgo.MessageFlagsEphemeral), ""
	}
	line = shownLine(said.Text)
	return message(line, discordgo.MessageFlagsSuppressNotifications|discordgo.MessageFlagsSuppressEmbeds), line
}

// addOwed takes an interaction; false: it came before, or there are too many.
func (is *interactions) addOwed(o *owedAnswer) bool {
	is.mu.Lock()
	defer is.mu.Unlock()
	if len(is.owed) >= maxOwed || slices.Contains(is.had, o.id) {
		return false
	}
	if is.had = append(is.had, o.id); len(is.had) > maxHad {
		is.had = is.had[1:]
	}
	is.owed[o.id] = o
	return true
}

// acknowledge gives the first answer: when the interaction is stored, or when it can't
// wait any longer.
func (is *interactions) acknowledge(ctx context.Context, o *owedAnswer, stored <-chan struct{}) {
	ctx, cancel := context.WithDeadline(ctx, o.at.Add(answerWithin))
	defer cancel()
	timer := time.NewTimer(time.Until(o.at.Add(storeFor)))
	defer timer.Stop()
	select {
	case <-stored:
	case <-timer.C:
	case <-ctx.Done():
	}
	is.sharing.noteSpeaking(o.channel)
	claimed, err := is.giveAnswer(ctx, o.id, o.token, o.answer)
	if claimed != claimOpen {
		is.sharing.noteClaim(context.WithoutCancel(ctx), o.id, claimed)
	}
	if err != nil {
		is.log.WarnContext(ctx, "an interaction wasn't acknowledged in time", "interaction", o.id, "err", err)
		return
	}
	if o.line != "" && claimed == claimWon {
		is.openReply(o)
	}
}

// giveAnswer gives an interaction's first answer, and says whose it was. It's tried as long as
// there's time: Discord takes one only. That one was given counts as this daemon's if a call before
// may have given it.
func (is *interactions) giveAnswer(ctx context.Context, id, token string, body any) (answerClaim, error) {
	for unsure := false; ; {
		err := is.client.callPath(ctx, http.MethodPost, "interactions/"+id+"/"+token+"/callback", body, nil)
		f, failed := errors.AsType[*failure](err)
		switch {
		case err == nil, failed && f.Code == codeAcknowledged && unsure:
			return claimWon, nil
		case failed && f.Code == codeAcknowledged:
			return claimLost, nil
		case isGone(err), ctx.Err() != nil:
			return claimOpen, err
		}
		unsure = unsure || !failed || f.Outcome == qos.Uncertain
		_ = sessions.Pause(ctx, max(answerAgain, exchange.RetryAfter(err)))
		if ctx.Err() != nil {
			return claimOpen, err
		}
	}
}

// codeAcknowledged: "Interaction has already been acknowledged".
const codeAcknowledged = 40060

// dropOwed forgets an interaction.
func (is *interactions) dropOwed(id string) {
	is.mu.Lock()
	defer is.mu.Unlock()
	delete(is.owed, id)
}

// awaitAnswer waits until the first answer was given to an interaction; then it can be
// followed by others.
func (is *interactions) awaitAnswer(ctx context.Context, id string) {
	is.mu.Lock()
	o := is.owed[id]
	is.mu.Unlock()
	if o == nil {
		return
	}
	select {
	case <-o.answered:
	case <-ctx.Done():
	}
}

// maxLine is how much of a command line is shown, in characters.
const maxLine = 300

// shownLine is a command line in Discord's Markdown, as it is.
func shownLine(line string) string {
	return "`" + strings.ReplaceAll(adapters.Shorten(line, maxLine), "`", "'") + "`"
}

// maxChoices and maxChoice: "25 choices max", "1-100 character name"
// (docs.discord.com/developers/interactions/application-commands#application-command-object-application-command-option-choice-structure).
const (
	maxChoices = 25
	maxChoice  = 100
)

// offerCompletions offers what may be meant by an argument that's being written. Nobody waits
// for it longer than for an answer.
func (g *Gateway) offerCompletions(ctx context.Context, bot string, i interactionJSON, e intake.Event, o optionJSON) {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	g.adapter.sharing.noteOwner(i.Where)
	if e.Action = (intake.Said{Text: "/" + i.Data.Name}); !g.opt.Admits(e) || g.adapter.sharing.isOthers(ctx, e.Place, bot) {
		return
	}
	choices := []choiceJSON{}
	for _, c := range g.opt.Complete(e, i.Data.Name, o.Name, o.text()) {
		if len(choices) < maxChoices && c.Value != "" && len([]rune(c.Value)) <= maxChoice {
			choices = append(choices, choiceJSON{adapters.Shorten(c.Label, maxChoice), c.Value})
		}
	}
	body := map[string]any{"type": answerChoices, "data": map[string]any{"choices": choices}}
	if _, err := g.adapter.interactions.giveAnswer(ctx, i.ID, i.Token, body); err != nil {
		g.log.DebugContext(ctx, "what could be meant wasn't offered in time", "err", err)
	}
}

// choiceJSON is one of several values that can be given.
type choiceJSON struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

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

// openReply keeps that a command is shown by a message that can become its reply.
func (is *interactions) openReply(o *owedAnswer) {
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

// claimReply returns the message of a slash command that a post can become, which is the first post
// that answers it. It waits until the command is shown. ok is false if there's none any more.
func (is *interactions) claimReply(ctx context.Context, id, key string) (_ answerable, ok bool) {
	waiting, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	is.awaitAnswer(waiting, id)
	is.mu.Lock()
	defer is.mu.Unlock()
	a := is.shown[id]
	if a == nil || a.closed || time.Since(a.at) > tokenFor || a.key != "" && a.key != key {
		return answerable{}, false
	}
	a.key = key
	return *a, true
}

// closeReply keeps that nothing more becomes part of a command's message.
func (is *interactions) closeReply(id string) {
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

// doubtReply keeps that a command's reply may be part of its message.
func (is *interactions) doubtReply(id string) {
	is.mu.Lock()
	defer is.mu.Unlock()
	if a := is.shown[id]; a != nil {
		a.unsure = true
	}
}

// answerInCommand has a slash command's message become its reply, below the command's line if there's room
// for both (docs.discord.com/developers/interactions/receiving-and-responding#edit-original-interaction-response).
// The same call may be made twice. ok is false if the reply has to be a message of its own: edits
// ring nobody; unsure then says that it may stand there all the same.
func (a *Adapter) answerInCommand(ctx context.Context, command, key string, m message) (_ adapters.Reply, ok, unsure bool) {
	id := strings.TrimPrefix(command, replyMark)
	if m.ring {
		a.interactions.closeReply(id)
		return adapters.Reply{}, false, a.interactions.mayStand(id, key)
	}
	shown, ok := a.interactions.claimReply(ctx, id, key)
	if !ok {
		return adapters.Reply{}, false, a.interactions.mayStand(id, key)
	}
	body := messageEdit{Content: shown.line, Mentions: nobody(), Rows: m.rows}
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
	var got madeThing
	var err error
	if files := m.files(); len(files) > 0 {
		err = a.client.callWithFiles(ctx, http.MethodPatch, path, body, files, &got)
	} else {
		err = a.client.callPath(ctx, http.MethodPatch, path, body, &got)
	}
	f, failed := errors.AsType[*failure](err)
	switch {
	case err == nil:
		return adapters.Reply{Outcome: qos.Delivered, ID: got.ID}, true, false
	case failed && !f.local && (f.Outcome == qos.Rejected || f.Status == http.StatusUnauthorized && f.Code != 0):
		// Its token isn't good any more (404, or 401 with a code of its own), or the message is gone.
		a.interactions.closeReply(id)
		return adapters.Reply{}, false, a.interactions.mayStand(id, key)
	default:
		if !failed || f.Outcome == qos.Uncertain {
			a.interactions.doubtReply(id)
		}
		return only(outcome(err, m.at)), true, false
	}
}
