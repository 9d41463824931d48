package telegram

import (
	"context"
	"errors"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/go-telegram/bot"

	"github.com/panebridge/panebridge/adapters/exchange"
	"github.com/panebridge/panebridge/adapters/intake"
)

// Identity is who the bot is: its number stands in the token, its user name only
// Telegram knows, and without it updates can't be read.
type Identity struct {
	client  *client
	notes   Notes
	token   Token
	vitals  intake.Vitals
	decoder atomic.Pointer[Decoder]
}

// askFor bounds one call of getMe.
const askFor = 15 * time.Second

// Identity makes one that hasn't asked yet.
func (a *Adapter) Identity(notes Notes) *Identity {
	return &Identity{
		client: a.client, notes: notes, token: a.opt.Token, vitals: intake.Vitals{Log: a.log, Part: "asking Telegram who the bot is"},
	}
}

// Ask asks until it's known who the bot is; false: ctx has ended before. When Telegram
// doesn't say, the name it had the last time counts: what waits can be handled. When
// there's none and Telegram doesn't take the token, it's asked seldom.
func (i *Identity) Ask(ctx context.Context) bool {
	for fails, denied := 0, 0; ctx.Err() == nil; {
		d, err := i.ask(ctx)
		switch {
		case err == nil:
			i.decoder.Store(&d)
			i.vitals.Works(ctx)
			return true
		case ctx.Err() != nil:
		case exchange.IsUnauthorized(err):
			denied++
			i.vitals.Denied(ctx, err.Error())
			_ = intake.Pause(ctx, intake.RestDenied(denied))
		default:
			fails++
			i.vitals.Fails(ctx, err.Error())
			rest := intake.RestAfter(fails)
			if f, ok := errors.AsType[*failure](err); ok {
				rest = max(rest, f.RetryAfter)
			}
			_ = intake.Pause(ctx, rest)
		}
	}
	return false
}

// Known says whether Ask has found out.
func (i *Identity) Known() bool { return i.decoder.Load() != nil }

// Health says how asking goes. It may be called at any time.
func (i *Identity) Health() intake.Health { return i.vitals.Health() }

// Decode is Decoder.Decode; an error before it's known who the bot is.
func (i *Identity) Decode(raw []byte) (intake.Event, bool, error) {
	d := i.decoder.Load()
	if d == nil {
		return intake.Event{}, false, errors.New("read an update: it's not known yet who the bot is")
	}
	return d.Decode(raw)
}

// noteUser is the key under which the bot's user name is remembered, with its number.
const noteUser = "bot user name "

func (i *Identity) ask(ctx context.Context) (Decoder, error) {
	id := i.token.Bot()
	number, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		return Decoder{}, errors.New("read the bot's number: the token has none")
	}
	ctx, cancel := context.WithTimeout(ctx, askFor)
	defer cancel()
	var me Bot
	err = ask(ctx, i.client, &me, (*bot.Bot).GetMe)
	if err == nil && me.ID != number {
		err = &failure{Failure: i.client.exchange.Unreadable("getMe", errors.New("it says who another bot is"))}
	}
	if err != nil {
		user, noted := i.notes.Note(ctx, noteUser+id)
		if noted != nil || user == "" {
			return Decoder{}, errors.Join(err, noted)
		}
		return Decoder{Bot: number, User: user}, nil
	}
	return Decoder{Bot: number, User: me.User}, i.notes.PutNote(ctx, noteUser+id, me.User)
}
