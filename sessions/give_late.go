package sessions

import (
	"context"
	"unicode/utf8"
)

// lateLooks is in how many looks a key may come to stand in the box of a program whose question
// has gone: it was read behind another that answered the question.
const lateLooks = 3

// cameLate reports whether the key of a step stands in the program's input box instead of having
// answered: somebody at the pane had. It's taken away there, for all that's written would wait
// behind it. now is the look without the question.
func (g *giver) cameLate(ctx context.Context, step DialogStep, now *seen) bool {
	if now.dialog != nil || g.m.opt.Box == nil || step.Text != "" || len(step.Keys) != 1 || utf8.RuneCountInString(step.Keys[0]) != 1 {
		return false
	}
	key := step.Keys[0]
	for look := 1; ; look++ {
		b := g.m.opt.Box(g.prompt.Session, &now.snap)
		switch {
		case !b.Known, b.Shell, b.Open && b.Text != "" && b.Text != key:
			return false
		case b.Open && b.Text == key:
			guard := Guard{Pane: g.pane.ID, Server: g.pane.Identity, Saw: &now.snap, Rows: b.Rows, Phrases: absent(g.m.opt.Phrases, &now.snap), Front: now.snap.Front}
			_, _ = g.srv.Press(context.WithoutCancel(ctx), guard, "BSpace") // else it stands there for a person to see
			return true
		case look == lateLooks:
			return false
		}
		if rest(ctx, lookEvery) != nil {
			return false
		}
		again, err := g.see(ctx)
		if err != nil || again.dialog != nil {
			return false
		}
		*now = again
	}
}
