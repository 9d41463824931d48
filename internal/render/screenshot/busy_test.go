package screenshot

import (
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// However many ask at once, two pictures are drawn at a time: who has waited long enough is told so, and all others get
// theirs.
func TestFewPicturesAreDrawnAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, err := New()
		if err != nil {
			t.Fatal(err)
		}
		s := sessions.Screen{Width: 20, Height: 2, Rows: []string{"one", "two"}}
		for range atOnce { // somebody's, of which each takes a while
			r.drawing <- struct{}{}
		}
		began := time.Now()
		if _, _, err := r.PNG(s); !errors.Is(err, ErrBusy) || !errors.Is(err, sessions.ErrUnavailable) || time.Since(began) != waitForTurn {
			t.Errorf("after %s it says %v", time.Since(began), err)
		}
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				if data, _, err := r.PNG(s); err != nil || len(data) == 0 {
					t.Errorf("%d bytes, %v", len(data), err)
				}
			})
		}
		synctest.Wait()
		<-r.drawing
		all.Wait()
		if n := len(r.drawing); n != atOnce-1 {
			t.Errorf("%d places are taken when all are drawn", n)
		}
	})
}
