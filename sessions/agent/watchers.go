package agent

import (
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/panebridge/panebridge/sessions"
	"github.com/panebridge/panebridge/sessions/transcript"
)

// ProcessTable looks at the processes of this host: Processes does.
type ProcessTable interface {
	// Group is the process group that has the foreground of the terminal of process pid;
	// 0: it isn't known.
	Group(pid int) int
	// Rest reports whether all that has the foreground of the terminal of process pid
	// sleeps for a time, or until another process ends: none of it waits for input.
	Rest(pid int) bool
	// Foreground returns the processes that a person at the terminal of process pid
	// talks to, the leader first; more: those besides the leader too.
	Foreground(pid int, more bool) []Process
	// Alive reports whether a process still runs there.
	Alive(p Process) bool
	Get(pid int) (Process, bool)
}

// Options configure Watchers.
type Options struct {
	Profiles  *Set
	Processes ProcessTable
	// Choose makes something the source of a session's text: sessions.Manager's.
	Choose func(id sessions.ID, src sessions.Source) error
	// LookNow wakes a session's poller, which looks at the pane at once.
	LookNow func(id sessions.ID)
	// Made takes in that a program has carried out a call, by its record; nil: nobody asks. It
	// doesn't block.
	Made func(id sessions.ID, call string)
	// Reads tells of the terminal of a pane that was just looked at. Nil: nothing is known of
	// it.
	Reads func(s *sessions.Snapshot) Reading
	// Prompts are the shells' prompts, each anchored at the beginning of a line:
	// polling.NewPrompts makes them. Without them only a shell that marks its prompts can
	// be read.
	Prompts []*regexp.Regexp
	Logger  *slog.Logger
}

// Watchers have one Observer for each session that's read, and hand each hook to
// the one that it's about.
type Watchers struct {
	opt Options

	mu        sync.Mutex
	observers map[sessions.ID]*Observer
	listeners map[sessions.ID][]*func(News)
	relink    chan struct{} // wakes Run
}

// NewWatchers returns watchers of no session yet.
func NewWatchers(opt Options) *Watchers {
	if opt.Logger == nil {
		opt.Logger = slog.New(slog.DiscardHandler)
	}
	return &Watchers{opt: opt, observers: map[sessions.ID]*Observer{}, listeners: map[sessions.ID][]*func(News){}, relink: make(chan struct{}, 1)}
}

// Observe makes the observer of a session that's about to be read. profile names
// that of the program that was started in it; "": it's to be found out. kept is what
// the session's last observer wanted kept.
func (w *Watchers) Observe(s sessions.Session, profile string, kept []byte) (*Observer, error) {
	o, err := newObserver(w, s, profile, kept)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	w.observers[s.ID] = o
	w.mu.Unlock()
	return o, nil
}

// forgetObserver takes away an observer that was closed, if no other has its place.
func (w *Watchers) forgetObserver(o *Observer) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.observers[o.session.ID] == o {
		delete(w.observers, o.session.ID)
	}
	w.wakeLinks()
}

// Hook hands a hook to the session that it's about; false: none is known.
func (w *Watchers) Hook(h Hook) bool {
	w.mu.Lock()
	o := w.observerOf(h)
	w.mu.Unlock()
	if o == nil {
		w.opt.Logger.Debug("a hook of no session", "agent", h.Agent, "event", h.Event, "cwd", h.Cwd)
		return false
	}
	o.takeHook(h)
	if made := o.callMade(h); made != "" && w.opt.Made != nil {
		w.opt.Made(o.session.ID, made)
	}
	h.Input = nil
	w.tellWatchers(o.session.ID, News{At: h.At, Hook: &h})
	w.opt.LookNow(o.session.ID)
	return true
}

// observerOf finds the session of a hook, by what is surest first: the processes above
// the hook, what it says of its conversation, and where it ran. Codex' hooks run below
// a daemon that all panes share: the conversation is surer there, and where it ran says
// nothing.
func (w *Watchers) observerOf(h Hook) *Observer {
	p := w.opt.Profiles.Get(h.Agent)
	shared := p != nil && p.Format() == transcript.Codex
	if shared {
		if o := w.ofConversation(h); o != nil {
			return o
		}
	}
	for _, pid := range h.PIDs { // nearest first: an agent may run below another
		for _, o := range w.observers {
			if o.hasProcess(pid) {
				return o
			}
		}
	}
	if shared {
		return nil
	}
	if o := w.ofConversation(h); o != nil {
		return o
	}
	if o := w.observers[sessions.ID(h.Session)]; o != nil {
		return o
	}
	for _, o := range w.observers {
		if h.Pane != "" && o.session.Pane.ID == h.Pane && o.session.Pane.Identity.PID == h.TmuxPID {
			return o
		}
	}
	return nil
}

// ofConversation is the observer that reads a hook's conversation; nil: none does.
func (w *Watchers) ofConversation(h Hook) *Observer {
	for _, o := range w.observers {
		ref := o.readsTranscript()
		if ref != nil && (h.Transcript != "" && ref.Path == h.Transcript || h.Conversation != "" && ref.Session == h.Conversation) {
			return o
		}
	}
	return nil
}

