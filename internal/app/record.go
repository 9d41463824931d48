package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/panebridge/panebridge/internal/recording/format"
	"github.com/panebridge/panebridge/sessions"
	"github.com/panebridge/panebridge/sessions/agent"
	"github.com/panebridge/panebridge/sessions/tmux"
	"github.com/panebridge/panebridge/sessions/transcript"
)

// programs are the watchers as the API sees them.
type programs struct{ *daemon }

func (p programs) Insight(id sessions.ID) agent.Insight { return p.watchers.Insight(id) }

// maxNews is how much news waits while a frame is taken; what's more is lost.
const maxNews = 4096

// Record takes a frame ten times a second, and tells what comes of the program.
func (p programs) Record(ctx context.Context, id sessions.ID, private bool, tell func(format.Item) error) error {
	s, err := p.manager.Get(string(id))
	if err != nil {
		return err
	}
	if s.State == sessions.StateEnded {
		return fmt.Errorf("%s: %w: %s", s.Name, sessions.ErrEnded, s.Reason)
	}
	news := make(chan agent.News, maxNews)
	stop := p.watchers.Watch(id, func(n agent.News) {
		select {
		case news <- n:
		default:
		}
	})
	defer stop()
	snap, err := p.snapshot(ctx, s)
	if err != nil {
		return err
	}
	r := &recorder{daemon: p.daemon, id: id, tell: tell, epoch: time.Now(), private: private}
	if err := r.head(s, &snap); err != nil {
		return err
	}
	return r.run(ctx, s, snap, news)
}

// head tells what is recorded, once more when it's known which program it is.
func (r *recorder) head(s sessions.Session, snap *sessions.Snapshot) error {
	r.program = s.Source.Program
	profile := r.profiles.Get(r.program)
	if profile == nil {
		profile = r.profiles.Generic()
	}
	head := format.Head{
		Agent: profile.Name(), Version: r.watchers.Insight(r.id).Version, Width: snap.Width, Height: snap.Height, Epoch: r.epoch,
		Cwd: r.masker.Line(s.Cwd), Heard: true, Private: r.private, By: r.opt.Version,
	}
	if r.private {
		r.privacy, head.Cwd = agent.NewPrivacy(profile), ""
	}
	return r.tell(format.Item{T: r.at(time.Now()), Head: &head})
}

// snapshot takes the visible screen of a session's pane.
func (d *daemon) snapshot(ctx context.Context, s sessions.Session) (sessions.Snapshot, error) {
	var client *tmux.Client
	for _, c := range d.clients {
		if c.Name() == s.Pane.Server {
			client = c
		}
	}
	if client == nil {
		return sessions.Snapshot{}, fmt.Errorf("%w tmux server %q: it isn't in the configuration", sessions.ErrUnknown, s.Pane.Server)
	}
	snap, err := client.Snapshot(ctx, s.Pane.ID, sessions.Window{})
	if err == nil && snap.Server != s.Pane.Identity {
		err = fmt.Errorf("capture pane %s: it's another's: %w", s.Pane.ID, sessions.ErrUnknown)
	}
	return snap, err
}

// recorder makes one recording.
type recorder struct {
	*daemon
	id      sessions.ID
	tell    func(format.Item) error
	epoch   time.Time
	private bool
	program string         // "": none that's known yet
	privacy *agent.Privacy // nil: screens can be read

	last    sessions.Snapshot
	frames  int
	verdict format.Verdict // the last
	turn    sessions.Turn  // of a session without a program that's known
}

func (r *recorder) run(ctx context.Context, s sessions.Session, snap sessions.Snapshot, news <-chan agent.News) error {
	tick := time.NewTicker(format.FrameStep)
	defer tick.Stop()
	if err := errors.Join(r.frame(&snap, r.epoch), r.sessionState(r.epoch, true)); err != nil {
		return err
	}
	for {
		select {
		case <-ctx.Done():
			return r.end("its time was over")
		case n := <-news:
			if err := r.news(n); err != nil {
				return err
			}
		case now := <-tick.C:
			snap, err := r.snapshot(ctx, s)
			switch {
			case ctx.Err() != nil:
				continue
			case err != nil && !r.lives():
				return r.end("the session ended")
			case err != nil:
				continue // a later frame may be had
			}
			if err := errors.Join(r.frame(&snap, now), r.sessionState(now, false)); err != nil {
				return err
			}
		}
	}
}

func (r *recorder) lives() bool {
	s, err := r.manager.Get(string(r.id))
	return err == nil && s.State != sessions.StateEnded
}

func (r *recorder) end(why string) error {
	return r.tell(format.Item{T: r.at(time.Now()), End: &format.End{Why: why, Frames: max(r.frames, r.number(time.Now()))}})
}

// at is a time as recordings have it.
func (r *recorder) at(t time.Time) float64 {
	return float64(max(0, t.Sub(r.epoch)).Microseconds()) / 1e6
}

