package intake_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/adapters/intake/journaltest"
)

// Of two bots whose updates are counted each for itself, none's update is taken for the other's that has its number:
// neither in the journal nor by who handles it, whichever bot is there when it's handled. Each of them is handled once.
// What was kept before bots were told apart keeps its key.
func TestQueueTellsBotsApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := journaltest.NewMemory()
		var keys []string
		broken := false
		run := func(bot string, updates ...intake.Update) {
			t.Helper()
			q := intake.NewQueue(intake.QueueOptions{Journal: m.Process(), Bot: bot, Decode: decode, Handle: func(_ context.Context, e intake.Event) error {
				if broken {
					return errors.New("it's killed meanwhile")
				}
				keys = append(keys, e.Key)
				return nil
			}})
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error)
			go func() { ended <- q.Run(ctx) }()
			ok(t, q.Keep(t.Context(), updates))
			if !broken {
				time.Sleep(time.Minute)
			}
			cancel()
			ok(t, <-ended)
		}
		eight := update("8", "a/8")
		run("", update("7", "a/7"))
		run("1", eight)
		run("1", eight) // it's sent again
		run("2", eight, update("7", "a/7"))
		broken = true
		run("1", update("9", "a/9"))
		broken = false
		run("2", update("9", "a/9"))
		run("1", eight, update("9", "a/9"))
		run("2", eight, update("9", "a/9"))
		want := []string{"test:a/7", "1 test:a/8", "2 test:a/8", "2 test:a/7", "1 test:a/9", "2 test:a/9"}
		if !slices.Equal(keys, want) {
			t.Errorf("handled were %q, want %q", keys, want)
		}
	})
}
