package inbound

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/access"
	"github.com/panebridge/panebridge/adapters/cards"
	"github.com/panebridge/panebridge/adapters/commands"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/adapters/wording"
	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/sessions"
)

// handleText handles a new message of a known person. asked says that the person was
// asked already whether it's still to be done.
func (in *Inbound) handleText(ctx context.Context, ev intake.Event, s intake.Said, roles access.Roles, again, asked bool) (commands.EventResult, error) {
	stale := !asked && time.Since(ev.At) > in.opt.StaleAfter
	if name, args, ok := intake.ReadCommand(s.Text); ok {
		switch {
		case len(s.Files) > 0:
			in.ReplyText(ev, "hint", qos.Interactive, "A file goes to a session, not with a command. To pass the text on as it is, begin it with //.")
			return commands.Refused("command with a file"), nil
		case ev.Common:
			in.ReplyCommon(ev, "Several programs use this bot, so a command that's written as a text isn't done here. Choose it from the list of commands: then one of them does it.")
			return commands.Refused("common"), nil
		case stale:
			return in.askStale(ctx, ev, s)
		default:
			return in.RunCommand(ctx, ev, name, args, roles, again)
		}
	}
	if s.Text == "" && len(s.Files) == 0 {
		return commands.Refused("empty"), nil
	}
	if !asked {
		if d, handled, err := in.AnswerQuestion(ctx, ev, s, roles); handled || err != nil {
			return d, err
		}
		if d, handled, err := in.AnswerLetter(ctx, ev, s, roles); handled || err != nil {
			return d, err
		}
	}
	if !roles.Has(access.Operator) {
		if ev.Common {
			return commands.Refused("role"), nil // in the eyes of another they may have it
		}
		in.hintRole(ev)
		return commands.Refused("role"), nil
	}
	to, err := in.sessionsFor(ctx, ev, s)
	switch {
	case err != nil:
		return commands.EventResult{}, err
	case len(to) == 0 && ev.Common && !in.opt.Hub.Shape(ev.Place).OwnThread:
		return commands.Refused("common"), nil // another may show a session here
	case len(to) == 0:
		in.ReplyUntaken(ev, in.whyNoSession(ev), in.sharerOf(ev.Place.Adapter) != "")
		return commands.Refused("no session"), nil
	case stale:
		return in.askStale(ctx, ev, s)
	case len(to) > 1:
		return in.askSession(ctx, ev, s, to)
	default:
		return in.typeText(ctx, ev, s, to[0])
	}
}

// takesInput says whether what's written at a binding's target is typed.
func takesInput(b adapters.Binding) bool { return b.Input && b.Active() }

// sessionsFor finds the session that a text is for: the one of the place; of several
// the one whose output it answers; else all that it could be: where its thread isn't named, those too
// that can't be shown at the moment.
func (in *Inbound) sessionsFor(ctx context.Context, ev intake.Event, s intake.Said) ([]sessions.Session, error) {
	takes := takesInput
	if in.opt.Hub.IsUnnamed(ev.Place) {
		takes = func(b adapters.Binding) bool { return b.Input }
	}
	bound := in.SessionsAt(ev.Place, takes)
	if len(bound) < 2 || s.ReplyTo == "" {
		return bound, nil
	}
	id, err := in.opt.Store.MessageSession(ctx, ev.Place.Adapter, ev.Place.Chat, s.ReplyTo)
	if errors.Is(err, sessions.ErrUnknown) {
		var m cards.PromptMessage
		m, err = in.opt.Store.PromptMessage(ctx, ev.Place.Adapter, ev.Place.Chat, s.ReplyTo)
		id = m.Session
	}
	if err != nil && !errors.Is(err, sessions.ErrUnknown) {
		return nil, fmt.Errorf("look for the session that is answered: %w", err)
	}
	for _, b := range bound {
		if b.ID == id {
			return []sessions.Session{b}, nil
		}
	}
	return bound, nil
}

// whyNoSession says why a text goes to no session, and what to do.
func (in *Inbound) whyNoSession(ev intake.Event) string {
	place := ev.Place
	for _, b := range in.opt.Hub.BindingsAt(place) {
		switch {
		case b.Resting:
			return "This place rests because it was closed. /reopen lets it go on."
		case b.Disabled != "":
			return "This place mirrors nothing at the moment: " + wording.Plain(strings.TrimRight(b.Disabled, ".")) + ". /bind lets it go on."
		case b.Active() && !b.Input:
			return "This place shows a session, but what's written here isn't typed. /bind changes that."
		}
	}
	if ev.Common {
		return "No session takes what's written here: write in a session's own thread. /new begins one, /help shows the rest."
	}
	if other := in.sharerOf(place.Adapter); other != "" {
		return "No session of this panebridge is bound to this place. " + wording.Plain(other) + " shares its bot: if it shows a session here, it doesn't read what's written, and nothing was typed. End one of the two, or give each a bot of its own."
	}
	return "No session is bound to this place. /new begins one, /bind takes one that runs, /help shows the rest."
}

