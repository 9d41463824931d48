package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/sessions"
)

// appServer is a stand-in for Codex' app server that's as strict as that of 0.169.0, and
// stricter where a client could do harm.
type appServer struct {
	*testing.T
	home string

	mu      sync.Mutex
	agent   string             // how it calls itself
	loaded  []string           // conversations
	open    map[int]servedCall // what it asks
	lastID  int                // of what it asked
	conns   map[*websocket.Conn]*sync.Mutex
	joined  int            // connections that joined a conversation, ever
	answers []servedAnswer // what it was told, in its order
}

type servedCall struct{ thread, command string }

type servedAnswer struct {
	id   int
	word string
	call servedCall
}

const ourThread, otherThread = "01a20933-3886-7312-93c2-d53390fb9bbd", "01a20939-8c5d-7bd3-a505-d4b18ca166cb"

func newAppServer(t *testing.T) *appServer {
	t.Helper()
	home, err := os.MkdirTemp("", "cx") // a socket's path has to be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	s := &appServer{
		T: t, home: home, agent: "codex-tui/0.169.0 (Debian 12.0.0; x86_64) tmux-256color (panebridge; 1)", loaded: []string{otherThread, ourThread},
		open: map[int]servedCall{}, conns: map[*websocket.Conn]*sync.Mutex{},
	}
	path := codexSocket(map[string]string{"CODEX_HOME": home})
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(home, "real")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(socket, path); err != nil { // as Codex has it
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(s.serve), ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(l) }()
	t.Cleanup(func() { _ = server.Close(); s.drop() })
	return s
}

func (s *appServer) serve(w http.ResponseWriter, r *http.Request) {
	conn, err := (&websocket.Upgrader{}).Upgrade(w, r, nil)
	if err != nil {
		return
	}
	defer conn.Close()
	writing, known, joined := &sync.Mutex{}, false, false
	send := func(text string) {
		writing.Lock()
		defer writing.Unlock()
		_ = conn.WriteMessage(websocket.TextMessage, []byte(text))
	}
	for {
		var m serverMessage
		if conn.ReadJSON(&m) != nil {
			s.mu.Lock()
			delete(s.conns, conn)
			s.mu.Unlock()
			return
		}
		switch {
		case m.Method == "initialize":
			known = true
			s.mu.Lock()
			send(fmt.Sprintf(`{"id":%s,"result":{"userAgent":%q,"codexHome":%q}}`, m.ID, s.agent, s.home))
			s.mu.Unlock()
			send(`{"method":"configWarning","params":{"summary":"nothing"}}`)
		case !known:
			s.Errorf("%s comes before initialize", m.Method)
		case m.Method == "initialized":
		case m.Method == "thread/loaded/list": // a page has one
			var p struct{ Cursor string }
			_ = json.Unmarshal(m.Params, &p)
			s.mu.Lock()
			i := slices.Index(s.loaded, p.Cursor) + 1
			page, next := "", "null"
			if i < len(s.loaded) {
				page = fmt.Sprintf("%q", s.loaded[i])
			}
			if i+1 < len(s.loaded) {
				next = page
			}
			s.mu.Unlock()
			send(fmt.Sprintf(`{"id":%s,"result":{"data":[%s],"nextCursor":%s}}`, m.ID, page, next))
		case m.Method == "thread/resume":
			var p struct {
				Thread string `json:"threadId"`
				Bare   bool   `json:"excludeTurns"`
			}
			_ = json.Unmarshal(m.Params, &p)
			s.mu.Lock()
			if p.Thread != ourThread || !p.Bare || !slices.Contains(s.loaded, p.Thread) {
				s.Errorf("it's told to resume %s", m.Params)
			}
			joined = true
			s.joined++
			s.conns[conn] = writing
			send(fmt.Sprintf(`{"id":%s,"result":{"thread":{"id":%q}}}`, m.ID, p.Thread))
			for id, c := range s.open {
				send(c.asked(id))
			}
			s.mu.Unlock()
		case m.Method == "" && joined:
			s.told(m)
		default:
			s.Errorf("a message that there isn't: %s %s", m.Method, m.Params)
		}
	}
}

