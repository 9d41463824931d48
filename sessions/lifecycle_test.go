package sessions_test

import (
	"sync"
	"testing"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// ear asks for a session as it hears of its lines.
type ear struct {
	nobody
	manager func() *sessions.Manager

	mu     sync.Mutex
	states []sessions.State // at each event that says that the session has ended
	told   int              // changes to an ended session before that
}

func (e *ear) Output(ev sessions.OutputEvent) {
	if ev.State != sessions.StateEnded {
		return
	}
	s, _ := e.manager().Get(string(ev.Session))
	e.mu.Lock()
	defer e.mu.Unlock()
	e.states = append(e.states, s.State)
}

func (e *ear) Changed(s sessions.Session) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if s.State == sessions.StateEnded && len(e.states) == 0 {
		e.told++
	}
}

// Whoever hears of a session's last line finds that it has ended: the line rings in chats.
// That it has ended is told afterwards.
func TestASessionHasEndedAsItsLastLineIsTold(t *testing.T) {
	var b *bed
	e := &ear{manager: func() *sessions.Manager { return b.manager }}
	p := &pane{}
	withPane(t, p, p, func(o *options) { o.Feed.OnOutput(e.Output); o.Feed.OnSession(e.Changed) }, func(made *bed) {
		b = made
		b.manager.Ended(b.id, nil, "its pane is gone")
		b.pass(time.Second)
	})
	if len(e.states) != 1 || e.states[0] != sessions.StateEnded || e.told > 0 {
		t.Errorf("states %v, told of its end %d times before its last line", e.states, e.told)
	}
}
