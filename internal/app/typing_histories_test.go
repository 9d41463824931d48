package app_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/api/client"
	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/internal/standin"
	"github.com/panebridge/panebridge/sessions"
	"github.com/panebridge/panebridge/sessions/agent"
)

// typingHouse is a daemon in a process of its own, on real tmux, with shells and agents
// into which texts are typed while the daemon ends at drawn moments, programs come and go
// in the panes, and people type there.
type typingHouse struct {
	*daemon
	exe     string
	random  *rand.Rand
	process *exec.Cmd
	rooms   []*room
	inputs  []*typedText
}

// room is one pane.
type room struct {
	name    string
	id      sessions.ID
	command []string
	journal string // of the agent that's begun in it; "": none is
	agent   bool   // an agent has the foreground
	met     bool   // an agent had it since anybody said whom texts are for
	half    bool   // somebody has typed half a line
}

// typedText is a text that was accepted.
type typedText struct {
	token, receipt string
	first          string // the token of a line before it; "": there's none
	room           *room
	forAgent       bool
}

func newTypingHouse(t *testing.T, seed uint64) *typingHouse {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := shortTemp(t)
	h := &typingHouse{
		daemon: &daemon{T: t, dir: dir, socket: filepath.Join(dir, "tmux"), api: client.New(filepath.Join(dir, "state", "panebridge.sock"))},
		exe:    exe, random: rand.New(rand.NewPCG(seed, 0)),
	}
	config := fmt.Sprintf("tmux: {servers: [{socket_path: %q}]}\nadapters: {web: {enabled: false}}\npolling: {output_cadence_s: 0.2, focus_cadence_s: 0.2}\n", h.socket)
	h.file(filepath.Join(dir, "config.yaml"), config, 0o600)
	h.file(filepath.Join(dir, ".zshrc"), "", 0o600)                                       // else zsh asks how to begin
	h.file(filepath.Join(dir, ".local/share/fish/generated_completions/made"), "", 0o600) // else fish reads all manual pages
	h.file(h.recorder(), "#!/bin/sh\nsleep 0.1\nprintf '%s\\n' \"$*\" >> \"$0.log\"\n", 0o700)
	t.Cleanup(func() { endTmux(h.socket) })
	t.Cleanup(func() { h.end(syscall.SIGKILL) })
	return h
}

func (h *typingHouse) file(path, text string, mode os.FileMode) {
	h.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		h.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		h.Fatal(err)
	}
}

// recorder is a command that writes down what it's called with.
func (h *typingHouse) recorder() string { return filepath.Join(h.dir, "rec") }

// commandLine is how texts begin: a command for a shell, and no command of an agent's own.
func (h *typingHouse) commandLine() string { return "sh " + h.recorder() + " " }

