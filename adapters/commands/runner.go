package commands

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/access"
	"github.com/panebridge/panebridge/adapters/cards"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/adapters/wording"
	"github.com/panebridge/panebridge/sessions"
)

// Options are what a Runner needs besides its Clerk.
type Options struct {
	Sessions Sessions
	Hub      Hub
	Store    Store
	Finder   LineFinder // nil: nothing can be searched
	// Conversations knows what agents can go on with; nil: nothing is known.
	Conversations Conversations
	// Interrupt returns the keys that end what a session's program is doing, one after the
	// other, by the profile of the program that runs in it. None, or a nil Interrupt: it
	// isn't known.
	Interrupt func(s sessions.Session) []string
	// Mail is the agents' mail; nil: there's none.
	Mail Mailbox
	// Devices are those of the page; nil: it's off.
	Devices Devices
	Diff    DiffOf // what sessions have changed; nil: it isn't told
	// Continuations has sessions go on when their limits are over; nil: none does.
	Continuations Continuations
	StateDir      string // the state folder, of which nothing is sent
	// Folders is the folder below which /new offers others; "": the home folder.
	Folders string
}

// Sessions is the registry of sessions, and the way into them.
type Sessions interface {
	cards.Sessions
	// Agents are the names of the programs that can be started, sorted.
	Agents() []string
	// SearchAgents says which of them were found, and where. Both look at files.
	SearchAgents() sessions.AgentSearch
	New(ctx context.Context, req sessions.NewRequest) (sessions.Session, error)
	Close(ctx context.Context, id sessions.ID) error
	// Restart starts a session's program anew, with its conversation if that can be; if
	// the session has ended, in another session, which it returns.
	Restart(ctx context.Context, id sessions.ID) (sessions.Session, error)
	// Rename gives a living session another name. sessions.ErrInvalid, or sessions.ErrConflict if another has it.
	Rename(ctx context.Context, id sessions.ID, name string) (sessions.Session, error)
	// Waiting returns a session's inputs that aren't done, in their order.
	Waiting(id sessions.ID) []sessions.Receipt
	// SendAnyway sends a text that only a dialog's phrase holds, on the screen that its
	// receipt's Quoted stood for. It returns when that's done, or surely isn't: within some
	// seconds. sessions.ErrConflict says why it isn't.
	SendAnyway(ctx context.Context, id, quoted, by string) (sessions.Receipt, error)
	// Revive begins the agent again that a held text was written to, in one of its
	// receipt's Revivals; else as SendAnyway.
	Revive(ctx context.Context, id, quoted, by string, way sessions.Revival) (sessions.Receipt, error)
	// Keys presses keys, named as tmux names them. sessions.ErrConflict says that a
	// dialog is in the way.
	Keys(ctx context.Context, id sessions.ID, p sessions.KeyPress) error
	Screen(ctx context.Context, id sessions.ID) (sessions.Screen, error)
	// Answer answers a question, and returns how it stands then: within some 10 s. The error is
	// sessions.ErrConflict if another's answer counts, or the question is closed: what's
	// returned says whose and why; sessions.ErrInvalid if it can't be answered so.
	Answer(ctx context.Context, id string, a sessions.Answer) (sessions.Prompt, error)
}

// Hub is the outbound half.
type Hub interface {
	cards.Hub
	FocusSession(id sessions.ID)
	// BindingsAt returns the bindings whose target is a place now, the oldest first, those
	// that don't work included.
	BindingsAt(place adapters.Target) []adapters.Binding
	// RingAfter is how long a turn takes at least whose end rings where nobody but who asked for
	// it uses the place; 0: every end rings. It returns at once.
	RingAfter() time.Duration
	Bind(ctx context.Context, id sessions.ID, t adapters.Target, view adapters.View, input bool) (adapters.Binding, error)
	// BindAs is Bind with a wish; what that doesn't say stays.
	BindAs(ctx context.Context, id sessions.ID, t adapters.Target, wish adapters.BindingWish) (adapters.Binding, error)
	Unbind(ctx context.Context, id adapters.BindingID) error
	// SetResting has a binding show and type nothing, or with false go on where it was.
	SetResting(ctx context.Context, id adapters.BindingID, rest bool) error
	// ReopenThread has a thread opened on the platform that a person closed.
	ReopenThread(t adapters.Target) error
}

// Store keeps what must be known after a restart, and the output logs.
type Store interface {
	cards.Store
	LogStore
}

// Runner does what people ask for by commands and buttons. It's safe for concurrent use.
type Runner struct {
	*cards.Clerk
	Options

	commands map[string]chatCommand
	buttons  map[string]buttonHandler
	sought   soughtTexts
}

// NewRunner makes a Runner and its Clerk. It starts nothing.
func NewRunner(clerk cards.Options, opt Options) *Runner {
	r := &Runner{Options: opt, commands: map[string]chatCommand{}, buttons: buttons()}
	for _, c := range chatCommands() {
		r.commands[c.Name] = c
	}
	// What Telegram writes for people who begin to talk to a bot
	// (core.telegram.org/bots/features#global-commands).
	r.commands["start"] = r.commands["help"]
	clerk.Sessions, clerk.Hub, clerk.Store = opt.Sessions, opt.Hub, opt.Store
	if opt.Continuations != nil {
		clerk.Continuations = opt.Continuations
	}
	clerk.Handles = func(do string) bool { _, ok := r.buttons[do]; return ok }
	r.Clerk = cards.NewClerk(clerk)
	return r
}

