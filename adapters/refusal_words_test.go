package adapters

import (
	"context"
	"strings"
	"testing"

	"github.com/panebridge/panebridge/internal/redact"
	"github.com/panebridge/panebridge/sessions"
)

// What was refused is known as that by its words, those of older databases too.
func TestRefusalsAreKnownByTheirWords(t *testing.T) {
	for disabled, want := range map[string]bool{
		"Telegram refused to make the topic: the bot may not manage topics (400)": true,
		"the platform refused it: call createForumTopic: 400: the bot may not":    true,
		"Discord refused to post a message: Missing Access (50001)":               false, // that's another's
		"the session has ended, and its lines after 7 couldn't be sent in time":   false,
		"the bot was removed from the chat, and has refused nothing":              false,
	} {
		b := Binding{Target: Target{Adapter: "telegram", Chat: "1"}, Disabled: disabled}
		if got := b.isRefusal(); got != want {
			t.Errorf("%q: %v", disabled, got)
		}
	}
	if got := refusedPrefix("telegram"); got != "Telegram refused to " {
		t.Errorf("a refusal begins with %q", got)
	}
}

// brokenLog is a log whose last turn has failed.
type brokenLog struct {
	Log
	why string
}

func (f brokenLog) Progress(context.Context, sessions.ID) (LogProgress, error) {
	return LogProgress{Turn: 1, Failed: f.why}, nil
}

// Why a turn failed is said without secrets.
func TestWhyATurnFailedIsMasked(t *testing.T) {
	m, err := redact.New(redact.Options{})
	if err != nil {
		t.Fatal(err)
	}
	const secret = "ghp_x7KqN2mW9pLr4TvB8cYd3FhJ6sZa1QeU5oGi"
	p, err := MaskedLog(brokenLog{why: "401: no such key: " + secret}, m).Progress(t.Context(), "pb_1")
	if err != nil || strings.Contains(p.Failed, "x7KqN2mW9pLr4") || !strings.HasPrefix(p.Failed, "401: no such key") || p.Turn != 1 {
		t.Errorf("%+v, %v", p, err)
	}
}
