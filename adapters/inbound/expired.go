package inbound

import (
	"errors"
	"fmt"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/wording"
	"github.com/panebridge/panebridge/qos"
)

// Expired says in each of a platform's chats whose texts go to sessions that what was written
// between two times is gone: nobody was there to read it for longer than the platform keeps it.
// What it was nobody knows.
func (in *Inbound) Expired(adapter string, from, to time.Time) error {
	told := map[adapters.Target]bool{}
	var errs []error
	for _, st := range in.opt.Hub.Status("") {
		chat := st.Binding.Target.WholeChat()
		if st.Open {
			chat = st.Target.WholeChat()
		}
		if chat.Adapter != adapter || st.Binding.Unbound || !st.Binding.Input || told[chat] {
			continue
		}
		told[chat] = true
		errs = append(errs, in.opt.Hub.Post(adapters.Post{
			To: chat, Key: "expired " + to.Format(time.RFC3339), Class: qos.Final, Ring: true,
			Text: fmt.Sprintf(
				"panebridge couldn't read here for %s, and what's written is kept for %s only: what was written between %s and %s may not have arrived. What still matters of it has to be written again.",
				wording.Age(time.Since(from).Round(time.Hour)), wording.Age(time.Since(to).Round(time.Hour)), from.Local().Format("Mon 15:04"), to.Local().Format("Mon 15:04"),
			),
		}))
	}
	return errors.Join(errs...)
}
