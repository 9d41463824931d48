package adapters

import (
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// interrupted is a situation after a call that wasn't answered: the one that's planned for
// what s sees.
func interrupted(t *testing.T, s situation) situation {
	t.Helper()
	st := planCall(s)
	if st.op == nil {
		t.Fatal("there was no call")
	}
	s.doc, s.nonce, s.waiting = st.before, "another", nil
	s.now = s.now.Add(30 * time.Second)
	return s
}

// grown is a situation when its session has said more, and another turn has ended.
func grown(s situation, lines int, turn int64) situation {
	more := sightOf(lines, Document{})
	s.log, s.progress = more.log, more.progress
	s.progress.Turn, s.progress.TurnEnd = turn, int64(lines)
	return s
}

// A call that's made again announces the turns that it did the first time: those that
// have ended since ring with the next message.
func TestACallThatIsMadeAgainAnnouncesNoMore(t *testing.T) {
	s := sightOf(2, Document{Shown: Position{Line: 1}, Turn: 3})
	s.shape.NonceFor = time.Minute
	s.progress.Turn, s.progress.TurnEnd = 4, 2
	first := planCall(s)
	s = grown(interrupted(t, s), 5, 7)
	s.session.State, s.session.Exit = sessions.StateEnded, &sessions.Exit{Status: 1}
	again := planCall(s)
	if again.op.Text != first.op.Text || again.op.Nonce != first.op.Nonce || !again.op.Ring {
		t.Errorf("first it was %+v, and then %+v", first.op, again.op)
	}
	s.doc, s.waiting = again.before.afterIntent(*again.before.Intent, "1", false), nil
	next := planCall(s)
	if next.op.Text != "xxx\nxxxx\nxxxxx\nfailed · exit status 1" || next.op.Page.Ending.Turns != 3 {
		t.Errorf("the next message is %+v, with %+v", next.op, next.op.Page.Ending)
	}
}

// The end of a turn that rings nobody is said by an edit, which is made again as it was; one that
// can't be made again is in doubt, and said anew.
func TestAnEndThatRingsNobodyIsSaidAgain(t *testing.T) {
	s := sightOf(2, Document{Shown: Position{Line: 2}, Turn: 3})
	s.doc.Tail = &Message{ID: "1", View: ViewStream, From: Position{Line: 1}, To: Position{Line: 2}}
	s.progress.Turn, s.progress.TurnEnd, s.spared = 4, 2, true
	first := planCall(s)
	if op := first.op; op.Kind != KindEdit || op.Message != "1" || op.Text != "x\nxx\ndone" || op.Ring || first.more {
		t.Fatalf("planned %+v", op)
	}
	s = interrupted(t, s)
	s.spared = false // somebody else has written since
	again := planCall(s)
	if again.op.Kind != KindEdit || again.op.Text != first.op.Text || again.op.Ring {
		t.Errorf("first it was %+v, and then %+v", first.op, again.op)
	}
	d := again.before.afterIntent(*again.before.Intent, "", false)
	if d.Turn != 4 || d.Announced != 2 || d.Tail != nil || d.Shown.Line != 3 || d.doubtful() {
		t.Errorf("then the document is %+v", d)
	}
	s.doc.Tail, s.waiting = nil, nil
	if anew := planCall(s); anew.op.Kind != KindSend || !anew.op.Page.Double || anew.op.Text != doubleMark+"\nxx\ndone" {
		t.Errorf("without its message: %+v", anew.op)
	}
}

// A file that may be there already is sent as it was, and the platform knows it again.
func TestAFileIsMadeAgain(t *testing.T) {
	for _, caption := range []int{0, 600} {
		s := sightOf(400, Document{Shown: Position{Line: 1}})
		s.shape.NonceFor, s.shape.MaxFile, s.shape.MaxCaption = time.Minute, 1<<20, caption
		s.progress.Turn, s.progress.TurnEnd = 1, 400
		first := planCall(s)
		if first.op.Kind != KindFile {
			t.Fatalf("planned %+v", first.op)
		}
		again := planCall(grown(interrupted(t, s), 405, 2))
		if again.op.Kind != KindFile || again.op.Nonce != first.op.Nonce || again.op.Page.Double || again.op.Text != first.op.Text ||
			again.op.File.Name != first.op.File.Name || string(again.op.File.Data) != string(first.op.File.Data) {
			t.Errorf("captions of %d: first it was %s %q, and then %s %q", caption, first.op.File.Name, first.op.Text, again.op.File.Name, again.op.Text)
		}
		after := again.before.afterIntent(*again.before.Intent, "1", true)
		if want := first.before.afterIntent(*first.before.Intent, "1", false); after.Shown != want.Shown || after.Turn != want.Turn {
			t.Errorf("captions of %d: afterwards it's %+v, want %+v", caption, after, want)
		}
	}
}

// Without a nonce that the platform knows, it's marked instead.
func TestAFileThatMayBeThereTwiceIsMarked(t *testing.T) {
	s := sightOf(400, Document{Shown: Position{Line: 1}})
	s.shape.MaxFile = 1 << 20
	if op := planCall(interrupted(t, s)).op; op.Kind != KindFile || !strings.HasPrefix(op.Text, doubleMark) {
		t.Errorf("planned %+v", op)
	}
}

// A thread that may be there already is asked for as such, until it's answered.
func TestAThreadIsAskedForAgain(t *testing.T) {
	s := sightOf(1, Document{Shown: Position{Line: 1}})
	s.shape.OwnThread, s.session.Name = true, "agent"
	if planCall(s).op.Again {
		t.Error("it's the first time")
	}
	for range 2 {
		s = interrupted(t, s)
		if op := planCall(s).op; op.Kind != KindThread || !op.Again || op.Text != "agent" {
			t.Errorf("planned %+v", op)
		}
	}
}
