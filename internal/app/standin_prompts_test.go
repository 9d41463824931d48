package app_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/internal/standin"
)

// standinCounts are how many programs of each kind run at once, how often each is begun,
// and how many dialogs it begins and texts it gets each time.
func standinCounts() (atOnce, rounds, dialogs, inputs int) {
	if drawtest.Stressed() {
		return 3, 7, 10, 11
	}
	return 1, 1, 6, 5
}

// Agent programs ask questions at random moments, and people answer them in chats, over
// the API, at the keyboard or not at all, while the questions change under the answers
// and texts are sent. No key is pressed and no text typed that nobody asked for; every
// question is found, and closed everywhere; each text is submitted once, or it's said why
// not.
func checkPlayedPrograms(t *testing.T) {
	t.Helper()
	r := newStandinRig(t)
	atOnce, rounds, dialogs, inputs := standinCounts()
	random := drawtest.Rand(t, 0)
	if _, err := r.api.NewSession(r.ctx(), api.Create{Name: "keeps-the-server", Command: []string{"cat"}}); err != nil {
		t.Fatal(err)
	}
	c := newStandinCheck(r)
	for range rounds {
		var now []*standinPlay
		for range atOnce {
			for _, agent := range standin.Agents {
				now = append(now, r.play(agent, random.Uint64N(1<<40), dialogs))
			}
		}
		r.carryThrough(now, inputs)
		for _, p := range now {
			c.check(p)
			if err := r.api.CloseSession(r.ctx(), string(p.session.ID)); err != nil {
				t.Error(err)
			}
		}
	}
	c.report()
}

// carryThrough has people answer and write until all programs have asked all.
func (r *standinRig) carryThrough(now []*standinPlay, inputs int) {
	ctx, cancel := context.WithCancel(context.Background())
	var people, writers sync.WaitGroup
	for _, p := range now {
		writers.Go(func() { p.sendInputs(ctx, inputs) })
		people.Go(func() { p.answerPrompts(ctx) })
		people.Go(func() { p.tidyUp(ctx) })
	}
	writers.Wait()
	for _, p := range now {
		if !within(ctx, patience/2, p.over) {
			newStandinCheck(r).dump(p, p.journal())
			screen, _ := r.api.Screen(r.ctx(), p.session.Name, "text")
			r.Fatalf("%s isn't over within two minutes:\n%s", p.session.Name, screen)
		}
	}
	time.Sleep(latestClose + 2*standinTick) // it's said of all that it's closed
	cancel()
	people.Wait()
}

// over reports whether a program has asked all, and its texts are where they end.
func (p *standinPlay) over() bool {
	done := false
	open := 0
	for _, e := range p.journal() {
		switch e.Kind {
		case standin.Done:
			done = true
		case standin.Opened:
			open++
		case standin.Gone:
			open--
		case standin.Ready, standin.Shown, standin.Cleared, standin.Pressed, standin.Submitted, standin.Refused, standin.Left, standin.Lost:
		}
	}
	if !done || open > 0 {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, in := range p.inputs {
		if in.from == "api" && in.err == nil && !in.receipt.Final() {
			r, err := p.rig.api.Receipt(p.rig.ctx(), in.receipt.ID)
			if err == nil {
				in.receipt = r
			}
			if !in.receipt.Final() {
				return false
			}
		}
		if in.from != "api" && in.err == nil && !p.chatHasEnd(in) {
			return false
		}
	}
	return true
}
