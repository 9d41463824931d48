package agent

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// Turns that are found all at once are told one by one, each with its own lines.
func TestTurnsOfACatchUpAreApart(t *testing.T) {
	h := newHost(t)
	h.run(1, 1, h.now.Add(-time.Minute))
	p, f := h.pane(1), h.file("one")
	f.user("first question")
	p.hook(SessionStart, f)
	p.look(time.Second, atWorkOn("first question"))
	for _, n := range []string{"first", "second", "third"} {
		if n != "first" {
			h.now = h.now.Add(time.Second)
			f.user(n + " question")
		}
		h.now = h.now.Add(time.Second)
		f.answer(n + " answer")
		f.end()
	}
	p.look(time.Second, atRest("third question", "● third answer"))
	for range 5 {
		p.look(time.Second, atRest("third question", "● third answer"))
	}
	want := []string{
		"BEGIN", "user first question", "answer first answer", "END",
		"BEGIN", "user second question", "answer second answer", "END",
		"BEGIN", "user third question", "answer third answer", "END",
	}
	if !slices.Equal(p.told, want) {
		t.Errorf("told %q, want %q", p.told, want)
	}
}

// A program whose transcript isn't found: its pane's lines come out also if its turns
// are short.
func TestPaneOfShortTurnsComesOut(t *testing.T) {
	h := newHost(t)
	h.run(1, 1, h.now.Add(-time.Minute))
	p := h.pane(1)
	p.look(time.Second, atRest("nothing"))
	for range 3 {
		p.look(time.Second, atWorkOn("a question"))
	}
	p.look(time.Second, atRest("a question", "● an answer"))
	p.look(holdFor, atRest("a question", "● an answer"))
	if p.text != sessions.TextPane {
		t.Errorf("%v after the turn the text is %s", holdFor, p.text)
	}
}

// What's held back is the session's text at its end.
func TestHeldTextComesOutAtTheEnd(t *testing.T) {
	h := newHost(t)
	h.run(1, 1, h.now.Add(-time.Minute))
	p := h.pane(1)
	p.look(time.Second, atWorkOn("a question"))
	if s := p.last(); s.Text != sessions.TextPane {
		t.Errorf("the text is %s at the end", s.Text)
	}
}

// A turn that was told by the pane isn't told by the transcript that's found then.
func TestTurnOfThePaneIsNotRepeated(t *testing.T) {
	h := newHost(t)
	h.run(1, 1, h.now.Add(-time.Minute))
	p, f := h.pane(1), h.file("one")
	h.cwd = "/srv/elsewhere" // not to be found by its folder
	p.look(time.Second, atWorkOn("first question"))
	f.user("first question")
	for range 12 {
		p.look(time.Second, atWorkOn("first question"))
	}
	if p.text != sessions.TextPane {
		t.Fatalf("the text is %s", p.text)
	}
	f.answer("first answer")
	f.end()
	p.hook(TurnDone, f)
	p.look(time.Second, atRest("first question", "● first answer"))
	for range 3 {
		p.look(time.Second, atRest("first question", "● first answer"))
	}
	p.restart()
	h.now = h.now.Add(time.Second)
	f.user("second question")
	p.hook(PromptSent, f)
	p.look(time.Second, atWorkOn("second question"))
	f.answer("second answer")
	f.end()
	p.look(time.Second, atRest("second question", "● second answer"))
	p.want("user second question", "answer second answer")
}

// A program goes back to a conversation that it had before.
func TestConversationThatComesBack(t *testing.T) {
	h := newHost(t)
	h.run(1, 1, h.now.Add(-time.Minute))
	p, a, b := h.pane(1), h.file("one"), h.file("two")
	for i, f := range []*file{a, b, a} {
		asked := []string{"first", "second", "third"}[i]
		h.now = h.now.Add(10 * time.Second)
		f.user(asked)
		p.hook(SessionStart, f)
		p.look(time.Second, atWorkOn(asked))
		f.answer("of " + asked)
		f.end()
		p.look(time.Second, atRest(asked))
		if i == 1 {
			p.restart()
		}
	}
	p.want("user first", "answer of first", "user second", "answer of second", "user third", "answer of third")
}

