package platformtest

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/adaptertest"
	"github.com/panebridge/panebridge/sessions"
)

// Desks is what of a platform a working day needs: a thread for each session, and two people.
type Desks interface {
	// Say writes a text in a session's thread, as Bob or as Ada, who may answer questions.
	Say(session string, bob bool, text string) error
	// Press presses a button below the newest message in a session's thread that has it, as Ada.
	Press(session, label string) error
	// Rings are all that rang, in order; Calls are how many messages the bot has sent, and how
	// often it has edited one.
	Rings() []Rang
	Calls() (messages, edits int)
}

// Rang is a message that rang, as it was then.
type Rang struct {
	At   time.Time
	Text string
}

// Peace is what came of a working day.
type Peace struct {
	Rings, Messages, Edits int
	Why                    map[string]int // rings by their causes
	Alone                  int            // of the ends of turns, those beside which only the answer's first words stand
}

const (
	daySessions  = 10
	dayShared    = 2 // of those, Bob writes to them too
	dayShells    = 2 // of those, in another one each
	dayTurns     = 120
	dayQuestions = 25
	dayLength    = 8 * time.Hour
	// remindAfter is when people are reminded of a question: as by default.
	remindAfter = 10 * time.Minute
)

// day is a drawn working day: 10 sessions, 120 turns and 25 questions in 8 hours.
type day struct {
	*testing.T
	o     *Office
	desks Desks
	after time.Duration // ring_after

	mu    sync.Mutex
	turns map[string]bool // words of the turns that have ended, and whether their end rings
	asked map[string]int  // titles of questions, and how often they ring
	ended int
}

func (p Peace) String() string {
	return fmt.Sprintf("%d rings %v, %d of them alone with the answer's first words, %d messages, %d edits", p.Rings, p.Why, p.Alone, p.Messages, p.Edits)
}

// WorkingDay plays a working day, and returns what it cost in peace: each ring has a cause that
// it tells, and each cause rings once. after is ring_after of the office's bridge.
func WorkingDay(t *testing.T, o *Office, desks Desks, seed uint64, after time.Duration) Peace {
	t.Helper()
	d := &day{T: t, o: o, desks: desks, after: after, turns: map[string]bool{}, asked: map[string]int{}}
	random := rand.New(rand.NewPCG(seed, 8))
	var plans [daySessions][]plannedTurn
	questions := random.Perm(dayTurns)[:dayQuestions]
	for n := range dayTurns {
		i := random.IntN(daySessions)
		plans[i] = append(plans[i], plannedTurn{n: n, seed: random.Uint64()})
	}
	for _, n := range questions {
		for i := range plans {
			for j := range plans[i] {
				plans[i][j].asks = plans[i][j].asks || plans[i][j].n == n
			}
		}
	}
	o.Keyboard().Echo = func(id sessions.ID, req sessions.InputRequest) error {
		return o.bridge.House.Print(id, adaptertest.Output{
			Lines: []string{req.Text}, Kind: sessions.KindUser, Author: req.Name, Origin: req.Origin, Begins: true,
		})
	}
	o.In.SetPrompts(remindAfter, adapters.Target{})
	for i := range daySessions {
		if err := o.bridge.House.BeginOwned(dayID(i), dayName(i)); err != nil {
			t.Fatal(err)
		}
		o.Pass(20 * time.Second)
	}
	for i := range daySessions {
		d.try(desks.Say(dayName(i), false, "/help"))
		if i < dayShared {
			d.try(desks.Say(dayName(i), true, "/help"))
		}
		o.Pass(20 * time.Second)
	}
	rings := len(desks.Rings())
	messages, edits := desks.Calls()
	began := time.Now()
	var playing sync.WaitGroup
	for i, plan := range plans {
		playing.Go(func() { d.live(i, plan, began) })
	}
	playing.Wait()
	o.Pass(10 * time.Minute)
	if took := time.Since(began); took > dayLength*5/4 {
		t.Errorf("the day took %v", took)
	}
	peace := Peace{}
	for _, r := range desks.Rings()[rings:] {
		if strings.HasPrefix(strings.Trim(r.Text, "[*"), "done · ") {
			peace.Alone++
		}
	}
	peace.Why = d.judge(desks.Rings()[rings:])
	peace.Rings = len(desks.Rings()) - rings
	peace.Messages, peace.Edits = desks.Calls()
	peace.Messages, peace.Edits = peace.Messages-messages, peace.Edits-edits
	return peace
}

