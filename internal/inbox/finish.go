package inbox

import (
	"context"

	"github.com/panebridge/panebridge/sessions"
)

// finish looks after a preview that somebody was typing who has ended, killed between its
// paste and its Enter, say: left in the input box it would be in the way of all that's
// typed later. All that are marked as being typed were one preview, as a next one isn't
// begun before. free is false if it isn't known yet what became of it.
func (p *Previews) finish(ctx context.Context, to Party) (free bool, err error) {
	left, err := p.Store.LeftPreviews(ctx, to.Address())
	if err != nil || len(left) == 0 {
		return err == nil, err
	}
	result, why := PreviewNone, hasEnded
	if to.State != sessions.StateEnded {
		text, _ := p.words(left)
		result, why = p.Typist.Finish(ctx, to, text)
	}
	switch result {
	case PreviewTyping, PreviewWaiting:
		return false, p.Store.HoldPreviews(ctx, to.Address(), "it isn't known yet what became of one before: "+why)
	case PreviewNone:
		why = "who typed it ended meanwhile, and it's unknown whether it was submitted: " + why
	case PreviewTyped:
	}
	return true, p.Store.SetPreviews(context.WithoutCancel(ctx), idsOf(left), result, why)
}
