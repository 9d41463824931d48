package app_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/browsers/browserstest"
	"github.com/panebridge/panebridge/internal/host"
	"github.com/panebridge/panebridge/sessions"
)

// panebridge is a command line that runs panebridge's own in a shell.
func panebridge(t *testing.T, args string) string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return playedCLI + "=1 " + exe + " " + args
}

// ran is what became of a command in a pane.
type ran struct {
	file string
}

// runIn types a command into a shell of the test's tmux server, by tmux: who types there
// isn't of interest. wrap has %s where the command stands.
func (d *daemon) runIn(pane, wrap, command string) ran {
	d.Helper()
	dir, err := os.MkdirTemp(d.dir, "ran")
	if err != nil {
		d.Fatal(err)
	}
	r := ran{filepath.Join(dir, "out")}
	script := filepath.Join(dir, "script")
	text := fmt.Sprintf("{ %s; } >%s.new 2>&1; echo \"exit $?\" >>%s.new; mv %s.new %s\n", command, r.file, r.file, r.file, r.file)
	if err := os.WriteFile(script, []byte(text), 0o600); err != nil {
		d.Fatal(err)
	}
	d.tmux("send-keys", "-t", pane, "-l", fmt.Sprintf(wrap, "sh "+script))
	d.tmux("send-keys", "-t", pane, "Enter")
	return r
}

// said waits until the command has ended, and returns what it printed and its exit code.
func (d *daemon) said(r ran) string {
	d.Helper()
	d.await("end of a command", func() bool { _, err := os.Stat(r.file); return err == nil })
	out, err := os.ReadFile(r.file)
	if err != nil {
		d.Fatal(err)
	}
	return string(out)
}

// shellSession is a session with a shell, and its pane's id.
func (d *daemon) shellSession(name string) (sessions.ID, string) {
	d.Helper()
	s, err := d.api.NewSession(d.ctx(), api.Create{Name: name, Command: []string{"sh"}})
	if err != nil {
		d.Fatal(err)
	}
	return s.ID, d.paneOf(s.ID)
}

// paneOf is the pane of a session of ours.
func (d *daemon) paneOf(id sessions.ID) string {
	d.Helper()
	for line := range strings.Lines(d.tmux("list-panes", "-a", "-F", "#{pane_id} #{@panebridge_id}")) {
		if pane, mark, _ := strings.Cut(strings.TrimSpace(line), " "); mark == string(id) {
			return pane
		}
	}
	d.Fatalf("no pane of %s", id)
	return ""
}

// callPrompt waits for the question about a call from a session's pane.
func (d *daemon) callPrompt(id sessions.ID) api.Prompt {
	d.Helper()
	var found api.Prompt
	d.await("question about a call", func() bool {
		all, err := d.api.Prompts(d.ctx())
		if err != nil {
			d.Fatal(err)
		}
		i := slices.IndexFunc(all, func(p api.Prompt) bool { return p.Session == id && p.Kind == sessions.PromptCall })
		if i >= 0 {
			found = all[i]
		}
		return i >= 0
	})
	return found
}

// asBrowser has the test binary make one request that a browser's key has signed:
// variables say by which key, with which method, to where and with which body.
func asBrowser() {
	key := os.Getenv("PANEBRIDGE_TEST_BROWSER")
	if key == "" {
		return
	}
	signer, err := browserstest.ParseSigner(key)
	if err == nil {
		var status int
		var text string
		status, text, err = signedCall(signer, os.Args[1], os.Args[2], os.Args[3])
		_, _ = fmt.Fprintln(os.Stdout, status, text)
	}
	if err != nil {
		_, _ = fmt.Fprintln(os.Stdout, err)
		os.Exit(1) //nolint:revive // this is a main() then
	}
	os.Exit(0) //nolint:revive // as above
}