func (h *typingHouse) run() {
	h.Helper()
	said, err := os.OpenFile(filepath.Join(h.dir, "log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		h.Fatal(err)
	}
	defer said.Close()
	h.process = exec.Command(h.exe, "run", "--state-dir", filepath.Join(h.dir, "state"), "--config", filepath.Join(h.dir, "config.yaml"))
	h.process.Env = append(os.Environ(), playedCLI+"=1", "HOME="+h.dir) // the shells read nobody's own files, some of which wait for each other
	h.process.Stdout, h.process.Stderr = said, said
	if err := h.process.Start(); err != nil {
		h.Fatal(err)
	}
	h.await("daemon", func() bool {
		_, err := h.api.Health(h.ctx())
		return err == nil
	})
}

// end ends the daemon by a signal. One that's asked to end has 10 s for it.
func (h *typingHouse) end(sig syscall.Signal) {
	if h.process == nil {
		return
	}
	began := time.Now()
	_ = h.process.Process.Signal(sig)
	late := time.AfterFunc(patience, func() { _ = h.process.Process.Kill() })
	_ = h.process.Wait()
	late.Stop()
	if took := time.Since(began); took > 10*time.Second {
		h.Errorf("%s took %s", sig, took)
	}
	h.process = nil
}

// enter makes a pane and its session.
func (h *typingHouse) enter(name string, command ...string) {
	h.Helper()
	s, err := h.api.NewSession(h.ctx(), api.Create{Name: name, Cwd: h.dir, Command: command})
	if err != nil {
		h.Fatal(err)
	}
	r := &room{name: name, id: s.ID, command: command}
	h.rooms = append(h.rooms, r)
	play := standin.Play{Agent: "claude", Seed: h.random.Uint64(), Home: filepath.Join(h.dir, name), Journal: filepath.Join(h.dir, name+".journal")}
	line, err := play.Command(h.exe)
	if err != nil {
		h.Fatal(err)
	}
	h.file(filepath.Join(h.dir, "agent-"+name), "#!/bin/sh\nunset "+playedCLI+"\n"+line+"\n", 0o700)
	r.journal = play.Journal
}

// write sends a text, and reports whether it was accepted.
func (h *typingHouse) write(r *room) {
	h.Helper()
	h.writeToken(r, "", fmt.Sprintf("t-%s-%d-end", r.name, len(h.inputs)))
}

// writeToken sends a command; first, if it isn't "", is that of a line before it.
func (h *typingHouse) writeToken(r *room, first, token string) {
	h.Helper()
	text := h.commandLine() + token
	if first != "" {
		text = h.commandLine() + first + "\n" + text
	}
	got, err := h.api.Input(h.ctx(), string(r.id), text, true)
	if err != nil {
		h.Fatal(err)
	}
	h.inputs = append(h.inputs, &typedText{first: first, token: token, receipt: got.ID, room: r, forAgent: r.met})
}

// keys are pressed at a pane's own keyboard.
func (h *typingHouse) keys(r *room, args ...string) {
	h.Helper()
	s, err := h.api.Session(h.ctx(), string(r.id))
	if err != nil {
		h.Fatal(err)
	}
	h.tmux(append([]string{"send-keys", "-t", s.Tmux.Pane}, args...)...)
}

// settled waits until nothing is being typed into a room: all that was written is final,
// or the first of what waits is held. Somebody clears what's left of a text in a shell's line.
func (h *typingHouse) settled(r *room) {
	h.Helper()
	h.cleared(r, "rest in "+r.name, func(all []sessions.Receipt) bool {
		return len(all) == 0 || all[0].State == sessions.ReceiptHeld && (all[0].Front != "" || r.half)
	})
}

// awaitHeld waits until the one text that waits in a room is held, for another reason than who has
// the foreground.
func (h *typingHouse) awaitHeld(r *room) (held sessions.Receipt) {
	h.Helper()
	h.await("a text that's held in "+r.name, func() bool {
		all, err := h.api.Waiting(h.ctx(), string(r.id))
		if err == nil && len(all) == 1 {
			held = all[0]
		}
		return held.State == sessions.ReceiptHeld && held.Front == ""
	})
	return held
}

// submitted waits until all that was written into a room is final.
func (h *typingHouse) submitted(r *room) {
	h.Helper()
	h.await("the last text of "+r.name, func() bool {
		all, err := h.api.Waiting(h.ctx(), string(r.id))
		return err == nil && len(all) == 0
	})
}

// restart ends the daemon at a drawn moment after a text was sent, and starts it again.
func (h *typingHouse) restart() {
	h.Helper()
	time.Sleep(time.Duration(h.random.Int64N(int64(1100 * time.Millisecond)))) // this is the drawn moment
	h.end([]syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGKILL, syscall.SIGKILL}[h.random.IntN(4)])
	h.run()
}

// act does one thing at random.
func (h *typingHouse) act() {
	h.Helper()
	r := h.rooms[h.random.IntN(len(h.rooms))]
	switch n := h.random.IntN(10); {
	case n < 4:
		for range 1 + h.random.IntN(2) {
			h.write(r)
		}
		h.restart()
	case n < 6:
		h.write(r)
	case n < 7 && !r.half:
		h.settled(r)
		h.keys(r, "-l", "half-")
		r.half = true
	case n < 8 && r.half:
		h.unhalf(r)
	case n < 9 && !r.half && !r.agent && !r.met:
		h.settled(r)
		h.beginAgent(r)
	case n < 10 && r.agent && !r.half:
		h.settled(r)
		h.endAgent(r)
	default:
		h.write(r)
		h.restart()
	}
}

