package telegram

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/go-telegram/bot"
)

// Probe looks at a bot and its chats without running anything. It acknowledges no
// update and changes nothing at Telegram, but for Unhook and Forget; a look at updates
// ends the poll of another reader. The text of its errors has no secret, and says what
// to do where that's known.
type Probe struct{ client *client }

// NewProbe returns a probe that has called nothing yet. It needs the token, and
// where the Bot API is. The error joins all that's wrong with the options.
func NewProbe(opt Options) (*Probe, error) {
	a, err := New(opt)
	if err != nil {
		return nil, err
	}
	return &Probe{client: a.client}, nil
}

// Close closes unused connections.
func (p *Probe) Close() { p.client.exchange.Client().CloseIdleConnections() }

// Valid says whether a token looks like one. Whether there's such a bot only Telegram
// knows.
func (t Token) Valid() bool { return tokenForm.MatchString(string(t)) }

// Bot is who a token belongs to (core.telegram.org/bots/api#user).
type Bot struct {
	ID   int64  `json:"id"`
	Name string `json:"first_name"`
	User string `json:"username"` // without @
	// HearsAll says that privacy mode is off: in groups the bot gets every message.
	// As an administrator it does in any case.
	HearsAll bool `json:"can_read_all_group_messages"`
	// PrivateTopics says that its private chats have topics.
	PrivateTopics bool `json:"has_topics_enabled"`
}

// Check implements exchange.Checked.
func (b *Bot) Check() error {
	if b.ID <= 0 || b.User == "" {
		return errors.New("it doesn't say who the bot is")
	}
	return nil
}

// Bot asks who the bot is.
func (p *Probe) Bot(ctx context.Context) (Bot, error) {
	var b Bot
	err := ask(ctx, p.client, &b, (*bot.Bot).GetMe)
	return b, err
}

// Hook is a webhook as Telegram knows it.
type Hook struct {
	Host    string // to which updates are sent; "": there's no webhook. The rest of the address may be a secret
	Pending int    // updates that wait, with a webhook or without
	Problem string // why Telegram couldn't deliver the last time; "": it could, or it's long ago
}

// recently is how long ago a webhook's failure is still worth a word.
const recently = 10 * time.Minute

// Hook asks whether a webhook takes the bot's updates.
func (p *Probe) Hook(ctx context.Context) (Hook, error) {
	var info webhookInfo
	if err := ask(ctx, p.client, &info, (*bot.Bot).GetWebhookInfo); err != nil || info.URL == "" {
		return Hook{Pending: info.Pending}, err
	}
	h := Hook{Host: "an unknown address", Pending: info.Pending}
	if u, err := url.Parse(info.URL); err == nil && u.Host != "" {
		h.Host = u.Host
	}
	if time.Since(time.Unix(info.LastErrorDate, 0)) < recently {
		h.Problem = harmless(info.LastErrorMessage)
	}
	return h, nil
}

// Unhook takes a webhook away, so that updates can be read. Those that wait stay.
func (p *Probe) Unhook(ctx context.Context) error {
	return call(ctx, p.client, nil, (*bot.Bot).DeleteWebhook, &bot.DeleteWebhookParams{})
}

// IsConflict says whether something else reads the bot's updates: another program
// that polls, or a webhook.
func IsConflict(err error) bool {
	f, ok := errors.AsType[*failure](err)
	return ok && f.Status == http.StatusConflict
}

// IsUnreachable says whether Telegram gave no answer: none came, or somebody in between or a server
// in trouble gave one.
func IsUnreachable(err error) bool {
	f, ok := errors.AsType[*failure](err)
	return ok && (f.Status < http.StatusMultipleChoices || f.Status >= http.StatusInternalServerError)
}
