package agent

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// HookDecision is what a hook that waits tells its agent about the dialog it was called for.
type HookDecision string

// The decisions. Allow has the agent do what it asks for, and close the dialog; AllowAlways
// has it go on allowing Hook.Saves. Deny has it not do that; with Told.Interrupt the turn
// ends, as it does by "No" at the keyboard.
const (
	Allow       HookDecision = "allow"
	AllowAlways HookDecision = "always"
	Deny        HookDecision = "deny"
)

// Told is what a hook that waited is told.
type Told struct {
	Decision  HookDecision `json:"decision,omitempty"`  // "": none was made here
	Interrupt bool         `json:"interrupt,omitempty"` // the turn ends, too
	// Input is what the call is to have in place of its own: a question with its answers.
	Input json.RawMessage `json:"input,omitempty"`
	// Mode is that of permissions which the agent is to have afterwards, as it calls it; "":
	// what it would take itself.
	Mode string `json:"mode,omitempty"`
	// Message is what the model is told with Deny; its turn goes on. Answers are those to a
	// question whose agent takes them by themselves: of each all that was chosen.
	Message string     `json:"message,omitempty"`
	Answers [][]string `json:"answers,omitempty"`
}

// WaitFor is how long a hook waits at most: then the dialog stands alone, and is answered
// by keys. hookTimeout is how long its agent gives it.
const (
	WaitFor     = 10 * time.Minute
	hookTimeout = WaitFor + 15*time.Second
)

// decider is a hook that waits for a decision.
type decider struct {
	about string          // letters of what the agent asks for
	call  string          // the call, as it's recorded; "": the hook doesn't tell
	input json.RawMessage // of a question; nil: it's none
	plan  json.RawMessage // of a plan; nil: it's none
	sub   bool            // a sub-agent asks
	// several are the questions of a call, of Claude Code's if it asks more than one; nil: it's
	// no such call.
	several *questions
	// request is the agent's own id of what it asks; "": it has none. What's answered by it
	// is told back, and the hook may wait until it was answered, whatever the screen shows.
	request string
	saves   []string // see Hook
	told    chan Told
	drawn   bool // its dialog was seen
	// served says that it's no hook but a connection to the agent's server: it waits until
	// that says that the question was answered.
	served bool
}

// shownWithin is how long a dialog may take to be seen. An agent without a screen calls
// its hooks too, and draws none: it mustn't be held up.
const shownWithin = 3 * time.Second

// Waits reports whether a hook may wait until its dialog is answered: the agent draws
// the dialog meanwhile, and ends the hook when a person answers at the keyboard (seen
// with Claude Code 2.1.329: SIGTERM within 0.1 s). opencode's plug-in has it wait for as
// long as the request is open. Codex shows no dialog while such a hook runs.
func (h Hook) Waits() bool {
	switch h.Agent {
	case "claude":
		return h.Event == "PermissionRequest" && (h.Tool != claudePlan && h.Tool != claudeQuestion || len(h.Input) > 0)
	case "opencode":
		return h.Signal == Asking && h.Request != "" && len(h.Input) > 0
	}
	return false
}

// The tools by which Claude Code asks a question, and whether its plan is right.
const (
	claudeQuestion = "AskUserQuestion"
	claudePlan     = "ExitPlanMode"
)

// askEach is Claude Code's mode in which it asks before each change. Without a mode a plan
// that a hook allows brings back the one before the plan, which may ask less.
const askEach = "default"

