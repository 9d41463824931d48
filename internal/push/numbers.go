package push

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"
)

// numbersNote is what numbers are kept by.
const numbersNote = "sent"

// numbersAhead is how many numbers are kept at once as used. A daemon that's killed goes on behind them.
const numbersAhead = 60_000

// sentNumbers are those of messages, by which a device tells the newest. They're times in milliseconds since 1970, but
// always greater than before, also when the machine's clock was set back: a device would else take what's new for
// what's late.
type sentNumbers struct {
	notes Notes

	mu         sync.Mutex // held during I/O
	last, kept int64      // kept: none that's greater was used
}

// load reads which numbers were used.
func (n *sentNumbers) load(ctx context.Context) error {
	text, err := n.notes.Note(ctx, numbersNote)
	if err != nil {
		return fmt.Errorf("read the numbers of push messages: %w", err)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.kept, _ = strconv.ParseInt(text, 10, 64) // 0: none was
	n.last = n.kept
	return nil
}

// next returns a number that wasn't used.
func (n *sentNumbers) next(ctx context.Context, now time.Time) (int64, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	number := max(now.UnixMilli(), n.last+1)
	if number > n.kept {
		kept := number + numbersAhead
		if err := n.notes.PutNote(ctx, numbersNote, strconv.FormatInt(kept, 10)); err != nil {
			return 0, fmt.Errorf("keep the numbers of push messages: %w", err)
		}
		n.kept = kept
	}
	n.last = number
	return number, nil
}
