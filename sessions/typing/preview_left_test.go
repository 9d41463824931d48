package typing

import (
	"context"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/sessions"
)

const leftText = "[panebridge msg m_1 from lead 2026-01-02 15:04:05]\nplease run the tests!"

// mortal is a pane with an input box, whose typist is killed at one of its steps.
type mortal struct {
	sessions.Server

	box       string
	dialog    bool
	unknown   bool // the box can't be read
	restless  int  // so many times its screen has changed when it's typed into
	pastes    int
	submitted []string
	pressedIn string // what had the foreground when Enter was pressed
	steps     int    // until who types is killed; 0: never
	agent     int    // looks until the agent has ended, and a shell has the foreground; 0: never; below 0: that's so
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

func (m *mortal) Snapshot(context.Context, string, sessions.Window) (sessions.Snapshot, error) {
	m.step()
	if m.agent == 1 {
		m.agent = -1
	} else if m.agent > 0 {
		m.agent--
	}
	return sessions.Snapshot{Pane: "%1", Rows: m.rows(), CursorX: len(m.box), Front: m.front()}, nil
}

func (m *mortal) Terminal(string) (sessions.Terminal, error) { return sessions.Terminal{}, nil }

func (m *mortal) Paste(_ context.Context, _ sessions.Guard, text string) (sessions.Outcome, error) {
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

func (m *mortal) Press(context.Context, sessions.Guard, ...string) (sessions.Outcome, error) {
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
		Box: func(s *sessions.Snapshot) sessions.Box {
			open := !m.dialog && !m.unknown
			return sessions.Box{Known: !m.unknown, Open: open, Text: m.box, Shell: open && s.Front == "sh"}
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
					_, _, _ = m.typist().run(t.Context())
				}()
				<-done
				if m.steps > 0 {
					killed = -1 // all steps were survived
				}
				m.steps = again
				done = make(chan bool)
				go func() {
					defer close(done)
					m.typist().finish(t.Context())
				}()
				<-done
				m.steps = 0
				stood := m.box != ""
				end, why := m.typist().finish(t.Context())
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
					if end, why := m.typist().finish(t.Context()); end != sessions.PreviewUnknown || !strings.Contains(why, "shell") && !m.unknown {
						t.Errorf("%d, %q", end, why)
					}
				} else if _, _, err := m.typist().run(t.Context()); err != nil {
					t.Error(err)
				}
				if len(m.submitted) > 0 && m.pressedIn == "sh" {
					t.Errorf("the agent ended after %d looks, and the shell got %q", ends, m.submitted)
				}
			})
		}
	}
}

// A preview is typed at a moment at which the screen stands still; where there's none in
// time, or somebody else waits to type, nothing is.
func TestPreviewWaitsForAScreenThatStands(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		restless, stopped := rapid.IntRange(0, 2*movedTries).Draw(rt, "restless"), rapid.Bool().Draw(rt, "stopped")
		synctest.Test(t, func(t *testing.T) {
			m := &mortal{restless: restless}
			p := m.typist()
			if stop := make(chan struct{}); stopped {
				close(stop)
				p.text.Stop = stop
			}
			sent, why, err := p.run(t.Context())
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
		if sent, why, err := p.run(t.Context()); !sent || err != nil || len(m.submitted) != 1 || m.submitted[0] != want {
			t.Errorf("%v, %q, %v: submitted %q", sent, why, err, m.submitted)
		}
		m.box = want
		p = m.typist()
		p.text.Fit = fit
		if end, why := p.finish(t.Context()); end != sessions.PreviewFinished {
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
				end, why := c.pane.typist().finish(t.Context())
				if end != c.want || !strings.Contains(why, c.why) || (len(c.pane.submitted) > 0) != (end == sessions.PreviewFinished) || c.pane.pastes > 0 {
					t.Errorf("%d, %q; %q submitted", end, why, c.pane.submitted)
				}
			})
		})
	}
}