// unhalf has somebody take away what was half-typed, who looks whether that's gone: a dialog
// takes the key, say.
func (h *typingHouse) unhalf(r *room) {
	h.Helper()
	lines := r.command[0] == "sh" && !r.agent
	if lines { // while a command runs its keys are the next line's
		within(h.ctx(), 5*time.Second, func() bool { return strings.HasPrefix(h.cursorRow(r), "#") || strings.HasPrefix(h.cursorRow(r), "$") })
	}
	h.keys(r, "C-u")
	if lines {
		h.keys(r, "Enter") // what was typed while a command ran stays on the screen
	}
	if r.agent {
		within(h.ctx(), 30*time.Second, func() bool {
			shown := h.tmux("capture-pane", "-p", "-t", "=pb_"+r.name+":")
			if strings.Contains(shown, "❯ half-") {
				h.keys(r, "C-u")
				return false
			}
			return strings.Contains(shown, "───\n❯") // a dialog may cover the box
		})
	}
	r.half = false
}

// cursorRow is the row that the cursor of a room's pane is in.
func (h *typingHouse) cursorRow(r *room) string {
	h.Helper()
	y, err := strconv.Atoi(strings.TrimSpace(h.tmux("display-message", "-p", "-t", "=pb_"+r.name+":", "#{cursor_y}")))
	if err != nil {
		h.Fatal(err)
	}
	rows := strings.Split(h.tmux("capture-pane", "-p", "-t", "=pb_"+r.name+":"), "\n")
	return rows[min(y, len(rows)-1)]
}

// beginAgent has somebody at the pane begin an agent in its shell. People write to it from
// when its words are the session's.
func (h *typingHouse) beginAgent(r *room) {
	h.Helper()
	before := h.readyCount(r)
	h.keys(r, "-l", filepath.Join(h.dir, "agent-"+r.name))
	h.keys(r, "Enter")
	r.agent = true
	h.await("agent in "+r.name, func() bool { return h.readyCount(r) > before })
	h.await("program of "+r.name, func() bool {
		s, err := h.api.Session(h.ctx(), string(r.id))
		return err == nil && s.Source.Program == "claude"
	})
	r.met = true
}

func (h *typingHouse) readyCount(r *room) (n int) {
	entries, _ := standin.ReadJournal(r.journal) // there's none as long as it wasn't begun
	for _, e := range entries {
		if e.Kind == standin.Ready {
			n++
		}
	}
	return n
}

// leaveAlternate has a terminal show its first screen again.
const leaveAlternate = "\x1b[?1049l"

// endAgent ends the agent, as a crash would, and puts the terminal right.
func (h *typingHouse) endAgent(r *room) {
	h.Helper()
	s, err := h.api.Session(h.ctx(), string(r.id))
	if err != nil {
		h.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(h.tmux("display-message", "-p", "-t", s.Tmux.Pane, "#{pane_pid}")))
	if err != nil {
		h.Fatal(err)
	}
	for _, p := range agent.NewProcesses().Foreground(pid, true) {
		_ = syscall.Kill(p.PID, syscall.SIGKILL)
	}
	h.await("shell of "+r.name, func() bool { return shellIsBack(pid) })
	tty := strings.TrimSpace(h.tmux("display-message", "-p", "-t", s.Tmux.Pane, "#{pane_tty}"))
	if r.command[0] == "sh" { // others put it right by themselves
		if out, err := exec.Command("stty", "-F", tty, "sane").CombinedOutput(); err != nil {
			h.Fatalf("%v: %s", err, out)
		}
	}
	if err := os.WriteFile(tty, []byte(leaveAlternate), 0); err != nil {
		h.Fatal(err)
	}
	h.keys(r, "-R") // what the agent left of its screen and of its terminal
	h.keys(r, "Enter")
	r.agent = false
}

func shellIsBack(pid int) bool {
	front := agent.NewProcesses().Foreground(pid, false)
	return len(front) == 1 && strings.Contains(strings.Join(front[0].Args, " "), "sh")
}

// check compares what the programs took with what was written.
func (h *typingHouse) check() {
	h.Helper()
	h.ranAll()
	count := h.took()
	for _, x := range h.inputs {
		if count[x.token] > 0 && x.forAgent {
			h.Errorf("%s was written to an agent, and a shell took it", x.token)
		}
	}
	for _, r := range h.rooms {
		h.checkAgent(r, count)
	}
	for _, x := range h.inputs {
		h.checkText(x, count[x.token])
	}
	for _, r := range h.rooms {
		if h.Failed() {
			h.explain(r)
		}
	}
}

