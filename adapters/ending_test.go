package adapters

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/internal/redact"
	"github.com/panebridge/panebridge/sessions"
)

func TestEndings(t *testing.T) {
	const took = 3*time.Minute + 12*time.Second
	for want, e := range map[string]Ending{
		"done":                               {Turns: 1},
		"done · 3 min 12 s":                  {Turns: 1, Took: took, Link: "https://t.me/c/1/2"},
		"5 turns done · the last took 3 min": {Turns: 5, Took: 3*time.Minute + 400*time.Millisecond},
		"done · less than 1 s":               {Turns: 1, Took: 1},
		"done · 2 h 1 min":                   {Turns: 1, Took: 2*time.Hour + 40*time.Second},
		"done · 1 h":                         {Turns: 1, Took: time.Hour},
		"failed: Overloaded · 6 s":           {Turns: 1, Took: 6 * time.Second, Broken: true, Words: "Overloaded"},
		"failed · 6 s":                       {Turns: 1, Took: 6 * time.Second, Broken: true},
		"2 turns, the last of which failed: Overloaded · the last took 6 s":           {Turns: 2, Took: 6 * time.Second, Broken: true, Words: "Overloaded"},
		"3 turns, 1 of which failed: Overloaded · the last took 6 s · “All is well.”": {Turns: 3, Took: 6 * time.Second, Earlier: 1, Why: "Overloaded", Words: "All is well."},
		"3 turns, 2 of which failed, the last: no key · the last took 6 s":            {Turns: 3, Took: 6 * time.Second, Earlier: 1, Why: "Overloaded", Broken: true, Words: "no key"},
		"3 turns, 2 of which failed":        *Ending{Turns: 3, Earlier: 2, Why: "Overloaded", Words: "well"}.Bare(),
		"failed · exit status 2":            {Failed: &sessions.Exit{Status: 2}},
		"failed · signal KILL · 3 min 12 s": {Turns: 1, Took: took, Failed: &sessions.Exit{Status: -1, Signal: "KILL"}},
	} {
		if got := e.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// What a message says that rings, by what has happened since the chat was told last.
func TestWhatIsSaidAtTheEnd(t *testing.T) {
	began := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	turns := func(s *situation, n int64) {
		s.progress.Turn, s.progress.TurnEnd, s.progress.TurnFirst = n, 2, 1
		s.progress.TurnBegan, s.progress.TurnEnded = began, began.Add(192*time.Second)
	}
	exits := func(s *situation, status int) {
		s.session.State, s.session.Exit = sessions.StateEnded, &sessions.Exit{Status: status}
	}
	for want, change := range map[string]func(s *situation){
		"x\nxx\ndone · 3 min 12 s":                       func(s *situation) { turns(s, 1) },
		"x\nxx\n4 turns done · the last took 3 min 12 s": func(s *situation) { turns(s, 4) },
		"x\nxx\nxxx":                                      func(s *situation) { exits(s, 0) },
		"x\nxx\nxxx\nfailed · exit status 3":              func(s *situation) { exits(s, 3) },
		"x\nxx\nxxx\nfailed · exit status 3 · 3 min 12 s": func(s *situation) { turns(s, 1); exits(s, 3) },
	} {
		s := sightOf(3, Document{Shown: Position{Line: 1}})
		change(&s)
		st := planCall(s)
		if st.op == nil || st.op.Text != want || !st.op.Ring || st.more {
			t.Errorf("planned %+v, want %q", st.op, want)
		}
	}
}

// turnLog is a log of turns.
type turnLog struct {
	Log
	turns []sessions.Turn
}

func (l turnLog) Turns(_ context.Context, _ sessions.ID, from int64, limit int) ([]sessions.Turn, error) {
	return slices.DeleteFunc(slices.Clone(l.turns), func(t sessions.Turn) bool { return t.Number < from || t.Number >= from+int64(limit) }), nil
}

func (l turnLog) Read(context.Context, sessions.ID, int64, int) (sessions.Output, error) {
	return sessions.Output{}, nil
}

// Of several turns that one message tells of, those that failed are named, with why, also if the
// last went well: of those before it the newest's words are said, without secrets.
func TestAnEarlierFailedTurnIsNamed(t *testing.T) {
	m, err := redact.New(redact.Options{})
	if err != nil {
		t.Fatal(err)
	}
	const secret = "ghp_x7KqN2mW9pLr4TvB8cYd3FhJ6sZa1QeU5oGi"
	log := MaskedLog(turnLog{turns: []sessions.Turn{{Number: 1, Failed: "of before"}, {Number: 2, Failed: "Overloaded"}, {Number: 3, Failed: "401: " + secret}, {Number: 4}, {Number: 5}}}, m)
	for told, want := range map[int64]string{0: "5 turns, 3 of which failed: 401: ", 1: "4 turns, 2 of which failed: 401: ", 2: "3 turns, 1 of which failed: 401: ", 3: "2 turns done", 4: "done"} {
		s := sightOf(3, Document{Shown: Position{Line: 1}, Turn: told})
		s.progress.Turn, s.progress.TurnEnd, s.progress.TurnFirst = 5, 2, 1
		if err := s.lookBack(t.Context(), log, 30*time.Second); err != nil {
			t.Fatal(err)
		}
		st := planCall(s)
		if st.op == nil || !strings.Contains(st.op.Text, "\n"+want) || strings.Contains(st.op.Text, "x7KqN2mW9pLr4") {
			t.Errorf("behind turn %d: planned %+v, want %q", told, st.op, want)
		}
	}
}

// Where there's no room for it, the end of a turn is a message of its own: nothing is
// said before it's true, and it rings once.
func TestAnEndingThatDoesNotFitIsTheNextMessage(t *testing.T) {
	s := sightOf(1, Document{Shown: Position{Line: 1}})
	s.log.pieces = piecesOf(strings.Repeat("x", s.shape.MaxLen-len(doubleMark)-1))
	s.progress.Turn, s.progress.TurnEnd = 1, 1
	st := planCall(s)
	if st.op.Ring || st.op.Page.Ending != nil || !st.more {
		t.Fatalf("planned %+v", st.op)
	}
	s.doc = st.before.afterIntent(*st.before.Intent, "1", false)
	s.waiting = nil
	if st = planCall(s); st.op == nil || st.op.Text != "done" || !st.op.Ring || st.more {
		t.Fatalf("then planned %+v", st.op)
	}
	s.doc = st.before.afterIntent(*st.before.Intent, "2", false)
	if st = planCall(s); st.op != nil {
		t.Fatalf("and then %+v", st.op)
	}
}

func TestTheExitStatusOfACommandIsSaid(t *testing.T) {
	for want, e := range map[string]Ending{
		"done · 3 s":                 {Turns: 1, Took: 3 * time.Second},
		"done · 3 s · exit status 1": {Turns: 1, Took: 3 * time.Second, Status: 1},
		"2 turns done · the last took 1 s · exit status 2": {Turns: 2, Took: time.Second, Status: 2},
		"failed · exit status 5":                           {Failed: &sessions.Exit{Status: 5}, Status: 5},
	} {
		if got := e.String(); got != want {
			t.Errorf("%+v is %q, want %q", e, got, want)
		}
	}
}
