package app_test

import (
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/sessions"
)

// restartWithin is how long after a text was sent the daemon is ended at the latest. By
// then a text is taken, or the second of two is being typed.
const restartWithin = 1500 * time.Millisecond

// restartSignals end a daemon. Those that ask it to end have it finish what's in hand.
func restartSignals() []syscall.Signal {
	return []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGKILL}
}

// restartTally counts what became of the texts that a program was sent while the daemon
// was restarted.
type restartTally struct {
	moments, texts, submitted, unverified, cleared int
	lost                                           int            // of the unverified
	failed                                         map[string]int // by reasons
}

// add counts a receipt, and the times that the program took its text; "" says that they
// agree.
func (c *restartTally) add(r sessions.Receipt, took int) (wrong string) {
	c.texts++
	unverified := strings.HasPrefix(r.Reason, "unverified")
	switch {
	case r.Submitted() && unverified:
		c.unverified++
		if took == 0 {
			c.lost++
		}
	case r.Submitted():
		c.submitted++
	default:
		if c.failed == nil {
			c.failed = map[string]int{}
		}
		c.failed[fmt.Sprintf("%s: %s", r.State, r.Reason)]++
	}
	switch {
	case took > 1:
		return "it was taken more than once"
	case r.Submitted() && !unverified && took != 1:
		return "it wasn't taken"
	case !r.Submitted() && r.State != sessions.ReceiptFailed:
		return "it isn't done"
	case r.State == sessions.ReceiptFailed && r.Reason == "":
		return "it isn't said why it failed"
	case r.State == sessions.ReceiptFailed && took > 0 && !strings.Contains(r.Reason, "nobody knows"):
		return "it was taken all the same"
	}
	return ""
}

// check wants most texts to have been submitted: saying that none was is too easy.
func (c *restartTally) check(t *testing.T, program string) {
	t.Helper()
	t.Logf("%s: %d moments, %d texts, %d submitted, %d unverified (%d of them not taken), %d times half a line was cleared, failed %v", program, c.moments, c.texts, c.submitted, c.unverified, c.lost, c.cleared, c.failed)
	if c.texts > 0 && c.submitted*2 < c.texts {
		t.Errorf("%s took %d of %d texts", program, c.submitted, c.texts)
	}
}

// writeThenEnd sends each room one or two texts, at a moment of its own, and ends the
// daemon then by a drawn signal.
func (h *typingHouse) writeThenEnd() {
	h.Helper()
	type moment struct {
		room   *room
		before time.Duration
	}
	var all []moment
	for _, r := range h.rooms {
		all = append(all, moment{r, time.Duration(h.random.Int64N(int64(restartWithin)))})
	}
	slices.SortFunc(all, func(a, b moment) int { return int(b.before - a.before) })
	end := time.Now().Add(restartWithin)
	for _, m := range all {
		time.Sleep(time.Until(end.Add(-m.before))) // this is the drawn moment
		for range 1 + h.random.IntN(2) {
			h.writeAny(m.room)
		}
	}
	time.Sleep(time.Until(end))
	h.endDrawn()
}

func (h *typingHouse) endDrawn() {
	h.Helper()
	signals := restartSignals()
	h.end(signals[h.random.IntN(len(signals))])
}

// writeAny sends a text that has a row or some, or two lines.
func (h *typingHouse) writeAny(r *room) {
	h.Helper()
	long := strings.Repeat("x", []int{0, 0, 30, 90, 250}[h.random.IntN(5)])
	token := fmt.Sprintf("t-%s%s-%d-end", r.name, long, len(h.inputs))
	if h.random.IntN(5) > 0 {
		h.writeToken(r, "", token)
		return
	}
	h.writeToken(r, "t-first"+strings.TrimPrefix(token, "t"), token)
}

// finished waits until all that a room was sent is done. What a text that failed has left
// in the line is taken away, as a person would who's told so.
func (h *typingHouse) finished(r *room) (cleared int) {
	h.Helper()
	return h.cleared(r, "end of the texts in "+r.name, func(all []sessions.Receipt) bool { return len(all) == 0 })
}

