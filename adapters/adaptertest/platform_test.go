package adaptertest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/panebridge/panebridge/adapters/adaptertest"
)

// chatting is a platform with group -1 (with threads) and group -2.
func chatting(o adaptertest.Options) (*adaptertest.Platform, func(c adaptertest.Call) (adaptertest.Answer, error)) {
	p := adaptertest.NewPlatform(o)
	p.AddGroup("-1", true)
	p.AddGroup("-2", false)
	conn := p.Connect()
	return p, func(c adaptertest.Call) (adaptertest.Answer, error) { return conn.Do(context.Background(), c) }
}

func hello(chat string) adaptertest.Call {
	return adaptertest.Call{Method: adaptertest.Send, Chat: chat, Text: "hello"}
}

// refused wants a call refused with a text, and returns the refusal.
func refused(t *testing.T, err error, text string) *adaptertest.Error {
	t.Helper()
	var e *adaptertest.Error
	if !errors.As(err, &e) || e.Text != text {
		t.Fatalf("got %v, want %q", err, text)
	}
	return e
}

func TestWindowsCountByArrival(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, do := chatting(adaptertest.Options{})
		for i := range 20 {
			if _, err := do(hello("-1")); err != nil {
				t.Fatalf("call %d: %v", i+1, err)
			}
		}
		_, err := do(hello("-1"))
		if e := refused(t, err, adaptertest.TooMany); e.RetryAfter != time.Minute {
			t.Errorf("one too many has to wait %v, want a minute", e.RetryAfter)
		}
		time.Sleep(time.Minute)
		if _, err := do(hello("-1")); err != nil {
			t.Errorf("after a minute: %v", err)
		}
	})
}

func TestTheBotHasAWindowOfItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, do := chatting(adaptertest.Options{})
		for i := range 31 {
			chat := fmt.Sprint("-10", i)
			p.AddGroup(chat, false)
			_, err := do(hello(chat))
			if i < 30 && err != nil {
				t.Fatalf("call %d: %v", i+1, err)
			}
			if i == 30 {
				_ = refused(t, err, adaptertest.TooMany)
			}
		}
	})
}

// Edits, files and threads count like messages; threads of a group share its window.
func TestAllMethodsShareAGroupsWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, do := chatting(adaptertest.Options{})
		thread := p.AddThread("-1", "by hand")
		first, err := do(hello("-1"))
		if err != nil {
			t.Fatal(err)
		}
		calls := []adaptertest.Call{
			{Method: adaptertest.SendFile, Chat: "-1", Data: []byte("x")},
			{Method: adaptertest.CreateThread, Chat: "-1", Text: "new"},
			{Method: adaptertest.Send, Chat: "-1", Thread: thread, Text: "hello"},
		}
		for i := range 15 {
			calls = append(calls, adaptertest.Call{Method: adaptertest.Edit, Chat: "-1", Message: first.ID, Text: fmt.Sprint("edit ", i)})
		}
		for _, c := range calls {
			if _, err := do(c); err != nil {
				t.Fatalf("%s: %v", c.Method, err)
			}
			time.Sleep(time.Second)
		}
		_, err = do(hello("-1"))
		if err != nil {
			t.Fatalf("the 20th: %v", err)
		}
		_, err = do(hello("-1"))
		_ = refused(t, err, adaptertest.TooMany)
		if n := adaptertest.Worst(p.Arrivals(), time.Minute, func(adaptertest.Call) bool { return true }); n != 21 {
			t.Errorf("the most that came within a minute is %d, want 21", n)
		}
	})
}

