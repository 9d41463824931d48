package commands

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
	"github.com/panebridge/panebridge/adapters/cards"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/adapters/wording"
	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/sessions"
)

// writingFor is for how long somebody's next message is the answer to a question.
const writingFor = time.Hour

// sendAnswer answers a question, and returns what the person is told. An error says why
// nothing of it counts.
//
// Whose answer counts is the Manager's to say, for all platforms, the page and the
// keyboard alike. So the buttons of a question aren't used up when they're pressed: one
// whose press failed could never be answered by them again.
func (r *Runner) sendAnswer(ctx context.Context, ev intake.Event, id string, ans sessions.Answer) (string, error) {
	ans.Author, ans.Name, ans.Origin = ev.Person.ID, r.NameOf(ev.Person), ev.Place.String()
	p, err := r.Sessions.Answer(ctx, id, ans)
	switch {
	case errors.Is(err, sessions.ErrConflict) && p.Answer != nil && p.State == sessions.PromptAnswering:
		return "", fmt.Errorf("%s was first: %s", cards.WhoAnswered(*p.Answer), cards.ChosenText(p.Dialog, *p.Answer))
	case errors.Is(err, sessions.ErrConflict) && p.ID != "" && p.Final():
		return "", errors.New("this question is closed. " + cards.OutcomeText(p))
	case errors.Is(err, sessions.ErrUnknown):
		return "", errors.New("this question is closed")
	case err != nil:
		return "", fmt.Errorf("it isn't answered: %w", err)
	case p.State == sessions.PromptClosed:
		return "", errors.New("it isn't answered. " + cards.OutcomeText(p))
	default:
		if p.Dialog.Kind == sessions.PromptUnread {
			return "Pressed " + cards.ChosenText(p.Dialog, ans) + ".", nil
		}
		return "Answered: " + wording.FullStop(cards.ChosenText(p.Dialog, ans)), nil
	}
}

func (a *Invocation) sendAnswer(id string, ans sessions.Answer) error {
	text, err := a.runner.sendAnswer(a.Ctx, a.Event, id, ans)
	if err != nil {
		return err
	}
	return a.AnswerPress(text)
}

// promptArgs reads the arguments of an option's button.
func promptArgs(args string) (id string, option int, err error) {
	id, n, _ := strings.Cut(args, " ")
	option, err = strconv.Atoi(n)
	return id, option, err
}

// answerOption answers with one option.
func answerOption(a *Invocation) error {
	id, i, err := promptArgs(a.args)
	if err != nil {
		return err
	}
	return a.sendAnswer(id, sessions.Answer{Options: []int{i}})
}

// toggleOption chooses an option, or takes that back.
func toggleOption(a *Invocation) error {
	id, i, err := promptArgs(a.args)
	if err != nil {
		return err
	}
	found, err := a.runner.ChangeChosen(a.Ctx, id, a.Event, func(chosen []int) []int {
		if at := slices.Index(chosen, i); at >= 0 {
			return slices.Delete(slices.Clone(chosen), at, at+1)
		}
		return append(slices.Clone(chosen), i)
	})
	if !found {
		return a.runner.whyClosed(a.Ctx, id)
	}
	return err
}

// sendChosen answers with all that's chosen in the message.
func sendChosen(a *Invocation) error {
	var chosen []int
	found, err := a.runner.ChangeChosen(a.Ctx, a.args, a.Event, func(now []int) []int { chosen = slices.Clone(now); return now })
	switch {
	case !found:
		return a.runner.whyClosed(a.Ctx, a.args)
	case err != nil:
		return err
	}
	return a.sendAnswer(a.args, sessions.Answer{Options: chosen})
}

// whyClosed says why a question takes no answer.
func (r *Runner) whyClosed(ctx context.Context, id string) error {
	p, err := r.Sessions.Prompt(ctx, id)
	if err != nil || !p.Final() {
		return errors.New("this question is closed")
	}
	return errors.New("this question is closed. " + cards.OutcomeText(p))
}

