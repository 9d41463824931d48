package app_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/standin"
	"github.com/panebridge/panebridge/sessions"
)

// standinCheck compares what programs did with what the daemon said.
type standinCheck struct {
	*standinRig
	counts map[string]int
	late   []time.Duration // from the end of a dialog until its prompt was closed
	found  []time.Duration // from its beginning until there was a prompt
	inChat []time.Duration // until its messages had no buttons
	bad    bool            // something was wrong with the program that's looked at
}

func newStandinCheck(r *standinRig) *standinCheck {
	return &standinCheck{standinRig: r, counts: map[string]int{}}
}

// stood is a dialog as the journal has it.
type stood struct {
	opened, shown, gone standin.Entry
	cleared             time.Time
	keys                []standin.Entry // of panebridge
	prompts             []*heardPrompt
}

func stoodOnes(all []standin.Entry) []*stood {
	by := map[int]*stood{}
	var out []*stood
	for _, e := range all {
		if e.Kind == standin.Opened {
			by[e.Dialog] = &stood{opened: e}
			out = append(out, by[e.Dialog])
		}
		s := by[e.Dialog]
		if s == nil {
			continue
		}
		switch e.Kind {
		case standin.Shown:
			s.shown = e
		case standin.Gone:
			s.gone = e
		case standin.Cleared:
			s.cleared = e.At
		case standin.Pressed:
			if !e.Person {
				s.keys = append(s.keys, e)
			}
		case standin.Opened, standin.Ready, standin.Submitted, standin.Refused, standin.Lost, standin.Left, standin.Done:
		}
	}
	return out
}

func (c *standinCheck) wrong(p *standinPlay, format string, args ...any) {
	c.Helper()
	c.bad = true
	c.Errorf("%s: %s", p.session.Name, fmt.Sprintf(format, args...))
}

func (c *standinCheck) check(p *standinPlay) {
	c.bad = false
	journal := p.journal()
	all := stoodOnes(journal)
	c.mu.Lock()
	for _, h := range c.order {
		if h.first.Session != p.session.ID {
			continue
		}
		i := slices.IndexFunc(all, func(s *stood) bool {
			return s.opened.Tag == tagOf(h.first) && s.opened.Title == h.first.Title
		})
		if i < 0 {
			c.wrong(p, "a prompt for no dialog: %q %q", h.first.Title, h.first.Body)
			continue
		}
		all[i].prompts = append(all[i].prompts, h)
	}
	c.mu.Unlock()
	for _, s := range all {
		c.checkFound(p, s)
		for _, h := range s.prompts {
			c.checkAnswer(p, s, h)
		}
		c.checkKeys(p, s)
	}
	c.checkBox(p, journal)
	c.checkInputs(p, journal)
	if c.bad {
		c.dump(p, journal)
	}
}

// checkFound sees to it that a dialog became a prompt that says what it says, and that it
// was closed in time.
func (c *standinCheck) checkFound(p *standinPlay, s *stood) {
	c.counts["dialogs"]++
	c.counts["of form "+s.opened.Form]++
	end := s.gone.At
	lived := end.Sub(s.shown.At)
	if s.shown.At.IsZero() {
		lived = 0
	}
	if len(s.prompts) == 0 {
		if lived >= 2*standinTick {
			c.wrong(p, "a dialog wasn't found that stood for %v: %+v", lived, s.opened)
		} else {
			c.counts["dialogs too short to be found"]++
		}
		return
	}
	c.counts["prompts"]++
	if s.prompts[0].first.Unseen {
		c.counts["prompts of which a part was seen"]++
	}
	if len(s.prompts) > 1 {
		c.wrong(p, "%d prompts for one dialog: %+v; the first was closed as %q", len(s.prompts), s.opened, s.prompts[0].last.Reason)
	}
	for _, h := range s.prompts {
		var labels []string
		for _, o := range h.first.Options {
			labels = append(labels, o.Label)
		}
		if !slices.Equal(labels, s.opened.Options) || h.first.Multi != s.opened.Multi || (h.first.Text != "") != s.opened.Takes {
			c.wrong(p, "the prompt has %q, multi %v, text %q; the dialog is %+v", labels, h.first.Multi, h.first.Text, s.opened)
		}
		if h.closed.IsZero() {
			c.wrong(p, "a prompt was never closed: %+v", h.last)
			continue
		}
		c.found = append(c.found, h.opened.Sub(s.shown.At))
		if late := h.closed.Sub(end); late > 0 {
			c.late = append(c.late, late)
			if late > closesWithin(h) {
				c.wrong(p, "a prompt was closed %v after its dialog: %q, %s %q", late, h.last.Title, h.last.State, h.last.Reason)
			}
		}
		c.checkChats(p, s, h)
	}
}

