package agent

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/panebridge/panebridge/internal/recording"
	"github.com/panebridge/panebridge/sessions"
	"github.com/panebridge/panebridge/sessions/transcript"
)

// mode is what a judge gets of a recording, and how often.
type mode struct {
	name    string
	hooks   bool
	records bool
	talking bool          // somebody talks to the session: looks are frequent after each input
	phase   time.Duration // when the first look is
	// restart: the judge is made anew from what it saved, at each of these times.
	restart []time.Duration
}

const (
	outputCadence = time.Second
	focusCadence  = 200 * time.Millisecond
	focusFor      = 30 * time.Second
)

// verdictAt is a verdict with its time since the recording's start.
type verdictAt struct {
	at time.Duration
	Verdict
}

// replay shows a recording to a judge as the daemon would: a look at every tick with
// which the pane has changed, at once when a hook comes, and when the judge asks for it.
type replay struct {
	t       *testing.T
	r       *recording.Recording
	p       *Profile
	m       mode
	frames  []recording.Frame
	hooks   []recording.Hook
	inputs  []time.Duration
	reading *reading

	judge    *Judge
	looked   int // frame of the last look
	again    time.Duration
	focus    time.Duration
	verdicts []verdictAt
}

// parts are the parts of a recording that its replays share.
type parts struct {
	*recording.Recording
	frames  []recording.Frame
	hooks   []recording.Hook
	inputs  []time.Duration // when something was typed
	batches []batch
	spans   []recording.Span
}

func partsOf(t *testing.T, r *recording.Recording) *parts {
	t.Helper()
	p := &parts{Recording: r, batches: batchesOf(t, r)}
	var actions []recording.Action
	var errs [4]error
	p.frames, errs[0] = r.Frames()
	p.hooks, errs[1] = r.Hooks()
	p.spans, errs[2] = r.Timeline()
	actions, errs[3] = r.Actions()
	if err := errors.Join(errs[:]...); err != nil {
		t.Fatal(err)
	}
	for _, a := range actions {
		switch a.Kind {
		case "type", "paste", "keys":
			p.inputs = append(p.inputs, a.At)
		}
	}
	return p
}

func newReplay(t *testing.T, set *Set, r *parts, m mode) *replay {
	t.Helper()
	p := &replay{t: t, r: r.Recording, p: set.Get(r.Agent), m: m, frames: r.frames, inputs: r.inputs, looked: -1, again: -1}
	if m.hooks {
		p.hooks = r.hooks
	}
	if m.records {
		p.reading = &reading{r.batches}
	}
	p.judge = NewJudge(p.p, nil)
	return p
}

func (p *replay) run() []verdictAt {
	end := p.frames[len(p.frames)-1].At
	tick := p.m.phase
	for now := time.Duration(0); now <= end; {
		next := tick
		if p.again >= 0 {
			next = min(next, p.again)
		}
		if len(p.hooks) > 0 {
			next = min(next, p.hooks[0].At)
		}
		now = max(now, next)
		if now > end {
			break
		}
		p.restarts(now)
		due := p.again >= 0 && now >= p.again
		hooks := p.comeHooks(now)
		if now >= tick {
			tick = p.nextTick(now)
		}
		if due || len(hooks) > 0 || p.changed(now) {
			p.look(now, hooks)
		} else if p.reading != nil {
			p.look(now, nil) // the transcript is looked at with every tick
		}
	}
	return p.verdicts
}

func (p *replay) restarts(now time.Duration) {
	if len(p.m.restart) > 0 && now >= p.m.restart[0] {
		p.judge = NewJudge(p.p, p.judge.Save())
		p.m.restart, p.looked = p.m.restart[1:], -1
	}
}

func (p *replay) nextTick(now time.Duration) time.Duration {
	for len(p.inputs) > 0 && p.inputs[0] <= now {
		p.focus, p.inputs = p.inputs[0]+focusFor, p.inputs[1:]
	}
	if p.m.talking && now < p.focus {
		return now + focusCadence
	}
	next := now + outputCadence
	if p.m.talking && len(p.inputs) > 0 {
		next = min(next, p.inputs[0]+time.Millisecond)
	}
	return next
}

