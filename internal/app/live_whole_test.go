package app_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/internal/agentlab"
	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/sessions"
)

// Real agent programs without hooks ask whether they may run commands that are longer than
// the screen: people are shown the whole of them, and what they answer is done. The pane has
// its size again afterwards.
func TestLiveWholeCommands(t *testing.T) { eachLiveAgent(t, liveWhole) }

func liveWhole(t *testing.T, name string, random *rand.Rand) {
	t.Helper()
	if agentlab.Agents()[name].Permission == nil {
		t.Skip("it asks for no permission")
	}
	rounds := 4
	if drawtest.Stressed() {
		rounds = 50
	}
	k := promptRigOf(t, liveMode{agent: name, width: 100, height: 40, orders: true}, random)
	if err := k.run.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	allowed, refused, never := 0, 0, 0
	for range rounds {
		o := k.word("long")
		k.plain(momentIdle, o)
		begun := time.Now()
		p, whole := k.wholeAbout(o.tag)
		command := agentlab.OrderLong(o.tag)
		t.Logf("%s: %d rows, whole %t after %s", o, strings.Count(command, "\n")+1, whole, time.Since(begun).Round(100*time.Millisecond))
		switch {
		case p.ID == "":
			t.Fatalf("no question about %s; prompts %+v; screen:\n%s", o, k.seen.all(), k.screen(k.Context()))
		case whole && !strings.Contains(visibleOnly(p.Body), visibleOnly(sessions.Legible(command))):
			t.Errorf("it asks about\n%s\nand this is shown, %+v:\n%s", command, p, p.Body)
		case !whole:
			never++
		}
		k.wantSize(name, "100x40")
		yes := random.IntN(3) > 0
		option := slices.IndexFunc(p.Options, func(o api.PromptOption) bool { return o.Refuses != yes })
		done, err := k.api.Answer(k.Context(), p.ID, api.AnswerRequest{Option: &api.PromptChoice{N: option + 1}})
		switch {
		case yes && !whole:
			if err == nil {
				t.Errorf("%+v was allowed, and not all of it was shown", p)
			}
			yes = false
			no := slices.IndexFunc(p.Options, func(o api.PromptOption) bool { return o.Refuses })
			_, err = k.api.Answer(k.Context(), p.ID, api.AnswerRequest{Option: &api.PromptChoice{N: no + 1}})
			k.must(err)
		case err != nil || done.State != sessions.PromptAnswered:
			t.Errorf("answer %+v: %v; screen\n%s", p, err, k.screen(k.Context()))
		case yes:
			allowed++
		default:
			refused++
		}
		k.calm()
		made, _ := filepath.Glob(filepath.Join(k.run.Cwd, agentlab.OrderFile(o.tag)))
		if ran := len(made) > 0; ran != yes {
			t.Errorf("%s ran: %t, want %t; screen:\n%s", o, ran, yes, k.screen(k.Context()))
		}
		k.wantSize(name, "100x40")
	}
	said, err := os.ReadFile(filepath.Join(k.dir, "log"))
	k.must(err)
	for line := range strings.Lines(string(said)) {
		if strings.Contains(line, "read whole") {
			t.Log(line)
		}
	}
	t.Logf("%d commands: %d allowed, %d refused, %d not seen whole", rounds, allowed, refused, never)
	if wholes := name != "opencode"; wholes && never > 0 || !wholes && never < rounds { // it shows seven rows, however high its screen is
		t.Errorf("of %d commands %d weren't seen whole", rounds, never)
	}
}

// wholeAbout is the question about a command, and whether it was read whole within a time in
// which programs draw all of it.
func (k *promptRig) wholeAbout(tag string) (p api.Prompt, whole bool) {
	k.Helper()
	var asked time.Time
	for end := time.Now().Add(90 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		k.clear()
		all, err := k.api.Prompts(k.Context())
		k.must(err)
		i := slices.IndexFunc(all, func(p api.Prompt) bool {
			return p.Kind == sessions.PromptPermission && p.State == sessions.PromptOpen
		})
		if i < 0 {
			continue
		}
		if p = all[i]; !p.Unseen && strings.Contains(p.Body, tag) {
			return p, true
		}
		if asked.IsZero() {
			asked = time.Now()
		}
		if time.Since(asked) > 25*time.Second {
			break
		}
	}
	return p, false
}

// wantSize checks that the pane has a size, and nothing says that it hasn't.
func (k *promptRig) wantSize(name, want string) {
	k.Helper()
	now := ""
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		now = strings.TrimSpace(k.tmux("display-message", "-p", "-t", name, "#{pane_width}x#{pane_height}#{@panebridge_tall}") + k.tmux("show-options", "-wqv", "-t", name, "window-size"))
		if now == want {
			return
		}
	}
	k.Errorf("the pane is %s, want %s", now, want)
}
