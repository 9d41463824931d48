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

// A session that somebody has begun has its thread within three seconds, with one card in it;
// where the thread comes late, the card comes with it, also over a restart.
func TestACardStandsInTheThreadOfANewSession(t *testing.T) {
	for _, late := range []time.Duration{0, 10 * time.Minute} {
		inOffice(t, false, func(o *office) {
			if late > 0 {
				remove := o.Inject(discordtest.Fault{Call: "StartThread", Status: 500})
				time.AfterFunc(late, remove)
			}
			if err := o.House.BeginOwned("pb_000000000009", "fresh"); err != nil {
				t.Fatal(err)
			}
			o.Pass(3 * time.Second)
			if late > 0 {
				o.Pass(3 * late)
			}
			cards := func() (n int) {
				for _, m := range o.Messages(o.thread(o.agents, "fresh").ID) {
					if len(m.Rows) > 0 && strings.HasPrefix(m.Content, "**fresh** · a shell in") {
						n++
					}
				}
				return n
			}
			if n := cards(); n != 1 {
				t.Errorf("late by %s: there are %d cards", late, n)
			}
			o.Close()
			o.Pass(time.Hour)
			o.Open()
			o.Pass(time.Minute)
			if n := cards(); n != 1 {
				t.Errorf("late by %s: after a restart there are %d cards", late, n)
			}
		})
	}
}

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

// Discord's own lines about what the bot did, that it pinned the list and began threads, are deleted: a call for each, for which
// it takes no permission. Where they can't be, they stay, and nothing else is different.
func TestDiscordsOwnLinesAreFew(t *testing.T) {
	for name, refused := range map[string]bool{"deleted": false, "refused": true} {
		t.Run(name, func(t *testing.T) {
			inOffice(t, true, func(o *office) {
				o.house.Deny(discordtest.ManageMessages)
				if refused {
					defer o.Inject(discordtest.Fault{Call: "DeleteMessage", Status: 403, Code: 50021})()
				}
				o.Begin("pb_000000000008", "other")
				o.Print("pb_000000000008", adaptertest.Output{Lines: lines(1, 2)})
				o.Pass(10 * time.Minute)
				var own []int
				pinned := false
				for _, m := range o.Messages(o.agents) {
					if pinned = pinned || m.Pinned; m.Kind == 6 || m.Kind == 18 {
						own = append(own, m.Kind)
					}
				}
				calls := len(o.CallsTo("DeleteMessage"))
				if !pinned || calls != 3 || refused != (len(own) == 2) || !refused && len(own) > 0 {
					t.Errorf("pinned: %v; of Discord's own lines there are those of the kinds %v after %d calls", pinned, own, calls)
				}
				for _, thread := range []string{"agent", "other"} {
					if o.thread(o.agents, thread).ID == "" {
						t.Errorf("%s has no thread", thread)
					}
				}
			})
		})
	}
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

// A forum takes no list beside its posts: it's asked for none.
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
		if r := w.Refusals(); len(r) != 0 {
			t.Errorf("refused were %+v", r)
		}
	})
}
