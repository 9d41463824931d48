package tmux_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/sessions"
	"github.com/panebridge/panebridge/sessions/tmux"
)

// recorder is a pane whose program keeps every byte that it reads.
type recorder struct {
	*stand
	pane, file string
	ends       int
	read       int
}

func (st *stand) recorder() *recorder {
	st.t.Helper()
	r := &recorder{stand: st, file: st.newFile()}
	r.pane = st.pane("recorder", "stty raw -echo; echo ready; exec cat >'"+r.file+"'")
	st.await("recorder", st.shows(r.pane, "ready"))
	return r
}

// since is what was read since it was asked last.
func (r *recorder) since() []byte {
	r.t.Helper()
	r.ends++
	end := "<end " + itoa(r.ends) + ">"
	if out, err := r.client.Paste(r.ctx(), sessions.PaneGuard{Pane: r.pane}, end); out != sessions.Done || err != nil {
		r.t.Fatalf("%s, %v", out, err)
	}
	var all []byte
	r.await(end, func() bool {
		all, _ = os.ReadFile(r.file)
		return bytes.HasSuffix(all, []byte(end))
	})
	got := all[r.read : len(all)-len(end)]
	r.read = len(all)
	return got
}

func (r *recorder) pastes(text string) {
	r.t.Helper()
	what := fmt.Sprintf("%.60q", text)
	out, err := r.client.Paste(r.ctx(), sessions.PaneGuard{Pane: r.pane}, text)
	if out != sessions.Done || err != nil {
		r.t.Errorf("%s: %s, %v", what, out, err)
	}
	if got := r.since(); string(got) != text {
		r.t.Errorf("%s: the program read %.60q", what, got)
	}
	r.quiet(what)
}

// What's pasted is read as it is, byte by byte.
func TestTextIsReadAsItWasPasted(t *testing.T) {
	t.Parallel()
	r := newStand(t).recorder()
	for _, text := range quick(hostile) {
		r.pastes(text)
	}
	r.pastes(strings.Repeat("#(pwn);'\"~$HOME\n\xff", 4000))
	if testing.Short() {
		return
	}
	drawtest.CheckTimes(t, drawtest.Times(1000, 40, 20), func(rt *rapid.T) {
		text := anyText().Draw(rt, "text")
		r.pastes(text)
		if t.Failed() {
			rt.Fatalf("%q", text)
		}
	})
}

// tmux has no way to take NUL, and would paste what's before it.
func TestTextWithNULIsRefused(t *testing.T) {
	t.Parallel()
	r := newStand(t).recorder()
	if out, err := r.client.Paste(r.ctx(), sessions.PaneGuard{Pane: r.pane}, "rm -rf x\x00/y"); !errors.Is(err, sessions.ErrInvalid) {
		t.Errorf("%s, %v", out, err)
	}
	if got := r.since(); len(got) > 0 {
		t.Errorf("the program read %q", got)
	}
}

// A key that's one character is that character. What's no key of tmux's runs nothing.
func TestKeysAreReadAsTheyWerePressed(t *testing.T) {
	t.Parallel()
	r := newStand(t).recorder()
	press := func(keys ...string) {
		t.Helper()
		if out, err := r.client.Press(r.ctx(), sessions.PaneGuard{Pane: r.pane}, keys...); out != sessions.Done || err != nil {
			t.Errorf("%q: %s, %v", keys, out, err)
		}
	}
	var all []string
	for c := rune('!'); c < 0x7f; c++ {
		all = append(all, string(c))
	}
	all = append(all, "é", "日", "👍")
	press(all...)
	if got := r.since(); string(got) != strings.Join(all, "") {
		t.Errorf("pressed %q, and the program read %q", all, got)
	}
	for _, key := range all {
		press(key)
		if got := r.since(); string(got) != key {
			t.Errorf("pressed %q, and the program read %q", key, got)
		}
	}
	for _, text := range quick(hostile) {
		_, _ = r.client.Press(r.ctx(), sessions.PaneGuard{Pane: r.pane}, text)
		r.since()
		r.quiet(text)
	}
}

// phraseFor is a regular expression for a text, as a profile might have it.
func phraseFor(text string) string {
	return regexp.MustCompile(`[.*+?()|{}\[\]$\\^]`).ReplaceAllStringFunc(text, func(c string) string {
		if c == "^" || c == "\\" {
			return "\\" + c
		}
		return "[" + c + "]"
	})
}

// shown are the texts that a row can show as they are.
func shown(texts []string) []string {
	return slices.DeleteFunc(slices.Clone(texts), func(text string) bool {
		return !utf8.ValidString(text) || strings.TrimSpace(text) != text || strings.ContainsFunc(text, func(c rune) bool {
			return !unicode.IsGraphic(c) || unicode.IsMark(c)
		})
	})
}

