package inbox_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/internal/inbox"
	"github.com/panebridge/panebridge/internal/store"
	"github.com/panebridge/panebridge/sessions"
)

// screen is a typist with a pane that can be busy.
type screen struct {
	why   string
	err   error
	typed []string
	look  func()             // before it types
	left  inbox.PreviewState // what's found out about one that was left

	finished []string
}

func (s *screen) Type(_ context.Context, _ inbox.Party, text string, _ bool) (bool, string, error) {
	if s.look != nil {
		s.look()
	}
	if s.why != "" || s.err != nil {
		return false, s.why, s.err
	}
	s.typed = append(s.typed, text)
	return true, "", nil
}

func (s *screen) Finish(_ context.Context, _ inbox.Party, text string) (inbox.PreviewState, string) {
	s.finished = append(s.finished, text)
	return s.left, s.why
}

// fleet has a director and two members in a database.
type fleet struct {
	t      *testing.T
	main   *store.Store
	db     *store.Inbox
	screen *screen
	box    inbox.PostOffice
	all    inbox.Parties
}

func newFleet(t *testing.T) *fleet {
	t.Helper()
	dir := t.TempDir()
	main, err := store.Open(t.Context(), dir+"/panebridge.db", store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = main.Close() })
	f := &fleet{t: t, main: main, db: openInbox(t, dir), screen: &screen{}}
	for i, name := range []string{"lead", "work", "test"} {
		f.put(sessions.Session{
			ID: sessions.ID("pb_" + name), Name: name, State: sessions.StateIdle, CreatedAt: time.Unix(int64(i+1), 0),
			Pane: sessions.Pane{ID: "%1", Server: "default"},
		})
	}
	if err := f.db.AddFleet(t.Context(), "web", "pb_lead", time.Now()); err != nil {
		t.Fatal(err)
	}
	for _, id := range []sessions.ID{"pb_work", "pb_test"} {
		if err := f.db.AddMember(t.Context(), "web", id, false, time.Now()); err != nil {
			t.Fatal(err)
		}
	}
	f.box = inbox.PostOffice{Store: f.db, Announce: &inbox.Previews{Store: f.db, Typist: f.screen}}
	if f.all, err = f.db.Parties(t.Context()); err != nil {
		t.Fatal(err)
	}
	return f
}

func (f *fleet) put(s sessions.Session) {
	f.t.Helper()
	if err := f.main.PutSession(f.t.Context(), s); err != nil {
		f.t.Fatal(err)
	}
}

// end has a session end.
func (f *fleet) end(id sessions.ID) {
	f.t.Helper()
	p, _ := f.all.Get(id)
	p.State, p.EndedAt = sessions.StateEnded, time.Unix(100, 0)
	f.put(p.Session)
}

func (f *fleet) send(from, to inbox.Address, text string) inbox.Sent {
	f.t.Helper()
	sent, err := f.box.Send(f.t.Context(), f.all, from, to, text)
	if err != nil {
		f.t.Fatal(err)
	}
	return sent
}

// TestCommittedBeforeTyped looks from another connection while the preview is typed.
func TestCommittedBeforeTyped(t *testing.T) {
	f := newFleet(t)
	seen := 0
	f.screen.look = func() {
		mails, err := f.db.Mail(t.Context(), inbox.Query{To: "pb_work"})
		if err != nil {
			t.Error(err)
		}
		seen = len(mails)
	}
	if sent := f.send("pb_lead", "pb_work", "hello"); !sent.NotificationSent || seen != 1 {
		t.Errorf("%+v; %d rows while it was typed", sent, seen)
	}
}

func TestNotTyped(t *testing.T) {
	f := newFleet(t)
	if sent := f.send("pb_lead", "pb_lead", "to myself"); sent.NotificationSent || sent.Reason == "" || len(f.screen.typed) != 0 {
		t.Errorf("to oneself: %+v, typed %q", sent, f.screen.typed)
	}
	f.screen.why = "a dialog is open"
	if sent := f.send("pb_lead", "pb_work", "one"); sent.NotificationSent || sent.Reason != "a dialog is open" {
		t.Errorf("into a dialog: %+v", sent)
	}
	f.screen.why, f.screen.err = "", errors.New("the connection was lost")
	if sent := f.send("pb_lead", "pb_work", "two"); sent.NotificationSent || !strings.Contains(sent.Reason, "unknown") {
		t.Errorf("nobody knows: %+v", sent)
	}
	f.screen.err = nil
	if err := f.box.Announce.Announce(t.Context(), "pb_work"); err != nil || len(f.screen.typed) != 0 {
		t.Errorf("typed again: %q, %v", f.screen.typed, err)
	}
	mails, err := f.box.Poll(t.Context(), inbox.Query{To: "pb_work", Status: inbox.InputRequired})
	if err != nil || len(mails) != 2 || mails[0].Text != "two" {
		t.Errorf("stored: %+v, %v", mails, err)
	}
}

