package discord

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
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

// BotAccount is who a token belongs to.
type BotAccount struct {
	ID   string // the bot's, as a user
	App  string // its application's
	Name string
	// Content says that the message content intent is on: without it, nothing that
	// people write can be read.
	Content bool
	// Owner is who made it; zero: a team did.
	Owner AppOwner
}

// AppOwner is who made an application.
type AppOwner struct{ ID, Name string }

// Server is one that the bot is on.
type Server struct{ ID, Name string }

// Flags of an application (docs.discord.com/developers/resources/application).
const (
	flagContent        = 1 << 18 // verified for many servers
	flagContentLimited = 1 << 19
)

// Bot asks who the bot is.
func (p *Probe) Bot(ctx context.Context) (BotAccount, error) {
	var app struct {
		ID    string          `json:"id"`
		Name  string          `json:"name"`
		Flags int             `json:"flags"`
		Bot   *discordgo.User `json:"bot"`
		Owner *discordgo.User `json:"owner"`
		Team  json.RawMessage `json:"team"` // then the owner is an account that stands for it
	}
	if err := p.client.callPath(ctx, http.MethodGet, "applications/@me", nil, &app); err != nil {
		return BotAccount{}, err
	}
	b := BotAccount{ID: app.ID, App: app.ID, Name: printable(app.Name), Content: app.Flags&(flagContent|flagContentLimited) != 0}
	if app.Bot != nil {
		b.ID, b.Name = app.Bot.ID, printable(app.Bot.Username)
	}
	if app.Owner != nil && isID(app.Owner.ID) && (len(app.Team) == 0 || string(app.Team) == "null") {
		b.Owner = AppOwner{app.Owner.ID, printable(app.Owner.Username)}
	}
	return b, nil
}

// SendText sends a text to a text channel, silently.
func (p *Probe) SendText(ctx context.Context, channel, text string) error {
	body := newMessage{Content: text, Flags: discordgo.MessageFlagsSuppressEmbeds | discordgo.MessageFlagsSuppressNotifications, Mentions: nobody()}
	var got madeThing
	return p.client.callPath(ctx, http.MethodPost, "channels/"+channel+"/messages", body, &got)
}

// Servers are those that the bot is on, 200 at most.
func (p *Probe) Servers(ctx context.Context) ([]Server, error) {
	var list []Server
	if err := p.client.callPath(ctx, http.MethodGet, "users/@me/guilds", nil, &list); err != nil {
		return nil, err
	}
	list = slices.DeleteFunc(list, func(one Server) bool { return !isID(one.ID) })
	for i := range list {
		list[i].Name = printable(list[i].Name)
	}
	return list, nil
}

// Channels are the text and forum channels of a server, in the order in which people see them.
func (p *Probe) Channels(ctx context.Context, guild string) ([]ProbedChannel, error) {
	var list []*discordgo.Channel
	if err := p.client.callPath(ctx, http.MethodGet, "guilds/"+guild+"/channels", nil, &list); err != nil {
		return nil, err
	}
	place := map[string]int{} // of categories
	for _, c := range list {
		place[c.ID] = c.Position + 1
	}
	slices.SortStableFunc(list, func(x, y *discordgo.Channel) int {
		return cmp.Or(cmp.Compare(place[x.ParentID], place[y.ParentID]), cmp.Compare(x.Position, y.Position), cmp.Compare(x.ID, y.ID))
	})
	var all []ProbedChannel
	for _, c := range list {
		if kind := placeOf(c.Type); kind != ChannelOther && isID(c.ID) {
			all = append(all, ProbedChannel{ID: c.ID, Title: printable(c.Name), Guild: guild, Kind: kind})
		}
	}
	return all, nil
}

// PersonOn returns the name of somebody on a server; on is false if they aren't there.
func (p *Probe) PersonOn(ctx context.Context, guild, id string) (name string, on bool, err error) {
	var member struct {
		User discordgo.User `json:"user"`
	}
	err = p.client.callPath(ctx, http.MethodGet, "guilds/"+guild+"/members/"+id, nil, &member)
	if f, ok := errors.AsType[*failure](err); ok && f.Status == http.StatusNotFound {
		return "", false, nil
	}
	return printable(member.User.Username), err == nil && member.User.ID == id, err
}

// Invite is the address at which somebody who manages a server lets the bot in, with
// all that it needs there.
func (b BotAccount) Invite() string {
	var all int64
	for _, n := range neededRights {
		all |= n.permission
	}
	q := url.Values{"client_id": {b.App}, "scope": {"bot applications.commands"}, "permissions": {strconv.FormatInt(all, 10)}}
	return "https://discord.com/oauth2/authorize?" + q.Encode()
}

// IsOn asks whether the bot is on a server.
func (p *Probe) IsOn(ctx context.Context, guild string) (bool, error) {
	err := p.client.callPath(ctx, http.MethodGet, "guilds/"+guild, nil, &sameThing{want: guild})
	if isGone(err) {
		return false, nil
	}
	return err == nil, err
}