// A phrase is found if it's on the screen, and only then, whatever it's made of.
func TestGuardKnowsPhrases(t *testing.T) {
	t.Parallel()
	st := newStand(t)
	sc := st.screen([]string{"begin"})
	outcome := func(phrase string) sessions.GuardOutcome {
		t.Helper()
		saw := sc.snapshot(sc.pane)
		out, err := sc.client.Press(sc.ctx(), sessions.PaneGuard{Pane: sc.pane, Saw: &saw, Phrases: []string{"is not there", phrase}}, "y")
		if err != nil {
			t.Errorf("%q: %v", phrase, err)
		}
		return out
	}
	look := func(text string) {
		t.Helper()
		rows := []string{"above", "it has <" + text + "> in it"}
		if !sc.has(rows) {
			sc.draw(rows)
		}
		if out := outcome("<" + phraseFor(text) + ">"); out != sessions.Held {
			t.Errorf("%q is on the screen: %s", text, out)
		}
		if out := outcome("<" + phraseFor(text) + "!>"); out != sessions.Done {
			t.Errorf("%q! isn't on the screen: %s", text, out)
		}
		st.quiet(text)
	}
	for _, text := range quick(shown(hostile)) {
		look(text)
	}
	if !testing.Short() {
		drawtest.CheckTimes(t, drawtest.Times(1000, 40, 20), func(rt *rapid.T) {
			text := anyText().Filter(func(s string) bool { return len(shown([]string{s})) == 1 }).Draw(rt, "text")
			look(text)
			if t.Failed() {
				rt.Fatalf("%q", text)
			}
		})
	}
	sc.draw([]string{"above", "a#1 b,c} 50% ]x [y] aab"})
	for phrase, want := range map[string]sessions.GuardOutcome{
		"a#[0-9]": sessions.Held, "a#[2-9]": sessions.Done, "a[#,}%]1": sessions.Held, "b[^#]c": sessions.Held, "b[^#,]c": sessions.Done, "[]#]x": sessions.Held,
		"[[:digit:]#]%": sessions.Held, "5[%0]%": sessions.Held, "50%|60%": sessions.Held, "60%": sessions.Done, "a{2}b": sessions.Held, "a{3}b": sessions.Done, "c} 5": sessions.Held, "#[[:digit:]] b": sessions.Held,
	} {
		if out := outcome(phrase); out != want {
			t.Errorf("%s: %s, not %s", phrase, out, want)
		}
	}
	if out := outcome(strings.Repeat("%x|", 9000) + "50%"); out != sessions.Held { // more than strftime has room for
		t.Errorf("with phrases that are too long: %s", out)
	}
}

// A title is seen to be the same, whatever it's made of.
func TestGuardKnowsTitles(t *testing.T) {
	t.Parallel()
	st := newStand(t)
	file := st.newFile()
	p := st.pane("titles", "stty raw -echo; while head -c 1 >/dev/null; do cat '"+file+"'; done")
	for i, text := range quick(hostile) {
		if !utf8.ValidString(text) || strings.ContainsFunc(text, func(c rune) bool { return !unicode.IsGraphic(c) }) {
			continue // tmux takes no such title
		}
		end := " " + itoa(i)
		if err := os.WriteFile(file, []byte("\033]2;"+text+end+"\007"), 0o600); err != nil {
			t.Fatal(err)
		}
		st.tmux("send-keys", "-t", p, "x")
		var saw sessions.Snapshot
		st.await("title "+text, func() bool { saw = st.snapshot(p); return strings.HasSuffix(saw.Title, end) })
		if saw.Title != text+end {
			t.Errorf("title %q is read as %q", text+end, saw.Title)
		}
		if out, err := st.client.Press(st.ctx(), sessions.PaneGuard{Pane: p, Saw: &saw}, "Escape"); out != sessions.Done || err != nil {
			t.Errorf("title %q: %s, %v", text, out, err)
		}
		st.quiet(text)
	}
}

// panes is what's listed, by the panes' ids.
func (st *stand) panes() map[string]sessions.PaneInfo {
	st.t.Helper()
	list, err := st.client.Panes(st.ctx())
	if err != nil {
		st.t.Fatal(err)
	}
	out := map[string]sessions.PaneInfo{}
	for _, p := range list {
		out[p.ID] = p
	}
	if want := len(strings.Fields(st.tmux("list-panes", "-a", "-F", "#{pane_id}"))) - 1; len(list) != want || len(out) != want { // without the hidden one
		st.t.Errorf("%d panes are listed, of %d", len(list), want)
	}
	return out
}

