package intake_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/panebridge/panebridge/adapters/intake"
)

// A part that fails is degraded, and down after ten seconds; it's logged once per reason,
// and is well again at the first success. One that's denied is down at once.
func TestVitals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		var log strings.Builder
		v := &intake.Vitals{Log: slog.New(slog.NewTextHandler(&log, nil)), Part: "the part"}
		want := func(c intake.Condition, detail string, since time.Time) {
			t.Helper()
			if h := v.Health(); h.Condition != c || h.Detail != detail || !h.LastOK.Equal(since) {
				t.Errorf("it's %+v, want %s, %q, %v", h, c, detail, since)
			}
		}
		want(intake.Well, "", time.Time{})
		v.Works(ctx)
		ok := time.Now()
		want(intake.Well, "", ok)
		time.Sleep(time.Second)
		for range 10 {
			v.Fails(ctx, "no network")
		}
		want(intake.Degraded, "no network", ok)
		time.Sleep(10*time.Second - 1)
		want(intake.Degraded, "no network", ok)
		time.Sleep(time.Nanosecond)
		v.Fails(ctx, "no answer")
		want(intake.Down, "no answer", ok)
		v.Works(ctx)
		want(intake.Well, "", time.Now())
		for range 10 {
			v.Denied(ctx, "wrong token")
		}
		ok = time.Now()
		want(intake.Down, "wrong token", ok)
		v.Fails(ctx, "no network")
		want(intake.Degraded, "no network", ok)
		v.Works(ctx)
		want(intake.Well, "", ok)
		if n := strings.Count(log.String(), "\n"); n != 6 {
			t.Errorf("it was logged in %d lines:\n%s", n, log.String())
		}
	})
}

func TestWorseOfTwo(t *testing.T) {
	at := time.Unix(1, 0)
	well, slow, dead := intake.Health{Condition: intake.Well, LastOK: at}, intake.Health{Condition: intake.Degraded, Detail: "slow"}, intake.Health{Condition: intake.Down, Detail: "dead"}
	for _, c := range []struct {
		a, b intake.Health
		want string
	}{
		{well, slow, "degraded slow"}, {slow, well, "degraded slow"}, {slow, dead, "down dead"}, {dead, slow, "down dead"}, {well, well, "ok "},
	} {
		if h := c.a.Worse(c.b); string(h.Condition)+" "+h.Detail != c.want || !h.LastOK.Equal(c.a.LastOK) {
			t.Errorf("%+v and %+v are %+v", c.a, c.b, h)
		}
	}
}
