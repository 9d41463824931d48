package telegram_test

import (
	"testing"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/adaptertest"
	"github.com/panebridge/panebridge/adapters/platformtest"
	"github.com/panebridge/panebridge/adapters/telegram/telegramtest"
)

func TestWhatAnAgentAnswersIsThereOnce(t *testing.T) {
	platformtest.Answers(t, func(t *testing.T, test func(c platformtest.AnswersChat)) {
		t.Helper()
		inBubble(t, telegramtest.Options{}, func(w *world) {
			test(platformtest.AnswersChat{
				Bridge: w.bridge(adapters.MirrorRule{Session: "*", To: target(w.group, 0)}).Bridge,
				Seen:   func() []adaptertest.Message { return w.seen(telegramtest.Place{Chat: w.group}) },
			})
			w.noRefusals()
		})
	})
}
