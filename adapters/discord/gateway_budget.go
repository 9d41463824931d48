package discord

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"
)

const (
	// identifyEvery is the least time between two logins
	// (docs.discord.com/developers/events/gateway#rate-limiting, max_concurrency).
	identifyEvery = 5 * time.Second
	// fewLeft is from when on the logins that are left are spread over the time until
	// there are more. Who uses all 1,000 of a day up has the token taken away.
	fewLeft = 100
	// noteIdentified is when the bot logged in last.
	noteIdentified = "identified"
)

// budget says when the bot may log in. It belongs to one goroutine.
type budget struct {
	client *client
	notes  Notes
}

// gatewayJSON is where the gateway is, and how often the bot may still log in
// (docs.discord.com/developers/events/gateway#get-gateway-bot).
type gatewayJSON struct {
	URL   string `json:"url"`
	Limit *struct {
		Remaining  int   `json:"remaining"`
		ResetAfter int64 `json:"reset_after"` // milliseconds
	} `json:"session_start_limit"`
}

// tooSoon is the failure of a login that isn't tried before its time.
type tooSoon struct{ until time.Time }

func (t tooSoon) Error() string {
	return fmt.Sprintf("the bot has logged in too often today, and logs in again at %s: end other programs that use its token", t.until.Format(time.TimeOnly))
}

// ask returns where the gateway is. To log in, wait says how long to wait first, and
// then to ask again; 0: it may be done now.
func (b *budget) ask(ctx context.Context) (url string, wait time.Duration, err error) {
	var g gatewayJSON
	if err := b.client.raw(ctx, http.MethodGet, "gateway/bot", nil, &g); err != nil {
		return "", 0, err
	}
	said, err := b.notes.Note(ctx, noteIdentified)
	if err != nil {
		return "", 0, fmt.Errorf("read when the bot logged in last: %w", err)
	}
	now, spread := time.Now(), identifyEvery
	if l := g.Limit; l != nil {
		left, after := max(l.Remaining, 0), time.Duration(max(l.ResetAfter, 0))*time.Millisecond
		if left == 0 {
			return g.URL, after + rand.N(time.Minute), nil
		}
		if left <= fewLeft {
			spread = max(spread, after/time.Duration(left))
		}
	}
	if last, err := time.Parse(time.RFC3339Nano, said); err == nil && !last.After(now) {
		wait = max(spread-now.Sub(last), 0)
	}
	return g.URL, wait, nil
}

// used takes note that the bot logs in now.
func (b *budget) used(ctx context.Context) error {
	return b.notes.PutNote(ctx, noteIdentified, time.Now().Format(time.RFC3339Nano))
}
