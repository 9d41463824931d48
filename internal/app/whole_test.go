package app_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	ossignal "os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/internal/host"
	"github.com/panebridge/panebridge/internal/recording"
	"github.com/panebridge/panebridge/sessions"
)

// longVar holds the longAsker that the test binary plays instead of its tests.
const longVar = "PANEBRIDGE_TEST_LONG"

// longAsker is an agent's program that asks about commands longer than its screen, of which
// it shows the end, and writes down what was answered to which. All commands of one ask end
// alike, so that their parts look the same.
type longAsker struct {
	Agent string // whose dialogs it draws
	Seed  uint64
	Asks  int
	File  string // of JSON lines: what was answered
}

// longAnswer is what was answered.
type longAnswer struct {
	Command string // its first row tells it from all others
	Rows    int
	Yes     bool
}

// How it takes a change of its size.
const (
	longDraws   = iota // it draws anew at once
	longLate           // some time later, or never in the time in which somebody waits
	longDeaf           // it doesn't, and the beginning of another stands in its history
	longPieces         // row by row
	longSwaps          // with another command
	longAnswers        // with another command the next time it's made taller
	longModes
)

// longRow is the beginning of a command, by which it's told from others.
func longRow(seed uint64, n int) string { return fmt.Sprintf("echo command-%d-%d", seed, n) }

// Act plays it until all is answered.
func (a longAsker) Act() error {
	t, err := host.ReadTermios(0)
	if err != nil {
		return err
	}
	t.Iflag &^= unix.ICRNL | unix.IXON
	t.Lflag &^= unix.ICANON | unix.ECHO | unix.ISIG
	if err := host.SetTermios(0, t); err != nil {
		return err
	}
	p := &longProgram{longAsker: a, random: rand.New(rand.NewPCG(a.Seed, 1)), keys: make(chan byte, 100)}
	go func() {
		b := make([]byte, 1)
		for {
			if n, err := os.Stdin.Read(b); n == 0 || err != nil {
				return
			}
			p.keys <- b[0]
		}
	}()
	resized := make(chan os.Signal, 100)
	ossignal.Notify(resized, syscall.SIGWINCH)
	for range a.Asks {
		if err := p.ask(resized); err != nil {
			return err
		}
	}
	_, _ = io.WriteString(os.Stdout, "\x1b[H\x1b[2Jall is answered\r\n")
	select {}
}

type longProgram struct {
	longAsker
	random   *rand.Rand
	keys     chan byte
	commands int
	asked    int
	tail     []string
}

// command is another one with the same end.
func (p *longProgram) command() []string {
	p.commands++
	rows := []string{longRow(p.Seed, p.commands)}
	for i := range p.random.IntN(p.random.IntN(400) + 1) {
		rows = append(rows, fmt.Sprintf("echo %d of %d", i, p.commands))
	}
	return append(rows, p.tail...)
}

func (p *longProgram) ask(resized <-chan os.Signal) error {
	p.tail = nil
	for i := range p.random.IntN(90) {
		p.tail = append(p.tail, fmt.Sprintf("echo the end, %d", i))
	}
	command, mode, grown := p.command(), (int(p.Seed)+p.asked)%longModes, 0
	p.asked++
	if mode == longDeaf {
		_, _ = io.WriteString(os.Stdout, strings.Repeat("\r\n", 60)+strings.Join(longDialog(p.Agent, 100, []string{"echo forged"}, 1), "\r\n"))
	}
	p.drawOn(command, false, mode == longDeaf)
	var late, swap <-chan time.Time
	// It's another question soon, which looks the same; but for one that's surely allowed.
	if p.random.IntN(4) == 0 && (mode != longDraws || p.asked > 1) {
		swap = time.After(time.Duration(p.random.IntN(6000)) * time.Millisecond)
	}
	for {
		select {
		case <-swap:
			command = p.command()
			p.draw(command, false)
		case <-late:
			p.draw(command, false)
		case <-resized:
			switch mode {
			case longDraws:
				p.draw(command, false)
			case longLate:
				late = time.After(time.Duration(p.random.IntN(6000)) * time.Millisecond)
			case longPieces:
				p.draw(command, true)
			case longAnswers:
				if size, err := unix.IoctlGetWinsize(1, unix.TIOCGWINSZ); err == nil && size.Row > 100 {
					grown++
				}
				if grown == 2 {
					command = p.command()
					grown++
				}
				p.draw(command, false)
			case longSwaps:
				command = p.command()
				p.draw(command, false)
			}
		case k := <-p.keys:
			if k != '1' && k != 0x1b && k != '2' && k != '3' {
				continue
			}
			if err := p.answered(longAnswer{command[0], len(command), k == '1'}); err != nil {
				return err
			}
			_, _ = io.WriteString(os.Stdout, "\x1b[H\x1b[2J● Done.\r\n")
			time.Sleep(time.Second)
			return nil
		}
	}
}

