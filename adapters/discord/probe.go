package discord

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"github.com/bwmarrin/discordgo"

	"github.com/panebridge/panebridge/adapters"
)

// Probe looks at a bot, its servers and their channels, without running anything and
// without changing anything. The text of its errors has no secret, and says what to do
// where that's known.
type Probe struct{ client *client }

// NewProbe returns a probe that has called nothing yet. It needs the token, and where
// the API is. The error joins all that's wrong with the options.
func NewProbe(opt Options) (*Probe, error) {
	a, err := New(opt)
	if err != nil {
		return nil, err
	}
	return &Probe{client: a.client}, nil
}

// Close closes unused connections.
func (p *Probe) Close() { p.client.files.CloseIdleConnections() }

// Bot is who a token belongs to.
type Bot struct {
	ID   string // the bot's, as a user
	App  string // its application's
	Name string
	// Content says that the message content intent is on: without it, nothing that
	// people write can be read.
	Content bool
	// Public says that anybody may invite it to their server.
	Public bool
}

// Flags of an application (docs.discord.com/developers/resources/application).
const (
	flagContent        = 1 << 18 // verified for many servers
	flagContentLimited = 1 << 19
)

// Bot asks who the bot is.
func (p *Probe) Bot(ctx context.Context) (Bot, error) {
	var app struct {
		ID     string          `json:"id"`
		Name   string          `json:"name"`
		Flags  int             `json:"flags"`
		Public bool            `json:"bot_public"`
		Bot    *discordgo.User `json:"bot"`
	}
	if err := p.client.raw(ctx, http.MethodGet, "applications/@me", nil, &app); err != nil {
		return Bot{}, err
	}
	b := Bot{ID: app.ID, App: app.ID, Name: printable(app.Name), Content: app.Flags&(flagContent|flagContentLimited) != 0, Public: app.Public}
	if app.Bot != nil {
		b.ID, b.Name = app.Bot.ID, printable(app.Bot.Username)
	}
	return b, nil
}

// Invite is the address at which somebody who manages a server lets the bot in, with
// all that it needs there.
func (b Bot) Invite() string {
	var all int64
	for _, n := range needs {
		all |= n.permission
	}
	q := url.Values{"client_id": {b.App}, "scope": {"bot applications.commands"}, "permissions": {strconv.FormatInt(all, 10)}}
	return "https://discord.com/oauth2/authorize?" + q.Encode()
}

// Guild is a server that the bot is on.
type Guild struct{ ID, Name string }

// Guilds asks which servers the bot is on: the first 200.
func (p *Probe) Guilds(ctx context.Context) ([]Guild, error) {
	var list []Guild
	if err := p.client.raw(ctx, http.MethodGet, "users/@me/guilds", nil, &list); err != nil {
		return nil, err
	}
	for i := range list {
		list[i].Name = printable(list[i].Name)
	}
	return list, nil
}

// IsOn asks whether the bot is on a server.
func (p *Probe) IsOn(ctx context.Context, guild string) (bool, error) {
	err := p.client.raw(ctx, http.MethodGet, "guilds/"+guild, nil, &same{want: guild})
	if isGone(err) {
		return false, nil
	}
	return err == nil, err
}

// printable is a name as a terminal may show it.
func printable(s string) string { return cut(adapters.Printable(s), maxTitle) }
