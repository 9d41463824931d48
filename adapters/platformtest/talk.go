package platformtest

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters/adaptertest"
	"github.com/panebridge/panebridge/sessions"
)

// TalkRoom is the place of a platform at which a session is shown and two people write.
type TalkRoom struct {
	// Say writes a text, as Bob or as Ada, who may answer questions.
	Say func(bob bool, text string) error
	// Press presses a button, as Ada.
	Press func(message, label string) error
	// Seen are all messages in the order in which people see them, theirs too.
	Seen func() []Sight
	// Meanwhile happens once, at a drawn moment, right after the session has printed and asked
	// and somebody has written. Nil: nothing does.
	Meanwhile func()
	// Unanswered says that calls aren't answered for a while: what's marked as sent once more may be
	// there twice, and a question may have gone first when three calls before it weren't.
	Unanswered bool
	// Unheard says that panebridge isn't told of what happens at Meanwhile: it learns of it by a call,
	// before somebody writes.
	Unheard bool
	// Hears is how long it takes at most until panebridge hears of what somebody writes; 0: the
	// platforms' latency in both directions, and the queue's.
	Hears time.Duration
}

// Sight is a message as people see it.
type Sight struct {
	ID, Text string
	Data     []byte    // of its file
	At       time.Time // when it was posted
	Bot      bool      // it's panebridge's
	Gone     bool      // it can still be read, and its buttons do nothing
}

// hearsWithin is Room.Hears where a test says nothing.
const hearsWithin = 2 * time.Second

// talk is a drawn conversation of a session and two people at one place.
type talk struct {
	*testing.T
	o      *Office
	room   TalkRoom
	random *rand.Rand

	regions talkRegions

	mu        sync.Mutex
	lines     []talkLine
	rows      []talkRow            // that were drawn in live regions
	showing   []string             // the live region
	blamed    map[int]bool         // rows that stood in a wrong place
	said      map[string]time.Time // by people
	later     map[string]talkLater
	commands  map[string]string // texts and how their replies begin
	questions []talkQuestion
}

// talkLine is a line that the session has printed.
type talkLine struct {
	at    time.Time
	cause string // the text or the question that it answers; "": it came by itself
}

// talkLater is how long it takes until a text that was taken is typed, then until its answer begins,
// and for how long that's written in the live region; 0: it's there at once.
type talkLater struct{ typed, answered, written time.Duration }

// talkQuestion is a question that the session has asked.
type talkQuestion struct {
	id, title string
	lines     int // that came before
	asked     time.Time
	answered  bool
}

// Talk plays a drawn conversation: the session prints, floods, draws a live region, and asks, two
// people write texts and commands and answer. In the end each line stands there once, nothing stands
// above what caused it or above what stood there when it came, and each question below its reason.
// Neither does a row of a live region at any time, and none is left.
func Talk(t *testing.T, o *Office, room TalkRoom, seed uint64) {
	t.Helper()
	room.Hears = cmp.Or(room.Hears, hearsWithin)
	c := &talk{
		T: t, o: o, room: room, random: rand.New(rand.NewPCG(seed, 18)),
		said: map[string]time.Time{}, later: map[string]talkLater{}, commands: map[string]string{}, blamed: map[int]bool{},
	}
	c.regions = talkRegions(c.random.IntN(3))
	o.Keyboard().Echo = c.echo
	steps := 10 + c.random.IntN(20)
	meanwhile := c.random.IntN(steps)
	for n := range steps {
		c.act(n)
		if n == meanwhile && room.Meanwhile != nil {
			c.inTheMiddle(n)
		}
		c.pass(c.upTo([]time.Duration{time.Second, 15 * time.Second}[c.random.IntN(2)]))
	}
	o.Pass(20 * time.Minute)
	c.draw("", 0, 0)
	if c.asks() { // it's answered, however late
		if c.askOrAnswer(steps); c.asks() {
			t.Error("what's open can't be answered")
		}
	}
	o.Pass(20 * time.Minute)
	c.check()
	if t.Failed() {
		for i, m := range room.Seen() {
			t.Logf("%d %s bot %t %q %d bytes", i, m.At.Format(time.StampMilli), m.Bot, m.Text, len(m.Data))
		}
	}
}

// talkedLine is how a line reads that has a number over the whole conversation.
func talkedLine(n int) string { return fmt.Sprintf("line %d.", n) }

func (c *talk) print(cause string, count int, ends bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.try(c.o.bridge.House.Print(AskingText, adaptertest.Output{Ends: ends, Lines: c.newLines(cause, count)}))
}

// newLines are lines that the session prints now. mu is held.
func (c *talk) newLines(cause string, count int) []string {
	var out []string
	for range count {
		out = append(out, talkedLine(len(c.lines)))
		c.lines = append(c.lines, talkLine{time.Now(), cause})
	}
	return out
}

