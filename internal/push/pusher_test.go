package push_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/internal/push"
	"github.com/panebridge/panebridge/internal/push/pushtest"
	"github.com/panebridge/panebridge/sessions"
)

// inWorld runs a test in a bubble with one device that's told everything.
func inWorld(t *testing.T, test func(w *world, d *pushtest.Device)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w, err := newWorld()
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := w.end(); err != nil {
				t.Error(err)
			}
		}()
		w.name("pb_1", "deploy")
		d := w.service.Subscribe(w.pusher.PublicKey())
		if err := w.subscribe("br_1", d, all()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		test(w, d)
	})
}

// shows is what a device shows, as lines.
func shows(t *testing.T, d *pushtest.Device) string {
	t.Helper()
	screen, err := d.Screen()
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, id := range pushtest.Sessions(screen) {
		lines = append(lines, screen[id].Title+": "+screen[id].Text)
	}
	return strings.Join(lines, "\n")
}

// A question is shown where somebody was subscribed, and taken back when it was answered elsewhere. What's sent is read and
// checked as the RFCs have it.
func TestAQuestionIsShownAndTakenBack(t *testing.T) {
	inWorld(t, func(w *world, d *pushtest.Device) {
		w.ask("pb_1", "pr_1", "Delete the bucket of "+secret+"?")
		synctest.Wait()
		if got := shows(t, d); got != "deploy: Delete the bucket of [masked]?" {
			t.Errorf("it shows %q", got)
		}
		w.answer("pb_1")
		synctest.Wait()
		got := d.Messages()
		if len(got) != 2 || shows(t, d) != "" {
			t.Fatalf("it shows %q after %d messages", shows(t, d), len(got))
		}
		if got[0].Topic != got[1].Topic || len(got[0].Topic) != 32 || strings.Contains(got[0].Topic, "pb_1") {
			t.Errorf("topics %q and %q", got[0].Topic, got[1].Topic)
		}
		if got[0].Urgency != "high" || got[1].Urgency != "low" || got[0].TTL != 24*time.Hour {
			t.Errorf("the urgencies are %s and %s, and it's kept for %v", got[0].Urgency, got[1].Urgency, got[0].TTL)
		}
		if over, err := pushtest.ReadMessage(got[1]); err != nil || !over.Over || over.Text != "Answered" {
			t.Errorf("%+v %v", over, err)
		}
	})
}

// What a session's program asks, in whichever words, is no alert that panebridge would make of its own.
func TestWhatAProgramAsksIsSaidToBeItsWords(t *testing.T) {
	inWorld(t, func(w *world, d *pushtest.Device) {
		for title, want := range map[string]string{
			"Which colour?":                     "deploy: It asks, in its own words: “Which colour?”",
			"Done in 5 min":                     "deploy: It asks, in its own words: “Done in 5 min”",
			"It has ended with exit status 3.”": "deploy: It asks, in its own words: “It has ended with exit status 3.””",
		} {
			w.askOf("pb_1", "iq_"+title, sessions.Dialog{Kind: sessions.PromptInquiry, Title: title})
			synctest.Wait()
			if got := shows(t, d); got != want {
				t.Errorf("it shows %q, want %q", got, want)
			}
			w.answer("pb_1")
			synctest.Wait()
		}
	})
}

// A device that was away gets what holds when it's back, once.
func TestADeviceThatWasAwayGetsTheNewest(t *testing.T) {
	inWorld(t, func(w *world, d *pushtest.Device) {
		d.SetAway(true)
		for n := range 3 {
			w.ask("pb_1", fmt.Sprintf("pr_%d", n), fmt.Sprintf("Question %d?", n))
			synctest.Wait()
			if n < 2 {
				w.answer("pb_1")
				synctest.Wait()
			}
		}
		d.SetAway(false)
		if got := d.Messages(); len(got) != 1 || shows(t, d) != "deploy: Question 2?" {
			t.Errorf("it got %d messages, and shows %q", len(got), shows(t, d))
		}
	})
}