// observerNews is what other goroutines may ask of an observer.
type observerNews struct {
	mu      sync.Mutex
	hooks   []Hook // that came since the last look
	ref     *transcript.Ref
	told    string    // path of the transcript that a hook told of last
	pids    []int     // the pane's process and the program's
	screen  string    // letters of a program without a transcript: on its screen, and typed into it
	cwd     string    // of that program
	heard   *HookSeen // the last hook that came; nil: none
	insight Insight
	process Process
	// deciders are hooks that wait, each for its dialog to be answered.
	deciders []*decider
	replies  []*replied // of which is yet to come what came of them
	settled  []string   // requests that were answered lately: what's told of them comes too late
	calls    calls
	lately   []toldCall // that were asked about, the oldest first
	standing standing   // the dialog on the screen
	raw      rawCalls   // calls that may be drawn otherwise than they are
	asked    string     // letters of the dialog on the screen
	// askedCall is its call as it's recorded; "": none is known to be.
	askedCall string
	read      string   // the call of the dialog that Read had whole last; "": none since one has gone
	dialogs   *Profile // by which its dialogs are read; nil: it wasn't looked at yet
	unread    unread   // how those are looked for that it doesn't know
	serving   serving  // of what its agent's server may tell
}

// maxHooks bounds what waits for a look: more than a look's time brings.
const maxHooks = 256

func (o *Observer) takeHook(h Hook) {
	o.known.mu.Lock()
	defer o.known.mu.Unlock()
	o.known.noteHook(h)
	o.known.noteTold(h)
	if !o.known.tooLate(h) {
		o.known.calls.noteHook(h)
	}
	o.known.heardReply(h)
	o.known.calls.dropAnswered(o.known.askedCall)
	h.Input = nil // it may be long, and has been taken in
	if h.announces() && h.Transcript != "" {
		o.known.told = h.Transcript
	}
	if len(o.known.hooks) < maxHooks {
		o.known.hooks = append(o.known.hooks, h)
	}
}

// takenHooks are the hooks since the last look, in the order in which they were called.
func (o *Observer) takenHooks() []Hook {
	o.known.mu.Lock()
	defer o.known.mu.Unlock()
	hooks := o.known.hooks
	o.known.hooks = nil
	slices.SortStableFunc(hooks, func(a, b Hook) int { return a.At.Compare(b.At) })
	return hooks
}

func (o *Observer) hasProcess(pid int) bool {
	o.known.mu.Lock()
	defer o.known.mu.Unlock()
	return slices.Contains(o.known.pids, pid)
}

func (o *Observer) readsTranscript() *transcript.Ref {
	o.known.mu.Lock()
	defer o.known.mu.Unlock()
	return o.known.ref
}

// publishNews has other goroutines know what the poller's goroutine found out.
func (o *Observer) publishNews(pane int) {
	o.known.mu.Lock()
	defer o.known.mu.Unlock()
	if pane > 0 {
		o.known.pids = []int{pane}
	} else if len(o.known.pids) > 1 {
		o.known.pids = o.known.pids[:1]
	}
	if o.program != nil && o.program.process.PID > 0 {
		o.known.pids = append(o.known.pids, o.program.process.PID)
	}
	o.known.insight, o.known.process = o.insight()
	o.known.dialogs = o.profile()
	if now := o.serves(); now != o.known.serving {
		o.known.serving = now
		o.w.wakeLinks()
	}
	o.known.ref = nil
	if o.program == nil || o.program.reader != nil {
		o.known.screen, o.known.cwd = "", ""
	}
	if o.program == nil {
		o.known.told = ""
	}
	if o.program != nil && o.program.reader != nil {
		ref := o.program.reader.Ref()
		o.known.ref = &ref
	}
}

// publishScreen has others know what a program without a transcript shows.
func (o *Observer) publishScreen(s *sessions.Snapshot) {
	if o.program.reader != nil {
		return
	}
	o.known.mu.Lock()
	defer o.known.mu.Unlock()
	o.known.screen = screenLetters(s) + "\n" + strings.Join(o.typed, "\n")
	o.known.cwd = o.program.process.Cwd
}

// othersHave reports whether a transcript is another program's, as far as that's known:
// it's read, a hook told of it, or what was asked stands also on the screen of another
// in the same folder that has no transcript yet.
func (w *Watchers) othersHave(o *Observer, c transcript.Candidate) bool {
	l := letters(c.LastUser)
	return w.isTrueOfOther(o, func(other *observerNews) bool {
		if other.ref != nil && sameRef(*other.ref, c.Ref) || c.Ref.Format != transcript.OpenCode && other.told == c.Ref.Path {
			return true
		}
		return other.cwd == o.program.process.Cwd && onScreen(other.screen, l)
	})
}

// hasTwin reports whether there's another in the same folder that has no transcript yet.
func (w *Watchers) hasTwin(o *Observer) bool {
	return w.isTrueOfOther(o, func(other *observerNews) bool { return other.cwd == o.program.process.Cwd })
}

// isTrueOfOther reports whether something is true of a session besides o's.
func (w *Watchers) isTrueOfOther(o *Observer, is func(*observerNews) bool) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, other := range w.observers {
		if other == o {
			continue
		}
		other.known.mu.Lock()
		yes := is(&other.known)
		other.known.mu.Unlock()
		if yes {
			return true
		}
	}
	return false
}
