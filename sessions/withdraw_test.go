package sessions_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/sessions"
)

// Whenever a text is taken back by its key, before it comes, while it comes or later, what's said of it is true: it's never
// typed if it was cancelled, and once if it wasn't. So is what's said of it when it comes again.
func TestATextIsTakenBackByItsKey(t *testing.T) {
	for seed := range drawtest.Seeds(t, drawtest.Times(300, 40, 10)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			withBed(t, func(b *bed) {
				random := rand.New(rand.NewPCG(seed, 1))
				b.pane.hold(random.IntN(2) == 0)
				var all sync.WaitGroup
				var mu sync.Mutex
				told := map[string][]sessions.Receipt{}
				texts := 1 + random.IntN(3)
				for i := range texts {
					text := fmt.Sprint("text ", i)
					req := sessions.InputRequest{Text: text, Submit: true, Author: "a", Key: text}
					soon := func() time.Duration { return time.Duration(random.IntN(4)) * time.Second / 2 }
					at := func(wait time.Duration, call func() (sessions.Receipt, error)) {
						all.Go(func() {
							time.Sleep(wait)
							r, err := call()
							mu.Lock()
							defer mu.Unlock()
							if told[text] = append(told[text], r); err != nil {
								b.Error(err)
							}
						})
					}
					for range 1 + random.IntN(2) {
						at(soon(), func() (sessions.Receipt, error) { return b.manager.Input(b.Context(), b.id, req) })
					}
					for range random.IntN(3) {
						takeBack := b.manager.Withdraw
						if random.IntN(2) == 0 {
							takeBack = b.manager.Forestall
						}
						at(soon(), func() (sessions.Receipt, error) { return takeBack(b.Context(), b.id, req) })
					}
				}
				all.Wait()
				b.pane.hold(false)
				b.pass(time.Minute)
				for text, receipts := range told {
					now, err := b.manager.Receipt(b.Context(), receipts[0].ID)
					if err != nil {
						b.Fatal(err)
					}
					for _, r := range receipts {
						if r.ID != now.ID || r.State == sessions.ReceiptCancelled && now.State != sessions.ReceiptCancelled {
							b.Errorf("of %q was said %+v; it's %+v", text, r, now)
						}
					}
					times := 0
					for _, sent := range b.pane.sent {
						if sent == text {
							times++
						}
					}
					if want := map[sessions.ReceiptState]int{sessions.ReceiptSubmitted: 1}[now.State]; times != want || !now.Final() {
						b.Errorf("%q is %s, and was typed %d times", text, now.State, times)
					}
				}
			})
		})
	}
}

// One that waited is taken back, also when it's asked for twice; so is one of a session that's gone.
func TestWhatCanBeTakenBackByAKey(t *testing.T) {
	withBed(t, func(b *bed) {
		b.pane.hold(true)
		req := sessions.InputRequest{Text: "one", Submit: true, Author: "a", Key: "k"}
		sent, err := b.manager.Input(b.Context(), b.id, req)
		if err != nil {
			b.Fatal(err)
		}
		b.pass(time.Second)
		if r, err := b.manager.Forestall(b.Context(), b.id, req); err != nil || r.ID != sent.ID || r.Final() {
			b.Errorf("one that has come: %+v, %v", r, err)
		}
		for range 2 {
			if r, err := b.manager.Withdraw(b.Context(), b.id, req); err != nil || r.ID != sent.ID || r.State != sessions.ReceiptCancelled {
				b.Errorf("%+v, %v", r, err)
			}
		}
		if _, err := b.manager.Withdraw(b.Context(), "s_0123456789ab", sessions.InputRequest{Key: "other"}); !errors.Is(err, sessions.ErrUnknown) {
			b.Errorf("of a session that nobody knows: %v", err)
		}
	})
}
