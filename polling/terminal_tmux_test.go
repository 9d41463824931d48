package polling

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/sessions"
)

// The terminal of these tests is as tmux is: after each of many random steps
// both show the same, screen and history. How many rows come back when the screen
// gets higher behind a change of width is left out.
func TestTerminalIsLikeTmux(t *testing.T) {
	t.Parallel()
	seeds, steps := 4, 60
	if drawtest.Stressed() {
		seeds, steps = 10, 150
	}
	for seed := range drawtest.Seeds(t, seeds) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 1))
			pane, model := newTmuxTerminal(t, 60, 12), newTerminal(60, 12, 1000)
			did, reflowed := []string{}, false
			for n := range steps {
				var out string
				switch random.IntN(8) {
				case 0:
					w, h := 20+random.IntN(80), 3+random.IntN(20)
					if reflowed {
						h = min(h, model.height)
					}
					reflowed = reflowed || w != model.width
					did = append(did, fmt.Sprintf("%dx%d", w, h))
					pane.resize(w, h)
					model.resize(w, h)
				case 1:
					reflowed = false
					out = "\x1b[2J\x1b[3J\x1b[H"
				case 2:
					out = "\x1b[2J\x1b[H"
				case 3:
					out = eraseBox
				default:
					for range 1 + random.IntN(12) {
						out += strings.Repeat(strconv.Itoa(n), random.IntN(60)) + "\n"
					}
					out += "> input"
				}
				if out != "" {
					did = append(did, strconv.Quote(out))
				}
				model.put(out, len(out))
				pane.put(out)
				if bad := pane.differs(model); bad != "" {
					t.Fatalf("after %s:\n%s", strings.Join(did, "\n"), bad)
				}
			}
		})
	}
}

// tmuxTerminal is a pane of a tmux server of its own, and what it shows.
type tmuxTerminal struct {
	t      *testing.T
	socket string
	out    *os.File
	puts   int // the pane's title says how many of them tmux has worked in
}

func newTmuxTerminal(t *testing.T, width, height int) *tmuxTerminal {
	t.Helper()
	dir, err := os.MkdirTemp("", "pb") // not t.TempDir: a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	fifo := filepath.Join(dir, "out")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	r := &tmuxTerminal{t: t, socket: filepath.Join(dir, "s")}
	r.tmux("-f", "/dev/null", "new-session", "-d", "-x", strconv.Itoa(width), "-y", strconv.Itoa(height), "exec cat "+fifo,
		";", "set-option", "-g", "status", "off", ";", "resize-window", "-x", strconv.Itoa(width), "-y", strconv.Itoa(height))
	t.Cleanup(func() { _ = exec.Command("tmux", "-S", r.socket, "kill-server").Run() })
	if r.out, err = os.OpenFile(fifo, os.O_WRONLY, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.out.Close() })
	return r
}

func (r *tmuxTerminal) tmux(args ...string) string {
	r.t.Helper()
	out, err := exec.Command("tmux", append([]string{"-S", r.socket}, args...)...).Output()
	if err != nil {
		r.t.Fatalf("tmux %v: %v", args, err)
	}
	return string(out)
}

func (r *tmuxTerminal) resize(w, h int) {
	r.tmux("resize-window", "-x", strconv.Itoa(w), "-y", strconv.Itoa(h))
}

func (r *tmuxTerminal) put(text string) {
	r.puts++
	if _, err := fmt.Fprintf(r.out, "%s\x1b]2;%d\a", text, r.puts); err != nil {
		r.t.Fatal(err)
	}
}

// differs waits until tmux has worked all in; if it shows something else than the
// model then, it returns both.
func (r *tmuxTerminal) differs(model *terminal) string {
	s := model.snapshot(sessions.RowWindow{Start: -model.hs})
	want := fmt.Sprintf("%d: %dx%d history %d cursor %d", r.puts, s.Width, s.Height, s.HistorySize, s.CursorY)
	for i := range s.Rows {
		s.Rows[i] = trimRow(s.Rows[i])
	}
	got := ""
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
		state, rows, _ := strings.Cut(r.tmux("display-message", "-p", "#{pane_title}: #{pane_width}x#{pane_height} history #{history_size} cursor #{cursor_y}", ";",
			"capture-pane", "-p", "-S", "-"), "\n")
		have := strings.Split(strings.TrimSuffix(rows, "\n"), "\n")
		if state == want && slices.Equal(have, s.Rows) {
			return ""
		}
		got = state + "\n" + strings.Join(have, "\n")
		if strings.HasPrefix(state, fmt.Sprintf("%d: %dx%d ", r.puts, s.Width, s.Height)) {
			break
		}
	}
	return fmt.Sprintf("tmux: %s\nmodel: %s\n%s", got, want, strings.Join(s.Rows, "\n"))
}