// echo has the session show a text when it's typed, a while after it was taken, and answer it.
func (c *talk) echo(id sessions.ID, req sessions.InputRequest) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	later := c.later[req.Text]
	time.AfterFunc(later.typed, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.try(c.o.bridge.House.Print(id, adaptertest.Output{
			Lines: []string{req.Text}, Kind: sessions.KindUser, Author: req.Name, Origin: req.Origin, Begins: true,
		}))
	})
	time.AfterFunc(later.typed+later.answered, func() {
		if later.written == 0 {
			c.print(req.Text, 1, false)
			return
		}
		c.draw(req.Text, 0, 1)
		time.AfterFunc(later.written, func() { c.commit(req.Text, 1, false) })
	})
	return nil
}

func (c *talk) upTo(most time.Duration) time.Duration {
	return time.Duration(c.random.Int64N(int64(most)))
}

func (c *talk) try(err error) {
	if err != nil {
		c.Error(err)
	}
}

func (c *talk) say(text string) {
	bob := c.random.IntN(2) == 0
	c.mu.Lock()
	c.said[text] = time.Now()
	later := talkLater{typed: c.upTo([]time.Duration{2 * time.Second, 20 * time.Second}[c.random.IntN(2)]), answered: c.upTo(3 * time.Second)}
	if c.regions != noRegions && c.random.IntN(2) == 0 {
		later.written = c.upTo(10 * time.Second)
	}
	c.later[text] = later
	c.mu.Unlock()
	c.try(c.room.Say(bob, text))
}

// command has somebody give a command.
func (c *talk) command(n int) {
	command := fmt.Sprintf("/nothing%d", n)
	c.commands[command] = "There's no command " + command + "."
	c.say(command)
}

func (c *talk) act(n int) {
	if c.regions != noRegions && c.random.IntN(3) == 0 {
		c.redraw()
		return
	}
	switch c.random.IntN(10) {
	case 0:
		c.say(fmt.Sprintf("text %d", n))
	case 1: // both at once
		c.say(fmt.Sprintf("text %d a", n))
		c.o.Pass(c.upTo(500 * time.Millisecond))
		c.say(fmt.Sprintf("text %d b", n))
	case 2:
		c.command(n)
	case 3, 4:
		c.askOrAnswer(n)
	case 5:
		c.print("", 30+c.random.IntN(200), c.random.IntN(2) == 0)
	default:
		c.print("", 1+c.random.IntN(3), c.random.IntN(3) == 0)
	}
}

// inTheMiddle has what happens once happen to all that can be open: a message that grows, a
// question, a text.
func (c *talk) inTheMiddle(n int) {
	if !c.asks() && c.random.IntN(2) == 0 {
		c.askOrAnswer(1000 + n)
	}
	c.print("", 1+c.random.IntN(3), false)
	c.o.Pass(c.upTo(6 * time.Second))
	c.print("", 1+c.random.IntN(3), false)
	c.say(fmt.Sprintf("text %d before", n))
	c.command(1000 + n)
	c.o.Pass(c.upTo([]time.Duration{1, 6 * time.Second}[c.random.IntN(2)]))
	c.room.Meanwhile()
	if c.room.Unheard {
		c.print("", 1+c.random.IntN(3), false)
		c.o.Pass(time.Minute)
	}
	c.o.Pass(c.upTo([]time.Duration{1, 6 * time.Second}[c.random.IntN(2)]))
	c.say(fmt.Sprintf("text %d after", n))
	c.print("", 1+c.random.IntN(3), c.random.IntN(2) == 0)
}

// asks reports whether a question is open.
func (c *talk) asks() bool {
	last := len(c.questions) - 1
	return last >= 0 && !c.questions[last].answered
}

// askOrAnswer has the session ask, with a reason, or Ada answer what it has asked.
func (c *talk) askOrAnswer(n int) {
	house := c.o.bridge.House
	if c.asks() {
		q, all := &c.questions[len(c.questions)-1], c.room.Seen()
		newest := -1
		for i, m := range all {
			if m.Bot && !m.Gone && strings.Contains(m.Text, q.title) {
				newest = i
			}
		}
		if newest < 0 {
			return
		}
		q.answered = true
		c.try(c.room.Press(all[newest].ID, adaptertest.Permission().Options[0].Label))
		c.o.Pass(c.room.Hears)
		if p, err := c.o.questions.Prompt(c.Context(), q.id); err != nil || p.State != sessions.PromptAnswered {
			c.Errorf("%s isn't answered: %+v, %v", q.title, p, err)
		}
		house.SetState(AskingText, sessions.StateWorking, "")
		c.print(q.title, 1+c.random.IntN(2), c.random.IntN(3) == 0)
		return
	}
	c.print("", c.random.IntN(4), false)
	c.o.Pass(c.upTo([]time.Duration{1, 1500 * time.Millisecond}[c.random.IntN(2)]))
	dialog := adaptertest.Permission()
	dialog.Title = fmt.Sprintf("Question-%d: run this?", n)
	c.mu.Lock()
	q := talkQuestion{id: fmt.Sprintf("pr_%d", n), title: fmt.Sprintf("Question-%d:", n), lines: len(c.lines), asked: time.Now()}
	c.mu.Unlock()
	c.questions = append(c.questions, q)
	house.SetState(AskingText, sessions.StateWaiting, "it asks")
	c.o.questions.Change(sessions.Prompt{ID: q.id, Session: AskingText, Dialog: dialog, State: sessions.PromptOpen, OpenedAt: time.Now()})
}