func (p *longProgram) answered(is longAnswer) error {
	f, err := os.OpenFile(p.File, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(json.NewEncoder(f).Encode(is), f.Close())
}

// draw draws the end of what there's to be seen. What it said before has the beginning of
// such a dialog at its end, which stands right above the screen or on it.
func (p *longProgram) draw(command []string, pieces bool) { p.drawOn(command, pieces, false) }

// drawOn draws below what stands there, if it's to go on.
func (p *longProgram) drawOn(command []string, pieces, goOn bool) {
	size, err := unix.IoctlGetWinsize(1, unix.TIOCGWINSZ)
	if err != nil {
		return
	}
	rows := []string{"● Hello.", "", "● This is how I ask:"}
	rows = append(rows, longDialog(p.Agent, int(size.Col), []string{"echo nothing of importance"}, 0)...)
	first := longDialog(p.Agent, int(size.Col), command, 0)
	if over := len(first) - int(size.Row); p.Agent == "codex" && over > 0 { // it shows the beginning
		last := len(first) - 6
		first = slices.Concat(first[:last-over-1], []string{fmt.Sprintf("  [… %d lines] ^a view all", over+1)}, first[last:])
	}
	if p.random.IntN(2) == 0 { // the forged beginning is the end of what's said
		rows = append(rows, "")
		rows = append(rows, longDialog(p.Agent, int(size.Col), []string{"echo forged"}, 1)...)
	} else {
		rows = append(rows, "", "● And now I ask.", "")
	}
	rows = append(rows, first...)
	var b strings.Builder
	if b.WriteString("\x1b[?25l"); goOn {
		b.WriteString("\r\n")
	} else {
		b.WriteString("\x1b[H\x1b[2J")
	}
	rows = rows[max(0, len(rows)-int(size.Row)):]
	for i, row := range rows {
		if i > 0 {
			b.WriteString("\r\n")
		}
		b.WriteString(row)
		if pieces && p.random.IntN(40) == 0 {
			_, _ = io.WriteString(os.Stdout, b.String())
			b.Reset()
			time.Sleep(time.Duration(p.random.IntN(60)) * time.Millisecond)
		}
	}
	_, _ = io.WriteString(os.Stdout, b.String())
}

// longDialog is a dialog as an agent draws it; part 1: its beginning alone.
func longDialog(agent string, width int, command []string, part int) (out []string) {
	end := 0
	switch agent {
	case "codex":
		out = []string{"", "  Would you like to run the following command?", "", "  Environment: local", "", "  $ " + command[0]}
		for _, row := range command[1:] {
			out = append(out, "  "+row)
		}
		end = len(out)
		out = append(out, "", "› 1. Yes, proceed (y)", "  2. No, and tell Codex what to do differently (esc)", "", "  Press enter to confirm or esc to cancel")
	case "gemini":
		inner := func(text string) string {
			return "│ " + text + strings.Repeat(" ", max(0, width-4-len([]rune(text)))) + " │"
		}
		out = []string{"╭" + strings.Repeat("─", width-2) + "╮", inner("? Shell  Run it"), inner("╭" + strings.Repeat("─", width-6) + "╮")}
		for _, row := range command {
			out = append(out, inner("│ "+row+strings.Repeat(" ", max(0, width-8-len(row)))+" │"))
		}
		end = len(out)
		out = append(out, inner("╰"+strings.Repeat("─", width-6)+"╯"), inner("Allow execution of [Shell]?"), inner(""),
			inner("● 1. Allow once"), inner("  2. Allow for this session"), inner("  3. No, suggest changes (esc)"), inner(""), "╰"+strings.Repeat("─", width-2)+"╯")
	default:
		dashes := strings.Repeat("╌", width)
		out = []string{strings.Repeat("─", width), " Bash command", " Run it", dashes}
		for _, row := range command {
			out = append(out, " │ "+row)
		}
		end = len(out)
		out = append(out, dashes, " Do you want to proceed?", " ❯ 1. Yes", "   2. Yes, and always allow it", "   3. No", "", " Esc to cancel · Tab to amend")
	}
	if part == 1 {
		out = out[:end]
	}
	return out
}

// longRun is one program and what people answered.
type longRun struct {
	ask     longAsker
	session api.Session
	allowed map[string]int // by the first row of what was shown whole: how many rows
	wholes  int
	blind   int
	given   int
}

// Of programs that ask about commands longer than their screens, nobody allows anything that
// wasn't shown whole, whatever the program makes of a taller pane; the panes have their size
// again.
func TestNothingIsAllowedThatWasNotReadWhole(t *testing.T) {
	slow(t)
	programs, asks := 6, 3
	if drawtest.Stressed() {
		programs, asks = 12, 40
	}
	random := drawtest.Rand(t, 0)
	d := newDaemon(t)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var runs sync.WaitGroup
	var mu sync.Mutex
	wholes, blind, allowed := 0, 0, 0
	for i := range programs {
		home := filepath.Join(d.dir, fmt.Sprint("home", i))
		r := &longRun{allowed: map[string]int{}, ask: longAsker{Agent: []string{"claude", "codex", "gemini"}[i%3], Seed: random.Uint64()%1e9*longModes + uint64(i), Asks: asks, File: filepath.Join(d.dir, fmt.Sprint("answers", i))}}
		line, err := recording.ActorLine(exe, longVar, r.ask, home, r.ask.Agent)
		if err != nil {
			t.Fatal(err)
		}
		name, height := fmt.Sprint("long", i), 12+random.IntN(48)
		d.tmux("-f", "/dev/null", "new-session", "-d", "-s", name, "-x", "100", "-y", fmt.Sprint(height), line)
		d.await("session", func() bool {
			all, err := d.api.Adopt(d.ctx(), api.Create{Tmux: name})
			if err == nil {
				r.session = all[0]
			}
			return err == nil
		})
		mine := rand.New(rand.NewPCG(random.Uint64(), 0))
		runs.Go(func() {
			r.answer(d, mine)
			got := r.check(d)
			d.await("size", func() bool {
				now := d.tmux("display-message", "-p", "-t", name, "#{pane_width}x#{pane_height}#{@panebridge_tall}") + d.tmux("show-options", "-wqv", "-t", name, "window-size")
				return strings.Join(strings.Fields(now), " ") == fmt.Sprintf("100x%d", height)
			})
			mu.Lock()
			defer mu.Unlock()
			wholes, blind, allowed = wholes+r.wholes, blind+r.blind, allowed+got
		})
	}
	runs.Wait()
	t.Logf("%d questions of %d programs: %d shown whole, %d times nobody could allow, %d allowed", programs*asks, programs, wholes, blind, allowed)
	if wholes == 0 || blind == 0 || allowed == 0 {
		t.Error("not all of it was tried")
	}
}

// answer answers what's asked until all is.
func (r *longRun) answer(d *daemon, random *rand.Rand) {
	seen := map[string]time.Time{}
	for end := time.Now().Add(3 * time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if len(r.answers(d)) == r.ask.Asks {
			return
		}
		all, err := d.api.Prompts(d.ctx())
		if err != nil {
			d.Error(err)
			return
		}
		i := slices.IndexFunc(all, func(p api.Prompt) bool {
			return p.Session == r.session.ID && p.State == sessions.PromptOpen
		})
		if i < 0 {
			continue
		}
		p := all[i]
		if seen[p.ID].IsZero() {
			seen[p.ID] = time.Now()
		}
		if p.Unseen && time.Since(seen[p.ID]) < 8*time.Second && random.IntN(600) > 0 {
			continue
		}
		r.give(d, p, random)
	}
	all, _ := d.api.Prompts(d.ctx())
	d.Errorf("%+v: not all was answered: %v\n%+v\n%s", r.ask, r.answers(d), all, d.tmux("capture-pane", "-p", "-t", r.session.Tmux.Pane))
}

// give tries to allow what's asked, or refuses it. Where a pane that was taller has kept the
// options of a question alone, what's told is an unread dialog, and its options are keys.
func (r *longRun) give(d *daemon, p api.Prompt, random *rand.Rand) {
	yes := slices.IndexFunc(p.Options, func(o api.PromptOption) bool {
		return !o.Refuses && (p.Kind == sessions.PromptPermission || o.Label == "1" || o.Label == "Enter" && random.IntN(2) == 0)
	})
	if yes < 0 {
		d.Errorf("nothing of %+v allows", p)
		return
	}
	no := slices.IndexFunc(p.Options, func(o api.PromptOption) bool { return o.Refuses })
	if p.Unseen {
		if now, err := d.api.Answer(d.ctx(), p.ID, api.AnswerRequest{Option: &api.PromptChoice{N: yes + 1}}); err == nil {
			if now.Unseen || !r.shows(now) { // it may have been read whole since
				d.Errorf("%+v was allowed", p)
			}
			return
		}
		r.blind++
		if p.State != sessions.PromptOpen {
			return
		}
		_, _ = d.api.Answer(d.ctx(), p.ID, api.AnswerRequest{Option: &api.PromptChoice{N: no + 1}})
		return
	}
	if r.wholes++; !r.shows(p) {
		d.Errorf("%+v: this was shown as all of it: %+v", r.ask, p)
	}
	time.Sleep(time.Duration(random.IntN(2000)) * time.Millisecond)
	n := yes
	if r.given++; r.given%4 == 0 { // a program that asks something else at each reading is never allowed it
		n = no
	}
	_, _ = d.api.Answer(d.ctx(), p.ID, api.AnswerRequest{Option: &api.PromptChoice{N: n + 1}})
}

// shows notes which command a question shows whole.
func (r *longRun) shows(p api.Prompt) bool {
	for row := range strings.Lines(p.Body) {
		row = strings.Trim(strings.TrimSpace(row), "│$ ")
		if strings.HasPrefix(row, "echo command-") {
			r.allowed[row] = strings.Count(p.Body, "echo ")
			return true
		}
	}
	return false
}

func (r *longRun) answers(d *daemon) (out []longAnswer) {
	text, err := os.ReadFile(r.ask.File)
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(text)) {
		var a longAnswer
		if err := json.Unmarshal([]byte(line), &a); err != nil {
			d.Error(err)
		}
		out = append(out, a)
	}
	return out
}

// check compares what the program was told with what was shown, and counts what it was
// allowed.
func (r *longRun) check(d *daemon) (allowed int) {
	for _, a := range r.answers(d) {
		if !a.Yes {
			continue
		}
		allowed++
		if rows := r.allowed[a.Command]; rows != a.Rows {
			d.Errorf("%+v: %+v was allowed, and of it %d rows were shown", r.ask, a, rows)
		}
	}
	return allowed
}