func (c servedCall) asked(id int) string {
	command, _ := json.Marshal(c.command)
	return fmt.Sprintf(`{"method":"item/commandExecution/requestApproval","id":%d,"params":{"kind":"command","threadId":%q,"itemId":"call_%d","reason":"because","command":%s,"commandActions":[{"type":"unknown","command":%s}],"availableDecisions":["accept",{"acceptWithExecpolicyAmendment":{}},"cancel"]}}`, id, c.thread, id, command, command)
}

// told takes in an answer, as the first that counts.
func (s *appServer) told(m serverMessage) {
	var id int
	var r struct{ Decision string }
	if json.Unmarshal(m.ID, &id) != nil || json.Unmarshal(m.Result, &r) != nil || r.Decision != "accept" && r.Decision != "cancel" {
		s.Errorf("an answer that there isn't: %s %s", m.ID, m.Result)
	}
	s.mu.Lock()
	call, open := s.open[id]
	if open {
		s.answers = append(s.answers, servedAnswer{id, r.Decision, call})
	}
	s.mu.Unlock()
	if open {
		s.resolve(id)
	}
}

func (s *appServer) all(text string) {
	for conn, writing := range s.conns {
		writing.Lock()
		_ = conn.WriteMessage(websocket.TextMessage, []byte(text))
		writing.Unlock()
	}
}

func (s *appServer) ask(c servedCall) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lastID++
	s.open[s.lastID] = c
	s.all(c.asked(s.lastID))
	return s.lastID
}

// resolve says that a question is answered.
func (s *appServer) resolve(id int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.open[id]
	delete(s.open, id)
	s.all(fmt.Sprintf(`{"method":"serverRequest/resolved","params":{"threadId":%q,"requestId":%d}}`, c.thread, id))
}

func (s *appServer) drop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for conn := range s.conns {
		_ = conn.Close()
	}
	clear(s.conns)
}

// linked is a session of Codex whose app server is the stand-in.
type linked struct {
	*appServer
	w *Watchers
	o *Observer
}

func newLinked(t *testing.T) *linked {
	t.Helper()
	s := newAppServer(t)
	h := newHost(t)
	process := h.run(1, 0, h.now.Add(-time.Minute))
	process.Name, process.Environ = "codex", func() map[string]string { return map[string]string{"CODEX_HOME": s.home} }
	h.running[1] = process
	l := &linked{appServer: s, w: h.w, o: h.pane(1).o}
	l.o.known.dialogs = h.w.opt.Profiles.Get("codex")
	l.o.known.serving = serving{pid: process.PID, started: process.Started, thread: ourThread}
	return l
}

// run runs the watchers until the test ends, or end is called.
func (l *linked) run() (end func()) {
	ctx, cancel := context.WithCancel(l.Context())
	done := make(chan error, 1)
	go func() { done <- l.w.Run(ctx) }()
	var once sync.Once
	end = func() {
		once.Do(func() {
			cancel()
			if err := <-done; err != nil {
				l.Error(err)
			}
		})
	}
	l.Cleanup(end)
	return end
}

func (l *linked) until(what string, ok func() bool) {
	l.Helper()
	for end := time.Now().Add(time.Minute); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			l.Fatalf("no %s within a minute", what)
		}
	}
}

// knows are the ids of what the session knows to be asked.
func (l *linked) knows() []string {
	l.o.known.mu.Lock()
	defer l.o.known.mu.Unlock()
	return l.knowsLocked()
}

func (l *linked) knowsLocked() (ids []string) {
	for _, c := range l.o.known.calls {
		if c.served {
			ids = append(ids, c.requests...)
		}
	}
	slices.Sort(ids)
	return ids
}

// heard waits until the session knows all that's asked of it, and nothing else.
func (l *linked) heard() {
	l.Helper()
	l.until("hearing", func() bool {
		l.mu.Lock()
		var want []string
		for id, c := range l.open {
			if c.thread == ourThread {
				want = append(want, fmt.Sprint(id))
			}
		}
		l.mu.Unlock()
		slices.Sort(want)
		return slices.Equal(want, l.knows())
	})
	l.o.known.mu.Lock()
	defer l.o.known.mu.Unlock()
	if len(l.o.known.calls) != len(l.knowsLocked()) {
		l.Fatalf("%d calls wait for an answer, and the server asks about %d", len(l.o.known.calls), len(l.knowsLocked()))
	}
}

