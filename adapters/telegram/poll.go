package telegram

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-telegram/bot"

	"github.com/panebridge/panebridge/adapters/exchange"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/adapters/platform"
	"github.com/panebridge/panebridge/sessions"
)

const (
	// pollFor is how long a getUpdates call waits for updates. One whose answer never comes is
	// given up pollSlack later, so that a minute after a fault updates are read again. Telegram
	// waits 50 s at most.
	pollFor = 35 * time.Second
	// pollSlack is how much longer its answer may take to come.
	pollSlack = 15 * time.Second
	// maxUpdates: "Values between 1-100 are accepted"
	// (core.telegram.org/bots/api#getupdates).
	maxUpdates = 100
	// maxUpdateID: its identifiers have at most 52 significant bits.
	maxUpdateID = 1 << 52
	// probeFor is for how long nobody must have ended a call of the one that reads, or that
	// wants to again: who stands back does so for longer. While that isn't known a call waits no
	// longer for updates.
	probeFor = 10 * time.Second
	// standBack is how long who meets another reader twice stops reading at least, so that
	// one of the two reads all; it's twice as long each time, up to standBackMost, and up to
	// half as long again at random.
	standBack     = 30 * time.Second
	standBackMost = 10 * time.Minute
	// yieldEvery is how often who isn't to read looks whether it is by now.
	yieldEvery = 2 * time.Second
	// seldom is how often a webhook is taken away at most: whoever sets it again
	// won't be fought.
	seldom = 10 * time.Minute
)

// allowedUpdates are the kinds of updates that there's a use for.
var allowedUpdates = []string{"message", "edited_message", "callback_query", "my_chat_member", "chat_member"} //nolint:gochecknoglobals // a constant table

// PollerOptions configure a Poller.
type PollerOptions struct {
	Keeper intake.UpdateKeeper
	// Yields says why another process reads the bot's updates, and what to do, as a sentence;
	// "": this one does. It returns at once. Nil: this one does.
	Yields func() string
	// Expired is told between when updates are gone because nobody read them for longer than Telegram
	// keeps them: once for each absence, and of the same one again after an error. It returns soon.
	// Nil, as without Options.Notes: nobody is told.
	Expired func(from, to time.Time) error
}

// Poller fetches the bot's updates. Each is stored before the call that tells
// Telegram to forget it.
type Poller struct {
	opts   PollerOptions
	client *client
	log    *slog.Logger
	vitals intake.Vitals

	// What follows belongs to Run's goroutine.
	offset  int64 // of the next update; 0: the oldest that Telegram has
	quick   bool  // the next call doesn't wait: it shows whether all's well
	fails   failedCalls
	rivals  metRivals
	deleted time.Time // when a webhook was taken away
	away    absence

	shared atomic.Int64 // when another reader was last known of, as time.Time.UnixNano; 0: never
}

// metRivals are other readers of the bot's updates. Either side's calls end the
// other's, so some go through all the time, and prove nothing.
type metRivals struct {
	since time.Time // when it went on after it met one last
	met   int       // in a row
	stood int       // how often this one has stood back since
}

// Poller returns a poller that has called nothing yet.
func (a *Adapter) Poller(o PollerOptions) *Poller {
	return &Poller{
		opts: o, client: a.client, log: a.log, vitals: intake.Vitals{Log: a.log, Part: "polling Telegram"}, quick: true,
		away: absence{notes: a.opt.Notes, expired: o.Expired, log: a.log},
	}
}

// Health says how well polling works. It may be called at any time.
func (p *Poller) Health() intake.Health { return p.vitals.Health() }

// sharedFor is how long another reader that was met counts as there.
const sharedFor = time.Hour

// Shared reports whether another program reads the bot's updates, too, as far as is known: then
// what people write for its sessions may come here. It may be called at any time.
func (p *Poller) Shared() bool {
	at := p.shared.Load()
	return at > 0 && time.Since(time.Unix(0, at)) < sharedFor
}

// Run polls until ctx ends, and blocks until then. When Telegram doesn't take the token it calls
// seldom, and Health says so: a server in trouble refuses tokens, too.
func (p *Poller) Run(ctx context.Context) error {
	for ctx.Err() == nil {
		if p.opts.Yields != nil {
			if why := p.opts.Yields(); why != "" {
				p.shared.Store(time.Now().UnixNano())
				p.vitals.Denied(ctx, why)
				p.away.noteRead(ctx) // by the other one
				_ = sessions.Pause(ctx, yieldEvery)
				continue
			}
		}
		rest, err := p.pollOnce(ctx)
		switch {
		case ctx.Err() != nil:
		case err == nil:
			p.noteSuccess(ctx)
		default:
			rest = p.noteFailure(ctx, err)
		}
		if rest > 0 {
			_ = sessions.Pause(ctx, rest)
		}
	}
	return nil
}

// failedCalls are failed calls in a row.
type failedCalls struct {
	count  int
	denied int // how often Telegram didn't take the token
}