// writeAnswer makes the person's next message in this place the answer.
func writeAnswer(a *Invocation) error {
	p, err := a.runner.Sessions.Prompt(a.Ctx, a.args)
	if err != nil || p.Final() {
		return a.runner.whyClosed(a.Ctx, a.args)
	}
	w := cards.AnswerWriter{Place: a.Event.Place, Person: a.Event.Person.ID, Prompt: p.ID, Expires: time.Now().Add(writingFor)}
	if err := a.runner.Store.PutAnswerWriter(a.Ctx, w); err != nil {
		return fmt.Errorf("%w: %w", sessions.ErrUnavailable, err)
	}
	cancel := a.makeOffer("Cancel", cards.Offer{Do: "write-cancel", Args: p.ID, Session: p.Session, Role: access.Approver, Person: w.Person, Expires: w.Expires})
	return a.replyText(
		fmt.Sprintf("%s, your next message here is the answer to %s.", wording.Bold(a.personName()), wording.Bold(a.Session.Name)),
		[]adapters.Button{cancel},
	)
}

// cancelWriting makes it an ordinary message again.
func cancelWriting(a *Invocation) error {
	if err := a.runner.Store.DropAnswerWriter(a.Ctx, a.Event.Place, a.Event.Person.ID); err != nil {
		return err
	}
	return a.ReplaceText("Canceled: what you write here isn't the answer.")
}

// AnswerQuestion takes a text as the answer to a question: it's a reply to the question's message, with
// numbers of options or a text, or its person has announced it. handled is false if it's neither.
func (r *Runner) AnswerQuestion(ctx context.Context, ev intake.Event, s intake.Said, roles access.Roles) (d EventResult, handled bool, err error) {
	w, err := r.Store.AnswerWriter(ctx, ev.Place, ev.Person.ID)
	id := w.Prompt
	switch {
	case errors.Is(err, sessions.ErrUnknown):
	case err != nil:
		return EventResult{}, false, fmt.Errorf("look whether a text is an answer: %w", err)
	case time.Now().After(w.Expires):
		id = ""
	}
	if id == "" && s.ReplyTo != "" {
		m, err := r.Store.PromptMessage(ctx, ev.Place.Adapter, ev.Place.Chat, s.ReplyTo)
		if err != nil && !errors.Is(err, sessions.ErrUnknown) {
			return EventResult{}, false, fmt.Errorf("look whether a text is an answer: %w", err)
		}
		id = m.Prompt
	}
	if id == "" {
		return EventResult{}, false, nil
	}
	p, err := r.Sessions.Prompt(ctx, id)
	if err != nil && !errors.Is(err, sessions.ErrUnknown) {
		return EventResult{}, false, fmt.Errorf("look for a question: %w", err)
	}
	if chosen, ok := r.OptionsIn(p, ev.Place, s.Text); ok && w.Prompt == "" && err == nil && !p.Final() {
		d, err = r.answerPrompt(ctx, ev, s, roles, p, sessions.Answer{Options: chosen})
		return d, true, err
	}
	if w.Prompt == "" && err == nil && !p.Final() && p.Dialog.Text == "" && p.Kind() != sessions.PromptInquiry {
		return EventResult{}, false, nil // it waits until the question is answered
	}
	text := strings.TrimSpace(s.Text)
	if strings.HasPrefix(text, "//") {
		text = text[1:]
	}
	p.ID = id
	d, err = r.answerPrompt(ctx, ev, s, roles, p, sessions.Answer{Text: text})
	if err == nil && w.Prompt != "" && d.Outcome != noText { // then what they write next still is
		err = r.Store.DropAnswerWriter(ctx, ev.Place, ev.Person.ID)
	}
	return d, true, err
}

// noText is the outcome of an answer that's a file, a voice note perhaps.
const noText = "file"

// answerPrompt answers a question with what was written, and says what came of it.
func (r *Runner) answerPrompt(ctx context.Context, ev intake.Event, s intake.Said, roles access.Roles, p sessions.Prompt, ans sessions.Answer) (EventResult, error) {
	d, may := EventResult{What: "answer", Undone: true}, cards.RoleToAnswer(p)
	var why string
	switch {
	case !roles.Has(may):
		why, d.Outcome = fmt.Sprintf("Answering takes the role %s.", may), "role"
	case time.Since(ev.At) > r.StaleAfter:
		why, d.Outcome = "It was written "+wording.Age(time.Since(ev.At))+" ago, while panebridge couldn't see it. Write it again.", "stale"
	case len(s.Files) > 0:
		why, d.Outcome = "A question takes a text alone.", noText
	}
	if why == "" {
		said, err := r.sendAnswer(ctx, ev, p.ID, ans)
		if ctx.Err() != nil || errors.Is(err, sessions.ErrUnavailable) {
			return EventResult{}, err
		}
		if err == nil {
			d.Outcome, d.Undone = "done", false
			r.ReplyText(ev, "answer", qos.Interactive, wording.Plain(said))
			return d, nil
		}
		why, d.Outcome = wording.Sentence(err.Error()), "failed"
	}
	r.ReplyText(ev, "answer", qos.Interactive, wording.Plain("Nothing was typed. "+why))
	return d, nil
}