// HandleButton has buttons of a name, Offer.Do, call run. repeat says that run is called again if panebridge
// stopped in it: it has the same effect as once. Call it before all else.
func (r *Runner) HandleButton(do string, repeat bool, run func(a *Invocation) error) {
	r.buttons[do] = buttonHandler{run: run, repeat: repeat}
}

// SessionsAt returns the living sessions of the bindings of a place for which want returns true.
func (r *Runner) SessionsAt(place adapters.Target, want func(adapters.Binding) bool) []sessions.Session {
	var out []sessions.Session
	for _, b := range r.Hub.BindingsAt(place) {
		if !want(b) {
			continue
		}
		if s, err := r.Sessions.Get(string(b.Session)); err == nil && s.State != sessions.StateEnded {
			out = append(out, s)
		}
	}
	return out
}

// EventResult is what became of an event.
type EventResult struct {
	What    string // the command's name, the button's Do; "": neither
	Session sessions.ID
	Outcome string // in a word or two, for the audit log; "": nothing yet, it's to be tried again
	Undone  bool   // nothing of it is done, and the person was told why
}

// Refused returns the result of an event that isn't done.
func Refused(why string) EventResult { return EventResult{Outcome: why, Undone: true} }

// NamesSession reports whether a command's arguments name one of the sessions here.
func (r *Runner) NamesSession(ev intake.Event) bool {
	said, _ := ev.Action.(intake.Said)
	_, args, _ := intake.ReadCommand(said.Text)
	return slices.ContainsFunc(strings.Fields(args), func(word string) bool {
		_, err := r.Sessions.Get(word)
		return err == nil
	})
}

// RunCommand does what a line asks for that begins with "/". again says that it was begun before.
func (r *Runner) RunCommand(ctx context.Context, ev intake.Event, name, args string, roles access.Roles, again bool) (EventResult, error) {
	a := &Invocation{runner: r, Ctx: ctx, Event: ev, Roles: roles, args: args, Again: again}
	c, ok := r.commands[name]
	switch {
	case !ok:
		return Refused("unknown command"), a.replyText("There's no command /" + wording.Plain(name) + ". /help shows those there are; to pass it on to the session, write //" + wording.Plain(name) + ".")
	case !roles.Has(c.neededRole(ev)):
		return EventResult{What: name, Outcome: "role", Undone: true}, a.replyText("/" + wording.Plain(name) + " takes the role " + string(c.neededRole(ev)) + ".")
	case again && !c.repeat:
		return EventResult{What: name, Outcome: "unsure", Undone: true}, a.replyText("panebridge stopped while it did this. Look whether it's done before you send it again.")
	}
	if c.session {
		if err := a.chooseSession(); err != nil {
			return EventResult{What: name, Outcome: "no session", Undone: !errors.Is(err, errSeveralSessions)}, r.askWhichSession(a, name, err)
		}
	}
	d := EventResult{What: name, Session: a.Session.ID, Outcome: "done"}
	if err := c.invoke(a); err != nil {
		d.Outcome, d.Undone = "failed", true
		r.Log.Info("a command failed", "command", name, "target", ev.Place.String(), "err", err)
		return d, a.replyText(wording.Plain(wording.Sentence(err.Error())))
	}
	return d, nil
}

var (
	errNoSession       = errors.New("this place mirrors no session; name one, as /sessions shows them")
	errSeveralSessions = errors.New("this place mirrors several sessions")
)

// chooseSession finds the session that a command is about, and takes its name from the
// arguments.
func (a *Invocation) chooseSession() error {
	word, rest, _ := strings.Cut(a.args, " ")
	if word != "" {
		if s, err := a.runner.Sessions.Get(word); err == nil {
			a.Session, a.args = s, strings.TrimSpace(rest)
			return nil
		}
	}
	bound := a.runner.SessionsAt(a.Event.Place, func(b adapters.Binding) bool { return !b.Unbound })
	switch len(bound) {
	case 0:
		return errNoSession
	case 1:
		a.Session = bound[0]
		return nil
	default:
		return errSeveralSessions
	}
}

// askWhichSession says why there's no session, or asks which.
func (r *Runner) askWhichSession(a *Invocation, name string, why error) error {
	if !errors.Is(why, errSeveralSessions) {
		return a.replyText(wording.Plain(wording.Sentence(why.Error())))
	}
	err := a.AskWhich("Which session?", r.SessionsAt(a.Event.Place, func(b adapters.Binding) bool { return !b.Unbound }), cards.Offer{
		Do: "command", Args: name + " " + a.args, Person: a.Event.Person.ID, Single: true, Group: "which " + a.Event.Key,
	})
	if err != nil {
		return a.replyText(wording.Plain(wording.Sentence(err.Error())))
	}
	return nil
}

