package discordtest

import (
	"strconv"
	"time"
)

// epoch is the first second of 2015, from which Discord's ids count
// (docs.discord.com/developers/reference#snowflakes).
var epoch = time.Date(2015, 1, 1, 0, 0, 0, 0, time.UTC)

// bubbleShift moves the ids of a world that began before Discord's epoch, as the
// clock of a synctest bubble does in the year 2000.
const bubbleShift = 20 * 365 * 24 * time.Hour

// clock makes ids: 42 bits of milliseconds, 22 bits that tell apart what was made
// in the same one. They rise strictly.
type clock struct {
	last  uint64
	shift time.Duration
}

func newClock() clock {
	if now().Before(epoch) {
		return clock{shift: bubbleShift}
	}
	return clock{}
}

func (c *clock) next() string {
	c.last = max(c.last+1, c.at(now()))
	return strconv.FormatUint(c.last, 10)
}

// at is the lowest id of an instant.
func (c *clock) at(t time.Time) uint64 {
	return uint64(t.Add(c.shift).Sub(epoch).Milliseconds()) << 22
}

func now() time.Time { return time.Now() }

// number reads an id; what isn't one is 0.
func number(id string) uint64 {
	n, err := strconv.ParseUint(id, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// stamp writes a time as Discord does.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000+00:00") }

// stampOrNil is null for no time.
func stampOrNil(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	text := stamp(t)
	return &text
}
