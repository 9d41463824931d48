package discord_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters/discord/discordtest"
	"github.com/panebridge/panebridge/adapters/platformtest"
	"github.com/panebridge/panebridge/internal/drawtest"
)

// desks is a channel with threads as a working day needs it.
type desks struct{ *office }

func (d desks) Say(session string, bob bool, text string) error {
	person := d.ada
	if bob {
		person = d.bob
	}
	_, err := person.Say(d.thread(d.agents, session).ID, text)
	return err
}

func (d desks) Press(session, label string) error {
	for _, m := range slices.Backward(d.Messages(d.thread(d.agents, session).ID)) {
		for _, row := range m.Rows {
			for _, c := range row {
				if c.Label == label {
					_, err := d.ada.Press(m.ID, label)
					return err
				}
			}
		}
	}
	return errors.New("there's no such button")
}

func (d desks) Rings() []platformtest.Rang {
	var out []platformtest.Rang
	for _, r := range d.Server.Rings() {
		out = append(out, platformtest.Rang{At: r.At, Text: strings.ReplaceAll(r.Content, `\`, "")})
	}
	return out
}

func (d desks) Calls() (messages, edits int) {
	for _, c := range d.Server.Calls() {
		switch {
		case c.Refused():
		case c.Name == "CreateMessage":
			messages++
		case c.Name == "EditMessage":
			edits++
		}
	}
	return messages, edits
}

// 8 hours of work of 10 sessions: each ring has a cause that it tells, and each cause rings once.
// What they cost with ring_after: 0, too, is played with PANEBRIDGE_STRESS.
func TestAWorkingDayIsPeaceful(t *testing.T) {
	for seed := range drawtest.Seeds(t, drawtest.Times(10, 1, 1)) {
		for _, after := range []time.Duration{30 * time.Second, 0}[:drawtest.Times(2, 1, 1)] {
			dir := t.TempDir()
			inBubble(t, discordtest.Options{}, func(w *world) {
				o := w.office(w.agents, dir)
				o.Pinned, o.RingAfter, o.Rules[0].Input = true, after, true
				o.Open()
				defer func() { o.Close() }()
				peace := platformtest.WorkingDay(w.T, o.Office, desks{o}, seed, after)
				w.Logf("seed %d, ring_after %v: %s", seed, after, peace)
				w.noRefusals()
			})
		}
	}
}
