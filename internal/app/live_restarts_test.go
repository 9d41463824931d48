package app_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/internal/agentlab"
	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/sessions"
)

// Real agent programs are sent texts, and the daemon is ended at a drawn moment after that
// by a drawn signal, and started again: the model gets each text once, byte for byte, or
// it's said not to have been submitted, and none comes together with another.
func TestLiveTextsOverRestarts(t *testing.T) { eachLiveAgent(t, liveTextsOverRestarts) }

func liveTextsOverRestarts(t *testing.T, name string, random *rand.Rand) {
	t.Helper()
	moments := 20
	if drawtest.Stressed() {
		moments = 200
	}
	a := agentlab.Agents()[name]
	m := liveMode{agent: name, width: 100, height: 40, hooks: a.Hooks && random.IntN(2) == 0, orders: true}
	if a.Inline && a.Alt && random.IntN(2) == 0 {
		m.screen = agentlab.Inline
	}
	t.Logf("%v", m)
	k := &restartRig{promptRig: &promptRig{liveRig: newLiveRig(t, m), random: random}}
	for k.tally.moments < moments && !t.Failed() {
		k.moment()
	}
	k.checkTexts()
	if t.Failed() {
		k.Logf("screen:\n%s", k.screen(k.Context()))
	}
}

// restartRig is an agent whose daemon is restarted.
type restartRig struct {
	*promptRig
	tally restartTally
}

// moment sends the agent one or two texts, and ends the daemon at a drawn moment after.
func (k *restartRig) moment() {
	k.Helper()
	for range 1 + k.random.IntN(2) {
		k.send()
	}
	k.restart()
	if k.random.IntN(4) == 0 {
		k.restart() // what was taken up is cut off again
	}
	k.finished()
	if k.random.IntN(2) == 0 {
		k.await("rest of the agent", func() bool { return !k.run.Model.Busy() })
	}
}

func (k *restartRig) restart() {
	k.Helper()
	time.Sleep(time.Duration(k.random.Int64N(int64(restartWithin)))) // this is the drawn moment
	signals := restartSignals()
	sig := signals[k.random.IntN(len(signals))]
	k.Logf("%s %s", time.Now().Format(clock), sig)
	k.end(sig)
	k.again(k.Context())
	k.tally.moments++
}

// send sends a text that has a line or two, or is long; some texts keep the agent busy.
func (k *restartRig) send() {
	k.Helper()
	o := k.word([]string{"say", "say", "say", "say", "say", "slow"}[k.random.IntN(6)])
	in := &liveInput{order: o, moment: momentIdle, via: "api", at: time.Now()}
	switch k.random.IntN(4) {
	case 0:
		in.text = "Two lines for " + o.tag + ":\nplease " + o.String() + " now"
	case 1:
		in.text = "Please " + o.String() + strings.Repeat(" with many words that fill row after row", 8)
	default:
		in.text = "Please " + o.String() + " for me"
	}
	var err error
	in.receipt, err = k.api.Input(k.Context(), string(k.id), in.text, true)
	k.must(err)
	k.inputs = append(k.inputs, in)
	k.Logf("%s %s %q", in.at.Format(clock), in.receipt.ID, in.text)
}

// finished waits until all that was sent is done. What a text that failed has left in the
// box is taken away, as a person would who's told so.
func (k *restartRig) finished() {
	k.Helper()
	var all []sessions.Receipt
	last := time.Now() // when nothing was known to stand there
	for end := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		var err error
		if all, err = k.api.Waiting(k.Context(), string(k.id)); err == nil && len(all) == 0 {
			return
		}
		if len(all) == 0 || !saysLineStands(all[0].Reason) {
			last = time.Now()
		}
		if time.Since(last) > 2*time.Second {
			k.Logf("the box is emptied:\n%s", k.screen(k.Context()))
			k.tmux("send-keys", "-t", k.run.Pane, "C-e", "C-u", "BSpace")
			last = time.Now()
			k.tally.cleared++
		}
		if time.Now().After(end) {
			k.Fatalf("texts aren't done: %+v, %v; screen:\n%s", all, err, k.screen(k.Context()))
		}
	}
}

// checkTexts compares what the model got with the receipts.
func (k *restartRig) checkTexts() {
	k.Helper()
	k.modelHasAll()
	said := map[string]bool{}
	for _, r := range k.run.Model.Requests() {
		for _, text := range r.Said {
			said[text] = true
		}
	}
	for _, in := range k.inputs {
		k.refresh(in)
		if wrong := k.tally.add(in.receipt, in.got); wrong != "" {
			k.Errorf("%s: %s %s", wrong, in.receipt.ID, in)
		}
		k.checkSaid(in, said)
	}
	k.tally.check(k.T, k.mode.agent)
}

// modelHasAll waits until the model has got all that was submitted, or nothing comes any
// more.
func (k *restartRig) modelHasAll() {
	for quiet := time.Now(); time.Since(quiet) < 15*time.Second; time.Sleep(100 * time.Millisecond) {
		if k.run.Model.Busy() {
			quiet = time.Now()
			continue
		}
		missing := false
		for _, in := range k.inputs {
			k.refresh(in)
			missing = missing || in.receipt.Submitted() && in.got == 0
		}
		if !missing && time.Since(quiet) > 3*time.Second {
			return
		}
	}
}

// checkSaid wants a text that came to be whole, and its lines to be lines: a program that
// hands on two texts at once puts each on lines of its own.
func (k *restartRig) checkSaid(in *liveInput, said map[string]bool) {
	k.Helper()
	whole := false
	for text := range said {
		if !strings.Contains(text, in.order.tag) {
			continue
		}
		whole = whole || strings.Contains(text, in.text)
		for line := range strings.Lines(text) {
			if strings.Contains(line, in.order.tag) && !strings.Contains("\n"+in.text+"\n", "\n"+strings.TrimSpace(line)+"\n") {
				k.Errorf("of %s the model got the line %q", in, line)
			}
		}
	}
	if in.got > 0 && !whole {
		k.Errorf("%s didn't come as it was written: %q", in, in.text)
	}
}
