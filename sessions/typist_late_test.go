package sessions_test

import (
	"testing"
	"time"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/sessions"
)

// A text that a program refuses stands in its box until somebody takes it away. If that's
// done while it's still waited for Enter's effect, nobody knows that it was submitted.
func TestATextThatIsTakenAwayIsNotCalledSubmitted(t *testing.T) {
	random := drawtest.Rand(t, 0)
	for range 20 {
		withDeaf(t, func(b *bed, tell func(sessions.Asked)) {
			taken, _ := b.input("this is the first", "")
			b.pass(3 * time.Second)
			tell(sessions.Asked{Text: "this is the first", At: time.Now()})
			b.pass(time.Minute)
			b.wantReceipt(taken.ID, "submitted")
			b.pane.clear()
			b.pass(10 * time.Minute)
			r, _ := b.input("list the files of this folder", "")
			b.pass(7*time.Second + time.Duration(random.Int64N(int64(22*time.Second))))
			b.pane.clear()
			b.pass(time.Minute)
			b.wantReceipt(r.ID, "submitted: unverified: the text has left the input box, but long after")
		})
	}
}
