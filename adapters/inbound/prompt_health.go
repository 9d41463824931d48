package inbound

import (
	"fmt"
	"time"
)

// Questions says whether all open questions that are for chats can be seen in one. Where
// places have refused one for ten seconds, and nobody can see it but on the page and at the
// session's own keyboard, that's Down.
func (in *Inbound) Questions() Health {
	h := Health{Condition: Well}
	in.prompts.leave(func(ps *prompts) {
		hidden := 0
		for _, a := range ps.asked {
			if a.isHidden() && time.Since(a.refused) >= downAfter {
				hidden++
				h.Detail = a.why.Error()
			}
		}
		if hidden > 0 {
			h.Condition = Down
			h.Detail = fmt.Sprintf("no chat shows %d open question(s), since each refuses them: %s; they're tried again", hidden, h.Detail)
		}
	})
	return h
}
