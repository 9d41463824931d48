package typing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/sessions"
	"github.com/panebridge/panebridge/sessions/sessionstest"
)

// TestPreviewAgainst: a preview is typed only where it can be seen that nothing stands in
// the input box.
func TestPreviewAgainst(t *testing.T) {
	raw, lines := sessions.Terminal{}, sessions.Terminal{Canonical: true, MaxLine: 4095}
	for _, c := range []struct {
		name    string
		rows    []string
		x       int
		term    sessions.Terminal
		box     sessions.InputBox
		shell   bool
		command bool
		young   bool
		text    string
		want    string // "": it's typed
	}{
		{name: "an empty box", box: sessions.InputBox{Known: true, Open: true}},
		{name: "something in the box", box: sessions.InputBox{Known: true, Open: true, Text: "rm"}, want: "half-typed"},
		{name: "no box", box: sessions.InputBox{Known: true}, want: "isn't on the screen"},
		{name: "a dialog", rows: []string{"do you want to proceed"}, box: sessions.InputBox{Known: true, Open: true}, want: "dialog"},
		{name: "not read yet", box: sessions.InputBox{Known: true, Open: true}, term: sessions.Terminal{Unread: 3}, want: "hasn't read"},
		{name: "a line reader", rows: []string{"", ""}, term: lines},
		{name: "nothing yet", rows: []string{"", ""}, term: lines, young: true, want: "isn't ready"},
		{name: "the box of a new program", box: sessions.InputBox{Known: true, Open: true}, young: true},
		{name: "a line reader that has said something", rows: []string{"", "Welcome."}, term: lines, young: true},
		{name: "half a line", rows: []string{"half"}, x: 4, term: lines, want: "half-typed"},
		{name: "a line reader that asks", rows: []string{"Name: "}, x: 6, term: lines, want: "half-typed"},
		{name: "too long for the kernel", rows: []string{""}, term: lines, text: strings.Repeat("x", 5000), want: "cuts lines"},
		{name: "a bare sign", rows: []string{"> "}, x: 2, term: raw},
		{name: "a sign in a box", rows: []string{"│ ❯ "}, x: 4, term: raw},
		{name: "text behind the sign", rows: []string{"> half"}, x: 6, term: raw, want: "can't be seen"},
		{name: "text behind the cursor", rows: []string{"> half"}, x: 2, term: raw, want: "behind its cursor"},
		{name: "text of an unknown program", rows: []string{"Ready."}, x: 6, term: raw, want: "can't be seen"},
		{name: "a shell", rows: []string{"$ "}, x: 2, term: raw, shell: true, want: "would run"},
		{name: "a command for a shell", rows: []string{"me@host:~$ "}, x: 11, term: raw, shell: true, command: true},
		{name: "a shell with half a command", rows: []string{"$ rm -rf"}, x: 8, term: raw, shell: true, command: true, want: "half-typed"},
		{name: "a shell with its cursor at the beginning", rows: []string{"$ rm -rf"}, x: 2, term: raw, shell: true, command: true, want: "half-typed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dialog := func(rows []string) string {
				if strings.Contains(strings.Join(rows, "\n"), "do you want to proceed") {
					return "do you want to proceed"
				}
				return ""
			}
			p := lonelyPreview(nil, sessions.Pane{}, sessions.Preview{
				Text: "words of others", Plain: cmp.Or(c.text, "a command"), Command: c.command,
				Box:   func(*sessions.Snapshot) sessions.InputBox { return c.box },
				Shell: func(*sessions.Snapshot) bool { return c.shell },
			}, nil, dialog)
			p.young = c.young
			s := &sessions.Snapshot{Rows: c.rows, Height: len(c.rows), CursorX: c.x}
			p.chooseText(s)
			got := p.reasonAgainst(s, c.term)
			if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
			if words := p.receipt.Text == "words of others"; words != (c.box.Known || c.command) {
				t.Errorf("it would type %q", p.text.Text)
			}
		})
	}
}

// guardStillness is a pane whose screen never changes.
type still struct{ sessionstest.Tmux }

func (still) Snapshot(context.Context, string, sessions.RowWindow) (sessions.Snapshot, error) {
	return sessions.Snapshot{Rows: []string{"screen"}}, nil
}

func (still) Press(context.Context, sessions.PaneGuard, ...string) (sessions.GuardOutcome, error) {
	return sessions.Done, nil
}

