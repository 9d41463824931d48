package telegram

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/go-telegram/bot"

	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/sessions"
)

const (
	// maxUpdate bounds an update, in bytes. One with a full text, its entities, and the
	// same in the message it answers has some 60 kB.
	maxUpdate = 1 << 20
	// storeFor bounds how long an update may take to be stored. Telegram waits for a
	// minute.
	storeFor = 30 * time.Second
	// checkEvery is how often Telegram is asked how it's getting on with the webhook.
	checkEvery = time.Minute
)

// WebhookOptions configure a Webhook.
type WebhookOptions struct {
	Keeper intake.UpdateKeeper
	// URL is the handler's address as Telegram reaches it: https, on port 443, 80, 88
	// or 8443 (core.telegram.org/bots/api#setwebhook). A Bot API server of one's own
	// takes http too.
	URL string
	// Expired is as PollerOptions.Expired.
	Expired func(from, to time.Time) error
}

// Webhook is told the bot's updates by Telegram. It's the http.Handler for them:
// each is stored before it's answered.
type Webhook struct {
	opts   WebhookOptions
	secret string // comes with each update; a new one at each start
	client *client
	vitals intake.Vitals
	away   absence // Run's
}

// webhookInfo is core.telegram.org/bots/api#webhookinfo, what's needed of it.
type webhookInfo struct {
	URL              string `json:"url"`
	Pending          int    `json:"pending_update_count"`
	LastErrorDate    int64  `json:"last_error_date"`
	LastErrorMessage string `json:"last_error_message"`
}

// Webhook returns a webhook that Telegram doesn't know of yet.
func (a *Adapter) Webhook(o WebhookOptions) (*Webhook, error) {
	u, err := url.Parse(o.URL)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return nil, errors.New("make a webhook: its address isn't one; as in https://bot.example.com/telegram")
	}
	return &Webhook{opts: o, secret: rand.Text(), client: a.client, vitals: intake.Vitals{Log: a.log, Part: "the Telegram webhook"}, away: absence{notes: a.opt.Notes, expired: o.Expired, log: a.log}}, nil
}

// Health says how well the webhook works. It may be called at any time.
func (w *Webhook) Health() intake.Health { return w.vitals.Health() }

// Run tells Telegram of the webhook and watches it until ctx ends. The handler must
// be reachable before. When Telegram doesn't take the token it calls seldom, and
// Health says so. The webhook stays set: Telegram keeps updates for the next start.
func (w *Webhook) Run(ctx context.Context) error {
	set := false
	for fails := (failedCalls{}); ctx.Err() == nil; {
		var err error
		if set {
			err = w.checkWebhook(ctx)
		} else {
			err = w.setWebhook(ctx)
		}
		rest := checkEvery
		switch {
		case ctx.Err() != nil:
		case err == nil:
			set, fails = true, failedCalls{}
			w.away.noteRead(ctx)
			w.vitals.Works(ctx)
		default:
			rest = fails.noteFailure(ctx, &w.vitals, err)
		}
		_ = sessions.Pause(ctx, rest)
	}
	return nil
}

// setWebhook tells Telegram of the webhook. One connection: updates come one by one, in
// order.
func (w *Webhook) setWebhook(ctx context.Context) error {
	return callLibrary(ctx, w.client, nil, (*bot.Bot).SetWebhook, &bot.SetWebhookParams{
		URL: w.opts.URL, SecretToken: w.secret, AllowedUpdates: allowedUpdates, MaxConnections: 1,
	})
}

// checkWebhook asks Telegram whether updates arrive.
func (w *Webhook) checkWebhook(ctx context.Context) error {
	var info webhookInfo
	if err := callWithoutParams(ctx, w.client, &info, (*bot.Bot).GetWebhookInfo); err != nil {
		return err
	}
	switch failed := time.Unix(info.LastErrorDate, 0); {
	case info.URL != w.opts.URL:
		return errors.New("another program has set this bot's webhook, or taken it away: end it and restart panebridge, or give panebridge a bot of its own")
	case info.Pending > 0 && time.Since(failed) < 2*checkEvery:
		return fmt.Errorf("%d updates wait, and Telegram can't deliver them: %s", info.Pending, harmless(info.LastErrorMessage))
	}
	return nil
}

// ServeHTTP takes an update. It answers 200 when the update is stored; whatever else
// it answers, Telegram sends it again.
func (w *Webhook) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	status := w.storeUpdate(rw, r)
	if status != http.StatusOK {
		http.Error(rw, http.StatusText(status), status)
	}
}

func (w *Webhook) storeUpdate(rw http.ResponseWriter, r *http.Request) (status int) {
	given := r.Header.Get("X-Telegram-Bot-Api-Secret-Token")
	switch {
	case subtle.ConstantTimeCompare([]byte(given), []byte(w.secret)) != 1:
		return http.StatusUnauthorized
	case r.Method != http.MethodPost:
		return http.StatusMethodNotAllowed
	}
	body, err := io.ReadAll(http.MaxBytesReader(rw, r.Body, maxUpdate))
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return http.StatusRequestEntityTooLarge
	}
	if err != nil {
		return http.StatusBadRequest
	}
	u, _, err := readUpdate(body)
	if err != nil {
		return http.StatusBadRequest
	}
	ctx, cancel := context.WithTimeout(r.Context(), storeFor)
	defer cancel()
	if err := w.opts.Keeper.Keep(ctx, []intake.Update{u}); err != nil {
		w.vitals.Log.WarnContext(ctx, "an update wasn't stored; Telegram will send it again", "err", err)
		return http.StatusServiceUnavailable
	}
	w.vitals.Works(ctx)
	return http.StatusOK
}
