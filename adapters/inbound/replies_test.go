package inbound_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/internal/drawtest"
)

// refusing is a place that takes nothing for a while.
type refusing struct {
	group, private time.Duration // since the start
	unsure         bool          // what it refuses may be there
}

// A reply that's refused is seen as soon as a place of the person's takes it: where it was asked
// for, or in their private chat. While it's seen nowhere for ten seconds that's said, and not
// afterwards. Nothing is shown twice.
func TestARefusedReplyIsSeen(t *testing.T) {
	drawtest.Check(t, func(rt *rapid.T) {
		wait := rapid.SampledFrom([]time.Duration{0, time.Second, 15 * time.Second, 3 * time.Minute, 40 * time.Minute, 3 * time.Hour})
		f := refusing{wait.Draw(rt, "group"), wait.Draw(rt, "private"), rapid.Bool().Draw(rt, "unsure")}
		replies, hasPrivate := rapid.IntRange(1, 4).Draw(rt, "replies"), rapid.Bool().Draw(rt, "has a private chat")
		inWorld(t, func(w *world) {
			private := adapters.Target{Adapter: "chat", Chat: "ann"}
			if hasPrivate {
				ev := w.event(ann, intake.Said{Text: "/help"})
				ev.Place, ev.Private = private, true
				w.do(ev)
				w.hub.take()
			}
			began := time.Now()
			w.hub.refused = func(p adapters.Post) error {
				until := f.group
				if p.To == private {
					until = f.private
				}
				switch {
				case time.Since(began) >= until:
					return nil
				case f.unsure:
					return fmt.Errorf("403; %w", adapters.ErrMaybeSent)
				}
				return errors.New("403: not now")
			}
			for range replies {
				w.say(ann, "/nonsense")
			}
			opens := f.group
			if hasPrivate {
				opens = min(opens, f.private)
			}
			for range 100 {
				w.pass(time.Second)
				seen, since := len(w.hub.seen()) == replies, time.Since(began)
				if red := w.in.RepliesHealth().Condition == intake.Down; red && (seen || since < 10*time.Second) || !red && !seen && since > 12*time.Second {
					rt.Errorf("after %s seen: %v, red: %v", since, seen, red)
				}
			}
			w.pass(70 * time.Minute)
			posts := w.hub.take()
			want := replies
			if opens > time.Hour {
				want = 0
			}
			if len(posts) != want {
				rt.Errorf("%+v: %d posts are seen, want %d: %+v", f, len(posts), want, posts)
			}
			for _, p := range posts {
				if !strings.Contains(p.Text, "There's no command") || p.Again != (f.unsure && f.group > 0) {
					rt.Errorf("%+v: seen is %+v", f, p)
				}
			}
			if h := w.in.RepliesHealth(); h.Condition != intake.Well {
				rt.Errorf("health is %+v", h)
			}
		})
	})
}