func dayID(i int) sessions.ID { return sessions.ID(fmt.Sprintf("pb_%012d", i+1)) }

func dayName(i int) string { return fmt.Sprintf("agent-%d", i) }

// plannedTurn is a turn before it has begun.
type plannedTurn struct {
	n    int
	seed uint64
	asks bool
}

func (d *day) try(err error) {
	if err != nil {
		d.Error(err)
	}
}

// live plays a session's day: its turns share it.
func (d *day) live(i int, plan []plannedTurn, began time.Time) {
	for j, p := range plan {
		random := rand.New(rand.NewPCG(p.seed, uint64(i)))
		share := dayLength / time.Duration(len(plan))
		at := began.Add(share*time.Duration(j) + time.Duration(random.Int64N(int64(share/2))))
		time.Sleep(max(time.Minute, time.Until(at)))
		d.turn(i, p, random)
	}
	if i%5 == 4 { // two sessions end with the day
		time.Sleep(5 * time.Minute)
		d.try(d.o.bridge.House.End(dayID(i), "session ended: its program has exited"))
		d.mu.Lock()
		d.ended++
		d.mu.Unlock()
	}
}

// took draws how long a turn works: half of them seconds, a few up to a quarter of an hour.
func took(random *rand.Rand) time.Duration {
	switch n := random.IntN(10); {
	case n < 5:
		return time.Duration(2+random.IntN(23)) * time.Second
	case n < 8:
		return time.Duration(35+random.IntN(200)) * time.Second
	default:
		return time.Duration(5*60+random.IntN(600)) * time.Second
	}
}

// turn has somebody ask, and the session work, ask and answer.
func (d *day) turn(i int, p plannedTurn, random *rand.Rand) {
	id, shell := dayID(i), i >= dayShared && i < dayShared+dayShells
	asker := random.IntN(20)
	works, fails := took(random), random.IntN(25) == 0
	says := func(o adaptertest.Output) { d.try(d.o.bridge.House.Print(id, o)) }
	switch {
	case asker < 13:
		d.try(d.desks.Say(dayName(i), i < dayShared && asker < 6, fmt.Sprintf("do task %d", p.n)))
		time.Sleep(3 * time.Second)
	case asker < 19 && !shell:
		says(adaptertest.Output{Lines: []string{fmt.Sprintf("do task %d", p.n)}, Kind: sessions.KindUser, Begins: true})
	case shell:
		says(adaptertest.Output{Lines: []string{"$ make"}})
	default: // it goes on by itself
	}
	d.o.bridge.House.SetState(id, sessions.StateWorking, "")
	d.work(id, shell, works/2, random)
	if p.asks {
		d.ask(i, p.n, random)
	}
	d.work(id, shell, works-works/2, random)
	word := fmt.Sprintf("Task-%d", p.n)
	end := adaptertest.Output{
		Lines: []string{word + " is **done** and all tests pass.", "", "The cause was a race between two writers; see `store.go`."}, Kind: sessions.KindAnswer,
		Begins: true, Known: &sessions.Live{Known: true},
	}
	if shell {
		status := 0
		if fails {
			status = 1
		}
		end = adaptertest.Output{Lines: []string{"checking", word + " is built."}, Status: &status}
	}
	if random.IntN(2) == 0 { // the end is known later than the answer
		says(end)
		time.Sleep(3 * time.Second)
		end.Lines, end.Begins = nil, false
	}
	switch {
	case fails && !shell:
		d.o.bridge.House.SetState(id, sessions.StateError, "its last turn failed: API Error 529")
	default:
		d.o.bridge.House.SetState(id, sessions.StateIdle, "")
	}
	end.Ends = true
	says(end)
	s, err := d.o.bridge.House.Get(string(id))
	d.try(err)
	byItself := asker >= 19 && !shell
	d.mu.Lock()
	d.turns[word] = s.Turn.EndedAt.Sub(s.Turn.StartedAt) >= d.after || fails || byItself || i < dayShared
	d.mu.Unlock()
}