func TestAPenaltyGrowsWhenItIsNotKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		faults := 1
		p, do := chatting(adaptertest.Options{})
		p.SetFault(func(adaptertest.Call) adaptertest.Fault {
			faults--
			if faults == 0 {
				return adaptertest.Fault{Kind: adaptertest.Throttled, RetryAfter: 10 * time.Second}
			}
			return adaptertest.Fault{}
		})
		wait := 10 * time.Second
		for range 4 {
			_, err := do(hello("-1"))
			if e := refused(t, err, adaptertest.TooMany); e.RetryAfter != wait {
				t.Fatalf("asked for %v, want %v", e.RetryAfter, wait)
			}
			if _, err := do(hello("-2")); err != nil {
				t.Errorf("another chat: %v", err)
			}
			time.Sleep(wait / 2)
			wait = wait / 2 * 2
		}
		time.Sleep(wait)
		if _, err := do(hello("-1")); err != nil {
			t.Errorf("after its end: %v", err)
		}
		if n := len(adaptertest.Banned(p.Arrivals(), func(c adaptertest.Call) string { return c.Chat })); n != 3 {
			t.Errorf("%d calls are known to have come during a penalty, want 3", n)
		}
	})
}

func TestWhatCannotBeShownIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, do := chatting(adaptertest.Options{})
		m, err := do(hello("-2"))
		if err != nil {
			t.Fatal(err)
		}
		edit := func(chat, id, text string) adaptertest.Call {
			return adaptertest.Call{Method: adaptertest.Edit, Chat: chat, Message: id, Text: text}
		}
		send := func(chat, thread, text string) adaptertest.Call {
			return adaptertest.Call{Method: adaptertest.Send, Chat: chat, Thread: thread, Text: text}
		}
		for _, tt := range []struct {
			call adaptertest.Call
			want string
		}{
			{send("-2", "", strings.Repeat("x", 4097)), adaptertest.TooLong},
			{send("-2", "", strings.Repeat("👩", 2049)), adaptertest.TooLong}, // 4098 UTF-16 units
			{send("-2", "", " \n\t"), adaptertest.Empty},
			{send("-9", "", "x"), adaptertest.ChatNotFound},
			{send("-1", "77", "x"), adaptertest.ThreadNotFound},
			{edit("-2", m.ID, "hello"), adaptertest.NotModified},
			{edit("-2", m.ID, ""), adaptertest.Empty},
			{edit("-2", "77", "x"), adaptertest.MessageNotFound},
			{edit("-1", m.ID, "x"), adaptertest.MessageNotFound}, // another chat's
			{adaptertest.Call{Method: adaptertest.SendFile, Chat: "-2", Data: make([]byte, 50<<20+1)}, adaptertest.FileTooLarge},
			{adaptertest.Call{Method: adaptertest.SendFile, Chat: "-2"}, adaptertest.Empty},
			{adaptertest.Call{Method: adaptertest.CreateThread, Chat: "-2", Text: "x"}, adaptertest.ThreadNotFound},
		} {
			time.Sleep(time.Minute)
			_, err := do(tt.call)
			_ = refused(t, err, tt.want)
		}
		p.FreezeMessage("-2", m.ID)
		_, err = do(edit("-2", m.ID, "x"))
		_ = refused(t, err, adaptertest.NotEditable)
		p.DeleteChat("-2")
		_, err = do(hello("-2"))
		_ = refused(t, err, adaptertest.ChatNotFound)
		p.Migrate("-1", "-1001")
		_, err = do(hello("-1"))
		if e := refused(t, err, adaptertest.Upgraded); e.MigratedTo != "-1001" {
			t.Errorf("moved to %q", e.MigratedTo)
		}
		if _, err := do(hello("-1001")); err != nil {
			t.Errorf("under its new id: %v", err)
		}
	})
}

func TestItShowsWhatAPersonWouldSee(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, do := chatting(adaptertest.Options{})
		thread := p.AddThread("-1", "by hand")
		one, _ := do(hello("-1"))
		_, _ = do(adaptertest.Call{Method: adaptertest.Send, Chat: "-1", Thread: thread, Text: "in the thread", Silent: true})
		_, _ = do(hello("-1")) // the same twice is there twice
		_, _ = do(adaptertest.Call{Method: adaptertest.Edit, Chat: "-1", Message: one.ID, Text: "changed"})
		seen := p.Seen("-1", "")
		if len(seen) != 2 || seen[0].Text != "changed" || seen[0].Edits != 1 || !seen[0].Rang || seen[1].Text != "hello" {
			t.Errorf("outside of threads: %+v", seen)
		}
		if seen := p.Seen("-1", thread); len(seen) != 1 || seen[0].Rang {
			t.Errorf("in the thread: %+v", seen)
		}
		p.DeleteMessage("-1", one.ID)
		p.DeleteThread("-1", thread)
		if a, b := len(p.Seen("-1", "")), len(p.Seen("-1", thread)); a != 1 || b != 0 {
			t.Errorf("after deleting: %d and %d messages", a, b)
		}
	})
}

func TestANonceIsTakenOnceForATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, do := chatting(adaptertest.Options{NonceFor: time.Minute})
		c := hello("-1")
		c.Nonce = "n"
		one, _ := do(c)
		c.Text = "something else"
		two, err := do(c)
		if err != nil || two.ID != one.ID || !two.Existed {
			t.Errorf("again: %+v, %v; want the first, %s", two, err, one.ID)
		}
		time.Sleep(time.Minute)
		if three, err := do(c); err != nil || three.ID == one.ID || three.Existed {
			t.Errorf("a minute later: %+v, %v", three, err)
		}
		if seen := p.Seen("-1", ""); len(seen) != 2 || seen[0].Text != "hello" {
			t.Errorf("seen: %+v", seen)
		}
	})
}

func TestCallsFailAsTheyAreTold(t *testing.T) {
	tests := map[string]struct {
		fault adaptertest.Fault
		want  string // in the error; "": none
		done  bool
	}{
		"works":              {adaptertest.Fault{Out: time.Second, Back: time.Second}, "", true},
		"no connection":      {adaptertest.Fault{Kind: adaptertest.Unconnected}, "no connection", false},
		"throttled":          {adaptertest.Fault{Kind: adaptertest.Throttled, RetryAfter: 3 * time.Second}, "429", false},
		"server error":       {adaptertest.Fault{Kind: adaptertest.ServerError}, "500", false},
		"bad gateway":        {adaptertest.Fault{Kind: adaptertest.BadGateway}, "502", false},
		"bad gateway, done":  {adaptertest.Fault{Kind: adaptertest.BadGatewayOK}, "502", true},
		"lost":               {adaptertest.Fault{Kind: adaptertest.Lost}, "no answer", false},
		"unanswered":         {adaptertest.Fault{Kind: adaptertest.Unanswered}, "no answer", true},
		"answered too late":  {adaptertest.Fault{Back: time.Minute}, "no answer", true},
		"arrives a bit late": {adaptertest.Fault{Out: 14 * time.Second}, "no answer", true},
		"arrives too late":   {adaptertest.Fault{Out: 16 * time.Second}, "no answer", false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, _ := chatting(adaptertest.Options{})
				p.SetFault(func(adaptertest.Call) adaptertest.Fault { return tt.fault })
				ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
				defer cancel()
				began := time.Now()
				_, err := p.Connect().Do(ctx, hello("-1"))
				if took := time.Since(began); took > 10*time.Second {
					t.Errorf("took %v", took)
				}
				p.Wait()
				if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
					t.Errorf("got %v, want %q", err, tt.want)
				}
				if n := len(p.Seen("-1", "")); (n == 1) != tt.done {
					t.Errorf("%d messages are seen, want it done: %v", n, tt.done)
				}
			})
		})
	}
}

func TestADeadProcessMakesNoCalls(t *testing.T) {
	for _, lost := range []bool{false, true} {
		t.Run(fmt.Sprint("lost=", lost), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, _ := chatting(adaptertest.Options{})
				p.SetFault(func(adaptertest.Call) adaptertest.Fault { return adaptertest.Fault{Out: time.Second} })
				conn := p.Connect()
				ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
				defer cancel()
				go func() { _, _ = conn.Do(ctx, hello("-1")) }()
				synctest.Wait()
				conn.Kill(lost)
				if _, err := conn.Do(ctx, hello("-1")); !errors.Is(err, adaptertest.ErrNoConnection) {
					t.Errorf("a call after its death: %v", err)
				}
				p.Wait()
				if n := len(p.Seen("-1", "")); (n == 0) != lost {
					t.Errorf("of a call under way, %d messages are seen", n)
				}
			})
		})
	}
}

