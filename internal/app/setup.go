package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/panebridge/panebridge/adapters/exchange"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/adapters/platform"
	"github.com/panebridge/panebridge/adapters/telegram"
	"github.com/panebridge/panebridge/internal/statedir"
	"github.com/panebridge/panebridge/internal/store"
)

// TelegramLook looks at a bot on Telegram as `init` and `doctor` do, without a daemon.
// Its methods make calls, and end with their context.
type TelegramLook struct {
	Bot   telegram.Bot
	probe *telegram.Probe
	shown map[int64]bool // numbers of updates that Next has returned
	next  []telegram.Heard

	waiting telegram.Waiting // at the last look
	told    int64            // updates up to this number are in the database, and Telegram was told so; 0: none
	kept    int              // messages among these
}

// ErrTokenRefused is the error of a token that Telegram doesn't know, or that is none.
var ErrTokenRefused = errors.New("it isn't a token that Telegram knows: @BotFather shows the present one (/mybots, the bot, API Token)")

// LookAtTelegram asks who the bot is that the token belongs to. Of the configuration
// it needs token or token_file, api_url and proxy.
func LookAtTelegram(ctx context.Context, cfg *telegram.Config) (*TelegramLook, error) {
	text, err := platform.Token(cfg.Token, cfg.TokenFile, telegram.Name)
	if err != nil {
		return nil, err
	}
	token := exchange.Token(text)
	if !telegram.ValidToken(token) {
		return nil, ErrTokenRefused
	}
	p, err := telegram.NewProbe(telegram.Options{Token: token, APIURL: cfg.APIURL, Proxy: cfg.Proxy})
	if err != nil {
		return nil, err
	}
	l := &TelegramLook{probe: p, shown: map[int64]bool{}}
	l.Bot, err = p.Bot(ctx)
	if err == nil {
		return l, nil
	}
	p.Close()
	if exchange.IsUnauthorized(err) {
		return nil, ErrTokenRefused
	}
	return nil, err
}

// Close closes its connections.
func (l *TelegramLook) Close() { l.probe.Close() }

// Hook asks whether a webhook takes the bot's updates.
func (l *TelegramLook) Hook(ctx context.Context) (telegram.Hook, error) { return l.probe.Hook(ctx) }

// Unhook takes it away.
func (l *TelegramLook) Unhook(ctx context.Context) error { return l.probe.Unhook(ctx) }

// HandOver leaves what waits to the next start of a state folder's daemon, and has it take a message that Next
// returned for handled, so that it's nobody's input. When it returns nil that's durable; after an error nothing has
// happened, but that after an end of ctx it may yet. It blocks until the database has it, or ctx ends. Others says how
// many messages there are besides.
//
// Telegram can be told only that all up to a number has come. So what waits goes into the database first, with its
// numbers: the daemon takes none of it twice, told or not.
func (l *TelegramLook) HandOver(ctx context.Context, stateDir string, update int64) (others int, err error) {
	handled, updates := telegram.UpdateKey(update), l.waiting.Updates
	if !slices.Contains(l.waiting.Numbers, update) { // it's among those that were kept before
		updates = append(slices.Clone(updates), intake.Update{Key: handled})
	}
	err = l.keepUpdates(ctx, stateDir, updates, handled)
	return l.kept + len(l.waiting.Heard) - 1, err
}

// keepOldest leaves the older half of what waits to the daemon, as HandOver does, and has Telegram forget it: it gives
// no more than it has given, and so none that's newer, before that. The newer half may have the message that's looked
// for: it stays for the next init, should this one be killed.
func (l *TelegramLook) keepOldest(ctx context.Context, stateDir string) error {
	half := slices.Sorted(slices.Values(l.waiting.Numbers))
	half = half[:len(half)/2]
	if len(half) == 0 || half[len(half)-1] <= l.told {
		return errors.New("more updates wait for the bot than Telegram gives at once, and it doesn't take that the oldest have come")
	}
	last := half[len(half)-1]
	var updates []intake.Update
	for i, u := range l.waiting.Updates {
		if l.waiting.Numbers[i] <= last {
			updates = append(updates, u)
		}
	}
	if err := l.keepUpdates(ctx, stateDir, updates, ""); err != nil {
		return fmt.Errorf("%w: %w", ErrNotKept, err)
	}
	l.told = last
	for _, h := range l.waiting.Heard {
		if h.Update <= last {
			l.kept++
		}
	}
	return l.probe.Forget(ctx, last)
}

