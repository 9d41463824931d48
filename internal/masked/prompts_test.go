package masked

import (
	"context"
	"log/slog"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/callers"
	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/internal/redact"
	"github.com/panebridge/panebridge/sessions"
)

// someMaskedCommand is a command with secrets in it, and the words of it that are run.
func someMaskedCommand(rt *rapid.T) (text string, runs []string) {
	words := []string{"./scripts/wipe2-everything", "./build/Wipe2Everything", "make", "/tmp/x/evil7Qx", "Zq8Xk2Lw9Rt4Vb7Nm3", "reboot", "~/evil9Qx2Lw8Rt4Vb"}
	word := func() string {
		w := rapid.SampledFrom(words).Draw(rt, "word")
		runs = append(runs, w)
		return w
	}
	for range rapid.IntRange(1, 4).Draw(rt, "parts") {
		secret := rapid.SampledFrom([]string{"hunter2", "hunter2hunter2", "Zq8Xk2Lw9Rt4Vb7Nm3Pc6Yd1", "ghp_Zq8Xk2Lw9Rt4Vb7Nm3Pc6Yd1Hf5Js0GaUeI0", "'hunter2x'", "''", "hun\u200bter2", "hun\u00adter2", "hun\u00a0ter2"}).Draw(rt, "secret")
		switch rapid.IntRange(0, 6).Draw(rt, "part") {
		case 0:
			text += "export API_TOKEN=" + secret
		case 1:
			text += "PGPASSWORD=" + secret + " " + word()
		case 2:
			text += "git -c credential.helper='!" + word() + "' fetch"
		case 3:
			text += "RESTIC_PASSWORD_COMMAND=" + word() + " restic snapshots"
		case 4:
			text += "curl -u admin:" + secret + " https://example.com"
		case 5:
			text += "PASSWORD=" + secret + "&" + word()
		default:
			text += word()
		}
		text += rapid.SampledFrom([]string{"\n", "\n", "&", "; ", " && ", "|", " #\n"}).Draw(rt, "then")
	}
	return text, runs
}

// Of what can be allowed, all that's run is seen in chats, whatever is masked in it; what a program in a
// pane asks for, too.
func TestAMaskHidesNothingThatIsRun(t *testing.T) {
	m, err := redact.New(redact.Options{})
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	drawtest.Check(t, func(rt *rapid.T) {
		text, runs := someMaskedCommand(rt)
		d := sessions.Dialog{Kind: sessions.PromptPermission, Whole: text, Options: []sessions.DialogOption{{Label: "Yes"}, {Label: "No", Refuses: true}}}
		d.Masked = m.Hides(d.About()) // as the manager does
		var asked []sessions.Prompt
		if asked = append(asked, Prompt(m, sessions.Prompt{Dialog: d})); rapid.Bool().Draw(rt, "a call") {
			c := callers.NewConsent(func(p sessions.Prompt) {
				if p.State == sessions.PromptOpen {
					asked = append(asked, Prompt(m, p))
				}
			}, m.Hides, slog.New(slog.DiscardHandler))
			call := api.AskedCall{CallerPlace: api.CallerPlace{Inside: true, Session: "pb_1"}, Method: "POST", Target: "/api/v1/sessions/other/input", Body: text}
			ctx, giveUp := context.WithCancel(t.Context())
			giveUp()
			if c.Ask(ctx, call) == nil {
				rt.Fatal("nobody said a word, and it may be made")
			}
		}
		for _, p := range asked {
			if shown := p.Dialog.About(); p.Dialog.Offers(0) {
				seen++
				for _, word := range runs {
					if !strings.Contains(shown, word) {
						rt.Fatalf("of %q, which runs %q, is shown\n%s\nand %q is offered", text, word, shown, p.Dialog.Options[0].Label)
					}
				}
			}
		}
	})
	if seen == 0 {
		t.Error("nothing was offered")
	}
}