// explain says what happened in a room.
func (h *typingHouse) explain(r *room) {
	h.Helper()
	if journal, err := os.ReadFile(r.journal); err == nil {
		h.Logf("the agent of %s:\n%s", r.name, journal)
	}
	if out, err := exec.Command("tmux", "-S", h.socket, "capture-pane", "-p", "-S", "-", "-t", "=pb_"+r.name+":").Output(); err == nil {
		h.Logf("%s shows:\n%s", r.name, strings.TrimSpace(string(out)))
	}
	for _, x := range h.inputs {
		if got, err := h.api.Receipt(h.ctx(), x.receipt); err == nil && x.room == r {
			h.Logf("%s %s %s %s: %s", got.CreatedAt.Format(clock), got.UpdatedAt.Format(clock), x.token, got.State, got.Reason)
		}
	}
}

// ranAll waits until what was submitted has run, which takes a moment; for what never does
// it's over sometime.
func (h *typingHouse) ranAll() {
	h.Helper()
	for end := time.Now().Add(5 * time.Second); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		log, _ := os.ReadFile(h.recorder() + ".log")
		for _, r := range h.rooms {
			journal, _ := os.ReadFile(r.journal) // there's none before an agent was begun
			log = append(log, journal...)
		}
		if !slices.ContainsFunc(h.inputs, func(x *typedText) bool {
			r, err := h.api.Receipt(h.ctx(), x.receipt)
			return err == nil && r.Submitted() && !strings.Contains(string(log), x.token)
		}) {
			return
		}
	}
}

// took counts what the shells took.
func (h *typingHouse) took() map[string]int {
	h.Helper()
	count := map[string]int{}
	log, _ := os.ReadFile(h.recorder() + ".log") // there's none as long as nothing was taken
	token := regexp.MustCompile(`^t-\S+-\d+-end$`)
	for line := range strings.Lines(string(log)) {
		if line = strings.TrimSuffix(line, "\n"); !token.MatchString(line) {
			h.Errorf("a shell took %q", line)
		}
		count[line]++
	}
	return count
}

// checkAgent counts what the agent of a room took.
func (h *typingHouse) checkAgent(r *room, count map[string]int) {
	h.Helper()
	entries, _ := standin.ReadJournal(r.journal)
	for _, e := range entries {
		if e.Kind != standin.Submitted {
			continue
		}
		text, ok := strings.CutPrefix(strings.TrimSpace(e.Text), h.commandLine())
		if !ok || strings.Contains(text, " ") {
			h.Errorf("the agent of %s took %q", r.name, e.Text)
		}
		count[text]++
	}
}

func (h *typingHouse) checkText(x *typedText, n int) {
	h.Helper()
	r, err := h.api.Receipt(h.ctx(), x.receipt)
	if err != nil {
		h.Fatal(err)
	}
	sure := !strings.HasPrefix(r.Reason, "unverified")
	switch {
	case n > 1,
		r.Submitted() && sure && n != 1,
		r.State == sessions.ReceiptHeld && n != 0,
		r.State == sessions.ReceiptFailed && n != 0 && !strings.Contains(r.Reason, "nobody knows"):
		h.Errorf("%s (room met an agent: %v) was taken %d times, and is %s: %s", x.token, x.forAgent, n, r.State, r.Reason)
	}
}

// What somebody types while a command runs stands before the next prompt of a shell that
// lets the kernel edit its line, and is in nobody's text.
func TestWhatIsTypedWhileACommandRunsIsInNobodysText(t *testing.T) {
	slow(t)
	h := newTypingHouse(t, drawtest.Seed(t))
	h.file(h.recorder(), "#!/bin/sh\nsleep 0.5\nprintf '%s\\n' \"$*\" >> \"$0.log\"\nsleep 0.5\n", 0o700)
	h.run()
	h.awaitTmux()
	h.enter("r0sh", "sh")
	r := h.rooms[0]
	for range 3 {
		h.write(r)
		h.submitted(r) // a text that's held while the command before it ends isn't running yet
		h.keys(r, "-l", "half-")
		h.ranAll()
		h.write(r)
		held := h.awaitHeld(r)
		if !saysLineStands(held.Reason) {
			t.Errorf("it's held because %s", held.Reason)
		}
		h.unhalf(r)
		h.settled(r)
		h.ranAll()
	}
	h.check()
}