// chosenOf reads what was chosen of a menu of choices: the question, the indexes that were
// in the menu, and those that were chosen, sorted.
func (a *Invocation) chosenOf() (id string, from, to int, chosen []int, err error) {
	id, in, _ := strings.Cut(a.args, " ")
	if _, err = fmt.Sscanf(in, "%d %d", &from, &to); err != nil {
		return id, 0, 0, nil, fmt.Errorf("read what a menu is about: %w", err)
	}
	p, err := a.runner.Sessions.Prompt(a.Ctx, id)
	if err != nil {
		return id, 0, 0, nil, a.runner.whyClosed(a.Ctx, id)
	}
	press, _ := a.Event.Action.(intake.Pressed)
	for _, value := range press.Chosen {
		i, err := strconv.Atoi(value)
		if err != nil || i < from || i > to || slices.Contains(chosen, i) || !slices.Contains(cards.OptionsShown(p.Dialog), i) {
			return id, 0, 0, nil, fmt.Errorf("%w: that isn't an option of this menu", sessions.ErrInvalid)
		}
		chosen = append(chosen, i)
	}
	slices.Sort(chosen)
	return id, from, to, chosen, nil
}

// answerChosen answers with the one option that was chosen of a menu.
func answerChosen(a *Invocation) error {
	id, _, _, chosen, err := a.chosenOf()
	switch {
	case err != nil:
		return err
	case len(chosen) != 1:
		return fmt.Errorf("%w: one option is to be chosen, not %d", sessions.ErrInvalid, len(chosen))
	}
	return a.sendAnswer(id, sessions.Answer{Options: chosen})
}

// chooseOptions has exactly those options of a menu be chosen that were.
func chooseOptions(a *Invocation) error {
	id, from, to, chosen, err := a.chosenOf()
	if err != nil {
		return err
	}
	found, err := a.runner.ChangeChosen(a.Ctx, id, a.Event, func(now []int) []int {
		others := slices.DeleteFunc(slices.Clone(now), func(i int) bool { return i >= from && i <= to })
		return append(others, chosen...)
	})
	if !found {
		return a.runner.whyClosed(a.Ctx, id)
	}
	return err
}

// reviveAgent begins the agent again that a held text was written to.
func reviveAgent(a *Invocation) error {
	args := strings.Fields(a.Offered.Args)
	if len(args) != 3 {
		return errors.New("this button says no way to begin the agent again")
	}
	_, err := a.runner.Sessions.Revive(a.Ctx, args[0], args[1], a.Event.Person.ID, sessions.Revival(args[2]))
	if refused, ok := errors.AsType[*sessions.RefusedError](err); ok {
		return errors.New(refused.Why)
	}
	if err != nil {
		return err
	}
	return a.AnswerPress("It's being started; your text follows when it takes it.")
}

// sendAnyway sends a text that only a dialog's words hold, on the screen that the button
// is for.
func sendAnyway(a *Invocation) error {
	receipt, quoted, ok := strings.Cut(a.Offered.Args, " ")
	if !ok {
		return errors.New("this button says no screen")
	}
	_, err := a.runner.Sessions.SendAnyway(a.Ctx, receipt, quoted, a.Event.Person.ID)
	if refused, ok := errors.AsType[*sessions.RefusedError](err); ok {
		return errors.New(refused.Why)
	}
	if err != nil {
		return err
	}
	return a.AnswerPress("Sent anyway.")
}

// takeBack takes an input back that isn't typed yet.
func takeBack(a *Invocation) error {
	_, err := a.runner.Sessions.Cancel(a.Ctx, a.Offered.Args)
	if errors.Is(err, sessions.ErrConflict) {
		return a.AnswerPress("It's too late for that.")
	}
	if err != nil {
		return err
	}
	return a.AnswerPress("Taken back.")
}
