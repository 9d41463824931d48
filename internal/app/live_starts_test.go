package app_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/panebridge/panebridge/internal/drawtest"
)

// Real agents are sent texts at drawn moments while they start, some before they draw
// anything: each comes to the model once, or is said not to have been submitted.
func TestLiveStarts(t *testing.T) { eachLiveAgent(t, liveStarts) }

func liveStarts(t *testing.T, name string, random *rand.Rand) {
	t.Helper()
	starts := 4
	if drawtest.Stressed() {
		starts = 20
	}
	for i := range starts {
		t.Run(fmt.Sprint(i), func(t *testing.T) { liveStart(t, name, random) })
	}
}

func liveStart(t *testing.T, name string, random *rand.Rand) {
	t.Helper()
	k := beginPromptRig(t, name, random)
	for range 1 + random.IntN(2) {
		time.Sleep(time.Duration(random.Int64N(int64(5 * time.Second)))) // this is the drawn moment
		style := []string{"plain", "lines", "long", "at", "file"}[random.IntN(5)]
		k.give(&liveInput{order: k.word("say"), moment: momentStart, style: style, via: "api"})
	}
	k.await("end of the texts", func() bool {
		for _, in := range k.inputs {
			if k.refresh(in); !in.receipt.Final() {
				return false
			}
		}
		return true
	})
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end) && k.missing(); {
		time.Sleep(200 * time.Millisecond)
	}
	k.check()
	if t.Failed() {
		k.dump(k.logged())
		t.Logf("screen:\n%s", k.screen(k.Context()))
	}
}

// missing reports whether a text hasn't come to the model that was submitted.
func (k *promptRig) missing() bool {
	for _, in := range k.inputs {
		if k.refresh(in); in.got == 0 && !in.failed() && !in.special() {
			return true
		}
	}
	return false
}
