package inbound_test

import (
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/cards"
	"github.com/panebridge/panebridge/sessions"
)

func TestQuiet(t *testing.T) {
	inWorld(t, func(w *world) {
		topic := adapters.Target{Adapter: "chat", Chat: "-1", Thread: "9"}
		const one, two = sessions.ID("pb_1"), sessions.ID("pb_2")
		now := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
		clock := func(s string) time.Time { // on that day, in Berlin
			z, err := time.LoadLocation("Europe/Berlin")
			if err != nil {
				w.Fatal(err)
			}
			at, err := time.ParseInLocation("2006-01-02 15:04:05", "2026-06-01 "+s, z)
			if err != nil {
				w.Fatal(err)
			}
			return at
		}
		set := func(p cards.Preference) {
			w.Helper()
			if err := w.in.SetPreference(w.Context(), p); err != nil {
				w.Fatal(err)
			}
		}
		want := func(place adapters.Target, s sessions.ID, at time.Time, quiet bool) {
			w.Helper()
			if got := w.in.IsQuiet(place, s, at); got != quiet {
				w.Errorf("%s, %s at %s: quiet is %v", place, s, at, got)
			}
		}
		want(topic, one, now, false)
		set(cards.Preference{Place: topic, Session: one, MutedUntil: now.Add(time.Hour)})
		want(topic, one, now, true)
		want(topic, one, now.Add(time.Hour), false)
		want(topic, two, now, false)
		want(group, one, now, false)
		set(cards.Preference{Place: group, From: 22 * time.Hour, To: 7 * time.Hour, Zone: "Europe/Berlin"})
		for at, quiet := range map[string]bool{"21:59:59": false, "22:00:00": true, "03:00:00": true, "06:59:59": true, "07:00:00": false} {
			want(group, two, clock(at), quiet)
			want(topic, two, clock(at), quiet)
		}
		set(cards.Preference{Place: group, From: 9 * time.Hour, To: 17 * time.Hour, Zone: "Europe/Berlin"})
		for at, quiet := range map[string]bool{"08:59:59": false, "09:00:00": true, "16:59:59": true, "17:00:00": false} {
			want(group, two, clock(at), quiet)
		}
		set(cards.Preference{Place: group, MutedUntil: cards.Forever})
		w.restart()
		want(group, two, now.AddDate(100, 0, 0), true)
		set(cards.Preference{Place: group})
		want(group, two, now, false)
		for _, p := range []cards.Preference{{From: -1}, {To: 24 * time.Hour}, {Zone: "Nowhere/At all"}} {
			if err := w.in.SetPreference(w.Context(), p); err == nil {
				w.Errorf("%+v is taken", p)
			}
		}
	})
}