// sharerOf is who else uses a platform's bot, to begin a sentence with; "": nobody is known to.
func (in *Inbound) sharerOf(adapter string) string {
	if in.opt.Shared == nil {
		return ""
	}
	return in.opt.Shared(adapter)
}

// askedWhich is the outcome of a text that waits for its session.
const askedWhich = "asked which"

// askSession asks which of several sessions a text is for.
func (in *Inbound) askSession(ctx context.Context, ev intake.Event, s intake.Said, of []sessions.Session) (commands.EventResult, error) {
	if err := in.opt.Store.PutDeferred(ctx, cards.NewDeferredText(ev, s)); err != nil {
		return commands.EventResult{}, fmt.Errorf("keep a text until its session is known: %w", err)
	}
	a := in.NewInvocation(ctx, ev, nil)
	return commands.EventResult{Outcome: askedWhich}, a.AskWhich("Which session is this for? Next time answer one of its messages.", of, cards.Offer{
		Do: "input", Args: ev.Key, Role: access.Operator, Person: ev.Person.ID, Single: true, Group: "which " + ev.Key,
	})
}

// offeredText is the text that waits for a button to be pressed, where its place is now. If it's there no more, whoever pressed
// is told gone.
func (in *Inbound) offeredText(a *commands.Invocation, gone string) (w cards.DeferredText, found bool, err error) {
	w, err = in.opt.Store.Deferred(a.Ctx, a.Offered.Args)
	if errors.Is(err, sessions.ErrUnknown) {
		return w, false, a.AnswerPress(gone)
	}
	w.Place = a.Event.Place // its chat may have another id by now
	return w, err == nil, err
}

// inputChosen types a text into the session that was chosen.
func (in *Inbound) inputChosen(a *commands.Invocation) error {
	w, found, err := in.offeredText(a, "It was sent already.")
	if !found {
		return err
	}
	d, err := in.runWaiting(a, w, a.Session)
	switch {
	case err != nil:
		return err
	case d.Undone:
		return a.ReplaceText("Not typed.")
	}
	return a.ReplaceText("For " + wording.Plain(a.Session.Name) + ".")
}

// runWaiting types a text that waited, and forgets it.
func (in *Inbound) runWaiting(a *commands.Invocation, w cards.DeferredText, s sessions.Session) (commands.EventResult, error) {
	d, err := in.typeText(a.Ctx, w.Event(), w.Said, s)
	if d.Outcome == "" {
		return d, err
	}
	return d, errors.Join(err, in.opt.Store.DropDeferred(a.Ctx, w.Key))
}

// typeText has a text typed, with the paths of its files behind it.
func (in *Inbound) typeText(ctx context.Context, ev intake.Event, s intake.Said, to sessions.Session) (commands.EventResult, error) {
	if strings.HasPrefix(s.Text, "//") {
		s.Text = s.Text[1:]
	}
	switch {
	case in.isVoice(s):
		return in.typeVoice(ctx, ev, s, to)
	case len(s.Files) == 0:
		return in.typeAnswer(ctx, ev, s, s.Text, to)
	}
	paths, problem, err := in.saveFiles(ctx, ev, s.Files, to)
	if err != nil {
		return commands.EventResult{}, err
	}
	if problem != "" {
		return in.refuseFiles(ev, to, problem), nil
	}
	return in.typeAnswer(ctx, ev, s, withPaths(s.Text, paths), to)
}

// typeAnswer has a text typed, below what its message answers if that's asked for.
func (in *Inbound) typeAnswer(ctx context.Context, ev intake.Event, s intake.Said, text string, to sessions.Session) (commands.EventResult, error) {
	text, err := in.withQuote(ctx, ev, s, text, to)
	if err != nil {
		return commands.EventResult{}, err
	}
	return in.typeInput(ctx, ev, text, to)
}

// withPaths is a text with paths behind it, as they're typed.
func withPaths(text string, paths []string) string {
	for _, path := range paths {
		text += " " + quotedPath(path)
	}
	return strings.TrimSpace(text)
}

// refuseFiles says why files can't be had.
func (in *Inbound) refuseFiles(ev intake.Event, to sessions.Session, problem string) commands.EventResult {
	in.ReplyText(ev, "refused", qos.Interactive, "Nothing was typed. "+wording.Plain(problem))
	return commands.EventResult{Session: to.ID, Outcome: "file refused", Undone: true}
}

