package agent

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/panebridge/panebridge/sessions"
	"github.com/panebridge/panebridge/sessions/transcript"
)

// recognise finds out which agent program runs in the pane, if that isn't known,
// and whether it still does.
func (o *Observer) recognise(l sessions.Poll, hooks []Hook) {
	if p := o.program; p != nil {
		p.ending = p.ending || l.Last || p.process.PID > 0 && !o.w.opt.Processes.Alive(p.process)
		if p.process.PID > 0 || p.ending {
			return
		}
	}
	if l.Screen == nil || l.Last {
		return
	}
	all := o.asked.isDue(o.w.opt.Processes.Group(l.Screen.PID), l.Now)
	if !all && len(hooks) == 0 {
		return
	}
	process, profile := o.inForeground(l.Screen.PID)
	switch {
	case profile == nil:
		profile = o.given // it may run where its process can't be seen
	case profile.Shell():
		profile = nil
	}
	if profile == nil || profile.Shell() {
		return
	}
	if o.program == nil {
		o.program = &agentRun{profile: profile, judge: NewJudge(profile, nil)}
		o.chooseSource(sessions.Source{Program: profile.Name()})
	}
	o.program.process = process
	if w := o.past.leftBy(process); w != nil && process.PID > 0 && o.program.reader == nil {
		o.turnTo(w.Ref) // it was suspended
	}
}

// transcriptAsk says when a pane was asked which program runs in it. A program starts soon
// after its process group has the foreground, if at all: it's asked at each look at
// first, and ever more seldom.
type transcriptAsk struct {
	group int
	since time.Time
	last  time.Time
}

// askSeldom is the longest time between two questions about the same group.
const askSeldom = 30 * time.Second

func (a *transcriptAsk) isDue(group int, now time.Time) bool {
	if group != a.group || a.since.IsZero() {
		*a = transcriptAsk{group: group, since: now}
	}
	if !a.last.IsZero() && now.Sub(a.last) < min(a.last.Sub(a.since)/4, askSeldom) {
		return false
	}
	a.last = now
	return true
}

// inForeground is the agent program among the processes that a person at the pane
// talks to; nil if there's none.
func (o *Observer) inForeground(pane int) (Process, *Profile) {
	for _, more := range []bool{false, true} {
		for _, p := range o.w.opt.Processes.Foreground(pane, more) {
			if profile := o.w.opt.Profiles.Match(p); profile != nil {
				return p, profile
			}
		}
	}
	return Process{}, nil
}

// bindTranscript looks for the transcript of the program's conversation: by what its hooks
// say, else by its process and its folder.
func (o *Observer) bindTranscript(ctx context.Context, l sessions.Poll) error {
	p := o.program
	if p.profile.Format() == "" || l.Now.Sub(p.lost) < tryLostEvery {
		return nil
	}
	if p.announced != nil && isThere(p.announced.Path) && o.turnTo(*p.announced) {
		p.announced, p.sure, p.lost = nil, p.sure || p.lost.IsZero(), time.Time{}
	}
	if p.ending || l.Screen == nil {
		return nil
	}
	if l.Now.Sub(p.looked) < p.findEvery() {
		p.findAgain = p.looked.Add(p.findEvery()) // this may be the last look for long
		return nil
	}
	p.looked, p.findAgain = l.Now, time.Time{}
	o.publishScreen(l.Screen)
	return o.findTranscript(ctx, l.Screen)
}

const (
	findEvery      = time.Second     // for the transcript of a program that has none
	findOtherEvery = 5 * time.Second // for that of another conversation of the same program
	tryLostEvery   = 5 * time.Second // to read on in one that couldn't be read
)

func (p *agentRun) findEvery() time.Duration {
	if p.reader == nil {
		return findEvery
	}
	return findOtherEvery
}

// nested reports whether a hook is of an agent that the program has started as a tool:
// no conversation is changed while a turn goes on.
func (p *agentRun) nested(h Hook) bool {
	if p.reader == nil || !p.judge.saved.Open || h.Signal == Asking || h.Signal == Answered {
		return false
	}
	own := p.reader.Ref().Session
	return own != "" && h.Conversation != "" && h.Conversation != own
}