// AwaitDecision waits until somebody answers the dialog that a hook was called for, in a
// way that the hook can tell; nothing if that doesn't happen before the context ends, or can't.
func (w *Watchers) AwaitDecision(ctx context.Context, h Hook) Told {
	about := letters(h.Text)
	if about == "" && strings.HasPrefix(h.Tool, mcpTools) { // whose parameters may have any name
		about = letters(h.Tool)
	}
	if !h.Waits() || len(about) < minKnown && h.Request == "" {
		return Told{}
	}
	w.mu.Lock()
	o := w.observerOf(h)
	w.mu.Unlock()
	if o == nil {
		return Told{}
	}
	d := newDecider(h, about)
	o.known.mu.Lock()
	if o.known.tooLate(h) {
		o.known.mu.Unlock()
		return Told{}
	}
	d.drawn = d.isOf(o.known.asked, o.known.askedCall)
	o.known.deciders = append(o.known.deciders, d)
	o.known.mu.Unlock()
	if d.several != nil || d.request != "" { // a dialog that was seen before may be its
		w.opt.LookNow(o.session.ID)
	}
	defer o.undecided(d)
	undrawn := time.NewTimer(shownWithin)
	defer undrawn.Stop()
	if d.request != "" { // who hands its answer on holds up nobody
		undrawn.Stop()
	}
	for {
		select {
		case <-ctx.Done():
			return Told{}
		case decision := <-d.told:
			return decision
		case <-undrawn.C:
			o.known.mu.Lock()
			drawn := d.drawn
			o.known.mu.Unlock()
			if !drawn {
				return Told{}
			}
		}
	}
}

// newDecider is a hook that's about to wait.
func newDecider(h Hook, about string) *decider {
	d := &decider{about: about[:min(len(about), maxAsked)], sub: h.Sub, request: h.Request, saves: h.Saves, told: make(chan Told, 1)}
	switch {
	case d.request != "":
		if d.call = sumOf(h); h.Tool == openCodeQuestion {
			d.input, d.several = h.Input, questionsOf(h.Input, 1)
		}
	case h.Tool == claudeQuestion:
		if d.input, d.several = h.Input, questionsOf(h.Input, 2); d.several != nil {
			d.call = sumOf(h)
		}
	case len(h.Input) > 0:
		if d.call = sumOf(h); h.Tool == claudePlan {
			d.plan = h.Input
		}
	}
	return d
}

// isOf reports whether it waits for the dialog that says this, of a call that's recorded.
// Where both calls are known, they say so; the letters may be on the part of a dialog that
// isn't seen.
func (d *decider) isOf(asked, call string) bool {
	if d.call != "" && call != "" {
		return d.call == call
	}
	return strings.Contains(asked, d.about)
}

// undecided forgets a hook that waits no longer.
func (o *Observer) undecided(d *decider) {
	o.known.mu.Lock()
	defer o.known.mu.Unlock()
	o.known.deciders = slices.DeleteFunc(o.known.deciders, func(other *decider) bool { return other == d })
}

// tellWaitingHooks tells hooks that wait which dialog is on the screen; nil: none is. Those whose
// dialog has gone wait no longer.
func (o *Observer) tellWaitingHooks(d *sessions.Dialog) {
	o.known.mu.Lock()
	defer o.known.mu.Unlock()
	was := o.known.asked
	o.known.asked, o.known.askedCall = "", ""
	if d != nil {
		o.known.asked, o.known.askedCall = letters(d.Title+d.Body), d.Call
		o.known.standing.recorded = d.Call != "" && !d.Disputed
	}
	if d == nil || was != "" && o.known.asked != was {
		o.known.calls.endStale()
	}
	o.known.calls.dropAnswered(o.known.askedCall)
	o.known.deciders = slices.DeleteFunc(o.known.deciders, func(waits *decider) bool {
		shown := waits.isOf(o.known.asked, o.known.askedCall)
		if waits.drawn && !shown && waits.request == "" && !waits.served {
			waits.told <- Told{}
			return true
		}
		waits.drawn = shown
		return false
	})
}

// repliedWithin is how long an agent may take to say what came of an answer.
const repliedWithin = 5 * time.Second

