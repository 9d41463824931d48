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

// Real agent programs ask whether they may change a file, by more than the dialog draws: all of
// the change is shown, and is made when it's allowed.
func TestLiveChanges(t *testing.T) { eachLiveAgent(t, liveChanges) }

func liveChanges(t *testing.T, name string, random *rand.Rand) {
	t.Helper()
	if !slices.Contains([]string{"claude", "gemini", "opencode"}, name) {
		t.Skip("its changes aren't known by their records")
	}
	rounds := 4
	if drawtest.Stressed() {
		rounds = 30
	}
	k := promptRigOf(t, liveMode{agent: name, width: 100, height: 40, hooks: true, orders: true}, random)
	if err := k.run.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	recorded, known := 0, 0
	for range rounds {
		o := k.word([]string{"edit", "over"}[random.IntN(2)])
		k.plain(momentIdle, o)
		p, ok := k.asksAbout(o.tag)
		if !ok {
			t.Fatalf("no question about %s; prompts %+v; screen:\n%s", o, k.seen.all(), k.screen(k.Context()))
		}
		for end := time.Now().Add(15 * time.Second); p.Unseen && time.Now().Before(end); time.Sleep(200 * time.Millisecond) { // it's being read whole
			all, err := k.api.Prompts(k.Context())
			k.must(err)
			if i := slices.IndexFunc(all, func(now api.Prompt) bool { return strings.Contains(now.Body, o.tag) }); i >= 0 {
				p = all[i]
			}
		}
		old, now := agentlab.OrderEdit(o.tag)
		gone := strings.Split(old, "\n")[1]
		made := strings.Split(now, "\n")
		made = made[1 : len(made)-1] // but what's the same before and after
		t.Logf("%s: %d rows, recorded %t, disputed %t, unseen %t, cut %t", o, len(made), p.Recorded, p.Disputed, p.Unseen, p.Cut)
		if p.Disputed || p.Recorded && !holdsRows(visibleOnly(p.Body), gone, made) {
			t.Errorf("it asks about\n%s\nand this is shown, %+v:\n%s\non the screen\n%s", now, p, p.Body, k.screen(k.Context()))
		}
		if p.Recorded && !p.Unseen {
			recorded++
		}
		if name != "claude" || o.kind == "edit" { // which doesn't tell what it overwrites
			known++
		}
		yes := random.IntN(3) > 0 && !p.Unseen
		option := slices.IndexFunc(p.Options, func(o api.PromptOption) bool { return o.Refuses != yes })
		if done, err := k.api.Answer(k.Context(), p.ID, api.AnswerRequest{Option: &api.PromptChoice{N: option + 1}}); err != nil || done.State != sessions.PromptAnswered {
			t.Errorf("answer %+v: %v", p, err)
		}
		k.calm()
		notes, err := os.ReadFile(filepath.Join(k.run.Cwd, "notes.txt"))
		k.must(err)
		if did := strings.Contains(string(notes), o.tag); did != yes {
			t.Errorf("%s was made: %t, want %t; screen:\n%s", o, did, yes, k.screen(k.Context()))
		}
		k.must(os.WriteFile(filepath.Join(k.run.Cwd, "notes.txt"), []byte(agentlab.OrderNotes()), 0o600))
	}
	t.Logf("%d changes, %d to be known by their records: %d are", rounds, known, recorded)
	if recorded*4 < known*3 {
		t.Errorf("of %d changes %d were shown as they're recorded", known, recorded)
	}
}

// holdsRows reports whether a change has all of these rows, each with its sign.
func holdsRows(body, gone string, made []string) bool {
	for _, row := range made {
		if !strings.Contains(body, "+"+visibleOnly(sessions.Legible(row))) {
			return false
		}
	}
	return strings.Contains(body, "-"+visibleOnly(sessions.Legible(gone)))
}
