package telegram

import (
	"context"
	"errors"
	"hash/fnv"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/internal/render/entities"
)

var _ adapters.Asider = (*Adapter)(nil)

// noDraftsFor is for how long a chat that has refused a draft isn't sent another.
const noDraftsFor = 10 * time.Minute

// drafts remembers which chats have refused drafts, and when: servers of the Bot API before 9.3
// don't know them, and not every bot may send them.
type drafts struct {
	mu      sync.Mutex
	refused map[string]time.Time
}

func (d *drafts) refuse(chat string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.refused == nil {
		d.refused = map[string]time.Time{}
	}
	d.refused[chat] = time.Now()
}

func (d *drafts) allowed(chat string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	at, ok := d.refused[chat]
	return !ok || time.Since(at) >= noDraftsFor
}

// Drafts implements adapters.Asider: drafts are for private chats
// (core.telegram.org/bots/api#sendmessagedraft).
func (a *Adapter) Drafts(t adapters.Target) bool {
	return isPrivate(t.Chat) && a.drafts.allowed(t.Chat)
}

// Draft implements adapters.Asider. A draft vanishes when the next message comes, or
// after some 30 s.
func (a *Adapter) Draft(ctx context.Context, t adapters.Target, doc adapters.BindingID, p adapters.Page) adapters.Reply {
	at, err := placeOf(t)
	if err != nil {
		return rejected(err)
	}
	m := lastRows(p)
	err = call(ctx, a.client, nil, (*bot.Bot).SendMessageDraft, &bot.SendMessageDraftParams{
		ChatID: at.chat, MessageThreadID: at.messageThread(), DraftID: draftID(doc), Text: m.Text, Entities: wire(m.Entities),
	})
	if f, ok := errors.AsType[*failure](err); ok && (f.Status == http.StatusBadRequest || f.Status == http.StatusForbidden || f.Status == http.StatusNotFound) {
		// That's about drafts, whatever else it may mean: messages find out for themselves.
		a.drafts.refuse(t.Chat)
		return rejected(f)
	}
	return outcome(err)
}

// lastRows are as many of the last rows as a message holds.
func lastRows(p adapters.Page) entities.Message {
	for {
		m := formatted(p)
		switch {
		case m.Size() <= maxText:
			return m
		case len(p.Live) > 0:
			p.Live = p.Live[1:]
		case len(p.Writing) > 0:
			p.Writing = p.Writing[1:]
		default:
			return m
		}
	}
}

// draftID is a document's number, which mustn't be 0; the library has it as a text.
func draftID(doc adapters.BindingID) string {
	h := fnv.New32a()
	h.Write([]byte(doc)) // never fails
	return strconv.FormatUint(uint64(h.Sum32()>>2|1), 10)
}

// Typing implements adapters.Asider. It's shown for 5 s
// (core.telegram.org/bots/api#sendchataction).
func (a *Adapter) Typing(ctx context.Context, t adapters.Target) adapters.Reply {
	at, err := placeOf(t)
	if err != nil {
		return rejected(err)
	}
	return outcome(call(ctx, a.client, nil, (*bot.Bot).SendChatAction, &bot.SendChatActionParams{
		ChatID: at.chat, MessageThreadID: at.thread, Action: models.ChatActionTyping,
	}))
}
