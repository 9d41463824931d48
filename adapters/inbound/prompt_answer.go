package inbound

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/access"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/adapters/wording"
	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/sessions"
)

// writingFor is for how long somebody's next message is the answer to a question.
const writingFor = time.Hour

// give answers a question, and returns what the person is told. An error says why
// nothing of it counts.
//
// Whose answer counts is the Manager's to say, for all platforms, the page and the
// keyboard alike. So the buttons of a question aren't used up when they're pressed: one
// whose press failed could never be answered by them again.
func (in *Inbound) give(ctx context.Context, ev intake.Event, id string, ans sessions.Answer) (string, error) {
	ans.Author, ans.Name, ans.Origin = ev.Person.ID, in.NameOf(ev.Person), ev.Place.String()
	p, err := in.opt.Sessions.Answer(ctx, id, ans)
	switch {
	case errors.Is(err, sessions.ErrConflict) && p.Answer != nil && p.State == sessions.PromptAnswering:
		return "", fmt.Errorf("%s was first: %s", whoAnswered(*p.Answer), chosen(p.Dialog, *p.Answer))
	case errors.Is(err, sessions.ErrConflict) && p.ID != "" && p.Final():
		return "", errors.New("this question is closed. " + became(p))
	case errors.Is(err, sessions.ErrUnknown):
		return "", errors.New("this question is closed")
	case err != nil:
		return "", fmt.Errorf("it isn't answered: %w", err)
	case p.State == sessions.PromptClosed:
		return "", errors.New("it isn't answered. " + became(p))
	default:
		if p.Dialog.Kind == sessions.PromptUnread {
			return "Pressed " + chosen(p.Dialog, ans) + ".", nil
		}
		return "Answered: " + wording.FullStop(chosen(p.Dialog, ans)), nil
	}
}

func (a *ask) give(id string, ans sessions.Answer) error {
	text, err := a.in.give(a.ctx, a.event, id, ans)
	if err != nil {
		return err
	}
	return a.answer(text)
}

// promptArgs reads the arguments of an option's button.
func promptArgs(args string) (id string, option int, err error) {
	id, n, _ := strings.Cut(args, " ")
	option, err = strconv.Atoi(n)
	return id, option, err
}

// answerOption answers with one option.
func answerOption(a *ask) error {
	id, i, err := promptArgs(a.args)
	if err != nil {
		return err
	}
	return a.give(id, sessions.Answer{Options: []int{i}})
}

// toggleOption chooses an option, or takes that back.
func toggleOption(a *ask) error {
	id, i, err := promptArgs(a.args)
	if err != nil {
		return err
	}
	found := a.in.prompts.change(id, a.event, func(m *shown) {
		if at := slices.Index(m.Checked, i); at >= 0 {
			m.Checked = slices.Delete(slices.Clone(m.Checked), at, at+1)
		} else {
			m.Checked = append(slices.Clone(m.Checked), i)
			slices.Sort(m.Checked)
		}
	})
	if !found {
		return a.in.whyClosed(a.ctx, id)
	}
	return nil
}

// sendChosen answers with all that's chosen in the message.
func sendChosen(a *ask) error {
	var checked []int
	if !a.in.prompts.change(a.args, a.event, func(m *shown) { checked = slices.Clone(m.Checked) }) {
		return a.in.whyClosed(a.ctx, a.args)
	}
	return a.give(a.args, sessions.Answer{Options: checked})
}

// change changes the message of an open question below which a button was pressed, and
// says whether there's one.
func (ps *prompts) change(id string, press intake.Event, change func(*shown)) (found bool) {
	ps.leave(func(ps *prompts) {
		a := ps.asked[id]
		if a == nil || a.Final() {
			return
		}
		for at, m := range a.messages {
			if at.kind != PromptReminded && at.place == press.Place {
				change(m)
				found = true
				return
			}
		}
	})
	return found
}

// whyClosed says why a question takes no answer.
func (in *Inbound) whyClosed(ctx context.Context, id string) error {
	p, err := in.opt.Sessions.Prompt(ctx, id)
	if err != nil || !p.Final() {
		return errors.New("this question is closed")
	}
	return errors.New("this question is closed. " + became(p))
}

// writeAnswer makes the person's next message in this place the answer.
func writeAnswer(a *ask) error {
	p, err := a.in.opt.Sessions.Prompt(a.ctx, a.args)
	if err != nil || p.Final() {
		return a.in.whyClosed(a.ctx, a.args)
	}
	w := Writer{Place: a.event.Place, Person: a.event.Person.ID, Prompt: p.ID, Expires: time.Now().Add(writingFor)}
	if err := a.in.opt.Store.PutWriter(a.ctx, w); err != nil {
		return fmt.Errorf("%w: %w", sessions.ErrUnavailable, err)
	}
	cancel, err := a.offer("Cancel", offer{Do: "write-cancel", Args: p.ID, Session: p.Session, Role: access.Approver, Person: w.Person, Expires: w.Expires})
	if err != nil {
		return err
	}
	return a.reply(
		fmt.Sprintf("%s, your next message here is the answer to %s.", wording.Bold(a.who()), wording.Bold(a.session.Name)),
		[]adapters.Button{cancel},
	)
}

// cancelWriting makes it an ordinary message again.
func cancelWriting(a *ask) error {
	if err := a.in.opt.Store.DropWriter(a.ctx, a.event.Place, a.event.Person.ID); err != nil {
		return err
	}
	return a.replace("Canceled: what you write here isn't the answer.")
}