// waitedEnough says whether a question has waited for the three calls that one waits for, by the messages
// above it: two were made since it's asked, and one of them, or one before them, took an edit that ended it.
func (c *talk) waitedEnough(above []Sight, q talkQuestion) bool {
	made := 0
	for _, m := range above {
		if m.Bot && m.At.After(q.asked) && aLine.MatchString(m.Text) {
			made++
		}
	}
	return made >= 2
}

// shows returns the first message of panebridge's that shows a text.
func (c *talk) shows(all []Sight, text string) (int, bool) {
	for i, m := range all {
		if m.Bot && strings.Contains(m.Text, text) {
			return i, true
		}
	}
	return 0, false
}

// sentAgain is how what may be there already begins.
const sentAgain = "[sent once more:"

// aLine finds lines as talkedLine makes them, and aQuote those that the end of a turn quotes: it
// shows the answer's first words, where they stand above.
var (
	aLine  = regexp.MustCompile(`line \d+\.`)
	aQuote = regexp.MustCompile(`“line \d+\.[^”]*”`)
)

// check compares the place with what happened.
func (c *talk) check() {
	all := c.room.Seen()
	c.checkRegions(all)
	at := c.places(all)
	for n, line := range c.lines {
		i, there := at[talkedLine(n)]
		if !there {
			c.Errorf("line %d isn't there", n)
			continue
		}
		if before, there := at[talkedLine(n-1)]; there && before > i {
			c.Errorf("line %d stands above line %d", n, n-1)
		}
		for text, said := range c.said {
			if (line.cause == text || line.at.After(said.Add(c.room.Hears))) && i < at[text] {
				c.Errorf("line %d stands above %q, which came before it", n, text)
			}
		}
		for j := i + 1; j < len(all); j++ {
			if all[j].Bot && line.at.After(all[j].At) {
				c.Errorf("line %d of %s stands above %q, which was there before it", n, line.at.Format(time.StampMilli), all[j].Text)
			}
		}
		for _, q := range c.questions {
			switch j := at[q.title]; {
			case n < q.lines && i > j && !c.room.Unanswered && !c.waitedEnough(all[:j], q):
				c.Errorf("line %d stands below %s, which it led to", n, q.title)
			case line.cause == q.title && i < j:
				c.Errorf("line %d stands above %s, whose answer it came of", n, q.title)
			}
		}
	}
	typed := map[string]int{}
	for _, r := range c.o.Keyboard().Typed() {
		typed[r.Text]++
	}
	for text := range c.later {
		if want := map[bool]int{true: 1}[strings.HasPrefix(text, "text")]; typed[text] != want {
			c.Errorf("%q was typed %d times", text, typed[text])
		}
	}
	for command, reply := range c.commands {
		if i, there := c.shows(all, reply); !there || i < at[command] {
			c.Errorf("the reply to %s stands at %d, it at %d (there: %t)", command, i, at[command], there)
		}
		first, again := 0, 0
		for _, m := range all {
			switch {
			case !m.Bot || !strings.Contains(m.Text, reply):
			case strings.HasPrefix(m.Text, sentAgain):
				again++
			default:
				first++
			}
		}
		if first > 1 || first+again > 1 && !c.room.Unanswered {
			c.Errorf("the reply to %s stands there %d times, and %d times with the mark", command, first, again)
		}
	}
}

// places returns in which message each line, each text and each question stands.
func (c *talk) places(all []Sight) map[string]int {
	at := map[string]int{}
	for i, m := range all {
		if !m.Bot {
			at[m.Text] = i
			continue
		}
		for kind, text := range []string{m.Text, string(m.Data)} {
			for _, line := range aLine.FindAllString(aQuote.ReplaceAllString(text, ""), -1) {
				marked := c.room.Unanswered && strings.HasPrefix(m.Text, sentAgain)
				if before, there := at[line]; there && (kind == 0 || before != i) && !marked {
					c.Errorf("%q stands in messages %d and %d", line, before, i)
				}
				at[line] = i
			}
		}
	}
	for text := range c.said {
		if _, there := at[text]; !there {
			c.Errorf("%q isn't there", text)
		}
	}
	for _, q := range c.questions {
		i, there := c.shows(all, q.title)
		if !there {
			c.Errorf("%s isn't there", q.title)
		}
		at[q.title] = i
	}
	return at
}

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
	c.try(c.o.bridge.House.Print(AskingText, c.region(cause, keep, more)))
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
	c.try(c.o.bridge.House.Print(AskingText, out))
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
