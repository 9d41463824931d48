package adapters_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/adaptertest"
	"github.com/panebridge/panebridge/sessions"
)

func TestTheHubSaysHowAPlaceIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		r := newRig(t, adaptertest.Options{})
		r.form = adapters.Shape{MaxLen: 1234, MaxFile: 50 << 20, OwnThread: true}
		r.start()
		here, nowhere := adapters.Target{Adapter: "a", Chat: "-1"}, adapters.Target{Adapter: "x", Chat: "-1"}
		if s := r.hub.Shape(here); s.MaxLen != 1234 || s.MaxFile != 50<<20 || !s.OwnThread || s.Len("é") != 1 {
			t.Errorf("shape %+v", s)
		}
		if s := r.hub.Shape(nowhere); s.MaxFile != 0 || s.Len == nil || s.MaxLen <= 0 {
			t.Errorf("shape %+v", s)
		}
		if _, err := r.hub.LimitStatus(ctx, nowhere); !errors.Is(err, sessions.ErrUnknown) {
			t.Errorf("limits of nowhere: %v", err)
		}
		r.begin("pb_1", "one")
		b := r.bind("pb_1", "a:-1", adapters.ViewStream)
		r.print("pb_1", "hello")
		r.pass(10 * time.Second)
		l, err := r.hub.LimitStatus(ctx, here)
		used := 0
		for _, w := range l.Chat.Windows {
			used += w.Used
		}
		if err != nil || used == 0 {
			t.Errorf("limits %+v, %v; want what making a thread and a message took", l, err)
		}
		// A binding that rests is where it was, thread and all.
		r.must(r.hub.SetResting(ctx, b.ID, true))
		thread := r.platforms["a"].Threads("-1", "one")[0]
		for range 2 {
			if st := r.hub.Status("pb_1"); len(st) != 1 || st[0].Open || st[0].Target.Thread != thread {
				t.Errorf("status %+v, want thread %s", st, thread)
			}
			r.stop()
			r.start()
		}
	})
}