// TestPreviewStands: Enter is pressed only while nothing else stands in the box.
func TestPreviewStands(t *testing.T) {
	const joined = "somebody goes on writing beside it"
	text := "[panebridge msg m_1 from lead 2026-01-02 15:04:05]\nplease run the tests of all packages now"
	for _, c := range []struct {
		name  string
		shown bool // before
		box   sessions.InputBox
		want  error
		waits string // for
	}{
		{"no box is known", false, sessions.InputBox{}, nil, ""},
		{"all of it", false, sessions.InputBox{Known: true, Open: true, Text: text}, nil, ""},
		{"broken into rows", false, sessions.InputBox{Known: true, Open: true, Text: strings.ReplaceAll(text, " ", "\n")}, nil, ""},
		{"its end, of a box that scrolls", false, sessions.InputBox{Known: true, Open: true, Text: "the tests of\nall packages now"}, nil, ""},
		{"its end alone, in a row", false, sessions.InputBox{Known: true, Open: true, Text: "the tests of all packages now"}, errTorn, ""},
		{"the end of what was seen whole", true, sessions.InputBox{Known: true, Open: true, Text: "the tests of all packages now"}, nil, ""},
		{"by its size", false, sessions.InputBox{Known: true, Open: true, Text: "[Pasted text #1 +2 lines]"}, nil, ""},
		{"nothing yet", false, sessions.InputBox{Known: true, Open: true}, errNotShown, ""},
		{"nothing any more", true, sessions.InputBox{Known: true, Open: true}, errTakenAway, ""},
		{"another's instead", true, sessions.InputBox{Known: true, Open: true, Text: "h"}, errTakenAway, ""},
		{"something behind it", true, sessions.InputBox{Known: true, Open: true, Text: text + "h"}, context.DeadlineExceeded, joined},
		{"something behind its end", true, sessions.InputBox{Known: true, Open: true, Text: "tests of all packages now and"}, context.DeadlineExceeded, joined},
		{"something before it", true, sessions.InputBox{Known: true, Open: true, Text: "h" + text}, context.DeadlineExceeded, joined},
		{"something behind its size", false, sessions.InputBox{Known: true, Open: true, Text: "[Pasted text #1 +2 lines] and"}, context.DeadlineExceeded, joined},
		{"its box isn't on the screen", true, sessions.InputBox{Known: true}, context.DeadlineExceeded, "its input box isn't on the screen"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				p := lonelyPreview(still{}, sessions.Pane{}, sessions.Preview{Text: text, Box: func(*sessions.Snapshot) sessions.InputBox { return c.box }}, nil, func([]string) string { return "" })
				p.boxed, p.alone, p.whole = c.box.Open, c.shown, c.shown
				err := p.awaitShown(ctx)
				if c.shown {
					err = nil // it was
				}
				if err == nil {
					_, err = p.standsAlone(ctx)
				}
				if !errors.Is(err, c.want) || c.waits != "" && !strings.Contains(previewHeld[p.heldFor], c.waits) {
					t.Errorf("%v, %q; want %v", err, previewHeld[p.heldFor], c.want)
				}
			})
		})
	}
}

const leftText = "[panebridge msg m_1 from lead 2026-01-02 15:04:05]\nplease run the tests!"

// mortal is a pane with an input box, whose typist is killed at one of its steps.
type mortal struct {
	sessionstest.Tmux

	box       string
	dialog    bool
	unknown   bool // the box can't be read
	restless  int  // so many times its screen has changed when it's typed into
	pastes    int
	submitted []string
	pressedIn string       // what had the foreground when Enter was pressed
	steps     int          // until who types is killed; 0: never
	cut       func() error // of each look, if it fails; nil: none does
	agent     int          // looks until the agent has ended, and a shell has the foreground; 0: never; below 0: that's so
}

// front is what has the foreground.
func (m *mortal) front() string { return map[bool]string{true: "sh", false: "agent"}[m.agent < 0] }

// step is survived, or not.
func (m *mortal) step() {
	if m.steps--; m.steps == 0 {
		runtime.Goexit()
	}
}

func (m *mortal) rows() []string {
	if m.dialog {
		return []string{"proceed?"}
	}
	return append(append([]string{}, m.submitted...), "> "+m.box)
}

