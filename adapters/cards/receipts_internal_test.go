package cards

import (
	"testing"

	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/sessions"
)

// What a writer is told is a function of the receipt and of what they were told before.
func TestWhatAWriterIsTold(t *testing.T) {
	t.Parallel()
	nameOf := func(intake.Person) string { return "Ada" }
	for name, c := range map[string]struct {
		origin   InputOrigin
		receipt  sessions.Receipt
		what     ToldProgress
		words    bool
		text     string
		reaction string
		rings    bool
	}{
		"submitted":              {what: ToldSubmitted, reaction: "👍"},
		"submitted, in words":    {what: ToldSubmitted, words: true, text: "Typed and submitted."},
		"submitted after a hold": {what: ToldSubmitted, origin: InputOrigin{Told: ToldHeld, Reply: "9"}, text: "Typed and submitted now."},
		"sent anyway": {
			what: ToldSubmitted, origin: InputOrigin{Told: ToldHeld, Reply: "9"}, receipt: sessions.Receipt{Anyway: "a:9"},
			text: "Sent anyway by Ada, and submitted now.",
		},
		"delivered though it failed": {what: ToldSubmitted, origin: InputOrigin{Told: ToldFailed, Reply: "9"}, text: "It was delivered after all: the agent has it."},
		"held":                       {what: ToldHeld, receipt: sessions.Receipt{Reason: "a dialog"}, text: "Held: a dialog.", rings: true},
		"held, as was told":          {what: ToldHeld, origin: InputOrigin{Told: ToldHeld}, receipt: sessions.Receipt{Reason: "a dialog"}, text: "Held: a dialog."},
		"held, on a screen":          {what: ToldHeld, receipt: sessions.Receipt{Reason: "a dialog", Quoted: "00ff"}, text: "Held: a dialog. /screen shows it.", rings: true},
		"held behind another":        {what: ToldHeld, receipt: sessions.Receipt{Reason: "another text", Behind: "in_1"}, text: "Waits: another text."},
		"held, not behind another any more": {
			what: ToldHeld, origin: InputOrigin{Told: ToldHeld, Shows: showsBehind}, receipt: sessions.Receipt{Reason: "a dialog"}, text: "Held: a dialog.", rings: true,
		},
		"failed":     {what: ToldFailed, receipt: sessions.Receipt{Reason: "it ended"}, text: "Failed: it ended.", rings: true},
		"taken back": {what: ToldTakenBack, text: "Taken back."},
		"nothing":    {what: ToldStored},
	} {
		in := trackedInput{InputOrigin: c.origin, receipt: c.receipt}
		p := in.receiptCard(c.what, c.words, nameOf)
		if p.Text != c.text || p.Reaction != c.reaction || p.Ring != c.rings {
			t.Errorf("%s: says %q, reacts %q, rings %v; want %q, %q, %v", name, p.Text, p.Reaction, p.Ring, c.text, c.reaction, c.rings)
		}
	}
}