func signedCall(s *browserstest.Signer, method, url, body string) (int, string, error) {
	r, err := http.NewRequestWithContext(context.Background(), method, url, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	r.Header.Set("Content-Type", "application/json")
	s.Sign(r)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(text), err
}

// letIn lets a browser in that's begun outside of all panes. base is the page's address
// without the last slash.
func (d *daemon) letIn() (s *browserstest.Signer, base string) {
	d.Helper()
	address, err := d.api.NewAddress(d.ctx())
	if err != nil {
		d.Fatal(err)
	}
	base, token := enterAddress(address.URL)
	s = browserstest.NewSigner()
	s.Now = func() int64 { return time.Now().Unix() }
	status, text, err := enrol(s, base, token)
	if err != nil || status != http.StatusCreated {
		d.Fatalf("%d %s, %v", status, text, err)
	}
	return s, base
}

func enterAddress(url string) (base, token string) {
	address, token, _ := strings.Cut(url, "#")
	base, _, _ = strings.Cut(address, "/new/")
	return base, token
}

// keyBody is a browser's request to be let in.
func keyBody(s *browserstest.Signer, token string) string {
	body, _ := json.Marshal(api.KeyRequest{Token: token, Key: s.PublicKey()})
	return string(body)
}

func enrol(s *browserstest.Signer, base, token string) (int, string, error) {
	status, text, err := signedCall(s, http.MethodPost, base+"/api/v1/page/keys", keyBody(s, token))
	var answer api.KeyAnswer
	if json.Unmarshal([]byte(text), &answer) == nil {
		s.ID, s.Start = answer.ID, answer.Start
	}
	return status, text, err
}

// knowsPeers skips a test where the system doesn't tell whose a connection is.
func knowsPeers(t *testing.T) {
	t.Helper()
	if !host.Knows(host.ConnectionUsers) {
		t.Skip("the system doesn't tell whose a connection is")
	}
}

// A program in a session's pane gets nothing but by somebody's word, whichever way it
// has left the pane's tree, and by socket or port.
func TestProgramsInPanesMayLittle(t *testing.T) {
	slow(t)
	knowsPeers(t)
	d := newDaemon(t)
	id, pane := d.shellSession("worker")
	d.shellSession("other")
	for i, wrap := range []string{
		"%s", "(%s &)", "setsid -f %s", "nohup %s &", "env -i PATH=$PATH %s", "(setsid sh -c '%s' &)",
		"tmux -S " + d.socket + " new-window -d '%s'",
		"tmux -S " + d.socket + " split-window -d env -i sh -c '%s'",
	} {
		q := d.runIn(pane, wrap, "PANEBRIDGE_STATE_DIR="+filepath.Join(d.dir, "state")+" "+panebridge(t, fmt.Sprintf("keys other F%d", i+1)))
		p := d.callPrompt(id)
		if !strings.Contains(p.Title, "press keys") || !strings.Contains(p.Body, "/sessions/other/keys") || !strings.Contains(p.Body, fmt.Sprintf(`{"keys":["F%d"]}`, i+1)) {
			t.Errorf("%s: the question is %q, %q", wrap, p.Title, p.Body)
		}
		if _, err := d.api.Answer(d.ctx(), p.ID, api.AnswerRequest{Option: &api.PromptChoice{Label: "Refuse"}}); err != nil {
			t.Fatal(err)
		}
		if out := d.said(q); !strings.Contains(out, "refused it") || strings.Contains(out, "exit 0") {
			t.Errorf("%s: it said %q", wrap, out)
		}
	}
}

// What the commands do themselves takes somebody's word too in a session's pane: others'
// mail, and fleets. Elsewhere it takes none.
func TestProgramsInPanesSpeakForThemselves(t *testing.T) {
	slow(t)
	knowsPeers(t)
	d := newDaemon(t)
	id, pane := d.shellSession("worker")
	other, _ := d.shellSession("other")
	third, _ := d.shellSession("third")
	fifth, _ := d.shellSession("fifth")
	fourth, _ := d.shellSession("fourth")
	env := "PANEBRIDGE_STATE_DIR=" + filepath.Join(d.dir, "state") + " "
	own := d.userPane()
	if out := d.said(d.runIn(own, "%s", env+panebridge(t, "fleet new first --no-director"))); !strings.Contains(out, "exit 0") {
		t.Fatalf("in the user's own pane: %q", out)
	}
	for _, test := range []struct{ args, title, body string }{
		{"send --from other --to worker --text x", "use another session's mail", string(other)},
		{"poll --from third", "use another session's mail", string(third)},
		{"listen --from fourth --timeout 50ms", "use another session's mail", string(fourth)},
		{"poll --from person:ann", "use a person's mail", "ann"},
		{"fleet new mine", "change a fleet", `{"change":"new","fleet":"mine","sessions":["worker"],"director":true}`},
		{"fleet add first worker --director", "change a fleet", `{"change":"add","fleet":"first","sessions":["worker"],"director":true}`},
		{"fleet remove other", "change a fleet", `{"change":"remove","sessions":["other"]}`},
		{"fleet drop first", "change a fleet", `{"change":"drop","fleet":"first"}`},
	} {
		q := d.runIn(pane, "%s", env+panebridge(t, test.args))
		p := d.callPrompt(id)
		if !strings.Contains(p.Title, test.title) || !strings.Contains(p.Body, test.body) {
			t.Errorf("%s: the question is %q, %q", test.args, p.Title, p.Body)
		}
		if _, err := d.api.Answer(d.ctx(), p.ID, api.AnswerRequest{Option: &api.PromptChoice{Label: "Refuse"}}); err != nil {
			t.Fatal(err)
		}
		if out := d.said(q); !strings.Contains(out, "refused it") {
			t.Errorf("%s: it said %q", test.args, out)
		}
	}
	// Whom the environment names makes no difference.
	q := d.runIn(pane, "%s", env+"PANEBRIDGE_SESSION="+string(fifth)+" "+panebridge(t, "poll"))
	p := d.callPrompt(id)
	if _, err := d.api.Answer(d.ctx(), p.ID, api.AnswerRequest{Option: &api.PromptChoice{Label: "Allow it once"}}); err != nil {
		t.Fatal(err)
	}
	if out := d.said(q); strings.Contains(out, "refused") {
		t.Errorf("it was allowed, and said %q", out)
	}
	for _, args := range []string{"fleet list", "fleet drop first"} {
		if out := d.said(d.runIn(own, "%s", env+panebridge(t, args))); !strings.Contains(out, "exit 0") {
			t.Errorf("in the user's own pane, %s: %q", args, out)
		}
	}
}

// What a program in a session's pane may do is done without a question, and what was
// allowed is done once.
func TestProgramsInPanesMayThis(t *testing.T) {
	slow(t)
	knowsPeers(t)
	d := newDaemon(t)
	id, pane := d.shellSession("worker")
	other, _ := d.shellSession("other")
	env := "PANEBRIDGE_STATE_DIR=" + filepath.Join(d.dir, "state") + " "
	for _, args := range []string{
		"send --to other --text hello", "poll", "notify hello", "members", "listen --timeout 50ms", "ping other",
		"wait other --timeout 50ms", "tail --no-follow worker", "screen worker", "sessions list", "hook claude Stop",
	} {
		out := d.said(d.runIn(pane, "%s", env+panebridge(t, args)))
		if strings.Contains(out, "somebody") || strings.Contains(out, "session's pane") {
			t.Errorf("%s: %q", args, out)
		}
		if args == "sessions list" && (strings.Contains(out, "other") || !strings.Contains(out, "worker")) {
			t.Errorf("it's shown %q", out)
		}
	}
	if all, err := d.api.Prompts(d.ctx()); err != nil || len(all) != 0 {
		t.Errorf("questions %+v, %v", all, err)
	}
	for range 2 {
		r := d.runIn(pane, "%s", env+panebridge(t, "input other 'echo typed-it'"))
		p := d.callPrompt(id)
		if _, err := d.api.Answer(d.ctx(), p.ID, api.AnswerRequest{Option: &api.PromptChoice{N: 1}}); err != nil {
			t.Fatal(err)
		}
		if _, err := d.api.Answer(d.ctx(), p.ID, api.AnswerRequest{Option: &api.PromptChoice{N: 1}}); err == nil {
			t.Error("one question was answered twice")
		}
		if out := d.said(r); !strings.Contains(out, "exit 0") {
			t.Errorf("it said %q", out)
		}
	}
	d.await("what was typed twice", func() bool {
		return strings.Count(strings.Join(d.lines(other), "\n"), "typed-") >= 2
	})
}

// The port is no way round: neither a browser's key nor an address helps in a pane.
func TestThePortIsNoWayOutOfAPane(t *testing.T) {
	slow(t)
	knowsPeers(t)
	d := newDaemon(t)
	_, pane := d.shellSession("worker")
	own := d.userPane()
	signer, base := d.letIn()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	call := func(pane, method, path, body string) string {
		t.Helper()
		return d.said(d.runIn(pane, "%s", fmt.Sprintf("PANEBRIDGE_TEST_BROWSER='%s' %s %s %s '%s'", signer.Text(), exe, method, base+path, body)))
	}
	if out := call(own, "GET", "/api/v1/sessions", ""); !strings.HasPrefix(out, "200 ") {
		t.Errorf("in the user's own pane: %s", out)
	}
	if out := call(pane, "POST", "/api/v1/sessions/worker/keys", `{"keys":["F1"]}`); !strings.HasPrefix(out, "403 ") || !strings.Contains(out, `"inside"`) {
		t.Errorf("in a session's pane: %s", out)
	}
	for where, pane := range map[string]string{"201 ": own, "403 ": pane} {
		address, err := d.api.NewAddress(d.ctx())
		if err != nil {
			t.Fatal(err)
		}
		_, token := enterAddress(address.URL)
		if out := call(pane, "POST", "/api/v1/page/keys", keyBody(browserstest.NewSigner(), token)); !strings.HasPrefix(out, where) {
			t.Errorf("%s: %s", pane, out)
		}
	}
}

// userPane is a shell on the sessions' tmux server that's no session.
func (d *daemon) userPane() string {
	d.Helper()
	d.tmux("new-session", "-d", "-s", "mine", "-x", "200", "-y", "50", "sh")
	return strings.TrimSpace(d.tmux("display-message", "-p", "-t", "mine:", "#{pane_id}"))
}

// Where nobody can be asked, or nobody can see it all, it's refused at once.
func TestWhatCantBeShownIsRefused(t *testing.T) {
	slow(t)
	knowsPeers(t)
	d := newDaemon(t)
	_, pane := d.shellSession("worker")
	d.shellSession("other")
	env := "PANEBRIDGE_STATE_DIR=" + filepath.Join(d.dir, "state") + " "
	if out := d.said(d.runIn(pane, "%s", env+panebridge(t, "input other "+strings.Repeat("x", 1200)))); !strings.Contains(out, "too long to be shown") {
		t.Errorf("it said %q", out)
	}
}

// An agent that directs a fleet is told what its members are doing, which only the daemon knows.
func TestMembersStatesAreToldInAPane(t *testing.T) {
	slow(t)
	knowsPeers(t)
	d := newDaemon(t)
	lead, pane := d.shellSession("lead")
	other, otherPane := d.shellSession("other")
	db, _ := mailOf(d)
	for _, err := range []error{db.AddFleet(d.ctx(), "web", lead, time.Now()), db.AddMember(d.ctx(), "web", other, false, time.Now())} {
		if err != nil {
			t.Fatal(err)
		}
	}
	shows := func(state sessions.State) {
		t.Helper()
		d.await("the state "+string(state), func() bool {
			s, err := d.api.Session(d.ctx(), string(other))
			return err == nil && s.State == state
		})
		out := d.said(d.runIn(pane, "%s", "PANEBRIDGE_STATE_DIR="+filepath.Join(d.dir, "state")+" "+panebridge(t, "members")))
		if !regexp.MustCompile(`other +` + string(other) + ` +member +` + string(state)).MatchString(out) {
			t.Errorf("a member that's %s is shown as\n%s", state, out)
		}
	}
	shows(sessions.StateIdle)
	d.tmux("send-keys", "-t", otherPane, "while :; do date +%N; sleep 0.1; done", "Enter")
	shows(sessions.StateWorking)
}