// While a shell searches its history, or one of its own commands reads a single key, a text
// waits: its letters would find an old command, or answer, and Enter would run the rest. So it
// does where a program's full screen has stayed, on which a prompt may be anything.
func TestTextsWaitWhileAShellReadsSomethingElse(t *testing.T) {
	slow(t)
	h := newTypingHouse(t, drawtest.Seed(t))
	h.run()
	h.awaitTmux()
	full := func(on string) [][]string { return [][]string{{"-l", `printf '\033[?1049` + on + `'`}, {"Enter"}} }
	for _, c := range []struct {
		shell      string
		begin, end [][]string // keys
		why        string
	}{
		{"bash", [][]string{{"C-r"}}, [][]string{{"C-g"}}, "reads something else"},
		{"bash", [][]string{{"C-r"}, {"-l", "end"}}, [][]string{{"C-g"}}, "reads something else"},
		{"bash", [][]string{{"-l", "read -n 1 -p 'Delete all? [y/N] ' x"}, {"Enter"}}, [][]string{{"n"}}, "reads something else"},
		{"zsh", [][]string{{"-l", "read -k 1 'x?Delete all? [y/N] '"}, {"Enter"}}, [][]string{{"n"}}, "reads something else"},
		{"zsh", [][]string{{"C-r"}}, [][]string{{"C-g"}}, "reads something else"},
		{"zsh", [][]string{{"C-r"}, {"-l", "end"}}, [][]string{{"C-g"}}, "reads something else"},
		{"bash", full("h"), full("l"), "full screen"},
		{"sh", full("h"), full("l"), "full screen"},
	} {
		h.enter(fmt.Sprint("r", len(h.rooms), c.shell), c.shell)
		r := h.rooms[len(h.rooms)-1]
		h.write(r)
		h.submitted(r)
		h.ranAll()
		for _, keys := range c.begin {
			h.keys(r, keys...)
			time.Sleep(300 * time.Millisecond)
		}
		h.write(r)
		held := h.awaitHeld(r)
		time.Sleep(time.Second)
		if !strings.Contains(held.Reason, c.why) {
			t.Errorf("%s, %v: it's held because %s", c.shell, c.begin, held.Reason)
		}
		for _, keys := range c.end {
			h.keys(r, keys...)
		}
		h.finished(r)
	}
	h.check()
}

// A shell that lets the kernel edit its line gets a text without brackets, though a program that
// was killed has left them switched on.
func TestWhatAKilledProgramLeftSwitchedOnIsInNoText(t *testing.T) {
	slow(t)
	h := newTypingHouse(t, drawtest.Seed(t))
	h.run()
	h.awaitTmux()
	h.enter("r0sh", "sh")
	r := h.rooms[0]
	h.keys(r, "-l", `printf '\033[?2004h'`)
	h.keys(r, "Enter")
	for range 2 {
		h.write(r)
		h.submitted(r)
		h.ranAll()
	}
	h.check()
}

// TestTypingHistories plays histories on real tmux: shells of all kinds, and agents that
// are begun and end in them.
func TestTypingHistories(t *testing.T) {
	slow(t)
	n, steps := 4, 8
	if drawtest.Stressed() {
		n, steps = 300, 12
	}
	for seed := range drawtest.Seeds(t, n) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			h := newTypingHouse(t, seed)
			h.run()
			h.awaitTmux()
			shells := [][]string{{"bash"}, {"bash", "--norc"}, {"zsh"}, {"fish"}, {"sh"}}
			for range 2 {
				one := shells[h.random.IntN(len(shells))]
				h.enter(fmt.Sprint("r", len(h.rooms), one[0]), one...)
			}
			for range steps {
				h.act()
			}
			for _, r := range h.rooms {
				if r.half {
					h.unhalf(r)
				}
				h.settled(r)
			}
			h.check()
		})
	}
}