// dialog is how Codex draws the question about a command, with what its record says.
func (l *linked) dialog(command string) *sessions.Dialog {
	return l.o.recorded(&sessions.Dialog{
		Kind: sessions.PromptPermission, Form: "permission", Title: "Would you like to run the following command?", Body: "$ " + command, Command: true, Print: "print of " + command,
		Drawn: strings.Split(command, "\n"), Options: []sessions.DialogOption{{Label: "Yes, proceed"}, {Label: "Yes, and don't ask again"}, {Label: "No, and tell Codex what to do differently", Refuses: true}},
	})
}

// An app server asks, drawn at random: the same twice, of another conversation, over
// connections that break, with hooks that tell of the same; and people answer from here and at
// the keyboard. The server is told what was decided about the very call, once, and nothing
// about what isn't asked any more.
func TestAServerIsToldWhatWasDecided(t *testing.T) {
	steps, drops := 400, 2
	if drawtest.Stressed() {
		steps, drops = 20_000, 4 // after each it waits longer
	}
	r := drawtest.Rand(t, 0)
	l := newLinked(t)
	end := l.run()
	l.until("connection", func() bool { l.mu.Lock(); defer l.mu.Unlock(); return l.joined == 1 })
	commands := []string{"make test", "make test && make install", "rm -rf build", "cat > x <<'X'\nDo it\nX", "echo 漢字"}
	count := map[string]int{}
	for range steps {
		command := commands[r.IntN(len(commands))]
		l.mu.Lock()
		if ids := slices.Sorted(maps.Keys(l.open)); len(ids) > 0 && r.IntN(3) > 0 {
			command = l.open[ids[r.IntN(len(ids))]].command
		}
		var open, others []int
		for id, c := range l.open {
			if c.thread == otherThread {
				others = append(others, id)
			}
			if c.command == command && c.thread == ourThread {
				open = append(open, id)
			}
		}
		told, all := len(l.answers), len(l.open)
		l.mu.Unlock()
		slices.Sort(open)
		slices.Sort(others)
		switch n := r.IntN(100); {
		case n < 35 && all < 6:
			call := servedCall{ourThread, command}
			if r.IntN(5) == 0 {
				call.thread = otherThread
			}
			if r.IntN(4) == 0 && call.thread == ourThread { // a hook tells of it first, as Codex has it
				input, _ := json.Marshal(map[string]string{"command": command, "description": "because"})
				l.o.takeHook(Hook{Agent: "codex", Event: "PermissionRequest", Signal: Asking, Tool: "Bash", Text: command, Input: input})
			}
			l.ask(call)
		case n < 85:
			option, word := 0, "accept"
			if r.IntN(2) == 0 {
				option, word = 2, "cancel"
			}
			d := l.dialog(command)
			l.o.tellWaitingHooks(d)
			if r.IntN(6) == 0 { // what else is on the screen has gone, for a moment
				l.o.tellWaitingHooks(nil)
				l.o.noteDialogGone(d)
				l.o.noteDialogGone(nil)
			}
			done := l.w.Decide(l.Context(), l.o.session.ID, d, sessions.Answer{Options: []int{option}}) == sessions.DecidedHere
			if done != (len(open) == 1) {
				t.Fatalf("%q is asked %d times, and answered: %t; %+v", command, len(open), done, d)
			}
			if again := l.w.Decide(l.Context(), l.o.session.ID, d, sessions.Answer{Options: []int{option}}) == sessions.DecidedHere; again {
				t.Fatalf("%q is answered twice", command)
			}
			if done {
				count[word]++
				l.until("answer", func() bool { l.mu.Lock(); defer l.mu.Unlock(); return len(l.answers) > told })
				l.mu.Lock()
				if got := l.answers[len(l.answers)-1]; len(l.answers) != told+1 || got.id != open[0] || got.word != word {
					t.Fatalf("it's told %+v, want %s of %d", got, word, open[0])
				}
				l.mu.Unlock()
			} else {
				count["left to keys"]++
			}
		case n < 97:
			if len(open) > 0 {
				l.resolve(open[r.IntN(len(open))])
				count["by keys"]++
			}
			if len(others) > 0 {
				l.resolve(others[0])
			}
		case n < 98 && drops > 0:
			drops--
			count["broken connections"]++
			l.mu.Lock()
			was := l.joined
			l.mu.Unlock()
			l.drop()
			l.until("connection", func() bool { l.mu.Lock(); defer l.mu.Unlock(); return l.joined > was })
		case n < 99:
			l.mu.Lock()
			l.all([]string{
				`{"id":7}`, `[]`, `nonsense`, `{"method":"item/commandExecution/requestApproval","id":900,"params":null}`, `{"method":"serverRequest/resolved","params":{"threadId":"` + ourThread + `","requestId":{}}}`,
				`{"method":"item/tool/call","id":901,"params":{"threadId":"` + ourThread + `"}}`, `"` + strings.Repeat("x", maxServerMessage) + `"`,
			}[r.IntN(7)])
			l.mu.Unlock()
			count["oddities"]++
		default:
			l.o.takeHook(Hook{Agent: "codex", Signal: PromptSent})
		}
		l.heard()
	}
	t.Logf("%d steps: %v", steps, count)
	l.mu.Lock()
	left := slices.Collect(maps.Keys(l.open))
	l.mu.Unlock()
	for _, id := range left {
		l.resolve(id)
	}
	l.heard()
	end()
	if len(l.o.known.deciders) > 0 || len(l.knows()) > 0 {
		t.Errorf("%d wait still, of %v", len(l.o.known.deciders), l.knows())
	}
}

