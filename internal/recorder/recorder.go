// Package recorder records what the pane of a session shows, and what panebridge believes of it.
package recorder

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/panebridge/panebridge/internal/recording/format"
	"github.com/panebridge/panebridge/internal/redact"
	"github.com/panebridge/panebridge/sessions"
	"github.com/panebridge/panebridge/sessions/agent"
	"github.com/panebridge/panebridge/sessions/tmux"
	"github.com/panebridge/panebridge/sessions/transcript"
)

// Recorder records sessions. All of its fields are needed.
type Recorder struct {
	Manager  *sessions.Manager
	Clients  []*tmux.Client
	Watchers *agent.Watchers
	Profiles *agent.Set
	Masker   *redact.Masker // for what recordings show
	Version  string         // of this program
}

// maxNews is how much news waits while a frame is taken; what's more is lost.
const maxNews = 4096

// Insight returns what's known of the program in a session's pane.
func (c *Recorder) Insight(id sessions.ID) agent.Insight { return c.Watchers.Insight(id) }

// Record blocks until ctx ends or the session does, and writes what its pane shows, ten times a
// second, and what its program tells. Private says that screens and texts are made unreadable. Its
// error is that of write, or why the session can't be recorded.
func (c *Recorder) Record(ctx context.Context, id sessions.ID, private bool, write func(format.Item) error) error {
	s, err := c.Manager.Get(string(id))
	if err != nil {
		return err
	}
	if s.State == sessions.StateEnded {
		return fmt.Errorf("%s: %w: %s", s.Name, sessions.ErrEnded, s.Reason)
	}
	news := make(chan agent.News, maxNews)
	stop := c.Watchers.Watch(id, func(n agent.News) {
		select {
		case news <- n:
		default:
		}
	})
	defer stop()
	snap, err := c.snapshot(ctx, s)
	if err != nil {
		return err
	}
	r := &recording{Recorder: c, id: id, write: write, epoch: time.Now(), private: private}
	if err := r.writeHead(s, &snap); err != nil {
		return err
	}
	return r.run(ctx, s, snap, news)
}

// writeHead writes what is recorded, once more when it's known which program it is.
func (r *recording) writeHead(s sessions.Session, snap *sessions.Snapshot) error {
	r.program = s.Source.Program
	profile := r.Profiles.Get(r.program)
	if profile == nil {
		profile = r.Profiles.Generic()
	}
	head := format.Head{
		Agent: profile.Name(), Version: r.Watchers.Insight(r.id).Version, Width: snap.Width, Height: snap.Height, Epoch: r.epoch,
		Cwd: r.Masker.Line(s.Cwd), Heard: true, Private: r.private, By: r.Version,
	}
	if r.private {
		r.privacy, head.Cwd = agent.NewPrivacy(profile), ""
	}
	return r.write(format.Item{T: r.seconds(time.Now()), Head: &head})
}

// snapshot takes the visible screen of a session's pane.
func (c *Recorder) snapshot(ctx context.Context, s sessions.Session) (sessions.Snapshot, error) {
	var client *tmux.Client
	for _, one := range c.Clients {
		if one.Name() == s.Pane.Server {
			client = one
		}
	}
	if client == nil {
		return sessions.Snapshot{}, fmt.Errorf("%w tmux server %q: it isn't in the configuration", sessions.ErrUnknown, s.Pane.Server)
	}
	snap, err := client.Snapshot(ctx, s.Pane.ID, sessions.RowWindow{})
	if err == nil && snap.Server != s.Pane.Identity {
		err = fmt.Errorf("capture pane %s: it's another's: %w", s.Pane.ID, sessions.ErrUnknown)
	}
	return snap, err
}

// recording is one that's being made.
type recording struct {
	*Recorder
	id      sessions.ID
	write   func(format.Item) error
	epoch   time.Time
	private bool
	program string         // "": none that's known yet
	privacy *agent.Privacy // nil: screens can be read

	last    sessions.Snapshot
	frames  int
	verdict format.Verdict // the last
	turn    sessions.Turn  // of a session without a program that's known
}

func (r *recording) run(ctx context.Context, s sessions.Session, snap sessions.Snapshot, news <-chan agent.News) error {
	tick := time.NewTicker(format.FrameStep)
	defer tick.Stop()
	if err := errors.Join(r.writeFrame(&snap, r.epoch), r.writeState(r.epoch, true)); err != nil {
		return err
	}
	for {
		select {
		case <-ctx.Done():
			return r.writeEnd("its time was over")
		case n := <-news:
			if err := r.writeNews(n); err != nil {
				return err
			}
		case now := <-tick.C:
			snap, err := r.snapshot(ctx, s)
			switch {
			case ctx.Err() != nil:
				continue
			case err != nil && !r.lives():
				return r.writeEnd("the session ended")
			case err != nil:
				continue // a later frame may be had
			}
			if err := errors.Join(r.writeFrame(&snap, now), r.writeState(now, false)); err != nil {
				return err
			}
		}
	}
}

