package adapters_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/adaptertest"
	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/sessions"
)

// conversation is one at a place, drawn: a session prints, people write, commands are answered,
// the session asks and is answered.
type conversation struct {
	*rig
	random *rand.Rand
	place  adapters.Target
	heard  time.Duration // until panebridge hears of what somebody writes

	printed   []time.Time          // of each line
	said      map[string]time.Time // by people
	posted    map[string]time.Time // by panebridge: replies and questions
	questions []string             // that may be answered
}

// A turn's lines are numbered over the whole conversation.
func lineOf(n int) string { return fmt.Sprintf("line %d.", n) }

func (c *conversation) print(lines int, ends bool) {
	var out adaptertest.Output
	for range lines {
		out.Lines = append(out.Lines, lineOf(len(c.printed)))
		c.printed = append(c.printed, time.Now())
	}
	out.Ends = ends
	c.must(c.house.Print("pb_1", out))
}

// say has a person write a text, which is typed into the session a moment later.
func (c *conversation) say(text string, typed bool) {
	c.said[text] = time.Now()
	c.platforms["a"].Say("-1", c.place.Thread, text)
	c.pass(time.Duration(c.random.Int64N(int64(c.heard))))
	c.hub.EndTailAt(c.place)
	if typed {
		c.pass(time.Duration(c.random.IntN(2000)) * time.Millisecond)
		c.must(c.house.Print("pb_1", adaptertest.Output{Lines: []string{text}, Kind: sessions.KindUser, Author: "Ada", Origin: c.place.String(), Begins: true}))
		c.printed = append(c.printed, time.Time{}) // it has a number, too
		return
	}
	c.post("reply to "+text, adapters.Post{Class: qos.Interactive})
}

func (c *conversation) post(text string, p adapters.Post) {
	p.To, p.Key, p.Text, p.Session = c.place, text, text+".", "pb_1"
	if err := c.hub.Post(p); err != nil {
		c.Error(err)
	}
	c.posted[text+"."] = time.Now()
}

func (c *conversation) act(n int) {
	switch c.random.IntN(9) {
	case 0:
		c.say(fmt.Sprintf("text %d", n), true)
	case 1:
		c.say(fmt.Sprintf("command %d", n), false)
	case 2:
		q := fmt.Sprintf("question %d", n)
		c.questions = append(c.questions, q)
		c.post(q, adapters.Post{Class: qos.Final, Behind: true, Ring: true})
	case 3:
		if len(c.questions) > 0 { // answered: an edit
			q := c.questions[c.random.IntN(len(c.questions))]
			at := c.posted[q+"."]
			c.post(q, adapters.Post{Class: qos.Interactive})
			c.posted[q+"."] = at
		}
	case 4:
		c.print(30+c.random.IntN(200), c.random.IntN(2) == 0)
	default:
		c.print(1+c.random.IntN(3), c.random.IntN(3) == 0)
	}
	c.pass(time.Duration(c.random.IntN(15000)) * time.Millisecond)
}

// check compares the final chat with what happened.
func (c *conversation) check() {
	all := c.platforms["a"].Seen("-1", c.place.Thread)
	at := map[string]int{}
	for i, m := range all {
		for text := range strings.SplitSeq(m.Text+"\n"+string(m.Data), "\n") {
			text = strings.TrimSpace(text)
			if before, there := at[text]; there && strings.HasPrefix(text, "line ") && (m.Data == nil || before != i) {
				c.Errorf("%q stands in messages %d and %d", text, before, i)
			}
			at[text] = i
		}
	}
	for n, when := range c.printed {
		if when.IsZero() {
			continue
		}
		i, there := at[lineOf(n)]
		if !there {
			c.Errorf("%q isn't there", lineOf(n))
			continue
		}
		for text, said := range c.said {
			if when.After(said.Add(c.heard)) && i < at[text] {
				c.Errorf("%q stands above %q, which came before it", lineOf(n), text)
			}
		}
		for text, posted := range c.posted {
			j, there := at[text]
			switch {
			case !there:
				c.Errorf("%q isn't there", text)
			case when.After(all[j].At) && i < j:
				c.Errorf("%q stands above %q, which was there before it", lineOf(n), text)
			case strings.HasPrefix(text, "question") && when.Before(posted) && i > j:
				c.Errorf("%q stands below %q, which it led to", lineOf(n), text)
			}
		}
	}
}

// What comes later stands later, and each question stands below what led to it.
func TestWhatComesLaterStandsBelowEverything(t *testing.T) {
	for seed := range drawtest.Seeds(t, drawtest.Times(5000, 1000, 100)) {
		inBubble(t, func(t *testing.T, r *rig) {
			t.Helper()
			c := &conversation{
				rig: r, random: rand.New(rand.NewPCG(seed, 7)), place: placeA1, heard: 1500 * time.Millisecond,
				said: map[string]time.Time{}, posted: map[string]time.Time{},
			}
			r.form = adapters.Shape{MaxLen: 1000, MaxFile: 1 << 20, MaxCaption: []int{0, 500}[c.random.IntN(2)]}
			r.platforms["a"].SetFault(func(adaptertest.Call) adaptertest.Fault {
				return adaptertest.Fault{Out: 200 * time.Millisecond, Back: 300 * time.Millisecond}
			})
			r.rules = []adapters.MirrorRule{rule(t, "*", "a:-1")}
			r.start()
			r.begin("pb_1", "agent-1")
			for n := range 10 + c.random.IntN(20) {
				c.act(n)
			}
			r.pass(20 * time.Minute)
			c.check()
			if t.Failed() {
				for i, m := range r.platforms["a"].Seen("-1", "") {
					t.Logf("%d %s %q %d bytes", i, m.At.Format(time.StampMilli), m.Text, len(m.Data))
				}
				t.Fatalf("seed %d", seed)
			}
		})
	}
}

// What somebody writes ends the open message also while nobody knows whether that's there, over a
// restart, too: the platform tells by its nonce, and what comes then stands below.
func TestAMessageInDoubtIsEndedToo(t *testing.T) {
	for name, restarts := range map[string]bool{"in one process": false, "over a restart": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, adaptertest.Options{NonceFor: 5 * time.Minute})
				r.form.NonceFor = 4 * time.Minute
				r.rules = []adapters.MirrorRule{rule(t, "*", "a:-1")}
				r.start()
				r.begin("pb_1", "agent-1")
				r.platforms["a"].SetFault(func(adaptertest.Call) adaptertest.Fault { return adaptertest.Fault{Kind: adaptertest.Unanswered} })
				r.print("pb_1", "one")
				r.pass(time.Second)
				r.platforms["a"].Say("-1", "", "a text")
				r.hub.EndTailAt(placeA1)
				if restarts {
					r.stop()
					r.platforms["a"].SetFault(nil)
					r.start()
				}
				r.platforms["a"].SetFault(nil)
				r.pass(time.Minute)
				r.print("pb_1", "two")
				r.pass(time.Minute)
				r.wantTexts("a", "-1", "one", "a text", "two")
			})
		})
	}
}
