package transcript

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
)

// home is a home folder with one conversation per text of a folder "proj".
type home struct {
	t    *testing.T
	dir  string
	cwd  string
	when time.Time
}

func newHome(t *testing.T) *home {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	h := &home{t: t, dir: dir, cwd: filepath.Join(dir, "my_proj.x"), when: time.Now().Add(-time.Hour).Truncate(time.Second)}
	if err := os.Mkdir(h.cwd, 0o700); err != nil {
		t.Fatal(err)
	}
	return h
}

// put writes a file that changed so many minutes after the beginning.
func (h *home) put(path string, minutes int, text string) string {
	h.t.Helper()
	path = filepath.Join(h.dir, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		h.t.Fatal(err)
	}
	write(h.t, path, text)
	when := h.when.Add(time.Duration(minutes) * time.Minute)
	if err := os.Chtimes(path, when, when); err != nil {
		h.t.Fatal(err)
	}
	return path
}

func (h *home) find(f Format, change func(*Where)) []Candidate {
	h.t.Helper()
	w := Where{Format: f, Home: h.dir, Cwd: h.cwd}
	if change != nil {
		change(&w)
	}
	found, err := Find(context.Background(), w)
	if err != nil {
		h.t.Fatal(err)
	}
	return found
}

// expect checks what was found: "NAME: what was asked last", "!" before sure ones.
func (h *home) expect(found []Candidate, want ...string) {
	h.t.Helper()
	var got []string
	for _, c := range found {
		sure := ""
		if c.Sure {
			sure = "!"
		}
		got = append(got, sure+strings.TrimSuffix(filepath.Base(c.Ref.Path), ".jsonl")+": "+c.LastUser)
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		h.t.Errorf("found %q, want %q", got, want)
	}
}

// claude is a transcript of Claude Code, long enough that not all of it is read.
func (h *home) claude(cwd, asked string) string {
	line := `{"type":"user","cwd":%q,"timestamp":"2026-01-02T03:04:05Z","uuid":"u","message":{"role":"user","content":%q},"origin":{"kind":"human"}}` + "\n"
	return fmt.Sprintf(line, cwd, "first") + strings.Repeat(`{"type":"mode","mode":"normal"}`+"\n", tailLen/10) + fmt.Sprintf(line, cwd, asked)
}

func (h *home) claudeFolder() string {
	return filepath.Join(".claude", "projects", claudeFolder(h.cwd))
}

func TestFindClaude(t *testing.T) {
	h := newHome(t)
	h.put(h.claudeFolder()+"/aa.jsonl", 10, h.claude(h.cwd, "old"))
	h.put(h.claudeFolder()+"/bb.jsonl", 20, h.claude(h.cwd, "new"))
	h.put(h.claudeFolder()+"/cc.jsonl", 30, h.claude(filepath.Join(h.dir, "my-proj-x"), "another folder with the same name"))
	h.put(h.claudeFolder()+"/bb/subagents/agent-1.jsonl", 40, h.claude(h.cwd, "sub"))
	h.expect(h.find(Claude, nil), "bb: new", "aa: old")
	h.expect(h.find(Claude, func(w *Where) { w.Started = h.when.Add(15 * time.Minute) }), "bb: new")
	h.expect(h.find(Claude, func(w *Where) { w.Started = h.when.Add(25 * time.Minute) }))
	h.expect(h.find(Claude, func(w *Where) { w.Cwd = h.dir }))
	h.expect(h.find(Claude, func(w *Where) {
		w.Home, w.Env = "/nowhere", map[string]string{"CLAUDE_CONFIG_DIR": filepath.Join(h.dir, ".claude")}
	}), "bb: new", "aa: old")
	if c := h.find(Claude, nil)[0]; c.Cwd != h.cwd || c.Started.Year() != 2026 || c.Ref.Session != "bb" || !c.Changed.Equal(h.when.Add(20*time.Minute)) {
		t.Errorf("found %+v", c)
	}
}

