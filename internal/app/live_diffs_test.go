package app_test

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
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

// What real agent programs ask to change in files is shown as a diff, which git apply takes and which gives what the
// agent then writes.
func TestLiveDiffs(t *testing.T) { eachLiveAgent(t, liveDiffs) }

func liveDiffs(t *testing.T, name string, random *rand.Rand) {
	t.Helper()
	if name == "pi" {
		t.Skip("it asks for no permission")
	}
	rounds := 4
	if drawtest.Stressed() {
		rounds = 40
	}
	k := promptRigOf(t, liveMode{agent: name, width: 100, height: 40, hooks: true, orders: true}, random)
	if err := k.run.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	shown, files, first := 0, 0, random.IntN(len(agentlab.OrderLetters))
	for range rounds {
		kind := []string{"edit", "edit", "rows"}[random.IntN(3)]
		if name == "qwen" && kind == "edit" { // what was read in the same reply doesn't count for it
			k.plain(momentIdle, k.word("look"))
			k.calm()
			kind = []string{"edit", "swap"}[random.IntN(2)]
		}
		o := k.word(kind)
		if kind == "rows" { // by the last letter it's how long: each part of the lengths comes up
			o.tag = o.tag[:len(o.tag)-1] + agentlab.OrderLetters[(first+11*files)%len(agentlab.OrderLetters):][:1]
			files++
		}
		file, expects := "notes.txt", "edited by "+o.tag
		if o.kind == "rows" {
			file, expects = agentlab.OrderFile(o.tag), "row 0 of "+o.tag
		}
		was, err := os.ReadFile(filepath.Join(k.run.Cwd, file))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		isNew := err != nil
		k.plain(momentIdle, o)
		p, ok := k.asksAbout(o.tag)
		if !ok {
			t.Fatalf("no question about %s; prompts %+v; screen:\n%s", o, k.seen.all(), k.screen(k.Context()))
		}
		for end := time.Now().Add(15 * time.Second); (p.Unseen || !p.Diff) && time.Now().Before(end); time.Sleep(200 * time.Millisecond) { // it's being read whole
			all, err := k.api.Prompts(k.Context())
			k.must(err)
			if i := slices.IndexFunc(all, func(now api.Prompt) bool { return strings.Contains(now.Body, o.tag) }); i >= 0 {
				p = all[i]
			}
		}
		option := max(0, slices.IndexFunc(p.Options, func(o api.PromptOption) bool { return !o.Refuses && o.Offered }))
		if p.Unseen {
			option = slices.IndexFunc(p.Options, func(o api.PromptOption) bool { return o.Refuses })
		}
		if done, err := k.api.Answer(k.Context(), p.ID, api.AnswerRequest{Option: &api.PromptChoice{N: option + 1}}); err != nil || done.State != sessions.PromptAnswered {
			t.Errorf("answer %+v: %v", p, err)
		}
		k.calm()
		now, err := os.ReadFile(filepath.Join(k.run.Cwd, file))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		t.Logf("%s: %d rows, diff %t, note %q, recorded %t, disputed %t, unseen %t, made %t", o, strings.Count(p.Body, "\n"), p.Diff, p.Note, p.Recorded, p.Disputed, p.Unseen, strings.Contains(string(now), expects))
		if p.Diff && !p.Unseen {
			shown++
			dir := t.TempDir()
			if !isNew {
				k.must(os.WriteFile(filepath.Join(dir, file), was, 0o600))
			}
			cmd := exec.Command("git", "apply", "--whitespace=nowarn", "-")
			cmd.Dir, cmd.Stdin = dir, strings.NewReader(p.Body)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("git apply: %v: %s\n%s", err, out, p.Body)
			}
			if got, err := os.ReadFile(filepath.Join(dir, file)); err != nil || string(got) != string(now) {
				t.Errorf("the diff gives %q, %v\nthe agent wrote %q\n%s", got, err, now, p.Body)
			}
		}
		k.must(os.WriteFile(filepath.Join(k.run.Cwd, "notes.txt"), []byte(agentlab.OrderNotes()), 0o600))
	}
	t.Logf("of %d changes %d were shown as diffs", rounds, shown)
	if shown*4 < rounds*3 {
		t.Errorf("of %d changes %d were shown as diffs", rounds, shown)
	}
}
