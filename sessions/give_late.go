package sessions

import (
	"context"
	"time"
	"unicode/utf8"
)

// A key that was read behind another, which answered the question, may come to stand in the input box
// of the program. It's taken away there, for all that's written would wait behind it.
const (
	// lateLooks is in how many looks an answer waits for that.
	lateLooks = 3
	// keyLateWithin is for how long it's looked for after the answer: a program that goes on to do what
	// was allowed draws its box some 0.3 s later. A person who begins to write with that very
	// character needs longer.
	keyLateWithin = 2 * time.Second
	keyLateEvery  = 100 * time.Millisecond
)

// single is the key of a step that may come to stand in an input box; "": none does.
func (s DialogStep) single() string {
	if s.Text != "" || len(s.Keys) != 1 || utf8.RuneCountInString(s.Keys[0]) != 1 {
		return ""
	}
	return s.Keys[0]
}

// cameLate reports whether the key of a step stands in the program's input box instead of having
// answered: somebody at the pane had. It's taken away then. now is the look without the question.
func (g *giver) cameLate(ctx context.Context, step DialogStep, now *seen) bool {
	key := step.single()
	if key == "" || now.dialog != nil || g.m.opt.Box == nil {
		return false
	}
	for look := 1; ; look++ {
		switch g.m.lateKey(g.prompt.Session, &now.snap, key) {
		case keyElsewhere:
			return false
		case keyInBox:
			g.m.takeOut(ctx, g.srv, g.pane, g.prompt.Session, &now.snap)
			return true
		case keyNotSeen:
		}
		if look == lateLooks || rest(ctx, lookEvery) != nil {
			return false
		}
		again, err := g.see(ctx)
		if err != nil || again.dialog != nil {
			return false
		}
		*now = again
	}
}

// lateKeyAt says where the key of an answer is after the question has gone.
type lateKeyAt int

const (
	keyNotSeen   lateKeyAt = iota // the box is empty, or isn't drawn
	keyInBox                      // and nothing else
	keyElsewhere                  // the box has something else, or none is known
)

func (m *Manager) lateKey(id ID, snap *Snapshot, key string) lateKeyAt {
	switch b := m.opt.Box(id, snap); {
	case !b.Known, b.Shell, b.Open && b.Text != "" && b.Text != key:
		return keyElsewhere
	case b.Open && b.Text == key:
		return keyInBox
	}
	return keyNotSeen
}

// takeOut takes the one character away that stands in the box. Where that fails it stands there for a
// person to see.
func (m *Manager) takeOut(ctx context.Context, srv Server, pane Pane, id ID, snap *Snapshot) {
	guard := Guard{Pane: pane.ID, Server: pane.Identity, Saw: snap, Rows: m.opt.Box(id, snap).Rows, Phrases: absent(m.opt.Phrases, snap), Front: snap.Front}
	_, _ = srv.Press(context.WithoutCancel(ctx), guard, "BSpace")
}

// takeLateKey looks for a while for the key of an answer in the box, and takes it away there. Who
// answered isn't told otherwise: a question that shows up, or a text that's typed, ends the search.
func (m *Manager) takeLateKey(ctx context.Context, id ID, key string) {
	for until := time.Now().Add(keyLateWithin); time.Now().Before(until) && rest(ctx, keyLateEvery) == nil; {
		if done := m.lookForLateKey(ctx, id, key); done {
			return
		}
	}
}

func (m *Manager) lookForLateKey(ctx context.Context, id ID, key string) (done bool) {
	s, srv, err := m.living(id)
	keys := m.keyboardOf(id)
	if err != nil || keys == nil {
		return true
	}
	if keys.takeWithin(ctx, lookEvery) != nil { // somebody types, or answers the next
		return false
	}
	defer keys.giveBack()
	look, cancel := context.WithTimeout(ctx, tmuxTimeout)
	defer cancel()
	snap, err := srv.Snapshot(look, s.Pane.ID, Window{})
	switch {
	case err != nil || snap.Server != s.Pane.Identity:
		return false
	case m.opt.Dialogs.Read(id, &snap, nil) != nil:
		return true
	}
	at := m.lateKey(id, &snap, key)
	if at == keyInBox {
		m.log.Info("took the key of an answer out of the input box: the question had gone", "session", id)
		m.takeOut(ctx, srv, s.Pane, id, &snap)
	}
	return at != keyNotSeen
}
