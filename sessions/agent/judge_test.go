package agent

import (
	"bytes"
	"testing"
	"time"

	"github.com/panebridge/panebridge/sessions"
	"github.com/panebridge/panebridge/sessions/transcript"
)

// A daemon that's killed and started again in mid-turn tells of no end twice, and of
// each once.
func TestJudgeOutlivesRestarts(t *testing.T) {
	set, recordings := loadAll(t)
	for _, r := range recordings {
		parts := partsOf(t, r)
		for _, every := range []time.Duration{1300 * time.Millisecond, 3100 * time.Millisecond} {
			m := mode{hooks: true, records: true, talking: true}
			want := ends(newReplay(t, set, parts, m).run())
			for at := every; at < 10*time.Minute; at += every {
				m.restart = append(m.restart, at)
			}
			verdicts := newReplay(t, set, parts, m).run()
			if problem := alternate(verdicts); problem != "" {
				t.Errorf("%s, a restart every %s: %s", r.Name, every, problem)
			}
			if got := ends(verdicts); got != want {
				t.Errorf("%s, a restart every %s: %d ends, want %d", r.Name, every, got, want)
			}
		}
	}
}

func ends(verdicts []verdictAt) (n int) {
	for _, v := range verdicts {
		if v.Ended {
			n++
		}
	}
	return n
}

// Screens of Claude Code, in short.
const (
	claudeIdle    = "● Hello\n\n✻ Brewed for 3s · done 1:07 AM\n\n──────────────\n❯\n──────────────\n  ⏸ manual mode on · ? for shortcuts"
	claudeWorking = "❯ hello\n\n✻ Brewing… (3s)\n\n──────────────\n❯\n──────────────\n  ⏸ manual mode on · esc to interrupt"
	claudeDialog  = "● Bash\n──────────────\n Bash command\n Do you want to proceed?\n ❯ 1. Yes\n   2. No\n\n Esc to cancel · Tab to amend"
	claudeHalf    = "● Hello\n\n──────────────\n❯ half-\n──────────────\n  ⏸ manual mode on"
	claudeQuote   = "● It said: Do you want to proceed?\n\n──────────────\n❯\n──────────────\n  ⏸ manual mode on · esc to interrupt"
	claudeStopped = "● Hel\n  ⎿  Interrupted · What should Claude do instead?\n\n──────────────\n❯\n──────────────\n  ⏸ manual mode on · ? for shortcuts"
)

// scene is a judge that's shown screens by hand.
type scene struct {
	t   *testing.T
	p   *Profile
	j   *Judge
	now time.Time
}