// noteHook keeps what a hook says of the conversation's transcript, which may be written
// later. Hooks of tools may be of a sub-agent's conversation.
func (p *agentRun) noteHook(h Hook) {
	if !h.announces() || h.Agent != string(p.profile.Format()) {
		return
	}
	ref := transcript.Ref{Format: p.profile.Format(), Path: h.Transcript, Session: h.Conversation}
	if ref.Format == transcript.OpenCode && ref.Session != "" && p.process.PID > 0 { // all are in one place
		env := p.process.Environ()
		ref.Path = transcript.OpenCodeDatabase(env["HOME"], env)
	}
	if ref.Path != "" {
		p.announced, p.lost = &ref, time.Time{}
	}
}

// announces reports whether a hook tells of the conversation that's the program's.
func (h Hook) announces() bool {
	return h.Signal == SessionStart || h.Signal == PromptSent || h.Signal == TurnDone
}

func isThere(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// findTranscript reads the transcript that the program's process holds, or else the only one
// of its folder that has what stands on the screen.
func (o *Observer) findTranscript(ctx context.Context, screen *sessions.Snapshot) error {
	p := o.program
	if p.process.PID == 0 {
		return nil
	}
	env := p.process.Environ()
	all, err := transcript.Find(ctx, transcript.Where{
		Format: p.profile.Format(), Home: env["HOME"], Env: env, Cwd: p.process.Cwd, PID: p.process.PID, Started: p.process.Started,
	})
	if err != nil {
		o.w.opt.Logger.Debug("look for transcripts", "session", o.session.ID, "err", err)
		return ctx.Err() // the next look may find it
	}
	if held := sure(all); len(held) > 0 {
		if !slices.ContainsFunc(held, p.reading) && o.turnTo(held[0].Ref) {
			p.sure = true
		}
		return nil
	}
	var hits []transcript.Candidate
	for _, c := range all {
		if o.mayFit(c, all, screen) {
			hits = append(hits, c)
		}
	}
	was := p.search.only
	p.search = transcriptSearch{done: true, found: len(all), fits: len(hits)}
	if len(hits) != 1 {
		return nil
	}
	// Another in its folder may have been asked the same just now, which its screen
	// will have shown at the next look.
	if p.search.only = hits[0].Ref.Path; p.search.only == was || !o.w.hasTwin(o) {
		o.turnTo(hits[0].Ref)
	}
	return nil
}

// sure are the candidates that the process itself holds, the newest first.
func sure(all []transcript.Candidate) []transcript.Candidate {
	held := slices.DeleteFunc(slices.Clone(all), func(c transcript.Candidate) bool { return !c.Sure })
	slices.SortStableFunc(held, func(a, b transcript.Candidate) int { return b.Changed.Compare(a.Changed) })
	return held
}

// mayFit reports whether a transcript may be that of the program by what it says: what
// was asked last stands on this screen and on that of no other program that it could
// be of. A program that has a transcript turns to another, new or one that it has gone
// back to, only for a turn that began since, when its own stood still, or if what was asked last on its screen is asked there,
// and not in its own.
func (o *Observer) mayFit(c transcript.Candidate, all []transcript.Candidate, screen *sessions.Snapshot) bool {
	p := o.program
	switch {
	case p.reading(c) || p.sure && p.reader != nil || c.Changed.Before(p.process.Started):
		return false
	case p.reader != nil:
		own := slices.IndexFunc(all, p.reading)
		since, back := c.Started, false
		if own >= 0 && !since.After(all[own].Changed) { // it isn't new: the program may have gone back to it
			if since, back = all[own].Changed, true; !c.Changed.After(since) {
				return false
			}
		}
		// A turn that was too short to be seen is known by what it was asked.
		seen := own >= 0 && c.LastUser != all[own].LastUser && p.profile.askedLast(screen, letters(c.LastUser))
		marks := len(p.profile.spec.Screen.Prompt) > 0
		if !seen && (back && marks || p.began.Before(since.Add(-startSlack))) {
			return false
		}
	}
	return o.isShown(screen, c.LastUser) && !o.w.othersHave(o, c)
}

// reading reports whether a candidate is what's read already.
func (p *agentRun) reading(c transcript.Candidate) bool {
	return p.reader != nil && sameRef(p.reader.Ref(), c.Ref)
}

func sameRef(a, b transcript.Ref) bool {
	return a.Path == b.Path && (a.Session == b.Session || a.Format != transcript.OpenCode)
}

// isShown reports whether what was asked of an agent stands on the screen, or was
// typed by panebridge and isn't told of yet.
func (o *Observer) isShown(screen *sessions.Snapshot, asked string) bool {
	l := letters(asked)
	return len(l) >= minKnown && (o.typed.hasText(l) || onScreen(screenLetters(screen), l))
}

func screenLetters(s *sessions.Snapshot) string {
	return letters(strings.Join(s.Rows[max(0, len(s.Rows)-s.Height):], ""))
}

// maxAsked is how much of a text is looked for on a screen, in bytes: the program may
// show only its beginning.
const maxAsked = 200

func onScreen(screen, asked string) bool {
	return strings.Contains(screen, asked[:min(len(asked), maxAsked)])
}

// turnTo reads a transcript instead of the one before, all of which is told, from where
// it was left, or else from its beginning; false: it isn't read.
func (o *Observer) turnTo(ref transcript.Ref) bool {
	p := o.program
	if p.reader != nil && sameRef(p.reader.Ref(), ref) {
		return true
	}
	if p.pane { // the pane's lines count until the next turn begins
		return false
	}
	if !o.chooseSource(p.sourceRead(ref)) {
		p.refuse(ref, "is another session's text")
		return false
	}
	var cursor []byte
	var until time.Time
	from := p.from
	if was := o.past.leftAt(ref); was != nil {
		ref, cursor, until = was.Ref, was.Cursor, was.Until
	} else if p.reader != nil && p.last.After(from) {
		from = p.last.Add(1) // what it has from before is another pane's, or a copy of what was told
	} else if told := o.past.toldUntil(); p.reader == nil && !told.IsZero() && !told.Before(from) {
		from = told.Add(1) // a copy, too: see old, which can't be sure of the last seconds
	}
	p.from = from
	if err := o.goOnWith(ref, cursor, until); err != nil {
		p.refuse(ref, "can't be read: "+err.Error())
		o.chooseSource(sessions.Source{Program: p.profile.Name()})
		o.w.opt.Logger.Warn("a transcript can't be read", "session", o.session.ID, "path", ref.Path, "err", err)
		return false
	}
	return true
}

// goOnWith reads a transcript from where it was left. A cursor that can't be used, since it's
// another version's, is done without: what was written until then is told already.
func (o *Observer) goOnWith(ref transcript.Ref, cursor []byte, until time.Time) error {
	err := o.openTranscript(ref, cursor)
	if !errors.Is(err, transcript.ErrCursor) || until.IsZero() {
		return err
	}
	o.w.opt.Logger.Warn("where a transcript was left isn't known; what's in it from later is told",
		"session", o.session.ID, "path", ref.Path, "later_than", until, "err", err)
	if from := until.Add(1); from.After(o.program.from) {
		o.program.from = from
	}
	return o.openTranscript(ref, nil)
}

// loseTranscript stops reading a transcript that can't be read at the moment. It's tried again,
// from where it was left; if that takes too long the pane tells what comes.
func (o *Observer) loseTranscript(why error, now time.Time) {
	p := o.program
	if p.reader == nil { // it couldn't even be looked for
		o.w.opt.Logger.Debug("look for transcripts", "session", o.session.ID, "err", why)
		return
	}
	ref := p.reader.Ref()
	if err := o.unread(); err != nil {
		why = errors.Join(why, err)
	}
	p.refuse(ref, "can't be read: "+why.Error())
	p.announced, p.lost = &ref, now
	if p.owed.Since.IsZero() {
		p.owed.Since = now
	}
	o.chooseSource(sessions.Source{Program: p.profile.Name()})
	o.w.opt.Logger.Warn("a transcript can't be read at the moment", "session", o.session.ID, "path", ref.Path, "err", why)
}

// sourceRead is the source of a session's text while the program's transcript is read.
func (p *agentRun) sourceRead(ref transcript.Ref) sessions.Source {
	return sessions.Source{Program: p.profile.Name(), Transcript: ref.Path, Conversation: ref.Session}
}

// openTranscript opens a transcript at a cursor; nil: at its beginning.
func (o *Observer) openTranscript(ref transcript.Ref, cursor []byte) error {
	r, err := transcript.Open(ref, cursor)
	if err != nil {
		return err
	}
	err = o.unread()
	o.program.reader = r
	return err
}

func (o *Observer) unread() error {
	if o.program == nil || o.program.reader == nil {
		return nil
	}
	o.past.leaveProgram(o.program)
	err := o.program.reader.Close()
	o.program.reader, o.program.next, o.program.cursor = nil, nil, nil
	return err
}
