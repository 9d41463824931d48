package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/panebridge/panebridge/sessions"
	"github.com/panebridge/panebridge/sessions/transcript"
)

const (
	// recogniseEvery is how often a pane is asked at most whether its shell runs.
	recogniseEvery = time.Second
	// workEvery is how often a program that works is looked at, though its screen may
	// stand still: its transcript grows without it.
	workEvery = time.Second
	// holdFor is how long a program that works may go without a transcript that's known
	// to be its, before the pane's lines count. All that were tried write it within
	// 3 s of the first prompt.
	holdFor = 10 * time.Second
	// startSlack is how far the kernel's time of a process' start may be off: it counts
	// from a boot time in whole seconds.
	startSlack = 2 * time.Second
)

// Observer finds out which agent program runs in a session's pane, reads its
// transcript and judges what it's doing. It's a polling.Observer: one goroutine
// calls it, apart from what known holds.
type Observer struct {
	w       *Watchers
	session sessions.Session
	given   *Profile // of the program that was started in it; nil: to be found out
	known   observerNews

	program  *agentRun     // nil: none that's known
	past     past          // transcripts that were read before
	asked    transcriptAsk // which program runs in the pane
	front    front
	line     lineAsked
	asksFor  *sessions.Dialog // the line that a program without a profile asks for; nil: none
	typed    typed            // texts whose records are yet to come
	asking   dialogWatch
	unasked  unread
	backdrop backdrop
	call     string // of the dialog on the screen, as it's recorded; "": none that's known
	drawn    string // Print of the dialog on the screen as it was told last; "": none
	untried  string // program and version of which it was said last that nobody has tried it
	usage    usageState
}

// agentRun is one run of an agent program.
type agentRun struct {
	profile *Profile
	process Process // zero: it's known by the configuration or its hooks alone
	judge   *Judge
	reader  *transcript.Reader // nil: no transcript is known to be its
	looked  time.Time          // when transcripts were looked for
	// findAgain is when they're to be looked for again: they weren't at the last look. A
	// conversation that the process holds isn't its last: no hook may tell of the next.
	findAgain time.Time
	began     time.Time // when the turn began that's going or was the last
	// announced is what a hook said will be its transcript; nil: nothing.
	announced *transcript.Ref
	sure      bool                // its transcript is known by a hook, or held by its process
	lost      time.Time           // when its transcript couldn't be read; zero: it could
	owed      owed                // what it said without a transcript that's known
	pane      bool                // the pane's lines count until the next turn begins
	from      time.Time           // what the transcript has from before was told by the pane; zero: nothing
	last      time.Time           // when the last turn ended whose end was told
	until     time.Time           // when the newest record was written that was told
	next      []transcript.Record // were read, and are to be told with the next look
	cursor    []byte              // before next
	ending    bool                // it has ended, and the rest of its transcript and of what it drew is being read
	sawEnd    time.Time           // of the look that found that it has ended; zero: none has
	drawn     bool                // all that it drew was looked at
	text      recent              // what was told of its transcript
	writing   writing             // what it was seen to write since
	told      sessions.LinesFrom
	search    transcriptSearch // of its transcript
	versioned bool             // its version was looked at
	all       bool             // the last look read all that the transcript had
}

// kept is what an observer wants kept.
type kept struct {
	Program string          `json:"program,omitempty"` // name of the profile
	PID     int             `json:"pid,omitempty"`
	Started time.Time       `json:"started,omitzero"`
	Ref     *transcript.Ref `json:"ref,omitempty"`
	Cursor  json.RawMessage `json:"cursor,omitempty"`
	Judge   json.RawMessage `json:"judge,omitempty"`
	Pane    bool            `json:"pane,omitempty"`
	Typed   typed           `json:"typed,omitempty"`
	Past    past            `json:"past,omitempty"`
	Owed    owed            `json:"owed,omitzero"`
	From    time.Time       `json:"from,omitzero"`
	Last    time.Time       `json:"last,omitzero"`
	Until   time.Time       `json:"until,omitzero"`
	Told    keptRecent      `json:"told,omitzero"`
	Writing keptWriting     `json:"writing,omitzero"`
	Sure    bool            `json:"sure,omitempty"`
	Raw     rawCalls        `json:"raw,omitzero"`
	// Announced is what a hook said, which isn't said again.
	Announced *transcript.Ref `json:"announced,omitempty"`
	Untried   string          `json:"untried,omitempty"`
	Usage     usageState      `json:"usage,omitzero"`
}

