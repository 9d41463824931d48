package inbound_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/panebridge/panebridge/adapters/commands"
	"github.com/panebridge/panebridge/adapters/inbound"
	"github.com/panebridge/panebridge/sessions"
)

// What a session has changed is shown as a diff, or as a file if it's long; a commit is named by who may type alone.
func TestDiffShowsWhatASessionHasChanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		changes := commands.RepositoryChanges{Root: "/srv/p", Commit: strings.Repeat("ab", 20), Files: 1, Diff: "diff --git a/x b/x\n@@ -1 +1 @@\n-one\n+two\n", Notes: []string{"Not shown: y."}}
		var asked []string
		var fails error
		w := newWorld(t)
		w.opt = func(o *inbound.Options) {
			o.Diff = func(_ context.Context, s sessions.Session, since, file string) (commands.RepositoryChanges, error) {
				asked = append(asked, s.Name+"|"+since+"|"+file)
				return changes, fails
			}
		}
		defer w.end()
		w.start()
		w.bind(w.session("agent"), group, true)
		w.hub.maxFile = 100_000
		const head = "**agent** has changed a file in /srv/p since ababababab\n\nNot shown: y\\."
		w.wantSaid(w.ask(bob, "/diff"), "ababababab")
		if got := w.ask(bob, "/diff a b.go"); !strings.HasSuffix(got, "\n\n```diff\n"+strings.TrimSuffix(changes.Diff, "\n")+"\n```") {
			t.Errorf("it's shown as %q, want below %q", got, head)
		}
		w.ask(ann, "/diff agent since main~2 internal/store")
		w.ask(ann, "/diff since HEAD")
		if got := w.ask(bob, "/diff since HEAD"); !strings.Contains(got, "operator") {
			t.Errorf("a viewer is told %q", got)
		}
		w.wantSaid(w.ask(ann, "/diff since"), "and a commit")
		if got := strings.Join(asked, " "); got != "agent|| agent||a b.go agent|main~2|internal/store agent|HEAD|" {
			t.Errorf("asked for were %q", got)
		}
		one := changes.Diff
		// Nothing of it is hidden, in a file that platforms show the beginning of either. Ends of lines are as they are there.
		for odd, want := range map[string]string{"if x\u202e \x1b[2J{": `if x\u202e \x1b[2J{`, "two\r": "two\r"} {
			changes.Diff = strings.Repeat(strings.ReplaceAll(one, "two", odd), 1000)
			w.say(bob, "/diff")
			posts := w.hub.take()
			if len(posts) != 1 || posts[0].File == nil || string(posts[0].File.Data) != strings.ReplaceAll(changes.Diff, odd, want) || strings.Contains(posts[0].Text, "numbers") != (odd != want) {
				t.Errorf("with %q: %q", odd, said(posts))
			}
		}
		changes.Diff, changes.Files = strings.Repeat(one, 1000), 1000
		w.say(bob, "/diff")
		posts := w.hub.take()
		if len(posts) != 1 || posts[0].File == nil || posts[0].File.Name != "agent.diff" || string(posts[0].File.Data) != changes.Diff || !strings.Contains(posts[0].Text, "1000 files") {
			t.Errorf("a long one: %+v", posts)
		}
		w.hub.maxFile = 1000
		w.wantSaid(w.ask(bob, "/diff"), "name a file or a folder")
		changes.Diff, changes.Files, changes.Commit = "", 0, ""
		w.wantSaid(w.ask(bob, "/diff"), "has changed nothing in /srv/p since before its first commit")
		fails = errors.New("it’s in no git repository")
		w.wantSaid(w.ask(bob, "/diff"), "no git repository")
	})
}
