package discord_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters/adaptertest"
	"github.com/panebridge/panebridge/adapters/discord/discordtest"
	"github.com/panebridge/panebridge/adapters/platformtest"
)

func TestTheListIsPinned(t *testing.T) {
	inOffice(t, true, func(o *office) {
		platformtest.PinnedList(t, o.Office, func() (out []platformtest.ListedMessage) {
			for _, m := range o.Messages(o.agents) {
				if m.Kind != 0 {
					continue
				}
				l := platformtest.ListedMessage{Pinned: m.Pinned, Rang: m.Rang, Text: m.Content}
				for _, v := range m.History {
					l.Edits = append(l.Edits, v.At)
				}
				out = append(out, l)
			}
			return out
		}, func(text string) bool { return strings.HasPrefix(text, "**Working: 1**") })
	})
}

// Without the permission to pin, the list is there all the same, and Discord is asked
// once.
func TestTheListWithoutThePermissionToPin(t *testing.T) {
	dir := t.TempDir()
	inBubble(t, discordtest.Options{}, func(w *world) {
		w.house.Deny(discordtest.PinMessages)
		o := w.office(w.agents, dir)
		o.Pinned = true
		o.Open()
		o.Begin(asking, "agent")
		o.Pass(time.Hour)
		o.Close()
		refused := 0
		for _, r := range w.Refusals() {
			if r.Call == "Pin" && r.Code == 50013 {
				refused++
			}
		}
		seen := w.Messages(w.agents)
		if refused != 1 || len(seen) == 0 || seen[len(seen)-1].Pinned {
			t.Errorf("%d calls to pin were refused; people see %+v", refused, seen)
		}
	})
}

// A forum takes no list beside its posts: that's asked once, and does the posts no harm.
// A question goes into the post of its session.
func TestAForumHasNoList(t *testing.T) {
	dir := t.TempDir()
	inBubble(t, discordtest.Options{}, func(w *world) {
		o := w.office(w.posts, dir)
		o.Pinned = true
		o.Open()
		o.Begin(asking, "agent")
		o.Ask("pr_1")
		o.Pass(time.Second)
		o.Print(asking, adaptertest.Output{Lines: lines(1, 2)})
		o.Pass(time.Hour)
		o.Print(asking, adaptertest.Output{Lines: lines(3, 2)})
		o.Pass(time.Minute)
		o.at = o.thread(w.posts, "agent").ID
		if seen := o.Seen(); len(seen) != 1 || len(seen[0].Buttons) != 6 { // and lines 3 and 4 stand below it
			t.Errorf("the question is %+v", seen)
		}
		if s, err := o.House.Get(string(asking)); err != nil || s.Lines != 4 || !strings.Contains(fmt.Sprint(o.Messages(o.at)), "line 4") {
			t.Errorf("%d lines, %v; people see %+v", s.Lines, err, o.Messages(o.at))
		}
		o.Close()
		if r := w.Refusals(); len(r) != 1 {
			t.Errorf("refused were %+v", r)
		}
	})
}