// typeInput has a text typed as it is.
func (in *Inbound) typeInput(ctx context.Context, ev intake.Event, text string, to sessions.Session) (commands.EventResult, error) {
	d := commands.EventResult{Session: to.ID}
	o := cards.InputOrigin{Key: ev.Key, Place: ev.Place, Message: ev.Message, Person: ev.Person.ID, Session: to.ID, At: ev.At}
	if err := in.opt.Store.AddOrigin(ctx, o); err != nil {
		return commands.EventResult{}, fmt.Errorf("keep where a text came from: %w", err)
	}
	r, err := in.opt.Sessions.Input(ctx, to.ID, sessions.InputRequest{
		Text: text, Submit: true, Author: ev.Person.ID, Name: in.NameOf(ev.Person), Origin: ev.Place.String(), Key: ev.Key,
	})
	switch {
	case errors.Is(err, sessions.ErrUnavailable), ctx.Err() != nil && err != nil:
		return commands.EventResult{}, fmt.Errorf("type into %s: %w", to.ID, err)
	case err != nil:
		in.ReplyText(ev, "refused", qos.Interactive, "Not typed. "+wording.Plain(wording.Sentence(err.Error())))
		d.Outcome, d.Undone = "refused", true
		return d, in.opt.Store.DropOrigin(ctx, ev.Key)
	}
	in.opt.Hub.FocusSession(to.ID)
	in.HandleReceipt(r)
	d.Outcome = r.ID
	return d, nil
}

// roleHintEvery is the least time between two times that a person is told in a place that it takes a role to type.
const roleHintEvery = time.Hour

// hintRole tells a person that they may not type, unless they were told lately.
func (in *Inbound) hintRole(ev intake.Event) {
	if in.roleHints.Due(ev.Place.String()+" "+ev.Person.ID, time.Now()) {
		in.ReplyText(ev, "hint", qos.Interactive, "You may look here, but not type: that takes the role operator.")
	}
}

const (
	// earlyFor is for how long a changed text waits for its message, and maxEarly how many do.
	earlyFor = 10 * time.Minute
	maxEarly = 100
)

// early are texts that were changed before it's known that they were written: platforms may
// say the one before the other. What's typed then is what stands there. A restart forgets them.
type early struct {
	mu    sync.Mutex
	texts map[earlyKey]earlyText
}

type earlyKey struct {
	place           adapters.Target
	person, message string
}

type earlyText struct {
	text string
	at   time.Time
}

// keepText has a changed text wait for its message. When there are too many those before are forgotten.
func (e *early) keepText(ev intake.Event, text string, now time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for k, t := range e.texts {
		if now.Sub(t.at) >= earlyFor {
			delete(e.texts, k)
		}
	}
	if e.texts == nil || len(e.texts) >= maxEarly {
		e.texts = map[earlyKey]earlyText{}
	}
	e.texts[earlyKey{ev.Place, ev.Person.ID, ev.Message}] = earlyText{text, now}
}

// latestText is a new message as it was changed before it came.
func (e *early) latestText(ev intake.Event) intake.Event {
	said, ok := ev.Action.(intake.Said)
	if !ok {
		return ev
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if t, ok := e.texts[earlyKey{ev.Place, ev.Person.ID, ev.Message}]; ok {
		said.Text = t.text
		ev.Action = said
	}
	return ev
}

// askStale asks whether an old message is still to be done.
func (in *Inbound) askStale(ctx context.Context, ev intake.Event, s intake.Said) (commands.EventResult, error) {
	w := cards.NewDeferredText(ev, s)
	if err := in.opt.Store.PutDeferred(ctx, w); err != nil {
		return commands.EventResult{}, fmt.Errorf("keep an old message until it's wanted: %w", err)
	}
	post, err := in.StalePost(ctx, w, "This is "+wording.Age(time.Since(ev.At))+" old: panebridge couldn't see it before. Run it now?")
	if err != nil {
		return commands.EventResult{}, err
	}
	return commands.EventResult{Outcome: "asked stale"}, in.PostReply(ev, post)
}

// runStale does what an old message asked for.
func (in *Inbound) runStale(a *commands.Invocation) error {
	w, found, err := in.offeredText(a, "It was run or skipped already.")
	if !found {
		return err
	}
	if w.Session != "" {
		s, err := in.opt.Sessions.Get(string(w.Session))
		if err != nil {
			return err
		}
		if !a.Roles.Has(access.Operator) {
			return errors.New("typing takes the role operator")
		}
		d, err := in.runWaiting(a, w, s)
		if err != nil {
			return err
		}
		return a.ReplaceText(ranText(d))
	}
	d, err := in.handleText(a.Ctx, w.Event(), w.Said, a.Roles, a.Again, true)
	if d.Outcome == "" {
		return err
	}
	if d.Outcome != askedWhich { // then it waits for the session
		err = errors.Join(err, in.opt.Store.DropDeferred(a.Ctx, w.Key))
	}
	return errors.Join(err, a.ReplaceText(ranText(d)))
}

// ranText says what became of an old message that was wanted still.
func ranText(d commands.EventResult) string {
	if d.Undone {
		return "Not run."
	}
	return "Run."
}

// skipStale forgets an old message.
func (in *Inbound) skipStale(a *commands.Invocation) error {
	if err := in.opt.Store.DropDeferred(a.Ctx, a.Offered.Args); err != nil {
		return err
	}
	return a.ReplaceText("Skipped.")
}