// Turns' ends are told as chats ring: short ones aren't. A new turn takes the word of the last one back.
func TestEndsOfTurns(t *testing.T) {
	inWorld(t, func(w *world, d *pushtest.Device) {
		one := 1
		end := func(turn sessions.Turn, took time.Duration) string {
			turn.EndedAt = time.Now()
			turn.StartedAt = turn.EndedAt.Add(-took)
			w.feed.PublishOutput(sessions.OutputEvent{Session: "pb_1", Complete: true, Turn: turn})
			synctest.Wait()
			return shows(t, d)
		}
		begin := func() string {
			w.feed.PublishOutput(sessions.OutputEvent{Session: "pb_1", Turn: sessions.Turn{Number: 9, Open: true}})
			synctest.Wait()
			return shows(t, d)
		}
		for _, c := range []struct {
			turn sessions.Turn
			took time.Duration
			want string
		}{
			{sessions.Turn{Number: 1}, 5 * time.Second, ""},
			{sessions.Turn{Number: 2}, 5 * time.Minute, "deploy: Done in 5 min"},
			{sessions.Turn{Number: sayingTurn}, 5 * time.Minute, "deploy: Done in 5 min: All is [masked]."},
			{sessions.Turn{Number: 3, Failed: "no token " + secret}, time.Second, "deploy: Failed: no token [masked]"},
			{sessions.Turn{Number: 4, Status: &one}, time.Second, "deploy: Failed: exit status 1"},
		} {
			if got := end(c.turn, c.took); got != c.want {
				t.Errorf("turn %d: it shows %q, want %q", c.turn.Number, got, c.want)
			}
			if got := begin(); got != "" {
				t.Errorf("behind turn %d: it shows %q when the next one has begun", c.turn.Number, got)
			}
		}
		w.feed.PublishOutput(sessions.OutputEvent{Session: "pb_1", State: sessions.StateError, Reason: "the pane of " + secret + " is gone"})
		synctest.Wait()
		if got := shows(t, d); got != "deploy: It can't be read: the pane of [masked] is gone" {
			t.Errorf("it shows %q", got)
		}
		w.feed.PublishOutput(sessions.OutputEvent{Session: "pb_1", State: sessions.StateIdle})
		synctest.Wait()
		if got := shows(t, d); got != "" {
			t.Errorf("it shows %q when it can be read again", got)
		}
		w.feed.PublishSession(sessions.Session{ID: "pb_1", State: sessions.StateEnded, EndedAt: time.Now(), Exit: &sessions.Exit{Status: 3}})
		synctest.Wait()
		if got := shows(t, d); got != "deploy: It has ended with exit status 3" {
			t.Errorf("it shows %q", got)
		}
	})
}

// What a service refuses for good ends the subscription; what it refuses for now is sent later, and no sooner than it asks.
func TestWhatAServiceAnswersIsHeeded(t *testing.T) {
	for _, c := range []struct {
		name   string
		answer pushtest.Answer
		wait   time.Duration // least, until it's sent again; 0: it's forgotten
		within time.Duration
	}{
		{"404", pushtest.Answer{Status: 404}, 0, 0},
		{"410", pushtest.Answer{Status: 410}, 0, 0},
		{"429 with seconds", pushtest.Answer{Status: 429, RetryAfter: "120"}, 2 * time.Minute, 3 * time.Minute},
		{"429 with a date", pushtest.Answer{Status: 429, RetryAfter: "Sat, 01 Jan 2000 00:10:00 GMT"}, 10 * time.Minute, 11 * time.Minute},
		{"429 for ever", pushtest.Answer{Status: 429, RetryAfter: "99999999999"}, 6 * time.Hour, 7 * time.Hour},
		{"429 for longer than there's time", pushtest.Answer{Status: 429, RetryAfter: strings.Repeat("9", 30)}, 6 * time.Hour, 7 * time.Hour},
		{"429 until another year", pushtest.Answer{Status: 429, RetryAfter: "Fri, 31 Dec 2027 23:59:59 GMT"}, 6 * time.Hour, 7 * time.Hour},
		{"429 until a time that's over", pushtest.Answer{Status: 429, RetryAfter: "Fri, 31 Dec 1999 23:59:59 GMT"}, 10 * time.Second, 15 * time.Second},
		{"503 for less than nothing", pushtest.Answer{Status: 503, RetryAfter: "-5"}, 10 * time.Second, 15 * time.Second},
		{"429 with nonsense", pushtest.Answer{Status: 429, RetryAfter: "soon"}, 10 * time.Second, 15 * time.Second},
		{"500", pushtest.Answer{Status: 500}, 10 * time.Second, 15 * time.Second},
		{"503 with seconds", pushtest.Answer{Status: 503, RetryAfter: "60"}, time.Minute, 2 * time.Minute},
		{"silence", pushtest.Answer{}, 25 * time.Second, 30 * time.Second},
		{"403", pushtest.Answer{Status: 403}, time.Hour, 2 * time.Hour},
		{"a redirection", pushtest.Answer{Status: 307}, time.Hour, 2 * time.Hour},
		{"413", pushtest.Answer{Status: 413}, 0, time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			inWorld(t, func(w *world, d *pushtest.Device) {
				w.service.Break(c.answer)
				w.ask("pb_1", "pr_1", "Go on?")
				time.Sleep(max(c.wait/2-time.Second, 0))
				if c.answer.RetryAfter != "" && c.wait >= time.Minute { // what it asked for holds over a restart
					synctest.Wait()
					w.stop()
					if err := w.start(); err != nil {
						t.Fatal(err)
					}
				}
				time.Sleep(max(c.wait-c.wait/2, 0))
				synctest.Wait()
				if got := len(d.Messages()); c.wait > 0 && got != 0 {
					t.Errorf("it was sent again before %v", c.wait)
				}
				time.Sleep(c.within)
				synctest.Wait()
				_, known := w.pusher.Find("br_1")
				if want := c.within > 0; known != want || (len(d.Messages()) == 1) != want {
					t.Errorf("subscribed: %v, and it got %d messages", known, len(d.Messages()))
				}
				if text := ""; c.name == "413" && len(d.Messages()) == 1 {
					if n, err := pushtest.ReadMessage(d.Messages()[0]); err != nil || n.Text != text || n.Title != "deploy" {
						t.Errorf("it got %+v (%v)", n, err)
					}
				}
			})
		})
	}
}