func (r *recorder) number(now time.Time) int { return int(now.Sub(r.epoch) / format.FrameStep) }

// frame tells what the pane shows, if it's something else than before.
func (r *recorder) frame(snap *sessions.Snapshot, now time.Time) error {
	snap.Rows = r.masker.Rows(nil, snap.Rows)
	snap.Title = r.masker.Line(snap.Title)
	if r.privacy != nil {
		snap.Rows, snap.Title = r.privacy.Rows(snap), r.privacy.Title(snap.Title)
	}
	n := max(r.number(now), r.frames)
	if r.frames > 0 && format.Same(&r.last, snap) {
		return nil
	}
	c := format.Change(n, &r.last, snap)
	r.last, r.frames = *snap, n+1
	return r.tell(format.Item{T: r.at(now), Frame: &c})
}

// sessionState tells what's believed of a session whose program isn't known: its state
// is then the poller's. first: whatever it is.
func (r *recorder) sessionState(now time.Time, first bool) error {
	s, err := r.manager.Get(string(r.id))
	if err != nil {
		return nil //nolint:nilerr // it was forgotten, which the next frame finds
	}
	if s.Source.Program != r.program && s.Source.Program != "" {
		if err := r.head(s, &r.last); err != nil {
			return err
		}
	}
	if !first && s.Source.Program != "" {
		return nil
	}
	v := format.Verdict{State: string(s.State), Reason: s.Reason}
	if !first {
		v.Began = s.Turn.Number != r.turn.Number
		v.Ended = !s.Turn.Open && (r.turn.Open || v.Began)
	}
	r.turn = s.Turn
	return r.believed(now, v)
}

// believed tells a verdict that's another than before.
func (r *recorder) believed(now time.Time, v format.Verdict) error {
	if v == r.verdict && !v.Began && !v.Ended {
		return nil
	}
	r.verdict = v
	r.verdict.Began, r.verdict.Ended, r.verdict.Interrupted = false, false, false
	v.Reason = r.masker.Line(v.Reason)
	if r.privacy != nil { // what a sign said stands behind a colon
		if sign, said, ok := strings.Cut(v.Reason, ": "); ok {
			v.Reason = sign + ": " + r.privacy.Text(said)
		}
	}
	return r.tell(format.Item{T: r.at(now), Verdict: &v})
}

// news tells what a hook or a look brought.
func (r *recorder) news(n agent.News) error {
	if n.Hook != nil {
		return r.hook(n.At, *n.Hook)
	}
	var errs []error
	for _, t := range n.Typed {
		typed := format.Typed{Event: "paste", Text: r.hidden(t.Text)}
		if t.Text == "" {
			typed = format.Typed{Event: "keys"}
		}
		errs = append(errs, r.tell(format.Item{T: r.at(t.At), Typed: &typed}))
	}
	for _, rec := range n.Records {
		errs = append(errs, r.record(n.At, rec))
	}
	v := n.Verdict
	return errors.Join(append(errs, r.believed(n.At, format.Verdict{
		State: string(v.State), Reason: v.Reason, Began: v.Began, Ended: v.Ended, Interrupted: v.Interrupted,
	}))...)
}

// hidden is a text as a recording may have it.
func (r *recorder) hidden(text string) string {
	text = r.masker.Line(text)
	if r.privacy != nil {
		text = r.privacy.Text(text)
	}
	return text
}

// hook tells of a hook without what says whose machine it is.
func (r *recorder) hook(at time.Time, h agent.Hook) error {
	h.Text, h.TmuxSocket, h.Input = r.hidden(h.Text), "", nil
	h.Cwd, h.Transcript = r.masker.Line(h.Cwd), r.masker.Line(h.Transcript)
	if r.privacy != nil {
		h.Cwd, h.Transcript = "", ""
	}
	text, err := json.Marshal(h)
	if err != nil {
		return fmt.Errorf("record a hook: %w", err)
	}
	return r.tell(format.Item{T: r.at(at), Hook: text})
}

// headBytes is how much of an answer a recording has: as much as the judge compares.
const headBytes = 64

func (r *recorder) record(at time.Time, rec transcript.Record) error {
	out := format.Record{
		Kind: string(rec.Kind), Tool: rec.Tool, Length: len(rec.Text), Failed: rec.Failed, Interrupted: rec.Interrupted, Waits: rec.Waits,
	}
	if rec.Kind == transcript.Answer || rec.Kind == transcript.Failure {
		text := strings.TrimSpace(r.hidden(rec.Text))
		out.Text = strings.ToValidUTF8(text[:min(len(text), headBytes)], "")
	}
	if !rec.At.IsZero() {
		out.At = float64(rec.At.Sub(r.epoch).Microseconds()) / 1e6
	}
	return r.tell(format.Item{T: r.at(at), Record: &out})
}