// Decide gives an answer by the hook that waits for it, without a key, and waits until the
// agent has said what came of it, if it does; sessions.NotDecided: there's none that waits
// for this dialog and can tell this answer, or the agent didn't take it.
func (w *Watchers) Decide(ctx context.Context, id sessions.ID, d *sessions.Dialog, a sessions.Answer) sessions.Decided {
	w.mu.Lock()
	o := w.observers[id]
	w.mu.Unlock()
	if o == nil || slices.ContainsFunc(a.Options, func(i int) bool { return i < 0 || i >= len(d.Options) }) {
		return sessions.NotDecided
	}
	if d.Nth > 0 {
		defer w.opt.LookNow(id) // the next question is on no screen
	}
	f := w.profileOf(id).formOf(d)
	request, decided := o.decide(f, d, a)
	if request == nil {
		return decided
	}
	defer o.forgetReply(request)
	late := time.NewTimer(repliedWithin)
	defer late.Stop()
	select {
	case came := <-request.came:
		if came != sessions.DecidedHere {
			w.opt.Logger.Warn("an agent didn't take an answer by its hook", "session", id, "answered before", came == sessions.DecidedElsewhere)
		}
		return came
	case <-late.C:
	case <-ctx.Done():
	}
	return decided
}

// replied is an answer of which the agent will say what came of it.
type replied struct {
	request string
	came    chan sessions.Decided
}

// decide tells the hook that waits for a dialog. A request is one that's told back.
func (o *Observer) decide(f *dialogForm, d *sessions.Dialog, a sessions.Answer) (*replied, sessions.Decided) {
	o.known.mu.Lock()
	defer o.known.mu.Unlock()
	var is []*decider
	for _, waits := range o.known.deciders {
		if waits.decides(d) {
			is = append(is, waits)
		}
	}
	if len(is) != 1 || is[0].call == "" && len(o.known.deciders) > 1 {
		return nil, sessions.NotDecided
	}
	if q := is[0].several; q != nil && d.Nth > 0 {
		if done, ok := q.answer(d, a); !ok {
			return nil, sessions.NotDecided
		} else if !done {
			return nil, sessions.DecidedHere
		}
	}
	told := is[0].answerTold(f, d, a)
	if told.Decision == "" {
		return nil, sessions.NotDecided
	}
	var back *replied
	if is[0].request != "" {
		back = &replied{is[0].request, make(chan sessions.Decided, 1)}
		o.known.replies = append(o.known.replies, back)
	}
	if is[0].served {
		o.w.opt.Logger.Info("an agent's server answers its dialog", "session", o.session.ID, "decision", told.Decision)
	} else {
		o.w.opt.Logger.Info("an agent's hook answers its dialog", "session", o.session.ID, "decision", told.Decision)
	}
	is[0].told <- told
	o.known.deciders = slices.DeleteFunc(o.known.deciders, func(other *decider) bool { return other == is[0] })
	return back, sessions.DecidedHere
}

// forgetReply waits for what came of an answer no longer.
func (o *Observer) forgetReply(r *replied) {
	o.known.mu.Lock()
	defer o.known.mu.Unlock()
	o.known.replies = slices.DeleteFunc(o.known.replies, func(other *replied) bool { return other == r })
}

// The outcomes that an agent's plug-in tells of an answer.
const (
	replyGiven = "given"
	replyLate  = "late" // it was answered before
)

// heardReply takes in what a hook tells of requests: what came of an answer, and that one
// was answered, by whom ever. k.mu is held.
func (k *observerNews) heardReply(h Hook) {
	switch {
	case h.Request == "":
	case h.Signal == Replied:
		came := sessions.NotDecided
		switch h.Text {
		case replyGiven:
			came = sessions.DecidedHere
		case replyLate:
			came = sessions.DecidedElsewhere
		}
		k.tellOutcome(h.Request, came)
	case h.Signal == Answered:
		const most = 64
		k.settled = append(k.settled, h.Request)
		k.settled = k.settled[max(0, len(k.settled)-most):]
		if !h.Own {
			k.tellOutcome(h.Request, sessions.DecidedElsewhere)
		}
		k.deciders = slices.DeleteFunc(k.deciders, func(waits *decider) bool {
			if waits.request != h.Request {
				return false
			}
			waits.told <- Told{}
			return true
		})
	}
}

// tooLate reports whether a hook tells of a request that was answered before. k.mu is held.
func (k *observerNews) tooLate(h Hook) bool {
	return h.Signal == Asking && h.Request != "" && slices.Contains(k.settled, h.Request)
}