func (m *mortal) Snapshot(context.Context, string, sessions.RowWindow) (sessions.Snapshot, error) {
	m.step()
	if m.cut != nil {
		if err := m.cut(); err != nil {
			return sessions.Snapshot{}, err
		}
	}
	if m.agent == 1 {
		m.agent = -1
	} else if m.agent > 0 {
		m.agent--
	}
	return sessions.Snapshot{Pane: "%1", Rows: m.rows(), CursorX: len(m.box), Front: m.front()}, nil
}

func (m *mortal) Paste(_ context.Context, _ sessions.PaneGuard, text string) (sessions.GuardOutcome, error) {
	m.step()
	if m.restless > 0 {
		m.restless--
		return sessions.Moved, nil
	}
	m.pastes++
	m.box += text
	m.step()
	return sessions.Done, nil
}

func (m *mortal) Press(context.Context, sessions.PaneGuard, ...string) (sessions.GuardOutcome, error) {
	m.step()
	m.pressedIn = m.front()
	m.submitted = append(m.submitted, m.box)
	m.box = ""
	m.step()
	return sessions.Done, nil
}

func (m *mortal) typist() *preview {
	dialog := func(rows []string) string { return map[bool]string{true: "proceed"}[rows[0] == "proceed?"] }
	return lonelyPreview(m, sessions.Pane{ID: "%1"}, sessions.Preview{
		Text: leftText, Shell: func(s *sessions.Snapshot) bool { return s.Front == "sh" },
		Box: func(s *sessions.Snapshot) sessions.InputBox {
			open := !m.dialog && !m.unknown
			return sessions.InputBox{Known: !m.unknown, Open: open, Text: m.box, Shell: open && s.Front == "sh"}
		},
	}, []string{"proceed"}, dialog)
}

// The typist of a preview is killed at each of its steps, and so is the one that looks
// after it, until one isn't. The text is in the pane once at most, submitted once at
// most, and not left there.
func TestPreviewCutOffAnywhere(t *testing.T) {
	finished := 0
	for killed := 1; ; killed++ {
		for again := range 40 {
			synctest.Test(t, func(t *testing.T) {
				m := &mortal{steps: killed, restless: again % 3}
				done := make(chan bool)
				go func() {
					defer close(done)
					_, _, _ = m.typist().typeNow(t.Context())
				}()
				<-done
				if m.steps > 0 {
					killed = -1 // all steps were survived
				}
				m.steps = again
				done = make(chan bool)
				go func() {
					defer close(done)
					m.typist().finishLeft(t.Context())
				}()
				<-done
				m.steps = 0
				stood := m.box != ""
				end, why := m.typist().finishLeft(t.Context())
				if stood != (end == sessions.PreviewFinished) || end == sessions.PreviewUnclear || m.box != "" || m.pastes > 1 || len(m.submitted) != m.pastes {
					t.Errorf("killed at step %d, and then %d: %d, %q; pasted %d times, %q submitted, %q is left", killed, again, end, why, m.pastes, m.submitted, m.box)
				}
				if stood {
					finished++
				}
			})
		}
		if killed < 0 {
			break
		}
	}
	if finished < 10 {
		t.Errorf("only %d were left", finished)
	}
}

// An agent that ends with a preview in its box, or unread, may leave it to a shell: that runs no word of it, whoever
// presses Enter.
func TestPreviewIsSubmittedToNoShell(t *testing.T) {
	for ends := 1; ends < 40; ends++ {
		for _, again := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				m := &mortal{agent: ends, unknown: ends%2 == 0}
				if again { // whoever typed it has been killed
					m.agent, m.box = -1, leftText
					if end, why := m.typist().finishLeft(t.Context()); end != sessions.PreviewUnknown || !strings.Contains(why, "shell") && !m.unknown {
						t.Errorf("%d, %q", end, why)
					}
				} else if _, _, err := m.typist().typeNow(t.Context()); err != nil {
					t.Error(err)
				}
				if len(m.submitted) > 0 && m.pressedIn == "sh" {
					t.Errorf("the agent ended after %d looks, and the shell got %q", ends, m.submitted)
				}
			})
		}
	}
}

