package commands

import (
	"context"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/cards"
	"github.com/panebridge/panebridge/sessions"
)

// Options are what a Runner needs besides its Clerk.
type Options struct {
	Sessions Sessions
	Hub      Hub
	Store    Store
	// Conversations knows what agents can go on with; nil: nothing is known.
	Conversations Conversations
	// Interrupt returns the keys that end what a session's program is doing, one after the
	// other, by the profile of the program that runs in it. None, or a nil Interrupt: it
	// isn't known.
	Interrupt func(s sessions.Session) []string
	// Mail is the agents' mail; nil: there's none.
	Mail Mail
	// StateDir is the state folder, of which nothing is sent.
	StateDir string
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
	Focus(id sessions.ID)
	// At returns the bindings whose target is a place now, the oldest first, those
	// that don't work included.
	At(place adapters.Target) []adapters.Binding
	// RingAfter is how long a turn takes at least whose end rings where nobody but who asked for
	// it uses the place; 0: every end rings. It returns at once.
	RingAfter() time.Duration
	Bind(ctx context.Context, id sessions.ID, t adapters.Target, view adapters.View, input bool) (adapters.Binding, error)
	Unbind(ctx context.Context, id adapters.BindingID) error
	// Rest has a binding do nothing until it's woken: Rest with false.
	Rest(ctx context.Context, id adapters.BindingID, rest bool) error
	// Reopen has a thread opened on the platform that a person closed.
	Reopen(t adapters.Target) error
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

	commands map[string]command
	buttons  map[string]button
}

// NewRunner makes a Runner, which makes its Clerk.
func NewRunner(clerk cards.Options, opt Options) *Runner {
	r := &Runner{Options: opt, commands: map[string]command{}, buttons: buttons()}
	for _, c := range commands() {
		r.commands[c.Name] = c
	}
	// What Telegram writes for people who begin to talk to a bot
	// (core.telegram.org/bots/features#global-commands).
	r.commands["start"] = r.commands["help"]
	clerk.Sessions, clerk.Hub, clerk.Store = opt.Sessions, opt.Hub, opt.Store
	clerk.Handles = func(do string) bool { _, ok := r.buttons[do]; return ok }
	r.Clerk = cards.NewClerk(clerk)
	return r
}

// HandleButton has a button of a name, Offer.Do, do something. repeat says that it's done again if
// panebridge stopped while it was: it has the same effect as once. Call it before all else.
func (r *Runner) HandleButton(do string, repeat bool, run func(a *Ask) error) {
	r.buttons[do] = button{run: run, repeat: repeat}
}

// SessionsAt returns the living sessions that a place mirrors, of those bindings
// that are wanted.
func (r *Runner) SessionsAt(place adapters.Target, want func(adapters.Binding) bool) []sessions.Session {
	var out []sessions.Session
	for _, b := range r.Hub.At(place) {
		if !want(b) {
			continue
		}
		if s, err := r.Sessions.Get(string(b.Session)); err == nil && s.State != sessions.StateEnded {
			out = append(out, s)
		}
	}
	return out
}

// Result is what became of an event.
type Result struct {
	What    string // the command's name, the button's Do; "": neither
	Session sessions.ID
	Outcome string // in a word or two, for the audit log; "": nothing yet, it's to be tried again
}

// Refused is the result of what isn't done.
func Refused(why string) Result { return Result{Outcome: why} }
