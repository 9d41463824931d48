package inbound_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/access"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/internal/drawtest"
)

// People write commands and texts that no session takes; answers wait for a while, now and then signs
// are refused, and daemons are killed at any moment: while something is handled, before it's answered and
// after it. Each command and each text is answered, and a second time only with the mark.
func TestEachIsAnsweredOverKills(t *testing.T) {
	for seed := range drawtest.Seeds(t, drawtest.Times(3000, 60, 8)) {
		inWorld(t, func(w *world) {
			a := &answered{world: w, random: rand.New(rand.NewPCG(seed, 6))}
			a.live()
			if a.check(); w.Failed() {
				w.Logf("seed %d", seed)
			}
		})
	}
}

// Who uses a pairing code is told so, wherever the process is killed meanwhile.
func TestAPairingIsAnsweredOverKills(t *testing.T) {
	for at, survived := 1, false; !survived; at++ {
		inWorld(t, func(w *world) {
			a := &answered{world: w}
			code, _, err := w.in.MakePairingCode(w.Context(), access.Viewer, "cli")
			if err != nil {
				w.Fatal(err)
			}
			ev := w.event("chat:new", intake.Said{Text: "/pair " + code})
			w.hub.hold()
			w.process.mu.Lock()
			w.process.steps, w.process.killAt = 0, at
			w.process.mu.Unlock()
			err = w.in.Handle(w.Context(), ev)
			survived = !w.process.killed()
			a.killed()
			if err != nil {
				w.do(ev)
			}
			w.hub.release(nil)
			w.pass(time.Hour)
			a.restart()
			w.wantPosts("You're in")
		})
	}
}

// answered are events that are to be answered.
type answered struct {
	*world
	random   *rand.Rand
	commands []string       // as their replies begin
	texts    []intake.Event // that no session takes
	signs    []string       // messages on which a sign stands
}

func (a *answered) live() {
	for n := range 10 + a.random.IntN(20) {
		switch a.random.IntN(8) {
		case 0:
			a.hub.hold()
		case 1:
			a.release()
		case 2:
			a.killed()
		case 3, 4:
			a.commands = append(a.commands, fmt.Sprintf("There's no command /nothing%d.", n))
			a.handle(a.event(ann, intake.Said{Text: fmt.Sprintf("/nothing%d", n)}))
		default:
			ev := a.event(ann, intake.Said{Text: "to nobody"})
			ev.Place.Thread = "77"
			a.texts = append(a.texts, ev)
			a.handle(ev)
		}
		a.pass(time.Duration(a.random.Int64N(int64([]time.Duration{time.Second, 3 * time.Minute}[a.random.IntN(2)]))))
	}
	a.release()
	a.pass(time.Hour)
	a.restart() // nothing is left that would be said again
	a.pass(time.Hour)
}

// handle handles an event as a queue would, at which the process may be killed.
func (a *answered) handle(ev intake.Event) {
	if a.random.IntN(3) == 0 {
		a.process.mu.Lock()
		a.process.steps, a.process.killAt = 0, 1+a.random.IntN(7)
		a.process.mu.Unlock()
	}
	for a.in.Handle(a.Context(), ev) != nil {
		a.killed()
	}
	if synctest.Wait(); a.process.killed() {
		a.killed()
	}
}

// killed has the process be killed: what waited is forgotten.
func (a *answered) killed() {
	a.end()
	a.hub.mu.Lock()
	a.hub.held, a.hub.gloomy = nil, nil
	if a.random != nil && a.random.IntN(3) == 0 {
		a.hub.gloomy = errors.New("400: reactions aren't allowed here")
	}
	a.hub.mu.Unlock()
	a.start()
	synctest.Wait()
}

// release has what waits be posted; signs may be refused.
func (a *answered) release() {
	var gloomy error
	if a.random.IntN(3) == 0 {
		gloomy = errors.New("400: reactions aren't allowed here")
	}
	for _, p := range a.hub.release(gloomy) {
		if p.Reaction != "" && gloomy == nil {
			a.signs = append(a.signs, p.ReplyTo)
		}
	}
	synctest.Wait()
}

func (a *answered) check() {
	posts := a.hub.take()
	for _, p := range posts {
		if p.Reaction != "" {
			a.signs = append(a.signs, p.ReplyTo)
		}
	}
	for _, c := range a.commands {
		first, again := 0, 0
		for _, p := range posts {
			switch {
			case len(p.Text) < len(c) || p.Text[:len(c)] != c:
			case p.Again:
				again++
			default:
				first++
			}
		}
		if first > 1 || first+again == 0 {
			a.Errorf("%q is said %d times, and %d times with the mark", c, first, again)
		}
	}
	for i, ev := range a.texts {
		if !slices.Contains(a.signs, ev.Message) && !slices.ContainsFunc(posts, func(p adapters.Post) bool { return a.covers(p, i) }) {
			a.Errorf("text %d, message %s, isn't answered", i, ev.Message)
		}
	}
	if a.Failed() {
		for _, p := range posts {
			a.Logf("to %s again %v %q%s", p.ReplyTo, p.Again, p.Text, p.Reaction)
		}
	}
}

// covers says whether a post answers a text, among others before the one that it answers.
func (a *answered) covers(p adapters.Post, text int) bool {
	last, texts := slices.IndexFunc(a.texts, func(ev intake.Event) bool { return ev.Message == p.ReplyTo }), 1
	_, _ = fmt.Sscanf(p.Text, "None of your last %d texts was typed.", &texts) // else it's of one
	return p.Reaction == "" && last >= text && last-texts < text
}
