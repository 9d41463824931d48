package adaptertest

import (
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/qos"
)

// Run is the conformance suite of adapters.Adapter. What the platform gets as text
// must have each line of a page on a line of its own, with the notices as
// adapters.PlainText writes them; markup goes beside it. The suite runs in
// synctest bubbles: the adapter may not use real sockets.
func Run(t *testing.T, n New) {
	t.Helper()
	for _, p := range parts() {
		t.Run(p.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { p.test(t, &suite{new: n}) })
		})
	}
	t.Run("random lives", func(t *testing.T) {
		Histories(t, drawtest.Times(2000, 100, 100), n, func(maxLines int64) (Backend, func()) { return NewMemory(maxLines), func() {} })
	})
}

// Stays is an adapter under test for a platform on which chats keep their ids.
type Stays interface{ ChatsStay() bool }

// part is one thing that an adapter must do.
type part struct {
	name string
	test func(t *testing.T, s *suite)
}

func parts() []part {
	all := []part{
		{"lines are added to the newest message", linesAreAdded},
		{"a full message is left, the next goes on", messagesFollow},
		{"a line too long is cut between characters", longLineIsCut},
		{"nothing new is no call", nothingNewIsNoCall},
		{"the intent is kept before the call is made", intentFirst},
		{"an edit that wasn't answered is made again, unmarked", editAgain},
		{"an edit that can't be made again leaves a doubt", editInDoubt},
		{"a nonce spares the mark, as long as the platform knows it", nonceSparesMark},
		{"a screen that was there already is brought up to date", screenExisted},
		{"several ends of turns share one ring", endsShareARing},
		{"a long final rings with its last message, and is a final until then", longFinal},
		{"a turn is announced once, though lines are added to it", lateLines},
		{"an announcement that wasn't answered is marked when it's made again", announcementTwice},
		{"a long backlog is attached as a file", backlogBecomesFile},
		{"a line beyond all messages is a file that rings", longLineIsAFile},
		{"lines that were dropped are told", droppedLinesAreTold},
		{"a message whose first lines were dropped isn't edited", droppedLinesStay},
		{"a gap is told where it stands", gapIsTold},
		{"a message that was deleted is left behind", deletedMessage},
		{"a message that can't be edited is left as it is", frozenMessage},
		{"a thread that was deleted is made anew, if it was ours", deletedThread},
		{"the thread of an ended session is closed, if it was ours", endedThread},
		{"a chat that's gone is gone", chatGone},
		{"a chat that has moved is followed", chatMoved},
		{"the live region is shown below the lines, and taken away", liveRegion},
		{"what's being written is replaced by its lines in the same message", writingIsReplaced},
		{"what's being written and never comes is told", writingNeverComes},
		{"what's being written needs no more than is left, or begins a message", writingBeginsAMessage},
		{"a message that shows what's being written wasn't answered", writingInDoubt},
		{"a screen is one message", screenIsOneMessage},
		{"a call ends with its deadline", deadline},
	}
	for _, view := range []adapters.View{adapters.ViewStream, adapters.ViewFinal} {
		all = append(all, part{
			fmt.Sprintf("the end of a turn rings, once, in a message of its own (%s)", view),
			func(t *testing.T, s *suite) { t.Helper(); finalRings(t, s, view) },
		})
	}
	for _, f := range failures() {
		for _, m := range []Method{Send, Edit} {
			all = append(all, part{
				fmt.Sprintf("a failure has its outcome, and loses nothing (%s, %v)", m, f.fault),
				func(t *testing.T, s *suite) { t.Helper(); f.test(t, s, m) },
			})
		}
	}
	for _, c := range []crash{beforeIntent, afterIntent, callLost, beforeReceipt} {
		for _, what := range []string{"send", "edit", "final", "file"} {
			all = append(all, part{
				fmt.Sprintf("a crash loses nothing, and doubles at most what was under way (%s, %v)", what, c),
				func(t *testing.T, s *suite) { t.Helper(); crashOnce(t, s, c, what) },
			})
		}
	}
	return all
}

// suite makes the benches of a part.
type suite struct {
	new   New
	texts texts
}

func (s *suite) bench(tb testing.TB, view adapters.View) *bench {
	tb.Helper()
	return s.benchOn(tb, view, Options{}, 0)
}

func (s *suite) benchOn(tb testing.TB, view adapters.View, o Options, maxLines int64) *bench {
	tb.Helper()
	o.Unlimited = true
	o.NonceFor = nonceTime(s.new)
	x, err := newBench(s.new, NewPlatform(o), NewMemory(maxLines), view)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(x.platform.Wait)
	return x
}

func (x *bench) shape() adapters.Shape { return x.new(x.conn).Shape(x.binding.Target) }

// ready has the target's own thread made, if it gets one, and one line shown.
func (x *bench) ready(tb testing.TB) {
	tb.Helper()
	x.print(tb, Output{Lines: []string{"begins"}})
	x.check(tb, Want{To: 1})
}

// once delivers and wants an outcome.
func (x *bench) once(tb testing.TB, want qos.Outcome) qos.Result {
	tb.Helper()
	r, err := x.deliver()
	if err != nil {
		tb.Fatal(err)
	}
	if r.Outcome != want {
		tb.Fatalf("the call ended as %v (%v), want %v", r.Outcome, r.Err, want)
	}
	return r
}
