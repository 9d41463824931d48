package tmux_test

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/sessions"
)

func itoa(n int) string { return strconv.Itoa(n) }

// hostile are texts that have a meaning in one of tmux's languages or in the shell's: its
// formats and strftime, its command lines and their conditions, targets, options.
var hostile = []string{
	// formats
	"#(pwn)", "##(pwn)", "###(pwn)", "#{l:#(pwn)}", "#{E:#(pwn)}", "#{?1,#(pwn),}", "#{pane_id}", "#{", "#(pwn", "C#Samples", "a##b", "##", "#", "###", "a#",
	"#[fg=red]", "##[fg=red]", "#[#(pwn)]", "#,", "#}", ",", "}", "#S", "#{@x}", "|", "a|b|c",
	// strftime
	"%H", "100%", "%%", "%n", "%1 %", "%s",
	// command lines
	"%if 1", "%if #(pwn)", "%endif", "%begin 1 1 1", "%exit", `"`, `'`, `"'`, `"; run-shell pwn; "`, `'; run-shell pwn; '`, `\"; run-shell pwn; \"`, ";", "a;", `a\;`, ";;", "; run-shell pwn",
	"{ run-shell pwn }", "{", "} ; run-shell pwn", "a\nb", "\n", "a\n", "a\nrun-shell pwn\n", "\n%if 1\nrun-shell pwn\n%endif\n", "\r", "a\r\nrun-shell pwn\r\n", "# a comment",
	"~", "~root", "~nobody-there", "a~", "$HOME", "${HOME}", "$", "$X", "A=1", `\`, `\\`, `a\`, `\n`, `\e[31m`, `\u0041`, `\101`, `\9`, `\$HOME`, `\~`,
	// options and targets
	"-", "--", "-c", "-t", "-k", "=first:", "{last}", "@1", "$1", "%1", ":.", "first", "!", "+",
	// shells
	"$(pwn)", "`pwn`", "&& pwn", "| pwn", "; pwn", "a & pwn", "*", "?", "[a-z]", "!!", "> x", "(pwn)", " ", " a  b ", "\t", "\ta\t",
	// characters
	"\x01", "\x1b", "\x1b[31m", "\x1b]2;x\x07", "\x7f", "\x9b", "\u009b", "\xff", "a\xffb", "a\xff ; run-shell pwn ; display-message \"", "\xfe\xff", "\xc3(", "\xed\xa0\x80", "é日本👍", "\u202eabc", "\u2028", "\ufeff", "\u0301",
}

// parts are what texts are drawn from.
var parts = []string{
	"#(pwn)", "#{pane_id}", "#{", "#(", "#[", "#", "#", "##", ",", "}", "{", "]", "[", "(", ")", "%if", "%H", "%", "%%", "\"", "'", "\\", ";", " ; run-shell pwn ; ", "\n", "\nrun-shell pwn\n",
	"\r", "\t", " ", "-", "-t", "~", "~root", "$", "$HOME", "$(pwn)", "`pwn`", "=", ":", ".", "|", "&", "<", ">", "*", "?", "!", "a", "b", "0", "n", "e", "é", "日", "\xff", "\xc3", "\x1b", "\x01", "\x7f", "\x9b",
}

func anyText() *rapid.Generator[string] {
	return rapid.Map(rapid.SliceOfN(rapid.SampledFrom(parts), 1, 10), func(all []string) string { return strings.Join(all, "") })
}

// quick keeps a few texts where all of them would take more than a second or two.
func quick(texts []string) []string {
	if testing.Short() {
		return few(texts)
	}
	return texts
}

func few(texts []string) []string {
	var out []string
	for i := 0; i < len(texts); i += 12 {
		out = append(out, texts[i])
	}
	return out
}

// folderOf makes a folder of that name; false: no folder can be called so.
func (st *stand) folderOf(name string) (string, bool) {
	if name == "" || name == "." || name == ".." || len(name) > 200 || strings.ContainsAny(name, "/\x00") {
		return "", false
	}
	return st.mkdir(st.t, filepath.Join(st.dir, "folders", name)), true
}

// request asks for a witness with a text wherever there's place for one.
func (st *stand) request(text string) (req sessions.PaneRequest, file string) {
	st.t.Helper()
	file = st.newFile()
	req = sessions.PaneRequest{
		Session: "literal" + itoa(st.calls), Width: 80, Height: 24, HistoryLimit: 100,
		Env:     []string{witnessFile + "=" + file, "LITERAL=" + text},
		Command: []string{st.self, text, "-" + text, text + text},
	}
	if req.Cwd, _ = st.folderOf(text); req.Cwd == "" {
		req.Cwd = st.dir
	}
	return req, file
}

// agrees compares what a program was started with to what was asked for.
func (st *stand) agrees(how string, req sessions.PaneRequest, w testimony) {
	st.t.Helper()
	if string(w.Folder) != req.Cwd {
		st.t.Errorf("%s: the program is in %q, not in %q", how, w.Folder, req.Cwd)
	}
	if pwd, _ := w.env("PWD"); pwd != req.Cwd {
		st.t.Errorf("%s: PWD is %q in %q", how, pwd, req.Cwd)
	}
	if !w.has(req.Command[1:]) {
		st.t.Errorf("%s: its arguments are %q, not %q", how, w.Arguments, req.Command[1:])
	}
	for _, kv := range req.Env {
		name, want, _ := strings.Cut(kv, "=")
		if got, ok := w.env(name); !ok || got != want {
			st.t.Errorf("%s: %s is %q, not %q", how, name, got, want)
		}
	}
	for _, kv := range w.Env {
		if name, _, _ := strings.Cut(string(kv), "="); name == "PANEBRIDGE_FOLDER" || name == "OLDPWD" {
			st.t.Errorf("%s: it was given %s as well", how, name)
		}
	}
}

// starts makes a pane with a text wherever there's place for one, starts its program anew,
// and again with the command that tmux has kept.
func (st *stand) starts(text string) {
	st.t.Helper()
	what := fmt.Sprintf("%.60q", text)
	req, file := st.request(text)
	info, err := st.client.Create(st.ctx(), "pb_000000000001", req)
	if err != nil {
		st.t.Errorf("%s: create: %v", what, err)
		return
	}
	st.agrees(what+", created", req, st.heard(file))
	again, file := st.request(text)
	if err := st.client.Respawn(st.ctx(), info.ID, again); err != nil {
		st.t.Errorf("%s: respawn: %v", what, err)
		return
	}
	st.agrees(what+", respawned", again, st.heard(file))
	kept, file := st.request(text)
	command := kept.Command
	kept.Command = nil
	if err := st.client.Respawn(st.ctx(), info.ID, kept); err != nil {
		st.t.Errorf("%s: respawn with the command that was kept: %v", what, err)
		return
	}
	kept.Command = command
	st.agrees(what+", respawned with the command that was kept", kept, st.heard(file))
	if err := st.client.Kill(st.ctx(), info.ID); err != nil {
		st.t.Error(err)
	}
	st.quiet(what)
}

// A program is started in its folder, with its arguments and its environment, as they were
// given; nothing else runs.
func TestProgramsAreStartedWithWhatWasGiven(t *testing.T) {
	t.Parallel()
	st := newStand(t)
	for _, text := range quick(hostile) {
		st.starts(text)
	}
	st.starts("")
	st.starts(strings.Repeat("#(pwn);'\"\n", 4000)) // more than tmux takes by its socket
	t.Logf("%d programs were started", st.calls)
}

func TestProgramsAreStartedWithWhatWasDrawn(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("forty texts")
	}
	st := newStand(t)
	drawtest.CheckTimes(t, drawtest.Times(1000, 40, 20), func(rt *rapid.T) {
		text := anyText().Draw(rt, "text")
		st.starts(text)
		if t.Failed() {
			rt.Fatalf("%q", text)
		}
	})
	t.Logf("%d programs were started", st.calls)
}

// The canary is of use: it's made where a text does run. It's one for all tests, so none runs
// beside this one.
func TestCanarySings(t *testing.T) {
	t.Cleanup(func() { _ = os.Remove(canary) }) // once the server is gone
	st := newStand(t)
	cmd := exec.Command("tmux", "-S", st.socket, "-C", "attach", "-t", "=first") // what a client's formats run ends with it
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(in, "new-window -d -c '#(pwn)' 'exec cat'\n"); err != nil {
		t.Fatal(err)
	}
	st.await("canary", func() bool { _, err := os.Stat(canary); return err == nil })
	_ = in.Close()
	_ = cmd.Wait()
}
