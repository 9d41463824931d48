package telegram

import (
	"testing"

	"github.com/panebridge/panebridge/adapters/exchange"
)

// People read what was refused in plain words, and no name of a method.
func TestFailuresInPlainWords(t *testing.T) {
	for want, f := range map[string]exchange.CallFailure{
		"make the topic: the bot may not manage topics (400)": {Platform: "Telegram", Call: "createForumTopic", Status: 400, Text: "the bot may not manage topics"},
		"post a message: connection refused":                  {Platform: "Telegram", Call: "sendMessage", Text: "connection refused"},
		"call getUpdates: 409: another program polls":         {Platform: "Telegram", Call: "getUpdates", Status: 409, Text: "another program polls"},
		"call Telegram: nobody answers":                       {Platform: "Telegram", Text: "nobody answers"},
	} {
		f.Deed = deeds[f.Call]
		if got := f.Error(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
