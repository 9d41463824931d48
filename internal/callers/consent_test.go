package callers

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/sessions"
)

// callDesk is where calls are asked about.
type callDesk struct {
	*testing.T
	*Consent
	told []sessions.Prompt
}

func hidesNothing(string) bool { return false }

func withCalls(t *testing.T, test func(d *callDesk)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		d := &callDesk{T: t}
		d.Consent = NewConsent(func(p sessions.Prompt) { d.told = append(d.told, p) }, hidesNothing, slog.New(slog.DiscardHandler))
		test(d)
	})
}

func callOf(session, target string) api.AskedCall {
	return api.AskedCall{
		CallerPlace: api.CallerPlace{Inside: true, Session: sessions.ID(session), Program: "panebridge x"},
		Does:        "press keys in a session", Method: "POST", Target: target, Body: `{"keys":["Enter"]}`,
	}
}

// begins has a call ask, and returns its question and what comes of it.
func (d *callDesk) begins(ctx context.Context, call api.AskedCall) (sessions.Prompt, <-chan error) {
	d.Helper()
	done := make(chan error, 1)
	go func() { done <- d.Ask(ctx, call) }()
	synctest.Wait()
	for _, p := range d.prompts() {
		if p.Session == call.Session {
			return p, done
		}
	}
	return sessions.Prompt{}, done
}

func (d *callDesk) wants(done <-chan error, want string) {
	d.Helper()
	synctest.Wait()
	select {
	case err := <-done:
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			d.Errorf("it ended with %v, want %q", err, want)
		}
	default:
		d.Errorf("it still waits, want %q", want)
	}
}

func TestACallWaitsForSomebodysWord(t *testing.T) {
	withCalls(t, func(d *callDesk) {
		p, done := d.begins(d.Context(), callOf("pb_a", "/api/v1/sessions/other/keys"))
		if p.Kind() != sessions.PromptCall || !strings.Contains(p.Dialog.Title, "press keys") ||
			p.Dialog.Body != "POST /api/v1/sessions/other/keys\n{\"keys\":[\"Enter\"]}\ncalled by: panebridge x" {
			t.Errorf("the question is %+v", p)
		}
		for _, wrong := range []sessions.Answer{{}, {Options: []int{2}}, {Options: []int{-1}}, {Options: []int{0, 1}}, {Text: "yes"}} {
			if _, _, err := d.answer(p.ID, wrong); !errors.Is(err, sessions.ErrInvalid) {
				t.Errorf("%+v: %v", wrong, err)
			}
		}
		if _, ok, err := d.answer(p.ID, sessions.Answer{Options: []int{allowCall}, Author: "ann"}); !ok || err != nil {
			t.Fatal(ok, err)
		}
		if _, _, err := d.answer(p.ID, sessions.Answer{Options: []int{refuseCall}, Author: "bob"}); !errors.Is(err, sessions.ErrConflict) {
			t.Errorf("a second answer: %v", err)
		}
		d.wants(done, "")
		if now, ok := d.prompt(p.ID); !ok || now.State != sessions.PromptAnswered || now.Answer.Author != "ann" || len(d.told) != 2 {
			t.Errorf("it's %+v, told %d", now, len(d.told))
		}
		// The next call of the same kind is another.
		next, done := d.begins(d.Context(), callOf("pb_a", "/api/v1/sessions/other/keys"))
		if next.ID == p.ID || next.ID == "" {
			t.Fatalf("the next question is %q", next.ID)
		}
		if _, _, err := d.answer(p.ID, sessions.Answer{Options: []int{allowCall}}); !errors.Is(err, sessions.ErrConflict) {
			t.Errorf("an old question was answered: %v", err)
		}
		_, _, _ = d.answer(next.ID, sessions.Answer{Options: []int{refuseCall}, Author: "7", Name: "bob"})
		d.wants(done, "bob refused it")
		_, done = d.begins(d.Context(), callOf("pb_a", "/api/v1/sessions/other/keys"))
		d.wants(done, "it was refused")
		time.Sleep(refusedFor)
		p, done = d.begins(d.Context(), callOf("pb_a", "/api/v1/sessions/other/keys"))
		if p.ID == "" {
			t.Error("nobody is asked ever again")
		}
		time.Sleep(callTime)
		d.wants(done, "nobody said a word")
	})
}

func TestCallsAreBounded(t *testing.T) {
	withCalls(t, func(d *callDesk) {
		ctx, giveUp := context.WithCancel(d.Context())
		first, done := d.begins(ctx, callOf("pb_a", "/1"))
		_, second := d.begins(ctx, callOf("pb_a", "/2"))
		d.wants(second, "another call")
		giveUp()
		d.wants(done, "given up")
		if now, _ := d.prompt(first.ID); now.State != sessions.PromptClosed {
			t.Errorf("it's %+v", now)
		}
		long := callOf("pb_b", "/6")
		long.Body = strings.Repeat("\u202e", maxCallRunes/6)
		_, hidden := d.begins(d.Context(), long)
		d.wants(hidden, "too long")
		_, third := d.begins(d.Context(), callOf("pb_a", "/3"))
		d.wants(third, "nobody is asked again before")
		var all []<-chan error
		for i := range maxCalls {
			_, done := d.begins(d.Context(), callOf(fmt.Sprint("pb_", i), "/4"))
			all = append(all, done)
		}
		_, more := d.begins(d.Context(), callOf("pb_more", "/5"))
		d.wants(more, "too many")
		time.Sleep(callTime)
		for _, done := range all {
			d.wants(done, "nobody said")
		}
		time.Sleep(callPause)
		for i := range 100 { // what's remembered is bounded
			p, done := d.begins(d.Context(), callOf("pb_a", fmt.Sprint("/", i)))
			_, _, _ = d.answer(p.ID, sessions.Answer{Options: []int{allowCall}})
			d.wants(done, "")
		}
		if len(d.done) != keptCalls || len(d.pause) != 0 {
			t.Errorf("%d are kept, %d pauses", len(d.done), len(d.pause))
		}
	})
}

// What's shown hides nothing.
func TestWhatACallSaysIsVisible(t *testing.T) {
	for in, want := range map[string]string{
		"a\u202eb":        `a\u202eb`,
		"a\nb\x1b[2J":     `a\nb\x1b[2J`,
		"a\u200bb\u0301c": `a\u200bb\u0301c`,
		"grün ✓ 漢字":       "grün ✓ 漢字",
	} {
		if got := visible(in); got != want {
			t.Errorf("%q is shown as %q, want %q", in, got, want)
		}
	}
	if got := commandLine([]string{"sh", "-c", "a; b", "it's", ""}); got != `sh -c 'a; b' 'it'\''s' ''` {
		t.Errorf("the command line is %s", got)
	}
	if got := commandLine([]string{strings.Repeat("x", 400)}); !strings.HasSuffix(got, "… (100 characters more)") {
		t.Errorf("the command line is %s", got)
	}
}