// The comparison itself, which all depends on: it finds what it's made to find.
func TestCompareFindsWhatIsWrong(t *testing.T) {
	const mark = "[sent once more: this may be here already]\n"
	shown := func(texts ...string) []adaptertest.Message {
		var out []adaptertest.Message
		for i, s := range texts {
			out = append(out, adaptertest.Message{ID: fmt.Sprint(i + 1), Text: s})
		}
		return out
	}
	rang := func(all []adaptertest.Message, i, edits int) []adaptertest.Message {
		all[i].Rang, all[i].Edits = true, edits
		return all
	}
	whole := adaptertest.Want{Session: "pb_1", To: 4, Oldest: 1}
	cut := adaptertest.Want{Session: "pb_1", To: 4, Oldest: 3} // the log has dropped two lines
	const dropped = "[at least 1 line is missing: dropped from the log before it could be sent]\n"
	tests := map[string]struct {
		seen []adaptertest.Message
		want string // "": nothing is wrong
	}{
		"all of it":                {rang(shown("one\ntwo", "three\nfour"), 1, 0), ""},
		"a line cut in two":        {rang(shown("one\ntwo\nth", "ree\nfour"), 1, 0), "was cut behind another"},
		"a long line alone in two": {rang(shown("one\ntwo", "th", "ree\nfour"), 2, 0), ""},
		"a line is missing":        {rang(shown("one", "three\nfour"), 1, 0), `"three" stands where line 2 should`},
		"the end is missing":       {rang(shown("one\ntwo\nthree"), 0, 0), "from line 4"},
		"a line twice":             {rang(shown("one\ntwo", "two\nthree\nfour"), 1, 0), `"two" stands where line 3 should`},
		"out of order":             {rang(shown("three\nfour", "one\ntwo"), 1, 0), `"three" stands where line 1 should`},
		"marked for nothing":       {rang(shown("one\ntwo", mark+"three\nfour"), 1, 0), "nothing of it can have been sent"},
		"a gap that isn't":         {rang(shown("one\n[output may be missing: clear]\ntwo\nthree\nfour"), 0, 0), "where there's none"},
		"lines not dropped":        {rang(shown("[at least 2 lines are missing: dropped from the log before it could be sent]\nthree\nfour"), 0, 0), "were dropped"},
		"nothing rang":             {shown("one\ntwo\nthree\nfour"), "nothing rang"},
		"rang too often":           {rang(rang(rang(shown("one", "two", "three\nfour"), 0, 0), 1, 0), 2, 0), "rang 3 times"},
		"added to what rang":       {rang(shown("one\ntwo\nthree\nfour"), 0, 1), "was edited 1 times"},
		"a live region is left":    {rang(shown("one\ntwo\nlive: x", "three\nfour"), 1, 0), "live region"},

		"a region whose lines were dropped": {rang(shown("one\nlive: x\n\nlive: for 3 s", dropped+"three\nfour"), 1, 0), ""},
		"a blank line above such a region":  {rang(shown("one\n\nlive: x", dropped+"three\nfour"), 1, 0), `"" stands where line 2 should`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			h := adaptertest.NewHouse(adaptertest.NewMemory(0))
			if err := errors.Join(h.Begin("pb_1", "agent-1"), h.Print("pb_1", adaptertest.Output{Lines: []string{"one", "two", "three", "four"}, Ends: true})); err != nil {
				t.Fatal(err)
			}
			want := whole
			if strings.Contains(tt.seen[len(tt.seen)-1].Text, dropped) {
				want = cut
			}
			wrong := strings.Join(h.Compare(tt.seen, want), "; ")
			if (wrong == "") != (tt.want == "") || !strings.Contains(wrong, tt.want) {
				t.Errorf("found %q, want %q", wrong, tt.want)
			}
		})
	}
}