// answerFrom takes a text as the answer to a question: it answers the question's
// message, with the numbers of options or a text, or its person has said that it's one. handled is false if it's neither.
func (in *Inbound) answerFrom(ctx context.Context, ev intake.Event, s intake.Said, roles access.Roles) (d done, handled bool, err error) {
	w, err := in.opt.Store.Writer(ctx, ev.Place, ev.Person.ID)
	id := w.Prompt
	switch {
	case errors.Is(err, sessions.ErrUnknown):
	case err != nil:
		return done{}, false, fmt.Errorf("look whether a text is an answer: %w", err)
	case time.Now().After(w.Expires):
		id = ""
	}
	if id == "" && s.ReplyTo != "" {
		m, err := in.opt.Store.PromptMessage(ctx, ev.Place.Adapter, ev.Place.Chat, s.ReplyTo)
		if err != nil && !errors.Is(err, sessions.ErrUnknown) {
			return done{}, false, fmt.Errorf("look whether a text is an answer: %w", err)
		}
		id = m.Prompt
	}
	if id == "" {
		return done{}, false, nil
	}
	p, err := in.opt.Sessions.Prompt(ctx, id)
	if err != nil && !errors.Is(err, sessions.ErrUnknown) {
		return done{}, false, fmt.Errorf("look for a question: %w", err)
	}
	if chosen, ok := in.optionsOf(p, ev.Place, s.Text); ok && w.Prompt == "" && err == nil && !p.Final() {
		d, err = in.answerWith(ctx, ev, s, roles, p, sessions.Answer{Options: chosen})
		return d, true, err
	}
	if w.Prompt == "" && err == nil && !p.Final() && p.Dialog.Text == "" {
		return done{}, false, nil // it waits until the question is answered
	}
	text := strings.TrimSpace(s.Text)
	if strings.HasPrefix(text, "//") {
		text = text[1:]
	}
	p.ID = id
	d, err = in.answerWith(ctx, ev, s, roles, p, sessions.Answer{Text: text})
	if err == nil && w.Prompt != "" {
		err = in.opt.Store.DropWriter(ctx, ev.Place, ev.Person.ID)
	}
	return d, true, err
}

// answerWith answers a question with what was written, and says what came of it.
func (in *Inbound) answerWith(ctx context.Context, ev intake.Event, s intake.Said, roles access.Roles, p sessions.Prompt, ans sessions.Answer) (done, error) {
	d, may := done{what: "answer"}, answerRole(p)
	var why string
	switch {
	case !roles.Has(may):
		why, d.outcome = fmt.Sprintf("Answering takes the role %s.", may), "role"
	case time.Since(ev.At) > in.opt.StaleAfter:
		why, d.outcome = "It was written "+wording.Age(time.Since(ev.At))+" ago, while panebridge couldn't see it. Write it again.", "stale"
	case len(s.Files) > 0:
		why, d.outcome = "A question takes a text alone.", "file"
	}
	if why == "" {
		said, err := in.give(ctx, ev, p.ID, ans)
		if ctx.Err() != nil || errors.Is(err, sessions.ErrUnavailable) {
			return done{}, err
		}
		if err == nil {
			d.outcome = "done"
			in.say(ev, "answer", qos.Interactive, wording.Plain(said))
			return d, nil
		}
		why, d.outcome = wording.Sentence(err.Error()), "failed"
	}
	in.say(ev, "answer", qos.Interactive, wording.Plain("Nothing was typed. "+why))
	return d, nil
}

// question points to the open question of a session in a place, as a sentence in
// Markdown, and has it shown there if it isn't. "": none is open.
func (in *Inbound) question(place adapters.Target, id sessions.ID) string {
	for _, p := range in.opt.Sessions.Prompts() {
		if p.Session != id || p.Kind() == sessions.PromptCall || p.Kind() == sessions.PromptLine {
			continue
		}
		message := ""
		in.prompts.leave(func(ps *prompts) {
			a := ps.asked[p.ID]
			if a == nil {
				a = newAsked(p)
				ps.asked[p.ID] = a
			}
			a.message(place, PromptAsked, time.Now())
			message = a.messages[spot{place, PromptAsked}].Message
		})
		what := "the question"
		if p.Dialog.Title != "" {
			what = "“" + wording.Plain(wording.CutEnd(wording.OneLine(p.Dialog.Title), maxButton)) + "”"
		}
		if pf := in.platforms[place.Adapter]; pf != nil && message != "" {
			if link := pf.Link(place, message); link != "" {
				what = "[" + what + "](<" + link + ">)"
			}
		}
		return "Answer " + what + " first."
	}
	return ""
}

// asksLine says whether a session asks for a line, which any text and key is for.
func (in *Inbound) asksLine(id sessions.ID) bool {
	return slices.ContainsFunc(in.opt.Sessions.Prompts(), func(p sessions.Prompt) bool {
		return p.Session == id && p.Kind() == sessions.PromptLine
	})
}

// asksNow says whether a session has an open question that can be answered.
func (in *Inbound) asksNow(id sessions.ID) bool {
	return slices.ContainsFunc(in.opt.Sessions.Prompts(), func(p sessions.Prompt) bool {
		return p.Session == id && p.Kind() != sessions.PromptCall
	})
}
