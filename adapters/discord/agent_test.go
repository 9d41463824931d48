package discord_test

import (
	"strings"
	"testing"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/adaptertest"
	"github.com/panebridge/panebridge/adapters/discord/discordtest"
	"github.com/panebridge/panebridge/adapters/platformtest"
)

// address is the target of a link, which stands behind the link's text when a message is
// read as its source.
const address = "https://example.invalid/path?a=1&b=2"

func TestWhatAnAgentAnswersIsThereOnce(t *testing.T) {
	platformtest.Answers(t, func(t *testing.T, test func(c platformtest.AnswersChat)) {
		t.Helper()
		inBubble(t, discordtest.Options{}, func(w *world) {
			test(platformtest.AnswersChat{
				Bridge: w.bridge(adapters.MirrorRule{Session: "*", To: target(w.plain, "")}).Bridge,
				Seen:   func() []adaptertest.Message { return w.seen(w.plain) },
				Bare:   func(text string) string { return strings.ReplaceAll(text, address, "") },
			})
			w.noRefusals()
		})
	})
}