// cleared waits for what's to come of a room's texts. Where one is held since something may
// stand in the shell's line somebody looks, and clears that: so often.
func (h *typingHouse) cleared(r *room, what string, came func(waiting []sessions.Receipt) bool) (times int) {
	h.Helper()
	var all []sessions.Receipt
	defer func() {
		if h.Failed() {
			h.Logf("%s waits for %+v\n%s", r.name, all, h.tmux("capture-pane", "-p", "-t", "=pb_"+r.name+":"))
		}
	}()
	last := time.Now() // when nothing was known to stand there
	h.await(what, func() bool {
		var err error
		if all, err = h.api.Waiting(h.ctx(), string(r.id)); err != nil {
			return false
		}
		if came(all) {
			return true
		}
		if r.agent || len(all) == 0 || !saysLineStands(all[0].Reason) {
			last = time.Now()
		}
		if time.Since(last) > 2*time.Second {
			h.Logf("%s the line of %s is cleared for %s:\n%s", time.Now().Format(clock), r.name, all[0].ID, strings.TrimRight(h.tmux("capture-pane", "-p", "-t", "=pb_"+r.name+":"), "\n"))
			h.keys(r, "C-c") // C-u leaves something on the screen where output came between what was typed
			last = time.Now()
			times++
		}
		return false
	})
	return times
}

// saysLineStands reports whether a text is held because something may stand in the line.
// What's left of two lines isn't seen as what it is: dash shows a second prompt behind
// it, and other shells none in its row.
func saysLineStands(reason string) bool {
	return strings.HasPrefix(reason, "something half-typed") || strings.HasPrefix(reason, "something stands before") || strings.HasPrefix(reason, "the shell's prompt isn't known")
}

// The daemon is ended at drawn moments after texts were sent to shells of all kinds, and
// started again: each text is run once, or said not to be, and none with another.
func TestTypingOverRestarts(t *testing.T) {
	slow(t)
	moments := 6
	if drawtest.Stressed() {
		moments = 200
	}
	h := newTypingHouse(t, drawtest.Seed(t))
	h.run()
	h.awaitTmux()
	tallies := map[*room]*restartTally{}
	for _, command := range [][]string{{"bash"}, {"bash", "--norc"}, {"zsh"}, {"fish"}, {"sh"}} {
		h.enter(strings.Join(command, ""), command...)
		tallies[h.rooms[len(h.rooms)-1]] = &restartTally{}
	}
	for n := 0; n < moments && !t.Failed(); n++ {
		h.writeThenEnd()
		h.run()
		if h.random.IntN(4) == 0 { // what was taken up is cut off again
			time.Sleep(time.Duration(h.random.Int64N(int64(restartWithin))))
			h.endDrawn()
			h.run()
		}
		for _, r := range h.rooms {
			tallies[r].moments++
			tallies[r].cleared += h.finished(r)
		}
	}
	h.checkRestarts(tallies)
}

func (h *typingHouse) checkRestarts(tallies map[*room]*restartTally) {
	h.Helper()
	h.ranAll() // a command takes a moment after its line was read
	count := h.took()
	for _, x := range h.inputs {
		r, err := h.api.Receipt(h.ctx(), x.receipt)
		if err != nil {
			h.Fatal(err)
		}
		if wrong := tallies[x.room].add(r, count[x.token]); wrong != "" {
			h.Errorf("%s: %s (%s, behind %q) was taken %d times, and is %s at %s: %s", wrong, x.token, r.ID, x.first, count[x.token], r.State, r.UpdatedAt.Format(clock), r.Reason)
		}
		// A shell that reads line by line runs the first when it's pasted.
		if n := count[x.first]; x.first != "" && (n > 1 || n < count[x.token]) {
			h.Errorf("%s was taken %d times, and the line behind it %d times: %s: %s", x.first, n, count[x.token], r.State, r.Reason)
		}
	}
	for _, r := range h.rooms {
		tallies[r].check(h.T, r.name)
	}
}