// An agent is suspended, another one runs and ends, and the first goes on.
func TestSuspendedAgentsGoOn(t *testing.T) {
	h := newHost(t)
	first := h.run(1, 1, h.now.Add(-time.Minute))
	p, a, b := h.pane(1), h.file("one"), h.file("two")
	a.user("first")
	p.hook(SessionStart, a)
	p.look(time.Second, atWorkOn("first"))
	delete(h.running, 1)
	p.look(time.Second, "$ ")
	a.answer("written late")
	h.run(1, 2, h.now)
	p.look(time.Second, atRest("other"))
	b.user("second")
	p.hook(SessionStart, b)
	p.look(time.Second, atWorkOn("second"))
	delete(h.running, 1)
	p.look(time.Second, "$ ")
	p.restart()
	h.running[1] = first
	p.look(time.Second, atWorkOn("first"))
	p.hook(SessionStart, a)
	p.look(time.Second, atWorkOn("first"))
	a.answer("behind it")
	p.look(time.Second, atRest("first"))
	p.want("user first", "user second", "answer written late", "answer behind it")
}

// A look that finds that an agent has ended has seen an earlier screen: what was drawn at the end is decided about with
// one that comes behind it.
func TestTheLastScreenIsLookedAtBehindTheEnd(t *testing.T) {
	h := newHost(t)
	h.run(1, 1, h.now.Add(-time.Minute))
	p, f := h.pane(1), h.file("one")
	f.user("first")
	p.hook(SessionStart, f)
	p.look(time.Second, atWorkOn("first"))
	f.answer("of first")
	delete(h.running, 1)
	found := h.now.Add(time.Second)
	for _, c := range []struct {
		after  time.Duration
		screen bool
		ends   bool
	}{{0, true, false}, {lastScreenAfter - 1, true, false}, {lastScreenAfter, false, false}, {lastScreenAfter, true, true}} {
		p.now = found.Add(c.after)
		l := pollOf(p, "of first\n$ ")
		if !c.screen {
			l.Screen = nil
		}
		if s := p.see(l); s.Ending == c.ends || s.Said != nil != c.ends {
			t.Errorf("%s behind the end, with a screen: %t: ending: %t, decided: %t", c.after, c.screen, s.Ending, s.Said != nil)
		}
	}
	p.want("user first", "answer of first")
}

// An agent ends and is at once started again with the same conversation.
func TestContinuedAtOnce(t *testing.T) {
	h := newHost(t)
	h.run(1, 1, h.now.Add(-time.Minute))
	p, f := h.pane(1), h.file("one")
	f.user("first")
	p.hook(SessionStart, f)
	p.look(time.Second, atWorkOn("first"))
	f.answer("of first")
	f.end()
	p.look(500*time.Millisecond, atRest("first"))
	delete(h.running, 1)
	p.look(100*time.Millisecond, "$ ")
	h.run(1, 2, h.now)
	p.look(500*time.Millisecond, atRest("first"))
	p.hook(SessionStart, f)
	p.look(500*time.Millisecond, atRest("first"))
	f.user("second")
	p.look(500*time.Millisecond, atWorkOn("second"))
	p.want("user first", "answer of first", "user second")
}

// A hook that tells of a transcript before it's there counts also behind a restart of
// the daemon, and if the transcript is another session's for a while.
func TestAnnouncedTranscriptIsWaitedFor(t *testing.T) {
	h := newHost(t)
	h.run(1, 1, h.now.Add(-time.Minute))
	p, f := h.pane(1), h.file("one")
	h.cwd = "/srv/elsewhere"
	p.hook(SessionStart, f)
	p.look(time.Second, atRest("nothing"))
	p.restart()
	h.sources["pb_9"] = sessions.Source{Program: "claude", Transcript: f.path}
	f.user("a question")
	p.look(time.Second, atWorkOn("a question"))
	p.want()
	delete(h.sources, "pb_9")
	p.look(time.Second, atWorkOn("a question"))
	p.want("user a question")
}

// Two agents in one folder are asked the same at the same time. Only one has hooks.
func TestSameQuestionInOneFolder(t *testing.T) {
	h := newHost(t)
	h.run(1, 1, h.now.Add(-time.Minute))
	h.run(2, 2, h.now.Add(-time.Minute))
	hooked, other := h.pane(1), h.pane(2)
	a, b := h.file("one"), h.file("two")
	hooked.look(time.Second, atRest("nothing"))
	other.look(time.Second, atRest("nothing"))
	hooked.hook(SessionStart, a)
	a.user("the same question") // its pane isn't looked at yet
	other.look(time.Second, atWorkOn("the same question"))
	b.user("the same question")
	for range 3 {
		hooked.look(500*time.Millisecond, atWorkOn("the same question"))
		other.look(500*time.Millisecond, atWorkOn("the same question"))
	}
	a.answer("of one")
	b.answer("of two")
	hooked.look(time.Second, atWorkOn("the same question"))
	other.look(time.Second, atWorkOn("the same question"))
	hooked.want("user the same question", "answer of one")
	other.want("user the same question", "answer of two")
}

