package telegram

import (
	"cmp"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/qos"
)

// liveRows is how many rows of a live region stand below a stream in a group: enough
// for what an agent says it's doing. In private chats drafts show it.
const liveRows = 3

// maxFile is the size of the largest file that's attached, in bytes; Telegram takes 50
// MB (core.telegram.org/bots/api#senddocument).
const maxFile = 50 << 20

// Adapter is Telegram's side of the outbound path.
type Adapter struct {
	opt    Options
	chats  atomic.Pointer[map[int64]Chat] // as they were configured last
	client *client
	drafts drafts
	plain  plain
	log    *slog.Logger
}

var (
	_ adapters.Adapter = (*Adapter)(nil)
	_ adapters.Poster  = (*Adapter)(nil)
	_ adapters.Linker  = (*Adapter)(nil)
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
func (a *Adapter) SetChats(list []Chat) {
	chats := map[int64]Chat{}
	for _, c := range list {
		chats[c.ID] = c
	}
	a.chats.Store(&chats)
}

// chat is a chat as it's configured; ok is false if it isn't.
func (a *Adapter) chat(id int64) (c Chat, ok bool) {
	c, ok = (*a.chats.Load())[id]
	return c, ok
}

// Name implements adapters.Adapter.
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
func (a *Adapter) Chat(t adapters.Target) qos.Chat { return qos.Chat(t.Chat) }

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

// place is a target in Telegram's numbers.
type place struct {
	chat   int64
	thread int // 0: none
}

// placeOf reads a target.
func placeOf(t adapters.Target) (place, error) {
	var p place
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
func (p place) messageThread() int {
	if p.thread == generalTopic {
		return 0
	}
	return p.thread
}
