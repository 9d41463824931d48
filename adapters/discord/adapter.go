package discord

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/exchange"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/adapters/platform"
	"github.com/panebridge/panebridge/qos"
)

// Adapter makes Discord's calls: those of the outbound path in their slots, and those that inbound needs
// besides, which take none. Those of interactions Discord doesn't count, the others are next to never made.
type Adapter struct {
	opt      Options
	channels atomic.Pointer[map[string]ChannelConfig] // as they were configured last
	client   *client
	forums   forumChannels
	titles   refusedTitles // of threads, that are refused
	old      oldEditTimes
	private  privateChats
	sharing  *botSharing
	log      *slog.Logger

	interactions *interactions
}

var (
	_ adapters.Adapter      = (*Adapter)(nil)
	_ adapters.Poster       = (*Adapter)(nil)
	_ adapters.Linker       = (*Adapter)(nil)
	_ adapters.Threader     = (*Adapter)(nil)
	_ intake.InboundAdapter = (*Adapter)(nil)
)

// New returns an adapter that has called nothing yet. The error joins all that's
// wrong with the options.
func New(opt Options) (*Adapter, error) {
	opt.APIURL = cmp.Or(opt.APIURL, DefaultAPIURL)
	if opt.Logger == nil {
		opt.Logger = slog.New(slog.DiscardHandler)
	}
	if opt.Learn == nil {
		opt.Learn = func(qos.Scope, qos.Learned) {}
	}
	if opt.Shows == nil {
		opt.Shows = func(adapters.Target) bool { return false }
	}
	if err := opt.check(); err != nil {
		return nil, fmt.Errorf("make the discord adapter: %w", err)
	}
	a := &Adapter{opt: opt, client: newClient(opt), log: opt.Logger, sharing: newSharing(opt)}
	a.interactions = newInteractions(a.client, a.sharing, a.log)
	a.SetChannels(opt.Channels)
	return a, nil
}

// Load reads the notes about private chats and about others that use the bot. Call it before anything
// else is called.
func (a *Adapter) Load(ctx context.Context) error {
	if err := a.loadPrivate(ctx); err != nil {
		return fmt.Errorf("load with whom private chats on Discord are: %w", err)
	}
	if err := a.sharing.load(ctx); err != nil {
		return fmt.Errorf("load who shares the bot on Discord: %w", err)
	}
	return nil
}

// SetChannels replaces Options.Channels.
func (a *Adapter) SetChannels(list []ChannelConfig) {
	channels := map[string]ChannelConfig{}
	for _, c := range list {
		channels[c.ID] = c
	}
	a.channels.Store(&channels)
}

// channel is a channel as it's configured; ok is false if it isn't.
func (a *Adapter) channel(id string) (c ChannelConfig, ok bool) {
	c, ok = (*a.channels.Load())[id]
	return c, ok
}

// Name implements adapters.Adapter and intake.InboundAdapter.
func (a *Adapter) Name() string { return Name }

// Check implements adapters.Adapter.
func (a *Adapter) Check(t adapters.Target) error {
	switch {
	case !isID(t.Chat):
		return fmt.Errorf("%q is not a channel's id: %s", t.Chat, copyID)
	case t.Thread != "" && !isID(t.Thread):
		return fmt.Errorf("%q is not a thread's id: %s", t.Thread, copyID)
	}
	if _, ok := a.channel(t.Chat); ok || a.knows(t) {
		return nil
	}
	return fmt.Errorf("channel %s is not known: add it to adapters.discord.channels, or write /pair CODE in it", t.Chat)
}

// Name is what the adapter is called in targets: "discord:123456789012345678".
const Name = "discord"

// DefaultAPIURL is where Discord is.
const DefaultAPIURL = "https://discord.com/api"