// noteFailure tells of one more, and returns how long to rest after it. One that's refused because of the token is
// tried seldom.
func (f *failedCalls) noteFailure(ctx context.Context, v *intake.Vitals, err error) time.Duration {
	if exchange.IsUnauthorized(err) {
		f.denied++
		v.Denied(ctx, err.Error())
		return intake.RestDenied(f.denied)
	}
	f.count++
	v.Fails(ctx, err.Error())
	return max(intake.RestAfter(f.count), exchange.RetryAfter(err))
}

// errAgain says that a call brought nothing but what was acknowledged already.
var errAgain = errors.New("read updates: they were acknowledged already")

// pollOnce makes one call and stores what it brings. Without an error, it says how long
// to wait until the next.
func (p *Poller) pollOnce(ctx context.Context) (rest time.Duration, err error) {
	wait := pollFor
	switch {
	case p.quick:
		wait = 0
	case p.rivals.met > 0:
		wait = probeFor
	}
	began := time.Now()
	list, err := p.getUpdates(ctx, wait)
	if err != nil {
		return 0, err
	}
	updates, next := p.keyUpdates(list)
	if len(updates) == 0 {
		switch {
		case len(list) > 0:
			return 0, errors.New("read updates: none of them has a number")
		case wait > 0 && time.Since(began) < time.Second:
			return time.Second, nil // whoever answers doesn't wait as asked
		}
		return 0, nil
	}
	if err := p.opts.Keeper.Keep(ctx, updates); err != nil {
		return 0, err
	}
	again := next <= p.offset
	p.offset = next
	if n := len(list) - len(updates); n > 0 {
		p.log.ErrorContext(ctx, "updates without a number were left out", "count", n)
	}
	if again {
		return 0, errAgain
	}
	return 0, nil
}

func (p *Poller) getUpdates(ctx context.Context, wait time.Duration) ([]json.RawMessage, error) {
	ctx, cancel := context.WithTimeout(ctx, wait+pollSlack)
	defer cancel()
	params := struct {
		Offset  int64    `json:"offset,omitempty"`
		Limit   int      `json:"limit"`
		Timeout int      `json:"timeout"` // seconds
		Allowed []string `json:"allowed_updates"`
	}{p.offset, maxUpdates, int(wait.Seconds()), allowedUpdates}
	var list []json.RawMessage
	err := p.client.callMethod(ctx, "getUpdates", params, &list)
	return list, err
}

// keyUpdates returns updates as the journal takes them, and the number after the greatest, which may be
// below the last: after a week without updates Telegram begins somewhere else
// (core.telegram.org/bots/api#update). What has no number can't be acknowledged by itself, and is
// left out.
func (p *Poller) keyUpdates(list []json.RawMessage) (updates []intake.Update, next int64) {
	for _, raw := range list {
		u, id, err := readUpdate(raw)
		if err != nil {
			continue
		}
		updates = append(updates, u)
		next = max(next, id+1)
	}
	return updates, next
}

// readUpdate finds an update's number, which is its key.
func readUpdate(raw []byte) (intake.Update, int64, error) {
	var head struct {
		ID int64 `json:"update_id"`
	}
	if err := json.Unmarshal(raw, &head); err != nil || head.ID <= 0 || head.ID > maxUpdateID {
		return intake.Update{}, 0, errors.New("read an update: it has no update_id")
	}
	return intake.Update{Key: JournalKey(head.ID), Raw: raw}, head.ID, nil
}

// JournalKey is an update's key in the journal, by its number. Each bot has numbers of its own; see intake.QueueOptions.Bot.
func JournalKey(number int64) string { return strconv.FormatInt(number, 10) }

// noteSuccess takes note of a call that went through.
func (p *Poller) noteSuccess(ctx context.Context) {
	p.quick, p.fails = false, failedCalls{}
	p.away.noteRead(ctx)
	if p.rivals.met > 0 && time.Since(p.rivals.since) < probeFor {
		return // it proves nothing
	}
	p.rivals = metRivals{}
	p.vitals.Works(ctx)
}

// noteFailure takes note of a failure and says how long to rest.
func (p *Poller) noteFailure(ctx context.Context, err error) time.Duration {
	f, ok := errors.AsType[*failure](err)
	switch {
	case ok && f.Status == http.StatusConflict:
		return p.handleConflict(ctx, f)
	case ok && f.RetryAfter > 0:
		p.vitals.Fails(ctx, err.Error())
		p.quick = true
		return f.RetryAfter + rand.N(time.Second) // never earlier
	}
	p.quick = !errors.Is(err, errAgain) // that was an answer: nothing has to be shown by another
	return p.fails.noteFailure(ctx, &p.vitals, err)
}

