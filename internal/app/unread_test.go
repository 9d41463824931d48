package app_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters/discord/discordtest"
	"github.com/panebridge/panebridge/adapters/telegram/telegramtest"
	"github.com/panebridge/panebridge/config"
	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/sessions"
	"github.com/panebridge/panebridge/sessions/agent"
	"github.com/panebridge/panebridge/sessions/agent/dialogtest"
)

// unknownProgram is a script that prints something, draws a dialog, and says which key it
// was given.
func unknownProgram(dir string, u dialogtest.Unknown, alternate bool) string {
	quoted := func(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
	var b strings.Builder
	b.WriteString("stty raw -echo\nprintf 'begun\\r\\nall is well\\r\\n'\nwhile [ ! -e go ]; do sleep 0.05; done\n")
	if alternate {
		b.WriteString("printf '\\033[?1049h\\033[H\\033[2J'\n")
	}
	text := strings.Join(u.Rows, "\r\n")
	if !u.Field {
		text += "\r\n\033[?25l"
	}
	fmt.Fprintf(&b, "date +%%s.%%N >drawn\nprintf %%s %s\n", quoted(text))
	b.WriteString("dd bs=1 count=1 2>/dev/null | od -An -tx1 >key\nprintf '\\033[?25h\\033[H\\033[2J\\033[?1049lthank you\\r\\n'\nsleep 1000\n")
	path := filepath.Join(dir, "ask.sh")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		panic(err)
	}
	return path
}

// A dialog that nobody knows rings within 3 s with a picture of the screen, in both chats,
// and for approvers with keys as buttons, which are pressed on that very screen; none where
// a key or a code is asked for. It's closed everywhere when it's gone.
func checkUnknownDialogsRing(t *testing.T) {
	t.Helper()
	times := 8
	if drawtest.Stressed() {
		times = 60
	}
	random := drawtest.Rand(t, 0)
	set, err := agent.LoadSet()
	if err != nil {
		t.Fatal(err)
	}
	r := newStandinRig(t)
	r.stop()
	r.cfg.Polling.OutputCadence = config.Seconds(1) // as it comes
	r.start()
	r.await("the gateway", func() bool { return r.discord.Gateways() == 1 })
	var slowest time.Duration
	for n := range times {
		u := dialogtest.DrawUnknown(random)
		for isKnown(set, u) {
			u = dialogtest.DrawUnknown(random)
		}
		dir := filepath.Join(r.dir, fmt.Sprint("unknown-", n))
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		script := unknownProgram(dir, u, random.IntN(2) == 0)
		s, err := r.api.NewSession(r.ctx(), api.Create{Name: fmt.Sprint("unknown-", n), Cwd: dir, Command: []string{"sh", script}})
		if err != nil {
			t.Fatal(err)
		}
		id := s.ID
		r.await("the chats", func() bool {
			s, err := r.api.Session(r.ctx(), string(id))
			return err == nil && len(s.Bindings) == 2 && r.has(id, "all is well")()
		})
		if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		var p api.Prompt
		r.await("the prompt", func() bool {
			all, err := r.api.Prompts(r.ctx())
			i := slices.IndexFunc(all, func(p api.Prompt) bool { return p.Session == id })
			if err == nil && i >= 0 {
				p = all[i]
			}
			return i >= 0
		})
		var tele telegramtest.Message
		var disc discordtest.Message
		r.await("the messages", func() bool {
			var a, b bool
			tele, a = r.teleRing(s.Name)
			disc, b = r.discRing(s.Name)
			return a && b
		})
		drawn := timeIn(t, filepath.Join(dir, "drawn"))
		for _, took := range []time.Duration{tele.At.Sub(drawn), disc.At.Sub(drawn)} {
			if slowest = max(slowest, took); took > 3*time.Second {
				t.Errorf("it rang %s after it was drawn:\n%s", took, strings.Join(u.Rows, "\n"))
			}
		}
		if p.Kind != sessions.PromptUnread || (len(p.Options) == 0) != u.Secret || tele.File == nil || tele.File.Kind != "photo" || len(disc.Files) != 1 || !tele.Rang || !disc.Rang {
			t.Errorf("of\n%s\ngot %+v, %+v, %+v", strings.Join(u.Rows, "\n"), p, tele, disc)
		}
		keys := 0
		for _, row := range tele.Buttons {
			keys += len(row)
		}
		if want := len(p.Options); keys < min(want, 16)+1 || u.Secret && keys != 1 {
			t.Errorf("%d buttons for %d keys", keys, want)
		}
		if random.IntN(3) == 0 {
			r.holdsText(id, dir)
		}
		r.answerUnknown(id, dir, p, u, &tele, &disc, random)
		r.await("the end in the chats", func() bool {
			m, _ := r.telegram.Message(tele.Chat, tele.ID)
			d, _ := r.discord.Message(disc.ID)
			return len(m.Buttons) == 0 && len(d.Rows) == 0
		})
		if open, err := r.api.Prompts(r.ctx()); err != nil || slices.ContainsFunc(open, func(p api.Prompt) bool { return p.Session == id }) {
			t.Errorf("%+v, %v", open, err)
		}
		if err := r.api.CloseSession(r.ctx(), string(id)); err != nil {
			t.Error(err)
		}
	}
	t.Logf("%d dialogs, the slowest rang after %s", times, slowest)
}

