package adaptertest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/sessions"
)

// What an ending says of several turns: how many there are, where some begin, and how many of the first
// ones it leaves out.
var (
	manyEnded  = regexp.MustCompile(`^(?:(\d+) turns\b|done\b|failed\b)`)
	begunTurns = regexp.MustCompile(`^turns? (\d+)(?: (?:and|to) (\d+))?(?:,? (?:\d+ )?failed)?(?: · .*)?$`)
	unlisted   = regexp.MustCompile(`^the first (?:(\d+) turns aren't|turn isn't) listed$`)
	mostListed = 10 // lines about turns
)

// endsHistory is a random life of a document whose turns end several at a time. At its end each turn was
// told once, with a link to the message in which it begins, if that's another one and the adapter's
// messages have addresses.
type endsHistory struct {
	seed  uint64
	steps []string
}

// endsLikely is what happens, with how often.
var endsLikely = []struct {
	what   string
	weight int
}{
	{"print", 20}, {"long", 8}, {"end", 25}, {"end alone", 10}, {"fail", 6}, {"deliver", 14}, {"settle", 5}, {"restart", 3}, {"many", 2},
}

func drawEndsHistory(t *rapid.T) endsHistory {
	h := endsHistory{seed: rapid.Uint64().Draw(t, "seed")}
	sum := 0
	for _, l := range endsLikely {
		sum += l.weight
	}
	for _, seed := range rapid.SliceOfN(rapid.Uint64(), 5, 80).Draw(t, "steps") {
		if seed < 1000 {
			continue // so that shrinking can leave steps out
		}
		n := rand.New(rand.NewPCG(seed, seed)).IntN(sum)
		for _, l := range endsLikely {
			if n -= l.weight; n < 0 {
				h.steps = append(h.steps, l.what)
				break
			}
		}
	}
	return h
}

// endsHistories lets so many documents live such lives.
func endsHistories(t *testing.T, times int, n New) {
	t.Helper()
	check(t, times, func(rt *rapid.T) []string {
		h := drawEndsHistory(rt)
		var wrong []string
		synctest.Test(t, func(*testing.T) { wrong = h.live(n) })
		if len(wrong) > 0 {
			rt.Logf("seed %d: %s", h.seed, strings.Join(h.steps, ", "))
		}
		return wrong
	})
}

func (h endsHistory) live(n New) []string {
	w := n(true)
	r := rand.New(rand.NewPCG(h.seed, 3))
	x, err := newBench(w, w.Chats()[r.IntN(2)], NewMemory(0), []adapters.View{adapters.ViewStream, adapters.ViewStream, adapters.ViewFinal}[r.IntN(3)])
	if err != nil {
		return []string{err.Error()}
	}
	l := &endsLife{bench: x, random: r}
	for _, what := range h.steps {
		if err := l.step(what); err != nil {
			return []string{fmt.Sprintf("%s: %v", what, err)}
		}
	}
	if err := x.house.End(theSession, "session ended"); err != nil {
		return []string{err.Error()}
	}
	if err := x.settle(); err != nil {
		return []string{err.Error()}
	}
	l.compare()
	return append(append(l.wrong, x.house.Compare(x.seen(), Want{Session: theSession, To: int64(len(x.house.find(theSession).printed)), Oldest: 1})...), w.Wrong()...)
}

// endsLife is a history that's being lived.
type endsLife struct {
	*bench
	random *rand.Rand
	texts  texts
	wrong  []string
}

func (l *endsLife) step(what string) error {
	o := Output{Ends: what == "end" || what == "fail" || what == "many"}
	switch what {
	case "deliver":
		_, err := l.deliver()
		return err
	case "settle":
		return l.settle()
	case "restart":
		return l.restart(false)
	case "end alone":
		return l.house.Print(theSession, Output{Ends: true})
	case "long":
		o.Lines = l.texts.lines(1+l.random.IntN(5), l.shape().MaxLen/(1+l.random.IntN(4)))
	case "fail":
		o.Failed = "Overloaded"
	}
	if len(o.Lines) == 0 {
		o.Lines = l.texts.lines(1+l.random.IntN(3), 1+l.random.IntN(60))
	}
	if what != "many" {
		return l.house.Print(theSession, o)
	}
	for range 3 + l.random.IntN(2*mostListed) {
		o.Lines = l.texts.lines(1, 1+l.random.IntN(l.shape().MaxLen/2))
		if err := l.house.Print(theSession, o); err != nil {
			return err
		}
	}
	return nil
}

