package telegram

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/exchange"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/adapters/platform"
	"github.com/panebridge/panebridge/qos"
)

// liveRows is how many rows of a live region stand below a stream in a group: enough
// for what an agent says it's doing. In private chats drafts show it.
const liveRows = 3

// maxFile is the size of the largest file that's attached, in bytes; Telegram takes 50
// MB (core.telegram.org/bots/api#senddocument).
const maxFile = 50 << 20

// Adapter makes Telegram's calls: those of the outbound path in their slots, and those that inbound needs
// besides, which take none, since Telegram doesn't count them.
type Adapter struct {
	opt    Options
	chats  atomic.Pointer[map[int64]ChatConfig] // as they were configured last
	client *client
	drafts draftRefusals
	plain  plainMessages
	log    *slog.Logger
}

var (
	_ adapters.Adapter      = (*Adapter)(nil)
	_ adapters.Poster       = (*Adapter)(nil)
	_ adapters.Linker       = (*Adapter)(nil)
	_ intake.InboundAdapter = (*Adapter)(nil)
)

// New returns an adapter that has called nothing yet. The error joins all that's
// wrong with the options.
func New(opt Options) (*Adapter, error) {
	opt.APIURL = cmp.Or(opt.APIURL, "https://api.telegram.org")
	if opt.Logger == nil {
		opt.Logger = slog.New(slog.DiscardHandler)
	}
	if err := opt.check(); err != nil {
		return nil, fmt.Errorf("make the telegram adapter: %w", err)
	}
	a := &Adapter{opt: opt, client: newClient(opt), log: opt.Logger}
	a.SetChats(opt.Chats)
	return a, nil
}

// SetChats replaces Options.Chats.
func (a *Adapter) SetChats(list []ChatConfig) {
	chats := map[int64]ChatConfig{}
	for _, c := range list {
		chats[c.ID] = c
	}
	a.chats.Store(&chats)
}

// chat is a chat as it's configured; ok is false if it isn't.
func (a *Adapter) chat(id int64) (c ChatConfig, ok bool) {
	c, ok = (*a.chats.Load())[id]
	return c, ok
}

// Name implements adapters.Adapter and intake.InboundAdapter.
func (a *Adapter) Name() string { return Name }

// Options implements adapters.Adapter.
func (a *Adapter) Options() qos.Options {
	o := a.opt.QoS
	o.Limits = Limits()
	return o
}

// isPrivate says whether a chat is one with a person: groups have negative numbers.
func isPrivate(chat string) bool { return !strings.HasPrefix(chat, "-") }

// Check implements adapters.Adapter.
func (a *Adapter) Check(t adapters.Target) error {
	p, err := placeOf(t)
	if err != nil {
		return err
	}
	if _, ok := a.chat(p.chat); ok || a.opt.Knows != nil && a.opt.Knows(t) {
		return nil
	}
	return fmt.Errorf("chat %d is not known: add it to adapters.telegram.chats, or write /pair CODE in it", p.chat)
}

// Chat implements adapters.Adapter. A forum is one chat to Telegram's limits,
// whatever the topic (github.com/tdlib/td/issues/2592).
func (a *Adapter) Chat(t adapters.Target) qos.ChatKey { return qos.ChatKey(t.Chat) }

// Shape implements adapters.Adapter.
func (a *Adapter) Shape(t adapters.Target) adapters.Shape {
	s := adapters.Shape{
		Text: pageText, Look: pageLook, Size: pageSize, MaxLen: maxText, MaxFile: maxFile, MaxCaption: maxCaption,
		Threads: "topic",
	}
	if !isPrivate(t.Chat) {
		s.LiveRows = liveRows
	}
	if p, err := placeOf(t); err == nil && p.thread == 0 {
		c, _ := a.chat(p.chat)
		s.OwnThread, s.ClosesThreads, s.HidesThreads = c.Topics, c.Topics, c.Topics
	}
	return s
}

// numberedPlace is a target in Telegram's numbers.
type numberedPlace struct {
	chat   int64
	thread int // 0: none
}

// placeOf reads a target.
func placeOf(t adapters.Target) (numberedPlace, error) {
	var p numberedPlace
	var err error
	if p.chat, err = strconv.ParseInt(t.Chat, 10, 64); err != nil || p.chat == 0 || strconv.FormatInt(p.chat, 10) != t.Chat {
		return p, fmt.Errorf("%q is not a chat's number; groups have negative ones, as in -1001234567890", t.Chat)
	}
	if t.Thread == "" {
		return p, nil
	}
	if p.thread, err = strconv.Atoi(t.Thread); err != nil || p.thread <= 0 || strconv.Itoa(p.thread) != t.Thread {
		return p, fmt.Errorf("%q is not a topic's number", t.Thread)
	}
	return p, nil
}