func TestClaudesProcessSaysWhatItHas(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells when a process began")
	}
	h := newHome(t)
	h.put(h.claudeFolder()+"/aa.jsonl", 10, h.claude(h.cwd, "old"))
	h.put(h.claudeFolder()+"/bb.jsonl", 20, h.claude(h.cwd, "new"))
	pid := os.Getpid()
	me := func(w *Where) { w.PID = pid }
	says := func(ticks, session string) {
		h.put(fmt.Sprintf(".claude/sessions/%d.json", pid), 0, fmt.Sprintf(`{"pid":%d,"sessionId":%q,"cwd":%q,"procStart":%q}`, pid, session, h.cwd, ticks))
	}
	says(startTicks(pid), "aa")
	h.expect(h.find(Claude, me), "!aa: old", "bb: new")
	says(startTicks(pid), "cc") // nothing is written of it yet
	h.expect(h.find(Claude, me), "!cc: ", "bb: new", "aa: old")
	says("1", "aa") // of a process that had this number before
	h.expect(h.find(Claude, me), "bb: new", "aa: old")
	says(startTicks(pid), "../../aa")
	h.expect(h.find(Claude, me), "bb: new", "aa: old")
}

func TestClaudeTellsTheLastPromptAgain(t *testing.T) {
	h := newHome(t)
	big := `{"type":"api-request-shape","x":"` + strings.Repeat("x", 2*tailLen) + `"}` + "\n"
	h.put(h.claudeFolder()+"/aa.jsonl", 10, h.claude(h.cwd, "this")+big+`{"type":"last-prompt","lastPrompt":"this","leafUuid":"x"}`+"\n")
	h.expect(h.find(Claude, nil), "aa: this")
}

func (h *home) codex(id, cwd, source, asked string) string {
	return fmt.Sprintf(`{"timestamp":"2026-01-02T03:04:05Z","type":"session_meta","payload":{"id":%q,"timestamp":"2026-01-02T03:04:05Z","cwd":%q,"thread_source":%q,"base_instructions":{"text":%q}}}`+"\n", id, cwd, source, strings.Repeat("x", headLen)) +
		fmt.Sprintf(`{"type":"event_msg","payload":{"type":"item_completed","item":{"type":"UserMessage","content":[{"type":"text","text":%q}]}}}`+"\n", asked)
}