func newScene(t *testing.T, profile string) *scene {
	t.Helper()
	set, err := LoadSet()
	if err != nil {
		t.Fatal(err)
	}
	p := set.Get(profile)
	return &scene{t, p, NewJudge(p, nil), time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
}

func (s *scene) see(after time.Duration, screen string, more ...any) Verdict {
	s.t.Helper()
	s.now = s.now.Add(after)
	e := Evidence{Now: s.now, Running: true}
	if screen != "" {
		e.Screen = snapshot(screen)
		e.Dialog = s.p.Dialog(e.Screen.Rows)
	}
	for _, m := range more {
		switch m := m.(type) {
		case Signal:
			e.Hooks = append(e.Hooks, Hook{Agent: s.p.Name(), Event: string(m), Signal: m, At: s.now})
		case Hook:
			e.Hooks = append(e.Hooks, m)
		case transcript.Record:
			e.Records = append(e.Records, m)
		}
	}
	return s.j.See(e)
}

func (s *scene) want(v Verdict, state sessions.State, began, ended bool) {
	s.t.Helper()
	if v.State != state || v.Began != began || v.Ended != ended {
		s.t.Fatalf("at %s: got %s (%s), began %t, ended %t; want %s, %t, %t", s.now.Format("05.000"), v.State, v.Reason, v.Began, v.Ended, state, began, ended)
	}
}

func snapshot(screen string) *sessions.Snapshot {
	rows := bytes.Split([]byte(screen), []byte("\n"))
	s := &sessions.Snapshot{Width: 80, Height: len(rows)}
	for _, row := range rows {
		s.Rows = append(s.Rows, string(row))
	}
	return s
}

func TestTurnByScreenAlone(t *testing.T) {
	s := newScene(t, "claude")
	s.want(s.see(0, claudeIdle), sessions.StateIdle, false, false)
	s.want(s.see(time.Second, claudeWorking), sessions.StateWorking, true, false)
	s.want(s.see(time.Second, claudeDialog), sessions.StateWaiting, false, false)
	s.want(s.see(time.Second, claudeWorking), sessions.StateWorking, false, false)
	s.want(s.see(time.Second, claudeIdle), sessions.StateIdle, false, true)
	s.want(s.see(time.Second, claudeIdle), sessions.StateIdle, false, false)
}

// Text that stands in the input box takes the place of the hints by which it's known that
// the program rests. A dialog that was open before isn't any more.
func TestADialogIsClosedOverAHalfTypedText(t *testing.T) {
	for _, work := range []bool{false, true} {
		s := newScene(t, "claude")
		s.want(s.see(0, claudeIdle), sessions.StateIdle, false, false)
		after := sessions.StateIdle
		if work {
			s.want(s.see(time.Second, claudeWorking), sessions.StateWorking, true, false)
			after = sessions.StateWorking
		}
		s.want(s.see(time.Second, claudeDialog), sessions.StateWaiting, false, false)
		v := s.see(time.Second, claudeHalf)
		for n := 0; v.State == sessions.StateWaiting; n++ {
			if n > 3 || v.Again.IsZero() || v.Again.Sub(s.now) > 3*time.Second {
				t.Fatalf("at %s it's still waiting: %s; looked at again %s", s.now.Format("05.000"), v.Reason, v.Again)
			}
			v = s.see(v.Again.Sub(s.now), claudeHalf)
		}
		s.want(v, after, false, false)
		s.want(s.see(time.Minute, claudeHalf), after, false, false)
		s.want(s.see(time.Second, claudeDialog), sessions.StateWaiting, false, false)
		s.want(s.see(time.Second, claudeIdle), sessions.StateIdle, false, work)
	}
}

func TestInterruptedTurnEndsWithoutHook(t *testing.T) {
	s := newScene(t, "claude")
	s.see(0, claudeIdle)
	s.want(s.see(time.Second, claudeWorking, PromptSent), sessions.StateWorking, true, false)
	s.see(2*time.Second, claudeWorking)
	v := s.see(time.Second, claudeStopped)
	s.want(v, sessions.StateIdle, false, true)
	if !v.Interrupted {
		t.Error("the turn doesn't count as interrupted")
	}
}

func TestQuotedPhraseIsNoDialog(t *testing.T) {
	s := newScene(t, "claude")
	s.see(0, claudeIdle)
	s.want(s.see(time.Second, claudeQuote), sessions.StateWorking, true, false)
	if s.p.Dialog(snapshot(claudeQuote).Rows) == "" {
		t.Error("nothing is held back while the phrase is on the screen")
	}
}

// A hook that came just now counts for more than a screen that's behind it, and for
// less than one that isn't.
func TestStaleHookIsCorrected(t *testing.T) {
	s := newScene(t, "claude")
	s.see(0, claudeIdle)
	v := s.see(time.Second, claudeIdle, PromptSent)
	s.want(v, sessions.StateWorking, true, false)
	if v.Again.IsZero() {
		t.Fatal("it doesn't want to look again")
	}
	s.want(s.see(500*time.Millisecond, claudeWorking), sessions.StateWorking, false, false)
	// No Stop ever comes.
	s.want(s.see(5*time.Second, claudeIdle), sessions.StateIdle, false, true)
}

func TestEndWaitsForTheLastBlock(t *testing.T) {
	s := newScene(t, "claude")
	s.see(0, claudeIdle)
	s.see(time.Second, claudeWorking, PromptSent, transcript.Record{Kind: transcript.User, Text: "hello\n"})
	v := s.see(2*time.Second, claudeWorking, TurnDone)
	s.want(v, sessions.StateIdle, false, false)
	if wait := v.Again.Sub(s.now); v.Again.IsZero() || wait > time.Second {
		t.Errorf("it looks again after %s", wait)
	}
	s.want(s.see(300*time.Millisecond, claudeWorking, transcript.Record{Kind: transcript.Answer, Text: "Hello\n"}, transcript.Record{Kind: transcript.TurnEnd}),
		sessions.StateIdle, false, true)
	// The spinner turns on while the person's own Stop hooks run.
	s.want(s.see(3*time.Second, claudeWorking), sessions.StateIdle, false, false)
	s.want(s.see(time.Second, claudeIdle, TurnDone), sessions.StateIdle, false, false)
}

func TestTextBehindTheEndIsOfANewTurn(t *testing.T) {
	s := newScene(t, "claude")
	user, answer, end := transcript.Record{Kind: transcript.User}, transcript.Record{Kind: transcript.Answer, Text: "a"}, transcript.Record{Kind: transcript.TurnEnd}
	v := s.see(0, claudeIdle, user, answer, end)
	if !v.Began || !v.Ended {
		t.Fatalf("a turn that's seen only when it's over: began %t, ended %t", v.Began, v.Ended)
	}
	s.want(s.see(time.Second, claudeWorking, answer), sessions.StateWorking, true, false)
	s.want(s.see(time.Second, claudeIdle, answer, end), sessions.StateIdle, false, true)
}

func TestForeignConversationEndsNothing(t *testing.T) {
	s := newScene(t, "codex")
	s.see(0, "", Hook{Signal: PromptSent, Event: "UserPromptSubmit", Conversation: "a", At: s.now})
	s.want(s.see(time.Second, "", Hook{Signal: TurnDone, Event: "agent-turn-complete", Conversation: "title", At: s.now.Add(time.Second)}), sessions.StateWorking, false, false)
	s.want(s.see(time.Second, "", Hook{Signal: TurnDone, Event: "Stop", Conversation: "a", At: s.now.Add(time.Second)}), sessions.StateIdle, false, true)
	s.see(100*time.Millisecond, "", Hook{Signal: PromptSent, Event: "UserPromptSubmit", Conversation: "a", At: s.now.Add(100 * time.Millisecond)})
	// notify tells of the turn before, late.
	s.want(s.see(100*time.Millisecond, "", Hook{Signal: TurnDone, Event: "agent-turn-complete", Conversation: "a", At: s.now.Add(100 * time.Millisecond)}), sessions.StateWorking, false, false)
}

func TestMarkerAndDeathEndATurn(t *testing.T) {
	s := newScene(t, "generic")
	s.now = s.now.Add(time.Hour)
	v := s.j.See(Evidence{Now: s.now, Marked: true, Running: true})
	if !v.Began || !v.Ended {
		t.Errorf("marker: began %t, ended %t", v.Began, v.Ended)
	}
	s = newScene(t, "claude")
	s.see(0, claudeWorking, PromptSent)
	v = s.j.See(Evidence{Now: s.now.Add(time.Second)})
	if !v.Ended || !v.Interrupted {
		t.Errorf("death: ended %t, interrupted %t", v.Ended, v.Interrupted)
	}
}

// A turn marker in an answer ends nothing where the program's ends are known otherwise.
func TestMarkerInAnAnswerEndsNothing(t *testing.T) {
	for _, agent := range []string{"claude", "codex", "gemini", "opencode", "pi", "qwen"} {
		s := newScene(t, agent)
		s.see(0, "", PromptSent)
		s.now = s.now.Add(time.Minute)
		if v := s.j.See(Evidence{Now: s.now, Marked: true, Running: true}); v.Ended || v.State != sessions.StateWorking {
			t.Errorf("%s: ended %t, %s (%s)", agent, v.Ended, v.State, v.Reason)
		}
		if v := s.see(time.Minute, "", TurnDone); !v.Ended {
			t.Errorf("%s: its own end didn't end the turn", agent)
		}
		s.now = s.now.Add(time.Minute)
		if v := s.j.See(Evidence{Now: s.now, Marked: true, Running: true}); v.Began || v.Ended {
			t.Errorf("%s: a marker between two turns is one of its own", agent)
		}
	}
	s := newScene(t, "generic") // but its hooks tell
	s.see(0, "", PromptSent)
	s.see(time.Second, "", TurnDone)
	s.see(time.Minute, "", PromptSent)
	if v := s.j.See(Evidence{Now: s.now, Marked: true, Running: true}); v.Ended {
		t.Error("a marker ended the turn of a program whose hooks tell of its ends")
	}
}

// What's saved is the same as long as nothing was learned.
func TestSaveIsStable(t *testing.T) {
	s := newScene(t, "claude")
	s.see(0, claudeIdle)
	s.see(time.Second, claudeWorking, PromptSent)
	s.see(2*time.Second, claudeWorking)
	saved := s.j.Save()
	for range 20 {
		s.see(time.Second, claudeWorking)
		if got := s.j.Save(); !bytes.Equal(got, saved) {
			t.Fatalf("nothing happened, but what's saved changed from\n%s to\n%s", saved, got)
		}
	}
	if j := NewJudge(s.p, saved); !bytes.Equal(j.Save(), saved) {
		t.Errorf("read and saved again it's\n%s, not\n%s", j.Save(), saved)
	}
	if j := NewJudge(s.p, []byte("{")); j.See(Evidence{Now: s.now, Running: true}).State != sessions.StateStarting {
		t.Error("a judge of damaged state doesn't begin anew")
	}
}

// A judge never asks for a look that's past, or for looks without end while nothing goes on.
func TestAgainIsAhead(t *testing.T) {
	set, recordings := loadAll(t)
	for _, r := range recordings {
		for _, v := range newReplay(t, set, partsOf(t, r), mode{hooks: true, talking: true}).run() {
			if !v.Again.IsZero() && v.Again.Before(r.Epoch.Add(v.at)) {
				t.Fatalf("%s at %s: it asks for a look at %s", r.Name, v.at, v.Again.Sub(r.Epoch))
			}
		}
	}
	s := newScene(t, "claude")
	s.see(0, claudeIdle)
	s.see(time.Second, claudeWorking)
	s.see(time.Second, claudeIdle)
	if v := s.see(time.Minute, claudeIdle); !v.Again.IsZero() {
		t.Errorf("at rest it asks for a look after %s", v.Again.Sub(s.now))
	}
}

// A turn has failed if its program says so and nothing comes behind that: by its record, by a
// record of what may pass by itself, or by its hook. One that went on, or that a person ended,
// has not.
func TestATurnThatFailed(t *testing.T) {
	user, answer, end := transcript.Record{Kind: transcript.User, Text: "do it"}, transcript.Record{Kind: transcript.Answer, Text: "I look."}, transcript.Record{Kind: transcript.TurnEnd}
	fails := transcript.Record{Kind: transcript.Failure, Text: "API Error: 400 no\nmore of it"}
	waits := transcript.Record{Kind: transcript.Failure, Text: "Overloaded", Waits: true}
	stopped := transcript.Record{Kind: transcript.TurnEnd, Interrupted: true}
	hook := func(agent, event, record string) Hook {
		h, err := ParseHook(agent, event, []byte(record), noEnv, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	before := transcript.Record{Kind: transcript.Answer, Text: "I look.", At: time.Unix(1, 0)}
	for name, c := range map[string]struct {
		signs []any
		want  string
	}{
		"it went well":               {[]any{user, answer, end}, ""},
		"it failed":                  {[]any{user, answer, fails, end}, "API Error: 400 no"},
		"it was tried again":         {[]any{user, waits, answer, end}, ""},
		"it went on":                 {[]any{user, fails, answer, end}, ""},
		"it was given up":            {[]any{user, waits, waits, end}, "Overloaded"},
		"a person ended it":          {[]any{user, waits, stopped}, ""},
		"the hook tells":             {[]any{user, answer, hook("claude", "StopFailure", `{"error":"rate_limit"}`)}, "rate_limit"},
		"a person ended it, by hook": {[]any{user, answer, hook("opencode", "session.error", `{"error":{"name":"MessageAbortedError","data":{"message":"Aborted"}}}`)}, ""},
		"by an older opencode's":     {[]any{user, answer, hook("opencode", "session.error", `{"error":{"name":"AbortedError"}}`)}, ""},
		"opencode's hook tells":      {[]any{user, hook("opencode", "session.error", `{"error":{"name":"ProviderAuthError","data":{"message":"no key\nfor it"}}}`)}, "no key"},
		"by its name alone":          {[]any{user, hook("opencode", "session.error", `{"error":{"name":"ProviderModelNotFoundError","data":{}}}`)}, "ProviderModelNotFoundError"},
		"without a word":             {[]any{user, hook("opencode", "session.error", `{}`)}, "for a reason that it doesn't say"},
		"Codex' person ended it":     {[]any{user, answer, hook("codex", "Interrupt", `{}`)}, ""},
		"a record of before comes":   {[]any{user, hook("opencode", "session.error", `{"error":{"name":"APIError","data":{"message":"no more"}}}`), before}, "no more"},
	} {
		s := newScene(t, "claude")
		s.see(0, claudeIdle)
		var failed string
		ends := 0
		take := func(v Verdict) {
			if v.Ended {
				ends++
				failed = v.Failed
			} else if v.Failed != "" {
				t.Errorf("%s: a turn that hasn't ended failed: %q", name, v.Failed)
			}
		}
		for _, sign := range c.signs {
			if h, ok := sign.(Hook); ok {
				h.At = s.now.Add(time.Second)
				sign = h
			}
			take(s.see(time.Second, claudeWorking, sign))
			s.j = NewJudge(s.p, s.j.Save())
		}
		take(s.see(5*time.Second, claudeIdle))
		if failed != c.want || ends != 1 {
			t.Errorf("%s: %d turns ended, and it failed with %q, want %q", name, ends, failed, c.want)
		}
		take(s.see(time.Second, claudeWorking, user, answer, end))
		if failed != "" {
			t.Errorf("%s: the next turn failed with %q", name, failed)
		}
	}
}
