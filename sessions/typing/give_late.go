package typing

import (
	"context"
	"time"
	"unicode/utf8"

	"github.com/panebridge/panebridge/sessions"
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
	lookWithin    = 10 * time.Second // until tmux has answered
)

// singleKey is the key of a step that may come to stand in an input box; "": none does.
func singleKey(s sessions.DialogStep) string {
	if s.Text != "" || len(s.Keys) != 1 || utf8.RuneCountInString(s.Keys[0]) != 1 {
		return ""
	}
	return s.Keys[0]
}

// cameLate reports whether the key of a step stands in the program's input box instead of having
// answered: somebody at the pane had. It's taken away then. now is the look without the question.
func (g *giver) cameLate(ctx context.Context, step sessions.DialogStep, now *seen) bool {
	key := singleKey(step)
	if key == "" || now.dialog != nil || g.opt.Box == nil {
		return false
	}
	for look := 1; ; look++ {
		switch g.lateKey(&now.snap, key) {
		case keyElsewhere:
			return false
		case keyInBox:
			g.takeOut(ctx, g.srv, g.pane, &now.snap)
			return true
		case keyNotSeen:
		}
		if look == lateLooks || sessions.Pause(ctx, lookEvery) != nil {
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

func (h *Hand) lateKey(snap *sessions.Snapshot, key string) lateKeyAt {
	switch b := h.opt.Box(h.desk.ID(), snap); {
	case !b.Known, b.Shell, b.Open && b.Text != "" && b.Text != key:
		return keyElsewhere
	case b.Open && b.Text == key:
		return keyInBox
	}
	return keyNotSeen
}

// takeOut takes the one character away that stands in the box. Where that fails it stands there for a
// person to see.
func (h *Hand) takeOut(ctx context.Context, srv sessions.Server, pane sessions.Pane, snap *sessions.Snapshot) {
	guard := sessions.Guard{Pane: pane.ID, Server: pane.Identity, Saw: snap, Rows: h.opt.Box(h.desk.ID(), snap).Rows, Phrases: absent(h.opt.Phrases, snap), Front: snap.Front}
	taking := step{srv: srv, guard: guard, keys: []string{"BSpace"}}
	_, _ = taking.touch(ctx)
}

// takeLateKey looks for a while for the key of an answer in the box, and takes it away there. Who
// answered isn't told otherwise: a question that shows up, or a text that's typed, ends the search.
func (h *Hand) takeLateKey(ctx context.Context, key string) {
	for until := time.Now().Add(keyLateWithin); time.Now().Before(until) && sessions.Pause(ctx, keyLateEvery) == nil; {
		if done := h.lookForLateKey(ctx, key); done {
			return
		}
	}
}

func (h *Hand) lookForLateKey(ctx context.Context, key string) (done bool) {
	s, srv, err := h.desk.Living()
	keys := h.desk.Keyboard()
	if err != nil || keys == nil {
		return true
	}
	if keys.TakeWithin(ctx, lookEvery) != nil { // somebody types, or answers the next
		return false
	}
	defer keys.GiveBack()
	look, cancel := context.WithTimeout(ctx, lookWithin)
	defer cancel()
	snap, err := srv.Snapshot(look, s.Pane.ID, sessions.Window{})
	switch {
	case err != nil || snap.Server != s.Pane.Identity:
		return false
	case h.opt.Dialogs.Read(h.desk.ID(), &snap, nil) != nil:
		return true
	}
	at := h.lateKey(&snap, key)
	if at == keyInBox {
		h.desk.Log().Info("took the key of an answer out of the input box: the question had gone")
		h.takeOut(ctx, srv, s.Pane, &snap)
	}
	return at != keyNotSeen
}
