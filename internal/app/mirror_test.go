package app_test

import (
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/adaptertest"
	"github.com/panebridge/panebridge/config"
	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/qos"
)

// A real pane's output reaches a chat once and in order, over a restart of the
// daemon, and the API says how far it is.
func TestMirrorToAChat(t *testing.T) {
	t.Parallel()
	platform := adaptertest.NewPlatform(adaptertest.Options{})
	platform.AddGroup("-100", false)
	platform.AddGroup("-200", false)
	chats := func() []adapters.Adapter {
		return []adapters.Adapter{&adaptertest.Adapter{
			Conn: platform.Connect(), Named: "telegram",
			QoS: qos.Options{MinSessionTick: 100 * time.Millisecond},
		}}
	}
	d := newDaemon(t)
	d.stop()
	d.cfg.Mirrors = []config.Mirror{{Session: "agent-*", To: "telegram:-100", View: "stream", Output: "all"}}
	d.adapters = chats
	d.start()
	s, err := d.api.NewSession(d.ctx(), api.Create{Name: "agent-1", Command: []string{"sh", "-c", `seq 1 300; echo '[Output Complete]'; read -r x; seq 301 600; echo '[Output Complete]'; exec cat`}})
	if err != nil {
		t.Fatal(err)
	}
	shown := func(chat string) string {
		var text strings.Builder
		for _, m := range platform.Seen(chat, "") {
			text.WriteString(m.Text + "\n" + string(m.Data))
		}
		return text.String()
	}
	d.await("the first turn in the chat", func() bool { return strings.Contains(shown("-100"), "\n300\n") })
	other, err := d.api.Bind(d.ctx(), "agent-1", api.Bind{To: "telegram:-200", View: "final", Output: "all"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.api.Bind(d.ctx(), "agent-1", api.Bind{To: "discord:1"}); err == nil || !strings.Contains(err.Error(), "discord") {
		t.Errorf("a chat of an adapter that isn't there: %v", err)
	}

	d.stop()
	d.start()
	d.awaitTmux()
	if _, err := d.api.Input(d.ctx(), "agent-1", "go", true); err != nil {
		t.Fatal(err)
	}
	for _, chat := range []string{"-100", "-200"} {
		d.await("the second turn in "+chat, func() bool { return strings.Contains(shown(chat), "\n600\n") })
	}
	for chat, first := range map[string]int{"-100": 1, "-200": 301} {
		numbers := numbersIn(shown(chat))
		if len(numbers) != 600-first+1 {
			t.Errorf("chat %s has %d numbers, want %d", chat, len(numbers), 600-first+1)
		}
		for i, n := range numbers {
			if n != first+i {
				t.Fatalf("chat %s: %d at place %d, want %d", chat, n, i, first+i)
			}
		}
	}
	for _, chat := range []string{"-100", "-200"} {
		if text := shown(chat); strings.Contains(text, "Output Complete") || !strings.Contains(text, "done") {
			t.Errorf("chat %s shows the marker, or no end: %q", chat, text)
		}
	}
	if strings.Contains(shown("-200"), "300") {
		t.Error("a new binding didn't begin at the newest line")
	}

	d.await("bindings at the end", func() bool {
		now, err := d.api.Session(d.ctx(), string(s.ID))
		if err != nil {
			t.Fatal(err)
		}
		return len(now.Bindings) == 2 && now.Bindings[0].Delivered == now.Lines && now.Bindings[0].Origin == "rule" && now.Bindings[1].Origin == "hand"
	})
	states, err := d.api.Adapters(d.ctx())
	if err != nil || len(states) != 1 || states[0].Name != "telegram" || states[0].Documents != 2 || len(states[0].Chats) == 0 {
		t.Errorf("adapters are %+v, %v", states, err)
	}
	if err := d.api.Unbind(d.ctx(), other.ID); err != nil {
		t.Error(err)
	}
}

func numbersIn(text string) (out []int) {
	for line := range strings.Lines(text) {
		n := 0
		line = strings.TrimSpace(line)
		for _, r := range line {
			if r < '0' || r > '9' {
				n = -1
				break
			}
			n = 10*n + int(r-'0')
		}
		if line != "" && n > 0 {
			out = append(out, n)
		}
	}
	return out
}
