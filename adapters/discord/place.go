package discord

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/qos"
)

const (
	// liveRows is how many rows of a live region stand below a stream: enough for what
	// an agent says it's doing.
	liveRows = 3
	// maxFile is the size of the largest file that's attached, in bytes: 10 MB
	// (docs.discord.com/developers/reference#uploading-files), less what goes with it.
	maxFile = 10_000_000 - 64<<10
	// nonceFor is for how long Discord makes no second message with a nonce: "in the
	// past few minutes" (docs.discord.com/developers/resources/message#create-message).
	nonceFor = 2 * time.Minute
)

// threadLimit is for making threads. Discord names no number, and no header shows one;
// bots that were too fast had to wait for some five minutes
// (github.com/discord/discord-api-docs/issues/7816). What's ours is guessed, and kept
// low enough to seldom find out.
func threadLimit() qos.Limit {
	return qos.Limit{Windows: []qos.Window{{Calls: 5, Per: 5 * time.Second}, {Calls: 20, Per: 5 * time.Minute}}}
}

// Limits are Discord's windows, which the headers of its answers narrow further (Options.Learn).
// Private is for making threads, which counts nowhere else.
func Limits() qos.Limits {
	return qos.Limits{
		// 50 requests a second are allowed to a bot
		// (docs.discord.com/developers/topics/rate-limits); interactions don't count,
		// and somebody else may use the token too.
		Bot: qos.Limit{Windows: []qos.Window{{Calls: 45, Per: time.Second}}, Gap: 20 * time.Millisecond},
		// Not documented, observed: 5 per 5 s per channel
		// (github.com/discord/discord-api-docs/issues/20).
		Group:   qos.Limit{Windows: []qos.Window{{Calls: 5, Per: 5 * time.Second}}},
		Private: threadLimit(),
		Families: map[qos.Family]qos.Limit{
			qos.FamilyTyping: {Windows: []qos.Window{{Calls: 5, Per: 5 * time.Second}}},
			// 2 per 10 minutes, though the headers say more
			// (github.com/discord/discord-api-docs/issues/1900).
			qos.FamilyRename: {Windows: []qos.Window{{Calls: 2, Per: 10 * time.Minute}}},
		},
	}
}

// Options implements adapters.Adapter. To qos, where threads are made is a chat of the
// other kind: a private one.
func (a *Adapter) Options() qos.Options {
	o := a.opt.QoS
	o.Limits = Limits()
	o.Limits.IsPrivate = func(c qos.Chat) bool { return c == a.Threads(adapters.Target{}) }
	return o
}

// Chat implements adapters.Adapter. A thread is a channel of its own to Discord's
// limits.
func (a *Adapter) Chat(t adapters.Target) qos.Chat { return qos.Chat(channelOf(t)) }

// Threads implements adapters.Threader. Who makes threads too fast waits for minutes,
// together with others (github.com/discord/discord-api-docs/issues/7816), wherever on
// the server it is.
func (a *Adapter) Threads(adapters.Target) qos.Chat { return qos.Chat(a.opt.Guild + "/threads") }

// channelOf is the channel that calls to a target name: threads are channels.
func channelOf(t adapters.Target) string {
	if t.Thread != "" {
		return t.Thread
	}
	return t.Chat
}

// Shape implements adapters.Adapter.
func (a *Adapter) Shape(t adapters.Target) adapters.Shape {
	s := adapters.Shape{
		Text: pageText, Size: pageSize, MaxLen: maxText, MaxFile: maxFile, MaxCaption: maxText,
		LiveRows: liveRows, NonceFor: nonceFor, Menus: maxRows - 1, MenuOptions: maxOptions,
	}
	if t.Thread == "" {
		c, _ := a.channel(t.Chat)
		s.OwnThread, s.ClosesThreads, s.OnlyThreads = c.Threads, c.Threads, a.forums.has(t.Chat)
	}
	return s
}

// Link implements adapters.Linker.
func (a *Adapter) Link(at adapters.Target, message string) string {
	if at.Thread == "" && a.private.person(at.Chat) != "" {
		return link(noGuild, at, message)
	}
	return link(a.opt.Guild, at, message)
}

// noGuild stands for the server in addresses of private chats.
const noGuild = "@me"

// link is the address of a message, or of a channel if message is ""; "": it has none.
func link(guild string, at adapters.Target, message string) string {
	channel := channelOf(at)
	if guild != noGuild && !isID(guild) || !isID(channel) || message != "" && !isID(message) {
		return ""
	}
	address := "https://discord.com/channels/" + guild + "/" + channel
	if message != "" {
		address += "/" + message
	}
	return address
}

// within has a call's answer counted for the limits of a target.
func (a *Adapter) within(ctx context.Context, t adapters.Target, family qos.Family) context.Context {
	return withPurpose(ctx, purpose{scope: qos.Scope{Chat: a.Chat(t), Family: family}})
}

// checkIDs says which of a call's ids can't be any: they become part of an address.
func checkIDs(t adapters.Target, message string) error {
	switch {
	case !isID(t.Chat):
		return fmt.Errorf("%q is not a channel's id", t.Chat)
	case t.Thread != "" && !isID(t.Thread):
		return fmt.Errorf("%q is not a thread's id", t.Thread)
	case message != "" && !isID(message):
		return fmt.Errorf("%q is not a message's id", message)
	default:
		return nil
	}
}

// epoch is when snowflakes begin, in milliseconds since 1970
// (docs.discord.com/developers/reference#snowflakes).
const epoch = 1_420_070_400_000

// madeAt is when Discord made what an id names; what's no id is old.
func madeAt(id string) time.Time {
	n, _ := strconv.ParseUint(id, 10, 64)
	return time.UnixMilli(int64(n>>22) + epoch)
}
