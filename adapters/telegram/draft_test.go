package telegram_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/adaptertest"
	"github.com/panebridge/panebridge/adapters/telegram/telegramtest"
)

// Where drafts aren't taken, by an older server of the Bot API's or for this chat, what a session
// prints comes as soon as elsewhere, and drafts are tried seldom.
func TestDraftsThatArentAllowed(t *testing.T) {
	for name, fault := range map[string]telegramtest.Fault{
		"an older server":    {Code: 404, Description: "Not Found: method not found"},
		"not in this chat":   {Code: 400, Description: "Bad Request: TEXTDRAFT_PEER_INVALID"},
		"not for this bot":   {Code: 400, Description: "Bad Request: METHOD_INVALID"},
		"a kind of its own":  {Code: 403, Description: "Forbidden: drafts are not allowed"},
		"nobody understands": {Code: 400, Description: "Bad Request: can't do that"},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, telegramtest.Options{}, func(w *world) {
				fault.Method = "sendMessageDraft"
				w.Inject(fault)
				b := w.bridge(adapters.MirrorRule{Session: "*", To: target(w.ada.ID, 0)})
				b.Start()
				defer func() { b.Stop() }()
				b.Begin(first, "api")
				b.Print(first, adaptertest.Output{Lines: lines(1, 1)})
				after(10 * time.Second)
				for i := range 300 {
					out := adaptertest.Output{Live: []string{"thinking " + strconv.Itoa(i)}}
					if i%50 == 49 {
						out.Lines = lines(2+i/50, 1)
					}
					b.Print(first, out)
					after(200 * time.Millisecond)
					if i%50 == 49 {
						after(5 * time.Second)
						shown := w.seen(telegramtest.Place{Chat: w.ada.ID})
						if !strings.Contains(shown[len(shown)-1].Text, out.Lines[0]) {
							t.Errorf("5 s after it was printed %q isn't there", out.Lines[0])
						}
					}
				}
				if n := len(w.calls("sendMessageDraft")); n > 5 {
					t.Errorf("%d drafts were tried", n)
				}
				if p := b.Hub.Status(first)[0]; p.Binding.Disabled != "" || p.Problem() != "" {
					t.Errorf("the mirror isn't well: %+v", p)
				}
			})
		})
	}
}