func newObserver(w *Watchers, s sessions.Session, profile string, blob []byte) (*Observer, error) {
	o := &Observer{w: w, session: s}
	if profile != "" {
		o.given = w.opt.Profiles.Get(profile)
	}
	if len(blob) == 0 {
		return o, nil
	}
	var k kept
	if err := json.Unmarshal(blob, &k); err != nil {
		return nil, fmt.Errorf("read what was kept of the program: %w", err)
	}
	o.typed, o.past, o.untried, o.usage = k.Typed, k.Past, k.Untried, k.Usage
	p := w.opt.Profiles.Get(k.Program)
	if p == nil {
		return o, nil // it was, in another configuration
	}
	o.program = &agentRun{
		profile: p, judge: NewJudge(p, k.Judge), process: Process{PID: k.PID, Started: k.Started},
		pane: k.Pane, owed: k.Owed, from: k.From, last: k.Last, until: k.Until, sure: k.Sure, announced: k.Announced,
	}
	o.program.began = o.program.judge.saved.Began
	o.program.text, o.program.writing = k.Told.recent(), k.Writing.writing()
	o.known.raw = k.Raw
	if now, ok := w.opt.Processes.Get(k.PID); ok && now.Started.Equal(k.Started) {
		o.program.process = now
	}
	if k.Ref != nil {
		if err := o.goOnWith(*k.Ref, k.Cursor, k.Until); err != nil {
			w.opt.Logger.Warn("a transcript can't be read on", "session", s.ID, "path", k.Ref.Path, "err", err)
		}
		o.chooseSource(o.program.sourceRead(*k.Ref))
	} else {
		o.chooseSource(sessions.Source{Program: p.Name()})
	}
	o.publishNews(0)
	return o, nil
}

// Close ends the observer.
func (o *Observer) Close() error {
	o.w.forgetObserver(o)
	return o.unread()
}

// profile of the program that runs.
func (o *Observer) profile() *Profile {
	switch {
	case o.program != nil:
		return o.program.profile
	case o.given != nil:
		return o.given
	}
	return o.w.opt.Profiles.Generic()
}

// Drawing is that of the program's profile.
func (o *Observer) Drawing(s *sessions.Snapshot) bool { return o.profile().Drawing(s) }

// Dialog is that of the program's profile.
func (o *Observer) Dialog(rows []string) string { return o.profile().Dialog(rows) }

// Prompt is that of the program's profile.
func (o *Observer) Prompt(s *sessions.Snapshot) *sessions.Dialog { return o.profile().Prompt(s, nil) }

// Observe works in one look.
func (o *Observer) Observe(ctx context.Context, l sessions.Poll) (sessions.Observation, error) {
	s, err := o.observePoll(ctx, l)
	if err == nil {
		o.addDialog(&s, l)
	}
	return s, err
}

func (o *Observer) observePoll(ctx context.Context, l sessions.Poll) (sessions.Observation, error) {
	hooks := o.takenHooks()
	o.typed.addTexts(l.Typed)
	o.recognise(l, hooks)
	pane := 0
	if l.Screen != nil {
		pane = l.Screen.PID
	}
	defer func() { o.publishNews(pane) }()
	if o.program == nil {
		s := sessions.Observation{Text: sessions.TextPane, Quiet: o.quietOfShell(l), Front: o.programOfShell(l)}
		s.Asks, o.asksFor, s.Again = o.asksLine(l)
		return o.keepState(s)
	}
	o.asksFor = nil
	hooks = slices.DeleteFunc(hooks, o.program.nested)
	for _, h := range hooks {
		o.program.noteHook(h)
	}
	records, err := o.newRecords(ctx)
	if err == nil && len(records) == 0 { // all of the transcript is told: another may follow
		if err = o.bindTranscript(ctx, l); err == nil {
			records, err = o.newRecords(ctx)
		}
	}
	if ctx.Err() != nil {
		return sessions.Observation{}, ctx.Err()
	}
	if err != nil {
		o.loseTranscript(err, l.Now)
	}
	return o.observeProgram(l, hooks, records)
}

// observeProgram makes an observation of what a look brought of a program.
func (o *Observer) observeProgram(l sessions.Poll, hooks []Hook, all []transcript.Record) (sessions.Observation, error) {
	p, records := o.program, withoutUsage(all)
	o.takeRaw(records)
	submitted, own := false, withoutHelpers(records)
	for _, t := range l.Typed {
		submitted = submitted || t.Text == ""
	}
	v := p.judge.See(Evidence{
		Now: l.Now, Screen: l.Screen, Hooks: hooks, Records: own, Typed: submitted,
		Running: !p.ending && !l.Last, Marked: l.Marked, Dialog: l.Dialog, Unsaid: p.reader != nil && len(p.writing.rows) > 0,
	})
	o.w.tellWatchers(o.session.ID, News{At: l.Now, Typed: l.Typed, Records: records, Verdict: v})
	if v.Began {
		p.began = l.Now
		p.text.beginTurn()
	}
	s := sessions.Observation{
		Known: true, State: v.State, Reason: v.Reason, Began: v.Began, Ended: v.Ended, Failed: v.Failed,
		Lines: append(o.sayUntried(l.Now), o.linesOf(records, l.Now)...), Text: p.source(v, l.Now),
		More: len(all) > 0, Again: v.Again,
	}
	o.noteUsage(&s, all, l.Now)
	if l.Screen != nil {
		s.Status = p.profile.Status(l.Screen)
		if p.reader == nil || v.State != sessions.StateIdle { // else the transcript has all of it
			s.Writing = p.unsaidRows(l.Screen)
		}
	}
	s.Lines = append(s.Lines, o.followWriting(l, v, records, s.Writing)...)
	if v.State == sessions.StateWaiting && p.writing.hasTool() {
		s.Writing = nil // the transcript has what was written; the rest is about what's asked
	}
	p.told = s.Text
	if p.findAgain.After(l.Now) {
		s.Again = sooner(s.Again, p.findAgain)
	}
	if v.State == sessions.StateWorking || v.State == sessions.StateStarting {
		s.Again = sooner(s.Again, l.Now.Add(workEvery))
	}
	if s.Text == sessions.TextHeld && !p.owed.Since.IsZero() {
		s.Again = sooner(s.Again, p.owed.Since.Add(holdFor+time.Millisecond))
	}
	switch {
	case !p.ending:
	case !p.seeLastScreen(l):
		s.Ending, s.Again = true, sooner(s.Again, p.sawEnd.Add(lastScreenAfter))
	case len(all) == 0:
		o.endProgram(&s)
	}
	return o.keepState(s)
}

