package store

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/access"
	"github.com/panebridge/panebridge/adapters/cards"
	"github.com/panebridge/panebridge/adapters/inbound"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/sessions"
)

var day = time.Date(2026, 5, 4, 12, 0, 0, 1, time.UTC)

func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// The audit log keeps its newest entries, and drops the others.
func TestTheAuditLogIsBounded(t *testing.T) {
	ctx := t.Context()
	s := mustOpen(t, dbPath(t), Options{})
	begin := func(key string) {
		t.Helper()
		_, err := s.BeginEntry(ctx, inbound.AuditEntry{Key: key, At: day})
		must(t, err)
	}
	begin("first")
	must(t, s.exec1(ctx, "skip", `UPDATE audit SET seq = 250`))
	begin("second")
	must(t, s.exec1(ctx, "skip", `UPDATE audit SET seq = ? WHERE key = 'second'`, keptEntries+200))
	for i := range 100 {
		begin(fmt.Sprint(i))
	}
	entries, err := s.AuditEntries(ctx, 1000)
	must(t, err)
	if len(entries) != 101 || entries[100].Key != "second" {
		t.Errorf("%d entries, the oldest %q; want 101, the first dropped", len(entries), entries[len(entries)-1].Key)
	}
}

// All that's kept for chats comes back as it was, and goes when it has expired.
func TestWhatIsKeptForChats(t *testing.T) {
	ctx := t.Context()
	path := dbPath(t)
	s := mustOpen(t, path, Options{})
	place := adapters.Target{Adapter: "a", Chat: "-1", Thread: "7"}
	entry := inbound.AuditEntry{
		Key: "a:1", At: day, Place: place, Person: "a:9", Name: "N", Kind: "text", What: "w", Bytes: 3, Hash: "00ff",
	}
	offer := cards.Offer{
		ID: "0123456789abcdef", Place: place, Do: "d", Session: "pb_1", Args: "x y", Role: access.Approver, Person: "a:9", Single: true, Group: "g",
		Expires: day.Add(time.Hour),
	}
	origin := cards.InputOrigin{
		Key: "a:1", Place: place, Message: "5", Person: "a:9", Session: "pb_1", At: day, Receipt: "in_1", Told: cards.ToldHeld, Shows: "00ff", Reply: "6",
	}
	reply := cards.StoredReply{ID: "00ff", Session: "pb_1", At: day, Post: []byte(`{"Text":"t"}`)}
	waits := cards.DeferredText{
		Key: "a:1", At: day, Place: place, Private: true, Person: intake.Person{ID: "a:9", Name: "N"}, Message: "5", Session: "pb_1",
		Said: intake.Said{Text: "t", ReplyTo: "4", Files: []intake.Attachment{{ID: "f", Name: "n", Kind: intake.FilePhoto, Size: 7}}},
	}
	quiet := cards.Preference{Place: place, Session: "pb_1", MutedUntil: cards.Forever, From: time.Hour, To: 2 * time.Hour, Zone: "UTC"}
	_, err := s.BeginEntry(ctx, entry)
	entry.Session, entry.Outcome = "pb_1", "in_1"
	must(t, err, s.EndEntry(ctx, entry, []cards.StoredReply{reply}), s.PutOffer(ctx, offer), s.AddOrigin(ctx, origin), s.PutDeferred(ctx, waits), s.PutPreference(ctx, quiet))
	again := origin
	again.Receipt = "in_2"
	card := cards.StandingCard{Spot: cards.Spot{Kind: cards.KindSession, Subject: "pb_1", Place: place}, Session: "pb_1", Begun: true}
	must(t, s.PutStandingCard(ctx, card))
	card.Message, card.Shows, card.Begun = "9", "stands", false
	must(t, s.PutStandingCard(ctx, card))
	must(t, s.AddOrigin(ctx, again), s.PutPreference(ctx, quiet)) // the first stays; a preference is replaced
	must(t, s.Close())

	s = mustOpen(t, path, Options{})
	entries, err1 := s.AuditEntries(ctx, 10)
	gotOffer, err2 := s.Offer(ctx, offer.ID)
	origins, err3 := s.OpenOrigins(ctx)
	gotWaits, err4 := s.Deferred(ctx, "a:1")
	preferences, err5 := s.Preferences(ctx)
	stand, err6 := s.StandingCards(ctx)
	must(t, err1, err2, err3, err4, err5, err6)
	replies, err7 := s.Replies(ctx)
	must(t, err7, s.DropReplies(ctx, []string{"none"}))
	diff(t, "replies", []cards.StoredReply{reply}, replies)
	diff(t, "cards", []cards.StandingCard{card}, stand)
	diff(t, "audit log", []inbound.AuditEntry{entry}, entries)
	visits, err := s.Visits(ctx, entry.At)
	none, err1 := s.Visits(ctx, entry.At.Add(1))
	must(t, err, err1)
	diff(t, "visits", []access.Visit{{Place: place, Person: intake.Person{ID: entry.Person, Name: entry.Name}, At: entry.At}}, visits)
	diff(t, "visits since", []access.Visit(nil), none)
	diff(t, "offer", offer, gotOffer)
	diff(t, "origins", []cards.InputOrigin{origin}, origins)
	diff(t, "what waits", waits, gotWaits)
	diff(t, "preferences", []cards.Preference{quiet}, preferences)

	must(t, s.ForgetInbound(ctx, day.Add(59*time.Minute)))
	if _, err := s.Offer(ctx, offer.ID); err != nil {
		t.Errorf("an offer that hasn't expired: %v", err)
	}
	origin.Done = true
	must(t, s.PutOrigin(ctx, origin), s.ForgetInbound(ctx, time.Now().AddDate(5, 0, 0)))
	_, err1 = s.Offer(ctx, offer.ID)
	_, err2 = s.Deferred(ctx, "a:1")
	_, err3 = s.Origin(ctx, "a:1")
	if replies, err = s.Replies(ctx); err != nil || len(replies) > 0 {
		t.Errorf("replies that have expired: %v, %v", replies, err)
	}
	for what, err := range map[string]error{"offer": err1, "what waits": err2, "origin": err3} {
		if !errors.Is(err, sessions.ErrUnknown) {
			t.Errorf("%s that has expired: %v, want unknown", what, err)
		}
	}
}
