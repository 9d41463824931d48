package platformtest

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/panebridge/panebridge/adapters/adaptertest"
	"github.com/panebridge/panebridge/sessions"
)

// talkRegions are what the session of a talk shows below its lines.
type talkRegions uint8

const (
	noRegions   talkRegions = iota
	screenRows              // rows of its screen
	writtenText             // a text that it writes, which comes as lines when it's finished: its program is known
)

// talkRow is a row of the live region that was drawn.
type talkRow struct {
	at    time.Time
	cause string // as talkLine.cause
}

// aRow finds rows as talkedRow makes them.
var aRow = regexp.MustCompile(`row (\d+)\.`)

// talkedRow is how a row reads that has a number over the whole conversation.
func talkedRow(n int) string { return fmt.Sprintf("row %d.", n) }

// region is an output by which the live region shows some rows, nothing but its first ones and
// new ones that have a cause. mu is held.
func (c *talk) region(cause string, keep, more int) adaptertest.Output {
	c.showing = slices.Clip(c.showing[:min(keep, len(c.showing))])
	for range more {
		c.showing = append(c.showing, talkedRow(len(c.rows)))
		c.rows = append(c.rows, talkRow{time.Now(), cause})
	}
	switch c.regions {
	case screenRows:
		return adaptertest.Output{Live: append([]string{}, c.showing...)}
	case writtenText:
		return adaptertest.Output{Known: &sessions.Live{Rows: []string{"❯"}, Known: true, Writing: c.showing}}
	default:
		return adaptertest.Output{}
	}
}

// draw has the live region show other rows.
func (c *talk) draw(cause string, keep, more int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.try(c.o.bridge.House.Print(Asking, c.region(cause, keep, more)))
}

// commit has lines take the live region's place.
func (c *talk) commit(cause string, count int, ends bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := c.region("", 0, 0)
	out.Ends, out.Lines = ends, c.newLines(cause, count)
	if c.regions == writtenText {
		out.Kind, out.Begins = sessions.KindAnswer, true
	}
	c.try(c.o.bridge.House.Print(Asking, out))
}

// redraw has the live region grow, be drawn anew in part, become lines, be replaced, vanish, or
// stand there for a while.
func (c *talk) redraw() {
	switch more := 1 + c.random.IntN(3); c.random.IntN(7) {
	case 0, 1:
		c.draw("", len(c.showing), more)
	case 2:
		c.draw("", c.random.IntN(len(c.showing)+1), more)
	case 3:
		c.commit("", more, c.random.IntN(2) == 0)
	case 4:
		c.draw("", 0, more)
	case 5:
		c.draw("", 0, 0)
	default:
		c.write()
	}
}

// write has the session write a text for so long that people see it, and wants them to.
func (c *talk) write() {
	c.draw("", len(c.showing), 1+c.random.IntN(3))
	c.mu.Lock()
	row := talkedRow(len(c.rows) - 1)
	c.mu.Unlock()
	c.pass(seenWithin)
	c.mu.Lock()
	defer c.mu.Unlock()
	if !slices.Contains(c.showing, row) {
		return // a text was answered meanwhile
	}
	if _, there := c.shows(c.room.Seen(), row); !there && c.regions == writtenText {
		c.Errorf("%q isn't there after %s", row, seenWithin)
	}
}

// seenWithin is how long a text is written at least that people are to see.
const seenWithin = 2 * time.Minute

// pass lets time pass, and looks at what people see meanwhile.
func (c *talk) pass(d time.Duration) {
	const every = 3 * time.Second
	for ; d > 0; d -= every {
		c.o.Pass(min(d, every))
		c.look()
	}
}

// look wants no row of a live region to stand above what caused it, or above what stood there when it
// was drawn.
func (c *talk) look() {
	if c.regions == noRegions {
		return
	}
	all := c.room.Seen()
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, m := range all {
		if !m.Bot {
			continue
		}
		for _, match := range aRow.FindAllStringSubmatch(m.Text, -1) {
			n, _ := strconv.Atoi(match[1])
			for _, below := range all[i+1:] {
				if why := c.precedes(below, c.rows[n]); why != "" && !c.blamed[n] {
					c.blamed[n] = true
					c.Errorf("row %d of %s stands above %q, %s", n, c.rows[n].at.Format(time.StampMilli), below.Text, why)
				}
			}
		}
	}
}

// precedes says why a row has to stand below a message; "": it needn't. mu is held.
func (c *talk) precedes(m Sight, r talkRow) string {
	switch said, isText := c.said[m.Text]; {
	case m.Bot && r.at.After(m.At):
		return "which was there before it"
	case !m.Bot && r.cause == m.Text:
		return "which caused it"
	case !m.Bot && isText && r.at.After(said.Add(c.room.Hears)):
		return "which came before it"
	default:
		return ""
	}
}

// checkRegions wants no live region to be left.
func (c *talk) checkRegions(all []Sight) {
	for _, m := range all {
		if m.Bot && !m.Gone && aRow.MatchString(m.Text) && !c.room.Unanswered { // a message that nobody knows of stays as it was
			c.Errorf("%q shows a live region in the end", m.Text)
		}
	}
}