// printable is a name as a terminal may show it.
func printable(s string) string { return adapters.Shorten(adapters.Printable(s), maxTitle) }

// ChannelKind is what kind of channel one is.
type ChannelKind string

// The kinds of channel.
const (
	ChannelText  ChannelKind = "text"  // for messages and threads
	ChannelForum ChannelKind = "forum" // for posts only
	ChannelOther ChannelKind = "other" // for neither: voice, a category, a thread
)

func placeOf(t discordgo.ChannelType) ChannelKind {
	switch t {
	case discordgo.ChannelTypeGuildText, discordgo.ChannelTypeGuildNews:
		return ChannelText
	case discordgo.ChannelTypeGuildForum, discordgo.ChannelTypeGuildMedia:
		return ChannelForum
	default:
		return ChannelOther
	}
}

// ProbedChannel is a channel, and what the bot may do there.
type ProbedChannel struct {
	ID    string
	Title string
	Guild string // the server's id
	Kind  ChannelKind
	// May are the bot's permissions there
	// (docs.discord.com/developers/topics/permissions).
	May int64
}

// Lack is something that stands in the way of what a channel is for.
type Lack struct {
	Detail string // "the bot may not attach files"
	Fix    string // what to do, in one sentence
	// Slight says that sessions are mirrored all the same.
	Slight bool
}

// permissionPin is what the library has no name for.
const permissionPin = 1 << 51

// neededRight is a permission, and what it's for.
type neededRight struct {
	permission int64
	name       string // as Discord's settings call it
	not        string // what the bot can't do without it
	threads    bool   // only where sessions get threads
	slight     bool
}

var neededRights = []neededRight{ //nolint:gochecknoglobals // a constant table
	{permission: discordgo.PermissionViewChannel, name: "View Channel", not: "doesn't see the channel"},
	{permission: discordgo.PermissionSendMessages, name: "Send Messages", not: "may not write there"},
	{permission: discordgo.PermissionReadMessageHistory, name: "Read Message History", not: "may not read what was written while it was away, nor reply, react or pin"},
	{permission: discordgo.PermissionCreatePublicThreads, name: "Create Public Threads", not: "may not make threads", threads: true},
	{permission: discordgo.PermissionSendMessagesInThreads, name: "Send Messages in Threads", not: "may not write in threads", threads: true},
	{permission: discordgo.PermissionManageThreads, name: "Manage Threads", not: "may not open threads that somebody has locked", threads: true, slight: true},
	{permission: discordgo.PermissionAttachFiles, name: "Attach Files", not: "may not send files and screens"},
	{permission: discordgo.PermissionAddReactions, name: "Add Reactions", not: "may not show by reactions what became of a message", slight: true},
	{permission: permissionPin, name: "Pin Messages", not: "may not keep its list of sessions pinned", slight: true},
}

// Channel looks at a channel, and at what the bot may do there.
func (p *Probe) Channel(ctx context.Context, bot BotAccount, id string) (ProbedChannel, error) {
	var c discordgo.Channel
	if err := p.client.callPath(ctx, http.MethodGet, "channels/"+id, nil, &c); err != nil {
		return ProbedChannel{ID: id}, err
	}
	seen := ProbedChannel{ID: c.ID, Title: printable(c.Name), Guild: c.GuildID, Kind: placeOf(c.Type)}
	if c.GuildID == "" {
		return seen, nil // a chat with a person
	}
	err := p.client.callLibrary(ctx, func(s *discordgo.Session, options ...discordgo.RequestOption) error {
		var err error
		seen.May, err = s.UserChannelPermissions(bot.ID, id, options...)
		return err
	})
	return seen, err
}

// Lacks returns what stands in the way of a channel as it's configured. guild is the
// configured server's id; "": any.
func (s ProbedChannel) Lacks(as ChannelConfig, guild string) []Lack {
	switch {
	case s.Guild == "" || guild != "" && s.Guild != guild:
		return []Lack{{Detail: "the channel isn't on the configured server", Fix: "Check the ids of server and channel: " + copyID + "."}}
	case s.Kind == ChannelOther:
		return []Lack{{Detail: "it's neither a text nor a forum channel", Fix: "Take the id of one: " + copyID + "."}}
	}
	var all []Lack
	if s.Kind == ChannelForum && !as.Threads {
		all = append(all, Lack{Detail: "it's a forum channel, where nothing but posts can be written", Fix: "Say threads: true for the channel."})
	}
	for _, n := range neededRights {
		if n.threads && !as.Threads || s.Kind == ChannelForum && n.permission == discordgo.PermissionCreatePublicThreads {
			continue // to write in a forum channel is to make posts
		}
		if s.May&(n.permission|discordgo.PermissionAdministrator) != 0 {
			continue
		}
		all = append(all, Lack{
			Detail: "the bot " + n.not, Slight: n.slight,
			Fix: `Give the bot's role "` + n.name + `" in the channel's permissions.`,
		})
		if n.permission == discordgo.PermissionViewChannel {
			break // without it there's no other
		}
	}
	return all
}