// tellOutcome tells who waits for it what came of an answer.
func (k *observerNews) tellOutcome(request string, came sessions.Decided) {
	for _, r := range k.replies {
		if r.request == request && len(r.came) == 0 {
			r.came <- came
		}
	}
}

// answerTold is what the hook is told by an answer; no decision: that's one for keys.
func (d *decider) answerTold(f *dialogForm, of *sessions.Dialog, a sessions.Answer) Told {
	if d.several != nil {
		switch {
		case of.Nth == 0 && !d.several.answerAlone(a):
			return Told{}
		case d.request != "" || d.served:
			return Told{Decision: Allow, Answers: d.several.given}
		}
		return Told{Decision: Allow, Input: withAnswers(d.input, d.several.answered())}
	}
	if d.input != nil {
		if input := answered(d.input, of, a); input != nil {
			return Told{Decision: Allow, Input: input}
		}
		return Told{}
	}
	switch {
	case f == nil:
		return Told{}
	case a.Text != "" && f.Corrects != "" && of.Text == f.Corrects && d.request != "":
		return Told{Decision: Deny, Message: a.Text}
	case a.Text != "" || len(a.Options) != 1:
		return Told{}
	}
	label := of.Options[a.Options[0]].Label
	switch {
	case f.Allow != nil && f.Allow.whole.MatchString(label) && d.plan != nil:
		return Told{Decision: Allow, Input: d.plan, Mode: askEach}
	case f.Allow != nil && f.Allow.whole.MatchString(label) && f.Saves != nil:
		return Told{Decision: AllowAlways}
	case f.Allow != nil && f.Allow.whole.MatchString(label) && f.Kind == sessions.PromptPermission:
		return Told{Decision: Allow}
	case f.Deny != nil && f.Deny.whole.MatchString(label) && d.request != "":
		return Told{Decision: Deny}
	// A sub-agent's turn goes on after "No", and the hook could only end it.
	case f.Deny != nil && f.Deny.whole.MatchString(label) && d.call != "" && !d.sub:
		return Told{Decision: Deny, Interrupt: true}
	}
	return Told{}
}

// answered is the input of Claude Code's question with an answer; nil: it isn't surely the
// one that the dialog asks, or several are asked at once.
func answered(input json.RawMessage, d *sessions.Dialog, a sessions.Answer) json.RawMessage {
	var asked struct {
		Questions []struct {
			Question string `json:"question"`
			Options  []struct {
				Label string `json:"label"`
			} `json:"options"`
		} `json:"questions"`
	}
	if json.Unmarshal(input, &asked) != nil || len(asked.Questions) != 1 || d.Unseen {
		return nil
	}
	q := asked.Questions[0]
	if squeezed(d.Body+d.Title) != squeezed(q.Question) || len(d.Options) < len(q.Options) {
		return nil
	}
	for i, o := range q.Options {
		if squeezed(d.Options[i].Label) != squeezed(o.Label) {
			return nil
		}
	}
	said := []string{a.Text}
	if a.Text == "" {
		said = nil
		for _, i := range a.Options {
			if i >= len(q.Options) {
				return nil
			}
			said = append(said, q.Options[i].Label)
		}
	}
	if len(said) == 0 {
		return nil
	}
	return withAnswers(input, map[string]string{q.Question: strings.Join(said, ", ")})
}

// withAnswers is a call's input with the answers to its questions, by their texts.
func withAnswers(input json.RawMessage, by map[string]string) json.RawMessage {
	var all map[string]json.RawMessage
	if json.Unmarshal(input, &all) != nil {
		return nil
	}
	answers, err := json.Marshal(by)
	if err != nil {
		return nil
	}
	all["answers"] = answers
	out, err := json.Marshal(all)
	if err != nil {
		return nil
	}
	return out
}

// decides reports whether what it's told is surely about this dialog: the call is the same.
// A hook that doesn't tell the call is known by the dialog's letters.
func (d *decider) decides(of *sessions.Dialog) bool {
	if d.call != "" {
		return d.call == of.Call && !of.Disputed
	}
	return of.Call == "" && strings.Contains(letters(of.Title+of.Body), d.about)
}
