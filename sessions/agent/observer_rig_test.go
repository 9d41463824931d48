package agent

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/sessions"
	"github.com/panebridge/panebridge/sessions/transcript"
)

// paneHost is some panes with agent programs whose transcripts are files of a test.
type paneHost struct {
	*testing.T
	w       *Watchers
	home    string
	cwd     string
	now     time.Time
	running map[int]Process // by the pane's process
	sources map[sessions.ID]sessions.Source
}

func newHost(t *testing.T) *paneHost {
	t.Helper()
	set, err := LoadSet()
	if err != nil {
		t.Fatal(err)
	}
	h := &paneHost{T: t, home: t.TempDir(), cwd: "/srv/proj", now: time.Now(), running: map[int]Process{}, sources: map[sessions.ID]sessions.Source{}}
	h.w = NewWatchers(Options{Profiles: set, Processes: h, Choose: h.choose, LookNow: func(sessions.ID) {}})
	return h
}

func (h *paneHost) Rest(int) bool { return false }

func (h *paneHost) Group(pane int) int { return h.running[pane].PID }

func (h *paneHost) Foreground(pane int, _ bool) []Process {
	if p, ok := h.running[pane]; ok {
		return []Process{p}
	}
	return []Process{{PID: pane, Name: "bash", Args: []string{"bash"}}}
}

func (h *paneHost) Alive(was Process) bool {
	for _, p := range h.running {
		if p.PID == was.PID && p.Started.Equal(was.Started) {
			return true
		}
	}
	return false
}

func (h *paneHost) Get(pid int) (Process, bool) {
	for _, p := range h.running {
		if p.PID == pid {
			return p, true
		}
	}
	return Process{}, pid == os.Getpid()
}

func (h *paneHost) choose(id sessions.ID, src sessions.Source) error {
	for other, s := range h.sources {
		if other != id && src.Transcript != "" && s.Transcript == src.Transcript {
			return sessions.ErrConflict
		}
	}
	h.sources[id] = src
	return nil
}

// run starts Claude Code in a pane; pids are far above those of this host.
func (h *paneHost) run(pane, pid int, started time.Time) Process {
	p := Process{
		PID: 1<<30 + pid, Name: "claude", Args: []string{"claude"}, Cwd: h.cwd, Started: started,
		Environ: func() map[string]string { return map[string]string{"HOME": h.home} },
	}
	h.running[pane] = p
	return p
}

// pane is one session with its observer.
type pane struct {
	*paneHost
	id   sessions.ID
	pid  int
	o    *Observer
	kept []byte
	told []string // "kind text", and "BEGIN", "END" of turns around them
	text sessions.LinesFrom
	// What was told of what's used: all of it, and how things stood last; nil: nothing.
	spent []sessions.Spending
	used  *sessions.Usage
}

func (h *paneHost) pane(pid int) *pane {
	h.Helper()
	p := &pane{paneHost: h, id: sessions.ID(fmt.Sprintf("pb_%d", pid)), pid: pid}
	p.restart()
	return p
}

// restart makes a new observer from what was kept last, as the daemon does.
func (p *pane) restart() {
	p.Helper()
	if p.o != nil {
		if err := p.o.Close(); err != nil {
			p.Fatal(err)
		}
	}
	var err error
	if p.o, err = p.w.Observe(sessions.Session{ID: p.id}, "", p.kept); err != nil {
		p.Fatal(err)
	}
}

// look looks at the pane after a while, and commits what the observer tells.
func (p *pane) look(after time.Duration, screen string, typed ...string) {
	p.Helper()
	p.now = p.now.Add(after)
	l := pollOf(p, screen)
	for _, t := range typed {
		l.Typed = append(l.Typed, sessions.Typed{Text: t, At: p.now})
	}
	if p.see(l).Ending {
		p.now = p.now.Add(lastScreenAfter)
		p.see(pollOf(p, screen))
	}
}

// pollOf is what a look at a pane sees.
func pollOf(p *pane, screen string) sessions.Poll {
	l := sessions.Poll{Screen: snapshot(screen), Now: p.now}
	l.Screen.PID = p.pid
	return l
}

