package app

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/panebridge/panebridge/adapters/inbound"
	"github.com/panebridge/panebridge/adapters/telegram"
	"github.com/panebridge/panebridge/config"
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
}

// ErrTokenRefused is the error of a token that Telegram doesn't know, or that is none.
var ErrTokenRefused = errors.New("it isn't a token that Telegram knows: @BotFather shows the present one (/mybots, the bot, API Token)")

// LookAtTelegram asks who the bot is that the token belongs to. Of the configuration
// it needs token or token_file, api_url and proxy.
func LookAtTelegram(ctx context.Context, cfg config.Telegram) (*TelegramLook, error) {
	text, err := token(cfg.Token, cfg.TokenFile, telegram.Name)
	if err != nil {
		return nil, err
	}
	token := telegram.Token(text)
	if !token.Valid() {
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
	if telegram.IsUnauthorized(err) {
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

// BacklogError says that so many updates wait that new ones can't be seen before the
// old ones are forgotten.
type BacklogError struct{ Last int64 }

func (*BacklogError) Error() string {
	return "100 messages or more wait for the bot, and hide new ones"
}

// HandOver leaves what waits to the next start of a state folder's daemon, and has it take a message that Next
// returned for handled, so that it's nobody's input. When it returns nil that's durable; after an error nothing has
// happened, but that after an end of ctx it may yet. It blocks until the database has it, or ctx ends. Others says how
// many messages there are besides.
//
// Telegram can be told only that all up to a number has come. So what waits goes into the database first, with its
// numbers: the daemon takes none of it twice, told or not.
func (l *TelegramLook) HandOver(ctx context.Context, stateDir string, update int64) (others int, err error) {
	if err := MakeStateDir(stateDir); err != nil {
		return 0, err
	}
	kept := make(chan error, 1) // what hangs isn't waited for
	go func() { kept <- keepUpdates(ctx, stateDir, l.waiting.Updates, telegram.UpdateKey(update)) }()
	select {
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	case err = <-kept:
		return len(l.waiting.Heard) - 1, err
	}
}

func keepUpdates(ctx context.Context, stateDir string, updates []inbound.Update, handled string) error {
	db, err := store.OpenInbox(ctx, filepath.Join(stateDir, databaseFile))
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

// Forget has Telegram forget updates that wait.
func (l *TelegramLook) Forget(ctx context.Context, b *BacklogError) error {
	return l.probe.Forget(ctx, b.Last)
}

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
// acknowledges nothing. The error is ErrRival or a *BacklogError where that's why.
func (l *TelegramLook) Next(ctx context.Context) (telegram.Heard, error) {
	for met := 0; len(l.next) == 0; {
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
		case telegram.RetryAfter(err) > 0:
			return telegram.Heard{}, fmt.Errorf("%w; Telegram wants to be left alone for %s", err, telegram.RetryAfter(err))
		case err != nil:
			return telegram.Heard{}, err
		}
		met = 0
		l.waiting = w
		l.take(w.Heard)
		if len(l.next) == 0 && w.Full {
			return telegram.Heard{}, &BacklogError{w.Last}
		}
		if len(l.next) == 0 && w.Last > 0 {
			rest(ctx, lookAgain)
		}
	}
	h := l.next[0]
	l.next = l.next[1:]
	return h, nil
}

// take keeps what's new.
func (l *TelegramLook) take(list []telegram.Heard) {
	for _, h := range slices.Backward(list) {
		if !l.shown[h.Update] {
			l.shown[h.Update] = true
			l.next = append(l.next, h)
		}
	}
}

// rest lets time pass, or ctx end.
func rest(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
