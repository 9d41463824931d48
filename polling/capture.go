package polling

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// capture reads until it has caught up with the pane, then stores and tells
// what came. done: the session has ended.
func (p *OutputPoller) capture(ctx context.Context) (done bool, err error) {
	defer p.watch.captured(p)
	p.mu.Lock()
	p.lastSec = time.Now().Unix()
	p.mu.Unlock()
	window := sessions.Window{Start: -p.depth}
	for asked := (*Need)(nil); ; {
		select {
		case <-p.stop:
			return false, nil // loop sees it
		default:
		}
		step, more, err := p.read(ctx, window, asked)
		if err != nil {
			return p.captureFailed(ctx, err)
		}
		p.hang.end(p.slog)
		if asked = more; more != nil {
			window = more.Window
			continue
		}
		if err := p.work(ctx, step, false); err != nil {
			return false, err
		}
		if step.Exit != nil && step.engine.caughtUp() {
			return true, p.end(step.Exit, "its program has ended")
		}
		if step.engine.caughtUp() {
			p.rate(step)
			return false, nil
		}
		window = step.engine.ahead(p.opt.get().MaxCaptureLines)
	}
}

// read takes one snapshot and works it in.
func (p *OutputPoller) read(ctx context.Context, win sessions.Window, asked *Need) (*Step, *Need, error) {
	c, cancel := context.WithTimeout(ctx, p.opt.get().CaptureTimeout)
	defer cancel()
	snap, err := p.source.Snapshot(c, p.target.Pane, win)
	if err != nil {
		return nil, nil, err
	}
	if own := p.target.Identity; own != (sessions.ServerIdentity{}) && snap.Server != own {
		return nil, nil, fmt.Errorf("%w pane: its tmux server was started anew", sessions.ErrUnknown)
	}
	p.mu.Lock()
	p.engine.echoes, p.engine.marker = p.echoes, p.opt.get().Marker
	p.mu.Unlock()
	tail := func(n int) ([]string, error) { return p.tail(ctx, n) }
	return p.engine.Apply(&snap, asked, p.opt.get().MaxCaptureLines, tail, time.Now())
}

func (p *OutputPoller) tail(ctx context.Context, n int) ([]string, error) {
	lines, err := p.log.Tail(ctx, p.target.Session, n)
	if err != nil {
		return nil, fmt.Errorf("read the end of the log: %w", err)
	}
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = l.Text
	}
	return out, nil
}

// captureFailed decides what an error of the source means. A server that
// doesn't answer isn't this poller's business: its tick is skipped.
func (p *OutputPoller) captureFailed(ctx context.Context, err error) (bool, error) {
	switch {
	case errors.Is(err, sessions.ErrUnknown):
		return true, p.finish(ctx, nil, "its pane is gone")
	case ctx.Err() != nil:
		return false, ctx.Err()
	case errors.Is(err, context.DeadlineExceeded):
		p.hang.begin(p.opt.get(), p.slog)
		p.again()
		return false, nil
	case errors.Is(err, sessions.ErrUnavailable):
		p.again()
		return false, nil
	}
	p.again()
	return false, err
}

// again makes the next look capture, whatever it finds.
func (p *OutputPoller) again() {
	p.mu.Lock()
	p.settling = true
	p.mu.Unlock()
}

// rate sets how deep the next capture goes: far enough for twice what came
// since the last, so that one is enough at a steady rate.
func (p *OutputPoller) rate(step *Step) {
	want := minDepth + 2*max(0, step.Grown)
	p.depth = min(max(want, p.depth*3/4), p.opt.get().MaxCaptureLines)
}

const (
	minDepth        = anchorRows + 16 // 16 new rows cost one capture; deeper would cost all captures more
	minCaptureLines = 4*anchorRows + 4
)