func TestFindCodex(t *testing.T) {
	h := newHome(t)
	h.put(".codex/sessions/2026/01/02/rollout-1.jsonl", 10, h.codex("1", h.cwd, "user", "one"))
	h.put(".codex/sessions/2026/01/03/rollout-2.jsonl", 20, h.codex("2", h.cwd, "user", "two"))
	h.put(".codex/sessions/2026/01/03/rollout-3.jsonl", 30, h.codex("3", h.dir, "user", "elsewhere"))
	h.put(".codex/sessions/2026/01/03/rollout-4.jsonl", 40, h.codex("4", h.cwd, "subagent", "sub"))
	h.expect(h.find(Codex, nil), "rollout-2: two", "rollout-1: one")
	if c := h.find(Codex, nil)[0]; c.Ref.Session != "2" || c.Cwd != h.cwd {
		t.Errorf("found %+v", c)
	}
	if runtime.GOOS != "linux" {
		return
	}
	held, err := os.Open(filepath.Join(h.dir, ".codex/sessions/2026/01/02/rollout-1.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	me := func(w *Where) { w.PID = os.Getpid() }
	h.expect(h.find(Codex, me), "!rollout-1: one", "rollout-2: two")
	also, err := os.Open(filepath.Join(h.dir, ".codex/sessions/2026/01/03/rollout-2.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer also.Close()
	h.expect(h.find(Codex, me), "!rollout-2: two", "rollout-1: one") // the last one written

	_ = held.Close()
	_ = also.Close()
	for _, name := range []string{"terminal", "app-server"} { // the second has those of all terminals
		child := exec.Command("/bin/sh", "-c", `read line <&4; echo "$line"; read wait`, "codex", name)
		child.ExtraFiles = []*os.File{h.open(".codex/sessions/2026/01/02/rollout-1.jsonl"), h.open(".codex/sessions/2026/01/03/rollout-2.jsonl")}
		in, err := child.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := child.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		for _, f := range child.ExtraFiles {
			_ = f.Close()
		}
		if _, err := out.Read(make([]byte, 1)); err != nil { // it has them
			t.Error(err)
		}
		if name == "terminal" {
			h.expect(h.find(Codex, me), "!rollout-2: two", "rollout-1: one")
		} else {
			h.expect(h.find(Codex, me), "rollout-2: two", "rollout-1: one")
		}
		_ = in.Close()
		_, _ = io.Copy(io.Discard, out)
		if err := child.Wait(); err != nil {
			t.Logf("%s: %v", name, err)
		}
	}
}

// open opens a file below the home folder.
func (h *home) open(name string) *os.File {
	h.t.Helper()
	f, err := os.Open(filepath.Join(h.dir, name))
	if err != nil {
		h.t.Fatal(err)
	}
	return f
}

func TestFindGeminiQwenPi(t *testing.T) {
	h := newHome(t)
	gemini := func(id, kind, asked string) string {
		head := fmt.Sprintf(`{"sessionId":%q,"startTime":"2026-01-02T03:04:05Z","kind":%q}`+"\n", id, kind)
		if asked == "" {
			return head
		}
		return head + fmt.Sprintf(`{"id":"1","type":"user","content":[{"text":%q}]}`+"\n", asked)
	}
	h.put(".gemini/projects.json", 0, fmt.Sprintf(`{"projects":{%q:"proj"}}`, h.cwd))
	h.put(".gemini/tmp/proj/chats/session-1.jsonl", 10, gemini("a", "main", "one"))
	h.put(".gemini/tmp/proj/chats/session-2.jsonl", 20, gemini("a", "main", ""))
	h.put(".gemini/tmp/proj/chats/session-3.jsonl", 30, gemini("b", "main", ""))
	h.put(".gemini/tmp/proj/chats/a/x.jsonl", 40, gemini("x", "subagent", "sub"))
	h.expect(h.find(Gemini, nil), "session-3: ", "session-1: one")

	name := claudeFolder(h.cwd)
	h.put(".qwen/projects/"+name+"/chats/q.jsonl", 10, fmt.Sprintf(`{"type":"user","cwd":%q,"timestamp":"2026-01-02T03:04:05Z","message":{"parts":[{"text":"ask"}]}}`+"\n", h.cwd))
	h.expect(h.find(Qwen, nil), "q: ask")

	dir := "--" + strings.ReplaceAll(strings.TrimPrefix(h.cwd, "/"), "/", "-") + "--"
	h.put(".pi/agent/sessions/"+dir+"/p.jsonl", 10, fmt.Sprintf(`{"type":"session","id":"i","cwd":%q,"timestamp":"2026-01-02T03:04:05Z"}`+"\n"+`{"type":"message","message":{"role":"user","content":[{"type":"text","text":"ask"}]}}`+"\n", h.cwd))
	h.expect(h.find(Pi, nil), "p: ask")
	if c := h.find(Pi, nil)[0]; c.Ref.Session != "i" {
		t.Errorf("found %+v", c)
	}
}

func TestFindOpenCode(t *testing.T) {
	h := newHome(t)
	ref := placeDatabase(t, string(unzip(t, "testdata/opencode-all.sql.gz")))
	path := OpenCodeDatabase(h.dir, nil)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(ref.Path, path); err != nil {
		t.Fatal(err)
	}
	found := h.find(OpenCode, func(w *Where) { w.Cwd = "/srv/agents/proj/opencode" })
	if len(found) != 2 {
		t.Fatalf("found %d conversations, want 2: %+v", len(found), found)
	}
	for i, c := range found {
		if c.Sure || c.LastUser != "Please say hello to me" || c.Ref.Path != path || !strings.HasPrefix(c.Ref.Session, "ses_") {
			t.Errorf("%d: %+v", i, c)
		}
	}
	h.expect(h.find(OpenCode, nil))
	h.expect(h.find(OpenCode, func(w *Where) { w.Cwd, w.Started = "/srv/agents/proj/opencode", time.Now() }))
	if left, _ := filepath.Glob(path + "-*"); len(left) > 0 {
		t.Errorf("left %q", left)
	}
}

func TestFindWhereNothingIs(t *testing.T) {
	h := newHome(t)
	for _, f := range Formats() {
		h.expect(h.find(f, func(w *Where) { w.PID = os.Getpid() }))
	}
	if _, err := Find(context.Background(), Where{Format: "other"}); err == nil {
		t.Error("found another format")
	}
}

func TestDescendants(t *testing.T) {
	got := descendants(os.Getpid())
	if len(got) == 0 || got[0][0] != os.Getpid() {
		t.Errorf("descendants %v of %s", got, strconv.Itoa(os.Getpid()))
	}
	if descendants(0) != nil {
		t.Error("0 has descendants")
	}
}
