package adapters_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/adaptertest"
	"github.com/panebridge/panebridge/sessions"
)

// region is that of a known program.
func region(status string, writing ...string) adaptertest.Output {
	return adaptertest.Output{Known: &sessions.Live{Rows: []string{"❯"}, Known: true, Writing: writing, Status: status}}
}

// startWriting begins a session that's shown with its live region.
func (r *rig) startWriting() adapters.Binding {
	r.Helper()
	r.form.LiveRows = 3
	r.start()
	r.begin("pb_1", "agent-1")
	return r.bind("pb_1", "a:-1", adapters.ViewStream)
}

// since counts the calls made since the last time it was asked.
func (r *rig) since(adapter string, had *int) int {
	all := len(r.platforms[adapter].Arrivals())
	n := all - *had
	*had = all
	return n
}

// What's being written grows as lines would; what the program says it's doing is shown
// every 30 s, and what else moves on its screen never.
func TestWhatIsBeingWrittenGrowsAtAStreamsPace(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		t.Helper()
		r.startWriting()
		r.bind("pb_1", "a:-2", adapters.ViewFinal)
		had := 0
		var rows []string
		for i := range 60 {
			rows = append(rows, fmt.Sprintf("row %d", i))
			r.must(r.house.Print("pb_1", region(fmt.Sprintf("%d s", i), rows...)))
			r.pass(time.Second)
		}
		r.pass(time.Minute)
		if n := r.since("a", &had); n < 10 || n > 22 {
			t.Errorf("%d calls in a minute", n)
		}
		r.wantTexts("a", "-1", strings.Join(rows, "\n")+"\n59 s")
		for i := range 120 {
			r.must(r.house.Print("pb_1", region(fmt.Sprintf("%d s", 60+i), rows...)))
			r.pass(time.Second)
		}
		if n := r.since("a", &had); n < 3 || n > 5 {
			t.Errorf("%d calls for two minutes of a clock", n)
		}
		r.pass(time.Minute)
		r.since("a", &had)
		for i := range 100 {
			o := region("179 s", rows...)
			o.Known.CursorX = i
			r.must(r.house.Print("pb_1", o))
			r.pass(time.Second)
		}
		if n := r.since("a", &had); n != 0 {
			t.Errorf("%d calls for a cursor", n)
		}
		r.must(r.house.Print("pb_1", adaptertest.Output{
			Lines: rows, Kind: sessions.KindAnswer, Begins: true, Ends: true, Known: region("").Known,
		}))
		r.pass(time.Minute)
		if got := r.texts("a", "-1"); len(got) != 2 || got[0] != strings.Join(rows, "\n") || !strings.HasPrefix(got[1], "done") {
			t.Errorf("afterwards it shows %q", got)
		}
		if got := r.texts("a", "-2"); len(got) != 1 || !strings.HasPrefix(got[0], strings.Join(rows, "\n")+"\ndone") {
			t.Errorf("where turns are shown when they've ended, it shows %q", got)
		}
	})
}

// While the log has lines that nobody was told of, what was being written before may be
// among them.
func TestWhatIsBeingWrittenIsNeverOlderThanTheLog(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		t.Helper()
		b := r.startWriting()
		r.must(r.house.Print("pb_1", region("1 s", "some text")))
		r.pass(10 * time.Second)
		r.wantTexts("a", "-1", "some text\n1 s")
		_, err := r.backend.Append(context.Background(), adaptertest.Batch{
			Session: "pb_1", Lines: []sessions.Line{{Kind: sessions.KindAnswer, Text: "some **text**", At: time.Now(), Begins: true}},
		})
		r.must(err)
		r.hub.Scheduler("a").Grow(b.ID.Doc())
		r.pass(10 * time.Second)
		r.wantTexts("a", "-1", "some **text**\n1 s")
	})
}

// Secrets are masked while they're being written, too, and the beginning of one waits.
func TestSecretsThatAreBeingWrittenWait(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		t.Helper()
		r.masker = newMasker(t)
		r.startWriting()
		secret := alphanumeric(rand.New(rand.NewPCG(1, 1)), 36)
		for n := range len(secret) {
			r.must(r.house.Print("pb_1", region("seen ghp_"+secret, "the token is ghp_"+secret, "so", "use ghp_"+secret[:n+1])))
			r.pass(5 * time.Second)
			got := strings.Join(r.texts("a", "-1"), "|")
			if !strings.Contains(got, "the token is") || !strings.Contains(got, "seen") || shared(secret, got) > 4 {
				t.Fatalf("after %d characters it shows %q of %s", n+1, got, secret)
			}
		}
	})
}

// What was being written when the daemon ended is known to go on below as long as its session works.
func TestWhatWasBeingWrittenBeforeARestartGoesOnBelow(t *testing.T) {
	for state, note := range map[sessions.State]string{
		sessions.StateWorking: "[what was being written here goes on below]", sessions.StateIdle: "[what was being written here never came]",
	} {
		inBubble(t, func(t *testing.T, r *rig) {
			t.Helper()
			r.startWriting()
			r.must(r.house.Print("pb_1", region("working", "a row")))
			r.house.SetState("pb_1", state, "")
			r.pass(time.Minute)
			r.wantTexts("a", "-1", "a row\nworking")
			r.stop()
			r.must(r.house.Print("pb_1", region("")))
			r.start()
			r.pass(time.Minute)
			r.wantTexts("a", "-1", note)
		})
	}
}

// What's being written below a text stays in its message when it's known in the log whose text that was: agents write
// down what they were told after they've begun to work on it. Another text that comes meanwhile ends it.
func TestWhatIsBeingWrittenBelowATextStaysThere(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		t.Helper()
		r.startWriting()
		r.ends("pb_1", "ready")
		r.pass(time.Minute)
		said := func(text string) {
			t.Helper()
			r.must(r.house.Print("pb_1", adaptertest.Output{Lines: []string{text}, Kind: sessions.KindUser, Author: "Ada", Origin: "a:-1", Begins: true}))
		}
		at := adapters.Target{Adapter: "a", Chat: "-1"}
		r.hub.EndTailAt(at)
		r.must(r.house.Print("pb_1", region("working", "a row")))
		r.pass(10 * time.Second)
		said("go on")
		r.pass(10 * time.Second)
		answer := func(text string) {
			t.Helper()
			r.must(r.house.Print("pb_1", adaptertest.Output{Lines: []string{text}, Kind: sessions.KindAnswer, Begins: true, Known: region("").Known}))
			r.pass(time.Minute)
		}
		answer("a row, and its end")
		r.wantTexts("a", "-1", "ready\ndone · less than 1 s", "a row, and its end")
		r.hub.EndTailAt(at)
		said("and then?")
		r.must(r.house.Print("pb_1", region("working", "another row")))
		r.pass(10 * time.Second)
		r.hub.EndTailAt(at)
		answer("another row, and its end")
		r.wantTexts("a", "-1", "ready\ndone · less than 1 s", "a row, and its end", "[what was being written here goes on below]", "another row, and its end")
	})
}