// The transcript of one that's slower to write it isn't taken by guess for the other's.
func TestSlowTwinIsNotMixedUp(t *testing.T) {
	h := newHost(t)
	h.run(1, 1, h.now.Add(-time.Minute))
	h.run(2, 2, h.now.Add(-time.Minute))
	slow, fast := h.pane(1), h.pane(2)
	a, b := h.file("one"), h.file("two")
	slow.look(time.Second, atRest("nothing"))
	fast.look(0, atRest("nothing"))
	h.now = h.now.Add(900 * time.Millisecond)
	b.user("the same question")
	slow.look(100*time.Millisecond, atWorkOn("the same question")) // fast wasn't looked at yet
	fast.look(100*time.Millisecond, atWorkOn("the same question"))
	a.user("the same question")
	for range 4 {
		slow.look(500*time.Millisecond, atWorkOn("the same question"))
		fast.look(500*time.Millisecond, atWorkOn("the same question"))
	}
	b.answer("of two")
	slow.look(time.Second, atWorkOn("the same question"))
	fast.look(time.Second, atWorkOn("the same question"))
	if slices.Contains(slow.told, "answer of two") {
		t.Errorf("told %q, which is the other's", slow.told)
	}
}

// What panebridge typed stands in the log already, however the program notes it.
func TestTypedTextIsNotRepeated(t *testing.T) {
	long := "this is a very long text ällé that goes on and on "
	for len(long) < 3*maxTypedText {
		long += "x" + long + "é"
	}
	for _, c := range []struct {
		name         string
		typed, noted []string
	}{
		{"wrapped", []string{"a text that's long enough"}, []string{"a text that's\nlong   enough"}},
		{"twice", []string{"yes", "yes"}, []string{"yes", "yes"}},
		{"no letters", []string{"👍", "?"}, []string{"👍", "?"}},
		{"queued as one", []string{"one", "two and more"}, []string{"one\ntwo and more"}},
		{"long", []string{long}, []string{long}},
		{"cut", []string{"a long text that's cut by the program"}, []string{"a long text that's cut by the"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newHost(t)
			h.run(1, 1, h.now.Add(-time.Minute))
			p, f := h.pane(1), h.file("one")
			p.hook(SessionStart, f)
			p.look(time.Second, atRest("nothing"), c.typed...)
			p.restart()
			for _, n := range c.noted {
				f.user(n)
			}
			f.answer("an answer")
			p.look(time.Second, atWorkOn("nothing"))
			p.want("answer an answer")
		})
	}
}

// An agent that the program runs as a tool has hooks too, and its own conversation.
func TestNestedAgentIsNotTheConversation(t *testing.T) {
	h := newHost(t)
	h.run(1, 1, h.now.Add(-time.Minute))
	p, f, inner := h.pane(1), h.file("one"), h.file("inner")
	f.user("a question")
	p.hook(SessionStart, f)
	p.hook(PromptSent, f)
	p.look(time.Second, atWorkOn("a question"))
	inner.user("do some work")
	p.hook(SessionStart, inner)
	p.hook(PromptSent, inner)
	p.look(time.Second, atWorkOn("a question"))
	inner.answer("some work")
	p.hook(TurnDone, inner)
	p.look(time.Second, atWorkOn("a question"))
	f.answer("an answer")
	f.end()
	p.hook(TurnDone, f)
	p.look(time.Second, atRest("a question"))
	p.want("user a question", "answer an answer")
}

