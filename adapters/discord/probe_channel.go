package discord

import (
	"cmp"
	"context"
	"net/http"
	"slices"

	"github.com/bwmarrin/discordgo"
)

// Place is what kind of channel one is.
type Place string

// The kinds of channel.
const (
	PlaceText  Place = "text"  // for messages and threads
	PlaceForum Place = "forum" // for posts only
	PlaceOther Place = "other" // for neither: voice, a category, a thread
)

func placeOf(t discordgo.ChannelType) Place {
	switch t {
	case discordgo.ChannelTypeGuildText, discordgo.ChannelTypeGuildNews:
		return PlaceText
	case discordgo.ChannelTypeGuildForum, discordgo.ChannelTypeGuildMedia:
		return PlaceForum
	default:
		return PlaceOther
	}
}

// Seen is a channel, and what the bot may do there.
type Seen struct {
	ID    string
	Title string
	Guild string // the server's id
	Kind  Place
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

// need is a permission, and what it's for.
type need struct {
	permission int64
	name       string // as Discord's settings call it
	not        string // what the bot can't do without it
	threads    bool   // only where sessions get threads
	slight     bool
}

var needs = []need{ //nolint:gochecknoglobals // a constant table
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
func (p *Probe) Channel(ctx context.Context, bot Bot, id string) (Seen, error) {
	var c discordgo.Channel
	if err := p.client.raw(ctx, http.MethodGet, "channels/"+id, nil, &c); err != nil {
		return Seen{ID: id}, err
	}
	seen := Seen{ID: c.ID, Title: printable(c.Name), Guild: c.GuildID, Kind: placeOf(c.Type)}
	if c.GuildID == "" {
		return seen, nil // a chat with a person
	}
	err := p.client.do(ctx, func(s *discordgo.Session, options ...discordgo.RequestOption) error {
		var err error
		seen.May, err = s.UserChannelPermissions(bot.ID, id, options...)
		return err
	})
	return seen, err
}

// Channels are the text and forum channels of a server that the bot sees, as people see
// them ordered. What it may do there isn't asked for.
func (p *Probe) Channels(ctx context.Context, guild string) ([]Seen, error) {
	var list []discordgo.Channel
	if err := p.client.raw(ctx, http.MethodGet, "guilds/"+guild+"/channels", nil, &list); err != nil {
		return nil, err
	}
	slices.SortStableFunc(list, func(a, b discordgo.Channel) int { return cmp.Compare(a.Position, b.Position) })
	var out []Seen
	for _, c := range list {
		if kind := placeOf(c.Type); kind != PlaceOther {
			out = append(out, Seen{ID: c.ID, Title: printable(c.Name), Guild: guild, Kind: kind})
		}
	}
	return out, nil
}

// Lacks are what stands in the way of a channel as it's configured. guild is the
// configured server's id; "": any.
func (s Seen) Lacks(as Channel, guild string) []Lack {
	switch {
	case s.Guild == "" || guild != "" && s.Guild != guild:
		return []Lack{{Detail: "the channel isn't on the configured server", Fix: "Check the ids of server and channel: " + copyID + "."}}
	case s.Kind == PlaceOther:
		return []Lack{{Detail: "it's neither a text nor a forum channel", Fix: "Take the id of one: " + copyID + "."}}
	}
	var all []Lack
	if s.Kind == PlaceForum && !as.Threads {
		all = append(all, Lack{Detail: "it's a forum channel, where nothing but posts can be written", Fix: "Say threads: true for the channel."})
	}
	for _, n := range needs {
		if n.threads && !as.Threads || s.Kind == PlaceForum && n.permission == discordgo.PermissionCreatePublicThreads {
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