// closesWithin is when a prompt whose dialog is gone has to be closed.
func closesWithin(h *heardPrompt) time.Duration {
	if h.first.Unseen {
		return latestClose
	}
	return 2 * standinTick
}

// latestClose is for a prompt of which only a part was seen: three seconds more than for others,
// since its pane may be taller then, in which nobody else looks: 0.7 s until the reading sees that
// something else stands there, and 2 s in which the program may draw the question anew.
const latestClose = 2*standinTick + 3*time.Second

// checkAnswer compares what was answered with what the program took.
func (c *standinCheck) checkAnswer(p *standinPlay, s *stood, h *heardPrompt) {
	p.mu.Lock()
	a := p.acts[h.first.ID]
	p.mu.Unlock()
	byKeys := s.gone.By == standin.ByKeys
	if h.last.State != sessions.PromptAnswered {
		c.counts["closed: "+h.last.Reason]++
		return
	}
	c.counts["answered by "+a.how]++
	got := h.last.Answer
	switch {
	case got == nil:
		c.wrong(p, "an answer without what was answered: %+v", h.last)
	case !byKeys && s.gone.By != "":
		c.counts["answered, but gone by "+s.gone.By]++
		c.Logf("%s: answered %q, but the dialog went by %s: %+v", p.session.Name, got.Chosen, s.gone.By, s.opened)
	case a.text != "" && s.gone.Text != a.text, a.text == "" && !slices.Equal(s.gone.Chosen, inOrder(h.first, a.labels)):
		c.wrong(p, "asked for %q %q, the program took %q %q", a.labels, a.text, s.gone.Chosen, s.gone.Text)
	}
}

// inOrder are labels as the options stand.
func inOrder(ask api.Prompt, labels []string) []string {
	var out []string
	for _, o := range ask.Options {
		if slices.Contains(labels, o.Label) {
			out = append(out, o.Label)
		}
	}
	return out
}

// checkKeys sees to it that no key came to a dialog but for an answer to it.
func (c *standinCheck) checkKeys(p *standinPlay, s *stood) {
	for _, k := range s.keys {
		asked := false
		for _, h := range s.prompts {
			for _, span := range h.answering {
				// It's told after it's stored, and before a key is pressed.
				asked = asked || k.At.After(span.from.Add(-200*time.Millisecond)) && (span.to.IsZero() || k.At.Before(span.to.Add(200*time.Millisecond)))
			}
		}
		switch {
		case asked:
			c.counts["keys of answers"]++
		case k.Early:
			c.counts["keys sent before the dialog was to be seen"]++
			c.Logf("%s: %q came before it was to be seen that there is a dialog: %+v", p.session.Name, k.Key+k.Text, s.opened)
		default:
			c.wrong(p, "%q was pressed in a dialog, and nobody had answered: %+v", k.Key+k.Text, s.opened)
		}
	}
	if s.gone.By == standin.ByKeys && s.gone.Taken {
		if ok := slices.ContainsFunc(s.prompts, func(h *heardPrompt) bool { return len(h.answering) > 0 }); !ok {
			if s.gone.Early {
				c.counts["taken by keys sent before the dialog was to be seen"]++
			} else {
				c.wrong(p, "%q was taken, and nobody had answered: %+v", s.gone.Chosen, s.opened)
			}
		}
	}
}

// checkBox sees to it that no key of an answer came to the input box. A text whose beginning went to
// a dialog that nobody could see yet is taken out again by keys, and so is a digit that came when its dialog had just
// gone; those are of no answer.
func (c *standinCheck) checkBox(p *standinPlay, journal []standin.Entry) {
	ready, metDialog, astray := false, false, 0
	for _, e := range journal {
		if ready = ready || e.Kind == standin.Ready; !ready {
			continue // it's lost, or shows later: see checkInputs
		}
		if e.Kind != standin.Pressed || e.Person {
			continue
		}
		if e.Key == "paste" {
			metDialog, astray = e.Dialog != 0 && e.Early, 0
			continue
		}
		if e.Dialog != 0 || e.Key == "Enter" {
			continue
		}
		switch {
		case e.Early:
			astray++
			c.counts["keys sent before it was to be seen that the dialog had gone"]++
		case astray > 0 && e.Key == "BSpace":
			astray--
			c.counts["keys that took out such a key"]++
		case metDialog && slices.Contains([]string{"\x05", "C-u", "BSpace"}, e.Key):
			c.counts["keys that took out what was left of a text"]++
		default:
			c.wrong(p, "%q was pressed where no dialog was", e.Key)
		}
	}
}