// handleConflict deals with whoever else reads the updates.
func (p *Poller) handleConflict(ctx context.Context, f *failure) time.Duration {
	p.rivals.met++
	rest := intake.RestAfter(p.rivals.met)
	if strings.Contains(f.Text, "webhook") {
		rest = p.removeWebhook(ctx, rest)
	} else {
		rest = p.standBack(ctx, rest)
	}
	p.rivals.since = time.Now().Add(rest)
	return rest
}

// standBack says how long to rest because another program reads the updates. Who meets one
// twice in a row stands back: of two that go on, each gets some of what people write.
func (p *Poller) standBack(ctx context.Context, rest time.Duration) time.Duration {
	now := time.Now()
	p.shared.Store(now.UnixNano())
	p.away.noteRead(ctx) // by the other one
	if p.rivals.met == 1 && p.rivals.stood == 0 {
		p.vitals.Fails(ctx, "another program reads this bot's updates")
		return rest
	}
	rest = min(standBack<<min(p.rivals.stood, 10), standBackMost)
	rest += rand.N(rest / 2)
	p.rivals.stood++
	p.vitals.Denied(ctx, "another program reads this bot's updates, so this one stands back and reads none until "+now.Add(rest).Format(time.TimeOnly)+
		": is there a second panebridge? End one of the two, or give it a bot of its own from @BotFather")
	return rest
}

// removeWebhook says how long to rest because a webhook takes the updates.
func (p *Poller) removeWebhook(ctx context.Context, rest time.Duration) time.Duration {
	host, err := p.webhookHost(ctx)
	switch {
	case err != nil || host == "": // or it's gone by now
		p.vitals.Fails(ctx, "a webhook takes this bot's updates")
	case time.Since(p.deleted) > seldom:
		p.deleted = time.Now()
		err := callLibrary(ctx, p.client, nil, (*bot.Bot).DeleteWebhook, &bot.DeleteWebhookParams{})
		if err == nil {
			p.log.WarnContext(ctx, "took a webhook away, because the configuration says polling", "host", host)
			p.rivals = metRivals{}
			return 0
		}
		p.vitals.Fails(ctx, fmt.Sprintf("a webhook at %s takes this bot's updates, and taking it away failed: %v", host, err))
	default:
		p.vitals.Fails(ctx, fmt.Sprintf("a webhook at %s takes this bot's updates: end the program that has set it, or give panebridge a bot of its own", host))
	}
	return rest
}

// webhookHost returns whose webhook is set. The rest of its address may be a secret.
func (p *Poller) webhookHost(ctx context.Context) (string, error) {
	var info webhookInfo
	if err := callWithoutParams(ctx, p.client, &info, (*bot.Bot).GetWebhookInfo); err != nil {
		return "", err
	}
	u, err := url.Parse(info.URL)
	if err != nil {
		return "", errors.New("read the webhook's address: it isn't one")
	}
	return u.Host, nil
}

const (
	// keptFor is for how long Telegram keeps updates that nobody took
	// (core.telegram.org/bots/api#getting-updates).
	keptFor = 24 * time.Hour
	// noteReadEvery is how often it's noted at most that updates are read: by so much an absence
	// may seem longer than it was.
	noteReadEvery = 10 * time.Minute
	// readNote is when updates were read last.
	readNote = "read"
)

// absence finds times in which nobody read updates for longer than Telegram keeps them. It's for one goroutine.
type absence struct {
	notes   platform.Notes // of when updates were read last
	expired func(from, to time.Time) error
	log     *slog.Logger

	last  time.Time // when they were read last, by the calendar; zero: not asked yet
	noted time.Time // what the note says; zero: there's none
}

// noteRead takes in that updates have just been read.
func (a *absence) noteRead(ctx context.Context) {
	if a.notes == nil || a.expired == nil {
		return
	}
	now := time.Now().Round(0) // a machine that slept was away
	if a.last.IsZero() {
		said, err := a.notes.Note(ctx, readNote)
		if err != nil {
			a.warn(ctx, err)
			return
		}
		a.noted, _ = time.Parse(time.RFC3339, said) // another form: as if there were none
		a.last = a.noted
	}
	gone := now.Add(-keptFor)
	if !a.last.IsZero() && a.last.Before(gone) {
		a.log.WarnContext(ctx, "nobody has read Telegram's updates for longer than it keeps them", "from", a.last, "to", gone)
		if err := a.expired(a.last, gone); err != nil {
			a.warn(ctx, fmt.Errorf("say that updates are gone: %w", err))
			return
		}
		a.noted = time.Time{}
	}
	a.last = now
	if now.Sub(a.noted) < noteReadEvery {
		return
	}
	if err := a.notes.PutNote(ctx, readNote, now.Format(time.RFC3339)); err != nil {
		a.warn(ctx, err)
		return
	}
	a.noted = now
}

func (a *absence) warn(ctx context.Context, err error) {
	if ctx.Err() == nil {
		a.log.WarnContext(ctx, "noting when Telegram's updates were read failed; it's tried again", "err", err)
	}
}