// generalTopic is the number of a forum's General topic. Messages to it carry none
// and are refused with it, but an action needs it
// (github.com/tdlib/telegram-bot-api/issues/798).
const generalTopic = 1

// messageThread is the topic's number as messages carry it.
func (p numberedPlace) messageThread() int {
	if p.thread == generalTopic {
		return 0
	}
	return p.thread
}

// Name is what the adapter is called in targets: "telegram:-1001234567890".
const Name = "telegram"

// Options are an Adapter's. The zero value of a field means its default.
type Options struct {
	// Token is the bot's, as @BotFather gives it: NUMBER:SECRET.
	Token exchange.Token
	// APIURL is where the Bot API is. "https://api.telegram.org"
	APIURL string
	// Proxy is the address of a proxy for all calls: http, https or socks5. "": as the
	// environment says (HTTPS_PROXY, NO_PROXY)
	Proxy string
	// Chats are those the bot may write to by configuration.
	Chats []ChatConfig
	// Knows says whether it may write to a chat that isn't among them: one that was
	// paired. Nil: to none.
	Knows func(t adapters.Target) bool
	// QoS are the knobs of the scheduler. Its limits are Telegram's, whatever stands there.
	QoS qos.Options
	// Transport carries the calls. Nil: one of its own, with Proxy.
	Transport http.RoundTripper
	Logger    *slog.Logger
	// Notes are what's remembered over restarts: the commands that Telegram has, when updates were read
	// last, the bot's user name.
	Notes platform.Notes
}

// botOf is the number of a token's bot, which stands before the secret; "": it's no token.
func botOf(t exchange.Token) string {
	number, _, is := strings.Cut(string(t), ":")
	if !is {
		return ""
	}
	return number
}

// tokenForm is what tokens look like.
var tokenForm = regexp.MustCompile(`^[0-9]{1,20}:[A-Za-z0-9_-]{20,}$`)

// ValidToken says whether a token looks like one. Whether there's such a bot only Telegram knows.
func ValidToken(t exchange.Token) bool { return tokenForm.MatchString(string(t)) }

// check returns all that's wrong with the options, joined.
func (o Options) check() error {
	var errs []error
	if !ValidToken(o.Token) {
		errs = append(errs, errors.New("the token is not one: @BotFather gives it as NUMBER:SECRET"))
	}
	_, err := exchange.ParseProxy(o.Proxy)
	errs = append(errs, exchange.CheckAPI(o.APIURL, "https://api.telegram.org"), err)
	seen := map[int64]bool{}
	for _, c := range o.Chats {
		switch {
		case c.ID == 0:
			errs = append(errs, errors.New("a chat has no number; groups have negative ones"))
		case seen[c.ID]:
			errs = append(errs, fmt.Errorf("chat %d is there twice", c.ID))
		}
		seen[c.ID] = true
	}
	return errors.Join(errs...)
}

// Limits are Telegram's windows. A group may get 20 messages a minute: "bots are not able to send
// more than 20 messages per minute to the same group" (core.telegram.org/bots/faq). That's the
// default of qos.Options.GroupMPM, so Group has no windows here. Edits count as messages do: "limits
// for message editing and sending are shared" (github.com/tdlib/td/issues/2592, 3034).
func Limits() qos.Limits {
	return qos.Limits{
		// "Your bot should not send more than ~30 messages per second"
		// (core.telegram.org/bots/faq); the gap paces to 25, below it.
		Bot: qos.Limit{Windows: []qos.Window{{Calls: 30, Per: time.Second}}, Gap: 40 * time.Millisecond},
		// A message a second at most is asked for in every chat (same page).
		Group: qos.Limit{Gap: time.Second},
		// "In a single chat, avoid sending more than one message per second"; short
		// bursts are tolerated (same page).
		Private: qos.Limit{Windows: []qos.Window{{Calls: 60, Per: time.Minute}, {Calls: 3, Per: 3 * time.Second}}, Gap: time.Second},
		// Both are messages.setTyping, of which 20 per 5 s and 40 per 30 s are allowed
		// in a chat (core.telegram.org/api/bots/ai). 80 % of that is divided between
		// them; typing is sent every 5 s at most, so it needs little.
		Families: map[qos.Family]qos.Limit{
			qos.FamilyTyping: {Windows: []qos.Window{{Calls: 2, Per: 5 * time.Second}, {Calls: 7, Per: 30 * time.Second}}},
			qos.FamilyDraft:  {Windows: []qos.Window{{Calls: 14, Per: 5 * time.Second}, {Calls: 25, Per: 30 * time.Second}}},
		},
		IsPrivate: func(c qos.ChatKey) bool { return isPrivate(string(c)) },
	}
}