// Sessions of others, their folders, programs and options are called as they like.
func TestPanesOfOthersAreListedAsTheyAre(t *testing.T) {
	t.Parallel()
	st := newStand(t)
	for i, text := range quick(hostile) {
		folder, ok := st.folderOf(text)
		if !ok {
			folder = st.dir
		}
		program := filepath.Join(st.mkdir(t, filepath.Join(st.dir, "programs")), strings.ReplaceAll(text, "/", "_"))
		if err := os.Symlink(st.self, program); err != nil {
			t.Fatal(err)
		}
		file := st.newFile()
		info, err := st.client.Create(st.ctx(), "pb_000000000001", sessions.PaneRequest{
			Session: "other" + itoa(i), Width: 80, Height: 24, HistoryLimit: 100, Cwd: folder, Env: []string{witnessFile + "=" + file}, Command: []string{program},
		})
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		st.heard(file)
		st.tmux("rename-session", "-t", "=other"+itoa(i), "--", argument(strings.ReplaceAll(text, "#", "##")+"x"))
		name := strings.TrimSuffix(st.raw("display-message", "-p", "-t", info.ID, "#{session_name}"), "\n")
		st.tmux("set-option", "-p", "-t", info.ID, "--", "@panebridge_id", argument(text))
		p := st.panes()[info.ID]
		if p.Session != name || p.Mark != "" || p.Dead || p.PID != info.PID {
			t.Errorf("%q: %+v, in session %q", text, p, name)
		}
		if lost := strings.ContainsFunc(folder, func(c rune) bool { return c < ' ' && c != '\n' || c == 0x7f }); lost && p.Cwd != "" || !lost && p.Cwd != folder {
			t.Errorf("in %q: it's listed in %q", folder, p.Cwd)
		}
		st.quiet(text)
		if err := st.client.Kill(st.ctx(), info.ID); err != nil {
			t.Error(err)
		}
	}
}

// raw is what a tmux process prints, to the byte.
func (st *stand) raw(args ...string) string {
	st.t.Helper()
	out, err := st.command(args...).CombinedOutput()
	if err != nil {
		st.t.Fatalf("tmux %q: %v: %s", args, err, out)
	}
	return string(out)
}

// argument is a text as an argument of a tmux process.
func argument(text string) string {
	if before, ok := strings.CutSuffix(text, ";"); ok {
		return before + `\;`
	}
	return text
}

// What isn't a pane's id is no pane, and what can't be a name isn't one.
func TestWhatIsNoNameIsRefused(t *testing.T) {
	t.Parallel()
	st := newStand(t)
	p := st.pane("there", "exec cat")
	variable := regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=`)
	plain := regexp.MustCompile(`^[A-Za-z0-9_-]+$`)
	for _, text := range append(quick(hostile), "", p+" ", p+"\n", p+" ; run-shell pwn", "%", "%999999999999") {
		if text == "%1" { // which is one
			continue
		}
		g := sessions.PaneGuard{Pane: text}
		_, pasted := st.client.Paste(st.ctx(), g, "x")
		_, pressed := st.client.Press(st.ctx(), g, "x")
		_, snapshot := st.client.Snapshot(st.ctx(), text, sessions.RowWindow{})
		_, saved := st.client.SavedScreen(st.ctx(), text, 1)
		_, screen := st.client.Screen(st.ctx(), text)
		for what, err := range map[string]error{
			"paste": pasted, "press": pressed, "snapshot": snapshot, "saved screen": saved, "screen": screen,
			"mark": st.client.Mark(st.ctx(), text, "pb_1"), "unmark": st.client.Mark(st.ctx(), text, ""), "respawn": st.client.Respawn(st.ctx(), text, sessions.PaneRequest{}),
		} {
			if !errors.Is(err, tmux.ErrNoPane) {
				t.Errorf("%s at pane %q: %v", what, text, err)
			}
		}
		if err := st.client.Kill(st.ctx(), text); err != nil {
			t.Errorf("kill pane %q: %v", text, err)
		}
		req, _ := st.request("x")
		if req.Session = text; !plain.MatchString(text) {
			_, err := st.client.Create(st.ctx(), "pb_000000000001", req)
			if !errors.Is(err, sessions.ErrInvalid) {
				t.Errorf("create session %q: %v", text, err)
			}
		}
		req, _ = st.request("x")
		if _, err := st.client.Create(st.ctx(), sessions.ID(text), req); !errors.Is(err, sessions.ErrInvalid) {
			t.Errorf("create a session with id %q: %v", text, err)
		}
		req.Env = append(req.Env, text+"=x")
		if _, err := st.client.Create(st.ctx(), "pb_000000000001", req); !errors.Is(err, sessions.ErrInvalid) && !variable.MatchString(text+"=x") {
			t.Errorf("create a session with the variable %q: %v", text, err)
		}
		st.quiet(text)
	}
	for _, names := range []string{"-", "--", "-x", "_", "0", "a-"} { // which are names
		req, file := st.request("x")
		req.Session = names
		if _, err := st.client.Create(st.ctx(), "pb_000000000001", req); err != nil {
			t.Errorf("create session %q: %v", names, err)
			continue
		}
		st.heard(file)
		st.tmux("has-session", "-t", "="+names)
	}
}