// checkChats sees to it that a prompt's messages have no buttons any more, and since when.
func (c *standinCheck) checkChats(p *standinPlay, s *stood, h *heardPrompt) {
	for _, m := range c.telegram.Messages(c.forum) {
		if !m.From.IsBot || !m.There() || !shows(m.Text, h.first) {
			continue
		}
		c.counts["messages on Telegram"]++
		if len(m.Buttons) > 0 {
			c.wrong(p, "a message on Telegram still has buttons: %q", m.Text)
			continue
		}
		c.edited(p, s, h, m.At, m.EditedAt)
	}
	for _, m := range c.discord.Messages(p.thread()) {
		if !m.Author.Bot || !m.There() || !shows(m.Content, h.first) {
			continue
		}
		c.counts["messages on Discord"]++
		if len(m.Rows) > 0 {
			c.wrong(p, "a message on Discord still has buttons: %q", m.Content)
			continue
		}
		c.edited(p, s, h, m.At, m.EditedAt)
	}
}

// edited takes in when a message was closed. Nothing but the call that first shows a
// question may hold that up: calls to one message are made one after the other.
func (c *standinCheck) edited(p *standinPlay, s *stood, h *heardPrompt, sent, edited time.Time) {
	after := edited.Sub(s.gone.At)
	c.inChat = append(c.inChat, after)
	if most := closesWithin(h); after > most && edited.Sub(sent) > most {
		c.wrong(p, "a message was closed %v after its dialog, and %v after it was sent: %q", after, edited.Sub(sent), s.opened.Title)
	}
}

// report says how it went.
func (c *standinCheck) report() {
	var lines []string
	for what, n := range c.counts {
		lines = append(lines, fmt.Sprintf("%5d %s", n, what))
	}
	slices.SortFunc(lines, func(a, b string) int { return strings.Compare(a[6:], b[6:]) })
	c.Logf("\n%s", strings.Join(lines, "\n"))
	for what, d := range map[string][]time.Duration{"found after": c.found, "closed after": c.late, "closed in chats after": c.inChat} {
		if slices.Sort(d); len(d) > 0 {
			c.Logf("%s: median %v, most %v", what, d[len(d)/2].Round(time.Millisecond), d[len(d)-1].Round(time.Millisecond))
		}
	}
	if refused := c.telegram.Refusals(); len(refused) > 0 {
		c.Errorf("Telegram refused %d calls, the first: %+v", len(refused), refused[0])
	}
	if refused := c.discord.Refusals(); len(refused) > 0 {
		c.Errorf("Discord refused %d calls, the first: %+v", len(refused), refused[0])
	}
}

// dump logs a journal, beside what the daemon said.
func (c *standinCheck) dump(p *standinPlay, journal []standin.Entry) {
	var b strings.Builder
	for _, e := range journal {
		fmt.Fprintf(&b, "%s %-9s #%d %s %s%s%s %q %q early=%v person=%v\n", e.At.Format("05.000"), e.Kind, e.Dialog, e.Form, e.Tag, e.By, e.Key, e.Chosen, short(e.Text), e.Early, e.Person)
	}
	c.mu.Lock()
	for _, h := range c.order {
		if h.first.Session == p.session.ID {
			fmt.Fprintf(&b, "%s prompt %s %s %v unseen=%v until %s: %q\n", h.opened.Format("05.000"), h.first.ID, tagOf(h.first), h.states, h.first.Unseen, h.closed.Format("05.000"), h.last.Reason)
			if a := p.acts[h.first.ID]; a != nil {
				fmt.Fprintf(&b, "    %s at %s: %q %q, %v, %q\n", a.how, a.pressed.Format("05.000"), a.labels, a.text, a.err, a.told)
			}
		}
	}
	c.mu.Unlock()
	for _, in := range p.inputs {
		fmt.Fprintf(&b, "input by %s %q: %s %q %v; %q\n", in.from, short(in.text), in.receipt.State, in.receipt.Reason, in.err, p.toldOf(in))
	}
	c.Logf("%s, seed %d:\n%s", p.session.Name, p.play.Seed, b.String())
}

func short(s string) string {
	if len(s) > 60 {
		return s[:60] + "…" + strconv.Itoa(len(s))
	}
	return s
}