// source says whose lines count while a program runs.
func (p *agentRun) source(v Verdict, now time.Time) sessions.LinesFrom {
	switch {
	case p.profile.Format() == "":
		return sessions.TextPane
	case p.reader != nil:
		p.owed = owed{}
		return sessions.TextTranscript
	}
	if v.Began {
		if p.pane {
			p.from = p.owed.Ended
		}
		p.pane, p.owed = false, owed{Since: now, Turn: true}
	}
	if v.Ended {
		p.owed.Turn, p.owed.Ended = true, p.judge.saved.Ended
	}
	atWork := v.State == sessions.StateWorking || v.State == sessions.StateWaiting
	switch since := p.owed.Since; {
	case !since.IsZero() && now.Sub(since) > holdFor && (atWork || p.owed.Turn):
		p.pane = true
	case since.IsZero() && (atWork || p.owed.Turn):
		p.owed.Since = now
	case !atWork && !p.owed.Turn:
		p.owed.Since = time.Time{}
	}
	if p.pane {
		return sessions.TextPane
	}
	return sessions.TextHeld
}

// lastScreenAfter is how long after a program's end was seen its last screen is looked at: tmux reads what it wrote at
// the end when it has time.
const lastScreenAfter = 30 * time.Millisecond

// seeLastScreen reports whether all was looked at that a program drew which has ended. The look that finds the end shows
// how the screen was before it was found.
func (p *agentRun) seeLastScreen(l sessions.Poll) bool {
	if p.sawEnd.IsZero() {
		p.sawEnd = l.Now
	}
	p.drawn = p.drawn || l.Last || p.reader == nil || l.Screen != nil && l.Now.Sub(p.sawEnd) >= lastScreenAfter
	return p.drawn
}

// endProgram makes the pane's lines the session's again.
func (o *Observer) endProgram(s *sessions.Observation) {
	if p := o.program; p.reader != nil {
		s.Said = p.text.hasRow
		_ = o.unread()
	} else {
		s.Text = sessions.TextPane // nothing else will tell what was held back
	}
	o.program, o.asked = nil, transcriptAsk{}
	o.known.endDialogs()
	o.chooseSource(sessions.Source{})
	s.More = false
}

// chooseSource tells what the session's text is read from; false: it's another's.
func (o *Observer) chooseSource(src sessions.Source) bool {
	err := o.w.opt.Choose(o.session.ID, src)
	if err != nil && !errors.Is(err, sessions.ErrConflict) {
		o.w.opt.Logger.Debug("the source of a session", "session", o.session.ID, "err", err)
	}
	return err == nil
}

// keepState adds what's to be kept.
func (o *Observer) keepState(s sessions.Observation) (sessions.Observation, error) {
	k := kept{Typed: o.typed, Past: o.past, Untried: o.untried, Usage: o.usage}
	if p := o.program; p != nil {
		k.Program, k.PID, k.Started, k.Judge, k.Pane = p.profile.Name(), p.process.PID, p.process.Started, p.judge.Save(), p.pane
		k.Until, k.Told, k.Writing = p.until, p.text.keep(), p.writing.keep()
		k.Owed, k.From, k.Last, k.Sure, k.Announced, k.Raw = p.owed, p.from, p.last, p.sure, p.announced, o.rawCalls()
		if p.reader != nil {
			ref := p.reader.Ref()
			k.Ref, k.Cursor = &ref, p.cursorTold()
		}
	} else if len(o.typed) == 0 && len(o.past) == 0 && o.untried == "" && o.usage.Agent == "" {
		return s, nil
	}
	blob, err := json.Marshal(k)
	if err != nil {
		return s, fmt.Errorf("keep what's known of the program: %w", err)
	}
	s.Keep = blob
	return s, nil
}

// sooner is the earlier of two times, of which either may be none.
func sooner(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
