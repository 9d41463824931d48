package store

import (
	"errors"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters/access"
	"github.com/panebridge/panebridge/internal/browsers"
	"github.com/panebridge/panebridge/internal/push"
	"github.com/panebridge/panebridge/sessions"
)

// Subscriptions and what devices show are there after a restart, and go with their browser, with another endpoint, and with
// their session.
func TestPushSubscriptionsAreKept(t *testing.T) {
	ctx := t.Context()
	s, path := openWithSessions(t, []sessions.ID{"pb_1", "pb_2"})
	now := time.Unix(1_800_000_000, 0).UTC()
	must := func(errs ...error) {
		t.Helper()
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
	}
	subscription := func(browser, endpoint string) push.Subscription {
		return push.Subscription{
			Browser: browser, Endpoint: endpoint, Key: "BK", Auth: "au", Created: now,
			Wishes: push.Wishes{Questions: true, Errors: true, Quiet: push.QuietHours{From: "22:00", To: "07:00", Zone: "Europe/Berlin"}, Muted: []sessions.ID{"pb_2"}},
		}
	}
	if err := s.PutPushSubscription(ctx, subscription("br_1", "https://a.example/1")); !errors.Is(err, sessions.ErrUnknown) {
		t.Errorf("one of a browser that isn't let in: %v", err)
	}
	for _, id := range []string{"br_1", "br_2", "br_3"} {
		must(s.AddBrowser(ctx, browsers.Browser{ID: id, Key: []byte{4}, Roles: access.Roles{access.Viewer: true}, Created: now, Expires: now}))
	}
	one, two := subscription("br_1", "https://a.example/1"), subscription("br_2", "https://a.example/2")
	must(
		s.PutPushSubscription(ctx, one), s.PutPushSubscription(ctx, two), s.PutShownAlert(ctx, "br_1", "pb_1", "question:pr_1"), s.PutShownAlert(ctx, "br_1", "pb_2", "end:turn 1"),
		s.PutShownAlert(ctx, "br_1", "pb_1", "question:pr_2"), s.PutShownAlert(ctx, "br_2", "pb_1", "end:turn 1"), s.PutShownAlert(ctx, "br_2", "pb_1", ""),
		s.PutShownAlert(ctx, "br_3", "pb_1", "end:turn 1"), // it isn't subscribed
		s.PutPushWait(ctx, "br_1", one.Endpoint, now.Add(time.Hour)), s.PutPushWait(ctx, "br_2", "https://a.example/of-before", now.Add(time.Hour)),
		s.PutLastAlert(ctx, push.Alert{Session: "pb_1", Key: "end:turn 1", Kind: push.End, Text: "Done", At: now}),
		s.PutLastAlert(ctx, push.Alert{Session: "pb_1", Key: "end:turn 2", Kind: push.End, Text: "Done", At: now}),
		s.PutLastAlert(ctx, push.Alert{Session: "pb_gone", Key: "end:turn 1", Kind: push.End, At: now}),
		s.Close(),
	)
	s = mustOpen(t, path, Options{})
	check := func(what string, want []push.Subscription, shown map[string]map[sessions.ID]string, last ...push.Alert) {
		t.Helper()
		gotSubs, err1 := s.PushSubscriptions(ctx)
		gotShown, err2 := s.ShownAlerts(ctx)
		gotLast, err3 := s.LastAlerts(ctx)
		must(err1, err2, err3)
		diff(t, what, want, gotSubs)
		if !maps.EqualFunc(shown, gotShown, maps.Equal[map[sessions.ID]string, map[sessions.ID]string]) {
			t.Errorf("%s: shown are %v, want %v", what, gotShown, shown)
		}
		isSame := func(a, b push.Alert) bool {
			return a.Session == b.Session && a.Key == b.Key && a.Kind == b.Kind && a.Text == b.Text && a.At.Equal(b.At)
		}
		if !slices.EqualFunc(last, gotLast, isSame) {
			t.Errorf("%s: last alerts are %+v, want %+v", what, gotLast, last)
		}
	}
	one.NotBefore = now.Add(time.Hour)
	last := push.Alert{Session: "pb_1", Key: "end:turn 2", Kind: push.End, Text: "Done", At: now}
	check("after a restart", []push.Subscription{one, two}, map[string]map[sessions.ID]string{"br_1": {"pb_1": "question:pr_2", "pb_2": "end:turn 1"}}, last)

	one.Ends = true // its wishes alone
	must(s.PutPushSubscription(ctx, one))
	check("with other wishes", []push.Subscription{one, two}, map[string]map[sessions.ID]string{"br_1": {"pb_1": "question:pr_2", "pb_2": "end:turn 1"}}, last)
	must(s.DropSession(ctx, "pb_1"))
	check("without a session", []push.Subscription{one, two}, map[string]map[sessions.ID]string{"br_1": {"pb_2": "end:turn 1"}})
	one.Endpoint = "https://a.example/3"
	must(s.PutPushSubscription(ctx, one))
	one.NotBefore = time.Time{}
	check("at another endpoint", []push.Subscription{one, two}, map[string]map[sessions.ID]string{})
	must(s.PutShownAlert(ctx, "br_1", "pb_2", "end:turn 1"))
	two.Endpoint = one.Endpoint // it's the same device, which was let in again
	must(s.PutPushSubscription(ctx, two))
	check("when another has its endpoint", []push.Subscription{two}, map[string]map[sessions.ID]string{})
	must(s.PutShownAlert(ctx, "br_2", "pb_2", "end:turn 1"), s.DropBrowsers(ctx, []string{"br_2"}))
	check("without its browser", nil, map[string]map[sessions.ID]string{})
	must(s.PutPushSubscription(ctx, subscription("br_3", "https://a.example/4")), s.DropPushSubscription(ctx, "br_3"), s.DropPushSubscription(ctx, "br_3"))
	check("unsubscribed", nil, map[string]map[sessions.ID]string{})
}