// Services that hang, as those that a device has made up may, delay no other device's question, and no end of the daemon.
func TestServicesThatHangDelayNobody(t *testing.T) {
	inWorld(t, func(w *world, d *pushtest.Device) {
		hanging := map[string]*pushtest.Device{}
		for n := range 20 {
			browser := fmt.Sprintf("br_%d", n+2)
			hanging[browser] = w.service.Subscribe(w.pusher.PublicKey())
			hanging[browser].SetHangs(true)
			if err := w.subscribe(browser, hanging[browser], all()); err != nil {
				t.Fatal(err)
			}
		}
		for n := range 20 {
			w.name(sessionID(n), "many")
			w.ask(sessionID(n), fmt.Sprintf("pr_%d", n), fmt.Sprintf("Question %d?", n))
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if got := len(d.Messages()); got != 20 {
			t.Errorf("a second later %d questions of 20 have come", got)
		}
		for _, h := range hanging {
			if h.Asked() != 1 {
				t.Errorf("one that hangs was asked %d times at once", h.Asked())
			}
			h.SetHangs(false)
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		for browser, h := range hanging {
			if got := len(h.Messages()); got != 20 {
				t.Errorf("%s got %d questions when it was answered again", browser, got)
			}
			h.SetHangs(true)
		}
		w.answer("pb_1")
		synctest.Wait()
		began := time.Now()
		w.stop()
		if took := time.Since(began); took > 0 {
			t.Errorf("it ended %v later", took)
		}
		if err := w.start(); err != nil {
			t.Fatal(err)
		}
	})
}

// A device that subscribes anew, at another endpoint, while a message to the old one is under way shows nothing of that one's:
// it's told no end of what it wasn't told, also behind a restart.
func TestAnotherEndpointShowsNothingOfTheOld(t *testing.T) {
	inWorld(t, func(w *world, d *pushtest.Device) {
		w.ask("pb_1", "pr_1", "Go on?")
		synctest.Wait()
		w.service.Break(pushtest.Answer{Status: 400, After: 5 * time.Second})
		w.answer("pb_1")
		time.Sleep(time.Second)
		anew := w.service.Subscribe(w.pusher.PublicKey())
		if err := w.subscribe("br_1", anew, all()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		w.stop()
		if err := w.start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(24 * time.Hour)
		synctest.Wait()
		if len(d.Messages()) != 1 || anew.Asked() != 0 {
			t.Errorf("the old endpoint got %d messages, the new one %d", len(d.Messages()), anew.Asked())
		}
	})
}

// A later message has a greater number, also behind a restart with a clock that was set back: a device would else take a new
// question for a late one.
func TestALaterMessageHasAGreaterNumber(t *testing.T) {
	inWorld(t, func(w *world, d *pushtest.Device) {
		var last int64
		isGreater := func() {
			t.Helper()
			synctest.Wait()
			n, err := pushtest.ReadMessage(d.Messages()[len(d.Messages())-1])
			if err != nil || n.Sent <= last {
				t.Errorf("%d comes behind %d (%v)", n.Sent, last, err)
			}
			last = n.Sent
		}
		for range 3 { // all in the same millisecond
			w.ask("pb_1", fmt.Sprint("pr_", last), "Go on?")
			isGreater()
			w.answer("pb_1")
			isGreater()
		}
		w.stop()
		last = time.Now().Add(time.Hour).UnixMilli() // what a clock that was an hour ahead has made
		if err := w.store.PutNote(t.Context(), "sent", fmt.Sprint(last)); err != nil {
			t.Fatal(err)
		}
		if err := w.start(); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			w.ask("pb_1", fmt.Sprint("pr_", last), "Go on?")
			isGreater()
			w.answer("pb_1")
			isGreater()
			w.stop()
			if err := w.start(); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// Whatever a session is called, asks, or fails by: it's told within what push services take, and what's shown stands where it
// seems to.
func TestAnyTextIsTold(t *testing.T) {
	text := rapid.StringOfN(rapid.OneOf(rapid.Rune(), rapid.SampledFrom([]rune("a \n\t\r\x00\x1b\x7f\u200b\u202e\u2028\u2066\ufeff\"\\<👩\u200d🚀\U000e0041中é"))), 0, 400, -1)
	drawtest.CheckTimes(t, drawtest.Times(1000, 100, 20), func(rt *rapid.T) {
		name, asked, failed := text.Draw(rt, "name"), text.Draw(rt, "question"), text.Draw(rt, "failure")
		var got []pushtest.Message // it's judged outside of the bubble, which a failed draw mustn't leave
		inWorld(t, func(w *world, d *pushtest.Device) {
			w.name("pb_1", name)
			w.ask("pb_1", "pr_1", asked)
			synctest.Wait()
			w.answer("pb_1")
			synctest.Wait()
			w.feed.PublishOutput(sessions.OutputEvent{Session: "pb_1", Complete: true, Turn: sessions.Turn{Number: 1, Failed: failed}})
			synctest.Wait()
			got = d.Messages()
		})
		if len(got) != 3 {
			rt.Fatalf("%d messages came", len(got))
		}
		for _, m := range got {
			n, err := pushtest.ReadMessage(m)
			if err != nil || n.Title == "" || n.Text == "" {
				rt.Fatalf("%s: %v", m.Text, err)
			}
			if shown := n.Title + n.Text; sessions.Legible(shown) != shown || strings.ContainsAny(shown, "\n\t") {
				rt.Fatalf("it shows %q", shown)
			}
		}
	})
}

// What's kept from before a rule was made is masked by it when it's sent.
func TestWhatWasKeptIsMaskedByTodaysRules(t *testing.T) {
	inWorld(t, func(w *world, d *pushtest.Device) {
		w.stop()
		if err := w.store.PutLastAlert(t.Context(), push.Alert{Session: "pb_1", Key: "end:turn 7", Kind: push.End, Text: "Done: it's " + secret, At: time.Now()}); err != nil {
			t.Fatal(err)
		}
		if err := w.start(); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if got := shows(t, d); got != "deploy: Done: it's [masked]" {
			t.Errorf("it shows %q", got)
		}
	})
}

// A device that changes its wishes has nothing sent sooner than its service asks: who does so all the time could have the daemon
// be shut out there, with all devices of that service.
func TestOtherWishesSendNothingSooner(t *testing.T) {
	inWorld(t, func(w *world, d *pushtest.Device) {
		w.service.Break(slices.Repeat([]pushtest.Answer{{Status: 429, RetryAfter: "3600", After: 2 * time.Second}}, 10_000)...)
		w.ask("pb_1", "pr_1", "Go on?")
		for range 7500 { // also while the second is under way
			time.Sleep(time.Second)
			if err := w.change("br_1", all()); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		if d.Asked() != 3 {
			t.Errorf("in a bit more than two hours the service was asked %d times", d.Asked())
		}
	})
}

// Failures in a row are tried ever less often, and how it stands is told.
func TestFailuresAreTriedLessAndLess(t *testing.T) {
	inWorld(t, func(w *world, d *pushtest.Device) {
		for range 1000 {
			w.service.Break(pushtest.Answer{Status: http.StatusBadGateway})
		}
		w.ask("pb_1", "pr_1", "Go on?")
		time.Sleep(24 * time.Hour)
		synctest.Wait()
		if n := d.Asked(); n < 40 || n > 65 { // 8 until half an hour, and then some 46
			t.Errorf("it was tried %d times in a day", n)
		}
		if s, _ := w.pusher.Find("br_1"); s.Trouble != "the push service answered 502" {
			t.Errorf("the trouble is %q", s.Trouble)
		}
		w.service.Recover()
		time.Sleep(40 * time.Minute)
		synctest.Wait()
		if s, _ := w.pusher.Find("br_1"); s.Trouble != "" || shows(t, d) != "deploy: Go on?" {
			t.Errorf("the trouble is %q, and it shows %q", s.Trouble, shows(t, d))
		}
	})
}

// In quiet hours nothing is sent, and then what still holds.
func TestQuietHours(t *testing.T) {
	inWorld(t, func(w *world, d *pushtest.Device) {
		w.name("pb_2", "review")
		quiet := all()
		quiet.Quiet = push.QuietHours{From: "22:00", To: "07:00", Zone: "America/New_York"} // 03:00 to 12:00 UTC, in winter
		if err := w.change("br_1", quiet); err != nil {
			t.Fatal(err)
		}
		time.Sleep(4 * time.Hour)
		w.ask("pb_1", "pr_1", "Go on?")
		w.ask("pb_2", "pr_2", "And here?")
		time.Sleep(time.Hour)
		w.answer("pb_1")
		time.Sleep(7*time.Hour - time.Second)
		synctest.Wait()
		if n := d.Asked(); n != 0 {
			t.Errorf("%d messages came in quiet hours", n)
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if got := shows(t, d); d.Asked() != 1 || got != "review: And here?" {
			t.Errorf("%d messages came, and it shows %q", d.Asked(), got)
		}
	})
}

// A device that's revoked, or whose browser may see nothing any more, is told nothing, also if a message is under way.
func TestARevokedDeviceIsToldNothing(t *testing.T) {
	inWorld(t, func(w *world, d *pushtest.Device) {
		w.service.Break(pushtest.Answer{Status: 500})
		w.ask("pb_1", "pr_1", "Go on?")
		synctest.Wait()
		w.mu.Lock()
		w.barred["br_1"] = true
		w.mu.Unlock()
		time.Sleep(time.Hour)
		synctest.Wait()
		if _, known := w.pusher.Find("br_1"); known || d.Asked() != 1 || w.store.Subscriptions() != 0 {
			t.Errorf("subscribed: %v, and %d messages were sent", known, d.Asked())
		}
	})
}

// A device that subscribed while the clock was ahead is told of ends once it's right, and of none twice.
func TestASubscriptionFromATimeToCome(t *testing.T) {
	inWorld(t, func(w *world, _ *pushtest.Device) {
		d := w.service.Subscribe(w.pusher.PublicKey())
		ahead := time.Now().Add(5 * time.Hour)
		if err := w.pusher.Subscribe(context.Background(), ahead, push.Subscription{Browser: "br_2", Endpoint: d.Endpoint, Key: d.Key, Auth: d.Auth, Wishes: all()}); err != nil {
			t.Fatal(err)
		}
		restart := func() {
			w.stop()
			if err := w.start(); err != nil {
				t.Fatal(err)
			}
		}
		restart() // with a clock that's right
		time.Sleep(time.Minute)
		now := time.Now()
		w.feed.PublishOutput(sessions.OutputEvent{Session: "pb_1", Complete: true, Turn: sessions.Turn{Number: 1, StartedAt: now.Add(-time.Hour), EndedAt: now}})
		for range 3 {
			synctest.Wait()
			if got := shows(t, d); d.Asked() != 1 || got != "deploy: Done in 60 min" {
				t.Errorf("%d messages came, and it shows %q", d.Asked(), got)
			}
			time.Sleep(3 * time.Hour) // past the time that was to come
			restart()
		}
	})
}

// What the store can't keep is tried again: nothing is told that it doesn't have.
func TestAStoreThatIsFull(t *testing.T) {
	inWorld(t, func(w *world, d *pushtest.Device) {
		w.store.SetFull(true)
		now := time.Now()
		w.feed.PublishOutput(sessions.OutputEvent{Session: "pb_1", Complete: true, Turn: sessions.Turn{Number: 1, StartedAt: now.Add(-time.Hour), EndedAt: now}})
		time.Sleep(time.Minute)
		synctest.Wait()
		if d.Asked() != 0 {
			t.Errorf("%d messages were sent", d.Asked())
		}
		w.store.SetFull(false)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if got := shows(t, d); got != "deploy: Done in 60 min" {
			t.Errorf("it shows %q", got)
		}
	})
}
