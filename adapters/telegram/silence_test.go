package telegram_test

import (
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters/platformtest"
	"github.com/panebridge/panebridge/adapters/telegram/telegramtest"
	"github.com/panebridge/panebridge/qos"
)

// After a failure that was answered the chat goes on, whatever call it hit.
func TestSilenceAfterAnsweredFailures(t *testing.T) {
	answered := []string{"internal error", "bad gateway", "a proxy's no", "reset", "half an answer", "an odd answer", "the token", "no buttons"}
	platformtest.Silences(t, qos.Window{Calls: 20, Per: time.Minute}, answered, func(t *testing.T, dir string, play func(testing.TB, platformtest.Coast)) {
		t.Helper()
		inBubble(t, telegramtest.Options{}, func(w *world) { play(w, coast{w.office(dir, w.forum)}) })
	})
}