// compare holds the endings that a person sees against the turns that have ended.
func (l *endsLife) compare() {
	turns, err := l.backend.Turns(context.Background(), theSession, 1, 10000)
	if err != nil {
		l.wrong = append(l.wrong, err.Error())
	}
	seen, told := l.seen(), 0
	for i, m := range seen {
		lines := strings.Split(m.Text, "\n")
		at := slices.IndexFunc(lines, ending.MatchString)
		if at < 0 {
			continue
		}
		n := 1
		if found := manyEnded.FindStringSubmatch(lines[at]); found[1] != "" {
			n, _ = strconv.Atoi(found[1])
		}
		if told+n > len(turns) {
			l.fail(m, "it tells of turn %d, and there are %d", told+n, len(turns))
			return
		}
		l.ending(seen, i, lines[at:], turns[told:told+n])
		told += n
	}
	if told != len(turns) {
		l.wrong = append(l.wrong, fmt.Sprintf("%d turns have ended, and %d were told", len(turns), told))
	}
}

func (l *endsLife) fail(m Message, format string, args ...any) {
	l.wrong = append(l.wrong, fmt.Sprintf("message %s: ", m.ID)+fmt.Sprintf(format, args...)+"\n"+m.Text)
}

// ending holds one against the turns that it's of.
func (l *endsLife) ending(seen []Message, at int, lines []string, turns []sessions.Turn) {
	m := seen[at]
	want, elsewhere := make([]string, len(turns)), map[string]bool{}
	for i, t := range turns {
		if want[i] = l.addressOf(seen, at, t); want[i] != "" {
			elsewhere[want[i]] = true
		}
	}
	got, left := l.links(m, lines, len(turns))
	if known := len(elsewhere); left > 0 && known <= mostListed && l.hasRoom(m) {
		l.fail(m, "%d of %d turns aren't listed, and there's room", left, len(turns))
	}
	if len(m.Links) == 0 && !l.hasRoom(m) {
		left = len(turns)
	}
	for i, address := range want {
		switch {
		case address == "", address == got[i]:
		case got[i] != "":
			l.fail(m, "turn %d of %d leads to %q, and it begins in %q", i+1, len(turns), got[i], address)
		case i >= left:
			l.fail(m, "turn %d of %d leads nowhere, and it begins in %q", i+1, len(turns), address)
		}
	}
	if len(elsewhere) == 0 && len(m.Links) > 0 {
		l.fail(m, "there are links, and all turns begin here: %+v", m.Links)
	}
}

// hasRoom reports whether a message surely has room for one more link to a turn.
func (l *endsLife) hasRoom(m Message) bool {
	const address = 120 // units, with what stands around it
	return m.Data == nil && l.shape().MaxLen-adapters.UTF16Len(m.Text)-address*len(m.Links) > 2*address
}

// links are the addresses that an ending has for its turns, and how many of the first ones it leaves out.
func (l *endsLife) links(m Message, lines []string, turns int) (got []string, left int) {
	got = make([]string, turns)
	if len(lines) == 1 {
		for _, link := range m.Links {
			for i := range got {
				got[i] = link.Address // of all that begin elsewhere
			}
		}
		return got, 0
	}
	links := m.Links
	for i, line := range lines[1:] {
		if found := unlisted.FindStringSubmatch(line); found != nil && i == 0 {
			left = 1
			if found[1] != "" {
				left, _ = strconv.Atoi(found[1])
			}
			continue
		}
		found := begunTurns.FindStringSubmatch(line)
		if found == nil || len(links) == 0 || links[0].Text != line {
			l.fail(m, "%q is no link, or says no turns; the links are %+v", line, links)
			return got, left
		}
		first, _ := strconv.Atoi(found[1])
		last := first
		if found[2] != "" {
			last, _ = strconv.Atoi(found[2])
		}
		for n := first; n <= last; n++ {
			if n < 1 || n > turns || got[n-1] != "" || n <= left {
				l.fail(m, "turn %d of %d is listed in %q, and is none, was listed or isn't listed", n, turns, line)
				return got, left
			}
			got[n-1] = links[0].Address
		}
		links = links[1:]
	}
	if len(links) > 0 || len(lines) > 2+mostListed {
		l.fail(m, "it has %d lines, and beside them the links %+v", len(lines), links)
	}
	return got, left
}

// addressOf is where a turn begins whose end a message says; "": there, in no message, or in one without
// an address.
func (l *endsLife) addressOf(seen []Message, at int, t sessions.Turn) string {
	linker, ok := l.adapter.(adapters.Linker)
	if !ok || t.FirstLine == 0 {
		return ""
	}
	first, _, _ := strings.Cut(l.house.find(theSession).printed[t.FirstLine-1], ".") // the line's number
	i := slices.IndexFunc(seen, func(m Message) bool {
		return slices.ContainsFunc(strings.Split(m.Text+"\n"+string(m.Data), "\n"), func(line string) bool { return strings.HasPrefix(line, first+".") })
	})
	if i < 0 || i == at {
		return ""
	}
	place := adapters.Target{Adapter: l.adapter.Name(), Chat: l.chat, Thread: l.document().Thread}
	return linker.Link(place, seen[i].ID)
}