func (r *recording) lives() bool {
	s, err := r.Manager.Get(string(r.id))
	return err == nil && s.State != sessions.StateEnded
}

func (r *recording) writeEnd(why string) error {
	return r.write(format.Item{T: r.seconds(time.Now()), End: &format.End{Why: why, Frames: max(r.frames, r.frameNumber(time.Now()))}})
}

// seconds returns a time as recordings have it.
func (r *recording) seconds(t time.Time) float64 {
	return float64(max(0, t.Sub(r.epoch)).Microseconds()) / 1e6
}

func (r *recording) frameNumber(now time.Time) int { return int(now.Sub(r.epoch) / format.FrameStep) }

// writeFrame writes what the pane shows, if it's something else than before.
func (r *recording) writeFrame(snap *sessions.Snapshot, now time.Time) error {
	snap.Rows = r.Masker.Rows(nil, snap.Rows)
	snap.Title = r.Masker.Line(snap.Title)
	if r.privacy != nil {
		snap.Rows, snap.Title = r.privacy.Rows(snap), r.privacy.Title(snap.Title)
	}
	n := max(r.frameNumber(now), r.frames)
	if r.frames > 0 && format.Same(&r.last, snap) {
		return nil
	}
	c := format.Change(n, &r.last, snap)
	r.last, r.frames = *snap, n+1
	return r.write(format.Item{T: r.seconds(now), Frame: &c})
}

// writeState writes what's believed of a session whose program isn't known: its state
// is then the poller's. first: whatever it is.
func (r *recording) writeState(now time.Time, first bool) error {
	s, err := r.Manager.Get(string(r.id))
	if err != nil {
		return nil //nolint:nilerr // it was forgotten, which the next frame finds
	}
	if s.Source.Program != r.program && s.Source.Program != "" {
		if err := r.writeHead(s, &r.last); err != nil {
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
	return r.writeVerdict(now, v)
}

// writeVerdict writes a verdict that's another than before.
func (r *recording) writeVerdict(now time.Time, v format.Verdict) error {
	if v == r.verdict && !v.Began && !v.Ended {
		return nil
	}
	r.verdict = v
	r.verdict.Began, r.verdict.Ended, r.verdict.Interrupted = false, false, false
	v.Reason = r.Masker.Line(v.Reason)
	if r.privacy != nil { // what a sign said stands behind a colon
		if sign, said, ok := strings.Cut(v.Reason, ": "); ok {
			v.Reason = sign + ": " + r.privacy.Text(said)
		}
	}
	return r.write(format.Item{T: r.seconds(now), Verdict: &v})
}

// writeNews writes what a hook or a look brought.
func (r *recording) writeNews(n agent.News) error {
	if n.Hook != nil {
		return r.writeHook(n.At, *n.Hook)
	}
	var errs []error
	for _, t := range n.Typed {
		typed := format.Typed{Event: "paste", Text: r.mask(t.Text)}
		if t.Text == "" {
			typed = format.Typed{Event: "keys"}
		}
		errs = append(errs, r.write(format.Item{T: r.seconds(t.At), Typed: &typed}))
	}
	for _, rec := range n.Records {
		errs = append(errs, r.writeRecord(n.At, rec))
	}
	v := n.Verdict
	return errors.Join(append(errs, r.writeVerdict(n.At, format.Verdict{
		State: string(v.State), Reason: v.Reason, Began: v.Began, Ended: v.Ended, Interrupted: v.Interrupted,
	}))...)
}

// mask returns a text as a recording may have it.
func (r *recording) mask(text string) string {
	text = r.Masker.Line(text)
	if r.privacy != nil {
		text = r.privacy.Text(text)
	}
	return text
}

// writeHook writes a hook without what says whose machine it is.
func (r *recording) writeHook(at time.Time, h agent.Hook) error {
	h.Text, h.TmuxSocket, h.Input = r.mask(h.Text), "", nil
	h.Cwd, h.Transcript = r.Masker.Line(h.Cwd), r.Masker.Line(h.Transcript)
	if r.privacy != nil {
		h.Cwd, h.Transcript = "", ""
	}
	text, err := json.Marshal(h)
	if err != nil {
		return fmt.Errorf("record a hook: %w", err)
	}
	return r.write(format.Item{T: r.seconds(at), Hook: text})
}

// headBytes is how much of an answer a recording has: as much as the judge compares.
const headBytes = 64

func (r *recording) writeRecord(at time.Time, rec transcript.Record) error {
	out := format.Record{
		Kind: string(rec.Kind), Tool: rec.Tool, Length: len(rec.Text), Failed: rec.Failed, Interrupted: rec.Interrupted, Waits: rec.Waits,
	}
	if rec.Kind == transcript.Answer || rec.Kind == transcript.Failure {
		text := strings.TrimSpace(r.mask(rec.Text))
		out.Text = strings.ToValidUTF8(text[:min(len(text), headBytes)], "")
	}
	if !rec.At.IsZero() {
		out.At = float64(rec.At.Sub(r.epoch).Microseconds()) / 1e6
	}
	return r.write(format.Item{T: r.seconds(at), Record: &out})
}