// A server of a version that nobody has tried isn't used, nor one of another user's, nor what
// isn't one; and a conversation that it doesn't have isn't loaded.
func TestServersThatAreNotUsed(t *testing.T) {
	l := newLinked(t)
	for _, agent := range []string{"codex-tui/0.170.0 (x)", "codex", "", "codex-tui/0.169.0-alpha.1 (x)"} {
		l.agent = agent
		if _, err := dialCodex(t.Context(), codexSocket(map[string]string{"CODEX_HOME": l.home}), []string{"0.169.0"}); !errors.Is(err, errUntriedServer) {
			t.Errorf("%q is used: %v", agent, err)
		}
	}
	l.agent = "codex-tui/0.169.0 (x)"
	l.loaded = []string{otherThread}
	if err := l.o.linkServer(t.Context(), l.o.known.serving); !errors.Is(err, errNoThread) {
		t.Errorf("a conversation that isn't loaded: %v", err)
	}
	file := filepath.Join(l.home, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, why := range map[string]string{file: "isn't a socket", filepath.Join(l.home, "none"): "no such file"} {
		if conn, err := dialOwn(t.Context(), path); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v, %v", path, conn, err)
		}
	}
	if os.Geteuid() == 0 { // only root can give a socket away
		socket := filepath.Join(l.home, "real")
		if err := os.Chown(socket, 12345, 12345); err != nil {
			t.Fatal(err)
		}
		if conn, err := dialOwn(t.Context(), socket); err == nil || !strings.Contains(err.Error(), "another user's") {
			t.Errorf("another user's socket: %v, %v", conn, err)
		}
	}
}