// work has a session print for a while: what it's writing grows, and every now and then a block
// of it is finished.
func (d *day) work(id sessions.ID, shell bool, long time.Duration, random *rand.Rand) {
	for left, n := long, 0; left > 0; n++ {
		step := min(left, time.Duration(3+random.IntN(9))*time.Second)
		left -= step
		time.Sleep(step)
		o := adaptertest.Output{Known: &sessions.Live{Known: true, Status: adaptertest.Status, Writing: []string{strings.Repeat("I look at the next file. ", 1+n%4)}}}
		switch {
		case shell:
			o = adaptertest.Output{Lines: adaptertest.Lines(n, 1)}
		case n%4 == 3:
			o.Lines, o.Kind, o.Begins = []string{"I look at the next file.", "It's the one."}, sessions.KindAnswer, true
			o.Known.Writing = nil
		case n%4 == 1:
			o.Lines, o.Kind, o.Begins = []string{"Read store.go"}, sessions.KindTool, true
		}
		d.try(d.o.bridge.House.Print(id, o))
	}
}

// ask has a session ask, and Ada answer after a while.
func (d *day) ask(i, n int, random *rand.Rand) {
	dialog := adaptertest.Permission()
	dialog.Title = fmt.Sprintf("Question-%d: run this?", n)
	d.o.bridge.House.SetState(dayID(i), sessions.StateWaiting, "it asks")
	d.o.questions.Change(sessions.Prompt{
		ID: fmt.Sprintf("pr_%d", n), Session: dayID(i), Dialog: dialog, State: sessions.PromptOpen, OpenedAt: time.Now(),
	})
	waits := time.Duration(5+random.IntN(240)) * time.Second
	rings := 1
	if random.IntN(6) == 0 {
		waits, rings = remindAfter+3*time.Minute, 2
	}
	d.mu.Lock()
	d.asked[fmt.Sprintf("Question-%d:", n)] = rings
	d.mu.Unlock()
	time.Sleep(waits)
	d.try(d.desks.Press(dayName(i), dialog.Options[0].Label))
	time.Sleep(3 * time.Second)
	d.o.bridge.House.SetState(dayID(i), sessions.StateWorking, "")
}

// judge finds the cause of each ring by what it says, and returns how many have which.
func (d *day) judge(rings []Rang) map[string]int {
	why, turns, asked := map[string]int{}, map[string]int{}, map[string]int{}
	for _, r := range rings {
		causes := 0
		for word := range d.turns {
			if strings.Contains(r.Text, word+" ") {
				turns[word]++
				causes++
				why["end of a turn"]++
			}
		}
		for title := range d.asked {
			if strings.Contains(r.Text, title) {
				asked[title]++
				causes++
				if strings.Contains(r.Text, "still waits") {
					why["reminder"]++
				} else {
					why["question"]++
				}
			}
		}
		if strings.Contains(r.Text, "session ended") {
			causes++
			why["end of a session"]++
		}
		if causes != 1 {
			d.Errorf("at %s %d causes rang: %q", r.At.Format(time.TimeOnly), causes, r.Text)
		}
	}
	for word, rang := range d.turns {
		if want := map[bool]int{true: 1}[rang]; turns[word] != want {
			d.Errorf("the end of %s rang %d times, want %d", word, turns[word], want)
		}
	}
	for title, want := range d.asked {
		if asked[title] != want {
			d.Errorf("%s rang %d times, want %d", title, asked[title], want)
		}
	}
	if len(d.turns) != dayTurns || len(d.asked) != dayQuestions || why["end of a session"] != d.ended {
		d.Errorf("%d turns, %d questions, %d ends of sessions", len(d.turns), len(d.asked), d.ended)
	}
	return why
}
