package polling_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/panebridge/panebridge/polling"
	"github.com/panebridge/panebridge/sessions"
)

// asker is an observer of a program that asks.
type asker struct {
	polling.PlainProfile
	mu  sync.Mutex
	obs sessions.Observation
}

func (a *asker) Close() error { return nil }

func (a *asker) Observe(context.Context, sessions.Poll) (sessions.Observation, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.obs, nil
}

func (a *asker) asks(of string, prompts bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.obs = sessions.Observation{Text: sessions.TextPane, Prompts: prompts}
	if of != "" {
		a.obs.Prompt = &sessions.Dialog{Print: of, Marked: -1}
	}
}

// Events tell of each dialog when it comes and when it goes, and of the one that stands
// there when a daemon starts; a look that couldn't tell changes nothing.
func TestEventsTellOfDialogs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mem, src := &memLog{}, newFakeSource("%1")
		r := newRig(t, mem, mem, map[string]polling.PaneSource{"t": src})
		a := &asker{}
		a.asks("1", true)
		target := polling.PolledPane{Session: "pb_1", Server: "t", Pane: "%1", Observe: func([]byte) (polling.Observer, error) { return a, nil }}
		if err := r.coord.Start(target); err != nil {
			r.Fatal(err)
		}
		for i, of := range []string{"1", "1", "2", "?", "2", "", "", "3"} {
			a.asks(map[bool]string{true: "", false: of}[of == "?"], of != "?")
			src.print("%1", fmt.Sprint("line ", i), false)
			r.after(5 * time.Second)
		}
		var told []string
		for _, ev := range r.owner.all() {
			if ev.Asked {
				told = append(told, printOf(ev.Prompt))
			}
		}
		if want := []string{"1", "2", "", "3"}; !slices.Equal(told, want) {
			r.Errorf("told of %q, want %q", told, want)
		}
	})
}

func printOf(d *sessions.Dialog) string {
	if d == nil {
		return ""
	}
	return d.Print
}