// TestMerged has previews wait for a busy agent, and become one.
func TestMerged(t *testing.T) {
	f := newFleet(t)
	f.screen.why = "it's working"
	for _, text := range []string{"one", "two", "three"} {
		f.send("pb_lead", "pb_work", text)
	}
	f.screen.why = ""
	for range 2 { // once is enough
		if err := f.box.Announce.Announce(t.Context(), "pb_work"); err != nil {
			t.Fatal(err)
		}
	}
	if len(f.screen.typed) != 1 || !strings.Contains(f.screen.typed[0], "3 messages, newest ") || !strings.HasSuffix(f.screen.typed[0], "\nthree") {
		t.Errorf("typed %q", f.screen.typed)
	}
}

// TestSeenAlready: what was polled or settled isn't announced any more.
func TestSeenAlready(t *testing.T) {
	f := newFleet(t)
	f.screen.why = "it's working"
	f.send("pb_lead", "pb_work", "polled")
	if _, err := f.box.Poll(t.Context(), inbox.Query{To: "pb_work"}); err != nil {
		t.Fatal(err)
	}
	canceled := f.send("pb_lead", "pb_work", "canceled")
	if m, err := f.box.Settle(t.Context(), canceled.Mail.ID, "pb_lead", inbox.Canceled); err != nil || m.Status != inbox.Canceled {
		t.Fatal(m, err)
	}
	f.screen.why = ""
	if err := f.box.Announce.Announce(t.Context(), "pb_work"); err != nil || len(f.screen.typed) != 0 {
		t.Errorf("typed %q, %v", f.screen.typed, err)
	}
	if _, err := f.box.Settle(t.Context(), canceled.Mail.ID, "pb_work", inbox.Completed); !errors.Is(err, inbox.ErrState) || !strings.Contains(err.Error(), "canceled") {
		t.Errorf("acknowledged after it was canceled: %v", err)
	}
	if _, err := f.box.Settle(t.Context(), "m_none", "pb_work", inbox.Completed); !errors.Is(err, sessions.ErrUnknown) {
		t.Errorf("acknowledged what isn't there: %v", err)
	}
}

// TestReceived: a member has received what was typed for it or polled, not what was sent;
// the rest is unread.
func TestReceived(t *testing.T) {
	f := newFleet(t)
	look := func() inbox.Party {
		t.Helper()
		if err := f.db.Activity(t.Context(), f.all); err != nil {
			t.Fatal(err)
		}
		p, _ := f.all.Get("pb_work")
		return p
	}
	began := time.Now()
	f.screen.why = "it's working"
	f.send("pb_lead", "pb_work", "one")
	second := f.send("pb_lead", "pb_work", "two")
	if p := look(); !p.LastReceived.IsZero() || p.Unread != 2 {
		t.Errorf("nothing was shown yet: received %s, %d unread", p.LastReceived, p.Unread)
	}
	if _, err := f.box.Settle(t.Context(), second.Mail.ID, "pb_lead", inbox.Canceled); err != nil {
		t.Fatal(err)
	}
	if p := look(); p.Unread != 1 {
		t.Errorf("one was taken back: %d unread", p.Unread)
	}
	f.screen.why = ""
	if err := f.box.Announce.Announce(t.Context(), "pb_work"); err != nil {
		t.Fatal(err)
	}
	typed := look()
	if typed.LastReceived.Before(began) || typed.Unread != 0 {
		t.Errorf("typed: received %s, %d unread", typed.LastReceived, typed.Unread)
	}
	if _, err := f.box.Poll(t.Context(), inbox.Query{From: "pb_lead"}); err != nil { // by who sent them
		t.Fatal(err)
	}
	f.screen.why = "it's working"
	f.send("pb_lead", "pb_work", "three")
	if p := look(); !p.LastReceived.Equal(typed.LastReceived) || p.Unread != 1 {
		t.Errorf("the third was only sent: received %s, %d unread", p.LastReceived, p.Unread)
	}
	for range 2 {
		if _, err := f.box.Poll(t.Context(), inbox.Query{To: "pb_work"}); err != nil {
			t.Fatal(err)
		}
	}
	if p := look(); !p.LastReceived.After(typed.LastReceived) || p.Unread != 0 {
		t.Errorf("polled: received %s, %d unread", p.LastReceived, p.Unread)
	}
	if p, _ := f.all.Get("pb_lead"); p.LastSent.Before(began) || !p.LastReceived.IsZero() {
		t.Errorf("who sent them: %+v", p)
	}
}

