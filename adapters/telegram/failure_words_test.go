package telegram

import "testing"

// People read what was refused in plain words, and no name of a method.
func TestFailuresInPlainWords(t *testing.T) {
	for want, f := range map[string]failure{
		"make the topic: the bot may not manage topics (400)": {method: "createForumTopic", code: 400, text: "the bot may not manage topics"},
		"post a message: connection refused":                  {method: "sendMessage", text: "connection refused"},
		"call getUpdates: 409: another program polls":         {method: "getUpdates", code: 409, text: "another program polls"},
		"call Telegram: nobody answers":                       {text: "nobody answers"},
	} {
		if got := f.Error(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