// AskWhich asks for one of several sessions, by a button each: o with the session filled in.
func (a *Invocation) AskWhich(question string, of []sessions.Session, o cards.Offer) error {
	const most = 24
	if len(of) > most {
		question += fmt.Sprintf(" These are the first %d of %d.", most, len(of))
	}
	var rows [][]adapters.Button
	for i, s := range of {
		if i == most {
			break
		}
		o.Session = s.ID
		rows = append(rows, []adapters.Button{a.makeOffer(s.Name, o)})
	}
	return a.replyText(question, rows...)
}

// runChosen runs a command for the session that was chosen.
func runChosen(a *Invocation) error {
	name, args, _ := strings.Cut(a.Offered.Args, " ")
	c, ok := a.runner.commands[name]
	if !ok {
		return fmt.Errorf("%w command /%s", sessions.ErrUnknown, name)
	}
	if need := c.neededRole(a.Event); !a.Roles.Has(need) {
		return fmt.Errorf("/%s takes the role %s", name, need)
	}
	a.args = strings.TrimSpace(args)
	return c.invoke(a)
}

// PressButton does what a pressed button stands for, and returns what became of it, for the audit log; with
// an error and no outcome it's to be tried again. again says that it was begun before.
func (r *Runner) PressButton(ctx context.Context, ev intake.Event, p intake.Pressed, roles access.Roles, again bool) (EventResult, error) {
	a := &Invocation{runner: r, Ctx: ctx, Event: ev, Roles: roles, Again: again}
	if u, ok := adapters.ReadUnfolding(p.Data); ok {
		return r.unfoldWork(a, u)
	}
	id := cards.OfferID(p.Data)
	if id == "" {
		return Refused("forged"), a.AnswerPress("This button isn't one of panebridge's.")
	}
	o, err := r.Store.Offer(ctx, id)
	if errors.Is(err, sessions.ErrUnknown) {
		return Refused("unknown offer"), a.AnswerPress("This button has expired.")
	}
	if err != nil {
		return EventResult{}, fmt.Errorf("look for an offer: %w", err)
	}
	d := EventResult{What: o.Do, Session: o.Session}
	o.Place = r.CurrentPlace(o.Place) // it may have been made while its chat moved
	if ev.Place == o.Place.WholeChat() {
		// Of a message that's too old, Telegram doesn't say in which topic it stands
		// (core.telegram.org/bots/api#inaccessiblemessage).
		ev.Place = o.Place
		a.Event = ev
	}
	if why, text := r.refusePress(ev, o, roles); why != "" {
		d.Outcome = why
		return d, a.AnswerPress(text)
	}
	do, ok := r.buttons[o.Do]
	if !ok {
		d.Outcome = "unknown handler"
		return d, a.AnswerPress("This button is of another version of panebridge; ask for a new one.")
	}
	if again && !do.repeat {
		d.Outcome = "unsure"
		return d, a.AnswerPress("panebridge stopped while it did this; look whether it's done.")
	}
	if o.Single {
		used, err := r.Store.TakeOffer(ctx, id, cards.OfferUse{Key: ev.Key, By: a.personName(), At: time.Now()})
		if err != nil {
			return EventResult{}, fmt.Errorf("use an offer: %w", err)
		}
		if used.Key != ev.Key {
			d.Outcome = "used"
			return d, a.AnswerPress("Already used by " + used.By + ".")
		}
	}
	a.Offered, a.args = o, o.Args
	if o.Session != "" {
		s, err := r.Sessions.Get(string(o.Session))
		if err != nil {
			d.Outcome = "no session"
			return d, a.AnswerPress("That session isn't there any more.")
		}
		a.Session = s
	}
	d.Outcome = "done"
	if err := do.run(a); err != nil {
		if do.repeat && errors.Is(err, sessions.ErrUnavailable) {
			return EventResult{}, err
		}
		d.Outcome = "failed"
		r.Log.Info("a pressed button failed", "do", o.Do, "target", ev.Place.String(), "err", err)
		return d, a.AnswerPress(wording.Sentence(err.Error()))
	}
	if !a.answered {
		r.answerPress(ctx, ev, "")
	}
	return d, nil
}

// refusePress says why a person may not press a button here and now, for the log and
// for the person; "": they may.
func (r *Runner) refusePress(ev intake.Event, o cards.Offer, roles access.Roles) (why, text string) {
	now := time.Now()
	switch {
	case o.Place != ev.Place:
		return "other place", "This button belongs to another chat."
	case !now.Before(o.Expires):
		return "expired", "This button has expired."
	case o.Person != "" && o.Person != ev.Person.ID:
		return "other person", "This button isn't for you."
	case o.Role != "" && !roles.Has(o.Role):
		return "role", "This takes the role " + string(o.Role) + "."
	case now.Sub(ev.At) > r.StaleAfter:
		return "stale", "It was pressed " + wording.Age(now.Sub(ev.At)) + " ago, while panebridge couldn't see it. Press it again."
	default:
		return "", ""
	}
}
