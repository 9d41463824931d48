package inbox_test

import (
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/graphemes"
	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/internal/inbox"
	"github.com/panebridge/panebridge/sessions"
)

// TestSettle takes mails through random steps and holds them to the rules: the recipient
// alone completes, the sender alone cancels, and nothing follows either.
func TestSettle(t *testing.T) {
	people := []inbox.Address{"pb_a", "pb_b", "pb_c", inbox.Person("me")}
	drawtest.Check(t, func(t *rapid.T) {
		m := inbox.Mail{
			ID: "m_1", Kind: rapid.SampledFrom([]inbox.MailKind{inbox.KindMail, inbox.KindMail, inbox.KindMail, inbox.KindSummary}).Draw(t, "kind"),
			From: rapid.SampledFrom(people).Draw(t, "from"), To: rapid.SampledFrom(people).Draw(t, "to"),
			Status: inbox.InputRequired, Preview: inbox.PreviewWaiting,
		}
		for range rapid.IntRange(1, 6).Draw(t, "steps") {
			by, to := rapid.SampledFrom(people).Draw(t, "by"), rapid.SampledFrom(inbox.States()).Draw(t, "to state")
			before := m
			err := m.Settle(by, to, time.Unix(1, 0))
			may := m.Kind == inbox.KindMail && before.Status == inbox.InputRequired &&
				(to == inbox.Completed && by == m.To || to == inbox.Canceled && by == m.From)
			switch {
			case may && (err != nil || m.Status != to || m.SettledAt.IsZero() || m.Preview == inbox.PreviewWaiting):
				t.Fatalf("%s by %s: %v, %+v", to, by, err, m)
			case !may && (err == nil || m != before):
				t.Fatalf("%s by %s on %+v: %v, %+v", to, by, before, err, m)
			case !may && m.Kind == inbox.KindMail && to != inbox.InputRequired && !strings.Contains(err.Error(), string(before.Status)):
				t.Fatalf("%v doesn't name the state %s", err, before.Status)
			}
		}
	})
}

func TestSettleSaysWhy(t *testing.T) {
	m := inbox.Mail{ID: "m_1", Kind: inbox.KindMail, From: "pb_a", FromName: "lead", To: "pb_b", ToName: "work", Status: inbox.InputRequired}
	if err := m.Settle("pb_a", inbox.Completed, time.Now()); !errors.Is(err, inbox.ErrNotYours) || !strings.Contains(err.Error(), "work") {
		t.Errorf("the sender acknowledges: %v", err)
	}
	if err := m.Settle("pb_b", inbox.Canceled, time.Now()); !errors.Is(err, inbox.ErrNotYours) || !strings.Contains(err.Error(), "lead") {
		t.Errorf("the recipient cancels: %v", err)
	}
	if err := m.Settle("pb_b", inbox.Completed, time.Now()); err != nil {
		t.Fatal(err)
	}
	if err := m.Settle("pb_b", inbox.Completed, time.Now()); !errors.Is(err, inbox.ErrState) || !errors.Is(err, sessions.ErrConflict) {
		t.Errorf("acknowledged twice: %v", err)
	}
}

// TestCut holds cut texts to the limit in code points, and to whole characters.
func TestCut(t *testing.T) {
	pieces := []string{"a", " ", "é", "e\u0301", "👨‍👩‍👧‍👦", "🇩🇪", "漢", "한", "क्षि", "👍🏽", "\u0301\u0301\u0301", "x"}
	drawtest.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 40).Draw(t, "text"), "")
		limit := rapid.IntRange(1, 60).Draw(t, "limit")
		cut := inbox.Cut(text, limit, "<cut>")
		if utf8.RuneCountInString(text) <= limit {
			if cut != text {
				t.Fatalf("%q was cut to %q", text, cut)
			}
			return
		}
		kept, ok := strings.CutSuffix(cut, "<cut>")
		if !ok || utf8.RuneCountInString(kept) > limit || !strings.HasPrefix(text, kept) {
			t.Fatalf("%q at %d: %q", text, limit, cut)
		}
		at := 0
		for g := graphemes.FromString(text); at < len(kept) && g.Next(); {
			at += len(g.Value())
		}
		if at != len(kept) && strings.TrimSpace(text[len(kept):at]) != "" {
			t.Fatalf("%q at %d is cut inside of a character: %q", text, limit, kept)
		}
	})
}

// TestAnnouncement is two lines that can be typed, whatever was written.
func TestAnnouncement(t *testing.T) {
	drawtest.Check(t, func(t *rapid.T) {
		var mails []inbox.Mail
		for range rapid.IntRange(1, 4).Draw(t, "mails") {
			mails = append(mails, inbox.Mail{
				ID: inbox.NewID(), FromName: rapid.String().Draw(t, "from"), Text: rapid.String().Draw(t, "text"), SentAt: time.Unix(1, 0),
			})
		}
		text := inbox.Announcement(mails, 50)
		newest := mails[len(mails)-1]
		if strings.Count(text, "\n") != 1 || !strings.HasPrefix(text, "[panebridge ") || !strings.Contains(text, "msg "+newest.ID+" from ") {
			t.Fatalf("%q", text)
		}
		for _, r := range text {
			if r != '\n' && (r < ' ' || r >= 0x7f && r < 0xa0) {
				t.Fatalf("%q can't be typed", text)
			}
		}
		if len(mails) > 1 && !strings.Contains(text, " messages, newest ") {
			t.Fatalf("%d mails: %q", len(mails), text)
		}
	})
}

func TestWho(t *testing.T) {
	pane := func(id sessions.ID, name, pane string, server int, state sessions.State) inbox.Party {
		return inbox.Party{Session: sessions.Session{ID: id, Name: name, State: state, Pane: sessions.Pane{ID: pane, Identity: sessions.ServerIdentity{PID: server}}}}
	}
	all := inbox.Parties{
		pane("pb_old", "lead", "%1", 7, sessions.StateEnded), pane("pb_lead", "lead", "%1", 8, sessions.StateIdle),
		pane("pb_work", "work", "%2", 8, sessions.StateIdle), pane("pb_other", "other", "%2", 9, sessions.StateIdle),
	}
	for _, c := range []struct {
		given string
		at    inbox.CallSite
		want  inbox.Address
		err   error
	}{
		{given: "work", want: "pb_work"},
		{given: "pb_old", want: "pb_old"},
		{given: "lead", want: "pb_lead"}, // not the one that has ended
		{given: "person:me", want: "person:me"},
		{given: "nobody", err: sessions.ErrUnknown},
		{given: "person:", err: sessions.ErrInvalid},
		{at: inbox.CallSite{Pane: "%1", Server: 8}, want: "pb_lead"},
		{at: inbox.CallSite{Pane: "%2", Server: 9}, want: "pb_other"},
		{at: inbox.CallSite{Pane: "%1", Server: 7}, err: inbox.ErrNobody}, // of a server that's gone
		{at: inbox.CallSite{Session: "pb_work", Pane: "%1", Server: 8}, want: "pb_work"},
		{at: inbox.CallSite{Session: "pb_gone", Pane: "%1", Server: 8}, want: "pb_lead"},
		{err: inbox.ErrNobody},
	} {
		got, err := all.Who(c.given, c.at)
		if got != c.want || !errors.Is(err, c.err) {
			t.Errorf("%q at %+v: %q, %v; want %q, %v", c.given, c.at, got, err, c.want, c.err)
		}
	}
}
