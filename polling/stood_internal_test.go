package polling

import (
	"testing"
	"time"
)

// Rows have stood since a write if the look began when the next would have been noted, and none before it saw the write.
func TestRowsStandSinceANotedWrite(t *testing.T) {
	at := func(ms int) time.Time { return time.Unix(1e9, 0).Add(time.Duration(ms) * time.Millisecond) }
	for _, c := range []struct {
		name                 string
		before, wrote, began int
		want                 time.Time
	}{
		{"at once", 0, 100, 101, at(105)},
		{"noted while it looks", 0, 103, 101, at(108)},
		{"the look before it began behind the write", 100, 99, 102, time.Time{}},
		{"it had to wait for its turn", 0, 100, 106, time.Time{}},
	} {
		p := &OutputPoller{following: true, lookedAt: at(c.before), wroteAt: at(c.wrote), beganAt: at(c.began)}
		if got := p.stoodSince(); !got.Equal(c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
