package adapters

import (
	"context"
	"slices"
	"strconv"
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

// linkedChat is an adapter whose messages have addresses, and the store of what stands in them: message n
// shows the lines from from[n] on.
type linkedChat struct {
	Adapter
	Store
	Linker
	from  []int64
	asked *int // how often it was, where a line stands
}

func (c linkedChat) MessageAt(_ context.Context, _ BindingID, line int64) (string, error) {
	*c.asked++
	for n, from := range slices.Backward(c.from) {
		if from <= line {
			return strconv.Itoa(n), nil
		}
	}
	return "", nil
}

func (linkedChat) Link(_ Target, message string) string { return "https://chat/" + message }

// Several turns have a line for each message in which some begin, with how they ended; too many aren't
// listed. What needs no list has none.
func TestAnEndingSaysWhereTurnsBegin(t *testing.T) {
	began := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	one := 1
	turnsOf := func(n int64, change func(t *sessions.Turn)) (turns []sessions.Turn) {
		for i := range n {
			t := sessions.Turn{Number: 5 + i, FirstLine: 10 + 10*i, LastLine: 19 + 10*i, StartedAt: began, EndedAt: began.Add(time.Duration(i+1) * time.Second)}
			if change != nil {
				change(&t)
			}
			turns = append(turns, t)
		}
		return turns
	}
	all := func(n int64) (from []int64) {
		for i := range n {
			from = append(from, 10+10*i)
		}
		return from
	}
	for name, tt := range map[string]struct {
		turns []sessions.Turn
		from  []int64 // the first lines of messages
		want  string
		links string // where its lines lead to, from the first on; "-": nowhere
	}{
		"one turn":                   {turnsOf(1, nil), all(1), "done · 1 s", "0"},
		"each in a message":          {turnsOf(3, nil), all(3), "3 turns done · the last took 3 s|turn 1 · 1 s|turn 2 · 2 s|turn 3 · 3 s", "- 0 1 2"},
		"all in one message":         {turnsOf(3, nil), []int64{1}, "3 turns done · the last took 3 s", "0"},
		"two in one message":         {turnsOf(3, nil), []int64{1, 30}, "3 turns done · the last took 3 s|turns 1 and 2|turn 3 · 3 s", "- 0 1"},
		"the last hasn't been shown": {turnsOf(3, func(t *sessions.Turn) { t.FirstLine += 70 }), all(10), "3 turns done · the last took 3 s|turn 1 · 1 s|turn 2 · 2 s", "- 7 8"},
		"the first isn't known":      {turnsOf(3, nil), []int64{20, 30}, "3 turns done · the last took 3 s|turn 2 · 2 s|turn 3 · 3 s", "- 0 1"},
		"one without lines": {turnsOf(4, func(t *sessions.Turn) {
			if t.Number == 6 {
				t.FirstLine = 0
			}
		}), []int64{1, 40}, "4 turns done · the last took 4 s|turns 1 to 3|turn 4 · 4 s", "- 0 1"},
		"some failed": {turnsOf(5, func(t *sessions.Turn) {
			if t.Number != 6 {
				t.Failed = "Overloaded"
			}
		}), []int64{1, 30, 50}, "5 turns, 4 of which failed, the last: Overloaded · the last took 5 s|turns 1 and 2, 1 failed|turns 3 and 4 failed|turn 5 failed · 5 s", "- 0 1 2"},
		"a command's status": {turnsOf(2, func(t *sessions.Turn) { t.Status = &one }), all(2), "2 turns done · the last took 2 s · exit status 1|turn 1 · 1 s · exit status 1|turn 2 · 2 s · exit status 1", "- 0 1"},
		"more than are listed, in few messages": {
			turnsOf(20, nil), all(9), "20 turns done · the last took 20 s|turn 1 · 1 s|turn 2 · 2 s|turn 3 · 3 s|turn 4 · 4 s|turn 5 · 5 s|turn 6 · 6 s|turn 7 · 7 s|turn 8 · 8 s|turns 9 to 20",
			"- 0 1 2 3 4 5 6 7 8",
		},
		"more than are listed": {
			turnsOf(12, nil), all(12),
			"12 turns done · the last took 12 s|the first 2 turns aren't listed|turn 3 · 3 s|turn 4 · 4 s|turn 5 · 5 s|turn 6 · 6 s|turn 7 · 7 s|turn 8 · 8 s|turn 9 · 9 s|turn 10 · 10 s|turn 11 · 11 s|turn 12 · 12 s",
			"- - 2 3 4 5 6 7 8 9 10 11",
		},
	} {
		s := sightOf(3, Document{Shown: Position{Line: 99}, Turn: 4})
		if strings.HasPrefix(name, "more than") {
			s.doc.Shown = Position{Line: 1000}
		}
		last := tt.turns[len(tt.turns)-1]
		s.progress = LogProgress{Head: last.LastLine, Turn: last.Number, TurnEnd: last.LastLine, TurnFirst: last.FirstLine, TurnBegan: last.StartedAt, TurnEnded: last.EndedAt, Status: last.Status, Failed: last.Failed}
		chat := linkedChat{from: tt.from, asked: new(int)}
		if err := s.lookBack(t.Context(), turnLog{turns: tt.turns}, 0); err != nil {
			t.Fatal(err)
		}
		d := &Deliverer{opt: DelivererOptions{Store: chat}}
		if err := d.linkTurns(t.Context(), chat, &s); err != nil {
			t.Fatal(err)
		}
		if len(tt.turns) == 1 && *chat.asked != 1 {
			t.Errorf("%s: it was asked %d times where a line stands", name, *chat.asked)
		}
		e := s.endingOf(s.announcing(Intent{Ring: true}), true)
		if got := strings.ReplaceAll(e.String(), "\n", "|"); got != tt.want {
			t.Errorf("%s: it says\n%s, want\n%s", name, got, tt.want)
		}
		links := slices.Repeat([]string{"-"}, strings.Count(e.String(), "\n")+1)
		for _, l := range e.Links() {
			if links[l.Line] = strings.TrimPrefix(l.Address, "https://chat/"); !strings.HasPrefix(strings.Split(e.String(), "\n")[l.Line], l.Text) || l.Text == "" {
				t.Errorf("%s: the link %+v isn't in its line", name, l)
			}
		}
		if got := strings.Join(links, " "); got != tt.links {
			t.Errorf("%s: it leads to %s, want %s", name, got, tt.links)
		}
		if bare := e.Bare().String(); strings.Contains(bare, "\n") {
			t.Errorf("%s: without words it's %q", name, bare)
		}
	}
}

// Where there's no room for all of where turns begin, the last of it is said, and that there was more;
// what the message shows stays in it.
func TestAnEndingSaysOfItsTurnsWhatThereIsRoomFor(t *testing.T) {
	const all = "\n4 turns done\nturn 1 · less than 1 s\nturn 2 · less than 1 s\nturn 3 · less than 1 s\nturn 4 · less than 1 s"
	some := []string{"\n4 turns done", "\n4 turns done\nthe first 3 turns aren't listed\nturn 4 · less than 1 s", "\n4 turns done\nthe first 2 turns aren't listed\nturn 3 · less than 1 s\nturn 4 · less than 1 s"}
	for room, want := range map[int]string{
		UTF16Len(all):         all,
		UTF16Len(all) - 1:     some[2],
		UTF16Len(some[2]) - 1: some[1],
		UTF16Len(some[1]) - 1: some[0],
	} {
		s := sightOf(1, Document{Shown: Position{Line: 1}, Turn: 4})
		s.log.pieces = piecesOf(strings.Repeat("x", s.shape.MaxLen-len(doubleMark)-1-room))
		s.progress.Turn, s.progress.TurnEnd, s.progress.TurnFirst = 8, 1, 1
		for n := range int64(4) {
			s.begun = append(s.begun, BegunTurns{First: n + 1, Last: n + 1, Took: 1, Link: "https://chat"})
		}
		st := planCall(s)
		if text := strings.TrimLeft(st.op.Text, "x"); text != want || !st.op.Ring || st.more {
			t.Errorf("with room for %d: planned %q, more: %v", room, text, st.more)
		}
	}
}