// TestPingIsKept: a ping that can't be typed now is typed later, once, and together with the
// mail that waits; or it's refused, where nothing can come of it.
func TestPingIsKept(t *testing.T) {
	f := newFleet(t)
	again := func(typed ...string) {
		t.Helper()
		for range 2 {
			if err := f.box.Announce.Announce(t.Context(), "pb_work"); err != nil {
				t.Fatal(err)
			}
		}
		if !slices.Equal(f.screen.typed, typed) {
			t.Errorf("typed %q, wanted %q", f.screen.typed, typed)
		}
		f.screen.typed = nil
	}
	ping := func(sent, kept bool, why string) {
		t.Helper()
		if p, err := f.box.Ping(t.Context(), f.all, "pb_lead", "pb_work"); err != nil || p.NotificationSent != sent || p.Kept != kept || !strings.Contains(p.Reason, why) {
			t.Errorf("%+v, %v", p, err)
		}
	}
	ping(true, false, "")
	again(inbox.PollCommand)
	f.screen.why = "it's working"
	ping(false, true, "working")
	ping(false, true, "working") // which is the same
	f.screen.why = ""
	again(inbox.PollCommand)
	f.screen.why = "a shell is in its foreground"
	f.send("pb_test", "pb_work", "words")
	f.screen.why = ""
	ping(true, false, "") // a shell takes the command, which shows the mail, too
	again(inbox.PollCommand)

	f.screen.why = "it's working"
	ping(false, true, "working")
	if _, err := f.box.Poll(t.Context(), inbox.Query{To: "pb_work"}); err != nil { // it has done by itself what it would be told
		t.Fatal(err)
	}
	f.screen.why = ""
	again()
	f.screen.err = errors.New("the connection was lost")
	ping(false, false, "unknown whether it was typed")
	f.screen.err = nil
	again()
	f.screen.why = "tmux can't be reached"
	f.box.Announce.(*inbox.Previews).Once = true
	ping(false, false, "tmux")
	f.screen.why = ""
	again()
	if mails, err := f.box.Poll(t.Context(), inbox.Query{To: "pb_work"}); err != nil || len(mails) != 1 {
		t.Errorf("a ping is no mail: %+v, %v", mails, err)
	}
	if err := f.db.Activity(t.Context(), f.all); err != nil || !f.all[0].LastSent.IsZero() {
		t.Errorf("who pinged has sent nothing: %+v, %v", f.all[0], err)
	}
}

// TestPingIsLeft: of a ping that was being typed when its typist was killed, nothing is
// typed again before it's known what became of it.
func TestPingIsLeft(t *testing.T) {
	f := newFleet(t)
	f.screen.why = "it's working"
	if _, err := f.box.Ping(t.Context(), f.all, "", "pb_work"); err != nil {
		t.Fatal(err)
	}
	if taken, err := f.db.TakePreviews(t.Context(), "pb_work"); len(taken) != 1 || err != nil {
		t.Fatal(taken, err)
	}
	f.screen.why, f.screen.left = "a dialog is open", inbox.PreviewTyping
	if p, err := f.box.Ping(t.Context(), f.all, "", "pb_work"); err != nil || !p.Kept || !strings.Contains(p.Reason, "what became of one before") {
		t.Errorf("%+v, %v", p, err)
	}
	f.screen.why, f.screen.left = "", inbox.PreviewTyped
	if err := f.box.Announce.Announce(t.Context(), "pb_work"); err != nil || !slices.Equal(f.screen.finished, []string{inbox.PollCommand, inbox.PollCommand}) || !slices.Equal(f.screen.typed, []string{inbox.PollCommand}) {
		t.Errorf("finished %q, typed %q, %v", f.screen.finished, f.screen.typed, err)
	}
}