// Of a look that's cut off as its daemon stops tmux' client says that nobody knows whether it was done. That's
// no doubt about the preview: it's typed if it was pasted before, and waits on otherwise.
func TestALookThatIsCutOffLeavesNoDoubt(t *testing.T) {
	unpasted := 0
	for at := range 40 {
		synctest.Test(t, func(t *testing.T) {
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			looks := 0
			m := &mortal{cut: func() error {
				if looks++; looks <= at {
					return nil
				}
				stop()
				return fmt.Errorf("capture pane: %w", sessions.ErrUncertain)
			}}
			sent, why, err := m.typist().typeNow(ctx)
			if err != nil || sent != (m.pastes == 1) || !sent && why == "" {
				t.Errorf("cut off at look %d, with %d pastes: sent %t, %q, %v", at, m.pastes, sent, why, err)
			}
			if m.pastes == 0 {
				unpasted++
			}
		})
	}
	if unpasted == 0 {
		t.Error("none was cut off before its paste")
	}
}

// A preview is typed at a moment at which the screen stands still; where there's none in
// time, or somebody else waits to type, nothing is.
func TestPreviewWaitsForAScreenThatStands(t *testing.T) {
	drawtest.Check(t, func(rt *rapid.T) {
		restless, stopped := rapid.IntRange(0, 2*movedTries).Draw(rt, "restless"), rapid.Bool().Draw(rt, "stopped")
		synctest.Test(t, func(t *testing.T) {
			m := &mortal{restless: restless}
			p := m.typist()
			if stop := make(chan struct{}); stopped {
				close(stop)
				p.text.Stop = stop
			}
			sent, why, err := p.typeNow(t.Context())
			want := restless < movedTries && (restless == 0 || !stopped)
			if err != nil || sent != want || (why == "") != want || len(m.submitted) != m.pastes || (m.pastes == 1) != want {
				rt.Errorf("sent %v, %q, %v; pasted %d times, %q submitted", sent, why, err, m.pastes, m.submitted)
			}
		})
	})
}

// What's typed is fitted to the program in the pane, however often it's tried, and so is what
// was left of it.
func TestPreviewIsFitted(t *testing.T) {
	fit := func(text string, _ *sessions.Snapshot) string { return strings.ReplaceAll(text, "tests", "all tests") }
	want := fit(leftText, nil)
	synctest.Test(t, func(t *testing.T) {
		m := &mortal{restless: 2}
		p := m.typist()
		p.text.Fit = fit
		if sent, why, err := p.typeNow(t.Context()); !sent || err != nil || len(m.submitted) != 1 || m.submitted[0] != want {
			t.Errorf("%v, %q, %v: submitted %q", sent, why, err, m.submitted)
		}
		m.box = want
		p = m.typist()
		p.text.Fit = fit
		if end, why := p.finishLeft(t.Context()); end != sessions.PreviewFinished {
			t.Errorf("%d, %q", end, why)
		}
	})
}

// What was left is submitted only where nothing but it stands in the box.
func TestPreviewLeft(t *testing.T) {
	for _, c := range []struct {
		name string
		pane mortal
		want sessions.PreviewEnd
		why  string
	}{
		{"all of it", mortal{box: leftText}, sessions.PreviewFinished, ""},
		{"broken into rows", mortal{box: strings.ReplaceAll(leftText, "tests", "te\nsts")}, sessions.PreviewFinished, ""},
		{"it's gone", mortal{}, sessions.PreviewUnknown, "doesn't stand"},
		{"another text", mortal{box: "half"}, sessions.PreviewUnknown, "something else"},
		{"something behind it", mortal{box: leftText + "!"}, sessions.PreviewUnknown, "beside it"},
		{"something before it", mortal{box: "h" + leftText}, sessions.PreviewUnknown, "beside it"},
		{"its end", mortal{box: "please run the tests!"}, sessions.PreviewUnknown, "beside it"},
		{"a dialog", mortal{box: leftText, dialog: true}, sessions.PreviewUnclear, "dialog"},
		{"a box that can't be read", mortal{box: leftText, unknown: true}, sessions.PreviewUnknown, "can't be read"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				end, why := c.pane.typist().finishLeft(t.Context())
				if end != c.want || !strings.Contains(why, c.why) || (len(c.pane.submitted) > 0) != (end == sessions.PreviewFinished) || c.pane.pastes > 0 {
					t.Errorf("%d, %q; %q submitted", end, why, c.pane.submitted)
				}
			})
		})
	}
}

func lonelyPreview(srv sessions.TmuxServer, pane sessions.Pane, p sessions.Preview, phrases []string, dialog func(rows []string) string) *preview {
	return newPreview(NewLonely(srv, pane, phrases, dialog), p)
}
