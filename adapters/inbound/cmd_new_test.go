package inbound_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/sessions"
)

// inHome runs a test where /new begins with a folder of its own, which is the home
// folder too.
func inHome(t *testing.T, test func(w *world, home string)) {
	t.Helper()
	home := t.TempDir()
	t.Setenv("HOME", home)
	inWorld(t, func(w *world) {
		w.manager.SetAgents(map[string]sessions.Agent{"claude": {Command: []string{"x"}}, "codex": {Command: []string{"x"}}})
		test(w, home)
	})
}

func folder(t *testing.T, parts ...string) string {
	t.Helper()
	path := filepath.Join(parts...)
	if err := os.MkdirAll(path, 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

// newest is the session that was begun last, if it's not the one that's always there.
func (w *world) newest() sessions.Session {
	all := w.manager.List()
	s := all[len(all)-1]
	if s.Name == "agent" {
		return sessions.Session{}
	}
	return s
}

// labels are those of all buttons.
func labels(posts []adapters.Post) []string {
	var out []string
	for _, p := range posts {
		for _, row := range p.Buttons {
			for _, b := range row {
				out = append(out, b.Label)
			}
		}
	}
	return out
}

// Agents that are found are offered without being configured, each time as they are then; where
// none is, it's said where they were looked for.
func TestNewOffersAgentsThatAreFound(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	search := sessions.AgentSearch{Names: []string{"claude", "codex"}, Folders: []string{"/usr/bin", filepath.Join(home, "bin")}}
	inWorld(t, func(w *world) {
		w.ways = func(o *options) { o.FindAgents = func() sessions.AgentSearch { return search } }
		w.restart()
		w.wantSaid(w.ask(ann, "/new"), "Where should the shell work? There's no agent to choose: none of claude, codex is in /usr/bin, ~/bin.")
		search.Found = map[string]sessions.Agent{"claude": {Command: []string{"/usr/bin/claude"}}, "codex": {Command: []string{"/usr/bin/codex"}}}
		w.pass(time.Second)
		w.say(ann, "/new")
		w.pass(5 * time.Second)
		got := w.hub.take()
		if text := said(got); strings.Contains(text, "none of") || !slices.Contains(labels(got), "claude") || !slices.Contains(labels(got), "codex") {
			w.Errorf("it says %q and offers %q", text, labels(got))
		}
		w.pass(time.Second)
		w.wantSaid(w.ask(ann, "/new codex ~"), "**codex-1** begins in ~.")
	})
}

func TestNewTakesAgentsAndFolders(t *testing.T) {
	inHome(t, func(w *world, home string) {
		folder(w.T, home, "proj", "with space")
		outside := w.TempDir()
		for _, c := range []struct{ text, agent, cwd, want string }{
			{"/new claude ~/proj", "claude", "proj", "**claude-1** begins in ~/proj."},
			{"/new codex proj", "codex", "proj", "**codex-1** begins in ~/proj."},
			{"/new ~", "codex", ".", "**codex-2** begins in ~."}, // the one that was begun last
			{"/new shell " + outside, "", outside, "**shell-1** begins in " + outside},
			{"/new claude   proj/with space ", "claude", "proj/with space", "begins in ~/proj/with space."},
			{"/new Claude ~/proj", "claude", "proj", "begins in ~/proj."},
			{"/new bash ~/proj", "", "proj", "begins in ~/proj."},
			{"/new claude ~/proj/../proj/./", "claude", "proj", "begins in ~/proj."},
		} {
			w.pass(time.Second)
			w.wantSaid(w.ask(ann, c.text), c.want)
			want := c.cwd
			if !filepath.IsAbs(want) {
				want = filepath.Join(home, want)
			}
			s := w.newest()
			if s.Agent != c.agent || s.Cwd != want {
				w.Errorf("%s: began %q in %s, want %q in %s", c.text, s.Agent, s.Cwd, c.agent, want)
			}
			if !slices.ContainsFunc(w.hub.bindings, func(b adapters.Binding) bool { return b.Session == s.ID && b.Target == group && b.Input }) {
				w.Errorf("%s: nothing mirrors it", c.text)
			}
		}
	})
}

func TestNewGetsATopicOfItsOwn(t *testing.T) {
	inHome(t, func(w *world, home string) {
		w.hub.ownThread = true
		w.pass(time.Second)
		ev := w.event(ann, intake.Said{Text: "/new claude ~"})
		ev.Place.Thread = "7"
		w.do(ev)
		if got := w.hub.take(); len(got) > 0 {
			w.Errorf("before its topic can be there: %+v", got)
		}
		w.pass(3 * time.Second)
		w.wantSaid(said(w.hub.take()), "**claude-1** begins in ~. Its topic is on its way: write to it there.")
		if b := w.hub.bindings[1]; b.Target != group || b.Session != w.newest().ID {
			w.Errorf("bound to %s", b.Target)
		}
	})
}

func TestNewRefusesWhatIsNoFolder(t *testing.T) {
	inHome(t, func(w *world, home string) {
		if err := os.WriteFile(filepath.Join(home, "file"), nil, 0o600); err != nil {
			w.Fatal(err)
		}
		for text, want := range map[string]string{
			"/new cloude":           "the agents are claude, codex, shell",
			"/new claude ../..":     "leads out of",
			"/new claude ~/nowhere": "no folder ~/nowhere",
			"/new claude /nowhere":  "no folder /nowhere",
			"/new ~/file":           "no folder ~/file",
			"/new ~root/x":          "no folder",
			"/new claude a\x00b":    "isn't a folder's path",
			"/new claude /tmp\nx":   "isn't a folder's path",
			"/new claude /" + strings.Repeat("A", 10_000): "isn't a folder's path",
			"/new claude " + strings.Repeat("../", 1000):  "leads out of",
		} {
			w.wantSaid(w.ask(ann, text), want)
		}
		if s := w.newest(); s.ID != "" {
			w.Errorf("a session was begun in %s", s.Cwd)
		}
	})
}

// go presses a button of what was posted last, after a restart, and returns what came.
func (w *world) on(posts []adapters.Post, label string) []adapters.Post {
	w.Helper()
	w.restart()
	w.manager.SetAgents(map[string]sessions.Agent{"claude": {Command: []string{"x"}}, "codex": {Command: []string{"x"}}})
	ev := w.event(ann, intake.Pressed{Data: w.button(posts, label), Token: "t"})
	ev.Message = "picker"
	w.do(ev)
	next := w.hub.take()
	if len(next) == 1 && next[0].Message != "picker" {
		w.Errorf("%s: a new message %q", label, next[0].Text)
	}
	return next
}

// However long a folder's name is, the button that chooses it says so, and how it ends.
func TestTheFolderPickerMarksLongNames(t *testing.T) {
	inHome(t, func(w *world, home string) {
		name := strings.Repeat("a-long-name-", 6) + "end"
		folder(w.T, home, name, "below")
		w.say(ann, "/new claude")
		posts := w.on(w.hub.take(), "Other folders …")
		long := labels(posts)[slices.IndexFunc(labels(posts), func(l string) bool { return strings.HasSuffix(l, "-end") })]
		posts = w.on(posts, long)
		marked := func(l string) bool {
			return strings.HasPrefix(l, "✓ …") && strings.HasSuffix(l, "-end") && len([]rune(l)) <= 36
		}
		if !slices.ContainsFunc(labels(posts), marked) {
			w.Errorf("buttons %q", labels(posts))
		}
	})
}

func TestTheFolderPickerWalks(t *testing.T) {
	inHome(t, func(w *world, home string) {
		folder(w.T, home, "src", "deep", "er")
		folder(w.T, home, ".hidden")
		folder(w.T, home, "new\nline")
		if err := os.Symlink("/", filepath.Join(home, "link")); err != nil {
			w.Fatal(err)
		}
		for i := range 25 {
			folder(w.T, home, fmt.Sprintf("many-%02d", i))
		}
		w.say(ann, "/new codex")
		posts := w.hub.take()
		if got, want := labels(posts), []string{"claude", "a shell", w.shown(w.dir), "Other folders …"}; !slices.Equal(got, want) {
			w.Errorf("buttons %q, want %q", got, want)
		}
		posts = w.on(posts, "claude")
		w.wantSaid(said(posts), "Where should **claude** work?")
		posts = w.on(posts, "Other folders …")
		w.wantSaid(said(posts), "In ~, page 1 of 3. Where should **claude** work?")
		posts = w.on(posts, "More ›")
		posts = w.on(posts, "More ›")
		w.wantSaid(said(posts), "page 3 of 3")
		if got := labels(posts); slices.Contains(got, "link") || slices.Contains(got, ".hidden") || slices.Contains(got, "More ›") || !slices.Contains(got, "src") {
			w.Errorf("buttons %q", got)
		}
		posts = w.on(w.on(posts, "src"), "deep")
		w.wantSaid(said(posts), "In ~/src/deep.")
		posts = w.on(w.on(posts, "↑ Up"), "deep")
		posts = w.on(posts, "codex")
		w.chat.take()
		w.press(dora, w.button(posts, "er"))
		w.wantAnswer("isn't for you")
		last := w.on(posts, "er")
		// Two presses, on two pages: one session.
		w.pass(time.Second)
		done := w.on(last, "✓ ~/src/deep/er")
		w.wantSaid(said(done), "**codex-1** begins in ~/src/deep/er.")
		w.chat.take()
		w.on(posts, "✓ ~/src/deep")
		w.wantAnswer("Already used by Somebody")
		if all := w.manager.List(); len(all) != 2 {
			w.Errorf("there are %d sessions, want 2", len(all))
		}
		w.say(ann, "/new")
		posts = w.hub.take()
		w.wantSaid(said(w.on(posts, "~/src/deep/er")), "**codex-2** begins in ~/src/deep/er.")
	})
}

// shown is a path as a button shows it.
func (w *world) shown(path string) string {
	if r := []rune(path); len(r) > 36 {
		return "…" + string(r[len(r)-35:])
	}
	return path
}

func TestAFolderThatIsGone(t *testing.T) {
	inHome(t, func(w *world, home string) {
		folder(w.T, home, "a", "b")
		w.say(ann, "/new")
		posts := w.on(w.on(w.hub.take(), "Other folders …"), "a")
		if err := os.RemoveAll(filepath.Join(home, "a")); err != nil {
			w.Fatal(err)
		}
		if err := os.Symlink("/etc", filepath.Join(home, "a")); err != nil {
			w.Fatal(err)
		}
		w.chat.take()
		w.on(posts, "b")
		w.wantAnswer("There's no folder a/b any more")
		if err := os.Remove(filepath.Join(home, "a")); err != nil {
			w.Fatal(err)
		}
		w.on(posts, "✓ ~/a")
		w.wantAnswer("there is no such folder")
		w.wantPosts()
	})
}