// A server that says nothing holds nothing up.
func TestAServerThatSaysNothing(t *testing.T) {
	home, err := os.MkdirTemp("", "cx")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	l, err := net.Listen("unix", filepath.Join(home, "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := dialCodex(ctx, filepath.Join(home, "s"), []string{"0.169.0"}); err == nil {
		t.Error("it's used")
	}
}

// toolAsked is how an app server asks about a tool of an MCP server.
const toolAsked = `{"serverName":"lab","mode":"form","message":"Allow the lab MCP server to run tool \"put\"?","requestedSchema":{"type":"object","properties":{}},` +
	`"_meta":{"codex_approval_kind":"mcp_tool_call","tool_name":"put","tool_params":{"text":"a\n\u003cb","n":[1, 2]},` +
	`"tool_params_display":[{"name":"text","display_name":"text","value":"a\n\u003cb"},{"name":"n","display_name":"n","value":[1, 2]}]}}`

// What a server asks is answered in its words, and only what it can take.
func TestWhatAServerIsTold(t *testing.T) {
	for name, c := range map[string]struct {
		method, params, input string
		tool                  string
		told                  Told
		want                  string
	}{
		"a command": {
			"item/commandExecution/requestApproval", `{"command":"/bin/bash -lc 'x'","commandActions":[{"type":"unknown","command":"make  test\n"}],"reason":"why"}`,
			`{"command":"make  test\n","description":"why"}`, "Bash",
			Told{Decision: Allow},
			`{"decision":"accept"}`,
		},
		"one whose parts are known": {
			"item/commandExecution/requestApproval", `{"command":"/bin/bash -lc 'ls -la && cat \"it'\"'\"'s\"'","commandActions":[{"type":"listFiles","command":"ls -la"},{"type":"read","command":"cat x"}]}`,
			`{"command":"ls -la \u0026\u0026 cat \"it's\""}`, "Bash",
			Told{Decision: Deny, Interrupt: true},
			`{"decision":"cancel"}`,
		},
		"what goes on after No":            {"item/commandExecution/requestApproval", `{"command":"x","commandActions":[{"type":"unknown","command":"x"}]}`, `{"command":"x"}`, "Bash", Told{Decision: Deny}, `null`},
		"what it can't take":               {"item/commandExecution/requestApproval", `{"command":"x","commandActions":[{"type":"unknown","command":"x"}],"availableDecisions":["decline"]}`, `{"command":"x"}`, "Bash", Told{Decision: Allow}, `null`},
		"what isn't known to be a command": {"item/commandExecution/requestApproval", `{"kind":"network","command":"x","commandActions":[{"type":"unknown","command":"x"}]}`, ``, "", Told{}, ``},
		"a line that isn't a shell's":      {"item/commandExecution/requestApproval", `{"command":"ls 'x","commandActions":[{"type":"read","command":"ls"}]}`, ``, "", Told{}, ``},
		"a question": {
			"item/tool/requestUserInput", `{"questions":[{"id":"way","question":"Which?","header":"Way","options":[{"label":"A","description":"a"},{"label":"B","description":"b"}]}]}`,
			`{"questions":[{"id":"way","question":"Which?","header":"Way","isSecret":false,"isOther":false,"options":[{"label":"A","description":"a"},{"label":"B","description":"b"}],"custom":false}]}`, codexQuestion,
			Told{Decision: Allow, Answers: [][]string{{"B"}}},
			`{"answers":{"way":{"answers":["B"]}}}`,
		},
		"several questions, one answered by a text": {
			"item/tool/requestUserInput", `{"questions":[{"id":"a","question":"A?","header":"","isOther":true,"options":[{"label":"X","description":""}]},{"id":"b","question":"B?","header":"","options":[{"label":"Y","description":""}]}]}`,
			`{"questions":[{"id":"a","question":"A?","header":"","isSecret":false,"isOther":true,"options":[{"label":"X","description":""},{"label":"None of the above","description":"Optionally, add details in notes (tab)"}],"custom":true},` +
				`{"id":"b","question":"B?","header":"","isSecret":false,"isOther":false,"options":[{"label":"Y","description":""}],"custom":false}]}`, codexQuestion,
			Told{Decision: Allow, Answers: [][]string{{"my own"}, {"Y"}}},
			`{"answers":{"a":{"answers":["None of the above","user_note: my own"]},"b":{"answers":["Y"]}}}`,
		},
		"answers to some of its questions": {
			"item/tool/requestUserInput", `{"questions":[{"id":"a","question":"A?","options":[{"label":"X"}]},{"id":"b","question":"B?","options":[{"label":"Y"}]}]}`,
			`{"questions":[{"id":"a","question":"A?","header":"","isSecret":false,"isOther":false,"options":[{"label":"X","description":""}],"custom":false},{"id":"b","question":"B?","header":"","isSecret":false,"isOther":false,"options":[{"label":"Y","description":""}],"custom":false}]}`, codexQuestion,
			Told{Decision: Allow, Answers: [][]string{{"X"}}},
			`null`,
		},
		"a secret":              {"item/tool/requestUserInput", `{"questions":[{"id":"a","question":"A?","options":[{"label":"X"}]},{"id":"way","question":"Which key?","isSecret":true,"options":[{"label":"X"}]}]}`, ``, "", Told{}, ``},
		"questions of one name": {"item/tool/requestUserInput", `{"questions":[{"id":"a","question":"A?","options":[{"label":"X"}]},{"id":"a","question":"B?","options":[{"label":"X"}]}]}`, ``, "", Told{}, ``},
		"one without choices":   {"item/tool/requestUserInput", `{"questions":[{"id":"a","question":"A?"}]}`, ``, "", Told{}, ``},
		"a file": {
			"item/fileChange/requestApproval", `{"itemId":"call_1"}`, `[{"path":"/p/x","kind":{"type":"add"},"diff":"one\n"}]`, codexPatch, Told{Decision: Allow}, `{"decision":"accept"}`,
		},
		"a tool of an MCP server": {
			"mcpServer/elicitation/request", toolAsked, `{"text":"a\n\u003cb","n":[1, 2]}`, "mcp__lab__put", Told{Decision: Allow}, `{"action":"accept"}`,
		},
		"one that's refused":                     {"mcpServer/elicitation/request", toolAsked, `{"text":"a\n\u003cb","n":[1, 2]}`, "mcp__lab__put", Told{Decision: Deny, Interrupt: true}, `{"action":"cancel"}`},
		"what it can't be told about a tool":     {"mcpServer/elicitation/request", toolAsked, `{"text":"a\n\u003cb","n":[1, 2]}`, "mcp__lab__put", Told{Decision: AllowAlways}, `null`},
		"a tool, of which another call is drawn": {"mcpServer/elicitation/request", strings.Replace(toolAsked, `"value":[1, 2]`, `"value":[1, 3]`, 1), ``, "", Told{}, ``},
		"a tool, of which a part is drawn":       {"mcpServer/elicitation/request", strings.Replace(toolAsked, `,{"name":"n","display_name":"n","value":[1, 2]}`, ``, 1), ``, "", Told{}, ``},
		"what a server of tools asks itself":     {"mcpServer/elicitation/request", `{"serverName":"lab","mode":"form","_meta":null,"message":"Allow the lab MCP server to run tool \"put\"?","requestedSchema":{"type":"object","properties":{}}}`, ``, "", Told{}, ``},
		"a form with fields":                     {"mcpServer/elicitation/request", strings.Replace(toolAsked, `"properties":{}`, `"properties":{"a":{"type":"string"}}`, 1), ``, "", Told{}, ``},
		"a file that it wasn't told of":          {"item/fileChange/requestApproval", `{"itemId":"call_2"}`, ``, "", Told{}, ``},
		"another call":                           {"item/tool/call", `{}`, ``, "", Told{}, ``},
	} {
		l := &codexLink{thread: ourThread}
		l.handleMessage(serverMessage{Method: "item/started", Params: json.RawMessage(`{"threadId":"` + ourThread + `","item":{"id":"call_1","type":"fileChange","changes":[{"path":"/p/x","kind":{"type":"add"},"diff":"one\n"}]}}`)})
		h, answer := l.readRequest(serverMessage{Method: c.method, Params: json.RawMessage(c.params)})
		if string(h.Input) != c.input || h.Tool != c.tool || (answer == nil) != (c.want == "") {
			t.Errorf("%s: %s of %q is read as %s, %t", name, c.params, h.Tool, h.Input, answer != nil)
			continue
		}
		if answer == nil {
			continue
		}
		if got, err := json.Marshal(answer(c.told)); err != nil || string(got) != c.want {
			t.Errorf("%s: it's told %s, %v, want %s", name, got, err, c.want)
		}
	}
}
