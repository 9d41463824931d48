package telegram_test

import (
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters/platformtest"
	"github.com/panebridge/panebridge/adapters/telegram/telegramtest"
)

func TestTheListIsPinned(t *testing.T) {
	inOffice(t, true, func(o *office) {
		platformtest.PinnedList(t, o.Office, func() (out []platformtest.ListedMessage) {
			for _, m := range o.See(telegramtest.Place{Chat: o.forum}) {
				if m.Service != "" {
					continue
				}
				l := platformtest.ListedMessage{Pinned: m.Pinned, Rang: m.Rang, Text: m.Text}
				for _, v := range m.History {
					l.Edits = append(l.Edits, v.At)
				}
				out = append(out, l)
			}
			return out
		}, func(text string) bool { return text == "Working: 1\n\n• ◐ agent" })
	})
}

// Without the right to pin, the list is there all the same, and Telegram is asked once.
func TestTheListWithoutTheRightToPin(t *testing.T) {
	dir := t.TempDir()
	inBubble(t, telegramtest.Options{}, func(w *world) {
		rights := telegramtest.AllRights()
		rights.PinMessages = false
		if err := w.ada.SetBotRights(w.forum, &rights); err != nil {
			t.Fatal(err)
		}
		o := w.office(dir, w.forum)
		o.Pinned = true
		o.Open()
		o.Begin(asking, "agent")
		o.Pass(time.Hour)
		o.Close()
		refused := 0
		for _, c := range w.Refusals() {
			if c.Method == "pinChatMessage" {
				refused++
			}
		}
		seen := w.See(telegramtest.Place{Chat: w.forum})
		if refused != 1 || len(seen) == 0 || seen[len(seen)-1].Pinned {
			t.Errorf("%d calls to pin were refused; people see %+v", refused, seen)
		}
	})
}
