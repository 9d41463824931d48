package telegram_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/adapters/platformtest"
	"github.com/panebridge/panebridge/adapters/telegram"
	"github.com/panebridge/panebridge/adapters/telegram/telegramtest"
	"github.com/panebridge/panebridge/internal/store"
)

// The one who may do everything, and the chat that's known. No stranger's update has
// these numbers by chance.
const (
	boss      = 987654321012
	knownChat = -1009876543210
)

// desk answers calls of the API, too.
type desk struct{ *platformtest.SessionDesk }

func (d *desk) RoundTrip(r *http.Request) (*http.Response, error) {
	if strings.HasSuffix(r.URL.Path, "/getFile") {
		return answering(200, `{"ok":true,"result":{"file_path":"documents/file_1"}}`)(r)
	}
	if strings.Contains(r.URL.Path, "/file/") {
		d.Fetched.Add(1)
		return answering(200, "content")(r)
	}
	return answering(200, `{"ok":true,"result":true}`)(r)
}

// Nobody who isn't let in has anything typed, fetched or written, whatever they send;
// nothing panics, and memory doesn't grow with them. Those who are let in are served
// all the while, in order and once.
func TestHostileUpdates(t *testing.T) {
	s, seeds := platformtest.NewSiege(t, fmt.Sprint(knownChat)), seeds()
	synctest.Test(t, func(t *testing.T) { hostile(t, s, seeds) })
}

func hostile(t *testing.T, s *platformtest.Siege, seeds [][]byte) {
	t.Helper()
	d := &desk{s.Desk}
	var log lineCounter
	s.Begin(t, func(db *store.Store) platformtest.SiegeTarget {
		a, err := telegram.New(telegram.Options{Token: telegramtest.DefaultToken, Transport: d, Notes: db.Notes("telegram")})
		if err != nil {
			t.Fatal(err)
		}
		return platformtest.SiegeTarget{
			Side: platformtest.Side{
				Name: "telegram", Platform: a, Decode: telegram.Decoder{Bot: 7000000001, User: "panebridge_bot"}.Decode,
			},
			Sessions: d, Hub: d, Boss: fmt.Sprintf("telegram:%d", boss), Chat: target(knownChat, 0), Logger: slog.New(slog.NewTextHandler(&log, nil)),
		}
	})
	x := &attacker{platformtest.NewAttacker(), seeds}
	s.Rage(func() {
		var batch []intake.Update
		for range 100 {
			batch = append(batch, x.update())
		}
		if err := s.Queue.Keep(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
	})
	t.Logf("%d lines in the log", log.lines.Load())
	s.End(t, &x.Attacker)
}

type lineCounter struct{ lines atomic.Int64 }

func (l *lineCounter) Write(b []byte) (int, error) {
	l.lines.Add(1)
	return len(b), nil
}