// Options are an Adapter's. The zero value of a field means its default.
type Options struct {
	// Token is the bot's, as the developer portal gives it, without "Bot ".
	Token exchange.Token
	// APIURL is where the API is, without its version. DefaultAPIURL
	APIURL string
	// Proxy is the address of a proxy for all calls: http, https or socks5. "": as the
	// environment says (HTTPS_PROXY, NO_PROXY)
	Proxy string
	// Guild is the id of the server that the channels are in. It's part of the addresses
	// of messages, and where threads are looked for whose making wasn't answered; "":
	// there are no addresses, and such threads are made once more.
	Guild string
	// Channels are those the bot may write to by configuration.
	Channels []ChannelConfig
	// Knows says whether it may write to a channel that isn't among them: one that was
	// paired; or a private chat, for which Chat is the person's id. Nil: to none.
	Knows func(t adapters.Target) bool
	// Shows says whether a session is mirrored at this very place; it returns at once. Nil: none is.
	Shows func(t adapters.Target) bool
	// QoS are the knobs of the scheduler. Its limits are Discord's, whatever stands there.
	QoS qos.Options
	// Learn is told what answers say about limits: qos.OutputQoSScheduler.Learn. It
	// returns at once. Nil: nobody is told.
	Learn func(qos.Scope, qos.Learned)
	// Transport carries the calls. Nil: one of its own, with Proxy.
	Transport http.RoundTripper
	// Dial makes the connection of the gateway's WebSocket. Nil: as Proxy says.
	Dial   func(ctx context.Context, network, address string) (net.Conn, error)
	Logger *slog.Logger
	// Notes are what's remembered over restarts: the commands that Discord has, private chats, how far
	// places were read, which threads are this daemon's.
	Notes platform.Notes
}

// tokenForm is what tokens look like: the bot's id in base64, a time, and a signature.
var tokenForm = regexp.MustCompile(`^` + tokenWithin.String() + `$`)

// tokenWithin finds what looks like tokens in a text.
var tokenWithin = regexp.MustCompile(`[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]{15,}`)

// check returns all that's wrong with the options, joined.
func (o Options) check() error {
	var errs []error
	if !tokenForm.MatchString(string(o.Token)) {
		errs = append(errs, errors.New(`the token is not one: the developer portal gives it on the page "Bot", as three parts with dots between`))
	}
	_, err := exchange.ParseProxy(o.Proxy)
	errs = append(errs, exchange.CheckAPI(o.APIURL, DefaultAPIURL), err)
	if o.Guild != "" && !isID(o.Guild) {
		errs = append(errs, fmt.Errorf("guild %q is not a server's id: %s", o.Guild, copyID))
	}
	seen := map[string]bool{}
	for _, c := range o.Channels {
		switch {
		case !isID(c.ID):
			errs = append(errs, fmt.Errorf("%q is not a channel's id: %s", c.ID, copyID))
		case seen[c.ID]:
			errs = append(errs, fmt.Errorf("channel %s is there twice", c.ID))
		}
		seen[c.ID] = true
	}
	return errors.Join(errs...)
}

// copyID is where ids come from.
const copyID = `switch on "Developer Mode" in Discord's settings, and copy it from the menu of its name`

// isID says whether a text is a snowflake (docs.discord.com/developers/reference).
func isID(s string) bool {
	n, err := strconv.ParseUint(s, 10, 64)
	return err == nil && n > 0 && strconv.FormatUint(n, 10) == s
}

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
	o.Limits.IsPrivate = func(c qos.ChatKey) bool { return c == a.Threads(adapters.Target{}) }
	return o
}

// Chat implements adapters.Adapter. A thread is a channel of its own to Discord's
// limits.
func (a *Adapter) Chat(t adapters.Target) qos.ChatKey { return qos.ChatKey(channelOf(t)) }

// Threads implements adapters.Threader. Who makes threads too fast waits for minutes,
// together with others (github.com/discord/discord-api-docs/issues/7816), wherever on
// the server it is.
func (a *Adapter) Threads(adapters.Target) qos.ChatKey { return qos.ChatKey(a.opt.Guild + "/threads") }

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
		s.OwnThread, s.ClosesThreads, s.OnlyThreads = c.Threads, c.Threads, a.forums.contains(t.Chat)
	}
	return s
}

// Link implements adapters.Linker and intake.InboundAdapter.
func (a *Adapter) Link(at adapters.Target, message string) string {
	if at.Thread == "" && a.private.personOf(at.Chat) != "" {
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

// withScope has a call's answer counted for the limits of a target.
func (a *Adapter) withScope(ctx context.Context, t adapters.Target, family qos.Family) context.Context {
	return withPurpose(ctx, callPurpose{scope: qos.Scope{Chat: a.Chat(t), Family: family}})
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