// last looks for the last time.
func (p *pane) last() sessions.Observation { return p.see(sessions.Poll{Last: true, Now: p.now}) }

func (p *pane) see(l sessions.Poll) sessions.Observation {
	p.Helper()
	for {
		s, err := p.o.Observe(p.Context(), l)
		if err != nil {
			p.Fatal(err)
		}
		if s.Began {
			p.told = append(p.told, "BEGIN")
		}
		for _, line := range s.Lines {
			p.told = append(p.told, string(line.Kind)+" "+line.Text)
		}
		if s.Ended {
			p.told = append(p.told, "END")
		}
		p.kept, p.text, p.spent = s.Keep, s.Text, append(p.spent, s.Spent...)
		if s.Usage != nil {
			p.used = s.Usage
		}
		if !s.More {
			return s
		}
		l = sessions.Poll{Last: l.Last, Now: l.Now}
	}
}

// want says what was told of the transcripts, without the turns.
func (p *pane) want(lines ...string) {
	p.Helper()
	got := slices.DeleteFunc(slices.Clone(p.told), func(s string) bool { return s == "BEGIN" || s == "END" })
	if !slices.Equal(got, lines) {
		p.Errorf("%s told\n%s\nwant\n%s", p.id, strings.Join(got, "\n"), strings.Join(lines, "\n"))
	}
}

// file is a transcript of Claude Code.
type file struct {
	*paneHost
	path, name string
	n          int
}

func (h *paneHost) file(name string) *file {
	dir := filepath.Join(h.home, ".claude", "projects", strings.ReplaceAll(h.cwd, "/", "-"))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		h.Fatal(err)
	}
	return &file{paneHost: h, path: filepath.Join(dir, name+".jsonl"), name: name}
}

func (f *file) line(v map[string]any) {
	f.Helper()
	f.n++
	v["uuid"], v["sessionId"], v["cwd"] = fmt.Sprint(f.name, "-", f.n), f.name, f.cwd
	v["timestamp"] = f.now.UTC().Format("2006-01-02T15:04:05.000Z")
	b, err := json.Marshal(v)
	if err != nil {
		f.Fatal(err)
	}
	out, err := os.OpenFile(f.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		f.Fatal(err)
	}
	defer out.Close()
	if _, err := out.Write(append(b, '\n')); err != nil {
		f.Fatal(err)
	}
	if err := os.Chtimes(f.path, f.now, f.now); err != nil {
		f.Fatal(err)
	}
}

func (f *file) user(text string) {
	f.Helper()
	f.line(map[string]any{"type": "user", "message": map[string]any{"role": "user", "content": text}, "origin": map[string]any{"kind": "human"}})
}

func (f *file) answer(text string) {
	f.Helper()
	f.line(map[string]any{"type": "assistant", "message": map[string]any{"id": fmt.Sprint("msg", f.n), "role": "assistant", "content": []any{map[string]any{"type": "text", "text": text}}}})
}

func (f *file) end() {
	f.Helper()
	f.line(map[string]any{"type": "system", "subtype": "turn_duration"})
}

// hook calls a hook of a pane's program.
func (p *pane) hook(signal Signal, f *file) {
	p.w.Hook(Hook{
		Agent: string(transcript.Claude), Event: string(signal), Signal: signal, Conversation: f.name, Transcript: f.path,
		Cwd: p.cwd, Session: string(p.id), PIDs: []int{p.running[p.pid].PID, p.pid}, At: p.now,
	})
}

// The screens of Claude Code at work and at rest.
func atWorkOn(asked string, rows ...string) string {
	return "❯ " + asked + "\n" + strings.Join(rows, "\n") + "\n" + inputBox + "  ⏸ manual mode on · esc to interrupt"
}

func atRest(asked string, rows ...string) string {
	return "❯ " + asked + "\n" + strings.Join(rows, "\n") + "\n✻ Brewed for 9s\n" + inputBox + "  ⏸ manual mode on · ? for shortcuts"
}

const inputBox = "────────────────────────────\n❯ \n────────────────────────────\n"