// holdsText writes a text while a dialog is open that nobody knows: it isn't typed, for its
// letters would answer that.
func (r *standinRig) holdsText(id sessions.ID, dir string) {
	r.Helper()
	receipt, err := r.api.Input(r.ctx(), string(id), "yes, go on", true)
	if err != nil {
		r.Fatal(err)
	}
	r.await("a text that waits", func() bool {
		now, err := r.api.Receipt(r.ctx(), receipt.ID)
		return err == nil && now.State == sessions.ReceiptHeld
	})
	time.Sleep(time.Second)
	if key, _ := os.ReadFile(filepath.Join(dir, "key")); len(key) > 0 {
		r.Errorf("a text has answered what takes an approver: %s", key)
	}
}

// isKnown reports whether a drawn dialog happens to look like one of an agent's, which is
// told as that.
func isKnown(set *agent.Set, u dialogtest.Unknown) bool {
	return slices.ContainsFunc([][]string{nil, {"begun", "all is well"}}, func(above []string) bool {
		rows := slices.Concat(above, u.Rows, make([]string, 24))
		screen := &sessions.Snapshot{Width: 120, Height: len(rows), Rows: rows, CursorVisible: u.Field, CursorY: len(above) + len(u.Rows) - 1}
		return set.Generic().Prompt(screen, nil) != nil
	})
}

// answerUnknown presses a key in a chat, over the API, or, where there's none, in the pane.
func (r *standinRig) answerUnknown(id sessions.ID, dir string, p api.Prompt, u dialogtest.Unknown, tele *telegramtest.Message, disc *discordtest.Message, random *rand.Rand) {
	r.Helper()
	want := "1b"
	switch by := random.IntN(3); {
	case u.Secret:
		s, err := r.api.Session(r.ctx(), string(id))
		if err != nil {
			r.Fatal(err)
		}
		r.tmux("send-keys", "-t", s.Tmux.Pane, "Escape")
	case by == 0:
		if _, err := r.onTele.Press(tele.Chat, tele.ID, "Esc"); err != nil {
			r.Error(err)
		}
	case by == 1:
		if _, err := r.onDisc.Press(disc.ID, "Esc"); err != nil {
			r.Error(err)
		}
	default:
		if _, err := r.api.Answer(r.ctx(), p.ID, api.AnswerRequest{Option: &api.PromptChoice{Label: "Enter"}}); err != nil {
			r.Error(err)
		}
		want = "0d"
	}
	r.await("the key", func() bool {
		key, _ := os.ReadFile(filepath.Join(dir, "key"))
		return strings.TrimSpace(string(key)) == want
	})
}

// teleRing is the message of a session's that needs somebody.
func (r *standinRig) teleRing(name string) (telegramtest.Message, bool) {
	for _, topic := range r.telegram.Topics(r.forum) {
		for _, m := range r.telegram.See(topic.Place) {
			if strings.Contains(m.Text, name+" needs you") && len(m.Buttons) > 0 {
				return m, true
			}
		}
	}
	return telegramtest.Message{}, false
}

func (r *standinRig) discRing(name string) (discordtest.Message, bool) {
	for _, thread := range r.discord.Threads(r.channel) {
		for _, m := range r.discord.Messages(thread.ID) {
			if strings.Contains(strings.ReplaceAll(m.Content, "\\", ""), name+" needs you") && len(m.Rows) > 0 {
				return m, true
			}
		}
	}
	return discordtest.Message{}, false
}

// timeIn is what `date +%s.%N` wrote into a file.
func timeIn(t *testing.T, file string) time.Time {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var s, ns int64
	if _, err := fmt.Sscanf(string(text), "%d.%d", &s, &ns); err != nil {
		t.Fatal(err)
	}
	return time.Unix(s, ns)
}