func (p *replay) comeHooks(now time.Duration) []Hook {
	var out []Hook
	for len(p.hooks) > 0 && p.hooks[0].At <= now {
		h := p.hooks[0]
		p.hooks = p.hooks[1:]
		if len(h.Heard) > 0 {
			out = append(out, heardHook(p.t, h))
			continue
		}
		hook, err := ParseHook(p.r.Agent, h.Event, h.Stdin, func(name string) string { return h.Env[name] }, p.r.Epoch.Add(h.At))
		if err != nil {
			p.t.Logf("hook %s: %v", h.Event, err)
		}
		out = append(out, hook)
	}
	return out
}

func (p *replay) frame(now time.Duration) int {
	return min(int(now/recording.FrameStep), len(p.frames)-1)
}

func (p *replay) changed(now time.Duration) bool {
	n := p.frame(now)
	return p.looked < 0 || n != p.looked && !recording.Same(&p.frames[p.looked].Snapshot, &p.frames[n].Snapshot)
}

func (p *replay) look(now time.Duration, hooks []Hook) {
	n := p.frame(now)
	snap := p.frames[n].Snapshot
	e := Evidence{Now: p.r.Epoch.Add(now), Screen: &snap, Hooks: hooks, Running: true}
	e.Dialog = p.p.Dialog(visibleRows(&snap))
	if p.reading != nil {
		e.Records = p.reading.read(now)
	}
	v := p.judge.See(e)
	p.looked, p.again = n, -1
	if !v.Again.IsZero() {
		p.again = max(v.Again.Sub(p.r.Epoch), now+time.Millisecond)
	}
	p.verdicts = append(p.verdicts, verdictAt{now, v})
}

// stateAt is what was believed at a time.
func stateAt(verdicts []verdictAt, at time.Duration) sessions.State {
	state := sessions.StateStarting
	for _, v := range verdicts {
		if v.at > at {
			break
		}
		state = v.State
	}
	return state
}

// reading is what the transcript of a recording tells, and when.
type reading struct{ batches []batch }

// batch is what a Read gave: it ends with the end of a turn, if it has one.
type batch struct {
	at      time.Duration
	records []transcript.Record
}

// read returns what a reader gives that's asked once at a look.
func (r *reading) read(now time.Duration) []transcript.Record {
	var out []transcript.Record
	for len(r.batches) > 0 && r.batches[0].at <= now {
		b := r.batches[0]
		r.batches = r.batches[1:]
		out = append(out, b.records...)
		if len(out) > 0 && out[len(out)-1].Kind == transcript.TurnEnd {
			break
		}
	}
	return out
}

// batchesOf reads the transcript of a recording as it was written. Its times are the
// recording's, for those in the files may be of another clock.
func batchesOf(t *testing.T, r *recording.Recording) []batch {
	t.Helper()
	if r.Heard {
		return heardBatches(t, r)
	}
	home := t.TempDir()
	w, err := recording.NewWriter(r, home, filepath.Join(home, "project"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.Close() }()
	var readers []*transcript.Reader
	for _, ref := range refsOf(t, r, w) {
		reader, err := transcript.Open(ref, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = reader.Close() }()
		readers = append(readers, reader)
	}
	var out []batch
	for _, at := range w.Times() {
		if err := w.Advance(at); err != nil {
			t.Fatal(err)
		}
		for _, reader := range readers {
			for {
				records, err := reader.Read(t.Context(), 0)
				if err != nil {
					t.Fatal(err)
				}
				if len(records) == 0 {
					break
				}
				out = append(out, batch{at, records})
			}
		}
	}
	return out
}

// refsOf are the conversations of a recording that are known from its start.
func refsOf(t *testing.T, r *recording.Recording, w *recording.Writer) []transcript.Ref {
	t.Helper()
	var out []transcript.Ref
	format := transcript.Format(r.Agent)
	if format != transcript.OpenCode {
		for i := range r.Transcripts {
			out = append(out, transcript.Ref{Format: format, Path: w.Path(i)})
		}
		return out
	}
	rows, err := r.Rows()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		if id, ok := row.Values["id"].(string); ok && row.Table == "session" && row.Values["parent_id"] == nil {
			ref := transcript.Ref{Format: format, Path: w.Path(0), Session: id}
			if !slices.Contains(out, ref) {
				out = append(out, ref)
			}
		}
	}
	return out
}