// What stands behind the last look is told before another conversation is.
func TestRestOfAConversationIsTold(t *testing.T) {
	h := newHost(t)
	h.run(1, 1, h.now.Add(-time.Minute))
	p, a, b := h.pane(1), h.file("one"), h.file("two")
	a.user("first")
	p.hook(SessionStart, a)
	p.look(time.Second, atWorkOn("first"))
	a.answer("of first")
	a.end()
	p.hook(TurnDone, a)
	p.look(time.Second, atRest("first"))
	a.answer("late")
	b.user("second")
	p.hook(SessionStart, b)
	p.hook(PromptSent, b)
	p.look(time.Second, atWorkOn("second"))
	p.want("user first", "answer of first", "answer late", "user second")
}

// A transcript that's deleted, cut or written anew is read on; control characters and
// long lines are told.
func TestTranscriptIsReadOn(t *testing.T) {
	h := newHost(t)
	h.run(1, 1, h.now.Add(-time.Minute))
	p, f := h.pane(1), h.file("one")
	p.hook(SessionStart, f)
	f.user("first")
	f.answer("of \x1b[31mfirst\x00\r\n" + long)
	p.look(time.Second, atWorkOn("first"))
	whole, err := os.ReadFile(f.path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(f.path); err != nil {
		t.Fatal(err)
	}
	p.look(time.Second, atWorkOn("first"))
	if err := os.WriteFile(f.path, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	p.look(time.Second, atWorkOn("first"))
	f.answer("second")
	p.restart()
	p.look(time.Second, atWorkOn("first"))
	if err := os.Truncate(f.path, int64(len(whole))); err != nil {
		t.Fatal(err)
	}
	f.answer("third")
	p.look(time.Second, atWorkOn("first"))
	p.want("user first", "answer of [31mfirst", "answer "+long, "answer second", "answer third")
}

var long = strings.Repeat("a long line ", 50_000)

// A new conversation's transcript is found though its first turn was too short to be seen,
// by what was asked last on the screen; another's, that was asked the same as this one, or
// something that only stands elsewhere on the screen, isn't taken for it.
func TestAConversationWhoseTurnWasNotSeenIsFound(t *testing.T) {
	for name, c := range map[string]struct {
		asked, screen string
		found         bool
	}{
		"another question":       {"second question", atRest("second question", "● the second answer"), true},
		"on another screen":      {"second question", atRest("first question", "● the first answer"), false},
		"quoted in an answer":    {"second question", atRest("first question", "● ask the second question"), false},
		"the very same question": {"first question", atRest("first question", "● the first answer"), false},
	} {
		h := newHost(t)
		h.run(1, 1, h.now.Add(-time.Minute))
		p, one := h.pane(1), h.file("one")
		one.user("first question")
		p.look(time.Second, atWorkOn("first question"))
		one.answer("the first answer")
		one.end()
		for range 3 {
			p.look(3*time.Second, atRest("first question", "● the first answer"))
		}
		h.now = h.now.Add(time.Minute)
		two := h.file("two")
		two.user(c.asked)
		two.answer("the second answer")
		two.end()
		for range 4 {
			p.look(3*time.Second, c.screen)
		}
		if found := slices.Contains(p.told, "answer the second answer"); found != c.found {
			t.Errorf("%s: found %t, want %t: %q", name, found, c.found, p.told)
		}
	}
}

// A program goes back to a conversation, and no hook tells of it: what's said there then is
// told, and nothing that was.
func TestConversationThatComesBackWithoutHooks(t *testing.T) {
	for _, restarts := range []bool{false, true} {
		h := newHost(t)
		h.run(1, 1, h.now.Add(-time.Minute))
		p, a, b := h.pane(1), h.file("one"), h.file("two")
		var want []string
		for i, f := range []*file{a, b, a, b} {
			asked := []string{"first question", "second question", "third question", "fourth question"}[i]
			h.now = h.now.Add(10 * time.Second)
			f.user(asked)
			p.look(time.Second, atWorkOn(asked))
			p.look(6*time.Second, atWorkOn(asked))
			f.answer("the answer of the " + asked)
			f.end()
			for range 3 {
				p.look(6*time.Second, atRest(asked, "● the answer"))
			}
			want = append(want, "user "+asked, "answer the answer of the "+asked)
			if restarts {
				p.restart()
			}
		}
		p.want(want...)
	}
}

// A program goes on with a copy of its conversation, or with one that another pane had
// since: what it has from before is not told as new.
func TestAForkedConversationIsNotToldAgain(t *testing.T) {
	for _, hooks := range []bool{false, true} {
		h := newHost(t)
		h.run(1, 1, h.now.Add(-time.Hour))
		p, a, b := h.pane(1), h.file("one"), h.file("two")
		begin := h.now
		for _, f := range []*file{a, b} { // b is the copy
			h.now = begin
			f.user("first question")
			f.answer("the first answer")
			f.end()
			if f == a {
				p.look(time.Second, atWorkOn("first question"))
				p.look(6*time.Second, atRest("first question", "● the first answer"))
			}
		}
		h.now = begin.Add(time.Minute)
		b.user("second question")
		if hooks {
			p.hook(SessionStart, b)
		}
		p.look(time.Second, atWorkOn("second question"))
		p.look(6*time.Second, atWorkOn("second question"))
		b.answer("the second answer")
		b.end()
		for range 3 {
			p.look(6*time.Second, atRest("second question", "● the second answer"))
		}
		p.want("user first question", "answer the first answer", "user second question", "answer the second answer")
	}
}

// An agent ends and is at once started again with a copy of its conversation: what that has
// is as young as the program, as far as can be told, and isn't told anew.
func TestAForkByAnotherRunIsNotToldAgain(t *testing.T) {
	for _, wait := range []time.Duration{0, 500 * time.Millisecond, 3 * time.Second} {
		for _, restart := range []bool{false, true} {
			h := newHost(t)
			h.run(1, 1, h.now.Add(-time.Hour))
			p, a, b := h.pane(1), h.file("one"), h.file("two")
			p.hook(SessionStart, a)
			for _, f := range []*file{a, b} { // b is the copy, which isn't there yet
				at := h.now
				f.user("first question")
				f.answer("the first answer")
				f.end()
				h.now = at
			}
			whole, err := os.ReadFile(b.path)
			if err != nil || os.Remove(b.path) != nil {
				t.Fatal(err)
			}
			p.look(100*time.Millisecond, atWorkOn("first question"))
			p.look(400*time.Millisecond, atRest("first question", "● the first answer"))
			delete(h.running, 1)
			p.look(100*time.Millisecond, "$ ")
			h.now = h.now.Add(wait)
			h.run(1, 2, h.now)
			if restart {
				p.restart()
			}
			if err := os.WriteFile(b.path, whole, 0o600); err != nil {
				t.Fatal(err)
			}
			p.look(500*time.Millisecond, atRest("first question", "● the first answer"))
			p.hook(SessionStart, b)
			p.look(500*time.Millisecond, atRest("first question", "● the first answer"))
			b.user("second question")
			p.look(500*time.Millisecond, atWorkOn("second question"))
			b.answer("the second answer")
			b.end()
			p.look(500*time.Millisecond, atRest("second question", "● the second answer"))
			p.want("user first question", "answer the first answer", "user second question", "answer the second answer")
		}
	}
}

// A program begins a new conversation, which its process tells and no hook, with a turn so
// short that its screen stands still before transcripts are looked for again: it's looked
// at once more.
func TestAShortTurnOfANewConversationIsFound(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("processes tell of their conversations on Linux")
	}
	h := newHost(t)
	p := h.pane(1)
	stat, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	process := h.run(1, 0, h.now.Add(-time.Minute))
	process.PID = os.Getpid() // one that says which conversation it has
	h.running[1] = process
	says := filepath.Join(h.home, ".claude", "sessions", strconv.Itoa(process.PID)+".json")
	if err := os.MkdirAll(filepath.Dir(says), 0o700); err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, name := range []string{"one", "two", "three"} {
		p.look(time.Minute, atRest("", "cleared")) // transcripts are looked for here
		text := fmt.Sprintf(`{"sessionId":%q,"cwd":%q,"procStart":%q}`, name, h.cwd, strings.Fields(rest)[19])
		if err := os.WriteFile(says, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		f := h.file(name)
		f.user("a question in " + name)
		f.answer("the answer in " + name)
		f.end()
		p.look(time.Second, atRest("a question in "+name, "● the answer"))
		want = append(want, "user a question in "+name, "answer the answer in "+name)
		s := p.see(sessions.Poll{Now: p.now})
		for range 5 {
			if s.Again.IsZero() || s.Again.After(p.now.Add(time.Minute)) {
				break
			}
			p.now = s.Again // what comes by itself
			l := sessions.Poll{Screen: snapshot(atRest("a question in "+name, "● the answer")), Now: p.now}
			l.Screen.PID = p.pid
			s = p.see(l)
		}
	}
	p.want(want...)
}