func TestBroadcast(t *testing.T) {
	f := newFleet(t)
	b, err := f.box.Broadcast(t.Context(), f.all, "pb_work", "", "stop")
	if err != nil || b.Sent != 2 || len(b.Summary.Messages) != 2 || b.Summary.Kind != inbox.KindSummary || len(f.screen.typed) != 2 {
		t.Fatalf("%+v, %v, typed %q", b, err, f.screen.typed)
	}
	for _, who := range []inbox.Address{"pb_lead", "pb_test", "pb_work", ""} {
		mails, err := f.box.Poll(t.Context(), inbox.Query{To: who, Status: ""})
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range mails {
			if m.Kind != inbox.KindMail {
				t.Errorf("%s polled %+v", who, m)
			}
		}
		if want := map[inbox.Address]int{"pb_lead": 1, "pb_test": 1, "pb_work": 0, "": 2}[who]; len(mails) != want {
			t.Errorf("%q has %d mails, want %d", who, len(mails), want)
		}
	}
	if _, err := f.box.Broadcast(t.Context(), f.all, inbox.Person("me"), "", "stop"); !errors.Is(err, sessions.ErrConflict) {
		t.Errorf("from nobody's fleet: %v", err)
	}
}

// TestFleets: a session is a member of one fleet, and a fleet has one director.
func TestFleets(t *testing.T) {
	f := newFleet(t)
	if err := f.db.AddFleet(t.Context(), "web", "", time.Now()); !errors.Is(err, sessions.ErrConflict) {
		t.Errorf("the same fleet again: %v", err)
	}
	if err := f.db.AddFleet(t.Context(), "api", "", time.Now()); err != nil {
		t.Fatal(err)
	}
	if err := f.db.AddMember(t.Context(), "api", "pb_work", false, time.Now()); !errors.Is(err, sessions.ErrConflict) {
		t.Errorf("a member who is another's: %v", err)
	}
	if err := f.db.AddMember(t.Context(), "none", "pb_work", false, time.Now()); !errors.Is(err, sessions.ErrUnknown) {
		t.Errorf("a fleet that isn't there: %v", err)
	}
	if err := f.db.AddMember(t.Context(), "web", "pb_lead", false, time.Now()); !errors.Is(err, sessions.ErrConflict) {
		t.Errorf("a director who is to be a member: %v", err)
	}
	if err := f.db.AddMember(t.Context(), "web", "pb_work", true, time.Now()); err != nil {
		t.Fatal(err)
	}
	all, err := f.db.Parties(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if d, ok := all.DirectorOf("web"); !ok || d.Name != "work" || len(all.Members("web")) != 3 {
		t.Errorf("director %+v of %+v", d, all.Members("web"))
	}
	if to, err := all.Address("director", "pb_lead"); to != "pb_work" || err != nil {
		t.Errorf("director: %q, %v", to, err)
	}
	if err := f.db.DropFleet(t.Context(), "web"); err != nil {
		t.Fatal(err)
	}
	if all, err = f.db.Parties(t.Context()); err != nil || all[0].Fleet != "" {
		t.Errorf("after it was dissolved: %+v, %v", all, err)
	}
}

// TestManager: who directs a fleet may be another's member, and is told of the one and heard by
// the other.
func TestManager(t *testing.T) {
	f := newFleet(t) // web: lead directs work and test
	step := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		if f.all, err = f.db.Parties(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	names := func(all inbox.Parties) (out []string) {
		for _, p := range all {
			out = append(out, p.Name)
		}
		return out
	}
	step(f.db.DropMember(t.Context(), "pb_test", ""))
	step(f.db.AddFleet(t.Context(), "api", "pb_work", time.Now())) // a member of web, which is the manager now
	step(f.db.AddMember(t.Context(), "api", "pb_test", false, time.Now()))
	if web, api := names(f.all.Members("web")), names(f.all.Members("api")); !slices.Equal(web, []string{"lead", "work"}) || !slices.Equal(api, []string{"work", "test"}) {
		t.Errorf("web: %q, api: %q", web, api)
	}
	for from, want := range map[inbox.Address]inbox.Address{"pb_test": "pb_work", "pb_work": "pb_lead", "pb_lead": "pb_lead"} {
		if to, err := f.all.Address("director", from); to != want || err != nil {
			t.Errorf("%s's director: %q, %v", from, to, err)
		}
	}
	for _, c := range []struct {
		from  inbox.Address
		fleet string
		want  inbox.Address
	}{{"pb_work", "", "pb_test"}, {"pb_work", "web", "pb_lead"}, {"pb_lead", "", "pb_work"}, {"pb_test", "", "pb_work"}} {
		b, err := f.box.Broadcast(t.Context(), f.all, c.from, c.fleet, "stop")
		if err != nil || len(b.Summary.Messages) != 1 || b.Summary.Messages[0].To != c.want {
			t.Errorf("from %s: %+v, %v", c.from, b, err)
		}
	}
	if err := f.db.DropMember(t.Context(), "pb_work", ""); !errors.Is(err, sessions.ErrConflict) || !strings.Contains(err.Error(), "--fleet") {
		t.Errorf("taken out of one of two: %v", err)
	}
	step(f.db.AddMember(t.Context(), "api", "pb_test", true, time.Now())) // in place of the manager, who is web's member
	if web, api := names(f.all.Members("web")), names(f.all.Members("api")); !slices.Equal(web, []string{"lead", "work"}) || !slices.Equal(api, []string{"test"}) {
		t.Errorf("web: %q, api: %q", web, api)
	}
	step(f.db.AddMember(t.Context(), "api", "pb_lead", true, time.Now()))
	if lead, _ := f.all.Get("pb_lead"); !slices.Equal(lead.Directs, []string{"web", "api"}) {
		t.Errorf("who directs two: %+v", lead)
	}
	if _, err := f.box.Broadcast(t.Context(), f.all, "pb_lead", "", "stop"); !errors.Is(err, sessions.ErrConflict) {
		t.Errorf("to which of two fleets: %v", err)
	}
	step(f.db.DropMember(t.Context(), "pb_lead", "web"))
	if lead, _ := f.all.Get("pb_lead"); !slices.Equal(lead.Directs, []string{"api"}) || lead.Fleet != "" {
		t.Errorf("taken out of one of two: %+v", lead)
	}
}

func TestSubscribers(t *testing.T) {
	f := newFleet(t)
	for _, who := range []inbox.Address{"pb_test", "person:ann", "pb_test"} {
		if err := f.db.Subscribe(t.Context(), "pb_work", who, false); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.db.Subscribe(t.Context(), "pb_work", "person:ann", true); err != nil {
		t.Fatal(err)
	}
	if all, err := f.db.Subscribers(t.Context(), "pb_work"); err != nil || !slices.Equal(all, []inbox.Address{"pb_test"}) {
		t.Errorf("%q, %v", all, err)
	}
}

// TestReturned: what waits for a session when that ends is returned to who sent it, who is told
// once; what had been shown or settled isn't, and nothing is tried again.
func TestReturned(t *testing.T) {
	f := newFleet(t)
	f.screen.why = "it's working"
	waiting, toolate := f.send("pb_lead", "pb_work", "one\ntwo"), f.send("pb_test", "pb_work", "three")
	canceled := f.send("pb_lead", "pb_work", "four")
	if _, err := f.box.Ping(t.Context(), f.all, "pb_lead", "pb_work"); err != nil {
		t.Fatal(err)
	}
	if _, err := f.box.Settle(t.Context(), canceled.Mail.ID, "pb_lead", inbox.Canceled); err != nil {
		t.Fatal(err)
	}
	f.end("pb_work")
	f.end("pb_test")
	var told []inbox.Address
	previews := &inbox.Previews{Store: f.db, Typist: f.screen, Returned: func(to inbox.Address) { told = append(told, to) }}
	for range 3 {
		if err := previews.Announce(t.Context(), "pb_work"); err != nil {
			t.Fatal(err)
		}
	}
	if waits, err := f.db.Awaits(t.Context(), "pb_work"); err != nil || waits || len(f.screen.typed) != 0 {
		t.Errorf("something still waits: %v, %v; typed %q", waits, err, f.screen.typed)
	}
	for id, want := range map[string]inbox.MailState{waiting.Mail.ID: inbox.Undeliverable, toolate.Mail.ID: inbox.Undeliverable, canceled.Mail.ID: inbox.Canceled} {
		if m, err := f.db.One(t.Context(), id); err != nil || m.Status != want || m.Preview != inbox.PreviewNone || m.SettledAt.IsZero() {
			t.Errorf("%+v, %v, want %s", m, err, want)
		}
	}
	if !slices.Equal(told, []inbox.Address{"pb_lead", "pb_test"}) {
		t.Errorf("told %q", told)
	}
	for to, text := range map[inbox.Address]string{"pb_lead": waiting.Mail.ID + ": one two", "pb_test": toolate.Mail.ID + ": three"} {
		mails, err := f.db.Mail(t.Context(), inbox.Query{To: to, Kind: inbox.KindMail})
		if err != nil || len(mails) != 1 || mails[0].From != "pb_work" || !strings.HasPrefix(mails[0].Text, "Undeliverable: ") || !strings.HasSuffix(mails[0].Text, text) {
			t.Fatalf("%s has %+v, %v", to, mails, err)
		}
		if waits := mails[0].Preview == inbox.PreviewWaiting; waits != (to == "pb_lead") { // the other has ended, too
			t.Errorf("%s is told: %+v", to, mails[0])
		}
	}
}