// HasKept reports whether something that waited is in the database already, though HandOver wasn't called.
func (l *TelegramLook) HasKept() bool { return l.told > 0 }

// ErrNotKept is the error of what waits where it couldn't be left to the daemon.
var ErrNotKept = errors.New("leave to the daemon what waits at Telegram")

// keepUpdates puts updates into the journal of a state folder's daemon, the one with the key handled as handled. It
// returns when it's durable, or ctx ends: what hangs isn't waited for.
func (l *TelegramLook) keepUpdates(ctx context.Context, stateDir string, updates []intake.Update, handled string) error {
	if err := statedir.Make(stateDir); err != nil {
		return err
	}
	bot := strconv.FormatInt(l.Bot.ID, 10)
	updates, handled = slices.Clone(updates), intake.UpdateKey(bot, handled)
	for i := range updates {
		updates[i].Key = intake.UpdateKey(bot, updates[i].Key)
	}
	kept := make(chan error, 1)
	go func() { kept <- writeUpdates(ctx, stateDir, updates, handled) }()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case err := <-kept:
		return err
	}
}

func writeUpdates(ctx context.Context, stateDir string, updates []intake.Update, handled string) error {
	db, err := store.OpenInbox(ctx, statedir.DatabasePath(stateDir))
	if err != nil {
		return err
	}
	return errors.Join(db.KeepUpdates(ctx, telegram.Name, updates, handled), db.Close())
}

// Acknowledge tells Telegram that what was handed over has come.
func (l *TelegramLook) Acknowledge(ctx context.Context) error {
	return l.probe.Forget(ctx, l.waiting.Last)
}

// IsUnreachable says whether Telegram gave no answer.
func IsUnreachable(err error) bool { return telegram.IsUnreachable(err) }

// ErrRival is the error of a bot whose updates another program reads.
var ErrRival = errors.New("another program reads this bot's messages, and Telegram gives them to one reader only (409)")

const (
	// listenFor is how long one look for updates waits.
	listenFor = 25 * time.Second
	// lookAgain is how long to rest when updates wait: looks for more don't wait then.
	lookAgain = time.Second
	// rivalRest is how long to rest when another reader has ended a look, and rivalTries
	// is how often in a row that's taken for the end of one that has just been stopped.
	rivalRest  = 2 * time.Second
	rivalTries = 3
)

// Next waits for the next message (or that the bot was added to a group) which it
// hasn't returned yet. Of those that wait already the newest is the first. It
// acknowledges nothing, unless more wait than Telegram gives at once: then the oldest are left to the next start of a
// state folder's daemon before. The error is ErrRival or an ErrNotKept where that's why.
func (l *TelegramLook) Next(ctx context.Context, stateDir string) (telegram.Heard, error) {
	for met := 0; len(l.next) == 0 || l.waiting.Full; {
		w, err := l.probe.Look(ctx, listenFor)
		switch {
		case ctx.Err() != nil:
			return telegram.Heard{}, context.Cause(ctx)
		case telegram.IsConflict(err):
			if met++; met >= rivalTries {
				return telegram.Heard{}, ErrRival
			}
			rest(ctx, rivalRest)
			continue
		case exchange.RetryAfter(err) > 0:
			return telegram.Heard{}, fmt.Errorf("%w; Telegram wants to be left alone for %s", err, exchange.RetryAfter(err))
		case err != nil:
			return telegram.Heard{}, err
		}
		met = 0
		l.waiting = w
		l.take(w.Heard)
		if w.Full {
			if err := l.keepOldest(ctx, stateDir); err != nil {
				return telegram.Heard{}, err
			}
			continue
		}
		if len(l.next) == 0 && w.Last > 0 {
			rest(ctx, lookAgain)
		}
	}
	h := l.next[0]
	l.next = l.next[1:]
	return h, nil
}

// take keeps what's new, before what it has: that's older.
func (l *TelegramLook) take(list []telegram.Heard) {
	var news []telegram.Heard
	for _, h := range slices.Backward(list) {
		if !l.shown[h.Update] {
			l.shown[h.Update] = true
			news = append(news, h)
		}
	}
	l.next = append(news, l.next...)
}

// rest lets time pass, or ctx end.
func rest(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
